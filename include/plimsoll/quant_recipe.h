/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_QUANT_RECIPE_H
#define PLIMSOLL_QUANT_RECIPE_H

/*
 * Quantization recipes: the rules by which llama-quantize gives each tensor a type, under a name such as "Q4_K_M". Most
 * matrices get one type and some roles and layers another, so the size of the result follows from the tensors, not from
 * bits per weight.
 *
 * The answer is that of llama.cpp's own rules without overrides. An importance matrix is assumed only where
 * llama-quantize demands one, or the name begins with "i1-". "Q4_K_L" and its like, with both embedding matrices in
 * Q8_0, are known as well. Recipes that are not published ("UD-Q4_K_XL") are the nearest one: such a model is a
 * forecast with a band (plim_model_doubt()).
 */

#include "plimsoll/error.h"
#include "plimsoll/model.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plim_quant_recipe {
    const char *name;   /* llama.cpp's: "Q4_K_M" */
    bool needs_imatrix; /* llama-quantize refuses to make it of common shapes without an importance matrix */
};

/*
 * The i-th recipe, NULL past the last. The order is from large to small for a dense model; the roles and shapes of a
 * model's tensors can swap neighbours, MXFP4_MOE is large for a dense model and small for one of experts.
 */
const struct plim_quant_recipe *plim_quant_recipe_at(size_t i);

/* The recipe of this name, also one of publishers that plim_quant_recipe_at() has not, in any case; NULL: unknown. */
const struct plim_quant_recipe *plim_quant_recipe_named(const char *name);

/* True when a file of this recipe has other types in some layers where it was made with an importance matrix. */
bool plim_quant_recipe_differs_with_imatrix(const char *name);

/*
 * The model as llama-quantize --allow-requantize would write it: one file, its tensors in the order, with the types,
 * bytes and offsets they would have there, and general.file_type to match. plim_model_path() is "", as the
 * file does not exist; its size is counted with the header of the old file.
 *
 * Names and values are borrowed: `model` must outlive the new model, which is freed with plim_model_free(). Fails with
 * PLIM_E_USAGE for an unknown recipe, PLIM_E_UNSUPPORTED for a model that llama-quantize refuses as well.
 */
int plim_model_requantize(const struct plim_model *model, const char *recipe, struct plim_model **ret_model,
                          struct plim_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
