/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_HF_CONFIG_H
#define PLIMSOLL_MODEL_HF_CONFIG_H

/* The config.json of transformers: hyperparameters (hf_config.c), and the tensors that it implies (hf_tensors.c). */

#include "base/cursor.h"
#include "model/model_impl.h"

/* Read a config.json into the keys of a model, and fill the hyperparameters, type, kind and architecture from them. */
int plim_hf_config_read(struct plim_model *model, struct plim_cursor cursor, struct plim_error *reterr) PLIM_MUST_CHECK;
int plim_hf_config_add(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;

/* Fill from the tensors what the config leaves open: whether the output matrix is the token embedding. */
void plim_hf_config_settle(struct plim_model *model);

/* What is left after the keys: the tensors that they imply, where the rules are known, the format and the index. */
int plim_hf_config_finish(struct plim_model *model, struct plim_error *reterr) PLIM_MUST_CHECK;

/* Fill a new model from a config.json alone: with the tensors that it implies, where the rules are known. */
int plim_hf_config_open(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * Add the tensors of the checkpoint that this config is of, as transformers publishes it. PLIM_E_UNSUPPORTED, and no
 * tensors, for a family whose rules are not known here and for a quantized checkpoint.
 */
int plim_hf_tensors_add(struct plim_model *model, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
