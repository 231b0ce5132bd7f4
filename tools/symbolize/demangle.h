/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * demangle.h - demangle C++ and Rust symbols
 */
#ifndef TOOLS_DEMANGLE_H
#define TOOLS_DEMANGLE_H

int demangle_style(const char *word);
char *demangle(const char *name);

#endif /* TOOLS_DEMANGLE_H */
