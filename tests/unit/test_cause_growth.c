/* SPDX-License-Identifier: MIT */
/* What times in a log say of the cause: a series that rises, and how long a program ran before it was killed. */
#include "cause_case.h"
#include "diagnose/cause/growth.h"

/* A leak is claimed of a series that rises, and of nothing else. */
static void test_growth(void **state)
{
    (void)state;
    message(0.5, 23.69, 0.2, 23.2, 22.6, 0.1);
    for (int i = 0; i < 12; i++)
        point(i, GIB(10 + i), 300);
    assert_cause("leak_or_growth");
    assert_non_null(strstr(answer.best.why,
                           "from 10.00 GiB to 21.00 GiB over the last 12 figures in the log in 55 min, "
                           "12.00 GiB an hour"));
    assert_in_range(plim_rise_lasts(&context, GIB(23.69)), 4100, 4110); /* 13.69 GiB at 12 an hour */
    assert_int_equal(plim_rise_lasts(&context, PLIM_UNKNOWN), 3300);
    for (int i = 0; i < 12; i++)
        context.series[i].step = PLIM_UNKNOWN; /* 55 minutes are longer than a model loads */
    assert_cause("leak_or_growth");
    for (int i = 0; i < 12; i++)
        context.series[i].stamp.seconds = i;
    assert_cause("batch_or_activation");
    for (int i = 0; i < 12; i++)
        context.series[i].step = i;
    assert_cause("leak_or_growth"); /* twelve seconds are no time to count a rate from */
    assert_null(strstr(answer.best.why, "an hour"));
    for (int i = 0; i < 12; i++)
        context.series[i].bytes = GIB(i % 2 ? 20.0 : 20.5);
    assert_cause("batch_or_activation");
    for (int i = 0; i < 12; i++)
        context.series[i].bytes = GIB(20) + MIB(i); /* rises, by less than figures are printed to */
    assert_cause("batch_or_activation");
}

/* Four figures are enough where each is higher and they fill half of the card. */
static void test_few_figures(void **state)
{
    (void)state;
    message(1.5, 23.52, 0.46, 23.06, 22.5, 0.1);
    for (int i = 0; i < 4; i++)
        point(i, GIB(1.5 + 7 * i), 60);
    assert_cause("leak_or_growth");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    context.series[2].bytes = context.series[1].bytes; /* not each */
    assert_cause("batch_or_activation");
    for (int i = 0; i < 4; i++)
        context.series[i].bytes = GIB(1.5 + 3 * i); /* less than half */
    assert_cause("batch_or_activation");
    for (int i = 0; i < 4; i++)
        context.series[i].bytes = GIB(1.5 + 7 * i);
    context.n_series = 3;
    assert_cause("batch_or_activation");
}

/* "Creating AdamW state" before it, and no step yet. */
static void test_an_optimizer_that_is_being_made(void **state)
{
    (void)state;
    message(0.06, 11.63, 0.02, 11.4, 11.0, 0.1);
    snprintf(context.words.text[PLIM_W_PHASE], PLIM_WORD_BYTES, "optimizer");
    assert_cause("optimizer_states");
    for (int i = 0; i < 12; i++)
        point(i, GIB(4 + 0.5 * i), 300);
    assert_cause("leak_or_growth");
    for (int i = 0; i < 12; i++)
        context.series[i].bytes = GIB(8); /* there were steps, and nothing says what the last one was for */
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_OPTIMIZER_STATES);
}

/* How long what was killed had run, and what that says. */
static void test_lifetime(void **state)
{
    static const struct {
        int64_t started, finished, lifetime;
        const char *says; /* NULL: nothing */
    } rows[] = {
        { 1000, 1090, PLIM_UNKNOWN, " It had run for 90 s: it does not fit as it is." },
        { 1000, 1000 + 3 * 3600 + 600, PLIM_UNKNOWN, " It had run for 3 h 10 min." },
        { 1793652002, 1793779832, PLIM_UNKNOWN, " It had run for 35 h 30 min: what takes so long" },
        { PLIM_UNKNOWN, PLIM_UNKNOWN, 4 * 86400, " It had run for 4.0 days: what takes so long" },
        { 1000, 1000 + 3600, 5 * 3600, " It had run for 5 h 0 min." }, /* what is printed goes before what is counted */
        { 1000, 500, PLIM_UNKNOWN, NULL },                             /* docker: year 1 while it runs */
        { PLIM_UNKNOWN, 5000, PLIM_UNKNOWN, NULL },
        { 5000, PLIM_UNKNOWN, PLIM_UNKNOWN, NULL },
        { -62135596800, 1793779832, PLIM_UNKNOWN, NULL },
        { INT64_MIN + 1, INT64_MAX, PLIM_UNKNOWN, NULL },
        { PLIM_UNKNOWN, PLIM_UNKNOWN, INT64_MAX, NULL },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin();
        pattern.id = "kubernetes-oomkilled";
        pattern.stage = "host";
        pattern.cause = PLIM_CAUSE_HOST_RAM;
        set(PLIM_N_STARTED_AT, rows[i].started);
        set(PLIM_N_FINISHED_AT, rows[i].finished);
        set(PLIM_N_LIFETIME_S, rows[i].lifetime);
        assert_cause("host_ram");
        if (rows[i].says)
            assert_non_null(strstr(answer.best.why, rows[i].says));
        else
            assert_null(strstr(answer.best.why, "It had run"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_few_figures),
        cmocka_unit_test(test_an_optimizer_that_is_being_made),
        cmocka_unit_test(test_lifetime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
