/* SPDX-License-Identifier: MIT */
/* What CUDA answers of a card: its own figures, or the least that is known of its kind, and never nothing. */
#include "unit.h"

#include "base/units.h"
#include "rehearse/card_figures.h"

static struct plim_card_figures figures_of(const char *name)
{
    struct plim_card card;
    struct plim_card_figures figures;
    struct plim_error error = { 0 };
    if (plim_catalogue_find(name, &card, &error))
        fail_msg("%s", name);
    plim_card_figures(&card, &figures);
    return figures;
}

static void test_own(void **state)
{
    (void)state;
    const struct plim_card_figures f = figures_of("GeForce RTX 4060");
    assert_int_equal(f.sm_count, 24);
    assert_int_equal(f.bus_bits, 128);
    assert_int_equal(f.memory_mhz, 8500);
    assert_int_equal(f.clock_mhz, 2460);
    assert_int_equal(f.l2_kib, 24 << 10);
    assert_int_equal(figures_of("GeForce RTX 4090").l2_kib, 72 << 10);
    assert_int_equal(figures_of("Tesla V100 SXM2 32GB").l2_kib, 6 << 10);
}

/* A size without a name: no more than any card of that compute capability. */
static void test_least(void **state)
{
    (void)state;
    struct plim_card card;
    struct plim_card_figures least;
    plim_card_of_budget(8 * PLIM_GIB, &card);
    card.compute_capability = 89;
    plim_card_figures(&card, &least);
    unsigned n = 0;
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        struct plim_card_figures figures;
        plim_catalogue_card(i, &card);
        if (card.compute_capability != 89)
            continue;
        plim_card_figures(&card, &figures);
        assert_true(least.sm_count <= figures.sm_count && least.bus_bits <= figures.bus_bits);
        assert_true(least.memory_mhz <= figures.memory_mhz && least.clock_mhz <= figures.clock_mhz);
        assert_true(least.l2_kib <= figures.l2_kib);
        n++;
    }
    assert_true(n > 10);
}

static void test_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        struct plim_card card;
        struct plim_card_figures f;
        plim_catalogue_card(i, &card);
        if (card.vendor != PLIM_VENDOR_NVIDIA)
            continue;
        plim_card_figures(&card, &f);
        if (!f.sm_count || !f.bus_bits || !f.memory_mhz || !f.clock_mhz || !f.l2_kib)
            fail_msg("%s", card.name);
        if (card.sm_count && f.sm_count != card.sm_count)
            fail_msg("%s has %u", card.name, card.sm_count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests_name("card_figures", tests, NULL, NULL);
}
