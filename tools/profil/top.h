/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top.h - the live view
 */
#ifndef TOP_H
#define TOP_H

int top_main(int argc, char **argv);

#endif /* TOP_H */
