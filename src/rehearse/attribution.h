/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_ATTRIBUTION_H
#define PLIMSOLL_REHEARSE_ATTRIBUTION_H

/* What a call stack shows: the purpose of the memory, the phase of the program, and where to look. */

#include "vgpu/core/ledger.h"

#include "plimsoll/bill.h"

#include <string.h>

enum { PLIM_ATTRIBUTION_TEXT = 160, PLIM_ATTRIBUTION_MAX_FRAMES = 40 };

struct plim_attribution {
    const char *label;       /* the engine's own, as in its bills: "KV buffer"; NULL: unknown */
    enum plim_pillar pillar; /* PLIM_PILLAR_MAX_: unknown */
    const char *phase;       /* "load", "forward", "backward", "optimizer step", "generate" ...; NULL: unknown */
    char where[PLIM_ATTRIBUTION_TEXT]; /* the innermost frame of the program; empty: no frame has a name */
};

/* Both NULL, or the same word. */
static inline bool plim_attribution_is_same_phase(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

void plim_attribution_of(const struct plim_ledger_stack *stack, struct plim_attribution *ret_attribution);

/* A function without a name, or one inside an allocator or a library, through which all requests go. */
bool plim_attribution_is_internal(const char *frame);

/* A frame of Python in an installed package or the standard library. */
bool plim_attribution_is_installed(const char *frame);

/* Cut a stack of the ledger into its frames, in place. Returns how many. */
size_t plim_attribution_frames(char *stack, char *ret_frames[PLIM_ATTRIBUTION_MAX_FRAMES]);

#endif
