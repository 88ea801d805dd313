/* SPDX-License-Identifier: MIT */
#include "cli/rehearse/vary.h"

#include "base/error.h"
#include "base/units.h"
#include "cli/rehearse/parts.h"
#include "cli/rehearse/record.h"
#include "cli/rehearse/run.h"
#include "cli/rehearse/varied.h"
#include "rehearse/card_figures.h"
#include "rehearse/end/end.h"
#include "rehearse/vary/left_out.h"
#include "report/print.h"
#include "report/receipt/end.h"
#include "step/file.h"

#include <string.h>

extern char **environ;

enum { MAX_COMMANDS = 8 << 20 };

struct work {
    struct plim_rehearse_options *o;
    char *const *arguments; /* with {B} */
    struct plim_arena arena;
    struct plim_vary_plan plan;
    struct plim_step_fit fit;
    size_t n_failed;
};

/* --- one recording --- */

/* Runs the command of o->launch.arguments. 0, or an exit status; a failure: why there is no step. */
static int record(struct plim_rehearse_options *o, struct plim_step *ret_step, double *ret_seconds,
                  char ret_failure[PLIM_END_TEXT_BYTES])
{
    static struct plim_rehearsal rehearsal;
    struct plim_record_folder folder = { .environment = NULL };
    struct plim_recorded recorded;
    struct plim_error error = { 0 };
    int status = plim_rehearse_record_begin(o, &folder);
    if (status)
        return status;
    status = plim_rehearse_once(o, &rehearsal);
    o->launch.environment = environ;
    *ret_seconds = rehearsal.seconds;
    if (status == 0 && !plim_end_is_good(plim_end_of(&rehearsal)))
        plim_report_end_text(&rehearsal, ret_failure);
    if (status == 0 && rehearsal.stopped_by && !strcmp(rehearsal.stopped_by, "interrupt")) {
        status = rehearsal.exit_code ? rehearsal.exit_code : PLIM_EXIT_NO;
    } else if (status == 0 && !*ret_failure) {
        const int result = plim_rehearse_record_take(o, &rehearsal, &folder, ret_step, &recorded, &error);
        if (result < 0)
            snprintf(ret_failure, PLIM_END_TEXT_BYTES, "%s", error.what);
        status = result < 0 && result != PLIM_E_NOT_FOUND ? PLIM_EXIT_OURS : 0;
        if (result == 0 && !recorded.is_met)
            plim_print(stderr, "  the next recording does not come to what PyTorch counted\n");
    }
    plim_record_folder_remove(&folder);
    plim_ledger_close(rehearsal.ledger);
    return status;
}

static int make_point(struct work *work, struct plim_vary_point *point)
{
    struct plim_rehearse_options *o = work->o;
    struct plim_step_recording *recording = &work->fit.recordings[work->fit.n_recordings];
    char failure[PLIM_END_TEXT_BYTES] = "";
    double seconds = 0;
    int status = 0;
    o->launch.arguments = plim_vary_arguments(&work->arena, &o->vary, work->arguments, &point->point);
    if (!o->launch.arguments)
        return PLIM_EXIT_OURS;
    const bool is_kept = plim_rehearse_part_read(o, &point->point, &recording->step);
    if (!is_kept)
        status = record(o, &recording->step, &seconds, failure);
    if (status)
        return status;
    if (!*failure && !is_kept)
        plim_rehearse_part_write(o, &point->point, &recording->step);
    if (!o->is_quiet)
        plim_rehearse_varied_line(&o->vary, point, *failure ? NULL : &recording->step, failure, is_kept ? -1 : seconds);
    point->state = *failure ? PLIM_VARY_FAILED : PLIM_VARY_RECORDED;
    work->n_failed += *failure != '\0';
    if (*failure)
        return 0;
    recording->point = point->point;
    recording->is_left_out = point->is_left_out;
    work->fit.n_recordings++;
    return 0;
}

/* --- all of them --- */

static const struct plim_step_recording *recording_of(const struct work *work, const struct plim_vary_point *point)
{
    for (size_t i = 0; i < work->fit.n_recordings; i++)
        if (!memcmp(&work->fit.recordings[i].point, &point->point, sizeof point->point))
            return &work->fit.recordings[i];
    return NULL;
}

/* The shapes of what was recorded; what cannot be used counts as failed. */
static int learn_shapes(struct work *work)
{
    struct plim_error error = { 0 };
    if (plim_step_group(&work->fit, &error) < 0) {
        plim_cli_fail(&error);
        return PLIM_EXIT_OURS;
    }
    for (size_t i = 0; i < work->plan.n; i++) {
        const struct plim_step_recording *own = recording_of(work, &work->plan.points[i]);
        if (own && own->shape == PLIM_STEP_NO_SHAPE)
            work->plan.points[i].state = PLIM_VARY_FAILED;
        else if (own)
            work->plan.points[i].shape = own->shape;
    }
    return 0;
}

static int record_all(struct work *work)
{
    for (size_t i = 0; i < work->plan.n; i++) {
        const int status = make_point(work, &work->plan.points[i]);
        if (status)
            return status;
        if (i == 0 && work->n_failed) /* the others would fail as well */
            return PLIM_EXIT_NO;
        if (i + 1 == work->plan.n && learn_shapes(work))
            return PLIM_EXIT_OURS;
        if (i + 1 == work->plan.n)
            plim_vary_extend(&work->o->vary, &work->plan);
    }
    return 0;
}

/* First without what is to be left out, which says how good the fit is; then with it, which only makes it better. */
static int fit_twice(struct work *work, struct plim_step *ret_step, struct plim_error *reterr)
{
    struct plim_step first;
    int result = plim_step_fit(&work->fit, &first, reterr);
    if (result < 0)
        return result;
    result = plim_vary_left_out(&work->fit, &first, reterr);
    for (size_t i = 0; i < work->fit.n_recordings; i++)
        work->fit.recordings[i].is_left_out = false;
    if (result == 0)
        result = plim_step_fit(&work->fit, ret_step, reterr);
    for (size_t i = 0; result == 0 && i < first.n_shapes; i++) {
        ret_step->shapes[i].left_out_allocated_error = first.shapes[i].left_out_allocated_error;
        ret_step->shapes[i].left_out_reserved_error = first.shapes[i].left_out_reserved_error;
    }
    plim_step_done(&first);
    return result;
}

static int write_step(struct work *work)
{
    struct plim_rehearse_options *o = work->o;
    struct plim_step step = { .n_shapes = 0 };
    struct plim_error error = { 0 };
    char *command = plim_record_command(work->arguments);
    work->fit.command = command;
    int result = fit_twice(work, &step, &error);
    plim_free(command);
    if (result == 0)
        result = plim_step_write(o->record_path, &step, &error);
    if (result < 0)
        plim_cli_fail(&error);
    else if (!o->is_quiet)
        plim_rehearse_varied_text(o, &work->plan, &step);
    plim_step_done(&step);
    for (size_t i = 0; result == 0 && i < work->plan.n; i++)
        plim_rehearse_parts_remove(o, &work->plan.points[i].point);
    if (result == 0)
        plim_rehearse_parts_remove(o, NULL);
    return result == 0 ? PLIM_EXIT_YES : PLIM_EXIT_OURS;
}

/*
 * Threads that the virtual card can have at work at once: on each multiprocessor as many as CUDA's programming guide
 * says for its compute capability (Technical Specifications per Compute Capability). 0: an unknown card.
 */
static uint32_t threads_of(const struct plim_card *card)
{
    struct plim_card_figures figures;
    const uint32_t cc = card->compute_capability;
    const uint32_t each = cc == 75 ? 1024 : (cc > 80 && cc < 90) || cc >= 110 ? 1536 : 2048;
    plim_card_figures(card, &figures);
    return cc ? figures.sm_count * each : 0;
}

int plim_rehearse_vary(struct plim_rehearse_options *o)
{
    static struct work work;
    work = (struct work){ .o = o, .arguments = o->launch.arguments, .fit.n_variables = o->vary.n_variables };
    memcpy(work.fit.variables, o->vary.variable, sizeof work.fit.variables);
    work.fit.n_threads = threads_of(&o->machine.card[0]);
    if (!plim_vary_design(&o->vary, &work.plan)) {
        plim_print(stderr, "plimsoll: more than %d recordings: fewer values, please\n", PLIM_VARY_MAX_RECORDINGS);
        return PLIM_EXIT_OURS;
    }
    plim_arena_init(&work.arena, MAX_COMMANDS);
    work.fit.recordings = plim_alloc(PLIM_VARY_MAX_RECORDINGS, sizeof *work.fit.recordings);
    int status = work.fit.recordings ? record_all(&work) : PLIM_EXIT_OURS;
    if (status == 0)
        status = write_step(&work);
    for (size_t i = 0; i < work.fit.n_recordings; i++)
        plim_step_done(&work.fit.recordings[i].step);
    plim_free(work.fit.recordings);
    plim_arena_done(&work.arena);
    o->launch.arguments = work.arguments;
    return status;
}
