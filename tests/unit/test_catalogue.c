/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "card/cuda_overhead.h"
#include "plimsoll/card.h"
#include "unit.h"

static int find(const char *query, struct plim_card *card, struct plim_error *error)
{
    memset(error, 0, sizeof *error);
    memset(card, 0, sizeof *card);
    return plim_catalogue_find(query, card, error);
}

/* "data/cards.csv" has these columns where the code expects them: figures of the row are those of the card. */
static void test_every_row(void **state)
{
    (void)state;
    assert_true(plim_catalogue_size() > 300);
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        struct plim_card card;
        const char *name = plim_catalogue_field(i, "name"),
                   *driver = plim_catalogue_field(i, "memory_total_mib_driver");
        plim_catalogue_card(i, &card);
        assert_string_equal(card.name, name);
        if (card.vendor == PLIM_VENDOR_UNKNOWN || card.total_bytes < PLIM_GIB ||
            card.total_low_bytes > card.total_bytes)
            fail_msg("%s: vendor or size", name);
        assert_int_equal(card.total_basis, *driver ? PLIM_BASIS_MEASURED : PLIM_BASIS_ASSUMED);
        if (*driver)
            assert_int_equal(card.total_bytes, strtoull(driver, NULL, 10) * PLIM_MIB);
        double nominal = strtod(plim_catalogue_field(i, "memory_gib_nominal"), NULL) * (double)PLIM_GIB;
        if ((double)card.total_bytes > nominal * 1.08 || (double)card.total_bytes < nominal * 0.6)
            fail_msg("%s: %llu bytes of %s GiB", name, (unsigned long long)card.total_bytes,
                     plim_catalogue_field(i, "memory_gib_nominal"));
        assert_true(card.reserved_low_bytes <= card.reserved_bytes && card.reserved_bytes <= card.reserved_high_bytes);
        assert_true(card.reserved_high_bytes < card.total_bytes / 4);
        assert_true(plim_card_free_bytes(&card) <= card.total_bytes);
        if (strtod(plim_catalogue_field(i, "bandwidth_gb_s"), NULL) > 0)
            assert_true(card.bandwidth_bytes_per_s == strtod(plim_catalogue_field(i, "bandwidth_gb_s"), NULL) * 1e9);
        assert_int_equal(card.sm_count, strtoul(plim_catalogue_field(i, "sm_count"), NULL, 10));
        assert_int_equal(card.is_unified, strstr(plim_catalogue_field(i, "memory_type"), "unified") != NULL);
        if (card.vendor == PLIM_VENDOR_NVIDIA)
            assert_true(card.compute_capability >= 30 && card.compute_capability <= 130);
        else
            assert_int_equal(card.compute_capability, 0);
    }
    assert_string_equal(plim_catalogue_field(0, "no such column"), "");
    assert_string_equal(plim_catalogue_field(1 << 20, "name"), "");
}

/* A card is found by its name and by each alias, or the alias belongs to several and the hint lists this one. */
static void test_every_card_finds_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        char names[2048];
        struct plim_card card;
        struct plim_error error;
        const char *name = plim_catalogue_field(i, "name");
        if (find(name, &card, &error) < 0)
            fail_msg("'%s' does not find itself: %s (%s)", name, error.what, error.hint);
        snprintf(names, sizeof names, "%s", plim_catalogue_field(i, "aliases"));
        for (char *rest = names, *alias; (alias = strsep(&rest, ";"));) {
            if (!*alias)
                continue;
            int result = find(alias, &card, &error);
            if (result < 0 && !strstr(error.what, "cards that differ"))
                fail_msg("'%s' of %s: %s", alias, name, error.what);
        }
    }
}

static void test_forgiving(void **state)
{
    static const struct {
        const char *query, *name;
    } rows[] = {
        { "RTX 4060", "GeForce RTX 4060" },
        { "rtx4060", "GeForce RTX 4060" },
        { "  Rtx - 4060 ", "GeForce RTX 4060" },
        { "NVIDIA GeForce RTX 4060", "GeForce RTX 4060" },
        { "4060", "GeForce RTX 4060" },
        { "rtx 4060 8gb", "GeForce RTX 4060" },
        { "geforce rtx 3090", "GeForce RTX 3090" },
        { "RTX 3090 Ti", "GeForce RTX 3090 Ti" },
        { "RTX 3060 Ti", "GeForce RTX 3060 Ti" }, /* another card's name, too, with words left out */
        { "nvidia rtx 3090 24 GiB", "GeForce RTX 3090" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_card card;
        struct plim_error error;
        if (find(rows[i].query, &card, &error) < 0)
            fail_msg("'%s': %s (%s)", rows[i].query, error.what, error.hint);
        assert_string_equal(card.name, rows[i].name);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *query, *what, *hint;
    } rows[] = {
        { "", "no card", "plimsoll cards" },
        { " -- ", "no card", "plimsoll cards" },
        { "RTX 4061", "no card", "GeForce RTX 4060" }, /* a near miss */
        { "RTX 409", "no card", "GeForce RTX 4090" },
        { "voodoo 2 sli deluxe", "no card", "--card 8GiB" }, /* nothing near */
        { "A100", "cards that differ", "80" },
        { "MIG 1g.18gb", "2 cards that differ", "GH200" }, /* in what the driver gives programs only */
        { "B200 2g.45gb", "no card", "B200 MIG 2g.45gb" }, /* the word in the middle is missing */
        { "rtx 4060 99gb", "no card", "" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_card card;
        struct plim_error error;
        int result = find(rows[i].query, &card, &error);
        if (result != PLIM_E_USAGE || !strstr(error.what, rows[i].what) || !strstr(error.hint, rows[i].hint))
            fail_msg("'%s': %d, \"%s\" (%s)", rows[i].query, result, error.what, error.hint);
        assert_int_equal(plim_error_exit_status(result), 2);
        assert_int_equal(card.total_bytes, 0);
    }
}

/* A slice is never meant by the name of the whole card. */
static void test_mig_only_when_named(void **state)
{
    size_t n_slices = 0;
    (void)state;
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        struct plim_card card;
        struct plim_error error;
        char names[2048];
        if (strstr(plim_catalogue_field(i, "name"), " MIG ")) {
            n_slices++;
            continue;
        }
        snprintf(names, sizeof names, "%s", plim_catalogue_field(i, "aliases"));
        for (char *rest = names, *alias; (alias = strsep(&rest, ";"));)
            if (*alias && find(alias, &card, &error) >= 0)
                assert_null(strstr(card.name, " MIG "));
            else
                assert_null(strstr(error.hint, " MIG "));
    }
    assert_true(n_slices > 5);
}

static void test_long_queries(void **state)
{
    char query[5000];
    struct plim_card card;
    struct plim_error error;
    (void)state;
    memset(query, 'x', sizeof query);
    query[sizeof query - 1] = '\0';
    assert_int_equal(find(query, &card, &error), PLIM_E_USAGE);
    memset(query, '9', sizeof query - 1);
    memcpy(query + sizeof query - 3, "gb", 2);
    assert_int_equal(find(query, &card, &error), PLIM_E_USAGE);
    assert_false(plim_catalogue_matches(0, query));
}

static void test_search(void **state)
{
    size_t n = 0, n_all = 0;
    (void)state;
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        n += plim_catalogue_matches(i, "rtx 40");
        n_all += plim_catalogue_matches(i, "");
        assert_true(plim_catalogue_matches(i, plim_catalogue_field(i, "name")));
    }
    assert_true(n >= 8 && n < 60);
    assert_int_equal(n_all, plim_catalogue_size());
}

static void test_cards_without_a_row(void **state)
{
    struct plim_card card;
    (void)state;
    plim_card_of_budget(15 * PLIM_GIB / 2, &card);
    assert_string_equal(card.name, "budget of 7.50 GiB");
    assert_int_equal(card.total_basis, PLIM_BASIS_EXACT);
    assert_int_equal(plim_card_free_bytes(&card), 15 * PLIM_GIB / 2);
    assert_int_equal(card.total_low_bytes, card.total_bytes);
    assert_int_equal(card.reserved_high_bytes, 0);
    plim_card_of_size(24, &card);
    assert_int_equal(card.total_basis, PLIM_BASIS_ASSUMED);
    assert_true(card.total_low_bytes < card.total_bytes && card.reserved_bytes > 0);
    card.others_bytes = UINT64_MAX / 2;
    assert_int_equal(plim_card_free_bytes(&card), 0);
    card.others_bytes = card.total_bytes - card.reserved_bytes;
    assert_int_equal(plim_card_free_bytes(&card), 0);
    card.others_bytes -= 5;
    assert_int_equal(plim_card_free_bytes(&card), 5);
}

/* --- what is assumed where no driver's figure is known --- */

static struct plim_card named(const char *name)
{
    struct plim_card card;
    struct plim_error error;
    if (find(name, &card, &error) < 0)
        fail_msg("'%s': %s", name, error.what);
    return card;
}

/* Error-correcting memory may take a sixteenth; Apple gives programs two thirds to three quarters. */
static void test_assumed_totals(void **state)
{
    struct plim_card card = named("Apple M2 16GB");
    (void)state;
    assert_int_equal(card.total_basis, PLIM_BASIS_ASSUMED);
    assert_int_equal(card.total_bytes, 12 * PLIM_GIB);
    assert_int_equal(card.total_low_bytes, 32 * PLIM_GIB / 3);
    assert_int_equal(card.shared_bytes, 16 * PLIM_GIB);
    plim_card_of_size(16, &card);
    assert_int_equal(card.total_bytes, 16 * PLIM_GIB);
    assert_int_equal(card.total_low_bytes, 15 * PLIM_GIB);
}

/* The largest gap seen on Linux is the reserve; a program that saw the whole card, as under Windows, says nothing. */
static void test_reserves(void **state)
{
    static const struct {
        const char *name;
        unsigned low_mib, high_mib;
    } rows[] = {
        { "GeForce RTX 3090", 307, 450 },      /* 24576 MiB; 23.70 to 23.56 GiB seen */
        { "GeForce RTX 3060 12GB", 245, 378 }, /* 12288 MiB; 11.76 to 11.63 */
        { "Tesla T4", 245, 450 },              /* 15360 MiB; 14.76 to 14.56 */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plim_card card = named(rows[i].name);
        assert_int_equal(card.reserved_basis, PLIM_BASIS_MEASURED);
        assert_int_equal(card.reserved_low_bytes / PLIM_MIB, rows[i].low_mib);
        assert_int_equal(card.reserved_high_bytes / PLIM_MIB, rows[i].high_mib);
        assert_int_equal(card.reserved_bytes, card.reserved_high_bytes);
    }
    for (size_t i = 0; i < plim_catalogue_size(); i++) { /* no gap of a few MiB, none of half a card */
        struct plim_card card;
        plim_catalogue_card(i, &card);
        if (card.reserved_basis == PLIM_BASIS_MEASURED)
            assert_true(card.reserved_low_bytes >= 40 * PLIM_MIB &&
                        card.reserved_high_bytes <= card.total_bytes / 100 * 6);
        if (card.is_unified && card.reserved_basis != PLIM_BASIS_MEASURED)
            assert_int_equal(card.reserved_high_bytes, 0);
    }
}

static void test_assumed_reserves(void **state)
{
    struct plim_card card;
    (void)state;
    plim_card_of_size(8, &card);
    assert_int_equal(card.reserved_bytes, (256 + 64) * PLIM_MIB);
    assert_int_equal(card.reserved_low_bytes, 80 * PLIM_MIB);
    assert_int_equal(card.reserved_high_bytes, 480 * PLIM_MIB);
    plim_card_of_size(80, &card); /* large cards keep no more than this */
    assert_int_equal(card.reserved_bytes, 640 * PLIM_MIB);
}

/* A letter more or less: of a short name that is another card, not a slip. */
static void test_suggestions(void **state)
{
    struct plim_card card;
    struct plim_error error;
    (void)state;
    assert_int_equal(find("t5", &card, &error), PLIM_E_USAGE);
    assert_non_null(strstr(error.hint, "T4"));
    assert_null(strstr(error.hint, "A10"));
    assert_null(strstr(error.hint, "P100"));
    assert_int_equal(find("z9", &card, &error), PLIM_E_USAGE);
    assert_null(strstr(error.hint, "did you mean"));
}

/* --- what CUDA takes --- */

static void test_cuda_context(void **state)
{
    static const struct {
        unsigned sm_count, gib;
        double mib, low_mib, high_mib;
    } rows[] = {
        { 24, 8, 88.4, 72.6, 126.6 }, { 82, 24, 253.7, 211.8, 323.8 }, { 188, 96, 555.8, 466.2, 684.2 },
        { 0, 8, 145.4, 67.8, 269.4 }, /* the number is not known: 20 + 3 for each GiB, and more freedom */
        { 0, 96, 590, 255, 1065 },    /* and at most 200 */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plim_card card = { .sm_count = (uint16_t)rows[i].sm_count, .total_bytes = rows[i].gib * PLIM_GIB };
        const struct plim_overhead_band band = plim_cuda_context_band(&card);
        assert_true(band.bytes == (uint64_t)(rows[i].mib * (double)PLIM_MIB));
        assert_true(band.low_bytes == (uint64_t)(rows[i].low_mib * (double)PLIM_MIB));
        assert_true(band.high_bytes == (uint64_t)(rows[i].high_mib * (double)PLIM_MIB));
    }
    assert_int_equal(plim_cublas_workspace_bytes(&(struct plim_card){ .compute_capability = 89 }), 8 * PLIM_MIB);
    assert_int_equal(plim_cublas_workspace_bytes(&(struct plim_card){ .compute_capability = 90 }), 64 * PLIM_MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_every_card_finds_itself),
        cmocka_unit_test(test_forgiving),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_mig_only_when_named),
        cmocka_unit_test(test_long_queries),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_cards_without_a_row),
        cmocka_unit_test(test_assumed_totals),
        cmocka_unit_test(test_reserves),
        cmocka_unit_test(test_assumed_reserves),
        cmocka_unit_test(test_suggestions),
        cmocka_unit_test(test_cuda_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
