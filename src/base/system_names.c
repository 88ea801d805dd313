/* SPDX-License-Identifier: MIT */
/* The names of a folder, as every system collects them. */
#include "base/system_names.h"

#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int plim_names_add(struct plim_names *names, const char *name)
{
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return 0;
    if (names->n == PLIM_MAX_FOLDER_NAMES)
        return E2BIG;
    const size_t length = strlen(name) + 1;
    if ((names->n & (names->n - 1)) == 0) { /* room for a power of two */
        char **larger = plim_realloc(names->names, names->n ? 2 * names->n : 1, sizeof *larger);
        if (!larger)
            return ENOMEM;
        names->names = larger;
    }
    char *copy = plim_alloc_unset(length, 1);
    if (!copy)
        return ENOMEM;
    memcpy(copy, name, length);
    names->names[names->n++] = copy;
    return 0;
}

static int in_order(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

void plim_names_sort(struct plim_names *names)
{
    if (names->n)
        qsort(names->names, names->n, sizeof *names->names, in_order);
}

void plim_names_done(struct plim_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        plim_free(names->names[i]);
    plim_free(names->names);
    *names = (struct plim_names){ 0 };
}
