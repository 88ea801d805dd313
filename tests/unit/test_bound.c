/* SPDX-License-Identifier: MIT */
/* Upper bounds: they hold for every architecture that is modelled, which is the reason to trust them for others. */
#include "base/numbers.h"
#include "engine/llamacpp/bound.h"
#include "engine/llamacpp/engine.h"
#include "unit.h"

enum { ALL = -1, MAX_RATIOS = 1 << 14 };

/* The engine's defaults for the other settings; layers: their number on GPUs. */
static const struct {
    const char *what;
    int32_t layers;
    struct plim_llamacpp_setup setup;
} setups[] = {
    { "512 tokens, 32 at once", ALL, { .n_ctx = 512, .n_ubatch = 32 } },
    { "4096 tokens", ALL, { .n_ctx = 4096 } },
    { "32768 tokens", ALL, { .n_ctx = 32768 } },
    { "131072 tokens, 4096 at once", ALL, { .n_ctx = 131072, .n_batch = 4096, .n_ubatch = 4096 } },
    { "4096 tokens, no flash attention", ALL, { .n_ctx = 4096, .flash_attn = PLIM_OFF } },
    { "32768 tokens, 2048 at once, no flash attention",
      ALL,
      { .n_ctx = 32768, .n_ubatch = 2048, .flash_attn = PLIM_OFF } },
    { "32768 tokens, q8_0", ALL, { .n_ctx = 32768, .type_k = PLIM_DTYPE_Q8_0, .type_v = PLIM_DTYPE_Q8_0 } },
    { "32768 tokens, 8 slots", ALL, { .n_ctx = 32768, .n_parallel = 8 } },
    { "16384 tokens, all with logits", ALL, { .n_ctx = 16384, .client = PLIM_CLIENT_LIBRARY } },
    { "8192 tokens, embeddings", ALL, { .n_ctx = 8192, .embedding = PLIM_ON } },
    { "cache on the host", ALL, { .n_ctx = 8192, .kv_offload = PLIM_OFF } },
    { "experts on the host", ALL, { .n_ctx = 8192, .cpu_moe = true } },
    { "half", 12, { .n_ctx = 8192 } },
    { "half, 32 at once", 12, { .n_ctx = 8192, .n_ubatch = 32 } },
    { "a few layers, no flash attention", 5, { .n_ctx = 8192, .flash_attn = PLIM_OFF } },
    { "nothing on GPUs", 0, { .n_ctx = 8192 } },
};

struct ratios {
    double of[MAX_RATIOS];
    size_t n;
};

static void compare(const char *path, const char *what, int n_gpu, const struct plim_buffers *b, const uint64_t *bound,
                    struct ratios *ratios)
{
    for (int i = 0; i <= n_gpu; i++) {
        if (bound[i] < b->compute.bytes[i])
            fail_msg("%s, %s, backend %d of %d: %.2f MiB is no bound for %.2f MiB", path, what, i, n_gpu + 1,
                     (double)bound[i] / (1 << 20), (double)b->compute.bytes[i] / (1 << 20));
        if (i < n_gpu && b->compute.bytes[i] && ratios->n < MAX_RATIOS)
            ratios->of[ratios->n++] = (double)bound[i] / (double)b->compute.bytes[i];
    }
}

/* The memory of an architecture for tokens and sequences. */
static void compare_memory(const struct plim_llamacpp *engine, const char *path, const char *what,
                           const struct plim_buffers *b)
{
    struct plim_llama_memory bound = { .is_known = false };
    plim_bound_memory(engine->llama, &b->context, &b->place, &bound);
    for (int i = 0; i <= b->place.n_gpu; i++)
        if (bound.kv_bytes[i] < b->memory.kv_bytes[i] || bound.rs_bytes[i] < b->memory.rs_bytes[i])
            fail_msg("%s, %s, backend %d: the bound of the cache or the states is too low", path, what, i);
}

static void try_setup(struct plim_llamacpp *engine, const char *path, size_t i, int n_gpu, struct ratios *ratios)
{
    static const uint64_t free_bytes[] = { (uint64_t)24 << 30, (uint64_t)24 << 30 };
    uint64_t bound[PLIM_MAX_DEVICES + 1];
    struct plim_error error = { 0 };
    struct plim_buffers b;
    struct plim_llamacpp_setup setup = setups[i].setup;
    setup.n_gpu_layers = setups[i].layers == ALL ? PLIM_NGL_ALL : setups[i].layers;
    if (plim_buffers_measure(engine->workspace, engine->llama, &engine->epoch, &setup, n_gpu, free_bytes, false, &b,
                             &error) < 0)
        fail_msg("%s: %s", path, error.what);
    plim_bound_compute(engine->llama, &b.context, &b.place, bound);
    if (b.compute.basis == PLIM_COMPUTE_REPLAYED)
        compare(path, setups[i].what, n_gpu, &b, bound, ratios);
    compare_memory(engine, path, setups[i].what, &b);
    plim_buffers_done(&b);
}

static void visit(const char *path, void *data)
{
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    struct plim_llamacpp *engine = NULL;
    assert_int_equal(plim_model_open(path, &model, &error), 0);
    /* for one product of these experts CUDA has no kernel: the engine copies them all to the host */
    const bool runs = plim_model_kind(model) != PLIM_MODEL_PROJECTOR && plim_model_kind(model) != PLIM_MODEL_ADAPTER;
    if (runs && strcmp(plim_model_arch(model), "mistral4") != 0) {
        engine = (struct plim_llamacpp *)engine_of(model);
        for (size_t i = 0; i < COUNT(setups); i++)
            for (int n_gpu = 1; n_gpu <= 2; n_gpu++)
                try_setup(engine, path, i, n_gpu, data);
    }
    plim_engine_free((struct plim_engine *)engine);
    plim_model_free(model);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_holds_for_the_zoo(void **state)
{
    static struct ratios ratios;
    (void)state;
    assert_true(zoo_each(visit, &ratios) > 100);
    qsort(ratios.of, ratios.n, sizeof *ratios.of, by_size);
    printf("%zu bounds of a GPU allocation: least %.2f, median %.2f, 95 %% below %.1f times the truth\n", ratios.n,
           ratios.of[0], ratios.of[ratios.n / 2], ratios.of[ratios.n * 95 / 100]);
    assert_true(ratios.n > 1000);
    assert_true(ratios.of[ratios.n / 2] < 6);
}

static void test_hostile_numbers_do_not_wrap(void **state)
{
    static const uint64_t free_bytes[] = { (uint64_t)24 << 30 };
    struct plim_model *model = zoo_model("llama-3.1-8b-Q4_K_M");
    struct plim_llamacpp *engine = (struct plim_llamacpp *)engine_of(model);
    struct plim_llamacpp_setup setup = { .n_ctx = UINT32_MAX,
                                         .n_batch = UINT32_MAX,
                                         .n_ubatch = UINT32_MAX,
                                         .flash_attn = PLIM_OFF,
                                         .n_gpu_layers = PLIM_NGL_ALL };
    uint64_t bound[2];
    struct plim_error error;
    struct plim_buffers b;
    (void)state;
    assert_int_equal(plim_buffers_measure(engine->workspace, engine->llama, &engine->epoch, &setup, 1, free_bytes,
                                          false, &b, &error),
                     0);
    plim_bound_compute(engine->llama, &b.context, &b.place, bound);
    assert_true(bound[0] >= PLIM_MOST_BYTES);
    plim_buffers_done(&b);
    plim_engine_free((struct plim_engine *)engine);
    plim_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds_for_the_zoo),
        cmocka_unit_test(test_hostile_numbers_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
