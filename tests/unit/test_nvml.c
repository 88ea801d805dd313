/* SPDX-License-Identifier: MIT */
/* Live cards, from a library that plays the driver (fake_nvml.c). */
#include "base/units.h"
#include "card/sample.h"
#include "plimsoll/card.h"
#include "unit.h"

enum { MAX = PLIM_MAX_DEVICES };

static struct plim_card cards[MAX];

static int ask(const char *how, uint32_t max, uint32_t *ret_n, struct plim_error *error)
{
    memset(error, 0, sizeof *error);
    memset(cards, 0xa5, sizeof cards);
    setenv("FAKE_NVML", how, 1);
    return plim_cards_live(getenv("PLIM_TEST_NVML"), cards, max, ret_n, error);
}

static uint32_t count_of(const char *how)
{
    struct plim_error error;
    uint32_t n = 77;
    if (ask(how, MAX, &n, &error) < 0)
        fail_msg("%s: %s", how, error.what);
    return n;
}

static void test_a_card(void **state)
{
    (void)state;
    assert_int_equal(count_of("usual"), 1);
    assert_string_equal(cards[0].name, "NVIDIA GeForce RTX 4060");
    assert_string_equal(cards[0].uuid, "GPU-00000000-0000-0000-0000-000000000000");
    assert_int_equal(cards[0].vendor, PLIM_VENDOR_NVIDIA);
    assert_true(cards[0].is_live && !cards[0].is_unified);
    assert_int_equal(cards[0].compute_capability, 89);
    assert_int_equal(cards[0].total_basis, PLIM_BASIS_MEASURED);
    assert_int_equal(cards[0].total_bytes, 8188 * PLIM_MIB);
    assert_int_equal(cards[0].total_low_bytes, 8188 * PLIM_MIB);
    assert_int_equal(cards[0].reserved_bytes, 300 * PLIM_MIB);
    assert_int_equal(cards[0].others_bytes, (8188 - 300 - 6144) * PLIM_MIB);
    assert_int_equal(cards[0].n_others, 3);
    assert_int_equal(plim_card_free_bytes(&cards[0]), 6 * PLIM_GIB);
    assert_true(cards[0].bandwidth_bytes_per_s > 1e11 && cards[0].sm_count == 24); /* from the catalogue */
}

static void test_an_old_driver(void **state)
{
    (void)state;
    assert_int_equal(count_of("old driver"), 1);
    assert_int_equal(cards[0].total_bytes, 8188 * PLIM_MIB);
    assert_int_equal(cards[0].reserved_bytes, 0);
    assert_int_equal(plim_card_free_bytes(&cards[0]), 6 * PLIM_GIB);
}

static void test_wsl(void **state)
{
    (void)state;
    assert_int_equal(count_of("wsl"), 1);
    assert_int_equal(cards[0].n_others, 0); /* not known: the bytes are */
    assert_true(cards[0].others_bytes > 0);
}

static void test_unified_memory(void **state)
{
    struct plim_host host;
    (void)state;
    plim_host_live(NULL, &host);
    assert_int_equal(count_of("unified"), 1);
    assert_true(cards[0].is_unified);
    assert_int_equal(cards[0].total_bytes, host.total_bytes);
    assert_int_equal(cards[0].compute_capability, 121);
    assert_true(cards[0].others_bytes <= cards[0].total_bytes);
}

static void test_slices(void **state)
{
    (void)state;
    assert_int_equal(count_of("mig"), 2);
    for (int i = 0; i < 2; i++) {
        assert_non_null(strstr(cards[i].name, "MIG"));
        assert_int_equal(cards[i].total_bytes, 4864 * PLIM_MIB);
    }
    assert_string_not_equal(cards[0].uuid, cards[1].uuid);
    assert_int_equal(count_of("mig without slices"), 0); /* CUDA sees nothing of such a card */
}

static void test_no_name(void **state)
{
    (void)state;
    assert_int_equal(count_of("no name"), 1);
    assert_string_equal(cards[0].name, "NVIDIA GPU");
}

static void test_how_many(void **state)
{
    struct plim_error error;
    uint32_t n;
    (void)state;
    assert_int_equal(count_of("none"), 0);
    assert_int_equal(count_of("many"), MAX);
    assert_int_equal(count_of("lost"), 1);
    assert_string_equal(cards[0].uuid, "GPU-00000001-0000-0000-0000-000000000000");
    for (size_t i = 0; i < 2; i++) { /* the second card, or slice, is not written */
        assert_int_equal(ask(i ? "mig" : "many", 1, &n, &error), 0);
        assert_int_equal(n, 1);
        assert_int_equal(((unsigned char *)&cards[1])[0], 0xa5);
    }
}

/* A card with other memory than the one of its name: figures of the catalogue are not for it. */
static void test_a_card_that_was_changed(void **state)
{
    (void)state;
    assert_int_equal(count_of("changed"), 1);
    assert_int_equal(cards[0].total_bytes, 12 * PLIM_GIB);
    assert_true(cards[0].bandwidth_bytes_per_s == 0 && cards[0].sm_count == 0);
}

static void test_a_driver_that_does_not_answer(void **state)
{
    static const struct {
        const char *how, *what;
    } rows[] = { { "no permission", "Insufficient Permissions" },
                 { "mismatch", "Driver/library version mismatch" },
                 { "no count", "Insufficient Permissions" } };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_error error;
        uint32_t n = 77;
        int result = ask(rows[i].how, MAX, &n, &error);
        assert_int_equal(result, PLIM_E_NO_DRIVER);
        assert_non_null(strstr(error.what, rows[i].what));
        assert_int_equal(n, 0);
        assert_int_equal(plim_error_exit_status(result), 4);
    }
}

/* No library, or one that is not NVML, is a machine without cards. */
static void test_no_driver(void **state)
{
    struct plim_error error = { 0 };
    uint32_t n = 77;
    (void)state;
    assert_int_equal(plim_cards_live("/nonexistent/libnvidia-ml.so.1", cards, MAX, &n, &error), 0);
    assert_int_equal(n, 0);
    n = 77;
    assert_int_equal(plim_cards_live("libm.so.6", cards, MAX, &n, &error), 0);
    assert_int_equal(n, 0);
    assert_int_equal(error.code, 0);
}

/* A driver that says it wrote more than it was given room for is believed as far as there was room. */
static void test_more_processes_than_there_is_room_for(void **state)
{
    struct plim_sampler *sampler;
    const struct plim_sample *sample;
    const struct plim_sampler_options options = { .nvml = getenv("PLIM_TEST_NVML"), .sysroot = "/nonexistent" };
    (void)state;
    setenv("FAKE_NVML", "usual", 1);
    assert_int_equal(plim_sampler_open(&options, &sampler, NULL), 0);
    assert_int_equal(plim_sampler_read(sampler, &sample, NULL), 0);
    assert_int_equal(sample->n_holdings, 3);
    assert_int_equal(sample->process[sample->holding[0].process].pid, 77);
    assert_int_equal(sample->holding[0].bytes, 5 * PLIM_GIB);
    assert_int_equal(sample->holding[2].bytes, -1);
    setenv("FAKE_NVML", "endless", 1);
    assert_int_equal(plim_sampler_read(sampler, &sample, NULL), 0);
    assert_true(sample->n_holdings < 1000);
    plim_sampler_close(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_card),
        cmocka_unit_test(test_an_old_driver),
        cmocka_unit_test(test_wsl),
        cmocka_unit_test(test_unified_memory),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_no_name),
        cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_a_driver_that_does_not_answer),
        cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_a_card_that_was_changed),
        cmocka_unit_test(test_more_processes_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
