/* SPDX-License-Identifier: MIT */
/*
 * Projectors (mmproj): the encoder of images or sound beside a language model, with what fits its output to that model.
 * N_EMBD, N_FF, N_HEAD are the encoder's; N_TEXT is the width of the language model. Source of the rows: the classes
 * derived from MmprojModel (conversion/base.py).
 */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

#include "base/limits.h"

#include <string.h>

enum { MAX_WIDTH = 1 << 24, MAX_SIDE = 1 << 14 };

static void set(struct plim_conversion *c, uint32_t fact, bool holds)
{
    c->facts = holds ? c->facts | fact : c->facts & ~fact;
}

/* --- groups of a layer --- */

static const struct plim_convert_rule norms[] = {
    NORM("ln1", N_EMBD, ALWAYS),
    NORM("ln2", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_rule norm_biases[] = {
    BIAS("ln1", N_EMBD, ALWAYS),
    BIAS("ln2", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_rule first_norm[] = {
    NORM("ln1", N_EMBD, ALWAYS),
    BIAS("ln1", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_rule attention[] = {
    MATRIX("attn_q", N_EMBD, N_Q, ALWAYS),
    MATRIX("attn_k", N_EMBD, N_K, ALWAYS),
    MATRIX("attn_v", N_EMBD, N_V, ALWAYS),
    MATRIX("attn_out", N_O, N_EMBD, ALWAYS),
    END_OF_GROUP,
};

/* Whisper's K has no bias. */
static const struct plim_convert_rule attention_biases[] = {
    BIAS("attn_q", N_Q, ALWAYS),
    BIAS("attn_k", N_K, UNLESS(QKV_BIAS)),
    BIAS("attn_v", N_V, ALWAYS),
    BIAS("attn_out", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_rule fused_attention[] = {
    MATRIX("attn_qkv", N_EMBD, N_QKV, ALWAYS),
    BIAS("attn_qkv", N_QKV, ALWAYS),
    MATRIX("attn_out", N_O, N_EMBD, ALWAYS),
    BIAS("attn_out", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_rule ffn[] = {
    MATRIX("ffn_up", N_EMBD, N_FF, ALWAYS),
    MATRIX("ffn_down", N_FF, N_EMBD, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_rule ffn_biases[] = {
    BIAS("ffn_up", N_FF, ALWAYS),
    BIAS("ffn_down", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_rule ffn_gate[] = { MATRIX("ffn_gate", N_EMBD, N_FF, ALWAYS), END_OF_GROUP };
static const struct plim_convert_rule ffn_gate_bias[] = { BIAS("ffn_gate", N_FF, ALWAYS), END_OF_GROUP };

static const struct plim_convert_rule post_norm[] = { NORM("attn_post_norm", N_EMBD, ALWAYS), END_OF_GROUP };
static const struct plim_convert_rule post_norm_bias[] = { BIAS("attn_post_norm", N_EMBD, ALWAYS), END_OF_GROUP };

static const struct plim_convert_rule gemma4_norms[] = {
    NORM("ffn_post_norm", N_EMBD, ALWAYS),
    NORM("attn_q_norm", N_HEAD_K, ALWAYS),
    NORM("attn_k_norm", N_HEAD_K, ALWAYS),
    END_OF_GROUP,
};

/* A slice of an intermediate layer's output goes to the first layers of Qwen3-VL. */
static const struct plim_convert_rule deepstack[] = {
    MATRIX("fc1", N_MERGED, N_MERGED, WHEN(INDEXED)),
    BIAS("fc1", N_MERGED, WHEN(INDEXED)),
    MATRIX("fc2", N_MERGED, N_TEXT, WHEN(INDEXED)),
    BIAS("fc2", N_TEXT, WHEN(INDEXED)),
    NORM("norm", N_MERGED, WHEN(INDEXED)),
    BIAS("norm", N_MERGED, WHEN(INDEXED)),
    END_OF_GROUP,
};

/* --- groups outside the layers --- */

#define PATCHES(name)                                                                                                  \
    {                                                                                                                  \
        name, { N_PATCH, N_PATCH, N_CHANNELS, N_EMBD }, 0, 0, TYPE_OF_PATCHES                                          \
    }

static const struct plim_convert_rule patches[] = { PATCHES("v.patch_embd.weight"), END_OF_GROUP };
static const struct plim_convert_rule patches_bias[] = { BIAS("v.patch_embd", N_EMBD, ALWAYS), END_OF_GROUP };

/* Two frames of a film at once: the kernel is split. */
static const struct plim_convert_rule second_patches[] = { PATCHES("v.patch_embd.weight.1"), END_OF_GROUP };

static const struct plim_convert_rule last_norm[] = { NORM("v.post_ln", N_EMBD, ALWAYS), END_OF_GROUP };
static const struct plim_convert_rule last_norm_bias[] = { BIAS("v.post_ln", N_EMBD, ALWAYS), END_OF_GROUP };

static const struct plim_convert_rule qwen_merger[] = {
    MATRIX("mm.0", N_MERGED, N_MERGED, ALWAYS),
    BIAS("mm.0", N_MERGED, ALWAYS),
    MATRIX("mm.2", N_MERGED, N_TEXT, ALWAYS),
    BIAS("mm.2", N_TEXT, ALWAYS),
    { "v.position_embd.weight", { N_EMBD, N_TABLE }, LAYER_EMBD, 0, 0 },
    END_OF_GROUP,
};

static const struct plim_convert_rule gemma3_projector[] = {
    { "mm.input_projection.weight", { N_TEXT, N_EMBD }, 0, 0, PLIM_DTYPE_F16 },
    NORM("mm.soft_emb_norm", N_EMBD, ALWAYS),
    { "v.position_embd.weight", { N_EMBD, N_TABLE }, 0, 0, 0 },
    END_OF_GROUP,
};

static const struct plim_convert_rule gemma4_projector[] = {
    MATRIX("mm.input_projection", N_EMBD, N_TEXT, ALWAYS),
    { "v.position_embd.weight", { N_EMBD, N_TABLE, N_2 }, 0, 0, 0 },
    { "v.std_bias", { N_EMBD }, POST_NORM, 0, 0 },
    { "v.std_scale", { N_EMBD }, POST_NORM, 0, 0 },
    END_OF_GROUP,
};

static const struct plim_convert_rule llama4_projector[] = {
    { "v.patch_embd.weight", { N_EXTRA, N_EMBD }, 0, 0, TYPE_OF_PATCHES },
    { "v.class_embd", { N_EMBD }, 0, 0, 0 },
    NORM("v.pre_ln", N_EMBD, ALWAYS),
    BIAS("v.pre_ln", N_EMBD, ALWAYS),
    { "v.position_embd.weight", { N_EMBD, N_TABLE }, 0, 0, 0 },
    MATRIX("mm.model.mlp.1", N_MERGED, N_HIDDEN, ALWAYS),
    MATRIX("mm.model.mlp.2", N_HIDDEN, N_HIDDEN, ALWAYS),
    MATRIX("mm.model.fc", N_HIDDEN, N_TEXT, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_rule pixtral_projector[] = {
    MATRIX("mm.1", N_EMBD, N_TEXT, ALWAYS), MATRIX("mm.2", N_TEXT, N_TEXT, ALWAYS),
    NORM("mm.input_norm", N_EMBD, ALWAYS),  { "mm.patch_merger.weight", { N_MERGED, N_EMBD }, 0, 0, TYPE_OF_PATCHES },
    NORM("v.pre_ln", N_EMBD, ALWAYS),       END_OF_GROUP,
};

static const struct plim_convert_rule voxtral_projector[] = {
    { "a.conv1d.1.weight", { N_3, N_CHANNELS, N_EMBD }, 0, 0, PLIM_DTYPE_F16 },
    { "a.conv1d.1.bias", { N_1, N_EMBD }, 0, 0, 0 },
    { "a.conv1d.2.weight", { N_3, N_EMBD, N_EMBD }, 0, 0, PLIM_DTYPE_F16 },
    { "a.conv1d.2.bias", { N_1, N_EMBD }, 0, 0, 0 },
    { "a.position_embd.weight", { N_EMBD, N_TABLE }, 0, 0, 0 },
    NORM("a.post_ln", N_EMBD, ALWAYS),
    BIAS("a.post_ln", N_EMBD, ALWAYS),
    MATRIX("mm.a.mlp.1", N_MERGED, N_TEXT, ALWAYS),
    MATRIX("mm.a.mlp.2", N_TEXT, N_TEXT, ALWAYS),
    END_OF_GROUP,
};

/* --- keys --- */

#define ENCODER_KEYS                                                                                                   \
    { "has_vision_encoder", KEY_FLAG, 0, NULL, 1 }, { "vision.projection_dim", KEY_SIZE, N_TEXT, NULL, 0 },            \
        { "vision.image_size", KEY_SIZE, N_POSITIONS, NULL, 0 }, { "vision.patch_size", KEY_SIZE, N_PATCH, NULL, 0 },  \
        { "vision.embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },                                                      \
        { "vision.feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },                                                     \
        { "vision.block_count", KEY_SIZE, N_LAYER, NULL, 0 },                                                          \
    {                                                                                                                  \
        "vision.attention.head_count", KEY_SIZE, N_HEAD, NULL, 0                                                       \
    }
#define EPSILON "vision.attention.layer_norm_epsilon"

static const struct plim_convert_key qwen2vl_keys[] = {
    ENCODER_KEYS,
    { "vision.feed_forward_length", KEY_COUNT, 0, "hidden_size", 0 }, /* as the converter has it: not the true width */
    { "projector_type", KEY_TEXT, 0, "qwen2vl_merger", 0 },
    { EPSILON, KEY_REAL, 0, NULL, 1e-6 },
    END_OF_KEYS,
};

static const struct plim_convert_key qwen25vl_keys[] = {
    ENCODER_KEYS,
    { "projector_type", KEY_TEXT, 0, "qwen2.5vl_merger", 0 },
    { "use_silu", KEY_FLAG, 0, NULL, 1 },
    { "vision.n_wa_pattern", KEY_SIZE, N_WINDOW, NULL, 0 },
    { EPSILON, KEY_REAL, 0, NULL, 1e-6 },
    END_OF_KEYS,
};

static const struct plim_convert_key qwen3vl_keys[] = {
    ENCODER_KEYS,
    { "projector_type", KEY_TEXT, 0, "qwen3vl_merger", 0 },
    { "use_gelu", KEY_FLAG, 0, NULL, 1 },
    { "vision.spatial_merge_size", KEY_COUNT, 0, "spatial_merge_size", ABSENT },
    { EPSILON, KEY_REAL, 0, NULL, 1e-6 },
    END_OF_KEYS,
};

static const struct plim_convert_key gemma3_keys[] = {
    ENCODER_KEYS,
    { "projector_type", KEY_TEXT, 0, "gemma3", 0 },
    { "use_gelu", KEY_FLAG, 0, NULL, 1 },
    { EPSILON, KEY_REAL, 0, "layer_norm_eps", 1e-6 },
    END_OF_KEYS,
};

static const struct plim_convert_key gemma4_keys[] = {
    ENCODER_KEYS,
    { "vision.projector_type", KEY_TEXT, 0, "gemma4v", 0 },
    { EPSILON, KEY_REAL, 0, "layer_norm_eps", 1e-6 },
    END_OF_KEYS,
};

static const struct plim_convert_key llama4_keys[] = {
    ENCODER_KEYS,
    { "projector_type", KEY_TEXT, 0, "llama4", 0 },
    { "use_gelu", KEY_FLAG, 0, NULL, 1 },
    { "vision.projector.scale_factor", KEY_SIZE, N_WINDOW, NULL, 0 },
    { EPSILON, KEY_REAL, 0, "norm_eps", 1e-5 },
    END_OF_KEYS,
};

static const struct plim_convert_key pixtral_keys[] = {
    ENCODER_KEYS,
    { "projector_type", KEY_TEXT, 0, "pixtral", 0 },
    { EPSILON, KEY_REAL, 0, "layer_norm_eps", 1e-5 },
    { "vision.spatial_merge_size", KEY_SIZE, N_WINDOW, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key voxtral_keys[] = {
    { "has_audio_encoder", KEY_FLAG, 0, NULL, 1 },
    { "audio.projection_dim", KEY_SIZE, N_TEXT, NULL, 0 },
    { "audio.embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "audio.feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "audio.block_count", KEY_SIZE, N_LAYER, NULL, 0 },
    { "audio.attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "projector_type", KEY_TEXT, 0, "voxtral", 0 },
    { "audio.num_mel_bins", KEY_SIZE, N_CHANNELS, NULL, 0 },
    { "audio.attention.layer_norm_epsilon", KEY_REAL, 0, "layer_norm_eps", 1e-5 },
    { "audio.projector.stack_factor", KEY_SIZE, N_WINDOW, NULL, 0 },
    END_OF_KEYS,
};

/* --- hooks --- */

/* How pixels are scaled stands in the preprocessor's config: three numbers each. */
static void write_image_scale(struct plim_conversion *c)
{
    plim_write_length(c, "vision.image_mean", 3);
    plim_write_length(c, "vision.image_std", 3);
}

/* Heads that all have K and V, square patches of three colours. */
static void read_encoder(struct plim_conversion *c, uint64_t patch)
{
    uint64_t *n = c->n;
    n[N_HEAD] = plim_config_need(c, "num_attention_heads|num_heads", MAX_SIDE);
    n[N_HEAD_KV] = n[N_HEAD];
    n[N_HEAD_K] = n[N_HEAD_V] = n[N_EMBD] / n[N_HEAD];
    n[N_PATCH] = plim_config_number(c, "patch_size", MAX_SIDE, patch);
    n[N_CHANNELS] = plim_config_number(c, "in_channels|in_chans|num_channels", MAX_SIDE, 3);
    if (n[N_PATCH] == 0)
        plim_conversion_fail(c, "vision_config.patch_size", "is 0");
}

static void read_qwen2vl(struct plim_conversion *c)
{
    enum { IMAGE_SIDE = 560, MERGED = 4 }; /* Qwen2VLVisionModel; 2 x 2 patches are one token */
    uint64_t *n = c->n;
    const uint64_t width = plim_config_number(c, "embed_dim", MAX_WIDTH, 0);
    if (width) { /* Qwen2-VL: hidden_size is the language model's */
        n[N_EMBD] = width;
        n[N_FF] = width * plim_config_number(c, "mlp_ratio", MAX_SIDE, 4);
    }
    read_encoder(c, 14);
    n[N_TEXT] = plim_config_number(c, width ? "hidden_size" : "out_hidden_size", MAX_WIDTH, n[N_TEXT]);
    n[N_MERGED] = n[N_EMBD] * MERGED;
    n[N_POSITIONS] = plim_config_number(c, "image_size", MAX_WIDTH, IMAGE_SIDE);
    n[N_WINDOW] = (uint64_t)plim_config_number_at(c, "fullatt_block_indexes", 0, 7) + 1;
}

static uint64_t root_of(uint64_t square)
{
    uint64_t root = 0;
    while ((root + 1) * (root + 1) <= square && root < MAX_SIDE)
        root++;
    return root;
}

static void read_qwen3vl(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    const uint64_t side = plim_config_number(c, "spatial_merge_size", MAX_SIDE, 2);
    read_encoder(c, 16);
    n[N_TABLE] = plim_config_number(c, "num_position_embeddings", MAX_WIDTH, 2304);
    n[N_POSITIONS] = plim_config_number(c, "image_size", MAX_WIDTH, root_of(n[N_TABLE]) * n[N_PATCH]);
    n[N_TEXT] = plim_config_number(c, "out_hidden_size", MAX_WIDTH, n[N_TEXT]);
    n[N_MERGED] = n[N_EMBD] * side * side;
    n[N_SECOND] = n[N_LAYER];
    set(c, LAYER_EMBD, true);
}

static bool is_deepstack(const struct plim_conversion *c, uint32_t il)
{
    for (uint32_t i = 0; i < plim_config_length(c, "deepstack_visual_indexes"); i++)
        if (plim_config_number_at(c, "deepstack_visual_indexes", i, -1) == (int64_t)il)
            return true;
    return false;
}

static void each_qwen3vl(struct plim_conversion *c, uint32_t il) { set(c, INDEXED, is_deepstack(c, il)); }

static void write_qwen3vl(struct plim_conversion *c)
{
    int64_t layers[PLIM_MAX_LAYERS];
    write_image_scale(c);
    for (uint32_t il = 0; il < c->n[N_LAYER]; il++)
        layers[il] = is_deepstack(c, il);
    plim_write_list(c, "vision.is_deepstack_layers", layers, c->n[N_LAYER]);
}

static void read_gemma3(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    read_encoder(c, 14);
    n[N_POSITIONS] = plim_config_number(c, "image_size", MAX_WIDTH, 896);
    const uint64_t side = n[N_PATCH] ? n[N_POSITIONS] / n[N_PATCH] : 0;
    n[N_TABLE] = side * side;
}

static void read_gemma4(struct plim_conversion *c)
{
    read_encoder(c, 16);
    c->n[N_HEAD_K] = c->n[N_HEAD_V] = plim_config_number(c, "head_dim", MAX_SIDE, c->n[N_HEAD_K]);
    c->n[N_POSITIONS] = 224; /* Gemma4VisionAudioModel: image_size */
    c->n[N_TABLE] = plim_config_number(c, "position_embedding_size", MAX_WIDTH, 10240);
    set(c, POST_NORM, plim_config_truth(c, "standardize", false));
    if (plim_key_find(c->config->keys, c->config->n_keys, "audio_config"))
        plim_conversion_fail(c, "audio_config", "describes an encoder without rules here");
}

static void read_llama4(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    const double ratio = plim_config_real(c, "pixel_shuffle_ratio", 0.5);
    read_encoder(c, 14);
    n[N_WINDOW] = ratio > 0.01 && ratio <= 1 ? (uint64_t)(1 / ratio) : 2;
    n[N_POSITIONS] = plim_config_number(c, "image_size", MAX_WIDTH, 448);
    const uint64_t side = n[N_PATCH] ? n[N_POSITIONS] / n[N_PATCH] : 0;
    n[N_TABLE] = side * side + 1;
    n[N_EXTRA] = n[N_PATCH] * n[N_PATCH] * n[N_CHANNELS];
    n[N_MERGED] = n[N_EMBD] * n[N_WINDOW] * n[N_WINDOW];
    n[N_HIDDEN] = plim_config_number(c, "projector_output_dim", MAX_WIDTH, 4096);
}

/* PixtralVisionConfig fills in what a config leaves out. */
static void read_pixtral(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    read_encoder(c, 16);
    n[N_FF] = plim_config_number(c, "intermediate_size", MAX_WIDTH, 4096);
    n[N_POSITIONS] = plim_config_number(c, "image_size", MAX_WIDTH, 1024);
    if (!plim_model_u64(c->config, "spatial_merge_size", &n[N_WINDOW]) || n[N_WINDOW] > MAX_SIDE)
        n[N_WINDOW] = 2; /* Mistral3Config */
    n[N_MERGED] = n[N_EMBD] * n[N_WINDOW] * n[N_WINDOW];
}

static void write_pixtral(struct plim_conversion *c)
{
    const char *function = plim_config_string(c, "hidden_act");
    write_image_scale(c);
    plim_write_flag(c, function && !strcmp(function, "silu") ? "use_silu" : "use_gelu", true);
}

/* VoxtralEncoderConfig: Whisper's encoder; four of its tokens become one. */
static void read_voxtral(struct plim_conversion *c)
{
    enum { STACKED = 4, SECONDS_30 = 1500 };
    uint64_t *n = c->n;
    read_encoder(c, 1);
    n[N_CHANNELS] = plim_config_number(c, "num_mel_bins", MAX_SIDE, 128);
    n[N_TABLE] = plim_config_number(c, "max_source_positions", MAX_WIDTH, SECONDS_30);
    n[N_WINDOW] = STACKED;
    n[N_MERGED] = n[N_EMBD] * STACKED;
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "Qwen2VLForConditionalGeneration", "Qwen2VLModel" },
      .types = { "qwen2_vl" },
      .arch = "clip",
      .source = "conversion/qwenvl.py: Qwen2VLVisionModel",
      .whole = { patches, second_patches, last_norm, last_norm_bias, qwen_merger },
      .prefix = "v.blk",
      .layer = { norms, norm_biases, attention, attention_biases, ffn, ffn_biases },
      .read = read_qwen2vl,
      .write = write_image_scale,
      .keys = qwen2vl_keys,
      .is_bare = true,
      .is_projector = true,
      .is_proven = true },
    { .names = { "Qwen2_5_VLForConditionalGeneration" },
      .types = { "qwen2_5_vl" },
      .arch = "clip",
      .source = "conversion/qwenvl.py: Qwen2VLVisionModel",
      .whole = { patches, second_patches, last_norm, qwen_merger },
      .prefix = "v.blk",
      .layer = { norms, attention, attention_biases, ffn, ffn_biases, ffn_gate, ffn_gate_bias },
      .read = read_qwen2vl,
      .write = write_image_scale,
      .keys = qwen25vl_keys,
      .is_bare = true,
      .is_projector = true,
      .is_proven = true },
    { .names = { "Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration",
                 "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration" },
      .types = { "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe" },
      .arch = "clip",
      .source = "conversion/qwen3vl.py: Qwen3VLVisionModel",
      .whole = { patches, patches_bias, second_patches, last_norm, last_norm_bias, qwen_merger },
      .prefix = "v.blk",
      .layer = { norms, norm_biases, fused_attention, ffn, ffn_biases },
      .second = "v.deepstack",
      .second_layer = { deepstack },
      .read = read_qwen3vl,
      .each = each_qwen3vl,
      .write = write_qwen3vl,
      .keys = qwen3vl_keys,
      .is_bare = true,
      .is_projector = true,
      .is_proven = true },
    { .names = { "Gemma3ForConditionalGeneration" },
      .types = { "gemma3" },
      .arch = "clip",
      .source = "conversion/gemma.py: Gemma3VisionModel",
      .whole = { patches, patches_bias, last_norm, last_norm_bias, gemma3_projector },
      .prefix = "v.blk",
      .layer = { norms, norm_biases, attention, attention_biases, ffn, ffn_biases },
      .read = read_gemma3,
      .write = write_image_scale,
      .keys = gemma3_keys,
      .is_bare = true,
      .is_projector = true,
      .is_proven = true },
    { .names = { "Gemma4ForConditionalGeneration" },
      .types = { "gemma4" },
      .arch = "clip",
      .source = "conversion/gemma.py: Gemma4VisionAudioModel",
      .whole = { patches, gemma4_projector },
      .prefix = "v.blk",
      .layer = { norms, post_norm, gemma4_norms, attention, ffn, ffn_gate },
      .read = read_gemma4,
      .write = write_image_scale,
      .keys = gemma4_keys,
      .is_bare = true,
      .is_projector = true,
      .is_proven = true },
    { .names = { "Llama4ForConditionalGeneration" },
      .types = { "llama4" },
      .arch = "clip",
      .source = "conversion/llama4.py: Llama4VisionModel",
      .whole = { llama4_projector, last_norm, last_norm_bias },
      .prefix = "v.blk",
      .layer = { first_norm, post_norm, post_norm_bias, attention, attention_biases, ffn, ffn_biases },
      .read = read_llama4,
      .write = write_image_scale,
      .keys = llama4_keys,
      .is_bare = true,
      .is_projector = true,
      .is_proven = true },
    { .names = { "Mistral3ForConditionalGeneration" },
      .types = { "mistral3" },
      .arch = "clip",
      .source = "conversion/llava.py: LlavaVisionModel",
      .whole = { patches, pixtral_projector },
      .prefix = "v.blk",
      .layer = { norms, attention, ffn, ffn_gate },
      .read = read_pixtral,
      .write = write_pixtral,
      .keys = pixtral_keys,
      .encoder = "pixtral",
      .is_bare = true,
      .is_projector = true,
      .is_proven = true },
    { .names = { "VoxtralForConditionalGeneration" },
      .types = { "voxtral" },
      .arch = "clip",
      .source = "conversion/ultravox.py: VoxtralWhisperEncoderModel",
      .whole = { voxtral_projector },
      .prefix = "a.blk",
      .layer = { norms, norm_biases, attention, attention_biases, ffn, ffn_biases },
      .read = read_voxtral,
      .keys = voxtral_keys,
      .facts = QKV_BIAS,
      .is_bare = true,
      .is_projector = true,
      .is_proven = true },
};

const struct plim_convert_family plim_family_vision = FAMILY(rows);
