/* SPDX-License-Identifier: MIT */
#include "rehearse/attribution.h"
#include "rehearse/parts.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)PLIM_REHEARSAL_MAX_CALL_SITES >= (int)PLIM_LEDGER_MAX_SITES,
               "a rehearsal has room for every call site");
_Static_assert((int)PLIM_REHEARSAL_MAX_CARDS >= (int)PLIM_LEDGER_MAX_CARDS, "a rehearsal has room for every card");

enum plim_allocation_kind plim_rehearsal_kind(uint32_t ledger_kind)
{
    static const enum plim_allocation_kind kinds[PLIM_KIND_MAX_] = {
        [PLIM_KIND_CONTEXT] = PLIM_ALLOCATION_CONTEXT,   [PLIM_KIND_KERNELS] = PLIM_ALLOCATION_KERNELS,
        [PLIM_KIND_ALLOC] = PLIM_ALLOCATION_MALLOC,      [PLIM_KIND_VMM] = PLIM_ALLOCATION_POOL,
        [PLIM_KIND_CUBLAS] = PLIM_ALLOCATION_CUBLAS,     [PLIM_KIND_MANAGED] = PLIM_ALLOCATION_MANAGED,
        [PLIM_KIND_PINNED] = PLIM_ALLOCATION_PINNED,     [PLIM_KIND_NCCL] = PLIM_ALLOCATION_NCCL,
        [PLIM_KIND_LIBRARY] = PLIM_ALLOCATION_LIBRARIES,
    };
    return ledger_kind < PLIM_KIND_MAX_ ? kinds[ledger_kind] : PLIM_ALLOCATION_UNKNOWN;
}

void plim_call_sites_copy(const struct plim_ledger *ledger, struct plim_rehearsal *rehearsal)
{
    rehearsal->n_call_sites = 0;
    for (uint32_t i = 1; i < PLIM_LEDGER_MAX_SITES; i++) {
        const struct plim_ledger_site *site = &ledger->site[i];
        const uint32_t device = site->kind == PLIM_KIND_PINNED ? PLIM_REHEARSAL_HOST : site->device;
        if (!site->hash || (device >= rehearsal->n_cards && device != PLIM_REHEARSAL_HOST))
            continue;
        rehearsal->call_site[rehearsal->n_call_sites++] =
            (struct plim_call_site){ .device = device,
                                     .number = i,
                                     .kind = plim_rehearsal_kind(site->kind),
                                     .pillar = PLIM_PILLAR_MAX_,
                                     .peak_bytes = plim_ledger_site_peak(ledger, site),
                                     .final_bytes = site->live_bytes,
                                     .n_requests = site->n_taken,
                                     .native = ledger->stack[i].native,
                                     .python = ledger->stack[i].python };
    }
}

void plim_call_sites_attribute(const struct plim_ledger *ledger, struct plim_rehearsal *rehearsal)
{
    for (uint32_t i = 0; i < rehearsal->n_call_sites; i++) {
        struct plim_call_site *site = &rehearsal->call_site[i];
        struct plim_attribution attribution;
        plim_attribution_of(&ledger->stack[site->number], &attribution);
        site->label = attribution.label;
        site->pillar = attribution.pillar;
        site->phase = attribution.phase;
        memcpy(site->where, attribution.where, sizeof site->where);
    }
}

static int by_device_and_peak(const void *a, const void *b)
{
    const struct plim_call_site *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes > y->peak_bytes ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

void plim_call_sites_sort(struct plim_rehearsal *rehearsal)
{
    qsort(rehearsal->call_site, rehearsal->n_call_sites, sizeof *rehearsal->call_site, by_device_and_peak);
}

static int by_bytes(const void *a, const void *b)
{
    const struct plim_rehearsal_phase *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

void plim_rehearsal_add_phases(struct plim_rehearsal *rehearsal, uint32_t device)
{
    struct plim_rehearsal_card *card = &rehearsal->card[device];
    card->n_phases = 0;
    for (uint32_t i = 0; i < rehearsal->n_call_sites; i++) {
        const struct plim_call_site *site = &rehearsal->call_site[i];
        uint32_t k = 0;
        if (site->device != device || !site->peak_bytes)
            continue;
        while (k < card->n_phases && !plim_attribution_is_same_phase(card->phase[k].name, site->phase))
            k++;
        if (k == PLIM_REHEARSAL_MAX_PHASES)
            continue;
        if (k == card->n_phases)
            card->phase[card->n_phases++] = (struct plim_rehearsal_phase){ site->phase, 0 };
        card->phase[k].bytes += site->peak_bytes;
    }
    qsort(card->phase, card->n_phases, sizeof *card->phase, by_bytes);
}
