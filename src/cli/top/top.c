/* SPDX-License-Identifier: MIT */
/* plimsoll top: who holds the memory of the cards, live. */
#include "base/system.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/top/keys.h"
#include "cli/top/look.h"
#include "cli/top/options.h"
#include "cli/top/screen.h"
#include "cli/top/send.h"
#include "cli/watch/cards.h"
#include "report/top/frame.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SLOW_INTERVAL_MS = 5000, /* while nothing changes: drivers and laptops are left alone */
    SLOW_AFTER_MS = 30000,   /* without a change, and without a key */
};

struct session {
    struct plim_top_options options;
    struct plim_top_look look;
    struct plim_top_view view;
    struct plim_top_rows rows;
    struct plim_grid grid;
    struct plim_screen *screen;
    int64_t next_ms, changed_ms, pressed_ms;
};

static int64_t now_ms(void) { return (int64_t)(plim_system_now_us() / 1000); }

/* --- one frame --- */

static void set_clock(struct session *s)
{
    const time_t seconds = (time_t)(s->look.machine.sample->taken_unix_ms / 1000);
    struct tm local;
    if (!localtime_r(&seconds, &local) || !strftime(s->view.clock, sizeof s->view.clock, "%H:%M:%S", &local))
        s->view.clock[0] = '\0';
}

static bool make_rows(struct session *s) { return plim_top_rows_make(&s->rows, &s->look.machine, &s->view); }

static int show(struct session *s, struct plim_error *reterr)
{
    int lines, columns;
    plim_screen_size(s->screen, &lines, &columns);
    const bool has_other_size = lines != s->grid.lines || columns != s->grid.columns;
    if (!make_rows(s) || (has_other_size && !plim_grid_resize(&s->grid, lines, columns)))
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    const uint32_t at = plim_top_rows_selected(&s->rows, s->look.machine.sample, &s->view);
    if (at != UINT32_MAX)
        s->view.selected_row = at;
    plim_top_look_at_bill(&s->look,
                          s->view.page == PLIM_TOP_DETAIL && at != UINT32_MAX ? s->rows.row[at].holding : UINT32_MAX);
    set_clock(s);
    plim_top_draw(&s->grid, &s->look.machine, &s->view, &s->rows);
    plim_screen_show(s->screen, &s->grid);
    return 0;
}

/* --- time --- */

static uint32_t interval_ms(const struct session *s, int64_t now)
{
    const bool is_quiet = now - s->changed_ms > SLOW_AFTER_MS && now - s->pressed_ms > SLOW_AFTER_MS;
    return is_quiet && !s->options.has_interval ? SLOW_INTERVAL_MS : s->options.interval_ms;
}

static int look_again(struct session *s, struct plim_error *reterr)
{
    bool is_new = false;
    const int result = plim_top_look_again(&s->look, &is_new, reterr);
    const int64_t now = now_ms();
    if (is_new)
        s->changed_ms = now;
    s->view.interval_ms = interval_ms(s, now);
    s->view.is_slowed = s->view.interval_ms != s->options.interval_ms;
    s->next_ms = now + s->view.interval_ms;
    return result;
}

/* --- keys --- */

/* 1: the user has had enough. */
static int press(struct session *s, uint32_t key, struct plim_error *reterr)
{
    const enum plim_top_action action = plim_top_press(&s->view, s->look.machine.sample, &s->rows, key);
    s->pressed_ms = now_ms();
    if (s->view.is_slowed || action == PLIM_ACT_LOOK)
        s->next_ms = 0;
    if (action == PLIM_ACT_SEND)
        return plim_top_send(&s->look, &s->view, reterr);
    return action == PLIM_ACT_QUIT;
}

static int run_until_end(struct session *s, struct plim_error *reterr)
{
    for (;;) {
        uint32_t key = PLIM_KEY_NONE;
        const int64_t now = now_ms();
        if (now >= s->next_ms && (!s->view.is_paused || s->next_ms == 0)) {
            const int result = look_again(s, reterr);
            if (result < 0)
                return result;
        }
        int result = show(s, reterr);
        if (result < 0)
            return result;
        const int64_t wait_ms = s->view.is_paused ? SLOW_AFTER_MS : s->next_ms - now_ms();
        switch (plim_screen_wait(s->screen, wait_ms > 0 ? (int)wait_ms : 0, &key)) {
        case PLIM_EVENT_END:
            return 0;
        case PLIM_EVENT_KEY:
            result = press(s, key, reterr);
            if (result != 0)
                return result < 0 ? result : 0;
            break;
        default:
            break;
        }
    }
}

/* --- */

static int check_streams(void)
{
    if (plim_system_is_terminal(STDOUT_FILENO) && plim_system_is_terminal(STDIN_FILENO))
        return PLIM_EXIT_YES;
    return plim_cli_usage("'plimsoll ps' lists the same once, 'plimsoll ps --json' for programs",
                          "'plimsoll top' draws on a terminal, and standard %s is none",
                          plim_system_is_terminal(STDOUT_FILENO) ? "input" : "output");
}

static int start(struct session *s, struct plim_error *reterr)
{
    const struct plim_top_options *o = &s->options;
    const char *root = o->sysroot ? o->sysroot : getenv("PLIMSOLL_SYSROOT");
    int result = plim_top_look_open(&s->look, getenv("PLIMSOLL_NVML"), root, o->idle_after_s, reterr);
    if (result < 0)
        return result;
    const struct plim_sample *sample = s->look.machine.sample;
    if (sample->n_cards == 0)
        return plim_watch_no_card(sample, reterr);
    s->view = (struct plim_top_view){
        .only_card = UINT32_MAX, .only_user = o->user, .is_readonly = o->is_readonly, .interval_ms = o->interval_ms
    };
    if (o->card && (s->view.only_card = plim_top_look_card(&s->look, o->card)) == UINT32_MAX)
        return plim_watch_no_such_card(sample, o->card, reterr);
    s->changed_ms = s->pressed_ms = now_ms();
    s->next_ms = s->changed_ms + o->interval_ms;
    setlocale(LC_CTYPE, "");
    s->grid.is_ascii = o->is_ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    return plim_screen_open(NULL, plim_cli_has_colour(STDOUT_FILENO, o->color), &s->screen, reterr);
}

static int run(int argc, char **argv)
{
    static struct session session;
    struct session *s = &session;
    struct plim_error error = { 0 };
    memset(s, 0, sizeof *s);
    int status = plim_top_options_parse(&plim_cli_top, argc, argv, &s->options);
    if (status != PLIM_EXIT_YES)
        return status;
    if (s->options.is_help)
        return plim_help_command(stdout, &plim_cli_top);
    status = check_streams();
    if (status != PLIM_EXIT_YES)
        return status;
    int result = start(s, &error);
    if (result == 0)
        result = run_until_end(s, &error);
    plim_screen_close(s->screen);
    plim_top_look_close(&s->look);
    plim_top_rows_done(&s->rows);
    plim_grid_done(&s->grid);
    plim_screen_obey();
    return result < 0 ? plim_cli_fail(&error) : PLIM_EXIT_YES;
}

const struct plim_cli_command plim_cli_top = {
    .name = "top",
    .arguments = "[OPTIONS]",
    .summary = "the same live: growth, and the time until a card is full",
    .examples = "  plimsoll top\n"
                "  plimsoll top --card 1 --user anna\n"
                "  plimsoll top --readonly --interval 5\n",
    .run = run,
    .options = plim_top_list_options,
};
