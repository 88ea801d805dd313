/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CONVERT_GROUPS_H
#define PLIMSOLL_MODEL_CONVERT_GROUPS_H

/* The groups of tensors and keys that families share, and the families themselves. */

#include "model/convert/rule.h"

#define MATRIX(name, in, out, ...)                                                                                     \
    {                                                                                                                  \
        name ".weight", { in, out }, __VA_ARGS__                                                                       \
    }
#define NORM(name, n, ...)                                                                                             \
    {                                                                                                                  \
        name ".weight", { n }, __VA_ARGS__                                                                             \
    }
#define BIAS(name, n, ...)                                                                                             \
    {                                                                                                                  \
        name ".bias", { n }, __VA_ARGS__                                                                               \
    }
#define ALWAYS        0, 0, 0
#define WHEN(facts)   (facts), 0, 0
#define UNLESS(facts) 0, (facts), 0
#define END_OF_GROUP                                                                                                   \
    {                                                                                                                  \
        NULL, { 0 }, 0, 0, 0                                                                                           \
    }
#define END_OF_KEYS                                                                                                    \
    {                                                                                                                  \
        NULL, 0, 0, NULL, 0                                                                                            \
    }

/* Outside the layers. */
extern const struct plim_convert_rule plim_rules_outer[];      /* embedding, output norm, output */
extern const struct plim_convert_rule plim_rules_outer_bias[]; /* the bias of the output norm */
extern const struct plim_convert_rule plim_rules_output_bias[];

/* Of a layer. */
extern const struct plim_convert_rule plim_rules_norms[]; /* before attention and before the feed-forward part */
extern const struct plim_convert_rule plim_rules_norm_biases[];
extern const struct plim_convert_rule plim_rules_attn_norm[]; /* the first of them alone */
extern const struct plim_convert_rule plim_rules_attn_norm_bias[];
extern const struct plim_convert_rule plim_rules_post_norms[]; /* after both parts */
extern const struct plim_convert_rule plim_rules_mid_norm[];   /* before the feed-forward, by its other name */
extern const struct plim_convert_rule plim_rules_attention[];
extern const struct plim_convert_rule plim_rules_fused_attention[];
extern const struct plim_convert_rule plim_rules_qk_norm[];      /* per head */
extern const struct plim_convert_rule plim_rules_qk_norm_flat[]; /* over all heads at once */
extern const struct plim_convert_rule plim_rules_ffn[];          /* gate, up and down */
extern const struct plim_convert_rule plim_rules_ffn_fused[];    /* gate and up in one matrix named up */
extern const struct plim_convert_rule plim_rules_ffn_plain[];    /* without a gate */
extern const struct plim_convert_rule plim_rules_experts[];
extern const struct plim_convert_rule plim_rules_shared_expert[];
extern const struct plim_convert_rule plim_rules_score_bias[];
extern const struct plim_convert_rule plim_rules_prediction[]; /* what makes a layer predict the next token but one */
extern const struct plim_convert_rule plim_rules_mamba2[];

/* The keys of the classes that derive from LlamaModel, and Granite's multipliers. */
extern const struct plim_convert_key plim_keys_llama[];

/* Hooks that several families use. */
void plim_each_dense_lead(struct plim_conversion *c, uint32_t il); /* the first layers have no experts */
void plim_write_long_rope(struct plim_conversion *c); /* Phi 3's factor for attention beside rope_factors */
void plim_write_windows(struct plim_conversion *c, const char *window_name); /* window, and layer_types as a list */

struct plim_convert_family {
    const struct plim_convert_row *rows;
    size_t n;
};
extern const struct plim_convert_family plim_family_dense, plim_family_older, plim_family_gemma, plim_family_moe,
    plim_family_mla, plim_family_delta_net, plim_family_hybrid, plim_family_recurrent, plim_family_encoder,
    plim_family_minor, plim_family_vision;

#define FAMILY(rows)                                                                                                   \
    {                                                                                                                  \
        rows, sizeof(rows) / sizeof *(rows)                                                                            \
    }

#endif
