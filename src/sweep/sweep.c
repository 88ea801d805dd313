/* SPDX-License-Identifier: MIT */
#include "sweep/sweep.h"

#include <string.h>

size_t plim_sweep_variable(const struct plim_sweep *sweep, const char *name, size_t length)
{
    size_t i = 0;
    while (i < sweep->n_variables &&
           (strlen(sweep->variable[i]) != length || memcmp(sweep->variable[i], name, length) != 0))
        i++;
    return i;
}

void plim_sweep_done(struct plim_sweep *sweep) { plim_arena_done(&sweep->arena); }
