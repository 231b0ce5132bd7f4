// SPDX-License-Identifier: GPL-2.0-only
/*
 * write.c - write text into the HTML page, and parts of it within a budget
 */
#include <err.h>
#include <stdlib.h>

#include "prohist/format/html/write.h"
#include "prohist/format/svg/svg.h"

/* Maximum numbers of characters of names, and of those outside of budgets. */
#define LONGEST_TEXT	400
#define LONGEST_PATH	150

/** html_text() - write a string of any bytes, escaped; a long one is cut */
void html_text(FILE *out, const char *string)
{
	const struct svg svg = { .out = out };

	svg_string(&svg, string, LONGEST_TEXT);
}

/** html_path() - like html_text(), for parts of the page without a budget */
void html_path(FILE *out, const char *string)
{
	const struct svg svg = { .out = out };

	svg_string(&svg, string, LONGEST_PATH);
}

/** html_code() - like html_text(), for @length bytes with tabs */
void html_code(FILE *out, const char *text, size_t length)
{
	struct html_part part;
	size_t i, column = 0;

	html_part_begin(&part);
	for (i = 0; i < length && text[i]; i++) {
		int spaces = text[i] == '\t' ? 8 - column % 8 : 0;

		if (spaces)
			fprintf(part.out, "%*s", spaces, "");
		else
			fputc(text[i], part.out);
		column += spaces ?: 1;
	}
	html_part_end(&part);
	html_text(out, part.text);
	free(part.text);
}

/** html_part_begin() - begin a part; to be ended and its text freed */
void html_part_begin(struct html_part *part)
{
	part->text = NULL;
	part->out = open_memstream(&part->text, &part->size);
	if (!part->out)
		err(2, NULL);
}

/** html_part_end() - end a part, whose text then is complete */
void html_part_end(struct html_part *part)
{
	if (fclose(part->out))
		err(2, NULL);
}

/**
 * html_part_fits() - end a part, write it if it fits the budget, and free it
 * @out: where to write it
 * @part: the part
 * @budget: bytes left; decremented by the size of the part
 */
bool html_part_fits(FILE *out, struct html_part *part, size_t *budget)
{
	bool fits;

	html_part_end(part);
	fits = part->size <= *budget;
	if (fits) {
		fwrite(part->text, part->size, 1, out);
		*budget -= part->size;
	}
	free(part->text);
	return fits;
}
