/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_STRINGS_H
#define PLIMSOLL_MODEL_STRINGS_H

/*
 * Arrays of strings in GGUF: each a length of eight bytes and that many bytes. A vocabulary and its merges are 400 000
 * of them, which is most of what there is to read of a model.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Step over the strings that lie whole in the data, at most n of them. Returns the bytes they take; *ret_n is how many
 * there were. is_foreign: the lengths are of the other byte order.
 */
size_t plim_strings_walk(const unsigned char *data, size_t size, uint64_t n, bool is_foreign, uint64_t *ret_n);

#endif
