// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_record.c - write records of perf.data
 *
 * See perf_event_open(2). Records are in host byte order.
 */
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#include "prohist/format/perf_record.h"
#include "symbolize/symbols.h"

#define COMM		16

/* Called struct sample_id in perf_event_open(2); ends most records. */
struct trailer {
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t id;
};

struct sample {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t period;
};

struct mapping {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	uint64_t addr;
	uint64_t len;
	uint64_t pgoff;
	uint8_t build_id_size;
	uint8_t reserved[3];
	uint8_t build_id[PERF_BUILD_ID];
	uint32_t prot;
	uint32_t flags;
};

struct comm {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	char name[COMM];
	struct trailer trailer;
};

struct end {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t ppid;
	uint32_t tid;
	uint32_t ptid;
	uint64_t time;
	struct trailer trailer;
};

static void put(struct perf_out *out, const void *data, size_t size)
{
	out->size += size;
	if (out->file)
		fwrite(data, 1, size, out->file);
}

static struct perf_event_header header(uint32_t type, uint16_t misc,
				       size_t size)
{
	return (struct perf_event_header){
		.type = type,
		.misc = misc,
		.size = size,
	};
}

static struct trailer trailer(struct perf_out *out)
{
	return (struct trailer){
		.pid = out->pid,
		.tid = out->pid,
		.time = ++out->time,
		.id = PERF_OUT_ID,
	};
}

/** perf_put_comm() - the process of @out calls exec */
void perf_put_comm(struct perf_out *out, const char *path)
{
	struct comm comm = {
		.header = header(PERF_RECORD_COMM, PERF_RECORD_MISC_USER |
				 PERF_RECORD_MISC_COMM_EXEC, sizeof(comm)),
		.pid = out->pid,
		.tid = out->pid,
		.trailer = trailer(out),
	};

	strncpy(comm.name, base_name(path), COMM - 1);
	put(out, &comm, sizeof(comm));
}

/** perf_put_exit() - the process of @out, a child of @ppid, exits */
void perf_put_exit(struct perf_out *out, uint32_t ppid)
{
	const struct trailer end = trailer(out);
	const struct end record = {
		.header = header(PERF_RECORD_EXIT, 0, sizeof(record)),
		.pid = out->pid,
		.ppid = ppid,
		.tid = out->pid,
		.ptid = ppid,
		.time = end.time,
		.trailer = end,
	};

	put(out, &record, sizeof(record));
}

/*
 * The kernel's name for anonymous memory, by which perf looks for JIT symbols.
 */
static const char *path_of(const struct prf_dso *dso)
{
	return strcmp(dso->path, "[anonymous]") ? dso->path : "//anon";
}

/** perf_put_mapping() - the process of @out maps text */
void perf_put_mapping(struct perf_out *out, const struct prf_dso *dso)
{
	static const char zeros[8];
	const struct trailer end = trailer(out);
	const char *path = path_of(dso);
	size_t length = strnlen(path, PATH_MAX - 1);
	size_t padding = sizeof(zeros) - length % sizeof(zeros);
	struct mapping mapping = {
		.header = header(PERF_RECORD_MMAP2, out->mode,
				 sizeof(mapping) + length + padding +
				 sizeof(end)),
		.pid = out->pid,
		.tid = out->pid,
		.addr = dso->start,
		.len = dso->end - dso->start,
		.pgoff = dso->pgoff,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	if (dso->build_id_len && dso->build_id_len <= PERF_BUILD_ID) {
		mapping.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		mapping.build_id_size = dso->build_id_len;
		memcpy(mapping.build_id, dso->build_id,
		       dso->build_id_len);
	}
	put(out, &mapping, sizeof(mapping));
	put(out, path, length);
	put(out, zeros, padding);
	put(out, &end, sizeof(end));
}

/* CPU time of ticks, at most UINT64_MAX. */
static uint64_t time_of(const struct perf_out *out, uint64_t ticks)
{
	uint64_t ns;

	return __builtin_mul_overflow(ticks, out->period_ns, &ns) ?
		UINT64_MAX : ns;
}

/**
 * perf_add_frame() - add a frame to the chain of the next sample, the innermost
 * first
 * @out: the stream
 * @ip: address in the frame
 * @kernel: whether it is in the kernel
 */
void perf_add_frame(struct perf_out *out, uint64_t ip, bool kernel)
{
	uint64_t mark = kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
	size_t i = out->depth;

	while (i && out->chain[i - 1] < PERF_CONTEXT_MAX)
		i--;
	if (!i || out->chain[i - 1] != mark)
		out->chain[out->depth++] = mark;
	out->chain[out->depth++] = ip;
}

/**
 * perf_put_sample() - the process of @out has ticks at an address
 * @out: the stream; if it has chains, that of the sample is used up, and is the
 *	address itself if there is none
 * @ip: the address
 * @ticks: the ticks
 */
void perf_put_sample(struct perf_out *out, uint64_t ip, uint64_t ticks)
{
	struct sample sample = {
		.header = header(PERF_RECORD_SAMPLE, out->mode,
				 sizeof(sample)),
		.id = PERF_OUT_ID,
		.ip = ip,
		.pid = out->pid,
		.tid = out->pid,
		.time = ++out->time,
		.period = time_of(out, ticks),
	};
	uint64_t depth;

	if (!out->has_chains) {
		put(out, &sample, sizeof(sample));
		return;
	}
	if (!out->depth)
		perf_add_frame(out, ip, out->mode == PERF_RECORD_MISC_KERNEL);
	depth = out->depth;
	sample.header.size += (1 + depth) * sizeof(uint64_t);
	put(out, &sample, sizeof(sample));
	put(out, &depth, sizeof(depth));
	put(out, out->chain, depth * sizeof(uint64_t));
	out->depth = 0;
}
