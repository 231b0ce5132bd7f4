// SPDX-License-Identifier: GPL-2.0-only
/*
 * flush.c - sessions from beginning to end, and their pending lists
 *
 * A tick that finds its counter's page absent or copy-on-write goes to the
 * session's pending list. A work brings the page in and adds what the list
 * holds; so do requests of the program itself. No other task waits for that:
 * the work runs on an unbound queue, the number of works that run is limited
 * for each user, and ticks that cannot be written within about a second are
 * lost, or within ten if the work gets no CPU.
 *
 * When a process exits or executes another program, its last ticks go to
 * counters in shared tmpfs files through the file, before wait() returns.
 * Those of other counters are lost: no process could read them any more.
 *
 * Context: see each function. Locks: session->flush, then mmap_lock for
 * reading, which works only try; pending->lock by itself.
 */
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "counter.h"
#include "profil_private.h"

/*
 * A page that is on its way from disk arrives within the first few tries; one
 * that userfaultfd holds back may never. 2^0 to 2^9 ms between the tries make
 * one second in all.
 */
#define PROFIL_FLUSH_TRIES	10

/* So many milliseconds in which the work could not begin count as one try. */
#define PROFIL_FLUSH_STARVED	1000

/*
 * If the work ran at once, it would take the CPU just after a tick, when the
 * next one is never due, so that the program would get more ticks than its
 * share. After a delay, a tick is as likely to hit the work as any other task.
 * A list that is half full does not wait.
 */
#define PROFIL_FLUSH_DELAY_NS	(10 * NSEC_PER_MSEC)
#define PROFIL_FLUSH_PERIODS	(PROFIL_MAX_PENDING / 4)
#define PROFIL_FLUSH_AT_ONCE	(PROFIL_MAX_PENDING / 2)

/*
 * Works that may wait, for as long as other tasks like, have a queue of their own:
 * when some users have filled it, other works still run on profil_wq.
 */
static struct workqueue_struct *profil_flush_wq;
struct workqueue_struct *profil_wq;

/* Sessions that have not been freed. */
static atomic_t profil_nr_sessions = ATOMIC_INIT(0);

/* --- flushing */

/* What to do with an entry that cannot be written now. */
enum profil_patience {
	PROFIL_FLUSH_KEEP,	/* it stays */
	PROFIL_FLUSH_TRY,	/* it stays, unless this was its last try */
	PROFIL_FLUSH_LOSE	/* it is lost */
};

static bool profil_may_stay(const struct profil_pending_entry *entry,
			    enum profil_patience patience)
{
	return patience == PROFIL_FLUSH_KEEP ||
	       (patience == PROFIL_FLUSH_TRY &&
		entry->tries < PROFIL_FLUSH_TRIES);
}

static void profil_settle(struct profil_session *session,
			  const struct profil_pending_entry *entry,
			  const struct profil_attempt *attempt)
{
	struct profil_region_stats *stats = &session->stats[entry->region];

	if (attempt->err < 0) {
		atomic64_add(entry->nr, &stats->lost);
		/* The first reason stays */
		if (attempt->why)
			cmpxchg(&stats->state, PROFIL_REGION_ON, attempt->why);
		return;
	}
	atomic64_add(entry->nr - attempt->clipped, &stats->counted);
	atomic64_add(attempt->clipped, &stats->clipped);
	if (attempt->err == PROFIL_COUNTER_FULL)
		profil_session_full(session);
}

typedef void (*profil_attempt_fn)(struct profil_session *session,
				  const struct profil_pending_entry *entry,
				  struct profil_attempt *attempt);

/*
 * Try each entry once; without @try, only count that. While the lock is dropped
 * the entry stays in its place with no ticks in it, and new ones for the same
 * counter may join it there. Those that come meanwhile are for the next pass, or
 * this one might never end.
 *
 * Return: how often the most tried of the entries that are left was tried, at
 * least 1; 0 if none is left.
 */
static u32 profil_flush(struct profil_session *session, profil_attempt_fn try,
			enum profil_patience patience)
{
	struct profil_pending *pending = &session->pending;
	struct mem_cgroup *memcg = NULL;
	u32 most = 0;
	u32 i = 0, left;

	lockdep_assert_held(&session->flush);
	raw_spin_lock_irq(&pending->lock);
	for (left = pending->nr; left; left--) {
		struct profil_attempt attempt = { .err = -EAGAIN };
		struct profil_pending_entry *place = &pending->entries[i];
		struct profil_pending_entry entry = *place;

		place->nr = 0;
		raw_spin_unlock_irq(&pending->lock);
		if (!profil_region_is_on(session, entry.region))
			attempt.err = -EFAULT;
		else if (try)
			try(session, &entry, &attempt);
		cond_resched();
		raw_spin_lock_irq(&pending->lock);

		if (attempt.err == -EAGAIN && profil_may_stay(&entry, patience) &&
		    place->nr + entry.nr <= U16_MAX) {
			place->nr += entry.nr;
			place->tries += patience == PROFIL_FLUSH_TRY;
			most = max3(most, (u32)place->tries, 1U);
			i++;
			continue;
		}
		profil_settle(session, &entry, &attempt);
		place->tries = 0;
		if (place->nr) {
			i++;
		} else {
			WRITE_ONCE(pending->nr, pending->nr - 1);
			*place = pending->entries[pending->nr];
		}
	}
	if (!pending->nr)
		swap(memcg, pending->memcg);
	else
		most = max(most, 1U);
	raw_spin_unlock_irq(&pending->lock);
	mem_cgroup_put(memcg);
	return most;
}

/* Queue the work, with a reference of the caller's that goes to it. */
static void profil_flush_queue(struct profil_session *session,
			       unsigned long delay)
{
	/* If it was queued already, it has a reference of its own */
	if (mod_delayed_work(profil_flush_wq, &session->pending.work, delay))
		profil_session_put(session);
}

/**
 * profil_flush_begin() - write the entries that can be written now
 * @session: of the calling process
 *
 * No pending entry becomes a count until profil_flush_end().
 *
 * Context: process, may sleep.
 */
void profil_flush_begin(struct profil_session *session)
{
	mutex_lock(&session->flush);
	profil_flush(session, profil_attempt_mm, PROFIL_FLUSH_KEEP);
}

/* The work may have run meanwhile, and have left the rest to the caller. */
void profil_flush_end(struct profil_session *session)
{
	mutex_unlock(&session->flush);
	if (READ_ONCE(session->pending.nr)) {
		refcount_inc(&session->refs);
		/* Not sooner, if the work is to run again */
		if (!queue_delayed_work(profil_flush_wq, &session->pending.work, 1))
			profil_session_put(session);
	}
}

/**
 * profil_flush_last() - write all entries, or count them as lost
 * @session: of the calling process; takes no more ticks
 *
 * Nothing is written to the counters after this.
 *
 * Context: process, may sleep: for as long as the work would try, until it is
 * killed, and as long as the program keeps its own mappings locked.
 */
static void profil_flush_last(struct profil_session *session)
{
	u32 try;

	mutex_lock(&session->flush);
	for (try = 0; try < PROFIL_FLUSH_TRIES; try++) {
		if (!profil_flush(session, profil_attempt_mm,
				  PROFIL_FLUSH_KEEP))
			break;
		schedule_timeout_killable(msecs_to_jiffies(1 << try));
		if (fatal_signal_pending(current))
			break;
	}
	profil_flush(session, profil_attempt_mm, PROFIL_FLUSH_LOSE);
	mutex_unlock(&session->flush);
	if (cancel_delayed_work(&session->pending.work))
		profil_session_put(session);
}

/**
 * profil_flush_exit() - write the entries in shared files; the rest is lost
 * @session: takes no more ticks; the memory of its address space is being
 *	freed or has been
 *
 * Context: process, may sleep; mmap_lock of that address space may be held,
 * for which no holder of @flush can be waiting.
 */
void profil_flush_exit(struct profil_session *session)
{
	if (!READ_ONCE(session->pending.nr))
		return;
	mutex_lock_nested(&session->flush, SINGLE_DEPTH_NESTING);
	profil_flush(session, profil_attempt_file, PROFIL_FLUSH_LOSE);
	mutex_unlock(&session->flush);
}

/* --- the work */

/* Other tasks flush the rest: do not queue the work again. */
#define PROFIL_FLUSH_OTHERS	(-1)

/* The work had no slot, or the program kept its mappings locked. */
#define PROFIL_FLUSH_AGAIN	(PROFIL_FLUSH_TRIES + 1)

/* Is the program forking, or changing its mappings? */
static bool profil_mm_is_busy(struct mm_struct *mm)
{
	if (!mmap_read_trylock(mm))
		return true;
	mmap_read_unlock(mm);
	return false;
}

/*
 * One round. The work must run again if the user has enough works running, or
 * if the program keeps its mappings locked: mostly for a moment, maybe forever.
 * If the memory is being freed, or the program itself is flushing, that flushes
 * the rest.
 *
 * Return: as profil_flush(), or PROFIL_FLUSH_OTHERS or PROFIL_FLUSH_AGAIN.
 */
static int profil_flush_round(struct profil_session *session)
{
	bool slot = profil_user_charge(session->user, PROFIL_CHARGE_FLUSHES, 1,
				       PROFIL_MAX_FLUSHES);
	bool mm = slot && mmget_not_zero(session->mm);
	bool busy = !slot || (mm && profil_mm_is_busy(session->mm));
	int tries = PROFIL_FLUSH_OTHERS;

	if (busy && session->pending.starved < PROFIL_FLUSH_STARVED) {
		tries = PROFIL_FLUSH_AGAIN;
	} else if (mm == slot && mutex_trylock(&session->flush)) {
		session->pending.starved = 0;
		if (mm)
			kthread_use_mm(session->mm);
		tries = profil_flush(session, mm ? profil_attempt_mm :
				     NULL, PROFIL_FLUSH_TRY);
		if (mm)
			kthread_unuse_mm(session->mm);
		mutex_unlock(&session->flush);
		if (busy && tries)
			tries = PROFIL_FLUSH_AGAIN;
	}
	/* The last reference frees the memory, however long that takes */
	if (mm)
		mmput(session->mm);
	if (slot)
		profil_user_uncharge(session->user, PROFIL_CHARGE_FLUSHES, 1);
	return tries;
}

static unsigned long profil_flush_delay(const struct profil_session *session)
{
	u64 periods_ns = (u64)session->sink.period_ns * PROFIL_FLUSH_PERIODS;

	if (READ_ONCE(session->pending.nr) >= PROFIL_FLUSH_AT_ONCE)
		return 0;
	/* Rounded up: a delay of less than a jiffy must not become 0 */
	return nsecs_to_jiffies(min_t(u64, periods_ns,
				      PROFIL_FLUSH_DELAY_NS)) + 1;
}

/* After a round of which some is left. Return: when the work runs again. */
static unsigned long profil_flush_pause(struct profil_session *session,
					int tries)
{
	u32 ms;

	if (!tries)
		return profil_flush_delay(session);
	if (tries != PROFIL_FLUSH_AGAIN)
		return msecs_to_jiffies(1 << (tries - 1));
	ms = profil_user_turn(session->user);
	session->pending.starved += ms;
	return msecs_to_jiffies(ms);
}

/* Runs with a reference to the session. */
static void profil_flush_work(struct work_struct *work)
{
	struct profil_session *session =
		container_of(to_delayed_work(work), struct profil_session,
			     pending.work);
	struct profil_pending *pending = &session->pending;
	int tries = profil_flush_round(session);
	bool done;

	/* When it is done the next tick queues it */
	raw_spin_lock_irq(&pending->lock);
	done = tries < 0 || (!tries && !pending->nr);
	if (done)
		pending->queued = false;
	raw_spin_unlock_irq(&pending->lock);
	if (done)
		profil_session_put(session);
	else
		profil_flush_queue(session, profil_flush_pause(session, tries));
}

/*
 * Runs with a reference to the session, which goes to the work.
 * Context: hard interrupt, nothing held: queueing a delayed work may wake up a
 * task, which a tick in a context switch must not.
 */
static void profil_flush_kick(struct irq_work *kick)
{
	struct profil_session *session =
		container_of(kick, struct profil_session, pending.kick);

	profil_flush_queue(session, profil_flush_delay(session));
}

static struct profil_pending_entry *
profil_pending_find(struct profil_pending *pending, u32 region, u64 index, u32 nr)
{
	struct profil_pending_entry *entry;

	for (entry = pending->entries;
	     entry < pending->entries + pending->nr; entry++)
		if (entry->index == index && entry->region == region &&
		    entry->nr + nr <= U16_MAX)
			return entry;
	return NULL;
}

/* Return: whether there was room. */
static bool profil_pending_append(struct profil_pending *pending, u32 region,
				  u64 index, u32 nr)
{
	struct profil_pending_entry *entry;

	lockdep_assert_held(&pending->lock);
	entry = profil_pending_find(pending, region, index, nr);
	if (!entry) {
		if (pending->nr == PROFIL_MAX_PENDING || nr > U16_MAX)
			return false;
		entry = &pending->entries[pending->nr];
		*entry = (struct profil_pending_entry) {
			.region = region, .index = index,
		};
		WRITE_ONCE(pending->nr, pending->nr + 1);
	}
	entry->nr += nr;
	return true;
}

/**
 * profil_pending_add() - add ticks whose counter could not be written
 * @session: of the interval of this CPU, so that it cannot go away; the calling
 *	task is one of its process
 * @region: index of the region
 * @index: index of the counter
 * @nr: number of ticks; they are lost if there is no room
 *
 * Context: hard interrupts off, scheduler locks may be held.
 */
noinline void profil_pending_add(struct profil_session *session, u32 region,
				 u64 index, u32 nr)
{
	struct profil_pending *pending = &session->pending;
	bool kick, added;
	u32 before;

	raw_spin_lock(&pending->lock);
	before = pending->nr;
	added = profil_pending_append(pending, region, index, nr);
	if (added && !pending->memcg) {
		rcu_read_lock();
		pending->memcg = profil_get_memcg(current);
		rcu_read_unlock();
	}
	/* Not by a tick that joins others: the work may have to wait for its turn */
	kick = !pending->queued || (pending->nr > before &&
				    pending->nr == PROFIL_FLUSH_AT_ONCE);
	pending->queued = true;
	raw_spin_unlock(&pending->lock);

	if (!added)
		atomic64_add(nr, &session->stats[region].lost);
	if (!kick)
		return;
	refcount_inc(&session->refs);
	if (!irq_work_queue(&pending->kick))
		profil_session_put(session);
}

/* --- beginning and end */

/* For a new session. */
static void profil_pending_setup(struct profil_session *session)
{
	struct profil_pending *pending = &session->pending;

	raw_spin_lock_init(&pending->lock);
	pending->kick = IRQ_WORK_INIT_HARD(profil_flush_kick);
	INIT_DELAYED_WORK(&pending->work, profil_flush_work);
}

static void profil_session_free(struct work_struct *work)
{
	struct profil_session *session =
		container_of(work, struct profil_session, free);

	irq_work_sync(&session->pending.kick);
	/* If the program unmapped its anchor these may be left */
	profil_flush_exit(session);
	profil_session_record(session);
	profil_file_put(session->file);
	profil_config_put(session->config);
	profil_user_put(session->user);
	mmdrop(session->mm);
	kvfree(session);
	if (atomic_dec_and_test(&profil_nr_sessions))
		wake_up_var(&profil_nr_sessions);
}

/* Drop a reference to a session. The last one may be that of an interrupt. */
void profil_session_put(struct profil_session *session)
{
	if (!refcount_dec_and_test(&session->refs))
		return;
	if (hardirq_count())
		queue_work(profil_flush_wq, &session->free);
	else
		profil_session_free(&session->free);
}

/**
 * profil_session_create() - make a session that has taken no tick yet
 * @config: its parsed request; gets a reference
 * @mm: its address space
 * @file: where its stats go; gets a reference
 * @user: the user to charge; gets a reference
 *
 * Context: process, may sleep; mmap_lock may be held.
 * Return: a session with one reference, or NULL.
 */
struct profil_session *profil_session_create(struct profil_config *config,
					     struct mm_struct *mm,
					     struct profil_file *file,
					     struct profil_user *user)
{
	u32 nr = config->map.nr_regions;
	struct profil_session *session;
	u32 i;

	session = kvzalloc(struct_size(session, stats, nr), GFP_KERNEL_ACCOUNT);
	if (!session)
		return NULL;
	atomic_inc(&profil_nr_sessions);
	refcount_inc(&config->refs);
	session->config = config;
	mmgrab(mm);
	session->mm = mm;
	refcount_inc(&file->refs);
	session->file = file;
	spin_lock(&file->lock);
	file->running++;
	spin_unlock(&file->lock);
	session->user = profil_user_hold(user);
	session->sink = (struct profil_sink) {
		.slot = PROFIL_SLOT_PROFILE,
		.state = PROFIL_STATE_ON,
		.period_ns = config->period_ns,
	};
	refcount_set(&session->refs, 1);
	mutex_init(&session->flush);
	profil_pending_setup(session);
	INIT_WORK(&session->free, profil_session_free);
	for (i = 0; i < nr; i++)
		session->stats[i].state = config->map.counters[i].state;
	return session;
}

/**
 * profil_session_stop() - write the last ticks and end
 * @session: of the calling process, published no more and refreshed
 */
void profil_session_stop(struct profil_session *session)
{
	profil_flush_last(session);
	cmpxchg(&session->sink.state, PROFIL_STATE_ON, PROFIL_STATE_OFF);
	profil_session_record(session);
}

/* No new sessions can begin any more, but old ones may have ticks to write. */
void profil_session_wait_for_all(void)
{
	wait_var_event(&profil_nr_sessions, !atomic_read(&profil_nr_sessions));
}

/* Freezable, lest pages be brought in when memory is being saved. */
int __init profil_pending_init(void)
{
	BUILD_BUG_ON(16 * PROFIL_MOST_FLUSHES > WQ_MAX_ACTIVE);
	profil_wq = alloc_workqueue("profil", WQ_UNBOUND | WQ_FREEZABLE, 0);
	if (!profil_wq)
		return -ENOMEM;
	profil_flush_wq = alloc_workqueue("profil_flush",
					  WQ_UNBOUND | WQ_FREEZABLE,
					  WQ_MAX_ACTIVE);
	if (profil_flush_wq)
		return 0;
	destroy_workqueue(profil_wq);
	return -ENOMEM;
}

void profil_pending_exit(void)
{
	destroy_workqueue(profil_flush_wq);
	destroy_workqueue(profil_wq);
}
