// SPDX-License-Identifier: GPL-2.0-only
/*
 * push.c - send profiles of what runs to a store, again and again
 *
 * A watch counts all the time, in a table that only grows. Once in a while the
 * table is read, and what has come since the last time is sent.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "profil/backend_watch.h"
#include "profil/code.h"
#include "profil/options.h"
#include "profil/record.h"
#include "push/config.h"
#include "push/encode.h"
#include "push/http.h"
#include "push/listen.h"
#include "push/metrics.h"
#include "push/push.h"
#include "push/spool.h"
#include "push/window.h"
#include "symbolize/symbols.h"
#include "util/term.h"

/* Time for the last profile, and for those that wait, in seconds */
#define LAST_S		10

/* What names may take, in seconds, and at least, however soon somebody waits */
#define MOST_NAMES_S	60
#define LEAST_NAMES_S	5

/**
 * struct push - what happens
 * @wanted: there is a --push or a --listen
 * @any: an option that needs these was given
 * @record: what the watch has counted so far
 * @read: when the table was read last
 * @window: ticks that have not been sent
 * @dropped: profiles that were dropped, as the store has been told
 */
static struct push {
	bool wanted;
	bool any;
	struct record *record;
	struct moment read;
	struct window window;
	uint64_t dropped;
} push;

/** push_option() - heed an option of --push; returns whether it is one */
bool push_option(int option, const char *argument)
{
	if (!config_option(option, argument))
		return false;
	push.any = true;
	push.wanted |= option == OPTION_PUSH || option == OPTION_LISTEN;
	return true;
}

/** push_wanted() - is there a --push or a --listen? */
bool push_wanted(void)
{
	if (push.any && !push.wanted)
		misused("--every, --label and the like need --push or --listen");
	return push.wanted;
}

/* ---- reading the table */

/* The watch, or NULL if there is none: it could not be begun again */
static const struct watch *the_watch(const struct session *session)
{
	const struct watch *watches;

	return backend_watches(session, &watches) ? watches : NULL;
}

static bool table_is_full(const struct session *session)
{
	const struct watch *watch = the_watch(session);
	struct profil_watch_status status;

	return !watch_status(watch, PROFIL_IOC_WATCH_STATUS, &status) &&
		watch_is_full(&watch->request, &status);
}

static int fill(const struct session *session, struct prf *prf)
{
	if (prf_init(prf, ""))
		return -1;
	prf->start_unix_ns = moment_unix_ns(&push.read);
	prf->period_ns = session->period_ns;
	prf->clock = session->clock;
	if (!session->flat)
		prf->flags |= PRF_FLAG_CHAINS;
	if (session->call_sites)
		prf->flags |= PRF_FLAG_CALL_SITES;
	return 0;
}

/* To a store, a program whose file has been replaced is still the same one. */
static void drop_marks(struct prf *prf)
{
	size_t i;

	for (i = 0; i < prf->nr; i++) {
		char *name = prf->execs[i].name;

		name[plain_length(name)] = '\0';
	}
}

/* What has come since the last time, for add_segment(); NULL with errno */
static struct segment *read_table(struct session *session)
{
	const struct watch *watch = the_watch(session);
	struct segment *segment = segment_new();
	struct profil_watch_status status;

	if (!push.record)
		push.record = record_new(session, watch->table);
	if (!segment || !push.record || fill(session, &segment->prf))
		goto failed;
	watch_status(watch, PROFIL_IOC_WATCH_STATUS, &status);
	/* Counts come first, and then files, which takes longer */
	push.read = moment_now();
	if (!record_add(push.record, &segment->prf)) {
		drop_marks(&segment->prf);
		return segment;
	}
failed:
	segment_put(segment);
	return NULL;
}

/* @patience: seconds until somebody waits; @is_last: profil is to end */
static struct code_limits limits_of(uint64_t patience, bool is_last)
{
	unsigned int seconds = is_last ? LEAST_NAMES_S :
		MIN(MAX(patience, LEAST_NAMES_S), MOST_NAMES_S);

	return (struct code_limits){
		.seconds = seconds,
		/* Questions that follow a long one have what it leaves */
		.question_seconds = is_last ? seconds : (seconds + 1) / 2,
		.background = true,
		.until_signal = !is_last,
	};
}

/* Name what is in a segment, and add it to all windows. */
static int name_segment(struct session *session, struct segment *segment,
			bool is_last)
{
	uint64_t patience = listen_patience(push.read.ns);
	struct code_limits limits = limits_of(patience, is_last);
	size_t before = code_bytes();

	/* Otherwise, only the metrics want the ticks, and nobody their names */
	if (config.url || patience != LISTEN_NOBODY) {
		segment->files = code_learn(session, &segment->prf, &limits);
		if (!segment->files)
			return -1;
	}
	segment_measure(segment, code_bytes() - before);
	metrics_add(&segment->prf);
	metrics.period_ns = session->period_ns;
	/* The stats have said that there may be new files */
	session->backend->drain(session);
	return window_add(&push.window, segment, &push.read) ||
		listen_add(segment, &push.read) ? -1 : 0;
}

static int add_segment(struct session *session, struct segment *segment,
		       bool is_last)
{
	int failed = segment ? name_segment(session, segment, is_last) : -1;

	segment_put(segment);
	return failed;
}

static int collect(struct session *session, bool is_last)
{
	return add_segment(session, read_table(session), is_last);
}

/*
 * Begin with an empty table before this one is full. The machine has one watch
 * at a time, so nothing is counted for the moment from one to the next: names are
 * read later.
 */
static int renew(struct session *session)
{
	struct segment *segment;
	int failed;

	metrics.lost += backend_stop_watches(session);
	segment = read_table(session);
	record_free(push.record);
	push.record = NULL;
	backend_end_watches(session);
	metrics.watches++;
	failed = session_begin(session, 0);
	if (add_segment(session, segment, false))
		failed = -1;
	/* What could not be read may be found by other processes */
	code_forget();
	return failed;
}

/* ---- profiles */

static void say_dropped(char *text, size_t room)
{
	snprintf(text, room, "before this, %llu profiles with %llu ticks were dropped",
		 (unsigned long long)spool.dropped,
		 (unsigned long long)spool.dropped_ticks);
}

/* Put a profile of the window into the spool; its name is @key, or the usual. */
static void put_profile(const char *key, const char *service)
{
	struct spooled profile = {
		.from_ns = moment_unix_ns(&push.window.start),
		.until_ns = moment_unix_ns(&push.window.end),
	};
	char dropped[100];
	struct encode encode = {
		.window = &push.window,
		.key = key,
		.labelled = config.protocol == CONFIG_PPROF,
	};
	size_t length = strlen(service);
	int fd = spool_new();
	char *newline;

	if (push.dropped != spool.dropped) {
		say_dropped(dropped, sizeof(dropped));
		encode.comment = dropped;
	}
	push.dropped = spool.dropped;
	if (length >= sizeof(profile.service))
		service += length - sizeof(profile.service) + 1;
	strcpy(profile.service, service);
	/* In a file of the spool, a newline ends it; no store gets one */
	while ((newline = strchr(profile.service, '\n')))
		*newline = '_';
	encode.service = profile.service;
	if (fd < 0 || encode_window(&encode, fd, &profile.ticks)) {
		term_warn("cannot make a profile: %s", strerror(errno));
		spool_drop(profile.ticks);
		if (fd >= 0)
			close(fd);
		return;
	}
	metrics.encoded += profile.ticks;
	spool_add(fd, &profile);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Keys of all execs of the window, sorted, some of them several times */
static const char **list_keys(size_t *nr)
{
	const struct window *window = &push.window;
	const char **keys;
	size_t i, j;

	*nr = 0;
	for (i = 0; i < window->nr; i++)
		*nr += window->list[i]->prf.nr;
	keys = calloc(*nr + 1, sizeof(*keys));
	*nr = 0;
	for (i = 0; keys && i < window->nr; i++)
		for (j = 0; j < window->list[i]->prf.nr; j++)
			keys[(*nr)++] = encode_key(
				&window->list[i]->prf.execs[j]);
	if (keys)
		qsort(keys, *nr, sizeof(*keys), by_name);
	return keys;
}

/* A service is a cgroup without its first slash. */
static void put_split(void)
{
	size_t nr, i;
	const char **keys = list_keys(&nr);

	for (i = 0; keys && i < nr; i++) {
		const char *name = keys[i];

		if (i && !strcmp(keys[i - 1], name))
			continue;
		if (config.split == CONFIG_BY_CGROUP && name[0] == '/' &&
		    name[1])
			name++;
		put_profile(keys[i], name);
	}
	free(keys);
}

static void put_profiles(void)
{
	if (config.split == CONFIG_WHOLE)
		put_profile(ENCODE_ALL, config.service);
	else
		put_split();
	spool_sync();
	window_close(&push.window);
	window_open(&push.window, &push.read);
}

/* ---- the session */

static void open_first(const struct session *session)
{
	if (push.read.ns)
		return;
	push.read = (struct moment){ session->start_ns, asleep_ns() };
	if (config.url)
		window_open(&push.window, &push.read);
}

/* A window begins at a profile, and there may be readings since. */
static bool is_due(uint64_t now)
{
	uint64_t last_ns = config.url ? push.window.start.ns : push.read.ns;

	return window_is_full(&push.window) ||
		window_is_due(last_ns, config.every_s, now);
}

/* Called once a second. */
static int refresh(struct session *session)
{
	uint64_t now = now_ns();
	bool due;
	int failed = 0;

	open_first(session);
	due = is_due(now);
	if (due || listen_wants(now)) {
		failed = collect(session, false);
		if (!failed && due && config.url)
			put_profiles();
		if (!failed)
			listen_refresh(&push.read, false);
	}
	code_trim();
	if (!failed && table_is_full(session))
		failed = renew(session);
	if (failed)
		term_warn("%s", strerror(errno));
	return failed;
}

static const char *service_of(const struct session *session)
{
	static char text[SPOOL_SERVICE];
	const char *name;

	switch (session->target) {
	case TARGET_MACHINE:
		return "machine";
	case TARGET_USER:
		snprintf(text, sizeof(text), "user-%u", session->uid);
		return text;
	default:
		name = base_name(session->cgroup);
		return *name ? name : "cgroup";
	}
}

/* Stop, and send what there is. */
static void finish(struct session *session)
{
	open_first(session);
	metrics.lost += backend_stop_watches(session);
	if (the_watch(session) && collect(session, true))
		term_warn("%s", strerror(errno));
	if (config.url)
		put_profiles();
	listen_refresh(&push.read, true);
	http_finish(now_ns() + LAST_S * SECOND_NS);
}

static void report_rest(void)
{
	size_t left = spool_settle();

	if (spool.nr > left)
		term_warn("%zu profiles wait in %s", spool.nr - left,
			  config.spool);
	if (left)
		term_warn("%zu profiles could not be sent", left);
}

static int run(struct session *session)
{
	int failure;

	if (http_open() || spool_open() || listen_open())
		return EXIT_FAILED;
	metrics.watches = 1;
	failure = session_attach(session);
	if (session->start_ns)
		finish(session);
	report_rest();
	return failure;
}

static void close_all(void)
{
	listen_close();
	http_close();
	spool_close();
	window_close(&push.window);
	code_forget();
	record_free(push.record);
}

/**
 * push_main() - "profil --push" and "profil --listen"
 * @session: target and options
 * @argv: of main()
 *
 * Return: the exit status.
 */
int push_main(struct session *session, char **argv)
{
	int failure;

	if (session->target == TARGET_PROGRAM ||
	    session->target == TARGET_PROCESSES)
		misused("--push and --listen need --all, --cgroup or --user");
	if (session->output || session->per_process || session->dos)
		misused("--push and --listen write no file");
	if (session->wall)
		misused("--push and --listen send CPU time: give no --wall");
	if (!config.service)
		config.service = service_of(session);
	config_finish();
	session->refresh = refresh;
	session->poll = http_poll;
	session->renewed = true;
	if (session_open(session))
		return EXIT_FAILED;
	failure = run(session);
	close_all();
	backend_end_watches(session);
	if (session_end(session))
		failure = EXIT_FAILED;
	prf_free(&session->prf);
	return failure;
}
