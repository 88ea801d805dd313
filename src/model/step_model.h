/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_STEP_MODEL_H
#define PLIMSOLL_MODEL_STEP_MODEL_H

/* A recorded step (step/step.h) in the place of a model: it is named where models are, and has no tensors. */

#include "base/error.h"
#include "plimsoll/model.h"

#include <stdbool.h>

struct plim_step;

/* The step of a PLIM_MODEL_STEP, which lives as long as the model; NULL for all others. */
const struct plim_step *plim_model_step(const struct plim_model *model);

/* --- for open.c --- */

bool plim_step_model_is(const unsigned char *bytes, uint64_t n_bytes);
int plim_step_model_open(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
