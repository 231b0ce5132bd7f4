/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pager.h - show output page by page
 */
#ifndef PAGER_H
#define PAGER_H

void pager_start(void);

#endif /* PAGER_H */
