// SPDX-License-Identifier: GPL-2.0-only
/*
 * loader.c - know when the loader has mapped or unmapped libraries
 *
 * By what loaders have for debuggers: r_debug of <link.h>, whose address the
 * loader writes into the program's dynamic section, names a function that it
 * calls before and after each change. That is all a debugger has, too.
 *
 * Other threads run while one stops there, so the breakpoint stays. The function
 * does nothing: it goes on behind the mark for indirect calls, or returns by an
 * instruction elsewhere. No memory is touched, which a program may forbid once
 * it runs (PR_SET_DUMPABLE).
 */
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "loader.h"
#include "process.h"
#include "remote.h"

#define BREAKPOINT	0xcc
#define MOST_HEADERS	64
#define MOST_TAGS	4096
#define PAGE		4096

/* What such functions begin with, all of whom do nothing. */
#define RET		0xc3
#define PUSH_RBP	0x55
static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

static int set(struct breakpoint *breakpoint, pid_t tid, uint64_t address)
{
	const uint8_t instruction = BREAKPOINT;

	if (remote_read(tid, address, &breakpoint->byte, 1) ||
	    breakpoint->byte == BREAKPOINT ||
	    remote_write(tid, address, &instruction, 1))
		return -1;
	breakpoint->address = address;
	return 0;
}

/* Also while it runs. */
static void unset(const struct breakpoint *breakpoint, pid_t tid)
{
	uint8_t byte;

	if (breakpoint->address &&
	    !remote_read(tid, breakpoint->address, &byte, 1) &&
	    byte == BREAKPOINT)
		remote_write(tid, breakpoint->address, &breakpoint->byte, 1);
}

/**
 * loader_begin() - stop where it hands over to the program
 * @loader: nothing is known of it yet
 * @tid: a stopped thread
 * @entry: first instruction of the program
 */
void loader_begin(struct loader *loader, pid_t tid, uint64_t entry)
{
	set(&loader->entry, tid, entry);
}

/* Address of the dynamic section in memory, or 0. */
static uint64_t find_dynamic(pid_t tid, const struct start *start)
{
	Elf64_Phdr headers[MOST_HEADERS];
	uint64_t dynamic = 0, base = 0;
	size_t i;

	if (start->nr_headers > MOST_HEADERS ||
	    remote_read(tid, start->headers, headers,
			start->nr_headers * sizeof(headers[0])))
		return 0;
	for (i = 0; i < start->nr_headers; i++) {
		if (headers[i].p_type == PT_PHDR)
			base = start->headers - headers[i].p_vaddr;
		else if (headers[i].p_type == PT_DYNAMIC)
			dynamic = headers[i].p_vaddr;
	}
	return dynamic ? base + dynamic : 0;
}

/* What the loader has written there; 0 if it has not. */
static uint64_t find_r_debug(pid_t tid, uint64_t dynamic)
{
	Elf64_Dyn tag;
	size_t i;

	for (i = 0; dynamic && i < MOST_TAGS; i++) {
		if (remote_read(tid, dynamic + i * sizeof(tag), &tag,
				sizeof(tag)) || tag.d_tag == DT_NULL)
			return 0;
		if (tag.d_tag == DT_DEBUG)
			return tag.d_un.d_ptr;
	}
	return 0;
}

static bool can_do(const uint8_t *instruction)
{
	return instruction[0] == RET || instruction[0] == PUSH_RBP ||
		!memcmp(instruction, endbr64, sizeof(endbr64));
}

/* Near an address, in the same page: it is text. 0 if there is none. */
static uint64_t find_ret(pid_t tid, uint64_t address)
{
	uint64_t page = address & ~(uint64_t)(PAGE - 1);
	uint8_t text[PAGE];
	size_t i;

	if (remote_read(tid, page, text, PAGE))
		return 0;
	for (i = 0; i < PAGE; i++)
		if (text[i] == RET && page + i != address)
			return page + i;
	return 0;
}

/**
 * loader_follow() - stop at each change of libraries
 * @loader: the loader, which has handed over to the program
 * @tid: a stopped thread
 *
 * Return: NULL, or why that cannot be done.
 */
const char *loader_follow(struct loader *loader, pid_t tid)
{
	uint8_t instruction[sizeof(endbr64)];
	struct r_debug debug;
	struct start start;
	uint64_t address;

	process_start(tid, &start);
	address = find_r_debug(tid, find_dynamic(tid, &start));
	if (!address || remote_read(tid, address, &debug, sizeof(debug)) ||
	    !debug.r_brk)
		return "the loader has no interface for debuggers";
	if (remote_read(tid, debug.r_brk, instruction, sizeof(instruction)))
		return "the loader's interface for debuggers is not readable";
	loader->ret = find_ret(tid, debug.r_brk);
	if (!loader->ret || !can_do(instruction))
		return "the loader's interface for debuggers is of an unknown kind";
	if (set(&loader->change, tid, debug.r_brk))
		return "no breakpoint can be set";
	loader->state = address + offsetof(struct r_debug, r_state);
	return NULL;
}

/**
 * loader_stopped() - what a SIGTRAP means
 * @loader: the loader
 * @tid: the thread that got it
 *
 * Another thread may have removed the breakpoint meanwhile.
 */
enum loader_stop loader_stopped(const struct loader *loader, pid_t tid)
{
	struct user_regs_struct regs;
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) ||
	    info.si_code != SI_KERNEL ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return LOADER_NOT;
	if (loader->entry.address && regs.rip == loader->entry.address + 1)
		return LOADER_ENTRY;
	if (loader->change.address && regs.rip == loader->change.address + 1)
		return LOADER_CHANGE;
	return LOADER_NOT;
}

/* Have libraries been changed, and not only begun to be? */
bool loader_is_consistent(const struct loader *loader, pid_t tid)
{
	int state;

	return !remote_read(tid, loader->state, &state, sizeof(state)) &&
		state == RT_CONSISTENT;
}

/**
 * loader_go_on() - have a thread go on after a breakpoint
 * @loader: the loader
 * @tid: the thread
 * @stop: what loader_stopped() has said
 */
void loader_go_on(struct loader *loader, pid_t tid, enum loader_stop stop)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return;
	if (stop == LOADER_ENTRY) {
		/* Executed but once */
		unset(&loader->entry, tid);
		regs.rip = loader->entry.address;
		loader->entry.address = 0;
	} else if (loader->change.byte == endbr64[0]) {
		regs.rip = loader->change.address + sizeof(endbr64);
	} else {
		regs.rip = loader->ret;
	}
	regs.orig_rax = -1;
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}

/**
 * loader_leave() - no more breakpoints
 * @loader: the loader
 * @tid: a thread; it may be running, and others may have been stopped by one
 */
void loader_leave(const struct loader *loader, pid_t tid)
{
	unset(&loader->entry, tid);
	unset(&loader->change, tid);
}
