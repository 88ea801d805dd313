/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_NVML_CARDS_H
#define PLIMSOLL_CARD_NVML_CARDS_H

/* The cards that NVML has, as CUDA counts them: a card in MIG mode counts as its instances. */

#include "card/nvml/library.h"
#include "plimsoll/card.h"

struct plim_nvml_card {
    plim_nvml_device device;
    plim_nvml_device whole; /* of a MIG instance, the card that it is a part of; else NULL */
    uint32_t index;         /* of the whole card */
    uint32_t instance;      /* of a MIG instance: which of that card, from 0 */
};

/* Up to max cards from the index'th on; returns their number. A card that is lost or not accessible is none. */
uint32_t plim_nvml_cards_at(const struct plim_nvml *nvml, unsigned index, struct plim_nvml_card *ret_cards,
                            uint32_t max);

/* The same for a card that was found by its address. */
uint32_t plim_nvml_cards_of(const struct plim_nvml *nvml, plim_nvml_device device, unsigned index,
                            struct plim_nvml_card *ret_cards, uint32_t max);

/* What does not change: name, UUID, capability. */
void plim_nvml_describe(const struct plim_nvml *nvml, plim_nvml_device device, struct plim_card *ret_card);

/*
 * Total, reserve and the part taken. With unified memory those of the host, whose files are under `root`. Returns
 * NVML's answer; unless it is PLIM_NVML_SUCCESS, nothing is known.
 */
int plim_nvml_read_memory(const struct plim_nvml *nvml, plim_nvml_device device, const char *root,
                          struct plim_card *card);

/* Add the catalogue's figures that the driver lacks, those of a card of this name and about this size. */
void plim_nvml_complete(struct plim_card *card);

#endif
