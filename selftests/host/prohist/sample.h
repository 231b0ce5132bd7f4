/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h - a profile with every kind of record that a file can have
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include <prf/prf.h>

static inline int sample_dsos(struct prf_exec *exec)
{
	struct prf_dso *dso = prf_add_dso(exec, "/bin/program");

	if (!dso)
		return -1;
	dso->start = 0x401000;
	dso->end = 0x403000;
	dso->pgoff = 0x1000;
	dso->kind = PRF_PROGRAM;
	dso->build_id_len = 20;
	memset(dso->build_id, 0xa5, 20);
	dso->bucket_bytes = 4;
	if (prf_add_bucket(dso, 0, 1) || prf_add_bucket(dso, 8, 1000) ||
	    prf_add_bucket(dso, 0x1ffc, 3))
		return -1;
	dso = prf_add_dso(exec, "[vdso]");
	if (!dso)
		return -1;
	dso->start = 0x7fff00000000;
	dso->end = 0x7fff00002000;
	dso->kind = PRF_VDSO;
	dso = prf_add_dso(exec, "[kernel.kallsyms]");
	if (!dso)
		return -1;
	dso->start = 0x800000;
	dso->end = 0x803000;
	dso->kind = PRF_KERNEL_TEXT;
	dso->bucket_bytes = 4;
	return prf_add_bucket(dso, 0x1000, 5) ||
		prf_add_bucket(dso, 0x2000, 1) ||
		prf_add_symbol(dso, 0xff0, 0x1010, "do_syscall_64") ||
		prf_add_symbol(dso, 0x1010, 0x3000, "rest") ? -1 : 0;
}

/* Chains with the ticks of all buckets; callers do not come depth first */
static inline int sample_chains(struct prf *prf, struct prf_exec *exec)
{
	prf->flags |= PRF_FLAG_CHAINS | PRF_FLAG_CALL_SITES;
	prf->chains[PRF_CHAIN_COMPLETE] = 914;
	prf->chains[PRF_CHAIN_NO_RULE] = 105;
	return prf_add_node(exec, 0, 0, 0, 0, 1) &&
		prf_add_node(exec, 1, 0, 8, 900, 0) &&
		prf_add_node(exec, PRF_CUT, 0, 8, 100, 2) &&
		prf_add_node(exec, 3, 0, 0x1ffc, 3, 0) &&
		prf_add_node(exec, 2, 2, 0x1000, 5, 0) &&
		prf_add_node(exec, 1, 2, 0x2000, 1, 0) &&
		prf_add_node(exec, 2, PRF_NODE_KERNEL, 0, 6, 0) &&
		prf_add_node(exec, 1, 0, 0, 1, 0) ? 0 : -1;
}

/* Names of the first and the second DSO: the second is inlined in the first */
static inline void sample_names(struct prf *prf)
{
	uint32_t dsos[] = { 0, 1 };
	struct prf_segment segment = { 0x1000, 0x2000, 0x401000 };
	struct prf_function functions[] = {
		{ 0x401000, 0x401100, "main" },
		{ 0x402ff0, 0x403000, "" },
	};
	struct prf_frame frames[] = {
		{ 0, 7, "outer", "main.c" },
		{ 1, 9, "inner", "main.c" },
	};
	struct prf_spot spots[] = {
		{ 0x401000, 0, 0 },
		{ 0x401008, 0, 2 },
		{ 0x402ffc, 1, 0 },
	};
	struct prf_line lines[] = {
		{ 0x401000, "main.c", 5 },
		{ 0x40100b, "inner.h", 300 },
	};
	struct prf_names names = {
		2, dsos, 1, &segment, 2, functions, 2, frames, 3, spots, 2, lines
	};
	size_t size;
	void *data = prf_names_pack(&names, 1, &size);

	if (!data || prf_add_names(prf, data, size))
		abort();
}

/* Assumes that these tests never run out of memory. */
static inline void sample_make(struct prf *prf)
{
	struct prf_exec *exec;

	if (prf_init(prf, "program -x"))
		abort();
	prf->start_unix_ns = 1700000000000000000;
	prf->wall_ns = 2000000000;
	prf->period_ns = 1000000;
	prf->clock = PRF_CLOCK_HRTIMER;
	prf->flags = PRF_FLAG_USER_ONLY;
	prf->exit_kind = PRF_SIGNALLED;
	prf->exit_code = 15;
	prf->cpu_ns = 1200000000;
	prf->withheld = 2;
	prf->unfollowed = 3;
	if (prf_add_host(prf, "host", "6.1.0", "x86_64"))
		abort();
	prf->host.cpus = 4;
	prf->host.online = 3;
	exec = prf_add_exec(prf, "/bin/program", "");
	if (!exec || sample_dsos(exec))
		abort();
	if (prf_set_cgroup(exec, "/user.slice") || sample_chains(prf, exec))
		abort();
	exec->processes = 9;
	exec->coarse = 4;
	exec->unresolved = 8;
	exec->pid = 7;
	exec->ppid = 6;
	exec->start_ns = 5;
	exec->cpu_ns = 1100000000;
	exec->covered_ns = 1050000000;
	exec->ticks = 1044;
	exec->counted = 1016;
	exec->clipped = 1;
	exec->outside = 2;
	exec->lost = 3;
	exec->left_out = 10;
	exec->kernel = 22;
	exec->unfollowed = 1;
	exec->kernel_count = 6;
	exec = prf_add_exec(prf, "/bin/passwd", "it is set-user-ID");
	if (!exec)
		abort();
	exec->reach = PRF_NOT_REACHED;
	sample_names(prf);
}

/* Add waits of each state to the first exec. */
static inline void sample_waits(struct prf *prf)
{
	struct prf_exec *exec = &prf->execs[0];
	int state;

	prf->flags |= PRF_FLAG_WALL;
	prf->unfollowed_threads = 4;
	for (state = PRF_RUNNABLE; state < PRF_STATES; state++) {
		struct prf_dso *dso = prf_add_dso(exec, prf_states[state].path);

		if (!dso)
			abort();
		dso->kind = PRF_WAIT_RUNNABLE + state - PRF_RUNNABLE;
		dso->start = (uint64_t)state << 40;
		dso->end = dso->start + PRF_WAIT_SIZE;
		exec->waits[state] = 100 + state;
		if (prf_add_bucket(dso, 16 + state, 100 + state) ||
		    prf_add_symbol(dso, 16 + state, 17 + state, "read") ||
		    !prf_add_node(exec, 2, exec->nr - 1, 16 + state,
				  100 + state, 0))
			abort();
	}
}

/* Return: the file's contents, which the caller must free. */
static inline char *sample_file(const struct prf *prf, size_t *size)
{
	char *data = NULL;
	FILE *file = open_memstream(&data, size);

	if (!file || prf_write(file, prf) || fclose(file))
		abort();
	return data;
}

#endif /* SAMPLE_H */
