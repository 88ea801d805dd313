/* SPDX-License-Identifier: MIT */
/* How a rehearsal ended: all combinations of facts. */
#include "unit.h"

#include "rehearse/end/end.h"

#include <string.h>

enum { ANY = -1, NO, YES };

/* Exactly one row is for each combination. */
static const struct {
    int by, failed, out_of_memory, card, static_runtime, lacks_steps, before_training;
    enum plim_end end;
} rows[] = {
    { PLIM_BY_TIMEOUT, ANY, ANY, ANY, ANY, ANY, ANY, PLIM_END_TIMEOUT },
    { PLIM_BY_USER, ANY, ANY, ANY, ANY, ANY, ANY, PLIM_END_INTERRUPT },

    { PLIM_BY_ITSELF, ANY, ANY, NO, YES, ANY, ANY, PLIM_END_STATIC_RUNTIME },
    { PLIM_BY_SIGNAL, ANY, ANY, NO, YES, ANY, ANY, PLIM_END_STATIC_RUNTIME },
    { PLIM_BY_US, ANY, ANY, NO, YES, ANY, ANY, PLIM_END_STATIC_RUNTIME },

    { PLIM_BY_SIGNAL, ANY, ANY, NO, NO, ANY, ANY, PLIM_END_SIGNAL },
    { PLIM_BY_SIGNAL, ANY, ANY, YES, ANY, ANY, ANY, PLIM_END_SIGNAL },

    { PLIM_BY_US, ANY, ANY, NO, NO, ANY, NO, PLIM_END_REACHED },
    { PLIM_BY_US, ANY, ANY, YES, ANY, ANY, NO, PLIM_END_REACHED },
    { PLIM_BY_US, ANY, ANY, NO, NO, ANY, YES, PLIM_END_TOO_EARLY },
    { PLIM_BY_US, ANY, ANY, YES, ANY, ANY, YES, PLIM_END_TOO_EARLY },

    { PLIM_BY_ITSELF, YES, NO, NO, NO, ANY, ANY, PLIM_END_FAILED },
    { PLIM_BY_ITSELF, YES, NO, YES, ANY, ANY, ANY, PLIM_END_FAILED },
    { PLIM_BY_ITSELF, YES, YES, NO, NO, ANY, ANY, PLIM_END_OUT_OF_MEMORY },
    { PLIM_BY_ITSELF, YES, YES, YES, ANY, ANY, ANY, PLIM_END_OUT_OF_MEMORY },

    { PLIM_BY_ITSELF, NO, ANY, NO, NO, ANY, ANY, PLIM_END_NO_CARD },
    { PLIM_BY_ITSELF, NO, ANY, YES, ANY, YES, ANY, PLIM_END_NO_STEPS },
    { PLIM_BY_ITSELF, NO, YES, YES, ANY, NO, ANY, PLIM_END_RECOVERED },
    { PLIM_BY_ITSELF, NO, NO, YES, ANY, NO, ANY, PLIM_END_COMPLETED },
};

static bool matches(size_t row, const struct plim_end_facts *f)
{
    const int wanted[] = { rows[row].by,
                           rows[row].failed,
                           rows[row].out_of_memory,
                           rows[row].card,
                           rows[row].static_runtime,
                           rows[row].lacks_steps,
                           rows[row].before_training };
    const int is[] = { (int)f->by,     f->has_failed,        f->is_out_of_memory, f->has_card, f->has_static_runtime,
                       f->lacks_steps, f->is_before_training };
    for (size_t i = 0; i < COUNT(is); i++)
        if (wanted[i] != ANY && wanted[i] != is[i])
            return false;
    return true;
}

static void test_all_ends(void **state)
{
    enum { N_FLAGS = 6 };
    bool is_reached[PLIM_END_MAX_] = { false };
    (void)state;
    for (int by = PLIM_BY_ITSELF; by <= PLIM_BY_USER; by++)
        for (unsigned bits = 0; bits < 1U << N_FLAGS; bits++) {
            const struct plim_end_facts facts = { .by = (enum plim_stopped_by)by,
                                                  .has_failed = bits & 1U,
                                                  .is_out_of_memory = bits & 2U,
                                                  .has_card = bits & 4U,
                                                  .has_static_runtime = bits & 8U,
                                                  .lacks_steps = bits & 16U,
                                                  .is_before_training = bits & 32U };
            size_t n = 0;
            for (size_t row = 0; row < COUNT(rows); row++)
                if (matches(row, &facts)) {
                    n++;
                    if (plim_end_decide(&facts) != rows[row].end)
                        fail_msg("by %d, facts %#x: %s, not %s", by, bits, plim_end_name(plim_end_decide(&facts)),
                                 plim_end_name(rows[row].end));
                }
            if (n != 1)
                fail_msg("by %d, facts %#x: %zu rows", by, bits, n);
            is_reached[plim_end_decide(&facts)] = true;
        }
    for (int end = 0; end < PLIM_END_MAX_; end++)
        assert_true(is_reached[end]);
}

static void test_good_ends(void **state)
{
    static const char *const good[] = { "completed", "recovered", "reached" };
    (void)state;
    for (int end = 0; end < PLIM_END_MAX_; end++) {
        bool is_good = false;
        for (size_t i = 0; i < COUNT(good); i++)
            is_good = is_good || !strcmp(plim_end_name((enum plim_end)end), good[i]);
        assert_int_equal(plim_end_is_good((enum plim_end)end), is_good);
        assert_int_equal(plim_end_named(plim_end_name((enum plim_end)end)), end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_ends),
        cmocka_unit_test(test_good_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
