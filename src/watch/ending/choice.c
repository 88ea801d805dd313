/* SPDX-License-Identifier: MIT */
/*
 * In four steps: each process that holds memory is a subject; those asked for go through the rules; to those that pass,
 * their job is added; and one member that is kept keeps its job. The job of a stale process is all of it, from the
 * launcher down. That of a named process is what works for it: never its parents.
 */
#include "watch/ending/choice.h"

#include "base/mem.h"
#include "watch/ending/gentle.h"
#include "watch/ending/jobs.h"
#include "watch/ending/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_JOB = -1 };

struct making {
    const struct plim_scene *scene;
    const struct plim_wish *wish;
    struct plim_ending_subject *subject; /* one for each process of the sample */
    struct plim_choice *choice;
    uint32_t room;
    bool is_full;
};

/* --- subjects --- */

/* A process with memory on several cards is as stale as its least stale row. */
static void make_subjects(struct making *m)
{
    const struct plim_sample *sample = m->scene->sample;
    for (uint32_t i = 0; i < sample->n_processes; i++)
        m->subject[i] =
            (struct plim_ending_subject){ .scene = m->scene,
                                          .wish = m->wish,
                                          .process = &sample->process[i],
                                          .kin = plim_kinship_find(m->scene->kinship, sample->process[i].pid) };
    for (uint32_t i = 0; i < sample->n_holdings; i++) {
        const struct plim_holding *holding = &sample->holding[i];
        const struct plim_watch_row *row = &m->scene->rows[i];
        struct plim_ending_subject *subject = &m->subject[holding->process];
        subject->contexts |= holding->contexts;
        subject->is_on_card |= !m->wish->cards || m->wish->cards[holding->card];
        if (!subject->row || (subject->row->stale == PLIM_STALE_YES && row->stale != PLIM_STALE_YES))
            subject->row = row;
    }
}

static const struct plim_ending_subject *subject_of(const struct making *m, int64_t pid)
{
    for (uint32_t i = 0; i < m->scene->sample->n_processes; i++)
        if (m->subject[i].process->pid == pid)
            return &m->subject[i];
    return NULL;
}

/* --- candidates --- */

static int64_t bytes_of(const struct plim_sample *sample, const struct plim_sample_process *process)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < sample->n_holdings; i++)
        if (&sample->process[sample->holding[i].process] == process) {
            if (sample->holding[i].bytes < 0)
                return -1;
            sum += sample->holding[i].bytes;
        }
    return sum;
}

/* NULL: out of memory. */
static struct plim_ending_candidate *add_candidate(struct making *m, const struct plim_ending_subject *subject)
{
    struct plim_choice *choice = m->choice;
    if (choice->n == m->room) {
        const uint32_t larger = m->room ? m->room * 2 : 16;
        struct plim_ending_candidate *list = plim_realloc(choice->candidate, larger, sizeof *list);
        if (!list) {
            m->is_full = true;
            return NULL;
        }
        choice->candidate = list;
        m->room = larger;
    }
    struct plim_ending_candidate *c = &choice->candidate[choice->n++];
    const struct plim_sample_process *process = subject->process;
    *c = (struct plim_ending_candidate){
        .job = NO_JOB, .idle_s = -1, .started_unix_s = -1, .contexts = subject->contexts
    };
    if (subject->kin)
        c->kin = *subject->kin;
    if (process) {
        c->kin.pid = process->pid;
        if (!subject->kin || process->start_ticks != subject->kin->start_ticks) {
            c->kin = (struct plim_kin){ .pid = process->pid, .start_ticks = process->start_ticks, .uid = process->uid };
            snprintf(c->kin.command, sizeof c->kin.command, "%s", process->command ? process->command : "");
        }
        memcpy(c->user, process->user, sizeof c->user);
        c->bytes = bytes_of(m->scene->sample, process);
        c->started_unix_s = process->started_unix_s;
    }
    if (subject->row) {
        c->idle_s = subject->row->idle_s;
        c->is_idle_at_least = subject->row->is_idle_at_least;
        c->stale = subject->row->stale;
        memcpy(c->why, subject->row->why, sizeof c->why);
    }
    if (subject->kin && plim_job_root(m->scene->kinship, subject->kin) != subject->kin)
        c->works_for = plim_job_root(m->scene->kinship, subject->kin)->pid;
    plim_gentle_fill(subject, c);
    return c;
}

/* A pid that was named, and that no process of the sample has. */
static void add_unknown(struct making *m, int64_t pid)
{
    const struct plim_ending_subject subject = { .scene = m->scene,
                                                 .wish = m->wish,
                                                 .kin = plim_kinship_find(m->scene->kinship, pid) };
    struct plim_ending_candidate *c = add_candidate(m, &subject);
    if (!c)
        return;
    c->kin.pid = pid;
    c->is_named = true;
    c->keep = subject.kin ? PLIM_KEEP_NO_MEMORY : PLIM_KEEP_NO_PROCESS;
    snprintf(c->keep_why, sizeof c->keep_why, "%s",
             subject.kin ? "it holds no memory on a card: nothing would come back" : "there is no such process");
}

/* --- jobs --- */

/* A process of a job that was not asked for itself. */
static void judge_member(const struct making *m, struct plim_ending_subject *subject, struct plim_ending_candidate *c)
{
    const bool must_be_stale = m->wish->is_stale || !subject->is_named;
    c->keep = plim_rules_protect(subject, c->keep_why);
    if (c->keep != PLIM_KEEP_NOT || !must_be_stale)
        return;
    const bool is_computing = !subject->process && (subject->kin->state == 'R' || subject->kin->state == 'D');
    if (is_computing || (subject->process && c->stale != PLIM_STALE_YES)) {
        c->keep = PLIM_KEEP_NOT_STALE;
        snprintf(c->keep_why, sizeof c->keep_why, is_computing ? "it is computing" : "it is not stale");
    }
}

static bool has_ended(enum plim_ending_keep keep)
{
    return keep == PLIM_KEEP_GONE || keep == PLIM_KEEP_DEFUNCT || keep == PLIM_KEEP_CHANGED;
}

/* Who else works for the root. */
static void add_members(struct making *m, int32_t job, const struct plim_kin *root, bool is_named)
{
    const struct plim_kinship *kinship = m->scene->kinship;
    for (size_t i = 0; i < kinship->n; i++) {
        const struct plim_kin *kin = &kinship->kin[i];
        if (!plim_job_has(kinship, root, kin))
            continue;
        struct plim_ending_candidate *known = NULL;
        for (uint32_t k = 0; k < m->choice->n && !known; k++)
            if (m->choice->candidate[k].kin.pid == kin->pid)
                known = &m->choice->candidate[k];
        const struct plim_ending_subject *holder = subject_of(m, kin->pid);
        struct plim_ending_subject subject =
            holder ? *holder : (struct plim_ending_subject){ .scene = m->scene, .wish = m->wish, .kin = kin };
        subject.is_named = is_named;
        struct plim_ending_candidate *c = known ? known : add_candidate(m, &subject);
        if (!c)
            return;
        c->job = job;
        c->is_root_of_job = kin == root;
        if (known && known->keep != PLIM_KEEP_NO_MEMORY) /* a child that was named, too, is no reason to keep all */
            continue;
        c->part = holder ? PLIM_PART_HOLDER : kin == root ? PLIM_PART_LAUNCHER : PLIM_PART_CHILD;
        judge_member(m, &subject, c);
    }
}

/* One that is kept keeps all. */
static void settle_job(struct plim_choice *choice, int32_t job)
{
    const struct plim_ending_candidate *kept = NULL;
    char why[PLIM_CANDIDATE_WHY_BYTES];
    for (uint32_t i = 0; i < choice->n && !kept; i++) {
        const struct plim_ending_candidate *c = &choice->candidate[i];
        if (c->job == job && c->keep != PLIM_KEEP_NOT && !has_ended(c->keep))
            kept = c;
    }
    if (!kept)
        return;
    snprintf(why, sizeof why, "pid %" PRId64 " of the same job is kept: %.180s", kept->kin.pid, kept->keep_why);
    for (uint32_t i = 0; i < choice->n; i++) {
        struct plim_ending_candidate *c = &choice->candidate[i];
        if (c->job != job || c->keep != PLIM_KEEP_NOT)
            continue;
        c->keep = PLIM_KEEP_JOB;
        memcpy(c->keep_why, why, sizeof c->keep_why);
    }
}

static void add_jobs(struct making *m)
{
    const uint32_t n_asked = m->choice->n;
    int32_t n_jobs = 0;
    for (uint32_t i = 0; i < n_asked && !m->is_full; i++) {
        const struct plim_ending_candidate *c = &m->choice->candidate[i];
        const struct plim_kin *kin = plim_kinship_find(m->scene->kinship, c->kin.pid);
        if (c->keep != PLIM_KEEP_NOT || c->job != NO_JOB || !kin)
            continue;
        add_members(m, n_jobs, c->is_named ? kin : plim_job_root(m->scene->kinship, kin), c->is_named);
        settle_job(m->choice, n_jobs++);
    }
}

/* --- asked for --- */

static void ask(struct making *m, const struct plim_ending_subject *asked, bool is_named)
{
    struct plim_ending_subject subject = *asked;
    subject.is_named = is_named;
    const int64_t pid = subject.process ? subject.process->pid : subject.kin->pid;
    for (uint32_t i = 0; i < m->choice->n; i++)
        if (m->choice->candidate[i].kin.pid == pid)
            return; /* named twice */
    struct plim_ending_candidate *c = add_candidate(m, &subject);
    if (!c)
        return;
    c->is_named = is_named;
    c->part = subject.process ? PLIM_PART_HOLDER : PLIM_PART_LAUNCHER;
    c->keep = plim_rules_apply(&subject, c->keep_why);
}

/* A launcher stands for those that it has started. */
static bool ask_for_launcher(struct making *m, int64_t pid)
{
    struct plim_ending_subject launcher = { .scene = m->scene, .wish = m->wish, .is_named = true };
    bool has_workers = false;
    launcher.kin = plim_kinship_find(m->scene->kinship, pid);
    for (uint32_t i = 0; launcher.kin && i < m->scene->sample->n_processes; i++) {
        const struct plim_ending_subject *subject = &m->subject[i];
        if (!subject->kin || !plim_job_has(m->scene->kinship, launcher.kin, subject->kin))
            continue;
        has_workers = true;
        launcher.is_on_card |= subject->is_on_card;
    }
    if (has_workers)
        ask(m, &launcher, true);
    return has_workers;
}

static void ask_all(struct making *m)
{
    const struct plim_wish *wish = m->wish;
    for (size_t i = 0; i < wish->n_pids && !m->is_full; i++) {
        const struct plim_ending_subject *subject = subject_of(m, wish->pid[i]);
        if (subject)
            ask(m, subject, true);
        else if (!ask_for_launcher(m, wish->pid[i]))
            add_unknown(m, wish->pid[i]);
    }
    for (uint32_t i = 0; !wish->n_pids && i < m->scene->sample->n_processes && !m->is_full; i++) {
        const struct plim_ending_subject *subject = &m->subject[i];
        if (subject->row && subject->row->stale == PLIM_STALE_YES && subject->is_on_card)
            ask(m, subject, false);
    }
}

/* --- the result --- */

/* The chosen before the kept, jobs together, roots first; then by bytes and by pid. */
static int by_order(const void *a, const void *b)
{
    const struct plim_ending_candidate *x = a, *y = b;
    const int x_kept = x->keep != PLIM_KEEP_NOT, y_kept = y->keep != PLIM_KEEP_NOT;
    if (x_kept != y_kept)
        return x_kept - y_kept;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->is_root_of_job != y->is_root_of_job)
        return y->is_root_of_job - x->is_root_of_job;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->kin.pid < y->kin.pid ? -1 : x->kin.pid > y->kin.pid;
}

static void add_holdings(const struct plim_sample *sample, struct plim_choice *choice)
{
    for (uint32_t k = 0; k < choice->n; k++)
        for (uint32_t i = 0; i < sample->n_holdings; i++) {
            const struct plim_holding *from = &sample->holding[i];
            if (sample->process[from->process].pid != choice->candidate[k].kin.pid)
                continue;
            choice->holding[choice->n_holdings++] =
                (struct plim_candidate_holding){ .candidate = k, .card = from->card, .bytes = from->bytes };
            if (choice->candidate[k].keep == PLIM_KEEP_NOT && from->bytes > 0)
                choice->card[from->card].returns_bytes += from->bytes;
        }
}

static int finish(struct making *m, struct plim_error *reterr)
{
    const struct plim_sample *sample = m->scene->sample;
    struct plim_choice *choice = m->choice;
    choice->card = plim_alloc(sample->n_cards + 1, sizeof *choice->card);
    choice->holding = plim_alloc(sample->n_holdings + 1, sizeof *choice->holding);
    if (m->is_full || !choice->card || !choice->holding)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory for a list of processes");
    choice->n_cards = sample->n_cards;
    for (uint32_t i = 0; i < sample->n_cards; i++) {
        const struct plim_sample_card *from = &sample->card[i];
        struct plim_choice_card *to = &choice->card[i];
        memcpy(to->id, from->id, sizeof to->id);
        memcpy(to->name, from->card.name, sizeof to->name);
        to->total_bytes = from->card.total_bytes ? (int64_t)from->card.total_bytes : -1;
        to->used_bytes = from->used_bytes;
        to->free_bytes = from->free_bytes;
    }
    if (choice->n)
        qsort(choice->candidate, choice->n, sizeof *choice->candidate, by_order);
    while (choice->n_chosen < choice->n && choice->candidate[choice->n_chosen].keep == PLIM_KEEP_NOT)
        choice->n_chosen++;
    add_holdings(sample, choice);
    return 0;
}

int plim_choice_make(const struct plim_scene *scene, const struct plim_wish *wish, struct plim_choice **ret_choice,
                     struct plim_error *reterr)
{
    struct making m = { .scene = scene, .wish = wish };
    int result = PLIM_E_NOMEM;
    m.subject = plim_alloc(scene->sample->n_processes + 1, sizeof *m.subject);
    m.choice = plim_alloc(1, sizeof *m.choice);
    if (m.subject && m.choice) {
        make_subjects(&m);
        ask_all(&m);
        add_jobs(&m);
        result = finish(&m, reterr);
    } else {
        plim_fail(reterr, result, PLIM_NO_OFFSET, "out of memory for a list of processes");
    }
    plim_free(m.subject);
    if (result < 0)
        plim_choice_free(m.choice);
    else
        *ret_choice = m.choice;
    return result;
}

void plim_choice_free(struct plim_choice *choice)
{
    if (!choice)
        return;
    plim_free(choice->candidate);
    plim_free(choice->holding);
    plim_free(choice->card);
    plim_free(choice);
}

const struct plim_ending_candidate *plim_choice_find(const struct plim_choice *choice, int64_t pid,
                                                     uint64_t start_ticks)
{
    for (uint32_t i = 0; i < choice->n; i++)
        if (choice->candidate[i].kin.pid == pid && choice->candidate[i].kin.start_ticks == start_ticks)
            return &choice->candidate[i];
    return NULL;
}

const char *plim_keep_name(enum plim_ending_keep keep)
{
    static const char *const names[PLIM_KEEP_MAX_] = {
        [PLIM_KEEP_NOT] = "not_kept",          [PLIM_KEEP_NO_PROCESS] = "no_process",
        [PLIM_KEEP_NO_MEMORY] = "no_memory",   [PLIM_KEEP_GONE] = "gone",
        [PLIM_KEEP_OUTSIDE] = "outside",       [PLIM_KEEP_CHANGED] = "changed",
        [PLIM_KEEP_DEFUNCT] = "defunct",       [PLIM_KEEP_INIT] = "init",
        [PLIM_KEEP_KERNEL] = "kernel",         [PLIM_KEEP_SELF] = "self",
        [PLIM_KEEP_ANCESTOR] = "ancestor",     [PLIM_KEEP_USER] = "user",
        [PLIM_KEEP_CONTAINER] = "container",   [PLIM_KEEP_DISPLAY] = "display",
        [PLIM_KEEP_SERVICE] = "service",       [PLIM_KEEP_SLURM] = "slurm_job",
        [PLIM_KEEP_DEVICE] = "no_device",      [PLIM_KEEP_OTHER_USER] = "other_user",
        [PLIM_KEEP_OTHER_CARD] = "other_card", [PLIM_KEEP_SERVER] = "server",
        [PLIM_KEEP_NOT_STALE] = "not_stale",   [PLIM_KEEP_NOTEBOOK] = "notebook",
        [PLIM_KEEP_YOUNG] = "young",           [PLIM_KEEP_JOB] = "job",
    };
    return keep < PLIM_KEEP_MAX_ ? names[keep] : "";
}

bool plim_keep_is_permission(enum plim_ending_keep keep) { return keep == PLIM_KEEP_USER || keep == PLIM_KEEP_SLURM; }
