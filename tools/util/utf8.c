// SPDX-License-Identifier: GPL-2.0-only
/*
 * utf8.c - find UTF-8 characters in names, which may be any bytes
 */
#include "util/utf8.h"

/**
 * utf8_length() - length of the first character of a string
 * @string: the string, not empty
 *
 * Return: number of bytes, or 0 if they are not well-formed UTF-8.
 */
int utf8_length(const char *string)
{
	const unsigned char *s = (const unsigned char *)string;
	int more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : 1;
	int i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	for (i = 1; i <= more; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return more + 1;
}

/** utf8_point() - the first character, which is well-formed, as a number */
unsigned int utf8_point(const char *string)
{
	int length = utf8_length(string), i;
	unsigned int point = (unsigned char)string[0];

	if (length > 1)
		point &= 0xff >> (length + 1);
	for (i = 1; i < length; i++)
		point = point << 6 | (string[i] & 0x3f);
	return point;
}

/**
 * utf8_text() - length of the first character, if it is safe to print
 * @string: the string, not empty
 *
 * Return: number of bytes; 1 for a byte that is not UTF-8; 0 for a control
 * character (C0, DEL, and C1 in UTF-8 or as a byte), which could control a
 * terminal, or for one that changes the direction of what follows it.
 */
int utf8_text(const char *string)
{
	const unsigned char *s = (const unsigned char *)string;
	int length = utf8_length(string);
	unsigned int point;

	if (length > 1) {
		point = utf8_point(string);
		return point < 0xa0 || (point >= 0x202a && point <= 0x202e) ||
			(point >= 0x2066 && point <= 0x2069) ? 0 : length;
	}
	return s[0] >= ' ' && (s[0] < 0x7f || s[0] >= 0xa0);
}

/** utf8_is_text() - is each character of a string safe to print? */
bool utf8_is_text(const char *string)
{
	int length = 1;

	for (; *string && length; string += length)
		length = utf8_text(string);
	return length;
}
