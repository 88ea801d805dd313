/* SPDX-License-Identifier: MIT */
/*
 * Hyperparameters that contradict the tensors: named, and never a verdict. What tensors cannot contradict is listed
 * here, key by key.
 */
#include "gguf_writer.h"
#include "unit.h"

enum { MAX_HEADER = 1 << 20, KEY_BYTES = 160 };

struct header {
    unsigned char bytes[MAX_HEADER];
    size_t n;
    uint64_t file_bytes;
};

static struct header header;
static struct plim_bill bill;

static void read_header(const char *path, struct plim_model **ret_model)
{
    assert_int_equal(plim_model_open(path, ret_model, NULL), 0);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    header.file_bytes = plim_model_file_bytes(*ret_model);
    header.n = fread(header.bytes, 1, sizeof header.bytes, in);
    fclose(in);
}

/* --- one key with another value --- */

/* The u32 values of this key, one or a list; NULL when the file has no such key. */
static unsigned char *values_of(const char *arch, const char *name, uint32_t *ret_n)
{
    enum { U32 = 4, I32 = 5, ARRAY = 9 };
    char key[KEY_BYTES];
    uint32_t type, item;
    uint64_t n = 1;
    const size_t length = (size_t)snprintf(key, sizeof key, "%s.%s", arch, name);
    unsigned char *at = memmem(header.bytes, header.n, key, length);
    while (at && at[-8] != length) /* the beginning of a longer one */
        at = memmem(at + 1, header.n - (size_t)(at + 1 - header.bytes), key, length);
    if (!at)
        return NULL;
    at += length;
    memcpy(&type, at, sizeof type);
    at += sizeof type;
    if (type == ARRAY) {
        memcpy(&item, at, sizeof item);
        memcpy(&n, at + sizeof item, sizeof n);
        at += sizeof item + sizeof n;
        type = item;
    }
    *ret_n = (uint32_t)n;
    return (type == U32 || type == I32) && n <= 512 ? at : NULL;
}

static void scale(unsigned char *values, uint32_t n, bool doubles)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value;
        memcpy(&value, values + 4 * i, sizeof value);
        value = doubles ? 2 * value : value / 2;
        memcpy(values + 4 * i, &value, sizeof value);
    }
}

static int bill_of(const struct plim_model *model, struct plim_error *error)
{
    const struct plim_machine machine = machine_of(1, 24);
    struct plim_engine *engine = NULL;
    struct plim_setup setup;
    plim_setup_init(&setup, NULL);
    setup.llamacpp.n_ctx = 8192;
    int result = plim_engine_new(model, NULL, NULL, &engine, error);
    bill.is_contradicted = false;
    if (result == 0)
        result = plim_engine_bill(engine, &setup, &machine, NULL, &bill, error);
    if (result == 0 && plim_engine_contradiction(engine)) {
        snprintf(error->what, sizeof error->what, "%s", plim_engine_contradiction(engine));
        assert_true(bill.is_contradicted);
        assert_int_equal(bill.verdict, PLIM_VERDICT_UNKNOWN);
        assert_non_null(bill.caveat);
    } else if (result == 0) {
        assert_false(bill.is_contradicted);
    }
    plim_engine_free(engine);
    return result;
}

/* --- every key of every model --- */

/*
 * Keys that no tensor contradicts: how long a context is, how far a layer sees, how many experts, cells or states are
 * used, how often layers run, and in models without grouped heads into how many heads a width is cut.
 */
static bool is_free(const char *name, const struct plim_model *model)
{
    static const char *const free_names[] = {
        "context_length",          "expert_used_count", "attention.sliding_window", "attention.sliding_window_pattern",
        "n_deepstack_layers",      "num_loops",         "token_shift_count",        "attention.shared_kv_layers",
        "attention.indexer.top_k",
    };
    char key[KEY_BYTES];
    for (size_t i = 0; i < COUNT(free_names); i++)
        if (!strcmp(free_names[i], name))
            return true;
    snprintf(key, sizeof key, "%s.attention.head_count_kv", plim_model_arch(model));
    if (!strcmp(name, "attention.head_count"))
        return plim_model_hyperparameters(model)->n_head == plim_model_hyperparameters(model)->n_head_kv;
    return !strcmp(name, "wkv.head_size") && strncmp(plim_model_arch(model), "rwkv6", 5) != 0;
}

static const char *const names[] = {
    "block_count",
    "context_length",
    "embedding_length",
    "vocab_size",
    "feed_forward_length",
    "expert_feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.key_length_swa",
    "attention.value_length_swa",
    "attention.key_length_mla",
    "attention.value_length_mla",
    "attention.kv_lora_rank",
    "attention.q_lora_rank",
    "attention.sliding_window",
    "attention.sliding_window_pattern",
    "attention.shared_kv_layers",
    "attention.indexer.head_count",
    "attention.indexer.key_length",
    "attention.indexer.top_k",
    "attention.indexer.block_size",
    "rope.dimension_count",
    "expert_count",
    "expert_used_count",
    "expert_group_count",
    "leading_dense_block_count",
    "nextn_predict_layers",
    "decoder_block_count",
    "full_attention_interval",
    "ssm.conv_kernel",
    "ssm.inner_size",
    "ssm.state_size",
    "ssm.time_step_rank",
    "ssm.group_count",
    "shortconv.l_cache",
    "wkv.head_size",
    "kda.head_dim",
    "token_shift_count",
    "n_deepstack_layers",
    "num_loops",
};

static bool same_needs(const struct plim_bill *a, const struct plim_bill *b)
{
    for (uint32_t i = 0; i < a->n_devices; i++)
        if (a->device[i].need_bytes != b->device[i].need_bytes ||
            a->device[i].need_high_bytes != b->device[i].need_high_bytes)
            return false;
    return true;
}

struct count {
    uint64_t random;
    unsigned n_models, n_changed, n_named;
};

/* Half or twice the value: an error, a contradiction, the figures of before, or a key that is free. */
static void try_key(const char *path, const char *arch, const char *name, bool doubles, const struct plim_bill *before,
                    struct count *count)
{
    unsigned char kept[4 * 512];
    uint32_t n;
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    unsigned char *values = values_of(arch, name, &n);
    if (!values)
        return;
    memcpy(kept, values, 4 * (size_t)n);
    scale(values, n, doubles);
    if (memcmp(kept, values, 4 * (size_t)n) != 0) {
        int result = plim_model_read(header.bytes, header.n, header.file_bytes, &model, &error);
        if (result == 0)
            result = bill_of(model, &error);
        count->n_changed++;
        count->n_named += result < 0 || bill.is_contradicted;
        if (result == 0 && bill.verdict != PLIM_VERDICT_UNKNOWN && !is_free(name, model) && !same_needs(before, &bill))
            fail_msg("%s: %s.%s is %s, and the bill another", path, arch, name, doubles ? "twice" : "half");
        plim_model_free(model);
    }
    memcpy(values, kept, 4 * (size_t)n);
}

static void visit_model(const char *path, void *data)
{
    static struct plim_bill before;
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    struct count *count = data;
    char arch[64];
    read_header(path, &model);
    snprintf(arch, sizeof arch, "%s", plim_model_arch(model));
    const bool is_answered = bill_of(model, &error) == 0;
    if (is_answered && bill.is_contradicted)
        fail_msg("%s: %s", path, error.what);
    plim_model_free(model);
    if (!is_answered || bill.verdict == PLIM_VERDICT_UNKNOWN)
        return;
    count->n_models++;
    before = bill;
    if (random_below(&count->random, 2))
        return;
    for (size_t i = 0; i < 2 * COUNT(names); i++)
        try_key(path, arch, names[i / 2], i % 2, &before, count);
}

static void test_keys_beside_tensors(void **state)
{
    struct count count = { .random = random_seed() };
    (void)state;
    zoo_each(visit_model, &count);
    print_message("%u models do not contradict themselves; %u changed keys, %u of them named\n", count.n_models,
                  count.n_changed, count.n_named);
    assert_true(count.n_models > 150 && count.n_changed > 500 && 2 * count.n_named > count.n_changed);
}

/* --- one tensor with another shape --- */

static const struct {
    const char *name;
    uint64_t ne[3];
} small[] = {
    { "token_embd.weight", { 64, 32, 1 } },         { "output_norm.weight", { 64, 1, 1 } },
    { "blk.0.attn_norm.weight", { 64, 1, 1 } },     { "blk.0.attn_q.weight", { 64, 64, 1 } },
    { "blk.0.attn_k.weight", { 64, 32, 1 } },       { "blk.0.attn_v.weight", { 64, 32, 1 } },
    { "blk.0.attn_output.weight", { 64, 64, 1 } },  { "blk.0.ffn_norm.weight", { 64, 1, 1 } },
    { "blk.0.ffn_gate_inp.weight", { 64, 8, 1 } },  { "blk.0.ffn_gate_exps.weight", { 64, 128, 8 } },
    { "blk.0.ffn_up_exps.weight", { 64, 128, 8 } }, { "blk.0.ffn_down_exps.weight", { 128, 64, 8 } },
};

/* A llama of one layer with experts; the tensor at 'narrow' has half of its numbers in dimension 'dim'. */
static struct plim_model *write_small(size_t narrow, unsigned dim)
{
    static const struct {
        const char *name;
        uint32_t value;
    } keys[] = { { "block_count", 1 },
                 { "context_length", 4096 },
                 { "embedding_length", 64 },
                 { "feed_forward_length", 128 },
                 { "attention.head_count", 4 },
                 { "attention.head_count_kv", 2 },
                 { "expert_feed_forward_length", 128 },
                 { "expert_count", 8 },
                 { "expert_used_count", 2 },
                 { "vocab_size", 32 } };
    struct gguf_writer w = { 0 };
    gguf_add_string(&w, "general.architecture", "llama");
    for (size_t i = 0; i < COUNT(keys); i++) {
        char key[KEY_BYTES];
        snprintf(key, sizeof key, "llama.%s", keys[i].name);
        gguf_add_u32(&w, key, keys[i].value);
    }
    for (size_t i = 0; i < COUNT(small); i++) {
        uint64_t ne[3] = { small[i].ne[0], small[i].ne[1], small[i].ne[2] };
        if (i == narrow)
            ne[dim] /= 2;
        gguf_add_tensor(&w, small[i].name, PLIM_DTYPE_F16, ne[0], ne[1], ne[2]);
    }
    struct plim_model *model = gguf_model(&w);
    gguf_writer_done(&w);
    return model;
}

/* One tensor that is narrower than the others and the keys say, in any dimension that is compared. */
static void test_one_tensor(void **state)
{
    struct plim_error error = { 0 };
    struct plim_model *model = write_small(COUNT(small), 0);
    (void)state;
    assert_int_equal(bill_of(model, &error), 0);
    assert_false(bill.is_contradicted);
    plim_model_free(model);
    for (size_t i = 0; i < COUNT(small); i++)
        for (unsigned dim = 0; dim < 3; dim++) {
            if (small[i].ne[dim] == 1 || small[i].ne[dim] == 128) /* the width of an expert is free */
                continue;
            memset(&error, 0, sizeof error);
            model = write_small(i, dim);
            if (bill_of(model, &error) == 0 && !bill.is_contradicted)
                fail_msg("%s, dimension %u: a bill", small[i].name, dim);
            if (!strstr(error.what, small[i].name))
                fail_msg("%s, dimension %u: '%s'", small[i].name, dim, error.what);
            plim_model_free(model);
        }
}

/* --- what is said --- */

static void test_what_is_said(void **state)
{
    static const struct {
        const char *model, *key;
        bool doubles;
        const char *what;
    } rows[] = {
        { "llama-3.1-8b-Q4_K_M", "attention.head_count_kv", false,
          "'blk.0.attn_k.weight' has 1024 in dimension 1, but llama.attention.head_count_kv x size of a head is 512" },
        { "llama-3.1-8b-Q4_K_M", "attention.head_count_kv", true, "is 2048" },
        { "llama-3.1-8b-Q4_K_M", "embedding_length", false,
          "'token_embd.weight' has 4096 in dimension 0, but llama.embedding_length is 2048" },
        { "llama-3.1-8b-Q4_K_M", "vocab_size", false,
          "'token_embd.weight' has 128256 in dimension 1, but llama.vocab_size is 64128" },
        { "llama-3.1-8b-Q4_K_M", "block_count", false, "there is 'blk.16.attn_k.weight', but llama.block_count is 16" },
        { "llama-3.1-8b-Q4_K_M", "block_count", true, "layer 32 has no tensors, but llama.block_count is 64" },
        { "llama-3.1-8b-Q4_K_M", "feed_forward_length", false, "'blk.0.ffn_gate.weight' has 14336 in dimension 1" },
        { "mixtral-8x7b-Q4_K_M", "expert_count", true, "is 16" },
        { "deepseek-v3-Q4_K_M", "attention.key_length", false, "'blk.0.attn_kv_a_mqa.weight' has 576 in dimension 1" },
        { "deepseek-v3-Q4_K_M", "leading_dense_block_count", true,
          "layer 3 has experts, but deepseek2.leading_dense_block_count is 6" },
        { "glm-4.5-air-Q4_K_M", "nextn_predict_layers", true,
          "does not predict, but glm4moe.nextn_predict_layers is 2" },
        { "glm-4.5-air-Q4_K_M", "nextn_predict_layers", false, "predicts, but glm4moe.nextn_predict_layers is 0" },
        { "mamba-2.8b-Q4_K_M", "ssm.state_size", true,
          "'blk.0.ssm_a' has 16 in dimension 0, but mamba.ssm.state_size" },
        { "mamba-2.8b-Q4_K_M", "block_count", true, "has no tensors" },
        { "qwen3-next-80b-a3b-Q4_K_M", "full_attention_interval", false,
          "the tensors of a recurrent layer, but the keys do not make it one" },
        { "flan-t5-base-F16", "decoder_block_count", false, "t5.decoder_block_count is 6" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char file[128], arch[64];
        uint32_t n;
        struct plim_error error = { 0 };
        struct plim_model *model = NULL;
        snprintf(file, sizeof file, "zoo/%s.gguf", rows[i].model);
        read_header(zoo_path(file), &model);
        snprintf(arch, sizeof arch, "%s", plim_model_arch(model));
        plim_model_free(model);
        unsigned char *values = values_of(arch, rows[i].key, &n);
        assert_non_null(values);
        scale(values, n, rows[i].doubles);
        assert_int_equal(plim_model_read(header.bytes, header.n, header.file_bytes, &model, NULL), 0);
        assert_int_equal(bill_of(model, &error), 0);
        if (!strstr(error.what, rows[i].what))
            fail_msg("%s, %s: '%s' is not in '%s'", rows[i].model, rows[i].key, rows[i].what, error.what);
        plim_model_free(model);
    }
}

/* Whether there is a contradiction for Ollama, which mends files that it has published. */
static bool ollama_names(const struct plim_model *model)
{
    const struct plim_engine_type *ollama;
    const char *version;
    struct plim_engine *engine;
    assert_int_equal(plim_engine_type_named("ollama", &ollama, &version, NULL), 0);
    assert_int_equal(plim_engine_new(model, ollama, version, &engine, NULL), 0);
    const bool is_named = plim_engine_contradiction(engine) != NULL;
    plim_engine_free(engine);
    return is_named;
}

static void test_what_ollama_mends(void **state)
{
    static const struct {
        const char *key;
        bool is_named;
    } rows[] = { { "feed_forward_length", false },
                 { "vocab_size", false },
                 { "attention.head_count_kv", true },
                 { "block_count", true },
                 { "embedding_length", true } };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_error error = { 0 };
        struct plim_model *model = NULL;
        uint32_t n;
        read_header(zoo_path("zoo/llama-3.1-8b-Q4_K_M.gguf"), &model);
        plim_model_free(model);
        scale(values_of("llama", rows[i].key, &n), 1, true);
        assert_int_equal(plim_model_read(header.bytes, header.n, header.file_bytes, &model, NULL), 0);
        assert_int_equal(bill_of(model, &error), 0);
        assert_true(bill.is_contradicted); /* of llama.cpp itself */
        if (ollama_names(model) != rows[i].is_named)
            fail_msg("%s: %s", rows[i].key, rows[i].is_named ? "not named" : "named");
        plim_model_free(model);
    }
}

/* Where a file has tokens, they count, not vocab_size: here another list, of other length, stands in their place. */
static void test_tokens_beside_tensors(void **state)
{
    enum { MAX_BYTES = 32 << 20 };
    const char *path = zoo_path("zoo-vocab/qwen3-0.6b-Q4_K_M.gguf");
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    unsigned char *bytes = malloc(MAX_BYTES);
    FILE *in = fopen(path, "rb");
    (void)state;
    assert_non_null(bytes);
    assert_non_null(in);
    const size_t n = fread(bytes, 1, MAX_BYTES, in);
    fclose(in);
    assert_int_equal(plim_model_open(path, &model, NULL), 0);
    const uint64_t file_bytes = plim_model_file_bytes(model);
    assert_int_equal(bill_of(model, &error), 0);
    assert_false(bill.is_contradicted);
    plim_model_free(model);
    memcpy(memmem(bytes, n, "ggml.tokens", 11), "ggml.others", 11);
    memcpy(memmem(bytes, n, "ggml.merges", 11), "ggml.tokens", 11);
    assert_int_equal(plim_model_read(bytes, n, file_bytes, &model, NULL), 0);
    assert_int_equal(bill_of(model, &error), 0);
    if (!strstr(error.what, "'token_embd.weight' has 151936 in dimension 1, but there are "))
        fail_msg("'%s'", error.what);
    assert_false(ollama_names(model));
    plim_model_free(model);
    free(bytes);
}

/* A draft model that contradicts itself is refused: its lines would be in the bill of another. */
static void test_a_draft_model(void **state)
{
    struct plim_error error = { 0 };
    struct plim_model *draft = NULL, *model = zoo_model("llama-3.1-8b-Q4_K_M");
    const struct plim_machine machine = machine_of(1, 24);
    struct plim_setup setup;
    uint32_t n;
    (void)state;
    read_header(zoo_path("zoo/llama-3.2-1b-Q4_K_M.gguf"), &draft);
    plim_model_free(draft);
    scale(values_of("llama", "attention.head_count_kv", &n), 1, true);
    assert_int_equal(plim_model_read(header.bytes, header.n, header.file_bytes, &draft, NULL), 0);
    struct plim_engine *engine = engine_of(model);
    plim_setup_init(&setup, NULL);
    setup.llamacpp.draft = draft;
    assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error), PLIM_E_CORRUPT);
    assert_non_null(strstr(error.what, "the file contradicts itself: 'blk.0.attn_k.weight'"));
    plim_engine_free(engine);
    plim_model_free(draft);
    plim_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_beside_tensors),
        cmocka_unit_test(test_what_is_said),
        cmocka_unit_test(test_tokens_beside_tensors),
        cmocka_unit_test(test_what_ollama_mends),
        cmocka_unit_test(test_one_tensor),
        cmocka_unit_test(test_a_draft_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
