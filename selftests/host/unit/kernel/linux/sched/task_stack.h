/* SPDX-License-Identifier: GPL-2.0-only */
/* task_stack.h - see mm.h */
#include <linux/mm.h>
