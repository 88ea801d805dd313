/* SPDX-License-Identifier: MIT */
#include "record/dumps.h"

#include "base/mem.h"
#include "record/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A process by its file names: "PID-TIME-KIND.marks"; times are as long as each other. */
static size_t process_length(const char *name)
{
    const char *first = strchr(name, '-'), *second = first ? strchr(first + 1, '-') : NULL;
    return second ? (size_t)(second - name) : 0;
}

static bool is_same_process(const struct plim_record_dump *a, const struct plim_record_dump *b)
{
    const size_t n = process_length(a->snapshot);
    return n == process_length(b->snapshot) && !strncmp(a->snapshot, b->snapshot, n);
}

/* Of two dumps of one process the later one, unless the peak is only in the other. */
static bool is_better(const struct plim_record_dump *a, const struct plim_record_dump *b)
{
    const bool a_has_peak = a->is_whole || a->has_peak, b_has_peak = b->is_whole || b->has_peak;
    return a_has_peak == b_has_peak ? a->number > b->number : a_has_peak;
}

static bool add(struct plim_record_dumps *dumps, struct plim_record_dump *dump)
{
    for (size_t i = 0; i < dumps->n; i++) {
        struct plim_record_dump *known = &dumps->dumps[i];
        if (!is_same_process(known, dump))
            continue;
        struct plim_record_dump *worse = is_better(dump, known) ? known : dump;
        const struct plim_record_dump kept = worse == dump ? *known : *dump;
        plim_record_dump_done(worse);
        *known = kept;
        return true;
    }
    if (dumps->n == PLIM_RECORD_MAX_PROCESSES) {
        plim_record_dump_done(dump);
        return true;
    }
    struct plim_record_dump *grown = plim_realloc(dumps->dumps, dumps->n + 1, sizeof *grown);
    if (!grown)
        return false;
    dumps->dumps = grown;
    grown[dumps->n++] = *dump;
    return true;
}

/* --- the order --- */

static const char *time_of(const struct plim_record_dump *dump)
{
    const char *dash = strchr(dump->snapshot, '-');
    return dash ? dash : "";
}

static int in_order(const void *x, const void *y)
{
    const struct plim_record_dump *a = x, *b = y;
    if (a->rank != b->rank)
        return (a->rank > b->rank) - (a->rank < b->rank);
    return strcmp(time_of(a), time_of(b));
}

/* Processes without a rank, or with one that another process has, are numbered as they began. */
static void settle_ranks(struct plim_record_dumps *dumps)
{
    bool are_ranks = true;
    if (dumps->n)
        qsort(dumps->dumps, dumps->n, sizeof *dumps->dumps, in_order);
    for (size_t i = 0; i < dumps->n; i++)
        are_ranks = are_ranks && dumps->dumps[i].rank >= 0 && (!i || dumps->dumps[i].rank > dumps->dumps[i - 1].rank);
    for (size_t i = 0; i < dumps->n && !are_ranks; i++)
        dumps->dumps[i].rank = (int64_t)i;
}

/* --- the folder --- */

static int read_one(const char *folder, const char *name, struct plim_record_dumps *dumps, struct plim_error *reterr)
{
    char path[PLIM_RECORD_PATH_BYTES + 256];
    struct plim_record_dump dump;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int result = plim_record_dump_read(path, &dump, reterr);
    if (result < 0)
        return result;
    if (add(dumps, &dump))
        return 0;
    plim_record_dump_done(&dump);
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

static bool is_marks(const char *name)
{
    const size_t n = strlen(name);
    return n > 6 && !strcmp(name + n - 6, ".marks");
}

int plim_record_dumps_read(const char *folder, struct plim_record_dumps *ret_dumps, struct plim_error *reterr)
{
    struct plim_record_dumps dumps = { .n = 0 };
    int result = 0;
    DIR *opened = opendir(folder);
    if (!opened)
        return plim_fail_errno(reterr, folder, "open", errno);
    for (const struct dirent *entry; result == 0 && (entry = readdir(opened));)
        if (is_marks(entry->d_name))
            result = read_one(folder, entry->d_name, &dumps, reterr);
    closedir(opened);
    if (result < 0) {
        plim_record_dumps_done(&dumps);
        return result;
    }
    settle_ranks(&dumps);
    *ret_dumps = dumps;
    return 0;
}

void plim_record_dumps_done(struct plim_record_dumps *dumps)
{
    for (size_t i = 0; i < dumps->n; i++)
        plim_record_dump_done(&dumps->dumps[i]);
    plim_free(dumps->dumps);
    *dumps = (struct plim_record_dumps){ .n = 0 };
}
