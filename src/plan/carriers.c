/* SPDX-License-Identifier: MIT */
/* The cards of the catalogue that carry a setup, alone or in pairs. */
#include "plan/planner.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OF_A_KIND = 2 };

struct search {
    struct plim_engine *engine;
    const struct plim_setup *setup;
    const struct plim_margin *margin;
    struct plim_machine machine;
    struct plim_bill bill; /* the last */
    size_t n_tried, n_decided;
    struct plim_error *err;
};

/* Laptops and boards of one piece have one card, a slice of MIG is a part of one; shared memory is the machine's. */
static bool comes_alone(const struct plim_card *card)
{
    static const char *const words[] = { "Laptop", "Max-Q", "Mobile", " MIG ", "Jetson" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(card->name, words[i]))
            return true;
    return card->is_unified;
}

/* 1: it carries the setup; 0: it does not; or an error. */
static int try_cards(struct search *s, size_t card, uint32_t n, struct plim_carrier *ret)
{
    s->machine.n_cards = n;
    for (uint32_t i = 0; i < n; i++)
        plim_catalogue_card(card, &s->machine.card[i]);
    const struct plim_card *first = &s->machine.card[0];
    if (n > 1 && comes_alone(first))
        return 0;
    plim_host_of_card(first, &s->machine.host);
    const int result = plim_engine_bill(s->engine, s->setup, &s->machine, s->margin, &s->bill, s->err);
    if (result < 0)
        return result;
    const struct plim_bill *b = &s->bill;
    s->n_tried++;
    s->n_decided += !b->is_refused && b->verdict != PLIM_VERDICT_UNKNOWN;
    if (b->verdict != PLIM_VERDICT_FITS && b->verdict != PLIM_VERDICT_TIGHT)
        return 0;
    *ret = (struct plim_carrier){
        .card = card,
        .n_cards = n,
        .verdict = b->verdict,
        .total_bytes = n * first->total_bytes,
        .left_bytes = plim_device_left_bytes(&b->device[b->limiting_device]),
        .tokens_per_s_low = b->tokens_per_s_low,
        .tokens_per_s_high = b->tokens_per_s_high,
    };
    return 1;
}

/* Smallest first; of one size the fewer cards, then the faster. */
static int by_size(const void *a, const void *b)
{
    const struct plim_carrier *x = a, *y = b;
    if (x->total_bytes != y->total_bytes)
        return x->total_bytes < y->total_bytes ? -1 : 1;
    if (x->n_cards != y->n_cards)
        return x->n_cards < y->n_cards ? -1 : 1;
    if (x->tokens_per_s_high != y->tokens_per_s_high)
        return x->tokens_per_s_high > y->tokens_per_s_high ? -1 : 1;
    return x->card < y->card ? -1 : x->card > y->card;
}

int plim_plan_carriers(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_margin *margin,
                       bool (*wanted)(size_t card, const void *data), const void *data,
                       struct plim_carrier **ret_carriers, size_t *ret_n, struct plim_error *reterr)
{
    const size_t size = plim_catalogue_size();
    size_t n = 0;
    int result = 0;
    struct search *s = plim_alloc(1, sizeof *s);
    struct plim_carrier *carriers = plim_alloc(size, sizeof *carriers);
    if (!s || !carriers) {
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
        goto out;
    }
    s->engine = engine;
    s->setup = setup;
    s->margin = margin;
    s->err = reterr;
    for (size_t card = 0; card < size && result >= 0; card++) {
        result = 0;
        for (uint32_t k = 1; k <= MOST_OF_A_KIND && result == 0 && (!wanted || wanted(card, data)); k++)
            result = try_cards(s, card, k, &carriers[n]);
        n += result == 1;
    }
    if (result >= 0 && s->n_tried == 0)
        result = plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "no card of the catalogue is among those wanted");
    else if (result >= 0 && s->n_decided == 0)
        result = plim_need_verdict(&s->bill, reterr);
    if (result < 0)
        goto out;
    qsort(carriers, n, sizeof *carriers, by_size);
    *ret_carriers = carriers;
    *ret_n = n;
    carriers = NULL;
    result = 0;
out:
    plim_free(carriers);
    plim_free(s);
    return result;
}

void plim_carriers_free(struct plim_carrier *carriers) { plim_free(carriers); }
