/* SPDX-License-Identifier: MIT */
/* How a rehearsal ended: all combinations of facts. */
#include "unit.h"

#include "rehearse/end/end.h"
#include "rehearse/end/pool.h"
#include "rehearse/end/said.h"
#include "vgpu/core/ledger.h"

#include <string.h>

enum { ANY = -1, NO, YES };

/* Exactly one row is for each combination. */
static const struct {
    int by, failed, out_of_memory, gone_on, card, static_runtime, lacks_steps, before_training;
    enum plim_end end;
} rows[] = {
    { PLIM_BY_TIMEOUT, ANY, ANY, ANY, ANY, ANY, ANY, ANY, PLIM_END_TIMEOUT },
    { PLIM_BY_USER, ANY, ANY, ANY, ANY, ANY, ANY, ANY, PLIM_END_INTERRUPT },

    { PLIM_BY_ITSELF, ANY, ANY, ANY, NO, YES, ANY, ANY, PLIM_END_STATIC_RUNTIME },
    { PLIM_BY_SIGNAL, ANY, ANY, ANY, NO, YES, ANY, ANY, PLIM_END_STATIC_RUNTIME },
    { PLIM_BY_US, ANY, ANY, ANY, NO, YES, ANY, ANY, PLIM_END_STATIC_RUNTIME },

    { PLIM_BY_SIGNAL, ANY, ANY, ANY, NO, NO, ANY, ANY, PLIM_END_SIGNAL },
    { PLIM_BY_SIGNAL, ANY, ANY, ANY, YES, ANY, ANY, ANY, PLIM_END_SIGNAL },

    { PLIM_BY_US, ANY, ANY, ANY, NO, NO, ANY, NO, PLIM_END_REACHED },
    { PLIM_BY_US, ANY, ANY, ANY, YES, ANY, ANY, NO, PLIM_END_REACHED },
    { PLIM_BY_US, ANY, ANY, ANY, NO, NO, ANY, YES, PLIM_END_TOO_EARLY },
    { PLIM_BY_US, ANY, ANY, ANY, YES, ANY, ANY, YES, PLIM_END_TOO_EARLY },

    { PLIM_BY_ITSELF, YES, NO, ANY, NO, NO, ANY, ANY, PLIM_END_FAILED },
    { PLIM_BY_ITSELF, YES, NO, ANY, YES, ANY, ANY, ANY, PLIM_END_FAILED },
    { PLIM_BY_ITSELF, YES, YES, NO, NO, NO, ANY, ANY, PLIM_END_OUT_OF_MEMORY },
    { PLIM_BY_ITSELF, YES, YES, NO, YES, ANY, ANY, ANY, PLIM_END_OUT_OF_MEMORY },
    { PLIM_BY_ITSELF, YES, YES, YES, NO, NO, ANY, ANY, PLIM_END_FAILED },
    { PLIM_BY_ITSELF, YES, YES, YES, YES, ANY, ANY, ANY, PLIM_END_FAILED },

    { PLIM_BY_ITSELF, NO, ANY, ANY, NO, NO, ANY, ANY, PLIM_END_NO_CARD },
    { PLIM_BY_ITSELF, NO, ANY, ANY, YES, ANY, YES, ANY, PLIM_END_NO_STEPS },
    { PLIM_BY_ITSELF, NO, YES, ANY, YES, ANY, NO, ANY, PLIM_END_RECOVERED },
    { PLIM_BY_ITSELF, NO, NO, ANY, YES, ANY, NO, ANY, PLIM_END_COMPLETED },
};

static bool matches(size_t row, const struct plim_end_facts *f)
{
    const int wanted[] = {
        rows[row].by,   rows[row].failed,         rows[row].out_of_memory, rows[row].gone_on,
        rows[row].card, rows[row].static_runtime, rows[row].lacks_steps,   rows[row].before_training
    };
    const int is[] = { (int)f->by,  f->has_failed,         f->is_out_of_memory, f->has_gone_on,
                       f->has_card, f->has_static_runtime, f->lacks_steps,      f->is_before_training };
    for (size_t i = 0; i < COUNT(is); i++)
        if (wanted[i] != ANY && wanted[i] != is[i])
            return false;
    return true;
}

static void test_all_ends(void **state)
{
    enum { N_FLAGS = 7 };
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
                                                  .is_before_training = bits & 32U,
                                                  .has_gone_on = bits & 64U };
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

/* --- pools --- */

static struct plim_rehearsal rehearsal;

/* Written in pieces into the ring, after `n_before` bytes of other lines. */
static void say(const char *text, size_t n_before, int exit_code)
{
    struct plim_ledger *ledger = plim_ledger_create(-1);
    assert_non_null(ledger);
    for (size_t i = 0; i < n_before; i++)
        ledger->said[i % PLIM_LEDGER_SAID_BYTES] = i % 64 == 63 ? '\n' : '.';
    for (size_t i = 0; text[i]; i++)
        ledger->said[(n_before + i) % PLIM_LEDGER_SAID_BYTES] = text[i];
    ledger->n_said = n_before + strlen(text);
    const struct plim_rehearsal_oom oom = rehearsal.oom;
    memset(&rehearsal, 0, sizeof rehearsal);
    rehearsal.oom = oom;
    rehearsal.ledger = ledger;
    rehearsal.exit_code = exit_code;
    plim_said_read(&rehearsal, /* log */ NULL);
    plim_ledger_close(ledger);
}

static void test_what_a_program_says(void **state)
{
    static const char oom[] =
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4096 bytes.\n";
    static const size_t before[] = { 0, 64, 16384 - 64, 16384, 5 * 16384 - 64 };
    (void)state;
    for (size_t i = 0; i < COUNT(before); i++) {
        say(oom, before[i], 1);
        assert_true(rehearsal.said.is_set);
        assert_int_equal(rehearsal.said.tried_bytes, 4096);
        assert_string_equal(rehearsal.said.framework, "jax");
    }
    say(oom, 0, 0); /* it went on */
    assert_false(rehearsal.said.is_set);
    say("ValueError: shapes do not match\n", 0, 1);
    assert_false(rehearsal.said.is_set);
    say("", 0, 1);
    assert_false(rehearsal.said.is_set);
}

/* The card has refused a request, and the program went on: its last traceback is its end. */
static void test_what_ended_a_program_that_went_on(void **state)
{
#define TRACEBACK "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n"
#define MEMORY    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of\n"
#define LINK      "\nDuring handling of the above exception, another exception occurred:\n\n"
    static const struct {
        const char *text;
        bool has_gone_on;
    } rows_of_text[] = {
        { TRACEBACK MEMORY, false },
        { "step 1\n" MEMORY TRACEBACK "ValueError: 3\n", true },
        { TRACEBACK MEMORY "next batch size\n" TRACEBACK "ValueError: 3\n", true },
        { TRACEBACK MEMORY LINK TRACEBACK "RuntimeError: no batch size fits\n", false },
        { TRACEBACK MEMORY LINK TRACEBACK "RuntimeError: 1\n" TRACEBACK "ValueError: 3\n", true },
        { TRACEBACK "KeyError: 3\n" LINK TRACEBACK "ValueError: 3\n" LINK TRACEBACK MEMORY, false },
        { TRACEBACK MEMORY TRACEBACK "KeyError: 1\n" LINK TRACEBACK "ValueError: 3\n", true },
        { "3 is not a number\n", true },
        { "", true },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows_of_text); i++)
        for (size_t n_before = 0; n_before <= 3 * (size_t)PLIM_LEDGER_SAID_BYTES; n_before += 4064) {
            rehearsal.oom = (struct plim_rehearsal_oom){ .is_set = true, .has_gone_on = true };
            say(rows_of_text[i].text, n_before, 1);
            if (rehearsal.oom.has_gone_on != rows_of_text[i].has_gone_on)
                fail_msg("row %zu, after %zu bytes", i, n_before);
            assert_false(rehearsal.said.is_set);
        }
}

static void test_pools(void **state)
{
    static const struct {
        const char *native;
        uint64_t percent, n_requests;
        const char *setting;
    } sites[] = {
        { "xla_cuda_plugin.so +0x1\npython3 main\n", 75, 1, "XLA_PYTHON_CLIENT_PREALLOCATE=false" },
        { "libtensorflow_framework.so.2 tsl::f\n", 90, 1, "TF_FORCE_GPU_ALLOW_GROWTH=true" },
        { "xla_cuda_plugin.so +0x1\n", 60, 1, NULL },     /* no more than it needs */
        { "xla_cuda_plugin.so +0x1\n", 75, 2, NULL },     /* grown */
        { "libc10_cuda.so c10::cuda::f\n", 75, 1, NULL }, /* another one's */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(sites); i++) {
        memset(&rehearsal, 0, sizeof rehearsal);
        rehearsal.n_cards = rehearsal.n_call_sites = 1;
        rehearsal.receipt.device[0].total_bytes = 1000000;
        rehearsal.call_site[0].native = sites[i].native;
        rehearsal.call_site[0].peak_bytes = sites[i].percent * 10000;
        rehearsal.call_site[0].n_requests = sites[i].n_requests;
        plim_pool_find(&rehearsal);
        if (sites[i].setting)
            assert_string_equal(rehearsal.pool.setting, sites[i].setting);
        else
            assert_null(rehearsal.pool.setting);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_ends),
        cmocka_unit_test(test_good_ends),
        cmocka_unit_test(test_what_a_program_says),
        cmocka_unit_test(test_what_ended_a_program_that_went_on),
        cmocka_unit_test(test_pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
