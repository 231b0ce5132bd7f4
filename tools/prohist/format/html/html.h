/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * html.h - parts of the HTML page
 */
#ifndef HTML_H
#define HTML_H

#include "prohist/format/html/write.h"

void html_summary(const struct html *html);
void html_programs(const struct html *html);
bool html_has_flame(const struct html *html);
void html_flame(const struct html *html);
void html_dsos(const struct html *html);
void html_functions(const struct html *html);
void html_listings(struct html *html, FILE *out);

#endif /* HTML_H */
