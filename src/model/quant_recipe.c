/* SPDX-License-Identifier: MIT */
/*
 * A model under another quantization recipe: llama-quantize without the weights.
 *
 * llama-quantize goes over the tensors layer by layer and counts the matrices of a role it has seen, so a type depends
 * on the order as well. Here are the order, the counting and what shapes demand; what a name means and
 * which type a role gets is in quant_recipe_rules.c.
 *
 * Source: llama_model_quantize_impl(), init_quantize_state_counters() and tensor_type_fallback() of llama.cpp's
 * src/llama-quant.cpp, weight_name_comparer of src/llama-model-loader.h; v0.5.0. Proof: tests/engine/quant_probe.c.
 */
#include "plimsoll/quant_recipe.h"

#include "base/limits.h"
#include "base/units.h"
#include "model/ggml_type.h"
#include "model/model_impl.h"
#include "model/quant_recipe_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_BYTES = 160, HINT_BYTES = 400, DEFAULT_ALIGNMENT = 32, MAX_COUNT = 1 << 20 };

/* --- recipes of others --- */

/*
 * Recipes that publishers of files add: one of llama-quantize's with --token-embedding-type and --output-tensor-type
 * q8_0 ("Uses Q8_0 for embed and output weights" on the pages of bartowski's repositories). general.file_type is that
 * of the base.
 */
static const struct variant {
    struct plim_quant_recipe recipe;
    const char *base;
} variants[] = {
    { { "Q6_K_L", false }, "Q6_K" },    { { "Q5_K_L", false }, "Q5_K_M" }, { { "Q4_K_L", false }, "Q4_K_M" },
    { { "Q3_K_XL", false }, "Q3_K_L" }, { { "Q2_K_L", false }, "Q2_K" },
};

/*
 * Unsloth's "dynamic" files, whose recipes are not published: the recipe of llama-quantize that comes nearest, and a
 * band around it. Nine files UD-Q4_K_XL have 0.897 to 1.053 of Q4_K_M (Qwen 3.5 of 0.8 to 397 B and 3.6 of 35 B;
 * ggml-org/Llama-macOS pull request 63, joryirving/home-ops 9398), UD-Q2_K_XL and UD-IQ2_XXS of Llama 4 Scout 1.08 and
 * 1.35 of theirs (ikawrakow/ik_llama.cpp pull request 321).
 */
static const struct dynamic {
    struct plim_quant_recipe recipe;
    const char *base;
    uint8_t less_percent, more_percent;
} dynamics[] = {
    { { "UD-Q6_K_XL", false }, "Q6_K", 15, 25 },   { { "UD-Q5_K_XL", false }, "Q5_K_M", 15, 15 },
    { { "UD-Q4_K_XL", false }, "Q4_K_M", 15, 10 }, { { "UD-Q3_K_XL", false }, "Q3_K_M", 15, 25 },
    { { "UD-Q2_K_XL", false }, "Q2_K", 15, 25 },   { { "UD-IQ3_XXS", false }, "i1-IQ3_XXS", 15, 50 },
    { { "UD-IQ2_M", false }, "i1-IQ2_M", 15, 50 }, { { "UD-IQ2_XXS", false }, "i1-IQ2_XXS", 15, 50 },
    { { "UD-IQ1_M", false }, "i1-IQ1_M", 15, 50 }, { { "UD-IQ1_S", false }, "i1-IQ1_S", 15, 50 },
};

static const struct dynamic *dynamic_named(const char *name)
{
    for (size_t i = 0; i < sizeof dynamics / sizeof *dynamics; i++)
        if (!strcasecmp(dynamics[i].recipe.name, name))
            return &dynamics[i];
    return NULL;
}

/* The model of the nearest recipe, with its band as two doubts. */
static int widen(struct plim_model *made, const struct dynamic *dynamic, struct plim_error *reterr)
{
    char text[160];
    const int64_t percent_bytes = (int64_t)(made->tensor_bytes / 100);
    snprintf(text, sizeof text, "the recipe of %s is not published: taken as %s, with a band of -%u to +%u %%",
             dynamic->recipe.name, dynamic->base, dynamic->less_percent, dynamic->more_percent);
    const struct plim_doubt more = { .text = text, .more_bytes = percent_bytes * dynamic->more_percent };
    const struct plim_doubt less = { .text = "its files are smaller than that for some models",
                                     .more_bytes = -percent_bytes * dynamic->less_percent };
    made->forecast = PLIM_FORECAST_FORMULA;
    made->file_type = dynamic->recipe.name;
    const int result = plim_model_add_doubt(made, &more, reterr);
    return result < 0 ? result : plim_model_add_doubt(made, &less, reterr);
}

static const struct variant *variant_named(const char *name)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (!strcasecmp(variants[i].recipe.name, name))
            return &variants[i];
    return NULL;
}

/* "i1-IQ4_XS", as on the pages of mradermacher's repositories: the recipe behind it with an importance matrix. */
static bool take_imatrix(const char **name)
{
    const bool has = !strncasecmp(*name, "i1-", 3);
    *name += has ? 3 : 0;
    return has;
}

bool plim_quant_recipe_differs_with_imatrix(const char *name)
{
    const struct plim_quant_recipe_rules *rules = plim_quant_recipe_rules(name);
    return rules && plim_quant_recipe_heeds_imatrix(rules);
}

const struct plim_quant_recipe *plim_quant_recipe_named(const char *name)
{
    take_imatrix(&name);
    const struct variant *variant = variant_named(name);
    const struct dynamic *dynamic = dynamic_named(name);
    return variant ? &variant->recipe : dynamic ? &dynamic->recipe : plim_quant_recipe_own(name);
}

/* --- the model --- */

struct quantizer {
    const struct plim_model *model;
    const struct plim_quant_recipe_rules *rules;
    const struct variant *variant; /* NULL: none */
    struct plim_error *err;
    struct plim_matrix any; /* what all matrices of the model have in common */
    uint32_t n_layer;
    bool is_tied;      /* the token embedding is the output matrix as well */
    bool has_3d_attn;  /* stacked matrices are experts only in the FFN */
    uint32_t n_attn_v; /* of all tensors */
    uint32_t n_seen[PLIM_MATRIX_ROLE_MAX_];
};

static const char *full_key(const struct plim_model *model, char key[KEY_BYTES], const char *name)
{
    snprintf(key, KEY_BYTES, "%.96s.%s", plim_model_arch(model), name);
    return key;
}

/* A number, or the first layer's of a list; otherwise when the key is absent or the number no count. */
static uint32_t count_or(const struct plim_model *model, const char *name, uint32_t otherwise)
{
    char key[KEY_BYTES];
    int64_t first;
    uint64_t number;
    full_key(model, key, name);
    if (plim_model_array(model, key, &first, 1) == 1)
        number = (uint64_t)first;
    else if (!plim_model_u64(model, key, &number))
        return otherwise;
    return number <= MAX_COUNT ? (uint32_t)number : otherwise;
}

/* What llama.cpp calls a 70B model: by architecture and layers alone (load_arch_hparams in src/models/). */
static bool is_70b(const struct plim_model *model, uint32_t n_layer, uint32_t n_head, uint32_t n_head_kv)
{
    static const struct {
        const char *arch;
        uint32_t n_layer;
        bool is_grouped; /* only with fewer KV heads than heads, and no Mixtral */
    } models[] = {
        { "deci", 80, false },       { "jais2", 68, false }, { "llama", 80, true },
        { "llama-embed", 80, true }, { "olmo", 80, false },  { "qwen2", 80, false },
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (!strcmp(plim_model_arch(model), models[i].arch) && n_layer == models[i].n_layer)
            return !models[i].is_grouped || (n_head != n_head_kv && count_or(model, "expert_count", 0) != 8);
    return false;
}

static void count_tensors(struct quantizer *q)
{
    size_t n;
    const struct plim_tensor *tensors = plim_model_tensors(q->model, &n);
    q->is_tied = true;
    for (size_t i = 0; i < n; i++) {
        const enum plim_matrix_role role = plim_matrix_role(tensors[i].name);
        q->n_attn_v += role == PLIM_MATRIX_ATTN_V;
        if (role == PLIM_MATRIX_OUTPUT)
            q->is_tied = false;
    }
}

/* n_layer_all: two architectures have another number of layers than their key says. */
static uint32_t layers_of(const struct plim_model *model, uint32_t n_blocks)
{
    if (!strcmp(plim_model_arch(model), "nanbeige"))
        return n_blocks * count_or(model, "num_loops", 1);
    if (!strcmp(plim_model_arch(model), "graniteswitch"))
        return n_blocks + 1;
    return n_blocks;
}

static int describe_language_model(struct quantizer *q)
{
    const struct plim_model *model = q->model;
    const char *arch = plim_model_arch(model);
    const uint32_t n_blocks = count_or(model, "block_count", 0);
    if (n_blocks == 0 || n_blocks > PLIM_MAX_LAYERS) {
        int code = plim_fail(q->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "key '%.96s.block_count' must be 1 to %d", arch,
                             PLIM_MAX_LAYERS);
        plim_error_hint(q->err, "llama.cpp cannot load this file either; convert the model again");
        return code;
    }
    const uint32_t n_head = count_or(model, "attention.head_count", 0);
    const uint32_t n_head_kv = count_or(model, "attention.head_count_kv", n_head);
    q->n_layer = layers_of(model, n_blocks);
    q->has_3d_attn = !strcmp(arch, "bailingmoe3");
    q->any.n_expert = count_or(model, "expert_count", 0);
    q->any.n_gqa = n_head_kv ? n_head / n_head_kv : 0;
    q->any.is_falcon = !strcmp(arch, "falcon");
    q->any.is_70b = is_70b(model, n_blocks - count_or(model, "nextn_predict_layers", 0), n_head, n_head_kv);
    return 0;
}

/* llama-quantize does not read a projector's keys: it has no layers and heads there, on which some recipes fail. */
static int describe(struct quantizer *q)
{
    count_tensors(q);
    if (plim_model_format(q->model) != PLIM_FORMAT_GGUF)
        return plim_fail(q->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "llama-quantize reads GGUF files only");
    if (plim_model_kind(q->model) == PLIM_MODEL_ADAPTER)
        return plim_fail(q->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "adapters are not quantized");
    return plim_model_kind(q->model) == PLIM_MODEL_PROJECTOR ? 0 : describe_language_model(q);
}

/* --- one tensor --- */

static bool is_ffn(enum plim_matrix_role role)
{
    return role == PLIM_MATRIX_FFN_UP || role == PLIM_MATRIX_FFN_GATE || role == PLIM_MATRIX_FFN_DOWN;
}

/*
 * The type for rows that are not whole blocks of `type` (tensor_type_fallback). UNKNOWN where llama-quantize has no
 * answer: a large block without a stand-in.
 */
static enum plim_dtype fit_row(enum plim_dtype type, uint64_t n_columns)
{
    static const uint8_t smaller[PLIM_DTYPE_MAX_] = {
        [PLIM_DTYPE_IQ1_S] = PLIM_DTYPE_IQ4_NL,   [PLIM_DTYPE_IQ1_M] = PLIM_DTYPE_IQ4_NL,
        [PLIM_DTYPE_IQ2_XXS] = PLIM_DTYPE_IQ4_NL, [PLIM_DTYPE_IQ2_XS] = PLIM_DTYPE_IQ4_NL,
        [PLIM_DTYPE_IQ2_S] = PLIM_DTYPE_IQ4_NL,   [PLIM_DTYPE_IQ3_XXS] = PLIM_DTYPE_IQ4_NL,
        [PLIM_DTYPE_IQ3_S] = PLIM_DTYPE_IQ4_NL,   [PLIM_DTYPE_IQ4_XS] = PLIM_DTYPE_IQ4_NL,
        [PLIM_DTYPE_Q2_K] = PLIM_DTYPE_Q4_0,      [PLIM_DTYPE_Q3_K] = PLIM_DTYPE_Q4_0,
        [PLIM_DTYPE_TQ1_0] = PLIM_DTYPE_Q4_0,     [PLIM_DTYPE_TQ2_0] = PLIM_DTYPE_Q4_0,
        [PLIM_DTYPE_Q2_0] = PLIM_DTYPE_Q4_0,      [PLIM_DTYPE_Q4_K] = PLIM_DTYPE_Q5_0,
        [PLIM_DTYPE_Q5_K] = PLIM_DTYPE_Q5_1,      [PLIM_DTYPE_Q6_K] = PLIM_DTYPE_Q8_0,
    };
    const uint32_t block = plim_dtype_block_elements(type);
    if (n_columns % block == 0)
        return type;
    if (!smaller[type])
        return block <= 32 ? PLIM_DTYPE_F16 : PLIM_DTYPE_UNKNOWN;
    type = (enum plim_dtype)smaller[type];
    return n_columns % plim_dtype_block_elements(type) == 0 ? type : PLIM_DTYPE_F16;
}

/* The layer of an FFN matrix: by name in models of experts, else by counting (layer_info). */
static int place_in_ffn(const struct quantizer *q, const struct plim_tensor *tensor, struct plim_matrix *matrix)
{
    if (matrix->n_expert <= 1 || !plim_quant_recipe_asks_for_layers(q->rules))
        return 0;
    const int layer = plim_matrix_layer(tensor->name);
    if (layer < 0 || (uint32_t)layer >= q->n_layer)
        return plim_fail(q->err, PLIM_E_UNSUPPORTED, tensor->info_at,
                         "tensor '%.64s' does not belong to any of the %" PRIu32 " layers; llama-quantize fails there",
                         tensor->name, q->n_layer);
    matrix->place = (uint32_t)layer;
    return 0;
}

static int choose_type(struct quantizer *q, const struct plim_tensor *tensor, enum plim_dtype *ret_type)
{
    struct plim_matrix matrix = q->any;
    matrix.role = plim_matrix_role(tensor->name);
    if (matrix.role == PLIM_MATRIX_TOKEN_EMBD && q->is_tied)
        matrix.role = PLIM_MATRIX_OUTPUT;
    matrix.n_columns = tensor->ne[0];
    matrix.is_experts = tensor->ne[2] > 1 && (!q->has_3d_attn || is_ffn(matrix.role));
    matrix.n_before = matrix.place = q->n_seen[matrix.role]++;
    matrix.n_places = matrix.role == PLIM_MATRIX_ATTN_V ? q->n_attn_v : q->n_layer;
    int result = is_ffn(matrix.role) ? place_in_ffn(q, tensor, &matrix) : 0;
    if (result < 0)
        return result;
    const bool is_raised = q->variant && (matrix.role == PLIM_MATRIX_OUTPUT || matrix.role == PLIM_MATRIX_TOKEN_EMBD);
    const enum plim_dtype wanted = is_raised ? PLIM_DTYPE_Q8_0 : plim_quant_recipe_type(q->rules, &matrix),
                          type = fit_row(wanted, tensor->ne[0]);
    if (type == PLIM_DTYPE_UNKNOWN) {
        result = plim_fail(q->err, PLIM_E_UNSUPPORTED, tensor->info_at,
                           "rows of tensor '%.64s' have %" PRIu64 " elements; %s needs a multiple of %" PRIu32,
                           tensor->name, tensor->ne[0], plim_dtype_name(wanted), plim_dtype_block_elements(wanted));
        plim_error_hint(q->err, "llama-quantize has no type for such rows and fails; try another quantization");
        return result;
    }
    *ret_type = type;
    return 0;
}

/* --- the new model --- */

/* By layer, those outside the layers first; by name within (weight_name_comparer). */
static int compare_places(const void *a, const void *b)
{
    const struct plim_tensor *x = a, *y = b;
    const int order = plim_matrix_layer(x->name) - plim_matrix_layer(y->name);
    return order ? order : strcmp(x->name, y->name);
}

static uint64_t alignment_of(const struct plim_model *model)
{
    uint64_t alignment;
    return plim_model_u64(model, "general.alignment", &alignment) && alignment ? alignment : DEFAULT_ALIGNMENT;
}

static uint64_t padded_bytes(const struct plim_model *model)
{
    const uint64_t alignment = alignment_of(model);
    uint64_t bytes = 0;
    for (size_t i = 0; i < model->n_tensors; i++)
        bytes += plim_align_up(model->tensors[i].bytes, alignment);
    return bytes;
}

/* A forecast is already in this order, and many recipes are asked of it. */
static bool is_in_order(const struct plim_model *model)
{
    for (size_t i = 1; i < model->n_tensors; i++)
        if (compare_places(&model->tensors[i - 1], &model->tensors[i]) > 0)
            return false;
    return true;
}

static int fill_tensors(struct quantizer *q, struct plim_model *made)
{
    const struct plim_model *model = q->model;
    const uint64_t alignment = alignment_of(model);
    uint64_t offset = 0;
    struct plim_tensor *tensors;
    int result = plim_model_add_tensors(made, model->n_tensors, &tensors, q->err);
    if (result < 0)
        return result;
    if (made->n_tensors == 0)
        return 0;
    memcpy(tensors, model->tensors, made->n_tensors * sizeof *tensors);
    if (!is_in_order(model))
        qsort(made->tensors, made->n_tensors, sizeof *made->tensors, compare_places);
    for (size_t i = 0; i < made->n_tensors; i++) {
        struct plim_tensor *tensor = &made->tensors[i];
        result = plim_matrix_is_quantized(tensor) ? choose_type(q, tensor, &tensor->type) : 0;
        if (result < 0)
            return result;
        const uint64_t n_rows = tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
        tensor->bytes = plim_dtype_row_bytes(tensor->type, tensor->ne[0]) * n_rows;
        tensor->offset = offset;
        tensor->shard = 0;
        offset += plim_align_up(tensor->bytes, alignment);
    }
    return 0;
}

/* The same keys, but for the file type and how the file was split. */
static int fill_keys(struct quantizer *q, struct plim_model *made)
{
    static const char file_type[] = "general.file_type";
    made->keys = plim_arena_alloc(&made->arena, q->model->n_keys + 1, sizeof *made->keys);
    if (!made->keys)
        return plim_fail(q->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    made->keys[made->n_keys++] =
        (struct plim_key){ .name = file_type, .type = PLIM_VALUE_UNSIGNED, .u = plim_quant_recipe_file_type(q->rules) };
    for (size_t i = 0; i < q->model->n_keys; i++) {
        const struct plim_key *key = &q->model->keys[i];
        if (strcmp(key->name, file_type) && strncmp(key->name, "split.", 6))
            made->keys[made->n_keys++] = *key;
    }
    return plim_keys_sort(made->keys, made->n_keys, q->err);
}

static int fill(struct quantizer *q, struct plim_model *made)
{
    const struct plim_model *model = q->model;
    const uint64_t old_data_bytes = padded_bytes(model);
    int result = describe(q);
    if (result == 0)
        result = fill_keys(q, made);
    if (result == 0)
        result = fill_tensors(q, made);
    if (result == 0)
        result = is_in_order(model) ? plim_model_index_as(made, model, q->err) : plim_model_index(made, q->err);
    if (result < 0)
        return result;
    made->name = model->name;
    made->arch = model->arch;
    made->kind = model->kind;
    made->format = model->format;
    made->hyperparameters = model->hyperparameters;
    made->forecast = model->forecast;
    made->doubts = model->doubts;
    made->n_doubts = model->n_doubts;
    made->file_type =
        q->variant ? q->variant->recipe.name : plim_gguf_file_type_name(plim_quant_recipe_file_type(q->rules));
    const uint64_t head_bytes = model->file_bytes > old_data_bytes ? model->file_bytes - old_data_bytes : 0;
    return plim_model_add_shard(made, "", padded_bytes(made) + head_bytes, head_bytes, q->err);
}

/* Those that begin so: "Q4" is written for any of them. */
static void list_recipes(const char *beginning, char list[HINT_BYTES])
{
    const struct plim_quant_recipe *recipe;
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; (recipe = plim_quant_recipe_at(i)) && used < HINT_BYTES; i++)
        if (!strncasecmp(recipe->name, beginning, strlen(beginning)))
            used += (size_t)snprintf(list + used, HINT_BYTES - used, "%s%s", used ? ", " : "", recipe->name);
}

static int unknown_recipe(const char *name, struct plim_error *reterr)
{
    char names[HINT_BYTES], near[HINT_BYTES];
    list_recipes("", names);
    list_recipes(name, near);
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "unknown quantization '%.32s'", name);
    if (!strncasecmp(name, "UD-", 3))
        plim_error_hint(reterr,
                        "the recipes of UD files are not published: read the file itself, "
                        "'plimsoll fit hf:ORG/REPO:%.32s' takes its header alone",
                        name);
    plim_error_hint(reterr, "one of %s", *near ? near : names);
    return code;
}

int plim_model_requantize(const struct plim_model *model, const char *recipe, struct plim_model **ret_model,
                          struct plim_error *reterr)
{
    const struct dynamic *dynamic = dynamic_named(recipe);
    recipe = dynamic ? dynamic->base : recipe;
    const bool has_imatrix = take_imatrix(&recipe);
    const struct variant *variant = variant_named(recipe);
    struct quantizer q = {
        .model = model,
        .rules = plim_quant_recipe_rules(variant ? variant->base : recipe),
        .variant = variant,
        .any = { .has_imatrix = has_imatrix },
        .err = reterr,
    };
    if (!q.rules)
        return unknown_recipe(recipe, reterr);
    struct plim_model *made = plim_model_new("");
    if (!made)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    int result = fill(&q, made);
    if (result == 0 && dynamic)
        result = widen(made, dynamic, reterr);
    if (result < 0) {
        plim_error_where(reterr, model->path);
        plim_model_free(made);
        return result;
    }
    *ret_model = made;
    return 0;
}
