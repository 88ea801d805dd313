/* SPDX-License-Identifier: MIT */
#include "trace/ranks.h"

#include "base/limits.h"
#include "trace/holders.h"
#include "trace/snapshot.h"

#include <stdlib.h>
#include <string.h>

struct plim_trace_rank_row {
    const char *file, *function;
    uint64_t bytes;
    uint32_t line, rank;
};

static int no_memory(const struct plim_trace_ranks *ranks, struct plim_error *reterr)
{
    return ranks->texts.is_full
               ? plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the lines of all ranks are too many")
               : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

int plim_trace_ranks_open(size_t n_ranks, struct plim_trace_ranks *ret_ranks, struct plim_error *reterr)
{
    *ret_ranks = (struct plim_trace_ranks){ .ranks = plim_alloc(n_ranks + 1, sizeof *ret_ranks->ranks) };
    plim_arena_init(&ret_ranks->texts, PLIM_MAX_TRACE_RANKS_BYTES);
    return ret_ranks->ranks ? 0 : no_memory(ret_ranks, reterr);
}

void plim_trace_ranks_done(struct plim_trace_ranks *ranks)
{
    plim_free(ranks->ranks);
    plim_free(ranks->rows);
    plim_arena_done(&ranks->texts);
}

/* --- one rank --- */

static const char *keep(struct plim_trace_ranks *ranks, const char *text)
{
    return plim_arena_copy(&ranks->texts, text, strlen(text));
}

static bool add_row(struct plim_trace_ranks *ranks, const struct plim_memory_trace *trace,
                    const struct plim_trace_site *site)
{
    struct plim_trace_rank_row row = { .bytes = site->bytes, .rank = (uint32_t)ranks->n_ranks };
    if (ranks->n_rows == ranks->rows_room) {
        const size_t room = ranks->rows_room ? 2 * ranks->rows_room : 256;
        struct plim_trace_rank_row *rows = plim_realloc(ranks->rows, room, sizeof *rows);
        if (!rows)
            return false;
        ranks->rows = rows;
        ranks->rows_room = room;
    }
    if (site->frame != PLIM_TRACE_NO_STACK) {
        const struct plim_trace_frame *frame = &trace->frames[site->frame];
        row.file = keep(ranks, plim_trace_words(trace, frame->file));
        row.function = keep(ranks, plim_trace_words(trace, frame->name));
        row.line = frame->line;
        if (!row.file || !row.function)
            return false;
    }
    ranks->rows[ranks->n_rows++] = row;
    return true;
}

int plim_trace_ranks_add(struct plim_trace_ranks *ranks, const char *path, const struct plim_memory_trace *trace,
                         const struct plim_trace_analysis *analysis, struct plim_error *reterr)
{
    const struct plim_torch_result *result = &analysis->replay.result;
    struct plim_trace_site *sites;
    size_t n;
    const int found =
        plim_trace_sites_find(trace, analysis->device, &analysis->requests, analysis->peak_at, &sites, &n, reterr);
    if (found < 0)
        return found;
    bool has_memory = true;
    for (size_t i = 0; i < n && has_memory; i++)
        has_memory = add_row(ranks, trace, &sites[i]);
    plim_free(sites);
    ranks->ranks[ranks->n_ranks++] = (struct plim_trace_rank){
        .path = path,
        .device = analysis->device,
        .n_entries = analysis->n_entries,
        .peak_bytes = analysis->peak.bytes,
        .allocated_peak_bytes = result->allocated_peak_bytes,
        .reserved_peak_bytes = result->reserved_peak_bytes,
        .reserved_bytes = analysis->reserved_bytes,
        .inactive_split_bytes = analysis->inactive_split_bytes,
        .asked_bytes = analysis->has_oom ? analysis->oom.asked_bytes : 0,
        .has_oom = analysis->has_oom,
        .is_met = analysis->is_met,
    };
    return has_memory ? 0 : no_memory(ranks, reterr);
}

/* --- all of them --- */

static int by_line(const struct plim_trace_rank_row *x, const struct plim_trace_rank_row *y)
{
    if (!x->file || !y->file)
        return (x->file != NULL) - (y->file != NULL);
    const int order = strcmp(x->file, y->file);
    if (order)
        return order;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : strcmp(x->function, y->function);
}

static int by_line_and_rank(const void *a, const void *b)
{
    const struct plim_trace_rank_row *x = a, *y = b;
    const int order = by_line(x, y);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static uint64_t spread(const struct plim_trace_rank_line *line) { return line->most_bytes - line->least_bytes; }

/* Into its place among the lines that differ most. */
static void insert(struct plim_trace_ranks *ranks, struct plim_trace_rank_line line)
{
    size_t at = ranks->n_lines;
    while (at > 0 && spread(&ranks->lines[at - 1]) < spread(&line))
        at--;
    ranks->n_rest_lines += ranks->n_lines == PLIM_TRACE_MAX_SITES;
    if (at == PLIM_TRACE_MAX_SITES)
        return;
    if (ranks->n_lines < PLIM_TRACE_MAX_SITES)
        ranks->n_lines++;
    memmove(ranks->lines + at + 1, ranks->lines + at, (ranks->n_lines - at - 1) * sizeof line);
    ranks->lines[at] = line;
}

/* A line is in `n` rows, of ranks in order; a rank that has none holds nothing of it. */
static bool add_line(struct plim_trace_ranks *ranks, const struct plim_trace_rank_row *rows, size_t n)
{
    uint64_t *bytes = plim_arena_alloc(&ranks->texts, ranks->n_ranks, sizeof *bytes);
    if (!bytes)
        return false;
    for (size_t i = 0; i < n; i++)
        bytes[rows[i].rank] += rows[i].bytes;
    struct plim_trace_rank_line line = { .file = rows->file,
                                         .function = rows->function,
                                         .line = rows->line,
                                         .bytes = bytes,
                                         .least_bytes = bytes[0],
                                         .most_bytes = bytes[0] };
    for (size_t rank = 1; rank < ranks->n_ranks; rank++) {
        if (bytes[rank] < line.least_bytes) {
            line.least_rank = rank;
            line.least_bytes = bytes[rank];
        }
        if (bytes[rank] > line.most_bytes) {
            line.most_rank = rank;
            line.most_bytes = bytes[rank];
        }
    }
    if (spread(&line))
        insert(ranks, line);
    else
        ranks->n_equal_lines++;
    return true;
}

static size_t find_deciding(const struct plim_trace_ranks *ranks)
{
    size_t best = 0;
    for (size_t i = 1; i < ranks->n_ranks; i++) {
        const struct plim_trace_rank *a = &ranks->ranks[i], *b = &ranks->ranks[best];
        if (a->has_oom != b->has_oom ? a->has_oom : a->reserved_peak_bytes > b->reserved_peak_bytes)
            best = i;
    }
    return best;
}

int plim_trace_ranks_compare(struct plim_trace_ranks *ranks, struct plim_error *reterr)
{
    if (ranks->n_rows > 1)
        qsort(ranks->rows, ranks->n_rows, sizeof *ranks->rows, by_line_and_rank);
    for (size_t from = 0, to; from < ranks->n_rows; from = to) {
        for (to = from + 1; to < ranks->n_rows && by_line(&ranks->rows[from], &ranks->rows[to]) == 0;)
            to++;
        if (!add_line(ranks, &ranks->rows[from], to - from))
            return no_memory(ranks, reterr);
    }
    ranks->deciding = find_deciding(ranks);
    return 0;
}
