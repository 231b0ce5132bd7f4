// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - find out where the time of programs goes
 *
 * Options and the exit status; see profil(1).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dos/dos_prf.h"
#include "dos/questions.h"
#include "profil/options.h"
#include "profil/save.h"
#include "profil/session.h"
#include "profil/top.h"
#include "push/push.h"

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

/* What follows the options: a program, or more process IDs. */
static void take_words(struct session *session, char **words, bool interactive)
{
	if (session->target == TARGET_PROCESSES) {
		for (; *words; words++)
			add_pids(session, *words);
	} else if (session->target != TARGET_PROGRAM) {
		if (*words)
			misused(one_target);
	} else if (!*words) {
		misused("missing program");
	} else {
		session->argv = words;
	}
	if (session->target == TARGET_PROGRAM && session->duration_ns)
		misused("--duration is for what runs already; see timeout(1)");
	if (!interactive)
		return;
	if (session->target != TARGET_PROGRAM)
		misused("--interactive needs a program");
	if (words[1])
		misused("--interactive asks for the arguments: give none");
	be_interactive(session);
}

static void parse(int argc, char **argv, struct session *session)
{
	bool interactive = false;
	int option;

	/* "+": options after PROGRAM belong to the program */
	while ((option = getopt_long(argc, argv, "+" SHORT_OPTIONS,
				     long_options, NULL)) >= 0) {
		if (common_option(session, option, optarg) ||
		    push_option(option, optarg))
			continue;
		switch (option) {
		case 'o':
			if (!strcmp(optarg, "-"))
				misused("standard output belongs to PROGRAM: give --output a file name");
			session->output = optarg;
			break;
		case 'P':
			session->per_process = true;
			break;
		case OPTION_INTERACTIVE:
			interactive = true;
			break;
		case OPTION_DOS:
			session->dos = true;
			break;
		case OPTION_NO_NAMES:
			session->no_names = true;
			break;
		case 'n':
			misused("--top is for 'profil top'");
		default:
			/* getopt_long() has printed the reason */
			fputs("Try 'profil --help'.\n", stderr);
			exit(EXIT_FAILED);
		}
	}
	take_words(session, argv + optind, interactive);
}

/* Exit with the program's status, or die from the same signal. */
static int end_like(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	/*
	 * The program has dumped core already. RLIMIT_CORE would not prevent a
	 * second dump: a pipe in core_pattern ignores it
	 */
	prctl(PR_SET_DUMPABLE, 0);
	session_raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct session session = { .bucket = 4 };
	int failure;

	if (argc > 1 && !strcmp(argv[1], "top"))
		return top_main(argc - 1, argv + 1);
	parse(argc, argv, &session);
	session_ignore_writing();
	if (push_wanted())
		return push_main(&session, argv);
	if (session_open(&session) || save_check(&session)) {
		free(session.pids);
		return EXIT_FAILED;
	}
	failure = session.target == TARGET_PROGRAM ? session_run(&session) :
						     session_attach(&session);
	if (session_end(&session) && !failure)
		failure = EXIT_FAILED;
	if (failure)
		save_nothing(&session);
	else if (save_run(&session))
		failure = EXIT_FAILED;
	prf_free(&session.prf);
	free(session.pids);
	if (!failure && session.target == TARGET_PROGRAM)
		failure = end_like(session.status);
	return failure;
}
