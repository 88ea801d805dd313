/* SPDX-License-Identifier: MIT */
#include "plimsoll/basis.h"

const char *plim_basis_name(enum plim_basis basis)
{
    static const char *const names[PLIM_BASIS_MAX_] = { "unknown", "exact", "formula", "measured", "assumed" };
    return basis < PLIM_BASIS_MAX_ ? names[basis] : names[PLIM_BASIS_UNKNOWN];
}
