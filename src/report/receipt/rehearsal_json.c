/* SPDX-License-Identifier: MIT */
/* The receipt of a rehearsal as plimsoll.receipt/1. */
#include "rehearse/attribution.h"
#include "rehearse/path/path.h"
#include "report/receipt/end.h"
#include "report/receipt/receipt_json.h"
#include "report/receipt/rehearsal.h"
#include "report/setup_json.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *device_json(uint32_t device)
{
    char id[PLIM_RECEIPT_ID_BYTES];
    snprintf(id, sizeof id, "gpu%u", device);
    return plim_text_json(device == PLIM_REHEARSAL_HOST ? "host" : id);
}

/* --- call sites --- */

static json_t *frames_json(const char *stack)
{
    char copy[PLIM_LEDGER_STACK_BYTES], *frames[PLIM_ATTRIBUTION_MAX_FRAMES];
    json_t *list = json_array();
    snprintf(copy, sizeof copy, "%.*s", PLIM_LEDGER_STACK_BYTES - 1, stack);
    const size_t n = plim_attribution_frames(copy, frames);
    for (size_t i = 0; list && i < n; i++)
        json_array_append_new(list, plim_text_json(frames[i]));
    return list;
}

static json_t *call_site_json(const struct plim_call_site *site)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "device", device_json(site->device),
                     "what", plim_allocation_name(site->kind), "label", plim_text_or_null_json(site->label), "pillar",
                     plim_pillar_json(site->pillar), "phase", plim_text_or_null_json(site->phase), "where",
                     plim_text_or_null_json(site->where), "peak_bytes", plim_bytes_json(site->peak_bytes), "end_bytes",
                     plim_bytes_json(site->final_bytes), "count", plim_bytes_json(site->n_requests), "native",
                     frames_json(site->native), "python", frames_json(site->python));
}

/* Of each device those that held most. */
static json_t *call_sites_json(const struct plim_rehearsal *rehearsal)
{
    enum { MOST = 64 };
    json_t *list = json_array();
    uint32_t n = 0;
    for (uint32_t i = 0; i < rehearsal->n_call_sites; i++) {
        n = i && rehearsal->call_site[i].device == rehearsal->call_site[i - 1].device ? n + 1 : 0;
        if (n < MOST)
            json_array_append_new(list, call_site_json(&rehearsal->call_site[i]));
    }
    return list;
}

/* --- cards --- */

static json_t *phases_json(const struct plim_rehearsal_card *card)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < card->n_phases; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "phase", plim_text_or_null_json(card->phase[i].name),
                                              "peak_bytes", plim_bytes_json(card->phase[i].bytes)));
    return list;
}

static json_t *timeline_json(const struct plim_rehearsal_card *card)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < card->n_points; i++)
        json_array_append_new(
            list, json_pack("[o, o]", plim_bytes_json(card->point[i].time_us), plim_bytes_json(card->point[i].bytes)));
    return list;
}

static json_t *pytorch_json(const struct plim_rehearsal_pytorch *pytorch, bool is_least)
{
    if (!pytorch->n_processes)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:s, s:o}", "allocated_peak_bytes", plim_bytes_json(pytorch->allocated_bytes),
                     "active_peak_bytes", plim_bytes_json(pytorch->active_bytes), "reserved_peak_bytes",
                     plim_bytes_json(pytorch->reserved_bytes), "basis",
                     is_least || pytorch->is_lower_bound ? "lower_bound" : "exact", "processes",
                     plim_bytes_json(pytorch->n_processes));
}

static json_t *card_json(const struct plim_rehearsal *rehearsal, uint32_t nth)
{
    const struct plim_receipt_device *peak = &rehearsal->receipt.device[nth];
    const struct plim_rehearsal_card *card = &rehearsal->card[nth];
    struct plim_receipt_sums sums = plim_receipt_sum_lines(peak);
    if (rehearsal->late.is_set && card->late_peak_bytes > peak->peak_bytes) /* the same lines, and more held */
        sums.high_bytes += card->late_peak_bytes - peak->peak_bytes;
    if (rehearsal->other.is_set && card->other_peak_bytes > peak->peak_bytes)
        sums.high_bytes += card->other_peak_bytes - peak->peak_bytes;
    const bool is_least = plim_path_is_lower_bound(&rehearsal->path);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
                     device_json(nth), "name", plim_text_json(peak->name), "total_bytes",
                     plim_bytes_json(peak->total_bytes), "reserved_bytes", plim_bytes_json(card->reserved_bytes),
                     "peak_bytes", plim_bytes_json(peak->peak_bytes), "peak_low", plim_bytes_json(sums.low_bytes),
                     "peak_high", is_least ? json_null() : plim_bytes_json(sums.high_bytes), "peak_basis",
                     is_least ? "lower_bound" : "exact", "peak_us", plim_bytes_json(card->peak_us), "lines",
                     plim_receipt_lines_json(peak), "end_bytes", plim_bytes_json(card->final.peak_bytes), "end_lines",
                     plim_receipt_lines_json(&card->final), "timeline", timeline_json(card), "phases",
                     phases_json(card), "pytorch", pytorch_json(&card->pytorch, is_least));
}

static json_t *oom_json(const struct plim_rehearsal_oom *oom)
{
    if (!oom->is_set)
        return json_null();
    return json_pack("{s:o, s:b, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "device", device_json(oom->device),
                     "went_on", (int)oom->has_gone_on, "what", plim_allocation_name(oom->kind), "asked_bytes",
                     plim_bytes_json(oom->size_bytes), "free_bytes", plim_bytes_json(oom->free_bytes), "used_bytes",
                     plim_bytes_json(oom->used_bytes), "t_us", plim_bytes_json(oom->time_us), "pid", oom->pid, "label",
                     plim_text_or_null_json(oom->label), "phase", plim_text_or_null_json(oom->phase), "native",
                     frames_json(oom->native), "python", frames_json(oom->python));
}

static json_t *allocations_json(const struct plim_rehearsal *rehearsal)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < rehearsal->n_allocations; i++) {
        const struct plim_rehearsal_allocation *a = &rehearsal->allocation[i];
        json_array_append_new(list, json_pack("{s:o, s:s, s:o, s:o}", "device", device_json(a->device), "what",
                                              plim_allocation_name(a->kind), "bytes", plim_bytes_json(a->bytes), "t_us",
                                              plim_bytes_json(a->time_us)));
    }
    return list;
}

/* --- steps, path, schedule, a search --- */

static json_t *steps_json(const struct plim_rehearsal_steps *steps)
{
    if (steps->how == PLIM_STEPS_NONE)
        return json_null();
    const bool is_optimizer = steps->how == PLIM_STEPS_OPTIMIZER;
    return json_pack("{s:o, s:s, s:o, s:s}", "count", plim_bytes_json(steps->n), "how",
                     is_optimizer ? "optimizer" : "cycles", "launches_per_step",
                     is_optimizer ? json_null() : plim_bytes_json(steps->n_launches), "why",
                     is_optimizer ? "PyTorch's optimizers say so: register_optimizer_step_post_hook"
                                  : "what is launched between waits for the card repeats, with the same memory held");
}

static json_t *place_json(const struct plim_rehearsal_place *place)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:b, s:o, s:o}", "where",
                     plim_text_or_null_json(place->where), "inside", plim_text_or_null_json(place->inside), "text",
                     plim_text_or_null_json(place->text), "text_line",
                     place->text_line ? plim_bytes_json(place->text_line) : json_null(), "what",
                     plim_text_json(place->what), "bytes", plim_bytes_json(place->size_bytes), "decided",
                     place->decided, "effect", plim_effect_name(place->effect), "matters", (int)!place->is_harmless,
                     "kept", json_boolean(place->is_kept), "count", plim_bytes_json(place->count));
}

static const char *why_path(const struct plim_rehearsal_path *path)
{
    static const char *const whys[] = {
        "the program read no guess",
        "the program read guesses, and no memory hangs on them",
        "a guess that the program read may have steered it",
    };
    return path->incomplete ? path->incomplete : whys[path->verdict];
}

/* With --values both: the run with the smaller peak. */
static json_t *other_json(const struct plim_rehearsal *rehearsal)
{
    const struct plim_rehearsal_other *other = &rehearsal->other;
    json_t *peaks = other->is_set ? json_array() : NULL;
    for (uint32_t i = 0; peaks && i < rehearsal->n_cards; i++)
        json_array_append_new(peaks, plim_bytes_json(rehearsal->card[i].other_peak_bytes));
    return peaks ? json_pack("{s:s, s:o, s:b, s:i, s:s, s:s}", "values", other->values, "peak_bytes", peaks, "oom",
                             (int)other->is_out_of_memory, "exit_code", other->exit_code, "stopped_by",
                             other->stopped_by, "verdict", plim_path_verdict_name(other->verdict))
                 : json_null();
}

static json_t *path_json(const struct plim_rehearsal *rehearsal)
{
    const struct plim_rehearsal_path *path = &rehearsal->path;
    json_t *places = json_array();
    for (uint32_t i = 0; places && i < path->n_places; i++)
        json_array_append_new(places, place_json(&path->place[i]));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "basis", plim_basis_name(path->basis),
                     "verdict", plim_path_verdict_name(path->verdict), "values", rehearsal->values, "tokens",
                     rehearsal->tokens ? plim_bytes_json(strtoull(rehearsal->tokens, NULL, 10)) : json_null(),
                     "values_assumed", plim_bytes_json(path->n_assumed), "values_kept", plim_bytes_json(path->n_kept),
                     "data_reads", plim_bytes_json(path->n_data), "why", why_path(path), "places", places,
                     "more_places", plim_bytes_json(path->n_more), "other", other_json(rehearsal));
}

static json_t *schedule_json(const struct plim_rehearsal *rehearsal)
{
    const struct plim_rehearsal_late *late = &rehearsal->late;
    json_t *peaks = late->is_set ? json_array() : json_null();
    for (uint32_t i = 0; late->is_set && i < rehearsal->n_cards; i++)
        json_array_append_new(peaks, plim_bytes_json(rehearsal->card[i].late_peak_bytes));
    return json_pack("{s:s, s:o, s:o, s:o}", "when", rehearsal->schedule, "late_peak_bytes", peaks, "late_oom",
                     late->is_set ? json_boolean(late->is_out_of_memory) : json_null(), "late_exit_code",
                     late->is_set ? json_integer(late->exit_code) : json_null());
}

static json_t *find_json(const struct plim_find *find)
{
    static const char *const outcomes[] = { "fits", "recovered", "out of memory", "failed", "stopped" };
    if (!find)
        return json_null();
    json_t *trials = json_array();
    for (uint32_t i = 0; trials && i < find->n_trials; i++) {
        const struct plim_find_trial *t = &find->trial[i];
        json_array_append_new(trials, json_pack("{s:o, s:s, s:i, s:o, s:s, s:f}", "value", plim_bytes_json(t->value),
                                                "outcome", outcomes[t->outcome], "exit_code", t->exit_code,
                                                "peak_bytes", plim_bytes_json(t->peak_bytes), "peak_basis",
                                                t->is_lower_bound ? "lower_bound" : "exact", "seconds", t->seconds));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:b, s:b, s:o}", "name", plim_text_json(find->name), "low",
                     plim_bytes_json(find->low), "high", plim_bytes_json(find->high), "largest",
                     find->has_largest ? plim_bytes_json(find->largest) : json_null(), "largest_of",
                     find->is_of_completion ? "completed" : "fits", "largest_recovered",
                     find->has_recovered ? plim_bytes_json(find->largest_recovered) : json_null(), "decided",
                     (int)find->is_decided, "monotonic", (int)find->is_monotonic, "trials", trials);
}

static json_t *said_json(const struct plim_rehearsal_said *said)
{
    return said->is_set
               ? json_pack("{s:o, s:o, s:o}", "framework", plim_text_or_null_json(said->framework), "asked_bytes",
                           plim_bytes_json(said->tried_bytes), "text", plim_text_json(said->text))
               : json_null();
}

static json_t *pool_json(const struct plim_rehearsal_pool *pool)
{
    return pool->setting
               ? json_pack("{s:s, s:o, s:o, s:s}", "framework", pool->framework, "device", device_json(pool->device),
                           "bytes", plim_bytes_json(pool->bytes), "setting", pool->setting)
               : json_null();
}

/* --- all of it --- */

static json_t *command_json(char *const *command)
{
    json_t *list = json_array();
    for (; *command; command++)
        json_array_append_new(list, plim_text_json(*command));
    return list;
}

static json_t *devices_json(const struct plim_rehearsal *rehearsal)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < rehearsal->n_cards; i++)
        json_array_append_new(list, card_json(rehearsal, i));
    return list;
}

static json_t *warnings_json(const struct plim_rehearsal *rehearsal)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < rehearsal->n_warnings; i++) {
        const struct plim_rehearsal_warning *w = &rehearsal->warning[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "kind", plim_text_json(w->kind), "what",
                                              plim_text_json(w->what), "count", plim_bytes_json(w->count)));
    }
    return list;
}

static json_t *host_json(const struct plim_rehearsal *rehearsal)
{
    static const char *const kills[PLIM_HOST_KILL_MAX_] = { "no", "likely", "yes" };
    static const struct plim_receipt_device none;
    const struct plim_rehearsal_host *host = &rehearsal->host;
    const struct plim_receipt_device *lines = plim_receipt_find(&rehearsal->receipt, "host");
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "peak_rss_bytes", plim_bytes_json(host->peak_rss_bytes),
        "written_bytes", plim_bytes_json(host->written_bytes), "written_us", plim_bytes_json(host->written_us),
        "pinned_peak_bytes", plim_bytes_json(host->pinned_peak_bytes), "peak_anonymous_bytes",
        plim_bytes_json(host->peak_anonymous_bytes), "peak_processes", plim_bytes_json(host->peak_n_processes),
        "ended_by_kernel", kills[host->kill], "lines", plim_receipt_lines_json(lines ? lines : &none));
}

bool plim_report_rehearsal_json(FILE *out, const struct plim_rehearsal *rehearsal, const struct plim_find *find)
{
    const struct plim_receipt *receipt = &rehearsal->receipt;
    char line[PLIM_END_TEXT_BYTES];
    json_t *all = json_pack(
        "{s:s, s:s, s:o, s:o, s:i, s:b, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
        "plimsoll.receipt/1", "from", receipt->from, "command", command_json(rehearsal->command), "card",
        plim_text_json(rehearsal->card_name), "exit_code", rehearsal->exit_code, "oom", (int)rehearsal->oom.is_set,
        "stopped_by", rehearsal->stopped_by, "seconds", rehearsal->seconds, "devices", devices_json(rehearsal), "host",
        host_json(rehearsal), "oom_at", oom_json(&rehearsal->oom), "warnings", warnings_json(rehearsal), "allocations",
        allocations_json(rehearsal), "requests_met_later", plim_bytes_json(rehearsal->n_met_later), "sites",
        call_sites_json(rehearsal), "steps", steps_json(&rehearsal->steps), "find", find_json(find), "path",
        path_json(rehearsal), "schedule", schedule_json(rehearsal));
    plim_report_end_text(rehearsal, line);
    json_object_set_new(all, "end", plim_text_json(plim_end_name(plim_end_of(rehearsal))));
    json_object_set_new(all, "end_line", plim_text_json(line));
    json_object_set_new(all, "said", said_json(&rehearsal->said));
    json_object_set_new(all, "pool", pool_json(&rehearsal->pool));
    if (receipt->engine[0]) {
        json_object_set_new(all, "engine", plim_engine_json(receipt));
        json_object_set_new(all, "model", json_pack("{s:o}", "name", plim_text_or_null_json(receipt->model)));
        json_object_set_new(all, "setup", plim_setup_json(receipt));
    }
    return plim_json_write(out, all, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
}
