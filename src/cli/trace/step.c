/* SPDX-License-Identifier: MIT */
/* plimsoll trace run.step: what was recorded. */
#include "cli/trace/step.h"

#include "cli/cli.h"
#include "report/step/step.h"
#include "source/file.h"
#include "step/file.h"
#include "step/unroll.h"

#include <string.h>

bool plim_cli_is_step(const char *path)
{
    struct plim_file file;
    const unsigned char *bytes;
    if (plim_file_open(path, &file, NULL) < 0)
        return false;
    struct plim_cursor cursor = plim_file_cursor(&file, PLIM_STEP_MAGIC_BYTES);
    const bool is_step = plim_cursor_take(&cursor, PLIM_STEP_MAGIC_BYTES, &bytes) &&
                         !memcmp(bytes, plim_step_magic, PLIM_STEP_MAGIC_BYTES);
    plim_file_close(&file);
    return is_step;
}

/* Replayed at its first point under its own settings; where these are not replayed, what was recorded is all. */
static int show_track(const struct plim_step *step, const struct plim_step_shape *shape,
                      const struct plim_step_track *track, const struct plim_style *style, struct plim_error *err)
{
    struct plim_torch_conditions conditions = { .capacity_bytes = track->capacity_bytes,
                                                .card_bytes = step->card_bytes };
    struct plim_torch_tape tape;
    struct plim_torch_run run;
    struct plim_step_shown shown = { shape, track, NULL };
    plim_torch_settings_init(&conditions.settings);
    if (plim_torch_settings_parse(&conditions.settings, step->alloc_conf, NULL) == 0) {
        int result = plim_torch_tape_make(step, shape, track, &shape->points[0], &tape, err);
        if (result < 0)
            return result;
        result = plim_torch_run_make(&tape, &conditions, &run, err);
        plim_torch_tape_done(&tape);
        if (result < 0)
            return result;
        shown.run = &run;
    }
    plim_report_step_track(stdout, step, &shown, style);
    return 0;
}

static int show(const char *path, const struct plim_step *step, const struct plim_style *style, struct plim_error *err)
{
    int result = 0;
    plim_report_step_head(stdout, path, step, style);
    for (size_t i = 0; result == 0 && i < step->n_shapes; i++) {
        const struct plim_step_shape *shape = &step->shapes[i];
        struct plim_step_shape *own = NULL;
        result = plim_step_unroll(shape, &shape->points[0], &own, err);
        if (result < 0)
            return result;
        shape = plim_step_unrolled(shape, own);
        plim_report_step_shape(stdout, step, shape, style);
        for (size_t k = 0; result == 0 && k < shape->n_tracks; k++)
            result = show_track(step, shape, &shape->tracks[k], style, err);
        plim_step_unrolled_free(own);
    }
    return result;
}

int plim_cli_step(const char *path, bool is_json, const struct plim_style *style)
{
    struct plim_step step;
    struct plim_error err = { 0 };
    int result = plim_step_read(path, &step, &err);
    if (result < 0)
        return plim_cli_fail(&err);
    bool is_written = true;
    if (is_json)
        is_written = plim_report_step_json(stdout, path, &step);
    else
        result = show(path, &step, style, &err);
    plim_step_done(&step);
    if (result < 0)
        return plim_cli_fail(&err);
    return is_written && plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}
