/* SPDX-License-Identifier: MIT */
/* The receipt of a rehearsal, for people. */
#include "report/receipt/rehearsal.h"

#include "base/units.h"
#include "rehearse/attribution.h"
#include "rehearse/end/end.h"
#include "rehearse/path/path.h"
#include "report/columns.h"
#include "report/print.h"
#include "report/receipt/end.h"
#include "report/receipt/path.h"
#include "report/receipt/timeline.h"

#include <string.h>

enum { MAX_PRINTED_SITES = 6, WHERE_WIDTH = 44 };

/* --- call sites --- */

struct group {
    const struct plim_call_site *site; /* the largest */
    uint64_t bytes;
};

static bool is_alike(const struct plim_call_site *a, const struct plim_call_site *b)
{
    return plim_attribution_is_same_phase(a->phase, b->phase) && !strcmp(a->where, b->where);
}

/* Call sites that differ only in frames that are not printed are one group. */
static size_t group_sites(const struct plim_rehearsal *rehearsal, uint32_t device, struct group *ret_groups,
                          size_t most)
{
    size_t n = 0;
    for (uint32_t i = 0; i < rehearsal->n_call_sites; i++) {
        const struct plim_call_site *site = &rehearsal->call_site[i];
        size_t k = 0;
        if (site->device != device || !site->peak_bytes)
            continue;
        while (k < n && !is_alike(ret_groups[k].site, site))
            k++;
        if (k == most)
            continue;
        if (k == n)
            ret_groups[n++] = (struct group){ site, 0 };
        ret_groups[k].bytes += site->peak_bytes;
    }
    return n;
}

/* The end of a path says more than its beginning. */
static const char *end_of(const char *where)
{
    const size_t n = strlen(where);
    const char *slash = n > WHERE_WIDTH ? strchr(where + (n - WHERE_WIDTH), '/') : NULL;
    return slash ? slash + 1 : where;
}

/* "load 378.0 MiB, generate 28.00 MiB"; nothing when no phase is known. */
static void print_phases(FILE *out, const struct plim_rehearsal_card *card)
{
    enum { COLUMN = 11, INDENT = 4 };
    char text[PLIM_REHEARSAL_MAX_PHASES * 48] = "", size[PLIM_SIZE_TEXT];
    size_t length = 0;
    for (uint32_t i = 0; i < card->n_phases; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%.24s %s", i ? ", " : "",
                                   card->phase[i].name ? card->phase[i].name : "unknown",
                                   plim_size_text(size, card->phase[i].bytes));
    if (card->n_phases == 0 || (card->n_phases == 1 && !card->phase[0].name))
        return;
    plim_print(out, "  by phase:");
    plim_print_wrapped(out, text, COLUMN, INDENT);
}

static void print_group(FILE *out, const struct group *group)
{
    const struct plim_call_site *site = group->site;
    char size[PLIM_SIZE_TEXT];
    plim_print(out, "  %11s  %-15s ", plim_size_text(size, group->bytes),
               site->label   ? site->label
               : site->phase ? site->phase
                             : "-");
    plim_print_last(out, end_of(site->where), WHERE_WIDTH);
}

static void print_call_sites(FILE *out, const struct plim_rehearsal *rehearsal, uint32_t device)
{
    enum { MAX_GROUPS = 64 };
    struct group groups[MAX_GROUPS];
    const size_t n = group_sites(rehearsal, device, groups, MAX_GROUPS);
    if (n == 0)
        return;
    plim_print(out, "  call sites that held most at the peak\n");
    for (size_t i = 0; i < n && i < MAX_PRINTED_SITES; i++) {
        size_t most = i;
        for (size_t k = i; k < n; k++)
            most = groups[k].bytes > groups[most].bytes ? k : most;
        const struct group found = groups[most];
        groups[most] = groups[i];
        groups[i] = found;
        print_group(out, &found);
    }
    if (n > MAX_PRINTED_SITES)
        plim_print(out, "  %11s  and %zu more\n", "", n - MAX_PRINTED_SITES);
}

/* --- a card --- */

static void print_line(FILE *out, const struct plim_receipt_line *line)
{
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT];
    plim_print(out, "  %-22s %11s  %s", line->label, plim_size_text(a, line->bytes), plim_basis_name(line->basis));
    if (line->low_bytes != line->high_bytes)
        plim_print(out, "   %s to %s", plim_size_text(a, line->low_bytes), plim_size_text(b, line->high_bytes));
    plim_print(out, "\n");
}

/* Beside the peak of the card, the figures that PyTorch's users know. */
static void print_pytorch(FILE *out, const struct plim_rehearsal_pytorch *pytorch, bool is_least)
{
    enum { INDENT = 4 };
    char text[160], a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT], c[PLIM_SIZE_TEXT];
    const char *title = is_least || pytorch->is_lower_bound ? "  PyTorch's peaks, at least:" : "  PyTorch's peaks:";
    if (!pytorch->n_processes)
        return;
    snprintf(text, sizeof text, "%s allocated, %s active, %s reserved%s", plim_size_text(a, pytorch->allocated_bytes),
             plim_size_text(b, pytorch->active_bytes), plim_size_text(c, pytorch->reserved_bytes),
             pytorch->n_processes > 1 ? ", in the process that reserved most" : "");
    plim_print(out, "%s", title);
    plim_print_wrapped(out, text, (int)strlen(title), INDENT);
}

static void print_card(FILE *out, const struct plim_rehearsal *rehearsal, uint32_t nth, bool is_unicode)
{
    const struct plim_receipt_device *peak = &rehearsal->receipt.device[nth];
    const struct plim_rehearsal_card *card = &rehearsal->card[nth];
    const uint64_t usable_bytes = peak->total_bytes - card->reserved_bytes - card->others_bytes;
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT];
    plim_print(out, "%s  %s, %s\n", peak->id, peak->name, plim_size_text(a, peak->total_bytes));
    for (uint32_t i = 0; i < peak->n_lines; i++)
        print_line(out, &peak->line[i]);
    plim_print(out, "  %-22s %11s  of %s, after %.2f s\n",
               plim_path_is_lower_bound(&rehearsal->path) ? "peak, at least" : "peak",
               plim_size_text(a, peak->peak_bytes), plim_size_text(b, usable_bytes), (double)card->peak_us / 1e6);
    print_pytorch(out, &card->pytorch, plim_path_is_lower_bound(&rehearsal->path));
    if (rehearsal->late.is_set)
        plim_print(out, "  %-22s %11s  with --schedule lazy\n", "", plim_size_text(a, card->late_peak_bytes));
    if (rehearsal->other.is_set)
        plim_print(out, "  %-22s %11s  with --values %s\n", "", plim_size_text(a, card->other_peak_bytes),
                   rehearsal->other.values);
    if (rehearsal->other.is_out_of_memory)
        plim_print(out, "  OUT OF MEMORY with --values %s\n", rehearsal->other.values);
    if (rehearsal->late.is_set && rehearsal->late.is_out_of_memory)
        plim_print(out, "  OUT OF MEMORY with --schedule lazy\n");
    plim_report_timeline(out, rehearsal, nth, is_unicode);
    print_phases(out, card);
    print_call_sites(out, rehearsal, nth);
}

/* --- what happened --- */

static void print_steps(FILE *out, const struct plim_rehearsal_steps *steps)
{
    if (steps->how == PLIM_STEPS_OPTIMIZER)
        plim_print(out, "%llu optimizer steps, counted by PyTorch\n", (unsigned long long)steps->n);
    else if (steps->how == PLIM_STEPS_CYCLES)
        plim_print(out, "%llu more iterations of a cycle of %llu launches, with the same memory held\n",
                   (unsigned long long)steps->n, (unsigned long long)steps->n_launches);
    else if (steps->n_wanted)
        plim_print(out, steps->has_pytorch ? "no steps were seen: no optimizer of PyTorch's has stepped\n"
                                           : "no steps were seen: no cycle of launches\n");
}

static void print_warnings(FILE *out, const struct plim_rehearsal *rehearsal)
{
    const uint64_t n_later = rehearsal->n_met_later;
    char text[sizeof rehearsal->warning[0].what + 64];
    for (uint32_t i = 0; i < rehearsal->n_warnings; i++) {
        const struct plim_rehearsal_warning *w = &rehearsal->warning[i];
        if (!strcmp(w->kind, "value") || !strcmp(w->kind, "value_kept"))
            continue; /* the places tell it */
        snprintf(text, sizeof text, "%s (%llu time%s)", w->what, (unsigned long long)w->count,
                 w->count == 1 ? "" : "s");
        plim_print(out, "%s:", w->kind);
        plim_print_wrapped(out, text, (int)strlen(w->kind) + 1, 4);
    }
    if (n_later)
        plim_print(out, "%llu %s met later, after memory had been freed\n", (unsigned long long)n_later,
                   n_later == 1 ? "request did not fit and was" : "requests did not fit and were");
}

/* --- the engine's own log --- */

/* A line of the engine's log beside the rehearsal's, as far as both have it. */
static void compare_line(FILE *out, const struct plim_receipt *engine_log, const struct plim_receipt_device *peak,
                         const struct plim_receipt_line *line, unsigned *n_same, unsigned *n_other)
{
    const struct plim_receipt_device *device = plim_receipt_find(engine_log, peak->id);
    for (uint32_t i = 0; device && i < device->n_lines; i++) {
        const struct plim_receipt_line *printed = &device->line[i];
        if (strcmp(printed->label, line->label) != 0)
            continue;
        const bool is_same = line->bytes >= printed->low_bytes && line->bytes <= printed->high_bytes;
        *(is_same ? n_same : n_other) += 1;
        if (!is_same)
            plim_print(out, "%s prints %.2f MiB for the %s on %s\n", engine_log->engine,
                       (double)printed->bytes / (double)PLIM_MIB, line->label, peak->id);
    }
}

static void print_engine_log(FILE *out, const struct plim_rehearsal *rehearsal, const struct plim_receipt *engine_log)
{
    unsigned n_same = 0, n_other = 0;
    for (uint32_t i = 0; i < rehearsal->n_cards; i++) {
        const struct plim_receipt_device *peak = &rehearsal->receipt.device[i];
        for (uint32_t k = 0; k < peak->n_lines; k++)
            compare_line(out, engine_log, peak, &peak->line[k], &n_same, &n_other);
    }
    if (n_same + n_other)
        plim_print(out, "%s%s%s prints the same for %u of %u buffers\n", engine_log->engine,
                   engine_log->version[0] ? " " : "", engine_log->version, n_same, n_same + n_other);
}

/* --- all of it --- */

static void print_host(FILE *out, const struct plim_rehearsal *rehearsal)
{
    const struct plim_rehearsal_host *host = &rehearsal->host;
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT], c[PLIM_SIZE_TEXT];
    plim_print(out, "host  peak %s resident, %s of it anonymous; pinned peak %s\n",
               plim_size_text(a, host->peak_rss_bytes), plim_size_text(b, host->peak_anonymous_bytes),
               plim_size_text(c, host->pinned_peak_bytes));
    if (host->peak_n_processes > 1)
        plim_print(out, "      in up to %zu processes together\n", host->peak_n_processes);
    if (host->written_bytes >= PLIM_MIB)
        plim_print(out, "      %s written to files in %.2f s\n", plim_size_text(a, host->written_bytes),
                   (double)host->written_us / 1e6);
    if (host->kill)
        plim_print(out, "      the kernel %sended a process of the program for want of host memory\n",
                   host->kill == PLIM_HOST_KILL_LIKELY ? "most likely " : "");
    if (host->pinned_peak_bytes >= PLIM_MIB)
        print_call_sites(out, rehearsal, PLIM_REHEARSAL_HOST);
}

void plim_report_rehearsal_text(FILE *out, const struct plim_rehearsal *rehearsal,
                                const struct plim_receipt *engine_log, bool is_unicode)
{
    const char *program = rehearsal->command[0], *slash = strlen(program) > 40 ? strrchr(program, '/') : NULL;
    plim_print(out, "\nreceipt of %.40s on %.30s\n", slash && slash[1] ? slash + 1 : program, rehearsal->card_name);
    for (uint32_t i = 0; i < rehearsal->n_cards; i++)
        print_card(out, rehearsal, i, is_unicode);
    print_host(out, rehearsal);
    print_warnings(out, rehearsal);
    plim_report_places(out, &rehearsal->path);
    print_steps(out, &rehearsal->steps);
    if (engine_log)
        print_engine_log(out, rehearsal, engine_log);
    if (plim_end_has_card(rehearsal) || plim_path_is_lower_bound(&rehearsal->path)) /* no card, nothing exact */
        plim_report_path(out, rehearsal);
    plim_report_end(out, rehearsal);
}

/* --- a search --- */

static const struct plim_find_trial *largest_trial(const struct plim_find *find)
{
    for (uint32_t i = 0; find->has_largest && i < find->n_trials; i++)
        if (find->trial[i].value == find->largest)
            return &find->trial[i];
    return NULL;
}

void plim_report_find_text(FILE *out, const struct plim_find *find)
{
    static const char *const words[2][2] = { { "is known to fit", "fits" }, { "is known to complete", "completes" } };
    const struct plim_find_trial *largest = largest_trial(find);
    if (!find->is_monotonic)
        plim_print(out, "some values of %s took less than smaller ones: a larger value that was not tried may fit\n",
                   find->name);
    else
        plim_print(out, "%u trial%s; values above one that does not fit were not tried\n", find->n_trials,
                   find->n_trials == 1 ? "" : "s");
    if (!find->is_decided)
        plim_print(out, "the search was broken off\n");
    if (largest && largest->is_lower_bound)
        plim_print(out, "the path of %s=%llu was guessed or incomplete: a card may take more than its peak\n",
                   find->name, (unsigned long long)find->largest);
    if (find->is_of_completion)
        plim_print(out,
                   "%s=%llu, the smallest value, ran short of memory and recovered: sought is the largest that "
                   "completes all the same\n",
                   find->name, (unsigned long long)find->low);
    else if (find->has_recovered)
        plim_print(out,
                   "%s=%llu completed, but not every request was met at once: room was made, or the error caught\n",
                   find->name, (unsigned long long)find->largest_recovered);
    if (largest)
        plim_print(out, "%s=%llu is the largest of %llu to %llu that %s%s\n", find->name,
                   (unsigned long long)find->largest, (unsigned long long)find->low, (unsigned long long)find->high,
                   words[find->is_of_completion][find->is_decided],
                   largest->outcome == PLIM_FIND_RECOVERED ? ", though short of memory on the way" : "");
    else
        plim_print(out, "%s=%llu, the smallest value, %s\n", find->name, (unsigned long long)find->low,
                   find->is_decided ? "does not fit" : "gave no answer");
}
