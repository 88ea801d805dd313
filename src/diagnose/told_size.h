/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_TOLD_SIZE_H
#define PLIMSOLL_DIAGNOSE_TOLD_SIZE_H

/*
 * What a short text says of sizes beside its messages: how many parameters the model has ("Qwen2-7B"), how many bits
 * each ("GPTQ-4bit", "--dtype float32"), how large the card is ("A100 80G", "24 GB of VRAM"), and of how many cards.
 */

#include "diagnose/finding.h"

/* Of `size` bytes of text. What is not said, or said of several models or cards in different ways, is 0. */
void plim_told_size_read(const char *text, size_t size, struct plim_told_size *ret_told);

#endif
