/* SPDX-License-Identifier: MIT */
/*
 * The sizes and facts that most architectures share, by the names that the configs give them.
 *
 * Defaults are those of transformers' configuration classes; where a class has none, a missing number is an error.
 * Facts that a config often leaves out (whether the output is tied) come from the checkpoint where there is one; else
 * the default of the class is taken and the forecast says that it is in doubt.
 */
#include "model/convert/sizes.h"

#include "base/limits.h"

#include <stdio.h>
#include <string.h>

enum { MAX_WIDTH = 1 << 24, MAX_VOCAB = 1 << 25, MAX_HEADS = 1 << 12, MAX_HEAD = 1 << 14, MAX_EXPERTS = 1 << 12 };
enum { MAX_CONTEXT = 1 << 30 };

static void set(struct plim_conversion *c, uint32_t fact, bool holds)
{
    c->facts = holds ? c->facts | fact : c->facts & ~fact;
}

/* A config that transformers wrote leaves out what has the default of its class. */
static bool is_complete(const struct plim_conversion *c) { return plim_config_has(c, "transformers_version"); }

/* --- derived sizes --- */

void plim_sizes_derive(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    n[N_1] = 1, n[N_2] = 2, n[N_3] = 3;
    n[N_EMBD_2] = 2 * n[N_EMBD];
    n[N_EMBD_3] = 3 * n[N_EMBD];
    n[N_SHARE] = n[N_HEAD] ? n[N_EMBD] / n[N_HEAD] : 0;
    n[N_Q] = n[N_HEAD] * n[N_HEAD_K];
    n[N_Q_2] = 2 * n[N_Q];
    n[N_K] = n[N_HEAD_KV] * n[N_HEAD_K];
    n[N_V] = n[N_HEAD_KV] * n[N_HEAD_V];
    n[N_O] = n[N_HEAD] * n[N_HEAD_V];
    n[N_QKV] = n[N_Q] + n[N_K] + n[N_V];
    n[N_FF_2] = 2 * n[N_FF];
    n[N_FF_EXP_2] = 2 * n[N_FF_EXP];
}

/* --- layers --- */

static void read_layers(struct plim_conversion *c)
{
    static const char names[] = "num_hidden_layers|n_layers|n_layer|num_layers|depth|layers|encoder_layers";
    const uint64_t listed = plim_config_length(c, "layers_block_type"); /* Nemotron 3: their number is not given */
    c->n[N_LAYER] = listed && listed <= PLIM_MAX_LAYERS && !plim_config_has(c, names)
                        ? listed
                        : plim_config_need(c, names, PLIM_MAX_LAYERS);
    c->n[N_LAYER_ALL] = c->n[N_LAYER];
}

void plim_sizes_predict(struct plim_conversion *c, uint64_t n_layers)
{
    if (c->options.without_prediction)
        n_layers = 0;
    c->n[N_NEXTN] = n_layers;
    c->n[N_LAYER_ALL] = c->n[N_LAYER] + n_layers;
    if (c->n[N_LAYER_ALL] > PLIM_MAX_LAYERS)
        plim_conversion_fail(c, "num_hidden_layers", "and the prediction layers are too many");
}

/* --- attention and feed-forward --- */

static void read_attention(struct plim_conversion *c, uint64_t head)
{
    uint64_t *n = c->n;
    n[N_HEAD] = plim_config_number(c, "num_attention_heads|n_head|n_heads|num_heads", MAX_HEADS, 0);
    n[N_HEAD_KV] =
        plim_config_number(c, "num_key_value_heads|num_kv_heads|n_head_kv|multi_query_group_num|attn_config.kv_n_heads",
                           MAX_HEADS, n[N_HEAD]);
    const uint64_t share = head ? head : n[N_HEAD] ? n[N_EMBD] / n[N_HEAD] : 0;
    n[N_HEAD_K] = plim_config_number(c, "head_dim|kv_channels|attention_head_dim|d_kv", MAX_HEAD, share);
    if (n[N_HEAD_K] == 0)
        n[N_HEAD_K] = share;
    n[N_HEAD_V] = n[N_HEAD_K];
    if (n[N_HEAD] && !n[N_HEAD_KV])
        n[N_HEAD_KV] = n[N_HEAD];
    if (c->result == 0 && n[N_HEAD] && n[N_HEAD] % n[N_HEAD_KV])
        plim_conversion_fail(c, "num_key_value_heads", "does not divide the number of heads");
    const double rotated = plim_config_real(c, "partial_rotary_factor|rope_parameters.partial_rotary_factor", 1.0);
    if (rotated > 0 && rotated <= 1)
        n[N_ROT] = (uint64_t)(rotated * (double)n[N_HEAD_K]);
    n[N_ROT_HALF] = n[N_ROT] / 2;
}

static void read_feed_forward(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    n[N_FF] = plim_config_number(c, "intermediate_size|n_inner|ffn_hidden_size|d_ff|ffn_dim|hidden_dim", MAX_WIDTH, 0);
    n[N_EXPERT] = plim_config_number(c, "num_local_experts|num_experts|n_routed_experts", MAX_EXPERTS, 0);
    n[N_FF_EXP] = plim_config_number(c, "moe_intermediate_size", MAX_WIDTH, n[N_FF]);
    n[N_SHARED] = plim_config_number(c, "n_shared_experts|num_shared_experts", MAX_EXPERTS, 0);
    n[N_FF_SHARED] = n[N_SHARED] * n[N_FF_EXP];
    n[N_DENSE_LEAD] = plim_config_number(c, "first_k_dense_replace", PLIM_MAX_LAYERS, 0);
    n[N_EXPERT_IN] = n[N_EMBD];
    set(c, EXPERTS, n[N_EXPERT] > 0);
    set(c, SHARED, n[N_FF_SHARED] > 0);
}

/* --- what a config may leave open --- */

/*
 * transformers makes as many rows as vocab_size says. (So do litgpt's padded sizes in the catalogue: it loads published
 * weights as they are, and only with the right number of rows.)
 */
static void read_vocabulary(struct plim_conversion *c)
{
    const struct plim_tensor *table = plim_checkpoint_tensor(c, "embed_tokens.weight");
    c->n[N_VOCAB] = table && table->n_dims == 2 && table->ne[1] <= MAX_VOCAB
                        ? table->ne[1]
                        : plim_config_need(c, "vocab_size|padded_vocab_size", MAX_VOCAB);
    if (!table && !plim_config_says(c, "vocab_size|padded_vocab_size") && !is_complete(c))
        plim_conversion_doubt(c, "the config does not give the size of the vocabulary; its class's is taken", NULL);
}

static void read_tie(struct plim_conversion *c)
{
    if (c->row->facts & TIED || c->n[N_VOCAB] == 0)
        return;
    if (c->config->format == PLIM_FORMAT_SAFETENSORS && plim_checkpoint_tensor(c, "embed_tokens.weight")) {
        set(c, TIED, !plim_checkpoint_tensor(c, "lm_head.weight"));
        return;
    }
    set(c, TIED, plim_config_truth(c, "tie_word_embeddings", c->row->is_tied));
    if (!plim_config_has(c, "tie_word_embeddings") && !is_complete(c) && !c->row->never_tied)
        plim_conversion_doubt(c, "the config does not say whether the output matrix is the token embedding",
                              "output.weight");
}

static void read_biases(struct plim_conversion *c)
{
    const bool has_all = plim_config_truth(c, "attention_bias", false);
    const struct plim_tensor *q = plim_checkpoint_tensor(c, "q_proj.weight");
    if (!(c->row->bias_keys & QKV_BIAS))
        return;
    set(c, QKV_BIAS, q ? plim_checkpoint_tensor(c, "q_proj.bias") != NULL : has_all);
    set(c, OUT_BIAS, q ? plim_checkpoint_tensor(c, "o_proj.bias") != NULL : has_all);
    set(c, MLP_BIAS, plim_config_truth(c, "mlp_bias", false));
}

/* Llama 3's scaling has a factor for each pair of rotated dimensions (LlamaModel.generate_extra_tensors). */
static void read_rope(struct plim_conversion *c)
{
    const char *type = plim_config_string(c, "rope_parameters.full_attention.rope_type|rope_parameters.rope_type|"
                                             "rope_parameters.type|rope_scaling.rope_type|rope_scaling.type");
    set(c, ROPE_FREQS, type && !strcmp(type, "llama3"));
    set(c, ROPE_FACTORS, plim_config_length(c, "rope_scaling.long_factor|rope_parameters.long_factor") > 0);
}

static void read_type(struct plim_conversion *c)
{
    const char *name = plim_config_string(c, "dtype|torch_dtype");
    if (!name) /* of the whole, for a projector */
        name = plim_model_string(c->config, "dtype");
    if (!name)
        name = plim_model_string(c->config, "torch_dtype");
    const enum plim_dtype type = name ? plim_dtype_named(name) : PLIM_DTYPE_UNKNOWN;
    const struct plim_tensor *table = plim_checkpoint_tensor(c, "embed_tokens.weight");
    c->type = c->options.type;
    if (!c->type && table)
        c->type = table->type;
    if (!c->type) /* "auto": as the first matrix, F16 for all but BF16 */
        c->type = name && type != PLIM_DTYPE_BF16 ? PLIM_DTYPE_F16 : PLIM_DTYPE_BF16;
    if (c->type != PLIM_DTYPE_F16 && c->type != PLIM_DTYPE_BF16 && c->type != PLIM_DTYPE_F32)
        c->type = PLIM_DTYPE_F16;
}

/* FP8 is turned back by the converter; what other methods leave is not what the rules describe. */
static void read_quantization(struct plim_conversion *c)
{
    const char *method = plim_config_string(c, "quantization_config.quant_method");
    const bool is_mxfp4 = method && !strcmp(method, "mxfp4");
    set(c, MXFP4, is_mxfp4);
    if (method && !is_mxfp4 && strcmp(method, "fp8") != 0)
        plim_conversion_doubt(c, "the checkpoint is quantized; the forecast is of the model before that", NULL);
}

/* A projector ends in the width of its language model. */
static bool read_text_width(struct plim_conversion *c)
{
    char key[64];
    uint64_t width = 0;
    snprintf(key, sizeof key, "%shidden_size", c->language);
    if (!plim_model_u64(c->config, key, &width) && !plim_model_u64(c->config, "hidden_size", &width))
        plim_conversion_fail(c, key, "is missing");
    else if (width == 0 || width > MAX_WIDTH)
        plim_conversion_fail(c, key, "is no width of a model");
    c->n[N_TEXT] = width;
    return c->result == 0;
}

void plim_convert_read_sizes(struct plim_conversion *c, const struct plim_convert_row *row)
{
    c->facts = row->facts;
    c->n[N_EMBD] = plim_config_need(c, "hidden_size|n_embd|d_model|dim|n_embed", MAX_WIDTH);
    if (!row->is_projector && !plim_config_says(c, "hidden_size|n_embd|d_model|dim|n_embed") && !is_complete(c))
        plim_conversion_doubt(c, "the config does not give the width of the model; its class's is taken", NULL);
    read_layers(c);
    read_attention(c, row->head);
    read_feed_forward(c);
    read_type(c);
    read_quantization(c);
    if (!row->is_projector) {
        read_vocabulary(c);
        read_tie(c);
        read_biases(c);
        read_rope(c);
        c->n[N_WINDOW] = plim_config_number(c, "sliding_window", MAX_CONTEXT, 0);
    }
    if (row->is_projector && !read_text_width(c))
        return;
    plim_sizes_derive(c);
    if (row->read)
        row->read(c);
    plim_sizes_derive(c);
}
