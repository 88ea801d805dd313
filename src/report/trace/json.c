/* SPDX-License-Identifier: MIT */
#include "report/trace/trace.h"

#include "report/json_text.h"
#include "trace/holders.h"
#include "trace/snapshot.h"
#include "trace/timeline.h"

static json_t *number(uint64_t value) { return value > INT64_MAX ? json_null() : json_integer((json_int_t)value); }

static json_t *frame_json(const struct plim_memory_trace *trace, uint32_t frame)
{
    if (frame == PLIM_TRACE_NO_STACK)
        return json_null();
    const struct plim_trace_frame *f = &trace->frames[frame];
    return json_pack("{s:o, s:o, s:o}", "file", plim_text_json(plim_trace_words(trace, f->file)), "line",
                     number(f->line), "function", plim_text_json(plim_trace_words(trace, f->name)));
}

static json_t *holders_json(const struct plim_memory_trace *trace, const struct plim_trace_holders *holders)
{
    json_t *sites = json_array();
    for (size_t i = 0; i < holders->n_sites; i++)
        json_array_append_new(sites, json_pack("{s:o, s:o, s:o}", "bytes", number(holders->sites[i].bytes), "count",
                                               number(holders->sites[i].n), "frame",
                                               frame_json(trace, holders->sites[i].frame)));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "bytes", number(holders->bytes), "count", number(holders->n),
                     "before_bytes", number(holders->before_bytes), "sites", sites, "rest_bytes",
                     number(holders->rest_bytes), "rest_count", number(holders->n_rest));
}

/* By enum plim_trace_growth_kind. */
static const char *const growth_kinds[] = { "kept", "larger", "late" };

/* By the names of bills; null: no stack tells anything. */
static json_t *pillars_json(const struct plim_trace_pillars *pillars)
{
    uint64_t known_bytes = 0;
    json_t *rows = json_object();
    for (size_t i = 0; i <= PLIM_PILLAR_MAX_; i++) {
        known_bytes += i < PLIM_PILLAR_MAX_ ? pillars->bytes[i] : 0;
        if (pillars->bytes[i])
            json_object_set_new(rows, plim_pillar_name((enum plim_pillar)i), number(pillars->bytes[i]));
    }
    if (known_bytes)
        return rows;
    json_decref(rows);
    return json_null();
}

static json_t *growth_json(const struct plim_trace_answer *answer)
{
    const struct plim_trace_growth *growth = &answer->analysis->growth;
    json_t *lines = json_array();
    if (!growth->has_loop) {
        json_decref(lines);
        return json_null();
    }
    for (size_t i = 0; i < growth->n_lines; i++) {
        const struct plim_trace_growing *line = &growth->lines[i];
        json_array_append_new(
            lines,
            json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", growth_kinds[line->kind], "bytes",
                      number(line->bytes), "first_bytes",
                      line->kind == PLIM_TRACE_LARGER ? number(line->first_bytes) : json_null(), "count",
                      number(line->n), "turns", line->kind == PLIM_TRACE_KEPT ? number(line->n_turns) : json_null(),
                      "bursts", line->kind == PLIM_TRACE_LATE ? number(line->n_bursts) : json_null(), "frame",
                      frame_json(answer->trace, line->frame), "call", frame_json(answer->trace, line->call)));
    }
    return json_pack("{s:o, s:o, s:o}", "loop", frame_json(answer->trace, growth->loop_frame), "turns",
                     number(growth->n_turns), "lines", lines);
}

static json_t *time_json(const struct plim_trace_answer *answer, uint32_t entry)
{
    return plim_trace_has_times(answer) && plim_trace_entry_of(answer, entry)
               ? number(plim_trace_since_start_us(answer, entry))
               : json_null();
}

static json_t *share_json(const struct plim_trace_answer *answer, const struct plim_trace_share *share)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "entry",
                     share->entry == UINT32_MAX ? json_null() : number(share->entry), "time_us",
                     time_json(answer, share->entry), "reserved_bytes", number(share->reserved_bytes),
                     "allocated_bytes", number(share->allocated_bytes), "pieces_bytes", number(share->pieces_bytes));
}

static const char *const apart_names[] = {
    [PLIM_TRACE_NOT_APART] = NULL,
    [PLIM_TRACE_APART_STREAMS] = "streams",
    [PLIM_TRACE_APART_POOLS] = "pools",
};

static json_t *pieces_json(const struct plim_trace_answer *answer)
{
    const struct plim_trace_pieces *pieces = &answer->analysis->pieces;
    json_t *pins = json_array(), *shares = json_array();
    for (size_t i = 0; i < pieces->n_pins; i++)
        json_array_append_new(pins, json_pack("{s:o, s:o, s:o, s:o, s:o}", "held_bytes",
                                              number(pieces->pins[i].held_bytes), "free_bytes",
                                              number(pieces->pins[i].free_bytes), "count", number(pieces->pins[i].n),
                                              "frame", frame_json(answer->trace, pieces->pins[i].frame), "call",
                                              frame_json(answer->trace, pieces->pins[i].call)));
    for (size_t i = 0; i < pieces->n_shares; i++)
        json_array_append_new(shares, share_json(answer, &pieces->shares[i]));
    if (!pieces->n_shares) {
        json_decref(pins);
        json_decref(shares);
        return json_null();
    }
    const char *apart = apart_names[pieces->apart];
    const bool has_less = pieces->settings[0] || pieces->apart;
    return json_pack("{s:b, s:b, s:b, s:o, s:o, s:o, s:s?, s:o, s:o}", "is_found", pieces->is_found, "is_oom",
                     pieces->is_oom, "is_unfit", pieces->is_unfit, "worst", share_json(answer, &pieces->then), "lines",
                     pins, "settings", pieces->settings[0] ? plim_text_json(pieces->settings) : json_null(), "apart",
                     apart, "reserved_peak_bytes", has_less ? number(pieces->reserved_peak_bytes) : json_null(),
                     "over_time", shares);
}

static json_t *peak_json(const struct plim_trace_answer *answer)
{
    const struct plim_trace_analysis *analysis = answer->analysis;
    const struct plim_torch_result *result = &analysis->replay.result;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "entry",
                     analysis->peak_entry == UINT32_MAX ? json_null() : number(analysis->peak_entry), "time_us",
                     time_json(answer, analysis->peak_entry), "allocated_bytes", number(result->allocated_peak_bytes),
                     "reserved_bytes", number(result->reserved_peak_bytes), "held",
                     holders_json(answer->trace, &analysis->peak), "pillars", pillars_json(&analysis->peak_pillars));
}

static json_t *oom_json(const struct plim_trace_answer *answer)
{
    const struct plim_trace_oom *oom = &answer->analysis->oom;
    const struct plim_trace_entry *entry = plim_trace_entry_of(answer, oom->entry);
    if (!answer->analysis->has_oom)
        return json_null();
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "entry", number(oom->entry), "time_us",
        time_json(answer, oom->entry), "asked_bytes", number(oom->asked_bytes), "segment_bytes",
        number(oom->segment_bytes), "device_free_bytes", number(oom->device_free_bytes), "reserved_bytes",
        number(oom->reserved_bytes), "allocated_bytes", number(oom->allocated_bytes), "held",
        holders_json(answer->trace, &oom->holders), "pillars", pillars_json(&oom->pillars), "frame",
        frame_json(answer->trace, entry ? plim_trace_frame_of(answer->trace, entry->stack) : PLIM_TRACE_NO_STACK),
        "exceeds_capacity", oom->is_demand, "missing_bytes", number(oom->missing_bytes));
}

static json_t *trials_json(const struct plim_trace_analysis *analysis)
{
    json_t *list = json_array();
    for (size_t i = 0; i < analysis->n_trials; i++) {
        const struct plim_trace_trial *trial = &analysis->trials[i];
        json_array_append_new(list, json_pack("{s:o, s:b, s:o, s:o, s:o}", "settings", plim_text_json(trial->settings),
                                              "is_enough", trial->is_past_oom, "reserved_peak_bytes",
                                              number(trial->result.reserved_peak_bytes), "retries",
                                              number(trial->result.n_retries), "oom_entry",
                                              trial->oom_entry == UINT32_MAX ? json_null() : number(trial->oom_entry)));
    }
    return list;
}

static json_t *replay_json(const struct plim_trace_analysis *analysis)
{
    const struct plim_trace_replay *replay = &analysis->replay;
    return json_pack("{s:o, s:o, s:o, s:b, s:o, s:o}", "changes_recorded", number(replay->n_recorded),
                     "changes_replayed", number(replay->n_replayed), "changes_equal", number(replay->n_equal),
                     "is_equal", analysis->is_met, "capacity_bytes", number(analysis->room_bytes), "trials",
                     trials_json(analysis));
}

static json_t *timeline_json(const struct plim_trace_answer *answer)
{
    json_t *list = json_array();
    struct plim_trace_timeline timeline;
    plim_trace_timeline_make(answer->trace, answer->analysis, &timeline);
    for (size_t i = 0; i < timeline.n_slices; i++) {
        const struct plim_trace_slice *slice = &timeline.slices[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "entry", number(slice->first_entry), "time_us",
                                              time_json(answer, (uint32_t)slice->first_entry), "requested_bytes",
                                              number(slice->requested_bytes), "reserved_bytes",
                                              number(slice->reserved_bytes)));
    }
    return list;
}

static json_t *answer_json(const struct plim_trace_answer *answer)
{
    const struct plim_memory_trace *trace = answer->trace;
    const struct plim_trace_analysis *analysis = answer->analysis;
    json_t *now = json_pack("{s:o, s:o, s:o, s:o}", "segments", number(analysis->n_segments), "reserved_bytes",
                            number(analysis->reserved_bytes), "allocated_bytes", number(analysis->allocated_bytes),
                            "inactive_split_bytes", number(analysis->inactive_split_bytes));
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "plimsoll.trace/1", "snapshot",
        plim_text_json(answer->path), "device", number(analysis->device), "entries", number(analysis->n_entries),
        "settings", trace->has_settings ? plim_text_json(plim_trace_words(trace, trace->settings.text)) : json_null(),
        "timeline", timeline_json(answer), "peak", peak_json(answer), "end", now, "growth", growth_json(answer),
        "pieces", pieces_json(answer), "oom", oom_json(answer), "replay", replay_json(analysis));
}

bool plim_report_trace_json(FILE *out, const struct plim_trace_answer *answer)
{
    return plim_json_write(out, answer_json(answer), JSON_INDENT(2));
}

bool plim_report_trace_json_in_page(FILE *out, const struct plim_trace_answer *answer)
{
    return plim_json_write_in_page(out, answer_json(answer));
}

static json_t *pair(const uint64_t values[2]) { return json_pack("[o, o]", number(values[0]), number(values[1])); }

static json_t *changes_json(const struct plim_trace_changes *changes)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < changes->n_changes; i++) {
        const struct plim_trace_change *change = &changes->changes[i];
        json_t *frame = !change->file ? json_null()
                                      : json_pack("{s:o, s:o, s:o}", "file", plim_text_json(change->file), "line",
                                                  number(change->line), "function", plim_text_json(change->function));
        json_array_append_new(lines, json_pack("{s:o, s:o, s:o}", "bytes", pair(change->bytes), "count",
                                               pair(change->n), "frame", frame));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "bytes", pair(changes->bytes), "lines", lines, "rest_bytes",
                     pair(changes->rest_bytes), "rest_lines", number(changes->n_rest_lines), "equal_lines",
                     number(changes->n_equal_lines));
}

bool plim_report_trace_compared_json(FILE *out, const struct plim_trace_compared *compared)
{
    json_t *root = json_pack("{s:s, s:[o, o], s:{s:o, s:o}}", "schema", "plimsoll.trace/1", "snapshots",
                             answer_json(&compared->answers[0]), answer_json(&compared->answers[1]), "changes", "peak",
                             changes_json(&compared->peak), "end", changes_json(&compared->end));
    return plim_json_write(out, root, JSON_INDENT(2));
}
