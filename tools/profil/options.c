// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - options of "profil" and "profil top"
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dos/questions.h"
#include "profil/options.h"
#include "util/array.h"
#include "util/number.h"
#include "util/term.h"

#define MOST_SECONDS	(366 * 86400)

static const char usage[] =
	"Usage: profil [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       profil [OPTION]... -p PID...\n"
	"       profil [OPTION]... --cgroup=DIR | --user[=USER] | -a\n"
	"       profil --push=URL [OPTION]... --cgroup=DIR | --user[=USER] | -a\n"
	"       profil top [OPTION]...\n"
	"Run PROGRAM and write a profile of it and of all that it starts; or write one\n"
	"of what runs already, until Ctrl-C. top shows, once a second, the hottest\n"
	"functions of what runs (default your own processes), and writes no file.\n"
	"\n"
	"  -p, --pid=PID[,PID]...  profile these processes, and all that they start\n"
	"                          from now on\n"
	"      --cgroup=DIR        profile the cgroup with this directory\n"
	"      --user[=USER]       profile the processes of USER (default your own;\n"
	"                          others need CAP_PERFMON)\n"
	"  -a, --all               profile the whole machine (needs CAP_PERFMON)\n"
	"      --duration=SECONDS  end after SECONDS; not with PROGRAM\n"
	"  -t, --interval=US       take a tick every US microseconds of CPU time (of the\n"
	"                          life of each thread, if waits are counted) on\n"
	"                          average (default 1000; 10000 where the module's\n"
	"                          restrict_fastprof forbids less; 250 with --flat\n"
	"                          if there is no module)\n"
	"  -b, --bucket=BYTES      count in buckets of BYTES bytes of code, a power\n"
	"                          of two up to 4096 (default 4)\n"
	"  -o, --output=FILE       write the profile to FILE (default PROGRAM.prf; of\n"
	"                          what runs already see profil(1))\n"
	"  -P, --per-process       write a file for each process, PROGRAM.PID.prf\n"
	"      --dos               write PROGRAM.PRF for MS-DOS PROHIST as well\n"
	"      --interactive       ask for bucket, interval and arguments as MS-DOS\n"
	"                          PROFIL did; implies --dos\n"
	"      --wall              count also the time in which threads do not run, by\n"
	"                          what they wait in (needs the module; not with --all)\n"
	"      --flat              count the functions that run, without their callers\n"
	"      --call-sites        tell callers apart by call site, not only by function\n"
	"      --kernel=DETAIL     how to count ticks in kernel mode: total (default),\n"
	"                          functions (needs CAP_PERFMON; default with --all)\n"
	"                          or none\n"
	"      --no-names          put no names of functions into the profile\n"
	"      --push=URL          instead of writing a file, send profiles of what runs\n"
	"                          already to a store, until the end; see profil(1)\n"
	"      --push-as=PROTOCOL  pyroscope (POST /ingest; default) or pprof (POST\n"
	"                          /v1/pprof; default if the URL ends so)\n"
	"      --every=SECONDS     send one each SECONDS (default 60)\n"
	"      --label=NAME=VALUE  label them; service_name is a label, too\n"
	"      --split=KIND        send one for each comm or cgroup\n"
	"      --token-file=FILE   authenticate by the bearer token in FILE\n"
	"      --password-file=FILE\n"
	"                          authenticate by USER:PASSWORD in FILE\n"
	"      --spool=DIR         keep in DIR what could not be sent\n"
	"      --spool-size=MB     but no more than this (default 64; 4 in memory)\n"
	"      --listen=[ADDRESS:]PORT\n"
	"                          serve /debug/pprof/profile?seconds=N and /metrics\n"
	"                          (default address 127.0.0.1)\n"
	"  -n, --top=N             with top: show N functions (default as many as the\n"
	"                          terminal has room for, else 20)\n"
	"      --help              show this help\n"
	"      --version           show the version\n"
	"\n"
	"The exit status is that of PROGRAM, or 125 if profil fails, 126 if PROGRAM\n"
	"cannot be executed, 127 if it is not found. If a signal kills PROGRAM, the\n"
	"same signal kills profil.\n";

const struct option long_options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "cgroup", required_argument, NULL, OPTION_CGROUP },
	{ "user", optional_argument, NULL, OPTION_USER },
	{ "all", no_argument, NULL, 'a' },
	{ "duration", required_argument, NULL, OPTION_DURATION },
	{ "interval", required_argument, NULL, 't' },
	{ "bucket", required_argument, NULL, 'b' },
	{ "output", required_argument, NULL, 'o' },
	{ "per-process", no_argument, NULL, 'P' },
	{ "dos", no_argument, NULL, OPTION_DOS },
	{ "interactive", no_argument, NULL, OPTION_INTERACTIVE },
	{ "wall", no_argument, NULL, OPTION_WALL },
	{ "flat", no_argument, NULL, OPTION_FLAT },
	{ "call-sites", no_argument, NULL, OPTION_CALL_SITES },
	{ "kernel", required_argument, NULL, OPTION_KERNEL },
	{ "no-names", no_argument, NULL, OPTION_NO_NAMES },
	{ "push", required_argument, NULL, OPTION_PUSH },
	{ "push-as", required_argument, NULL, OPTION_PUSH_AS },
	{ "every", required_argument, NULL, OPTION_EVERY },
	{ "label", required_argument, NULL, OPTION_LABEL },
	{ "split", required_argument, NULL, OPTION_SPLIT },
	{ "token-file", required_argument, NULL, OPTION_TOKEN_FILE },
	{ "password-file", required_argument, NULL, OPTION_PASSWORD_FILE },
	{ "spool", required_argument, NULL, OPTION_SPOOL },
	{ "spool-size", required_argument, NULL, OPTION_SPOOL_SIZE },
	{ "listen", required_argument, NULL, OPTION_LISTEN },
	{ "top", required_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

const char one_target[] =
	"choose one of PROGRAM, --pid, --cgroup, --user and --all";

/** misused() - report what is wrong with the command line, and exit */
void misused(const char *what)
{
	fprintf(stderr, "profil: %s\nTry 'profil --help'.\n", what);
	exit(EXIT_FAILED);
}

/** number() - parse the argument of an option, or exit with @error */
uint64_t number(const char *text, uint64_t min, uint64_t max, const char *error)
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

static void set_kernel(struct session *session, const char *detail)
{
	session->kernel_set = true;
	session->kernel = !strcmp(detail, "functions");
	session->user_only = !strcmp(detail, "none");
	if (!session->kernel && !session->user_only && strcmp(detail, "total"))
		misused("--kernel must be total, functions or none");
}

static void set_target(struct session *session, enum target target)
{
	if (session->target != TARGET_PROGRAM && session->target != target)
		misused(one_target);
	session->target = target;
}

static void add_pid(struct session *session, pid_t pid)
{
	pid_t *pids;
	size_t i;

	for (i = 0; i < session->nr_pids; i++)
		if (session->pids[i] == pid)
			return;
	pids = array_grow(session->pids, session->nr_pids, sizeof(*pids));
	if (!pids)
		misused(strerror(ENOMEM));
	session->pids = pids;
	pids[session->nr_pids++] = pid;
}

/** add_pids() - add the processes of a list, separated by commas or blanks */
void add_pids(struct session *session, const char *text)
{
	static const char error[] =
		"invalid process ID after --pid (-p); --per-process (-P) writes a file for each process";
	char *list = strdup(text), *word, *rest = list;

	set_target(session, TARGET_PROCESSES);
	while ((word = strsep(&rest, ",\n ")))
		if (*word)
			add_pid(session, number(word, 1, INT32_MAX, error));
	free(list);
	if (!session->nr_pids)
		misused(error);
}

static void set_user(struct session *session, const char *name)
{
	struct passwd *user = name ? getpwnam(name) : NULL;

	set_target(session, TARGET_USER);
	session->uid = getuid();
	if (user)
		session->uid = user->pw_uid;
	else if (name)
		session->uid = number(name, 0, UINT32_MAX - 1,
				      "--user: no such user");
}

static void check_wall(const struct session *session)
{
	if (session->wall && session->target == TARGET_MACHINE)
		misused("--wall does not follow the threads of the whole machine: choose --user, --cgroup or --pid");
}

static void check_chains(const struct session *session)
{
	if (session->flat && session->call_sites)
		misused("choose one of --flat and --call-sites");
}

/* Shells complete the name of a directory with a slash. */
static const char *without_slash(char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	return path;
}

/**
 * common_option() - heed an option that both commands have
 * @session: the session
 * @option: the option
 * @argument: its argument
 *
 * Return: whether it is one.
 */
bool common_option(struct session *session, int option, char *argument)
{
	switch (option) {
	case 'p':
		add_pids(session, argument);
		return true;
	case OPTION_CGROUP:
		set_target(session, TARGET_CGROUP);
		session->cgroup = without_slash(argument);
		return true;
	case OPTION_USER:
		set_user(session, argument);
		return true;
	case 'a':
		set_target(session, TARGET_MACHINE);
		session->kernel |= !session->kernel_set;
		check_wall(session);
		return true;
	case OPTION_DURATION:
		session->duration_ns = 1000000000 *
			number(argument, 1, MOST_SECONDS,
			       "invalid duration: must be a number of seconds");
		return true;
	case 't':
		session->asked_ns = 1000 *
			number(argument, LEAST_US, MOST_US,
			       "invalid interval: must be from 60 to 1000000 microseconds");
		return true;
	case 'b':
		session->bucket = bucket_of(argument);
		return true;
	case OPTION_WALL:
		session->wall = true;
		check_wall(session);
		return true;
	case OPTION_FLAT:
		session->flat = true;
		check_chains(session);
		return true;
	case OPTION_CALL_SITES:
		session->call_sites = true;
		check_chains(session);
		return true;
	case OPTION_KERNEL:
		set_kernel(session, argument);
		return true;
	case 'h':
		term_say(usage, EXIT_FAILED);
	case 'V':
		term_say("profil " VERSION "\n", EXIT_FAILED);
	default:
		return false;
	}
}
