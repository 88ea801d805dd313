/* SPDX-License-Identifier: MIT */
/* All architectures with rules, family by family. */
#include "model/convert/groups.h"

static const struct plim_convert_family *const families[] = {
    &plim_family_dense,   &plim_family_older,     &plim_family_gemma,  &plim_family_moe,
    &plim_family_mla,     &plim_family_delta_net, &plim_family_hybrid, &plim_family_recurrent,
    &plim_family_encoder, &plim_family_minor,     &plim_family_vision,
};

const struct plim_convert_row *plim_convert_row_at(size_t i)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        if (i < families[f]->n)
            return &families[f]->rows[i];
        i -= families[f]->n;
    }
    return NULL;
}
