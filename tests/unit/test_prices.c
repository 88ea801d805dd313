/* SPDX-License-Identifier: MIT */
/* A user's list of prices: fields, columns, and what is wrong with it. */
#include "card/prices.h"

#include "base/limits.h"
#include "unit.h"

static int read_text(const char *text, struct plim_prices *prices, struct plim_error *error)
{
    *error = (struct plim_error){ 0 };
    return plim_prices_read(text, strlen(text), prices, error);
}

static struct plim_price price_of(const struct plim_prices *prices, const char *name)
{
    struct plim_card card;
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        plim_catalogue_card(i, &card);
        if (!strcmp(card.name, name))
            return prices->of_card[i];
    }
    fail_msg("no card %s", name);
    return (struct plim_price){ 0 };
}

static void test_rows(void **state)
{
    struct plim_prices prices;
    struct plim_error error;
    (void)state;
    assert_int_equal(read_text("# mine\r\nper_hour , Card,note,buy\r\n0.5,RTX 3090,\"a, \"\"b\"\"\",600\r\n"
                               ",\"rtx 4090\",,1750.5\n\n1,none such,,2\n",
                               &prices, &error),
                     0);
    assert_true(price_of(&prices, "GeForce RTX 3090").buy == 600);
    assert_true(price_of(&prices, "GeForce RTX 3090").per_hour == 0.5);
    assert_true(price_of(&prices, "GeForce RTX 4090").buy == 1750.5);
    assert_true(price_of(&prices, "GeForce RTX 4090").per_hour == 0);
    assert_true(price_of(&prices, "GeForce RTX 4060").buy == 0);
    assert_int_equal(prices.n_unknown, 1);
    assert_string_equal(prices.unknown, "none such");
    const struct plim_price price = price_of(&prices, "GeForce RTX 3090");
    assert_true(plim_price_break_even_hours(&price) == 1200);
    plim_prices_done(&prices);
}

static void test_the_mark_of_utf_8(void **state)
{
    struct plim_prices prices;
    struct plim_error error;
    (void)state;
    assert_int_equal(read_text("\xef\xbb\xbf"
                               "card,buy\r\nRTX 4090,1600\r\n",
                               &prices, &error),
                     0);
    assert_true(price_of(&prices, "GeForce RTX 4090").buy == 1600);
    plim_prices_done(&prices);
}

#define COMMAS_8  ",,,,,,,,"
#define COMMAS_32 COMMAS_8 COMMAS_8 COMMAS_8 COMMAS_8

static void test_errors(void **state)
{
    static const struct {
        const char *text, *what;
        uint64_t at;
    } cases[] = {
        { "", "expected the columns", 0 },
        { "card\n3090\n", "expected the columns", 0 },
        { "card,buy\n3090,-1\n", "expected a price", 14 },
        { "card,buy\n3090,1e9\n", "expected a price", 14 },
        { "card,buy\n\"3090,1\n", "a quote is not closed", 9 },
        { "card,buy\n\"3090\"x,1\n", "expected a comma", 15 },
        { "\"", "a quote is not closed", 0 },
        { "card,buy" COMMAS_32 "\n3090,1\n", "more than 32 columns", 39 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plim_prices prices;
        struct plim_error error;
        assert_int_equal(read_text(cases[i].text, &prices, &error), PLIM_E_CORRUPT);
        assert_non_null(strstr(error.what, cases[i].what));
        assert_int_equal(error.at, cases[i].at);
        plim_prices_done(&prices);
    }
}

static void test_limits(void **state)
{
    enum { ROWS = PLIM_MAX_PRICES + 2, ROW = sizeof "x,1\n" - 1 };
    static char text[16 + ROWS * ROW + 1];
    struct plim_prices prices;
    struct plim_error error;
    char *p = text + snprintf(text, 16, "card,buy\n");
    (void)state;
    for (int i = 0; i < ROWS; i++, p += ROW)
        memcpy(p, "x,1\n", ROW);
    assert_int_equal(read_text(text, &prices, &error), PLIM_E_CORRUPT);
    assert_non_null(strstr(error.what, "too many rows"));
    plim_prices_done(&prices);
    memset(text, 'x', 300);
    assert_int_equal(read_text(text, &prices, &error), PLIM_E_CORRUPT);
    assert_non_null(strstr(error.what, "longer than 255"));
    plim_prices_done(&prices);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows), cmocka_unit_test(test_the_mark_of_utf_8),
                                        cmocka_unit_test(test_errors), cmocka_unit_test(test_limits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
