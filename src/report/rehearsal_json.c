/* SPDX-License-Identifier: MIT */
/* The receipt of a rehearsal as plimsoll.receipt/1. */
#include "report/rehearsal.h"
#include "report/setup_json.h"

#include <jansson.h>
#include <string.h>

static void sum(const struct plim_rehearsal_line *lines, size_t n, uint64_t *ret_low, uint64_t *ret_high)
{
    *ret_low = *ret_high = 0;
    for (size_t i = 0; i < n; i++) {
        *ret_low += lines[i].low_bytes;
        *ret_high += lines[i].high_bytes;
    }
}

static json_t *bytes(uint64_t n) { return json_integer((json_int_t)n); }

/* Names and arguments may hold bytes that are not text. */
static json_t *text(const char *raw)
{
    json_t *value = json_string(raw);
    return value ? value : json_string("?");
}

static json_t *pillar(enum plim_pillar value)
{
    return value < PLIM_PILLAR_MAX_ ? json_string(plim_pillar_name(value)) : json_null();
}

static json_t *text_or_null(const char *value) { return value && *value ? text(value) : json_null(); }

static json_t *lines_json(const struct plim_rehearsal_line *lines, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < n; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:s, s:s}", "pillar", pillar(lines[i].pillar),
                                        "label", lines[i].label, "what", lines[i].what, "bytes", bytes(lines[i].bytes),
                                        "low", bytes(lines[i].low_bytes), "high", bytes(lines[i].high_bytes), "basis",
                                        plim_basis_name(lines[i].basis), "why", lines[i].why));
    return list;
}

static json_t *id_of(uint32_t device)
{
    char id[16];
    snprintf(id, sizeof id, "gpu%u", device);
    return json_string(id);
}

/* --- sites --- */

static json_t *frames_json(const char *stack)
{
    char copy[PLIM_LEDGER_STACK_BYTES], *frames[PLIM_ATTRIBUTION_MAX_FRAMES];
    json_t *list = json_array();
    snprintf(copy, sizeof copy, "%.*s", PLIM_LEDGER_STACK_BYTES - 1, stack);
    const size_t n = plim_attribution_frames(copy, frames);
    for (size_t i = 0; list && i < n; i++)
        json_array_append_new(list, text(frames[i]));
    return list;
}

static json_t *site_json(const struct plim_rehearsal *receipt, uint16_t number)
{
    const struct plim_ledger_site *site = &receipt->ledger->site[number];
    const struct plim_ledger_stack *stack = &receipt->ledger->stack[number];
    const bool is_host = site->kind == PLIM_KIND_PINNED;
    struct plim_attribution origin;
    plim_attribution_of(stack, &origin);
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "device",
                     is_host ? json_string("host") : id_of(site->device), "what", plim_rehearsal_kind(site->kind),
                     "label", text_or_null(origin.label), "pillar", pillar(origin.pillar), "phase",
                     text_or_null(origin.phase), "where", text_or_null(origin.where), "peak_bytes",
                     bytes(receipt->site_peak_bytes[number]), "end_bytes", bytes(receipt->site_end_bytes[number]),
                     "count", bytes(site->n_taken), "native", frames_json(stack->native), "python",
                     frames_json(stack->python));
}

/* Of each card and of the host those that held most. */
static json_t *sites_json(const struct plim_rehearsal *receipt)
{
    enum { MOST = 64 };
    static uint16_t numbers[PLIM_LEDGER_MAX_SITES];
    json_t *list = json_array();
    for (uint32_t d = 0; d <= receipt->ledger->n_cards; d++) {
        const size_t n =
            plim_rehearsal_sites(receipt, d == receipt->ledger->n_cards ? PLIM_LEDGER_MAX_CARDS : d, numbers);
        for (size_t i = 0; i < n && i < MOST; i++)
            json_array_append_new(list, site_json(receipt, numbers[i]));
    }
    return list;
}

/* --- cards --- */

static json_t *phases_json(const struct plim_rehearsal *receipt, uint32_t device)
{
    struct plim_rehearsal_phase phases[PLIM_REHEARSAL_MAX_PHASES];
    const size_t n = plim_rehearsal_phases(receipt, device, phases);
    json_t *list = json_array();
    for (size_t i = 0; list && i < n; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o}", "phase", text_or_null(phases[i].name), "peak_bytes", bytes(phases[i].bytes)));
    return list;
}

static json_t *card_json(const struct plim_rehearsal *receipt, uint32_t index)
{
    const struct plim_ledger_card *card = &receipt->card[index];
    struct plim_rehearsal_line peak[PLIM_REHEARSAL_MAX_LINES], end[PLIM_REHEARSAL_MAX_LINES];
    const size_t n_peak = plim_rehearsal_lines(receipt, index, true, peak),
                 n_end = plim_rehearsal_lines(receipt, index, false, end);
    uint64_t low, high;
    json_t *timeline = json_array();
    sum(peak, n_peak, &low, &high);
    if (receipt->late.is_set && receipt->late.peak_bytes[index] > card->peak_bytes) /* the same lines, and more held */
        high += receipt->late.peak_bytes[index] - card->peak_bytes;
    for (uint32_t i = 0; timeline && i < card->n_points && i < PLIM_LEDGER_MAX_POINTS; i++)
        json_array_append_new(timeline,
                              json_pack("[o, o]", bytes(card->point[i].time_us), bytes(card->point[i].bytes)));
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", id_of(index), "name",
                     plim_rehearsal_card_name(card), "total_bytes", bytes(card->total_bytes), "reserved_bytes",
                     bytes(card->reserved_bytes), "peak_bytes", bytes(card->peak_bytes), "peak_low", bytes(low),
                     "peak_high", bytes(high), "peak_us", bytes(card->peak_us), "lines", lines_json(peak, n_peak),
                     "end_bytes", bytes(card->used_bytes), "end_lines", lines_json(end, n_end), "timeline", timeline,
                     "phases", phases_json(receipt, index));
}

static json_t *oom_json(const struct plim_ledger *ledger)
{
    const struct plim_ledger_oom *oom = &ledger->oom;
    if (!oom->is_set)
        return json_null();
    const struct plim_ledger_stack *stack = &ledger->stack[oom->site < PLIM_LEDGER_MAX_SITES ? oom->site : 0];
    struct plim_attribution origin;
    plim_attribution_of(stack, &origin);
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "device", id_of(oom->device), "what",
                     plim_rehearsal_kind(oom->kind), "asked_bytes", bytes(oom->size), "free_bytes",
                     bytes(oom->free_bytes), "used_bytes", bytes(oom->used_bytes), "t_us", bytes(oom->time_us), "pid",
                     oom->pid, "label", text_or_null(origin.label), "phase", text_or_null(origin.phase), "native",
                     frames_json(stack->native), "python", frames_json(stack->python));
}

static json_t *allocations_json(const struct plim_rehearsal *receipt)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < receipt->n_allocations; i++) {
        const struct plim_rehearsal_allocation *a = &receipt->allocation[i];
        const bool is_host = a->kind == PLIM_KIND_PINNED;
        json_array_append_new(
            list, json_pack("{s:o, s:s, s:o, s:o}", "device", is_host ? json_string("host") : id_of(a->device), "what",
                            plim_rehearsal_kind(a->kind), "bytes", bytes(a->bytes), "t_us", bytes(a->time_us)));
    }
    return list;
}

/* --- steps, a search --- */

static json_t *steps_json(const struct plim_rehearsal_steps *steps)
{
    if (steps->how == PLIM_STEPS_NONE)
        return json_null();
    const bool is_optimizer = steps->how == PLIM_STEPS_OPTIMIZER;
    return json_pack("{s:o, s:s, s:o, s:s}", "count", bytes(steps->n), "how", is_optimizer ? "optimizer" : "cycles",
                     "launches_per_step", is_optimizer ? json_null() : bytes(steps->n_launches), "why",
                     is_optimizer ? "PyTorch's optimizers say so: register_optimizer_step_post_hook"
                                  : "what is launched between waits for the card repeats, with the same memory held");
}

static json_t *path_json(const struct plim_rehearsal *receipt)
{
    const struct plim_rehearsal_path path = plim_rehearsal_path(receipt->ledger);
    return json_pack("{s:s, s:s, s:o, s:o, s:s}", "basis", plim_basis_name(path.basis), "values", receipt->values,
                     "values_assumed", bytes(path.n_assumed), "values_kept", bytes(path.n_kept), "why",
                     path.basis == PLIM_BASIS_EXACT ? "the program read nothing back that may steer it"
                                                    : "the program read back small values that kernels would have "
                                                      "computed or may have changed");
}

static json_t *schedule_json(const struct plim_rehearsal *receipt)
{
    const struct plim_rehearsal_late *late = &receipt->late;
    json_t *peaks = late->is_set ? json_array() : json_null();
    for (uint32_t i = 0; late->is_set && i < receipt->ledger->n_cards; i++)
        json_array_append_new(peaks, bytes(late->peak_bytes[i]));
    return json_pack("{s:s, s:o, s:o, s:o}", "when", receipt->schedule, "late_peak_bytes", peaks, "late_oom",
                     late->is_set ? json_boolean(late->is_out_of_memory) : json_null(), "late_exit_code",
                     late->is_set ? json_integer(late->exit_code) : json_null());
}

static json_t *find_json(const struct plim_find *find)
{
    static const char *const outcomes[] = { "fits", "out of memory", "failed", "stopped" };
    if (!find)
        return json_null();
    json_t *trials = json_array();
    for (uint32_t i = 0; trials && i < find->n_trials; i++) {
        const struct plim_find_trial *t = &find->trial[i];
        json_array_append_new(trials, json_pack("{s:o, s:s, s:i, s:o, s:f}", "value", bytes(t->value), "outcome",
                                                outcomes[t->outcome], "exit_code", t->exit_code, "peak_bytes",
                                                bytes(t->peak_bytes), "seconds", t->seconds));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:b, s:o}", "name", text(find->name), "low", bytes(find->low), "high",
                     bytes(find->high), "largest", find->has_largest ? bytes(find->largest) : json_null(), "decided",
                     (int)find->is_decided, "monotonic", (int)find->is_monotonic, "trials", trials);
}

bool plim_report_rehearsal_json(FILE *out, const struct plim_rehearsal *receipt, const struct plim_receipt *said,
                                const struct plim_find *find)
{
    const struct plim_ledger *ledger = receipt->ledger;
    struct plim_rehearsal_line pinned[PLIM_REHEARSAL_MAX_LINES];
    const size_t n_pinned = plim_rehearsal_host_lines(receipt, pinned);
    json_t *command = json_array(), *devices = json_array(), *warnings = json_array();
    for (char *const *p = receipt->command; *p; p++)
        json_array_append_new(command, text(*p));
    for (uint32_t i = 0; i < ledger->n_cards; i++)
        json_array_append_new(devices, card_json(receipt, i));
    for (uint32_t i = 0; i < ledger->n_warnings && i < PLIM_LEDGER_MAX_WARNINGS; i++)
        json_array_append_new(warnings,
                              json_pack("{s:s, s:o, s:o}", "kind", ledger->warning[i].kind, "what",
                                        text(ledger->warning[i].what), "count", bytes(ledger->warning[i].count)));
    json_t *host =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "peak_rss_bytes", bytes(receipt->peak_rss_bytes), "pinned_peak_bytes",
                  bytes(ledger->pinned_peak_bytes), "peak_anonymous_bytes", bytes(receipt->peak_anonymous_bytes),
                  "peak_processes", bytes(receipt->peak_n_processes), "lines", lines_json(pinned, n_pinned));
    json_t *all = json_pack(
        "{s:s, s:s, s:o, s:o, s:i, s:b, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
        "plimsoll.receipt/1", "from", "rehearse", "command", command, "card", text(receipt->card_name), "exit_code",
        receipt->exit_code, "oom", (int)ledger->oom.is_set, "stopped_by", receipt->stopped_by, "seconds",
        receipt->seconds, "devices", devices, "host", host, "oom_at", oom_json(ledger), "warnings", warnings,
        "allocations", allocations_json(receipt), "requests_met_later", bytes(ledger->n_met_later), "sites",
        sites_json(receipt), "steps", steps_json(&receipt->steps), "find", find_json(find), "path", path_json(receipt),
        "schedule", schedule_json(receipt));
    if (said) {
        json_object_set_new(all, "engine", plim_engine_json(said));
        json_object_set_new(all, "model", json_pack("{s:o}", "name", text_or_null(said->model)));
        json_object_set_new(all, "setup", plim_setup_json(said));
    }
    const bool is_written = all && json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
    json_decref(all);
    if (is_written)
        fputc('\n', out);
    return is_written;
}
