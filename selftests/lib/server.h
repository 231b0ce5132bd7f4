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
 */
struct server {
	struct child process;
	int sockets[SERVER_THREADS][2];
	pthread_t clients[SERVER_THREADS];
	atomic_bool is_over;
};

int server_begin(struct server *server);
int64_t server_attach(const struct server *server, unsigned int least,
		      unsigned int most, uint64_t length_ns);
int server_end(struct server *server);

#endif /* SELFTESTS_SERVER_H */
