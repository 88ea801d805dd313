/* SPDX-License-Identifier: MIT */
#include "card/nvml/rest.h"

#include <string.h>

enum {
    EMPTY_MS = 10000, /* a program that starts again and again is no reason to close */
    REST_MS = 60000,  /* then it is time to look again; a driver suspends a card within seconds */
};

bool plim_nvml_rests(struct plim_nvml_rest *rest, const struct plim_sleepers *sleepers, int64_t now_ms)
{
    if (!rest->since_ms)
        return false;
    const bool is_over = rest->has_slept ? sleepers->n_asleep == 0 : now_ms - rest->since_ms >= REST_MS;
    rest->has_slept = rest->has_slept || sleepers->n_asleep > 0;
    if (is_over || !sleepers->may_sleep)
        *rest = (struct plim_nvml_rest){ 0 };
    return rest->since_ms != 0;
}

bool plim_nvml_may_rest(struct plim_nvml_rest *rest, const struct plim_sleepers *sleepers, int64_t now_ms,
                        const struct plim_sample_card *cards, uint32_t n, bool has_processes)
{
    if (has_processes || !sleepers->may_sleep || n == 0 || n > PLIM_MAX_DEVICES) {
        rest->empty_ms = 0;
        return false;
    }
    if (!rest->empty_ms)
        rest->empty_ms = now_ms;
    if (now_ms - rest->empty_ms < EMPTY_MS)
        return false;
    rest->since_ms = now_ms;
    rest->n = n;
    memcpy(rest->card, cards, n * sizeof *cards);
    return true;
}
