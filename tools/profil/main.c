// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - run a program and find out where its time goes
 *
 * Options, the choice of the backend, and the exit status; see profil(1).
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

#include "dos/dos_prf.h"
#include "dos/questions.h"
#include "profil/backend.h"
#include "profil/output.h"
#include "profil/remedy.h"
#include "profil/session.h"
#include "util/number.h"

#define FAST_NS		1000000ULL
#define SLOW_NS		10000000ULL
#define MAX_BUCKET	4096

enum { USER_ONLY = 256, BY_CALLER, DOS };

static const char usage[] =
	"Usage: profil [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"Run PROGRAM and write a profile of it and of all that it starts.\n"
	"\n"
	"  -t, --interval=US       take a tick every US microseconds of CPU time on\n"
	"                          average (default 1000; 10000 where the module's\n"
	"                          restrict_fastprof forbids less)\n"
	"  -b, --bucket=BYTES      count in buckets of BYTES bytes of code, a power\n"
	"                          of two up to 4096 (default 4)\n"
	"  -o, --output=FILE       write the profile to FILE (default ./PROGRAM.prf)\n"
	"  -p, --per-process       write a file for each process, PROGRAM.PID.prf\n"
	"      --dos               write PROGRAM.PRF for MS-DOS PROHIST as well\n"
	"  -i, --interactive       ask for bucket, interval and arguments as MS-DOS\n"
	"                          PROFIL did; implies --dos\n"
	"      --user-only         leave out ticks in kernel mode\n"
	"      --kernel-by-caller  count ticks in kernel mode where the program\n"
	"                          called the kernel\n"
	"      --help              show this help\n"
	"      --version           show the version\n"
	"\n"
	"The exit status is that of PROGRAM, or 125 if profil fails, 126 if PROGRAM\n"
	"cannot be executed, 127 if it is not found. If a signal kills PROGRAM, the\n"
	"same signal kills profil.\n";

static void __attribute__((noreturn)) misused(const char *what)
{
	fprintf(stderr, "profil: %s\nTry 'profil --help'.\n", what);
	exit(EXIT_FAILED);
}

static uint64_t number(const char *text, uint64_t min, uint64_t max,
		       const char *error)
{
	uint64_t value;

	if (!parse_number(text, min, max, &value))
		misused(error);
	return value;
}

static uint32_t bucket_of(const char *text)
{
	static const char error[] =
		"invalid bucket size: must be a power of two from 1 to 4096";
	uint32_t bucket = number(text, 1, MAX_BUCKET, error);

	if (bucket & (bucket - 1))
		misused(error);
	return bucket;
}

static void say(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) ? EXIT_FAILED : 0);
}

/* Take bucket, interval and arguments from the user's answers, imply --dos. */
static void be_interactive(struct session *session)
{
	struct answers answers;
	char **argv;

	if (questions_ask(&answers))
		exit(EXIT_FAILED);
	argv = calloc(answers.nr + 2, sizeof(*argv));
	if (!argv) {
		fprintf(stderr, "profil: %s\n", strerror(ENOMEM));
		exit(EXIT_FAILED);
	}
	argv[0] = session->argv[0];
	memcpy(argv + 1, answers.words, answers.nr * sizeof(*argv));
	session->argv = argv;
	session->asked_ns = 1000 * answers.interval_us;
	session->paragraphs = answers.paragraphs;
	/*
	 * Buckets of the native format are powers of two: use the largest that
	 * divides the requested size
	 */
	session->bucket = answers.paragraphs * DOS_PARAGRAPH;
	session->bucket &= -session->bucket;
	if (session->bucket > MAX_BUCKET)
		session->bucket = MAX_BUCKET;
	session->dos = true;
}

static void parse(int argc, char **argv, struct session *session)
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

	/* "+": options after PROGRAM belong to the program */
	while ((option = getopt_long(argc, argv, "+t:b:o:pi", options,
				     NULL)) >= 0) {
		switch (option) {
		case 't':
			session->asked_ns = 1000 *
				number(optarg, LEAST_US, MOST_US,
				       "invalid interval: must be from 60 to 1000000 microseconds");
			break;
		case 'b':
			session->bucket = bucket_of(optarg);
			break;
		case 'o':
			if (!strcmp(optarg, "-"))
				misused("standard output belongs to PROGRAM: give --output a file name");
			session->output = optarg;
			break;
		case 'p':
			session->per_process = true;
			break;
		case 'i':
			interactive = true;
			break;
		case DOS:
			session->dos = true;
			break;
		case USER_ONLY:
			session->user_only = true;
			break;
		case BY_CALLER:
			session->by_caller = true;
			break;
		case 'h':
			say(usage);
			break;
		case 'V':
			say("profil " VERSION "\n");
			break;
		default:
			/* getopt_long() has printed the reason */
			fputs("Try 'profil --help'.\n", stderr);
			exit(EXIT_FAILED);
		}
	}
	if (session->user_only && session->by_caller)
		misused("--user-only and --kernel-by-caller are mutually exclusive");
	if (optind == argc)
		misused("missing program");
	session->argv = argv + optind;
	if (interactive && optind + 1 < argc)
		misused("--interactive asks for the arguments: give none");
	if (interactive)
		be_interactive(session);
}

static int check_period(struct session *session, const struct profil_info *info)
{
	if (!session->asked_ns)
		session->asked_ns = info->fast ? FAST_NS : SLOW_NS;
	if (session->asked_ns < info->default_period_ns && !info->fast) {
		fprintf(stderr,
			"profil: intervals below %llu us are disabled by the module parameter restrict_fastprof\n",
			info->default_period_ns / 1000);
		return -1;
	}
	if (session->asked_ns < info->min_period_ns ||
	    session->asked_ns > info->max_period_ns) {
		fprintf(stderr,
			"profil: invalid interval: this system allows %llu to %llu us\n",
			info->min_period_ns / 1000,
			info->max_period_ns / 1000);
		return -1;
	}
	return 0;
}

/* Fall back to perf_event_open(2); @error is why the module is unavailable. */
static int use_perf(struct session *session, int error)
{
	static const char paranoid[] =
		"; see /proc/sys/kernel/perf_event_paranoid";
	bool user_only = session->user_only;

	if (!session->asked_ns)
		session->asked_ns = FAST_NS;
	session->period_ns = session->asked_ns;
	session->max_regions = UINT32_MAX;
	session->backend = &backend_perf;
	fprintf(stderr, "profil: %s: %s; %s\n", PROFIL_DEVICE, strerror(error),
		device_remedy(error));
	if (backend_perf_open(session)) {
		fprintf(stderr, "profil: perf_event_open: %s%s\n",
			strerror(errno), errno == EACCES ? paranoid : "");
		return -1;
	}
	session->clock = PRF_CLOCK_PERF_EVENT_OPEN;
	fprintf(stderr,
		"profil: using perf_event_open, whose ticks are not random%s%s\n",
		session->user_only && !user_only ? ", in user mode only" : "",
		session->user_only && !user_only ? paranoid : "");
	return 0;
}

static int choose_clock(struct session *session)
{
	struct profil_info info;

	if (backend_kernel_info(&info))
		return use_perf(session, errno);
	session->backend = &backend_kernel;
	session->clock = info.clock == PROFIL_CLOCK_HRTIMER ?
			 PRF_CLOCK_HRTIMER : PRF_CLOCK_PERF;
	session->max_regions = info.max_regions;
	return check_period(session, &info);
}

/* Exit with the program's status, or die from the same signal. */
static int end_like(int status)
{
	sigset_t mask;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	/*
	 * The program has dumped core already. RLIMIT_CORE would not prevent a
	 * second dump: a pipe in core_pattern ignores it
	 */
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
	struct session session = { .bucket = 4 };
	int failure;

	parse(argc, argv, &session);
	session_ignore_writing();
	if (choose_clock(&session) || save_check(&session))
		return EXIT_FAILED;
	failure = session_run(&session);
	if (failure)
		save_nothing(&session);
	else if (save_run(&session))
		failure = EXIT_FAILED;
	session_free(&session);
	return failure ?: end_like(session.status);
}
