/* SPDX-License-Identifier: MIT */
/*
 * libnvidia-ml.so.1: the cards of the rehearsal and the memory of each process, from the ledger. Like NVML it ignores
 * CUDA_VISIBLE_DEVICES and shows all cards.
 */
#include "vgpu/nvml/nvml.h"

#include "vgpu/nvml/nvml_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct plim_ledger *ledger;

/*
 * A function without a body was called: the receipt says so. stderr does not: most cards do not support many of these
 * functions.
 */
int plim_vgpu_unsupported(const char *function, const void *caller)
{
    (void)caller;
    if (ledger)
        plim_ledger_warn(ledger, "not_supported", function);
    return ledger ? NOT_SUPPORTED : UNINITIALIZED;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct plim_ledger *plim_nvml_ledger(void) { return ledger; }

/* --- library and system --- */

status nvmlInit_v2(void)
{
    const char *path = getenv("PLIM_VGPU_LEDGER");
    pthread_mutex_lock(&lock);
    if (!ledger && path)
        ledger = plim_ledger_open(path);
    pthread_mutex_unlock(&lock);
    return ledger ? SUCCESS : DRIVER_NOT_LOADED;
}

status nvmlInit(void) { return nvmlInit_v2(); }

status nvmlInitWithFlags(unsigned flags)
{
    (void)flags;
    return nvmlInit_v2();
}

status nvmlShutdown(void) { return ledger ? SUCCESS : UNINITIALIZED; }

const char *nvmlErrorString(status error)
{
    static const struct {
        status error;
        const char *text;
    } texts[] = {
        { SUCCESS, "Success" },
        { UNINITIALIZED, "Uninitialized" },
        { INVALID_ARGUMENT, "Invalid Argument" },
        { NOT_SUPPORTED, "Not Supported" },
        { NOT_FOUND, "Not Found" },
        { INSUFFICIENT_SIZE, "Insufficient Size" },
        { DRIVER_NOT_LOADED, "Driver Not Loaded" },
        { VERSION_MISMATCH, "Argument version mismatch" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].error == error)
            return texts[i].text;
    return "Unknown Error";
}

static status put_text(const char *text, char *to, unsigned size)
{
    if (!to || strlen(text) >= size)
        return to ? INSUFFICIENT_SIZE : INVALID_ARGUMENT;
    memcpy(to, text, strlen(text) + 1);
    return SUCCESS;
}

status nvmlSystemGetDriverVersion(char *text, unsigned size) { return put_text("595.00.00", text, size); }
status nvmlSystemGetNVMLVersion(char *text, unsigned size) { return put_text("13.595.00.00", text, size); }

status nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    if (version)
        *version = PLIM_DRIVER_VERSION;
    return version ? SUCCESS : INVALID_ARGUMENT;
}

status nvmlSystemGetCudaDriverVersion(int *version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

/* --- devices --- */

int plim_nvml_index(device card)
{
    return ledger && card >= ledger->card && card < ledger->card + plim_ledger_n_cards(ledger)
               ? (int)(card - ledger->card)
               : -1;
}

status nvmlDeviceGetCount_v2(unsigned *count)
{
    if (!ledger)
        return UNINITIALIZED;
    if (count)
        *count = plim_ledger_n_cards(ledger);
    return count ? SUCCESS : INVALID_ARGUMENT;
}

status nvmlDeviceGetCount(unsigned *count) { return nvmlDeviceGetCount_v2(count); }

status nvmlDeviceGetHandleByIndex_v2(unsigned index, device *card)
{
    if (!ledger)
        return UNINITIALIZED;
    if (index >= plim_ledger_n_cards(ledger) || !card)
        return INVALID_ARGUMENT;
    *card = &ledger->card[index];
    return SUCCESS;
}

status nvmlDeviceGetHandleByIndex(unsigned index, device *card) { return nvmlDeviceGetHandleByIndex_v2(index, card); }

enum { UUID_TEXT = 41, UUID_BYTES = 16 };

static void uuid_text(int index, char text[UUID_TEXT])
{
    unsigned char uuid[UUID_BYTES];
    int n = snprintf(text, UUID_TEXT, "GPU-");
    plim_card_uuid(index, uuid);
    for (int i = 0; i < UUID_BYTES; i++) {
        const bool has_dash = i == 4 || i == 6 || i == 8 || i == 10;
        n += snprintf(text + n, (size_t)(UUID_TEXT - n), "%s%02x", has_dash ? "-" : "", uuid[i]);
    }
}

status nvmlDeviceGetHandleByUUID(const char *wanted, device *card)
{
    char text[UUID_TEXT];
    for (unsigned i = 0; ledger && i < plim_ledger_n_cards(ledger); i++) {
        uuid_text((int)i, text);
        if (!strcmp(text, wanted))
            return nvmlDeviceGetHandleByIndex_v2(i, card);
    }
    return ledger ? NOT_FOUND : UNINITIALIZED;
}

status nvmlDeviceGetHandleByPciBusId_v2(const char *id, device *card)
{
    unsigned domain, bus;
    if (!ledger)
        return UNINITIALIZED;
    if (sscanf(id, "%x:%x:", &domain, &bus) != 2 || bus == 0 || bus > plim_ledger_n_cards(ledger))
        return NOT_FOUND;
    return nvmlDeviceGetHandleByIndex_v2(bus - 1, card);
}

status nvmlDeviceGetIndex(device card, unsigned *index)
{
    if (plim_nvml_index(card) < 0 || !index)
        return INVALID_ARGUMENT;
    *index = (unsigned)plim_nvml_index(card);
    return SUCCESS;
}

status nvmlDeviceGetName(device card, char *name, unsigned size)
{
    return plim_nvml_index(card) < 0 ? INVALID_ARGUMENT : put_text(card->name, name, size);
}

status nvmlDeviceGetUUID(device card, char *text, unsigned size)
{
    char uuid[UUID_TEXT];
    if (plim_nvml_index(card) < 0)
        return INVALID_ARGUMENT;
    uuid_text(plim_nvml_index(card), uuid);
    return put_text(uuid, text, size);
}

status nvmlDeviceGetPciInfo_v3(device card, struct nvml_pci *pci)
{
    const int index = plim_nvml_index(card);
    if (index < 0 || !pci)
        return INVALID_ARGUMENT;
    *pci = (struct nvml_pci){ .bus = (unsigned)index + 1, .device_id = card->pci_id };
    plim_card_pci(index, pci->legacy_id);
    snprintf(pci->id, sizeof pci->id, "0000%s", pci->legacy_id);
    return SUCCESS;
}

status nvmlDeviceGetCudaComputeCapability(device card, int *major, int *minor)
{
    if (plim_nvml_index(card) < 0)
        return INVALID_ARGUMENT;
    *major = (int)card->compute_capability / 10;
    *minor = (int)card->compute_capability % 10;
    return SUCCESS;
}

/* --- memory --- */

enum { MEMORY_V2 = sizeof(struct nvml_memory_info_v2) | 2u << 24 };

/* The older call counts the driver's reserve as used. */
status nvmlDeviceGetMemoryInfo(device card, struct nvml_memory_info *memory)
{
    if (plim_nvml_index(card) < 0 || !memory)
        return INVALID_ARGUMENT;
    plim_ledger_reap_of(ledger, plim_nvml_index(card), 0);
    memory->total = card->total_bytes;
    memory->free = plim_ledger_free_bytes(card);
    memory->used = memory->total - memory->free;
    return SUCCESS;
}

status nvmlDeviceGetMemoryInfo_v2(device card, struct nvml_memory_info_v2 *memory)
{
    struct nvml_memory_info plain;
    if (!memory)
        return INVALID_ARGUMENT;
    if (memory->version != MEMORY_V2)
        return VERSION_MISMATCH;
    status error = nvmlDeviceGetMemoryInfo(card, &plain);
    if (error)
        return error;
    memory->total = plain.total;
    memory->free = plain.free;
    memory->reserved = card->reserved_bytes;
    memory->used = plain.used - card->reserved_bytes;
    return SUCCESS;
}
