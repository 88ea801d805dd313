/* SPDX-License-Identifier: MIT */
#include "card/nvml/peaks.h"

#include "base/limits.h"
#include "base/mem.h"

enum { AGAIN_MS = 10000 };

struct plim_nvml_peak {
    uint32_t pid;
    int64_t bytes; /* -1: the driver does not know it */
    int64_t asked_ms;
    bool is_seen; /* in this look */
};

void plim_nvml_peaks_open(const struct plim_nvml *nvml, plim_nvml_device device, struct plim_nvml_peaks *ret_peaks)
{
    unsigned mode = 0;
    *ret_peaks = (struct plim_nvml_peaks){
        .is_on = nvml->accounting && nvml->accounting_mode &&
                 nvml->accounting_mode(device, &mode) == PLIM_NVML_SUCCESS && mode == 1,
    };
}

static struct plim_nvml_peak *row_of(struct plim_nvml_peaks *peaks, uint32_t pid)
{
    for (uint32_t i = 0; i < peaks->n; i++)
        if (peaks->row[i].pid == pid)
            return &peaks->row[i];
    if (peaks->n == peaks->room) {
        const uint32_t room = peaks->room ? 2 * peaks->room : 16;
        struct plim_nvml_peak *grown = plim_realloc(peaks->row, room, sizeof *grown);
        if (!grown)
            return NULL;
        peaks->row = grown;
        peaks->room = room;
    }
    peaks->row[peaks->n] = (struct plim_nvml_peak){ .pid = pid, .bytes = -1 };
    return &peaks->row[peaks->n++];
}

int64_t plim_nvml_peak_of(const struct plim_nvml *nvml, plim_nvml_device device, struct plim_nvml_peaks *peaks,
                          uint32_t pid, int64_t bytes, int64_t now_ms)
{
    struct plim_nvml_peak *row = peaks->is_on ? row_of(peaks, pid) : NULL;
    if (!row)
        return -1;
    row->is_seen = true;
    if (row->asked_ms == 0 || (row->bytes >= 0 && bytes > row->bytes) || now_ms - row->asked_ms >= AGAIN_MS) {
        struct plim_nvml_accounting stats = { 0 };
        const bool is_known = nvml->accounting(device, pid, &stats) == PLIM_NVML_SUCCESS &&
                              stats.max_memory_bytes <= (unsigned long long)PLIM_MAX_CARD_BYTES;
        row->bytes = is_known ? (int64_t)stats.max_memory_bytes : -1;
        row->asked_ms = now_ms;
    }
    return row->bytes;
}

void plim_nvml_peaks_sweep(struct plim_nvml_peaks *peaks)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < peaks->n; i++)
        if (peaks->row[i].is_seen) {
            peaks->row[n] = peaks->row[i];
            peaks->row[n++].is_seen = false;
        }
    peaks->n = n;
}

void plim_nvml_peaks_done(struct plim_nvml_peaks *peaks)
{
    plim_free(peaks->row);
    *peaks = (struct plim_nvml_peaks){ 0 };
}
