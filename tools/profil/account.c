// SPDX-License-Identifier: GPL-2.0-only
/*
 * account.c - stats of ended profiles, read from the module
 *
 * The program makes each request through its own open file of the device, and
 * we keep a descriptor of that file. When the profile that the request started
 * ends, or one that a child inherited, the module adds its stats to the account
 * of the file; that part of the account never changes again.
 */
#include <linux/profil.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profil/account.h"
#include "util/array.h"

static void add(struct accounts *accounts, const struct profil_account *account)
{
	accounts->cpu_ns += account->cpu_time_ns;
	accounts->clipped += account->counts.clipped;
	accounts->outside += account->counts.outside;
	accounts->lost += account->counts.lost;
	accounts->left_out += account->counts.left_out;
	accounts->kernel += account->counts.kernel;
	accounts->unfollowed += account->unfollowed;
}

static int read_one(int fd, struct profil_account *account)
{
	*account = (struct profil_account) { .size = sizeof(*account) };
	return ioctl(fd, PROFIL_IOC_ACCOUNT, account);
}

/**
 * accounts_read() - add the stats of files whose profiles have all ended
 * @accounts: the accounts
 *
 * Closes these files.
 *
 * Return: number of files with profiles that still run.
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
 * accounts_add() - keep the open file of another request
 * @accounts: the accounts
 * @fd: the open file, which @accounts then owns; closed on failure
 *
 * Return: 0, or -1 if out of memory.
 */
int accounts_add(struct accounts *accounts, int fd)
{
	int *fds;

	/* The new request replaced the last one: that may have ended */
	accounts_read(accounts);
	fds = array_grow(accounts->fds, accounts->nr, sizeof(*fds));
	if (!fds) {
		close(fd);
		return -1;
	}
	accounts->fds = fds;
	fds[accounts->nr++] = fd;
	return 0;
}

/** accounts_close() - add the stats that files have so far, and close them */
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
