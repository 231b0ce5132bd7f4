// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - the table of a watch: images, objects, buckets
 *
 * User space reads the table at any time. So an entry is complete before its
 * number, or its key, is published, and never changes after that, but for its
 * counts and its path.
 *
 * Finding an object or a bucket takes no lock; adding one does. All hash tables
 * probe linearly, and give up after PROFIL_TABLE_PROBES: a table that is full,
 * or that somebody fills with collisions, costs no more than that.
 *
 * Context: see each function. Lock: watcher->lock, a leaf.
 */
#include <linux/cgroup.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uidgid.h>

#include "profil_private.h"
#include "schedule.h"
#include "watch.h"

#define PROFIL_TABLE_PROBES	128

/* No such entry, and no room for one. */
#define PROFIL_FULL		0

/* --- objects */

static bool profil_is_file(const struct profil_file_key *key,
			   const struct inode *inode)
{
	return key->inode == inode && key->number == inode->i_ino &&
	       key->generation == inode->i_generation &&
	       key->device == inode->i_sb->s_dev;
}

/*
 * Find the object of a file; @object gets 0 if it has none. Another CPU may then
 * take the place for another file, unless watcher->lock is held.
 *
 * Return: its place in the index, or a free one; NULL if there is neither.
 */
static __always_inline u32 *
profil_file_place(struct profil_watcher *watcher, const struct inode *inode,
		  u32 *object)
{
	u32 at = reciprocal_scale(hash_ptr(inode, 32), watcher->file_mask);
	u32 i;

	for (i = 0; i < PROFIL_TABLE_PROBES; i++) {
		u32 *place = &watcher->file_index[at++ & watcher->file_mask];

		/* Pairs with the release in profil_file_claim(). */
		*object = smp_load_acquire(place);
		if (!*object || profil_is_file(&watcher->files[*object], inode))
			return place;
	}
	*object = 0;
	return NULL;
}

/* Context: watcher->lock held; the caller has a reference to @file. */
static u32 profil_file_claim(struct profil_watcher *watcher, struct file *file,
			     const struct inode *inode)
{
	struct profil_watch_table *table = watcher->table;
	struct profil_watch_object *entry;
	u32 object;
	u32 *place = profil_file_place(watcher, inode, &object);

	if (object)
		return object;
	object = table->nr_objects;
	if (!place || object == watcher->request.objects)
		return PROFIL_FULL;
	watcher->files[object] = (struct profil_file_key) {
		.inode = inode,
		.device = inode->i_sb->s_dev,
		.number = inode->i_ino,
		.generation = inode->i_generation,
		.file = get_file(file),
	};
	entry = &watcher->objects[object];
	entry->device = new_encode_dev(inode->i_sb->s_dev);
	entry->inode = inode->i_ino;
	entry->generation = inode->i_generation;
	entry->pid = task_tgid_nr_ns(current, watcher->pid_ns);
	/* Pairs with the acquire in profil_file_place(). */
	smp_store_release(place, object);
	/* Pairs with an acquire in user space, and in the worker. */
	smp_store_release(&table->nr_objects, object + 1);
	queue_work(profil_wq, &watcher->naming);
	return object;
}

static noinline u32 profil_file_add(struct profil_watcher *watcher,
				    struct file *file,
				    const struct inode *inode)
{
	unsigned long flags;
	u32 object;

	raw_spin_lock_irqsave(&watcher->lock, flags);
	object = profil_file_claim(watcher, file, inode);
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	return object;
}

static __always_inline u32 profil_file_object(struct profil_watcher *watcher,
					      struct file *file,
					      const struct inode *inode)
{
	u32 object;

	if (likely(profil_file_place(watcher, inode, &object) && object))
		return object;
	return profil_file_add(watcher, file, inode);
}

/**
 * profil_table_object() - the object of a file
 * @watcher: the watch
 * @file: the caller has a reference
 * @inode: of the file, as mappings of it have it
 *
 * Context: any but with the scheduler's locks held.
 * Return: index of the object, or 0 if there is no room.
 */
u32 profil_table_object(struct profil_watcher *watcher, struct file *file,
			const struct inode *inode)
{
	return profil_file_object(watcher, file, inode);
}

/* Return: offset in the paths, or 0 if there is no room. */
static u32 profil_add_name(struct profil_watcher *watcher, const char *name)
{
	u32 at = watcher->names_used;
	size_t size = strlen(name) + 1;

	if (size > watcher->request.names - at)
		return 0;
	memcpy(watcher->names + at, name, size);
	WRITE_ONCE(watcher->names_used, at + size);
	return at;
}

static void profil_name_object(struct profil_watcher *watcher, u32 object,
			       char *buffer)
{
	struct profil_file_key *key = &watcher->files[object];
	char *path = buffer ? d_path(file_user_path(key->file), buffer,
				     PATH_MAX) : NULL;

	if (!IS_ERR_OR_NULL(path))
		/* Pairs with an acquire in user space. */
		smp_store_release(&watcher->objects[object].path,
				  profil_add_name(watcher, path));
	fput(key->file);
	key->file = NULL;
}

/**
 * profil_table_name_objects() - find the paths of new objects
 * @work: &struct profil_watcher.naming
 *
 * Context: process, may sleep.
 */
void profil_table_name_objects(struct work_struct *work)
{
	struct profil_watcher *watcher =
		container_of(work, struct profil_watcher, naming);
	char *buffer = kmalloc(PATH_MAX, GFP_KERNEL);
	u32 object;

	for (object = PROFIL_OBJECT_FILES;
	     /* Pairs with the release in profil_file_claim(). */
	     object < smp_load_acquire(&watcher->table->nr_objects); object++) {
		if (watcher->files[object].file)
			profil_name_object(watcher, object, buffer);
		cond_resched();
	}
	kfree(buffer);
}

/* --- buckets */

static bool profil_is_bucket(const struct profil_watch_bucket *bucket,
			     u32 image, u32 object, u64 offset)
{
	return bucket->object == object && bucket->image == image &&
	       bucket->offset == offset;
}

/*
 * Find a bucket. Another CPU may take a free one for something else, unless
 * watcher->lock is held.
 *
 * Return: the bucket, or a free one, as @found says; NULL if there is neither.
 */
static __always_inline struct profil_watch_bucket *
profil_bucket_place(struct profil_watcher *watcher, u32 image, u32 object,
		    u64 offset, bool *found)
{
	u32 mask = watcher->request.buckets - 1;
	u32 at = reciprocal_scale(hash_64(offset ^ (u64)image << 48 ^
					  (u64)object << 32, 32), mask);
	u32 i;

	for (i = 0; i < PROFIL_TABLE_PROBES; i++) {
		struct profil_watch_bucket *bucket =
			&watcher->buckets[at++ & mask];

		/* Pairs with the release in profil_bucket_add(). */
		*found = smp_load_acquire(&bucket->object);
		if (!*found || profil_is_bucket(bucket, image, object, offset))
			return bucket;
	}
	*found = false;
	return NULL;
}

static noinline struct profil_watch_bucket *
profil_bucket_add(struct profil_watcher *watcher, u32 image, u32 object,
		  u64 offset)
{
	struct profil_watch_bucket *bucket;
	unsigned long flags;
	bool found;

	raw_spin_lock_irqsave(&watcher->lock, flags);
	bucket = profil_bucket_place(watcher, image, object, offset, &found);
	if (bucket && !found) {
		bucket->image = image;
		bucket->offset = offset;
		watcher->nr_buckets++;
		/* Pairs with acquires above and in user space. */
		smp_store_release(&bucket->object, object);
	}
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	return bucket;
}

/* Return: whether there was room. */
static __always_inline bool
profil_bucket_count(struct profil_watcher *watcher, u32 image, u32 object,
		    u64 offset, u32 nr)
{
	struct profil_watch_bucket *bucket;
	bool found;

	offset >>= watcher->request.bucket_shift;
	bucket = profil_bucket_place(watcher, image, object, offset, &found);
	if (bucket && unlikely(!found))
		bucket = profil_bucket_add(watcher, image, object, offset);
	if (!bucket)
		return false;
	profil_table_add(&bucket->count, nr);
	return true;
}

/* --- ticks */

static __always_inline void
profil_count_object(struct profil_watcher *watcher, u32 image, u32 object,
		    u64 offset, u32 nr)
{
	if (likely(object != PROFIL_FULL &&
		   profil_bucket_count(watcher, image, object, offset, nr))) {
		profil_table_add(&watcher->images[image].counted, nr);
		return;
	}
	profil_table_add(&watcher->objects[object].coarse, nr);
	profil_table_add(&watcher->images[image].coarse, nr);
}

static void profil_count_unresolved(struct profil_watcher *watcher, u32 image,
				    u32 nr)
{
	profil_table_add(&watcher->images[image].unresolved, nr);
}

static bool profil_vma_is_vdso(struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	return name && !strcmp(name, "[vdso]");
}

/* A mapping without a file. Context: as profil_count_pc(). */
static noinline void profil_count_anonymous(struct profil_watcher *watcher,
					    u32 image,
					    struct vm_area_struct *vma,
					    unsigned long pc, u32 nr)
{
	if (profil_vma_is_vdso(vma))
		profil_count_object(watcher, image, PROFIL_OBJECT_VDSO,
				    pc - vma->vm_start, nr);
	else
		profil_count_object(watcher, image, PROFIL_OBJECT_ANONYMOUS,
				    pc, nr);
}

/* Context: mmap_lock of @mm held for reading. */
static __always_inline void
profil_count_pc(struct profil_watcher *watcher, u32 image,
		struct mm_struct *mm, unsigned long pc, u32 nr)
{
	struct vm_area_struct *vma = vma_lookup(mm, pc);

	if (unlikely(!vma))
		profil_count_unresolved(watcher, image, nr);
	else if (likely(vma->vm_file))
		profil_count_object(watcher, image,
				    profil_file_object(watcher, vma->vm_file,
						       file_inode(vma->vm_file)),
				    pc - vma->vm_start +
				    ((u64)vma->vm_pgoff << PAGE_SHIFT), nr);
	else
		profil_count_anonymous(watcher, image, vma, pc, nr);
}

static void profil_deferred_free(struct profil_deferred *deferred)
{
	struct profil_watcher *watcher = deferred->watcher;
	unsigned long flags;

	raw_spin_lock_irqsave(&watcher->lock, flags);
	deferred->next = watcher->free_deferred;
	watcher->free_deferred = deferred;
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	profil_watch_put(watcher);
}

/* Context: the thread on its way to user mode, or to its end. */
static void profil_count_deferred(struct callback_head *work)
{
	struct profil_deferred *deferred =
		container_of(work, struct profil_deferred, work);
	struct profil_watcher *watcher = deferred->watcher;
	struct mm_struct *mm = current->mm;

	if (mm && !mmap_read_lock_killable(mm)) {
		profil_count_pc(watcher, deferred->image, mm, deferred->pc,
				deferred->nr);
		mmap_read_unlock(mm);
	} else {
		profil_count_unresolved(watcher, deferred->image, deferred->nr);
	}
	atomic64_sub(deferred->nr, &watcher->pending);
	profil_deferred_free(deferred);
}

/*
 * Have the thread look up the mapping itself before it goes on.
 *
 * Return: whether it will.
 */
static noinline bool profil_defer(struct profil_watcher *watcher, u32 image,
				  unsigned long pc, u32 nr)
{
	struct profil_deferred *deferred;
	unsigned long flags;

	if (!profil_can_defer())
		return false;
	raw_spin_lock_irqsave(&watcher->lock, flags);
	deferred = watcher->free_deferred;
	if (deferred)
		watcher->free_deferred = deferred->next;
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	if (!deferred)
		return false;

	profil_watch_get(watcher);
	deferred->pc = pc;
	deferred->image = image;
	deferred->nr = nr;
	atomic64_add(nr, &watcher->pending);
	init_task_work(&deferred->work, profil_count_deferred);
	if (!task_work_add(current, &deferred->work, TWA_RESUME))
		return true;
	atomic64_sub(nr, &watcher->pending);
	profil_deferred_free(deferred);
	return false;
}

/*
 * In user mode the interrupt has interrupted no holder of a lock on this CPU,
 * so that mmap_lock may be tried here, and be dropped although that may wake
 * another task. On PREEMPT_RT it may not be taken in interrupts at all.
 */
static void profil_count_user(struct profil_watcher *watcher, u32 image,
			      unsigned long pc, u32 nr)
{
	struct mm_struct *mm = current->mm;

	if (!IS_ENABLED(CONFIG_PREEMPT_RT) && likely(mmap_read_trylock(mm))) {
		profil_count_pc(watcher, image, mm, pc, nr);
		mmap_read_unlock(mm);
	} else if (!profil_defer(watcher, image, pc, nr)) {
		profil_count_unresolved(watcher, image, nr);
	}
}

/**
 * profil_table_tick() - count ticks
 * @watcher: the watch
 * @image: of the process
 * @nr: number of ticks
 * @regs: what the tick interrupted; NULL if it fell in the kernel, and nobody
 *	knows where
 *
 * Context: hard interrupt, or the scheduler with its locks held if @regs is
 * NULL.
 */
void profil_table_tick(struct profil_watcher *watcher, u32 image, u32 nr,
		       struct pt_regs *regs)
{
	if (regs && user_mode(regs)) {
		profil_count_user(watcher, image, instruction_pointer(regs),
				  nr);
		return;
	}
	profil_table_add(&watcher->images[image].kernel, nr);
	if (regs && watcher->request.flags & PROFIL_WATCH_KERNEL_TEXT &&
	    !profil_bucket_count(watcher, image, PROFIL_OBJECT_KERNEL,
				 instruction_pointer(regs), nr))
		profil_table_add(&watcher->objects[PROFIL_OBJECT_KERNEL].coarse,
				 nr);
}

/* --- images */

static u64 profil_task_cgroup(struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	return cgroup_id(task_dfl_cgroup(task));
#else
	return 0;
#endif
}

static u64 profil_image_hash(const struct profil_watch_image *image)
{
	const u64 *comm = (const u64 *)image->comm;

	return profil_mix(profil_mix(profil_mix(comm[0] ^ image->cgroup) ^
				     comm[1]) ^
			  image->exe ^ (u64)image->flags << 32);
}

static bool profil_is_image(const struct profil_watch_image *a,
			    const struct profil_watch_image *b)
{
	return a->exe == b->exe && a->cgroup == b->cgroup &&
	       a->flags == b->flags &&
	       !memcmp(a->comm, b->comm, sizeof(a->comm));
}

/* Context: watcher->lock held. */
static u32 *profil_image_place(struct profil_watcher *watcher,
			       const struct profil_watch_image *wanted)
{
	u32 at = profil_image_hash(wanted);
	u32 i;

	for (i = 0; i < PROFIL_TABLE_PROBES; i++) {
		u32 *place = &watcher->image_index[at++ & watcher->image_mask];

		if (!*place ||
		    profil_is_image(&watcher->images[*place], wanted))
			return place;
	}
	return NULL;
}

/* Context: watcher->lock held. Return: the image, or 0 if there is no room. */
static u32 profil_image_add(struct profil_watcher *watcher,
			    const struct profil_watch_image *wanted)
{
	struct profil_watch_table *table = watcher->table;
	bool separate = watcher->request.flags & PROFIL_WATCH_SEPARATE;
	u32 *place = separate ? NULL : profil_image_place(watcher, wanted);
	u32 image = table->nr_images;

	if (place && *place)
		return *place;
	if ((!place && !separate) || image == watcher->request.images)
		return PROFIL_FULL;
	watcher->images[image] = *wanted;
	if (place)
		*place = image;
	/* Pairs with an acquire in user space. */
	smp_store_release(&table->nr_images, image + 1);
	return image;
}

/**
 * profil_table_image() - the image of a process that joins or executes
 * @watcher: the watch
 * @task: any of its threads
 * @exe: object of the file that it executed; 0 if that is not known
 * @parent: image of the process that forked it, or its own until now; or 0
 *
 * Context: any but with the scheduler's locks held; under rcu_read_lock().
 * Return: index of the image.
 */
u32 profil_table_image(struct profil_watcher *watcher, struct task_struct *task,
		       u32 exe, u32 parent)
{
	struct profil_watch_image image = {
		.parent = parent,
		.exe = exe,
		.pid = task_tgid_nr_ns(task, watcher->pid_ns),
		.start_ns = ktime_get_ns(),
		.uid = from_kuid_munged(watcher->cred->user_ns,
					__task_cred(task)->uid),
	};
	unsigned long flags;
	u32 index;

	if (task->flags & PF_KTHREAD) {
		image.flags = PROFIL_IMAGE_KTHREADS;
		strscpy(image.comm, "[kernel]", sizeof(image.comm));
	} else {
		image.cgroup = profil_task_cgroup(task);
		strscpy(image.comm, task->comm, sizeof(image.comm));
	}

	raw_spin_lock_irqsave(&watcher->lock, flags);
	index = profil_image_add(watcher, &image);
	watcher->images[index].processes++;
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	return index;
}

/**
 * profil_table_inherit() - the image of a process that has been forked
 * @watcher: the watch
 * @child: the process
 * @image: of its parent
 *
 * Context: as profil_table_image().
 * Return: index of the image.
 */
u32 profil_table_inherit(struct profil_watcher *watcher,
			 struct task_struct *child, u32 image)
{
	unsigned long flags;

	if (watcher->request.flags & PROFIL_WATCH_SEPARATE)
		return profil_table_image(watcher, child,
					  watcher->images[image].exe, image);
	raw_spin_lock_irqsave(&watcher->lock, flags);
	watcher->images[image].processes++;
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	return image;
}

/**
 * profil_table_init() - describe the table in itself
 * @watcher: with its request and its memory
 */
void profil_table_init(struct profil_watcher *watcher)
{
	struct profil_watch_table *table = watcher->table;
	const struct profil_watch *request = &watcher->request;

	table->version = PROFIL_WATCH_VERSION;
	table->bucket_shift = request->bucket_shift;
	table->nr_images = 1;
	table->nr_objects = PROFIL_OBJECT_FILES;
	table->max_buckets = request->buckets;
	table->image_size = sizeof(*watcher->images);
	table->object_size = sizeof(*watcher->objects);
	table->bucket_size = sizeof(*watcher->buckets);
	table->images = (void *)watcher->images - (void *)table;
	table->objects = (void *)watcher->objects - (void *)table;
	table->buckets = (void *)watcher->buckets - (void *)table;
	table->names = (void *)watcher->names - (void *)table;
	table->names_size = request->names;
}
