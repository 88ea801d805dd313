/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_ATTRIBUTION_H
#define PLIMSOLL_REHEARSE_ATTRIBUTION_H

/* What a stack says: for what memory was asked, in which phase of the program, and where to look. */

#include "vgpu/core/ledger.h"

#include "plimsoll/bill.h"

#include <string.h>

enum { PLIM_ATTRIBUTION_TEXT = 160, PLIM_ATTRIBUTION_MAX_FRAMES = 40 };

struct plim_attribution {
    const char *label;       /* the engine's own words, as in its bills: "KV buffer"; NULL: not known */
    enum plim_pillar pillar; /* PLIM_PILLAR_MAX_: not known */
    const char *phase;       /* "load", "forward", "backward", "optimizer step", "generate" ...; NULL: not known */
    char where[PLIM_ATTRIBUTION_TEXT]; /* the innermost frame that is the program's; empty: none has a name */
};

/* Both NULL, or the same word. */
static inline bool plim_attribution_is_same_phase(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

void plim_attribution_of(const struct plim_ledger_stack *stack, struct plim_attribution *ret_origin);

/* A function without a name, or one through which everybody asks: says nothing of who did. */
bool plim_attribution_is_plumbing(const char *frame);

/* A frame of Python that is not the program's own. */
bool plim_attribution_is_installed(const char *frame);

/* Frames of a stack as it is in the ledger, a line each, cut in place. Returns how many. */
size_t plim_attribution_frames(char *stack, char *ret_frames[PLIM_ATTRIBUTION_MAX_FRAMES]);

#endif
