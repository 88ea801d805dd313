/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_PRICES_H
#define PLIMSOLL_CARD_PRICES_H

/*
 * A user's prices of cards: a CSV file with the columns card, buy and per_hour in any order, in one currency. Other
 * columns are passed over, and so are lines that begin with '#'. Fields may stand in double quotes.
 */

#include "plimsoll/card.h"

#include <stddef.h>

struct plim_price {
    double buy, per_hour; /* 0: not given */
};

struct plim_prices {
    struct plim_price *of_card; /* one for each card of the catalogue */
    unsigned n_unknown;         /* rows whose card the catalogue has not, or has several of */
    char unknown[80];           /* the first of them */
};

/* Read a file; errors name it and the byte. Freed with plim_prices_done(), also after an error. */
int plim_prices_open(const char *path, struct plim_prices *ret_prices, struct plim_error *reterr);
/* The same from memory. */
int plim_prices_read(const char *text, size_t length, struct plim_prices *ret_prices, struct plim_error *reterr);
void plim_prices_done(struct plim_prices *prices);

/* The hours of renting that cost as much as buying; 0 when a price is missing. */
double plim_price_break_even_hours(const struct plim_price *price);

#endif
