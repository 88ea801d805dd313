/* SPDX-License-Identifier: MIT */
#include "report/step/step.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

enum { LABEL_WIDTH = 11, SITE_WIDTH = 44, POINT_BYTES = 512, MOST_POINTS = 8 };

static const char *size_or_unknown(char buffer[PLIM_SIZE_TEXT], uint64_t bytes)
{
    return bytes == PLIM_STEP_UNKNOWN_BYTES ? "unknown" : plim_size_text(buffer, bytes);
}

static const char *point_text(const struct plim_step *step, const struct plim_step_point *point, char text[POINT_BYTES])
{
    plim_step_point_text(step, point, text, POINT_BYTES);
    return text;
}

static void print_label(FILE *out, const char *label)
{
    plim_print(out, "  ");
    plim_print_padded(out, label, LABEL_WIDTH);
    plim_print(out, "  ");
}

/* --- the head --- */

void plim_report_step_head(FILE *out, const char *path, const struct plim_step *step, const struct plim_style *style)
{
    char memory[PLIM_SIZE_TEXT];
    plim_print(out, "%s%s%s\n", plim_paint(style, PLIM_BOLD), path, plim_paint(style, PLIM_PLAIN));
    const char *command = plim_step_text(step, step->command);
    if (*command) {
        print_label(out, "command");
        plim_print_last(out, command, PLIM_TEXT_WIDTH - LABEL_WIDTH - 4);
    }
    print_label(out, "recorded");
    plim_print(out, "PyTorch %s on %s", step->torch_version[0] ? step->torch_version : "of an unknown version",
               step->card_name[0] ? step->card_name : "an unknown card");
    if (step->card_bytes)
        plim_print(out, " with %s", plim_size_text(memory, step->card_bytes));
    plim_print(out, "\n");
    print_label(out, "settings");
    plim_print_last(out, step->alloc_conf[0] ? step->alloc_conf : "PyTorch's own", PLIM_TEXT_WIDTH - LABEL_WIDTH - 4);
    for (uint32_t v = 0; v < step->n_variables; v++) {
        if (v == 0)
            print_label(out, "variables");
        plim_print(out, "%s%s", v ? ", " : "", step->variables[v].name);
    }
    if (step->n_variables)
        plim_print(out, "\n");
}

/* --- a shape --- */

static size_t n_inexact(const struct plim_step_shape *shape)
{
    size_t n = 0;
    for (size_t i = 0; i < shape->n_sizes; i++)
        n += !shape->sizes[i].is_exact;
    return n;
}

void plim_report_step_shape(FILE *out, const struct plim_step *step, const struct plim_step_shape *shape,
                            const struct plim_style *style)
{
    char text[POINT_BYTES];
    plim_print(out, "\n%sshape%s  %zu recording%s\n", plim_paint(style, PLIM_BOLD), plim_paint(style, PLIM_PLAIN),
               shape->n_points, shape->n_points == 1 ? "" : "s");
    for (size_t i = 0; step->n_variables && i < shape->n_points && i < MOST_POINTS; i++) {
        print_label(out, i ? "" : "at");
        plim_print_last(out, point_text(step, &shape->points[i], text), PLIM_TEXT_WIDTH - LABEL_WIDTH - 4);
    }
    if (step->n_variables && shape->n_points > MOST_POINTS) {
        print_label(out, "");
        plim_print(out, "and %zu more\n", shape->n_points - MOST_POINTS);
    }
    print_label(out, "sizes");
    plim_print(out, "%zu", shape->n_sizes);
    if (n_inexact(shape))
        plim_print(out, ", %zu of them not met in every recording", n_inexact(shape));
    plim_print(out, "\n");
    if (step->n_variables && shape->left_out_allocated_error >= 0 && shape->left_out_reserved_error >= 0) {
        print_label(out, "left out");
        plim_print(out, "a recording that the fit did not see: allocated within %.2f %%,\n",
                   100 * shape->left_out_allocated_error);
        print_label(out, "");
        plim_print(out, "reserved within %.2f %%\n", 100 * shape->left_out_reserved_error);
    }
}

/* --- a track --- */

static void print_peaks(FILE *out, const struct plim_step *step, const struct plim_step_shown *shown)
{
    char allocated[PLIM_SIZE_TEXT], reserved[PLIM_SIZE_TEXT], text[POINT_BYTES];
    for (size_t i = 0; shown->track->recorded && i < shown->shape->n_points && i < MOST_POINTS; i++) {
        const struct plim_step_peaks *peaks = &shown->track->recorded[i];
        print_label(out, i ? "" : "peaks");
        plim_print(out, "%11s allocated, %11s reserved%s%s\n", size_or_unknown(allocated, peaks->allocated_bytes),
                   size_or_unknown(reserved, peaks->reserved_bytes), step->n_variables ? "  " : "",
                   point_text(step, &shown->shape->points[i], text));
    }
    if (shown->run) {
        const struct plim_torch_result *result = &shown->run->result;
        print_label(out, "replayed");
        plim_print(out, "%11s allocated, %11s reserved%s%s\n", plim_size_text(allocated, result->allocated_peak_bytes),
                   plim_size_text(reserved, result->reserved_peak_bytes), step->n_variables ? "  " : "",
                   point_text(step, &shown->shape->points[0], text));
    }
}

static void print_site(FILE *out, const struct plim_step *step, const struct plim_torch_site *held)
{
    char bytes[PLIM_SIZE_TEXT], line[512];
    plim_print(out, "  %11s %6u  ", plim_size_text(bytes, held->bytes), held->n);
    plim_print_padded(out, held->pillar < PLIM_PILLAR_MAX_ ? plim_pillar_name((enum plim_pillar)held->pillar) : "-",
                      LABEL_WIDTH);
    if (held->site < step->n_sites) {
        const struct plim_step_site *site = &step->sites[held->site];
        snprintf(line, sizeof line, "%s:%u %s", plim_step_text(step, site->file), site->line,
                 plim_step_text(step, site->function));
    } else {
        snprintf(line, sizeof line, "no line is known");
    }
    plim_print(out, "  ");
    plim_print_last(out, line, SITE_WIDTH);
}

static void print_fullest(FILE *out, const struct plim_step *step, const struct plim_torch_moment *moment)
{
    char bytes[PLIM_SIZE_TEXT];
    const bool is_known = moment->phase < PLIM_PHASE_MAX_;
    print_label(out, "fullest");
    plim_print(out, "after event %zu, step %u, %s: %s requested\n", moment->event, moment->step,
               is_known ? plim_phase_name((enum plim_phase)moment->phase) : "in an unknown phase",
               plim_size_text(bytes, moment->held_bytes));
    for (uint32_t i = 0; i < moment->n_sites; i++)
        print_site(out, step, &moment->sites[i]);
    if (moment->n_other_sites)
        plim_print(out, "  %11s         of %u other lines\n", plim_size_text(bytes, moment->other_sites_bytes),
                   moment->n_other_sites);
}

void plim_report_step_track(FILE *out, const struct plim_step *step, const struct plim_step_shown *shown,
                            const struct plim_style *style)
{
    static const char *const ends[PLIM_STEP_END_MAX_] = {
        [PLIM_STEP_END_UNKNOWN] = "how it ended is not known",
        [PLIM_STEP_END_EXIT] = "to the end of the program",
        [PLIM_STEP_END_STEPS] = "up to the steps that were asked for",
        [PLIM_STEP_END_MEMORY] = "until it ran out of memory",
    };
    char bytes[PLIM_SIZE_TEXT];
    const struct plim_step_track *track = shown->track;
    plim_print(out, "\n%srank %u, device %u%s  %zu events, %u allocations, %s\n", plim_paint(style, PLIM_BOLD),
               track->rank, track->device, plim_paint(style, PLIM_PLAIN), track->n_events, track->n_allocations,
               ends[track->end]);
    if (track->starts_late) {
        print_label(out, "before");
        plim_print(out, "lost; what was held then is taken at the beginning\n");
    }
    print_label(out, "steps");
    if (track->n_marks && track->marks[track->n_marks - 1].step)
        plim_print(out, "%u to %u of the optimizer, %zu marks of phases\n", track->marks[0].step,
                   track->marks[track->n_marks - 1].step, track->n_marks);
    else
        plim_print(out, "no end of one of the optimizer's, %zu marks of phases\n", track->n_marks);
    if (track->outside_bytes != PLIM_STEP_UNKNOWN_BYTES) {
        print_label(out, "outside");
        plim_print(out, "%s of libraries, not of PyTorch's allocator\n", plim_size_text(bytes, track->outside_bytes));
    }
    print_peaks(out, step, shown);
    if (shown->run)
        print_fullest(out, step, &shown->run->fullest);
}
