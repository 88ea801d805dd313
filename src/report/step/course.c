/* SPDX-License-Identifier: MIT */
#include "report/step/course.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN_SITES = 5, BYTES_WIDTH = 11, SITE_COLUMN = 4 + BYTES_WIDTH, TEXT_BYTES = 400 };

/* --- head --- */

void plim_report_course_head(FILE *out, const struct plim_answer *answer)
{
    const struct plim_course *course = answer->course;
    char text[TEXT_BYTES];
    char of[64] = "";
    if (course->n_devices < course->n_tracks)
        snprintf(of, sizeof of, " of %u ranks on %u device%s", course->n_tracks, course->n_devices,
                 course->n_devices == 1 ? "" : "s");
    else if (course->n_tracks > 1)
        snprintf(of, sizeof of, " of %u devices", course->n_tracks);
    snprintf(text, sizeof text, "a recorded step%s%s%.250s", of, *course->command ? ": " : "", course->command);
    plim_print(out, "  ");
    plim_print_wrapped(out, text, 2, 2);
}

/* --- the peak --- */

/* The phase "step" would be confused with the steps of a training. */
static const char *phase_words(enum plim_phase phase)
{
    return phase == PLIM_PHASE_STEP ? "optimizer step" : plim_phase_name(phase);
}

/* "in step 1, backward" */
static void write_place(const struct plim_course *course, char *text, size_t size)
{
    if (course->binding_phase < PLIM_PHASE_MAX_)
        snprintf(text, size, "in step %u, %s", course->binding_step, phase_words(course->binding_phase));
    else
        snprintf(text, size, "after event %zu", course->binding_event);
}

static void print_peak(FILE *out, const struct plim_course *course)
{
    char text[TEXT_BYTES], place[64], allocated[PLIM_SIZE_TEXT], reserved[PLIM_SIZE_TEXT];
    write_place(course, place, sizeof place);
    plim_size_text(allocated, course->allocated_peak_bytes);
    plim_size_text(reserved, course->reserved_peak_bytes);
    snprintf(text, sizeof text, "Peak: %s; PyTorch allocates up to %s and reserves %s.", place, allocated, reserved);
    if (course->n_tracks > 1)
        snprintf(text + strlen(text), sizeof text - strlen(text), " Of %u %s rank %u needs most.", course->n_tracks,
                 course->n_devices < course->n_tracks ? "ranks" : "devices", course->rank);
    plim_print(out, "\n");
    plim_print_wrapped(out, text, 0, 0);
}

/* "Most allocated in forward 8.10 GiB, backward 10.2 GiB, step 9.31 GiB." */
static void print_phases(FILE *out, const struct plim_course *course)
{
    char text[TEXT_BYTES] = "", size[PLIM_SIZE_TEXT];
    for (unsigned i = 0; i < PLIM_PHASE_MAX_; i++) {
        const size_t n = strlen(text);
        if (course->phases[i].is_there)
            snprintf(text + n, sizeof text - n, "%s %s %s", n ? "," : "Most allocated in",
                     phase_words((enum plim_phase)i), plim_size_text(size, course->phases[i].allocated_bytes));
    }
    if (!*text)
        return;
    snprintf(text + strlen(text), sizeof text - strlen(text), ".");
    plim_print_wrapped(out, text, 0, 0);
}

static const char *last_part(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash && slash[1] ? slash + 1 : file;
}

/* "    4.10 GiB  train.py:31 forward, 24 times (activations)" */
static void print_site(FILE *out, const struct plim_course_site *site, const struct plim_style *style)
{
    char text[TEXT_BYTES], size[PLIM_SIZE_TEXT];
    const char *pillar = site->pillar < PLIM_PILLAR_MAX_ ? plim_pillar_name(site->pillar) : "of unknown use";
    if (*site->file)
        snprintf(text, sizeof text, "%.100s:%u%s%.60s, %u x (%s)", last_part(site->file), site->line,
                 *site->function ? " " : "", site->function, site->n, pillar);
    else if (site->phase < PLIM_PHASE_MAX_)
        snprintf(text, sizeof text, "no line of Python, taken in %s, %u x (%s)", phase_words(site->phase), site->n,
                 pillar);
    else
        snprintf(text, sizeof text, "no line of Python, %u x (%s)", site->n, pillar);
    plim_print(out, "  %*s%s  ", BYTES_WIDTH, plim_size_text(size, site->bytes), plim_paint(style, PLIM_DIM));
    plim_print_wrapped(out, text, SITE_COLUMN, SITE_COLUMN);
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
}

static void print_sites(FILE *out, const struct plim_course *course, const struct plim_style *style)
{
    char size[PLIM_SIZE_TEXT];
    const uint32_t shown = style->is_verbose || course->n_sites < SHOWN_SITES ? course->n_sites : SHOWN_SITES;
    uint64_t rest_bytes = course->other_sites_bytes;
    uint32_t n_rest = course->n_other_sites + course->n_sites - shown;
    if (course->n_sites)
        plim_print(out, "Held then, by line of the program:\n");
    for (uint32_t i = 0; i < shown; i++)
        print_site(out, &course->sites[i], style);
    for (uint32_t i = shown; i < course->n_sites; i++)
        rest_bytes += course->sites[i].bytes;
    if (n_rest)
        plim_print(out, "  %*s  %u other line%s\n", BYTES_WIDTH, plim_size_text(size, rest_bytes), n_rest,
                   n_rest == 1 ? "" : "s");
}

void plim_report_course_peak(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    print_peak(out, answer->course);
    print_phases(out, answer->course);
    print_sites(out, answer->course, style);
}

/* --- the end --- */

static void print_oom(FILE *out, const struct plim_course *course)
{
    char text[TEXT_BYTES], a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT], c[PLIM_SIZE_TEXT];
    snprintf(text, sizeof text,
             "It runs out of memory when it asks for %s: it holds %s, and the card has %s for PyTorch.",
             plim_size_text(a, course->oom_bytes), plim_size_text(b, course->oom_held_bytes),
             plim_size_text(c, course->room_bytes));
    plim_print_wrapped(out, text, 0, 0);
    if (course->live_over_bytes) {
        snprintf(text, sizeof text,
                 "No setting of the allocator is enough: the program holds %s at once, %s more than that.",
                 plim_size_text(a, course->requested_peak_bytes), plim_size_text(b, course->live_over_bytes));
        plim_print_wrapped(out, text, 0, 0);
    }
}

static void print_largest(FILE *out, const struct plim_course_largest *largest, const struct plim_style *style)
{
    char text[TEXT_BYTES];
    if (!largest->variable)
        return;
    if (!largest->value && !largest->fails_at)
        snprintf(text, sizeof text, "No value of %s can be told of.", largest->variable);
    else if (!largest->value)
        snprintf(text, sizeof text, "No value of %s that was tried fits, down to %" PRIu64 ".", largest->variable,
                 largest->fails_at);
    else if (largest->fails_at)
        snprintf(text, sizeof text, "The largest %s that fits: %" PRIu64 "; %" PRIu64 " does not (%u replays).",
                 largest->variable, largest->value, largest->fails_at, largest->n_tried);
    else
        snprintf(text, sizeof text, "The largest %s that was tried fits: %" PRIu64 " (%u replays).", largest->variable,
                 largest->value, largest->n_tried);
    plim_print(out, "%s", plim_paint(style, PLIM_BOLD));
    plim_print_wrapped(out, text, 0, 0);
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    if (largest->by_making_room) {
        snprintf(text, sizeof text,
                 "Up to %" PRIu64 " it runs only because PyTorch empties its cache on the way: slower, and it depends "
                 "on the last MiB.",
                 largest->by_making_room);
        plim_print(out, "  ");
        plim_print_wrapped(out, text, 2, 2);
    }
    if (largest->fits_again)
        plim_print(out, "  %s=%" PRIu64 " fits again: the need does not grow steadily.\n", largest->variable,
                   largest->fits_again);
    if (largest->unknown_at)
        plim_print(out, "  %s=%" PRIu64 " lies between two shapes of the step: record it to know.\n", largest->variable,
                   largest->unknown_at);
}

void plim_report_course_end(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    const struct plim_course *course = answer->course;
    char text[TEXT_BYTES];
    if (course->is_oom) {
        print_oom(out, course);
    } else if (course->n_retries) {
        snprintf(text, sizeof text, "PyTorch empties its cache %" PRIu64 " time%s to make room: that costs time.",
                 course->n_retries, course->n_retries == 1 ? "" : "s");
        plim_print_wrapped(out, text, 0, 0);
    }
    print_largest(out, &course->largest, style);
}
