/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * select.h - choose the ticks to report
 */
#ifndef SELECT_H
#define SELECT_H

#include "prohist/sum.h"

/**
 * struct names - arguments of an option that can be repeated
 * @nr: number of names
 * @list: the names, to be freed
 */
struct names {
	size_t nr;
	char **list;
};

/**
 * struct selection - what to report; an empty list selects all
 * @comms: names of programs, without directories
 * @pids: PIDs of processes
 * @cgroups: paths of cgroups
 * @dsos: DSOs: paths, or their ends after a slash
 * @symbols: functions: demangled names, with parameters or without
 * @states: bits of enum prf_state, or 0 for the default
 */
struct selection {
	struct names comms;
	struct names pids;
	struct names cgroups;
	struct names dsos;
	struct names symbols;
	unsigned int states;
};

void names_add(struct names *names, char *name);
void selection_free(struct selection *selection);
int select_execs(const struct selection *selection, struct prf *runs,
		 size_t nr);
size_t count_waiting(const struct prf *runs, size_t nr);
int select_states(unsigned int states, struct prf *runs, size_t nr);
int select_dsos(const struct selection *selection, struct prf *runs, size_t nr);
bool select_have_chains(const struct prf *runs, size_t nr);
int select_symbols(const struct selection *selection, struct prf *runs,
		   size_t nr, const struct sum *sum);

#endif /* SELECT_H */
