// SPDX-License-Identifier: GPL-2.0-only
/*
 * code.c - functions of files, by path and build ID
 *
 * A child process reads the files, see keep.c, and only for places of which no
 * function is known.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "profil/code.h"
#include "profil/keep.h"
#include "symbolize/symbols.h"
#include "util/array.h"

/* With more than this, code_trim() forgets all. */
#define MOST_BYTES	(4u << 20)

/*
 * A file that cannot be read is asked at so many readings; and then seldom, in the end
 * at one of 2^6 readings.
 */
#define OFTEN_ASKED	3
#define SELDOM_ASKED	6

/* So many parts has a question that was not answered. */
#define PARTS		32

/* Memory that one question may take, beside that of profil */
#define QUESTION_BYTES	(256ULL << 20)

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
 * @readings: number of calls of code_learn()
 * @bytes: memory that it takes, about
 * @failures: how often files could not be read in time
 */
static struct code {
	void *files;
	size_t nr;
	struct code_file **list;
	uint64_t readings;
	size_t bytes;
	unsigned long failures;
} code;

static int by_file(const void *a, const void *b)
{
	const struct code_file *f = a, *g = b;

	return prf_compare_files(&f->dso, &g->dso);
}

static struct code_file *new_file(const struct prf_dso *dso, const char *path)
{
	struct code_file *file = calloc(1, sizeof(*file));
	char *copy = strdup(path);

	if (!file || !copy) {
		free(file);
		free(copy);
		return NULL;
	}
	file->users = 1;
	file->dso.path = copy;
	prf_copy_file(&file->dso, dso);
	return file;
}

/* Free the code of a file if nobody else uses it. */
static void put(struct code_file *file)
{
	if (--file->users)
		return;
	while (file->nr)
		free(file->functions[--file->nr].name);
	free(file->functions);
	free(file->segments);
	free(file->wanted);
	free(file->dso.path);
	free(file);
}

/** code_put() - free a list of code_learn(), and the code that nobody else uses */
void code_put(struct code_file **files)
{
	size_t i;

	for (i = 0; files && files[i]; i++)
		put(files[i]);
	free(files);
}

static struct code_file *add_file(const struct prf_dso *dso)
{
	struct code_file *file = new_file(dso, dso->path), **list;

	list = array_grow(code.list, code.nr, sizeof(*list));
	if (list)
		code.list = list;
	if (!file)
		return NULL;
	if (!list || !tsearch(file, &code.files, by_file)) {
		put(file);
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
 * Return: the function, the innermost if some are within others; or NULL.
 */
struct code_function *code_function(struct code_file *file,
				      uint64_t address, uint64_t bytes)
{
	size_t next = until(file, address), i;

	for (i = next; i && address < file->functions[i - 1].reach; i--)
		if (address < file->functions[i - 1].end)
			return &file->functions[i - 1];
	return next < file->nr &&
		file->functions[next].start - address < bytes ?
		&file->functions[next] : NULL;
}

/**
 * code_name() - name of the code at an address
 * @file: its file
 * @function: its function by code_function(), or NULL
 * @address: the address
 * @room: room for a name
 *
 * Return: the name of the function; that of the DSO if it is none of a file; or else
 * made of both, in @room.
 */
const char *code_name(const struct code_file *file,
		      const struct code_function *function, uint64_t address,
		      char room[CODE_NAME])
{
	const char *dso = base_name(file->dso.path);

	if (function && *function->name)
		return function->name;
	if (!function && file->dso.path[0] == '[')
		return file->dso.path;
	snprintf(room, CODE_NAME, "%.*s+0x%" PRIx64, (int)plain_length(dso),
		 dso, function ? function->start : address);
	return room;
}

/* Add a function, behind all others until arrange() is called; @name is copied. */
static int append(struct code_file *file, uint64_t start, uint64_t end,
		  const char *name)
{
	struct code_function *functions = array_grow(file->functions, file->nr,
						     sizeof(*functions));
	char *copy = strdup(name);

	if (functions)
		file->functions = functions;
	if (!functions || !copy) {
		free(copy);
		return -1;
	}
	functions[file->nr++] = (struct code_function){
		.start = start, .end = end, .name = copy
	};
	return 0;
}

static size_t bytes_of(const struct code_function *function)
{
	return sizeof(*function) + strlen(function->name);
}

/* In the order of their starts; those within others come after these */
static int in_order(const void *a, const void *b)
{
	const struct code_function *f = a, *g = b;

	if (f->start != g->start)
		return f->start < g->start ? -1 : 1;
	if (f->end != g->end)
		return f->end > g->end ? -1 : 1;
	return strcmp(f->name, g->name);
}

/* Sort the functions, each of them once. Return: memory of those that were twice. */
static size_t arrange(struct code_file *file)
{
	struct code_function *functions = file->functions, *last = NULL;
	size_t nr = 0, bytes = 0, i;

	if (file->nr)
		qsort(functions, file->nr, sizeof(*functions), in_order);
	for (i = 0; i < file->nr; i++) {
		if (last && !in_order(last, &functions[i])) {
			bytes += bytes_of(last);
			free(functions[i].name);
			continue;
		}
		functions[nr] = functions[i];
		functions[nr].reach = last && last->reach > functions[nr].end ?
			last->reach : functions[nr].end;
		last = &functions[nr++];
	}
	file->nr = nr;
	return bytes;
}

/*
 * Code that a process has made, or the kernel loaded, may be where other code was: the
 * names that a profile has for it are for its ticks alone.
 */
static struct code_file *made_code(const struct prf_dso *dso)
{
	/* The path of a process's list has its ID */
	struct code_file *file = new_file(dso, dso->kind == PRF_ANONYMOUS ?
					       "[anonymous]" : dso->path);
	size_t i;

	for (i = 0; file && i < dso->nr_symbols; i++) {
		const struct prf_symbol *symbol = &dso->symbols[i];

		if (!append(file, dso->pgoff + symbol->start,
			    dso->pgoff + symbol->end, symbol->name))
			continue;
		put(file);
		return NULL;
	}
	if (file)
		arrange(file);
	return file;
}

/* Names that the child has read */
static int learn_names(struct code_file *file, const struct prf_names *names)
{
	int failed = 0;
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
	for (i = 0; !failed && i < names->nr_functions; i++) {
		failed = append(file, names->functions[i].start,
				names->functions[i].end,
				names->functions[i].name);
		if (!failed)
			code.bytes += bytes_of(&file->functions[file->nr - 1]);
	}
	code.bytes -= arrange(file);
	return failed;
}

/* Want the function of a place, if it is not known and can be. */
static int want(struct code_file *file, const struct prf_dso *dso,
		uint64_t offset, bool calls)
{
	uint64_t address = code_address(file, dso, offset + (calls ?
						dso->bucket_bytes - 1 : 0));
	struct code_place *wanted;

	if (code.readings < file->ask_at ||
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

/* The code of a DSO, for a profile that has ticks in it; NULL if out of memory */
static struct code_file *hold(const struct prf_dso *dso)
{
	struct code_file *file;

	if (dso->nr_symbols)
		return made_code(dso);
	file = code_file(dso);
	if (!file)
		return NULL;
	/* The last one is there the longest, perhaps */
	file->dso.pid = dso->pid;
	file->users++;
	return file;
}

static int want_dso(struct code_file *file, const struct prf_dso *dso,
		    const struct prf_site *callers, size_t nr_callers,
		    bool call_sites)
{
	size_t i;

	if (dso->kind > PRF_VDSO)
		return 0;
	for (i = 0; i < dso->nr; i++)
		if (want(file, dso, dso->buckets[i].offset, false))
			return -1;
	for (i = 0; i < nr_callers; i++)
		if (want(file, dso, callers[i].offset, !call_sites))
			return -1;
	return 0;
}

/* @files: receives the code of the exec's DSOs */
static int want_exec(struct code_file **files, const struct prf_exec *exec,
		     bool call_sites)
{
	size_t nr, first, end = 0, i;
	struct prf_site *callers = prf_callers(exec, &nr);
	int failed = callers ? 0 : -1;

	for (i = 0; i < exec->nr && !failed; i++) {
		struct code_file *file = hold(&exec->dsos[i]);

		if (!file) {
			failed = -1;
			break;
		}
		files[i] = file;
		for (first = end; end < nr && callers[end].dso == i; end++)
			;
		failed = want_dso(file, &exec->dsos[i], callers + first,
				  end - first, call_sites);
	}
	free(callers);
	return failed;
}

/* Want the functions of a profile that are not known. */
static int want_all(struct code_file **files, const struct prf *prf)
{
	bool call_sites = prf->flags & PRF_FLAG_CALL_SITES;
	size_t i;

	for (i = 0; i < prf->nr; files += prf->execs[i++].nr)
		if (want_exec(files, &prf->execs[i], call_sites))
			return -1;
	return 0;
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
	prf_copy_file(dso, &file->dso);
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

static void free_wanted(struct code_file *file)
{
	free(file->wanted);
	file->wanted = NULL;
	file->nr_wanted = 0;
}

/* What cannot be read now may be readable later, but maybe never. */
static void put_off(struct code_file *file)
{
	file->asked++;
	file->ask_at = code.readings + (file->asked < OFTEN_ASKED ? 1 :
					1 << MIN(file->asked, SELDOM_ASKED));
}

/* Take the answers that there are. @all_read: not because of another file */
static int take_answers(const struct prf *answers, struct code_file **files,
			size_t nr, bool all_read)
{
	const struct prf_dso *dso = answers->execs->dsos;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!files[i]->nr_wanted)
			continue;
		if (dso->names) {
			if (learn_names(files[i], dso->names))
				return -1;
			free_wanted(files[i]);
			files[i]->asked = 0;
		} else if (all_read) {
			put_off(files[i]);
		}
		dso++;
	}
	return 0;
}

/**
 * struct asking - how to ask
 * @session: what was profiled
 * @prf: the profile that needs names
 * @limits: what that may take
 * @end_ns: until then, on the monotonic clock
 */
struct asking {
	const struct session *session;
	const struct prf *prf;
	const struct code_limits *limits;
	uint64_t end_ns;
};

/* What the next question may take; no time if there is to be none */
static struct keep_limits limits_of(const struct asking *asking)
{
	const struct code_limits *of_all = asking->limits;
	uint64_t now = now_ns();
	uint64_t left = now < asking->end_ns ? asking->end_ns - now : 0;
	struct keep_limits limits = {
		.seconds = MIN(of_all->question_seconds,
			       (left + SECOND_NS - 1) / SECOND_NS),
		.bytes = QUESTION_BYTES,
		.functions_only = true,
		.background = of_all->background,
		.until_signal = of_all->until_signal,
	};

	if (limits.until_signal && session_is_ending())
		limits.seconds = 0;
	return limits;
}

/*
 * Ask for what is wanted of some files. If not all are read, ask for each part of
 * them: one file must not take the names of all others with it. Many parts, as one that
 * takes long takes all the time of each question that it is in.
 */
static int ask(const struct asking *asking, struct code_file **files, size_t nr)
{
	struct prf question = {};
	int failed = make_question(&question, asking->prf, files, nr);
	size_t asked = failed ? 0 : question.execs->nr;
	const struct keep_limits limits = limits_of(asking);
	size_t part = (nr + PARTS - 1) / PARTS, i;
	bool has_failed = false;

	if (asked && limits.seconds) {
		has_failed = keep_within(asking->session, &question, &limits);
		code.failures += has_failed;
		failed = take_answers(&question, files, nr,
				      !has_failed || asked == 1);
	}
	prf_free(&question);
	if (!has_failed || asked == 1)
		return failed;
	for (i = 0; i < nr && !failed; i += part)
		failed = ask(asking, files + i, MIN(part, nr - i));
	return failed;
}

/* Ask for what is wanted of all files. */
static int ask_all(const struct asking *asking)
{
	struct code_file **files = calloc(code.nr + 1, sizeof(*files));
	int failed = files ? 0 : -1;
	size_t nr = 0, i;

	for (i = 0; files && i < code.nr; i++)
		if (code.list[i]->nr_wanted)
			files[nr++] = code.list[i];
	if (!failed)
		failed = ask(asking, files, nr);
	free(files);
	return failed;
}

/**
 * code_learn() - learn the functions of a profile
 * @session: what was profiled
 * @prf: the profile
 * @limits: what that may take
 *
 * Return: the code of each DSO of all execs, and NULL, for code_put(); or NULL if out
 * of memory.
 */
struct code_file **code_learn(const struct session *session,
			      const struct prf *prf,
			      const struct code_limits *limits)
{
	struct code_file **files = calloc(prf_count_dsos(prf) + 1,
					  sizeof(*files));
	const struct asking asking = {
		.session = session,
		.prf = prf,
		.limits = limits,
		.end_ns = now_ns() + limits->seconds * SECOND_NS,
	};
	int failed;
	size_t i;

	code.readings++;
	failed = files ? want_all(files, prf) : -1;
	if (!failed && !session->no_names)
		failed = ask_all(&asking);
	for (i = 0; i < code.nr; i++)
		free_wanted(code.list[i]);
	if (!failed)
		return files;
	code_put(files);
	return NULL;
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

/** code_trim() - forget all files if that is much, as they are read again */
void code_trim(void)
{
	if (code.bytes > MOST_BYTES)
		code_forget();
}

/** code_forget() - forget all files, but for lists of code_learn() */
void code_forget(void)
{
	while (code.nr) {
		struct code_file *file = code.list[--code.nr];

		tdelete(file, &code.files, by_file);
		put(file);
	}
	free(code.list);
	code.list = NULL;
	code.bytes = 0;
}
