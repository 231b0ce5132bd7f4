// SPDX-License-Identifier: GPL-2.0-only
/*
 * rtld.c - notice when rtld has mapped or unmapped libraries
 *
 * Uses the debugger interface of rtld: r_debug of <link.h>, whose address rtld
 * writes into the program's DT_DEBUG, names a function that rtld calls before
 * and after each change. Debuggers rely on the same.
 *
 * Other threads run while one is stopped there, so the breakpoint stays in
 * place. The function does nothing, so instead of stepping over the breakpoint,
 * the thread continues after the function's endbr64, or at a ret instruction
 * elsewhere. That writes no memory, to which a program can deny access once it
 * runs (PR_SET_DUMPABLE).
 */
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "profil/proc.h"
#include "profil/ptrace/inject.h"
#include "profil/ptrace/rtld.h"

#define BREAKPOINT	0xcc
#define MOST_HEADERS	64
#define MOST_TAGS	4096
#define PAGE		4096

/* First instructions of known r_brk functions. */
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

/* The program may be running. */
static void unset(const struct breakpoint *breakpoint, pid_t tid)
{
	uint8_t byte;

	if (breakpoint->address &&
	    !remote_read(tid, breakpoint->address, &byte, 1) &&
	    byte == BREAKPOINT)
		remote_write(tid, breakpoint->address, &breakpoint->byte, 1);
}

/**
 * loader_begin() - stop when rtld hands over to the program
 * @loader: all zero
 * @tid: a stopped thread of the process
 * @entry: entry point of the program
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

/* Address of r_debug, from DT_DEBUG; 0 if rtld has not written it. */
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

/* Find a ret in the same page as an address of text; 0 if there is none. */
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
 * loader_follow() - stop at each change of the list of libraries
 * @loader: the breakpoints; rtld has handed over to the program
 * @tid: a stopped thread of the process
 *
 * Return: NULL, or why libraries cannot be followed.
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
		return "the loader has no debugger interface";
	if (remote_read(tid, debug.r_brk, instruction, sizeof(instruction)))
		return "cannot read the loader's debugger interface";
	loader->ret = find_ret(tid, debug.r_brk);
	if (!loader->ret || !can_do(instruction))
		return "unknown debugger interface of the loader";
	if (set(&loader->change, tid, debug.r_brk))
		return "cannot set a breakpoint";
	loader->state = address + offsetof(struct r_debug, r_state);
	return NULL;
}

/**
 * loader_stopped() - find the breakpoint of a SIGTRAP
 * @loader: the breakpoints
 * @tid: the thread that got the SIGTRAP
 *
 * Does not read the text: another thread may have removed the breakpoint.
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

/* Is the change complete, so that the list of libraries is consistent? */
bool loader_is_consistent(const struct loader *loader, pid_t tid)
{
	int state;

	return !remote_read(tid, loader->state, &state, sizeof(state)) &&
		state == RT_CONSISTENT;
}

/**
 * loader_go_on() - set the registers to continue after a breakpoint
 * @loader: the breakpoints
 * @tid: the thread
 * @stop: result of loader_stopped()
 */
void loader_go_on(struct loader *loader, pid_t tid, enum loader_stop stop)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return;
	if (stop == LOADER_ENTRY) {
		/* Runs only once: restore the instruction and execute it */
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
 * loader_leave() - remove all breakpoints
 * @loader: the breakpoints
 * @tid: a thread of the process; it may be running, and other threads may
 *	already have hit a breakpoint
 */
void loader_leave(const struct loader *loader, pid_t tid)
{
	unset(&loader->entry, tid);
	unset(&loader->change, tid);
}
