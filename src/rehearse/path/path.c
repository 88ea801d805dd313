/* SPDX-License-Identifier: MIT */
#include "rehearse/path/path.h"

#include "rehearse/end/end.h"
#include "rehearse/parts.h"
#include "rehearse/path/uses.h"
#include "rehearse/steps.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KNOWN_KEPT = 1 }; /* enum plim_shadow_known */

const char *plim_path_verdict_name(enum plim_path_verdict verdict)
{
    static const char *const names[] = { "exact", "guessed_harmless", "guessed", "incomplete" };
    return names[verdict];
}

const char *plim_effect_name(enum plim_effect effect)
{
    static const char *const names[] = { "unknown", "none", "higher", "lower" };
    return names[effect];
}

bool plim_path_is_lower_bound(const struct plim_rehearsal_path *path)
{
    return path->verdict == PLIM_PATH_GUESSED || path->verdict == PLIM_PATH_INCOMPLETE;
}

/* --- places --- */

/* Of an installed package: the path below the folder of packages. */
static const char *short_frame(const char *frame)
{
    const char *packages = strstr(frame, "/site-packages/");
    packages = packages ? packages : strstr(frame, "/dist-packages/");
    return packages ? packages + strlen("/site-packages/") : frame;
}

/* The end of a path says more than its beginning. */
static void copy_frame(const char *frame, char ret_text[PLIM_REHEARSAL_WHERE_BYTES])
{
    const char *text = short_frame(frame);
    const size_t n = strlen(text);
    snprintf(ret_text, PLIM_REHEARSAL_WHERE_BYTES, "%.*s", PLIM_REHEARSAL_WHERE_BYTES - 1,
             n < PLIM_REHEARSAL_WHERE_BYTES ? text : text + (n - PLIM_REHEARSAL_WHERE_BYTES + 1));
}

/* Of a program without Python: the innermost native function that has a name. */
static void copy_native(const char *native, char ret_text[PLIM_REHEARSAL_WHERE_BYTES])
{
    for (const char *line = native; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *space = memchr(line, ' ', strcspn(line, "\n"));
        if (space && space[1] != '+') {
            snprintf(ret_text, PLIM_REHEARSAL_WHERE_BYTES, "%.*s", (int)strcspn(line, "\n"), line);
            return;
        }
    }
}

static void make_place(const struct plim_ledger_guess *from, char *const *command, struct plim_rehearsal_place *place)
{
    struct plim_ledger_guess *guess = malloc(sizeof *guess);
    memset(place, 0, sizeof *place);
    place->count = from->count;
    place->is_kept = from->known == KNOWN_KEPT;
    place->size_bytes = from->size_bytes;
    place->decided = "unknown";
    snprintf(place->what, sizeof place->what, "a value");
    if (!guess)
        return;
    memcpy(guess, from, sizeof *guess); /* programs can write into the ledger: texts end */
    guess->what[sizeof guess->what - 1] = guess->native[sizeof guess->native - 1] = '\0';
    guess->python.innermost[PLIM_LEDGER_FRAME_BYTES - 1] = guess->python.package[PLIM_LEDGER_FRAME_BYTES - 1] =
        guess->python.user[PLIM_LEDGER_FRAME_BYTES - 1] = '\0';
    plim_use_of(guess, command, place);
    const char *where = guess->python.user[0]      ? guess->python.user
                        : guess->python.package[0] ? guess->python.package
                                                   : guess->python.innermost;
    copy_frame(where, place->where);
    if (!where[0])
        copy_native(guess->native, place->where);
    if (strcmp(where, guess->python.innermost) != 0)
        copy_frame(guess->python.innermost, place->inside);
    free(guess);
}

static int by_importance(const void *a, const void *b)
{
    const struct plim_rehearsal_place *x = a, *y = b;
    static const int order[] = {
        [PLIM_EFFECT_HIGHER] = 0, [PLIM_EFFECT_UNKNOWN] = 1, [PLIM_EFFECT_LOWER] = 2, [PLIM_EFFECT_NONE] = 3
    };
    if (x->is_harmless != y->is_harmless)
        return x->is_harmless ? 1 : -1;
    if (x->effect != y->effect)
        return order[x->effect] - order[y->effect];
    if (x->is_kept != y->is_kept)
        return x->is_kept ? 1 : -1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->where, y->where);
}

static bool is_alike(const struct plim_rehearsal_place *a, const struct plim_rehearsal_place *b)
{
    return a->is_harmless == b->is_harmless && a->effect == b->effect && a->is_kept == b->is_kept &&
           a->size_bytes == b->size_bytes && !strcmp(a->what, b->what) && !strcmp(a->decided, b->decided) &&
           a->text_line == b->text_line && !strcmp(a->where, b->where) && !strcmp(a->inside, b->inside);
}

/* As remarks: so they were told before there were places. */
static void warn(struct plim_rehearsal *rehearsal, const struct plim_rehearsal_place *place)
{
    enum { MOST = 24 };
    const struct plim_rehearsal_path *path = &rehearsal->path;
    char text[sizeof rehearsal->warning[0].what];
    const size_t n = strlen(place->where);
    if (strstr(place->what, "assumed"))
        snprintf(text, sizeof text, "%s", place->what);
    else
        snprintf(text, sizeof text, "%u bytes read back: %s%s%s", place->size_bytes,
                 place->is_kept ? "written by the host, taken as unchanged" : "computed by the card, taken as zero",
                 place->where[0] && path->n_places < MOST ? ", at " : "",
                 path->n_places >= MOST ? ""
                 : n > 56               ? place->where + (n - 56)
                                        : place->where);
    plim_rehearsal_warn(rehearsal, place->is_kept ? "value_kept" : "value", text, place->count);
}

/* Makes places of the guesses; returns whether one of them matters. */
static bool add_places(struct plim_rehearsal *rehearsal)
{
    struct plim_rehearsal_path *path = &rehearsal->path;
    const struct plim_ledger *ledger = rehearsal->ledger;
    struct plim_rehearsal_place *all = malloc(PLIM_LEDGER_MAX_GUESSES * sizeof *all);
    bool matters = false;
    size_t n = 0;
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_GUESSES && all; i++) {
        const struct plim_ledger_guess *guess = &ledger->guess[i];
        size_t k = 0;
        if (!guess->count || (i > 0 && !guess->hash))
            continue;
        make_place(guess, rehearsal->command, &all[n]);
        *(all[n].is_kept ? &path->n_kept : &path->n_assumed) += guess->count;
        matters = matters || !all[n].is_harmless;
        while (k < n && !is_alike(&all[k], &all[n]))
            k++;
        if (k < n)
            all[k].count += all[n].count;
        else
            n++;
    }
    if (all)
        qsort(all, n, sizeof *all, by_importance);
    for (size_t i = 0; i < n; i++) {
        warn(rehearsal, &all[i]);
        if (path->n_places < PLIM_REHEARSAL_MAX_PLACES)
            path->place[path->n_places++] = all[i];
        else
            path->n_more++;
    }
    free(all);
    return matters || !all;
}

/* --- the end --- */

/* A server that was stopped when it was ready, and N steps, are what was asked for. */
static const char *why_stopped(const struct plim_rehearsal *rehearsal)
{
    if (!rehearsal->stopped_by)
        return NULL;
    if (!strcmp(rehearsal->stopped_by, "timeout"))
        return "it was stopped by --timeout";
    if (!strcmp(rehearsal->stopped_by, "interrupt"))
        return "it was interrupted";
    if (!strcmp(rehearsal->stopped_by, "signal"))
        return "it was ended by a signal";
    if (!strcmp(rehearsal->stopped_by, "exit") && rehearsal->exit_code)
        return plim_end_is_for_memory(rehearsal) ? "it ran out of memory" : "it failed";
    return NULL;
}

/* What the optimizers of PyTorch did, as far as they were seen. */
static const char *why_untrained(const struct plim_ledger *ledger)
{
    const struct plim_optimizers optimizers = plim_optimizers_of(ledger);
    if (optimizers.least_steps)
        return optimizers.lacks_states ? "an optimizer never got its states" : NULL;
    return optimizers.is_counted && plim_steps_has_backward(ledger) ? "no optimizer took a step" : NULL;
}

void plim_path_judge(struct plim_rehearsal *rehearsal)
{
    struct plim_rehearsal_path *path = &rehearsal->path;
    *path = (struct plim_rehearsal_path){ .verdict = PLIM_PATH_EXACT };
    const bool matters = add_places(rehearsal);
    const char *untrained = why_untrained(rehearsal->ledger), *stopped = why_stopped(rehearsal);
    path->n_data = atomic_load(&rehearsal->ledger->n_data_reads);
    path->basis = path->n_assumed || path->n_kept ? PLIM_BASIS_ASSUMED : PLIM_BASIS_EXACT;
    path->incomplete = stopped                              ? stopped
                       : plim_end_static_runtime(rehearsal) ? "a library has the CUDA runtime in it, and found no card"
                                                            : untrained;
    path->verdict = path->incomplete                  ? PLIM_PATH_INCOMPLETE
                    : matters                         ? PLIM_PATH_GUESSED
                    : path->basis == PLIM_BASIS_EXACT ? PLIM_PATH_EXACT
                                                      : PLIM_PATH_HARMLESS;
}
