/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_PURPOSE_H
#define PLIMSOLL_DIAGNOSE_PURPOSE_H

/* What a word beside a figure of memory says that the memory is for, or whose it is: data/purposes.csv. */

#include "diagnose/finding.h"

/* A word is sure of its purpose, may be anything's, or says how memory is: free, used, all of it. */
enum plim_purpose_weight { PLIM_PURPOSE_WEAK, PLIM_PURPOSE_STRONG, PLIM_PURPOSE_STATE };

/* Of word[0..n), whatever its case; NONE: it says nothing. */
enum plim_purpose plim_purpose_of_word(const char *word, size_t n, enum plim_purpose_weight *ret_weight);

/*
 * By the first word of names in code, "opt_state", "kvCache", "self.user_table", "make_layer", that tells what is made
 * there: weights, an optimizer's states, keys and values; else NONE.
 */
enum plim_purpose plim_purpose_of_names(const char *text, size_t n);

#endif
