// SPDX-License-Identifier: GPL-2.0-only
/*
 * svg.c - text and shapes of the picture
 *
 * Names may be anything: what XML does not allow becomes U+FFFD.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "svg.h"
#include "utf8.h"

/* Bytes of the character, or 0 if it may not be in XML. */
static int allowed(const char *s)
{
	if ((unsigned char)*s < ' ' || *s == 0x7f ||
	    !strncmp(s, "\xef\xbf\xbe", 3) || !strncmp(s, "\xef\xbf\xbf", 3))
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

/** svg_characters() - how long a string is to the eye */
size_t svg_characters(const char *string)
{
	size_t nr = 0;

	for (; *string; nr++)
		string += utf8_length(string) ?: 1;
	return nr;
}

/**
 * svg_string() - a string as XML
 * @svg: the picture
 * @string: any bytes
 * @most: characters that there is room for; 0 is for all
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

/** svg_name() - a name that may be too long: then it is whole as a tooltip */
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

/** svg_text() - text that needs no care */
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

/** svg_rect() - a rectangle */
void svg_rect(const struct svg *svg, double x, double y, double width,
	      double height, const char *class)
{
	fprintf(svg->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n",
		x, y, width, height, class);
}

/** svg_size() - bytes as people say them */
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
