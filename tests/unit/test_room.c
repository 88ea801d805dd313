/* SPDX-License-Identifier: MIT */
/* The room in a setup that fits is exact at its edge: it fits, and with one step more it does not. */
#include "plimsoll/plan.h"
#include "unit.h"

#include <stdlib.h>

static enum plim_verdict verdict_of(struct plim_engine *engine, const struct plim_setup *setup,
                                    const struct plim_machine *machine)
{
    struct plim_bill bill;
    assert_int_equal(plim_engine_bill(engine, setup, machine, NULL, &bill, NULL), 0);
    return bill.verdict;
}

static uint32_t setting(const struct plim_bill *bill, const char *key)
{
    return (uint32_t)plim_bill_setting_integer(bill, key);
}

static void check_context(struct plim_engine *engine, const struct plim_setup *given,
                          const struct plim_machine *machine, const struct plim_bill *bill,
                          const struct plim_room *room)
{
    const uint32_t step = 256 * (setting(bill, "kv_unified") ? 1 : setting(bill, "n_seq"));
    struct plim_setup setup = *given;
    assert_true(room->n_ctx >= setting(bill, "n_ctx"));
    setup.llamacpp.n_ctx = room->n_ctx;
    assert_int_equal(verdict_of(engine, &setup, machine), PLIM_VERDICT_FITS);
    setup.llamacpp.n_ctx = room->n_ctx + step;
    if (!room->is_ctx_all)
        assert_int_not_equal(verdict_of(engine, &setup, machine), PLIM_VERDICT_FITS);
}

static void check_slots(struct plim_engine *engine, const struct plim_setup *given, const struct plim_machine *machine,
                        const struct plim_bill *bill, const struct plim_room *room)
{
    enum { MOST = 256 };
    struct plim_setup setup = *given;
    const bool is_given = room->n_slots == (setting(bill, "kv_unified") ? 1 : setting(bill, "n_seq"));
    assert_int_equal(room->n_ctx_slot, setting(bill, "n_ctx_seq"));
    setup.llamacpp.kv_unified = PLIM_OFF;
    for (uint32_t n = room->n_slots; n <= room->n_slots + 1 && n <= MOST; n++) {
        setup.llamacpp.n_parallel = n;
        setup.llamacpp.n_ctx = n * room->n_ctx_slot;
        const bool fits = verdict_of(engine, &setup, machine) == PLIM_VERDICT_FITS;
        if (n == room->n_slots && !is_given) /* as given they may share one cache, which takes a little less */
            assert_true(fits);
        else if (n > room->n_slots)
            assert_false(fits);
    }
}

static void test_exact_at_its_edge(void **state)
{
    static const char *const models[] = { "llama-3.1-8b-Q4_K_M", "gemma-3-4b-Q4_K_M", "qwen3-30b-a3b-Q4_K_M",
                                          "jamba-v0.1-Q4_K_M", "llama-2-7b-Q4_K_M" };
    enum { TRIALS = 40 };
    unsigned n_contexts = 0, n_slots = 0;
    (void)state;
    srand(13); /* NOLINT(cert-msc32-c,cert-msc51-cpp): the same setups every time */
    for (size_t m = 0; m < COUNT(models); m++) {
        struct plim_model *model = zoo_model(models[m]);
        struct plim_engine *engine = NULL;
        assert_int_equal(plim_engine_new(model, NULL, NULL, &engine, NULL), 0);
        for (int trial = 0; trial < TRIALS; trial++) {
            struct plim_machine machine = { .n_cards = 1 + (uint32_t)(rand() % 2) };
            struct plim_setup setup;
            struct plim_bill bill;
            struct plim_room room;
            for (uint32_t i = 0; i < machine.n_cards; i++)
                plim_card_of_budget((uint64_t)(4 + rand() % 40) << 30, &machine.card[i]);
            plim_setup_init(&setup, NULL);
            setup.llamacpp.n_ctx = (uint32_t)(1 + rand() % 20000);
            setup.llamacpp.n_parallel = (uint32_t)(rand() % 5);
            setup.llamacpp.flash_attn = rand() % 4 ? PLIM_UNSET : PLIM_OFF;
            setup.llamacpp.n_ubatch = 128U << rand() % 4;
            assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, NULL), 0);
            assert_int_equal(plim_plan_room(engine, &setup, &machine, NULL, &bill, &room, NULL), 0);
            if (bill.verdict != PLIM_VERDICT_FITS) {
                assert_true(room.n_ctx == 0 && room.n_slots == 0);
                continue;
            }
            check_context(engine, &setup, &machine, &bill, &room);
            check_slots(engine, &setup, &machine, &bill, &room);
            n_contexts += !room.is_ctx_all;
            n_slots += room.n_slots < 256;
        }
        plim_engine_free(engine);
        plim_model_free(model);
    }
    assert_true(n_contexts > 20 && n_slots > 20); /* an edge was there to be found */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_exact_at_its_edge) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
