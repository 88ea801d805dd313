/* SPDX-License-Identifier: MIT */
/* What the end of `plimsoll ps` promises to whom. */
#include "by_hand.h"

#include "report/watch/ps.h"

#include <stdio.h>
#include <stdlib.h>

/* The text for a user, of two processes that ada (1000) left behind and one that bob did. */
static char *text_for(int64_t uid)
{
    struct by_hand h;
    struct plim_error error = { 0 };
    struct plim_watch *watch;
    const struct plim_notes notes = { 0 };
    char *text = NULL;
    size_t length;
    by_hand_begin(&h);
    for (int64_t pid = 4000; pid < 4003; pid++) {
        struct plim_sample_process *p = by_hand_process(&h, pid, 0);
        p->parent = 1;
        p->parent_program = "systemd";
        p->uid = pid == 4002 ? 1001 : 1000;
    }
    assert_int_equal(plim_watch_open(NULL, &watch, &error), 0);
    assert_int_equal(plim_watch_add(watch, &h.sample, &error), 0);
    const struct plim_ps ps = { .sample = &h.sample,
                                .rows = plim_watch_rows(watch),
                                .cards = plim_watch_cards(watch),
                                .is_card_shown = (const bool[]){ true, true },
                                .order = (const uint32_t[]){ 0, 1, 2 },
                                .n_shown = 3,
                                .uid = uid,
                                .notes = &notes };
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    plim_report_ps_text(out, &ps, &(struct plim_style){ 0 });
    fclose(out);
    plim_watch_close(watch);
    return text;
}

static void check_end(int64_t uid, const char *end)
{
    char *text = text_for(uid);
    const size_t n = strlen(text), n_end = strlen(end);
    if (n < n_end || strcmp(text + n - n_end, end) != 0)
        fail_msg("user %d: '%s'", (int)uid, text);
    free(text);
}

static void test_ends(void **state)
{
    (void)state;
    check_end(0, "\n\n6.00 GiB held by 3 stale processes: 'plimsoll free --stale' ends them\n");
    check_end(1000, "\n\n2.00 GiB held by 1 stale process of others: 'sudo plimsoll free PID'\n"
                    "4.00 GiB held by 2 stale processes: 'plimsoll free --stale' ends them\n");
    check_end(1001, "\n\n4.00 GiB held by 2 stale processes of others: 'sudo plimsoll free PID'\n"
                    "2.00 GiB held by 1 stale process: 'plimsoll free --stale' ends it\n");
    check_end(1002, "\n\n6.00 GiB held by 3 stale processes of others: 'sudo plimsoll free PID'\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
