/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CONVERT_SIZES_H
#define PLIMSOLL_MODEL_CONVERT_SIZES_H

/* For the rules of a family: sizes that follow from others. */

#include "model/convert/rule.h"

/* Fill in the sizes that are products and sums of others. */
void plim_sizes_derive(struct plim_conversion *c);

/* The config's layers are followed by this many for multi-token prediction, unless the caller wants none. */
void plim_sizes_predict(struct plim_conversion *c, uint64_t n_layers);

#endif
