/* SPDX-License-Identifier: MIT */
#include "watch/watch.h"

#include "base/mem.h"
#include "base/units.h"
#include "watch/records.h"
#include "watch/series.h"
#include "watch/stale.h"

#include <stdio.h>
#include <string.h>

enum {
    MODEL_BYTES = 256,
    MAX_TEXT_BYTES = 1 << 20, /* of names of models that are taken from command lines */
    FORGET_TRACK_MS = 60000,  /* a driver that fails to answer once does not cost the history */
    OLD_S = 600,              /* a process of that age is past its warm-up */
    CARD = -1                 /* the pid of the track of a card itself */
};

/* The memory of a card, or of a process on it. Most are seen once, by `ps`: the series begins with the second sample.
 */
struct track {
    int64_t pid;
    uint64_t start_ticks;
    char card[sizeof((struct plim_sample_card *)0)->id];
    bool is_old;
    int64_t first_ms, first_bytes, seen_ms;
    struct plim_series *series;
};

struct plim_watch {
    int64_t idle_after_s;
    char own_log[512];
    int64_t mark; /* the number of the last sample */
    struct plim_records records;
    struct track *tracks;
    size_t n_tracks, track_capacity;
    struct plim_arena texts;
    /* of the last sample */
    uint32_t n_rows, n_cards;
    struct plim_watch_row *rows;
    struct plim_watch_card *cards;
    size_t *card_tracks, *row_tracks; /* indexes; SIZE_MAX: none */
};

/* Of the processes of one sample, while it is looked at. */
struct look {
    struct plim_watch_program *programs;
    struct plim_watch_activity *activities;
    struct plim_stale_verdict *verdicts;
    const char **models;
    unsigned *contexts;
};

static int no_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

int plim_watch_open(const struct plim_watch_options *options, struct plim_watch **ret_watch, struct plim_error *reterr)
{
    struct plim_watch *watch = plim_alloc(1, sizeof *watch);
    if (!watch)
        return no_memory(reterr);
    watch->idle_after_s = options && options->idle_after_s > 0 ? options->idle_after_s : PLIM_WATCH_IDLE_AFTER_S;
    if (options && options->own_log)
        snprintf(watch->own_log, sizeof watch->own_log, "%s", options->own_log);
    plim_arena_init(&watch->texts, MAX_TEXT_BYTES);
    *ret_watch = watch;
    return 0;
}

static void drop_rows(struct plim_watch *w)
{
    plim_free(w->rows);
    plim_free(w->cards);
    plim_free(w->card_tracks);
    plim_free(w->row_tracks);
    w->rows = NULL;
    w->cards = NULL;
    w->card_tracks = w->row_tracks = NULL;
    w->n_rows = w->n_cards = 0;
}

void plim_watch_close(struct plim_watch *w)
{
    if (!w)
        return;
    drop_rows(w);
    for (size_t i = 0; i < w->n_tracks; i++)
        plim_free(w->tracks[i].series);
    plim_free(w->tracks);
    plim_records_done(&w->records);
    plim_arena_done(&w->texts);
    plim_free(w);
}

/* --- memory over time --- */

static struct track *track_of(struct plim_watch *w, const char *card, int64_t pid, uint64_t start_ticks, size_t near)
{
    for (size_t i = 0; i < w->n_tracks; i++) { /* samples are much alike: begin where it was found the last time */
        struct track *t = &w->tracks[(near + i) % w->n_tracks];
        if (t->pid == pid && t->start_ticks == start_ticks && !strcmp(t->card, card))
            return t;
    }
    if (w->n_tracks == w->track_capacity) {
        const size_t capacity = w->track_capacity ? 2 * w->track_capacity : 64;
        struct track *tracks = plim_realloc(w->tracks, capacity, sizeof *tracks);
        if (!tracks)
            return NULL;
        w->tracks = tracks;
        w->track_capacity = capacity;
    }
    struct track *t = &w->tracks[w->n_tracks++];
    *t = (struct track){ .pid = pid, .start_ticks = start_ticks, .first_bytes = -1 };
    snprintf(t->card, sizeof t->card, "%s", card);
    return t;
}

static bool follow(struct track *t, int64_t now_ms, int64_t bytes)
{
    t->seen_ms = now_ms;
    if (bytes < 0)
        return true;
    if (t->first_bytes < 0) {
        t->first_ms = now_ms;
        t->first_bytes = bytes;
        return true;
    }
    if (!t->series) {
        if (!(t->series = plim_alloc_unset(1, sizeof *t->series)))
            return false;
        plim_series_init(t->series, t->is_old);
        plim_series_add(t->series, t->first_ms, t->first_bytes);
    }
    plim_series_add(t->series, now_ms, bytes);
    return true;
}

static void forget_tracks(struct plim_watch *w, int64_t now_ms)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_tracks; i++)
        if (now_ms - w->tracks[i].seen_ms < FORGET_TRACK_MS)
            w->tracks[n++] = w->tracks[i];
        else
            plim_free(w->tracks[i].series);
    w->n_tracks = n;
}

static int follow_all(struct plim_watch *w, const struct plim_sample *s, struct plim_error *reterr)
{
    forget_tracks(w, s->taken_ms);
    for (uint32_t i = 0; i < s->n_cards; i++) {
        struct track *t = track_of(w, s->card[i].id, CARD, 0, i);
        if (!t || !follow(t, s->taken_ms, s->card[i].used_bytes))
            return no_memory(reterr);
        w->card_tracks[i] = (size_t)(t - w->tracks);
    }
    for (uint32_t i = 0; i < s->n_holdings; i++) {
        const struct plim_holding *h = &s->holding[i];
        const struct plim_sample_process *p = &s->process[h->process];
        struct track *t = track_of(w, s->card[h->card].id, p->pid, p->start_ticks, s->n_cards + i);
        if (!t)
            return no_memory(reterr);
        if (t->first_bytes < 0)
            t->is_old = p->started_unix_s > 0 && s->taken_unix_ms / 1000 - p->started_unix_s >= OLD_S;
        if (!follow(t, s->taken_ms, h->bytes))
            return no_memory(reterr);
        w->row_tracks[i] = (size_t)(t - w->tracks);
    }
    return 0;
}

static void grow_all(struct plim_watch *w, const struct plim_sample *s)
{
    for (uint32_t i = 0; i < s->n_cards; i++) {
        const struct plim_series *series = w->tracks[w->card_tracks[i]].series;
        w->cards[i].growth = (struct plim_watch_growth){ .full_s = -1 };
        if (series)
            plim_series_growth(series, s->card[i].free_bytes, &w->cards[i].growth);
    }
    for (uint32_t i = 0; i < s->n_holdings; i++) {
        const struct plim_series *series = w->tracks[w->row_tracks[i]].series;
        const struct plim_watch_growth *card = &w->cards[s->holding[i].card].growth;
        struct plim_watch_growth *growth = &w->rows[i].growth;
        *growth = (struct plim_watch_growth){ .full_s = -1 };
        if (!series)
            continue;
        plim_series_growth(series, s->card[s->holding[i].card].free_bytes, growth);
        if (growth->full_s >= 0 && card->full_s >= 0 && card->full_s < growth->full_s)
            growth->full_s = card->full_s; /* others grow there as well */
    }
}

static uint32_t history(const struct plim_watch *w, size_t track, int64_t *ret_bytes, uint32_t max)
{
    const struct track *t = &w->tracks[track];
    if (t->series)
        return plim_series_points(t->series, ret_bytes, max);
    if (t->first_bytes < 0 || max == 0)
        return 0;
    *ret_bytes = t->first_bytes;
    return 1;
}

uint32_t plim_watch_card_history(const struct plim_watch *w, uint32_t card, int64_t *ret_bytes, uint32_t max)
{
    return card < w->n_cards ? history(w, w->card_tracks[card], ret_bytes, max) : 0;
}

uint32_t plim_watch_history(const struct plim_watch *w, uint32_t holding, int64_t *ret_bytes, uint32_t max)
{
    return holding < w->n_rows ? history(w, w->row_tracks[holding], ret_bytes, max) : 0;
}

/* --- processes --- */

static const char *model_of(struct plim_watch *w, const struct plim_sample_process *p)
{
    char buffer[MODEL_BYTES];
    if (p->n_models && p->models[0])
        return p->models[0];
    if (!*plim_watch_model(p, buffer, sizeof buffer))
        return "";
    const char *text = plim_arena_copy(&w->texts, buffer, strlen(buffer));
    return text ? text : "";
}

/* No process, nothing that it does: only since when it is known. */
static int64_t gone_ms(struct plim_record *record, int64_t now_ms)
{
    record->seen_ms = now_ms;
    record->cpu_ms = record->bytes = record->gpu_busy_ms = -1;
    if (record->gone_since_ms <= 0 || record->gone_since_ms > now_ms)
        record->gone_since_ms = now_ms;
    return now_ms - record->gone_since_ms;
}

/* When it last wrote its log; 0: unknown. A file that others write as well says nothing of this one. */
static int64_t log_time(const struct plim_watch *w, const struct plim_sample *s, uint32_t process)
{
    const char *log = s->process[process].log;
    if (!*log || !strcmp(log, w->own_log))
        return 0;
    for (uint32_t i = 0; i < s->n_processes; i++)
        if (i != process && !strcmp(s->process[i].log, log))
            return 0;
    return s->process[process].log_written_unix_s;
}

static int look_at_all(struct plim_watch *w, const struct plim_sample *s, struct look *look, int64_t *gone,
                       struct plim_error *reterr)
{
    w->mark++;
    for (uint32_t i = 0; i < s->n_holdings; i++)
        look->contexts[s->holding[i].process] |= s->holding[i].contexts;
    for (uint32_t i = 0; i < s->n_processes; i++) {
        const struct plim_sample_process *p = &s->process[i];
        look->activities[i] = (struct plim_watch_activity){ .idle_s = -1, .is_gpu_silent = true };
        look->programs[i] = (struct plim_watch_program){ .framework = "" };
        look->models[i] = "";
        if (p->is_outside)
            continue;
        struct plim_record *record = plim_records_get(&w->records, p->pid, p->start_ticks, p->started_unix_s);
        if (!record)
            return no_memory(reterr);
        record->mark = w->mark;
        if (p->is_gone) {
            gone[i] = gone_ms(record, s->taken_unix_ms);
            continue;
        }
        plim_record_update(record, s, i, log_time(w, s, i), &look->activities[i]);
        plim_watch_program(p, &record->program, &look->programs[i]);
        look->models[i] = model_of(w, p);
    }
    plim_records_settle(&w->records, w->mark, s->taken_unix_ms);
    return 0;
}

static void judge_all(const struct plim_watch *w, const struct plim_sample *s, struct look *look, const int64_t *gone)
{
    for (uint32_t i = 0; i < s->n_processes; i++) {
        const struct plim_stale_case c = { .sample = s,
                                           .programs = look->programs,
                                           .activities = look->activities,
                                           .process = i,
                                           .contexts = look->contexts[i],
                                           .gone_ms = gone[i],
                                           .idle_after_s = w->idle_after_s };
        plim_stale_judge(&c, &look->verdicts[i]);
    }
}

static void fill_rows(struct plim_watch *w, const struct plim_sample *s, const struct look *look)
{
    for (uint32_t i = 0; i < s->n_holdings; i++) {
        const uint32_t p = s->holding[i].process;
        struct plim_watch_row *row = &w->rows[i];
        row->framework = look->programs[p].framework;
        row->role = look->programs[p].role;
        row->model = look->models[p];
        row->idle_s = look->activities[p].idle_s;
        row->is_idle_at_least = look->activities[p].is_idle_at_least;
        row->stale = look->verdicts[p].stale;
        row->reason = look->verdicts[p].reason;
        memcpy(row->why, look->verdicts[p].why, sizeof row->why);
    }
}

static int judge_processes(struct plim_watch *w, const struct plim_sample *s, struct plim_error *reterr)
{
    struct plim_arena arena;
    const size_t n = s->n_processes ? s->n_processes : 1;
    plim_arena_init(&arena, n * (sizeof(struct plim_stale_verdict) + 256) + (1 << 16));
    struct look look = { .programs = plim_arena_alloc(&arena, n, sizeof *look.programs),
                         .activities = plim_arena_alloc(&arena, n, sizeof *look.activities),
                         .verdicts = plim_arena_alloc(&arena, n, sizeof *look.verdicts),
                         .models = plim_arena_alloc(&arena, n, sizeof *look.models),
                         .contexts = plim_arena_alloc(&arena, n, sizeof *look.contexts) };
    int64_t *gone = plim_arena_alloc(&arena, n, sizeof *gone);
    int result = look.programs && look.activities && look.verdicts && look.models && look.contexts && gone
                     ? look_at_all(w, s, &look, gone, reterr)
                     : no_memory(reterr);
    if (result == 0) {
        judge_all(w, s, &look, gone);
        fill_rows(w, s, &look);
    }
    plim_arena_done(&arena);
    return result;
}

/* --- cards --- */

static void explain_rest(const struct plim_sample *s, const struct plim_sample_card *card, struct plim_watch_card *to)
{
    const char *why = card->listing == PLIM_LISTING_NONE            ? card->why
                      : card->listing == PLIM_LISTING_WITHOUT_BYTES ? "the driver does not tell what each process holds"
                      : card->listing == PLIM_LISTING_PARTIAL
                          ? "processes of other users, which may not be read: root sees them"
                      : s->is_contained ? "processes that cannot be seen from inside this container, or the driver"
                                        : "the driver, ended processes, or processes that the driver does not list";
    snprintf(to->unattributed_why, sizeof to->unattributed_why, "%s", why);
}

static void sum_cards(struct plim_watch *w, const struct plim_sample *s)
{
    for (uint32_t i = 0; i < s->n_cards; i++) {
        const struct plim_sample_card *card = &s->card[i];
        const bool is_told =
            (card->listing == PLIM_LISTING_FULL || card->listing == PLIM_LISTING_PARTIAL) && !card->card.is_unified;
        w->cards[i].unattributed_bytes = is_told && card->used_bytes >= 0 ? card->used_bytes : -1;
    }
    for (uint32_t i = 0; i < s->n_holdings; i++) {
        const struct plim_holding *h = &s->holding[i];
        struct plim_watch_card *card = &w->cards[h->card];
        if (h->bytes < 0)
            card->unattributed_bytes = -1;
        else if (card->unattributed_bytes >= 0)
            card->unattributed_bytes = card->unattributed_bytes > h->bytes ? card->unattributed_bytes - h->bytes : 0;
        if (h->bytes > 0 && plim_watch_can_be_ended(&w->rows[i]))
            card->stale_bytes += h->bytes;
    }
    for (uint32_t i = 0; i < s->n_cards; i++)
        if (w->cards[i].unattributed_bytes != 0 && !s->card[i].is_asleep)
            explain_rest(s, &s->card[i], &w->cards[i]);
}

int plim_watch_add(struct plim_watch *w, const struct plim_sample *s, struct plim_error *reterr)
{
    drop_rows(w);
    plim_arena_done(&w->texts);
    plim_arena_init(&w->texts, MAX_TEXT_BYTES);
    w->rows = plim_alloc(s->n_holdings + 1, sizeof *w->rows);
    w->cards = plim_alloc(s->n_cards + 1, sizeof *w->cards);
    w->row_tracks = plim_alloc(s->n_holdings + 1, sizeof *w->row_tracks);
    w->card_tracks = plim_alloc(s->n_cards + 1, sizeof *w->card_tracks);
    if (!w->rows || !w->cards || !w->row_tracks || !w->card_tracks)
        return no_memory(reterr);
    int result = follow_all(w, s, reterr);
    if (result == 0)
        result = judge_processes(w, s, reterr);
    if (result < 0)
        return result;
    w->n_rows = s->n_holdings;
    w->n_cards = s->n_cards;
    grow_all(w, s);
    sum_cards(w, s);
    return 0;
}

const struct plim_watch_row *plim_watch_rows(const struct plim_watch *w) { return w->rows; }
const struct plim_watch_card *plim_watch_cards(const struct plim_watch *w) { return w->cards; }

void plim_watch_load(struct plim_watch *w, const char *path) { plim_records_load(&w->records, path); }

int plim_watch_save(const struct plim_watch *w, const char *path, struct plim_error *reterr)
{
    return plim_records_save(&w->records, path, reterr);
}
