/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bpf_peer.h - profiles by a BPF program, for comparison
 */
#ifndef BPF_PEER_H
#define BPF_PEER_H

#include <stdint.h>
#include <sys/types.h>

/* Scope of a profile. */
enum bpf_scope {
	/* A clock on each CPU; the BPF program filters by process ID. */
	BPF_SCOPE_PROCESS,
	/*
	 * A clock on each CPU; the BPF program filters by cgroup, which
	 * children inherit.
	 */
	BPF_SCOPE_CGROUP,
	/*
	 * A clock on each CPU; the BPF program counts all processes by their
	 * stacks, in maps of its own: the counters stay 0.
	 */
	BPF_SCOPE_MACHINE,
	/* A clock of the calling thread, which its children inherit. */
	BPF_SCOPE_TASK,
};

struct bpf_request {
	enum bpf_scope scope;
	/* 0: the calling process. */
	pid_t tgid;
	const void *text;
	size_t size;
	unsigned int shift;
	uint64_t period_ns;
};

/*
 * Start a profile, one at a time; returns its counters, each for 2^shift bytes
 * of text.
 */
const uint64_t *bpf_start(const struct bpf_request *request);
void bpf_stop(void);

/* The longest stack of BPF_SCOPE_MACHINE, in frames, before bpf_stop(). */
int bpf_frames(void);

/* Move the caller into a cgroup of its own, which is never removed. */
void bpf_make_cgroup(void);

/* Attach another BPF program, which spends a long time in getppid(). */
void bpf_occupy(void);

/* 0, or the errno with which the caller is denied permission. */
int bpf_clock_error(void);
int bpf_load_error(void);

#endif /* BPF_PEER_H */
