// SPDX-License-Identifier: GPL-2.0-only
/*
 * shapes.c - text and shapes of the SVG picture
 *
 * Names may be any bytes: control characters, and what XML does not allow, become
 * U+FFFD.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "prohist/format/svg/svg.h"
#include "util/utf8.h"

/* Length of the first character, or 0 if XML or HTML does not allow it. */
static int allowed(const char *s)
{
	if (!utf8_text(s) || !strncmp(s, "\xef\xbf\xbe", 3) ||
	    !strncmp(s, "\xef\xbf\xbf", 3))
		return 0;
	return utf8_length(s);
}

static void put(FILE *out, const char *s, int length)
{
	switch (*s) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	default:
		fprintf(out, "%.*s", length, s);
	}
}

/** svg_characters() - number of characters of a string */
size_t svg_characters(const char *string)
{
	size_t nr = 0;

	for (; *string; nr++)
		string += utf8_length(string) ?: 1;
	return nr;
}

/**
 * svg_string() - write a string, escaped for XML and HTML
 * @svg: the picture
 * @string: any bytes
 * @most: maximum number of characters; 0 for all
 */
void svg_string(const struct svg *svg, const char *string, size_t most)
{
	bool whole = !most || svg_characters(string) <= most;
	size_t nr;

	for (nr = 0; *string && (whole || nr + 1 < most); nr++) {
		int length = allowed(string);

		if (length)
			put(svg->out, string, length);
		else
			fputs(UTF8_REPLACEMENT, svg->out);
		string += length ?: utf8_length(string) ?: 1;
	}
	if (!whole)
		fputs("\xe2\x80\xa6", svg->out);
}

/** svg_name() - draw a name; if it is cut, a tooltip has all of it */
void svg_name(const struct svg *svg, double x, double y, const char *class,
	      const char *name, size_t most)
{
	fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y,
		class);
	svg_string(svg, name, most);
	if (svg_characters(name) > most) {
		fputs("<title>", svg->out);
		svg_string(svg, name, 0);
		fputs("</title>", svg->out);
	}
	fputs("</text>\n", svg->out);
}

/** svg_text() - draw text that needs no escaping */
void svg_text(const struct svg *svg, double x, double y, const char *class,
	      const char *format, ...)
{
	va_list arguments;

	fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y,
		class);
	va_start(arguments, format);
	vfprintf(svg->out, format, arguments);
	va_end(arguments);
	fputs("</text>\n", svg->out);
}

/** svg_rect() - draw a rectangle */
void svg_rect(const struct svg *svg, double x, double y, double width,
	      double height, const char *class)
{
	fprintf(svg->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n",
		x, y, width, height, class);
}

/** svg_size() - format a number of bytes with a binary prefix */
void svg_size(char *text, size_t room, uint64_t bytes)
{
	static const char * const units[] = { "bytes", "KiB", "MiB", "GiB" };
	double number = bytes;
	size_t i = 0;

	for (; number >= 1024 && i < 3; i++)
		number /= 1024;
	snprintf(text, room, i && number < 100 ? "%.1f %s" : "%.0f %s", number,
		 i || bytes != 1 ? units[i] : "byte");
}
