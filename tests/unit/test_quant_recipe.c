/* SPDX-License-Identifier: MIT */
/*
 * Quantization recipes. The expected types and sizes are the engine's: tests/engine/quant_probe.c prints what
 * llama-quantize of llama.cpp v0.5.0 chooses for models of these shapes.
 */
#include "plimsoll/quant_recipe.h"

#include "base/mem.h"
#include "gguf_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A model to build: what the recipes look at. */
struct shape {
    const char *arch;
    uint32_t n_layer, n_head, n_head_kv, n_expert;
    uint64_t n_embd, n_ff, n_vocab;
    bool is_tied;
    enum plim_dtype type;
};

static const struct shape llama_8b = { "llama", 32, 32, 8, 0, 4096, 14336, 128256, false, PLIM_DTYPE_F16 };

static void add_key(struct gguf_writer *w, const struct shape *shape, const char *name, uint32_t value)
{
    char key[96];
    snprintf(key, sizeof key, "%s.%s", shape->arch, name);
    gguf_add_u32(w, key, value);
}

static void add_keys(struct gguf_writer *w, const struct shape *shape)
{
    gguf_add_string(w, "general.architecture", shape->arch);
    gguf_add_string(w, "general.name", "a model");
    add_key(w, shape, "block_count", shape->n_layer);
    add_key(w, shape, "attention.head_count", shape->n_head);
    add_key(w, shape, "attention.head_count_kv", shape->n_head_kv);
    if (shape->n_expert)
        add_key(w, shape, "expert_count", shape->n_expert);
}

static void add_layer_tensor(struct gguf_writer *w, uint32_t layer, const char *name, enum plim_dtype type,
                             uint64_t n_columns, uint64_t n_rows, uint64_t n_experts)
{
    char full[96];
    snprintf(full, sizeof full, "blk.%u.%s.weight", layer, name);
    gguf_add_tensor(w, full, type, n_columns, n_rows, n_experts);
}

static void add_layer(struct gguf_writer *w, const struct shape *shape, uint32_t layer)
{
    const uint64_t n_embd = shape->n_embd, n_kv = n_embd / shape->n_head * shape->n_head_kv;
    const uint64_t n_experts = shape->n_expert ? shape->n_expert : 1;
    const bool is_moe = shape->n_expert > 1;
    add_layer_tensor(w, layer, "attn_norm", PLIM_DTYPE_F32, n_embd, 1, 1);
    add_layer_tensor(w, layer, "ffn_norm", PLIM_DTYPE_F32, n_embd, 1, 1);
    add_layer_tensor(w, layer, "attn_q", shape->type, n_embd, n_embd, 1);
    add_layer_tensor(w, layer, "attn_k", shape->type, n_embd, n_kv, 1);
    add_layer_tensor(w, layer, "attn_v", shape->type, n_embd, n_kv, 1);
    add_layer_tensor(w, layer, "attn_output", shape->type, n_embd, n_embd, 1);
    if (is_moe)
        add_layer_tensor(w, layer, "ffn_gate_inp", PLIM_DTYPE_F32, n_embd, n_experts, 1);
    add_layer_tensor(w, layer, is_moe ? "ffn_up_exps" : "ffn_up", shape->type, n_embd, shape->n_ff, n_experts);
    add_layer_tensor(w, layer, is_moe ? "ffn_gate_exps" : "ffn_gate", shape->type, n_embd, shape->n_ff, n_experts);
    add_layer_tensor(w, layer, is_moe ? "ffn_down_exps" : "ffn_down", shape->type, shape->n_ff, n_embd, n_experts);
}

static void add_tensors(struct gguf_writer *w, const struct shape *shape)
{
    gguf_add_tensor(w, "token_embd.weight", shape->type, shape->n_embd, shape->n_vocab, 1);
    gguf_add_tensor(w, "output_norm.weight", PLIM_DTYPE_F32, shape->n_embd, 1, 1);
    if (!shape->is_tied)
        gguf_add_tensor(w, "output.weight", shape->type, shape->n_embd, shape->n_vocab, 1);
    for (uint32_t layer = shape->n_layer; layer-- > 0;)
        add_layer(w, shape, layer);
}

static struct plim_model *build(const struct shape *shape)
{
    struct gguf_writer w = { 0 };
    add_keys(&w, shape);
    add_tensors(&w, shape);
    struct plim_model *model = gguf_model(&w);
    gguf_writer_done(&w);
    return model;
}

static struct plim_model *requantized(const struct plim_model *model, const char *recipe)
{
    struct plim_error err = { 0 };
    struct plim_model *made = NULL;
    if (plim_model_requantize(model, recipe, &made, &err) < 0)
        fail_msg("%s: %s", recipe, err.what);
    return made;
}

static const char *type_of(const struct plim_model *model, const char *tensor)
{
    const struct plim_tensor *found = plim_model_tensor(model, tensor);
    assert_non_null(found);
    return plim_dtype_name(found->type);
}

/* --- the list --- */

/* The tensors of Llama 3.1 8B, without rope_freqs; in the order of the list. */
static const struct {
    const char *recipe;
    uint64_t bytes;
} llama_8b_bytes[] = {
    { "F32", 32121044992 },      { "BF16", 16061054976 },  { "F16", 16061054976 },    { "Q8_0", 8532934656 },
    { "MXFP4_MOE", 8532934656 }, { "Q6_K", 6588170240 },   { "Q5_1", 6060498944 },    { "Q5_K_M", 5725151232 },
    { "Q5_K_S", 5591457792 },    { "Q5_0", 5591457792 },   { "Q4_1", 5122416640 },    { "Q4_K_M", 4912898048 },
    { "IQ4_NL", 4699512832 },    { "Q4_K_S", 4684832768 }, { "Q4_0", 4653375488 },    { "IQ4_XS", 4476526592 },
    { "Q3_K_L", 4314120192 },    { "Q3_K_M", 4011081728 }, { "IQ3_M", 3776987136 },   { "IQ3_S", 3674488832 },
    { "Q3_K_S", 3656663040 },    { "IQ3_XS", 3510910976 }, { "IQ3_XXS", 3267076096 }, { "Q2_K", 3171295232 },
    { "Q2_K_S", 2980978688 },    { "IQ2_M", 2940444672 },  { "IQ2_S", 2750652416 },   { "Q2_0", 2690441216 },
    { "IQ2_XS", 2597945344 },    { "TQ2_0", 2526863360 },  { "IQ2_XXS", 2391375872 }, { "TQ1_0", 2199707648 },
    { "IQ1_M", 2154135552 },     { "IQ1_S", 2011791360 },  { "Q1_0", 1487347712 },
};
enum { N_RECIPES = sizeof llama_8b_bytes / sizeof *llama_8b_bytes };

static void test_every_recipe_of_llama_8b(void **state)
{
    (void)state;
    struct plim_model *model = build(&llama_8b);
    for (size_t i = 0; i < N_RECIPES; i++) {
        const char *recipe = llama_8b_bytes[i].recipe;
        assert_non_null(plim_quant_recipe_at(i));
        assert_string_equal(plim_quant_recipe_at(i)->name, recipe);
        struct plim_model *made = requantized(model, recipe);
        if (plim_model_tensor_bytes(made) != llama_8b_bytes[i].bytes)
            fail_msg("%s: %llu bytes, expected %llu", recipe, (unsigned long long)plim_model_tensor_bytes(made),
                     (unsigned long long)llama_8b_bytes[i].bytes);
        assert_string_equal(plim_model_file_type(made), recipe);
        plim_model_free(made);
    }
    assert_null(plim_quant_recipe_at(N_RECIPES));
    assert_null(plim_quant_recipe_at((size_t)-1));
    plim_model_free(model);
}

static void test_list_is_from_large_to_small(void **state)
{
    (void)state;
    for (size_t i = 1; i < N_RECIPES; i++)
        assert_true(llama_8b_bytes[i - 1].bytes >= llama_8b_bytes[i].bytes);
}

static void test_names_in_any_case(void **state)
{
    (void)state;
    assert_ptr_equal(plim_quant_recipe_named("q4_k_m"), plim_quant_recipe_named("Q4_K_M"));
    assert_string_equal(plim_quant_recipe_named("iq2_xxs")->name, "IQ2_XXS");
    assert_null(plim_quant_recipe_named("Q4_K"));
    assert_null(plim_quant_recipe_named(""));
}

static void test_needs_imatrix(void **state)
{
    static const char *const need[] = { "IQ3_XS",  "IQ3_XXS", "IQ2_M", "IQ2_S", "IQ2_XS",
                                        "IQ2_XXS", "IQ1_M",   "IQ1_S", "Q2_K_S" };
    size_t n_need = 0;
    (void)state;
    for (size_t i = 0; i < N_RECIPES; i++)
        n_need += plim_quant_recipe_at(i)->needs_imatrix;
    assert_int_equal(n_need, sizeof need / sizeof *need);
    for (size_t i = 0; i < sizeof need / sizeof *need; i++)
        assert_true(plim_quant_recipe_named(need[i])->needs_imatrix);
}

/* --- types --- */

struct expected {
    const char *recipe, *tensor, *type;
};

static void expect_types(const struct shape *shape, const struct expected *rows, size_t n)
{
    struct plim_model *model = build(shape);
    for (size_t i = 0; i < n; i++) {
        struct plim_model *made = requantized(model, rows[i].recipe);
        if (strcmp(type_of(made, rows[i].tensor), rows[i].type))
            fail_msg("%s %s: %s is %s, expected %s", shape->arch, rows[i].recipe, rows[i].tensor,
                     type_of(made, rows[i].tensor), rows[i].type);
        plim_model_free(made);
    }
    plim_model_free(model);
}

#define EXPECT_TYPES(shape, rows) expect_types(shape, rows, sizeof(rows) / sizeof *(rows))

static void test_layers(void **state)
{
    static const struct expected rows[] = {
        { "Q4_K_M", "output.weight", "q6_K" },           { "Q4_K_M", "token_embd.weight", "q4_K" },
        { "Q4_K_M", "blk.3.attn_v.weight", "q6_K" },     { "Q4_K_M", "blk.4.attn_v.weight", "q4_K" },
        { "Q4_K_M", "blk.6.ffn_down.weight", "q6_K" },   { "Q4_K_M", "blk.27.ffn_down.weight", "q6_K" },
        { "Q4_K_M", "blk.26.ffn_down.weight", "q4_K" },  { "Q4_K_M", "blk.28.ffn_down.weight", "q6_K" },
        { "Q4_K_M", "blk.10.attn_v.weight", "q4_K" },    { "Q4_K_M", "blk.9.attn_v.weight", "q6_K" },
        { "Q3_K_M", "blk.1.attn_v.weight", "q5_K" },     { "Q3_K_M", "blk.2.attn_v.weight", "q4_K" },
        { "IQ3_XS", "blk.3.ffn_up.weight", "iq3_s" },    { "IQ3_XS", "blk.4.ffn_gate.weight", "iq3_xxs" },
        { "IQ3_XS", "blk.28.ffn_gate.weight", "iq3_s" }, { "IQ4_XS", "blk.0.attn_v.weight", "q5_K" },
        { "Q4_K_M", "blk.0.attn_norm.weight", "f32" },
    };
    (void)state;
    EXPECT_TYPES(&llama_8b, rows);
}

static void test_eight_experts(void **state)
{
    static const struct shape mixtral = { "llama", 32, 32, 8, 8, 4096, 14336, 32000, false, PLIM_DTYPE_F16 };
    static const struct expected rows[] = {
        { "Q4_K_M", "blk.4.attn_v.weight", "q8_0" },        { "Q4_K_M", "blk.4.attn_k.weight", "q8_0" },
        { "Q4_K_M", "blk.4.attn_q.weight", "q4_K" },        { "Q4_K_M", "blk.4.attn_output.weight", "q5_K" },
        { "Q4_K_M", "blk.4.ffn_down_exps.weight", "q4_K" }, { "Q4_K_M", "blk.5.ffn_gate_inp.weight", "f32" },
        { "Q3_K_L", "blk.4.attn_output.weight", "q3_K" },   { "IQ2_XXS", "blk.4.attn_k.weight", "q4_K" },
        { "IQ3_M", "blk.6.ffn_down_exps.weight", "q4_K" },  { "MXFP4_MOE", "blk.0.ffn_up_exps.weight", "mxfp4" },
        { "MXFP4_MOE", "blk.0.attn_q.weight", "q8_0" },     { "Q4_0", "blk.0.attn_v.weight", "q8_0" },
    };
    (void)state;
    EXPECT_TYPES(&mixtral, rows);
}

static void test_four_experts_count_for_tiny_recipes(void **state)
{
    static const struct shape four = { "llama", 16, 8, 8, 4, 512, 512, 1000, false, PLIM_DTYPE_F16 };
    static const struct shape two = { "llama", 16, 8, 8, 2, 512, 512, 1000, false, PLIM_DTYPE_F16 };
    static const struct expected of_four[] = { { "IQ1_S", "blk.0.attn_v.weight", "q4_K" } };
    static const struct expected of_two[] = { { "IQ1_S", "blk.0.attn_v.weight", "q2_K" } };
    (void)state;
    EXPECT_TYPES(&four, of_four);
    EXPECT_TYPES(&two, of_two);
}

static void test_falcon(void **state)
{
    static const struct shape falcon = { "falcon", 32, 64, 64, 0, 4096, 16384, 65024, false, PLIM_DTYPE_F16 };
    static const struct expected rows[] = {
        { "Q4_K_M", "output.weight", "q8_0" },         { "Q4_K_M", "blk.1.ffn_down.weight", "q6_K" },
        { "Q4_K_M", "blk.2.ffn_down.weight", "q5_K" }, { "Q4_K_M", "blk.4.ffn_down.weight", "q4_K" },
        { "Q3_K_M", "blk.4.ffn_down.weight", "q3_K" }, { "Q3_K_M", "blk.0.attn_output.weight", "q3_K" },
        { "Q4_K_S", "blk.0.ffn_down.weight", "q4_K" }, { "Q3_K_L", "blk.0.attn_output.weight", "q4_K" },
    };
    (void)state;
    EXPECT_TYPES(&falcon, rows);
}

static void test_70b(void **state)
{
    static const struct shape grouped = { "llama", 80, 64, 8, 0, 512, 512, 1000, false, PLIM_DTYPE_F16 };
    static const struct shape single = { "llama", 80, 64, 64, 0, 512, 512, 1000, false, PLIM_DTYPE_F16 };
    static const struct shape jais2 = { "jais2", 68, 64, 64, 0, 512, 512, 1000, false, PLIM_DTYPE_F16 };
    static const struct expected raised[] = { { "Q4_K_M", "blk.10.attn_v.weight", "q5_K" },
                                              { "Q3_K_S", "blk.10.attn_v.weight", "q5_K" },
                                              { "Q4_0", "blk.10.attn_v.weight", "q4_0" } };
    static const struct expected raised_9[] = { { "Q4_K_M", "blk.9.attn_v.weight", "q5_K" } };
    static const struct expected not_raised[] = { { "Q4_K_M", "blk.10.attn_v.weight", "q4_K" } };
    (void)state;
    EXPECT_TYPES(&grouped, raised);
    EXPECT_TYPES(&single, not_raised);
    EXPECT_TYPES(&jais2, raised_9);
}

static void test_tied_embedding_is_the_output(void **state)
{
    static const struct shape tied = { "llama", 2, 8, 8, 0, 512, 512, 1000, true, PLIM_DTYPE_F16 };
    static const struct expected rows[] = { { "Q4_K_M", "token_embd.weight", "q6_K" },
                                            { "Q8_0", "token_embd.weight", "q8_0" },
                                            { "IQ2_S", "token_embd.weight", "q5_K" } };
    (void)state;
    EXPECT_TYPES(&tied, rows);
}

/* Rows of 96 and 80: no multiples of 256, or not even of 32. */
static void test_odd_rows(void **state)
{
    static const struct shape odd = { "llama", 2, 8, 8, 0, 96, 80, 1000, false, PLIM_DTYPE_F16 };
    static const struct expected rows[] = {
        { "Q4_K_M", "output.weight", "q8_0" },       { "Q4_K_M", "blk.0.attn_q.weight", "q5_0" },
        { "Q5_K_S", "blk.0.attn_q.weight", "q5_1" }, { "Q6_K", "blk.0.attn_q.weight", "q8_0" },
        { "Q3_K_S", "blk.0.attn_q.weight", "q4_0" }, { "IQ2_XXS", "blk.0.attn_q.weight", "iq4_nl" },
        { "TQ1_0", "blk.0.attn_q.weight", "q4_0" },  { "Q4_K_M", "blk.0.ffn_down.weight", "f16" },
        { "Q8_0", "blk.0.ffn_down.weight", "f16" },  { "BF16", "blk.0.ffn_down.weight", "bf16" },
    };
    (void)state;
    EXPECT_TYPES(&odd, rows);
}

static void test_left_alone(void **state)
{
    static const char *const names[] = {
        "blk.0.attn_rel_b.weight",   "blk.0.ssm_conv1d.weight", "blk.0.time_mix_w1.weight",
        "blk.0.altup_router.weight", "position_embd.weight",    "token_types.weight",
        "blk.0.attn_q_norm.weight",  "blk.0.some_scale",        "per_layer_model_proj.weight",
    };
    struct gguf_writer w = { 0 };
    (void)state;
    add_keys(&w, &llama_8b);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        gguf_add_tensor(&w, names[i], PLIM_DTYPE_BF16, 256, 2, 1);
    gguf_add_tensor(&w, "blk.0.time_mix_key.weight", PLIM_DTYPE_BF16, 256, 2, 1);
    gguf_add_tensor(&w, "blk.0.one_row.weight", PLIM_DTYPE_BF16, 256, 1, 1);
    struct plim_model *model = gguf_model(&w);
    struct plim_model *made = requantized(model, "Q8_0");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(type_of(made, names[i]), "bf16");
    assert_string_equal(type_of(made, "blk.0.one_row.weight"), "bf16");
    assert_string_equal(type_of(made, "blk.0.time_mix_key.weight"), "q8_0");
    plim_model_free(made);
    plim_model_free(model);
    gguf_writer_done(&w);
}

/* --- the new model --- */

static void expect_same_tensors(const struct plim_model *a, const struct plim_model *b)
{
    size_t n_a, n_b;
    const struct plim_tensor *x = plim_model_tensors(a, &n_a), *y = plim_model_tensors(b, &n_b);
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        assert_string_equal(x[i].name, y[i].name);
        assert_int_equal(x[i].type, y[i].type);
        assert_true(x[i].offset == y[i].offset && x[i].bytes == y[i].bytes);
    }
}

static void test_source_type_does_not_matter(void **state)
{
    struct plim_model *model = build(&llama_8b);
    struct plim_model *small = requantized(model, "IQ1_S");
    (void)state;
    for (size_t i = 0; i < N_RECIPES; i++) {
        struct plim_model *direct = requantized(model, llama_8b_bytes[i].recipe);
        struct plim_model *indirect = requantized(small, llama_8b_bytes[i].recipe);
        expect_same_tensors(direct, indirect);
        plim_model_free(direct);
        plim_model_free(indirect);
    }
    plim_model_free(small);
    plim_model_free(model);
}

/* By layer number and not by its digits, as the file would have them; the data back to back. */
static void test_order_and_layout(void **state)
{
    static const struct shape shape = { "llama", 12, 8, 8, 0, 96, 80, 33, false, PLIM_DTYPE_F16 };
    static const char *const order[] = { "output.weight", "output_norm.weight", "token_embd.weight",
                                         "blk.0.attn_k.weight", "blk.0.attn_norm.weight" };
    enum { ALIGNMENT = 64 };
    struct gguf_writer w = { 0 };
    uint64_t header_bytes, file_bytes, offset = 0;
    size_t n;
    (void)state;
    gguf_add_u32(&w, "general.alignment", ALIGNMENT);
    add_keys(&w, &shape);
    add_tensors(&w, &shape);
    gguf_header(&w, &header_bytes, &file_bytes);
    struct plim_model *model = gguf_model(&w);
    struct plim_model *made = requantized(model, "Q4_0");
    const struct plim_tensor *tensors = plim_model_tensors(made, &n);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        assert_string_equal(tensors[i].name, order[i]);
    assert_string_equal(tensors[n - 1].name, "blk.11.ffn_up.weight");
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(tensors[i].offset, offset);
        offset = (offset + tensors[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    assert_int_equal(plim_model_file_bytes(made), header_bytes + offset);
    assert_int_equal(plim_model_n_params(made), plim_model_n_params(model));
    plim_model_free(made);
    plim_model_free(model);
    gguf_writer_done(&w);
}

static void test_metadata(void **state)
{
    struct gguf_writer w = { 0 };
    uint64_t value;
    (void)state;
    gguf_add_u32(&w, "split.count", 1);
    gguf_add_u32(&w, "general.file_type", 1);
    add_keys(&w, &llama_8b);
    add_tensors(&w, &llama_8b);
    struct plim_model *model = gguf_model(&w);
    struct plim_model *made = requantized(model, "q4_k_m");
    assert_string_equal(plim_model_file_type(model), "F16");
    assert_string_equal(plim_model_file_type(made), "Q4_K_M");
    assert_string_equal(plim_model_name(made), "a model");
    assert_string_equal(plim_model_arch(made), "llama");
    assert_string_equal(plim_model_path(made), "");
    assert_int_equal(plim_model_kind(made), PLIM_MODEL_LANGUAGE);
    assert_int_equal(plim_model_n_shards(made), 1);
    assert_true(plim_model_u64(made, "llama.block_count", &value) && value == 32);
    assert_false(plim_model_u64(made, "split.count", &value));
    plim_model_free(made);
    plim_model_free(model);
    gguf_writer_done(&w);
}

/* Head counts may be a list: the first layer's count. */
static void test_heads_per_layer(void **state)
{
    static const uint32_t heads[] = { 32, 8 }, kv_heads[] = { 8, 8 };
    struct gguf_writer w = { 0 };
    (void)state;
    gguf_add_string(&w, "general.architecture", "deci");
    gguf_add_u32(&w, "deci.block_count", 2);
    gguf_add_u32s(&w, "deci.attention.head_count", heads, 2);
    gguf_add_u32s(&w, "deci.attention.head_count_kv", kv_heads, 2);
    gguf_add_tensor(&w, "blk.0.attn_v.weight", PLIM_DTYPE_F16, 256, 256, 1);
    struct plim_model *model = gguf_model(&w);
    struct plim_model *made = requantized(model, "Q2_K");
    assert_string_equal(type_of(made, "blk.0.attn_v.weight"), "q4_K");
    plim_model_free(made);
    plim_model_free(model);
    gguf_writer_done(&w);
}

/* --- refusals --- */

static void expect_error(struct gguf_writer *w, const char *recipe, int code, const char *what, const char *hint)
{
    struct plim_model *model = gguf_model(w), *made = NULL;
    struct plim_error err = { 0 };
    assert_int_equal(plim_model_requantize(model, recipe, &made, &err), code);
    assert_int_equal(plim_model_requantize(model, recipe, &made, NULL), code);
    assert_null(made);
    assert_int_equal(err.code, code);
    if (!strstr(err.what, what) || !strstr(err.hint, hint))
        fail_msg("%s (%s)", err.what, err.hint);
    plim_model_free(model);
    gguf_writer_done(w);
}

static void test_unknown_recipe(void **state)
{
    struct gguf_writer w = { 0 };
    (void)state;
    add_keys(&w, &llama_8b);
    expect_error(&w, "Q4_K_XL", PLIM_E_USAGE, "'Q4_K_XL'", "F32, BF16, F16, Q8_0");
    add_keys(&w, &llama_8b);
    expect_error(&w, "", PLIM_E_USAGE, "''", "IQ1_S, Q1_0");
}

static void test_row_without_stand_in(void **state)
{
    struct gguf_writer w = { 0 };
    (void)state;
    add_keys(&w, &llama_8b);
    gguf_add_tensor(&w, "blk.0.attn_q.weight", PLIM_DTYPE_F16, 96, 96, 1);
    expect_error(&w, "Q1_0", PLIM_E_UNSUPPORTED, "'blk.0.attn_q.weight' have 96 elements", "another quantization");
}

static void test_expert_outside_the_layers(void **state)
{
    static const struct shape mixtral = { "llama", 2, 8, 8, 8, 256, 256, 10, false, PLIM_DTYPE_F16 };
    struct gguf_writer w = { 0 };
    (void)state;
    add_keys(&w, &mixtral);
    gguf_add_tensor(&w, "blk.2.ffn_up_exps.weight", PLIM_DTYPE_F16, 256, 256, 8);
    expect_error(&w, "Q4_K_M", PLIM_E_UNSUPPORTED, "any of the 2 layers", "");
    add_keys(&w, &mixtral);
    gguf_add_tensor(&w, "enc.blk.0.ffn_up.weight", PLIM_DTYPE_F16, 256, 256, 1);
    expect_error(&w, "Q4_K_M", PLIM_E_UNSUPPORTED, "any of the 2 layers", "");
}

static void test_no_layers(void **state)
{
    struct gguf_writer w = { 0 };
    (void)state;
    gguf_add_string(&w, "general.architecture", "llama");
    expect_error(&w, "Q8_0", PLIM_E_CORRUPT, "'llama.block_count'", "");
    gguf_add_string(&w, "general.architecture", "llama");
    gguf_add_u32(&w, "llama.block_count", 100000);
    expect_error(&w, "Q8_0", PLIM_E_CORRUPT, "'llama.block_count'", "");
}

static void test_adapter(void **state)
{
    struct gguf_writer w = { 0 };
    (void)state;
    gguf_add_string(&w, "general.architecture", "llama");
    gguf_add_string(&w, "general.type", "adapter");
    expect_error(&w, "Q8_0", PLIM_E_UNSUPPORTED, "adapters", "");
}

static void test_too_big(void **state)
{
    struct gguf_writer w = { 0 };
    (void)state;
    add_keys(&w, &llama_8b);
    gguf_add_tensor(&w, "blk.0.attn_q.weight", PLIM_DTYPE_Q1_0, (uint64_t)1 << 32, (uint64_t)1 << 25, 1);
    expect_error(&w, "F32", PLIM_E_TOO_BIG, "more than 65536 TiB", "");
}

/* Whichever allocation fails, the error is "out of memory" and nothing leaks. */
static void test_out_of_memory(void **state)
{
    static const struct shape shape = { "llama", 2, 8, 8, 0, 256, 256, 10, false, PLIM_DTYPE_F16 };
    struct plim_model *model = build(&shape), *made = NULL;
    int result = PLIM_E_NOMEM;
    (void)state;
    for (long n = 0; result == PLIM_E_NOMEM; n++) {
        struct plim_error err = { 0 };
        plim_alloc_fail_after(n);
        result = plim_model_requantize(model, "Q4_K_M", &made, &err);
        assert_true(n < 100);
        assert_int_equal(err.code, result);
    }
    plim_alloc_fail_after(-1);
    assert_int_equal(result, 0);
    plim_model_free(made);
    plim_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_recipe_of_llama_8b),
        cmocka_unit_test(test_list_is_from_large_to_small),
        cmocka_unit_test(test_names_in_any_case),
        cmocka_unit_test(test_needs_imatrix),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_eight_experts),
        cmocka_unit_test(test_four_experts_count_for_tiny_recipes),
        cmocka_unit_test(test_falcon),
        cmocka_unit_test(test_70b),
        cmocka_unit_test(test_tied_embedding_is_the_output),
        cmocka_unit_test(test_odd_rows),
        cmocka_unit_test(test_left_alone),
        cmocka_unit_test(test_source_type_does_not_matter),
        cmocka_unit_test(test_order_and_layout),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_heads_per_layer),
        cmocka_unit_test(test_unknown_recipe),
        cmocka_unit_test(test_row_without_stand_in),
        cmocka_unit_test(test_expert_outside_the_layers),
        cmocka_unit_test(test_no_layers),
        cmocka_unit_test(test_adapter),
        cmocka_unit_test(test_too_big),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
