/* SPDX-License-Identifier: MIT */
#include "report/trace/ranks.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/json_text.h"
#include "report/paint.h"
#include "report/print.h"

enum { PATH_WIDTH = 25, LINE_WIDTH = 37 };

/* --- text --- */

static void print_rank(FILE *out, const struct plim_trace_ranks *ranks, size_t i, const struct plim_style *style)
{
    const struct plim_trace_rank *rank = &ranks->ranks[i];
    char requested[PLIM_SIZE_TEXT], blocks[PLIM_SIZE_TEXT], reserved[PLIM_SIZE_TEXT];
    plim_print(out, "%s%4zu %11s %11s %11s  %-3s %-5s%s  ", i == ranks->deciding ? plim_paint(style, PLIM_BOLD) : "", i,
               plim_size_text(requested, rank->peak_bytes), plim_size_text(blocks, rank->allocated_peak_bytes),
               plim_size_text(reserved, rank->reserved_peak_bytes), rank->has_oom ? "yes" : "no",
               rank->is_met ? "yes" : "no", plim_paint(style, PLIM_PLAIN));
    plim_print_last(out, rank->path, PATH_WIDTH);
}

static void print_deciding(FILE *out, const struct plim_trace_ranks *ranks)
{
    const struct plim_trace_rank *rank = &ranks->ranks[ranks->deciding];
    uint64_t least = UINT64_MAX;
    char size[PLIM_SIZE_TEXT];
    for (size_t i = 0; i < ranks->n_ranks; i++)
        if (ranks->ranks[i].reserved_peak_bytes < least)
            least = ranks->ranks[i].reserved_peak_bytes;
    if (rank->has_oom)
        plim_print(out, "\nrank %zu decides: it ran out of memory, %s were asked for\n", ranks->deciding,
                   plim_size_text(size, rank->asked_bytes));
    else if (rank->reserved_peak_bytes == least)
        plim_print(out, "\nall ranks reserve the same\n");
    else
        plim_print(out, "\nrank %zu decides: it reserves %s more than the rank that reserves least\n", ranks->deciding,
                   plim_size_text(size, rank->reserved_peak_bytes - least));
}

static void print_line(FILE *out, const struct plim_trace_rank_line *line)
{
    char text[512], least[PLIM_SIZE_TEXT], most[PLIM_SIZE_TEXT];
    plim_print(out, "  %11s %4zu %11s %4zu  ", plim_size_text(least, line->least_bytes), line->least_rank,
               plim_size_text(most, line->most_bytes), line->most_rank);
    if (!line->file)
        snprintf(text, sizeof text, "no stack was recorded");
    else
        snprintf(text, sizeof text, "%s:%u %s", line->file, line->line, line->function);
    plim_print_last(out, text, LINE_WIDTH);
}

void plim_report_trace_ranks_text(FILE *out, const struct plim_trace_ranks *ranks, const struct plim_style *style)
{
    plim_print(out, "%s%4s %11s %11s %11s  %-3s %-5s%s\n", plim_paint(style, PLIM_BOLD), "rank", "requested",
               "in blocks", "reserved", "OOM", "equal", plim_paint(style, PLIM_PLAIN));
    for (size_t i = 0; i < ranks->n_ranks; i++)
        print_rank(out, ranks, i, style);
    print_deciding(out, ranks);
    plim_print(out, "\n%sby line, at the peak of each rank%s", plim_paint(style, PLIM_BOLD),
               plim_paint(style, PLIM_PLAIN));
    if (!ranks->n_lines) {
        plim_print(out, "  every line holds the same in all ranks\n");
        return;
    }
    plim_print(out, "\n  %11s %4s %11s %4s\n", "least", "rank", "most", "rank");
    for (size_t i = 0; i < ranks->n_lines; i++)
        print_line(out, &ranks->lines[i]);
    if (ranks->n_rest_lines)
        plim_print(out, "  %zu other lines differ\n", ranks->n_rest_lines);
    if (ranks->n_equal_lines)
        plim_print(out, "  lines that hold the same in all ranks: %zu\n", ranks->n_equal_lines);
}

/* --- JSON --- */

static json_t *number(uint64_t value) { return value > INT64_MAX ? json_null() : json_integer((json_int_t)value); }

static json_t *rank_json(const struct plim_trace_rank *rank)
{
    json_t *oom = rank->has_oom ? json_pack("{s:o}", "asked_bytes", number(rank->asked_bytes)) : json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "snapshot", plim_text_json(rank->path),
                     "device", number(rank->device), "entries", number(rank->n_entries), "requested_peak_bytes",
                     number(rank->peak_bytes), "allocated_peak_bytes", number(rank->allocated_peak_bytes),
                     "reserved_peak_bytes", number(rank->reserved_peak_bytes), "reserved_bytes",
                     number(rank->reserved_bytes), "inactive_split_bytes", number(rank->inactive_split_bytes), "oom",
                     oom, "is_equal", rank->is_met);
}

static json_t *line_json(const struct plim_trace_ranks *ranks, const struct plim_trace_rank_line *line)
{
    json_t *bytes = json_array();
    for (size_t i = 0; i < ranks->n_ranks; i++)
        json_array_append_new(bytes, number(line->bytes[i]));
    json_t *frame = !line->file ? json_null()
                                : json_pack("{s:o, s:o, s:o}", "file", plim_text_json(line->file), "line",
                                            number(line->line), "function", plim_text_json(line->function));
    return json_pack("{s:o, s:o}", "bytes", bytes, "frame", frame);
}

bool plim_report_trace_ranks_json(FILE *out, const struct plim_trace_ranks *ranks)
{
    json_t *rows = json_array(), *lines = json_array();
    for (size_t i = 0; i < ranks->n_ranks; i++)
        json_array_append_new(rows, rank_json(&ranks->ranks[i]));
    for (size_t i = 0; i < ranks->n_lines; i++)
        json_array_append_new(lines, line_json(ranks, &ranks->lines[i]));
    json_t *root = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "schema", "plimsoll.trace/1", "ranks", rows,
                             "deciding_rank", number(ranks->deciding), "lines", lines, "rest_lines",
                             number(ranks->n_rest_lines), "equal_lines", number(ranks->n_equal_lines));
    return plim_json_write(out, root, JSON_INDENT(2));
}
