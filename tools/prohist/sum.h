/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sum.h - sums over profiles
 */
#ifndef SUM_H
#define SUM_H

#include <stdbool.h>
#include <stddef.h>

#include "prf/prf.h"
#include "symbolize/symbols.h"

/* Share of the CPU time that may lack ticks before a report mentions it */
#define SUM_UNTIMED	0.05

/*
 * The classes of MS-DOS PROFIL: program, DOS, I/O and high; and those of ticks
 * that fell while threads did not run.
 */
enum sum_class {
	SUM_PROGRAM,
	SUM_LIBRARIES,
	SUM_KERNEL,
	SUM_OTHER,
	SUM_RUNNABLE,
	SUM_BLOCKED,
	SUM_IDLE,
	SUM_CLASSES,
};

/* Number of classes that a profile without waits can have */
#define SUM_CPU_CLASSES	SUM_RUNNABLE

/**
 * struct sum_bucket - ticks of a range of text
 * @address: link-time address, or the file offset if that is unknown
 * @bytes: bytes of text; 0 where the function of a caller begins, and then
 *	@address is that of the last byte of the bucket there
 * @piece: index of its piece, after sum_finish()
 * @ticks: ticks in all files
 * @ns: time of the ticks: each counts the period of its file. It is CPU time, or,
 *	in a DSO of waits, the time that threads waited
 */
struct sum_bucket {
	uint64_t address;
	uint32_t bytes;
	uint32_t piece;
	uint64_t ticks;
	double ns;
};

/**
 * struct sum_piece - consecutive buckets of one function
 * @name: name of the function
 * @inlines: functions inlined there, if wanted
 * @label: name of the innermost function, with those that it is inlined in
 * @start: its first address
 * @end: first address after it
 * @until: see &struct symbol
 * @ticks: ticks in all of its buckets
 * @ns: their CPU time
 * @first: index of its first bucket
 * @nr: number of buckets
 */
struct sum_piece {
	char *name;
	struct inlines inlines;
	char *label;
	uint64_t start;
	uint64_t end;
	uint64_t until;
	uint64_t ticks;
	double ns;
	size_t first;
	size_t nr;
};

/**
 * struct sum_dso - a DSO in all files
 * @path: path of the file
 * @class: class of its ticks
 * @build_id_len: bytes of @build_id, 0 if the DSO has none
 * @build_id: build ID of the file
 * @ticks: ticks in all of its buckets
 * @ns: their CPU time
 * @start: first address of its text
 * @end: first address after its text; 0 if the DSO has only a name
 * @mapping: its first mapping with ticks, valid as long as the profile; NULL if
 *	only the class of the ticks is known
 * @symbols: its symbols; open until sum_close() or sum_free()
 * @nr_buckets: number of buckets
 * @buckets: its buckets, sorted by address after sum_finish()
 * @nr_pieces: number of pieces
 * @pieces: its pieces, sorted by address
 * @before: number of pieces of the DSOs before it, after sum_finish()
 * @shown: index of the DSO that it is shown as, after sum_finish(): the first one of
 *	its path if it is code that was made at run time, of which each process has
 *	its own; otherwise itself
 * @shown_ticks: ticks of all that are shown as this one
 * @shown_ns: their CPU time
 */
struct sum_dso {
	char *path;
	enum sum_class class;
	uint32_t build_id_len;
	uint8_t build_id[PRF_BUILD_ID];
	uint64_t ticks;
	double ns;
	uint64_t start;
	uint64_t end;
	const struct prf_dso *mapping;
	struct symbols symbols;
	size_t nr_buckets;
	struct sum_bucket *buckets;
	size_t nr_pieces;
	struct sum_piece *pieces;
	size_t before;
	size_t shown;
	uint64_t shown_ticks;
	double shown_ns;
};

/**
 * struct sum_function - a function in all files
 * @name: name of the function; if it is inlined, with its callers
 * @piece: one of its pieces
 * @dso: index of its DSO, as that is shown
 * @ticks: ticks in all of its buckets
 * @ns: their CPU time
 */
struct sum_function {
	char *name;
	const struct sum_piece *piece;
	size_t dso;
	uint64_t ticks;
	double ns;
};

/**
 * struct sum_missed - an exec that was not profiled
 * @name: path of the program
 * @reason: why it was not profiled
 */
struct sum_missed {
	char *name;
	char *reason;
};

/**
 * struct sum - sums over all files
 * @command: command line of the first file
 * @inlined: whether inlined functions count for themselves
 * @callers: whether callers have buckets, which may have no ticks
 * @states: bits by enum prf_state: those that the user wants
 * @chains: whether any file has chains of callers
 * @ends: ticks by enum prf_chain_end, of all files as a whole
 * @files: number of files
 * @clock: enum prf_clock; 0 if the files differ
 * @wall: whether any file has ticks that fell while threads did not run
 * @user_only: whether any file lacks ticks in kernel mode
 * @records_lost: whether a ring was full while any was recorded
 * @kernel_unknown: whether any lacks those of the programs selected
 * @period_ns: mean period of all ticks
 * @wall_ns: sum of the files' durations
 * @time_ns: CPU time of the ticks: each counts the period of its file
 * @untimed_ns: CPU time of files that they did not cover, or whose ticks were lost or
 *	clipped
 * @waits_ns: by enum prf_state, the same of waits, also of those not selected
 * @numbers: sums of the counts of all execs
 * @withheld: processes and execs that profil was not permitted to profile
 * @unfollowed_threads: threads whose waits have no ticks
 * @bucket_ticks: ticks in buckets or counted for the kernel
 * @waits: by enum prf_state, ticks of waits in buckets
 * @placed: ticks in any of the classes
 * @placed_ns: their time, of which all shares are
 * @squares: sum of the squares of the CPU times of these ticks
 * @classes: ticks in each class
 * @classes_ns: their CPU time
 * @nr_dsos: number of DSOs
 * @dsos: DSOs; after sum_finish() sorted by class, then by ticks, most first
 * @keys: finds a DSO; private to sum.c
 * @nr_pieces: number of pieces of all DSOs
 * @nr_functions: number of functions
 * @functions: functions, sorted by ticks, most first
 * @nr_missed: number of execs that were not profiled
 * @missed: these execs
 */
struct sum {
	char *command;
	bool inlined;
	bool callers;
	unsigned int states;
	bool chains;
	uint64_t ends[PRF_CHAIN_ENDS];
	unsigned int files;
	uint32_t clock;
	bool wall;
	bool user_only;
	bool records_lost;
	bool kernel_unknown;
	double period_ns;
	double wall_ns;
	double time_ns;
	double untimed_ns;
	double waits_ns[PRF_STATES];
	struct prf_exec numbers;
	uint64_t withheld;
	uint64_t unfollowed_threads;
	uint64_t bucket_ticks;
	uint64_t waits[PRF_STATES];
	uint64_t placed;
	double placed_ns;
	double squares;
	uint64_t classes[SUM_CLASSES];
	double classes_ns[SUM_CLASSES];
	size_t nr_dsos;
	struct sum_dso *dsos;
	void *keys;
	size_t nr_pieces;
	size_t nr_functions;
	struct sum_function *functions;
	size_t nr_missed;
	struct sum_missed *missed;
};

void sum_add(struct sum *sum, const struct prf *prf);
void sum_finish(struct sum *sum);
void sum_runs(struct sum *sum, const struct prf *runs, size_t nr, bool inlined);
void sum_close(struct sum *sum);
void sum_find_pieces(struct sum_dso *dso, bool inlined);
bool sum_place(const struct sum_dso *dso, const struct sum_piece *piece,
	       const struct sum_bucket *bucket, struct place *place);
const struct sum_bucket *sum_find(const struct sum_dso *dso, uint64_t address,
				  uint64_t bytes);
const struct sum_bucket *sum_node(const struct sum *sum, const struct prf *run,
				  const struct prf_exec *exec,
				  const struct prf_node *node, bool calls,
				  const struct sum_dso **dso);
const struct sum_dso *sum_dso(const struct sum *sum,
			      const struct prf_dso *mapping);
const struct sum_dso *sum_whole(const struct sum *sum, enum sum_class class);
double sum_untimed(const struct sum *sum);
double sum_weight(const struct sum *sum);
uint64_t sum_scaled(const struct sum *sum, double ns, double *rest);
bool sum_adds_up(const struct sum *sum);
const char *sum_meaning(const struct sum *sum,
			const struct prf_outcome *outcome);
double sum_percent(const struct sum *sum, double ns);
double sum_error(const struct sum *sum, double ns);
enum prf_state sum_state(enum sum_class class);
size_t sum_classes(const struct sum *sum);
double sum_states_ns(const struct sum *sum, enum prf_state state);
const char *sum_class_name(enum sum_class class);
const char *sum_dso_name(const struct sum *sum, size_t dso);
char *sum_label(const struct sum_dso *dso, const char *name);
const char *sum_innermost(const struct sum_piece *piece);
bool sum_called(const char *name, const char *wanted);
const char *clock_name(uint32_t clock);
void sum_free(struct sum *sum);

#endif /* SUM_H */
