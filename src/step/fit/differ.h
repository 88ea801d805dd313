/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_DIFFER_H
#define PLIMSOLL_STEP_FIT_DIFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_STEP_MAX_DIFFERENCES = 2048 };

/*
 * A longest common subsequence of two sequences, by E. Myers's greedy algorithm: partner[i] is the place in b of a[i],
 * or SIZE_MAX. False: more than max_differences elements are without a partner, or memory ran out (*ret_nomem).
 */
bool plim_step_differ(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t max_differences,
                      size_t *partner, bool *ret_nomem);

#endif
