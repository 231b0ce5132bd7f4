// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk.c - the module's walk of a stack, in user space
 *
 * Compiles module/chain.c with a watch whose table is a list of nodes.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/mm.h>
#include <linux/profil.h>

#include "unwind.h"
#include "walk.h"

/* Instead of these headers of the module */
#define PROFIL_PRIVATE_H
#define PROFIL_THREAD_H
#define PROFIL_WATCHER_H
#define PROFIL_VM_DEVICE	(VM_IO | VM_PFNMAP)

#define MAX_OBJECTS	64
#define MAX_NODES	(1u << 20)

struct profil_callers {
	struct profil_unwind_table table;
};

struct profil_file_key {
	const struct inode *inode;
};

static bool profil_file_is_as_loaded(const struct profil_file_key *key,
				     const struct inode *inode)
{
	return key->inode == inode;
}

struct profil_watcher {
	u64 id;
	struct profil_watch request;
	struct profil_callers **callers;
	struct profil_file_key *files;
	atomic64_t chains[PROFIL_CHAIN_ENDS];
};

struct profil_deferred {
	int unused;
};

static bool profil_is_file(const struct profil_file_key *key,
			   const struct inode *inode)
{
	return key->inode == inode;
}

/* --- mappings; the inode of a file is its table */

static struct mm_struct memory;
static struct task_struct task = { .mm = &memory };
struct task_struct *current = &task;

static struct walk found;

bool user_access_begin(const void *from, size_t bytes)
{
	(void)from;
	found.sections++;
	return bytes;
}

struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long address)
{
	static struct vm_area_struct vma;
	static struct file file;
	struct walk_mapping mapping;

	(void)mm;
	if (!walk_find(address, &mapping))
		return NULL;
	file.inode = (struct inode *)mapping.table;
	vma = (struct vm_area_struct) {
		.vm_start = mapping.start,
		.vm_end = mapping.end,
		.vm_flags = (mapping.is_code ? VM_EXEC : 0) |
			    (mapping.is_data ? VM_WRITE : 0),
		.vm_pgoff = mapping.offset >> PAGE_SHIFT,
		.vm_file = mapping.table ? &file : NULL,
	};
	return &vma;
}

static struct profil_file_key files[MAX_OBJECTS];
static struct profil_callers *callers[MAX_OBJECTS];
static u32 nr_objects = PROFIL_OBJECT_FILES;

static u32 profil_table_map(struct profil_watcher *watcher,
			    struct vm_area_struct *vma,
			    const struct profil_deferred *late, u64 *delta)
{
	u32 object = PROFIL_OBJECT_FILES;

	(void)watcher;
	(void)late;
	*delta = 0;
	if (!vma->vm_file)
		return PROFIL_OBJECT_ANONYMOUS;
	*delta = ((u64)vma->vm_pgoff << PAGE_SHIFT) - vma->vm_start;
	while (object < nr_objects &&
	       files[object].inode != vma->vm_file->inode)
		object++;
	if (object == MAX_OBJECTS)
		return 0;
	if (object == nr_objects) {
		nr_objects++;
		files[object].inode = vma->vm_file->inode;
		callers[object] = malloc(sizeof(**callers));
		memcpy(&callers[object]->table, vma->vm_file->inode,
		       sizeof(callers[object]->table));
	}
	return object;
}

/* --- nodes */

struct node {
	u64 offset;
	u32 object;
	u32 caller;
};

static struct node nodes[MAX_NODES];

static u32 profil_table_node(struct profil_watcher *watcher, u32 image,
			     u32 object, u64 offset, u32 caller,
			     const struct profil_deferred *late)
{
	u64 hash = (offset * 31 + object) * 0x9e3779b97f4a7c15 + caller;
	u32 i = hash * 0x9e3779b97f4a7c15 >> 44;

	(void)watcher;
	(void)image;
	(void)late;
	while (nodes[i].object && (nodes[i].object != object ||
				   nodes[i].offset != offset ||
				   nodes[i].caller != caller))
		i = (i + 1) % MAX_NODES;
	nodes[i] = (struct node){ offset, object, caller };
	return i + 1;
}

static void profil_table_count(struct profil_watcher *watcher, u32 image,
			       u32 nr, u32 object, u32 node, u32 caller)
{
	(void)watcher;
	(void)image;
	(void)nr;
	(void)object;
	(void)caller;
	found.node = node;
}

static void profil_table_late(struct profil_watcher *watcher, u32 image,
			      unsigned long pc, u32 nr)
{
	(void)watcher;
	(void)image;
	(void)pc;
	(void)nr;
}

static void profil_table_unresolved(struct profil_watcher *watcher, u32 image,
				    u32 nr)
{
	(void)watcher;
	(void)image;
	(void)nr;
	found.end = PROFIL_CHAIN_ENDS;
}

/* --- waits: not walked here */

struct profil_due {
	u64 blocked;
	u64 runnable;
};

struct profil_member {
	struct profil_watcher *watcher;
};

struct profil_thread {
	struct profil_member *member;
};

struct profil_sleeper {
	struct profil_thread *thread;
	u32 image;
	struct pt_regs regs;
	struct profil_deferred who;
};

static bool profil_sleeper_claim(struct profil_sleeper *sleeper,
				 struct profil_due *due)
{
	(void)sleeper;
	(void)due;
	return false;
}

static void profil_table_wait(struct profil_watcher *watcher, u32 image,
			      const struct profil_due *due, u32 caller,
			      bool has_caller,
			      const struct profil_deferred *late)
{
	(void)watcher;
	(void)image;
	(void)due;
	(void)caller;
	(void)has_caller;
	(void)late;
}

void profil_chain_wait(struct profil_watcher *watcher, u32 image,
		       const struct profil_due *due);
void profil_chain_sleeper(struct profil_sleeper *sleeper);
int profil_chain_get(void);
void profil_chain_put(void);
void profil_chain_tick(struct profil_watcher *watcher, u32 image, u32 nr,
		       struct pt_regs *regs);

#include "../../../module/chain.c"

/* --- walks */

static struct profil_walks last[WALK_CPUS], none;

static struct walk walk(struct profil_walks *walks,
			const struct walk_registers *registers)
{
	struct profil_watcher watcher = {
		.id = 1,
		.request.flags = PROFIL_WATCH_CHAINS | PROFIL_WATCH_CALL_SITES,
		.callers = callers,
		.files = files,
	};
	struct pt_regs regs = {
		.ip = registers->pc, .sp = registers->sp, .bp = registers->bp,
		.bx = registers->bx, .di = registers->di,
	};
	u32 i;

	profil_walks = walks;
	found = (struct walk) { 0 };
	profil_chain_tick(&watcher, 0, 1, &regs);
	for (i = 0; i < PROFIL_CHAIN_ENDS; i++)
		if (watcher.chains[i].counter)
			found.end = i;
	return found;
}

struct walk walk_with_last(int cpu, const struct walk_registers *registers)
{
	return walk(&last[cpu], registers);
}

struct walk walk_afresh(const struct walk_registers *registers)
{
	memset(&none, 0, sizeof(none));
	return walk(&none, registers);
}

void walk_forget(void)
{
	memset(last, 0, sizeof(last));
}
