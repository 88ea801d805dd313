/* SPDX-License-Identifier: MIT */
#include "card/nvml/activity.h"

#include "base/limits.h"
#include "base/mem.h"
#include "plimsoll/error.h"

enum { AHEAD_MS = 60000 }; /* a clock that was just set */

/* Drivers return rows that are older than asked for, of the future, or above 100 % (nvtop issue 110). */
static bool is_possible(const struct plim_nvml_process_utilization *row, unsigned long long after_us,
                        int64_t now_unix_ms)
{
    const int64_t latest_ms = now_unix_ms + AHEAD_MS;
    return row->pid > 0 && row->timestamp_us > after_us && row->timestamp_us / 1000 <= (uint64_t)latest_ms &&
           row->sm_percent <= 100 && row->memory_percent <= 100 && row->encoder_percent <= 100 &&
           row->decoder_percent <= 100;
}

/* Keep the possible rows, of each process the last. */
static void sort_out(struct plim_nvml_activity *activity, unsigned n_raw, int64_t now_unix_ms)
{
    unsigned long long newest_us = activity->last_us;
    activity->n_rows = 0;
    for (unsigned i = 0; i < n_raw; i++) {
        const struct plim_nvml_process_utilization row = activity->row[i];
        if (!is_possible(&row, activity->last_us, now_unix_ms))
            continue;
        newest_us = row.timestamp_us > newest_us ? row.timestamp_us : newest_us;
        unsigned at = 0;
        while (at < activity->n_rows && activity->row[at].pid != row.pid)
            at++;
        const bool is_new = at == activity->n_rows;
        if (is_new || row.timestamp_us > activity->row[at].timestamp_us)
            activity->row[at] = row;
        activity->n_rows += is_new;
    }
    activity->last_us = newest_us;
}

static int ask(const struct plim_nvml *nvml, plim_nvml_device device, struct plim_nvml_activity *activity,
               unsigned *ret_n, int *ret_status)
{
    unsigned n = 0;
    *ret_n = 0;
    *ret_status = nvml->process_utilization(device, NULL, &n, activity->last_us);
    if (*ret_status != PLIM_NVML_INSUFFICIENT_SIZE)
        return 0;
    const unsigned n_wanted = n < PLIM_MAX_CARD_PROCESSES ? n + 8 : PLIM_MAX_CARD_PROCESSES;
    if (n_wanted > activity->room) {
        void *grown = plim_realloc(activity->row, n_wanted, sizeof *activity->row);
        if (!grown)
            return PLIM_E_NOMEM;
        activity->row = grown;
        activity->room = n_wanted;
    }
    for (unsigned i = 0; i < activity->room; i++)
        activity->row[i].pid = 0; /* rows that the driver counts and does not write are of no process */
    n = activity->room;
    *ret_status = nvml->process_utilization(device, activity->row, &n, activity->last_us);
    *ret_n = *ret_status != PLIM_NVML_SUCCESS ? 0 : n < activity->room ? n : activity->room;
    return 0;
}

int plim_nvml_read_activity(const struct plim_nvml *nvml, plim_nvml_device device, int64_t now_ms, int64_t now_unix_ms,
                            struct plim_nvml_activity *activity)
{
    unsigned n = 0;
    int status = PLIM_NVML_FUNCTION_NOT_FOUND;
    const int result = nvml->process_utilization ? ask(nvml, device, activity, &n, &status) : 0;
    activity->n_rows = 0;
    activity->window_ms = -1;
    if (status != PLIM_NVML_SUCCESS && status != PLIM_NVML_NOT_FOUND)
        return result;
    activity->window_ms = activity->asked_ms ? now_ms - activity->asked_ms : 0;
    activity->asked_ms = now_ms;
    sort_out(activity, n, now_unix_ms);
    return result;
}

const struct plim_nvml_process_utilization *plim_nvml_activity_of(const struct plim_nvml_activity *activity,
                                                                  uint32_t pid)
{
    for (unsigned i = 0; i < activity->n_rows; i++)
        if (activity->row[i].pid == pid)
            return &activity->row[i];
    return NULL;
}

void plim_nvml_activity_done(struct plim_nvml_activity *activity)
{
    plim_free(activity->row);
    *activity = (struct plim_nvml_activity){ 0 };
}
