/* SPDX-License-Identifier: MIT */
#include "report/trace/trace.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"
#include "trace/holders.h"
#include "trace/snapshot.h"

#include <stdio.h>
#include <string.h>

enum { SITE_WIDTH = 56 };

/* "AddmmBackward0 (autograd)" of torch::autograd::generated::AddmmBackward0::apply(...), else a name without arguments.
 */
static void print_function(FILE *out, const char *name)
{
    static const char node[] = "torch::autograd::generated::", operator[] = "at::_ops::";
    char line[512];
    const bool is_node = !strncmp(name, node, sizeof node - 1);
    const bool is_operator = !strncmp(name, operator, sizeof operator- 1);
    name += is_node ? sizeof node - 1 : is_operator ? sizeof operator- 1 : 0;
    snprintf(line, sizeof line, "%.*s (%s)", (int)strcspn(name, is_node || is_operator ? ":(" : "("), name,
             is_node       ? "autograd"
             : is_operator ? "operator"
                           : "C++");
    plim_print_last(out, line, SITE_WIDTH);
}

void plim_report_trace_frame(FILE *out, const struct plim_memory_trace *trace, uint32_t frame)
{
    char line[512];
    if (frame == PLIM_TRACE_NO_STACK) {
        plim_print_last(out, "no stack was recorded", SITE_WIDTH);
        return;
    }
    const struct plim_trace_frame *f = &trace->frames[frame];
    if (!plim_trace_frame_is_python(trace, frame)) {
        print_function(out, plim_trace_words(trace, f->name));
        return;
    }
    snprintf(line, sizeof line, "%s:%u %s", plim_trace_words(trace, f->file), f->line,
             plim_trace_words(trace, f->name));
    plim_print_last(out, line, SITE_WIDTH);
}

static void print_place(FILE *out, const struct plim_memory_trace *trace, const char *what, uint32_t frame)
{
    plim_print(out, "  %11s %6s  ", what, "");
    plim_report_trace_frame(out, trace, frame);
}

/* A line, with its bytes and its count, and the line of the loop that it is under. */
static void print_line(FILE *out, const struct plim_memory_trace *trace, uint64_t bytes, uint64_t n, uint32_t frame,
                       uint32_t call)
{
    char text[PLIM_SIZE_TEXT];
    plim_print(out, "  %11s %6llu  ", plim_size_text(text, bytes), (unsigned long long)n);
    plim_report_trace_frame(out, trace, frame);
    if (call != PLIM_TRACE_NO_STACK && frame != PLIM_TRACE_NO_STACK &&
        (trace->frames[call].line != trace->frames[frame].line ||
         trace->frames[call].file != trace->frames[frame].file))
        print_place(out, trace, "called from", call);
}

/* What the lines of a kind have in common; the first of them is given. */
static void print_kind(FILE *out, const struct plim_trace_answer *answer, size_t first, const struct plim_style *style)
{
    const struct plim_trace_growth *growth = &answer->analysis->growth;
    const enum plim_trace_growth_kind kind = growth->lines[first].kind;
    const bool has_next = first + 1 < growth->n_lines && growth->lines[first + 1].kind == kind;
    const char *plain = plim_paint(style, PLIM_PLAIN);
    const unsigned long long n = growth->n_turns;
    if (kind == PLIM_TRACE_KEPT)
        plim_print(out, "\n%sgrows%s  held at the end of a loop of %llu turns, from all of its quarters;\n",
                   plim_paint(style, PLIM_RED), plain, n);
    else if (kind == PLIM_TRACE_LARGER)
        plim_print(out, "\n%slarger%s  turns of a loop of %llu ask for more and more, first at %s;\n",
                   plim_paint(style, PLIM_YELLOW), plain, n, has_next ? "one of these lines" : "this line");
    else
        plim_print(out,
                   "\n%slate%s  what several turns of a loop of %llu took is given back together, the\n"
                   "  oldest first: as reference cycles are, by Python's garbage collector;\n",
                   plim_paint(style, PLIM_YELLOW), plain, n);
    print_place(out, answer->trace, "loop from", growth->loop_frame);
}

static void print_growing(FILE *out, const struct plim_memory_trace *trace, const struct plim_trace_growing *line)
{
    char first[PLIM_SIZE_TEXT], last[PLIM_SIZE_TEXT];
    print_line(out, trace, line->bytes, line->n, line->frame, line->call);
    if (line->kind == PLIM_TRACE_LARGER)
        plim_print(out, "  %s for a turn of the first quarter, %s for one of the last\n",
                   plim_size_text(first, line->first_bytes), plim_size_text(last, line->bytes));
    else if (line->kind == PLIM_TRACE_LATE)
        plim_print(out, "  %s at most; %llu times that of three turns or more was given back\n",
                   plim_size_text(last, line->bytes), (unsigned long long)line->n_bursts);
}

/* Why the driver gave more. */
static const char *const unfit_reasons[] = {
    [PLIM_TRACE_NOT_APART] = "freed segments that later requests do not fit",
    [PLIM_TRACE_APART_STREAMS] = "what is free of one stream is not for another",
    [PLIM_TRACE_APART_POOLS] = "what is free of one pool is not for another",
};

static void print_unfit(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style)
{
    char reserved[PLIM_SIZE_TEXT], used[PLIM_SIZE_TEXT];
    const struct plim_torch_result *result = &answer->analysis->replay.result;
    plim_print(out,
               "\n%sin pieces%s  reserved grows to %s while at most %s is in use:\n"
               "  fragmentation: %s; new segments for\n",
               plim_paint(style, PLIM_YELLOW), plim_paint(style, PLIM_PLAIN),
               plim_size_text(reserved, result->reserved_peak_bytes),
               plim_size_text(used, result->allocated_peak_bytes), unfit_reasons[answer->analysis->pieces.apart]);
}

static void print_pieces(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style)
{
    char unused[PLIM_SIZE_TEXT], reserved[PLIM_SIZE_TEXT], less[PLIM_SIZE_TEXT];
    const struct plim_trace_pieces *pieces = &answer->analysis->pieces;
    if (!pieces->is_found)
        return;
    if (pieces->is_unfit)
        print_unfit(out, answer, style);
    else
        plim_print(out, "\n%sin pieces%s  %s of %s reserved, %s:\n  free, but in segments that something holds\n",
                   plim_paint(style, PLIM_YELLOW), plim_paint(style, PLIM_PLAIN),
                   plim_size_text(unused, pieces->then.pieces_bytes),
                   plim_size_text(reserved, pieces->then.reserved_bytes),
                   pieces->is_oom ? "when memory ran out" : "when least could be given back");
    for (size_t i = 0; i < pieces->n_pins; i++)
        print_line(out, answer->trace, pieces->pins[i].held_bytes, pieces->pins[i].n, pieces->pins[i].frame,
                   pieces->pins[i].call);
    if (pieces->settings[0])
        plim_print(out, "  the same history under %s reserves at most %s,\n  not %s\n", pieces->settings,
                   plim_size_text(less, pieces->reserved_peak_bytes),
                   plim_size_text(reserved, answer->analysis->replay.result.reserved_peak_bytes));
    else if (pieces->apart)
        plim_print(out, "  the same history %s reserves at most %s,\n  not %s\n",
                   pieces->apart == PLIM_TRACE_APART_STREAMS ? "on one stream" : "in one pool",
                   plim_size_text(less, pieces->reserved_peak_bytes),
                   plim_size_text(reserved, answer->analysis->replay.result.reserved_peak_bytes));
    else if (!pieces->is_oom)
        plim_print(out, "  no setting that was tried reserves clearly less\n");
}

void plim_report_trace_findings(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style)
{
    const struct plim_trace_growth *growth = &answer->analysis->growth;
    for (size_t i = 0; i < growth->n_lines; i++) {
        if (!i || growth->lines[i].kind != growth->lines[i - 1].kind)
            print_kind(out, answer, i, style);
        print_growing(out, answer->trace, &growth->lines[i]);
    }
    print_pieces(out, answer, style);
}
