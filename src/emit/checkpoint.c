/* SPDX-License-Identifier: MIT */
/*
 * From a config.json to the tensors of its checkpoint.
 *
 * The rules are those of the model classes of transformers, with names in the layout in which the models are published.
 * They are checked against the numbers of tensors and parameters of published models (tests/unit/test_checkpoint.c).
 * A default is used only where transformers has the same one (Gemma 3, Qwen3-MoE: configuration_*.py at 008f5c8 and
 * 008e574). What is not known is an error: a checkpoint with the wrong tensors would be rehearsed for nothing.
 */
#include "emit/checkpoint.h"

#include "base/limits.h"
#include "base/mem.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bounds that keep every product of sizes below 2^62. */
enum { MAX_WIDTH = 1 << 24, MAX_HEADS = 1 << 12, MAX_HEAD = 1 << 14, MAX_EXPERTS = 1 << 12, NAME_BYTES = 160 };
enum { FIRST_ROOM = 64 << 10, LENGTH_BYTES = 8, ALIGNMENT = 8 };

enum experts { NO_EXPERTS, MIXTRAL_EXPERTS, QWEN3_EXPERTS };

struct family {
    const char *architecture;
    bool has_qkv_bias;       /* always, and none for the output */
    bool has_attention_bias; /* when the key attention_bias says so, all four */
    bool has_mlp_bias;       /* when the key mlp_bias says so */
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
      .has_attention_bias = true,
      .has_four_norms = true,
      .is_tied = true,
      .needs_head_dim = true },
    { .architecture = "Gemma3ForCausalLM",
      .has_attention_bias = true,
      .has_qk_norm = true,
      .has_four_norms = true,
      .is_tied = true,
      .needs_head_dim = true },
    { .architecture = "Gemma3ForConditionalGeneration",
      .has_attention_bias = true,
      .has_qk_norm = true,
      .has_four_norms = true,
      .is_tied = true,
      .needs_head_dim = true,
      .has_vision = true },
    { .architecture = "LlamaForCausalLM", .has_attention_bias = true, .has_mlp_bias = true, .all_heads_have_kv = true },
    { .architecture = "MistralForCausalLM" },
    { .architecture = "MixtralForCausalLM", .experts = MIXTRAL_EXPERTS },
    { .architecture = "Phi3ForCausalLM", .is_fused = true, .all_heads_have_kv = true },
    { .architecture = "Qwen2ForCausalLM", .has_qkv_bias = true },
    { .architecture = "Qwen3ForCausalLM", .has_attention_bias = true, .has_qk_norm = true, .needs_head_dim = true },
    { .architecture = "Qwen3MoeForCausalLM",
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
    json_t *json;
    const char *where; /* "text_config.", for messages */
    struct plim_error *err;
    int result; /* the first error */
};

static json_t *member(const struct config *c, const char *key)
{
    json_t *value = json_object_get(c->json, key);
    return json_is_null(value) ? NULL : value;
}

static void fail(struct config *c, int code, const char *key, const char *what)
{
    if (c->result == 0)
        c->result = plim_fail(c->err, code, PLIM_NO_OFFSET, "config.json: '%s%s' %s", c->where, key, what);
}

/* A number from 1 to max; `otherwise` when the config does not say, which is an error when that is 0. */
static uint64_t number(struct config *c, const char *key, uint64_t max, uint64_t otherwise)
{
    char what[64];
    const json_t *value = member(c, key);
    if (!value && otherwise)
        return otherwise;
    if (!value) {
        fail(c, PLIM_E_CORRUPT, key, "is missing");
        return 1;
    }
    const json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
    if (n >= 1 && (uint64_t)n <= max)
        return (uint64_t)n;
    snprintf(what, sizeof what, "is no number from 1 to %" PRIu64, max);
    fail(c, PLIM_E_CORRUPT, key, what);
    return 1;
}

static bool truth(struct config *c, const char *key, bool otherwise)
{
    const json_t *value = member(c, key);
    if (value && !json_is_boolean(value))
        fail(c, PLIM_E_CORRUPT, key, "is neither true nor false");
    return value ? json_is_true(value) : otherwise;
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

/* --- the header --- */

struct header {
    char *text;
    size_t n, room;
    const char *type;
    unsigned element_bytes;
    uint64_t offset, n_tensors;
    struct plim_error *err;
    int result; /* the first error */
};

static void put(struct header *h, const char *format, ...) PLIM_PRINTF(2, 3);
static void put(struct header *h, const char *format, ...)
{
    enum { MAX_PIECE = NAME_BYTES + 256 };
    if (h->result < 0)
        return;
    if (h->room - h->n < MAX_PIECE) {
        const size_t room = h->room ? 2 * h->room : FIRST_ROOM;
        char *text = plim_realloc(h->text, room, 1);
        if (!text) {
            h->result = plim_fail(h->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
            return;
        }
        h->text = text;
        h->room = room;
    }
    va_list arguments;
    va_start(arguments, format);
    h->n += (size_t)vsnprintf(h->text + h->n, MAX_PIECE, format, arguments);
    va_end(arguments);
}

/* One tensor; dimensions end at the first 0. */
static void tensor(struct header *h, const uint64_t dims[4], const char *format, ...) PLIM_PRINTF(3, 4);
static void tensor(struct header *h, const uint64_t dims[4], const char *format, ...)
{
    char name[NAME_BYTES];
    uint64_t bytes = h->element_bytes;
    va_list arguments;
    if (++h->n_tensors > PLIM_MAX_SAFETENSORS_TENSORS && h->result == 0)
        h->result = plim_fail(h->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "config.json: more than %d tensors",
                              PLIM_MAX_SAFETENSORS_TENSORS);
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    put(h, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", name, h->type);
    for (int i = 0; i < 4 && dims[i]; i++) {
        put(h, "%s%" PRIu64, i ? "," : "", dims[i]);
        bytes *= dims[i];
    }
    if (h->result == 0 && bytes > (uint64_t)INT64_MAX - h->offset)
        h->result = plim_fail(h->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "config.json: the checkpoint exceeds 2^63 bytes");
    put(h, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", h->offset, h->offset + bytes);
    h->offset += bytes;
}

#define DIMS(...) ((const uint64_t[4]){ __VA_ARGS__ })

static void linear(struct header *h, uint64_t out, uint64_t in, bool has_bias, const char *prefix, const char *name)
{
    tensor(h, DIMS(out, in), "%s.%s.weight", prefix, name);
    if (has_bias)
        tensor(h, DIMS(out), "%s.%s.bias", prefix, name);
}

static void norm(struct header *h, uint64_t n, const char *prefix, const char *name)
{
    tensor(h, DIMS(n), "%s.%s.weight", prefix, name);
}

/* --- the decoder --- */

static void attention(struct header *h, const struct family *f, const struct shape *s, const char *layer)
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

static void feed_forward(struct header *h, const struct family *f, const struct shape *s, const char *layer)
{
    if (f->is_fused) {
        linear(h, 2 * s->intermediate, s->hidden, false, layer, "mlp.gate_up_proj");
    } else {
        linear(h, s->intermediate, s->hidden, s->mlp_bias, layer, "mlp.gate_proj");
        linear(h, s->intermediate, s->hidden, s->mlp_bias, layer, "mlp.up_proj");
    }
    linear(h, s->hidden, s->intermediate, s->mlp_bias, layer, "mlp.down_proj");
}

static void experts(struct header *h, const struct family *f, const struct shape *s, const char *layer)
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
    size_t i;
    json_t *layer;
    if (f->experts != QWEN3_EXPERTS)
        return f->experts == MIXTRAL_EXPERTS;
    json_array_foreach(member(c, "mlp_only_layers"), i, layer)
    {
        if (json_is_integer(layer) && (uint64_t)json_integer_value(layer) == nth)
            return false;
    }
    return (nth + 1) % s->sparse_step == 0;
}

static void decoder(struct header *h, const struct config *c, const struct family *f, const struct shape *s,
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

static void layer_norm(struct header *h, uint64_t n, const char *prefix, const char *name)
{
    norm(h, n, prefix, name);
    tensor(h, DIMS(n), "%s.%s.bias", prefix, name);
}

static int vision(struct header *h, struct config *c, uint64_t text_hidden)
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
        return c->result;
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
    return h->result;
}

/* --- the whole --- */

static const struct family *family_of(struct config *c)
{
    char known[400] = "";
    const json_t *list = member(c, "architectures");
    const char *name = json_array_size(list) == 1 ? json_string_value(json_array_get(list, 0)) : NULL;
    if (!name) {
        fail(c, PLIM_E_UNSUPPORTED, "architectures", "does not name one architecture");
        return NULL;
    }
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (!strcmp(families[i].architecture, name))
            return &families[i];
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", families[i].architecture);
    }
    c->result = plim_fail(c->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                          "the tensors of '%.64s' are not known: a config.json alone is not enough", name);
    plim_error_hint(c->err, "give the folder with its .safetensors files; known without them: %s", known);
    return NULL;
}

/* "torch_dtype", since transformers 4.56 "dtype"; either at the top or with the decoder. */
static void read_type(struct config *top, struct config *decoder_config, struct header *h)
{
    static const struct {
        const char *name, *type;
        unsigned bytes;
    } types[] = { { "bfloat16", "BF16", 2 }, { "float16", "F16", 2 }, { "float32", "F32", 4 } };
    const char *name = NULL;
    for (int i = 0; i < 4 && !name; i++)
        name = json_string_value(member(i < 2 ? top : decoder_config, i % 2 ? "torch_dtype" : "dtype"));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (name && !strcmp(name, types[i].name)) {
            h->type = types[i].type;
            h->element_bytes = types[i].bytes;
        }
    if (!h->type)
        fail(top, PLIM_E_UNSUPPORTED, "dtype", "is none of bfloat16, float16 and float32");
}

static int describe(struct config *c, struct header *h)
{
    struct shape s;
    const struct family *f = family_of(c);
    if (!f)
        return c->result;
    struct config text = *c, eyes = *c;
    if (f->has_vision) {
        text.json = member(c, "text_config");
        text.where = "text_config.";
        eyes.json = member(c, "vision_config");
        eyes.where = "vision_config.";
    }
    if (member(c, "quantization_config") || member(&text, "quantization_config")) {
        fail(c, PLIM_E_UNSUPPORTED, "quantization_config", "is there: the tensors do not follow from the rest");
        plim_error_hint(c->err, "give the folder with its .safetensors files");
    }
    read_type(c, &text, h);
    if (c->result < 0)
        return c->result;
    read_shape(&text, f, &s);
    if (text.result < 0)
        return text.result;
    put(h, "{\"__metadata__\":{\"format\":\"pt\"}"); /* transformers refuses a file that does not say so */
    if (f->has_vision && vision(h, &eyes, s.hidden) < 0)
        return eyes.result < 0 ? eyes.result : h->result;
    decoder(h, &text, f, &s, f->has_vision ? "language_model." : "");
    put(h, "}");
    return h->result;
}

/* The eight bytes of the length before the text, and spaces behind it so that the data is aligned. */
static int finish(struct header *h, struct plim_hf_checkpoint *checkpoint)
{
    while (h->result == 0 && h->n % ALIGNMENT)
        put(h, " ");
    char *head = h->result < 0 ? NULL : plim_alloc_unset(h->n + LENGTH_BYTES, 1);
    if (!head)
        return h->result < 0 ? h->result : plim_fail(h->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (int i = 0; i < LENGTH_BYTES; i++)
        head[i] = (char)((uint64_t)h->n >> 8 * i);
    memcpy(head + LENGTH_BYTES, h->text, h->n);
    *checkpoint =
        (struct plim_hf_checkpoint){ head, h->n + LENGTH_BYTES, h->n + LENGTH_BYTES + h->offset, h->n_tensors };
    return 0;
}

int plim_hf_checkpoint_describe(const void *config, size_t size, struct plim_hf_checkpoint *ret_checkpoint,
                                struct plim_error *reterr)
{
    json_error_t error;
    struct header h = { .err = reterr };
    struct config c = { .where = "", .err = reterr };
    *ret_checkpoint = (struct plim_hf_checkpoint){ 0 };
    if (size > PLIM_MAX_CONFIG_BYTES)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "a config.json of %zu bytes; at most %d are read",
                         size, PLIM_MAX_CONFIG_BYTES);
    c.json = json_loadb(config, size, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(c.json)) {
        json_decref(c.json);
        return plim_fail(reterr, PLIM_E_CORRUPT, error.position > 0 ? (uint64_t)error.position : 0,
                         "config.json is no JSON object: %.120s", c.json ? "another value" : error.text);
    }
    int result = describe(&c, &h);
    if (result == 0)
        result = finish(&h, ret_checkpoint);
    plim_free(h.text);
    json_decref(c.json);
    return result;
}

void plim_hf_checkpoint_done(struct plim_hf_checkpoint *checkpoint)
{
    plim_free(checkpoint->head);
    *checkpoint = (struct plim_hf_checkpoint){ 0 };
}
