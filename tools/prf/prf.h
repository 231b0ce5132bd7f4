/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prf.h - the profile of a run, in memory and in a file
 *
 * Documentation/man/prf.5 describes the file format byte by byte. prf_read()
 * validates its input: all it returns keeps to the ranges given here.
 */
#ifndef PRF_H
#define PRF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PRF_MAGIC	"\x89PROFIL\n"
#define PRF_MAGIC_SIZE	8
#define PRF_VERSION	4
/* That of a profile without waits: older readers know it */
#define PRF_VERSION_CPU	3
#define PRF_BUILD_ID	32

/*
 * Maximum of any number of ticks, and of its sum over a file, so that sums over
 * several files fit into 64 bits.
 */
#define PRF_MOST	(1ULL << 48)

enum prf_type {
	PRF_RUN = 1,
	PRF_EXEC = 2,
	PRF_DSO = 3,
	PRF_HIST = 4,
	PRF_KERNEL = 5,
	PRF_HOST = 6,
	PRF_SYMBOLS = 7,
	PRF_NAMES = 8,
	PRF_CHAINS = 9,
	PRF_END = 255,
};

/*
 * Size of each record's fixed part, before strings or buckets, in bytes, and
 * what it was in versions 1 and 3.
 */
#define PRF_RUN_SIZE	72
#define PRF_RUN_SIZE_1	40
#define PRF_RUN_SIZE_3	64
#define PRF_EXEC_SIZE	144
#define PRF_EXEC_SIZE_1	104
#define PRF_EXEC_SIZE_3	120
#define PRF_DSO_SIZE	64
#define PRF_HIST_SIZE	8
#define PRF_KERNEL_SIZE	16
#define PRF_HOST_SIZE	8
#define PRF_SYMBOLS_SIZE 8
#define PRF_PACKED_SIZE	8
#define PRF_CHAINS_SIZE	72
#define PRF_END_SIZE	8

enum prf_clock {
	PRF_CLOCK_PERF = 1,
	PRF_CLOCK_HRTIMER = 2,
	PRF_CLOCK_PERF_EVENT_OPEN = 3,
};

/* Most bytes of the path of a DSO, which functions without a name are named by */
#define PRF_PATH_MOST		4112

/*
 * Bounds of all NAMES records of a file, so that a small file does not need much
 * memory or time: their number, and their size when uncompressed; segments of a
 * file; inlined calls inside each other; and the bytes of all names, each as often as
 * it is used.
 */
#define PRF_NAMES_RECORDS	1024
#define PRF_NAMES_MOST		(16u << 20)
#define PRF_NAMES_SEGMENTS	64
#define PRF_NAMES_DEPTH		64
#define PRF_NAMES_LETTERS	(256u << 20)

/*
 * Bounds of a CHAINS record: its size when uncompressed; nodes; and frames of the
 * chains of all nodes, each as often as it is in one. No chain has more frames
 * than PRF_CHAIN_DEPTH.
 */
#define PRF_CHAINS_MOST		(64u << 20)
#define PRF_NODES_MOST		(4u << 20)
#define PRF_FRAMES_MOST		(128u << 20)
#define PRF_CHAIN_DEPTH		255

/*
 * PRF_FLAG_CHAINS: ticks were counted by their chains of callers
 * PRF_FLAG_CALL_SITES: callers are told apart by where they call; without, by
 * their function
 * PRF_FLAG_WALL: ticks fell while threads did not run, too: the period is one of
 * real time, and there may be DSOs of waits
 */
#define PRF_FLAG_USER_ONLY	1u
#define PRF_FLAG_RECORDS_LOST	2u
#define PRF_FLAG_CHAINS		4u
#define PRF_FLAG_CALL_SITES	8u
#define PRF_FLAG_WALL		16u
/* All of them, and those that files of versions 2 and 3 can have */
#define PRF_FLAGS		31u
#define PRF_FLAGS_2		3u
#define PRF_FLAGS_3		15u

enum prf_exit {
	PRF_EXITED = 0,
	PRF_SIGNALLED = 1,
	PRF_RUNNING = 2,
};

enum prf_kind {
	PRF_PROGRAM = 1,
	PRF_LIBRARY = 2,
	PRF_LOADER = 3,
	PRF_VDSO = 4,
	PRF_ANONYMOUS = 5,
	PRF_KERNEL_TEXT = 6,
	PRF_WAIT_RUNNABLE = 7,
	PRF_WAIT_BLOCKED = 8,
	PRF_WAIT_IDLE = 9,
};

/* What a thread does at a tick. */
enum prf_state {
	PRF_ON_CPU,
	PRF_RUNNABLE,
	PRF_BLOCKED,
	PRF_IDLE,
	PRF_STATES,
};

/**
 * struct prf_state_name - a state, for reports
 * @name: its name: the argument of an option, in JSON, and a heading
 * @path: path of the DSOs with the ticks of the state; NULL on a CPU
 * @meaning: what the thread does
 */
struct prf_state_name {
	const char *name;
	const char *path;
	const char *meaning;
};

extern const struct prf_state_name prf_states[PRF_STATES];

/*
 * Size of a DSO with waits. Their offsets are numbers of what the thread waits
 * in, and its symbols name these; a wait of which is not known in what has 0.
 */
#define PRF_WAIT_SIZE	(1ULL << 18)
#define PRF_WAIT_UNKNOWN 0

enum prf_reach {
	PRF_FOLLOWED = 0,
	PRF_NOT_REACHED = 1,
};

/* Exec with the kernel time of programs, of which nobody knows whose it is */
#define PRF_UNKNOWN	"[unknown]"

/* Where ticks of an outcome are, in a report. */
enum prf_place {
	PRF_IN_BUCKETS,
	PRF_IN_KERNEL,
	PRF_ELSEWHERE,
	PRF_MISSING,
	PRF_UNSELECTED,
};

/**
 * struct prf_outcome - an outcome of ticks
 * @member: its name in JSON
 * @name: its name for people
 * @meaning: what became of the ticks
 * @place: where they are
 * @remarkable: there should be none
 * @offset: of their number in struct prf_exec
 */
struct prf_outcome {
	const char *member;
	const char *name;
	const char *meaning;
	enum prf_place place;
	bool remarkable;
	size_t offset;
};

#define PRF_OUTCOMES	8

/* Every tick has one of these. */
extern const struct prf_outcome prf_outcomes[PRF_OUTCOMES];

/* How the chain of a tick ended. */
enum prf_chain_end {
	PRF_CHAIN_COMPLETE,
	PRF_CHAIN_NO_TABLE,
	PRF_CHAIN_NO_RULE,
	PRF_CHAIN_ABSENT,
	PRF_CHAIN_ASTRAY,
	PRF_CHAIN_DEEP,
	PRF_CHAIN_UNMAPPED,
	PRF_CHAIN_NO_MEMORY,
	PRF_CHAIN_BUSY,
	PRF_CHAIN_ENDS,
};

/**
 * struct prf_ending - how chains end, for reports
 * @member: its name in JSON
 * @meaning: what it means
 */
struct prf_ending {
	const char *member;
	const char *meaning;
};

extern const struct prf_ending prf_endings[PRF_CHAIN_ENDS];

/* Caller of a frame that is not known, as the chain was cut there. */
#define PRF_CUT		UINT32_MAX
/* DSO of a frame in the kernel, where is not known; its offset is 0. */
#define PRF_NODE_KERNEL	UINT32_MAX

/**
 * struct prf_node - a frame in a chain of calls
 * @caller: its caller: number of an earlier node of the exec, counted from 1; 0
 *	if it is outermost; or PRF_CUT
 * @dso: number of its DSO in the exec, counted from 0; or PRF_NODE_KERNEL
 * @offset: bytes from the start of the DSO, a multiple of its bucket_bytes: of
 *	the bucket with the ticks; of a caller, of the bucket with the call, or,
 *	without PRF_FLAG_CALL_SITES, with the start of its function
 * @count: ticks in this frame itself
 * @below: ticks in frames that it called, of which there is no node
 */
struct prf_node {
	uint32_t caller;
	uint32_t dso;
	uint64_t offset;
	uint64_t count;
	uint64_t below;
};

/**
 * struct prf_site - a bucket of an exec
 * @dso: number of its DSO in the exec, counted from 0
 * @offset: its offset, as in struct prf_node
 * @count: number of ticks
 */
struct prf_site {
	uint32_t dso;
	uint64_t offset;
	uint64_t count;
};

/**
 * struct prf_bucket - ticks of a range of text
 * @offset: bytes from the start of the DSO, a multiple of its bucket_bytes
 * @count: number of ticks, never 0
 */
struct prf_bucket {
	uint64_t offset;
	uint64_t count;
};

/**
 * struct prf_symbol - a function whose name no file has
 * @start: offset of its first byte from the start of the DSO
 * @end: offset of the first byte after it
 * @name: its name
 */
struct prf_symbol {
	uint64_t start;
	uint64_t end;
	char *name;
};

/**
 * struct prf_segment - an executable segment of a file
 * @offset: its offset in the file
 * @size: its size in the file
 * @address: link-time address of its first byte
 */
struct prf_segment {
	uint64_t offset;
	uint64_t size;
	uint64_t address;
};

/**
 * struct prf_function - a function of a file
 * @start: link-time address of its first byte
 * @end: link-time address of the first byte after it
 * @name: its name, demangled; empty if it has no symbol
 */
struct prf_function {
	uint64_t start;
	uint64_t end;
	const char *name;
};

/**
 * struct prf_frame - an inlined call
 * @parent: the call that it is inlined in, which is before it in the table,
 *	counted from 1; 0 if that is the function
 * @line: line of the call, 0 if unknown
 * @name: name of the inlined function, demangled
 * @file: path of the source file with the call, empty if unknown
 */
struct prf_frame {
	uint32_t parent;
	uint32_t line;
	const char *name;
	const char *file;
};

/**
 * struct prf_spot - what is at the first byte of a bucket with ticks
 * @address: its link-time address
 * @function: index of its function
 * @frame: its innermost inlined call, counted from 1; 0 if there is none
 */
struct prf_spot {
	uint64_t address;
	uint32_t function;
	uint32_t frame;
};

/**
 * struct prf_line - source line of an instruction
 * @address: link-time address in the instruction
 * @file: path of the source file
 * @line: line number, from 1
 */
struct prf_line {
	uint64_t address;
	const char *file;
	uint32_t line;
};

/**
 * struct prf_names - what the files of a DSO said when the profile was written
 * @nr_dsos: number of mappings of the DSO
 * @dsos: their positions among all DSOs of the run, ascending
 * @nr_segments: number of segments
 * @segments: executable segments
 * @nr_functions: number of functions
 * @functions: functions with ticks
 * @nr_frames: number of inlined calls
 * @frames: inlined calls with ticks
 * @nr_spots: number of spots
 * @spots: the buckets with ticks, by address
 * @nr_lines: number of lines
 * @lines: source lines of code with ticks, by address
 */
struct prf_names {
	size_t nr_dsos;
	uint32_t *dsos;
	size_t nr_segments;
	struct prf_segment *segments;
	size_t nr_functions;
	struct prf_function *functions;
	size_t nr_frames;
	struct prf_frame *frames;
	size_t nr_spots;
	struct prf_spot *spots;
	size_t nr_lines;
	struct prf_line *lines;
};

/**
 * struct prf_block - contents of a NAMES record
 * @data: the contents, uncompressed; the strings of @names are in it
 * @size: size of the contents, in bytes
 * @nr: number of DSOs
 * @names: their names
 */
struct prf_block {
	uint8_t *data;
	size_t size;
	size_t nr;
	struct prf_names *names;
};

/**
 * struct prf_dso - an executable mapping, or what threads wait in
 * @start: first address; in a profile of a watch, which sees files and not
 *	addresses, any that no other DSO of the exec has
 * @end: first address after it
 * @pgoff: offset in the file of @start, in bytes; for PRF_ANONYMOUS of a watch,
 *	the run-time address; for PRF_KERNEL_TEXT, from the first function
 * @kind: enum prf_kind
 * @build_id_len: bytes of @build_id, 0 if the DSO has none
 * @build_id: build ID of the file
 * @bucket_bytes: bytes of text in each bucket, a power of two
 * @nr: number of buckets
 * @buckets: buckets with ticks, sorted by offset
 * @nr_symbols: number of symbols
 * @symbols: functions that only the recording machine could name, sorted by
 *	address; they do not overlap
 * @names: what its files said, or NULL; belongs to the run
 * @path: path of the file, or name of the mapping
 * @mount_ns: while recording, the inode number of the mount namespace of @path; 0 if
 *	that of the recorder has the file there, too
 * @pid: a process in @mount_ns, which may have ended
 * @changed_ns: while recording, the last change of a file without a build ID, since
 *	the epoch; 0 if unknown
 */
struct prf_dso {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint32_t kind;
	uint32_t build_id_len;
	uint8_t build_id[PRF_BUILD_ID];
	uint32_t bucket_bytes;
	size_t nr;
	struct prf_bucket *buckets;
	size_t nr_symbols;
	struct prf_symbol *symbols;
	const struct prf_names *names;
	char *path;
	uint32_t mount_ns;
	uint32_t pid;
	uint64_t changed_ns;
};

/**
 * struct prf_exec - a program image, from exec to the next exec or the end
 * @pid: PID of the process
 * @ppid: PID of its parent
 * @start_ns: time of the exec, since the start of the run
 * @cpu_ns: CPU time, from the scheduler
 * @covered_ns: CPU time profiled
 * @ticks: all ticks: the sum of all outcomes
 * @counted: ticks in buckets, or in @kernel_count
 * @clipped: ticks dropped because their counter was full
 * @outside: ticks in no region
 * @lost: ticks that could not be counted
 * @left_out: ticks in kernel mode that are not counted, by option or for lack
 *	of permission
 * @coarse: ticks in user mode for which there was no bucket left
 * @unresolved: ticks in user mode whose mapping could not be found
 * @kernel: ticks in kernel mode, each also in one of the above
 * @unfollowed: children that could not inherit the profile
 * @waits: by enum prf_state, ticks that fell while threads did not run, which are
 *	not in @ticks; on a CPU 0
 * @processes: number of processes that have run this program image; 0 if
 *	unknown
 * @reach: enum prf_reach
 * @kernel_count: ticks in kernel mode that are counted for no DSO
 * @continued: the process has run another program before; not in the file
 * @unselected: ticks that the user chose not to see; not in the file
 * @hidden: those of @waits that the user chose not to see; not in the file
 * @nr: number of DSOs
 * @dsos: its executable mappings
 * @nr_nodes: number of nodes; if there are any, the ticks of the nodes at an
 *	offset are those of its bucket, those of nodes in the kernel are
 *	@kernel_count, and those of @below are in @coarse
 * @nodes: the tree of its chains of calls: callers before what they call, and
 *	from prf_read() depth first
 * @name: path of the program
 * @reason: why it was not profiled, or empty
 * @cgroup: path of its cgroup, from the root of the hierarchy; empty if unknown
 */
struct prf_exec {
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_ns;
	uint64_t cpu_ns;
	uint64_t covered_ns;
	uint64_t ticks;
	uint64_t counted;
	uint64_t clipped;
	uint64_t outside;
	uint64_t lost;
	uint64_t left_out;
	uint64_t coarse;
	uint64_t unresolved;
	uint64_t kernel;
	uint64_t unfollowed;
	uint64_t waits[PRF_STATES];
	uint32_t processes;
	uint32_t reach;
	uint64_t kernel_count;
	bool continued;
	uint64_t unselected;
	uint64_t hidden[PRF_STATES];
	size_t nr;
	struct prf_dso *dsos;
	size_t nr_nodes;
	struct prf_node *nodes;
	char *name;
	char *reason;
	char *cgroup;
};

/**
 * struct prf_host - the machine of a run; all members are 0 or NULL if unknown
 * @cpus: number of CPUs
 * @online: number of CPUs online
 * @name: host name
 * @release: release of the kernel
 * @machine: architecture, as uname(2) names it
 */
struct prf_host {
	uint32_t cpus;
	uint32_t online;
	char *name;
	char *release;
	char *machine;
};

/**
 * struct prf - the profile of a run
 * @start_unix_ns: start, in nanoseconds since the epoch
 * @wall_ns: duration
 * @period_ns: actual mean CPU time between ticks
 * @clock: enum prf_clock
 * @flags: PRF_FLAG_*
 * @exit_kind: enum prf_exit
 * @exit_code: exit status, or signal number
 * @cpu_ns: CPU time of the program and of those descendants that were waited
 *	for, by the kernel's accounting; 0 if unknown: then see the execs
 * @withheld: processes and execs that profil was not permitted to profile
 * @unfollowed: processes for which there was no room
 * @unfollowed_threads: threads for which there was none, whose waits have no ticks
 * @chains: with PRF_FLAG_CHAINS, ticks by enum prf_chain_end
 * @kernel_unknown: a selection lacks PRF_UNKNOWN; not in the file
 * @nr: number of execs
 * @execs: in the order in which they started
 * @command: the command line, for display
 * @host: the machine
 * @nr_blocks: number of NAMES records
 * @blocks: NAMES records
 */
struct prf {
	uint64_t start_unix_ns;
	uint64_t wall_ns;
	uint64_t period_ns;
	uint32_t clock;
	uint32_t flags;
	uint32_t exit_kind;
	uint32_t exit_code;
	uint64_t cpu_ns;
	uint64_t withheld;
	uint64_t unfollowed;
	uint64_t unfollowed_threads;
	uint64_t chains[PRF_CHAIN_ENDS];
	bool kernel_unknown;
	size_t nr;
	struct prf_exec *execs;
	char *command;
	struct prf_host host;
	size_t nr_blocks;
	struct prf_block *blocks;
};

/**
 * struct prf_at - position of an iteration over the DSOs of runs
 * @run: index of the run
 * @exec: index of the exec in the run
 * @dso: index of the next DSO in the exec
 */
struct prf_at {
	size_t run;
	size_t exec;
	size_t dso;
};

/**
 * struct prf_error - why a file is invalid
 * @offset: offset in the file at which the error was found, in bytes
 * @text: the error, a static string
 */
struct prf_error {
	uint64_t offset;
	const char *text;
};

/*
 * prf_add_*() copy the strings and set everything else to zero. A pointer that
 * they return is valid until the next element of that type is added. NULL or -1
 * if out of memory.
 */
int prf_init(struct prf *prf, const char *command);
struct prf_exec *prf_add_exec(struct prf *prf, const char *name,
			      const char *reason);
struct prf_dso *prf_add_dso(struct prf_exec *exec, const char *path);
int prf_add_bucket(struct prf_dso *dso, uint64_t offset, uint64_t count);
int prf_add_symbol(struct prf_dso *dso, uint64_t start, uint64_t end,
		   const char *name);
const char *prf_add_chains(struct prf *prf, const void *data, size_t size);
void prf_drop_chains(struct prf *prf);
void *prf_chains_pack(const struct prf *prf, size_t *size);
struct prf_node *prf_add_node(struct prf_exec *exec, uint32_t caller,
			      uint32_t dso, uint64_t offset, uint64_t count,
			      uint64_t below);
int prf_sum_nodes(struct prf_exec *exec);
bool *prf_calling(const struct prf_exec *exec);
struct prf_site *prf_callers(const struct prf_exec *exec, size_t *nr);
int prf_set_cgroup(struct prf_exec *exec, const char *cgroup);
int prf_add_host(struct prf *prf, const char *name, const char *release,
		 const char *machine);
const char *prf_add_names(struct prf *prf, void *data, size_t size);
void prf_drop_names(struct prf *prf);
void prf_names_free(struct prf_names *names);
void *prf_names_pack(const struct prf_names *names, size_t nr, size_t *size);
uint64_t prf_dso_ticks(const struct prf_dso *dso);
uint64_t *prf_count(struct prf_exec *exec, const struct prf_outcome *outcome);
uint64_t prf_have(const struct prf_exec *exec,
		  const struct prf_outcome *outcome);
uint64_t prf_placed(const struct prf_exec *exec, enum prf_place place);
enum prf_state prf_state_of(const struct prf_dso *dso);
uint64_t prf_waits(const struct prf_exec *exec);
void prf_remove_exec(struct prf *prf, size_t index);
void prf_free(struct prf *prf);

const struct prf_dso *prf_next(const struct prf *runs, size_t nr,
			       struct prf_at *at);
bool prf_dso_called(const struct prf_dso *dso, const char *name);
uint64_t prf_link(const struct prf_segment *segments, size_t nr,
		  uint64_t offset);
bool prf_same_dso(const struct prf_dso *a, const struct prf_dso *b);
const struct prf_dso *prf_program(const struct prf *runs, size_t nr);
const struct prf_dso *prf_find_dso(const struct prf *runs, size_t nr,
				   const char *name);

size_t prf_count_dsos(const struct prf *prf);
void prf_copy_file(struct prf_dso *dso, const struct prf_dso *from);
int prf_compare_files(const struct prf_dso *a, const struct prf_dso *b);
int prf_write(FILE *file, const struct prf *prf);
int prf_read(const void *data, size_t size, struct prf *prf,
	     struct prf_error *error);

#endif /* PRF_H */
