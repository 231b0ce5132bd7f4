// SPDX-License-Identifier: GPL-2.0-only
/*
 * server.c - a threaded server under load, to attach to
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"
#include "load.h"
#include "server.h"

/* Answer requests until the socket is closed. */
static void *serve(void *argument)
{
	int socket = (intptr_t)argument;
	uint32_t number;

	while (recv(socket, &number, sizeof(number), MSG_WAITALL) ==
	       sizeof(number)) {
		/* Now and then so much that the mappings change */
		void *memory = malloc(number % 300000);

		number++;
		free(memory);
		if (send(socket, &number, sizeof(number), MSG_NOSIGNAL) < 0)
			break;
	}
	return NULL;
}

static int serve_in_threads(void *argument)
{
	struct server *server = argument;
	pthread_t threads[SERVER_THREADS];

	for (int i = 0; i < SERVER_THREADS; i++) {
		close(server->sockets[i][0]);
		if (pthread_create(&threads[i], NULL, serve,
				   (void *)(intptr_t)server->sockets[i][1]))
			return 1;
	}
	for (int i = 0; i < SERVER_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

struct client {
	struct server *server;
	int socket;
};

/* Ask until the test is over. Return: NULL, or anything if an answer is bad. */
static void *ask(void *argument)
{
	struct client client = *(struct client *)argument;
	uint32_t number;

	free(argument);
	for (uint32_t i = 0; !atomic_load(&client.server->is_over); i += 7919)
		if (send(client.socket, &i, sizeof(i), MSG_NOSIGNAL) < 0 ||
		    recv(client.socket, &number, sizeof(number), MSG_WAITALL) !=
		    sizeof(number) || number != i + 1)
			return client.server;
	return NULL;
}

/* Start the server and its clients. Return: 0, or -1 if it cannot. */
int server_begin(struct server *server)
{
	atomic_init(&server->is_over, false);
	server->attached = 0;
	server->ticks = 0;
	server->forbidden = 0;
	for (int i = 0; i < SERVER_THREADS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, server->sockets[i]))
			return -1;
	server->process = child_begin(serve_in_threads, server);
	if (server->process.pid < 0)
		return -1;
	for (int i = 0; i < SERVER_THREADS; i++) {
		struct client *client = malloc(sizeof(*client));

		*client = (struct client) { server, server->sockets[i][0] };
		close(server->sockets[i][1]);
		if (pthread_create(&server->clients[i], NULL, ask, client))
			return -1;
	}
	child_go(&server->process);
	return 0;
}

/*
 * Watch the server for a moment. Some of the rounds end by a stop, and some by
 * the close. Return: 0, also if it is forbidden; or -1 if anything is wrong.
 */
static int attach(struct server *server, unsigned int round)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
		server->process.pid, round % 2 ? PROFIL_WATCH_CHILDREN : 0);
	struct profil_watch_status status;
	const char *fault = NULL;
	struct watch watch;

	request.period_ns = MS / 10;
	request.processes = 64;
	request.buckets = 256;
	request.objects = 64;
	request.images = 16;
	request.names = 4096;
	if (watch_begin(&watch, &request)) {
		server->forbidden++;
		if (is_forbidden(errno))
			return 0;
		perror("# watch of the server");
		return -1;
	}
	usleep(round % 3 * 500);
	status = watch_status(&watch);
	if (!watch_conserved(&status) || status.processes != 1)
		fault = "status";
	if (round % 4 == 0) {
		watch_stop(&watch);
		status = watch_settled(&watch, 0);
		fault = fault ?: watch_fault(&watch, &status);
	}
	watch_end(&watch);
	server->attached++;
	server->ticks += status.ticks;
	if (!fault)
		return 0;
	fprintf(stderr, "# watch of the server: %s\n", fault);
	return -1;
}

/**
 * server_attach() - watch the server for a moment, many times
 * @server: the server
 * @least: how often even if the time is over
 * @most: how often at most
 * @length_ns: the time
 *
 * Return: 0, or -1 if anything is wrong.
 */
int server_attach(struct server *server, unsigned int least, unsigned int most,
		  uint64_t length_ns)
{
	uint64_t end = monotonic_ns() + length_ns;

	for (unsigned int round = 0; round < most; round++) {
		if (round >= least && monotonic_ns() >= end)
			break;
		if (attach(server, round))
			return -1;
	}
	return 0;
}

/* Return: 0 if every answer was right and the server has ended well. */
int server_end(struct server *server)
{
	void *wrong;
	int bad = 0;

	atomic_store(&server->is_over, true);
	for (int i = 0; i < SERVER_THREADS; i++) {
		pthread_join(server->clients[i], &wrong);
		bad |= wrong != NULL;
		close(server->sockets[i][0]);
	}
	return bad | child_end(&server->process);
}
