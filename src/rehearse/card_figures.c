/* SPDX-License-Identifier: MIT */
#include "rehearse/card_figures.h"

#include "base/table.h"
#include <stdlib.h>
#include <string.h>

enum { N_FIGURES = 5, OLDEST_CAPABILITY = 50, NEWEST_CAPABILITY = 129 };

static uint32_t number_of(const char *name, const char *column)
{
    const struct plim_table *table = &plim_card_figures_table;
    const size_t names = plim_table_column(table, "name"), wanted = plim_table_column(table, column);
    for (size_t row = 0; row < table->n_rows; row++)
        if (!strcmp(plim_table_cell(table, row, names), name))
            return (uint32_t)strtoul(plim_table_cell(table, row, wanted), NULL, 10);
    return 0;
}

uint32_t plim_card_memory_mhz(const struct plim_card *card)
{
    /* bandwidth = 2 * clock * bus / 8 */
    return card->bus_bits ? (uint32_t)(card->bandwidth_bytes_per_s * 8 / card->bus_bits / 2 / 1e6 + 0.5) : 0;
}

/* In the order of the structure. */
static void own(const struct plim_card *card, uint32_t ret[N_FIGURES])
{
    const uint32_t figures[] = { card->sm_count, card->bus_bits, plim_card_memory_mhz(card),
                                 number_of(card->name, "boost_mhz"), number_of(card->name, "l2_kib") };
    memcpy(ret, figures, sizeof figures);
}

/* The least of whole cards of this compute capability; 0: nobody knows one. */
static void least_of(uint32_t capability, uint32_t ret[N_FIGURES])
{
    memset(ret, 0, N_FIGURES * sizeof *ret);
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        struct plim_card card;
        uint32_t figures[N_FIGURES];
        plim_catalogue_card(i, &card);
        if (card.compute_capability != capability || card.vendor != PLIM_VENDOR_NVIDIA || strstr(card.name, " MIG "))
            continue;
        own(&card, figures);
        for (int k = 0; k < N_FIGURES; k++)
            if (figures[k] && (!ret[k] || figures[k] < ret[k]))
                ret[k] = figures[k];
    }
}

static bool fill(uint32_t figures[N_FIGURES], uint32_t capability)
{
    uint32_t least[N_FIGURES];
    bool is_whole = true;
    for (int k = 0; k < N_FIGURES; k++)
        is_whole = is_whole && figures[k];
    if (is_whole)
        return true;
    least_of(capability, least);
    for (int k = 0; k < N_FIGURES; k++)
        figures[k] = figures[k] ? figures[k] : least[k];
    return false;
}

void plim_card_figures(const struct plim_card *card, struct plim_card_figures *ret_figures)
{
    uint32_t figures[N_FIGURES], capability = card->compute_capability;
    own(card, figures);
    while (capability >= OLDEST_CAPABILITY && !fill(figures, capability))
        capability--;
    for (capability = OLDEST_CAPABILITY; capability <= NEWEST_CAPABILITY && !fill(figures, capability);)
        capability++;
    *ret_figures = (struct plim_card_figures){ figures[0], figures[1], figures[2], figures[3], figures[4] };
}
