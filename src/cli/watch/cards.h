/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_WATCH_CARDS_H
#define PLIMSOLL_CLI_WATCH_CARDS_H

/* The cards of a sample as ps, top and free are asked for them, and what they say when there is none. */

#include "card/sample.h"

/* "gpu0", "0", a PCI address, or the beginning of a UUID with or without "GPU-". */
bool plim_watch_card_is(const struct plim_sample_card *card, const char *name);

/* The error of a sample in which no card is called so. */
int plim_watch_no_such_card(const struct plim_sample *sample, const char *name, struct plim_error *reterr);

/* The error of a sample without a card. */
int plim_watch_no_card(const struct plim_sample *sample, struct plim_error *reterr);

#endif
