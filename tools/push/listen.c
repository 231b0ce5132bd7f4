// SPDX-License-Identifier: GPL-2.0-only
/*
 * listen.c - serve profiles and metrics by HTTP
 *
 * The server works when http_poll() lets it: it has no thread of its own. The
 * connection of a profile is suspended until the profile is complete.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <microhttpd.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profil/session.h"
#include "push/config.h"
#include "push/encode.h"
#include "push/listen.h"
#include "push/metrics.h"
#include "util/number.h"
#include "util/term.h"

/* As of Go's net/http/pprof */
#define DEFAULT_SECONDS	30
#define MOST_SECONDS	3600

#define MOST_CLIENTS	32
#define MOST_SCRAPES	4

/* Seconds that a client may be silent, and that it has at the end */
#define PATIENCE_S	30
#define LAST_S		5

/* Then it is asked whether it is there: so many times, each so many seconds */
#define QUESTIONS	3
#define QUESTION_S	10

#define PROFILE_TYPE	"application/octet-stream"
#define METRICS_TYPE	"text/plain; version=0.0.4; charset=utf-8"
#define TEXT_TYPE	"text/plain; charset=utf-8"

/* What becomes of a request for a profile */
enum scrape_state {
	SCRAPE_FREE,
	SCRAPE_WANTED,
	SCRAPE_OPEN,
	SCRAPE_DONE,
};

/**
 * struct scrape - a request for a profile
 * @state: what has become of it
 * @connection: suspended until it is done
 * @wanted_ns: when it came, on the monotonic clock
 * @seconds: how long it wants to wait
 * @window: its ticks
 * @fd: the profile, once it is done; -1 if that has failed
 */
struct scrape {
	enum scrape_state state;
	struct MHD_Connection *connection;
	uint64_t wanted_ns;
	uint64_t seconds;
	struct window window;
	int fd;
};

static struct scrape scrapes[MOST_SCRAPES];
static struct MHD_Daemon *server;

/* The table will not be read any more. */
static bool is_ending;

/* ---- answers */

static enum MHD_Result give(struct MHD_Connection *connection,
			    unsigned int status, struct MHD_Response *response,
			    const char *type)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					MHD_HTTP_METHOD_GET);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result give_text(struct MHD_Connection *connection,
				 unsigned int status, char *text)
{
	return give(connection, status,
		    MHD_create_response_from_buffer(strlen(text), text,
						    MHD_RESPMEM_PERSISTENT),
		    TEXT_TYPE);
}

static enum MHD_Result give_metrics(struct MHD_Connection *connection)
{
	size_t size;
	char *text = metrics_text(&size);

	if (!text)
		return MHD_NO;
	return give(connection, MHD_HTTP_OK,
		    MHD_create_response_from_buffer(size, text,
						    MHD_RESPMEM_MUST_FREE),
		    METRICS_TYPE);
}

/* The response closes the file. */
static enum MHD_Result give_profile(struct scrape *scrape)
{
	struct stat status;
	int fd = scrape->fd;

	scrape->fd = -1;
	if (fd < 0 || fstat(fd, &status))
		return give_text(scrape->connection,
				 MHD_HTTP_SERVICE_UNAVAILABLE,
				 "profil ends, or has no memory\n");
	return give(scrape->connection, MHD_HTTP_OK,
		    MHD_create_response_from_fd(status.st_size, fd),
		    PROFILE_TYPE);
}

/* ---- requests */

static struct scrape *free_scrape(void)
{
	size_t i;

	for (i = 0; i < MOST_SCRAPES; i++)
		if (scrapes[i].state == SCRAPE_FREE)
			return &scrapes[i];
	return NULL;
}

static enum MHD_Result begin_profile(struct MHD_Connection *connection,
				     void **context)
{
	const char *seconds = MHD_lookup_connection_value(connection,
					MHD_GET_ARGUMENT_KIND, "seconds");
	struct scrape *scrape = free_scrape();
	uint64_t wanted = DEFAULT_SECONDS;

	if (seconds && !parse_number(seconds, 1, MOST_SECONDS, &wanted))
		return give_text(connection, MHD_HTTP_BAD_REQUEST,
				 "seconds must be from 1 to 3600\n");
	if (!scrape || is_ending)
		return give_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				 is_ending ? "profil ends\n" :
					     "too many profiles at once\n");
	*scrape = (struct scrape){
		.state = SCRAPE_WANTED,
		.connection = connection,
		.wanted_ns = now_ns(),
		.seconds = wanted,
		.fd = -1,
	};
	*context = scrape;
	MHD_suspend_connection(connection);
	return MHD_YES;
}

/*
 * Called with the head of a request; again, when all of it is there; and again,
 * when a connection is resumed.
 */
static enum MHD_Result handle(void *unused, struct MHD_Connection *connection,
			      const char *path, const char *method,
			      const char *version, const char *data,
			      size_t *size, void **context)
{
	static char seen;

	if (!*context) {
		*context = &seen;
		return MHD_YES;
	}
	if (*context != &seen)
		return give_profile(*context);
	if (*size) {
		*size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET))
		return give_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "only GET\n");
	if (!strcmp(path, "/metrics"))
		return give_metrics(connection);
	if (!strcmp(path, "/debug/pprof/profile"))
		return begin_profile(connection, context);
	return give_text(connection, MHD_HTTP_NOT_FOUND,
			 "/debug/pprof/profile?seconds=N and /metrics\n");
}

static void end_scrape(void *unused, struct MHD_Connection *connection,
		       void **context, enum MHD_RequestTerminationCode code)
{
	size_t i;

	for (i = 0; i < MOST_SCRAPES; i++) {
		if (*context != &scrapes[i])
			continue;
		if (scrapes[i].fd >= 0)
			close(scrapes[i].fd);
		window_close(&scrapes[i].window);
		scrapes[i].state = SCRAPE_FREE;
	}
}

/* ---- windows */

static bool is_waiting(const struct scrape *scrape)
{
	return scrape->state == SCRAPE_WANTED || scrape->state == SCRAPE_OPEN;
}

static bool is_due(const struct scrape *scrape, uint64_t now_ns)
{
	return window_is_full(&scrape->window) ||
		window_is_due(scrape->window.start.ns, scrape->seconds, now_ns);
}

/** listen_wants() - is the table to be read, for a window to begin or to end? */
bool listen_wants(uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < MOST_SCRAPES; i++)
		if (scrapes[i].state == SCRAPE_WANTED ||
		    (scrapes[i].state == SCRAPE_OPEN &&
		     is_due(&scrapes[i], now_ns)))
			return true;
	return false;
}

/* Seconds until a scrape is to end */
static uint64_t patience(const struct scrape *scrape, uint64_t now_ns)
{
	uint64_t end_ns = scrape->seconds * SECOND_NS +
		(scrape->state == SCRAPE_OPEN ? scrape->window.start.ns : now_ns);

	if (end_ns < now_ns || window_is_full(&scrape->window))
		return 0;
	return (end_ns - now_ns) / SECOND_NS;
}

/**
 * listen_patience() - how soon is the first profile to end that somebody waits for?
 * @now_ns: the time
 *
 * Return: in seconds; LISTEN_NOBODY if nobody waits.
 */
uint64_t listen_patience(uint64_t now_ns)
{
	uint64_t least = LISTEN_NOBODY;
	size_t i;

	for (i = 0; i < MOST_SCRAPES; i++)
		if (is_waiting(&scrapes[i]))
			least = MIN(least, patience(&scrapes[i], now_ns));
	return least;
}

/** listen_add() - add ticks to all windows; returns 0, or -1 if out of memory */
int listen_add(struct segment *segment, const struct moment *now)
{
	size_t i;

	for (i = 0; i < MOST_SCRAPES; i++)
		if (scrapes[i].state == SCRAPE_OPEN &&
		    window_add(&scrapes[i].window, segment, now))
			return -1;
	return 0;
}

/* @fd: the profile, or -1 */
static void end(struct scrape *scrape, int fd)
{
	window_close(&scrape->window);
	scrape->fd = fd;
	scrape->state = SCRAPE_DONE;
	MHD_resume_connection(scrape->connection);
}

static void finish(struct scrape *scrape)
{
	const struct encode encode = {
		.window = &scrape->window,
		.key = ENCODE_ALL,
	};
	int fd = memfd_create("profile", MFD_CLOEXEC);
	uint64_t ticks;

	if (fd >= 0 && encode_window(&encode, fd, &ticks)) {
		close(fd);
		fd = -1;
	}
	end(scrape, fd);
}

static bool is_gone(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct pollfd fd = {
		.fd = info ? info->connect_fd : -1, .events = POLLRDHUP
	};

	return poll(&fd, 1, 0) > 0;
}

/* The server does not look at suspended connections: others need their place. */
static void end_abandoned(void)
{
	size_t i;

	for (i = 0; i < MOST_SCRAPES; i++)
		if (is_waiting(&scrapes[i]) && is_gone(scrapes[i].connection))
			end(&scrapes[i], -1);
}

/**
 * listen_refresh() - begin and end windows; the table has been read
 * @now: when
 * @is_last: end all of them
 */
void listen_refresh(const struct moment *now, bool is_last)
{
	size_t i;

	is_ending = is_last;
	for (i = 0; i < MOST_SCRAPES; i++) {
		struct scrape *scrape = &scrapes[i];

		if (scrape->state == SCRAPE_OPEN &&
		    (is_last || is_due(scrape, now->ns)))
			finish(scrape);
		/* It may have come after the table was read, while names were */
		if (scrape->state != SCRAPE_WANTED ||
		    (!is_last && scrape->wanted_ns > now->ns))
			continue;
		window_open(&scrape->window, now);
		scrape->state = SCRAPE_OPEN;
		if (is_last)
			finish(scrape);
	}
}

/* ---- the server */

/** listen_descriptor() - becomes readable when there is work; or -1 */
int listen_descriptor(void)
{
	const union MHD_DaemonInfo *info;

	if (!server)
		return -1;
	info = MHD_get_daemon_info(server, MHD_DAEMON_INFO_EPOLL_FD);
	return info ? info->listen_fd : -1;
}

/** listen_until() - milliseconds until there is work, at most @most_ms */
int listen_until(int most_ms)
{
	MHD_UNSIGNED_LONG_LONG timeout;

	if (server && MHD_get_timeout(server, &timeout) == MHD_YES &&
	    timeout < (unsigned int)most_ms)
		return timeout;
	return most_ms;
}

/** listen_work() - do what there is to do, without waiting */
void listen_work(void)
{
	if (!server)
		return;
	end_abandoned();
	MHD_run(server);
}

/*
 * Of a client that is cut off, nothing says that it is gone. Connections have these
 * options of the socket that they come to.
 */
static void keep_alive(void)
{
	static const struct {
		int level;
		int name;
		int value;
	} options[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, true },
		{ IPPROTO_TCP, TCP_KEEPIDLE, PATIENCE_S },
		{ IPPROTO_TCP, TCP_KEEPINTVL, QUESTION_S },
		{ IPPROTO_TCP, TCP_KEEPCNT, QUESTIONS },
	};
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server, MHD_DAEMON_INFO_LISTEN_FD);
	size_t i;

	for (i = 0; info && i < sizeof(options) / sizeof(*options); i++)
		setsockopt(info->listen_fd, options[i].level, options[i].name,
			   &options[i].value, sizeof(options[i].value));
}

/** listen_open() - begin to serve; returns 0, or -1 after reporting the error */
int listen_open(void)
{
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;

	if (!config.listens)
		return 0;
	if (config.address.ss_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	errno = 0;
	server = MHD_start_daemon(flags, 0, NULL, NULL, handle, NULL,
				  MHD_OPTION_SOCK_ADDR, &config.address,
				  MHD_OPTION_CONNECTION_LIMIT,
				  (unsigned int)MOST_CLIENTS,
				  MHD_OPTION_CONNECTION_TIMEOUT,
				  (unsigned int)PATIENCE_S,
				  MHD_OPTION_NOTIFY_COMPLETED, end_scrape, NULL,
				  MHD_OPTION_END);
	if (server) {
		keep_alive();
		return 0;
	}
	term_warn("cannot listen: %s", strerror(errno ?: EADDRINUSE));
	return -1;
}

static bool is_serving(void)
{
	size_t i;

	for (i = 0; i < MOST_SCRAPES; i++)
		if (scrapes[i].state != SCRAPE_FREE)
			return true;
	return false;
}

/** listen_close() - let clients have what was made for them, and end */
void listen_close(void)
{
	uint64_t end_ns = now_ns() + LAST_S * SECOND_NS;

	if (!server)
		return;
	while (is_serving() && now_ns() < end_ns) {
		struct pollfd fd = {
			.fd = listen_descriptor(), .events = POLLIN
		};

		poll(&fd, 1, listen_until(100));
		MHD_run(server);
	}
	MHD_stop_daemon(server);
	server = NULL;
}
