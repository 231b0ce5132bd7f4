// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * hottest.c - watch a process for five seconds, and print its hottest files
 *
 * Takes the PID of a process of the same user, which is not disturbed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <profil.h>

static const char *name(const struct profil_watch_table *table, uint32_t index)
{
	static const char *const others[] = {
		"(no room)", "(vdso)", "(memory without a file)", "(kernel)",
		"(blocked)", "(runnable)"
	};
	const char *path = index < PROFIL_OBJECT_FILES ? others[index] :
		profil_watch_path(table, profil_watch_object(table, index));

	return path ? path : "(file without a path)";
}

static void print_hottest(const struct profil_watch_table *table,
			  uint64_t *ticks, uint32_t nr, uint64_t all)
{
	uint32_t i, hottest = 0;

	for (i = 1; i < nr; i++)
		if (ticks[i] > ticks[hottest])
			hottest = i;
	if (ticks[hottest])
		printf("%6.1f %% %s\n", 100.0 * ticks[hottest] / all,
		       name(table, hottest));
	ticks[hottest] = 0;
}

static void print(uint64_t ticks, const char *outcome)
{
	printf("%8" PRIu64 " %s\n", ticks, outcome);
}

int main(int argc, char **argv)
{
	struct profil_watch watch = {
		.size = sizeof(watch),
		.target = PROFIL_WATCH_PROCESS,
		.id = argc > 1 ? atoi(argv[1]) : 0,
		.bucket_shift = 12,
	};
	struct profil_watch_status last = { .size = sizeof(last) };
	int i, fd = profil_watch_open(&watch);
	const struct profil_watch_table *table =
		fd < 0 ? NULL : profil_watch_map(fd, &watch);
	uint64_t *ticks = calloc(watch.objects, sizeof(*ticks));
	const struct profil_watch_bucket *bucket;
	size_t position = 0;

	if (!table || !ticks) {
		perror("hottest PID (if there is no device: modprobe profil)");
		return 1;
	}
	sleep(5);
	if (profil_watch_stop(fd, &last)) {
		perror("profil_watch_stop");
		return 1;
	}
	while ((bucket = profil_watch_next(table, &position)))
		ticks[bucket->object] += bucket->count;
	for (i = 0; i < 5; i++)
		print_hottest(table, ticks, watch.objects, last.ticks);

	print(last.ticks, "ticks, of which");
	print(last.counted, "counted, in the files above and others");
	print(last.coarse, "coarse: no room for their bucket");
	print(last.kernel, "in kernel mode");
	print(last.unresolved, "unresolved: their file was not found");
	return 0;
}
