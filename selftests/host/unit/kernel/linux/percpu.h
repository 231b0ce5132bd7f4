/* SPDX-License-Identifier: GPL-2.0-only */
/* percpu.h - see mm.h */
#include <linux/mm.h>
