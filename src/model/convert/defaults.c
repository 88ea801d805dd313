/* SPDX-License-Identifier: MIT */
/*
 * The numbers that transformers' configuration classes have where a config leaves them out: the converter reads its
 * configs through AutoConfig. Source: transformers 4.57.6 (the release that llama.cpp v0.5.0 asks for),
 * models/TYPE/configuration_TYPE.py. Classes that live in a model's own repository have no defaults.
 */
#include "model/convert/defaults.h"

#include <string.h>

static const struct plim_config_class classes[] = {
    /* model_type          context  vocabulary  epsilon of norms, RoPE's theta, window; what else the class gives */
    { "arcee", 4096, 32000, 1e-5, 0, 1e4, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "bert", 512, 30522, 0, 1e-12, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "bloom", 0, 250880, 0, 1e-5, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "cohere", 8192, 256000, 0, 1e-5, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "cohere2", 8192, 256000, 0, 1e-5, 1e4, 4096, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "deepseek_v2", 2048, 32000, 1e-6, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "deepseek_v3", 4096, 129280, 1e-6, 0, 1e4, 0, HAS_KV | HAS_GROUPS, 0, 0, 0, 0, 0 },
    { "exaone4", 2048, 102400, 1e-5, 0, 1e4, 4096, HAS_KV, 0, 0, 0, 0, 0 },
    { "falcon", 2048, 65024, 0, 1e-5, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "falcon_h1", 8192, 128000, 1e-5, 0, 1e5, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "gemma", 8192, 256000, 1e-6, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "gemma2", 8192, 256000, 1e-6, 0, 1e4, 4096, HAS_KV, 0, 0, 0, 0, 0 },
    { "gemma3", 131072, 262208, 1e-6, 0, 1e6, 4096, HAS_KV, 2304, 9216, 26, 8, 4 },
    { "gemma3_text", 131072, 262208, 1e-6, 0, 1e6, 4096, HAS_KV, 2304, 9216, 26, 8, 4 },
    { "glm4", 131072, 151552, 1.5625e-7, 0, 1e4, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "glm4_moe", 131072, 151552, 1e-5, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "gpt_neox", 2048, 50432, 0, 1e-5, 1e4, 0, 0, 0, 0, 0, 0, 0 },
    { "gpt_oss", 131072, 201088, 1e-5, 0, 1.5e5, 128, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "gpt2", 1024, 50257, 0, 1e-5, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "granite", 2048, 32000, 1e-6, 0, 1e4, 0, HAS_KV | HAS_SCALES, 0, 0, 0, 0, 0 },
    { "granitemoe", 2048, 32000, 1e-6, 0, 1e4, 0, HAS_KV | HAS_SCALES, 0, 0, 0, 0, 0 },
    { "granitemoehybrid", 2048, 32000, 1e-6, 0, 1e4, 0, HAS_KV | HAS_SCALES, 0, 0, 0, 0, 0 },
    { "jamba", 262144, 65536, 1e-6, 0, 0, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "lfm2", 128000, 65536, 1e-5, 0, 1e6, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "llama", 2048, 32000, 1e-6, 0, 1e4, 0, HAS_KV | HAS_HEAD, 4096, 11008, 32, 32, 0 },
    { "llama4_text", 131072, 202048, 1e-5, 0, 5e5, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "mamba", 0, 50280, 0, 1e-5, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "mamba2", 0, 32768, 0, 1e-5, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "mistral", 131072, 32000, 1e-6, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "mixtral", 131072, 32000, 1e-5, 0, 1e6, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "mt5", 0, 250112, 0, 1e-6, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "olmo", 2048, 50304, 0, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "olmo2", 2048, 50304, 1e-5, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "olmo3", 2048, 50304, 1e-5, 0, 1e4, 4096, HAS_KV, 0, 0, 0, 0, 0 },
    { "phi", 2048, 51200, 0, 1e-5, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "phi3", 4096, 32064, 1e-5, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "phimoe", 131072, 32064, 1e-5, 0, 1e6, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "pixtral", 0, 0, 0, 1e-5, 0, 0, 0, 1024, 4096, 24, 16, 0 },
    { "qwen2", 32768, 151936, 1e-6, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "qwen2_5_vl", 32768, 152064, 1e-5, 0, 1e6, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "qwen2_5_vl_text", 32768, 152064, 1e-5, 0, 1e6, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "qwen2_moe", 32768, 151936, 1e-6, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "qwen2_vl", 32768, 152064, 1e-5, 0, 1e6, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "qwen2_vl_text", 32768, 152064, 1e-5, 0, 1e6, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "qwen3", 32768, 151936, 1e-6, 0, 1e4, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "qwen3_moe", 32768, 151936, 1e-6, 0, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "qwen3_next", 32768, 151936, 1e-6, 0, 1e4, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "qwen3_vl", 128000, 151936, 1e-6, 0, 5e6, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "qwen3_vl_moe", 128000, 151936, 1e-6, 0, 5e6, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "qwen3_vl_moe_text", 128000, 151936, 1e-6, 0, 5e6, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "qwen3_vl_text", 128000, 151936, 1e-6, 0, 5e6, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "seed_oss", 524288, 155136, 1e-6, 0, 1e4, 0, HAS_KV | HAS_HEAD, 0, 0, 0, 0, 0 },
    { "smollm3", 32768, 128256, 1e-6, 0, 2e6, 0, HAS_KV, 2048, 11008, 36, 16, 4 },
    { "stablelm", 4096, 50304, 0, 1e-5, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "starcoder2", 4096, 49152, 0, 1e-5, 1e4, 0, HAS_KV, 0, 0, 0, 0, 0 },
    { "t5", 0, 32128, 0, 1e-6, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "voxtral", 131072, 131072, 1e-5, 0, 1e8, 0, HAS_KV | HAS_HEAD | OF_PARTS, 0, 0, 0, 0, 0 },
    { "xlm-roberta", 512, 30522, 0, 1e-12, 0, 0, 0, 0, 0, 0, 0, 0 },
};

const struct plim_config_class *plim_config_class_named(const char *type)
{
    for (size_t i = 0; type && i < sizeof classes / sizeof *classes; i++)
        if (!strcmp(classes[i].type, type))
            return &classes[i];
    return NULL;
}

static void add_count(struct plim_key *keys, size_t *n, const char *name, uint64_t value)
{
    if (value)
        keys[(*n)++] = (struct plim_key){ .name = name, .type = PLIM_VALUE_UNSIGNED, .u = value };
}

static void add_real(struct plim_key *keys, size_t *n, const char *name, double value)
{
    if (value > 0)
        keys[(*n)++] = (struct plim_key){ .name = name, .type = PLIM_VALUE_REAL, .f = value };
}

size_t plim_config_class_keys(const struct plim_config_class *class, struct plim_key keys[PLIM_CONFIG_CLASS_KEYS])
{
    static const char *const scales[] = { "attention_multiplier", "embedding_multiplier", "residual_multiplier",
                                          "logits_scaling" };
    size_t n = 0;
    add_count(keys, &n, "max_position_embeddings", class->context);
    add_count(keys, &n, "vocab_size", class->vocabulary);
    add_real(keys, &n, "rms_norm_eps", class->rms_epsilon);
    add_real(keys, &n, "layer_norm_eps", class->norm_epsilon);
    add_real(keys, &n, "rope_theta", class->theta);
    add_count(keys, &n, "sliding_window", class->window);
    add_count(keys, &n, "hidden_size", class->width);
    add_count(keys, &n, "intermediate_size", class->feed_forward);
    add_count(keys, &n, "num_hidden_layers", class->layers);
    add_count(keys, &n, "num_attention_heads", class->heads);
    add_count(keys, &n, "num_key_value_heads", class->heads_kv);
    if (class->gives & HAS_GROUPS) {
        add_count(keys, &n, "n_group", 8);
        add_count(keys, &n, "topk_group", 4);
        add_real(keys, &n, "routed_scaling_factor", 2.5);
        keys[n++] = (struct plim_key){ .name = "norm_topk_prob", .type = PLIM_VALUE_BOOL, .u = 1 };
    }
    for (size_t i = 0; class->gives & HAS_SCALES && i < sizeof scales / sizeof *scales; i++)
        add_real(keys, &n, scales[i], 1);
    return n;
}
