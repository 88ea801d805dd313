/* SPDX-License-Identifier: MIT */
#include "cli/rehearse/run.h"

#include "base/text.h"
#include "rehearse/progress.h"
#include "report/columns.h"
#include "report/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* --- while it runs --- */

static struct plim_rehearsal_progress progress; /* a process runs one rehearsal at a time */

static int terminal_columns(void)
{
    enum { USUAL = 80 };
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL;
}

/* So many blanks take the cursor to the next row, unless it is at the beginning of one. */
static void show_progress(const struct plim_tree *tree, const struct plim_ledger *ledger, double elapsed_s,
                          bool is_over)
{
    const struct plim_progress_output output = plim_progress_output_of(tree, STDERR_FILENO);
    const bool is_foreground = tcgetpgrp(STDERR_FILENO) == getpgrp();
    const enum plim_progress_act act =
        is_foreground ? plim_progress_decide(&progress, &output, elapsed_s, is_over) : PLIM_PROGRESS_NOTHING;
    if (act == PLIM_PROGRESS_NOTHING)
        return;
    char text[PLIM_PROGRESS_TEXT];
    const int columns = terminal_columns(), most = columns <= PLIM_TEXT_WIDTH ? columns - 1 : PLIM_TEXT_WIDTH;
    plim_progress_text(ledger, elapsed_s, text);
    if (act == PLIM_PROGRESS_NEW)
        plim_print(stderr, "%*s\r\033[K%.*s\n", columns, "", most, text);
    else if (act == PLIM_PROGRESS_AGAIN)
        plim_print(stderr, "\033[A\r\033[K%.*s\n", most, text);
    else if (act == PLIM_PROGRESS_ERASE)
        plim_print(stderr, "\033[A\r\033[K");
}

/* On a terminal that understands what it takes to write a line anew. */
static bool has_progress(const struct plim_rehearse_options *o)
{
    const char *term = getenv("TERM");
    return !o->is_quiet && !o->is_json && isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

void plim_rehearse_watch(struct plim_rehearse_options *o)
{
    o->launch.progress = has_progress(o) ? show_progress : NULL;
}

/* --- a run --- */

int plim_rehearse_fail(const struct plim_error *error)
{
    plim_cli_fail(error);
    return error->code == PLIM_E_NOT_FOUND                           ? PLIM_EXIT_NOT_FOUND
           : error->code == PLIM_E_NOMEM || error->code == PLIM_E_IO ? PLIM_EXIT_OURS
                                                                     : PLIM_EXIT_CANNOT_RUN;
}

int plim_rehearse_once(struct plim_rehearse_options *o, struct plim_rehearsal *rehearsal)
{
    struct plim_error error = { 0 };
    memset(rehearsal, 0, sizeof *rehearsal);
    const int fd = plim_rehearsal_ledger(&rehearsal->ledger);
    if (fd < 0) {
        plim_print(stderr, "plimsoll: cannot create the ledger: %s\n", strerror(errno));
        return PLIM_EXIT_OURS;
    }
    rehearsal->command = o->launch.arguments;
    rehearsal->schedule = o->is_both ? "both" : o->launch.schedule ? o->launch.schedule : "eager";
    rehearsal->tokens = o->launch.tokens;
    rehearsal->values = o->launch.values ? o->launch.values : "zero";
    snprintf(rehearsal->card_name, sizeof rehearsal->card_name, "%s", o->card);
    for (uint32_t i = 0; i < o->machine.n_cards; i++)
        plim_rehearsal_describe(&o->machine.card[i], &rehearsal->ledger->card[i]);
    rehearsal->ledger->n_cards = o->machine.n_cards;
    progress = (struct plim_rehearsal_progress){ .is_alone = o->launch.log != NULL };
    const int result = plim_launch_run(&o->launch, fd, rehearsal, &error);
    close(fd);
    return result < 0 ? plim_rehearse_fail(&error) : 0;
}
