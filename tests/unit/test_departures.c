/* SPDX-License-Identifier: MIT */
/* Processes that have ended: their memory is neither in the line of progress nor in the timeline after their end. */
#include "unit.h"

#include "rehearse/processes/departures.h"
#include "rehearse/progress.h"
#include "rehearse/rehearsal.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t mib = 1 << 20;

static struct plim_ledger *ledger_of_one_card(void)
{
    struct plim_ledger *ledger = plim_ledger_create(-1);
    assert_non_null(ledger);
    ledger->n_cards = 1;
    ledger->card[0].total_bytes = 1000 * mib;
    return ledger;
}

/* A process that takes so much and ends. */
static int short_life(struct plim_ledger *ledger, uint64_t bytes)
{
    uint32_t record;
    int status;
    const int child = fork();
    if (child == 0)
        _exit(plim_ledger_take(ledger, plim_ledger_join(ledger), 0, PLIM_KIND_VMM, bytes, 0, &record) !=
              PLIM_LEDGER_TAKEN);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return child;
}

static uint64_t at(const struct plim_rehearsal_card *card, uint64_t time_us)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < card->n_points && card->point[i].time_us <= time_us; i++)
        bytes = card->point[i].bytes;
    return bytes;
}

static void take(struct plim_ledger *ledger, struct plim_rehearsal *rehearsal)
{
    rehearsal->ledger = ledger;
    plim_rehearsal_take(rehearsal);
}

static void test_one_that_nobody_asked_about(void **state)
{
    (void)state;
    static struct plim_rehearsal rehearsal;
    struct plim_ledger *ledger = ledger_of_one_card();
    char text[PLIM_PROGRESS_TEXT];
    uint32_t record;
    const int me = plim_ledger_join(ledger);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 100 * mib, 0, &record), PLIM_LEDGER_TAKEN);
    short_life(ledger, 500 * mib);
    plim_progress_text(ledger, 9, text);
    assert_string_equal(text, "plimsoll: 9 s, gpu0 600.0 MiB of 1000 MiB, peak 600.0 MiB");
    plim_departures_note(ledger, 0);
    plim_progress_text(ledger, 9, text);
    assert_string_equal(text, "plimsoll: 9 s, gpu0 100.0 MiB of 1000 MiB, peak 600.0 MiB");
    take(ledger, &rehearsal);
    const struct plim_rehearsal_card *card = &rehearsal.card[0];
    const uint64_t ended_us = ledger->process[1].ended_us;
    assert_int_equal(at(card, ended_us - 1), 600 * mib);
    assert_int_equal(at(card, ended_us), 100 * mib);
    assert_int_equal(at(card, rehearsal.end_us), 100 * mib);
    assert_int_equal(card->final.peak_bytes, 600 * mib); /* the lines do not hang on when the launcher looked */
    assert_int_equal(ledger->card[0].used_bytes, 600 * mib);
    plim_ledger_close(ledger);
}

/* Another one asked later: the account was right from then on, the timeline is from the end on. */
static void test_one_that_left_later(void **state)
{
    (void)state;
    static struct plim_rehearsal rehearsal;
    struct plim_ledger *ledger = ledger_of_one_card();
    uint32_t record;
    const int me = plim_ledger_join(ledger);
    short_life(ledger, 500 * mib);
    plim_departures_note(ledger, 0);
    const uint64_t ended_us = ledger->process[1].ended_us;
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 100 * mib, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(ledger->card[0].used_bytes, 600 * mib - 500 * mib);
    assert_true(ledger->process[1].has_left);
    ledger->process[1].left_us += 1000; /* a request came between the end and this one */
    ledger->card[0].point[1] = (struct plim_ledger_point){ ended_us + 2, 540 * mib, 0 };
    ledger->card[0].point[2] = (struct plim_ledger_point){ ledger->process[1].left_us, 100 * mib, 0 };
    ledger->card[0].n_points = 3;
    take(ledger, &rehearsal);
    assert_int_equal(rehearsal.card[0].n_points, 4);
    assert_int_equal(at(&rehearsal.card[0], ended_us - 1), 500 * mib);
    assert_int_equal(at(&rehearsal.card[0], ended_us), 0);
    assert_int_equal(at(&rehearsal.card[0], ended_us + 2), 40 * mib);
    assert_int_equal(at(&rehearsal.card[0], ledger->process[1].left_us), 100 * mib);
    assert_int_equal(plim_departures_bytes(ledger, 0), 0);
    plim_ledger_close(ledger);
}

/* The program itself, whose end is that of the timeline; and a full timeline, which has no room for another point. */
static void test_ends_that_have_no_point(void **state)
{
    (void)state;
    static struct plim_rehearsal rehearsal;
    struct plim_ledger *ledger = ledger_of_one_card();
    const int program = short_life(ledger, 500 * mib);
    plim_departures_note(ledger, program);
    assert_int_equal(ledger->process[0].ended_us, 0);
    take(ledger, &rehearsal);
    assert_int_equal(at(&rehearsal.card[0], rehearsal.end_us), 500 * mib);
    plim_departures_note(ledger, 0);
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_POINTS; i++)
        ledger->card[0].point[i] = (struct plim_ledger_point){ i, 500 * mib, 0 };
    ledger->card[0].n_points = PLIM_LEDGER_MAX_POINTS;
    ledger->process[0].ended_us = 400;
    take(ledger, &rehearsal);
    assert_int_equal(rehearsal.card[0].n_points, PLIM_REHEARSAL_MAX_POINTS);
    assert_int_equal(at(&rehearsal.card[0], 399), 500 * mib);
    assert_int_equal(at(&rehearsal.card[0], 400), 0);
    plim_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_that_nobody_asked_about),
        cmocka_unit_test(test_one_that_left_later),
        cmocka_unit_test(test_ends_that_have_no_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
