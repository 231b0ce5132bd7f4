/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * http.h - send the profiles of the spool
 */
#ifndef HTTP_H
#define HTTP_H

#include <poll.h>
#include <stdint.h>

/* What became of requests */
enum http_outcome {
	HTTP_ACCEPTED,
	HTTP_NO_ANSWER,
	HTTP_REJECTED,
	HTTP_UNAVAILABLE,
	HTTP_OUTCOMES,
};

/**
 * struct http_stats - requests since the beginning
 * @requests: by enum http_outcome
 * @ticks: ticks of the profiles that were accepted
 * @bytes: bytes of these
 */
struct http_stats {
	uint64_t requests[HTTP_OUTCOMES];
	uint64_t ticks;
	uint64_t bytes;
};

extern struct http_stats http_stats;
extern const char *const http_outcomes[HTTP_OUTCOMES];

int http_open(void);
int http_poll(struct pollfd *fds, nfds_t nr, int timeout_ms);
void http_finish(uint64_t end_ns);
void http_close(void);

#endif /* HTTP_H */
