// SPDX-License-Identifier: GPL-2.0-only
/*
 * config.c - options of "profil --push" and "profil --listen"
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profil/options.h"
#include "push/config.h"
#include "push/spool.h"
#include "util/array.h"
#include "util/file.h"
#include "util/term.h"

#define MB		(1ULL << 20)

/* In a directory */
#define SPOOL_BYTES	(64 * MB)

#define MOST_SECONDS	3600
#define MOST_MB		(1 << 20)

/* The longest window has the segments of all others */
#define WINDOW_BYTES	(16 * MB)

struct config config = {
	.every_s = 60,
	.spool_bytes = SPOOL_MEMORY,
	.window_bytes = WINDOW_BYTES,
};

/* What the options were, until config_finish() knows all of them */
static struct {
	bool protocol;
	bool spool_bytes;
	const char *token;
	const char *password;
} given;

static void set_protocol(const char *name)
{
	given.protocol = true;
	if (!strcmp(name, "pyroscope"))
		config.protocol = CONFIG_PYROSCOPE;
	else if (!strcmp(name, "pprof"))
		config.protocol = CONFIG_PPROF;
	else
		misused("--push-as must be pyroscope or pprof");
}

static void set_split(const char *name)
{
	if (!strcmp(name, "comm"))
		config.split = CONFIG_BY_COMM;
	else if (!strcmp(name, "cgroup"))
		config.split = CONFIG_BY_CGROUP;
	else
		misused("--split must be comm or cgroup");
}

/* The rule of Prometheus, which the stores have taken over */
static bool is_label_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

/* Add a label, or change it. */
static void set_label(const char *name, const char *value)
{
	struct config_label *labels;
	size_t i;

	for (i = 0; i < config.nr_labels; i++) {
		if (strcmp(config.labels[i].name, name))
			continue;
		config.labels[i].value = value;
		return;
	}
	labels = array_grow(config.labels, config.nr_labels, sizeof(*labels));
	if (!labels)
		misused(strerror(ENOMEM));
	config.labels = labels;
	labels[config.nr_labels++] = (struct config_label){ name, value };
}

/* In a name of Pyroscope, some characters end a value. */
static void add_label(const char *text)
{
	char *name = strdup(text), *value = name ? strchr(name, '=') : NULL;

	if (!value)
		misused("--label must be NAME=VALUE");
	*value++ = '\0';
	if (!is_label_name(name))
		misused("--label: a name has letters, digits and '_', and begins with no digit");
	if (!*value || strpbrk(value, "{},\""))
		misused("--label: a value has none of { } , \", and is not empty");
	if (!strcmp(name, "service_name"))
		config.service = value;
	else
		set_label(name, value);
}

static bool parse_address(const char *text, uint16_t port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&config.address;
	struct sockaddr_in *in = (struct sockaddr_in *)&config.address;
	uint16_t number = htons(port);

	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = number;
		return true;
	}
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) != 1)
		return false;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = number;
	return true;
}

static void set_address(const char *argument)
{
	static const char error[] =
		"--listen must be PORT or ADDRESS:PORT, with an address of IPv4 or, in brackets, of IPv6";
	char *text = strdup(argument), *port = text ? strrchr(text, ':') : NULL;
	char *address = "127.0.0.1";
	size_t length;

	if (port) {
		*port++ = '\0';
		address = text;
		length = strlen(address);
		if (length > 1 && *address == '[' &&
		    address[length - 1] == ']') {
			address[length - 1] = '\0';
			address++;
		}
	}
	config.listens = true;
	if (!text || !parse_address(address, number(port ?: text, 1, 65535,
						    error)))
		misused(error);
	free(text);
}

/**
 * config_option() - heed an option of --push and --listen
 * @option: the option
 * @argument: its argument, which stays valid
 *
 * Return: whether it is one.
 */
bool config_option(int option, const char *argument)
{
	switch (option) {
	case OPTION_PUSH:
		config.url = strdup(argument);
		return true;
	case OPTION_PUSH_AS:
		set_protocol(argument);
		return true;
	case OPTION_EVERY:
		config.every_s = number(argument, 1, MOST_SECONDS,
					"--every must be from 1 to 3600 seconds");
		return true;
	case OPTION_LABEL:
		add_label(argument);
		return true;
	case OPTION_SPLIT:
		set_split(argument);
		return true;
	case OPTION_TOKEN_FILE:
		given.token = argument;
		return true;
	case OPTION_PASSWORD_FILE:
		given.password = argument;
		return true;
	case OPTION_SPOOL:
		config.spool = argument;
		return true;
	case OPTION_SPOOL_SIZE:
		given.spool_bytes = true;
		config.spool_bytes = MB * number(argument, 1, MOST_MB,
						 "--spool-size must be a number of megabytes");
		return true;
	case OPTION_LISTEN:
		set_address(argument);
		return true;
	default:
		return false;
	}
}

/* Read the only line of a file that no other user may read. */
static char *read_secret(const char *path)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (!file || fstat(fileno(file), &status)) {
		term_warn("%s: %s", path, strerror(errno));
		exit(EXIT_FAILED);
	}
	if (status.st_uid && status.st_uid != geteuid()) {
		term_warn("%s: it belongs to another user; run 'chown %u %s'",
			  path, geteuid(), path);
		exit(EXIT_FAILED);
	}
	if (status.st_mode & (S_IRWXG | S_IRWXO)) {
		term_warn("%s: other users may read or write it; run 'chmod 600 %s'",
			  path, path);
		exit(EXIT_FAILED);
	}
	length = getline(&line, &room, file);
	fclose(file);
	if (length > 0 && line[length - 1] == '\n')
		line[--length] = '\0';
	if (length > 0 && line[length - 1] == '\r')
		line[--length] = '\0';
	if (length <= 0 || strlen(line) != (size_t)length) {
		term_warn("%s: its first line is empty, or no text", path);
		exit(EXIT_FAILED);
	}
	return line;
}

static void read_secrets(void)
{
	if (given.token && given.password)
		misused("choose one of --token-file and --password-file");
	if (given.token)
		config.token = read_secret(given.token);
	if (!given.password)
		return;
	config.password = read_secret(given.password);
	if (!strchr(config.password, ':'))
		misused("--password-file: the line must be USER:PASSWORD");
}

/* Offset of the path in the URL, which may be at its end; 0 if it is none */
static size_t path_of(const char *url)
{
	const char *host = strstr(url, "://");

	if (!host || (strncmp(url, "http:", 5) && strncmp(url, "https:", 6)))
		return 0;
	host += strlen("://");
	return *host == '/' || !*host ? 0 : host + strcspn(host, "/") - url;
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) &&
		!strcmp(text + length - strlen(end), end);
}

/* The path says how to send, or how to send says the path. */
static void complete_url(void)
{
	static const char * const paths[] = {
		[CONFIG_PYROSCOPE] = "/ingest",
		[CONFIG_PPROF] = "/v1/pprof",
	};
	size_t at = path_of(config.url);
	char *path = config.url + at, *whole;

	if (!at)
		misused("--push needs a URL that begins with http:// or https://");
	if (strpbrk(config.url, "@?# "))
		misused("--push: the URL has no user, query or fragment; see --password-file");
	if (!given.protocol && ends_in(path, paths[CONFIG_PPROF]))
		config.protocol = CONFIG_PPROF;
	if (ends_in(path, paths[config.protocol]))
		return;
	if (ends_in(path, "/"))
		config.url[strlen(config.url) - 1] = '\0';
	if (asprintf(&whole, "%s%s", config.url, paths[config.protocol]) < 0)
		misused(strerror(ENOMEM));
	free(config.url);
	config.url = whole;
}

static void set_host(void)
{
	static char name[256];
	size_t i;

	for (i = 0; i < config.nr_labels; i++)
		if (!strcmp(config.labels[i].name, "host"))
			return;
	if (!gethostname(name, sizeof(name) - 1) && *name)
		set_label("host", name);
}

/** config_finish() - check the options, and read files that they name; or exit */
void config_finish(void)
{
	if (config.url)
		complete_url();
	else if (given.protocol || given.token || given.password ||
		 config.spool || given.spool_bytes || config.split)
		misused("--push-as, --split, --token-file, --password-file and --spool need --push");
	if (config.spool && !given.spool_bytes)
		config.spool_bytes = SPOOL_BYTES;
	read_secrets();
	set_host();
}
