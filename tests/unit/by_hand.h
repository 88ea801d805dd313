/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_BY_HAND_H
#define PLIMSOLL_TESTS_BY_HAND_H

/* Samples made by hand: a machine with two cards, and processes that are changed as a case wants them. */

#include "unit.h"
#include "watch/watch.h"

enum { BY_HAND_CARDS = 2, BY_HAND_MOST = 8 };

#define BY_HAND_NOW_MS INT64_C(1790000000000)
#define BY_HAND_GIB    ((int64_t)1 << 30)

struct by_hand {
    struct plim_sample sample;
    struct plim_sample_card cards[BY_HAND_CARDS];
    struct plim_sample_process processes[BY_HAND_MOST];
    struct plim_holding holdings[BY_HAND_MOST];
};

static inline struct plim_sample_process *by_hand_process(struct by_hand *h, int64_t pid, uint32_t card)
{
    const uint32_t i = h->sample.n_processes++;
    assert_true(i < BY_HAND_MOST);
    h->processes[i] = (struct plim_sample_process){
        .pid = pid,
        .inner_pid = -1,
        .state = 'S',
        .parent = 900,
        .parent_program = "bash",
        .start_ticks = 1000 + (uint64_t)pid,
        .started_unix_s = BY_HAND_NOW_MS / 1000 - 86400,
        .session = 900,
        .group = pid,
        .n_threads = 30,
        .uid = 1000,
        .user = "ada",
        .cpu_ms = 60000,
        .rss_bytes = BY_HAND_GIB,
        .command = "python train.py",
        .program = "python3.11",
        .folder = "/home/ada/work",
        .unit = "",
        .launcher = "",
        .runtime = "",
        .container = "",
        .pod = "",
        .slurm_job = "",
        .log = "",
    };
    h->holdings[h->sample.n_holdings++] = (struct plim_holding){ .card = card,
                                                                 .process = i,
                                                                 .contexts = PLIM_CONTEXT_COMPUTE,
                                                                 .bytes = 2 * BY_HAND_GIB,
                                                                 .peak_bytes = -1,
                                                                 .gpu_percent = 0,
                                                                 .gpu_busy_ms = -1,
                                                                 .last_active_unix_ms = -1 };
    return &h->processes[i];
}

/* Two cards of 24 GiB with 6 GiB in use; the driver remembers activity for a day. */
static inline void by_hand_begin(struct by_hand *h)
{
    memset(h, 0, sizeof *h);
    for (uint32_t i = 0; i < BY_HAND_CARDS; i++) {
        struct plim_sample_card *c = &h->cards[i];
        *c = (struct plim_sample_card){ .gpu_instance = UINT32_MAX,
                                        .compute_instance = UINT32_MAX,
                                        .used_bytes = 6 * BY_HAND_GIB,
                                        .free_bytes = 17 * BY_HAND_GIB,
                                        .gpu_percent = -1,
                                        .memory_percent = -1,
                                        .temperature_c = -1,
                                        .power_mw = -1,
                                        .activity_ms = 86400000 };
        snprintf(c->id, sizeof c->id, "gpu%u", i);
        snprintf(c->card.name, sizeof c->card.name, "NVIDIA GeForce RTX 4090");
        snprintf(c->card.uuid, sizeof c->card.uuid, "GPU-0000000%u-1111", i);
        c->card.total_bytes = 24 * (uint64_t)BY_HAND_GIB;
        c->card.reserved_bytes = (uint64_t)BY_HAND_GIB;
        c->card.vendor = PLIM_VENDOR_NVIDIA;
    }
    h->sample = (struct plim_sample){ .taken_unix_ms = BY_HAND_NOW_MS,
                                      .taken_ms = 1000000,
                                      .n_cards = BY_HAND_CARDS,
                                      .card = h->cards,
                                      .process = h->processes,
                                      .holding = h->holdings };
}

/* So much later. */
static inline void by_hand_wait(struct by_hand *h, int64_t ms)
{
    h->sample.taken_unix_ms += ms;
    h->sample.taken_ms += ms;
}

#endif
