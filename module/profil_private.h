/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profil_private.h - declarations that the files of the module share
 *
 *   struct file --> struct profil_file          stats of ended sessions
 *        ^                    ^
 *        |                    |
 *   anchor (VMA) --> struct profil_ctx          one per address space
 *                             |  RCU
 *                             v
 *                    struct profil_session      from SET to its end
 *                             |
 *                             v
 *                    struct profil_config       the parsed request, immutable,
 *                                               shared by parent and child
 *
 * Locks, outermost first:
 *
 *	ctx->lock		requests of one address space
 *	  session->flush	flushing of pending entries
 *	    mmap_lock		of that address space; only tried by workers
 *	      ctx->publish	ctx->session and ctx->is_dead
 *	      profil_ctx_lock, profil_user_lock
 *	      profil_ipi_lock
 *	profil_clock_mutex	under ctx->lock, never under mmap_lock
 *	scheduler locks
 *	  session->pending.lock	hard interrupts off
 *	file->lock		a leaf
 *
 * When the memory of a process is freed, session->flush is taken under its
 * mmap_lock, for which no task can be waiting then.
 */
#ifndef PROFIL_PRIVATE_H
#define PROFIL_PRIVATE_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/irq_work.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <linux/profil.h>

#include "region.h"

struct file;
struct profil_watcher;
struct vm_area_struct;

/* main.c: limits that the administrator sets */

/* System V, 4.4BSD and IRIX: the clock tick, and IRIX's PROF_FAST. */
#define PROFIL_DEFAULT_PERIOD_NS	10000000
#define PROFIL_FAST_PERIOD_NS		1000000
#define PROFIL_MAX_PERIOD_NS		1000000000

/* restrict_fastprof refuses periods shorter than this. */
#define PROFIL_UNRESTRICTED_PERIOD_NS	10000000

/*
 * Reading memory of a device may have effects; on arm64, an atomic operation there
 * is fatal to the machine. VM_IO is also set for our own anchor.
 */
#define PROFIL_VM_DEVICE	(VM_IO | VM_PFNMAP | VM_MIXEDMAP)

/* Whom users without CAP_PERFMON may watch. */
#define PROFIL_SCOPE_NOBODY		0
#define PROFIL_SCOPE_DESCENDANTS	1	/* and themselves */
#define PROFIL_SCOPE_INSPECT		2	/* all that they may inspect */

/**
 * struct profil_limits - module parameters
 * @max_regions: regions of a session
 * @max_profiles: profiled address spaces of a user at a time, and, for a user
 *	without CAP_PERFMON, processes in watches
 * @max_watch_kb: memory of the watches of a user without CAP_PERFMON
 * @watch_scope: PROFIL_SCOPE_*, whom users without CAP_PERFMON may watch
 * @min_period_us: shortest period
 * @restrict_fastprof: refuse periods below PROFIL_UNRESTRICTED_PERIOD_NS
 *
 * Those that can be written at run time are read with READ_ONCE().
 */
struct profil_limits {
	unsigned int max_regions;
	unsigned int max_profiles;
	unsigned int max_watch_kb;
	unsigned int watch_scope;
	unsigned int min_period_us;
	bool restrict_fastprof;
};

extern struct profil_limits profil_limits;

/* Memory of the watches of a user without CAP_PERFMON, in pages. */
static inline u64 profil_max_watch_pages(void)
{
	return (u64)READ_ONCE(profil_limits.max_watch_kb) * SZ_1K / PAGE_SIZE;
}

/* user.c: how much a user may have */

struct profil_user;

enum profil_charge {
	PROFIL_CHARGE_CTXS,	/* contexts */
	PROFIL_CHARGE_FLUSHES,	/* works that are running */
	PROFIL_CHARGE_PAGES,	/* memory of watches, in pages */
	PROFIL_CHARGE_MEMBERS,	/* processes in watches */
	PROFIL_CHARGES
};

/*
 * Works of a user at a time. Each may wait for memory and, when a process
 * ends meanwhile, for what its files are waiting for. Enough for one on each
 * of some CPUs that waits for nothing, and few beside the 512 that the queue runs.
 */
#define PROFIL_MOST_FLUSHES	32u
#define PROFIL_MAX_FLUSHES	min(8 + num_online_cpus(), PROFIL_MOST_FLUSHES)

struct profil_user *profil_user_get(void);
struct profil_user *profil_user_hold(struct profil_user *user);
struct list_head *profil_user_callers(struct profil_user *user);
void profil_user_put(struct profil_user *user);
bool profil_user_charge(struct profil_user *user, enum profil_charge what,
			u64 n, u64 max);
void profil_user_uncharge(struct profil_user *user, enum profil_charge what,
			  u64 n);
u32 profil_user_turn(struct profil_user *user);
bool profil_user_is_perfmon(void);
int profil_user_charge_watch(struct profil_user *user, u64 pages, u64 max);
void profil_user_expect_uncharge(struct profil_user *user);
void profil_user_uncharge_watch(struct profil_user *user, u64 pages);
int profil_user_collect(struct profil_user *user);
void profil_user_collected(struct profil_user *user, u64 ns);
void profil_user_exit(void);

/* config.c: the parsed request */

/**
 * struct profil_shared - where counters are that other processes map too
 * @file: a tmpfs file, with a reference that also counts as a writable
 *	mapping; NULL if the counters of this region are not in one such file
 * @offset: of the first counter in it
 */
struct profil_shared {
	struct file *file;
	u64 offset;
};

/**
 * struct profil_config - the parsed request of PROFIL_IOC_SET; never changes
 * @refs: one for each session
 * @flags: PROFIL_SET_*
 * @width: bytes of a counter
 * @period_ns: mean time between ticks
 * @full: count at which a counter of 2 or 4 bytes is full
 * @map: the regions
 * @shared: one for each region, or NULL if none is shared
 */
struct profil_config {
	refcount_t refs;
	u32 flags;
	u32 width;
	u32 period_ns;
	u32 full;
	struct profil_map map;
	struct profil_shared *shared;
};

struct profil_config *profil_config_create(const struct profil_set *set,
					   const struct profil_region *regions);
void profil_config_put(struct profil_config *config);
enum profil_region_state profil_vma_state(const struct vm_area_struct *vma);
bool profil_vma_is_shared_tmpfs(const struct vm_area_struct *vma);

static inline unsigned long
profil_config_address(const struct profil_config *config, u32 region, u64 index)
{
	return config->map.counters[region].base + (index << config->map.width_shift);
}

/* What takes ticks: sessions and watches */

/*
 * Each CPU has one interval for the session of the address space that it runs,
 * and one for each kind of watch that a process may be in at a time: of its own,
 * or of many processes; by an ordinary user, or by one with CAP_PERFMON. So one
 * user's watch is in the way of another's only if both may inspect the process.
 */
#define PROFIL_SLOT_WIDE	1u	/* a bit of a watch's slot */
#define PROFIL_SLOT_PERFMON	2u	/* the same */
#define PROFIL_SLOT_PROFILE	4u
#define PROFIL_SLOTS		5u

/**
 * struct profil_sink - what a session and a watch have in common
 * @slot: the interval of each CPU in which it takes ticks
 * @state: enum profil_state
 * @period_ns: mean time between ticks
 * @is_wall: each thread has ticks of its own, also while it does not run
 */
struct profil_sink {
	u32 slot;
	u32 state;
	u32 period_ns;
	bool is_wall;
};

/* session.c: stats of sessions */

/**
 * struct profil_file - an open file of the device
 * @refs: one for the file, one for each session
 * @lock: protects what follows
 * @running: sessions that were begun by this file, or inherited from such,
 *	and have not ended
 * @cpu_ns: CPU time that ended sessions covered
 * @unfollowed: children that could not inherit from an ended session
 * @counts: ticks of ended sessions
 * @watcher: its watch, or NULL; set once
 */
struct profil_file {
	refcount_t refs;
	spinlock_t lock;
	u32 running;
	u64 cpu_ns;
	u64 unfollowed;
	struct profil_counts counts;
	struct profil_watcher *watcher;
};

/**
 * struct profil_region_stats - ticks of one region
 * @counted: in its counters
 * @clipped: that found their counter full
 * @lost: whose counter could not be written
 * @kernel: taken in kernel mode, whatever their outcome
 * @state: enum profil_region_state
 */
struct profil_region_stats {
	atomic64_t counted;
	atomic64_t clipped;
	atomic64_t lost;
	atomic64_t kernel;
	u32 state;
};

/* Room for pending entries of a session; it fits into 1 KB then. */
#define PROFIL_MAX_PENDING	32

/**
 * struct profil_pending_entry - ticks that wait for their counter's page
 * @index: index of the counter
 * @region: index of the region
 * @nr: number of ticks
 * @tries: how often they could not be written
 */
struct profil_pending_entry {
	u64 index;
	u32 region;
	u16 nr;
	u16 tries;
};

/**
 * struct profil_pending - the pending list of a session
 * @lock: protects the rest; hard interrupts off
 * @starved: for how many milliseconds @work could not begin
 * @queued: @kick or @work is on its way, with a reference to the session
 * @nr: number of entries
 * @memcg: pays for their pages if the process ends before they are brought in:
 *	that of the process when the first of them came; a reference, or NULL
 * @entries: ticks append; only the holder of session->flush removes
 * @kick: queues @work, from contexts that cannot
 * @work: flushes
 */
struct profil_pending {
	raw_spinlock_t lock;
	bool queued;
	u16 starved;
	u32 nr;
	struct mem_cgroup *memcg;
	struct profil_pending_entry entries[PROFIL_MAX_PENDING];
	struct irq_work kick;
	struct delayed_work work;
};

/**
 * struct profil_session - from PROFIL_IOC_SET, or from the fork that inherited
 * it, to its end
 * @sink: slot, state and period
 * @config: its parsed request; a reference
 * @mm: its address space; a reference to the structure, not to the memory
 * @refs: one for being published, one for each caller or work that uses it
 * @outside: ticks that belong to no region
 * @outside_kernel: of these, those taken in kernel mode
 * @left_out: ticks in kernel mode under PROFIL_SET_USER_ONLY
 * @unfollowed: children that could not inherit it
 * @cpu_ns: CPU time covered, without intervals that are open
 * @is_recorded: its stats are in @file
 * @file: where they go when it ends; a reference
 * @user: the user that is charged; a reference
 * @flush: held while entries are flushed, and while stats are read
 * @pending: ticks whose counter's page is missing
 * @free: frees the session
 * @stats: of each region
 *
 * The numbers of ticks are added to one at a time, each tick to one of them,
 * so that their sum is exact whenever they are read. Moving from @pending to
 * @stats takes @flush.
 */
struct profil_session {
	struct profil_sink sink;
	struct profil_config *config;
	struct mm_struct *mm;
	refcount_t refs;
	atomic64_t outside;
	atomic64_t outside_kernel;
	atomic64_t left_out;
	atomic64_t unfollowed;
	atomic64_t cpu_ns;
	atomic_t is_recorded;
	struct profil_file *file;
	struct profil_user *user;
	struct mutex flush;
	struct profil_pending pending;
	struct work_struct free;
	struct profil_region_stats stats[];
};

struct profil_file *profil_file_create(void);
void profil_file_put(struct profil_file *file);
void profil_session_read(struct profil_session *session,
			 struct profil_status *status,
			 struct profil_region_status *regions, u32 nr);
void profil_session_record(struct profil_session *session);

static inline struct profil_session *
profil_sink_session(struct profil_sink *sink)
{
	return container_of(sink, struct profil_session, sink);
}

static inline bool profil_session_is_on(const struct profil_session *session)
{
	return READ_ONCE(session->sink.state) == PROFIL_STATE_ON;
}

/* A counter has reached its maximum: the end under System V's rule. */
static inline void profil_session_full(struct profil_session *session)
{
	if (session->config->flags & PROFIL_SET_SVR4_STOP)
		cmpxchg(&session->sink.state, PROFIL_STATE_ON,
			PROFIL_STATE_FULL);
}

static inline bool profil_region_is_on(const struct profil_session *session,
				       u32 region)
{
	return READ_ONCE(session->stats[region].state) == PROFIL_REGION_ON;
}

/* fault.c: counters whose page is missing */

/**
 * struct profil_attempt - one attempt to write an entry
 * @err: 0 or PROFIL_COUNTER_FULL; -EAGAIN, try later; or another error: the
 *	ticks are lost
 * @why: if not PROFIL_REGION_ON, the region goes off
 * @clipped: how many of the ticks found the counter full
 */
struct profil_attempt {
	int err;
	enum profil_region_state why;
	u32 clipped;
};

struct mem_cgroup *profil_get_memcg(struct task_struct *task);
void profil_attempt_mm(struct profil_session *session,
		       const struct profil_pending_entry *entry,
		       struct profil_attempt *attempt);
void profil_attempt_file(struct profil_session *session,
			 const struct profil_pending_entry *entry,
			 struct profil_attempt *attempt);

/* flush.c: sessions from beginning to end, and their pending lists */

/* For works that never wait for long. */
extern struct workqueue_struct *profil_wq;

int profil_pending_init(void);
void profil_pending_exit(void);
struct profil_session *profil_session_create(struct profil_config *config,
					     struct mm_struct *mm,
					     struct profil_file *file,
					     struct profil_user *user);
void profil_session_put(struct profil_session *session);
void profil_session_stop(struct profil_session *session);
void profil_session_wait_for_all(void);
void profil_pending_add(struct profil_session *session, u32 region, u64 index,
			u32 nr);
void profil_flush_begin(struct profil_session *session);
void profil_flush_end(struct profil_session *session);
void profil_flush_exit(struct profil_session *session);

/* ctx.c: the profile of an address space */

/**
 * struct profil_ctx - an address space that has, had or may get a session
 * @node: in profil_ctxs
 * @mm: the key; not dereferenced, and no reference held: the anchor goes
 *	before the address space is freed
 * @session: the session that counts its ticks, or NULL; written under @publish
 * @rcu: delays freeing
 * @refs: one for the anchor, one for each caller that uses it
 * @lock: serializes the requests of an address space
 * @maker: the task that is mapping the anchor now; under mmap_lock
 * @publish: protects @session, @is_dead and @may_count
 * @is_dead: the anchor has gone, or never came; nothing starts here any more
 * @may_count: a CPU may have an interval of @session or of one that it replaced
 * @nr_anchors: 1, or 2 while mremap() moves it; under mmap_lock
 * @anchor: address of the anchor; under mmap_lock
 * @old_anchor: where it was before mremap(); under mmap_lock
 * @user: a reference as long as this exists; charged until the end
 */
struct profil_ctx {
	struct hlist_node node;
	struct mm_struct *mm;
	struct profil_session __rcu *session;
	struct rcu_head rcu;
	refcount_t refs;
	struct mutex lock;
	struct task_struct *maker;
	spinlock_t publish;
	bool is_dead;
	bool may_count;
	unsigned int nr_anchors;
	unsigned long anchor;
	unsigned long old_anchor;
	struct profil_user *user;
};

#define PROFIL_CTX_BITS	12

extern struct hlist_head profil_ctxs[1 << PROFIL_CTX_BITS];

int profil_ctx_mmap(struct file *file, struct vm_area_struct *vma);
struct profil_ctx *profil_ctx_lock_current(void);
struct profil_ctx *profil_ctx_lock_or_create(struct file *file);
void profil_ctx_unlock(struct profil_ctx *ctx);
struct profil_session *profil_ctx_session(struct profil_ctx *ctx);
void profil_ctx_replace(struct profil_ctx *ctx, struct profil_session *session);

/*
 * Of the lower half of an address: as good as all of it, and less to compute in
 * each context switch.
 */
static inline u32 profil_hash(const void *key, unsigned int bits)
{
	return hash_32((u32)(unsigned long)key, bits);
}

static inline struct hlist_head *profil_ctx_bucket(const struct mm_struct *mm)
{
	return &profil_ctxs[profil_hash(mm, PROFIL_CTX_BITS)];
}

/**
 * profil_ctx_find() - the entry of an address space
 * @mm: compared only, may be stale
 *
 * Context: any, under rcu_read_lock() or with hard interrupts off.
 * Return: the entry, or NULL.
 */
static inline struct profil_ctx *profil_ctx_find(const struct mm_struct *mm)
{
	struct profil_ctx *ctx;

	hlist_for_each_entry_rcu(ctx, profil_ctx_bucket(mm), node,
				 rcu_read_lock_any_held())
		if (ctx->mm == mm)
			return ctx;
	return NULL;
}

/* tick.c: when ticks come, and their outcomes */

int profil_tick_init(enum profil_clock clock);
void profil_tick_exit(void);
enum profil_clock profil_clock_kind(void);
void profil_clock_refresh(struct mm_struct *mm);
void profil_clock_look(void);
void profil_tick_exec(void);
void profil_sched_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state);

/* probes.c: the tracepoints, while there is a profile or a watch */

int profil_probes_init(void);
void profil_probes_exit(void);
int profil_clock_get(bool watching);
bool profil_clock_get_running(void);
void profil_clock_put(bool watching);

/* dev.c: the requests of /dev/profil */

int profil_dev_init(void);
void profil_dev_exit(void);

#endif /* PROFIL_PRIVATE_H */
