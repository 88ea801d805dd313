/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CATALOGUE_COLUMNS_H
#define PLIMSOLL_MODEL_CATALOGUE_COLUMNS_H

/* The columns of the catalogue, in the order of tools/embed_models.py; a test holds them against the names. */

#include "base/table.h"

enum plim_models_column {
    PLIM_MODELS_ID,
    PLIM_MODELS_NAME,
    PLIM_MODELS_OTHER_NAMES, /* separated by ';': ids and names that mean the same model */
    PLIM_MODELS_FAMILY,
    PLIM_MODELS_PARAMS, /* in billions */
    PLIM_MODELS_PARAMS_ACTIVE,
    PLIM_MODELS_PARAMS_SOURCE,
    PLIM_MODELS_SOURCE,
    PLIM_MODELS_DISPUTED,
    PLIM_MODELS_SHAPE, /* models with the same one have the same tensors and cache */
    PLIM_MODELS_CONFIG,
};

static inline const char *plim_models_cell(size_t i, enum plim_models_column column)
{
    return plim_table_cell(&plim_models_table, i, column);
}

#endif
