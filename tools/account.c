// SPDX-License-Identifier: GPL-2.0-only
/*
 * account.c - what the module says of profiles that have ended
 *
 * Each request is made by an open file of its own, of which we keep a
 * descriptor: what it began and what children inherited from that is entered
 * in its account when it ends, and then not changed any more.
 */
#include <linux/profil.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "account.h"

static void add(struct accounts *accounts, const struct profil_account *account)
{
	accounts->cpu_ns += account->cpu_time_ns;
	accounts->clipped += account->clipped;
	accounts->outside += account->outside;
	accounts->lost += account->lost;
	accounts->left_out += account->left_out;
	accounts->kernel += account->kernel;
	accounts->unfollowed += account->unfollowed;
}

static int read_one(int fd, struct profil_account *account)
{
	*account = (struct profil_account) { .size = sizeof(*account) };
	return ioctl(fd, PROFIL_IOC_ACCOUNT, account);
}

/**
 * accounts_read() - ask those that may have something new
 * @accounts: the accounts
 *
 * Files whose profiles have all ended are closed.
 *
 * Return: number of the others.
 */
size_t accounts_read(struct accounts *accounts)
{
	struct profil_account account;
	size_t i, nr = 0;

	for (i = 0; i < accounts->nr; i++) {
		int fd = accounts->fds[i];

		if (!read_one(fd, &account) && account.running) {
			accounts->fds[nr++] = fd;
			continue;
		}
		add(accounts, &account);
		close(fd);
	}
	accounts->nr = nr;
	return nr;
}

/**
 * accounts_add() - another request has been made
 * @accounts: the accounts
 * @fd: the open file; closed in any case
 *
 * Return: 0, or -1 if there is no memory.
 */
int accounts_add(struct accounts *accounts, int fd)
{
	int *fds;

	/* The last one has been replaced, and may have nothing more to say */
	accounts_read(accounts);
	fds = reallocarray(accounts->fds, accounts->nr + 1, sizeof(*fds));
	if (!fds) {
		close(fd);
		return -1;
	}
	accounts->fds = fds;
	fds[accounts->nr++] = fd;
	return 0;
}

/** accounts_close() - take what is known by now of the others, and end */
void accounts_close(struct accounts *accounts)
{
	struct profil_account account;
	size_t i;

	for (i = 0; i < accounts->nr; i++) {
		if (!read_one(accounts->fds[i], &account))
			add(accounts, &account);
		close(accounts->fds[i]);
	}
	free(accounts->fds);
	accounts->fds = NULL;
	accounts->nr = 0;
}
