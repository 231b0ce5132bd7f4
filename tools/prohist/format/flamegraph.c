// SPDX-License-Identifier: GPL-2.0-only
/*
 * flamegraph.c - draw chains of calls as an SVG picture
 *
 * Each frame is a function, below that which called it, and as wide as its share
 * of the CPU time. The file needs no other file and no script: tooltips have the
 * full names and numbers.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/flame.h"
#include "prohist/format/flamegraph.h"
#include "prohist/format/svg/svg.h"
#include "prohist/report.h"

#define ROW		FLAMEGRAPH_ROW
/* Narrowest frame, and the least number of characters to write in one. */
#define NARROWEST	1.0
#define ENOUGH		3
#define MOST		20000

/* For shapes of a picture, and for elements of a page */
#define COLOUR(class, colour) \
	"." class "{fill:" colour ";background:" colour "}\n"

/* Colours of DSOs, of waits, of growth and of what has shrunk; text on them is readable. */
const char flamegraph_palette[] =
	COLOUR("f0", "#d9dee5")
	COLOUR("f1", "#f4bba4")
	COLOUR("f2", "#f3d68f")
	COLOUR("f3", "#acd9b9")
	COLOUR("f4", "#abcff1")
	COLOUR("f5", "#d2c0f1")
	COLOUR("f6", "#f3b8d4")
	COLOUR("f7", "#a9dcda")
	COLOUR("w1", "#ffdd57")
	COLOUR("w2", "#8fa8c9")
	COLOUR("w3", "#e6e9ee")
	COLOUR("fn", "#eceef1")
	COLOUR("fg1", "#f9d3c8")
	COLOUR("fg2", "#f2a48f")
	COLOUR("fg3", "#e8806a")
	COLOUR("fs1", "#cfe0f7")
	COLOUR("fs2", "#9cc2f0")
	COLOUR("fs3", "#74a8e6")
	"@media(prefers-color-scheme:dark){\n"
	COLOUR("f0", "#3b4450")
	COLOUR("f1", "#7a3c28")
	COLOUR("f2", "#665015")
	COLOUR("f3", "#235a3d")
	COLOUR("f4", "#24507f")
	COLOUR("f5", "#523b80")
	COLOUR("f6", "#7a3058")
	COLOUR("f7", "#1d5a5c")
	COLOUR("w1", "#8a6d00")
	COLOUR("w2", "#3f5878")
	COLOUR("w3", "#262d38")
	COLOUR("fn", "#2a313b")
	COLOUR("fg1", "#54302a")
	COLOUR("fg2", "#7b3426")
	COLOUR("fg3", "#9c3320")
	COLOUR("fs1", "#263a57")
	COLOUR("fs2", "#25508a")
	COLOUR("fs3", "#1f62b8")
	"}\n";

static const char style[] =
	"svg{background:#fff;color-scheme:light dark}\n"
	"text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1d2430}\n"
	".title{font:bold 18px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	".name{font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	".soft{fill:#5b6675}\n"
	".warning{fill:#a33b00}\n"
	".page{fill:#fff}\n"
	"g:hover rect{opacity:.7}\n"
	"@media(prefers-color-scheme:dark){\n"
	"svg{background:#12161d}\n"
	"text{fill:#e3e8ef}\n"
	".soft{fill:#95a0af}\n"
	".warning{fill:#ffb07a}\n"
	".page{fill:#12161d}\n"
	"}\n";

/** flamegraph_dso_class() - class that has the colour of a DSO, or of a state */
const char *flamegraph_dso_class(unsigned int colour)
{
	static const char * const classes[FLAME_COLOURS] = {
		"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7",
		"w1", "w2", "w3"
	};

	return classes[colour];
}

/** flamegraph_class() - class of a frame, which has its colour */
const char *flamegraph_class(const struct flame *flame,
			     const struct flame_frame *frame)
{
	static const char * const changes[] = {
		"fs3", "fs2", "fs1", "fn", "fg1", "fg2", "fg3"
	};

	return flame->diff ? changes[3 + flame_change(flame, frame)] :
			     flamegraph_dso_class(flame_colour(flame, frame));
}

static void write_label(const struct svg *svg, const struct flame_frame *frame)
{
	if (!frame->name) {
		fprintf(svg->out, "%" PRIu32 " too narrow", frame->merged);
		return;
	}
	svg_string(svg, frame->name, 0);
	if (!frame->dso || !strcmp(frame->dso, frame->name))
		return;
	fputs(frame->state ? " " : " (", svg->out);
	svg_string(svg, frame->dso, 0);
	if (!frame->state)
		fputc(')', svg->out);
}

static void write_title(const struct svg *svg, const struct flame *flame,
			const struct flame_frame *frame)
{
	int wide = flame->wide;
	double percent = flame_percent(flame, frame, wide);

	fputs("<title>", svg->out);
	write_label(svg, frame);
	fprintf(svg->out, "\n%.3f s, %.2f %%", frame->ns[wide] / 1e9, percent);
	if (flame->sum)
		fprintf(svg->out, " \xc2\xb1 %.2f",
			sum_error(flame->sum, frame->ns[wide]));
	if (flame->diff)
		fprintf(svg->out, ", before %.2f %%%s",
			flame_percent(flame, frame, 0),
			flame_change(flame, frame) ? "" :
			", which may be chance");
	if (frame->name)
		fprintf(svg->out, "\n%.3f s in itself",
			frame->self_ns[wide] / 1e9);
	fputs("</title>", svg->out);
}

static void draw_frame(const struct svg *svg, const struct flame *flame,
		       const struct flame_frame *frame, double y)
{
	double scale = SVG_WIDTH / flame->frames->ns[flame->wide];
	double x = SVG_LEFT + frame->left * scale;
	double width = frame->ns[flame->wide] * scale;
	double most = (width - 4) / SVG_CHARACTER;

	fprintf(svg->out, "<g>");
	write_title(svg, flame, frame);
	fprintf(svg->out, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" class=\"%s\"/>",
		x, y, width > 1.5 ? width - 0.5 : width, ROW - 1,
		flamegraph_class(flame, frame));
	if (most >= ENOUGH && frame->name) {
		fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"name\">",
			x + 3, y + 12.5);
		svg_string(svg, frame->name, most);
		fputs("</text>", svg->out);
	}
	fputs("</g>\n", svg->out);
}

/**
 * flamegraph_frames() - draw all frames, the outermost at the top
 * @svg: the picture
 * @flame: the frames
 * @narrowest: width that a frame must have, in units of the picture
 */
void flamegraph_frames(struct svg *svg, const struct flame *flame,
		       double narrowest)
{
	double least = flame->frames->ns[flame->wide] * narrowest / SVG_WIDTH;
	size_t i;

	for (i = 0; i < flame->nr; i++) {
		const struct flame_frame *frame = &flame->frames[i];

		if (frame->ns[flame->wide] > 0 &&
		    frame->ns[flame->wide] >= least)
			draw_frame(svg, flame, frame,
				   svg->y + ROW * frame->depth);
	}
	svg->y += ROW * (flame->deepest + 1);
}

static void draw_key(const struct svg *svg, double *x, const char *class,
		     const char *name, double percent)
{
	svg_rect(svg, *x, svg->y - 10, 12, 12, class);
	fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\">", *x + 18, svg->y);
	svg_string(svg, name, 28);
	if (percent >= 0)
		fprintf(svg->out, " <tspan class=\"soft\">%.1f %%</tspan>",
			percent);
	fputs("</text>\n", svg->out);
	*x += SVG_WIDTH / 4;
}

static void draw_dsos(struct svg *svg, const struct flame *flame)
{
	struct flame_key keys[FLAME_COLOURS];
	size_t nr = flame_legend(flame, keys), i;
	double x = SVG_LEFT;

	for (i = 0; i < nr; i++) {
		if (x > SVG_LEFT + SVG_WIDTH - 10) {
			x = SVG_LEFT;
			svg->y += ROW;
		}
		draw_key(svg, &x, flamegraph_dso_class(keys[i].colour),
			 keys[i].name, keys[i].percent);
	}
	svg->y += ROW;
}

static void draw_changes(struct svg *svg)
{
	double x = SVG_LEFT;

	draw_key(svg, &x, "fg3", "greater share after", -1);
	draw_key(svg, &x, "fs3", "smaller share after", -1);
	draw_key(svg, &x, "fn", "the change may be chance", -1);
	svg->y += ROW;
}

static void draw_remarks(struct svg *svg, const struct flame *flame)
{
	double all = flame->frames->ns[flame->wide];

	svg_text(svg, SVG_LEFT, svg->y, "soft",
		 "Each function is below its caller, and as wide as its share of the %s time%s.",
		 flame->wall ? "threads'" : "CPU", flame->diff ? " after" : "");
	svg->y += ROW;
	if (flame->merged) {
		svg_text(svg, SVG_LEFT, svg->y, "soft",
			 "%zu frames are too narrow to be drawn, and merged: they have %.1f %% of the time.",
			 flame->merged, 100 * flame->merged_ns / all);
		svg->y += ROW;
	}
	if (flame->gone_ns > 0) {
		svg_text(svg, SVG_LEFT, svg->y, "soft",
			 "Frames that had %.1f %% of the time before are not there after.",
			 100 * flame->gone_ns / flame->frames->ns[0]);
		svg->y += ROW;
	}
}

static void draw(struct svg *svg, const struct flame *flame,
		 const char *command)
{
	svg->y = 40;
	svg_name(svg, SVG_LEFT, svg->y, "title", command, 100);
	svg->y += 26;
	draw_remarks(svg, flame);
	svg->y += 6;
	if (flame->diff)
		draw_changes(svg);
	else
		draw_dsos(svg, flame);
	flamegraph_frames(svg, flame, 0);
}

static void write_picture(const struct flame *flame, const char *command)
{
	struct svg svg = {}, head = { .out = stdout };
	char *body = NULL;
	size_t size;

	svg.out = open_memstream(&body, &size);
	if (!svg.out)
		err(2, NULL);
	draw(&svg, flame, command);
	if (fclose(svg.out))
		err(2, NULL);
	printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n<title>",
	       2 * SVG_LEFT + SVG_WIDTH, svg.y + SVG_LEFT,
	       2 * SVG_LEFT + SVG_WIDTH, svg.y + SVG_LEFT);
	svg_string(&head, command, 0);
	printf("</title>\n<style>\n%s%s</style>\n"
	       "<rect width=\"100%%\" height=\"100%%\" class=\"page\"/>\n%s</svg>\n",
	       style, flamegraph_palette, body);
	free(body);
}

static int complain(void)
{
	warnx("no chains of calls in the profile: profil leaves them out with --flat");
	return -1;
}

/** print_flamegraph() - draw the chains of all runs */
int print_flamegraph(const struct report *report)
{
	struct flame flame = { .sum = report->sum, .wall = report->sum->wall };
	struct tree tree;

	if (!report->sum->chains || !report->sum->placed)
		return complain();
	tree_make(&tree, report->sum, report->runs, report->nr,
		  flame_has_programs(report->runs, report->nr));
	flame_add(&flame, &tree, 0);
	tree_free(&tree);
	flame_finish(&flame, NARROWEST / SVG_WIDTH, MOST);
	write_picture(&flame, report->sum->command);
	flame_free(&flame);
	return 0;
}

/** diff_flamegraph() - draw the chains after, coloured by their change */
int diff_flamegraph(const struct diff *diff)
{
	struct flame flame = {
		.diff = diff, .wide = 1, .wall = diff->sums->wall,
	};
	const struct prf *after = diff->runs + diff->nr[0];
	size_t nr = diff->nr[0] + diff->nr[1], i;
	bool programs = flame_has_programs(diff->runs, nr);
	bool inlined = diff->sums->inlined;

	for (i = 0; i < nr; i++)
		if (!diff->sums[i].chains || !diff->placed[diff_side(diff, i)])
			return complain();
	flame_add_runs(&flame, diff->runs, diff->nr[0], 0, programs, inlined);
	flame_add_runs(&flame, after, diff->nr[1], 1, programs, inlined);
	flame_finish(&flame, NARROWEST / SVG_WIDTH, MOST);
	write_picture(&flame, after->command);
	flame_free(&flame);
	return 0;
}
