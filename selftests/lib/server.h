/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * server.h - a threaded server under load, to attach to
 */
#ifndef SELFTESTS_SERVER_H
#define SELFTESTS_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "watch.h"

#define SERVER_THREADS	3

/**
 * struct server - a server and its clients
 * @process: the server; it has a thread for each client
 * @sockets: of the clients, and of the server
 * @clients: threads of the test that send requests
 * @is_over: the clients are to end
 * @attached: how often server_attach() has watched the server
 * @ticks: those that it has seen
 * @forbidden: how often the limits of the administrator forbade it
 */
struct server {
	struct child process;
	int sockets[SERVER_THREADS][2];
	pthread_t clients[SERVER_THREADS];
	atomic_bool is_over;
	uint64_t attached;
	uint64_t ticks;
	uint64_t forbidden;
};

int server_begin(struct server *server);
int server_attach(struct server *server, unsigned int least, unsigned int most,
		  uint64_t length_ns);
int server_end(struct server *server);

#endif /* SELFTESTS_SERVER_H */
