/* SPDX-License-Identifier: MIT */
#include "cli/top/look.h"

#include "cli/top/bill.h"
#include "cli/watch/cards.h"
#include "cli/watch/seen.h"
#include "report/top/rows.h"

#include <string.h>

enum { SAVE_MS = 60000 };

static uint32_t history(const void *context, uint32_t card, uint32_t holding, int64_t *ret_bytes, uint32_t max)
{
    const struct plim_watch *watch = context;
    return holding == UINT32_MAX ? plim_watch_card_history(watch, card, ret_bytes, max)
                                 : plim_watch_history(watch, holding, ret_bytes, max);
}

/* FNV-1a, of numbers. */
static uint64_t add(uint64_t sum, int64_t number) { return (sum ^ (uint64_t)number) * 0x100000001b3U; }

static uint64_t sum_of(const struct plim_sample *sample)
{
    uint64_t sum = 0xcbf29ce484222325U;
    for (uint32_t i = 0; i < sample->n_cards; i++)
        sum = add(add(sum, sample->card[i].used_bytes), sample->card[i].gpu_percent);
    for (uint32_t i = 0; i < sample->n_holdings; i++)
        sum = add(add(sum, sample->holding[i].bytes), sample->process[sample->holding[i].process].pid);
    return sum;
}

int plim_top_look_again(struct plim_top_look *look, bool *ret_is_new, struct plim_error *reterr)
{
    const struct plim_sample *sample;
    int result = plim_sampler_read(look->sampler, &sample, reterr);
    if (result == 0)
        result = plim_watch_add(look->watch, sample, reterr);
    if (result < 0)
        return result;
    const uint64_t figures = sum_of(sample);
    *ret_is_new = figures != look->figures;
    look->figures = figures;
    look->machine.sample = sample;
    look->machine.rows = plim_watch_rows(look->watch);
    look->machine.cards = plim_watch_cards(look->watch);
    if (sample->taken_ms - look->saved_ms >= SAVE_MS) { /* not only at the end, which may be sudden */
        plim_seen_save(look->watch);
        look->saved_ms = sample->taken_ms;
    }
    return 0;
}

int plim_top_look_open(struct plim_top_look *look, const char *nvml, const char *root, int64_t idle_after_s,
                       struct plim_error *reterr)
{
    const struct plim_sampler_options options = { .nvml = nvml, .sysroot = root, .wants_load = true };
    const struct plim_watch_options watch = { .idle_after_s = idle_after_s };
    bool is_new;
    memset(look, 0, sizeof *look);
    look->root = root;
    look->nvml = nvml;
    int result = plim_sampler_open(&options, &look->sampler, reterr);
    if (result == 0)
        result = plim_watch_open(&watch, &look->watch, reterr);
    if (result == 0) {
        plim_seen_load(look->watch);
        look->machine.history = history;
        look->machine.history_context = look->watch;
        result = plim_top_look_again(look, &is_new, reterr);
    }
    if (result < 0)
        plim_top_look_close(look);
    return result;
}

void plim_top_look_close(struct plim_top_look *look)
{
    if (look->machine.sample)
        plim_seen_save(look->watch);
    plim_watch_close(look->watch);
    plim_sampler_close(look->sampler);
    look->watch = NULL;
    look->sampler = NULL;
    look->machine.sample = NULL;
}

void plim_top_look_at_bill(struct plim_top_look *look, uint32_t holding)
{
    look->machine.bill = NULL;
    if (holding == UINT32_MAX)
        return;
    const struct plim_top_id id = plim_top_id_of(look->machine.sample, holding);
    if (!look->has_bill || !plim_top_is_same(&id, &look->bill_of)) {
        plim_top_bill_make(look->root, look->machine.sample, holding, &look->bill);
        look->bill_of = id;
        look->has_bill = true;
    }
    look->machine.bill = &look->bill;
}

uint32_t plim_top_look_card(const struct plim_top_look *look, const char *name)
{
    const struct plim_sample *sample = look->machine.sample;
    for (uint32_t i = 0; i < sample->n_cards; i++)
        if (plim_watch_card_is(&sample->card[i], name))
            return i;
    return UINT32_MAX;
}
