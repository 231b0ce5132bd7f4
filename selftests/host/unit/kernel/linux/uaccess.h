/* SPDX-License-Identifier: GPL-2.0-only */
/* uaccess.h - see mm.h */
#include <linux/mm.h>
