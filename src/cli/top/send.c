/* SPDX-License-Identifier: MIT */
#include "cli/top/send.h"

#include "cli/watch/asker.h"
#include "report/top/frame.h"
#include "watch/ending/ending.h"

#include <inttypes.h>
#include <stdio.h>

struct targets {
    const struct plim_top_id *id;
    uint32_t n;
    int64_t pid[PLIM_TOP_MAX_TAGGED];
    size_t n_pids; /* each once: a process may hold memory on several cards */
};

static bool is_first(const struct targets *targets, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (targets->id[k].pid == targets->id[i].pid && targets->id[k].start_ticks == targets->id[i].start_ticks)
            return false;
    return true;
}

static void collect(const struct plim_top_view *view, struct targets *ret_targets)
{
    *ret_targets = (struct targets){ .id = view->n_tagged ? view->tagged : &view->selected,
                                     .n = view->n_tagged ? view->n_tagged : 1 };
    for (uint32_t i = 0; i < ret_targets->n; i++)
        if (is_first(ret_targets, i))
            ret_targets->pid[ret_targets->n_pids++] = ret_targets->id[i].pid;
}

static int send_one(const struct plim_choice *choice, const struct plim_top_id *id, const struct plim_asker *asker,
                    int signal, struct plim_error *reterr)
{
    const struct plim_ending_candidate *candidate = plim_choice_find(choice, id->pid, id->start_ticks);
    if (!candidate)
        return plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "it has ended");
    if (candidate->keep != PLIM_KEEP_NOT)
        return plim_fail(reterr, PLIM_E_DENIED, PLIM_NO_OFFSET, "%.180s", candidate->keep_why);
    return plim_ending_send(candidate, asker, signal, reterr);
}

static void send_all(const struct plim_choice *choice, const struct targets *targets, const struct plim_asker *asker,
                     const struct plim_top_signal *signal, struct plim_top_view *view)
{
    struct plim_error first = { 0 };
    int64_t refused = 0;
    uint32_t n_sent = 0;
    for (uint32_t i = 0; i < targets->n; i++) {
        struct plim_error error = { 0 };
        if (!is_first(targets, i))
            continue;
        if (send_one(choice, &targets->id[i], asker, signal->number, &error) == 0) {
            n_sent++;
        } else if (!refused) {
            refused = targets->id[i].pid;
            first = error;
        }
    }
    view->is_message_bad = refused != 0;
    if (refused)
        snprintf(view->message, sizeof view->message, "%s sent to %" PRIu32 " of %zu; not to %" PRId64 ": %.140s",
                 signal->name, n_sent, targets->n_pids, refused, first.what);
    else
        snprintf(view->message, sizeof view->message, "%s sent to %" PRIu32 " process%s.", signal->name, n_sent,
                 n_sent == 1 ? "" : "es");
    view->n_tagged = 0;
}

/* All processes first, then the look: a number that got a new owner in between is noticed (watch/ending/choice.h). */
int plim_top_send(struct plim_top_look *look, struct plim_top_view *view, struct plim_error *reterr)
{
    const struct plim_top_signal *signal = &plim_top_signals[view->choice % PLIM_TOP_SIGNALS_N];
    const struct plim_asker asker = plim_cli_asker(look->root, look->nvml);
    struct plim_kinship kinship = { 0 };
    struct plim_choice *choice = NULL;
    struct plim_error error = { 0 };
    struct targets targets;
    bool is_new;
    collect(view, &targets);
    const struct plim_wish wish = { .pid = targets.pid, .n_pids = targets.n_pids };
    int result = plim_kinship_read(look->root, &kinship, reterr);
    if (result == 0)
        result = plim_top_look_again(look, &is_new, reterr);
    if (result == 0) {
        const struct plim_scene scene = { look->machine.sample, look->machine.rows, &kinship, look->root, asker };
        if (plim_choice_make(&scene, &wish, &choice, &error) == 0) {
            send_all(choice, &targets, &asker, signal, view);
        } else {
            snprintf(view->message, sizeof view->message, "Nothing was sent: %.160s", error.what);
            view->is_message_bad = true;
        }
    }
    plim_choice_free(choice);
    plim_kinship_done(&kinship);
    return result;
}
