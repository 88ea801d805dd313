/* SPDX-License-Identifier: MIT */
/* All architectures with rules, family by family. */
#include "model/convert/groups.h"

static const struct plim_convert_family *const families[] = {
    &plim_family_dense,
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
