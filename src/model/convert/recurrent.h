/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CONVERT_RECURRENT_H
#define PLIMSOLL_MODEL_CONVERT_RECURRENT_H

/* Mamba's mixers, which hybrids have too. */

#include "model/convert/groups.h"

extern const struct plim_convert_rule plim_rules_mamba1[];
extern const struct plim_convert_key plim_keys_mamba[];

/* The sizes that follow from N_INNER, N_STATE, N_DT_RANK and, for the second, N_GROUPS. */
void plim_sizes_mamba1(struct plim_conversion *c);
void plim_sizes_mamba2(struct plim_conversion *c);

#endif
