/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_DRAFT_H
#define PLIMSOLL_CARD_DRAFT_H

/* A sample while the drivers fill it: cards, and who holds memory on them by pid. */

#include "card/sample.h"

struct plim_draft_holding {
    struct plim_holding holding; /* its `process` is set at the end */
    int64_t pid;
};

struct plim_draft {
    struct plim_sample_card *card;
    struct plim_draft_holding *holding;
    uint32_t n_cards, n_holdings, card_room, holding_room;
};

/* A card of which nothing is known yet. */
struct plim_sample_card plim_draft_blank(enum plim_vendor vendor);

/* Returns 0 or PLIM_E_NOMEM. The index of a new card is draft->n_cards before the call. */
int plim_draft_card(struct plim_draft *draft, const struct plim_sample_card *card);
int plim_draft_holding(struct plim_draft *draft, const struct plim_draft_holding *holding);

void plim_draft_clear(struct plim_draft *draft);
void plim_draft_done(struct plim_draft *draft);

#endif
