/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json.h - write JSON
 */
#ifndef JSON_H
#define JSON_H

void json_string(const char *string);

#endif /* JSON_H */
