// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * chain.c - watch a process for five seconds, and print its hottest chain of
 * calls
 *
 * For programs with frame pointers: a table of callers is one rule for a whole
 * file here. profil(1) makes tables of .eh_frame, for all others.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <profil.h>

/* All blocks of text have the rule of the only row, which is in the first one. */
static void load(int fd, int file, size_t size)
{
	const struct profil_unwind_rule rule = {
		.cfa = PROFIL_UNWIND_FRAME, .bp = PROFIL_UNWIND_CHAINED,
		.bx = PROFIL_UNWIND_LOST, .offset = 16,
	};
	const struct profil_unwind_head head = {
		.blocks = (size - 1) / PROFIL_UNWIND_BLOCK + 1,
		.rows = 1, .rules = 1,
	};
	size_t rules = sizeof(head) + (head.blocks + 1) *
		       sizeof(struct profil_unwind_index) + 8;
	struct profil_unwind_head *table = calloc(1, rules + sizeof(rule));
	struct profil_unwind_index *index = (void *)(table + 1);
	uint32_t i;

	if (!table)
		return;
	*table = head;
	for (i = 1; i <= head.blocks; i++)
		index[i].row = 1;
	memcpy((char *)table + rules, &rule, sizeof(rule));
	profil_watch_unwind(fd, file, table, rules + sizeof(rule));
	free(table);
}

/* A file is known once it has had a tick; its path, soon after. */
static void load_all(int fd, const struct profil_watch_table *table)
{
	const struct profil_watch_object *object;
	uint32_t i = PROFIL_OBJECT_FILES;
	struct stat status;

	while ((object = profil_watch_object(table, i++))) {
		const char *path = profil_watch_path(table, object);
		int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

		if (file >= 0 && !fstat(file, &status) && status.st_size)
			load(fd, file, status.st_size);
		close(file);
	}
}

static void print_chain(const struct profil_watch_table *table,
			const struct profil_watch_bucket *bucket)
{
	const struct profil_watch_bucket *chain[PROFIL_MAX_FRAMES + 1];
	unsigned int i, nr = profil_watch_chain(table, bucket, chain,
						PROFIL_MAX_FRAMES + 1);

	for (i = 0; i < nr; i++) {
		const char *path = profil_watch_path(table,
			profil_watch_object(table, chain[i]->object));

		printf("%s+0x%" PRIx64 "\n", path ? path : "[no file]",
		       (uint64_t)chain[i]->offset << table->bucket_shift);
	}
	if (nr && chain[nr - 1]->caller == PROFIL_CALLER_UNKNOWN)
		printf("(who called this is not known)\n");
}

int main(int argc, char **argv)
{
	struct profil_watch watch = {
		.size = sizeof(watch),
		.target = PROFIL_WATCH_PROCESS,
		.flags = PROFIL_WATCH_CHAINS,
		.id = argc > 1 ? atoi(argv[1]) : 0,
	};
	int i, fd = profil_watch_open(&watch);
	const struct profil_watch_table *table =
		fd < 0 ? NULL : profil_watch_map(fd, &watch);
	const struct profil_watch_bucket *bucket, *hottest = NULL;
	size_t position = 0;

	if (!table) {
		perror("chain PID (if there is no device: modprobe profil)");
		return 1;
	}
	for (i = 0; i < 50; i++, usleep(100000))
		load_all(fd, table);
	while ((bucket = profil_watch_next(table, &position)))
		if (bucket->object >= PROFIL_OBJECT_FILES &&
		    (!hottest || bucket->count > hottest->count))
			hottest = bucket;
	if (hottest)
		print_chain(table, hottest);
	return 0;
}
