// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_model.c - a model of watches, made from <linux/profil.h>
 *
 * Predicts the error or success of a request, checks its results, and applies
 * its effect to the shadow of the memory. Accepts any value for numbers that
 * depend on ticks, and for the defaults of sizes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "watch.h"

#include "fuzz/model.h"
#include "fuzz/watch_model.h"

#define WATCH_SIZE	64
#define STATUS_SIZE	240
#define UNWIND_SIZE	24

/* Of the first version */
#define WATCH_FIRST	56
#define STATUS_FIRST	112

_Static_assert(sizeof(struct profil_watch) == WATCH_SIZE, "size");
_Static_assert(sizeof(struct profil_watch_status) == STATUS_SIZE, "size");
_Static_assert(sizeof(struct profil_watch_unwind) == UNWIND_SIZE, "size");

/* Results that contradict the header: no error number. */
#define WRONG		(-1000)

#define UNRESTRICTED_NS	10000000

static int check_period(const struct watch_model *model, uint64_t period_ns)
{
	if (!period_ns)
		return 0;
	if (period_ns < model->info.min_period_ns ||
	    period_ns > model->info.max_period_ns)
		return -EINVAL;
	return model->restricted && period_ns < UNRESTRICTED_NS ? -EACCES : 0;
}

static bool is_size(uint32_t size, uint32_t least, uint32_t most)
{
	return !size || (size >= least && size <= most);
}

static bool is_wall(const struct profil_watch *watch)
{
	return watch->flags & PROFIL_WATCH_WALL;
}

static int check_request(const struct watch_model *model,
			 const struct profil_watch *watch)
{
	uint32_t of_process = PROFIL_WATCH_CHILDREN | PROFIL_WATCH_AT_EXEC;

	if (watch->flags & PROFIL_WATCH_CHAINS & ~model->info.watch_flags)
		return -EOPNOTSUPP;
	if (watch->flags & ~model->info.watch_flags ||
	    watch->target > PROFIL_WATCH_MACHINE)
		return -EINVAL;
	if (watch->flags & of_process && watch->target != PROFIL_WATCH_PROCESS)
		return -EINVAL;
	if (watch->target == PROFIL_WATCH_MACHINE && watch->id)
		return -EINVAL;
	if (watch->flags & PROFIL_WATCH_CALL_SITES &&
	    !(watch->flags & PROFIL_WATCH_CHAINS))
		return -EINVAL;
	if (watch->target == PROFIL_WATCH_USER && watch->id == UINT32_MAX)
		return -EINVAL;
	if (watch->reserved ||
	    (is_wall(watch) ? watch->target == PROFIL_WATCH_MACHINE ||
			      !is_size(watch->threads, 1, 1048576) :
			      watch->threads))
		return -EINVAL;
	if (watch->bucket_shift > 12 ||
	    !is_size(watch->processes, 1, 1048576) ||
	    !is_size(watch->images, 2, 1048576) ||
	    !is_size(watch->objects, 8, 1048576) ||
	    !is_size(watch->buckets, 64, 16777216) ||
	    !is_size(watch->names, 4096, 67108864))
		return -EINVAL;
	return 0;
}

static int check_rights(const struct watch_model *model,
			const struct profil_watch *watch)
{
	if (watch->target == PROFIL_WATCH_CGROUP &&
	    watch->id != model->targets.cgroup)
		return -EBADF;
	if (model->perfmon)
		return 0;
	if (watch->flags & PROFIL_WATCH_KERNEL_TEXT ||
	    watch->target == PROFIL_WATCH_MACHINE)
		return -EPERM;
	return watch->target == PROFIL_WATCH_USER &&
	       watch->id != model->targets.user ? -EPERM : 0;
}

static uint64_t rounded_up(uint64_t number)
{
	uint64_t power = 1;

	while (power < number)
		power *= 2;
	return power;
}

static uint64_t bucket_size(const struct profil_watch *watch)
{
	return watch->flags & PROFIL_WATCH_CHAINS ?
	       sizeof(struct profil_watch_bucket) :
	       offsetof(struct profil_watch_bucket, caller);
}

/* The least size of a table. */
static uint64_t table_size(const struct profil_watch *watch)
{
	return sizeof(struct profil_watch_table) +
	       watch->images * (uint64_t)sizeof(struct profil_watch_image) +
	       watch->objects * (uint64_t)sizeof(struct profil_watch_object) +
	       rounded_up(watch->buckets) * bucket_size(watch) + watch->names;
}

/*
 * How much private memory a watch has is the device's business. So a user who
 * has more than an eighth of what is allowed may get no more, and one whose
 * tables alone are too large does not.
 */
static int check_quota(const struct watch_model *model,
		       const struct profil_watch *watch, int error)
{
	uint64_t most = model->info.max_watch_kb * 1024ULL;
	uint64_t sum = table_size(watch) +
		       (watch->processes + watch->threads) * 64ULL;

	if (model->perfmon)
		return 0;
	if (table_size(watch) > most)
		return -EAGAIN;
	for (int i = 0; i < MODEL_FILES; i++)
		if (model->files[i].had)
			sum += model->files[i].as.map_size +
			       (model->files[i].as.processes +
				model->files[i].as.threads) * 64ULL;
	return error == EAGAIN && sum > most / 8 ? -EAGAIN : 0;
}

/* As /proc shows it: whether @id is a process, and whose. */
static int find_process(const struct watch_model *model, uint32_t id)
{
	unsigned int tgid = 0, uid = 0;
	char path[40], line[100], state = 'Z';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", id);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "State: %c", &state) == 1 ||
		    sscanf(line, "Tgid: %u", &tgid) == 1 ||
		    sscanf(line, "Uid: %u", &uid) == 1)
			continue;
	if (file)
		fclose(file);
	if (tgid != id || !id || state == 'Z')
		return -ESRCH;
	return model->perfmon || uid == model->targets.user ? 0 : -EPERM;
}

static bool is_wide(const struct profil_watch *watch)
{
	return watch->target != PROFIL_WATCH_PROCESS;
}

static bool is_busy(const struct watch_model *model,
		    const struct profil_watch *watch)
{
	for (int i = 0; i < MODEL_FILES; i++) {
		const struct model_file *file = &model->files[i];

		if (file->state != PROFIL_STATE_ON ||
		    is_wide(&file->as) != is_wide(watch))
			continue;
		if (is_wide(watch) || file->as.id == watch->id)
			return true;
	}
	return false;
}

static bool is_stored(uint32_t stored, uint32_t asked, uint32_t least)
{
	return asked ? stored == asked : stored >= least;
}

/* A caller with a structure of the first version does not learn their number. */
static bool are_threads_told(const struct profil_watch *asked)
{
	return asked->size >= offsetof(struct profil_watch, reserved);
}

static bool are_threads_granted(const struct profil_watch *asked,
				const struct profil_watch *granted)
{
	if (!is_wall(asked))
		return !granted->threads;
	return !are_threads_told(asked) ||
	       is_stored(granted->threads, asked->threads, 1);
}

/* Are these the results of that request? */
static bool is_granted(const struct watch_model *model,
		       const struct profil_watch *asked,
		       const struct profil_watch *granted)
{
	uint64_t period_ns = asked->period_ns;

	if (!period_ns)
		period_ns = model->restricted ? model->info.default_period_ns :
						model->info.fast_period_ns;
	return granted->size == asked->size && granted->flags == asked->flags &&
	       granted->target == asked->target && granted->id == asked->id &&
	       granted->period_ns == period_ns &&
	       granted->bucket_shift == asked->bucket_shift &&
	       is_stored(granted->processes, asked->processes, 1) &&
	       is_stored(granted->images, asked->images, 2) &&
	       is_stored(granted->objects, asked->objects, 8) &&
	       is_stored(granted->buckets, asked->buckets ?
			 rounded_up(asked->buckets) : 0, 64) &&
	       granted->buckets == rounded_up(granted->buckets) &&
	       is_stored(granted->names, asked->names, 4096) &&
	       are_threads_granted(asked, granted) && !granted->reserved &&
	       granted->map_size % PAGE == 0 &&
	       granted->map_size >= table_size(granted);
}

/* Of the form that fuzz_watch_attempt() makes; none of another one comes up. */
static bool is_callers(const struct fuzz_callers *table)
{
	const struct profil_unwind_head *head = &table->head;

	return head->start % PROFIL_UNWIND_BLOCK == 0 && head->blocks == 1 &&
	       !head->functions && head->rows == 1 && head->rules == 1 &&
	       !table->index[0].row && !table->index[0].function &&
	       table->index[1].row == 1 && !table->index[1].function &&
	       table->rule.cfa < PROFIL_UNWIND_NR_CFA &&
	       table->rule.bx != PROFIL_UNWIND_CHAINED;
}

static int check_unwind(const struct watch_model *model,
			const struct model_file *file,
			const struct profil_watch_unwind *unwind, int error)
{
	struct fuzz_callers table;

	if (!file->had || file->state != PROFIL_STATE_ON ||
	    !(file->as.flags & PROFIL_WATCH_CHAINS) ||
	    unwind->fd == model->targets.cgroup)
		return -EINVAL;
	if (unwind->fd != -1 && unwind->fd != model->targets.file)
		return -EBADF;
	if (!unwind->bytes || unwind->bytes > PROFIL_UNWIND_MAX)
		return -EINVAL;
	/* How much memory the user's watches have is the device's business */
	if (error == EAGAIN && !model->perfmon)
		return -EAGAIN;
	if (!arena_readable(model->arena, unwind->table, unwind->bytes))
		return -EFAULT;
	if (unwind->bytes != sizeof(table))
		return -EINVAL;
	arena_get(model->arena, unwind->table, &table, sizeof(table));
	return is_callers(&table) ? 0 : -EINVAL;
}

/* Has the file a table already? */
static int check_object(struct model_file *file,
			const struct profil_watch_unwind *unwind, int error)
{
	bool *has_table = unwind->fd == -1 ? &file->has_vdso_table :
					     &file->has_file_table;

	if (*has_table)
		return -EEXIST;
	/* Files of the processes may be in the way */
	if (unwind->fd != -1 && error == ENOSPC)
		return -ENOSPC;
	*has_table = true;
	file->tables++;
	return 0;
}

static int request_unwind(struct watch_model *model, struct model_file *file,
			  uint64_t arg, int error)
{
	struct profil_watch_unwind unwind;
	int due;

	due = model_copy_in(model->arena, arg, &unwind, UNWIND_SIZE,
			    UNWIND_SIZE);
	if (!due)
		due = check_unwind(model, file, &unwind, error);
	return due ?: check_object(file, &unwind, error);
}

static int check_watch(struct watch_model *model, struct model_file *file,
		       const struct profil_watch *watch, uint64_t arg,
		       int error)
{
	int due = 0;

	if (file->write_only)
		return -EACCES;
	if (!arena_writable(model->arena, arg, watch->size))
		return -EFAULT;
	due = check_period(model, watch->period_ns);
	if (!due && file->had)
		due = -EBUSY;
	if (!due)
		due = check_request(model, watch);
	if (!due)
		due = check_rights(model, watch);
	if (!due)
		due = check_quota(model, watch, error);
	if (!due && watch->target == PROFIL_WATCH_PROCESS)
		due = find_process(model, watch->id);
	return due ?: is_busy(model, watch) ? -EBUSY : 0;
}

static int request_watch(struct watch_model *model, struct model_file *file,
			 uint64_t arg, int error)
{
	struct profil_watch watch, granted = { 0 };
	int due;

	due = model_copy_in(model->arena, arg, &watch, WATCH_FIRST, WATCH_SIZE);
	if (!due)
		due = check_watch(model, file, &watch, arg, error);
	if (due || error)
		return due;
	model_put_results(model->arena, arg, watch.size, WATCH_SIZE);
	arena_get(model->arena, arg, &granted, watch.size < WATCH_SIZE ?
		  watch.size : WATCH_SIZE);
	if (!is_granted(model, &watch, &granted))
		return WRONG;
	if (!are_threads_told(&watch))
		granted.threads = UINT32_MAX;
	file->had = true;
	file->state = PROFIL_STATE_ON;
	file->as = granted;
	memset(&file->last, 0, sizeof(file->last));
	return 0;
}

static bool is_status(const struct model_file *file,
		      const struct profil_watch_status *status)
{
	static const struct profil_watch_status none;

	if (!file->had)
		return !memcmp((const char *)status + sizeof(status->size),
			       (const char *)&none + sizeof(status->size),
			       sizeof(none) - sizeof(status->size));
	return status->state == file->state &&
	       status->period_ns == file->as.period_ns &&
	       watch_conserved(status) &&
	       status->processes <= (file->state == PROFIL_STATE_ON ?
				     file->as.processes : 0) &&
	       status->images >= 1 && status->images <= file->as.images &&
	       status->objects >= PROFIL_OBJECT_FILES &&
	       status->objects <= file->as.objects &&
	       status->buckets <= file->as.buckets &&
	       status->names <= file->as.names && status->tables == file->tables &&
	       status->idle <= status->blocked && !status->reserved &&
	       (is_wall(&file->as) ||
		!(status->blocked | status->runnable |
		  status->asleep_blocked | status->asleep_runnable |
		  status->threads | status->unfollowed_threads)) &&
	       status->threads <= file->as.threads &&
	       watch_goes_on(&file->last, status);
}

static int request_status(struct watch_model *model, struct model_file *file,
			  uint64_t arg, int error)
{
	struct profil_watch_status status;
	size_t size = sizeof(status);
	int due;

	due = model_copy_in(model->arena, arg, &status, STATUS_FIRST,
			    STATUS_SIZE);
	if (!due)
		due = model_put_results(model->arena, arg, status.size,
					STATUS_SIZE);
	if (due || error)
		return due;
	/* Of a number that is cut, a part is no number */
	if (status.size < sizeof(status))
		size = status.size & -sizeof(uint64_t);
	status = file->last;
	arena_get(model->arena, arg, &status, size);
	if (!is_status(file, &status))
		return WRONG;
	file->last = status;
	return 0;
}

/* What the device writes before a stop, and what is left after it. */
static int request_stop(struct watch_model *model, struct model_file *file,
			uint64_t arg, int error)
{
	uint32_t state = file->state;
	int due;

	if (file->had)
		file->state = PROFIL_STATE_OFF;
	due = arg ? request_status(model, file, arg, error) : 0;
	if (due || error)
		file->state = state;
	return due;
}

/**
 * watch_model_request() - predict and check the effect of a request
 * @model: the device; gets the expected new state
 * @file: the open file
 * @attempt: the request
 * @error: what came of it: 0, or an error number
 *
 * Call this after the request itself.
 *
 * Return: 0, or a negative error number; one that is none if the results are
 * wrong.
 */
int watch_model_request(struct watch_model *model, struct model_file *file,
			const struct attempt *attempt, int error)
{
	switch (attempt->request) {
	case PROFIL_IOC_WATCH:
		return request_watch(model, file, attempt->arg, error);
	case PROFIL_IOC_WATCH_UNWIND:
		return request_unwind(model, file, attempt->arg, error);
	case PROFIL_IOC_WATCH_STATUS:
		return request_status(model, file, attempt->arg, error);
	case PROFIL_IOC_WATCH_COLLECT:
		return attempt->arg ? request_status(model, file, attempt->arg,
						     error) : 0;
	case PROFIL_IOC_WATCH_STOP:
		return request_stop(model, file, attempt->arg, error);
	default:
		return -ENOTTY;
	}
}
