// SPDX-License-Identifier: GPL-2.0-only
/*
 * ctx.c - the profile of an address space: anchor, fork, replace, stop
 *
 * A context is held by its anchor, a mapping of one inaccessible page of the
 * device that PROFIL_IOC_SET makes in the caller's address space:
 *
 *   struct mm -- anchor (VMA) --> struct profil_ctx --> struct profil_session
 *                  |  pins the module    ^                    ^
 *                  v                     | by mm              | RCU
 *             struct file           profil_ctxs <------ tick, context switch
 *
 * Fork copies the anchor, which calls its ->open: that makes the child's
 * context. Exec, exit and munmap() remove it, which calls its ->close: the end.
 * Threads and vfork() share the address space, and the context with it.
 *
 * Context: process, may sleep. The functions of the anchor are called with
 * mmap_lock held for writing.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "profil_private.h"

static DEFINE_SPINLOCK(profil_ctx_lock);

DEFINE_READ_MOSTLY_HASHTABLE(profil_ctxs, PROFIL_CTX_BITS);

/* Return: whether it could be added; false if the address space has one. */
static bool profil_ctx_add(struct profil_ctx *ctx)
{
	bool added = false;

	spin_lock(&profil_ctx_lock);
	rcu_read_lock();
	if (!profil_ctx_find(ctx->mm)) {
		hlist_add_head_rcu(&ctx->node, profil_ctx_bucket(ctx->mm));
		added = true;
	}
	rcu_read_unlock();
	spin_unlock(&profil_ctx_lock);
	return added;
}

static void profil_ctx_remove(struct profil_ctx *ctx)
{
	spin_lock(&profil_ctx_lock);
	hlist_del_rcu(&ctx->node);
	spin_unlock(&profil_ctx_lock);
}

/* @user: with a reference and charged; both go to the context. */
static struct profil_ctx *profil_ctx_alloc(struct mm_struct *mm,
					   struct profil_user *user)
{
	struct profil_ctx *ctx = kzalloc_obj(*ctx, GFP_KERNEL_ACCOUNT);

	if (!ctx)
		return NULL;
	ctx->mm = mm;
	refcount_set(&ctx->refs, 1);
	mutex_init(&ctx->lock);
	spin_lock_init(&ctx->publish);
	ctx->user = user;
	return ctx;
}

static void profil_ctx_put(struct profil_ctx *ctx)
{
	if (!refcount_dec_and_test(&ctx->refs))
		return;
	profil_user_put(ctx->user);
	kfree_rcu(ctx, rcu);
}

static struct profil_ctx *profil_ctx_get(const struct mm_struct *mm)
{
	struct profil_ctx *ctx;

	rcu_read_lock();
	ctx = profil_ctx_find(mm);
	if (ctx && !refcount_inc_not_zero(&ctx->refs))
		ctx = NULL;
	rcu_read_unlock();
	return ctx;
}

/* Put a session in place of another, unless the context has ended. */
static bool profil_publish(struct profil_ctx *ctx,
			   struct profil_session *session,
			   struct profil_session **old)
{
	bool ok;

	spin_lock(&ctx->publish);
	ok = !ctx->is_dead;
	*old = rcu_replace_pointer(ctx->session, ok ? session : NULL,
				   lockdep_is_held(&ctx->publish));
	ctx->may_count |= ok && session;
	spin_unlock(&ctx->publish);
	return ok;
}

/* No session is published, and a refresh has followed. */
static void profil_set_quiet(struct profil_ctx *ctx)
{
	spin_lock(&ctx->publish);
	ctx->may_count = false;
	spin_unlock(&ctx->publish);
}

/* One more context of a user. */
static bool profil_charge(struct profil_user *user)
{
	return profil_user_charge(user, PROFIL_CHARGE_CTXS, 1,
				  READ_ONCE(profil_limits.max_profiles));
}

static void profil_uncharge(struct profil_user *user)
{
	profil_user_uncharge(user, PROFIL_CHARGE_CTXS, 1);
	profil_user_put(user);
}

/* The anchor has gone, or never came. */
static void profil_ctx_end(struct profil_ctx *ctx)
{
	struct profil_session *session;
	struct mm_struct *mm = ctx->mm;
	bool may_count;

	spin_lock(&ctx->publish);
	WRITE_ONCE(ctx->is_dead, true);
	session = rcu_replace_pointer(ctx->session, NULL,
				      lockdep_is_held(&ctx->publish));
	may_count = ctx->may_count;
	spin_unlock(&ctx->publish);

	if (may_count)
		profil_clock_refresh(mm);
	profil_ctx_remove(ctx);
	if (session) {
		/* By exec or exit, unlike munmap(): these ticks are the last */
		if (!atomic_read(&mm->mm_users)) {
			profil_flush_exit(session);
			profil_session_record(session);
		}
		profil_session_put(session);
	}
	profil_clock_put(false);
	profil_user_uncharge(ctx->user, PROFIL_CHARGE_CTXS, 1);
	profil_ctx_put(ctx);
}

/**
 * profil_ctx_session() - the session that counts now
 * @ctx: of the caller
 *
 * Return: the session, with a reference, or NULL.
 */
struct profil_session *profil_ctx_session(struct profil_ctx *ctx)
{
	struct profil_session *session;

	spin_lock(&ctx->publish);
	session = rcu_dereference_protected(ctx->session,
					    lockdep_is_held(&ctx->publish));
	if (session)
		refcount_inc(&session->refs);
	spin_unlock(&ctx->publish);
	return session;
}

/* A context that counts as @parent does, from zero, for a child. */
static struct profil_ctx *profil_inherit(const struct profil_session *parent,
					 struct vm_area_struct *vma)
{
	struct profil_user *user = parent->user;
	struct profil_session *session;
	struct profil_ctx *ctx;

	if (!profil_charge(user))
		return NULL;
	profil_user_hold(user);
	if (!profil_clock_get_running())
		goto uncharge;
	ctx = profil_ctx_alloc(vma->vm_mm, user);
	if (!ctx)
		goto put_clock;
	session = profil_session_create(parent->config, vma->vm_mm,
					parent->file, user);
	if (!session)
		goto free;

	RCU_INIT_POINTER(ctx->session, session);
	ctx->may_count = true;
	ctx->nr_anchors = 1;
	ctx->anchor = vma->vm_start;
	if (profil_ctx_add(ctx))
		return ctx;

	profil_session_put(session);
free:
	kfree(ctx);
put_clock:
	profil_clock_put(false);
uncharge:
	profil_uncharge(user);
	return NULL;
}

/* This cannot fail a fork: a child that cannot inherit has no profile. */
static void profil_fork(struct profil_ctx *parent, struct vm_area_struct *vma)
{
	struct profil_session *session = profil_ctx_session(parent);

	vma->vm_private_data = NULL;
	if (!session)
		return;
	if (profil_session_is_on(session)) {
		vma->vm_private_data = profil_inherit(session, vma);
		if (!vma->vm_private_data)
			atomic64_inc(&session->unfollowed);
	}
	profil_session_put(session);
}

/* Fork, or mremap() making the anchor's new place. */
static void profil_anchor_open(struct vm_area_struct *vma)
{
	struct profil_ctx *ctx = vma->vm_private_data;

	if (!ctx)
		return;
	if (vma->vm_mm != ctx->mm) {
		profil_fork(ctx, vma);
		return;
	}
	ctx->nr_anchors++;
	ctx->old_anchor = ctx->anchor;
	ctx->anchor = vma->vm_start;
}

/*
 * Exec, exit, munmap(), or mremap() leaving the anchor's old place, or the new
 * one if it failed.
 */
static void profil_anchor_close(struct vm_area_struct *vma)
{
	struct profil_ctx *ctx = vma->vm_private_data;

	if (!ctx)
		return;
	if (vma->vm_start == ctx->anchor)
		ctx->anchor = ctx->old_anchor;
	if (!--ctx->nr_anchors)
		profil_ctx_end(ctx);
}

static const struct vm_operations_struct profil_anchor_ops = {
	.open = profil_anchor_open,
	.close = profil_anchor_close,
};

/**
 * profil_ctx_mmap() - make the anchor
 * @file: the device
 * @vma: the mapping
 *
 * Context: mmap_lock held for writing.
 * Return: 0, or -EPERM for all callers but profil_ctx_create().
 */
int profil_ctx_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct profil_ctx *ctx = profil_ctx_get(vma->vm_mm);
	int err = -EPERM;

	if (!ctx)
		return err;
	if (ctx->maker == current) {
		ctx->maker = NULL;
		ctx->nr_anchors = 1;
		ctx->anchor = vma->vm_start;
		/* Never copied into a core, merged, or grown by mremap() */
		vm_flags_set(vma, VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
		vma->vm_ops = &profil_anchor_ops;
		vma->vm_private_data = ctx;
		err = 0;
	}
	profil_ctx_put(ctx);
	return err;
}

/* End a context of the caller by removing its anchor, if it is still there. */
static void profil_ctx_unmap(struct profil_ctx *ctx)
{
	struct mm_struct *mm = ctx->mm;
	struct vm_area_struct *vma;
	unsigned long addr;
	bool there;

	mmap_read_lock(mm);
	addr = ctx->anchor;
	vma = find_vma(mm, addr);
	there = vma && vma->vm_start == addr &&
		vma->vm_ops == &profil_anchor_ops &&
		vma->vm_private_data == ctx;
	mmap_read_unlock(mm);
	if (there)
		vm_munmap(addr, PAGE_SIZE);
}

/**
 * profil_ctx_unlock() - unlock a context
 * @ctx: locked, of the caller; it ends here if it has no session
 */
void profil_ctx_unlock(struct profil_ctx *ctx)
{
	lockdep_assert_held(&ctx->lock);
	if (!rcu_access_pointer(ctx->session))
		profil_ctx_unmap(ctx);
	mutex_unlock(&ctx->lock);
	profil_ctx_put(ctx);
}

/**
 * profil_ctx_lock_current() - the context of the caller's address space
 *
 * Return: the context, locked; NULL if there is none; or -EINTR.
 */
struct profil_ctx *profil_ctx_lock_current(void)
{
	struct profil_ctx *ctx = profil_ctx_get(current->mm);

	if (!ctx)
		return NULL;
	if (mutex_lock_killable(&ctx->lock)) {
		profil_ctx_put(ctx);
		return ERR_PTR(-EINTR);
	}
	if (!READ_ONCE(ctx->is_dead))
		return ctx;
	profil_ctx_unlock(ctx);
	return NULL;
}

/* Return: a new context of the caller, locked and without an anchor. */
static struct profil_ctx *profil_ctx_new(void)
{
	struct profil_user *user = profil_user_get();
	struct profil_ctx *ctx;
	int err;

	if (!user)
		return ERR_PTR(-ENOMEM);
	if (!profil_charge(user)) {
		profil_user_put(user);
		return ERR_PTR(-EAGAIN);
	}
	err = profil_clock_get(false);
	if (err)
		goto uncharge;
	err = -ENOMEM;
	ctx = profil_ctx_alloc(current->mm, user);
	if (!ctx)
		goto put_clock;

	ctx->maker = current;
	mutex_lock(&ctx->lock);
	if (profil_ctx_add(ctx))
		return ctx;

	err = -EEXIST;
	mutex_unlock(&ctx->lock);
	kfree(ctx);
put_clock:
	profil_clock_put(false);
uncharge:
	profil_uncharge(user);
	return ERR_PTR(err);
}

static struct profil_ctx *profil_ctx_create(struct file *file)
{
	struct profil_ctx *ctx = profil_ctx_new();
	unsigned long addr;

	if (IS_ERR(ctx))
		return ctx;
	refcount_inc(&ctx->refs);
	addr = vm_mmap(file, 0, PAGE_SIZE, PROT_NONE, MAP_PRIVATE, 0);
	if (!IS_ERR_VALUE(addr))
		return ctx;

	/* If mmap() failed late, it has closed the anchor: see is_dead */
	if (!READ_ONCE(ctx->is_dead))
		profil_ctx_end(ctx);
	profil_ctx_unlock(ctx);
	return ERR_PTR((long)addr);
}

/**
 * profil_ctx_lock_or_create() - the context of the caller's address space
 * @file: the device, open for reading
 *
 * Return: the context, locked, maybe without a session; or an error pointer:
 * -EAGAIN (the user has as many as allowed), -ENOMEM, -EINTR, or an error of
 * mmap().
 */
struct profil_ctx *profil_ctx_lock_or_create(struct file *file)
{
	struct profil_ctx *ctx;

	do {
		ctx = profil_ctx_lock_current();
		if (ctx)
			return ctx;
		ctx = profil_ctx_create(file);
		if (ctx != ERR_PTR(-EEXIST))
			return ctx;
		/* Another thread has added a context, or is ending its own */
		usleep_range(100, 1000);
	} while (!fatal_signal_pending(current));
	return ERR_PTR(-EINTR);
}

/**
 * profil_ctx_replace() - begin, replace or end a session
 * @ctx: locked, of the caller
 * @session: the session that counts from now on, with a reference that goes to
 *	the context, or NULL
 *
 * When this returns nothing writes the counters of the old session any more.
 * If the program unmaps the anchor at this moment @session ends at once.
 */
void profil_ctx_replace(struct profil_ctx *ctx, struct profil_session *session)
{
	struct profil_session *old;
	bool published;

	lockdep_assert_held(&ctx->lock);
	published = profil_publish(ctx, session, &old);
	profil_clock_refresh(ctx->mm);
	if (!session)
		profil_set_quiet(ctx);
	else if (!published)
		profil_session_put(session);
	if (!old)
		return;
	profil_session_stop(old);
	profil_session_put(old);
}
