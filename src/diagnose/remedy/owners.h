/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_REMEDY_OWNERS_H
#define PLIMSOLL_DIAGNOSE_REMEDY_OWNERS_H

/*
 * Which program a flag, a variable or a command is of: data/flag-owners.csv. No advice may name those of a program that
 * the log does not show.
 */

#include <stdbool.h>

/*
 * False when the text has a word of a program that is neither this framework nor, for variables and functions, under
 * it: PyTorch's variables under transformers, but no flag of vllm under Ray. A text that says whose word it is
 * ("vLLM: --max-num-seqs") is allowed where that program may be the one on top: the failure is of a library under it.
 */
bool plim_words_fit(const char *text, const char *framework);

#endif
