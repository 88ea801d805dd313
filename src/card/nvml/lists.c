/* SPDX-License-Identifier: MIT */
/*
 * The lists overlap, and their entries have four sizes: 16 bytes in the first version of the functions, 24 in the
 * second, and in the third 24 or, with some drivers of the branch 535, 32 (pynvml issue 50, go-nvml issue 75). The name
 * of the function does not tell which: the array is filled with a pattern, and how far the driver wrote tells.
 */
#include "card/nvml/lists.h"

#include "base/limits.h"
#include "base/mem.h"
#include "card/sample.h"

#include <string.h>

enum {
    PATTERN = 0xA5,
    V1_BYTES = 16,
    V2_BYTES = 24,
    V535_BYTES = 32,
    MAX_PID = 4 << 20,  /* PID_MAX_LIMIT of Linux (include/linux/threads.h) */
    MAX_INSTANCE = 128, /* there are no more than 14 of a card */
    TRIES = 4,          /* processes may start between the call for the number and that for the list */
};

/* The beginnings of nvmlProcessInfo_v1_t and nvmlProcessInfo_v2_t (nvml.h 12.x). */
struct entry {
    unsigned pid;
    unsigned long long used_bytes; /* all bits set: not available, as under Windows and WSL */
    unsigned gpu_instance, compute_instance;
};

_Static_assert(sizeof(struct entry) == V2_BYTES, "nvmlProcessInfo_v2_t");

static struct entry entry_at(const unsigned char *raw, uint32_t i, size_t stride)
{
    struct entry entry = { .gpu_instance = UINT32_MAX, .compute_instance = UINT32_MAX };
    memcpy(&entry, raw + i * stride, stride < sizeof entry ? stride : sizeof entry);
    return entry;
}

/* --- the size of an entry --- */

static bool is_instance(unsigned number) { return number < MAX_INSTANCE || number == UINT32_MAX; }

/* True when all entries may be some when they have this size. */
static bool is_sensible(const unsigned char *raw, uint32_t n, size_t stride)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct entry entry = entry_at(raw, i, stride);
        if (entry.pid == 0 || entry.pid > MAX_PID || !is_instance(entry.gpu_instance) ||
            !is_instance(entry.compute_instance))
            return false;
    }
    return true;
}

/*
 * The size of an entry of the third version, when n of `room` entries were written over the pattern. A driver that
 * clears the whole array first writes to the end of what it takes for the array.
 */
static size_t find_stride(const unsigned char *raw, uint32_t n, uint32_t room)
{
    size_t end = (size_t)room * V535_BYTES;
    while (end > 0 && raw[end - 1] == PATTERN)
        end--;
    const bool is_larger =
        (end > (size_t)n * V2_BYTES && end <= (size_t)n * V535_BYTES) || end > (size_t)room * V2_BYTES;
    const size_t stride = is_larger ? V535_BYTES : V2_BYTES, other = is_larger ? V2_BYTES : V535_BYTES;
    return is_sensible(raw, n, stride) || !is_sensible(raw, n, other) ? stride : other;
}

/* --- one list --- */

static int grow_raw(struct plim_nvml_processes *processes, uint32_t n)
{
    if (n > processes->raw_room) {
        unsigned char *raw = plim_realloc(processes->raw, n, V535_BYTES);
        if (!raw)
            return PLIM_E_NOMEM;
        processes->raw = raw;
        processes->raw_room = n;
    }
    memset(processes->raw, PATTERN, (size_t)processes->raw_room * V535_BYTES);
    return 0;
}

/* Call one version of a list's function. With room for 0 entries it returns their number. */
static int call(plim_nvml_list list, plim_nvml_device device, struct plim_nvml_processes *processes, uint32_t *ret_n)
{
    unsigned n = 0;
    int status = list(device, &n, NULL);
    *ret_n = 0;
    if (status == PLIM_NVML_SUCCESS && n > 0)
        status = PLIM_NVML_INSUFFICIENT_SIZE;
    for (int i = 0; i < TRIES && status == PLIM_NVML_INSUFFICIENT_SIZE; i++) {
        const uint32_t n_wanted = n < PLIM_MAX_CARD_PROCESSES ? 2 * n + 5 : 2 * PLIM_MAX_CARD_PROCESSES;
        const int result = grow_raw(processes, n_wanted);
        if (result)
            return result;
        n = processes->raw_room;
        status = list(device, &n, processes->raw);
        if (status == PLIM_NVML_SUCCESS)
            *ret_n = n < processes->raw_room ? n : processes->raw_room;
    }
    return status;
}

static int add(struct plim_nvml_processes *processes, const struct entry *entry, unsigned context)
{
    const bool has_bytes = entry->used_bytes <= (unsigned long long)PLIM_MAX_CARD_BYTES;
    const int64_t bytes = has_bytes ? (int64_t)entry->used_bytes : -1;
    for (uint32_t i = 0; i < processes->n; i++) {
        struct plim_nvml_process *known = &processes->process[i];
        if (known->pid == entry->pid && known->gpu_instance == entry->gpu_instance &&
            known->compute_instance == entry->compute_instance) {
            known->contexts |= context;
            known->bytes = bytes > known->bytes ? bytes : known->bytes; /* of the whole process in each list */
            return 0;
        }
    }
    if (processes->n == PLIM_MAX_CARD_PROCESSES)
        return 0;
    if (processes->n == processes->room) {
        const uint32_t room = processes->room ? 2 * processes->room : 16;
        struct plim_nvml_process *grown = plim_realloc(processes->process, room, sizeof *grown);
        if (!grown)
            return PLIM_E_NOMEM;
        processes->process = grown;
        processes->room = room;
    }
    processes->process[processes->n++] = (struct plim_nvml_process){
        .pid = entry->pid,
        .gpu_instance = entry->gpu_instance,
        .compute_instance = entry->compute_instance,
        .contexts = context,
        .bytes = bytes,
    };
    return 0;
}

static int read_list(const plim_nvml_list versions[3], plim_nvml_device device, unsigned context,
                     struct plim_nvml_processes *processes)
{
    int status = PLIM_NVML_FUNCTION_NOT_FOUND;
    uint32_t n = 0, version = 0;
    for (; version < 3; version++) {
        if (versions[version])
            status = call(versions[version], device, processes, &n);
        if (status != PLIM_NVML_FUNCTION_NOT_FOUND)
            break;
    }
    if (status != PLIM_NVML_SUCCESS || n == 0)
        return status;
    const size_t stride = version == 0   ? find_stride(processes->raw, n, processes->raw_room)
                          : version == 1 ? V2_BYTES
                                         : V1_BYTES;
    for (uint32_t i = 0; i < n; i++) {
        const struct entry entry = entry_at(processes->raw, i, stride);
        const bool is_process = entry.pid > 0 && entry.pid <= MAX_PID; /* the rest are no rows of a process */
        const int result = is_process ? add(processes, &entry, context) : 0;
        if (result)
            return result;
    }
    return PLIM_NVML_SUCCESS;
}

/* --- */

int plim_nvml_list_processes(const struct plim_nvml *nvml, plim_nvml_device device,
                             struct plim_nvml_processes *processes)
{
    static const unsigned contexts[PLIM_NVML_LISTS] = { PLIM_CONTEXT_COMPUTE, PLIM_CONTEXT_GRAPHICS, PLIM_CONTEXT_MPS };
    int result = PLIM_NVML_SUCCESS;
    processes->n = 0;
    for (int i = 0; i < PLIM_NVML_LISTS; i++) {
        const int status = read_list(nvml->list[i], device, contexts[i], processes);
        if (status < 0)
            return status;
        result = i == 0 ? status : result;
    }
    return result;
}

void plim_nvml_processes_done(struct plim_nvml_processes *processes)
{
    plim_free(processes->process);
    plim_free(processes->raw);
    *processes = (struct plim_nvml_processes){ 0 };
}

uint32_t plim_nvml_count_compute(const struct plim_nvml *nvml, plim_nvml_device device)
{
    unsigned n = 0;
    int status = PLIM_NVML_FUNCTION_NOT_FOUND;
    for (int i = 0; i < 3 && status == PLIM_NVML_FUNCTION_NOT_FOUND; i++)
        if (nvml->list[0][i])
            status = nvml->list[0][i](device, &n, NULL);
    return status == PLIM_NVML_SUCCESS || status == PLIM_NVML_INSUFFICIENT_SIZE ? n : 0;
}
