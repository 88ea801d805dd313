/* SPDX-License-Identifier: MIT */
#include "report/top/rows.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Of the tree: processes that are deeper, and those of a machine with more, are no part of it. It takes MAX_TREE^2. */
enum { MAX_DEPTH = 8, MAX_TREE = 2048 };

struct plim_top_id plim_top_id_of(const struct plim_sample *sample, uint32_t holding)
{
    const struct plim_holding *h = &sample->holding[holding];
    const struct plim_sample_process *p = &sample->process[h->process];
    return (struct plim_top_id){ p->pid, p->start_ticks, h->card };
}

bool plim_top_is_same(const struct plim_top_id *a, const struct plim_top_id *b)
{
    return a->pid == b->pid && a->start_ticks == b->start_ticks && a->card == b->card;
}

bool plim_top_is_tagged(const struct plim_top_view *view, const struct plim_top_id *id)
{
    for (uint32_t i = 0; i < view->n_tagged; i++)
        if (plim_top_is_same(&view->tagged[i], id))
            return true;
    return false;
}

uint32_t plim_top_rows_selected(const struct plim_top_rows *rows, const struct plim_sample *sample,
                                const struct plim_top_view *view)
{
    for (uint32_t i = 0; i < rows->n && view->has_selection; i++) {
        const struct plim_top_id id = plim_top_id_of(sample, rows->row[i].holding);
        if (plim_top_is_same(&id, &view->selected))
            return i;
    }
    return UINT32_MAX;
}

/* --- the filter --- */

static bool has_text(const char *text, const char *part) { return text && strcasestr(text, part) != NULL; }

static bool is_wanted(const struct plim_top_machine *machine, const struct plim_top_view *view, uint32_t holding)
{
    const struct plim_holding *h = &machine->sample->holding[holding];
    const struct plim_sample_process *p = &machine->sample->process[h->process];
    const struct plim_watch_row *row = &machine->rows[holding];
    if (view->only_card != UINT32_MAX && h->card != view->only_card)
        return false;
    if (view->only_user && !plim_sample_is_user(p->user, p->uid, view->only_user))
        return false;
    if (!view->filter[0])
        return true;
    char pid[24];
    snprintf(pid, sizeof pid, "%" PRId64, p->pid);
    return has_text(pid, view->filter) || has_text(p->user, view->filter) || has_text(p->command, view->filter) ||
           has_text(p->container, view->filter) || has_text(p->pod, view->filter) ||
           has_text(p->slurm_job, view->filter) || has_text(row->framework, view->filter) ||
           has_text(row->model, view->filter) || (row->stale == PLIM_STALE_YES && !strcasecmp(view->filter, "stale"));
}

/* --- the order --- */

struct order {
    const struct plim_top_machine *machine;
    enum plim_top_sort sort;
    bool is_reversed;
};

static int compare_numbers(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_texts(const char *a, const char *b) { return strcasecmp(a ? a : "", b ? b : ""); }

/* Stale first, then what may be. */
static int staleness(enum plim_stale stale)
{
    return stale == PLIM_STALE_YES ? 2 : stale == PLIM_STALE_UNKNOWN ? 1 : 0;
}

/* Below 0: a comes first, in the order that people expect of the column: most memory first, the lowest pid first. */
static int compare_by(const struct order *order, uint32_t a, uint32_t b)
{
    const struct plim_sample *sample = order->machine->sample;
    const struct plim_holding *ha = &sample->holding[a], *hb = &sample->holding[b];
    const struct plim_sample_process *pa = &sample->process[ha->process], *pb = &sample->process[hb->process];
    const struct plim_watch_row *ra = &order->machine->rows[a], *rb = &order->machine->rows[b];
    switch (order->sort) {
    case PLIM_TOP_BY_GROWTH:
        return compare_numbers(rb->growth.bytes_per_min, ra->growth.bytes_per_min);
    case PLIM_TOP_BY_IDLE:
        return compare_numbers(rb->idle_s, ra->idle_s);
    case PLIM_TOP_BY_STALE:
        return staleness(rb->stale) - staleness(ra->stale);
    case PLIM_TOP_BY_GPU:
        return compare_numbers(hb->gpu_percent, ha->gpu_percent);
    case PLIM_TOP_BY_CARD:
        return compare_numbers(ha->card, hb->card);
    case PLIM_TOP_BY_PID:
        return compare_numbers(pa->pid, pb->pid);
    case PLIM_TOP_BY_USER:
        return compare_texts(pa->user, pb->user);
    case PLIM_TOP_BY_COMMAND:
        return compare_texts(pa->command, pb->command);
    default:
        return compare_numbers(hb->bytes, ha->bytes);
    }
}

static int compare(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const uint32_t ia = ((const struct plim_top_row *)a)->holding, ib = ((const struct plim_top_row *)b)->holding;
    int result = compare_by(order, ia, ib);
    if (order->is_reversed)
        result = -result;
    if (result == 0) /* always the same order: rows that change places cannot be read */
        result = compare_numbers(order->machine->sample->process[order->machine->sample->holding[ia].process].pid,
                                 order->machine->sample->process[order->machine->sample->holding[ib].process].pid);
    return result ? result : compare_numbers(ia, ib);
}

/* --- the tree: below the nearest ancestor that is in the table --- */

static bool is_child(const struct plim_sample *sample, uint32_t child, uint32_t parent)
{
    const struct plim_sample_process *c = &sample->process[sample->holding[child].process];
    const struct plim_sample_process *p = &sample->process[sample->holding[parent].process];
    return !c->is_gone && !c->is_outside && c->parent == p->pid && c->pid != p->pid;
}

/* The first row that holds memory of its parent: a process may hold memory on several cards. */
static bool has_parent(const struct plim_top_rows *rows, const struct plim_sample *sample, uint32_t i)
{
    for (uint32_t k = 0; k < rows->n; k++)
        if (is_child(sample, rows->row[i].holding, rows->row[k].holding))
            return true;
    return false;
}

static void add_below(const struct plim_top_rows *rows, const struct plim_sample *sample, bool *is_taken, uint32_t i,
                      uint32_t depth, struct plim_top_row *to, uint32_t *n)
{
    is_taken[i] = true;
    to[(*n)++] = (struct plim_top_row){ rows->row[i].holding, depth };
    for (uint32_t k = 0; k < rows->n; k++)
        if (!is_taken[k] && is_child(sample, rows->row[k].holding, rows->row[i].holding) && depth < MAX_DEPTH)
            add_below(rows, sample, is_taken, k, depth + 1, to, n);
}

static bool make_tree(struct plim_top_rows *rows, const struct plim_sample *sample)
{
    struct plim_top_row *to = plim_alloc(rows->n + 1, sizeof *to);
    bool *is_taken = plim_alloc(rows->n + 1, sizeof *is_taken);
    uint32_t n = 0;
    if (to && is_taken) {
        for (uint32_t i = 0; i < rows->n; i++)
            if (!is_taken[i] && !has_parent(rows, sample, i))
                add_below(rows, sample, is_taken, i, 0, to, &n);
        for (uint32_t i = 0; i < rows->n; i++) /* deeper than the most, or in a circle */
            if (!is_taken[i])
                to[n++] = (struct plim_top_row){ rows->row[i].holding, 0 };
        memcpy(rows->row, to, n * sizeof *to);
    }
    const bool is_made = to && is_taken;
    plim_free(to);
    plim_free(is_taken);
    return is_made;
}

/* --- */

bool plim_top_rows_make(struct plim_top_rows *rows, const struct plim_top_machine *machine,
                        const struct plim_top_view *view)
{
    const uint32_t n = machine->sample->n_holdings;
    if (n > rows->size) {
        struct plim_top_row *row = plim_realloc(rows->row, n, sizeof *row);
        if (!row)
            return false;
        rows->row = row;
        rows->size = n;
    }
    rows->n = rows->n_hidden = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_wanted(machine, view, i))
            rows->row[rows->n++] = (struct plim_top_row){ i, 0 };
        else
            rows->n_hidden++;
    struct order order = { machine, view->sort, view->is_reversed };
    if (rows->n > 1)
        qsort_r(rows->row, rows->n, sizeof *rows->row, compare, &order);
    return !view->is_tree || rows->n < 2 || rows->n > MAX_TREE || make_tree(rows, machine->sample);
}

void plim_top_rows_done(struct plim_top_rows *rows)
{
    plim_free(rows->row);
    *rows = (struct plim_top_rows){ 0 };
}
