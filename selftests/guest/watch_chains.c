// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_chains.c - ticks by chain of callers
 *
 * The tests watch programs whose calls they know: functions of their own, which
 * spend their time where the last one is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "numbers.h"
#include "programs/dso.h"
#include "watch.h"
#include "chains.h"

NEEDS_ROOT;
NEEDS_CALLERS;

#define WORK_NS		(300 * MS)

#define PLACE		"/run/profil-watch-chains"

/* --- functions that call each other */

static volatile uint64_t work;

OWN_TEXT(inner) void inner(void)
{
	for (uint64_t i = 0; i < 20000; i++)
		work++;
}

OWN_TEXT(middle) void middle(void)
{
	inner();
	CALLED();
}

OWN_TEXT(outer) int outer(void *ns)
{
	uint64_t end = thread_cpu_ns() + (uintptr_t)ns;

	for (uint64_t i = 0; spins_on(end, (uintptr_t)ns, i); i++)
		middle();
	return 0;
}

FIXTURE(chains) {
	struct watch watch;
	struct child child;
	struct profil_watch_status status;
};

FIXTURE_SETUP(chains)
{
	self->watch.fd = -1;
	self->child.pid = -1;
	mkdir(PLACE, 0755);
	ASSERT_EQ(0, mount("profil", PLACE, "tmpfs", 0, NULL));
}

FIXTURE_TEARDOWN(chains)
{
	child_kill(&self->child);
	watch_end(&self->watch);
	EXPECT_EQ(0, umount2(PLACE, MNT_DETACH));
}

static void begin_with(struct __test_metadata *_metadata,
		       FIXTURE_DATA(chains) *self,
		       int (*function)(void *argument), void *argument,
		       struct profil_watch request)
{
	self->child = child_begin(function, argument);
	request.size = sizeof(request);
	request.target = PROFIL_WATCH_PROCESS;
	request.id = self->child.pid;
	request.flags |= PROFIL_WATCH_CHAINS;
	if (!request.period_ns)
		request.period_ns = MS;
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	ASSERT_EQ(0, load_own_callers(&self->watch));
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(chains) *self,
		  int (*function)(void *argument), void *argument,
		  uint32_t flags)
{
	begin_with(_metadata, self, function, argument,
		   (struct profil_watch) { .flags = flags });
}

static void log_ends(struct __test_metadata *_metadata,
		     const struct profil_watch_status *status)
{
	TH_LOG("%llu ticks: %llu counted, %llu coarse, %llu kernel, %llu unresolved",
	       status->ticks, status->counted, status->coarse, status->kernel,
	       status->unresolved);
	for (int i = 0; i < PROFIL_CHAIN_ENDS; i++)
		if (status->chains[i])
			TH_LOG("chains that ended by %d: %llu", i,
			       status->chains[i]);
}

static void finish_by(struct __test_metadata *_metadata,
		      FIXTURE_DATA(chains) *self, int result)
{
	EXPECT_EQ(result, child_end(&self->child));
	self->child.pid = -1;
	self->status = watch_settled(&self->watch, 0);
	log_ends(_metadata, &self->status);
	EXPECT_CHAINS(&self->watch, &self->status);
}

static void finish(struct __test_metadata *_metadata,
		   FIXTURE_DATA(chains) *self)
{
	finish_by(_metadata, self, 0);
}

/* Watch a function of this program until what the watch has is good. */
#define WATCH_UNTIL(good, function, flags) RUN_UNTIL(good, { \
	watch_end(&self->watch); \
	begin(_metadata, self, function, (void *)WORK_NS, flags); \
	finish(_metadata, self); \
})

/* Are these nearly all of the ticks in user mode? */
#define NEARLY_ALL(nr)	((nr) > 0.9 * self->status.counted)

/*
 * All ticks of a function have these callers, and there are many; but none had a
 * chain while another thread changed the mappings.
 */
static void expect_callers(struct __test_metadata *_metadata,
			   const struct watch *watch, const void *text,
			   const void *end, const void *const *callers, int nr)
{
	uint64_t ticks = chain_ticks(watch, text, end, callers, nr);

	EXPECT_LT(WORK_NS / MS / 4, ticks);
	EXPECT_EQ(watch_ticks_of(watch, text, end),
		  ticks + chain_ticks_alone(watch, text, end));
}

static const void *const of_inner[] = { START_OF(middle), START_OF(outer) };

TEST_F(chains, of_a_function)
{
	WATCH_UNTIL(NEARLY_ALL(self->status.chains[PROFIL_CHAIN_COMPLETE]),
		    outer, 0);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       of_inner, 2);
}

/* --- chains that are never the same twice */

#define BITS	5
#define PATHS	(1 << BITS)

#define LEAF(n) \
	OWN_TEXT(leaf##n) static void leaf##n(void) \
	{ \
		for (int i = 0; i < 3000; i++) \
			work += n; \
	}
#define LEAVES(apply) \
	apply(0) apply(1) apply(2) apply(3) apply(4) apply(5) apply(6) \
	apply(7) apply(8) apply(9) apply(10) apply(11) apply(12) apply(13) \
	apply(14) apply(15) apply(16) apply(17) apply(18) apply(19) apply(20) \
	apply(21) apply(22) apply(23) apply(24) apply(25) apply(26) apply(27) \
	apply(28) apply(29) apply(30) apply(31)

LEAVES(LEAF)

struct leaf {
	void (*function)(void);
	const char *start;
	const char *end;
};

#define LEAF_OF(n) { leaf##n, START_OF(leaf##n), END_OF(leaf##n) },
static const struct leaf leaves[PATHS] = { LEAVES(LEAF_OF) };

OWN_TEXT(zero) void zero(unsigned int path, int bits);
OWN_TEXT(one) void one(unsigned int path, int bits);

/* Go the path that the bits of a number say, to the leaf of that number. */
static inline __attribute__((always_inline)) void go(unsigned int path, int bits)
{
	if (!bits)
		leaves[path].function();
	else if (path >> (bits - 1) & 1)
		one(path, bits - 1);
	else
		zero(path, bits - 1);
	CALLED();
}

void zero(unsigned int path, int bits)
{
	go(path, bits);
}

/* Its frame has a base pointer, and many sizes. */
void one(unsigned int path, int bits)
{
	volatile char *room = __builtin_alloca(16 + path * bits * 16);

	room[0] = 1;
	go(path, bits);
}

OWN_TEXT(go_everywhere) int go_everywhere(void *ns)
{
	uint64_t end = worked_ns() + (uintptr_t)ns;
	unsigned int path = 1;

	while (worked_ns() < end) {
		path = path * 1103515245 + 12345;
		go(path >> 16 & (PATHS - 1), BITS);
	}
	return 0;
}

/*
 * Where a tick fell says which chain it must have. The next tick has another one
 * that begins with the same calls.
 */
TEST_F(chains, of_every_path)
{
	const void *callers[BITS + 1];
	uint64_t all = 0;

	begin_with(_metadata, self, go_everywhere, (void *)(2 * WORK_NS),
		   (struct profil_watch) { .period_ns = MS / 10 });
	finish(_metadata, self);
	callers[BITS] = START_OF(go_everywhere);
	for (int path = 0; path < PATHS; path++) {
		const struct leaf *leaf = &leaves[path];
		uint64_t ticks = watch_ticks_of(&self->watch, leaf->start,
						leaf->end);

		for (int bit = 0; bit < BITS; bit++)
			callers[bit] = path >> bit & 1 ? START_OF(one) :
							 START_OF(zero);
		EXPECT_EQ(ticks, chain_ticks(&self->watch, leaf->start,
					     leaf->end, callers, BITS + 1));
		all += ticks;
	}
	EXPECT_LT(0.5 * self->status.counted, all);
}

/* --- recursion */

OWN_TEXT(descend) void descend(int depth, uint64_t ns)
{
	if (depth)
		descend(depth - 1, ns);
	else
		outer((void *)ns);
	CALLED();
}

static int descend_10(void *ns)
{
	descend(10, (uintptr_t)ns);
	return 0;
}

/* Those of callers begin where their function does; a tick may fall in it, too. */
static uint32_t nodes_at(const struct watch *watch, const void *text)
{
	uint32_t object = watch_own_object(watch, text), nr = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		nr += watch_in_use(bucket) && bucket->object == object &&
		      bucket->offset == watch_offset(text);
	}
	return nr;
}

TEST_F(chains, of_recursion)
{
	const void *callers[14] = { START_OF(middle), START_OF(outer) };

	for (int i = 0; i < 11; i++)
		callers[2 + i] = START_OF(descend);
	begin(_metadata, self, descend_10, (void *)WORK_NS, 0);
	finish(_metadata, self);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       callers, 13);
	EXPECT_EQ(11, nodes_at(&self->watch, START_OF(descend)));
}

static int descend_300(void *ns)
{
	descend(300, (uintptr_t)ns);
	return 0;
}

TEST_F(chains, deeper_than_the_limit)
{
	uint32_t cut = 0;

	begin(_metadata, self, descend_300, (void *)WORK_NS, 0);
	finish(_metadata, self);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       of_inner, 2);
	EXPECT_LT(WORK_NS / MS / 2, self->status.chains[PROFIL_CHAIN_DEEP]);
	for (uint32_t i = 1; i <= self->watch.table->max_buckets; i++) {
		if (!watch_in_use(watch_bucket(&self->watch, i - 1)))
			continue;
		EXPECT_GE(PROFIL_MAX_FRAMES + 1,
			  chain_length(&self->watch, i));
		cut += node_caller(&self->watch, i) == PROFIL_CALLER_UNKNOWN;
	}
	EXPECT_LT(0, cut);
}

/* --- call sites */

OWN_TEXT(call_twice) int call_twice(void *ns)
{
	uint64_t end = thread_cpu_ns() + (uintptr_t)ns;

	for (uint64_t i = 0; spins_on(end, (uintptr_t)ns, i); i += 2) {
		inner();
		CALLED();
		inner();
		CALLED();
	}
	return 0;
}

TEST_F(chains, by_function)
{
	static const void *const callers[] = { START_OF(call_twice) };

	begin(_metadata, self, call_twice, (void *)WORK_NS, 0);
	finish(_metadata, self);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       callers, 1);
}

/* Ticks in a function of the nodes whose caller is that node. */
static uint64_t ticks_called_by(const struct watch *watch, uint32_t node,
				const void *text, const void *end)
{
	uint32_t object = watch_own_object(watch, text);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (watch_in_use(bucket) && bucket->object == object &&
		    bucket->caller == node &&
		    bucket->offset >= watch_offset(text) &&
		    bucket->offset < watch_offset(end))
			sum += bucket->count;
	}
	return sum;
}

TEST_F(chains, by_call_site)
{
	uint64_t ticks, all = 0;
	uint32_t sites = 0, object;

	begin(_metadata, self, call_twice, (void *)WORK_NS,
	      PROFIL_WATCH_CALL_SITES);
	finish(_metadata, self);
	object = watch_own_object(&self->watch, START_OF(call_twice));
	for (uint32_t i = 1; i <= self->watch.table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(&self->watch, i - 1);

		if (!watch_in_use(bucket) || bucket->object != object)
			continue;
		ticks = ticks_called_by(&self->watch, i, START_OF(inner),
					END_OF(inner));
		if (!ticks)
			continue;
		EXPECT_LE(watch_offset(START_OF(call_twice)), bucket->offset);
		EXPECT_GT(watch_offset(END_OF(call_twice)), bucket->offset);
		all += ticks;
		sites++;
	}
	EXPECT_EQ(2, sites);
	EXPECT_EQ(all, watch_ticks_of(&self->watch, START_OF(inner),
				      END_OF(inner)));
}

/* --- signals, threads, processes */

static uint64_t handler_ns;

OWN_TEXT(handle) void handle(int unused)
{
	(void)unused;
	outer((void *)handler_ns);
	CALLED();
}

OWN_TEXT(raise_here) int raise_here(void *ns)
{
	struct sigaction action = { .sa_handler = handle,
				    .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = 1 << 16 };

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	handler_ns = (uintptr_t)ns;
	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
		return 1;
	/* Not kill() of the C library, whose frame would be between */
	__asm__ volatile("syscall" : : "a" (SYS_tgkill), "D" (getpid()),
			 "S" (gettid()), "d" (SIGUSR1) :
			 "rcx", "r11", "memory");
	return 0;
}

/* Is a function of this program among the callers of a node? */
static bool is_below(const struct watch *watch, uint32_t node, const void *text)
{
	uint32_t object = watch_own_object(watch, text);

	for (; node && node != PROFIL_CALLER_UNKNOWN;
	     node = node_caller(watch, node))
		if (watch_bucket(watch, node - 1)->object == object &&
		    watch_bucket(watch, node - 1)->offset == watch_offset(text))
			return true;
	return false;
}

static uint64_t ticks_below_function(const struct watch *watch,
				     const void *text)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= watch->table->max_buckets; i++)
		if (watch_in_use(watch_bucket(watch, i - 1)) &&
		    is_below(watch, i, text))
			sum += watch_bucket(watch, i - 1)->count;
	return sum;
}

TEST_F(chains, of_a_handler_on_another_stack)
{
	static const void *const callers[] = {
		START_OF(middle), START_OF(outer), START_OF(handle)
	};

	WATCH_UNTIL(NEARLY_ALL(ticks_below_function(&self->watch,
						    START_OF(raise_here))) &&
		    NEARLY_ALL(self->status.chains[PROFIL_CHAIN_COMPLETE]),
		    raise_here, 0);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       callers, 3);
}

static void *call_outer(void *ns)
{
	outer(ns);
	return NULL;
}

static int start_threads(void *ns)
{
	pthread_t threads[3];
	int bad = 0;

	for (int i = 0; i < 3; i++)
		bad |= pthread_create(&threads[i], NULL, call_outer, ns);
	for (int i = 0; i < 3; i++)
		bad |= pthread_join(threads[i], NULL);
	return bad;
}

TEST_F(chains, of_threads)
{
	/* The ticks of all three */
	WATCH_UNTIL(self->status.ticks > 2.5 * WORK_NS / MS &&
		    NEARLY_ALL(self->status.chains[PROFIL_CHAIN_COMPLETE]),
		    start_threads, 0);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       of_inner, 2);
}

OWN_TEXT(fork_here) int fork_here(void *ns)
{
	pid_t child = fork();

	if (!child)
		_exit(outer(ns));
	return wait_child(child);
}

TEST_F(chains, of_children)
{
	WATCH_UNTIL(NEARLY_ALL(ticks_below_function(&self->watch,
						    START_OF(fork_here))),
		    fork_here, PROFIL_WATCH_CHILDREN);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       of_inner, 2);
}

/* A child that has the stack and the memory of its parent, which waits for it. */
OWN_TEXT(vfork_here) int vfork_here(void *ns)
{
	pid_t child = vfork();

	if (!child)
		_exit(outer(ns));
	return wait_child(child);
}

TEST_F(chains, of_a_child_in_the_memory_of_its_parent)
{
	WATCH_UNTIL(NEARLY_ALL(ticks_below_function(&self->watch,
						    START_OF(vfork_here))),
		    vfork_here, PROFIL_WATCH_CHILDREN);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       of_inner, 2);
}

/* --- the kernel */

static char zeros[1 << 16];

/* Not read() of the C library, whose frame would be between. */
OWN_TEXT(call_kernel) long call_kernel(int zero)
{
	long done = SYS_read;

	__asm__ volatile("syscall" : "+a" (done) : "D" (zero), "S" (zeros),
			 "d" (sizeof(zeros)) : "rcx", "r11", "memory");
	return done;
}

static int stay_in_kernel(void *ns)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	uint64_t end = worked_ns() + (uintptr_t)ns;

	while (worked_ns() < end)
		if (call_kernel(zero) < 0)
			return 1;
	return 0;
}

/* Ticks in buckets of the kernel that a function of this program called. */
static uint64_t kernel_ticks(const struct watch *watch, const void *function,
			     uint64_t least)
{
	uint32_t object = watch_own_object(watch, function);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i), *caller;

		if (!watch_in_use(bucket) ||
		    bucket->object != PROFIL_OBJECT_KERNEL ||
		    bucket->offset < least || !bucket->caller ||
		    bucket->caller == PROFIL_CALLER_UNKNOWN)
			continue;
		caller = watch_bucket(watch, bucket->caller - 1);
		if (caller->object == object &&
		    caller->offset == watch_offset(function))
			sum += bucket->count;
	}
	return sum;
}

/* But for exit, however long the host lets that take: it has no chains. */
static uint64_t kernel_ticks_with_chains(const struct profil_watch_status *status)
{
	return status->kernel - status->chains[PROFIL_CHAIN_NO_MEMORY];
}

TEST_F(chains, of_the_kernel)
{
	/* An older tick in the kernel may not look at mappings */
	if (is_linux_before(6, 1))
		SKIP(return, "needs Linux 6.1");
	WATCH_UNTIL(0.5 * kernel_ticks_with_chains(&self->status) <
		    kernel_ticks(&self->watch, START_OF(call_kernel), 0),
		    stay_in_kernel, 0);
	EXPECT_LT(WORK_NS / MS / 2, self->status.kernel);
	EXPECT_EQ(self->status.kernel,
		  watch_ticks(&self->watch, WATCH_ANY, PROFIL_OBJECT_KERNEL));
	EXPECT_EQ(0, kernel_ticks(&self->watch, START_OF(call_kernel), 1));
}

TEST_F(chains, of_the_kernel_by_address)
{
	if (is_linux_before(6, 1))
		SKIP(return, "needs Linux 6.1");
	WATCH_UNTIL(0.5 * kernel_ticks_with_chains(&self->status) <
		    kernel_ticks(&self->watch, START_OF(call_kernel), 1ULL << 63),
		    stay_in_kernel, PROFIL_WATCH_KERNEL_TEXT);
	EXPECT_EQ(self->status.kernel,
		  watch_ticks(&self->watch, WATCH_ANY, PROFIL_OBJECT_KERNEL));
}

/* --- code that comes and goes */

static const struct profil_unwind_rule of_spin_code = {
	.cfa = PROFIL_UNWIND_SP, .offset = 8,
};

static const char *const files[] = { PLACE "/known", PLACE "/unknown" };

OWN_TEXT(call_code) void call_code(const void *code)
{
	spin_ns(code, WORK_NS / 20);
	CALLED();
}

/* Two files by turns, at the same address. */
static int map_by_turns(void *unused)
{
	void *place = NULL;

	(void)unused;
	for (int i = 0; i < 20; i++) {
		int fd = open(files[i % 2], O_RDONLY | O_CLOEXEC);
		void *code = mmap(place, PAGE, PROT_READ | PROT_EXEC,
				  MAP_PRIVATE | (place ? MAP_FIXED : 0), fd, 0);

		close(fd);
		if (code == MAP_FAILED)
			return 1;
		place = code;
		call_code(code);
	}
	return 0;
}

static uint64_t ticks_with_caller(const struct watch *watch, uint32_t object,
				  bool has_caller)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (watch_in_use(bucket) && bucket->object == object &&
		    (bucket->caller != PROFIL_CALLER_UNKNOWN) == has_caller)
			sum += bucket->count;
	}
	return sum;
}

/* Only one of them has a table. */
TEST_F(chains, of_files_at_the_same_address)
{
	struct callers callers = make_rule(of_spin_code, 1);
	uint32_t known, unknown;
	int fd = make_code(files[0]);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, close(make_code(files[1])));
	begin(_metadata, self, map_by_turns, NULL, 0);
	ASSERT_EQ(0, load_callers(&self->watch, fd, callers.table,
				  callers.bytes));
	finish(_metadata, self);
	known = watch_find_object(&self->watch, files[0]);
	unknown = watch_find_object(&self->watch, files[1]);
	EXPECT_LT(WORK_NS / MS / 4, ticks_with_caller(&self->watch, known, true));
	EXPECT_EQ(0, ticks_with_caller(&self->watch, known, false));
	EXPECT_LT(WORK_NS / MS / 4,
		  ticks_with_caller(&self->watch, unknown, false));
	EXPECT_EQ(0, ticks_with_caller(&self->watch, unknown, true));
	free(callers.table);
	close(fd);
}

/* Write to a file what it has. Return: 0, or -1. */
static int write_again(int fd)
{
	char byte;

	return pread(fd, &byte, 1, 0) == 1 && pwrite(fd, &byte, 1, 0) == 1 ?
		0 : -1;
}

/* The same file before and after it is written to */
static int write_between(void *unused)
{
	void *place = NULL;

	(void)unused;
	for (int i = 0; i < 2; i++) {
		int fd = open(files[0], O_RDWR | O_CLOEXEC);
		void *code;

		if (i && write_again(fd))
			return 1;
		code = mmap(place, PAGE, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | (place ? MAP_FIXED : 0), fd, 0);
		close(fd);
		if (code == MAP_FAILED)
			return 1;
		place = code;
		for (int j = 0; j < 10; j++)
			call_code(code);
	}
	return 0;
}

/* A table is not that of what is written to its file later. */
TEST_F(chains, of_a_file_that_is_written_to)
{
	struct callers callers = make_rule(of_spin_code, 1);
	int fd = make_code(files[0]);
	uint32_t object;

	ASSERT_LE(0, fd);
	begin(_metadata, self, write_between, NULL, 0);
	ASSERT_EQ(0, load_callers(&self->watch, fd, callers.table,
				  callers.bytes));
	finish(_metadata, self);
	object = watch_find_object(&self->watch, files[0]);
	EXPECT_LT(WORK_NS / MS / 4,
		  ticks_with_caller(&self->watch, object, true));
	EXPECT_LT(WORK_NS / MS / 4,
		  ticks_with_caller(&self->watch, object, false));
	free(callers.table);
	close(fd);
}

/* A table on its way to the module, in a page that is not there yet */
struct loading {
	const struct watch *watch;
	int file;
	void *table;
	uint64_t bytes;
};

static void *load_slowly(void *argument)
{
	const struct loading *loading = argument;

	return (void *)(intptr_t)load_callers(loading->watch, loading->file,
					      loading->table, loading->bytes);
}

/* It is that of what was there before. */
TEST_F(chains, of_a_file_that_is_written_to_while_its_table_is_loaded)
{
	static char contents[PAGE] __attribute__((aligned(PAGE)));
	struct callers callers = make_rule(of_spin_code, 1);
	struct loading loading = {
		.watch = &self->watch, .bytes = callers.bytes,
		.file = make_code(files[0]),
		.table = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	};
	struct uffdio_copy copy = {
		.dst = (uintptr_t)loading.table,
		.src = (uintptr_t)contents, .len = PAGE,
	};
	int faults = userfault(loading.table, 0);
	int file = open(files[0], O_RDWR | O_CLOEXEC);
	struct uffd_msg fault;
	pthread_t loader;
	uint32_t object;
	void *result;

	if (faults < 0)
		SKIP(return, "userfaultfd: %s", strerror(errno));
	ASSERT_LE(0, loading.file);
	ASSERT_EQ(0, close(make_code(files[1])));
	ASSERT_GE(PAGE, callers.bytes);
	memcpy(contents, callers.table, callers.bytes);
	begin(_metadata, self, map_by_turns, NULL, 0);
	/* So that its time is another one */
	usleep(20000);
	ASSERT_EQ(0, pthread_create(&loader, NULL, load_slowly, &loading));
	ASSERT_EQ(sizeof(fault), read(faults, &fault, sizeof(fault)));
	ASSERT_EQ(0, write_again(file));
	ASSERT_EQ(0, ioctl(faults, UFFDIO_COPY, &copy));
	pthread_join(loader, &result);
	ASSERT_EQ(NULL, result);
	finish(_metadata, self);
	object = watch_find_object(&self->watch, files[0]);
	EXPECT_EQ(0, ticks_with_caller(&self->watch, object, true));
	EXPECT_LT(WORK_NS / MS / 4,
		  ticks_with_caller(&self->watch, object, false));
	munmap(loading.table, PAGE);
	free(callers.table);
	close(faults);
	close(file);
	close(loading.file);
}

/* Libraries with other frames, by turns, at the same address. */
static char libraries[2][4096];

OWN_TEXT(call_library) void call_library(void (*function)(void))
{
	uint64_t end = worked_ns() + WORK_NS / 20;

	while (worked_ns() < end)
		function();
	CALLED();
}

static int open_by_turns(void *unused)
{
	void (*function)(void) = NULL;

	(void)unused;
	for (int i = 0; i < 20; i++) {
		void *library = dlopen(libraries[i % 2], RTLD_NOW);
		const struct library *exported =
			library ? dlsym(library, "library") : NULL;

		if (!exported || (function && exported->function != function))
			return 1;
		function = exported->function;
		call_library(function);
		dlclose(library);
	}
	return 0;
}

/* Ticks in a file that a function has called. */
static uint64_t file_ticks_of(const struct watch *watch, uint32_t object,
			      const void *caller)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (watch_in_use(bucket) && bucket->object == object &&
		    bucket->caller != PROFIL_CALLER_UNKNOWN && bucket->caller &&
		    watch_bucket(watch, bucket->caller - 1)->offset ==
		    watch_offset(caller) >> watch->table->bucket_shift)
			sum += bucket->count;
	}
	return sum;
}

TEST_F(chains, of_libraries_that_come_and_go_at_the_same_address)
{
	helper_path(libraries[0], sizeof(libraries[0]), "first.so");
	helper_path(libraries[1], sizeof(libraries[1]), "second.so");
	begin(_metadata, self, open_by_turns, NULL, 0);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, load_callers_of(&self->watch, libraries[i]));
	finish(_metadata, self);
	for (int i = 0; i < 2; i++) {
		uint32_t object =
			watch_find_object(&self->watch,
					  realpath(libraries[i], NULL));
		uint64_t called = file_ticks_of(&self->watch, object,
						START_OF(call_library));
		/* Not what the dynamic linker calls to begin and to end it */
		const struct library *exported =
			dlsym(dlopen(libraries[i], RTLD_NOW), "library");

		EXPECT_LT(WORK_NS / MS / 4, called);
		EXPECT_EQ(called, watch_ticks_of(&self->watch, exported->start,
						 exported->end));
	}
}

/* What is mapped stays so, whatever happens to its name. */
static int call_lost_code(void *unused)
{
	void *code[2];

	(void)unused;
	for (int i = 0; i < 2; i++) {
		int fd = open(files[i], O_RDONLY | O_CLOEXEC);

		code[i] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			       fd, 0);
		close(fd);
		if (code[i] == MAP_FAILED)
			return 1;
	}
	if (rename(PLACE "/other", files[0]) || unlink(files[1]))
		return 1;
	for (int i = 0; i < 20; i++)
		call_code(code[i % 2]);
	return 0;
}

static uint32_t object_of(const struct watch *watch, ino_t inode)
{
	uint32_t object = PROFIL_OBJECT_FILES;

	while (object < watch_nr_objects(watch) &&
	       watch_object(watch, object)->inode != inode)
		object++;
	return object;
}

/* The tables are those of the files that were mapped. */
TEST_F(chains, of_files_that_are_deleted_or_replaced)
{
	struct callers callers = make_rule(of_spin_code, 1);
	struct stat mapped[3];
	int fds[3];

	fds[0] = make_code(files[0]);
	fds[1] = make_code(files[1]);
	fds[2] = make_code(PLACE "/other");
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, fstat(fds[i], &mapped[i]));
	begin(_metadata, self, call_lost_code, NULL, 0);
	for (int i = 1; i < 3; i++)
		ASSERT_EQ(0, load_callers(&self->watch, fds[i], callers.table,
					  callers.bytes));
	finish(_metadata, self);
	for (int i = 0; i < 2; i++) {
		uint32_t object = object_of(&self->watch, mapped[i].st_ino);

		EXPECT_LT(WORK_NS / MS / 4,
			  ticks_with_caller(&self->watch, object, i == 1));
		EXPECT_EQ(0, ticks_with_caller(&self->watch, object, i != 1));
	}
	free(callers.table);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

/* --- stacks that are not what they seem */

struct lie {
	const char *what;
	uint64_t (*bp)(uint64_t *frames, uint64_t code);
	enum profil_chain_end end;
};

static uint64_t to_nothing(uint64_t *frames, uint64_t code)
{
	(void)frames;
	(void)code;
	return 0;
}

static uint64_t to_a_caller(uint64_t *frames, uint64_t code)
{
	frames[0] = 0;
	frames[1] = code;
	return (uintptr_t)frames;
}

static uint64_t to_itself(uint64_t *frames, uint64_t code)
{
	frames[0] = (uintptr_t)frames;
	frames[1] = code;
	return (uintptr_t)frames;
}

static uint64_t to_each_other(uint64_t *frames, uint64_t code)
{
	frames[0] = (uintptr_t)(frames + 4);
	frames[1] = code;
	frames[4] = (uintptr_t)frames;
	frames[5] = code;
	return (uintptr_t)frames;
}

static uint64_t to_very_many(uint64_t *frames, uint64_t code)
{
	for (int i = 0; i < 400; i += 2) {
		frames[i] = (uintptr_t)(frames + i + 2);
		frames[i + 1] = code;
	}
	return (uintptr_t)frames;
}

static uint64_t to_data(uint64_t *frames, uint64_t code)
{
	(void)code;
	frames[0] = (uintptr_t)(frames + 2);
	frames[1] = (uintptr_t)frames;
	return (uintptr_t)frames;
}

static uint64_t to_odd_addresses(uint64_t *frames, uint64_t code)
{
	(void)code;
	return (uintptr_t)frames + 3;
}

static uint64_t to_another_mapping(uint64_t *frames, uint64_t code)
{
	uint64_t *other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	(void)frames;
	other[0] = 0;
	other[1] = code;
	return (uintptr_t)other;
}

static uint64_t to_the_end_of_memory(uint64_t *frames, uint64_t code)
{
	(void)frames;
	(void)code;
	return 0x7ffffffff000 - 8;
}

static uint64_t to_the_kernel(uint64_t *frames, uint64_t code)
{
	(void)frames;
	(void)code;
	return 0xffffffff81000000;
}

static uint64_t to_the_last_word(uint64_t *frames, uint64_t code)
{
	(void)frames;
	(void)code;
	return -8;
}

static const struct lie lies[] = {
	{ "no frame", to_nothing, PROFIL_CHAIN_COMPLETE },
	{ "a caller", to_a_caller, PROFIL_CHAIN_COMPLETE },
	{ "a frame that points to itself", to_itself, PROFIL_CHAIN_ASTRAY },
	{ "two that point to each other", to_each_other, PROFIL_CHAIN_ASTRAY },
	{ "very many", to_very_many, PROFIL_CHAIN_DEEP },
	{ "a caller in data", to_data, PROFIL_CHAIN_UNMAPPED },
	{ "an odd address", to_odd_addresses, PROFIL_CHAIN_ASTRAY },
	{ "a lower mapping", to_another_mapping, PROFIL_CHAIN_ASTRAY },
	{ "the end of memory", to_the_end_of_memory, PROFIL_CHAIN_ABSENT },
	{ "the kernel", to_the_kernel, PROFIL_CHAIN_ABSENT },
	{ "the last word", to_the_last_word, PROFIL_CHAIN_ASTRAY },
};

/* Call code with a base pointer; code without a file, walked by that. */
static int lie(void *argument)
{
	const struct lie *lie = argument;
	uint64_t frames[512] = { 0 };
	void *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t bp, end = worked_ns() + WORK_NS;

	memcpy(code, spin_code, spin_code_size);
	bp = lie->bp(frames, (uintptr_t)code + spin_code_size);
	while (worked_ns() < end)
		__asm__ volatile("push %%rbp; mov %0, %%rbp; mov %1, %%rdi\n\t"
				 "call *%2; pop %%rbp" : :
				 "a" (bp), "d" (1000000ULL), "c" (code) :
				 "rdi", "memory");
	return 0;
}

TEST_F(chains, of_stacks_that_lie)
{
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		TH_LOG("%s", lies[i].what);
		begin(_metadata, self, lie, (void *)&lies[i], 0);
		finish(_metadata, self);
		EXPECT_LT(0.5 * self->status.counted,
			  self->status.chains[lies[i].end]);
		watch_end(&self->watch);
	}
}

/*
 * Code for both modes: mov %rsp, %rax; mov %rsi, %rsp; push %rax;
 * lcall *(%rdx); pop %rsp; ret; and, in 32-bit mode, 1: dec %edi; jnz 1b; lret
 */
static const unsigned char far_code[] = {
	0x48, 0x89, 0xe0, 0x48, 0x89, 0xf4, 0x50, 0xff, 0x1a, 0x5c, 0xc3,
	0xff, 0xcf, 0x75, 0xfc, 0xcb,
};
#define FAR_SPIN	11
#define USER32_CS	0x23

/* In 32-bit mode, on a stack and in code below 4 GiB. */
static int run_32_bits(void *ns)
{
	unsigned char *low = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE |
				  PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS |
				  MAP_32BIT, -1, 0);
	struct { uint32_t offset; uint16_t selector; } *target =
		(void *)(low + PAGE);
	uint64_t end = worked_ns() + (uintptr_t)ns;

	if (low == MAP_FAILED)
		return 1;
	memcpy(low, far_code, sizeof(far_code));
	target->offset = (uintptr_t)low + FAR_SPIN;
	target->selector = USER32_CS;
	while (worked_ns() < end)
		((void (*)(uint64_t, void *, void *))(uintptr_t)low)(
			100000, low + 2 * PAGE, target);
	return 0;
}

TEST_F(chains, of_32_bit_programs)
{
	WATCH_UNTIL(0.5 * self->status.counted <
		    self->status.chains[PROFIL_CHAIN_NO_RULE], run_32_bits, 0);
	EXPECT_LE(self->status.chains[PROFIL_CHAIN_NO_RULE],
		  ticks_with_caller(&self->watch, PROFIL_OBJECT_ANONYMOUS,
				    false) + self->status.kernel);
}

static char *absent_stack;

OWN_TEXT(drop_the_stack) void drop_the_stack(void)
{
	/* The page with the frame of the caller's caller */
	if (madvise(absent_stack + 15 * PAGE, PAGE, MADV_DONTNEED))
		_exit(1);
	outer((void *)WORK_NS);
	_exit(0);
}

OWN_TEXT(use_much_stack) void use_much_stack(void)
{
	volatile char room[2 * PAGE];

	room[0] = room[PAGE] = 1;
	drop_the_stack();
	CALLED();
}

static int lose_a_page(void *unused)
{
	ucontext_t context, back;

	(void)unused;
	absent_stack = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	getcontext(&context);
	context.uc_stack.ss_sp = absent_stack;
	context.uc_stack.ss_size = 16 * PAGE;
	context.uc_link = &back;
	makecontext(&context, use_much_stack, 0);
	swapcontext(&back, &context);
	return 1;
}

TEST_F(chains, of_a_stack_whose_page_is_absent)
{
	static const void *const callers[] = {
		START_OF(middle), START_OF(outer), START_OF(drop_the_stack),
		START_OF(use_much_stack)
	};

	begin(_metadata, self, lose_a_page, NULL, 0);
	finish(_metadata, self);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       callers, 4);
	EXPECT_LT(0.8 * self->status.counted,
		  self->status.chains[PROFIL_CHAIN_ABSENT]);
}

/* --- tables that lie */

#define FORGERIES	150

static int go_on(void *unused)
{
	(void)unused;
	while (!go_everywhere((void *)SECOND))
		continue;
	return 1;
}

/* Any bytes, or rules that the kernel takes for good. */
static void forge(struct callers *callers, bool whole, __u64 *state)
{
	const struct profil_unwind_head *head = callers->table;
	uint8_t *bytes = callers->table;
	int changes = 1 + number_below(state, 8);

	for (int i = 0; whole && i < changes; i++)
		bytes[number_below(state, callers->bytes)] =
			number_below(state, 256);
	for (uint32_t i = 0; !whole && i < head->rules; i++)
		rules_of(callers)[i] = (struct profil_unwind_rule) {
			.cfa = number_below(state, PROFIL_UNWIND_NR_CFA),
			.bp = number_below(state, 256),
			.bx = number_below(state, 254),
			.add = number_below(state, 256),
			.offset = number_below(state, 4) ?
				  number_below(state, 512) - 128 :
				  number_below(state, UINT32_MAX),
		};
}

static void try_forgery(struct __test_metadata *_metadata,
			FIXTURE_DATA(chains) *self, const char *path,
			const struct callers *callers, bool whole)
{
	struct profil_watch request =
		watch_request(PROFIL_WATCH_PROCESS, self->child.pid,
			      PROFIL_WATCH_CHAINS);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int result;

	request.period_ns = 60000;
	request.buckets = 4096;
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	errno = 0;
	result = load_callers(&self->watch, fd, callers->table, callers->bytes);
	EXPECT_TRUE(!result || (whole && errno == EINVAL));
	close(fd);
	usleep(5000);
	watch_stop(&self->watch);
	self->status = watch_status(&self->watch);
	EXPECT_CHAINS(&self->watch, &self->status);
	watch_end(&self->watch);
}

TEST_F(chains, by_forged_tables)
{
	struct callers callers = make_callers("/proc/self/exe"), forged;
	uint64_t ticks = 0;
	__u64 state = 1;

	ASSERT_TRUE(callers.table != NULL);
	self->child = child_begin(go_on, NULL);
	child_go(&self->child);
	forged = callers;
	forged.table = malloc(callers.bytes);
	for (int i = 0; i < FORGERIES; i++) {
		memcpy(forged.table, callers.table, callers.bytes);
		forge(&forged, i % 3 == 0, &state);
		try_forgery(_metadata, self, "/proc/self/exe", &forged,
			    i % 3 == 0);
		ticks += self->status.ticks;
	}
	EXPECT_LT(0, ticks);
	free(callers.table);
	free(forged.table);
}

/* A table could tell the bytes of others apart by such words. */
TEST_F(chains, by_a_table_that_reads_between_words)
{
	struct callers callers = make_rule((struct profil_unwind_rule) {
		.cfa = PROFIL_UNWIND_AT_SP, .offset = 4,
	}, 1 << 16);
	int self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct profil_watch request;

	self->child = child_begin(outer, (void *)WORK_NS);
	request = watch_request(PROFIL_WATCH_PROCESS, self->child.pid,
				PROFIL_WATCH_CHAINS);
	request.period_ns = MS;
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	ASSERT_EQ(0, load_callers(&self->watch, self_fd, callers.table,
				  callers.bytes));
	finish(_metadata, self);
	EXPECT_LT(0.5 * self->status.counted,
		  self->status.chains[PROFIL_CHAIN_ABSENT]);
	close(self_fd);
	free(callers.table);
}

/* --- tables of watches */

TEST_F(chains, that_find_no_room)
{
	begin_with(_metadata, self, go_everywhere, (void *)WORK_NS,
		   (struct profil_watch) { .buckets = 64 });
	finish(_metadata, self);
	EXPECT_LT(0, self->status.coarse);
	EXPECT_LT(0.5 * self->status.coarse, ticks_below(&self->watch));
	EXPECT_GE(self->status.coarse + watch_object(&self->watch,
						     PROFIL_OBJECT_KERNEL)->coarse,
		  ticks_below(&self->watch));
}

/* A user's process is in one of each kind, whose tables are their own. */
TEST_F(chains, of_two_watches)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0,
						    PROFIL_WATCH_CHAINS);
	struct profil_watch_status status;
	struct watch other;

	ASSERT_EQ(0, watch_begin(&other, &request));
	begin(_metadata, self, outer, (void *)WORK_NS, 0);
	finish(_metadata, self);
	expect_callers(_metadata, &self->watch, START_OF(inner), END_OF(inner),
		       of_inner, 2);
	status = watch_stop(&other);
	log_ends(_metadata, &status);
	EXPECT_CHAINS(&other, &status);
	EXPECT_LT(WORK_NS / MS / 2, status.chains[PROFIL_CHAIN_NO_TABLE]);
	EXPECT_EQ(0, chain_ticks(&other, START_OF(inner), END_OF(inner),
				 of_inner, 1));
	watch_end(&other);
}

#define STOPS	20

/* It may end at any time, also while a tick of it walks a stack. */
TEST_F(chains, that_end_while_ticks_come)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0,
						    PROFIL_WATCH_CHAINS);
	uint64_t ticks = 0;

	request.period_ns = 60000;
	request.buckets = 4096;
	self->child = child_begin(go_on, NULL);
	child_go(&self->child);
	for (int i = 0; i < STOPS; i++) {
		ASSERT_EQ(0, watch_begin(&self->watch, &request));
		ASSERT_EQ(0, load_own_callers(&self->watch));
		usleep(i * 150);
		/* A close stops it, too */
		if (i % 2) {
			self->status = watch_stop(&self->watch);
			EXPECT_CHAINS(&self->watch, &self->status);
			ticks += self->status.ticks;
		}
		watch_end(&self->watch);
	}
	EXPECT_LT(0, ticks);
}

/* --- programs as they are */

/* Load tables for the objects that have come, as a watcher does. */
static void load_new_callers(const struct watch *watch, uint32_t *known)
{
	for (; *known < watch_nr_objects(watch); ++*known)
		load_callers_of(watch, watch_path_soon(watch, *known));
}

static int run_perl(void *unused)
{
	(void)unused;
	execl("/usr/bin/perl", "perl", "-e",
	      "my %h; for my $i (1..400000) { $h{$i % 1000} .= sqrt($i); }",
	      NULL);
	return 1;
}

/* The tables of what it maps come while it runs. */
TEST_F(chains, of_a_program_of_debian)
{
	struct pollfd news = { .events = POLLIN };
	uint32_t known = PROFIL_OBJECT_FILES;
	struct profil_watch_status early;
	bool has_ended;

	self->child = child_begin(run_perl, NULL);
	ASSERT_EQ(0, watch_process(&self->watch, self->child.pid,
				   PROFIL_WATCH_CHAINS | PROFIL_WATCH_AT_EXEC));
	news.fd = self->watch.fd;
	child_go(&self->child);
	/* Each may take a while to come on a busy host, and the last one, too */
	do {
		has_ended = child_has_ended(&self->child);
		if (known < watch_nr_objects(&self->watch)) {
			load_new_callers(&self->watch, &known);
			early = watch_status(&self->watch);
		}
	} while (!has_ended && poll(&news, 1, 100) >= 0);
	finish(_metadata, self);
	EXPECT_LT(100, self->status.counted);
	EXPECT_LE(0.99 * (self->status.counted - early.counted),
		  self->status.chains[PROFIL_CHAIN_COMPLETE] -
		  early.chains[PROFIL_CHAIN_COMPLETE]);
}

TEST_HARNESS_MAIN
