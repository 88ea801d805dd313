/* SPDX-License-Identifier: MIT */
/*
 * Live cards through NVML.
 *
 * Traps: the second version of the memory query wants its size and version packed into one number; on systems with
 * unified memory the query is not supported; MIG slices are devices of their own.
 */
#include "card/nvml/cards.h"

#include "base/error.h"
#include "base/limits.h"
#include "card/nvml/lists.h"

#include <stdio.h>

/* --- one card --- */

/* Add the catalogue's figures that the driver lacks, those of a card of this name and about this size. */
void plim_nvml_complete(struct plim_card *card)
{
    struct plim_card known;
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        if (!plim_catalogue_matches(i, card->name))
            continue;
        plim_catalogue_card(i, &known);
        uint64_t difference = known.total_bytes > card->total_bytes ? known.total_bytes - card->total_bytes
                                                                    : card->total_bytes - known.total_bytes;
        if (difference < card->total_bytes / 8) {
            card->bandwidth_bytes_per_s = known.bandwidth_bytes_per_s;
            card->sm_count = known.sm_count;
            return;
        }
    }
}

static bool is_memory(uint64_t total_bytes) { return total_bytes > 0 && total_bytes <= PLIM_MAX_CARD_BYTES; }

/* NVML's answer: PLIM_NVML_NOT_SUPPORTED when the card has no memory of its own. */
static int read_own_memory(const struct plim_nvml *nvml, plim_nvml_device device, struct plim_card *card)
{
    struct plim_nvml_memory_v2 v2 = { .version = PLIM_NVML_MEMORY_V2 };
    struct plim_nvml_memory v1 = { 0 };
    uint64_t free_bytes;
    if (nvml->memory_v2 && nvml->memory_v2(device, &v2) == PLIM_NVML_SUCCESS && is_memory(v2.total) &&
        v2.reserved <= v2.total) {
        card->total_bytes = v2.total;
        card->reserved_bytes = v2.reserved;
        card->reserved_basis = PLIM_BASIS_MEASURED;
        free_bytes = v2.free;
    } else {
        const int status = nvml->memory(device, &v1);
        if (status != PLIM_NVML_SUCCESS || v1.total == 0)
            return status != PLIM_NVML_SUCCESS ? status : PLIM_NVML_NOT_SUPPORTED;
        if (!is_memory(v1.total))
            return PLIM_NVML_UNKNOWN;
        card->total_bytes = v1.total;
        free_bytes = v1.free;
    }
    card->total_low_bytes = card->total_bytes;
    card->total_basis = PLIM_BASIS_MEASURED;
    card->reserved_low_bytes = card->reserved_high_bytes = card->reserved_bytes;
    /* "used" counts the reserved part in some drivers and not in others; "free" is the same in all */
    const uint64_t taken_bytes =
        card->reserved_bytes < UINT64_MAX - free_bytes ? free_bytes + card->reserved_bytes : UINT64_MAX;
    card->others_bytes = taken_bytes < card->total_bytes ? card->total_bytes - taken_bytes : 0;
    return PLIM_NVML_SUCCESS;
}

/* Unified memory: the card has no memory of its own to report. */
static void use_host_memory(const char *root, struct plim_card *card)
{
    struct plim_host host;
    plim_host_live(root, &host);
    card->is_unified = true;
    card->total_basis = PLIM_BASIS_MEASURED;
    card->total_bytes = card->total_low_bytes = card->shared_bytes = host.total_bytes;
    card->others_bytes = host.free_bytes < host.total_bytes ? host.total_bytes - host.free_bytes : 0;
}

int plim_nvml_read_memory(const struct plim_nvml *nvml, plim_nvml_device device, const char *root,
                          struct plim_card *card)
{
    const int status = read_own_memory(nvml, device, card);
    if (status != PLIM_NVML_NOT_SUPPORTED)
        return status;
    use_host_memory(root, card);
    return PLIM_NVML_SUCCESS;
}

void plim_nvml_describe(const struct plim_nvml *nvml, plim_nvml_device device, struct plim_card *ret_card)
{
    char name[PLIM_NVML_NAME_BYTES] = "";
    int major = 0, minor = 0;
    struct plim_card *card = ret_card;
    *card = (struct plim_card){ .vendor = PLIM_VENDOR_NVIDIA, .is_live = true };
    if (nvml->name(device, name, sizeof name) != PLIM_NVML_SUCCESS)
        snprintf(name, sizeof name, "NVIDIA GPU");
    snprintf(card->name, sizeof card->name, "%.79s", name);
    if (nvml->uuid(device, card->uuid, sizeof card->uuid) != PLIM_NVML_SUCCESS)
        card->uuid[0] = '\0';
    if (nvml->capability && nvml->capability(device, &major, &minor) == PLIM_NVML_SUCCESS)
        card->compute_capability = (uint16_t)(major * 10 + minor);
}

/* --- all cards --- */

/* A card in MIG mode counts as its instances: CUDA sees only those. */
static bool is_parted(const struct plim_nvml *nvml, plim_nvml_device device)
{
    unsigned mode = 0, pending = 0;
    return nvml->mig_mode && nvml->mig_max && nvml->mig_by_index &&
           nvml->mig_mode(device, &mode, &pending) == PLIM_NVML_SUCCESS && mode == 1;
}

enum { MAX_INSTANCES = 64 }; /* of a card; there are 7 to 8 */

uint32_t plim_nvml_cards_of(const struct plim_nvml *nvml, plim_nvml_device device, unsigned index,
                            struct plim_nvml_card *ret_cards, uint32_t max)
{
    unsigned n_slots = 0;
    uint32_t n = 0;
    plim_nvml_device part;
    if (max == 0)
        return 0;
    if (!is_parted(nvml, device)) {
        ret_cards[0] = (struct plim_nvml_card){ .device = device, .index = index };
        return 1;
    }
    if (nvml->mig_max(device, &n_slots) != PLIM_NVML_SUCCESS)
        return 0;
    for (unsigned i = 0; i < n_slots && i < MAX_INSTANCES && n < max; i++)
        if (nvml->mig_by_index(device, i, &part) == PLIM_NVML_SUCCESS) {
            ret_cards[n] = (struct plim_nvml_card){ .device = part, .whole = device, .index = index, .instance = n };
            n++;
        }
    return n;
}

uint32_t plim_nvml_cards_at(const struct plim_nvml *nvml, unsigned index, struct plim_nvml_card *ret_cards,
                            uint32_t max)
{
    plim_nvml_device device;
    if (nvml->by_index(index, &device) != PLIM_NVML_SUCCESS)
        return 0; /* fallen off the bus, or not accessible to this user */
    return plim_nvml_cards_of(nvml, device, index, ret_cards, max);
}

static int read_all(const struct plim_nvml *nvml, struct plim_card *cards, uint32_t max, uint32_t *ret_n,
                    struct plim_error *reterr)
{
    struct plim_nvml_card found[PLIM_MAX_DEVICES];
    unsigned count = 0;
    uint32_t n = 0;
    int result = nvml->count(&count);
    if (result != PLIM_NVML_SUCCESS)
        return plim_fail(reterr, PLIM_E_NO_DRIVER, PLIM_NO_OFFSET, "NVML cannot count the GPUs: %.100s",
                         nvml->error_string(result));
    for (unsigned i = 0; i < count && n < max; i++) {
        const uint32_t left = max - n < PLIM_MAX_DEVICES ? max - n : PLIM_MAX_DEVICES;
        const uint32_t n_found = plim_nvml_cards_at(nvml, i, found, left);
        for (uint32_t k = 0; k < n_found; k++) {
            plim_nvml_describe(nvml, found[k].device, &cards[n]);
            if (plim_nvml_read_memory(nvml, found[k].device, NULL, &cards[n]) != PLIM_NVML_SUCCESS)
                continue; /* lost */
            plim_nvml_complete(&cards[n]);
            cards[n++].n_others = plim_nvml_count_compute(nvml, found[k].device);
        }
    }
    *ret_n = n;
    return 0;
}

int plim_cards_live(const char *library, struct plim_card *ret_cards, uint32_t max, uint32_t *ret_n,
                    struct plim_error *reterr)
{
    struct plim_nvml nvml;
    char why[160];
    int result = 0;
    *ret_n = 0;
    if (!plim_nvml_open(library, &nvml, why, sizeof why))
        return why[0] ? plim_fail(reterr, PLIM_E_NO_DRIVER, PLIM_NO_OFFSET, "NVML cannot be loaded: %.120s", why) : 0;
    int status = nvml.init();
    if (status == PLIM_NVML_SUCCESS) {
        result = read_all(&nvml, ret_cards, max, ret_n, reterr);
        nvml.shutdown();
    } else {
        result = plim_fail(reterr, PLIM_E_NO_DRIVER, PLIM_NO_OFFSET, "the NVIDIA driver does not answer: %.100s",
                           nvml.error_string(status));
        plim_error_hint(reterr, "try 'nvidia-smi'; name a card with --card to go on without one");
    }
    plim_nvml_close(&nvml);
    return result;
}
