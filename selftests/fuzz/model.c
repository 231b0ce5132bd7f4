// SPDX-License-Identifier: GPL-2.0-only
/*
 * model.c - a model of the device, made from <linux/profil.h> alone
 *
 * Predicts the error or success of a request, and applies its effect to the
 * shadow of the memory. Accepts any value for numbers that depend on ticks;
 * other tests check these.
 */
#include <errno.h>
#include <string.h>

#include "fuzz/model.h"

/* Sizes of each structure, and of its first version if that was smaller. */
#define SET_SIZE	48
#define STATUS_SIZE	120
#define INFO_SIZE	64
#define INFO_FIRST	56
#define ACCOUNT_SIZE	80

#define REGION_SIZE	32

_Static_assert(sizeof(struct profil_region) == REGION_SIZE, "size");

/* Bytes after the structure must be readable and zero; the first fault wins. */
static int check_excess(const struct arena *arena, uint64_t addr,
			uint32_t size)
{
	for (uint32_t i = 0; i < size; i++) {
		uint8_t byte;

		if (!arena_readable(arena, addr + i, 1))
			return -EFAULT;
		arena_get(arena, addr + i, &byte, 1);
		if (byte)
			return -E2BIG;
	}
	return 0;
}

/**
 * model_copy_in() - predict how the device reads an argument
 * @arena: the memory
 * @arg: address of the argument, which begins with its size
 * @to: gets @known bytes
 * @first: size of the first version of the structure
 * @known: size of the device's structure
 *
 * Return: 0, or a negative error number.
 */
int model_copy_in(const struct arena *arena, uint64_t arg, void *to,
		  uint32_t first, uint32_t known)
{
	uint32_t size;
	int error;

	if (!arena_readable(arena, arg, sizeof(size)))
		return -EFAULT;
	arena_get(arena, arg, &size, sizeof(size));
	if (size < first)
		return -EINVAL;
	if (size > PAGE)
		return -E2BIG;
	if (size < known) {
		memset((char *)to + size, 0, known - size);
		known = size;
	}
	error = check_excess(arena, arg + known, size - known);
	if (error)
		return error;
	if (!arena_readable(arena, arg, known))
		return -EFAULT;
	arena_get(arena, arg, to, known);
	return 0;
}

static int copy_in(const struct arena *arena, uint64_t arg, void *to,
		   uint32_t known)
{
	return model_copy_in(arena, arg, to, known, known);
}

static bool is_width(uint32_t width)
{
	return width == 2 || width == 4 || width == 8;
}

static bool is_timeval_size(const struct profil_set *set)
{
	if (!set->timeval)
		return !set->timeval_size;
	return set->timeval_size == 8 || set->timeval_size == 16;
}

static int check_period(const struct model *model, uint64_t period_ns)
{
	if (period_ns < model->info.min_period_ns ||
	    period_ns > model->info.max_period_ns)
		return -EINVAL;
	if (period_ns < model->info.default_period_ns && model->restricted)
		return -EACCES;
	return 0;
}

static int check_set(const struct model *model, struct profil_set *set)
{
	if (set->flags & ~model->info.set_flags || set->reserved)
		return -EINVAL;
	if (!is_width(set->width))
		return -EINVAL;
	if (set->flags & PROFIL_SET_SVR4_STOP && set->width != 2)
		return -EINVAL;
	if (!is_timeval_size(set))
		return -EINVAL;
	if (!set->nr_regions || set->nr_regions > model->info.max_regions)
		return -E2BIG;
	if (!set->period_ns)
		set->period_ns = model->info.default_period_ns;
	return check_period(model, set->period_ns);
}

static struct profil_region region_at(const struct model *model,
				      const struct profil_set *set, uint32_t i)
{
	struct profil_region region;

	arena_get(model->arena, set->regions + i * REGION_SIZE, &region,
		  sizeof(region));
	return region;
}

static bool is_region(const struct profil_set *set,
		      const struct profil_region *region, bool last)
{
	if (region->scale > 65536ULL * set->width)
		return false;
	if (region->base % set->width)
		return false;
	return last || region->offset || region->scale != 2 ||
	       set->flags & (PROFIL_SET_OVERFLOW_ANYWHERE |
			     PROFIL_SET_NO_OVERFLOW);
}

static bool has_counters(const struct model *model,
			 const struct profil_set *set,
			 const struct profil_region *region)
{
	uint64_t least = set->flags & PROFIL_SET_SCALE_ONE ? 1 : 2;
	uint64_t size = region->size - region->size % set->width;

	return region->scale < least ||
	       arena_writable(model->arena, region->base, size);
}

/* EFAULT for the counters ends a running session; for the array it does not. */
static int check_regions(struct model *model, const struct profil_set *set)
{
	uint32_t i;

	if (!arena_readable(model->arena, set->regions,
			    set->nr_regions * (uint64_t)REGION_SIZE))
		return -EFAULT;
	for (i = 0; i < set->nr_regions; i++) {
		struct profil_region region = region_at(model, set, i);

		if (!is_region(set, &region, i == set->nr_regions - 1))
			return -EINVAL;
	}
	if (!(set->flags & PROFIL_SET_CHECK))
		return 0;
	for (i = 0; i < set->nr_regions; i++) {
		struct profil_region region = region_at(model, set, i);

		if (has_counters(model, set, &region))
			continue;
		model->runs = false;
		return -EFAULT;
	}
	return 0;
}

static int check_new(const struct model *model)
{
	if (model->write_only)
		return -EACCES;
	if (model->runs)
		return 0;
	if (model->no_quota)
		return -EAGAIN;
	return model->no_room ? -ENOMEM : 0;
}

static void put_timeval(struct model *model, const struct profil_set *set)
{
	uint64_t seconds = set->period_ns / 1000000000;
	uint64_t micros = set->period_ns % 1000000000 / 1000;
	uint64_t wide[2] = { seconds, micros };
	uint32_t narrow[2] = { seconds, micros };

	if (set->timeval_size == sizeof(wide))
		arena_put(model->arena, set->timeval, wide, sizeof(wide));
	else if (set->timeval_size)
		arena_put(model->arena, set->timeval, narrow, sizeof(narrow));
}

static int request_set(struct model *model, uint64_t arg)
{
	uint64_t period = arg + offsetof(struct profil_set, period_ns);
	struct profil_set set;
	int error;

	error = copy_in(model->arena, arg, &set, SET_SIZE);
	if (!error)
		error = check_set(model, &set);
	if (!error)
		error = check_regions(model, &set);
	if (!error)
		error = check_new(model);
	if (error)
		return error;
	if (!arena_writable(model->arena, period, sizeof(set.period_ns)) ||
	    !arena_writable(model->arena, set.timeval, set.timeval_size))
		return -EFAULT;
	put_timeval(model, &set);
	arena_put(model->arena, period, &set.period_ns, sizeof(set.period_ns));
	model->runs = true;
	model->set = set;
	return 0;
}

/**
 * model_put_results() - accept any results, and zeros up to the caller's size
 * @arena: the memory
 * @arg: address of the caller's structure
 * @size: its size
 * @known: size of the device's structure
 *
 * Return: 0 or -EFAULT.
 */
int model_put_results(struct arena *arena, uint64_t arg, uint32_t size,
		      uint32_t known)
{
	static const uint8_t zeros[PAGE];
	bool ok = arena_writable(arena, arg, size);

	if (known > size)
		known = size;
	arena_accept(arena, arg, ok ? known : size);
	if (!ok)
		return -EFAULT;
	arena_put(arena, arg + known, zeros, size - known);
	return 0;
}

static int put_status(struct model *model, uint64_t arg)
{
	struct profil_status status;
	uint64_t size;
	int error;

	error = copy_in(model->arena, arg, &status, STATUS_SIZE);
	if (error)
		return error;
	size = model->runs && status.regions ? model->set.nr_regions : 0;
	if (size > status.max_regions)
		size = status.max_regions;
	size *= sizeof(struct profil_region_status);
	arena_accept(model->arena, status.regions, size);
	if (!arena_writable(model->arena, status.regions, size))
		return -EFAULT;
	return model_put_results(model->arena, arg, status.size, STATUS_SIZE);
}

static int request_stop(struct model *model, uint64_t arg)
{
	int error = arg ? put_status(model, arg) : 0;

	if (!error)
		model->runs = false;
	return error;
}

static int request_info(struct model *model, uint64_t arg)
{
	struct profil_info info;
	uint32_t size;
	int error;

	error = model_copy_in(model->arena, arg, &info, INFO_FIRST, INFO_SIZE);
	if (error)
		return error;
	size = info.size;
	info = model->info;
	info.size = size;
	info.fast = !model->restricted;
	info.max_profiles = model->no_quota ? 0 : model->info.max_profiles;
	error = model_put_results(model->arena, arg, size, INFO_SIZE);
	if (!error)
		arena_put(model->arena, arg, &info,
			  size < INFO_SIZE ? size : INFO_SIZE);
	return error;
}

static int request_account(struct model *model, uint64_t arg)
{
	struct profil_account account;
	int error = copy_in(model->arena, arg, &account, ACCOUNT_SIZE);

	return error ?: model_put_results(model->arena, arg, account.size,
					  ACCOUNT_SIZE);
}

/**
 * model_request() - predict the effect of a request
 * @model: the device; gets the expected new state
 * @request: any request number
 * @arg: any argument
 *
 * Call this after the request itself.
 *
 * Return: 0, or a negative error number.
 */
int model_request(struct model *model, unsigned int request, uint64_t arg)
{
	switch (request) {
	case PROFIL_IOC_SET:
		return request_set(model, arg);
	case PROFIL_IOC_STATUS:
		return put_status(model, arg);
	case PROFIL_IOC_STOP:
		return request_stop(model, arg);
	case PROFIL_IOC_INFO:
		return request_info(model, arg);
	case PROFIL_IOC_ACCOUNT:
		return request_account(model, arg);
	default:
		return -ENOTTY;
	}
}

bool model_conserved(const struct profil_status *status)
{
	return status->counts.ticks ==
	       status->counts.counted + status->counts.clipped +
		       status->counts.outside + status->counts.lost +
		       status->counts.left_out;
}

/* Return: whether a status describes the expected session. */
bool model_agrees(const struct model *model, const struct profil_status *status)
{
	static const struct profil_set none;
	const struct profil_set *set = model->runs ? &model->set : &none;
	bool may_be_full = set->flags & PROFIL_SET_SVR4_STOP;

	if (status->state != model->runs &&
	    !(may_be_full && status->state == PROFIL_STATE_FULL))
		return false;
	return status->flags == set->flags && status->width == set->width &&
	       status->period_ns == set->period_ns &&
	       status->nr_regions == set->nr_regions &&
	       model_conserved(status);
}
