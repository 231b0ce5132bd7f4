/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * utf8.h - find UTF-8 characters in names, which may be any bytes
 */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>

#define UTF8_REPLACEMENT	"\xef\xbf\xbd"

int utf8_length(const char *string);
unsigned int utf8_point(const char *string);
int utf8_text(const char *string);
bool utf8_is_text(const char *string);

#endif /* UTF8_H */
