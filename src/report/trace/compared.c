/* SPDX-License-Identifier: MIT */
#include "report/trace/trace.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

enum { LINE_WIDTH = 37 };

static void print_sizes(FILE *out, const char *name, uint64_t first, uint64_t second)
{
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT], difference[PLIM_SIZE_TEXT];
    plim_print(out, "%-20s %11s %11s %12s\n", name, plim_size_text(a, first), plim_size_text(b, second),
               plim_size_text_signed(difference, (int64_t)(second - first)));
}

static void print_totals(FILE *out, const struct plim_trace_compared *compared)
{
    const struct plim_trace_analysis *a = compared->answers[0].analysis, *b = compared->answers[1].analysis;
    plim_print(out, "\n%-20s %11s %11s %12s\n", "", "first", "second", "difference");
    print_sizes(out, "peak: requested", a->peak.bytes, b->peak.bytes);
    print_sizes(out, "      in blocks", a->replay.result.allocated_peak_bytes, b->replay.result.allocated_peak_bytes);
    print_sizes(out, "      reserved", a->replay.result.reserved_peak_bytes, b->replay.result.reserved_peak_bytes);
    print_sizes(out, "end:  allocated", a->allocated_bytes, b->allocated_bytes);
    print_sizes(out, "      reserved", a->reserved_bytes, b->reserved_bytes);
    print_sizes(out, "      free in pieces", a->inactive_split_bytes, b->inactive_split_bytes);
    plim_print(out, "%-20s %11s %11s\n", "ran out of memory", a->has_oom ? "yes" : "no", b->has_oom ? "yes" : "no");
}

static void print_change(FILE *out, const struct plim_trace_change *change, const struct plim_style *style)
{
    char line[512], is[PLIM_SIZE_TEXT], difference[PLIM_SIZE_TEXT];
    const bool has_grown = change->bytes[1] > change->bytes[0];
    plim_print(out, "  %s%11s%s %11s %6llu %6llu  ", plim_paint(style, has_grown ? PLIM_RED : PLIM_GREEN),
               plim_size_text_signed(difference, (int64_t)(change->bytes[1] - change->bytes[0])),
               plim_paint(style, PLIM_PLAIN), plim_size_text(is, change->bytes[1]), (unsigned long long)change->n[0],
               (unsigned long long)change->n[1]);
    if (!change->file)
        snprintf(line, sizeof line, "no stack was recorded");
    else
        snprintf(line, sizeof line, "%s:%u %s", change->file, change->line, change->function);
    plim_print_last(out, line, LINE_WIDTH);
}

static void print_changes(FILE *out, const char *when, const struct plim_trace_changes *changes,
                          const struct plim_style *style)
{
    char was[PLIM_SIZE_TEXT], is[PLIM_SIZE_TEXT];
    plim_print(out, "\n%s%s%s", plim_paint(style, PLIM_BOLD), when, plim_paint(style, PLIM_PLAIN));
    if (!changes->n_changes)
        plim_print(out, "  every line holds the same");
    plim_print(out, "\n");
    if (changes->n_changes)
        plim_print(out, "  %11s %11s %13s\n", "difference", "second", "count of both");
    for (size_t i = 0; i < changes->n_changes; i++)
        print_change(out, &changes->changes[i], style);
    if (changes->n_rest_lines)
        plim_print(out, "  %llu other lines differ: %s, was %s\n", (unsigned long long)changes->n_rest_lines,
                   plim_size_text(is, changes->rest_bytes[1]), plim_size_text(was, changes->rest_bytes[0]));
    if (changes->n_changes && changes->n_equal_lines)
        plim_print(out, "  lines that hold the same: %llu\n", (unsigned long long)changes->n_equal_lines);
}

void plim_report_trace_compared_text(FILE *out, const struct plim_trace_compared *compared,
                                     const struct plim_style *style)
{
    plim_report_trace_head(out, &compared->answers[0]);
    plim_report_trace_head(out, &compared->answers[1]);
    print_totals(out, compared);
    print_changes(out, "by line, at the peak", &compared->peak, style);
    print_changes(out, "by line, at the end", &compared->end, style);
}
