/* SPDX-License-Identifier: MIT */
#include "cli/watch/free.h"

#include "base/mem.h"
#include "cli/watch/asker.h"
#include "cli/watch/cards.h"
#include "cli/watch/seen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int plim_free_look_open(const struct plim_free_arguments *arguments, struct plim_free_look *ret_look,
                        struct plim_error *reterr)
{
    const char *root = arguments->sysroot, *nvml = getenv("PLIMSOLL_NVML");
    const struct plim_sampler_options options = { .nvml = nvml, .sysroot = root };
    const struct plim_watch_options watching = { .idle_after_s = arguments->idle_after_s };
    struct plim_free_look look = { 0 };
    look.asker = plim_cli_asker(root, nvml);
    int result = plim_sampler_open(&options, &look.sampler, reterr);
    if (result == 0)
        result = plim_watch_open(&watching, &look.watch, reterr);
    if (result < 0) {
        plim_free_look_close(&look);
        return result;
    }
    plim_seen_load(look.watch);
    *ret_look = look;
    return 0;
}

int plim_free_look_sample(struct plim_free_look *look, struct plim_error *reterr)
{
    look->sample = NULL; /* the one before ends with the call */
    return plim_sampler_read(look->sampler, &look->sample, reterr);
}

int plim_free_look_kinship(const struct plim_free_arguments *arguments, struct plim_free_look *look,
                           struct plim_error *reterr)
{
    plim_kinship_done(&look->kinship);
    return plim_kinship_read(arguments->sysroot, &look->kinship, reterr);
}

static int find_cards(const struct plim_free_arguments *arguments, struct plim_free_look *look,
                      struct plim_error *reterr)
{
    const struct plim_sample *sample = look->sample;
    bool is_found = false;
    plim_free(look->cards);
    look->cards = plim_alloc(sample->n_cards + 1, sizeof *look->cards);
    if (!look->cards)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory for a list of cards");
    for (uint32_t i = 0; i < sample->n_cards; i++)
        is_found |= look->cards[i] = plim_watch_card_is(&sample->card[i], arguments->card);
    if (is_found)
        return 0;
    return plim_watch_no_such_card(sample, arguments->card, reterr);
}

/*
 * The list of all processes comes before the driver's, and the sampler reads of each process after it: when both say
 * that it started at the same moment, its number had one owner all the while, and the driver's row is that one's.
 */
int plim_free_look_choose(const struct plim_free_arguments *arguments, struct plim_free_look *look,
                          struct plim_choice **ret_choice, struct plim_error *reterr)
{
    const char *root = arguments->sysroot;
    struct plim_wish wish = { .pid = arguments->pid,
                              .n_pids = arguments->n_pids,
                              .is_stale = arguments->is_stale,
                              .older_s = arguments->older_s,
                              .user = arguments->user };
    int result = plim_free_look_kinship(arguments, look, reterr);
    if (result == 0)
        result = plim_free_look_sample(look, reterr);
    if (result == 0 && look->sample->n_cards == 0)
        result = plim_watch_no_card(look->sample, reterr);
    if (result == 0)
        result = plim_watch_add(look->watch, look->sample, reterr);
    if (result == 0 && arguments->card)
        result = find_cards(arguments, look, reterr);
    if (result < 0)
        return result;
    wish.cards = look->cards;
    const struct plim_scene scene = { .sample = look->sample,
                                      .rows = plim_watch_rows(look->watch),
                                      .kinship = &look->kinship,
                                      .root = root,
                                      .asker = look->asker };
    return plim_choice_make(&scene, &wish, ret_choice, reterr);
}

void plim_free_look_close(struct plim_free_look *look)
{
    plim_choice_free(look->choice);
    plim_kinship_done(&look->kinship);
    plim_watch_close(look->watch);
    plim_sampler_close(look->sampler);
    plim_free(look->cards);
    *look = (struct plim_free_look){ 0 };
}
