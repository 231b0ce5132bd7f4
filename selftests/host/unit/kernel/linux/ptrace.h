/* SPDX-License-Identifier: GPL-2.0-only */
/* ptrace.h - see mm.h */
#include <linux/mm.h>
