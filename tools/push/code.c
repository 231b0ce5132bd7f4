// SPDX-License-Identifier: GPL-2.0-only
/*
 * code.c - functions of files, by path and build ID
 *
 * A child process reads the files, see keep.c, and only for places of which no
 * function is known.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "profil/keep.h"
#include "push/code.h"
#include "symbolize/symbols.h"
#include "util/array.h"

/* With more than this, code_trim() forgets all. */
#define MOST_BYTES	(4u << 20)

/* Time that all questions of one profile may take */
#define MOST_NS		60000000000ULL

/* A file that cannot be read is not asked more often. */
#define MOST_ASKED	3

static const struct keep_limits limits = {
	.seconds = 30,
	.bytes = 256ULL << 20,
	.functions_only = true,
	.background = true,
};

/**
 * struct code_place - a place of which no function is known
 * @offset: its offset in the file
 * @bytes: size of its bucket
 * @calls: a caller's: its last byte counts
 */
struct code_place {
	uint64_t offset;
	uint32_t bytes;
	bool calls;
};

/**
 * struct code - what is known
 * @files: tree of the files, for tsearch(3)
 * @nr: number of files
 * @list: the files
 * @bytes: memory that it takes, about
 * @failures: how often files could not be read in time
 */
static struct code {
	void *files;
	size_t nr;
	struct code_file **list;
	size_t bytes;
	unsigned long failures;
} code;

static int by_file(const void *a, const void *b)
{
	const struct code_file *f = a, *g = b;
	int order = strcmp(f->dso.path, g->dso.path);

	if (order || f->dso.build_id_len != g->dso.build_id_len)
		return order ?: f->dso.build_id_len < g->dso.build_id_len ?
			-1 : 1;
	return memcmp(f->dso.build_id, g->dso.build_id, f->dso.build_id_len);
}

static struct code_file *add_file(const struct prf_dso *dso)
{
	struct code_file *file = calloc(1, sizeof(*file)), **list;

	list = array_grow(code.list, code.nr, sizeof(*list));
	if (list)
		code.list = list;
	if (!file || !list) {
		free(file);
		return NULL;
	}
	file->dso.kind = dso->kind;
	file->dso.build_id_len = dso->build_id_len;
	memcpy(file->dso.build_id, dso->build_id, sizeof(dso->build_id));
	file->dso.path = strdup(dso->path);
	if (!file->dso.path || !tsearch(file, &code.files, by_file)) {
		free(file->dso.path);
		free(file);
		return NULL;
	}
	code.bytes += sizeof(*file) + strlen(dso->path);
	return code.list[code.nr++] = file;
}

/** code_file() - find the file of a DSO, or add it; NULL if out of memory */
struct code_file *code_file(const struct prf_dso *dso)
{
	const struct code_file key = { .dso = *dso };
	struct code_file **found = tfind(&key, &code.files, by_file);

	return found ? *found : add_file(dso);
}

/**
 * code_address() - convert an offset in a DSO to a link-time address
 * @file: its file
 * @dso: the DSO
 * @offset: offset from its start
 *
 * Return: the address, or the offset in the file if its segments are unknown.
 */
uint64_t code_address(const struct code_file *file,
		       const struct prf_dso *dso, uint64_t offset)
{
	return prf_link(file->segments, file->nr_segments,
			dso->pgoff + offset);
}

/* Number of functions that start at or before an address */
static size_t until(const struct code_file *file, uint64_t address)
{
	return array_until(file->functions, file->nr, sizeof(*file->functions),
			   address);
}

/**
 * code_function() - find the first function in a bucket
 * @file: its file
 * @address: its first address
 * @bytes: its size
 *
 * Return: the function, or NULL.
 */
struct code_function *code_function(struct code_file *file,
				      uint64_t address, uint64_t bytes)
{
	struct code_function *next = file->functions + until(file, address);

	if (next > file->functions && address < next[-1].end)
		return next - 1;
	return next < file->functions + file->nr &&
		next->start - address < bytes ? next : NULL;
}

/*
 * Add a function. Code that a process makes may be where other code was: it has
 * the later name.
 */
static int add_function(struct code_file *file, uint64_t start, uint64_t end,
			const char *name)
{
	size_t at = until(file, start);
	struct code_function *function;
	char *copy;

	if (at && file->functions[at - 1].start == start &&
	    file->functions[at - 1].end == end &&
	    !strcmp(file->functions[at - 1].name, name))
		return 0;
	copy = strdup(name);
	if (!copy)
		return -1;
	if (at && file->functions[at - 1].start == start) {
		function = &file->functions[at - 1];
		free(function->name);
	} else {
		function = array_grow(file->functions, file->nr,
				      sizeof(*function));
		if (!function) {
			free(copy);
			return -1;
		}
		file->functions = function;
		function += at;
		memmove(function + 1, function,
			(file->nr++ - at) * sizeof(*function));
		code.bytes += sizeof(*function) + strlen(name);
	}
	*function = (struct code_function){
		.start = start, .end = end, .name = copy
	};
	return 0;
}

/* Names that the profile itself has */
static int learn_symbols(struct code_file *file, const struct prf_dso *dso)
{
	size_t i;

	for (i = 0; i < dso->nr_symbols; i++) {
		const struct prf_symbol *symbol = &dso->symbols[i];

		if (add_function(file, dso->pgoff + symbol->start,
				 dso->pgoff + symbol->end, symbol->name))
			return -1;
	}
	return 0;
}

/* Names that the child has read */
static int learn_names(struct code_file *file, const struct prf_names *names)
{
	size_t i;

	if (!file->nr_segments && names->nr_segments) {
		file->segments = calloc(names->nr_segments,
					sizeof(*file->segments));
		if (!file->segments)
			return -1;
		memcpy(file->segments, names->segments,
		       names->nr_segments * sizeof(*file->segments));
		file->nr_segments = names->nr_segments;
	}
	for (i = 0; i < names->nr_functions; i++)
		if (add_function(file, names->functions[i].start,
				 names->functions[i].end,
				 names->functions[i].name))
			return -1;
	return 0;
}

/* Want the function of a place, if it is not known and can be. */
static int want(struct code_file *file, const struct prf_dso *dso,
		uint64_t offset, bool calls)
{
	uint64_t address = code_address(file, dso, offset + (calls ?
						dso->bucket_bytes - 1 : 0));
	struct code_place *wanted;

	if (file->asked >= MOST_ASKED ||
	    code_function(file, address, calls ? 1 : dso->bucket_bytes))
		return 0;
	wanted = array_grow(file->wanted, file->nr_wanted, sizeof(*wanted));
	if (!wanted)
		return -1;
	file->wanted = wanted;
	wanted[file->nr_wanted++] = (struct code_place){
		dso->pgoff + offset, dso->bucket_bytes, calls
	};
	return 0;
}

static int want_dso(const struct prf_dso *dso, const struct prf_site *callers,
		    size_t nr_callers, bool call_sites)
{
	struct code_file *file = code_file(dso);
	size_t i;

	if (!file)
		return -1;
	if (dso->kind > PRF_VDSO)
		return learn_symbols(file, dso);
	for (i = 0; i < dso->nr; i++)
		if (want(file, dso, dso->buckets[i].offset, false))
			return -1;
	for (i = 0; i < nr_callers; i++)
		if (want(file, dso, callers[i].offset, !call_sites))
			return -1;
	return 0;
}

static int want_exec(const struct prf_exec *exec, bool call_sites)
{
	size_t nr, first, end = 0, i;
	struct prf_site *callers = prf_callers(exec, &nr);
	int failed = callers ? 0 : -1;

	for (i = 0; i < exec->nr && !failed; i++) {
		for (first = end; end < nr && callers[end].dso == i; end++)
			;
		failed = want_dso(&exec->dsos[i], callers + first, end - first,
				  call_sites);
	}
	free(callers);
	return failed;
}

static int by_offset(const void *a, const void *b)
{
	const struct code_place *p = a, *q = b;

	if (p->offset != q->offset)
		return p->offset < q->offset ? -1 : 1;
	return p->calls - q->calls;
}

/* A caller is one that calls what runs: a frame in the kernel. */
static int ask_caller(struct prf_exec *exec, uint64_t offset)
{
	return prf_add_node(exec, 0, exec->nr - 1, offset, 0, 0) &&
		prf_add_node(exec, exec->nr_nodes, PRF_NODE_KERNEL, 0, 1, 0) ?
		0 : -1;
}

/* Add a DSO to the question, with the places in a file that are wanted. */
static int ask_file(struct prf_exec *exec, const struct code_file *file)
{
	const struct code_place *place = file->wanted, *last = NULL;
	struct prf_dso *dso = prf_add_dso(exec, file->dso.path);
	int failed = dso ? 0 : -1;

	if (failed)
		return failed;
	dso->kind = file->dso.kind;
	dso->build_id_len = file->dso.build_id_len;
	memcpy(dso->build_id, file->dso.build_id, sizeof(dso->build_id));
	dso->bucket_bytes = place->bytes;
	for (; place < file->wanted + file->nr_wanted && !failed; place++) {
		if (last && !by_offset(last, place))
			continue;
		last = place;
		failed = place->calls ? ask_caller(exec, place->offset) :
			prf_add_bucket(dso, place->offset, 1);
	}
	return failed;
}

/* The question: an exec with a DSO for each file of which places are wanted */
static int make_question(struct prf *question, const struct prf *prf,
			 struct code_file **files, size_t nr)
{
	struct prf_exec *exec;
	size_t i;

	if (prf_init(question, ""))
		return -1;
	question->start_unix_ns = prf->start_unix_ns;
	question->flags = prf->flags;
	exec = prf_add_exec(question, "", "");
	if (!exec)
		return -1;
	for (i = 0; i < nr; i++) {
		if (!files[i]->nr_wanted)
			continue;
		qsort(files[i]->wanted, files[i]->nr_wanted,
		      sizeof(*files[i]->wanted), by_offset);
		if (ask_file(exec, files[i]))
			return -1;
	}
	return 0;
}

/* What has no answer now may have one later, but not for ever. */
static int take_answers(const struct prf *answers)
{
	const struct prf_exec *exec = answers->execs;
	size_t i;

	for (i = 0; i < exec->nr; i++) {
		const struct prf_dso *dso = &exec->dsos[i];
		struct code_file *file = code_file(dso);

		if (!file)
			return -1;
		if (!dso->names)
			file->asked++;
		else if (learn_names(file, dso->names))
			return -1;
	}
	return 0;
}

/*
 * Ask for what is wanted of some files. If there is no answer, ask for each half
 * of them: one file must not take the names of all others with it.
 */
static int ask(const struct session *session, const struct prf *prf,
	       struct code_file **files, size_t nr, uint64_t end_ns)
{
	struct prf question = {};
	int failed = make_question(&question, prf, files, nr);
	bool has_failed = false;
	size_t asked = failed ? 0 : question.execs->nr;

	if (asked && now_ns() < end_ns) {
		has_failed = keep_within(session, &question, &limits);
		code.failures += has_failed;
		if (!has_failed || asked == 1)
			failed = take_answers(&question);
	}
	prf_free(&question);
	if (failed || !has_failed || asked == 1)
		return failed;
	return ask(session, prf, files, nr / 2, end_ns) ||
		ask(session, prf, files + nr / 2, nr - nr / 2, end_ns) ? -1 : 0;
}

static void free_wanted(void)
{
	size_t i;

	for (i = 0; i < code.nr; i++) {
		free(code.list[i]->wanted);
		code.list[i]->wanted = NULL;
		code.list[i]->nr_wanted = 0;
	}
}

/**
 * code_learn() - learn the functions of a profile
 * @session: what was profiled
 * @prf: the profile
 *
 * Return: 0, or -1 if out of memory.
 */
int code_learn(const struct session *session, const struct prf *prf)
{
	bool call_sites = prf->flags & PRF_FLAG_CALL_SITES;
	int failed = 0;
	size_t i;

	for (i = 0; i < prf->nr && !failed; i++)
		failed = want_exec(&prf->execs[i], call_sites);
	if (!failed && !session->no_names)
		failed = ask(session, prf, code.list, code.nr,
			     now_ns() + MOST_NS);
	free_wanted();
	return failed;
}

/** code_bytes() - memory that is used for names, about */
size_t code_bytes(void)
{
	return code.bytes;
}

/** code_failures() - how often files could not be read in time */
unsigned long code_failures(void)
{
	return code.failures;
}

/** code_trim() - forget all files if that is much, as no ticks in them wait */
void code_trim(void)
{
	if (code.bytes > MOST_BYTES)
		code_forget();
}

/** code_forget() - forget all files */
void code_forget(void)
{
	while (code.nr) {
		struct code_file *file = code.list[--code.nr];

		while (file->nr)
			free(file->functions[--file->nr].name);
		tdelete(file, &code.files, by_file);
		free(file->functions);
		free(file->segments);
		free(file->wanted);
		free(file->dso.path);
		free(file);
	}
	free(code.list);
	code.list = NULL;
	code.bytes = 0;
}
