/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_CAUSE_BAG_H
#define PLIMSOLL_DIAGNOSE_CAUSE_BAG_H

/* The words of a text that data/causes/weights.csv has a weight for, each once and without their order. */

#include "diagnose/finding.h"

/* The words of a text: runs of 2 to 20 ASCII letters, small and capital ones alike. */
void plim_bag_read(const char *text, size_t size, struct plim_bag *ret_bag);

/* One more word, or fact ("kind=pytorch-oom"), if it is known. */
void plim_bag_add(struct plim_bag *bag, const char *word);

bool plim_bag_has(const struct plim_bag *bag, size_t row);

#endif
