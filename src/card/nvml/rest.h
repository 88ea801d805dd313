/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_NVML_REST_H
#define PLIMSOLL_CARD_NVML_REST_H

/*
 * Rest for cards that may sleep. An open NVML keeps a card awake, as long as somebody looks: on a laptop that is a
 * battery's loss. When no process has held memory for a while, and the system lets the cards sleep, NVML is closed and
 * the cards are shown as they were, until one has slept and is awake again, or for a minute.
 */

#include "card/draft.h"
#include "card/nvml/sleep.h"

struct plim_nvml_rest {
    int64_t empty_ms; /* since when no process holds memory; 0: one does */
    int64_t since_ms; /* since when NVML rests; 0: it does not */
    bool has_slept;   /* a card fell asleep since then */
    struct plim_sample_card card[PLIM_MAX_DEVICES];
    uint32_t n;
};

/* True when NVML shall not be opened in this look: the cards are those remembered. */
bool plim_nvml_rests(struct plim_nvml_rest *rest, const struct plim_sleepers *sleepers, int64_t now_ms);

/* After a look at cards[0 .. n - 1]: true when NVML is to be closed until plim_nvml_rests() says otherwise. */
bool plim_nvml_may_rest(struct plim_nvml_rest *rest, const struct plim_sleepers *sleepers, int64_t now_ms,
                        const struct plim_sample_card *cards, uint32_t n, bool has_processes);

#endif
