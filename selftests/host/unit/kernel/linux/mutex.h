/* SPDX-License-Identifier: GPL-2.0-only */
/* mutex.h - see mm.h */
#include <linux/mm.h>
