/* SPDX-License-Identifier: MIT */
/* Versions of llama.cpp: known ones, proven ones, and the defaults of old ones. */
#include "engine/llamacpp/epoch.h"
#include "unit.h"

static void test_nonsense_is_refused(void **state)
{
    static const char *const versions[] = { "foo",
                                            "b",
                                            "bb",
                                            "b1",
                                            "b-5000",
                                            "b+5000",
                                            "b 5000",
                                            "v",
                                            "v1",
                                            "v-1.2",
                                            "v1.2.3.4",
                                            "1.2",
                                            "b99999999999999999999",
                                            "V0.5.0",
                                            "v0.5.0-rc1",
                                            "v0.5.0 ",
                                            "v0.+5",
                                            "v0. 5",
                                            "v4294967296.5.0",
                                            "v100.0.0" };
    (void)state;
    for (size_t i = 0; i < COUNT(versions); i++) {
        struct plim_epoch epoch;
        struct plim_error error = { 0 };
        if (plim_epoch_find(versions[i], &epoch, &error) != PLIM_E_USAGE)
            fail_msg("'%s' is taken for a version", versions[i]);
        assert_true(error.hint[0]);
    }
}

static void test_only_tested_versions_are_proven(void **state)
{
    static const struct {
        const char *version;
        bool is_proven;
    } rows[] = { { NULL, true },
                 { "", true },
                 { "v0.5.0", true },
                 { "v0.5", true },
                 { PLIM_EPOCH_PROVEN_FROM, true },
                 { PLIM_EPOCH_PROVEN_TO, true },
                 { "v0.4.0", false },
                 { "v0.6.1", false },
                 { "v0.1.2", false },
                 { "b10256", false },
                 { "b4000", false } };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_epoch epoch;
        assert_int_equal(plim_epoch_find(rows[i].version, &epoch, NULL), 0);
        assert_int_equal(epoch.is_proven, rows[i].is_proven);
    }
}

static struct plim_bill bill_of(const char *spec, const char *model_name, uint32_t n_ctx)
{
    struct plim_model *model = zoo_model(model_name);
    struct plim_engine *engine = NULL;
    struct plim_machine machine = { .n_cards = 1 };
    struct plim_setup setup;
    struct plim_bill bill;
    const struct plim_engine_type *type;
    const char *version;
    assert_int_equal(plim_engine_type_named(spec, &type, &version, NULL), 0);
    assert_int_equal(plim_engine_new(model, type, version, &engine, NULL), 0);
    plim_card_of_budget((uint64_t)48 << 30, &machine.card[0]);
    plim_setup_init(&setup, NULL);
    setup.llamacpp.n_ctx = n_ctx;
    setup.llamacpp.n_parallel = 1;
    assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, NULL), 0);
    plim_engine_free(engine);
    plim_model_free(model);
    return bill;
}

static void test_newer_ones_are_not_exact(void **state)
{
    static const char *const versions[] = { "llama.cpp@v0.6.1", "llama.cpp@v9.9.9" };
    (void)state;
    for (size_t i = 0; i < COUNT(versions); i++) {
        const struct plim_bill bill = bill_of(versions[i], "llama-3.2-1b-Q4_K_M", 8192);
        assert_non_null(strstr(bill.caveat, "newer"));
        assert_int_equal(bill.device[0].line[0].basis, PLIM_BASIS_FORMULA);
    }
}

static void test_defaults_of_their_time(void **state)
{
    (void)state;
    const struct plim_bill now = bill_of("llama.cpp", "gemma-3-4b-Q4_K_M", 32768);
    const struct plim_bill before = bill_of("llama.cpp@b6000", "gemma-3-4b-Q4_K_M", 32768);
    const struct plim_bill long_ago = bill_of("llama.cpp@b5000", "gemma-3-4b-Q4_K_M", 32768);
    assert_true(plim_bill_setting_integer(&now, "flash_attn") && plim_bill_setting_integer(&now, "n_gpu_layers") == 35);
    assert_null(now.caveat);
    assert_true(!plim_bill_setting_integer(&before, "flash_attn") &&
                plim_bill_setting_integer(&before, "n_gpu_layers") == 0);
    assert_non_null(before.caveat);
    assert_true(!plim_bill_setting_integer(&before, "swa_full") &&
                plim_bill_setting_integer(&long_ago, "swa_full")); /* windows have their own cache since b5450 */
    assert_true(long_ago.device[1].need_bytes > before.device[1].need_bytes);
}

static void test_compared_builds_say_so(void **state)
{
    (void)state;
    for (size_t i = 0; plim_epoch_compared[i]; i++) {
        struct plim_epoch epoch;
        assert_int_equal(plim_epoch_find(plim_epoch_compared[i], &epoch, NULL), 0);
        assert_true(epoch.is_compared && !epoch.is_proven);
        assert_non_null(strstr(PLIM_EPOCH_COMPARED, plim_epoch_compared[i]));
    }
    assert_non_null(strstr(bill_of("llama.cpp@b8390", "llama-3.2-1b-Q4_K_M", 8192).caveat, "common architectures"));
    assert_non_null(strstr(bill_of("llama.cpp@b8391", "llama-3.2-1b-Q4_K_M", 8192).caveat, "b8390"));
}

static uint64_t compute_bytes(const struct plim_device_bill *device)
{
    for (uint32_t i = 0; i < device->n_lines; i++)
        if (!strcmp(device->line[i].label, "compute buffer"))
            return device->line[i].bytes;
    return 0;
}

/* Cells of 8192, a micro-batch of 512: each was read in the log of a build on either side (tests/data). */
static void test_inputs_of_their_time(void **state)
{
    static const struct {
        const char *spec;
        double host_mib;
    } rows[] = { { "llama.cpp@b7698", 20 }, { "llama.cpp@b8121", 24 }, { "llama.cpp@b9842", 16 } };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plim_bill bill = bill_of(rows[i].spec, "llama-3.2-1b-Q4_K_M", 8192);
        const double mib = (double)compute_bytes(&bill.device[1]) / (1 << 20);
        assert_true(mib > rows[i].host_mib && mib < rows[i].host_mib + 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonsense_is_refused),      cmocka_unit_test(test_only_tested_versions_are_proven),
        cmocka_unit_test(test_newer_ones_are_not_exact), cmocka_unit_test(test_defaults_of_their_time),
        cmocka_unit_test(test_inputs_of_their_time),     cmocka_unit_test(test_compared_builds_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
