/* SPDX-License-Identifier: MIT */
#include "sweep/run.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/system.h"
#include "base/units.h"
#include "sweep/child.h"
#include "sweep/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 64, USUAL_JOBS = 2, WRITE_US = 1000000, TICK_MS = 200 };

/* Until a row has told: Python with PyTorch takes 0.8 GiB on a virtual card, with a model of a few billions 2 GiB. */
static const uint64_t first_guess_bytes = 2 * PLIM_GIB;

struct state {
    const struct plim_sweep_run *run;
    struct plim_sweep_child child[MOST_JOBS];
    size_t n_running, next; /* the row that is looked at next */
    struct plim_sweep_progress progress;
    uint64_t start_us, written_us, host_bytes /* the most that a row took */;
    bool is_written;
    double spent_s; /* by the rows that ended */
    char logs[PLIM_SWEEP_PATH_BYTES];
    struct plim_error *err;
};

/* --- how many --- */

static unsigned usual_jobs(void)
{
    const long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    return n_cores >= USUAL_JOBS ? USUAL_JOBS : 1;
}

/* The first always runs; another one when there is room for as much again as rows have taken, beside those that grow.
 */
static bool has_room(const struct state *s)
{
    const unsigned most = s->run->most_jobs ? s->run->most_jobs : usual_jobs();
    uint64_t total, free_bytes;
    if (s->n_running == 0)
        return true;
    if (s->n_running >= most || s->n_running >= MOST_JOBS)
        return false;
    if (plim_system_ram(&total, &free_bytes) != 0)
        return true;
    const uint64_t each = s->host_bytes ? s->host_bytes : first_guess_bytes;
    return free_bytes / (s->n_running + 1) >= each;
}

/* --- progress --- */

static void show(struct state *s, size_t last_row)
{
    struct plim_sweep_progress *p = &s->progress;
    const size_t n_jobs = s->n_running ? s->n_running : 1;
    p->seconds = (double)(plim_system_now_us() - s->start_us) / 1e6;
    p->n_running = s->n_running;
    p->seconds_left =
        p->n_done ? s->spent_s / (double)p->n_done * (double)(p->n_left + s->n_running) / (double)n_jobs : -1;
    p->last_row = last_row;
    if (s->run->show)
        s->run->show(s->run->context, p);
}

/* --- a row --- */

static int write_table(struct state *s)
{
    s->is_written = true;
    s->written_us = plim_system_now_us();
    return plim_sweep_table_write(s->run->table, s->err);
}

/* The outcome of a command that could not be started, too. */
static int enter(struct state *s, size_t row, const struct plim_sweep_outcome *outcome)
{
    if (plim_sweep_table_set(s->run->table, s->run->sweep, row, outcome, s->err) < 0)
        return s->err->code;
    s->is_written = false;
    s->progress.n_done++;
    s->progress.n_failed += outcome->status == PLIM_SWEEP_FAILED;
    s->spent_s += outcome->seconds;
    show(s, row);
    return 0;
}

static int start_row(struct state *s, struct plim_sweep_child *child, size_t row)
{
    static char none[PLIM_SWEEP_MAX_COLUMNS][PLIM_SWEEP_CELL_BYTES];
    const char *values[PLIM_SWEEP_MAX_VARIABLES];
    char log[PLIM_SWEEP_PATH_BYTES + 8];
    struct plim_error error = { 0 };
    struct plim_arena arena;
    plim_arena_init(&arena, PLIM_MAX_SWEEP_MEMORY_BYTES);
    *child = (struct plim_sweep_child){ .row = row, .start_us = plim_system_now_us() };
    snprintf(child->path, sizeof child->path, "%.3900s/%016llx", s->logs,
             (unsigned long long)s->run->rows->row[row].key);
    snprintf(log, sizeof log, "%s.out", child->path);
    plim_sweep_row_values(s->run->sweep, s->run->rows->row[row].number, values);
    char **arguments = plim_sweep_arguments(&arena, s->run->sweep, values, s->run->self, log);
    int result = arguments ? plim_sweep_child_start(child, arguments, &error)
                           : plim_fail(&error, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the command is too long");
    plim_arena_done(&arena);
    if (result == 0) {
        s->n_running++;
        return 0;
    }
    const struct plim_sweep_outcome outcome = {
        .status = PLIM_SWEEP_FAILED, .exit_status = 127, .reason = error.what, .value = none
    };
    plim_sweep_child_clear(child, false);
    return enter(s, row, &outcome);
}

/* Why it has no answer: in our words, with the last that the program said. */
static void explain(const struct state *s, const struct plim_sweep_child *child, const char *why, int exit_status,
                    char reason[PLIM_SWEEP_CELL_BYTES])
{
    char line[PLIM_SWEEP_CELL_BYTES], end[64] = "";
    plim_sweep_child_last_line(child, line);
    const bool is_said = strstr(why, "exit status") || strstr(why, "signal"); /* of the program, by the receipt */
    if (exit_status < 0 && !is_said)
        snprintf(end, sizeof end, ", ended by signal %d", -exit_status);
    else if (exit_status > 0 && !is_said)
        snprintf(end, sizeof end, ", exit status %d", exit_status);
    if (child->is_late)
        snprintf(reason, PLIM_SWEEP_CELL_BYTES, "took longer than %llu s",
                 (unsigned long long)s->run->sweep->timeout_s);
    else
        snprintf(reason, PLIM_SWEEP_CELL_BYTES, "%.80s%s%s%.100s", why, end, line[0] ? ": " : "", line);
}

static int end_row(struct state *s, struct plim_sweep_child *child, int exit_status)
{
    static char values[PLIM_SWEEP_MAX_COLUMNS][PLIM_SWEEP_CELL_BYTES];
    char reason[PLIM_SWEEP_CELL_BYTES] = "", why[PLIM_SWEEP_CELL_BYTES];
    json_t *document = plim_sweep_child_document(child, why);
    struct plim_sweep_outcome outcome = {
        .exit_status = exit_status,
        .seconds = (double)(plim_system_now_us() - child->start_us) / 1e6,
        .reason = reason,
        .value = values,
    };
    const bool is_answer = document && plim_sweep_is_answer(document, exit_status, why);
    outcome.status = is_answer && !child->is_late ? PLIM_SWEEP_OK : PLIM_SWEEP_FAILED;
    if (outcome.status == PLIM_SWEEP_FAILED)
        explain(s, child, why, exit_status, reason);
    for (size_t i = 0; i < s->run->sweep->n_columns; i++)
        plim_sweep_column_value(&s->run->sweep->column[i], document, values[i]);
    const uint64_t host_bytes = plim_sweep_host_bytes(document);
    s->host_bytes = host_bytes > s->host_bytes ? host_bytes : s->host_bytes;
    json_decref(document);
    plim_sweep_child_clear(child, outcome.status == PLIM_SWEEP_FAILED);
    return enter(s, child->row, &outcome);
}

/* --- signals --- */

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

/*
 * Those that break a sweep off, and SIGCHLD, wait to be asked for. One that is ignored, as under nohup, stays so; the
 * end of a child that is ignored could not be waited for.
 */
static void hold_signals(sigset_t *ret_signals, sigset_t *ret_before, struct sigaction *ret_child)
{
    const struct sigaction usual = { .sa_handler = SIG_DFL };
    struct sigaction action;
    sigemptyset(ret_signals);
    sigaddset(ret_signals, SIGCHLD);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(ret_signals, ending[i]);
    sigprocmask(SIG_BLOCK, ret_signals, ret_before);
    sigaction(SIGCHLD, &usual, ret_child);
}

/* --- all --- */

static int start_rows(struct state *s)
{
    int result = 0;
    const struct plim_sweep_table *table = s->run->table;
    while (result == 0 && s->progress.n_left && has_room(s)) {
        while (table->status[s->next] != PLIM_SWEEP_OPEN)
            s->next++;
        struct plim_sweep_child *child = s->child;
        while (child->pid)
            child++;
        s->progress.n_left--;
        result = start_row(s, child, s->next++);
        show(s, SIZE_MAX);
    }
    return result;
}

/* Ask those to end that are too late; with `is_over` all of them. */
static void end_late(struct state *s, bool is_over)
{
    const uint64_t now = plim_system_now_us(), most_us = s->run->sweep->timeout_s * 1000000;
    for (struct plim_sweep_child *c = s->child; c < s->child + MOST_JOBS; c++) {
        if (!c->pid)
            continue;
        const bool is_late = most_us && now - c->start_us > most_us;
        c->is_late = c->is_late || (is_late && !is_over);
        if (is_over || is_late || c->asked_us)
            plim_sweep_child_end(c, now);
    }
}

static int collect(struct state *s, bool is_over)
{
    int result = 0, status;
    for (struct plim_sweep_child *c = s->child; c < s->child + MOST_JOBS && result == 0; c++) {
        if (!c->pid || !plim_sweep_child_has_ended(c, &status))
            continue;
        s->n_running--;
        if (is_over)
            plim_sweep_child_clear(c, false);
        else
            result = end_row(s, c, status);
    }
    return result;
}

static int run_all(struct state *s, const sigset_t *signals, int *ret_signal)
{
    const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };
    int result = 0;
    while (s->n_running || (result == 0 && !*ret_signal && s->progress.n_left)) {
        if (result == 0 && !*ret_signal)
            result = start_rows(s);
        const int number = s->n_running ? sigtimedwait(signals, NULL, &tick) : -1;
        if (number > 0 && number != SIGCHLD)
            *ret_signal = number;
        const bool is_over = *ret_signal || result < 0;
        const int collected = collect(s, is_over);
        result = result < 0 ? result : collected;
        end_late(s, is_over);
        if (result == 0 && !s->is_written && plim_system_now_us() - s->written_us >= WRITE_US)
            result = write_table(s);
        show(s, SIZE_MAX);
    }
    return result;
}

static int make_folder(struct state *s)
{
    snprintf(s->logs, sizeof s->logs, "%.4000s.logs", s->run->table->path);
    if (mkdir(s->logs, 0777) < 0 && errno != EEXIST)
        return plim_fail_errno(s->err, s->logs, "make the folder", errno);
    return 0;
}

int plim_sweep_run(const struct plim_sweep_run *run, int *ret_signal, struct plim_error *reterr)
{
    static struct state s; /* of the one sweep that a process runs */
    sigset_t signals, before;
    struct sigaction child_before;
    s = (struct state){ .run = run, .start_us = plim_system_now_us(), .err = reterr };
    s.progress = (struct plim_sweep_progress){ .table = run->table };
    for (size_t i = 0; i < run->table->n_wanted; i++)
        s.progress.n_left += run->table->status[i] == PLIM_SWEEP_OPEN;
    *ret_signal = 0;
    int result = write_table(&s);
    if (result < 0 || !s.progress.n_left)
        return result;
    if ((result = make_folder(&s)) < 0)
        return result;
    hold_signals(&signals, &before, &child_before);
    result = run_all(&s, &signals, ret_signal);
    if (!s.is_written && result == 0)
        result = write_table(&s);
    rmdir(s.logs); /* stays where logs are in it */
    sigaction(SIGCHLD, &child_before, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return result;
}
