/* SPDX-License-Identifier: MIT */
/*
 * The numbers of a config.json, under the field's names.
 *
 * Families call the same number differently, and models that see or hear keep those of their decoder in an object of
 * its own ("text_config"). The names are those of the configuration classes of transformers 4.57 (configuration_*.py:
 * their fields and attribute_map), and of the remote code of models that have no class there. The first name that is
 * there counts; a number that is no count is taken as absent, for hyperparameters are what is known, not what is
 * demanded.
 */
#include "model/hf_config.h"

#include "base/limits.h"
#include "model/json_keys.h"
#include "source/file.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 160, MAX_COUNT = 1 << 30, MAX_NAMES = 6 };

/* Where the decoder's own fields stand: at the top, or in the first of these that is there. */
static const char *const prefixes[] = { "", "text_config.", "llm_config.", "language_config.",
                                        "thinker_config.text_config." };

#define FIELD(name) offsetof(struct plim_hyperparameters, name)
static const struct {
    size_t field;
    const char *names[MAX_NAMES];
} counts[] = {
    { FIELD(n_layer), { "num_hidden_layers", "n_layer", "n_layers", "num_layers" } },
    { FIELD(n_embd), { "hidden_size", "n_embd", "d_model", "dim" } },
    { FIELD(n_head), { "num_attention_heads", "n_head", "n_heads", "num_heads" } },
    { FIELD(n_head_kv),
      { "num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "attn_config.kv_n_heads" } },
    { FIELD(n_embd_head_k), { "head_dim", "attention_head_dim", "kv_channels", "d_kv" } },
    { FIELD(n_embd_head_v), { "v_head_dim" } },
    { FIELD(n_embd_kv_lora), { "kv_lora_rank" } },
    { FIELD(n_ff), { "intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim", "d_ff" } },
    { FIELD(n_ff_expert), { "moe_intermediate_size", "expert_ffn_hidden_size" } },
    { FIELD(n_vocab), { "vocab_size", "padded_vocab_size" } },
    { FIELD(n_ctx_train),
      { "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_sequence_length" } },
    { FIELD(n_expert), { "num_local_experts", "num_experts", "n_routed_experts", "ffn_config.moe_num_experts" } },
    { FIELD(n_expert_used), { "num_experts_per_tok", "num_experts_per_token", "moe_topk", "ffn_config.moe_top_k" } },
    { FIELD(n_expert_shared), { "n_shared_experts", "num_shared_experts" } },
    { FIELD(n_swa), { "sliding_window", "attention_window_size" } },
};

/* The key with this name of the decoder, or NULL. */
static const struct plim_key *find(const struct plim_model *model, const char *name)
{
    char key[KEY_BYTES];
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        snprintf(key, sizeof key, "%s%s", prefixes[i], name);
        const struct plim_key *found = plim_key_find(model->keys, model->n_keys, key);
        if (found)
            return found;
    }
    return NULL;
}

static const char *string_of(const struct plim_model *model, const char *name)
{
    const struct plim_key *key = find(model, name);
    return key && key->type == PLIM_VALUE_STRING ? key->string : NULL;
}

static double real_of(const struct plim_model *model, const char *name)
{
    const struct plim_key *key = find(model, name);
    double value = 0;
    return key && plim_model_f64(model, key->name, &value) ? value : 0;
}

/* Whether a switch is there and says so. */
static bool is_value(const struct plim_model *model, const char *name, bool value)
{
    const struct plim_key *key = find(model, name);
    return key && key->type == PLIM_VALUE_BOOL && (key->u != 0) == value;
}

static uint32_t count_of(const struct plim_model *model, const char *name)
{
    const struct plim_key *key = find(model, name);
    uint64_t number = 0;
    if (key && key->type == PLIM_VALUE_ARRAY && key->numbers)
        for (uint64_t i = 0; i < key->n; i++) /* one for each layer */
            number = key->numbers[i] > (int64_t)number ? (uint64_t)key->numbers[i] : number;
    else if (!key || key->type == PLIM_VALUE_BOOL || !plim_key_u64(key, &number))
        return 0;
    return number <= MAX_COUNT ? (uint32_t)number : 0;
}

/* --- hyperparameters --- */

static void fill_counts(const struct plim_model *model, struct plim_hyperparameters *hp)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t *field = (uint32_t *)(void *)((char *)hp + counts[i].field);
        for (size_t k = 0; k < MAX_NAMES && counts[i].names[k] && !*field; k++)
            *field = count_of(model, counts[i].names[k]);
    }
}

/* The usual values of fields that a config leaves out. */
static void fill_gaps(const struct plim_model *model, struct plim_hyperparameters *hp)
{
    const uint32_t share = hp->n_head ? hp->n_embd / hp->n_head : 0;
    const uint32_t mla = count_of(model, "qk_nope_head_dim") + count_of(model, "qk_rope_head_dim");
    if (hp->n_head_kv == 0) /* Falcon's older configs name the two cases */
        hp->n_head_kv =
            is_value(model, "multi_query", true) && !is_value(model, "new_decoder_architecture", true) ? 1 : hp->n_head;
    if (hp->n_embd_kv_lora && mla)
        hp->n_embd_head_k = mla;
    if (hp->n_embd_head_k == 0)
        hp->n_embd_head_k = share;
    if (hp->n_embd_head_v == 0)
        hp->n_embd_head_v = hp->n_embd_head_k;
    if (is_value(model, "use_sliding_window", false))
        hp->n_swa = 0;
}

static void fill_rope(const struct plim_model *model, struct plim_hyperparameters *hp)
{
    /* "rope_parameters" holds all of it since transformers 5 */
    hp->rope_freq_base = real_of(model, "rope_theta");
    if (hp->rope_freq_base <= 0)
        hp->rope_freq_base = real_of(model, "rope_parameters.rope_theta");
    hp->rope_scale = real_of(model, "rope_scaling.factor");
    if (hp->rope_scale <= 0)
        hp->rope_scale = real_of(model, "rope_parameters.factor");
    static const char *const names[] = { "rope_scaling.rope_type", "rope_scaling.type", "rope_parameters.rope_type" };
    for (size_t i = 0; i < sizeof names / sizeof *names && !hp->rope_scaling; i++)
        hp->rope_scaling = string_of(model, names[i]);
    if (hp->rope_scaling && !strcmp(hp->rope_scaling, "default"))
        hp->rope_scaling = NULL;
}

static void fill_hyperparameters(struct plim_model *model)
{
    struct plim_hyperparameters *hp = &model->hyperparameters;
    fill_counts(model, hp);
    fill_gaps(model, hp);
    fill_rope(model, hp);
    hp->type = string_of(model, "dtype"); /* since transformers 4.56 */
    if (!hp->type)
        hp->type = string_of(model, "torch_dtype");
    hp->quantization = string_of(model, "quantization_config.quant_method");
    hp->has_tie_word_embeddings =
        is_value(model, "tie_word_embeddings", true) || is_value(model, "tie_word_embeddings", false);
    hp->tie_word_embeddings = is_value(model, "tie_word_embeddings", true);
}

/* --- the model --- */

static enum plim_model_kind kind_of(const char *architecture)
{
    static const char *const marks[] = { "ForCausalLM", "ForConditionalGeneration", "LMHeadModel" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (architecture && strstr(architecture, marks[i]))
            return PLIM_MODEL_LANGUAGE;
    return PLIM_MODEL_UNKNOWN;
}

int plim_hf_config_read(struct plim_model *model, struct plim_cursor cursor, struct plim_error *reterr)
{
    int result = plim_json_keys_read(model, cursor, reterr);
    if (result < 0)
        return result;
    const char *architecture = plim_model_string(model, "architectures.0");
    const char *type = plim_model_string(model, "model_type");
    if (!architecture && !type)
        return plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                         "'architectures' does not name one architecture, and there is no 'model_type'");
    fill_hyperparameters(model);
    model->kind = kind_of(architecture);
    if (model->hyperparameters.type)
        model->file_type = plim_dtype_safetensors_name(plim_dtype_named(model->hyperparameters.type));
    return plim_model_copy_text(model, type ? type : architecture, &model->arch, reterr);
}

int plim_hf_config_add(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    struct plim_file source;
    int result = plim_files_open(model->files, path, &source, reterr);
    if (result < 0)
        return result;
    if (source.file_bytes > PLIM_MAX_CONFIG_BYTES)
        result =
            plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "a config.json of %" PRIu64 " bytes; at most %d are read",
                      source.file_bytes, PLIM_MAX_CONFIG_BYTES);
    if (result == 0)
        result = plim_hf_config_read(model, plim_file_cursor(&source, PLIM_MAX_CONFIG_BYTES), reterr);
    plim_file_close(&source);
    if (result < 0)
        plim_error_where(reterr, path);
    return result;
}

void plim_hf_config_settle(struct plim_model *model)
{
    struct plim_hyperparameters *hp = &model->hyperparameters;
    bool has_embedding = false, has_output = false;
    for (size_t i = 0; i < model->n_tensors && !hp->has_tie_word_embeddings; i++) {
        has_embedding |= strstr(model->tensors[i].name, "embed_tokens.weight") != NULL;
        has_output |= strstr(model->tensors[i].name, "lm_head.weight") != NULL;
    }
    if (has_embedding) {
        hp->has_tie_word_embeddings = true;
        hp->tie_word_embeddings = !has_output;
    }
}

int plim_hf_config_finish(struct plim_model *model, struct plim_error *reterr)
{
    int result = plim_hf_tensors_add(model, &model->no_tensors);
    if (result < 0 && result != PLIM_E_UNSUPPORTED) {
        if (reterr && !reterr->code)
            *reterr = model->no_tensors;
        return result;
    }
    model->format = PLIM_FORMAT_HF_CONFIG;
    plim_hf_config_settle(model);
    return plim_model_index(model, reterr);
}

int plim_hf_config_open(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    int result = plim_hf_config_add(model, path, reterr);
    model->name = model->arch;
    if (result == 0)
        result = plim_model_name_by_folder(model, path, reterr);
    if (result < 0)
        return result;
    result = plim_hf_config_finish(model, reterr);
    if (result < 0)
        plim_error_where(reterr, path);
    else if (model->no_tensors.code)
        plim_error_where(&model->no_tensors, path);
    return result;
}
