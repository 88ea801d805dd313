/* SPDX-License-Identifier: MIT */
/*
 * The course: SIGTERM to the root of each job, a launcher or a server, which ends its workers in order; SIGTERM to the
 * workers when the root is gone and they are not, or after half of the grace; SIGKILL to what is left after the grace.
 * A stopped process is continued, for else it does not see SIGTERM.
 */
#include "watch/ending/ending.h"

#include "base/mem.h"
#include "base/system.h"
#include "watch/ending/handle.h"
#include "watch/ending/state.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    AFTER_ROOT_MS = 1000, /* that workers have to see that their root is gone */
    AFTER_KILL_MS = 5000, /* the kernel takes long over a process with much pinned memory */
    LONGEST_WAIT_MS = 100,
};

static int64_t now_ms(void) { return (int64_t)(plim_system_now_us() / 1000) + 1; /* never 0 */ }

static void settle(struct plim_ended *e, enum plim_ending_end end, const char *why)
{
    e->end = end;
    snprintf(e->why, sizeof e->why, "%s", why);
}

static void let_go(struct plim_ending *ending, uint32_t i)
{
    if (ending->file[i] >= 0)
        close(ending->file[i]);
    ending->file[i] = -1;
}

/* --- opening --- */

static int fail_unsupported(struct plim_error *reterr)
{
    plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
              "this kernel does not hold processes (pidfd_open): nothing was ended");
    plim_error_hint(reterr, "Linux 5.3 or newer can, unless a filter of system calls forbids it; without, a number may "
                            "belong to another process by the time it is ended");
    return PLIM_E_UNSUPPORTED;
}

static int fail_elsewhere(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                     "the processes are those of another /proc: nothing is ended");
}

int plim_ending_send(const struct plim_ending_candidate *candidate, const struct plim_asker *asker, int signal,
                     struct plim_error *reterr)
{
    int file, error;
    if (asker->is_elsewhere)
        return fail_elsewhere(reterr);
    if (candidate->keep != PLIM_KEEP_NOT)
        return plim_fail(reterr, PLIM_E_DENIED, PLIM_NO_OFFSET, "%s", candidate->keep_why);
    switch (plim_handle_open(&candidate->kin, &file)) {
    case PLIM_HANDLE_OPEN:
        break;
    case PLIM_HANDLE_UNSUPPORTED:
        return fail_unsupported(reterr);
    case PLIM_HANDLE_FAILED:
        return plim_fail_errno(reterr, "", "the process cannot be held", errno);
    default:
        return plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "the process has ended");
    }
    error = plim_handle_signal(file, signal);
    close(file);
    if (error == ESRCH)
        return plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "the process has ended");
    return error ? plim_fail_errno(reterr, "", "the signal was not sent", error) : 0;
}

static bool take_handle(struct plim_ending *ending, uint32_t i)
{
    struct plim_ended *e = &ending->ended[i];
    switch (plim_handle_open(&e->candidate.kin, &ending->file[i])) {
    case PLIM_HANDLE_OPEN:
        break;
    case PLIM_HANDLE_ENDED:
        settle(e, PLIM_END_BEFORE, "");
        break;
    case PLIM_HANDLE_OTHER:
        settle(e, PLIM_END_CHANGED, "its number belongs to another process now");
        break;
    case PLIM_HANDLE_UNSUPPORTED:
        return false;
    case PLIM_HANDLE_FAILED:
        settle(e, PLIM_END_FAILED, strerror(errno));
        break;
    }
    return true;
}

int plim_ending_open(const struct plim_choice *choice, const struct plim_asker *asker, int64_t grace_ms,
                     struct plim_ending **ret_ending, struct plim_error *reterr)
{
    if (asker->is_elsewhere)
        return fail_elsewhere(reterr);
    struct plim_ending *ending = plim_alloc(1, sizeof *ending);
    const uint32_t n = choice->n_chosen;
    int result = 0;
    if (!ending)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory for a list of processes");
    *ending = (struct plim_ending){ .grace_ms = grace_ms };
    ending->ended = plim_alloc(n + 1, sizeof *ending->ended);
    ending->file = plim_alloc(n + 1, sizeof *ending->file);
    ending->term_ms = plim_alloc(n + 1, sizeof *ending->term_ms);
    if (!ending->ended || !ending->file || !ending->term_ms) {
        plim_ending_close(ending);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory for a list of processes");
    }
    for (uint32_t i = 0; result == 0 && i < n; i++) {
        ending->ended[i] = (struct plim_ended){ .candidate = choice->candidate[i], .took_ms = -1 };
        ending->file[i] = -1;
        ending->n = i + 1;
        if (take_handle(ending, i))
            continue;
        result = fail_unsupported(reterr);
    }
    if (result < 0)
        plim_ending_close(ending);
    else
        *ret_ending = ending;
    return result;
}

void plim_ending_close(struct plim_ending *ending)
{
    if (!ending)
        return;
    for (uint32_t i = 0; i < ending->n; i++)
        let_go(ending, i);
    plim_free(ending->ended);
    plim_free(ending->file);
    plim_free(ending->term_ms);
    plim_free(ending->returned);
    plim_free(ending->used_bytes);
    plim_free(ending->held);
    plim_free(ending);
}

/* --- confirming --- */

static void confirm_one(struct plim_ending *ending, const struct plim_choice *choice, uint32_t i)
{
    struct plim_ended *e = &ending->ended[i];
    const struct plim_kin *kin = &e->candidate.kin;
    const struct plim_ending_candidate *again = plim_choice_find(choice, kin->pid, kin->start_ticks);
    if (plim_handle_has_ended(ending->file[i])) {
        settle(e, PLIM_END_BEFORE, "");
    } else if (!again) {
        settle(e, PLIM_END_CHANGED,
               e->candidate.is_named                  ? "it no longer holds memory on a card"
               : e->candidate.stale == PLIM_STALE_YES ? "it is no longer stale, or no longer holds memory on a card"
                                                      : "what it works for is not ended, or it holds no memory now");
    } else if (again->keep != PLIM_KEEP_NOT) {
        settle(e, PLIM_END_CHANGED, again->keep_why);
    } else if (again->part != e->candidate.part || (again->part == PLIM_PART_HOLDER && again->bytes == 0)) {
        settle(e, PLIM_END_CHANGED, "it no longer holds memory on a card");
    } else {
        e->candidate.bytes = again->bytes;
        return;
    }
    let_go(ending, i);
}

int plim_ending_confirm(struct plim_ending *ending, const struct plim_choice *choice, const struct plim_sample *sample,
                        uint32_t *ret_n, struct plim_error *reterr)
{
    uint32_t n = 0;
    const int result = plim_ending_note(ending, sample, reterr);
    if (result < 0)
        return result;
    for (uint32_t i = 0; i < ending->n; i++) {
        if (ending->ended[i].end == PLIM_END_WAITING)
            confirm_one(ending, choice, i);
        n += ending->ended[i].end == PLIM_END_WAITING;
    }
    ending->is_confirmed = true;
    *ret_n = n;
    return 0;
}

/* --- signals --- */

static void send_signal(struct plim_ending *ending, uint32_t i, int number)
{
    struct plim_ended *e = &ending->ended[i];
    const int error = plim_handle_signal(ending->file[i], number);
    if (error == 0 || error == ESRCH)
        return;
    settle(e, error == EPERM ? PLIM_END_DENIED : PLIM_END_FAILED, strerror(error));
    let_go(ending, i);
}

static void terminate(struct plim_ending *ending, uint32_t i, int64_t now)
{
    struct plim_kin kin;
    ending->term_ms[i] = now;
    send_signal(ending, i, SIGTERM);
    if (ending->file[i] >= 0 && plim_kin_read(NULL, ending->ended[i].candidate.kin.pid, &kin) && kin.state == 'T')
        send_signal(ending, i, SIGCONT);
}

static void note_ends(struct plim_ending *ending, int64_t now)
{
    for (uint32_t i = 0; i < ending->n; i++) {
        struct plim_ended *e = &ending->ended[i];
        if (e->end != PLIM_END_WAITING || !plim_handle_has_ended(ending->file[i]))
            continue;
        const int64_t since = ending->term_ms[i] ? ending->term_ms[i] : ending->kill_ms;
        e->took_ms = since ? now - since : -1;
        settle(e, ending->kill_ms ? PLIM_END_KILL : since ? PLIM_END_TERM : PLIM_END_BEFORE, "");
        let_go(ending, i);
    }
}

/* True when the root of the job of process i is no longer waited for, or is a process that ended long enough ago. */
static bool is_without_root(const struct plim_ending *ending, uint32_t i, int64_t now)
{
    const int32_t job = ending->ended[i].candidate.job;
    for (uint32_t k = 0; k < ending->n; k++) {
        const struct plim_ended *root = &ending->ended[k];
        if (root->candidate.job == job && root->candidate.is_root_of_job)
            return root->end != PLIM_END_WAITING &&
                   (root->took_ms < 0 || now >= ending->term_ms[k] + root->took_ms + AFTER_ROOT_MS);
    }
    return true;
}

static void send_due(struct plim_ending *ending, int64_t now)
{
    const bool is_half = now >= ending->begin_ms + ending->grace_ms / 2;
    const bool is_kill = now >= ending->begin_ms + ending->grace_ms && !ending->kill_ms;
    for (uint32_t i = 0; i < ending->n; i++) {
        const struct plim_ended *e = &ending->ended[i];
        if (e->end != PLIM_END_WAITING)
            continue;
        if (!ending->term_ms[i] && (e->candidate.is_root_of_job || is_half || is_without_root(ending, i, now)))
            terminate(ending, i, now);
        if (is_kill && e->end == PLIM_END_WAITING)
            send_signal(ending, i, SIGKILL);
    }
    if (is_kill)
        ending->kill_ms = now;
}

bool plim_ending_advance(struct plim_ending *ending, int wait_ms)
{
    bool is_over = true;
    if (!ending->is_confirmed)
        return true;
    int64_t now = now_ms();
    if (!ending->begin_ms) {
        ending->begin_ms = now;
        note_ends(ending, now);
        send_due(ending, now);
    }
    plim_handle_wait(ending->file, ending->n, wait_ms < LONGEST_WAIT_MS ? wait_ms : LONGEST_WAIT_MS);
    now = now_ms();
    note_ends(ending, now);
    send_due(ending, now);
    for (uint32_t i = 0; i < ending->n; i++) {
        struct plim_ended *e = &ending->ended[i];
        if (e->end == PLIM_END_WAITING && ending->kill_ms && now >= ending->kill_ms + AFTER_KILL_MS) {
            settle(e, PLIM_END_SURVIVED, "it waits inside the kernel, where no signal reaches it");
            let_go(ending, i);
        }
        is_over &= e->end != PLIM_END_WAITING;
    }
    return is_over;
}

/* --- results --- */

uint32_t plim_ending_count(const struct plim_ending *ending) { return ending->n; }
const struct plim_ended *plim_ending_at(const struct plim_ending *ending, uint32_t i) { return &ending->ended[i]; }

const char *plim_ending_end_name(enum plim_ending_end end)
{
    static const char *const names[PLIM_END_MAX_] = {
        [PLIM_END_WAITING] = "waiting", [PLIM_END_BEFORE] = "ended_before", [PLIM_END_CHANGED] = "let_go",
        [PLIM_END_DENIED] = "denied",   [PLIM_END_FAILED] = "failed",       [PLIM_END_TERM] = "terminated",
        [PLIM_END_KILL] = "killed",     [PLIM_END_SURVIVED] = "survived",
    };
    return end < PLIM_END_MAX_ ? names[end] : "";
}
