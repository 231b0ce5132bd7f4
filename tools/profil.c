// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil.c - run a program and find out where its time goes
 *
 * The whole is told in profil(1). This file has the options, the choice of the
 * clock and the exit status.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dos_prf.h"
#include "module.h"
#include "questions.h"
#include "run.h"
#include "save.h"
#include "samples.h"

#define FAST_NS		1000000ULL
#define SLOW_NS		10000000ULL
#define MAX_BUCKET	4096

enum { USER_ONLY = 256, BY_CALLER, DOS };

static const char usage[] =
	"usage: profil [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
	"\n"
	"Runs PROGRAM and writes a profile of it, and of all that it starts.\n"
	"\n"
	" -t, --interval=MICROSECONDS  CPU time between ticks, on average\n"
	"                              (1000; 10000 if faster is forbidden)\n"
	" -b, --bucket=BYTES           text for each counter: a power of two\n"
	"                              up to 4096 (4)\n"
	" -o, --output=FILE            default: PROGRAM.prf, here\n"
	" -p, --per-process            a file for each process: PROGRAM.PID.prf\n"
	"     --dos                    PROGRAM.PRF too, for PROHIST of MS-DOS\n"
	" -i, --interactive            ask for bucket, interval and arguments\n"
	"                              as PROFIL did there; --dos\n"
	"     --user-only              leave out what happens in kernel mode\n"
	"     --kernel-by-caller       count it where the program called the\n"
	"                              kernel, and not apart\n"
	"     --help                   this\n"
	"     --version                the version\n"
	"\n"
	"Exit status: PROGRAM's; 125 profil failed, 126 PROGRAM cannot be\n"
	"executed, 127 there is no PROGRAM. If a signal ends PROGRAM, the same\n"
	"one ends profil.\n";

static void __attribute__((noreturn)) misused(const char *what)
{
	fprintf(stderr, "profil: %s\nTry 'profil --help'.\n", what);
	exit(RUN_FAILED);
}

static uint64_t number(const char *text, uint64_t min, uint64_t max,
		       const char *error)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max)
		misused(error);
	return value;
}

static uint32_t bucket_of(const char *text)
{
	static const char error[] =
		"a bucket has a power of two of bytes, from 1 to 4096";
	uint32_t bucket = number(text, 1, MAX_BUCKET, error);

	if (bucket & (bucket - 1))
		misused(error);
	return bucket;
}

static void say(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) ? RUN_FAILED : 0);
}

/* As there, and the file as there too. */
static void be_interactive(struct run *run)
{
	struct answers answers;
	char **argv;

	if (questions_ask(&answers))
		exit(RUN_FAILED);
	argv = calloc(answers.nr + 2, sizeof(*argv));
	if (!argv) {
		fprintf(stderr, "profil: %s\n", strerror(ENOMEM));
		exit(RUN_FAILED);
	}
	argv[0] = run->argv[0];
	memcpy(argv + 1, answers.words, answers.nr * sizeof(*argv));
	run->argv = argv;
	run->asked_ns = 1000 * answers.interval_us;
	run->paragraphs = answers.paragraphs;
	/* Ours are powers of two: the largest of which that bucket consists */
	run->bucket = answers.paragraphs * DOS_PARAGRAPH;
	run->bucket &= -run->bucket;
	if (run->bucket > MAX_BUCKET)
		run->bucket = MAX_BUCKET;
	run->dos = true;
}

static void parse(int argc, char **argv, struct run *run)
{
	static const struct option options[] = {
		{ "interval", required_argument, NULL, 't' },
		{ "bucket", required_argument, NULL, 'b' },
		{ "output", required_argument, NULL, 'o' },
		{ "per-process", no_argument, NULL, 'p' },
		{ "dos", no_argument, NULL, DOS },
		{ "interactive", no_argument, NULL, 'i' },
		{ "user-only", no_argument, NULL, USER_ONLY },
		{ "kernel-by-caller", no_argument, NULL, BY_CALLER },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	bool interactive = false;
	int option;

	/* The program's options are its own */
	while ((option = getopt_long(argc, argv, "+t:b:o:pi", options,
				     NULL)) >= 0) {
		switch (option) {
		case 't':
			run->asked_ns = 1000 *
				number(optarg, LEAST_US, MOST_US,
				       "the interval is from 60 to 1000000 microseconds");
			break;
		case 'b':
			run->bucket = bucket_of(optarg);
			break;
		case 'o':
			run->output = optarg;
			break;
		case 'p':
			run->per_process = true;
			break;
		case 'i':
			interactive = true;
			break;
		case DOS:
			run->dos = true;
			break;
		case USER_ONLY:
			run->user_only = true;
			break;
		case BY_CALLER:
			run->by_caller = true;
			break;
		case 'h':
			say(usage);
			break;
		case 'V':
			say("profil " VERSION "\n");
			break;
		default:
			misused("unknown option");
		}
	}
	if (run->user_only && run->by_caller)
		misused("--user-only and --kernel-by-caller exclude each other");
	if (optind == argc)
		misused("no program");
	run->argv = argv + optind;
	if (interactive && optind + 1 < argc)
		misused("the program's arguments are asked for");
	if (interactive)
		be_interactive(run);
}

static int check_period(struct run *run, const struct profil_info *info)
{
	if (!run->asked_ns)
		run->asked_ns = info->fast ? FAST_NS : SLOW_NS;
	if (run->asked_ns < info->default_period_ns && !info->fast) {
		fprintf(stderr,
			"profil: intervals below %llu us are forbidden here (module parameter restrict_fastprof)\n",
			info->default_period_ns / 1000);
		return -1;
	}
	if (run->asked_ns < info->min_period_ns ||
	    run->asked_ns > info->max_period_ns) {
		fprintf(stderr,
			"profil: the interval is from %llu to %llu us here\n",
			info->min_period_ns / 1000,
			info->max_period_ns / 1000);
		return -1;
	}
	return 0;
}

/* Without the module. */
static int use_samples(struct run *run, int error)
{
	bool user_only = run->user_only;

	if (!run->asked_ns)
		run->asked_ns = FAST_NS;
	run->period_ns = run->asked_ns;
	run->max_regions = UINT32_MAX;
	run->samples = samples_new(run);
	if (!run->samples) {
		fprintf(stderr,
			"profil: %s: %s; load the module with 'modprobe profil'\n"
			"profil: and perf_event_open: %s; see /proc/sys/kernel/perf_event_paranoid\n",
			PROFIL_DEVICE, strerror(error), strerror(errno));
		return -1;
	}
	run->clock = PRF_CLOCK_PERF_EVENT_OPEN;
	fprintf(stderr,
		"profil: %s: %s; load the module with 'modprobe profil' for random ticks. Using perf_event_open%s\n",
		PROFIL_DEVICE, strerror(error), run->user_only && !user_only ?
		", in user mode only: see /proc/sys/kernel/perf_event_paranoid" :
		"");
	return 0;
}

static int choose_clock(struct run *run)
{
	struct profil_info info;

	if (module_info(&info))
		return use_samples(run, errno);
	run->clock = info.clock == PROFIL_CLOCK_HRTIMER ? PRF_CLOCK_HRTIMER :
							  PRF_CLOCK_PERF;
	run->max_regions = info.max_regions;
	return check_period(run, &info);
}

/* End as the program did. */
static int end_like(int status)
{
	sigset_t mask;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	/* One core is enough, wherever it goes: pipes heed no limit */
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct run run = { .bucket = 4 };
	int failure;

	parse(argc, argv, &run);
	run_ignore_writing();
	if (choose_clock(&run) || save_check(&run))
		return RUN_FAILED;
	failure = run_program(&run);
	if (failure)
		save_nothing(&run);
	else if (save_run(&run))
		failure = RUN_FAILED;
	run_free(&run);
	return failure ?: end_like(run.status);
}
