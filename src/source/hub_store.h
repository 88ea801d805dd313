/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_HUB_STORE_H
#define PLIMSOLL_SOURCE_HUB_STORE_H

/* Models of a hub ("hf:ORG/REPO:QUANT") that other programs have downloaded. */

#include "plimsoll/model.h"
#include "source/remote/address.h"

enum { PLIM_HUB_PATH_BYTES = 4096 };

struct plim_hub_files {
    char model[PLIM_HUB_PATH_BYTES];
    char projector[PLIM_HUB_PATH_BYTES]; /* that llama.cpp would load with it; "": none */
};

/* Returns 1 when the model is on this machine with all its parts, 0 when it is not, and an error for several. */
int plim_hub_store_find(const struct plim_remote_address *address, const struct plim_source_roots *roots,
                        struct plim_hub_files *ret_files, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
