/* SPDX-License-Identifier: MIT */
#include "diagnose/unread.h"

#include <string.h>

void plim_unread_reset(struct plim_unread *u) { memset(u, 0, sizeof *u); }

void plim_unread_add(struct plim_unread *u, uint64_t from, uint64_t to)
{
    struct plim_unread_range *last = u->n > 0 ? &u->range[u->n - 1] : NULL;
    if (last && from <= last->to)
        from = last->to + 1;
    if (from > to)
        return;
    if (!last || (u->is_closed && u->n < PLIM_MAX_UNREAD_RANGES)) { /* the last range takes what there is no room for */
        last = &u->range[u->n++];
        last->from = from;
    }
    u->is_closed = false;
    last->to = to;
    last->n_lines += to - from + 1;
    u->n_lines += to - from + 1;
}

void plim_unread_close(struct plim_unread *u) { u->is_closed = true; }
