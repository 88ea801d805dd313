/* SPDX-License-Identifier: MIT */
/*
 * The lines of a rehearsal. An amount whose call stack is known to the engine's bills has their label; the rest is one
 * line for each kind of allocation.
 */
#include "rehearse/parts.h"

#include <stdlib.h>
#include <string.h>

/* Nobody compared it with a card: it may be nothing, or twice as much. */
static void widen_unmeasured(struct plim_receipt_line *line)
{
    line->low_bytes = 0;
    line->high_bytes = 2 * line->bytes;
    line->basis = PLIM_BASIS_ASSUMED;
}

/* A fixed amount, held several times. */
static void widen(struct plim_receipt_line *line, const struct plim_ledger_band *band)
{
    const uint64_t n = band->bytes ? line->bytes / band->bytes : 0;
    line->low_bytes = n * band->low_bytes;
    line->high_bytes = n * band->high_bytes;
    line->basis = PLIM_BASIS_FORMULA;
}

/* Amounts of several sizes: the part that is held has its share of the band of all. */
static void widen_by_share(struct plim_receipt_line *line, const struct plim_ledger_band *band)
{
    const double share = band->bytes ? (double)line->bytes / (double)band->bytes : 0;
    line->low_bytes = (uint64_t)((double)band->low_bytes * share);
    line->high_bytes = (uint64_t)((double)band->high_bytes * share);
    line->basis = PLIM_BASIS_ASSUMED;
}

static struct plim_receipt_line *add_line(struct plim_receipt_device *device, enum plim_pillar pillar,
                                          const char *label, enum plim_allocation_kind kind, uint64_t bytes)
{
    plim_receipt_add(device, pillar, label, bytes, 0);
    struct plim_receipt_line *line = plim_receipt_line(device, label);
    if (line) {
        line->pillar = pillar;
        line->basis = PLIM_BASIS_EXACT;
        line->kind = kind;
    }
    return line;
}

/* Lines with the engine's own labels; returns their sum. */
static uint64_t add_labelled(const struct plim_rehearsal *rehearsal, uint32_t device, enum plim_allocation_kind kind,
                             bool is_peak, struct plim_receipt_device *to)
{
    enum { MAX_LABELLED = PLIM_RECEIPT_MAX_LINES - (PLIM_ALLOCATION_MAX_ - 1) }; /* the rest is for the kinds */
    uint64_t sum_bytes = 0;
    for (uint32_t i = 0; i < rehearsal->n_call_sites; i++) {
        const struct plim_call_site *site = &rehearsal->call_site[i];
        const uint64_t bytes = is_peak ? site->peak_bytes : site->final_bytes;
        if (site->device != device || site->kind != kind || !bytes || !site->label)
            continue;
        if (to->n_lines == MAX_LABELLED && !plim_receipt_line(to, site->label))
            continue;
        add_line(to, site->pillar, site->label, kind, bytes);
        sum_bytes += bytes;
    }
    return sum_bytes;
}

static int by_pillar(const void *a, const void *b)
{
    const struct plim_receipt_line *x = a, *y = b;
    return x->pillar != y->pillar ? (x->pillar > y->pillar ? 1 : -1) : strcmp(x->label, y->label);
}

/* Kinds on a card, in the order of their lines. The program asks for the first three. */
static const uint8_t order[] = { PLIM_KIND_ALLOC,   PLIM_KIND_MANAGED, PLIM_KIND_VMM,  PLIM_KIND_CONTEXT,
                                 PLIM_KIND_KERNELS, PLIM_KIND_CUBLAS,  PLIM_KIND_NCCL, PLIM_KIND_LIBRARY };
enum { N_KINDS = sizeof order, N_REQUESTED = 3 };

static void add_kind(size_t nth, uint64_t bytes, const struct plim_ledger_card *account, struct plim_receipt_device *to)
{
    const enum plim_allocation_kind kind = plim_rehearsal_kind(order[nth]);
    const enum plim_pillar pillar = nth < N_REQUESTED ? PLIM_PILLAR_MAX_ : PLIM_PILLAR_OVERHEAD;
    struct plim_receipt_line *line = add_line(to, pillar, plim_allocation_name(kind), kind, bytes);
    if (!line)
        return;
    if (kind == PLIM_ALLOCATION_CONTEXT)
        widen(line, &account->context);
    else if (kind == PLIM_ALLOCATION_KERNELS)
        widen(line, &account->kernels);
    else if (kind == PLIM_ALLOCATION_CUBLAS)
        widen(line, &account->cublas);
    else if (kind == PLIM_ALLOCATION_NCCL)
        widen_by_share(line, &account->nccl);
    else if (kind == PLIM_ALLOCATION_LIBRARIES)
        widen_unmeasured(line);
}

static void add_rounding(uint64_t bytes, struct plim_receipt_device *to)
{
    struct plim_receipt_line *line = add_line(to, PLIM_PILLAR_OVERHEAD, plim_allocation_name(PLIM_ALLOCATION_ROUNDING),
                                              PLIM_ALLOCATION_ROUNDING, bytes);
    if (!line)
        return;
    line->low_bytes = 0;
    line->basis = PLIM_BASIS_ASSUMED;
}

void plim_rehearsal_add_lines(const struct plim_rehearsal *rehearsal, uint32_t device, bool is_peak,
                              const struct plim_ledger_card *account, struct plim_receipt_device *ret_device)
{
    const uint64_t *kind_bytes = is_peak ? account->peak_kind_bytes : account->kind_bytes;
    uint64_t sum_bytes = 0, labelled_bytes[N_KINDS];
    ret_device->peak_bytes = is_peak ? account->peak_bytes : account->used_bytes;
    for (size_t i = 0; i < N_KINDS; i++)
        labelled_bytes[i] = add_labelled(rehearsal, device, plim_rehearsal_kind(order[i]), is_peak, ret_device);
    qsort(ret_device->line, ret_device->n_lines, sizeof *ret_device->line, by_pillar);
    for (size_t i = 0; i < N_KINDS; i++) {
        const uint64_t bytes = kind_bytes[order[i]];
        if (bytes > labelled_bytes[i])
            add_kind(i, bytes - labelled_bytes[i], account, ret_device);
        sum_bytes += bytes;
    }
    if (ret_device->peak_bytes > sum_bytes)
        add_rounding(ret_device->peak_bytes - sum_bytes, ret_device);
}

void plim_rehearsal_add_host(struct plim_rehearsal *rehearsal)
{
    struct plim_receipt_device lines = { .n_lines = 0 };
    add_labelled(rehearsal, PLIM_REHEARSAL_HOST, PLIM_ALLOCATION_PINNED, /* is_peak */ true, &lines);
    if (lines.n_lines == 0)
        return;
    qsort(lines.line, lines.n_lines, sizeof *lines.line, by_pillar);
    struct plim_receipt_device *host = plim_receipt_device(&rehearsal->receipt, "host");
    memcpy(host->line, lines.line, sizeof host->line);
    host->n_lines = lines.n_lines;
}
