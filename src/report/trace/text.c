/* SPDX-License-Identifier: MIT */
#include "report/trace/trace.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"
#include "trace/holders.h"
#include "trace/snapshot.h"

#include <string.h>

enum { SETTINGS_WIDTH = 52 };

static const char *size(char buffer[PLIM_SIZE_TEXT], uint64_t bytes) { return plim_size_text(buffer, bytes); }

static void print_holders(FILE *out, const struct plim_memory_trace *trace, const struct plim_trace_holders *holders)
{
    char bytes[PLIM_SIZE_TEXT];
    for (size_t i = 0; i < holders->n_sites; i++) {
        const struct plim_trace_site *site = &holders->sites[i];
        plim_print(out, "  %11s %6llu  ", size(bytes, site->bytes), (unsigned long long)site->n);
        plim_report_trace_frame(out, trace, site->frame);
    }
    if (holders->n_rest)
        plim_print(out, "  %11s %6llu  of %llu other lines\n", size(bytes, holders->rest_bytes),
                   (unsigned long long)holders->n_rest, (unsigned long long)holders->n_rest_sites);
}

void plim_report_trace_head(FILE *out, const struct plim_trace_answer *answer)
{
    const struct plim_memory_trace *trace = answer->trace;
    const struct plim_trace_analysis *analysis = answer->analysis;
    char time[PLIM_TRACE_MOMENT_BYTES];
    const char *settings = trace->has_settings ? plim_trace_words(trace, trace->settings.text) : "";
    plim_print(out, "%s\n", answer->path);
    plim_print(out, "device %zu: ", analysis->device);
    if (analysis->n_entries)
        plim_print(
            out, "%zu entries %s%s", analysis->n_entries, plim_trace_has_times(answer) ? "over " : "without times",
            plim_trace_has_times(answer) ? plim_trace_moment(time, answer, (uint32_t)analysis->n_entries - 1) : "");
    else
        plim_print(out, "no history, only what is held now");
    plim_print(out, "; settings: %s\n", !trace->has_settings ? "not written" : *settings ? settings : "default");
}

/* Nothing when nothing is known. */
static void print_pillars(FILE *out, const struct plim_trace_pillars *pillars)
{
    static const char *const words[PLIM_PILLAR_MAX_ + 1] = {
        [PLIM_PILLAR_WEIGHTS] = "weights",     [PLIM_PILLAR_KV_CACHE] = "KV cache",
        [PLIM_PILLAR_GRADIENTS] = "gradients", [PLIM_PILLAR_ACTIVATIONS] = "activations and work areas",
        [PLIM_PILLAR_OPTIMIZER] = "optimizer", [PLIM_PILLAR_OVERHEAD] = "overhead",
        [PLIM_PILLAR_OTHERS] = "others",       [PLIM_PILLAR_MAX_] = "unknown",
    };
    char bytes[PLIM_SIZE_TEXT];
    uint64_t known_bytes = 0;
    for (size_t i = 0; i < PLIM_PILLAR_MAX_; i++)
        known_bytes += pillars->bytes[i];
    if (!known_bytes)
        return;
    plim_print(out, "  what it is for, as far as stacks tell:\n");
    for (size_t i = 0; i <= PLIM_PILLAR_MAX_; i++)
        if (pillars->bytes[i])
            plim_print(out, "  %11s         %s\n", size(bytes, pillars->bytes[i]), words[i]);
    plim_print(out, "  by line:\n");
}

static void print_peak(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style)
{
    char requested[PLIM_SIZE_TEXT], blocks[PLIM_SIZE_TEXT], reserved[PLIM_SIZE_TEXT], time[PLIM_TRACE_MOMENT_BYTES];
    const struct plim_trace_analysis *analysis = answer->analysis;
    const struct plim_torch_result *result = &analysis->replay.result;
    plim_print(out, "\n%s%s%s  %s requested", plim_paint(style, PLIM_BOLD), analysis->n_entries ? "peak" : "held",
               plim_paint(style, PLIM_PLAIN), size(requested, analysis->peak.bytes));
    if (analysis->peak_entry != UINT32_MAX)
        plim_print(out, " at %s", plim_trace_moment(time, answer, analysis->peak_entry));
    plim_print(out, ", in blocks of %s;\n      at most %s reserved\n", size(blocks, result->allocated_peak_bytes),
               size(reserved, result->reserved_peak_bytes));
    print_pillars(out, &analysis->peak_pillars);
    print_holders(out, answer->trace, &analysis->peak);
    if (analysis->peak.n_before && analysis->n_entries)
        plim_print(out, "  %s of it in %llu allocations from before the trace begins\n",
                   size(requested, analysis->peak.before_bytes), (unsigned long long)analysis->peak.n_before);
}

static void print_end(FILE *out, const struct plim_trace_analysis *analysis)
{
    char reserved[PLIM_SIZE_TEXT], allocated[PLIM_SIZE_TEXT], split[PLIM_SIZE_TEXT];
    plim_print(out, "\nend  %s reserved in %zu segments, %s of it allocated", size(reserved, analysis->reserved_bytes),
               analysis->n_segments, size(allocated, analysis->allocated_bytes));
    if (analysis->inactive_split_bytes)
        plim_print(out, ",\n     %s free in pieces between allocations", size(split, analysis->inactive_split_bytes));
    plim_print(out, "\n");
}

/* --- out of memory --- */

static void print_oom(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style)
{
    char asked[PLIM_SIZE_TEXT], segment[PLIM_SIZE_TEXT], free_bytes[PLIM_SIZE_TEXT], reserved[PLIM_SIZE_TEXT],
        used[PLIM_SIZE_TEXT], unused[PLIM_SIZE_TEXT], time[PLIM_TRACE_MOMENT_BYTES];
    const struct plim_trace_oom *oom = &answer->analysis->oom;
    const struct plim_trace_entry *entry = plim_trace_entry_of(answer, oom->entry);
    plim_print(out, "\n%sout of memory%s  at %s: %s asked for, a segment of %s;\n", plim_paint(style, PLIM_RED),
               plim_paint(style, PLIM_PLAIN), plim_trace_moment(time, answer, oom->entry),
               size(asked, oom->asked_bytes), size(segment, oom->segment_bytes));
    plim_print(out, "  %s free on the card; PyTorch had %s, %s of it in use,\n  %s free in pieces\n",
               size(free_bytes, oom->device_free_bytes), size(reserved, oom->reserved_bytes),
               size(used, oom->allocated_bytes), size(unused, oom->free_blocks_bytes));
    plim_print(out, "  %11s %6s  ", "asked by", "");
    plim_report_trace_frame(out, answer->trace,
                            entry ? plim_trace_frame_of(answer->trace, entry->stack) : PLIM_TRACE_NO_STACK);
    if (oom->holders.bytes != answer->analysis->peak.bytes) {
        plim_print(out, "  held then:\n");
        print_pillars(out, &oom->pillars);
        print_holders(out, answer->trace, &oom->holders);
    }
}

static void print_fidelity(FILE *out, const struct plim_trace_analysis *analysis)
{
    const struct plim_trace_replay *replay = &analysis->replay;
    plim_print(out, "\nreplay  of the recorded settings: %zu of %zu changes of segments equal%s\n", replay->n_equal,
               replay->n_recorded,
               analysis->is_met    ? ""
               : analysis->has_oom ? ", or it runs out elsewhere"
                                   : "");
}

static void print_trial(FILE *out, const struct plim_trace_trial *trial, const struct plim_style *style)
{
    char reserved[PLIM_SIZE_TEXT];
    plim_print(out, "  ");
    plim_print_padded(out, trial->settings[0] ? trial->settings : "recorded settings", SETTINGS_WIDTH);
    if (!trial->is_past_oom)
        plim_print(out, "  %sno%s\n", plim_paint(style, PLIM_RED), plim_paint(style, PLIM_PLAIN));
    else
        plim_print(out, "  %syes%s  %s reserved\n", plim_paint(style, PLIM_GREEN), plim_paint(style, PLIM_PLAIN),
                   size(reserved, trial->result.reserved_peak_bytes));
}

static void print_room(FILE *out, const struct plim_trace_answer *answer)
{
    char room[PLIM_SIZE_TEXT];
    const struct plim_trace_analysis *analysis = answer->analysis;
    if (analysis->room_bytes == UINT64_MAX) {
        plim_print(out, "  with no end of memory: the trace does not say how much there was (--capacity)\n");
        return;
    }
    plim_print(out, "  with %s for PyTorch%s\n", size(room, analysis->room_bytes),
               answer->question->capacity_bytes   ? ""
               : analysis->requests.is_room_exact ? ": what it had and what was free at the OOM"
                                                  : ", the most that the trace allows");
}

/* The last line is the answer. */
static void print_answer(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style)
{
    const struct plim_trace_analysis *analysis = answer->analysis;
    char missing[PLIM_SIZE_TEXT], room[PLIM_SIZE_TEXT];
    const char *best = NULL;
    for (size_t i = 0; i < analysis->n_trials && !best; i++)
        if (analysis->trials[i].is_past_oom)
            best = analysis->trials[i].settings;
    if (analysis->has_oom && analysis->oom.is_demand)
        plim_print(out, "no setting can help: in use and asked for are %s more than %s\n",
                   size(missing, analysis->oom.missing_bytes), size(room, analysis->room_bytes));
    else if (analysis->has_oom && !analysis->is_met && !analysis->n_trials)
        plim_print(out, "the replay does not meet the recorded run: no setting was tried\n");
    else if (answer->question->settings || answer->question->capacity_bytes)
        plim_print(out, "%s%s%s\n", plim_paint(style, best ? PLIM_GREEN : PLIM_RED),
                   !best               ? "under these conditions memory runs out"
                   : analysis->has_oom ? "under these conditions the request that failed is met"
                                       : "under these conditions memory does not run out",
                   plim_paint(style, PLIM_PLAIN));
    else if (analysis->n_trials && best)
        plim_print(out, "this request would have been met with\n  PYTORCH_CUDA_ALLOC_CONF=%s\n", best);
    else if (analysis->n_trials)
        plim_print(out, "none of these settings meets this request\n");
    else if (!analysis->has_oom)
        plim_print(out, "memory did not run out: at most %s in use, %s reserved\n",
                   size(missing, analysis->replay.result.allocated_peak_bytes),
                   size(room, analysis->replay.result.reserved_peak_bytes));
}

void plim_report_trace_text(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style)
{
    const struct plim_trace_analysis *analysis = answer->analysis;
    plim_report_trace_head(out, answer);
    plim_report_trace_timeline(out, answer, style);
    print_peak(out, answer, style);
    print_end(out, analysis);
    plim_report_trace_findings(out, answer, style);
    if (analysis->has_oom)
        print_oom(out, answer, style);
    if (!analysis->n_entries)
        return;
    print_fidelity(out, analysis);
    if (analysis->n_trials)
        print_room(out, answer);
    for (size_t i = 0; i < analysis->n_trials; i++)
        print_trial(out, &analysis->trials[i], style);
    print_answer(out, answer, style);
}
