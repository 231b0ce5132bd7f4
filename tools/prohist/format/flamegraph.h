/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flamegraph.h - parts of the picture of chains of calls
 */
#ifndef FLAMEGRAPH_H
#define FLAMEGRAPH_H

#include "prohist/flame.h"
#include "prohist/format/svg/svg.h"

/* Height of a row of frames */
#define FLAMEGRAPH_ROW	18

extern const char flamegraph_palette[];

const char *flamegraph_dso_class(unsigned int colour);
const char *flamegraph_class(const struct flame *flame,
			     const struct flame_frame *frame);
void flamegraph_frames(struct svg *svg, const struct flame *flame,
		       double narrowest);

#endif /* FLAMEGRAPH_H */
