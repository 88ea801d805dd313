/* SPDX-License-Identifier: MIT */
/*
 * Every allocation fails once: the n-th call, for every n until none is left to fail. Each time the error says so and
 * nothing is left behind.
 */
#include "base/mem.h"
#include "heap.h"
#include "plimsoll/plan.h"
#include "plimsoll/quant_recipe.h"
#include "unit.h"

static const char *const models[] = { "qwen3-0.6b-Q4_K_M", "deepseek-v2-lite-Q4_K_M", "granite-4.0-h-tiny-Q4_K_M",
                                      "gemma-3n-e4b-Q4_K_M" };

struct story {
    const char *path;
    struct plim_machine machine;
    struct plim_setup setup;
};

/* From a file to its fixes; returns the first failure. */
static int tell(const struct story *s, struct plim_error *error)
{
    static struct plim_bill bill;
    static struct plim_fix fixes[PLIM_MAX_FIXES];
    struct plim_model *model = NULL;
    struct plim_engine *engine = NULL;
    static struct plim_adjustment start;
    uint32_t n_fixes;
    int result = plim_model_open(s->path, &model, error);
    if (result == 0)
        result = plim_engine_new(model, NULL, NULL, &engine, error);
    if (result == 0)
        result = plim_engine_bill(engine, &s->setup, &s->machine, NULL, &bill, error);
    if (result == 0)
        result = plim_plan_fixes(engine, &s->setup, &s->machine, NULL, &bill, fixes, PLIM_MAX_FIXES, &n_fixes, error);
    if (result == 0)
        result = plim_engine_adjust(engine, &s->setup, &s->machine, &bill, &start, error);
    plim_engine_free(engine);
    plim_model_free(model);
    return result < 0 ? result : 0;
}

/* What can fail with s; returns how many times it did. */
static long fail_at_every_turn(int (*run)(const struct story *s, struct plim_error *error), const struct story *s)
{
    const size_t blocks = heap_live_blocks();
    for (long n = 0;; n++) {
        struct plim_error error = { 0 };
        plim_alloc_fail_after(n);
        int result = run(s, &error);
        plim_alloc_fail_after(-1);
        assert_int_equal(heap_live_blocks(), blocks);
        if (result == 0)
            return n;
        if (result != PLIM_E_NOMEM || error.code != PLIM_E_NOMEM)
            fail_msg("%s: allocation %ld failed: %d, \"%s\"", s->path, n, result, error.what);
        assert_int_equal(plim_error_exit_status(result), 70);
        assert_true(n < 100000);
    }
}

static void test_open_bill_fixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(models); i++) {
        char file[128];
        snprintf(file, sizeof file, "zoo/%s.gguf", models[i]);
        /* fixes take a hundred bills: the first model alone has to have them */
        struct story s = { .path = zoo_path(file), .machine = i == 0 ? machine_of(2, 1) : machine_of(1, 80) };
        plim_setup_init(&s.setup, NULL);
        s.setup.llamacpp.n_ctx = i == 0 ? 32768 : 4096;
        long n = fail_at_every_turn(tell, &s);
        print_message("%s: %ld allocations\n", models[i], n);
        assert_true(n > 5);
    }
}

static void test_split(void **state)
{
    struct story s = { .path = zoo_path("zoo-split/qwen3-0.6b-Q4_K_M-00002-of-00003.gguf"),
                       .machine = machine_of(1, 24) };
    (void)state;
    plim_setup_init(&s.setup, NULL);
    s.setup.llamacpp.n_ctx = 4096;
    assert_true(fail_at_every_turn(tell, &s) > 5);
}

static int requantize(const struct story *s, struct plim_error *error)
{
    struct plim_model *model = NULL, *made = NULL;
    int result = plim_model_open(s->path, &model, error);
    if (result == 0)
        result = plim_model_requantize(model, "Q3_K_M", &made, error);
    plim_model_free(made);
    plim_model_free(model);
    return result;
}

static void test_another_recipe(void **state)
{
    const struct story s = { .path = zoo_path("zoo/llama-3.1-8b-Q4_K_M.gguf") };
    (void)state;
    assert_true(fail_at_every_turn(requantize, &s) > 3);
}

static void test_companions(void **state)
{
    struct plim_model *projector = zoo_model("mmproj-gemma-3-4b-F16"), *draft = zoo_model("gemma-3-1b-Q4_K_M");
    struct story s = { .path = zoo_path("zoo/gemma-3-4b-Q4_K_M.gguf"), .machine = machine_of(1, 24) };
    (void)state;
    plim_setup_init(&s.setup, NULL);
    s.setup.llamacpp.n_ctx = 4096;
    s.setup.llamacpp.mmproj = projector;
    s.setup.llamacpp.draft = draft;
    assert_true(fail_at_every_turn(tell, &s) > 5);
    plim_model_free(projector);
    plim_model_free(draft);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_bill_fixes),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_another_recipe),
        cmocka_unit_test(test_companions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
