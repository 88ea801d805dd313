/* SPDX-License-Identifier: MIT */
/* The machine's parts of a bill: its devices, the driver's reserve, other processes, shared memory. */
#include "bill/bill.h"

#include <stddef.h>
#include <string.h>

void plim_bill_start(struct plim_bill *bill)
{
    bill->n_settings = bill->n_devices = 0;
    bill->capacity = (struct plim_capacity){ 0 };
    bill->verdict = PLIM_VERDICT_UNKNOWN;
    bill->limiting_device = 0;
    bill->limiting_line = NULL;
    bill->tokens_per_s_low = bill->tokens_per_s_high = 0;
    bill->is_bound = bill->is_at_most = bill->is_at_least = bill->is_contradicted = bill->is_refused = false;
    bill->refusal = bill->caveat = NULL;
}

static void start_card(struct plim_device_bill *device, const struct plim_card *card, uint32_t index)
{
    memset(device, 0, offsetof(struct plim_device_bill, line));
    device->index = index;
    device->total_bytes = card->total_bytes;
    device->total_low_bytes = card->total_low_bytes;
    device->free_bytes = plim_card_free_bytes(card);
    device->total_basis = card->total_basis;
}

static void start_host(struct plim_device_bill *device, const struct plim_host *host)
{
    memset(device, 0, offsetof(struct plim_device_bill, line));
    device->is_host = true;
    device->total_bytes = device->total_low_bytes = host->total_bytes;
    device->free_bytes = host->free_bytes;
    device->total_basis = host->is_assumed ? PLIM_BASIS_ASSUMED : PLIM_BASIS_MEASURED;
}

void plim_bill_add_devices(struct plim_bill *bill, const struct plim_machine *machine, uint32_t n_gpu)
{
    bill->n_devices = n_gpu + 1;
    for (uint32_t i = 0; i < n_gpu; i++)
        start_card(&bill->device[i], &machine->card[i], i);
    start_host(&bill->device[n_gpu], &machine->host);
}

void plim_bill_add_card(const struct plim_card *card, struct plim_device_bill *device)
{
    struct plim_line *line =
        plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "driver reserve", card->reserved_basis, card->reserved_bytes,
                           card->reserved_low_bytes, card->reserved_high_bytes);
    plim_line_because(line,
                      card->is_live                                 ? "as the driver reports it"
                      : card->reserved_basis == PLIM_BASIS_MEASURED ? "total less what programs see, on this card"
                                                                    : "total less what programs see, on similar cards",
                      NULL, 0);
    line = plim_bill_add(device, PLIM_PILLAR_OTHERS, "other processes", PLIM_BASIS_MEASURED, card->others_bytes);
    plim_line_because(
        line, card->n_others ? "held by %0 processes now" : "held now by processes that the driver does not list",
        (const uint64_t[]){ card->n_others }, 1);
}

/* --- unified memory --- */

void plim_bill_add_shared(struct plim_bill *bill, const struct plim_machine *machine)
{
    struct plim_device_bill *host = &bill->device[bill->n_devices - 1];
    for (uint32_t i = 0; i + 1 < bill->n_devices; i++) {
        const struct plim_device_bill *device = &bill->device[i];
        if (!machine->card[i].is_unified)
            continue;
        struct plim_line *line =
            plim_bill_add_band(host, PLIM_PILLAR_OTHERS, "the GPU's need", PLIM_BASIS_FORMULA, device->need_bytes,
                               device->need_low_bytes, device->need_high_bytes);
        plim_line_because(line, "gpu%0 has no memory of its own: its need comes out of this one",
                          (const uint64_t[]){ device->index }, 1);
    }
}

void plim_bill_judge_shared(struct plim_bill *bill, const struct plim_machine *machine)
{
    const struct plim_line *largest = bill->limiting_line;
    if (bill->n_devices == 0 || !bill->device[bill->limiting_device].is_host)
        return;
    for (uint32_t i = 0; i + 1 < bill->n_devices; i++)
        if (machine->card[i].is_unified)
            largest = plim_bill_largest_line(&bill->device[i], largest);
    bill->limiting_line = largest;
}
