/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_CARD_FIGURES_H
#define PLIMSOLL_REHEARSE_CARD_FIGURES_H

#include "plimsoll/card.h"

/*
 * Figures that the CUDA API has to answer for every card. Those of the card where a source gives them (data/cards.csv,
 * data/card-figures.csv); else the least that is known of a card of its compute capability, or of the nearest older
 * one, or of the oldest.
 */
struct plim_card_figures {
    uint32_t sm_count, bus_bits, memory_mhz, clock_mhz, l2_kib;
};

void plim_card_figures(const struct plim_card *card, struct plim_card_figures *ret_figures);

/* The clock of the memory as cudaDeviceProp.memoryClockRate has it, at double data rate. 0: unknown. */
uint32_t plim_card_memory_mhz(const struct plim_card *card);

#endif
