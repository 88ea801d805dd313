/* SPDX-License-Identifier: MIT */
#include "trace/comparison.h"

#include "base/mem.h"
#include "trace/holders.h"
#include "trace/snapshot.h"

#include <stdlib.h>
#include <string.h>

struct list {
    struct plim_trace_change *lines;
    size_t n;
};

static int by_name(const void *a, const void *b)
{
    const struct plim_trace_change *x = a, *y = b;
    if (!x->file || !y->file)
        return (x->file != NULL) - (y->file != NULL);
    const int order = strcmp(x->file, y->file);
    if (order)
        return order;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : strcmp(x->function, y->function);
}

static uint64_t difference(const struct plim_trace_change *change)
{
    return change->bytes[1] > change->bytes[0] ? change->bytes[1] - change->bytes[0]
                                               : change->bytes[0] - change->bytes[1];
}

static int by_difference(const void *a, const void *b)
{
    const uint64_t x = difference(a), y = difference(b);
    return x != y ? (x < y) - (x > y) : by_name(a, b);
}

static int list_lines(const struct plim_trace_side *side, size_t which, enum plim_trace_moment moment,
                      struct list *list, struct plim_error *reterr)
{
    const struct plim_trace_analysis *analysis = side->analysis;
    const size_t at = moment == PLIM_TRACE_AT_PEAK ? analysis->peak_at : analysis->requests.n_events;
    const size_t n_before = list->n;
    struct plim_trace_site *sites;
    size_t n;
    int result = plim_trace_sites_find(side->trace, analysis->device, &analysis->requests, at, &sites, &n, reterr);
    if (result < 0)
        return result;
    struct plim_trace_change *lines = plim_realloc(list->lines, n_before + n + 1, sizeof *lines);
    if (!lines) {
        plim_free(sites);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    list->lines = lines;
    for (size_t i = 0; i < n; i++) {
        struct plim_trace_change *line = &lines[list->n++];
        *line = (struct plim_trace_change){ 0 };
        line->bytes[which] = sites[i].bytes;
        line->n[which] = sites[i].n;
        if (sites[i].frame == PLIM_TRACE_NO_STACK)
            continue;
        const struct plim_trace_frame *frame = &side->trace->frames[sites[i].frame];
        line->file = plim_trace_words(side->trace, frame->file);
        line->function = plim_trace_words(side->trace, frame->name);
        line->line = frame->line;
    }
    plim_free(sites);
    return 0;
}

/* Rows of one line become one. */
static void unite(struct list *list)
{
    size_t kept = 0;
    if (list->n > 1)
        qsort(list->lines, list->n, sizeof *list->lines, by_name);
    for (size_t i = 0; i < list->n; i++) {
        if (!kept || by_name(&list->lines[kept - 1], &list->lines[i])) {
            list->lines[kept++] = list->lines[i];
            continue;
        }
        for (size_t side = 0; side < 2; side++) {
            list->lines[kept - 1].bytes[side] += list->lines[i].bytes[side];
            list->lines[kept - 1].n[side] += list->lines[i].n[side];
        }
    }
    list->n = kept;
    if (kept > 1)
        qsort(list->lines, kept, sizeof *list->lines, by_difference);
}

static void summarize(const struct list *list, struct plim_trace_changes *ret)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct plim_trace_change *line = &list->lines[i];
        const bool is_equal = difference(line) == 0, is_shown = !is_equal && ret->n_changes < PLIM_TRACE_MAX_SITES;
        ret->n_equal_lines += is_equal;
        ret->n_rest_lines += !is_equal && !is_shown;
        for (size_t side = 0; side < 2; side++) {
            ret->bytes[side] += line->bytes[side];
            ret->rest_bytes[side] += is_equal || is_shown ? 0 : line->bytes[side];
        }
        if (is_shown)
            ret->changes[ret->n_changes++] = *line;
    }
}

int plim_trace_compare(const struct plim_trace_side sides[2], enum plim_trace_moment moment,
                       struct plim_trace_changes *ret_changes, struct plim_error *reterr)
{
    struct list list = { 0 };
    int result = 0;
    *ret_changes = (struct plim_trace_changes){ 0 };
    for (size_t side = 0; side < 2 && result == 0; side++)
        result = list_lines(&sides[side], side, moment, &list, reterr);
    if (result == 0) {
        unite(&list);
        summarize(&list, ret_changes);
    }
    plim_free(list.lines);
    return result;
}
