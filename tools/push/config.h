/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * config.h - options of "profil --push" and "profil --listen"
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum config_protocol - how profiles are sent
 * @CONFIG_PYROSCOPE: POST /ingest, with the labels in the URL
 * @CONFIG_PPROF: POST /v1/pprof, the profile alone, with the labels in it
 */
enum config_protocol {
	CONFIG_PYROSCOPE,
	CONFIG_PPROF,
};

/* What has a profile of its own */
enum config_split {
	CONFIG_WHOLE,
	CONFIG_BY_COMM,
	CONFIG_BY_CGROUP,
};

/**
 * struct config_label - a label of all profiles
 * @name: its name
 * @value: its value
 */
struct config_label {
	const char *name;
	const char *value;
};

/**
 * struct config - what to send, and where
 * @url: URL to which profiles are posted; NULL to send none
 * @protocol: how
 * @split: what has a profile of its own
 * @every_s: seconds from one profile to the next
 * @service: name of what is profiled, unless @split names it
 * @nr_labels: number of labels
 * @labels: the labels
 * @token: bearer token, or NULL
 * @password: USER:PASSWORD for basic authentication, or NULL
 * @spool: directory for profiles that have not been sent, or NULL for memory
 * @spool_bytes: bytes that these may have
 * @window_bytes: memory of ticks and names with which a window ends before its time
 * @listens: serve profiles and metrics
 * @address: at this address
 */
struct config {
	char *url;
	enum config_protocol protocol;
	enum config_split split;
	unsigned int every_s;
	const char *service;
	size_t nr_labels;
	struct config_label *labels;
	char *token;
	char *password;
	const char *spool;
	uint64_t spool_bytes;
	uint64_t window_bytes;
	bool listens;
	struct sockaddr_storage address;
};

extern struct config config;

bool config_option(int option, const char *argument);
void config_finish(void);

#endif /* CONFIG_H */
