/* SPDX-License-Identifier: MIT */
/* The table of architectures; each one called exact is compared with the engine: it has a model in the zoo. */
#include "engine/llamacpp/arch.h"
#include "engine/llamacpp/context.h"
#include "unit.h"

enum { MAX_ARCHS = 256 };

struct seen {
    const struct plim_arch *table;
    int n;
    bool has_model[MAX_ARCHS];
};

static void visit(const char *path, void *data)
{
    struct seen *seen = data;
    struct plim_error error = { 0 };
    struct plim_model *model;
    if (plim_model_open(path, &model, &error) < 0)
        fail_msg("%s: %s", path, error.what);
    const struct plim_arch *arch = plim_arch_find(plim_model_arch(model));
    if (arch)
        seen->has_model[arch - seen->table] = true;
    plim_model_free(model);
}

static void test_every_graph_has_a_model(void **state)
{
    (void)state;
    static struct seen seen;
    seen.table = plim_arch_table(&seen.n);
    assert_in_range(seen.n, 1, MAX_ARCHS);
    zoo_each(visit, &seen);
    for (int i = 0; i < seen.n; i++)
        if (seen.table[i].build && !seen.has_model[i])
            fail_msg("%s builds a graph, but no model of the zoo compares it with the engine", seen.table[i].name);
}

static void test_the_table_is_sorted(void **state)
{
    (void)state;
    int n;
    const struct plim_arch *table = plim_arch_table(&n);
    for (int i = 1; i < n; i++)
        assert_true(strcmp(table[i - 1].name, table[i].name) < 0);
    for (int i = 0; i < n; i++)
        assert_ptr_equal(plim_arch_find(table[i].name), &table[i]);
    assert_null(plim_arch_find("an architecture that nobody made"));
    assert_null(plim_arch_find(""));
}

/* Numbers of layers have at most four digits: a longer one is no layer, and not another one modulo 2^32. */
static void test_names_of_layers(void **state)
{
    static const struct {
        const char *name;
        int layer;
        const char *rest;
    } rows[] = {
        { "blk.0.attn_q.weight", 0, "attn_q.weight" },
        { "blk.12.ffn_up.bias", 12, "ffn_up.bias" },
        { "blk.9999.x", 9999, "x" },
        { "enc.blk.7.x", 7, "x" },
        { "dec.blk.3.x", 3, "x" },
        { "blk.10000.x", -1, NULL },
        { "blk.4294967297.x", -1, NULL },
        { "blk.99999999999999999999.x", -1, NULL },
        { "blk.-1.x", -1, NULL },
        { "blk..x", -1, NULL },
        { "blk.1x", -1, NULL },
        { "token_embd.weight", -1, NULL },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *rest = NULL;
        assert_int_equal(plim_llama_layer_of_name(rows[i].name, &rest), rows[i].layer);
        if (rows[i].rest)
            assert_string_equal(rest, rows[i].rest);
    }
}

/* Kernels that ggml-cuda's fattn.cu has or lacks, by heads of published models and near them. */
static void test_kernels_of_flash_attention(void **state)
{
    static const struct {
        uint32_t head_k, head_v, n_gqa;
        bool has_alibi, has_kernel;
    } rows[] = {
        { 128, 128, 4, false, true },                                 /* Llama 3.1 */
        { 128, 128, 1, true, true },                                  /* Bloom */
        { 128, 64, 1, false, false },                                 /* other than K */
        { 100, 100, 1, false, false },                                /* BitNet b1.58 */
        { 192, 128, 16, false, true },                                /* MiMo-V2-Flash */
        { 192, 128, 8, false, true },                                 /* its layers with a window */
        { 192, 128, 4, false, false },                                /* groups of 8 only */
        { 192, 128, 1, false, false },                                /* DeepSeek-V2 with K and V in full */
        { 512, 512, 2, false, true },                                 /* Gemma 4 */
        { 512, 512, 1, false, false }, { 576, 512, 16, false, true }, /* DeepSeek-V2-Lite */
        { 576, 512, 16, true, false },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (plim_flash_has_kernel(PLIM_DTYPE_F16, PLIM_DTYPE_F16, rows[i].head_k, rows[i].head_v, rows[i].n_gqa,
                                  rows[i].has_alibi) != rows[i].has_kernel)
            fail_msg("row %zu: heads of %u and %u", i, rows[i].head_k, rows[i].head_v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_graph_has_a_model),
        cmocka_unit_test(test_the_table_is_sorted),
        cmocka_unit_test(test_names_of_layers),
        cmocka_unit_test(test_kernels_of_flash_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
