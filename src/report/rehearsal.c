/* SPDX-License-Identifier: MIT */
/* The receipt of a rehearsal, for people and as plimsoll.receipt/1. */
#include "report/rehearsal.h"

#include "base/units.h"

#include <jansson.h>
#include <string.h>

static const char *bare_name(const struct plim_ledger_card *card)
{
    return !strncmp(card->name, "NVIDIA ", 7) ? card->name + 7 : card->name;
}

/* What a program can have of a card. */
static uint64_t usable_bytes(const struct plim_ledger_card *card)
{
    return card->total_bytes - card->reserved_bytes - card->others_bytes;
}

static void sum(const struct plim_rehearsal_line *lines, size_t n, uint64_t *ret_low, uint64_t *ret_high)
{
    *ret_low = *ret_high = 0;
    for (size_t i = 0; i < n; i++) {
        *ret_low += lines[i].low_bytes;
        *ret_high += lines[i].high_bytes;
    }
}

/* --- text --- */

static void print_card(FILE *out, const struct plim_ledger_card *card, uint32_t index)
{
    struct plim_rehearsal_line lines[PLIM_REHEARSAL_MAX_LINES];
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT];
    const size_t n = plim_rehearsal_lines(card, true, lines);
    fprintf(out, "gpu%u  %s, %s\n", index, bare_name(card), plim_size_text(a, card->total_bytes));
    for (size_t i = 0; i < n; i++) {
        const struct plim_rehearsal_line *l = &lines[i];
        fprintf(out, "  %-22s %11s  %s", l->label, plim_size_text(a, l->bytes), plim_basis_name(l->basis));
        if (l->low_bytes != l->high_bytes)
            fprintf(out, "   %s to %s", plim_size_text(a, l->low_bytes), plim_size_text(b, l->high_bytes));
        fputc('\n', out);
    }
    fprintf(out, "  %-22s %11s  of %s, after %.2f s\n", "peak", plim_size_text(a, card->peak_bytes),
            plim_size_text(b, usable_bytes(card)), (double)card->peak_us / 1e6);
}

static void print_oom(FILE *out, const struct plim_ledger_oom *oom)
{
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT];
    fprintf(out, "OUT OF MEMORY on gpu%u after %.2f s: %s asked for %s, %s were free\n", oom->device,
            (double)oom->time_us / 1e6, plim_rehearsal_kind(oom->kind), plim_size_text(a, oom->size),
            plim_size_text(b, oom->free_bytes));
}

void plim_report_rehearsal_text(FILE *out, const struct plim_rehearsal *receipt)
{
    const struct plim_ledger *ledger = receipt->ledger;
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT], c[PLIM_SIZE_TEXT];
    fprintf(out, "\nreceipt of %s on %s\n", receipt->command[0], receipt->card_name);
    for (uint32_t i = 0; i < ledger->n_cards; i++)
        print_card(out, &receipt->card[i], i);
    fprintf(out, "host  peak %s resident, %s of it anonymous; pinned peak %s\n",
            plim_size_text(a, receipt->peak_rss_bytes), plim_size_text(b, receipt->peak_anonymous_bytes),
            plim_size_text(c, ledger->pinned_peak_bytes));
    for (uint32_t i = 0; i < ledger->n_warnings && i < PLIM_LEDGER_MAX_WARNINGS; i++)
        fprintf(out, "%s: %s (%llu times)\n", ledger->warning[i].kind, ledger->warning[i].what,
                (unsigned long long)ledger->warning[i].count);
    if (ledger->oom.is_set)
        print_oom(out, &ledger->oom);
    else if (!strcmp(receipt->stopped_by, "exit"))
        fprintf(out, "it ran to its end, %d, in %.1f s\n", receipt->exit_code, receipt->seconds);
    else
        fprintf(out, "stopped after %.1f s: %s\n", receipt->seconds, receipt->stopped_by);
}

/* --- JSON --- */

static json_t *bytes(uint64_t n) { return json_integer((json_int_t)n); }

/* Names and arguments may hold bytes that are not text. */
static json_t *text(const char *raw)
{
    json_t *value = json_string(raw);
    return value ? value : json_string("?");
}

static json_t *lines_json(const struct plim_rehearsal_line *lines, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < n; i++)
        json_array_append_new(list, json_pack("{s:n, s:s, s:o, s:o, s:o, s:s, s:s}", "pillar", "label", lines[i].label,
                                              "bytes", bytes(lines[i].bytes), "low", bytes(lines[i].low_bytes), "high",
                                              bytes(lines[i].high_bytes), "basis", plim_basis_name(lines[i].basis),
                                              "why", lines[i].why));
    return list;
}

static json_t *id_of(uint32_t device)
{
    char id[16];
    snprintf(id, sizeof id, "gpu%u", device);
    return json_string(id);
}

static json_t *card_json(const struct plim_ledger_card *card, uint32_t index)
{
    struct plim_rehearsal_line peak[PLIM_REHEARSAL_MAX_LINES], end[PLIM_REHEARSAL_MAX_LINES];
    const size_t n_peak = plim_rehearsal_lines(card, true, peak), n_end = plim_rehearsal_lines(card, false, end);
    uint64_t low, high;
    json_t *timeline = json_array();
    sum(peak, n_peak, &low, &high);
    for (uint32_t i = 0; timeline && i < card->n_points && i < PLIM_LEDGER_MAX_POINTS; i++)
        json_array_append_new(timeline,
                              json_pack("[o, o]", bytes(card->point[i].time_us), bytes(card->point[i].bytes)));
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", id_of(index), "name",
                     bare_name(card), "total_bytes", bytes(card->total_bytes), "reserved_bytes",
                     bytes(card->reserved_bytes), "peak_bytes", bytes(card->peak_bytes), "peak_low", bytes(low),
                     "peak_high", bytes(high), "peak_us", bytes(card->peak_us), "lines", lines_json(peak, n_peak),
                     "end_bytes", bytes(card->used_bytes), "end_lines", lines_json(end, n_end), "timeline", timeline);
}

static json_t *oom_json(const struct plim_ledger_oom *oom)
{
    if (!oom->is_set)
        return json_null();
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:i}", "device", id_of(oom->device), "what",
                     plim_rehearsal_kind(oom->kind), "asked_bytes", bytes(oom->size), "free_bytes",
                     bytes(oom->free_bytes), "used_bytes", bytes(oom->used_bytes), "t_us", bytes(oom->time_us), "pid",
                     oom->pid);
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

bool plim_report_rehearsal_json(FILE *out, const struct plim_rehearsal *receipt)
{
    const struct plim_ledger *ledger = receipt->ledger;
    json_t *command = json_array(), *devices = json_array(), *warnings = json_array();
    for (char *const *p = receipt->command; *p; p++)
        json_array_append_new(command, text(*p));
    for (uint32_t i = 0; i < ledger->n_cards; i++)
        json_array_append_new(devices, card_json(&receipt->card[i], i));
    for (uint32_t i = 0; i < ledger->n_warnings && i < PLIM_LEDGER_MAX_WARNINGS; i++)
        json_array_append_new(warnings,
                              json_pack("{s:s, s:o, s:o}", "kind", ledger->warning[i].kind, "what",
                                        text(ledger->warning[i].what), "count", bytes(ledger->warning[i].count)));
    json_t *host =
        json_pack("{s:o, s:o, s:o}", "peak_rss_bytes", bytes(receipt->peak_rss_bytes), "pinned_peak_bytes",
                  bytes(ledger->pinned_peak_bytes), "peak_anonymous_bytes", bytes(receipt->peak_anonymous_bytes));
    json_t *all = json_pack(
        "{s:s, s:s, s:o, s:o, s:i, s:b, s:s, s:f, s:o, s:o, s:o, s:o, s:o}", "schema", "plimsoll.receipt/1", "from",
        "rehearse", "command", command, "card", text(receipt->card_name), "exit_code", receipt->exit_code, "oom",
        (int)ledger->oom.is_set, "stopped_by", receipt->stopped_by, "seconds", receipt->seconds, "devices", devices,
        "host", host, "oom_at", oom_json(&ledger->oom), "warnings", warnings, "allocations", allocations_json(receipt));
    const bool is_written = all && json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
    json_decref(all);
    if (is_written)
        fputc('\n', out);
    return is_written;
}
