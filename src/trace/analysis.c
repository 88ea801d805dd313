/* SPDX-License-Identifier: MIT */
#include "trace/analysis.h"

#include "trace/holders.h"
#include "trace/snapshot.h"

#include <stdio.h>
#include <string.h>

/* What people try, mildest first: without a copy, without waste, then what trades memory for it. */
static const char *const usual_settings[] = {
    "expandable_segments:True",   "max_split_size_mb:512",      "max_split_size_mb:256",
    "max_split_size_mb:128",      "max_split_size_mb:64",       "max_split_size_mb:32",
    "roundup_power2_divisions:8", "roundup_power2_divisions:4", "expandable_segments:True,roundup_power2_divisions:8",
};

static const struct plim_trace_entry *entry_at(const struct plim_memory_trace *trace, size_t device, uint32_t entry)
{
    return &trace->entries[trace->devices[device].first_entry + entry];
}

/* --- the segments at the end --- */

static void sum_segments(const struct plim_memory_trace *trace, struct plim_trace_analysis *analysis)
{
    for (size_t i = 0; i < trace->n_segments; i++) {
        const struct plim_trace_segment *segment = &trace->segments[i];
        if (segment->device != analysis->device)
            continue;
        analysis->n_segments++;
        analysis->reserved_bytes += segment->bytes;
        for (uint32_t b = 0; b < segment->n_blocks; b++) {
            const struct plim_trace_block *block = &trace->blocks[segment->first_block + b];
            if (block->state == PLIM_TRACE_ALLOCATED)
                analysis->allocated_bytes += block->bytes;
            if (block->state == PLIM_TRACE_INACTIVE && segment->n_blocks > 1 && !segment->is_expandable)
                analysis->inactive_split_bytes += block->bytes;
        }
    }
}

/* --- the recorded run --- */

static uint32_t first_oom(const struct plim_memory_trace *trace, const struct plim_trace_analysis *analysis)
{
    for (size_t i = 0; i < analysis->n_entries; i++)
        if (entry_at(trace, analysis->device, (uint32_t)i)->action == PLIM_TRACE_OOM)
            return (uint32_t)i;
    return UINT32_MAX;
}

static size_t event_of(const struct plim_trace_requests *requests, uint32_t entry)
{
    for (size_t i = 0; i < requests->n_events; i++)
        if (requests->entry_of[i] == entry)
            return i;
    return requests->n_events;
}

static int replay(const struct plim_memory_trace *trace, const struct plim_trace_analysis *analysis,
                  const struct plim_torch_settings *settings, uint64_t room_bytes, bool are_recorded,
                  struct plim_trace_replay *ret_replay, struct plim_error *reterr)
{
    const struct plim_trace_conditions conditions = { .settings = *settings,
                                                      .capacity_bytes = room_bytes,
                                                      .are_recorded = are_recorded };
    return plim_trace_replay(trace, analysis->device, &analysis->requests, &conditions, ret_replay, reterr);
}

static int replay_recorded(const struct plim_memory_trace *trace, struct plim_trace_analysis *analysis,
                           struct plim_error *reterr)
{
    const uint64_t room = analysis->requests.room_bytes ? analysis->requests.room_bytes : UINT64_MAX;
    const int result = replay(trace, analysis, &analysis->settings, room, true, &analysis->replay, reterr);
    if (result < 0)
        return result;
    analysis->is_met = analysis->replay.oom_entry == first_oom(trace, analysis) &&
                       analysis->replay.n_equal == analysis->replay.n_recorded &&
                       analysis->replay.n_equal == analysis->replay.n_replayed;
    if (!analysis->room_bytes)
        analysis->room_bytes = room;
    return 0;
}

static int find_pieces(const struct plim_memory_trace *trace, struct plim_trace_analysis *analysis,
                       const struct plim_trace_loop *loop, struct plim_error *reterr)
{
    const struct plim_trace_conditions conditions = {
        .settings = analysis->settings,
        .capacity_bytes = analysis->requests.room_bytes ? analysis->requests.room_bytes : UINT64_MAX,
        .are_recorded = true,
    };
    if (!analysis->is_met)
        return 0;
    const int result = plim_trace_pieces_find(trace, analysis->device, &analysis->requests, loop, &conditions,
                                              &analysis->replay, &analysis->pieces, reterr);
    if (result < 0 || analysis->pieces.is_found)
        return result;
    return plim_trace_unfit_find(trace, analysis->device, &analysis->requests, loop, &conditions, &analysis->replay,
                                 &analysis->pieces, reterr);
}

/* What comes of the loop of the program, if it has one. */
static int look_at_loop(const struct plim_memory_trace *trace, struct plim_trace_analysis *analysis,
                        struct plim_error *reterr)
{
    struct plim_trace_loop loop;
    int result = plim_trace_loop_find(trace, analysis->device, &analysis->requests, &loop, reterr);
    if (result < 0)
        return result;
    result = plim_trace_growth_find(trace, analysis->device, &analysis->requests, &loop, &analysis->growth, reterr);
    if (result == 0)
        result = find_pieces(trace, analysis, &loop, reterr);
    plim_trace_loop_done(&loop);
    return result;
}

/* --- how it ran out --- */

static int look_at_oom(const struct plim_memory_trace *trace, struct plim_trace_analysis *analysis, uint32_t entry,
                       struct plim_error *reterr)
{
    const struct plim_trace_entry *e = entry_at(trace, analysis->device, entry);
    struct plim_trace_oom *oom = &analysis->oom;
    const size_t at = event_of(&analysis->requests, entry);
    int result = plim_trace_holders_find(trace, analysis->device, &analysis->requests, at, &oom->holders, reterr);
    if (result == 0)
        result = plim_trace_pillars_find(trace, analysis->device, &analysis->requests, at, &oom->pillars, reterr);
    if (result < 0)
        return result;
    analysis->has_oom = true;
    oom->entry = entry;
    oom->asked_bytes = e->bytes;
    oom->segment_bytes = plim_torch_segment_bytes(&analysis->settings, e->bytes);
    oom->device_free_bytes = e->address;
    oom->reserved_bytes = analysis->replay.result.oom_reserved_bytes;
    oom->allocated_bytes = analysis->replay.result.oom_allocated_bytes;
    oom->free_blocks_bytes =
        oom->reserved_bytes > oom->allocated_bytes ? oom->reserved_bytes - oom->allocated_bytes : 0;
    const uint64_t demand = oom->holders.bytes + e->bytes;
    oom->is_demand = analysis->room_bytes != UINT64_MAX && demand > analysis->room_bytes;
    oom->missing_bytes = oom->is_demand ? demand - analysis->room_bytes : 0;
    return 0;
}

/* --- other settings --- */

static int try_settings(const struct plim_memory_trace *trace, struct plim_trace_analysis *analysis, const char *text,
                        struct plim_error *reterr)
{
    struct plim_trace_trial *trial = &analysis->trials[analysis->n_trials];
    struct plim_torch_settings settings = analysis->settings;
    struct plim_trace_replay other = { 0 };
    int result = plim_torch_settings_parse(&settings, text, reterr);
    if (result == 0)
        result = replay(trace, analysis, &settings, analysis->room_bytes, false, &other, reterr);
    if (result < 0)
        return result;
    snprintf(trial->settings, sizeof trial->settings, "%s", text);
    trial->result = other.result;
    trial->oom_entry = other.oom_entry;
    /* After a request that failed a program goes other ways: what follows says nothing. */
    trial->is_past_oom = other.oom_entry == UINT32_MAX || (analysis->has_oom && other.oom_entry > analysis->oom.entry);
    analysis->n_trials++;
    return 0;
}

static int try_all(const struct plim_memory_trace *trace, struct plim_trace_analysis *analysis,
                   const struct plim_trace_question *question, struct plim_error *reterr)
{
    int result = 0;
    if (question->settings || question->capacity_bytes)
        return try_settings(trace, analysis, question->settings ? question->settings : "", reterr);
    if (!analysis->has_oom || !analysis->is_met || analysis->oom.is_demand || question->has_no_trials)
        return 0;
    for (size_t i = 0; i < sizeof usual_settings / sizeof *usual_settings && result == 0; i++)
        result = try_settings(trace, analysis, usual_settings[i], reterr);
    return result;
}

static int look(struct plim_memory_trace *trace, struct plim_trace_analysis *analysis,
                const struct plim_trace_question *question, struct plim_error *reterr)
{
    int result = replay_recorded(trace, analysis, reterr);
    if (result < 0)
        return result;
    /* A peak of 0 events: what was there before was the most. */
    const bool is_later = analysis->replay.result.allocated_peak_bytes > 0 && analysis->requests.n_events > 0;
    const size_t at = is_later ? analysis->replay.result.allocated_peak_at + 1 : 0;
    analysis->peak_at = at;
    analysis->peak_entry =
        at > 0 && at <= analysis->requests.n_events ? analysis->requests.entry_of[at - 1] : UINT32_MAX;
    result = plim_trace_holders_find(trace, analysis->device, &analysis->requests, at, &analysis->peak, reterr);
    if (result == 0)
        result =
            plim_trace_pillars_find(trace, analysis->device, &analysis->requests, at, &analysis->peak_pillars, reterr);
    if (result == 0)
        result = look_at_loop(trace, analysis, reterr);
    const uint32_t oom = first_oom(trace, analysis);
    if (result == 0 && oom != UINT32_MAX)
        result = look_at_oom(trace, analysis, oom, reterr);
    return result < 0 ? result : try_all(trace, analysis, question, reterr);
}

int plim_trace_analyse(struct plim_memory_trace *trace, size_t device, const struct plim_trace_question *question,
                       struct plim_trace_analysis *ret_analysis, struct plim_error *reterr)
{
    struct plim_trace_analysis *analysis = ret_analysis;
    *analysis = (struct plim_trace_analysis){ .device = device, .room_bytes = question->capacity_bytes };
    analysis->n_entries = device < trace->n_devices ? trace->devices[device].n_entries : 0;
    sum_segments(trace, analysis);
    int result = plim_snapshot_settings(trace, &analysis->settings, reterr);
    if (result == 0)
        result = plim_trace_requests_make(trace, device, &analysis->settings, &analysis->requests, reterr);
    if (result == 0)
        result = look(trace, analysis, question, reterr);
    if (result < 0)
        plim_trace_analysis_done(analysis);
    return result;
}

void plim_trace_analysis_done(struct plim_trace_analysis *analysis) { plim_trace_requests_done(&analysis->requests); }
