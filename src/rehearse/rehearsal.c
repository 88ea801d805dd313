/* SPDX-License-Identifier: MIT */
#include "rehearse/rehearsal.h"

#include "base/units.h"
#include "engine/llamacpp/overhead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    const struct plim_rehearsal_allocation *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : x->time_us > y->time_us ? 1 : -1;
}

static void keep(struct plim_rehearsal *receipt, const struct plim_ledger_record *r)
{
    struct plim_rehearsal_allocation *slot = NULL;
    if (receipt->n_allocations < PLIM_REHEARSAL_MAX_ALLOCATIONS) {
        slot = &receipt->allocation[receipt->n_allocations++];
    } else {
        receipt->n_allocations_left_out++;
        for (uint32_t i = 0; i < receipt->n_allocations; i++)
            if (!slot || receipt->allocation[i].bytes < slot->bytes)
                slot = &receipt->allocation[i];
        if (slot->bytes >= r->size)
            return;
    }
    *slot = (struct plim_rehearsal_allocation){ r->device, r->kind, r->size, r->time_us };
}

/* Programs can write into the ledger: texts end, and numbers stay within their tables, whatever they wrote. */
static void seal(struct plim_ledger *ledger)
{
    ledger->n_cards = plim_ledger_n_cards(ledger);
    if (ledger->oom.device >= PLIM_LEDGER_MAX_CARDS)
        ledger->oom.device = 0;
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_CARDS; i++)
        ledger->card[i].name[PLIM_LEDGER_NAME_BYTES - 1] = '\0';
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_WARNINGS; i++) {
        ledger->warning[i].kind[sizeof ledger->warning[i].kind - 1] = '\0';
        ledger->warning[i].what[sizeof ledger->warning[i].what - 1] = '\0';
    }
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_SITES; i++)
        if (ledger->site[i].hash) {
            ledger->stack[i].native[PLIM_LEDGER_STACK_BYTES - 1] = '\0';
            ledger->stack[i].python[PLIM_LEDGER_STACK_BYTES - 1] = '\0';
        }
}

void plim_rehearsal_take(struct plim_rehearsal *receipt)
{
    struct plim_ledger *ledger = receipt->ledger;
    receipt->n_allocations = receipt->n_allocations_left_out = 0;
    plim_ledger_lock(ledger);
    seal(ledger);
    memcpy(receipt->card, ledger->card, sizeof receipt->card);
    for (uint32_t i = 0; i < ledger->n_records && i < PLIM_LEDGER_MAX_RECORDS; i++)
        if (ledger->record[i].is_used && ledger->record[i].kind < PLIM_KIND_MAX_ &&
            ledger->record[i].device < PLIM_LEDGER_MAX_CARDS)
            keep(receipt, &ledger->record[i]);
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_SITES; i++) {
        receipt->site_peak_bytes[i] = plim_ledger_site_peak(ledger, &ledger->site[i]);
        receipt->site_end_bytes[i] = ledger->site[i].live_bytes;
    }
    receipt->end_us = plim_ledger_now_us(ledger);
    plim_ledger_unlock(ledger);
    qsort(receipt->allocation, receipt->n_allocations, sizeof *receipt->allocation, by_size);
}

struct plim_rehearsal_path plim_rehearsal_path(const struct plim_ledger *ledger)
{
    struct plim_rehearsal_path path = { .basis = PLIM_BASIS_EXACT };
    for (uint32_t i = 0; i < ledger->n_warnings && i < PLIM_LEDGER_MAX_WARNINGS; i++) {
        const struct plim_ledger_warning *warning = &ledger->warning[i];
        if (!strcmp(warning->kind, "value"))
            path.n_assumed += warning->count;
        else if (!strcmp(warning->kind, "value_kept"))
            path.n_kept += warning->count;
    }
    if (path.n_assumed || path.n_kept)
        path.basis = PLIM_BASIS_ASSUMED;
    return path;
}

const char *plim_rehearsal_kind(uint32_t kind)
{
    static const char *const names[PLIM_KIND_MAX_] = {
        [PLIM_KIND_CONTEXT] = "CUDA context",    [PLIM_KIND_KERNELS] = "kernels",
        [PLIM_KIND_ALLOC] = "cudaMalloc",        [PLIM_KIND_VMM] = "memory pool",
        [PLIM_KIND_CUBLAS] = "cuBLAS workspace", [PLIM_KIND_MANAGED] = "managed memory",
        [PLIM_KIND_PINNED] = "pinned memory",    [PLIM_KIND_NCCL] = "NCCL buffers",
        [PLIM_KIND_LIBRARY] = "math libraries",
    };
    return kind < PLIM_KIND_MAX_ ? names[kind] : "?";
}

const char *plim_rehearsal_card_name(const struct plim_ledger_card *card)
{
    return !strncmp(card->name, "NVIDIA ", 7) ? card->name + 7 : card->name;
}

static const char *why(uint32_t kind)
{
    switch (kind) {
    case PLIM_KIND_CONTEXT:
        return "not asked for by the program: what the driver takes for a process, by the card's multiprocessors";
    case PLIM_KIND_KERNELS:
        return "not asked for by the program: code that is loaded when it first runs";
    case PLIM_KIND_CUBLAS:
        return "what NVIDIA's cuBLAS takes for a handle; measured for 8.9 and 9.0";
    case PLIM_KIND_NCCL:
        return "what NVIDIA's NCCL takes for its channels, after its source; how many there are depends on the links";
    case PLIM_KIND_LIBRARY:
        return "what cuSOLVER, cuDNN, cuRAND and cuFFT take for handles and plans, as seen with CUDA 13.0; no card "
               "measured";
    case PLIM_KIND_VMM:
        return "asked for with cuMemCreate";
    default:
        return "asked for by the program";
    }
}

/* Nobody compared it with a card: it may be nothing, or twice as much. */
static void widen_unmeasured(struct plim_rehearsal_line *line)
{
    line->low_bytes = 0;
    line->high_bytes = 2 * line->bytes;
    line->basis = PLIM_BASIS_ASSUMED;
}

/* A fixed amount that is held n times. */
static void widen(struct plim_rehearsal_line *line, const struct plim_ledger_band *band)
{
    const uint64_t n = band->bytes ? line->bytes / band->bytes : 0;
    line->low_bytes = n * band->low_bytes;
    line->high_bytes = n * band->high_bytes;
    line->basis = PLIM_BASIS_FORMULA;
}

/* Amounts of several sizes: the part that is held has the band of the whole. */
static void widen_by_share(struct plim_rehearsal_line *line, const struct plim_ledger_band *band)
{
    const double share = band->bytes ? (double)line->bytes / (double)band->bytes : 0;
    line->low_bytes = (uint64_t)((double)band->low_bytes * share);
    line->high_bytes = (uint64_t)((double)band->high_bytes * share);
    line->basis = PLIM_BASIS_ASSUMED;
}

static struct plim_rehearsal_line *line_with(struct plim_rehearsal_line *lines, size_t *n, const char *label)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(lines[i].label, label))
            return &lines[i];
    if (*n == PLIM_REHEARSAL_MAX_LINES - PLIM_KIND_MAX_ - 1) /* the rest is for the kinds and the rounding */
        return NULL;
    lines[*n] = (struct plim_rehearsal_line){ .label = label };
    return &lines[(*n)++];
}

/* What sites with the engine's own words held; returns their sum. */
static uint64_t add_labelled(const struct plim_rehearsal *receipt, uint32_t device, uint32_t kind, bool is_peak,
                             struct plim_rehearsal_line *lines, size_t *n)
{
    uint64_t sum_bytes = 0;
    for (uint32_t i = 1; i < PLIM_LEDGER_MAX_SITES; i++) {
        const struct plim_ledger_site *site = &receipt->ledger->site[i];
        const uint64_t bytes = is_peak ? receipt->site_peak_bytes[i] : receipt->site_end_bytes[i];
        struct plim_attribution origin;
        if (!site->hash || (kind != PLIM_KIND_PINNED && site->device != device) || site->kind != kind || !bytes)
            continue;
        plim_attribution_of(&receipt->ledger->stack[i], &origin);
        struct plim_rehearsal_line *line = origin.label ? line_with(lines, n, origin.label) : NULL;
        if (!line)
            continue;
        line->what = plim_rehearsal_kind(kind);
        line->pillar = origin.pillar;
        line->basis = PLIM_BASIS_EXACT;
        line->why = why(kind);
        line->bytes += bytes;
        line->low_bytes = line->high_bytes = line->bytes;
        sum_bytes += bytes;
    }
    return sum_bytes;
}

static int by_pillar(const void *a, const void *b)
{
    const struct plim_rehearsal_line *x = a, *y = b;
    return x->pillar != y->pillar ? (x->pillar > y->pillar ? 1 : -1) : strcmp(x->label, y->label);
}

static enum plim_pillar pillar_of(uint32_t kind)
{
    const bool is_overhead = kind == PLIM_KIND_CONTEXT || kind == PLIM_KIND_KERNELS || kind == PLIM_KIND_CUBLAS ||
                             kind == PLIM_KIND_NCCL || kind == PLIM_KIND_LIBRARY;
    return is_overhead ? PLIM_PILLAR_OVERHEAD : PLIM_PILLAR_MAX_;
}

size_t plim_rehearsal_lines(const struct plim_rehearsal *receipt, uint32_t device, bool is_peak,
                            struct plim_rehearsal_line ret_lines[PLIM_REHEARSAL_MAX_LINES])
{
    static const uint8_t order[] = { PLIM_KIND_ALLOC,   PLIM_KIND_MANAGED, PLIM_KIND_VMM,  PLIM_KIND_CONTEXT,
                                     PLIM_KIND_KERNELS, PLIM_KIND_CUBLAS,  PLIM_KIND_NCCL, PLIM_KIND_LIBRARY };
    const struct plim_ledger_card *card = &receipt->card[device];
    const uint64_t *kinds = is_peak ? card->peak_kind_bytes : card->kind_bytes;
    const uint64_t total_bytes = is_peak ? card->peak_bytes : card->used_bytes;
    uint64_t sum_bytes = 0, labelled_bytes[sizeof order];
    size_t n = 0;
    for (size_t i = 0; i < sizeof order; i++)
        labelled_bytes[i] = add_labelled(receipt, device, order[i], is_peak, ret_lines, &n);
    qsort(ret_lines, n, sizeof *ret_lines, by_pillar);
    for (size_t i = 0; i < sizeof order; i++) {
        const uint64_t bytes = kinds[order[i]] > labelled_bytes[i] ? kinds[order[i]] - labelled_bytes[i] : 0;
        sum_bytes += kinds[order[i]];
        if (!bytes)
            continue;
        struct plim_rehearsal_line *line = &ret_lines[n++];
        *line = (struct plim_rehearsal_line){ .label = plim_rehearsal_kind(order[i]),
                                              .what = plim_rehearsal_kind(order[i]),
                                              .pillar = pillar_of(order[i]),
                                              .bytes = bytes,
                                              .low_bytes = bytes,
                                              .high_bytes = bytes,
                                              .basis = PLIM_BASIS_EXACT,
                                              .why = why(order[i]) };
        if (order[i] == PLIM_KIND_CONTEXT)
            widen(line, &card->context);
        else if (order[i] == PLIM_KIND_KERNELS)
            widen(line, &card->kernels);
        else if (order[i] == PLIM_KIND_CUBLAS)
            widen(line, &card->cublas);
        else if (order[i] == PLIM_KIND_NCCL)
            widen_by_share(line, &card->nccl);
        else if (order[i] == PLIM_KIND_LIBRARY)
            widen_unmeasured(line);
    }
    if (total_bytes > sum_bytes)
        ret_lines[n++] = (struct plim_rehearsal_line){ .label = "rounding",
                                                       .what = "rounding",
                                                       .pillar = PLIM_PILLAR_OVERHEAD,
                                                       .bytes = total_bytes - sum_bytes,
                                                       .high_bytes = total_bytes - sum_bytes,
                                                       .basis = PLIM_BASIS_ASSUMED,
                                                       .why = "cudaMalloc in units of 2 MiB" };
    return n;
}

size_t plim_rehearsal_host_lines(const struct plim_rehearsal *receipt,
                                 struct plim_rehearsal_line ret_lines[PLIM_REHEARSAL_MAX_LINES])
{
    size_t n = 0;
    add_labelled(receipt, 0, PLIM_KIND_PINNED, /* is_peak */ true, ret_lines, &n);
    qsort(ret_lines, n, sizeof *ret_lines, by_pillar);
    return n;
}

/* --- sites --- */

static const struct plim_rehearsal *sorted; /* for by_peak() */

static int by_peak(const void *a, const void *b)
{
    const uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    const uint64_t x_bytes = sorted->site_peak_bytes[x], y_bytes = sorted->site_peak_bytes[y];
    return x_bytes < y_bytes ? 1 : x_bytes > y_bytes ? -1 : x < y ? -1 : 1;
}

size_t plim_rehearsal_sites(const struct plim_rehearsal *receipt, uint32_t device,
                            uint16_t ret_numbers[PLIM_LEDGER_MAX_SITES])
{
    size_t n = 0;
    for (unsigned i = 1; i < PLIM_LEDGER_MAX_SITES; i++) {
        const struct plim_ledger_site *site = &receipt->ledger->site[i];
        const bool is_host = site->kind == PLIM_KIND_PINNED;
        if (site->hash && (is_host ? device == PLIM_LEDGER_MAX_CARDS : device == site->device))
            ret_numbers[n++] = (uint16_t)i;
    }
    sorted = receipt;
    qsort(ret_numbers, n, sizeof *ret_numbers, by_peak);
    return n;
}

static int by_bytes(const void *a, const void *b)
{
    const struct plim_rehearsal_phase *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

size_t plim_rehearsal_phases(const struct plim_rehearsal *receipt, uint32_t device,
                             struct plim_rehearsal_phase ret_phases[PLIM_REHEARSAL_MAX_PHASES])
{
    size_t n = 0;
    for (unsigned i = 1; i < PLIM_LEDGER_MAX_SITES; i++) {
        const struct plim_ledger_site *site = &receipt->ledger->site[i];
        struct plim_attribution origin;
        size_t k = 0;
        if (!site->hash || site->kind == PLIM_KIND_PINNED || site->device != device || !receipt->site_peak_bytes[i])
            continue;
        plim_attribution_of(&receipt->ledger->stack[i], &origin);
        while (k < n && !plim_attribution_is_same_phase(ret_phases[k].name, origin.phase))
            k++;
        if (k == PLIM_REHEARSAL_MAX_PHASES)
            continue;
        if (k == n)
            ret_phases[n++] = (struct plim_rehearsal_phase){ origin.phase, 0 };
        ret_phases[k].bytes += receipt->site_peak_bytes[i];
    }
    qsort(ret_phases, n, sizeof *ret_phases, by_bytes);
    return n;
}

void plim_rehearsal_describe(const struct plim_card *card, struct plim_ledger_card *ret_card)
{
    struct plim_overhead_band context, kernels, cublas;
    enum { DEFAULT_SM_COUNT = 64, DEFAULT_BUS_BITS = 256, DEFAULT_CAPABILITY = 89 };
    plim_overhead_fixed(card, &context, &kernels, &cublas);
    snprintf(ret_card->name, sizeof ret_card->name, "%s%.70s", card->vendor == PLIM_VENDOR_NVIDIA ? "NVIDIA " : "",
             card->name);
    ret_card->total_bytes = card->total_bytes;
    ret_card->reserved_bytes = card->reserved_bytes;
    ret_card->others_bytes = card->others_bytes;
    ret_card->compute_capability = card->compute_capability ? card->compute_capability : DEFAULT_CAPABILITY;
    ret_card->sm_count = card->sm_count ? card->sm_count : DEFAULT_SM_COUNT;
    ret_card->bus_bits = DEFAULT_BUS_BITS;
    ret_card->context = (struct plim_ledger_band){ context.bytes, context.low_bytes, context.high_bytes };
    ret_card->kernels = (struct plim_ledger_band){ kernels.bytes, kernels.low_bytes, kernels.high_bytes };
    ret_card->cublas = (struct plim_ledger_band){ cublas.bytes, cublas.low_bytes, cublas.high_bytes };
}
