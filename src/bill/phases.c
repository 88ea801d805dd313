/* SPDX-License-Identifier: MIT */
/*
 * Lines that are held for a part of a run only, and lines that take the memory left.
 *
 * A device needs the most that is held at once: the largest sum over the phases. Lines without phases of their own are
 * held in all, so that a line added later raises every sum, and the need, by the same bytes.
 */
#include "bill/bill.h"

#include "base/numbers.h"

const char *plim_phase_name(enum plim_phase phase)
{
    static const char *const names[PLIM_PHASE_MAX_] = {
        [PLIM_PHASE_LOAD] = "load",         [PLIM_PHASE_PREFILL] = "prefill",   [PLIM_PHASE_DECODE] = "decode",
        [PLIM_PHASE_FORWARD] = "forward",   [PLIM_PHASE_BACKWARD] = "backward", [PLIM_PHASE_STEP] = "step",
        [PLIM_PHASE_EVALUATE] = "evaluate",
    };
    return phase < PLIM_PHASE_MAX_ ? names[phase] : "unknown";
}

static bool is_held(const struct plim_line *line, unsigned phase)
{
    return line->phases == 0 || (line->phases & PLIM_IN_PHASE(phase));
}

/* The need of a device out of its lines; the first of several equal phases binds. */
static void add_up(struct plim_device_bill *device)
{
    device->need_bytes = device->need_low_bytes = device->need_high_bytes = 0;
    for (unsigned phase = 0; phase < PLIM_PHASE_MAX_; phase++) {
        uint64_t bytes = 0, low_bytes = 0, high_bytes = 0;
        for (uint32_t i = 0; i < device->n_lines; i++)
            if (is_held(&device->line[i], phase)) {
                bytes = plim_bytes_sum(bytes, device->line[i].bytes);
                low_bytes = plim_bytes_sum(low_bytes, device->line[i].low_bytes);
                high_bytes = plim_bytes_sum(high_bytes, device->line[i].high_bytes);
            }
        if (phase == 0 || bytes > device->need_bytes)
            device->binding = (enum plim_phase)phase;
        device->need_bytes = plim_max_u64(device->need_bytes, bytes);
        device->need_low_bytes = plim_max_u64(device->need_low_bytes, low_bytes);
        device->need_high_bytes = plim_max_u64(device->need_high_bytes, high_bytes);
    }
}

void plim_line_in_phases(struct plim_device_bill *device, struct plim_line *line, unsigned phases)
{
    if (!line)
        return;
    line->phases = phases;
    device->has_phases = device->has_phases || phases != 0;
    add_up(device);
}

void plim_line_is_elastic(struct plim_line *line)
{
    if (!line)
        return;
    line->is_elastic = true;
    line->least_bytes = line->bytes;
}

/* The most that is held beside a line while it is held. */
static uint64_t held_beside(const struct plim_device_bill *device, const struct plim_line *line)
{
    uint64_t most_bytes = 0;
    for (unsigned phase = 0; phase < PLIM_PHASE_MAX_; phase++) {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < device->n_lines; i++)
            if (&device->line[i] != line && is_held(&device->line[i], phase))
                bytes = plim_bytes_sum(bytes, device->line[i].bytes);
        if (is_held(line, phase))
            most_bytes = plim_max_u64(most_bytes, bytes);
    }
    return most_bytes;
}

void plim_bill_stretch(struct plim_device_bill *device, uint64_t budget_bytes)
{
    for (uint32_t i = 0; i < device->n_lines; i++) {
        struct plim_line *line = &device->line[i];
        if (!line->is_elastic)
            continue;
        const uint64_t beside_bytes = held_beside(device, line);
        const uint64_t left_bytes = budget_bytes > beside_bytes ? budget_bytes - beside_bytes : 0;
        line->bytes = line->low_bytes = line->high_bytes = plim_max_u64(left_bytes, line->least_bytes);
        add_up(device);
        return;
    }
}
