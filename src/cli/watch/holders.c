/* SPDX-License-Identifier: MIT */
#include "cli/watch/holders.h"

#include "base/error.h"
#include "card/sample.h"
#include "cli/watch/seen.h"
#include "watch/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number in `machine` of a card of the sample; UINT32_MAX: it has none. */
static uint32_t card_number(const struct plim_machine *machine, const struct plim_sample *sample, uint32_t card)
{
    const char *uuid = sample->card[card].card.uuid;
    if (!machine)
        return card;
    for (uint32_t i = 0; i < machine->n_cards && *uuid; i++)
        if (machine->card[i].is_live && !strcmp(machine->card[i].uuid, uuid))
            return i;
    return UINT32_MAX;
}

static const char *name_of(const struct plim_sample_process *process)
{
    return *process->command   ? process->command
           : *process->program ? process->program
           : process->is_gone  ? "(ended)"
                               : "(not visible from here)";
}

static void add(const struct plim_sample *sample, const struct plim_holding *holding, const struct plim_watch_row *row,
                uint32_t card, struct plim_holders *holders)
{
    const struct plim_sample_process *process = &sample->process[holding->process];
    const uint32_t i = holders->n++;
    struct plim_holder *holder = &holders->item[i];
    const bool is_mine = getuid() == 0 || process->uid == (int64_t)getuid();
    *holder = (struct plim_holder){ .card = card,
                                    .pid = process->pid,
                                    .bytes = holding->bytes > 0 ? (uint64_t)holding->bytes : 0,
                                    .is_stale = row->stale == PLIM_STALE_YES,
                                    .is_endable = plim_watch_can_be_ended(row) && is_mine };
    snprintf(holder->name, sizeof holder->name, "%s", name_of(process));
    snprintf(holder->why, sizeof holder->why, "%s", row->why);
    snprintf(holders->card[i], sizeof holders->card[i], "%s", sample->card[holding->card].card.name);
    snprintf(holders->user[i], sizeof holders->user[i], "%s", process->user);
}

static void add_all(const struct plim_machine *machine, const struct plim_sample *sample,
                    const struct plim_watch_row *rows, struct plim_holders *holders)
{
    const uint32_t n_cards = machine ? machine->n_cards : sample->n_cards;
    for (uint32_t card = 0; card < n_cards; card++)
        for (uint32_t i = 0; i < sample->n_holdings && holders->n < PLIM_MAX_HOLDERS; i++)
            if (card_number(machine, sample, sample->holding[i].card) == card)
                add(sample, &sample->holding[i], &rows[i], card, holders);
}

void plim_cli_find_holders(const struct plim_machine *machine, struct plim_holders *ret_holders)
{
    const struct plim_sampler_options options = { .nvml = getenv("PLIMSOLL_NVML"),
                                                  .sysroot = getenv("PLIMSOLL_SYSROOT") };
    const struct plim_sample *sample = NULL;
    struct plim_sampler *sampler = NULL;
    struct plim_watch *watch = NULL;
    ret_holders->n = 0;
    if (plim_sampler_open(&options, &sampler, NULL) < 0 || plim_sampler_read(sampler, &sample, NULL) < 0 ||
        plim_watch_open(&(struct plim_watch_options){ 0 }, &watch, NULL) < 0)
        goto out;
    plim_seen_load(watch);
    if (plim_watch_add(watch, sample, NULL) == 0)
        add_all(machine, sample, plim_watch_rows(watch), ret_holders);
out:
    plim_watch_close(watch);
    plim_sampler_close(sampler);
}
