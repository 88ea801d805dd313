/* SPDX-License-Identifier: MIT */
/*
 * How busy a card and its processes are, and what they have held: from the ledger. NVML defines the utilization of a
 * card as the share of the last sample period in which a kernel was executing. Kernels take no time on a virtual card,
 * so it is the share of ticks in which one ran (core/activity.h), rounded up: 0 means that none did. What a kernel
 * moved is not known, so the load of the memory is 0. Accounting is on.
 */
#include "vgpu/nvml/nvml.h"
#include "vgpu/nvml/nvml_api.h"

#include <time.h>

enum { PERIOD_US = 1000000, NOT_AVAILABLE = -1 /* NVML_VALUE_NOT_AVAILABLE */ };

static unsigned percent(uint64_t part, uint64_t whole)
{
    const uint64_t rounded_up = whole ? (100 * part + whole - 1) / whole : 0;
    return rounded_up < 100 ? (unsigned)rounded_up : 100;
}

/* What the clock of the wall showed when that of the ledger showed 0. NVML's times are those of the wall. */
static uint64_t wall_start_us(const struct plim_ledger *ledger)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    return (uint64_t)wall.tv_sec * 1000000 + (uint64_t)wall.tv_nsec / 1000 - plim_ledger_now_us(ledger);
}

/* --- of a card --- */

status nvmlDeviceGetUtilizationRates(device card, struct nvml_utilization *ret)
{
    const int index = plim_nvml_index(card);
    struct plim_ledger *ledger = plim_nvml_ledger();
    if (index < 0 || !ret)
        return INVALID_ARGUMENT;
    /* The last 48 whole ticks are in two seconds. */
    const uint64_t end = plim_activity_tick_of(plim_ledger_now_us(ledger));
    const uint64_t first = end < PLIM_ACTIVITY_TICKS ? 0 : end - PLIM_ACTIVITY_TICKS;
    uint64_t of_first = 0, of_last = 0;
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        const struct plim_activity *activity = &ledger->process[i].activity[index];
        if (!ledger->process[i].pid)
            continue;
        of_first |= plim_activity_of_second(activity, first / PLIM_ACTIVITY_TICKS);
        of_last |= plim_activity_of_second(activity, end / PLIM_ACTIVITY_TICKS);
    }
    const unsigned skipped = (unsigned)(first % PLIM_ACTIVITY_TICKS), wanted = (unsigned)(end % PLIM_ACTIVITY_TICKS);
    of_last &= ((uint64_t)1 << wanted) - 1;
    const int n = end < PLIM_ACTIVITY_TICKS ? __builtin_popcountll(of_last)
                                            : __builtin_popcountll(of_first >> skipped) + __builtin_popcountll(of_last);
    *ret = (struct nvml_utilization){ percent((uint64_t)n, PLIM_ACTIVITY_TICKS), 0 };
    return SUCCESS;
}

static status put_never_busy(device card, unsigned *value, unsigned *period_us)
{
    if (plim_nvml_index(card) < 0 || !value || !period_us)
        return INVALID_ARGUMENT;
    *value = 0;
    *period_us = PERIOD_US;
    return SUCCESS;
}

status nvmlDeviceGetEncoderUtilization(device card, unsigned *value, unsigned *period_us)
{
    return put_never_busy(card, value, period_us);
}

status nvmlDeviceGetDecoderUtilization(device card, unsigned *value, unsigned *period_us)
{
    return put_never_busy(card, value, period_us);
}

/* --- of its processes --- */

/* Between the tick of the last sample that the caller has seen (0: as far as is remembered) and now. */
struct period {
    uint64_t wall_us, now_us, first, last;
};

static struct period period_since(const struct plim_ledger *ledger, unsigned long long last_seen_us)
{
    const uint64_t wall_us = wall_start_us(ledger), now_us = plim_ledger_now_us(ledger);
    struct period period = { .wall_us = wall_us, .now_us = now_us, .last = plim_activity_tick_of(now_us) };
    const uint64_t most = (PLIM_ACTIVITY_SECONDS - 1) * PLIM_ACTIVITY_TICKS;
    if (last_seen_us > wall_us)
        period.first = plim_activity_tick_of(last_seen_us - wall_us) + 1;
    if (period.last > most && period.first < period.last - most)
        period.first = period.last - most;
    return period;
}

/* False: nothing of it ran on the card. */
static bool load_of(const struct plim_ledger_process *process, int card, const struct period *period,
                    struct nvml_process_load *ret)
{
    const uint64_t joined = plim_activity_tick_of(process->joined_us);
    const uint64_t first = joined > period->first ? joined : period->first;
    uint64_t latest = 0;
    const unsigned n =
        first <= period->last ? plim_activity_count(&process->activity[card], first, period->last, &latest) : 0;
    if (!n)
        return false;
    const uint64_t end_us = plim_activity_tick_start_us(latest + 1) - 1;
    *ret = (struct nvml_process_load){ .time_us = period->wall_us + (end_us < period->now_us ? end_us : period->now_us),
                                       .sm = percent(n, period->last - first + 1) };
    return true;
}

static void put_load(const struct nvml_process_load *load, unsigned at, struct nvml_process_load *plain,
                     struct nvml_process_load_v1 *v1)
{
    if (plain)
        plain[at] = *load;
    else
        v1[at] = (struct nvml_process_load_v1){ .time_us = load->time_us, .pid = load->pid, .sm = load->sm };
}

/* As the lists of processes: *count is the room before, and the number of processes that were busy after. */
static status loads(device card, unsigned *count, unsigned long long last_seen_us, struct nvml_process_load *plain,
                    struct nvml_process_load_v1 *v1)
{
    const int index = plim_nvml_index(card);
    struct plim_ledger *ledger = plim_nvml_ledger();
    struct plim_nvml_pids pids;
    unsigned n = 0;
    if (index < 0 || !count)
        return INVALID_ARGUMENT;
    const unsigned room = plain || v1 ? *count : 0;
    const struct period period = period_since(ledger, last_seen_us);
    plim_ledger_reap_of(ledger, index, 0);
    plim_ledger_lock(ledger);
    plim_nvml_pids(ledger, &pids);
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        struct nvml_process_load load;
        if (!pids.of[i] || !plim_nvml_is_listed(&ledger->process[i], index) ||
            !load_of(&ledger->process[i], index, &period, &load))
            continue;
        load.pid = pids.of[i];
        if (n < room)
            put_load(&load, n, plain, v1);
        n++;
    }
    plim_ledger_unlock(ledger);
    *count = n;
    return !n ? NOT_FOUND : n > room ? INSUFFICIENT_SIZE : SUCCESS;
}

status nvmlDeviceGetProcessUtilization(device card, struct nvml_process_load *ret_loads, unsigned *count,
                                       unsigned long long last_seen_us)
{
    return loads(card, count, last_seen_us, ret_loads, NULL);
}

status nvmlDeviceGetProcessesUtilizationInfo(device card, struct nvml_process_loads *list)
{
    enum { VERSION = sizeof *list | 1u << 24 };
    if (!list)
        return INVALID_ARGUMENT;
    return list->version == VERSION ? loads(card, &list->n, list->last_seen_us, NULL, list->process) : VERSION_MISMATCH;
}

/* --- accounting: also of processes that have ended, until the ledger needs their slot --- */

static bool is_accounted(const struct plim_ledger_process *process, int card)
{
    return process->pid && process->peak_bytes[card];
}

status nvmlDeviceGetAccountingMode(device card, unsigned *mode)
{
    if (plim_nvml_index(card) < 0 || !mode)
        return INVALID_ARGUMENT;
    *mode = 1;
    return SUCCESS;
}

status nvmlDeviceGetAccountingBufferSize(device card, unsigned *n)
{
    if (plim_nvml_index(card) < 0 || !n)
        return INVALID_ARGUMENT;
    *n = PLIM_LEDGER_MAX_PROCESSES;
    return SUCCESS;
}

status nvmlDeviceGetAccountingPids(device card, unsigned *count, unsigned *ret_pids)
{
    const int index = plim_nvml_index(card);
    struct plim_ledger *ledger = plim_nvml_ledger();
    struct plim_nvml_pids pids;
    unsigned n = 0;
    if (index < 0 || !count)
        return INVALID_ARGUMENT;
    const unsigned room = ret_pids ? *count : 0;
    plim_ledger_reap(ledger);
    plim_ledger_lock(ledger);
    plim_nvml_pids(ledger, &pids);
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        if (!pids.of[i] || !is_accounted(&ledger->process[i], index))
            continue;
        if (n < room)
            ret_pids[n] = pids.of[i];
        n++;
    }
    plim_ledger_unlock(ledger);
    *count = n;
    return n > room ? INSUFFICIENT_SIZE : SUCCESS;
}

/* Of several with this pid, the latest. With the ledger's lock. */
static const struct plim_ledger_process *accounted(const struct plim_ledger *ledger, int card, unsigned pid)
{
    const struct plim_ledger_process *found = NULL;
    struct plim_nvml_pids pids;
    plim_nvml_pids(ledger, &pids);
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        const struct plim_ledger_process *process = &ledger->process[i];
        if (pids.of[i] == pid && is_accounted(process, card) && (!found || process->joined_us > found->joined_us))
            found = process;
    }
    return found;
}

status nvmlDeviceGetAccountingStats(device card, unsigned pid, struct nvml_accounting *ret)
{
    const int index = plim_nvml_index(card);
    struct plim_ledger *ledger = plim_nvml_ledger();
    if (index < 0 || !ret)
        return INVALID_ARGUMENT;
    plim_ledger_reap_of(ledger, PLIM_LEDGER_EVERYWHERE, (int)pid);
    plim_ledger_lock(ledger);
    const struct plim_ledger_process *process = accounted(ledger, index, pid);
    if (process) {
        const uint64_t end_us = process->has_left ? process->left_us : plim_ledger_now_us(ledger);
        const uint64_t n_ticks = plim_activity_tick_of(end_us) - plim_activity_tick_of(process->joined_us) + 1;
        *ret = (struct nvml_accounting){ .gpu_percent = percent(process->activity[index].n_ticks, n_ticks),
                                         .memory_percent = (unsigned)NOT_AVAILABLE,
                                         .max_bytes = process->peak_bytes[index],
                                         .time_ms = process->has_left ? (end_us - process->joined_us) / 1000 : 0,
                                         .start_us = wall_start_us(ledger) + process->joined_us,
                                         .is_running = !process->has_left };
    }
    plim_ledger_unlock(ledger);
    return process ? SUCCESS : NOT_FOUND;
}
