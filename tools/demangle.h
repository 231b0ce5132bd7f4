/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * demangle.h - names of C++ and Rust as they are in the source
 */
#ifndef DEMANGLE_H
#define DEMANGLE_H

char *demangle(const char *name);

#endif /* DEMANGLE_H */
