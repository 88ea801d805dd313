/* SPDX-License-Identifier: MIT */
#include "card/draft.h"

#include "base/limits.h"
#include "base/mem.h"

struct plim_sample_card plim_draft_blank(enum plim_vendor vendor)
{
    return (struct plim_sample_card){
        .card = { .vendor = vendor, .is_live = true },
        .gpu_instance = UINT32_MAX,
        .compute_instance = UINT32_MAX,
        .used_bytes = -1,
        .free_bytes = -1,
        .gpu_percent = -1,
        .memory_percent = -1,
        .temperature_c = -1,
        .power_mw = -1,
        .activity_ms = -1,
    };
}

/* Have room for one more; *array may move. */
static int grow(void **array, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room)
        return 0;
    const uint32_t more = *room ? 2 * *room : 8;
    void *grown = plim_realloc(*array, more, size);
    if (!grown)
        return PLIM_E_NOMEM;
    *array = grown;
    *room = more;
    return 0;
}

int plim_draft_card(struct plim_draft *draft, const struct plim_sample_card *card)
{
    void *array = draft->card;
    if (draft->n_cards == PLIM_MAX_SAMPLE_CARDS)
        return 0;
    const int result = grow(&array, draft->n_cards, &draft->card_room, sizeof *card);
    draft->card = array;
    if (result == 0)
        draft->card[draft->n_cards++] = *card;
    return result;
}

int plim_draft_holding(struct plim_draft *draft, const struct plim_draft_holding *holding)
{
    void *array = draft->holding;
    if (draft->n_holdings == PLIM_MAX_PROCESSES)
        return 0;
    const int result = grow(&array, draft->n_holdings, &draft->holding_room, sizeof *holding);
    draft->holding = array;
    if (result == 0)
        draft->holding[draft->n_holdings++] = *holding;
    return result;
}

void plim_draft_clear(struct plim_draft *draft) { draft->n_cards = draft->n_holdings = 0; }

void plim_draft_done(struct plim_draft *draft)
{
    plim_free(draft->card);
    plim_free(draft->holding);
    *draft = (struct plim_draft){ 0 };
}
