/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_BESIDE_H
#define PLIMSOLL_CLI_BESIDE_H

/* The files that are loaded beside a model: projector, draft model, adapters. */

#include "emit/flags.h"
#include "plimsoll/model.h"

struct plim_beside {
    struct plim_model *mmproj, *draft, *lora[PLIM_SETUP_MAX_LORAS];
    uint32_t n_loras;
};

/* Open what the arguments name and put it into the setup; it must not outlive *ret_beside. */
int plim_beside_open(const struct plim_arguments *arguments, struct plim_setup *setup, struct plim_beside *ret_beside,
                     struct plim_error *reterr);
void plim_beside_done(struct plim_beside *beside);

#endif
