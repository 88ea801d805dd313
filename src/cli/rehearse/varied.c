/* SPDX-License-Identifier: MIT */
#include "cli/rehearse/varied.h"

#include "base/units.h"
#include "cli/recorded.h"
#include "report/print.h"
#include "step/fit/fit.h"

#include <stdio.h>

enum { TEXT = 256 };

static char *point_text(const struct plim_vary *vary, const struct plim_step_point *point, char text[TEXT])
{
    int n = 0;
    *text = '\0';
    for (uint32_t i = 0; i < vary->n_variables && n < TEXT; i++)
        n += snprintf(text + n, (size_t)(TEXT - n), "%s%s=%llu", i ? " " : "", vary->variable[i].name,
                      (unsigned long long)point->value[i]);
    return text;
}

void plim_rehearse_varied_line(const struct plim_vary *vary, const struct plim_vary_point *point,
                               const struct plim_step *step, const char *failure, double seconds)
{
    char text[TEXT], time[32] = "kept", allocated[PLIM_SIZE_TEXT], reserved[PLIM_SIZE_TEXT];
    struct plim_step_peaks peaks = { 0, 0 };
    point_text(vary, &point->point, text);
    if (seconds >= 0)
        snprintf(time, sizeof time, "%.1f s", seconds);
    if (!step) {
        plim_print(stderr, "%-24s no recording: %s\n", text, failure);
        return;
    }
    for (size_t i = 0; i < step->shapes[0].n_tracks; i++) {
        const struct plim_step_peaks *own = step->shapes[0].tracks[i].recorded;
        if (own && own->reserved_bytes != PLIM_STEP_UNKNOWN_BYTES && own->reserved_bytes > peaks.reserved_bytes)
            peaks = *own;
    }
    plim_print(stderr, "%-24s %s allocated, %s reserved (%s)%s\n", text,
               plim_size_text(allocated, peaks.allocated_bytes), plim_size_text(reserved, peaks.reserved_bytes), time,
               point->is_left_out ? ", to test the fit" : "");
}

static void print_values(const struct plim_vary *vary, const struct plim_step_shape *shape)
{
    for (uint32_t i = 0; i < vary->n_variables; i++) {
        uint64_t low = UINT64_MAX, high = 0;
        for (size_t k = 0; k < shape->n_points; k++) {
            const uint64_t value = shape->points[k].value[i];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        plim_print(stderr, low < high ? " %s=%llu..%llu" : " %s=%llu", vary->variable[i].name, (unsigned long long)low,
                   (unsigned long long)high);
    }
}

/* What more recordings would settle. */
static void print_gaps(const struct plim_vary *vary, const struct plim_vary_plan *plan, size_t shape)
{
    enum { ENOUGH = 3 };
    for (uint32_t i = 0; i < vary->n_variables; i++) {
        const uint32_t n = plim_vary_count_values(vary, plan, shape, i);
        if (n == 1)
            plim_print(stderr, "    one value of %s: it answers for no other\n", vary->variable[i].name);
        else if (n > 1 && n < ENOUGH)
            plim_print(stderr, "    two values of %s: a third would show what is not proportional to it\n",
                       vary->variable[i].name);
    }
}

static void print_shape(const struct plim_vary *vary, const struct plim_vary_plan *plan, const struct plim_step *step,
                        size_t number)
{
    const struct plim_step_shape *shape = &step->shapes[number];
    struct plim_step_fit_counts counts;
    plim_step_fit_count(shape, &counts);
    plim_print(stderr, "  shape %zu,", number + 1);
    print_values(vary, shape);
    plim_print(stderr, ": %zu recording%s; %zu sizes follow a formula exactly", shape->n_points,
               shape->n_points == 1 ? "" : "s", counts.n_exact);
    if (counts.n_near)
        plim_print(stderr, ", %zu nearly (%zu of %zu allocations)", counts.n_near, counts.n_near_allocations,
                   counts.n_allocations);
    plim_print(stderr, "\n");
    if (shape->left_out_reserved_error >= 0)
        plim_print(stderr,
                   "    a recording that a first fit had not seen: allocated off by %.2f %%, reserved by %.2f %%\n",
                   shape->left_out_allocated_error * 100, shape->left_out_reserved_error * 100);
    print_gaps(vary, plan, number);
}

void plim_rehearse_varied_text(const struct plim_rehearse_options *o, const struct plim_vary_plan *plan,
                               const struct plim_step *step)
{
    const struct plim_vary *vary = &o->vary;
    size_t n_recorded = 0;
    for (size_t i = 0; i < plan->n; i++)
        n_recorded += plan->points[i].state == PLIM_VARY_RECORDED;
    plim_print(stderr, "recorded %s: %zu of %zu points, %zu shape%s\n", o->record_path, n_recorded, plan->n,
               step->n_shapes, step->n_shapes == 1 ? "" : "s");
    if (n_recorded < plan->n)
        plim_print(stderr, "  where memory ran out: take smaller values, or a --card with more of it\n");
    for (size_t i = 0; i < step->n_shapes; i++)
        print_shape(vary, plan, step, i);
    plim_print(stderr, "ask: ");
    plim_cli_say_question(o->record_path, o->card);
    for (uint32_t i = 0; i < vary->n_variables; i++)
        plim_print(stderr, " --set %s=%llu", vary->variable[i].name,
                   2 * (unsigned long long)vary->value[i][vary->n_values[i] - 1]);
    plim_print(stderr, "\n     or with --max %s for the largest that fits\n", vary->variable[0].name);
}
