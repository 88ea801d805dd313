/* SPDX-License-Identifier: MIT */
/*
 * From a config.json to the tensors of its checkpoint.
 *
 * The rules are those of the model classes of transformers, with names in the layout in which the models are published.
 * They are checked against the numbers of tensors and parameters of published models (tests/unit/test_checkpoint.c).
 * A default is used only where transformers has the same one (Gemma 3, Qwen3-MoE: configuration_*.py at 008f5c8 and
 * 008e574). What is not known is an error: a bill or a rehearsal of the wrong tensors would be worth nothing.
 */
#include "model/hf_config.h"

#include "base/limits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bounds that keep every product of sizes below 2^62. */
enum { MAX_WIDTH = 1 << 24, MAX_HEADS = 1 << 12, MAX_HEAD = 1 << 14, MAX_EXPERTS = 1 << 12, NAME_BYTES = 160 };
enum { KEY_BYTES = 96 };

enum experts { NO_EXPERTS, MIXTRAL_EXPERTS, QWEN3_EXPERTS };

struct family {
    const char *architecture, *type; /* type: model_type, for a config without architectures */
    bool has_qkv_bias;               /* always, and none for the output */
    bool has_attention_bias;         /* when the key attention_bias says so, all four */
    bool has_mlp_bias;               /* when the key mlp_bias says so */
    bool has_qk_norm;
    bool has_four_norms;
    bool is_fused;          /* qkv_proj and gate_up_proj */
    bool is_tied;           /* when the config does not say */
    bool all_heads_have_kv; /* when the config does not say how many do */
    bool needs_head_dim;    /* transformers has a default of its own, not hidden_size / heads */
    bool has_vision;        /* the decoder of Gemma 3 beside a SigLIP encoder */
    enum experts experts;
};

static const struct family families[] = {
    { .architecture = "Gemma2ForCausalLM",
      .type = "gemma2",
      .has_attention_bias = true,
      .has_four_norms = true,
      .is_tied = true,
      .needs_head_dim = true },
    { .architecture = "Gemma3ForCausalLM",
      .type = "gemma3_text",
      .has_attention_bias = true,
      .has_qk_norm = true,
      .has_four_norms = true,
      .is_tied = true,
      .needs_head_dim = true },
    { .architecture = "Gemma3ForConditionalGeneration",
      .type = "gemma3",
      .has_attention_bias = true,
      .has_qk_norm = true,
      .has_four_norms = true,
      .is_tied = true,
      .needs_head_dim = true,
      .has_vision = true },
    { .architecture = "LlamaForCausalLM",
      .type = "llama",
      .has_attention_bias = true,
      .has_mlp_bias = true,
      .all_heads_have_kv = true },
    { .architecture = "MistralForCausalLM", .type = "mistral" },
    { .architecture = "MixtralForCausalLM", .type = "mixtral", .experts = MIXTRAL_EXPERTS },
    { .architecture = "Phi3ForCausalLM", .type = "phi3", .is_fused = true, .all_heads_have_kv = true },
    { .architecture = "Qwen2ForCausalLM", .type = "qwen2", .has_qkv_bias = true },
    { .architecture = "Qwen3ForCausalLM",
      .type = "qwen3",
      .has_attention_bias = true,
      .has_qk_norm = true,
      .needs_head_dim = true },
    { .architecture = "Qwen3MoeForCausalLM",
      .type = "qwen3_moe",
      .has_attention_bias = true,
      .has_qk_norm = true,
      .needs_head_dim = true,
      .experts = QWEN3_EXPERTS },
};

struct shape {
    uint64_t n_layer, hidden, intermediate, vocab, n_head, n_kv, head;
    uint64_t n_expert, expert_intermediate, sparse_step;
    bool attention_bias, mlp_bias, is_tied;
};

/* --- reading the config --- */

struct config {
    const struct plim_model *model;
    const char *where; /* "text_config.": before every key, and in messages */
    struct plim_error *err;
    int result; /* the first error */
};

static const struct plim_key *member(const struct config *c, const char *key)
{
    char name[KEY_BYTES];
    snprintf(name, sizeof name, "%s%s", c->where, key);
    return plim_key_find(c->model->keys, c->model->n_keys, name);
}

static void fail(struct config *c, int code, const char *key, const char *what)
{
    if (c->result == 0)
        c->result = plim_fail(c->err, code, PLIM_NO_OFFSET, "'%s%s' %s", c->where, key, what);
}

/* A number from 1 to max; `otherwise` when the config does not say, which is an error when that is 0. */
static uint64_t number(struct config *c, const char *key, uint64_t max, uint64_t otherwise)
{
    char what[64];
    const struct plim_key *value = member(c, key);
    if (!value && otherwise)
        return otherwise;
    if (!value) {
        fail(c, PLIM_E_CORRUPT, key, "is missing");
        return 1;
    }
    const uint64_t n = value->type == PLIM_VALUE_UNSIGNED ? value->u : 0;
    if (n >= 1 && n <= max)
        return n;
    snprintf(what, sizeof what, "is not a number from 1 to %" PRIu64, max);
    fail(c, PLIM_E_CORRUPT, key, what);
    return 1;
}

static bool truth(struct config *c, const char *key, bool otherwise)
{
    const struct plim_key *value = member(c, key);
    if (value && value->type != PLIM_VALUE_BOOL)
        fail(c, PLIM_E_CORRUPT, key, "is neither true nor false");
    return value ? value->u != 0 : otherwise;
}

/* What Gemma3TextConfig of transformers has where the published configs of the larger models say nothing. */
static void gemma3_defaults(struct shape *s)
{
    *s = (struct shape){ .vocab = 262208, .n_head = 8, .n_kv = 4, .head = 256 };
}

static void read_experts(struct config *c, const struct family *family, struct shape *s)
{
    s->sparse_step = 1;
    if (family->experts == MIXTRAL_EXPERTS) {
        s->n_expert = number(c, "num_local_experts", MAX_EXPERTS, 0);
        s->expert_intermediate = s->intermediate;
    } else if (family->experts == QWEN3_EXPERTS) {
        /* newer configs may have the name that Mixtral uses */
        const bool has_local = !member(c, "num_experts") && member(c, "num_local_experts");
        s->n_expert = number(c, has_local ? "num_local_experts" : "num_experts", MAX_EXPERTS, 0);
        s->expert_intermediate = number(c, "moe_intermediate_size", MAX_WIDTH, 0);
        s->sparse_step = number(c, "decoder_sparse_step", PLIM_MAX_LAYERS, 1);
    }
}

static void read_shape(struct config *c, const struct family *family, struct shape *s)
{
    *s = (struct shape){ 0 };
    if (family->has_vision)
        gemma3_defaults(s);
    s->n_layer = number(c, "num_hidden_layers", PLIM_MAX_LAYERS, 0);
    s->hidden = number(c, "hidden_size", MAX_WIDTH, 0);
    s->intermediate = number(c, "intermediate_size", MAX_WIDTH, 0);
    s->vocab = number(c, "vocab_size", MAX_WIDTH, s->vocab);
    s->n_head = number(c, "num_attention_heads", MAX_HEADS, s->n_head);
    s->n_kv = number(c, "num_key_value_heads", MAX_HEADS, family->all_heads_have_kv ? s->n_head : s->n_kv);
    const uint64_t share = s->hidden % s->n_head ? 0 : s->hidden / s->n_head;
    s->head = number(c, "head_dim", MAX_HEAD, family->needs_head_dim ? s->head : share);
    s->attention_bias = family->has_attention_bias && truth(c, "attention_bias", false);
    s->mlp_bias = family->has_mlp_bias && truth(c, "mlp_bias", false);
    s->is_tied = truth(c, "tie_word_embeddings", family->is_tied);
    read_experts(c, family, s);
    if (c->result == 0 && s->n_head % s->n_kv)
        fail(c, PLIM_E_CORRUPT, "num_key_value_heads", "does not divide the number of heads");
}

/* --- the tensors --- */

struct list {
    struct plim_model *model;
    enum plim_dtype type;
    uint64_t offset;
    struct plim_error *err;
    int result; /* the first error */
};

static const char *copy_name(struct list *h, const char *format, va_list arguments)
{
    char name[NAME_BYTES];
    int n = vsnprintf(name, sizeof name, format, arguments);
    char *copy = n < 0 || n >= NAME_BYTES ? NULL : plim_arena_copy(&h->model->arena, name, (size_t)n);
    if (!copy && h->result == 0)
        h->result = plim_model_no_room(h->model, h->err);
    return copy;
}

/* One tensor; dimensions from the outermost, which end at the first 0. */
static void tensor(struct list *h, const uint64_t dims[4], const char *format, ...) PLIM_PRINTF(3, 4);
static void tensor(struct list *h, const uint64_t dims[4], const char *format, ...)
{
    struct plim_tensor *t = NULL;
    uint64_t bytes = plim_dtype_block_bytes(h->type);
    uint32_t n_dims = 0;
    if (h->model->n_tensors == PLIM_MAX_SAFETENSORS_TENSORS && h->result == 0)
        h->result =
            plim_fail(h->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "more than %d tensors", PLIM_MAX_SAFETENSORS_TENSORS);
    va_list arguments;
    va_start(arguments, format);
    const char *name = h->result < 0 ? NULL : copy_name(h, format, arguments);
    va_end(arguments);
    for (; n_dims < 4 && dims[n_dims]; n_dims++)
        bytes *= dims[n_dims];
    if (h->result == 0 && bytes > (uint64_t)INT64_MAX - h->offset)
        h->result = plim_fail(h->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the checkpoint exceeds 2^63 bytes");
    if (h->result == 0)
        h->result = plim_model_add_tensors(h->model, 1, &t, h->err);
    if (h->result < 0 || !t)
        return;
    *t = (struct plim_tensor){ .name = name, .n_dims = n_dims, .type = h->type, .bytes = bytes, .offset = h->offset };
    for (uint32_t i = 0; i < PLIM_MAX_DIMS; i++)
        t->ne[i] = i < n_dims ? dims[n_dims - 1 - i] : 1;
    h->offset += bytes;
}

#define DIMS(...) ((const uint64_t[4]){ __VA_ARGS__ })

static void linear(struct list *h, uint64_t out, uint64_t in, bool has_bias, const char *prefix, const char *name)
{
    tensor(h, DIMS(out, in), "%s.%s.weight", prefix, name);
    if (has_bias)
        tensor(h, DIMS(out), "%s.%s.bias", prefix, name);
}

static void norm(struct list *h, uint64_t n, const char *prefix, const char *name)
{
    tensor(h, DIMS(n), "%s.%s.weight", prefix, name);
}

/* --- the decoder --- */

static void attention(struct list *h, const struct family *f, const struct shape *s, const char *layer)
{
    const uint64_t q = s->n_head * s->head, kv = s->n_kv * s->head;
    const bool has_bias = f->has_qkv_bias || s->attention_bias;
    if (f->is_fused) {
        linear(h, q + 2 * kv, s->hidden, false, layer, "self_attn.qkv_proj");
    } else {
        linear(h, q, s->hidden, has_bias, layer, "self_attn.q_proj");
        linear(h, kv, s->hidden, has_bias, layer, "self_attn.k_proj");
        linear(h, kv, s->hidden, has_bias, layer, "self_attn.v_proj");
    }
    linear(h, s->hidden, q, s->attention_bias, layer, "self_attn.o_proj");
    if (f->has_qk_norm) {
        norm(h, s->head, layer, "self_attn.q_norm");
        norm(h, s->head, layer, "self_attn.k_norm");
    }
}

static void feed_forward(struct list *h, const struct family *f, const struct shape *s, const char *layer)
{
    if (f->is_fused) {
        linear(h, 2 * s->intermediate, s->hidden, false, layer, "mlp.gate_up_proj");
    } else {
        linear(h, s->intermediate, s->hidden, s->mlp_bias, layer, "mlp.gate_proj");
        linear(h, s->intermediate, s->hidden, s->mlp_bias, layer, "mlp.up_proj");
    }
    linear(h, s->hidden, s->intermediate, s->mlp_bias, layer, "mlp.down_proj");
}

static void experts(struct list *h, const struct family *f, const struct shape *s, const char *layer)
{
    const bool is_mixtral = f->experts == MIXTRAL_EXPERTS;
    const char *block = is_mixtral ? "block_sparse_moe" : "mlp";
    const char *const names[] = { is_mixtral ? "w1" : "gate_proj", is_mixtral ? "w3" : "up_proj",
                                  is_mixtral ? "w2" : "down_proj" };
    tensor(h, DIMS(s->n_expert, s->hidden), "%s.%s.gate.weight", layer, block);
    for (uint64_t e = 0; e < s->n_expert && h->result == 0; e++)
        for (int i = 0; i < 3; i++)
            tensor(h, i < 2 ? DIMS(s->expert_intermediate, s->hidden) : DIMS(s->hidden, s->expert_intermediate),
                   "%s.%s.experts.%" PRIu64 ".%s.weight", layer, block, e, names[i]);
}

/* Qwen3: every decoder_sparse_step-th layer, less those of mlp_only_layers. */
static bool has_experts(const struct config *c, const struct family *f, const struct shape *s, uint64_t nth)
{
    const struct plim_key *dense = member(c, "mlp_only_layers");
    if (f->experts != QWEN3_EXPERTS)
        return f->experts == MIXTRAL_EXPERTS;
    for (uint64_t i = 0; dense && dense->type == PLIM_VALUE_ARRAY && dense->numbers && i < dense->n; i++)
        if (dense->numbers[i] >= 0 && (uint64_t)dense->numbers[i] == nth)
            return false;
    return (nth + 1) % s->sparse_step == 0;
}

static void decoder(struct list *h, const struct config *c, const struct family *f, const struct shape *s,
                    const char *root)
{
    char layer[64];
    tensor(h, DIMS(s->vocab, s->hidden), "%smodel.embed_tokens.weight", root);
    for (uint64_t i = 0; i < s->n_layer && h->result == 0; i++) {
        snprintf(layer, sizeof layer, "%smodel.layers.%" PRIu64, root, i);
        norm(h, s->hidden, layer, "input_layernorm");
        attention(h, f, s, layer);
        norm(h, s->hidden, layer, "post_attention_layernorm");
        if (f->has_four_norms) {
            norm(h, s->hidden, layer, "pre_feedforward_layernorm");
            norm(h, s->hidden, layer, "post_feedforward_layernorm");
        }
        if (has_experts(c, f, s, i))
            experts(h, f, s, layer);
        else
            feed_forward(h, f, s, layer);
    }
    tensor(h, DIMS(s->hidden), "%smodel.norm.weight", root);
    if (!s->is_tied)
        tensor(h, DIMS(s->vocab, s->hidden), "%slm_head.weight", root);
}

/* --- SigLIP, as Gemma 3 has it --- */

static void layer_norm(struct list *h, uint64_t n, const char *prefix, const char *name)
{
    norm(h, n, prefix, name);
    tensor(h, DIMS(n), "%s.%s.bias", prefix, name);
}

static void vision(struct list *h, struct config *c, uint64_t text_hidden)
{
    static const char *const projections[] = { "q_proj", "k_proj", "v_proj", "out_proj" };
    static const char model[] = "vision_tower.vision_model";
    char layer[64], name[32];
    const uint64_t n_layer = number(c, "num_hidden_layers", PLIM_MAX_LAYERS, 0);
    const uint64_t hidden = number(c, "hidden_size", MAX_WIDTH, 0);
    const uint64_t intermediate = number(c, "intermediate_size", MAX_WIDTH, 0);
    const uint64_t image = number(c, "image_size", 1 << 14, 0), patch = number(c, "patch_size", 1 << 10, 0);
    const uint64_t channels = number(c, "num_channels", 16, 3), side = image / patch;
    if (truth(c, "vision_use_head", true))
        fail(c, PLIM_E_UNSUPPORTED, "vision_use_head", "is not false: such an encoder is not known here");
    if (side == 0)
        fail(c, PLIM_E_CORRUPT, "patch_size", "is larger than the image");
    if (c->result < 0)
        return;
    tensor(h, DIMS(hidden, channels, patch, patch), "%s.embeddings.patch_embedding.weight", model);
    tensor(h, DIMS(hidden), "%s.embeddings.patch_embedding.bias", model);
    tensor(h, DIMS(side * side, hidden), "%s.embeddings.position_embedding.weight", model);
    for (uint64_t i = 0; i < n_layer; i++) {
        snprintf(layer, sizeof layer, "%s.encoder.layers.%" PRIu64, model, i);
        layer_norm(h, hidden, layer, "layer_norm1");
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "self_attn.%s", projections[k]);
            linear(h, hidden, hidden, true, layer, name);
        }
        layer_norm(h, hidden, layer, "layer_norm2");
        linear(h, intermediate, hidden, true, layer, "mlp.fc1");
        linear(h, hidden, intermediate, true, layer, "mlp.fc2");
    }
    layer_norm(h, hidden, model, "post_layernorm");
    tensor(h, DIMS(hidden, text_hidden), "multi_modal_projector.mm_input_projection_weight");
    tensor(h, DIMS(hidden), "multi_modal_projector.mm_soft_emb_norm.weight");
}

/* --- the whole --- */

/* By its architecture; a config without one is of a language model of its type. */
static const struct family *family_named(const char *architecture, const char *type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (architecture ? !strcmp(families[i].architecture, architecture) : type && !strcmp(families[i].type, type))
            return &families[i];
    return NULL;
}

static const struct family *family_of(struct config *c)
{
    char known[400] = "";
    const struct plim_key *list = member(c, "architectures");
    const char *type = plim_model_string(c->model, "model_type");
    const bool is_one = list && list->type == PLIM_VALUE_ARRAY && list->n == 1;
    const char *name = is_one ? plim_model_string(c->model, "architectures.0") : NULL;
    if (!name && (list || !type)) {
        fail(c, PLIM_E_UNSUPPORTED, "architectures", "does not name one architecture");
        return NULL;
    }
    const struct family *found = family_named(name, type);
    if (found)
        return found;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", families[i].architecture);
    c->result =
        plim_fail(c->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                  "the tensors of '%.64s' are not known: a config.json alone is not enough", name ? name : type);
    plim_error_hint(
        c->err, "give the folder with its .safetensors files, or plimsoll hollow --python PYTHON; known without: %s",
        known);
    return NULL;
}

static enum plim_dtype read_type(struct config *c)
{
    const char *name = c->model->hyperparameters.type;
    const enum plim_dtype type = name ? plim_dtype_named(name) : PLIM_DTYPE_UNKNOWN;
    if (type == PLIM_DTYPE_BF16 || type == PLIM_DTYPE_F16 || type == PLIM_DTYPE_F32)
        return type;
    fail(c, PLIM_E_UNSUPPORTED, "dtype", "is not bfloat16, float16 or float32");
    return PLIM_DTYPE_UNKNOWN;
}

static bool check_is_plain(struct config *c, const struct config *text)
{
    if (!member(c, "quantization_config") && !member(text, "quantization_config"))
        return true;
    fail(c, PLIM_E_UNSUPPORTED, "quantization_config", "is present: the tensors do not follow from the rest");
    plim_error_hint(c->err, "give the folder with its .safetensors files");
    return false;
}

static int first_error(int a, int b, int c) { return a < 0 ? a : b < 0 ? b : c; }

static int add_tensors(struct config *c, struct list *h)
{
    struct shape s;
    const struct family *f = family_of(c);
    if (!f)
        return c->result;
    struct config text = *c, vision_config = *c;
    if (f->has_vision) {
        text.where = "text_config.";
        vision_config.where = "vision_config.";
    }
    if (check_is_plain(c, &text))
        h->type = read_type(c);
    if (c->result < 0)
        return c->result;
    read_shape(&text, f, &s);
    if (text.result < 0)
        return text.result;
    if (f->has_vision)
        vision(h, &vision_config, s.hidden);
    if (vision_config.result == 0)
        decoder(h, &text, f, &s, f->has_vision ? "language_model." : "");
    return first_error(text.result, vision_config.result, h->result);
}

int plim_hf_tensors_add(struct plim_model *model, struct plim_error *reterr)
{
    struct list h = { .model = model, .err = reterr };
    struct config c = { .model = model, .where = "", .err = reterr };
    int result = add_tensors(&c, &h);
    if (result < 0)
        model->n_tensors = 0;
    return result;
}
