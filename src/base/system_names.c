/* SPDX-License-Identifier: MIT */
/* The names of a folder, as every system collects them. */
#include "base/system_names.h"

#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int in_order(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Let the name at `at` sink in a heap that has the last name in order on top. */
static void sink(struct plim_names *names, size_t at)
{
    char **const heap = names->names;
    for (size_t child; (child = 2 * at + 1) < names->n; at = child) {
        if (child + 1 < names->n && strcmp(heap[child + 1], heap[child]) > 0)
            child++;
        if (strcmp(heap[at], heap[child]) >= 0)
            return;
        char *name = heap[at];
        heap[at] = heap[child];
        heap[child] = name;
    }
}

/* Of a full list and one more name, the last in order is left out. */
static void leave_one_out(struct plim_names *names, char *name)
{
    if (names->n_left_out++ == 0)
        for (size_t at = names->n / 2; at-- > 0;)
            sink(names, at);
    const bool is_last = strcmp(name, names->names[0]) >= 0;
    plim_free(is_last ? name : names->names[0]);
    if (is_last)
        return;
    names->names[0] = name;
    sink(names, 0);
}

int plim_names_add(struct plim_names *names, const char *name)
{
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return 0;
    const size_t length = strlen(name) + 1;
    const bool is_full = names->n == PLIM_MAX_FOLDER_NAMES;
    if (!is_full && (names->n & (names->n - 1)) == 0) { /* room for a power of two */
        char **larger = plim_realloc(names->names, names->n ? 2 * names->n : 1, sizeof *larger);
        if (!larger)
            return ENOMEM;
        names->names = larger;
    }
    char *copy = plim_alloc_unset(length, 1);
    if (!copy)
        return ENOMEM;
    memcpy(copy, name, length);
    if (is_full)
        leave_one_out(names, copy);
    else
        names->names[names->n++] = copy;
    return 0;
}

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
