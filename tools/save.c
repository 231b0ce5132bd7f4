// SPDX-License-Identifier: GPL-2.0-only
/*
 * save.c - write what a run has brought
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "save.h"

/* One line, whatever is in the arguments. */
static void join(char *line, size_t room, char **argv)
{
	size_t length = 0;
	char *byte;

	line[0] = '\0';
	for (; *argv && length < room; argv++)
		length += snprintf(line + length, room - length, "%s%s",
				   length ? " " : "", *argv);
	for (byte = line; *byte; byte++)
		if ((unsigned char)*byte < ' ')
			*byte = ' ';
}

static int fill(const struct run *run, struct prf *prf)
{
	char command[4096];
	size_t i;

	join(command, sizeof(command), run->argv);
	if (prf_init(prf, command))
		return -1;
	prf->start_unix_ns = run->start_unix_ns;
	prf->wall_ns = run->wall_ns;
	prf->period_ns = run->period_ns;
	prf->clock = run->clock;
	prf->flags = run->user_only ? PRF_FLAG_USER_ONLY : 0;
	if (WIFSIGNALED(run->status)) {
		prf->exit_kind = PRF_SIGNALLED;
		prf->exit_code = WTERMSIG(run->status);
	} else {
		prf->exit_code = WEXITSTATUS(run->status);
	}
	for (i = 0; i < run->nr; i++)
		if (image_save(run->images[i], prf, run->bucket,
			       run->start_ns))
			return -1;
	return 0;
}

static void say_result(const struct run *run, const struct prf *prf)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < prf->nr; i++) {
		ticks += prf->images[i].ticks;
		if (prf->images[i].reach != PRF_FOLLOWED)
			fprintf(stderr, "profil: %s (%u) not profiled: %s\n",
				prf->images[i].name, prf->images[i].pid,
				prf->images[i].reason);
	}
	fprintf(stderr, "profil: %s %s %u; %llu ticks of %.3f ms in %s\n",
		run->argv[0],
		prf->exit_kind == PRF_SIGNALLED ? "died by signal" :
						  "exited with",
		prf->exit_code, (unsigned long long)ticks,
		prf->period_ns / 1e6, run->output);
}

/**
 * save_run() - write the profile
 * @run: that has ended
 *
 * Return: 0, or -1 and it has said why.
 */
int save_run(const struct run *run)
{
	struct prf prf;
	FILE *file;
	int failed;

	errno = ENOMEM;
	if (fill(run, &prf)) {
		fprintf(stderr, "profil: %s\n", strerror(errno));
		return -1;
	}
	file = fopen(run->output, "we");
	failed = !file || prf_write(file, &prf);
	if (file && fclose(file))
		failed = -1;
	if (failed)
		fprintf(stderr, "profil: %s: %s\n", run->output,
			strerror(errno));
	else
		say_result(run, &prf);
	prf_free(&prf);
	return failed ? -1 : 0;
}
