/* SPDX-License-Identifier: MIT */
/* The metadata that the converter writes of a config; the vocabulary has a length only. */
#include "model/convert/sizes.h"

#include "model/ggml_type.h"

#include <stdio.h>
#include <string.h>

enum { MAX_COUNT = 1 << 30, KEY_BYTES = 64 };

/* Every text model (conversion/base.py: TextModel.set_gguf_parameters). */
static const struct plim_convert_key common[] = {
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "context_length", KEY_COUNT, 0,
      "max_position_embeddings|n_ctx|n_positions|max_length|max_sequence_length|model_max_length", ABSENT },
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "feed_forward_length", KEY_COUNT, 0,
      "prefix_dense_intermediate_size|dense_intermediate_size|intermediate_size|n_inner|hidden_dim", ABSENT },
    { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "rms_norm_eps|norm_eps", ABSENT },
    { "attention.layer_norm_epsilon", KEY_REAL, 0, "layer_norm_eps|layer_norm_epsilon|norm_epsilon", ABSENT },
    { "expert_count", KEY_COUNT, 0, "num_local_experts|num_experts|n_routed_experts", ABSENT },
    { "expert_used_count", KEY_COUNT, 0, "num_experts_per_tok|num_experts_per_token|top_k_experts", ABSENT },
    { "expert_group_count", KEY_COUNT, 0, "n_group", ABSENT },
    { "expert_group_used_count", KEY_COUNT, 0, "topk_group", ABSENT },
    { 0 },
};

/* --- from the tables --- */

static void write_key(struct plim_conversion *c, const struct plim_convert_key *key)
{
    const bool is_there = key->from && plim_config_has(c, key->from);
    switch ((enum plim_convert_value)key->value) {
    case KEY_SIZE:
        if (c->n[key->size])
            plim_write_count(c, key->name, c->n[key->size]);
        return;
    case KEY_TEXT:
        plim_write_text(c, key->name, key->from);
        return;
    case KEY_COUNT:
        if (is_there || key->otherwise > ABSENT)
            plim_write_count(c, key->name,
                             plim_config_number(c, key->from, MAX_COUNT, is_there ? 0 : (uint64_t)key->otherwise));
        return;
    case KEY_REAL:
        if (is_there || key->otherwise > ABSENT)
            plim_write_real(c, key->name, is_there ? plim_config_real(c, key->from, 0) : key->otherwise);
        return;
    case KEY_FLAG:
        if (is_there || key->otherwise > ABSENT)
            plim_write_flag(c, key->name,
                            key->from ? plim_config_truth(c, key->from, key->otherwise != 0) : key->otherwise != 0);
        return;
    }
}

void plim_convert_write_table(struct plim_conversion *c, const struct plim_convert_key *keys)
{
    for (; keys && keys->name && c->result == 0; keys++)
        write_key(c, keys);
}

/* --- what no table gives --- */

static void write_yarn(struct plim_conversion *c)
{
    static const struct plim_convert_key yarn[] = {
        { "rope.scaling.original_context_length", KEY_COUNT, 0,
          "rope_parameters.original_max_position_embeddings|rope_scaling.original_max_position_embeddings|"
          "original_max_position_embeddings",
          ABSENT },
        { "rope.scaling.yarn_ext_factor", KEY_REAL, 0,
          "rope_parameters.extrapolation_factor|rope_scaling.extrapolation_factor", ABSENT },
        { "rope.scaling.yarn_attn_factor", KEY_REAL, 0,
          "rope_parameters.attention_factor|rope_parameters.attn_factor|rope_scaling.attention_factor|"
          "rope_scaling.attn_factor",
          ABSENT },
        { "rope.scaling.yarn_beta_fast", KEY_REAL, 0, "rope_parameters.beta_fast|rope_scaling.beta_fast", ABSENT },
        { "rope.scaling.yarn_beta_slow", KEY_REAL, 0, "rope_parameters.beta_slow|rope_scaling.beta_slow", ABSENT },
        { 0 },
    };
    plim_convert_write_table(c, yarn);
}

/* "rope_parameters" holds all of it since transformers 5, with an object for each kind of layer where they differ. */
static void write_rope(struct plim_conversion *c)
{
    static const char theta[] = "rope_parameters.full_attention.rope_theta|rope_parameters.rope_theta|"
                                "rope_scaling.rope_theta|global_rope_theta|rope_global_theta|rope_theta_global|"
                                "rope_theta|rotary_emb_base";
    static const char local[] = "rope_parameters.sliding_attention.rope_theta|local_rope_theta|rope_local_theta|"
                                "rope_theta_local|swa_rope_theta|rope_local_base_freq";
    const char *type = plim_config_string(c, "rope_parameters.full_attention.rope_type|rope_parameters.rope_type|"
                                             "rope_parameters.type|rope_scaling.rope_type|rope_scaling.type");
    const double factor =
        plim_config_real(c, "rope_parameters.full_attention.factor|rope_parameters.factor|rope_scaling.factor", 0);
    if (type && factor > 0 && (!strcmp(type, "linear") || !strcmp(type, "yarn"))) {
        plim_write_text(c, "rope.scaling.type", type);
        plim_write_real(c, "rope.scaling.factor", factor);
        if (type[0] == 'y')
            write_yarn(c);
    } else if (type && (!strcmp(type, "su") || !strcmp(type, "longrope"))) {
        plim_write_text(c, "rope.scaling.type", "longrope");
    }
    if (plim_config_has(c, theta))
        plim_write_real(c, "rope.freq_base", plim_config_real(c, theta, 0));
    if (plim_config_has(c, local))
        plim_write_real(c, "rope.freq_base_swa", plim_config_real(c, local, 0));
}

static void write_sections(struct plim_conversion *c)
{
    int64_t sections[4] = { 0 };
    static const char *const names[] = { "rope_parameters.mrope_section", "rope_scaling.mrope_section" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (plim_config_length(c, names[k]) == 0)
            continue;
        for (uint32_t i = 0; i < 4; i++)
            sections[i] = plim_config_number_at(c, names[k], i, 0);
        plim_write_list(c, "rope.dimension_sections", sections, 4);
        return;
    }
}

static void write_gating(struct plim_conversion *c)
{
    static const char *const functions[] = { "", "softmax", "sigmoid", "softmax_weight", "sqrtsoftplus" };
    const char *name = plim_config_string(c, "score_function|scoring_func|score_func|moe_router_activation|"
                                             "moe_router_activation_func|expert_selection_fn");
    for (uint32_t i = 1; name && i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(name, functions[i]))
            plim_write_count(c, "expert_gating_func", i);
}

/* Numbers that some classes fill in and others do not. */
static void write_heads(struct plim_conversion *c)
{
    const uint32_t gives = c->class ? c->class->gives : 0;
    if (gives & HAS_KV || plim_config_says(c, "num_key_value_heads|n_kv_heads"))
        plim_write_count(c, "attention.head_count_kv", c->n[N_HEAD_KV]);
    if (gives & HAS_HEAD || plim_config_says(c, "head_dim")) {
        plim_write_count(c, "attention.key_length", c->n[N_HEAD_K]);
        plim_write_count(c, "attention.value_length", c->n[N_HEAD_K]);
    }
}

static uint32_t file_type(enum plim_dtype type, bool has_mxfp4)
{
    enum { ALL_F32 = 0, MOSTLY_F16 = 1, MOSTLY_BF16 = 32, MOSTLY_MXFP4_MOE = 38 }; /* llama.h: enum llama_ftype */
    if (has_mxfp4)
        return MOSTLY_MXFP4_MOE;
    return type == PLIM_DTYPE_F32 ? ALL_F32 : type == PLIM_DTYPE_F16 ? MOSTLY_F16 : MOSTLY_BF16;
}

static void write_general(struct plim_conversion *c, const struct plim_convert_row *row)
{
    plim_write_text(c, "general.architecture", c->arch);
    plim_write_text(c, "general.type", row->is_projector ? "mmproj" : "model");
    plim_write_text(c, "general.name", plim_model_name(c->config));
    if (!row->has_no_file_type)
        plim_write_count(c, "general.file_type", file_type(c->type, c->facts & MXFP4));
    plim_write_count(c, "general.quantization_version", 2); /* gguf-py: GGML_QUANT_VERSION */
}

/* The tokenizer's tokens are as many as the config's vocabulary has rows. */
static void write_vocabulary(struct plim_conversion *c)
{
    const struct plim_key tokens = { .name = "tokenizer.ggml.tokens", .type = PLIM_VALUE_ARRAY, .n = c->n[N_VOCAB] };
    if (c->result == 0)
        c->result = plim_model_add_key(c->made, &tokens, c->err);
}

/* Engines need it; it only bounds what they offer. */
static void write_context(struct plim_conversion *c)
{
    enum { SHORT_CONTEXT = 2048 };
    char name[KEY_BYTES];
    snprintf(name, sizeof name, "%s.context_length", c->arch);
    for (size_t i = 0; i < c->made->n_keys; i++)
        if (!strcmp(c->made->keys[i].name, name))
            return;
    plim_write_count(c, "context_length", SHORT_CONTEXT);
    plim_conversion_doubt(c, "the config does not say for how many tokens the model was trained; 2048 are taken", NULL);
}

void plim_convert_write_keys(struct plim_conversion *c, const struct plim_convert_row *row)
{
    write_general(c, row);
    if (!row->is_bare) {
        plim_convert_write_table(c, common);
        write_heads(c);
        if (!plim_config_truth(c, "is_causal", true))
            plim_write_flag(c, "attention.causal", false);
        write_rope(c);
        write_sections(c);
        write_gating(c);
    }
    plim_convert_write_table(c, row->keys);
    if (row->write && c->result == 0)
        row->write(c);
    if (!row->is_projector) {
        write_context(c);
        write_vocabulary(c);
    }
}
