// SPDX-License-Identifier: GPL-2.0-only
/*
 * compose.c - write a profile with arbitrary contents
 *
 *	compose FILE < DESCRIPTION
 *
 * A line is one of the following. An "image" line is an exec, and an "object"
 * line a DSO of the exec before it; buckets belong to the DSO before them.
 * So do functions; "cgroup", "unplaced", "clipped" and "stated" are about the exec
 * before them, of which "stated" replaces the sums.
 * OFFSET, START, PGOFF, SIZE and BUILD-ID are hexadecimal; BUILD-ID may also be
 * "-" for none.
 *
 * A "node" line is a frame in a chain of calls of the exec before it. CALLER is the
 * number of its caller among the nodes of the exec, counted from 1, 0 if there is
 * none, or "cut"; DSO that of its DSO, counted from 0, or "kernel". An exec with
 * nodes gets its buckets, its ticks in the kernel and its coarse ticks from these.
 * "chains" says how the chains of so many ticks ended; without it, chains are
 * complete, or cut for lack of a table. "sites" says that callers are call sites.
 * "wall" says that ticks fell while threads did not run, too; "waited" replaces the
 * sums of these of the exec before it. "stored" is what profil found in the file of
 * the DSO before it: a segment, and a function that has the bucket at its start.
 *
 *	run PERIOD-NS COMMAND
 *	host CPUS ONLINE NAME RELEASE MACHINE
 *	ended KIND CODE
 *	measured CLOCK FLAGS WALL-NS
 *	used CPU-NS
 *	image PID KERNEL OUTSIDE LOST LEFT-OUT PATH
 *	stated TICKS CPU-NS COVERED-NS
 *	object KIND START PGOFF SIZE BUCKET-BYTES BUILD-ID PATH
 *	bucket OFFSET COUNT
 *	cgroup PATH
 *	unplaced COARSE UNRESOLVED
 *	clipped TICKS
 *	function START END NAME
 *	stored OFFSET SIZE ADDRESS START END NAME
 *	unreached PATH REASON
 *	node CALLER DSO OFFSET COUNT [BELOW]
 *	chains END TICKS
 *	sites
 *	wall UNFOLLOWED-THREADS
 *	waited RUNNABLE BLOCKED IDLE
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <prf/prf.h>

#include "digits.h"

#define LINE	1024

static void __attribute__((noreturn)) bad(const char *line)
{
	fprintf(stderr, "compose: not understood: %s\n", line);
	exit(2);
}

static void *made(void *thing)
{
	if (!thing)
		abort();
	return thing;
}

static void make_run(struct prf *prf, const char *line)
{
	char command[LINE];
	uint64_t period;

	if (sscanf(line, "run %" SCNu64 " %[^\n]", &period, command) != 2 ||
	    prf_init(prf, command))
		bad(line);
	prf->wall_ns = 3000000000;
	prf->period_ns = period;
	prf->clock = PRF_CLOCK_PERF;
}

static void make_host(struct prf *prf, const char *line)
{
	char name[LINE], release[LINE], machine[LINE];

	if (sscanf(line, "host %" SCNu32 " %" SCNu32 " %s %s %s",
		   &prf->host.cpus, &prf->host.online, name, release,
		   machine) != 5 ||
	    prf_add_host(prf, name, release, machine))
		bad(line);
}

static void make_end(struct prf *prf, const char *line)
{
	if (sscanf(line, "ended %" SCNu32 " %" SCNu32, &prf->exit_kind,
		   &prf->exit_code) != 2)
		bad(line);
}

static void make_way(struct prf *prf, const char *line)
{
	if (sscanf(line, "measured %" SCNu32 " %" SCNu32 " %" SCNu64,
		   &prf->clock, &prf->flags, &prf->wall_ns) != 3)
		bad(line);
}

static void make_used(struct prf *prf, const char *line)
{
	if (sscanf(line, "used %" SCNu64, &prf->cpu_ns) != 1)
		bad(line);
}

static void make_exec(struct prf *prf, const char *line)
{
	struct prf_exec numbers = {}, *exec;
	char path[LINE];

	if (sscanf(line, "image %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %[^\n]", &numbers.pid, &numbers.kernel_count,
		   &numbers.outside, &numbers.lost, &numbers.left_out,
		   path) != 6)
		bad(line);
	exec = made(prf_add_exec(prf, path, ""));
	numbers.name = exec->name;
	numbers.reason = exec->reason;
	numbers.cgroup = exec->cgroup;
	*exec = numbers;
}

static void make_cgroup(struct prf_exec *exec, const char *line)
{
	char path[LINE];

	if (!exec || sscanf(line, "cgroup %[^\n]", path) != 1 ||
	    prf_set_cgroup(exec, path))
		bad(line);
}

static void make_unplaced(struct prf_exec *exec, const char *line)
{
	if (!exec || sscanf(line, "unplaced %" SCNu64 " %" SCNu64,
			    &exec->coarse, &exec->unresolved) != 2)
		bad(line);
}

static void make_clipped(struct prf_exec *exec, const char *line)
{
	if (!exec || sscanf(line, "clipped %" SCNu64, &exec->clipped) != 1)
		bad(line);
}

static void make_function(struct prf_exec *exec, const char *line)
{
	uint64_t start, end;
	char name[LINE];

	if (!exec || !exec->nr ||
	    sscanf(line, "function %" SCNx64 " %" SCNx64 " %[^\n]", &start,
		   &end, name) != 3 ||
	    prf_add_symbol(&exec->dsos[exec->nr - 1], start, end, name))
		bad(line);
}

static void make_stored(struct prf *prf, const char *line)
{
	struct prf_segment segment;
	struct prf_function function;
	struct prf_spot spot = { 0 };
	uint32_t position = 0;
	struct prf_names names = {
		.nr_dsos = 1, .dsos = &position,
		.nr_segments = 1, .segments = &segment,
		.nr_functions = 1, .functions = &function,
		.nr_spots = 1, .spots = &spot,
	};
	char name[LINE];
	size_t size, i;
	void *data;

	if (sscanf(line, "stored %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %[^\n]", &segment.offset, &segment.size,
		   &segment.address, &function.start, &function.end,
		   name) != 6)
		bad(line);
	for (i = 0; i < prf->nr; i++)
		position += prf->execs[i].nr;
	if (!position--)
		bad(line);
	function.name = name;
	spot.address = function.start;
	data = made(prf_names_pack(&names, 1, &size));
	if (prf_add_names(prf, data, size))
		bad(line);
}

static void make_stated(struct prf_exec *exec, const char *line)
{
	if (!exec ||
	    sscanf(line, "stated %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &exec->ticks, &exec->cpu_ns, &exec->covered_ns) != 3)
		bad(line);
}

static void make_unreached(struct prf *prf, const char *line)
{
	char path[LINE], reason[LINE];

	if (sscanf(line, "unreached %s %[^\n]", path, reason) != 2)
		bad(line);
	((struct prf_exec *)made(prf_add_exec(prf, path, reason)))->reach =
		PRF_NOT_REACHED;
}

static void make_dso(struct prf_exec *exec, const char *line)
{
	struct prf_dso numbers = {}, *dso;
	char id[LINE], path[LINE];
	uint64_t size;

	if (!exec ||
	    sscanf(line, "object %" SCNu32 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNu32 " %s %[^\n]", &numbers.kind, &numbers.start,
		   &numbers.pgoff, &size, &numbers.bucket_bytes, id,
		   path) != 7)
		bad(line);
	dso = made(prf_add_dso(exec, path));
	dso->kind = numbers.kind;
	dso->start = numbers.start;
	dso->pgoff = numbers.pgoff;
	dso->end = numbers.start + size;
	dso->bucket_bytes = numbers.bucket_bytes;
	read_build_id(dso, id);
}

static void make_bucket(struct prf_exec *exec, const char *line)
{
	uint64_t offset, count;

	if (!exec || !exec->nr ||
	    sscanf(line, "bucket %" SCNx64 " %" SCNu64, &offset, &count) != 2 ||
	    prf_add_bucket(&exec->dsos[exec->nr - 1], offset, count))
		bad(line);
}

/* Returns a number, or @special if that is what the word says. */
static uint32_t number_or(const char *word, const char *name, uint32_t special)
{
	return strcmp(word, name) ? strtoul(word, NULL, 10) : special;
}

static void make_node(struct prf_exec *exec, const char *line)
{
	char caller[LINE], dso[LINE];
	uint64_t offset, count, below = 0;

	if (!exec ||
	    sscanf(line, "node %s %s %" SCNx64 " %" SCNu64 " %" SCNu64, caller,
		   dso, &offset, &count, &below) < 4)
		bad(line);
	made(prf_add_node(exec, number_or(caller, "cut", PRF_CUT),
			  number_or(dso, "kernel", PRF_NODE_KERNEL), offset,
			  count, below));
}

static void make_chains(struct prf *prf, const char *line)
{
	uint64_t ticks;
	uint32_t end;

	if (sscanf(line, "chains %" SCNu32 " %" SCNu64, &end, &ticks) != 2 ||
	    end >= PRF_CHAIN_ENDS)
		bad(line);
	prf->chains[end] = ticks;
}

static void make_wall(struct prf *prf, const char *line)
{
	if (sscanf(line, "wall %" SCNu64, &prf->unfollowed_threads) != 1)
		bad(line);
	prf->flags |= PRF_FLAG_WALL;
}

static void make_waited(struct prf_exec *exec, const char *line)
{
	if (!exec ||
	    sscanf(line, "waited %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &exec->waits[PRF_RUNNABLE], &exec->waits[PRF_BLOCKED],
		   &exec->waits[PRF_IDLE]) != 3)
		bad(line);
}

static void make_line(struct prf *prf, const char *line)
{
	struct prf_exec *exec = prf->nr ? &prf->execs[prf->nr - 1] : NULL;

	if (!strncmp(line, "run ", 4))
		make_run(prf, line);
	else if (!strncmp(line, "host ", 5))
		make_host(prf, line);
	else if (!strncmp(line, "ended ", 6))
		make_end(prf, line);
	else if (!strncmp(line, "measured ", 9))
		make_way(prf, line);
	else if (!strncmp(line, "used ", 5))
		make_used(prf, line);
	else if (!strncmp(line, "image ", 6))
		make_exec(prf, line);
	else if (!strncmp(line, "stated ", 7))
		make_stated(exec, line);
	else if (!strncmp(line, "object ", 7))
		make_dso(exec, line);
	else if (!strncmp(line, "bucket ", 7))
		make_bucket(exec, line);
	else if (!strncmp(line, "cgroup ", 7))
		make_cgroup(exec, line);
	else if (!strncmp(line, "unplaced ", 9))
		make_unplaced(exec, line);
	else if (!strncmp(line, "clipped ", 8))
		make_clipped(exec, line);
	else if (!strncmp(line, "function ", 9))
		make_function(exec, line);
	else if (!strncmp(line, "stored ", 7))
		make_stored(prf, line);
	else if (!strncmp(line, "unreached ", 10))
		make_unreached(prf, line);
	else if (!strncmp(line, "node ", 5))
		make_node(exec, line);
	else if (!strncmp(line, "chains ", 7))
		make_chains(prf, line);
	else if (!strncmp(line, "wall ", 5))
		make_wall(prf, line);
	else if (!strncmp(line, "waited ", 7))
		make_waited(exec, line);
	else if (!strcmp(line, "sites\n"))
		prf->flags |= PRF_FLAG_CALL_SITES;
	else
		bad(line);
}

/* Nodes say what the buckets are, and where there was no room. */
static void make_buckets(struct prf_exec *exec)
{
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++)
		exec->coarse += exec->nodes[i].below;
	if (prf_sum_nodes(exec))
		abort();
}

/* Returns whether the chain of a node has its outermost frame. */
static bool complete(const struct prf_exec *exec, const struct prf_node *node)
{
	while (node->caller && node->caller != PRF_CUT)
		node = &exec->nodes[node->caller - 1];
	return !node->caller;
}

/* What the nodes say that nothing else does */
static void make_from_nodes(struct prf *prf)
{
	uint64_t ended = 0;
	size_t i, j;

	for (i = 0; i < PRF_CHAIN_ENDS; i++)
		ended += prf->chains[i];
	for (i = 0; i < prf->nr; i++) {
		struct prf_exec *exec = &prf->execs[i];

		if (!exec->nr_nodes)
			continue;
		prf->flags |= PRF_FLAG_CHAINS;
		make_buckets(exec);
		for (j = 0; j < exec->nr_nodes && !ended; j++)
			prf->chains[complete(exec, &exec->nodes[j]) ?
				    PRF_CHAIN_COMPLETE : PRF_CHAIN_NO_TABLE] +=
				exec->nodes[j].count + exec->nodes[j].below;
	}
}

/* Sum up the ticks of DSOs: those of waits are not in what is counted. */
static void reckon_dsos(struct prf_exec *exec)
{
	uint64_t waits[PRF_STATES] = { 0 }, ticks;
	bool stated = prf_waits(exec);
	size_t i;

	for (i = 0; i < exec->nr; i++) {
		ticks = prf_dso_ticks(&exec->dsos[i]);
		if (prf_state_of(&exec->dsos[i]) == PRF_ON_CPU)
			exec->counted += ticks;
		else
			waits[prf_state_of(&exec->dsos[i])] += ticks;
	}
	if (!stated)
		memcpy(exec->waits, waits, sizeof(waits));
}

/* Compute the sums, so that the stats are consistent. */
static void reckon(struct prf *prf)
{
	size_t i;
	int k;

	for (i = 0; i < prf->nr; i++) {
		struct prf_exec *exec = &prf->execs[i];

		exec->counted = exec->kernel_count;
		reckon_dsos(exec);
		exec->kernel = exec->kernel_count + exec->left_out;
		if (exec->ticks)
			continue;
		for (k = 0; k < PRF_OUTCOMES; k++)
			exec->ticks += prf_have(exec, &prf_outcomes[k]);
		exec->cpu_ns = exec->ticks * prf->period_ns;
		exec->covered_ns = exec->cpu_ns;
	}
}

int main(int argc, char **argv)
{
	struct prf prf = {};
	char line[LINE];
	FILE *file;

	if (argc != 2)
		return 2;
	while (fgets(line, sizeof(line), stdin))
		make_line(&prf, line);
	make_from_nodes(&prf);
	reckon(&prf);
	file = fopen(argv[1], "we");
	if (!file || prf_write(file, &prf) || fclose(file))
		return 1;
	prf_free(&prf);
	return 0;
}
