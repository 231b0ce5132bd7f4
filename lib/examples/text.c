// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * text.c - all text of this process, with counters
 *
 * The dynamic linker lists the text: the program, the libraries, and the vDSO
 * of the kernel. Ticks in libraries loaded later count as elsewhere.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "text.h"

static const uint8_t *find_frames(const struct dl_phdr_info *info)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			return (const uint8_t *)info->dlpi_addr +
				info->dlpi_phdr[i].p_vaddr;
	return NULL;
}

static const char *object_name(const struct dl_phdr_info *info)
{
	if (info->dlpi_name[0])
		return info->dlpi_name;
	return program_invocation_name;
}

static bool is_text(const struct dl_phdr_info *info, int i)
{
	return info->dlpi_phdr[i].p_type == PT_LOAD &&
		info->dlpi_phdr[i].p_flags & PF_X;
}

/* Callback of dl_iterate_phdr(). */
static int add_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct text *text = argument;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		struct piece *piece = &text->pieces[text->nr];

		if (!is_text(info, i))
			continue;
		if (text->nr == TEXT_PIECES)
			return E2BIG;
		piece->object = object_name(info);
		piece->bias = info->dlpi_addr;
		piece->start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		piece->frames = find_frames(info);
		piece->nr = (info->dlpi_phdr[i].p_memsz + TEXT_GRAIN - 1) /
			TEXT_GRAIN;
		text->nr++;
	}
	return 0;
}

/* Map counters shared with children, so that the parent sees their ticks. */
static uint32_t *shared_counters(size_t nr)
{
	void *counters = mmap(NULL, nr * sizeof(uint32_t),
			      PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return counters == MAP_FAILED ? NULL : counters;
}

/**
 * text_find() - find all text, and create counters for it
 * @text: receives the text
 *
 * Return: 0, or -1 with errno.
 */
int text_find(struct text *text)
{
	unsigned int i;
	int error;

	memset(text, 0, sizeof(*text));
	error = dl_iterate_phdr(add_object, text);
	if (error) {
		errno = error;
		return -1;
	}
	for (i = 0; i < text->nr; i++) {
		struct piece *piece = &text->pieces[i];

		piece->counters = shared_counters(piece->nr);
		if (!piece->counters)
			return -1;
	}
	text->elsewhere = shared_counters(1);
	return text->elsewhere ? 0 : -1;
}

/**
 * text_profile() - profile all text, a tick every millisecond of CPU time
 * @text: result of text_find()
 * @tick: receives the actual mean time between ticks
 *
 * Return: 0, or -1 with errno of sprofil().
 */
int text_profile(struct text *text, struct timeval *tick)
{
	struct prof profs[TEXT_PIECES + 1];
	unsigned int i;

	for (i = 0; i < text->nr; i++) {
		struct piece *piece = &text->pieces[i];

		profs[i].pr_base = piece->counters;
		profs[i].pr_size = piece->nr * sizeof(*piece->counters);
		profs[i].pr_off = piece->start;
		profs[i].pr_scale = TEXT_SCALE;
	}
	/* The overflow bin counts everything else. */
	profs[i].pr_base = text->elsewhere;
	profs[i].pr_size = sizeof(*text->elsewhere);
	profs[i].pr_off = 0;
	profs[i].pr_scale = 2;
	return sprofil(profs, text->nr + 1, tick, PROF_UINT | PROF_FAST);
}

/** piece_ticks() - sum up the counters of a segment */
uint64_t piece_ticks(const struct piece *piece)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < piece->nr; i++)
		ticks += piece->counters[i];
	return ticks;
}

/** text_ticks() - sum up all counters */
uint64_t text_ticks(const struct text *text)
{
	uint64_t ticks = *text->elsewhere;
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		ticks += piece_ticks(&text->pieces[i]);
	return ticks;
}
