/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASIS_H
#define PLIMSOLL_BASIS_H

/* Where a number comes from. No number without one. */

#ifdef __cplusplus
extern "C" {
#endif

enum plim_basis {
    PLIM_BASIS_UNKNOWN = 0,
    PLIM_BASIS_EXACT,    /* read from the file, or derived by the engine's own rule: no freedom left */
    PLIM_BASIS_FORMULA,  /* a model with a stated error */
    PLIM_BASIS_MEASURED, /* seen on a machine */
    PLIM_BASIS_ASSUMED,  /* a guess with a stated range */
    PLIM_BASIS_MAX_
};

const char *plim_basis_name(enum plim_basis basis); /* "exact", "formula", "measured", "assumed", "unknown" */

#ifdef __cplusplus
}
#endif

#endif
