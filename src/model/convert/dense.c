/* SPDX-License-Identifier: MIT */
/* Dense decoders with full attention in every layer, and those that differ from them in keys only. */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

#include <string.h>

/* --- keys --- */

static const struct plim_convert_key granite_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "attention.scale", KEY_REAL, 0, "attention_multiplier", ABSENT },
    { "embedding_scale", KEY_REAL, 0, "embedding_multiplier", ABSENT },
    { "residual_scale", KEY_REAL, 0, "residual_multiplier", ABSENT },
    { "logit_scale", KEY_REAL, 0, "logits_scaling", ABSENT },
    END_OF_KEYS,
};

static const struct plim_convert_key mistral3_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "rope.scaling.yarn_log_multiplier", KEY_REAL, 0, "rope_parameters.mscale_all_dim", ABSENT },
    { "attention.temperature_scale", KEY_REAL, 0, "rope_parameters.llama_4_scaling_beta", ABSENT },
    END_OF_KEYS,
};

/* The number of slices of an image that the first layers read (Qwen3VLTextModel.set_gguf_parameters). */
static void write_deepstack(struct plim_conversion *c)
{
    plim_write_count(c, "n_deepstack_layers", plim_config_length(c, "vision_config.deepstack_visual_indexes"));
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "LlamaForCausalLM", "LLaMAForCausalLM", "MistralForCausalLM", "MixtralForCausalLM",
                 "LlavaForConditionalGeneration", "VoxtralForConditionalGeneration", "LlamaModel" },
      .types = { "llama", "mistral", "mixtral" },
      .arch = "llama",
      .source = "conversion/llama.py: LlamaModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn, plim_rules_experts },
      .keys = plim_keys_llama,
      .bias_keys = QKV_BIAS },
    { .names = { "Qwen2ForCausalLM", "Qwen2Model", "Qwen2AudioForConditionalGeneration" },
      .types = { "qwen2" },
      .arch = "qwen2",
      .source = "conversion/qwen.py: Qwen2Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .facts = QKV_BIAS },
    { .names = { "Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration", "Qwen2VLModel" },
      .types = { "qwen2_vl", "qwen2_5_vl" },
      .arch = "qwen2vl",
      .source = "conversion/qwenvl.py: Qwen2VLModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .facts = QKV_BIAS },
    { .names = { "Qwen3ForCausalLM", "Qwen3Model" },
      .types = { "qwen3" },
      .arch = "qwen3",
      .source = "conversion/qwen.py: Qwen3Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, plim_rules_ffn },
      .bias_keys = QKV_BIAS,
      .head = 128 },
    { .names = { "Qwen3VLForConditionalGeneration" },
      .types = { "qwen3_vl", "qwen3_vl_text" },
      .arch = "qwen3vl",
      .source = "conversion/qwen3vl.py: Qwen3VLTextModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, plim_rules_ffn },
      .write = write_deepstack,
      .bias_keys = QKV_BIAS,
      .head = 128 },
    { .names = { "GraniteForCausalLM" },
      .types = { "granite" },
      .arch = "granite",
      .source = "conversion/granite.py: GraniteModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = granite_keys,
      .bias_keys = QKV_BIAS },
    { .names = { "SmolLM3ForCausalLM" },
      .types = { "smollm3" },
      .arch = "smollm3",
      .source = "conversion/llama.py: SmolLM3Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = plim_keys_llama,
      .bias_keys = QKV_BIAS,
      .is_tied = true },
    { .names = { "Mistral3ForConditionalGeneration", "Ministral3ForCausalLM" },
      .types = { "mistral3", "ministral3" },
      .arch = "mistral3",
      .source = "conversion/mistral3.py: Mistral3Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = mistral3_keys },
};

const struct plim_convert_family plim_family_dense = FAMILY(rows);
