/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * demangle.h - names of C++ and Rust as they are in the source
 */
#ifndef TOOLS_DEMANGLE_H
#define TOOLS_DEMANGLE_H

char *demangle(const char *name);

#endif /* TOOLS_DEMANGLE_H */
