// SPDX-License-Identifier: GPL-2.0-only
/*
 * http.c - send the profiles of the spool
 *
 * One request at a time, of the oldest profile. One that the store has rejected
 * is dropped, as it would be again; after any other failure, it is sent again,
 * after a while that doubles with each failure. One that the store fails to take
 * again and again waits until those after it have been sent.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profil/session.h"
#include "push/config.h"
#include "push/http.h"
#include "push/listen.h"
#include "push/spool.h"
#include "util/term.h"
#include "util/utf8.h"

#define CONNECT_MS	10000L
#define ANSWER_MS	30000L

/* Pause after failures, and the longest one that a store may ask for */
#define FIRST_PAUSE_S	1
#define LAST_PAUSE_S	64
#define MOST_PAUSE_S	300

/* So often a profile that the store fails to take holds up the next one. */
#define MOST_FAILURES	5

/* Stands for a failure without an answer. */
#define NO_STATUS	1

/* Bytes of an answer that a message has room for */
#define ANSWER		200

struct http_stats http_stats;

const char *const http_outcomes[HTTP_OUTCOMES] = {
	[HTTP_ACCEPTED] = "accepted",
	[HTTP_NO_ANSWER] = "no_answer",
	[HTTP_REJECTED] = "rejected",
	[HTTP_UNAVAILABLE] = "unavailable",
};

/**
 * struct http - the connection
 * @multi: lets curl work while others wait
 * @easy: the request
 * @form: its form, or NULL
 * @headers: its headers
 * @is_busy: it is being sent
 * @sent: the profile being sent
 * @data: the profile as it is sent
 * @answer: the beginning of the answer
 * @answer_size: bytes of it
 * @next_ns: the next request is not sent before
 * @pause_s: pause after the next failure, in seconds
 * @failures: failures in a row of the profile, and not of the connection
 * @passed_over: number of a profile that had too many of these, or 0
 * @doubted: the last one that was, which is passed over at the next failure
 * @said: last failure that was reported, an HTTP status or NO_STATUS; or 0
 */
static struct http {
	CURLM *multi;
	CURL *easy;
	curl_mime *form;
	struct curl_slist *headers;
	bool is_busy;
	struct spooled sent;
	char *data;
	char answer[ANSWER + 1];
	size_t answer_size;
	uint64_t next_ns;
	unsigned int pause_s;
	unsigned int failures;
	uint64_t passed_over;
	uint64_t doubted;
	long said;
} http = { .pause_s = FIRST_PAUSE_S };

/* ---- requests */

static size_t take_answer(char *data, size_t size, size_t nr, void *context)
{
	size_t more = size * nr;

	if (more > ANSWER - http.answer_size)
		more = ANSWER - http.answer_size;
	memcpy(http.answer + http.answer_size, data, more);
	http.answer_size += more;
	return size * nr;
}

/* Name of a profile: its service and labels, in braces */
static char *make_name(void)
{
	char *name = NULL, *letter, *escaped;
	size_t size, i;
	int length;
	FILE *text = open_memstream(&name, &size);

	if (!text)
		return NULL;
	for (letter = http.sent.service; *letter; letter += length ?: 1) {
		length = utf8_text(letter) ? utf8_length(letter) : 0;
		if (!length || strchr("{},=\"", *letter))
			fputc('_', text);
		else
			fwrite(letter, 1, length, text);
	}
	for (i = 0; i < config.nr_labels; i++)
		fprintf(text, "%s%s=%s", i ? "," : "{", config.labels[i].name,
			config.labels[i].value);
	fputs(i ? "}" : "", text);
	if (fclose(text)) {
		free(name);
		return NULL;
	}
	escaped = curl_easy_escape(http.easy, name, 0);
	free(name);
	return escaped;
}

/* POST /ingest: a form, and the rest in the URL */
static int ask_pyroscope(size_t size)
{
	char *name = make_name(), *url = NULL;
	curl_mimepart *part;
	CURLcode error = CURLE_OUT_OF_MEMORY;

	http.form = curl_mime_init(http.easy);
	part = http.form ? curl_mime_addpart(http.form) : NULL;
	if (name && part &&
	    asprintf(&url, "%s?name=%s&from=%llu&until=%llu&format=pprof&spyName=profil",
		     config.url, name, http.sent.from_ns / SECOND_NS,
		     http.sent.until_ns / SECOND_NS) >= 0) {
		error = curl_mime_name(part, "profile") ?:
			curl_mime_filename(part, "profile.pprof") ?:
			curl_mime_type(part, "application/octet-stream") ?:
			curl_mime_data(part, http.data, size) ?:
			curl_easy_setopt(http.easy, CURLOPT_URL, url) ?:
			curl_easy_setopt(http.easy, CURLOPT_MIMEPOST,
					 http.form);
		free(url);
	}
	curl_free(name);
	return error ? -1 : 0;
}

/* POST /v1/pprof: the profile alone */
static int ask_pprof(size_t size)
{
	struct curl_slist *headers;

	headers = curl_slist_append(http.headers,
				    "Content-Type: application/octet-stream");
	if (!headers)
		return -1;
	http.headers = headers;
	return curl_easy_setopt(http.easy, CURLOPT_URL, config.url) ||
		curl_easy_setopt(http.easy, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)size) ||
		curl_easy_setopt(http.easy, CURLOPT_POSTFIELDS, http.data) ?
		-1 : 0;
}

static int authorize(void)
{
	if (config.token)
		return curl_easy_setopt(http.easy, CURLOPT_HTTPAUTH,
					CURLAUTH_BEARER) ||
			curl_easy_setopt(http.easy, CURLOPT_XOAUTH2_BEARER,
					 config.token) ? -1 : 0;
	if (config.password)
		return curl_easy_setopt(http.easy, CURLOPT_HTTPAUTH,
					CURLAUTH_BASIC) ||
			curl_easy_setopt(http.easy, CURLOPT_USERPWD,
					 config.password) ? -1 : 0;
	return 0;
}

/*
 * A question to a name server that is away is given up, and not waited for, if the
 * library can do that.
 */
static void leave_resolver(void)
{
#if LIBCURL_VERSION_NUM >= 0x075700
	curl_easy_setopt(http.easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

static int prepare(size_t size)
{
	curl_easy_reset(http.easy);
	leave_resolver();
	/* Do not wait until the store agrees to get the rest */
	http.headers = curl_slist_append(NULL, "Expect:");
	if (!http.headers || authorize() ||
	    (config.protocol == CONFIG_PPROF ? ask_pprof(size) :
					       ask_pyroscope(size)))
		return -1;
	return curl_easy_setopt(http.easy, CURLOPT_HTTPHEADER, http.headers) ||
		curl_easy_setopt(http.easy, CURLOPT_WRITEFUNCTION,
				 take_answer) ||
		curl_easy_setopt(http.easy, CURLOPT_USERAGENT,
				 "profil/" VERSION) ||
		curl_easy_setopt(http.easy, CURLOPT_NOSIGNAL, 1L) ||
		curl_easy_setopt(http.easy, CURLOPT_CONNECTTIMEOUT_MS,
				 CONNECT_MS) ||
		curl_easy_setopt(http.easy, CURLOPT_TIMEOUT_MS, ANSWER_MS) ||
		curl_multi_add_handle(http.multi, http.easy) ? -1 : 0;
}

static void end_request(void)
{
	if (http.is_busy)
		curl_multi_remove_handle(http.multi, http.easy);
	curl_mime_free(http.form);
	curl_slist_free_all(http.headers);
	free(http.data);
	http.form = NULL;
	http.headers = NULL;
	http.data = NULL;
	http.is_busy = false;
	spool.sent = 0;
}

static bool may_send(void)
{
	return config.url && !http.is_busy && spool.nr &&
		now_ns() >= http.next_ns;
}

/* The oldest profile after the one that is passed over, or the oldest of all */
static const struct spooled *choose(void)
{
	size_t i;

	for (i = 0; i < spool.nr; i++)
		if (spool.list[i].number > http.passed_over)
			return &spool.list[i];
	http.passed_over = 0;
	return spool.list;
}

static void send_next(void)
{
	const struct spooled *next = choose();
	size_t size;

	if (next->number != http.sent.number)
		http.failures = 0;
	http.sent = *next;
	spool.sent = http.sent.number;
	http.answer_size = 0;
	http.data = spool_read(&http.sent, &size);
	if (!http.data && errno != ENOMEM && errno != EMFILE &&
	    errno != ENFILE) {
		term_warn("cannot read a profile of the spool: %s",
			  strerror(errno));
		spool_drop(http.sent.ticks);
		spool_forget(http.sent.number);
		end_request();
		return;
	}
	if (http.data && !prepare(size)) {
		http.is_busy = true;
		return;
	}
	term_warn("%s", strerror(http.data ? ENOMEM : errno));
	end_request();
	http.next_ns = now_ns() + LAST_PAUSE_S * SECOND_NS;
}

/* ---- answers */

/* Only the first of several equal failures is reported. */
static bool is_news(long failure)
{
	bool news = http.said != failure;

	http.said = failure;
	return news;
}

/* The first line of the answer, without what a terminal would act on */
static const char *answer(void)
{
	char *letter;

	http.answer[http.answer_size] = '\0';
	http.answer[strcspn(http.answer, "\r\n")] = '\0';
	for (letter = http.answer; *letter; letter++)
		if (!isprint((unsigned char)*letter))
			*letter = '?';
	return http.answer;
}

/* Machines that a store has failed at once do not come back at once. */
static void pause_sending(long asked_s)
{
	uint64_t pause = http.pause_s * SECOND_NS;

	pause = pause / 2 + pause / 2 * (random() % 1024) / 1024;
	if (asked_s > MOST_PAUSE_S)
		asked_s = MOST_PAUSE_S;
	if (asked_s > 0 && asked_s * SECOND_NS > pause)
		pause = asked_s * SECOND_NS;
	http.next_ns = now_ns() + pause;
	if (http.pause_s < LAST_PAUSE_S)
		http.pause_s *= 2;
}

static enum http_outcome outcome_of(long status)
{
	if (!status)
		return HTTP_NO_ANSWER;
	if (status >= 200 && status < 300)
		return HTTP_ACCEPTED;
	return status >= 500 || status == 408 || status == 429 ?
		HTTP_UNAVAILABLE : HTTP_REJECTED;
}

static void accepted(void)
{
	if (http.sent.number == http.doubted)
		http.doubted = 0;
	/* With one that is passed over, it would be reported again and again */
	if (http.said && (!http.doubted || spool.nr == 1)) {
		term_warn("%s accepts profiles again; %zu wait", config.url,
			  spool.nr - 1);
		http.said = 0;
	}
	spool.said_full = false;
	http.failures = 0;
	http.pause_s = FIRST_PAUSE_S;
	http_stats.ticks += http.sent.ticks;
	http_stats.bytes += http.sent.bytes;
	spool_remove(http.sent.number);
}

static void rejected(long status)
{
	if (is_news(status))
		term_warn("%s rejects profiles, which are dropped: HTTP status %ld: %s",
			  config.url, status, answer());
	http.failures = 0;
	http.pause_s = FIRST_PAUSE_S;
	spool_drop(http.sent.ticks);
	spool_remove(http.sent.number);
}

static void failed(long status, CURLcode error)
{
	curl_off_t asked_s = 0, sent = 0;

	curl_easy_getinfo(http.easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	/* The store may be unable to take the profile, with an answer or without */
	if ((status >= 500 || (!status && sent)) &&
	    (++http.failures >= MOST_FAILURES ||
	     http.sent.number == http.doubted)) {
		http.passed_over = http.sent.number;
		http.doubted = http.sent.number;
	}
	curl_easy_getinfo(http.easy, CURLINFO_RETRY_AFTER, &asked_s);
	pause_sending(asked_s);
	if (!is_news(status ?: NO_STATUS))
		return;
	if (status)
		term_warn("%s: HTTP status %ld: %s; trying again", config.url,
			  status, answer());
	else
		term_warn("%s: %s; trying again", config.url,
			  curl_easy_strerror(error));
}

/* A status that came before the connection was cut is no answer. */
static void take_result(CURLcode error)
{
	enum http_outcome outcome;
	long status = 0;

	if (!error)
		curl_easy_getinfo(http.easy, CURLINFO_RESPONSE_CODE, &status);
	outcome = outcome_of(status);
	http_stats.requests[outcome]++;
	if (outcome == HTTP_ACCEPTED)
		accepted();
	else if (outcome == HTTP_REJECTED)
		rejected(status);
	else
		failed(status, error);
	end_request();
}

static void take_results(void)
{
	struct CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(http.multi, &left)))
		if (message->msg == CURLMSG_DONE)
			take_result(message->data.result);
}

static void work(void)
{
	int running;

	listen_work();
	curl_multi_perform(http.multi, &running);
	take_results();
	if (may_send()) {
		send_next();
		curl_multi_perform(http.multi, &running);
	}
}

/* ---- waiting */

/* Milliseconds until a time, at least 0, and at most @most */
static int until(uint64_t end_ns, int most)
{
	uint64_t now = now_ns();
	uint64_t ms = now >= end_ns ? 0 : (end_ns - now + 999999) / 1000000;

	return ms < (uint64_t)most ? (int)ms : most;
}

/* Time until there is something to do without an event */
static int until_work(int most)
{
	if (config.url && !http.is_busy && spool.nr)
		most = until(http.next_ns, most);
	return listen_until(most);
}

/* @fds: with room for one more */
static int wait_once(struct curl_waitfd *fds, nfds_t nr, int timeout_ms)
{
	int server = listen_descriptor(), ready = 0;
	nfds_t i;

	if (server >= 0)
		fds[nr] = (struct curl_waitfd){
			.fd = server, .events = CURL_WAIT_POLLIN
		};
	curl_multi_poll(http.multi, fds, nr + (server >= 0),
			until_work(timeout_ms), NULL);
	for (i = 0; i < nr; i++)
		ready += !!fds[i].revents;
	return ready;
}

/* Most descriptors that others wait for */
#define MOST_FDS	4

/**
 * http_poll() - wait as poll(2) does, and send and serve meanwhile
 * @fds: descriptors to wait for, by POLLIN; those below 0 are left out
 * @nr: number of descriptors, at most 4
 * @timeout_ms: the longest time to wait, or -1
 *
 * Return: number of descriptors that are ready.
 */
int http_poll(struct pollfd *fds, nfds_t nr, int timeout_ms)
{
	uint64_t end_ns = timeout_ms < 0 ? UINT64_MAX :
		now_ns() + timeout_ms * 1000000ULL;
	struct curl_waitfd all[MOST_FDS + 1] = {};
	struct pollfd *of[MOST_FDS];
	nfds_t used = 0, i;
	int ready;

	for (i = 0; i < nr && i < MOST_FDS; i++) {
		fds[i].revents = 0;
		if (fds[i].fd < 0)
			continue;
		of[used] = &fds[i];
		all[used++] = (struct curl_waitfd){
			.fd = fds[i].fd, .events = CURL_WAIT_POLLIN
		};
	}
	do {
		work();
		ready = wait_once(all, used, until(end_ns, 1000));
	} while (!ready && until(end_ns, 1));
	for (i = 0; i < used; i++)
		if (all[i].revents)
			of[i]->revents = POLLIN;
	work();
	return ready;
}

/**
 * http_finish() - send what there is, once more
 * @end_ns: until then, on the monotonic clock
 */
void http_finish(uint64_t end_ns)
{
	http.next_ns = 0;
	http.pause_s = FIRST_PAUSE_S;
	while (config.url && spool.nr && until(end_ns, 1)) {
		http_poll(NULL, 0, 10);
		/* It will be there at the next start */
		if (config.spool && !spool.memory && http.next_ns > now_ns())
			break;
	}
}

/** http_open() - prepare to send; returns 0, or -1 after reporting the error */
int http_open(void)
{
	srandom(now_ns() ^ getpid());
	if (!curl_global_init(CURL_GLOBAL_DEFAULT)) {
		http.multi = curl_multi_init();
		http.easy = curl_easy_init();
	}
	if (http.multi && http.easy)
		return 0;
	term_warn("libcurl: %s", strerror(ENOMEM));
	return -1;
}

/** http_close() - give up what is being sent */
void http_close(void)
{
	end_request();
	if (http.easy)
		curl_easy_cleanup(http.easy);
	if (http.multi)
		curl_multi_cleanup(http.multi);
	curl_global_cleanup();
}
