/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_QUANT_RECIPE_RULES_H
#define PLIMSOLL_MODEL_QUANT_RECIPE_RULES_H

/* The rules of llama.cpp's quantization recipes: which type a matrix gets for its role, before its shape has a say. */

#include "plimsoll/dtype.h"
#include "plimsoll/model.h"
#include "plimsoll/quant_recipe.h"

#include <stdbool.h>
#include <stdint.h>

/* What the rules tell matrices apart by (llama-quant.cpp: tensor_category). */
enum plim_matrix_role {
    PLIM_MATRIX_OTHER = 0,
    PLIM_MATRIX_OUTPUT,
    PLIM_MATRIX_TOKEN_EMBD,
    PLIM_MATRIX_ATTN_V, /* also fused QKV and the joint KV matrix of MLA */
    PLIM_MATRIX_ATTN_K,
    PLIM_MATRIX_ATTN_Q,
    PLIM_MATRIX_ATTN_OUTPUT,
    PLIM_MATRIX_FFN_UP,
    PLIM_MATRIX_FFN_GATE,
    PLIM_MATRIX_FFN_DOWN,
    PLIM_MATRIX_ROLE_MAX_
};

/* The role of a tensor of this name; PLIM_MATRIX_OTHER when no rule asks for it. */
enum plim_matrix_role plim_matrix_role(const char *name);

/* False for what llama-quantize leaves as it is: vectors, norms, routers, small or odd matrices. */
bool plim_matrix_is_quantized(const struct plim_tensor *tensor);

/* The N of "blk.N."; -1 for other names, also those of T5's encoder and decoder layers. */
int plim_matrix_layer(const char *name);

/* What the rules ask about a matrix and its model. */
struct plim_matrix {
    enum plim_matrix_role role;
    uint64_t n_columns;
    bool is_experts;   /* one matrix per expert, stacked */
    uint32_t place;    /* its layer; for ATTN_V how many came before */
    uint32_t n_places; /* of how many */
    uint32_t n_before; /* matrices of this role before it */
    uint32_t n_gqa;    /* heads per KV head, 0 without attention */
    uint32_t n_expert;
    bool is_falcon, is_70b;
    bool has_imatrix; /* the quantizer is given one */
};

struct plim_quant_recipe_rules;

/* The rules of a recipe; NULL when there is none of this name, in any case. */
const struct plim_quant_recipe_rules *plim_quant_recipe_rules(const char *name);

/* The recipe of llama-quantize of this name, in any case; NULL for others. */
const struct plim_quant_recipe *plim_quant_recipe_own(const char *name);

uint32_t plim_quant_recipe_file_type(const struct plim_quant_recipe_rules *rules); /* for general.file_type */

/* True when its rules for the FFN go by layer and not by counting: they fail on a tensor without one. */
bool plim_quant_recipe_asks_for_layers(const struct plim_quant_recipe_rules *rules);

/* True when some matrices get another type where there is an importance matrix. */
bool plim_quant_recipe_heeds_imatrix(const struct plim_quant_recipe_rules *rules);

/* The type the recipe gives this matrix. */
enum plim_dtype plim_quant_recipe_type(const struct plim_quant_recipe_rules *rules, const struct plim_matrix *matrix);

#endif
