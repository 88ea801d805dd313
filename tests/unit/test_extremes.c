/* SPDX-License-Identifier: MIT */
/*
 * Numbers at the far end of a file's or a setup's range. No model here is real: a bill must come back, its lines must
 * be its need, and no figure may wrap around to a small one.
 */
#include "base/numbers.h"
#include "gguf_writer.h"
#include "unit.h"

enum { WIDTH = 64, HEADS = 2, VOCABULARY = 256 };

/* --- models --- */

static void add_shape(struct gguf_writer *w, const char *arch, uint32_t n_layer)
{
    static const struct {
        const char *name;
        uint32_t value;
    } rows[] = { { "context_length", 4096 },           { "embedding_length", WIDTH },
                 { "feed_forward_length", 128 },       { "attention.head_count", HEADS },
                 { "attention.head_count_kv", HEADS }, { "vocab_size", VOCABULARY } };
    char key[96];
    gguf_add_string(w, "general.architecture", arch);
    snprintf(key, sizeof key, "%s.block_count", arch);
    gguf_add_u32(w, key, n_layer);
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(key, sizeof key, "%s.%s", arch, rows[i].name);
        gguf_add_u32(w, key, rows[i].value);
    }
}

static void add_in_layer(struct gguf_writer *w, uint32_t il, const char *role, uint64_t ne0, uint64_t ne1, uint64_t ne2)
{
    char name[96];
    snprintf(name, sizeof name, "blk.%u.%s.weight", il, role);
    gguf_add_tensor(w, name, PLIM_DTYPE_F16, ne0, ne1, ne2);
}

static void add_ends(struct gguf_writer *w)
{
    gguf_add_tensor(w, "token_embd.weight", PLIM_DTYPE_F16, WIDTH, VOCABULARY, 1);
    gguf_add_tensor(w, "output_norm.weight", PLIM_DTYPE_F32, WIDTH, 1, 1);
}

static void add_attention(struct gguf_writer *w, uint32_t il)
{
    static const char *const roles[] = { "attn_q", "attn_k", "attn_v", "attn_output" };
    add_in_layer(w, il, "attn_norm", WIDTH, 1, 1);
    for (size_t i = 0; i < COUNT(roles); i++)
        add_in_layer(w, il, roles[i], WIDTH, WIDTH, 1);
}

static void add_dense(struct gguf_writer *w, uint32_t il)
{
    add_in_layer(w, il, "ffn_norm", WIDTH, 1, 1);
    add_in_layer(w, il, "ffn_gate", WIDTH, 128, 1);
    add_in_layer(w, il, "ffn_up", WIDTH, 128, 1);
    add_in_layer(w, il, "ffn_down", 128, WIDTH, 1);
}

static struct plim_model *finish(struct gguf_writer *w)
{
    struct plim_model *model = gguf_model(w);
    gguf_writer_done(w);
    return model;
}

/* --- properties --- */

static void assert_sums(const struct plim_bill *bill)
{
    for (uint32_t i = 0; i < bill->n_devices; i++) {
        const struct plim_device_bill *d = &bill->device[i];
        uint64_t sum = 0, high = 0;
        for (uint32_t k = 0; k < d->n_lines; k++) {
            assert_true(d->line[k].low_bytes <= d->line[k].bytes && d->line[k].bytes <= d->line[k].high_bytes);
            sum += d->line[k].bytes, high += d->line[k].high_bytes;
        }
        assert_true(sum == d->need_bytes && high == d->need_high_bytes);
    }
}

/* The bill with and without the adjustment of --fit; 0 when there is one. */
static int bill_all(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                    struct plim_bill *bill)
{
    struct plim_error error = { 0 };
    static struct plim_adjustment start;
    bill->n_settings = 0;
    int result = plim_engine_adjust(engine, setup, machine, bill, &start, &error);
    if (result > 0 && plim_engine_bill(engine, &start.setup, machine, NULL, bill, &error) == 0)
        assert_sums(bill);
    memset(&error, 0, sizeof error);
    result = plim_engine_bill(engine, setup, machine, NULL, bill, &error);
    if (result == 0)
        assert_sums(bill);
    else
        assert_true(error.what[0]);
    return result;
}

/* A model that may be refused, but with a reason. */
static void try_model(struct plim_model *model)
{
    static struct plim_bill bill;
    static const enum plim_switch flash[] = { PLIM_ON, PLIM_OFF };
    struct plim_engine *engine = NULL;
    struct plim_error error = { 0 };
    if (plim_engine_new(model, NULL, NULL, &engine, &error) < 0) {
        assert_true(error.what[0]);
    } else {
        for (unsigned n_cards = 0; n_cards <= 2; n_cards++)
            for (size_t i = 0; i < COUNT(flash); i++) {
                const struct plim_machine machine = machine_of(n_cards, 8);
                struct plim_setup setup;
                plim_setup_init(&setup, NULL);
                setup.llamacpp.flash_attn = flash[i];
                assert_int_equal(bill_all(engine, &setup, &machine, &bill), 0);
            }
        plim_engine_free(engine);
    }
    plim_model_free(model);
}

/* --- models --- */

/* Every layer attends to the cache of an earlier one, which does not exist. */
static void test_all_layers_share_a_cache(void **state)
{
    (void)state;
    for (uint32_t n_shared = 3; n_shared <= 4; n_shared++) {
        struct gguf_writer w = { 0 };
        const uint32_t slides[] = { 1, 1, 1, 1 };
        add_shape(&w, "gemma4", 4);
        gguf_add_u32(&w, "gemma4.attention.shared_kv_layers", n_shared);
        gguf_add_u32(&w, "gemma4.attention.sliding_window", 512);
        gguf_add_u32s(&w, "gemma4.attention.sliding_window_pattern", slides, COUNT(slides));
        add_ends(&w);
        for (uint32_t il = 0; il < 4; il++) {
            add_attention(&w, il);
            add_dense(&w, il);
        }
        try_model(finish(&w));
    }
}

/* A tensor whose width another is divided by is missing. */
static void test_half_of_a_pair_is_missing(void **state)
{
    struct gguf_writer w = { 0 };
    (void)state;
    add_shape(&w, "gemma4", 2);
    add_ends(&w);
    gguf_add_tensor(&w, "per_layer_token_embd.weight", PLIM_DTYPE_F16, 2 * WIDTH, VOCABULARY, 1);
    for (uint32_t il = 0; il < 2; il++) {
        add_attention(&w, il);
        add_dense(&w, il);
    }
    try_model(finish(&w));
}

/* More layers, all different, of more experts than any graph has room for. */
static void test_a_graph_that_is_too_large(void **state)
{
    enum { LAYERS = 100, EXPERTS = 128, FF = 32 };
    uint32_t n_heads[LAYERS];
    struct gguf_writer w = { 0 };
    (void)state;
    gguf_add_string(&w, "general.architecture", "qwen3moe");
    gguf_add_u32(&w, "qwen3moe.block_count", LAYERS);
    gguf_add_u32(&w, "qwen3moe.context_length", 4096);
    gguf_add_u32(&w, "qwen3moe.embedding_length", WIDTH);
    gguf_add_u32(&w, "qwen3moe.attention.head_count", HEADS);
    gguf_add_u32(&w, "qwen3moe.expert_count", EXPERTS);
    gguf_add_u32(&w, "qwen3moe.expert_used_count", EXPERTS);
    gguf_add_u32(&w, "qwen3moe.vocab_size", VOCABULARY);
    for (uint32_t il = 0; il < LAYERS; il++)
        n_heads[il] = 1 + il;
    gguf_add_u32s(&w, "qwen3moe.attention.head_count_kv", n_heads, LAYERS);
    add_ends(&w);
    for (uint32_t il = 0; il < LAYERS; il++) {
        add_attention(&w, il);
        add_in_layer(&w, il, "ffn_norm", WIDTH, 1, 1);
        add_in_layer(&w, il, "ffn_gate_inp", WIDTH, EXPERTS, 1);
        add_in_layer(&w, il, "ffn_gate_exps", WIDTH, FF, EXPERTS);
        add_in_layer(&w, il, "ffn_up_exps", WIDTH, FF, EXPERTS);
        add_in_layer(&w, il, "ffn_down_exps", FF, WIDTH, EXPERTS);
    }
    try_model(finish(&w));
}

/* Heads so large and so many that a cache of them does not fit into 64 bits: the largest need, not the smallest. */
static void test_caches_do_not_wrap_around(void **state)
{
    static struct plim_bill bill;
    static const char *const archs[] = { "llama", "deepseek4", "mamba" };
    (void)state;
    for (size_t i = 0; i < COUNT(archs); i++) {
        struct gguf_writer w = { 0 };
        char key[64];
        gguf_add_string(&w, "general.architecture", archs[i]);
        static const struct {
            const char *name;
            uint32_t value;
        } rows[] = {
            { "block_count", 512 },         { "context_length", 1 << 30 },       { "embedding_length", 1 << 22 },
            { "vocab_size", VOCABULARY },   { "attention.head_count", 1 << 16 }, { "attention.key_length", 1 << 16 },
            { "ssm.conv_kernel", 1 << 16 }, { "ssm.inner_size", 1 << 22 },       { "ssm.state_size", 1 << 16 },
            { "ssm.group_count", 1 << 16 }, { "kda.head_dim", 1 << 16 }
        };
        for (size_t k = 0; k < COUNT(rows); k++) {
            snprintf(key, sizeof key, "%s.%s", archs[i], rows[k].name);
            gguf_add_u32(&w, key, rows[k].value);
        }
        add_ends(&w);
        struct plim_model *model = finish(&w);
        struct plim_engine *engine = engine_of(model);
        for (unsigned n_parallel = 1; n_parallel <= 256; n_parallel *= 16) {
            const struct plim_machine machine = machine_of(1, 24);
            struct plim_setup setup;
            plim_setup_init(&setup, NULL);
            setup.llamacpp.n_parallel = n_parallel;
            setup.llamacpp.fit_ctx = 1 << 28;
            assert_int_equal(bill_all(engine, &setup, &machine, &bill), 0);
            if (bill.device[0].need_high_bytes < (uint64_t)1 << 46)
                fail_msg("%s: %u slots take %llu bytes", archs[i], n_parallel,
                         (unsigned long long)bill.device[0].need_high_bytes);
        }
        plim_engine_free(engine);
        plim_model_free(model);
    }
}

/* --- numbers of a file and of a setup together --- */

struct extremes {
    uint32_t n_layer, n_embd, n_head, n_head_kv, head, n_vocab, n_ctx_train;
};

/* Around the limits of files and setups, and small. */
static uint32_t any_number(uint64_t *random, unsigned log2_most)
{
    const uint32_t power = (uint32_t)1 << random_below(random, log2_most + 1);
    return power + (uint32_t)random_below(random, 3) - (power > 1);
}

/* A llama whose tensors are what its keys say, as far as a file can hold them. */
static bool write_extremes(struct gguf_writer *w, const struct extremes *x)
{
    const struct {
        const char *name;
        uint32_t value;
    } rows[] = { { "llama.block_count", x->n_layer },
                 { "llama.context_length", x->n_ctx_train },
                 { "llama.embedding_length", x->n_embd },
                 { "llama.attention.head_count", x->n_head },
                 { "llama.attention.head_count_kv", x->n_head_kv },
                 { "llama.attention.key_length", x->head },
                 { "llama.attention.value_length", x->head },
                 { "llama.rope.dimension_count", x->head },
                 { "llama.feed_forward_length", 64 },
                 { "llama.vocab_size", x->n_vocab } };
    const uint64_t q = (uint64_t)x->head * x->n_head, kv = (uint64_t)x->head * x->n_head_kv;
    gguf_add_string(w, "general.architecture", "llama");
    for (size_t i = 0; i < COUNT(rows); i++)
        gguf_add_u32(w, rows[i].name, rows[i].value);
    gguf_add_tensor(w, "token_embd.weight", PLIM_DTYPE_F16, x->n_embd, x->n_vocab, 1);
    gguf_add_tensor(w, "output_norm.weight", PLIM_DTYPE_F32, x->n_embd, 1, 1);
    for (uint32_t il = 0; il < x->n_layer; il++) {
        add_in_layer(w, il, "attn_norm", x->n_embd, 1, 1);
        add_in_layer(w, il, "attn_q", x->n_embd, q, 1);
        add_in_layer(w, il, "attn_k", x->n_embd, kv, 1);
        add_in_layer(w, il, "attn_v", x->n_embd, kv, 1);
        add_in_layer(w, il, "attn_output", q, x->n_embd, 1);
        add_in_layer(w, il, "ffn_norm", x->n_embd, 1, 1);
        add_in_layer(w, il, "ffn_gate", x->n_embd, 64, 1);
        add_in_layer(w, il, "ffn_up", x->n_embd, 64, 1);
        add_in_layer(w, il, "ffn_down", 64, x->n_embd, 1);
    }
    return w->data_bytes < (uint64_t)1 << 62; /* else the writer's own sum may have wrapped */
}

__extension__ typedef unsigned __int128 wide;

/* K and V of all layers and the weights, in 128 bits: at least this much is needed on all devices together. */
static void assert_needs(const struct extremes *x, const struct plim_model *model, const struct plim_bill *bill)
{
    const wide cells = (wide)(uint64_t)plim_bill_setting_integer(bill, "n_ctx");
    const wide width = (wide)x->n_head_kv * x->head;
    const wide least = cells * width * x->n_layer * 2 * 2 + plim_model_tensor_bytes(model);
    wide total = 0, need = 0;
    bool is_cut_off = false;
    for (uint32_t i = 0; i < bill->n_devices; i++) {
        total += bill->device[i].total_bytes;
        need += bill->device[i].need_bytes;
        is_cut_off = is_cut_off || bill->device[i].need_bytes >= PLIM_MOST_BYTES;
    }
    if (need < least && !is_cut_off)
        fail_msg("%u layers x %u heads of %u: too little", x->n_layer, x->n_head_kv, x->head);
    if (least > total && (bill->verdict == PLIM_VERDICT_FITS || bill->verdict == PLIM_VERDICT_TIGHT))
        fail_msg("%u layers x %u heads of %u: %s", x->n_layer, x->n_head_kv, x->head, plim_verdict_name(bill->verdict));
}

static void try_extremes(const struct extremes *x, uint64_t *random, unsigned *n_answered)
{
    static struct plim_bill bill;
    struct gguf_writer w = { 0 };
    struct plim_model *model = NULL;
    struct plim_engine *engine = NULL;
    struct plim_error error = { 0 };
    uint64_t header_bytes, file_bytes;
    const bool is_possible = write_extremes(&w, x);
    const void *header = gguf_header(&w, &header_bytes, &file_bytes);
    int result = is_possible ? plim_model_read(header, header_bytes, file_bytes, &model, &error) : -1;
    if (result == 0)
        result = plim_engine_new(model, NULL, NULL, &engine, &error);
    assert_true(result == 0 || !is_possible || error.what[0]);
    for (int i = 0; i < 4 && result == 0; i++) {
        struct plim_machine machine = machine_of((unsigned)random_below(random, 3), 80);
        struct plim_setup setup;
        machine.host.total_bytes = machine.host.free_bytes = (uint64_t)1 << (40 + random_below(random, 23));
        plim_setup_init(&setup, NULL);
        setup.llamacpp.n_ctx = any_number(random, 31);
        setup.llamacpp.n_batch = any_number(random, 31);
        setup.llamacpp.n_parallel = any_number(random, 8);
        setup.llamacpp.kv_unified = (enum plim_switch)random_below(random, 3);
        setup.llamacpp.flash_attn = (enum plim_switch)random_below(random, 3);
        setup.llamacpp.n_gpu_layers = (int32_t)random_below(random, 600);
        memset(&error, 0, sizeof error);
        if (plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error) == 0) {
            assert_sums(&bill);
            assert_needs(x, model, &bill);
            *n_answered += bill.verdict != PLIM_VERDICT_UNKNOWN;
        } else {
            assert_true(error.what[0]);
        }
    }
    plim_engine_free(engine);
    plim_model_free(model);
    gguf_writer_done(&w);
}

static void test_numbers_of_a_file_and_a_setup(void **state)
{
    enum { TRIES = 60 };
    uint64_t random = random_seed();
    unsigned n_answered = 0;
    (void)state;
    for (int i = 0; i < TRIES; i++) {
        const struct extremes x = { .n_layer = any_number(&random, 9),
                                    .n_embd = any_number(&random, 22),
                                    .n_head = any_number(&random, 16),
                                    .n_head_kv = any_number(&random, 16),
                                    .head = any_number(&random, 16),
                                    .n_vocab = any_number(&random, 25),
                                    .n_ctx_train = any_number(&random, 30) };
        try_extremes(&x, &random, &n_answered);
    }
    print_message("%u of %d answers are a verdict\n", n_answered, 4 * TRIES);
    assert_true(n_answered > TRIES / 4);
}

/* --- setups --- */

static void visit_setups(const char *path, void *data)
{
    static struct plim_bill bill;
    static const uint32_t numbers[] = { 1, 3, 1 << 20, UINT32_MAX };
    uint64_t *random = data;
    struct plim_model *model = NULL;
    struct plim_engine *engine = NULL;
    assert_int_equal(plim_model_open(path, &model, NULL), 0);
    if (plim_engine_new(model, NULL, NULL, &engine, NULL) == 0)
        for (int i = 0; i < 2; i++) {
            const struct plim_machine machine = machine_of((unsigned)random_below(random, 3), 8);
            struct plim_setup setup;
            plim_setup_init(&setup, NULL);
            uint32_t *const fields[] = { &setup.llamacpp.n_ctx,     &setup.llamacpp.n_batch,
                                         &setup.llamacpp.n_ubatch,  &setup.llamacpp.n_parallel,
                                         &setup.llamacpp.n_rs_seq,  &setup.llamacpp.n_draft,
                                         &setup.llamacpp.n_cpu_moe, &setup.llamacpp.n_outputs_max };
            for (size_t k = 0; k < COUNT(fields); k++)
                if (random_below(random, 3) == 0)
                    *fields[k] = numbers[random_below(random, COUNT(numbers))];
            setup.llamacpp.mtp = random_below(random, 2);
            setup.llamacpp.kv_unified = (enum plim_switch)random_below(random, 3);
            setup.llamacpp.fit_target_bytes = random_below(random, 2) ? UINT64_MAX / 2 : 0;
            bill_all(engine, &setup, &machine, &bill);
        }
    plim_engine_free(engine);
    plim_model_free(model);
}

static void test_any_number_in_a_setup(void **state)
{
    uint64_t random = random_seed();
    (void)state;
    zoo_each(visit_setups, &random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_layers_share_a_cache),      cmocka_unit_test(test_half_of_a_pair_is_missing),
        cmocka_unit_test(test_a_graph_that_is_too_large),     cmocka_unit_test(test_caches_do_not_wrap_around),
        cmocka_unit_test(test_numbers_of_a_file_and_a_setup), cmocka_unit_test(test_any_number_in_a_setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
