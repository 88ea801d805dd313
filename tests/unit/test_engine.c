/* SPDX-License-Identifier: MIT */
/* Properties of every bill of every model, with any figures. */
#include "base/units.h"
#include "engine/llamacpp/engine.h"
#include "unit.h"

enum { SETUPS_PER_MODEL = 6 };

struct run {
    uint64_t random;
    size_t n_bills;
};

/* Random, but one that llama.cpp would take. */
static struct plim_setup any_setup(uint64_t *random)
{
    static const enum plim_dtype types[] = { PLIM_DTYPE_F16, PLIM_DTYPE_Q8_0, PLIM_DTYPE_Q4_0, PLIM_DTYPE_F32 };
    struct plim_setup setup;
    plim_setup_init(&setup, NULL);
    setup.llamacpp.client = (enum plim_client)random_below(random, PLIM_CLIENT_RUNNER);
    setup.llamacpp.n_ctx = 256u << random_below(random, 9);
    setup.llamacpp.n_ubatch = 64u << random_below(random, 5);
    setup.llamacpp.n_parallel = 1 + (uint32_t)random_below(random, 4);
    setup.llamacpp.n_gpu_layers = random_below(random, 2) ? PLIM_NGL_ALL : (int32_t)random_below(random, 40);
    setup.llamacpp.type_k = setup.llamacpp.type_v = types[random_below(random, COUNT(types))];
    setup.llamacpp.flash_attn =
        plim_dtype_is_quantized(setup.llamacpp.type_v) ? PLIM_ON : (enum plim_switch)random_below(random, 3);
    setup.llamacpp.kv_unified = (enum plim_switch)random_below(random, 3);
    setup.llamacpp.swa_full = (enum plim_switch)random_below(random, 3);
    setup.llamacpp.kv_offload = (enum plim_switch)random_below(random, 3);
    setup.llamacpp.mmap = (enum plim_switch)random_below(random, 3);
    setup.llamacpp.n_cpu_moe = (uint32_t)random_below(random, 8) / 4 * 3;
    return setup;
}

static void bill_into(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                      struct plim_bill *bill)
{
    struct plim_error error = { 0 };
    if (plim_engine_bill(engine, setup, machine, NULL, bill, &error) < 0)
        fail_msg("%s: %s", plim_model_name(plim_engine_model(engine)), error.what);
}

/* The model and its engine; NULL for files that do not run by themselves. */
static struct plim_engine *open_engine(const char *path, struct plim_model **ret_model)
{
    struct plim_error error = { 0 };
    struct plim_engine *engine = NULL;
    if (plim_model_open(path, ret_model, &error) < 0)
        fail_msg("%s: %s", path, error.what);
    if (plim_engine_new(*ret_model, NULL, NULL, &engine, &error) < 0) {
        assert_true(plim_model_kind(*ret_model) != PLIM_MODEL_LANGUAGE);
        assert_int_equal(error.code, PLIM_E_UNSUPPORTED);
        *ret_model = plim_model_free(*ret_model);
    }
    return engine;
}

static void close_engine(struct plim_engine *engine, struct plim_model *model)
{
    plim_engine_free(engine);
    plim_model_free(model);
}

static uint64_t bytes_of(const struct plim_device_bill *device, const char *label)
{
    for (uint32_t i = 0; i < device->n_lines; i++)
        if (!strcmp(device->line[i].label, label))
            return device->line[i].bytes;
    return 0;
}

static uint64_t all_bytes_of(const struct plim_bill *bill, const char *label)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < bill->n_devices; i++)
        sum += bytes_of(&bill->device[i], label);
    return sum;
}

/* --- a bill by itself --- */

static void assert_sound(const struct plim_bill *bill, const char *path)
{
    for (uint32_t i = 0; i < bill->n_devices; i++) {
        const struct plim_device_bill *d = &bill->device[i];
        uint64_t sum = 0, low = 0, high = 0;
        assert_int_equal(d->is_host, i + 1 == bill->n_devices);
        for (uint32_t k = 0; k < d->n_lines; k++) {
            const struct plim_line *line = &d->line[k];
            if (line->low_bytes > line->bytes || line->bytes > line->high_bytes)
                fail_msg("%s: '%s' is not within its band", path, line->label);
            if (line->basis == PLIM_BASIS_EXACT)
                assert_true(line->low_bytes == line->bytes && line->bytes == line->high_bytes);
            assert_true(line->basis != PLIM_BASIS_UNKNOWN && line->why[0]);
            sum += line->bytes, low += line->low_bytes, high += line->high_bytes;
        }
        if (sum != d->need_bytes || low != d->need_low_bytes || high != d->need_high_bytes)
            fail_msg("%s: device %u: the lines are not the need", path, i);
    }
    assert_true(bill->limiting_device < bill->n_devices);
    assert_true(bill->tokens_per_s_low <= bill->tokens_per_s_high);
}

/* The same for the same: fixed memory is compared, so every byte of both must have been written. */
static void assert_same_figures(const struct plim_bill *a, const struct plim_bill *b, const char *path,
                                const char *what)
{
    assert_int_equal(a->verdict, b->verdict);
    assert_int_equal(a->n_devices, b->n_devices);
    for (uint32_t i = 0; i < a->n_devices; i++) {
        const struct plim_device_bill *x = &a->device[i], *y = &b->device[i];
        assert_int_equal(x->n_lines, y->n_lines);
        for (uint32_t k = 0; k < x->n_lines; k++)
            if (x->line[k].bytes != y->line[k].bytes || strcmp(x->line[k].label, y->line[k].label))
                fail_msg("%s, %s: device %u, '%s': %llu and %llu", path, what, i, x->line[k].label,
                         (unsigned long long)x->line[k].bytes, (unsigned long long)y->line[k].bytes);
    }
}

static void visit_any(const char *path, void *data)
{
    static struct plim_bill bill, again;
    struct run *run = data;
    struct plim_model *model;
    struct plim_engine *engine = open_engine(path, &model), *fresh;
    struct plim_error error = { 0 };
    if (!engine)
        return;
    for (int i = 0; i < SETUPS_PER_MODEL; i++) {
        const struct plim_setup setup = any_setup(&run->random);
        const struct plim_machine machine = machine_of(1 + (unsigned)random_below(&run->random, 3), 24);
        bill_into(engine, &setup, &machine, &bill);
        assert_sound(&bill, path);
        memset(&again, 0xa5, sizeof again);
        bill_into(engine, &setup, &machine, &again);
        assert_same_figures(&bill, &again, path, "twice");
        if (i % 3 == 2) { /* earlier bills of the engine do not matter */
            assert_int_equal(plim_engine_new(model, NULL, NULL, &fresh, &error), 0);
            bill_into(fresh, &setup, &machine, &again);
            assert_same_figures(&bill, &again, path, "by a new engine");
            plim_engine_free(fresh);
        }
        run->n_bills++;
    }
    close_engine(engine, model);
}

static void test_every_bill_is_sound(void **state)
{
    struct run run = { .random = random_seed() };
    (void)state;
    zoo_each(visit_any, &run);
    print_message("%zu bills\n", run.n_bills);
    assert_true(run.n_bills > 900);
}

/* --- layer dedup (layer_dedup.h) --- */

static void visit_dedup(const char *path, void *data)
{
    static struct plim_bill sampled, whole;
    struct run *run = data;
    struct plim_model *model;
    struct plim_engine *engine = open_engine(path, &model);
    if (!engine)
        return;
    struct plim_engine *full = engine_of(model);
    plim_workspace_dedup_off(((struct plim_llamacpp *)full)->workspace);
    for (int i = 0; i < 2; i++) {
        const struct plim_setup setup = any_setup(&run->random);
        const struct plim_machine machine = machine_of(1 + (unsigned)random_below(&run->random, 3), 24);
        bill_into(engine, &setup, &machine, &sampled);
        bill_into(full, &setup, &machine, &whole);
        assert_same_figures(&sampled, &whole, path, "sampled and whole");
    }
    plim_engine_free(full);
    close_engine(engine, model);
}

static void test_dedup_equals_the_whole(void **state)
{
    struct run run = { .random = random_seed() + 1 };
    (void)state;
    zoo_each(visit_dedup, &run);
}

/* --- more of a thing never takes less --- */

static void visit_contexts(const char *path, void *data)
{
    static struct plim_bill bill;
    struct run *run = data;
    const struct plim_machine machine = machine_of(1, 24);
    struct plim_model *model;
    struct plim_engine *engine = open_engine(path, &model);
    if (!engine)
        return;
    struct plim_setup setup = any_setup(&run->random);
    setup.llamacpp.n_gpu_layers = PLIM_NGL_ALL;
    setup.llamacpp.n_parallel = 1;
    uint64_t cache = 0, need = 0;
    for (setup.llamacpp.n_ctx = 512; setup.llamacpp.n_ctx <= 1 << 18; setup.llamacpp.n_ctx *= 2) {
        bill_into(engine, &setup, &machine, &bill);
        uint64_t cache_now = all_bytes_of(&bill, "KV buffer"), need_now = bill.device[0].need_high_bytes;
        if (cache_now < cache)
            fail_msg("%s: the cache of %u tokens is smaller than that of half as many", path, setup.llamacpp.n_ctx);
        /* the graph may be laid out better by chance: not by more than a hundredth */
        if (need_now + need / 100 < need)
            fail_msg("%s: %u tokens need %llu bytes, half as many %llu", path, setup.llamacpp.n_ctx,
                     (unsigned long long)need_now, (unsigned long long)need);
        cache = cache_now;
        need = need_now;
    }
    close_engine(engine, model);
}

static void test_monotone_in_context(void **state)
{
    struct run run = { .random = random_seed() + 2 };
    (void)state;
    zoo_each(visit_contexts, &run);
}

/* 256 sequences that together hold 2^32 tokens: no fewer than of a context that 32 bits hold. */
static void test_a_context_beyond_32_bits(void **state)
{
    static struct plim_bill less, more;
    const struct plim_machine machine = machine_of(1, 24);
    struct plim_model *model = zoo_model("llama-3.2-1b-Q4_K_M");
    struct plim_engine *engine = engine_of(model);
    struct plim_setup setup;
    (void)state;
    plim_setup_init(&setup, NULL);
    setup.llamacpp.n_parallel = 256;
    setup.llamacpp.n_ctx = 1u << 31;
    bill_into(engine, &setup, &machine, &less);
    setup.llamacpp.n_ctx = UINT32_MAX;
    bill_into(engine, &setup, &machine, &more);
    assert_true(plim_bill_setting_integer(&more, "n_ctx") > plim_bill_setting_integer(&less, "n_ctx"));
    assert_true(all_bytes_of(&more, "KV buffer") > all_bytes_of(&less, "KV buffer"));
    assert_true(all_bytes_of(&more, "compute buffer") >= all_bytes_of(&less, "compute buffer"));
    close_engine(engine, model);
}

static void visit_layers(const char *path, void *data)
{
    static struct plim_bill bill;
    struct run *run = data;
    const struct plim_machine machine = machine_of(1, 24);
    struct plim_model_shape shape;
    struct plim_model *model;
    struct plim_engine *engine = open_engine(path, &model);
    if (!engine)
        return;
    struct plim_setup setup = any_setup(&run->random);
    setup.llamacpp.mmap = PLIM_OFF; /* a mapped file lies in RAM, also the part on the GPU */
    uint64_t on_gpu = 0, on_host = UINT64_MAX, cache = 0;
    plim_engine_shape(engine, &shape);
    for (uint32_t n = 0; n <= shape.n_layer + 2; n += 1 + shape.n_layer / 12) {
        setup.llamacpp.n_gpu_layers = (int32_t)n;
        bill_into(engine, &setup, &machine, &bill);
        uint64_t gpu_now = bytes_of(&bill.device[0], "model buffer"),
                 host_now = bytes_of(&bill.device[1], "model buffer");
        uint64_t cache_now = all_bytes_of(&bill, "KV buffer") + all_bytes_of(&bill, "RS buffer");
        if (gpu_now < on_gpu || host_now > on_host)
            fail_msg("%s: -ngl %u moves weights the wrong way", path, n);
        /* rows of quantized types are padded on GPUs */
        if (n > 0 && (cache_now > cache ? cache_now - cache : cache - cache_now) > cache / 1000)
            fail_msg("%s: -ngl %u changes the cache from %llu to %llu bytes", path, n, (unsigned long long)cache,
                     (unsigned long long)cache_now);
        on_gpu = gpu_now;
        on_host = host_now;
        cache = cache_now;
    }
    close_engine(engine, model);
}

static void test_monotone_in_layers(void **state)
{
    struct run run = { .random = random_seed() + 3 };
    (void)state;
    zoo_each(visit_layers, &run);
}

/* Without a GPU's copy of the embeddings, the devices hold the bytes of the file, padding aside. */
static void test_weights_are_those_of_the_file(void **state)
{
    static const char *const models[] = { "llama-3.1-8b-Q4_K_M", "qwen3-30b-a3b-Q4_K_M", "mamba-2.8b-Q4_K_M",
                                          "deepseek-v2-lite-Q4_K_M" };
    static struct plim_bill bill;
    const struct plim_machine machine = machine_of(2, 24);
    (void)state;
    for (size_t i = 0; i < COUNT(models); i++) {
        struct plim_model *model = zoo_model(models[i]);
        struct plim_engine *engine = engine_of(model);
        struct plim_setup setup;
        plim_setup_init(&setup, NULL);
        setup.llamacpp.n_ctx = 4096;
        setup.llamacpp.mmap = PLIM_OFF;
        setup.llamacpp.n_gpu_layers = 0;
        bill_into(engine, &setup, &machine, &bill);
        const uint64_t weights = all_bytes_of(&bill, "model buffer"), file = plim_model_tensor_bytes(model);
        assert_true(weights >= file && weights < file + file / 100);
        close_engine(engine, model);
    }
}

/* --- the adjustment of --fit --- */

static void visit_start(const char *path, void *data)
{
    static struct plim_bill bill;
    struct run *run = data;
    const unsigned gib = (unsigned[]){ 6, 8, 12, 24 }[random_below(&run->random, 4)];
    const struct plim_machine machine = machine_of(1 + (unsigned)random_below(&run->random, 2), gib);
    struct plim_model *model;
    struct plim_engine *engine = open_engine(path, &model);
    struct plim_error error = { 0 };
    struct plim_setup setup;
    static struct plim_adjustment start, again;
    struct plim_model_shape shape;
    if (!engine)
        return;
    plim_engine_shape(engine, &shape);
    plim_setup_init(&setup, NULL);
    const bool has_context = random_below(&run->random, 2), has_layers = random_below(&run->random, 4) == 0;
    setup.llamacpp.n_ctx = has_context ? 8192 : 0;
    setup.llamacpp.n_gpu_layers = has_layers ? 5 : PLIM_NGL_AUTO;
    bill_into(engine, &setup, &machine, &bill);
    int changed = plim_engine_adjust(engine, &setup, &machine, &bill, &start, &error);
    if (changed < 0)
        fail_msg("%s: %s", path, error.what);
    if (changed) {
        bill_into(engine, &start.setup, &machine, &bill);
        assert_sound(&bill, path);
        if (has_context)
            assert_int_equal(start.setup.llamacpp.n_ctx, 8192); /* a given context stays */
        else if (start.setup.llamacpp.n_ctx)
            assert_true(start.setup.llamacpp.n_ctx >= (shape.n_ctx_train < 4096 ? shape.n_ctx_train : 4096));
        if (has_layers)
            assert_int_equal(start.setup.llamacpp.n_gpu_layers, 5);
        assert_int_equal(plim_engine_adjust(engine, &setup, &machine, &bill, &again, &error), changed);
        assert_int_equal(again.setup.llamacpp.n_ctx, start.setup.llamacpp.n_ctx);
        assert_int_equal(again.setup.llamacpp.n_gpu_layers, start.setup.llamacpp.n_gpu_layers);
        run->n_bills++;
    }
    setup.llamacpp.fit = PLIM_OFF;
    assert_int_equal(plim_engine_adjust(engine, &setup, &machine, &bill, &start, &error), 0);
    close_engine(engine, model);
}

static void test_what_it_starts_with(void **state)
{
    struct run run = { .random = random_seed() + 4 };
    (void)state;
    zoo_each(visit_start, &run);
    assert_true(run.n_bills > 30);
}

/* --- refused specs and setups --- */

static void test_requests_that_make_no_sense(void **state)
{
    static struct plim_bill bill;
    static const char *const specs[] = { "nonesuch",   "llama.cpp@x",  "llama.cpp@b1",
                                         "llama.cppx", "llama.cpp@v0", "llama.cpp@b10256x" };
    const struct plim_machine machine = machine_of(1, 24);
    struct plim_model *model = zoo_model("llama-3.2-1b-Q4_K_M"), *projector = zoo_model("mmproj-gemma-3-4b-F16");
    struct plim_engine *engine = engine_of(model), *other = NULL;
    struct plim_error error = { 0 };
    struct plim_setup setup;
    (void)state;
    for (size_t i = 0; i < COUNT(specs); i++) {
        memset(&error, 0, sizeof error);
        const struct plim_engine_type *type;
        const char *version;
        int result = plim_engine_type_named(specs[i], &type, &version, &error);
        if (result == 0)
            result = plim_engine_new(model, type, version, &other, &error);
        if (result != PLIM_E_USAGE)
            fail_msg("'%s' is an engine", specs[i]);
    }
    memset(&error, 0, sizeof error);
    assert_int_equal(plim_engine_new(projector, NULL, NULL, &other, &error), PLIM_E_UNSUPPORTED);
    assert_non_null(strstr(error.hint, "--mmproj"));
    assert_null(other);
    plim_setup_init(&setup, NULL);
    setup.llamacpp.n_overrides = 1;
    setup.llamacpp.override[0] = (struct plim_override){ "blk\\.(", 0, -1 };
    memset(&error, 0, sizeof error);
    assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error), PLIM_E_USAGE);
    assert_non_null(strstr(error.what, "blk\\.("));
    setup.llamacpp.override[0] =
        (struct plim_override){ "(.*)*(.*)*(.*)*(.*)*[A-Z]$", 0, -1 }; /* tries every split of a name */
    memset(&error, 0, sizeof error);
    assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error), PLIM_E_USAGE);
    assert_non_null(strstr(error.what, "limit"));
    setup.llamacpp.n_overrides = PLIM_LLAMACPP_MAX_OVERRIDES + 1;
    memset(&error, 0, sizeof error);
    assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error), PLIM_E_USAGE);
    setup.llamacpp.n_overrides = 1;
    setup.llamacpp.override[0] = (struct plim_override){ "blk", 0, 3 };
    memset(&error, 0, sizeof error);
    assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error), PLIM_E_USAGE);
    setup.llamacpp.n_overrides = 0;
    setup.llamacpp.split_mode = PLIM_SPLIT_NONE;
    setup.llamacpp.main_gpu = 1;
    memset(&error, 0, sizeof error);
    assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error), PLIM_E_USAGE);
    assert_non_null(strstr(error.what, "-mg"));
    setup.llamacpp.main_gpu = 0;
    setup.llamacpp.n_parallel = 257;
    assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error), 0);
    assert_true(bill.is_refused && bill.verdict == PLIM_VERDICT_NO);
    plim_model_free(projector);
    close_engine(engine, model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bill_is_sound),      cmocka_unit_test(test_dedup_equals_the_whole),
        cmocka_unit_test(test_monotone_in_context),      cmocka_unit_test(test_monotone_in_layers),
        cmocka_unit_test(test_a_context_beyond_32_bits), cmocka_unit_test(test_weights_are_those_of_the_file),
        cmocka_unit_test(test_what_it_starts_with),      cmocka_unit_test(test_requests_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
