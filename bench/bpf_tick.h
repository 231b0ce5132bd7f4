/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bpf_tick.h - settings of bpf_tick.c, from bpf_peer.c
 */
#ifndef BPF_TICK_H
#define BPF_TICK_H

#include <linux/types.h>

#define BPF_MAX_FRAMES	127

/* A filter of 0 passes all ticks. */
struct bpf_constants {
	__u64 only_cgroup;
	__u64 text_start;
	__u32 text_shift;
	__u32 only_tgid;
};

#endif /* BPF_TICK_H */
