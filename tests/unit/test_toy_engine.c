/* SPDX-License-Identifier: MIT */
/*
 * A runtime that the program was not written for (toy_engine.c), from its bill through plan and report to the command
 * line: this test links the table of runtimes with one line more.
 */
#include "base/units.h"
#include "cli/cli.h"
#include "plimsoll/plan.h"
#include "unit.h"

#include <jansson.h>
#include <unistd.h>

enum { MAX_OUTPUT = 1 << 16 };

/* --- bills --- */

static const struct plim_engine_type *toy(void)
{
    const struct plim_engine_type *type;
    assert_int_equal(plim_engine_type_named("toy@2", &type, NULL, NULL), 0);
    return type;
}

struct made {
    struct plim_model *model;
    struct plim_engine *engine;
    struct plim_setup setup;
    struct plim_machine machine;
    struct plim_bill bill;
};

static void make(uint64_t budget_bytes, const char *n_tokens, struct made *m)
{
    memset(m, 0, sizeof *m);
    m->model = zoo_model("llama-3.2-1b-Q4_K_M");
    assert_int_equal(plim_engine_new(m->model, toy(), "2", &m->engine, NULL), 0);
    plim_setup_init(&m->setup, toy());
    assert_int_equal(plim_setup_set(&m->setup, "n_tokens", n_tokens, NULL), 0);
    m->machine.n_cards = 1;
    plim_card_of_budget(budget_bytes, &m->machine.card[0]);
    assert_int_equal(plim_engine_bill(m->engine, &m->setup, &m->machine, NULL, &m->bill, NULL), 0);
}

static void done(struct made *m)
{
    plim_engine_free(m->engine);
    plim_model_free(m->model);
}

static const struct plim_line *line_of(const struct made *m, const char *label)
{
    for (uint32_t i = 0; i < m->bill.device[0].n_lines; i++)
        if (!strcmp(m->bill.device[0].line[i].label, label))
            return &m->bill.device[0].line[i];
    fail_msg("no line '%s'", label);
    return NULL;
}

/* The cache takes what weights and activations leave of the share; staging is over by then and takes nothing from it.
 */
static void test_elastic(void **state)
{
    static struct made m;
    (void)state;
    make(8 * PLIM_GIB, "512", &m);
    const uint64_t weights_bytes = plim_model_tensor_bytes(m.model), share_bytes = 8 * PLIM_GIB / 100 * 90;
    assert_int_equal(line_of(&m, "cache")->bytes, share_bytes - weights_bytes - 512 * PLIM_MIB);
    assert_int_equal(m.bill.device[0].need_bytes, share_bytes);
    assert_int_equal(m.bill.device[0].binding, PLIM_PHASE_PREFILL);
    assert_int_equal(m.bill.capacity.kv_n_tokens, line_of(&m, "cache")->bytes >> 16);
    assert_int_equal(m.bill.verdict, PLIM_VERDICT_FITS);
    done(&m);
}

/* A cache of the least size, and a need that is that of loading where loading needs most. */
static void test_phases(void **state)
{
    static struct made m;
    (void)state;
    make(PLIM_GIB, "1", &m);
    const uint64_t weights_bytes = plim_model_tensor_bytes(m.model);
    assert_int_equal(line_of(&m, "cache")->bytes, 4096 << 16);
    assert_int_equal(line_of(&m, "cache")->least_bytes, 4096 << 16);
    assert_int_equal(m.bill.device[0].need_bytes, weights_bytes + (4096 << 16) + PLIM_MIB);
    assert_int_equal(plim_setup_set(&m.setup, "--max-len", "1", NULL), 0);
    assert_int_equal(plim_engine_bill(m.engine, &m.setup, &m.machine, NULL, &m.bill, NULL), 0);
    assert_int_equal(m.bill.device[0].need_bytes, weights_bytes + weights_bytes / 4);
    assert_int_equal(m.bill.device[0].binding, PLIM_PHASE_LOAD);
    done(&m);
}

static void test_fix(void **state)
{
    static struct made m;
    static struct plim_fix fixes[PLIM_MAX_FIXES];
    uint32_t n;
    (void)state;
    make(8 * PLIM_GIB, "8192", &m);
    assert_int_equal(m.bill.verdict, PLIM_VERDICT_NO);
    assert_int_equal(plim_plan_fixes(m.engine, &m.setup, &m.machine, NULL, &m.bill, fixes, PLIM_MAX_FIXES, &n, NULL),
                     0);
    assert_int_equal(n, 1);
    assert_string_equal(plim_fix_name(&fixes[0]), "tokens");
    assert_string_equal(fixes[0].change, "batches of 4096 tokens instead of 8192");
    assert_int_equal(fixes[0].verdict_after, PLIM_VERDICT_FITS);
    assert_true(fixes[0].frees_bytes > 0);
    done(&m);
}

/* While it loads it needs most: smaller batches free nothing of that, and are no help. */
static void test_a_fix_that_frees_nothing(void **state)
{
    static struct made m;
    static struct plim_fix fixes[PLIM_MAX_FIXES];
    uint32_t n = 77;
    (void)state;
    make(PLIM_GIB / 2, "128", &m);
    assert_int_equal(plim_setup_set(&m.setup, "--max-len", "1", NULL), 0);
    assert_int_equal(plim_engine_bill(m.engine, &m.setup, &m.machine, NULL, &m.bill, NULL), 0);
    assert_int_equal(m.bill.device[0].binding, PLIM_PHASE_LOAD);
    assert_int_equal(m.bill.verdict, PLIM_VERDICT_NO);
    assert_int_equal(plim_plan_fixes(m.engine, &m.setup, &m.machine, NULL, &m.bill, fixes, PLIM_MAX_FIXES, &n, NULL),
                     0);
    assert_int_equal(n, 0);
    done(&m);
}

static void test_setups_of_other_runtimes(void **state)
{
    static struct made m;
    struct plim_setup other;
    struct plim_error error = { 0 };
    (void)state;
    make(8 * PLIM_GIB, "512", &m);
    plim_setup_init(&other, NULL);
    assert_int_equal(plim_engine_bill(m.engine, &other, &m.machine, NULL, &m.bill, &error), PLIM_E_USAGE);
    assert_non_null(strstr(error.what, "toy"));
    done(&m);
}

/* --- the command line --- */

/* `plimsoll fit` with these words and a model at their end; its output, and its exit status. */
static int fit(const char *const *words, char output[MAX_OUTPUT])
{
    char path[1024], *argv[16] = { "fit" };
    int argc = 1;
    for (; *words; words++)
        argv[argc++] = (char *)(uintptr_t)*words;
    snprintf(path, sizeof path, "%s/zoo/llama-3.2-1b-Q4_K_M.gguf", getenv("PLIM_TEST_ZOO"));
    argv[argc++] = path;
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    const int status = plim_cli_fit.run(argc, argv);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    rewind(file);
    const size_t n = fread(output, 1, MAX_OUTPUT - 1, file);
    output[n] = '\0';
    fclose(file);
    return status;
}

static void assert_has(const char *output, const char *text)
{
    if (!strstr(output, text))
        fail_msg("no \"%s\" in:\n%s", text, output);
}

static void test_text(void **state)
{
    static const char *const words[] = { "--batched-tokens", "8192", "--engine", "toy", "--budget", "8GiB", NULL };
    static const char *const command[] = {
        "--budget", "8GiB", "--", "toy-serve", "--batched-tokens", "64", "-m", NULL
    };
    static char output[MAX_OUTPUT];
    (void)state;
    assert_int_equal(fit(words, output), PLIM_EXIT_NO);
    assert_has(output, "toy 1 for toy-serve: 8192 tokens at once on 1 cards");
    assert_has(output, "in prefill");
    assert_has(output, "toy-serve -m ");
    assert_has(output, "--batched-tokens 4096");
    assert_int_equal(fit(command, output), PLIM_EXIT_YES);
    assert_has(output, "64 tokens at once");
}

static void test_json(void **state)
{
    static const char *const words[] = { "--engine", "toy@3", "--budget", "8GiB", "--json", NULL };
    static char output[MAX_OUTPUT];
    (void)state;
    assert_int_equal(fit(words, output), PLIM_EXIT_YES);
    json_t *root = json_loads(output, 0, NULL);
    assert_non_null(root);
    const char *name, *version, *phase;
    int n_ctx, is_default, n_tokens;
    json_int_t kv_n_tokens, least_bytes;
    assert_int_equal(
        json_unpack(root, "{s:{s:s, s:s}, s:{s:i, s:b, s:i}, s:[{s:s, s:[{}, {s:[s]}, {}, {s:I}]}], s:{s:I}}", "engine",
                    "name", &name, "version", &version, "setup", "n_ctx", &n_ctx, "n_ctx_is_default", &is_default,
                    "n_tokens", &n_tokens, "devices", "phase", &phase, "lines", "phases", &(const char *){ NULL },
                    "least_bytes", &least_bytes, "capacity", "kv_n_tokens", &kv_n_tokens),
        0);
    assert_string_equal(name, "toy");
    assert_string_equal(version, "3");
    assert_string_equal(phase, "prefill");
    assert_true(n_ctx == 4096 && is_default && n_tokens == 1024 && kv_n_tokens > 4096);
    assert_int_equal(least_bytes, 4096 << 16);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elastic),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_a_fix_that_frees_nothing),
        cmocka_unit_test(test_fix),
        cmocka_unit_test(test_setups_of_other_runtimes),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
    };
    setenv("PLIMSOLL_SYSROOT", "/nonexistent", 1);
    setenv("PLIMSOLL_NVML", "/nonexistent", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
