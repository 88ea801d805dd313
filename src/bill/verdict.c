/* SPDX-License-Identifier: MIT */
/* Does it fit: the verdict on a bill, and the line that decides it. */
#include "bill/bill.h"

#include "base/numbers.h"
#include "base/units.h"

#define DEFAULT_MARGIN_BYTES (512 * PLIM_MIB)
#define DEFAULT_MARGIN_RATIO 0.05

const char *plim_verdict_name(enum plim_verdict verdict)
{
    static const char *const names[PLIM_VERDICT_MAX_] = { "unknown", "fits", "tight", "no" };
    return verdict < PLIM_VERDICT_MAX_ ? names[verdict] : names[PLIM_VERDICT_UNKNOWN];
}

uint64_t plim_margin_bytes(const struct plim_margin *margin, uint64_t total_bytes)
{
    const bool is_default = !margin || (margin->bytes == 0 && margin->ratio <= 0);
    const uint64_t bytes = is_default ? DEFAULT_MARGIN_BYTES : margin->bytes;
    const double part = (double)total_bytes * (is_default ? DEFAULT_MARGIN_RATIO : margin->ratio);
    if (!(part < (double)INT64_MAX)) /* a ratio that no card could keep free */
        return UINT64_MAX / 2;
    return bytes > (uint64_t)part ? bytes : (uint64_t)part;
}

enum plim_verdict plim_device_verdict(const struct plim_device_bill *device, const struct plim_margin *margin)
{
    if (plim_device_held_bytes(device) >= PLIM_MOST_BYTES) /* figures end there: they may stand for more */
        return PLIM_VERDICT_NO;
    if (device->total_bytes == 0)
        return device->is_host ? PLIM_VERDICT_FITS : PLIM_VERDICT_UNKNOWN; /* an unknown host decides nothing */
    uint64_t high_bytes = device->is_host ? plim_device_held_bytes(device) : device->need_high_bytes;
    const uint64_t margin_bytes = plim_margin_bytes(margin, device->total_bytes);
    if (margin_bytes <= device->total_low_bytes && high_bytes <= device->total_low_bytes - margin_bytes)
        return PLIM_VERDICT_FITS;
    return plim_device_held_bytes(device) <= device->total_bytes ? PLIM_VERDICT_TIGHT : PLIM_VERDICT_NO;
}

const struct plim_line *plim_bill_largest_line(const struct plim_device_bill *device, const struct plim_line *largest)
{
    for (uint32_t i = 0; i < device->n_lines; i++) {
        const struct plim_line *line = &device->line[i];
        const bool is_ours = line->pillar != PLIM_PILLAR_OVERHEAD && line->pillar != PLIM_PILLAR_OTHERS;
        if (is_ours && plim_line_is_needed(device, line) && (!largest || line->bytes > largest->bytes))
            largest = line;
    }
    return largest;
}

/* Verdicts from good to bad: an unknown device is worse than a tight one. */
static int weight_of(enum plim_verdict verdict)
{
    static const int weights[PLIM_VERDICT_MAX_] = {
        [PLIM_VERDICT_FITS] = 0, [PLIM_VERDICT_TIGHT] = 1, [PLIM_VERDICT_UNKNOWN] = 2, [PLIM_VERDICT_NO] = 3
    };
    return weights[verdict];
}

void plim_bill_judge(struct plim_bill *bill, const struct plim_margin *margin)
{
    int64_t least_left = INT64_MAX;
    bill->verdict = PLIM_VERDICT_FITS;
    bill->limiting_device = 0;
    for (uint32_t i = 0; i < bill->n_devices; i++) {
        const struct plim_device_bill *device = &bill->device[i];
        enum plim_verdict verdict = plim_device_verdict(device, margin);
        int64_t left = device->total_bytes ? plim_device_left_bytes(device) : INT64_MAX;
        const bool is_worse = weight_of(verdict) > weight_of(bill->verdict);
        const bool is_fuller = left < least_left && (!device->is_host || i == 0); /* equally well off, a GPU decides */
        if (is_worse || (verdict == bill->verdict && is_fuller)) {
            bill->limiting_device = i;
            least_left = left;
            bill->verdict = verdict;
        }
    }
    if (bill->is_refused)
        bill->verdict = PLIM_VERDICT_NO;
    else if (bill->is_bound || bill->is_contradicted || (bill->is_at_most && bill->verdict != PLIM_VERDICT_FITS) ||
             (bill->is_at_least && bill->verdict != PLIM_VERDICT_NO))
        bill->verdict = PLIM_VERDICT_UNKNOWN;
    bill->limiting_line = plim_bill_largest_line(&bill->device[bill->limiting_device], NULL);
}
