/* SPDX-License-Identifier: MIT */
/*
 * Live cards through NVML, which is opened at run time: Plimsoll neither needs a driver to be built nor to run. Only
 * the parts of NVML's documented interface that are called are declared here, with the sizes it documents.
 *
 * Traps: the second version of the memory query wants its size and version packed into one number; on systems with
 * unified memory the query is not supported; MIG slices are devices of their own.
 */
#include "plimsoll/card.h"

#include "base/error.h"
#include "base/system.h"
#include "base/units.h"
#include "card/nvml_library.h"

#include <stdio.h>
#include <string.h>

/* --- NVML, as documented by NVIDIA (nvml.h of the 12.x and 13.x toolkits) --- */

typedef struct nvml_device *nvml_device;

struct memory_info {
    unsigned long long total, free, used;
};

struct memory_info_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

_Static_assert(sizeof(struct memory_info) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct memory_info_v2) == 40, "nvmlMemory_v2_t");

enum {
    NVML_SUCCESS = 0,
    NVML_NAME_BYTES = 96,
    NVML_MEMORY_V2 = sizeof(struct memory_info_v2) | 2u << 24, /* not plain 2, as the manual has it */
};

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, nvml_device *);
    int (*name)(nvml_device, char *, unsigned);
    int (*uuid)(nvml_device, char *, unsigned);
    int (*memory)(nvml_device, struct memory_info *);
    /* not in every driver */
    int (*memory_v2)(nvml_device, struct memory_info_v2 *);
    int (*capability)(nvml_device, int *, int *);
    int (*compute_processes)(nvml_device, unsigned *, void *);
    int (*mig_mode)(nvml_device, unsigned *, unsigned *);
    int (*mig_max)(nvml_device, unsigned *);
    int (*mig_by_index)(nvml_device, unsigned, nvml_device *);
};

static bool load(struct nvml *nvml, const char *path, char why[PLIM_LIBRARY_WHY_BYTES])
{
    const struct {
        const char *symbol;
        void *slot;
        bool is_needed;
    } symbols[] = {
        { "nvmlInit_v2", &nvml->init, true },
        { "nvmlShutdown", &nvml->shutdown, true },
        { "nvmlErrorString", &nvml->error_string, true },
        { "nvmlDeviceGetCount_v2", &nvml->count, true },
        { "nvmlDeviceGetHandleByIndex_v2", &nvml->by_index, true },
        { "nvmlDeviceGetName", &nvml->name, true },
        { "nvmlDeviceGetUUID", &nvml->uuid, true },
        { "nvmlDeviceGetMemoryInfo", &nvml->memory, true },
        { "nvmlDeviceGetMemoryInfo_v2", &nvml->memory_v2, false },
        { "nvmlDeviceGetCudaComputeCapability", &nvml->capability, false },
        { "nvmlDeviceGetComputeRunningProcesses_v3", &nvml->compute_processes, false },
        { "nvmlDeviceGetMigMode", &nvml->mig_mode, false },
        { "nvmlDeviceGetMaxMigDeviceCount", &nvml->mig_max, false },
        { "nvmlDeviceGetMigDeviceHandleByIndex", &nvml->mig_by_index, false },
    };
    *nvml = (struct nvml){ .library = plim_system_library(path, why) };
    if (!nvml->library)
        return false;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void (*address)(void);
        plim_system_symbol(nvml->library, symbols[i].symbol, &address);
        if (!address && symbols[i].is_needed)
            return false;
        memcpy(symbols[i].slot, &address, sizeof address); /* the slots are of other functions' types */
    }
    return true;
}

/* --- one card --- */

/* Add the catalogue's figures that the driver lacks, those of a card of this name and about this size. */
static void complete_from_catalogue(struct plim_card *card)
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

static bool read_memory(const struct nvml *nvml, nvml_device device, struct plim_card *card)
{
    struct memory_info_v2 v2 = { .version = NVML_MEMORY_V2 };
    struct memory_info v1 = { 0 };
    uint64_t free_bytes;
    if (nvml->memory_v2 && nvml->memory_v2(device, &v2) == NVML_SUCCESS && v2.total > 0) {
        card->total_bytes = v2.total;
        card->reserved_bytes = v2.reserved;
        card->reserved_basis = PLIM_BASIS_MEASURED;
        free_bytes = v2.free;
    } else if (nvml->memory(device, &v1) == NVML_SUCCESS && v1.total > 0) {
        card->total_bytes = v1.total;
        free_bytes = v1.free;
    } else {
        return false;
    }
    card->total_low_bytes = card->total_bytes;
    card->total_basis = PLIM_BASIS_MEASURED;
    card->reserved_low_bytes = card->reserved_high_bytes = card->reserved_bytes;
    /* "used" counts the reserved part in some drivers and not in others; "free" is the same in all */
    uint64_t taken_bytes = free_bytes + card->reserved_bytes;
    card->others_bytes = taken_bytes < card->total_bytes ? card->total_bytes - taken_bytes : 0;
    return true;
}

/* Unified memory: the card has no memory of its own to report. */
static void use_host_memory(struct plim_card *card)
{
    struct plim_host host;
    plim_host_live(NULL, &host);
    card->is_unified = true;
    card->total_basis = PLIM_BASIS_MEASURED;
    card->total_bytes = card->total_low_bytes = card->shared_bytes = host.total_bytes;
    card->others_bytes = host.free_bytes < host.total_bytes ? host.total_bytes - host.free_bytes : 0;
}

static void read_card(const struct nvml *nvml, nvml_device device, struct plim_card *card)
{
    char name[NVML_NAME_BYTES] = "";
    int major = 0, minor = 0;
    unsigned n_processes = 0;
    *card = (struct plim_card){ .vendor = PLIM_VENDOR_NVIDIA, .is_live = true };
    if (nvml->name(device, name, sizeof name) != NVML_SUCCESS)
        snprintf(name, sizeof name, "NVIDIA GPU");
    snprintf(card->name, sizeof card->name, "%.79s", name);
    if (nvml->uuid(device, card->uuid, sizeof card->uuid) != NVML_SUCCESS)
        card->uuid[0] = '\0';
    if (nvml->capability && nvml->capability(device, &major, &minor) == NVML_SUCCESS)
        card->compute_capability = (uint16_t)(major * 10 + minor);
    if (!read_memory(nvml, device, card))
        use_host_memory(card);
    /* with room for 0 processes it returns their number */
    if (nvml->compute_processes) {
        nvml->compute_processes(device, &n_processes, NULL);
        card->n_others = n_processes;
    }
    complete_from_catalogue(card);
}

/* A card in MIG mode counts as its slices: CUDA sees only those. */
static bool is_sliced(const struct nvml *nvml, nvml_device device)
{
    unsigned mode = 0, pending = 0;
    return nvml->mig_mode && nvml->mig_max && nvml->mig_by_index &&
           nvml->mig_mode(device, &mode, &pending) == NVML_SUCCESS && mode == 1;
}

static uint32_t read_slices(const struct nvml *nvml, nvml_device device, struct plim_card *cards, uint32_t max)
{
    unsigned n_slots = 0;
    uint32_t n = 0;
    nvml_device slice;
    nvml->mig_max(device, &n_slots);
    for (unsigned i = 0; i < n_slots && n < max; i++)
        if (nvml->mig_by_index(device, i, &slice) == NVML_SUCCESS)
            read_card(nvml, slice, &cards[n++]);
    return n;
}

/* --- */

static int read_all(const struct nvml *nvml, struct plim_card *cards, uint32_t max, uint32_t *ret_n,
                    struct plim_error *reterr)
{
    unsigned count = 0;
    uint32_t n = 0;
    int result = nvml->count(&count);
    if (result != NVML_SUCCESS)
        return plim_fail(reterr, PLIM_E_NO_DRIVER, PLIM_NO_OFFSET, "NVML cannot count the GPUs: %.100s",
                         nvml->error_string(result));
    for (unsigned i = 0; i < count && n < max; i++) {
        nvml_device device;
        if (nvml->by_index(i, &device) != NVML_SUCCESS)
            continue; /* fallen off the bus, or not accessible to this user */
        if (is_sliced(nvml, device))
            n += read_slices(nvml, device, cards + n, max - n);
        else
            read_card(nvml, device, &cards[n++]);
    }
    *ret_n = n;
    return 0;
}

int plim_cards_live(const char *library, struct plim_card *ret_cards, uint32_t max, uint32_t *ret_n,
                    struct plim_error *reterr)
{
    struct nvml nvml;
    char why[PLIM_LIBRARY_WHY_BYTES];
    int result = 0;
    *ret_n = 0;
    if (!load(&nvml, library ? library : PLIM_NVML_LIBRARY, why)) {
        if (nvml.library)
            plim_system_library_close(nvml.library);
        return why[0] ? plim_fail(reterr, PLIM_E_NO_DRIVER, PLIM_NO_OFFSET, "NVML cannot be loaded: %.120s", why) : 0;
    }
    int status = nvml.init();
    if (status == NVML_SUCCESS) {
        result = read_all(&nvml, ret_cards, max, ret_n, reterr);
        nvml.shutdown();
    } else {
        result = plim_fail(reterr, PLIM_E_NO_DRIVER, PLIM_NO_OFFSET, "the NVIDIA driver does not answer: %.100s",
                           nvml.error_string(status));
        plim_error_hint(reterr, "try 'nvidia-smi'; name a card with --card to go on without one");
    }
    plim_system_library_close(nvml.library);
    return result;
}
