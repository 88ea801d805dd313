/* SPDX-License-Identifier: MIT */
/* The receipt of a rehearsal, for people. */
#include "report/rehearsal.h"

#include "base/text.h"
#include "base/units.h"
#include "report/columns.h"
#include "report/timeline.h"

#include <string.h>

enum { MAX_ASKED = 6, WHERE_WIDTH = 44 };

/* What a program can have of a card. */
static uint64_t usable_bytes(const struct plim_ledger_card *card)
{
    return card->total_bytes - card->reserved_bytes - card->others_bytes;
}

/* --- who asked --- */

struct asked {
    struct plim_attribution origin;
    uint64_t bytes;
};

/* Places that look alike are one: they differ in frames that are not shown. */
static size_t gather(const struct plim_rehearsal *receipt, uint32_t device, struct asked *ret_asked, size_t most)
{
    static uint16_t numbers[PLIM_LEDGER_MAX_SITES];
    const size_t n_sites = plim_rehearsal_sites(receipt, device, numbers);
    size_t n = 0;
    for (size_t i = 0; i < n_sites && receipt->site_peak_bytes[numbers[i]]; i++) {
        struct plim_attribution origin;
        size_t k = 0;
        plim_attribution_of(&receipt->ledger->stack[numbers[i]], &origin);
        while (k < n && (!plim_attribution_is_same_phase(ret_asked[k].origin.phase, origin.phase) ||
                         strcmp(ret_asked[k].origin.where, origin.where) != 0))
            k++;
        if (k == most)
            continue;
        if (k == n)
            ret_asked[n++] = (struct asked){ origin, 0 };
        ret_asked[k].bytes += receipt->site_peak_bytes[numbers[i]];
    }
    return n;
}

/* The last of a line. */
static void print_last(FILE *out, const char *text, int width)
{
    if (strlen(text) <= (size_t)width)
        fputs(text, out);
    else
        plim_print_padded(out, text, width);
    fputc('\n', out);
}

/* The end of a path says more than its beginning. */
static const char *end_of(const char *where)
{
    const size_t n = strlen(where);
    const char *slash = n > WHERE_WIDTH ? strchr(where + (n - WHERE_WIDTH), '/') : NULL;
    return slash ? slash + 1 : where;
}

/* "load 378.0 MiB, generate 28.00 MiB"; nothing when no phase is known. */
static void print_phases(FILE *out, const struct plim_rehearsal *receipt, uint32_t device)
{
    enum { COLUMN = 11, INDENT = 4 };
    struct plim_rehearsal_phase phases[PLIM_REHEARSAL_MAX_PHASES];
    char text[PLIM_REHEARSAL_MAX_PHASES * 48] = "", size[PLIM_SIZE_TEXT];
    const size_t n = plim_rehearsal_phases(receipt, device, phases);
    size_t length = 0;
    for (size_t i = 0; i < n; i++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%.24s %s", i ? ", " : "",
                             phases[i].name ? phases[i].name : "not known", plim_size_text(size, phases[i].bytes));
    if (n == 0 || (n == 1 && !phases[0].name))
        return;
    fputs("  by phase:", out);
    plim_print_wrapped(out, text, COLUMN, INDENT);
}

static void print_asked(FILE *out, const struct plim_rehearsal *receipt, uint32_t device)
{
    enum { MAX_GATHERED = 64 };
    static struct asked asked[MAX_GATHERED];
    char size[PLIM_SIZE_TEXT];
    const size_t n = gather(receipt, device, asked, MAX_GATHERED);
    if (n == 0)
        return;
    fputs("  asked for at the peak by\n", out);
    for (size_t i = 0; i < n && i < MAX_ASKED; i++) {
        size_t most = i;
        for (size_t k = i; k < n; k++)
            most = asked[k].bytes > asked[most].bytes ? k : most;
        const struct asked found = asked[most];
        asked[most] = asked[i];
        asked[i] = found;
        plim_text_clean(asked[i].origin.where);
        fprintf(out, "  %11s  %-15s ", plim_size_text(size, found.bytes),
                found.origin.label   ? found.origin.label
                : found.origin.phase ? found.origin.phase
                                     : "-");
        print_last(out, end_of(asked[i].origin.where), WHERE_WIDTH);
    }
    if (n > MAX_ASKED)
        fprintf(out, "  %11s  %zu places more\n", "", n - MAX_ASKED);
}

/* --- a card --- */

static void print_card(FILE *out, const struct plim_rehearsal *receipt, uint32_t index, bool is_unicode)
{
    const struct plim_ledger_card *card = &receipt->card[index];
    struct plim_rehearsal_line lines[PLIM_REHEARSAL_MAX_LINES];
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT];
    const size_t n = plim_rehearsal_lines(receipt, index, true, lines);
    fprintf(out, "gpu%u  %s, %s\n", index, plim_rehearsal_card_name(card), plim_size_text(a, card->total_bytes));
    for (size_t i = 0; i < n; i++) {
        const struct plim_rehearsal_line *l = &lines[i];
        fprintf(out, "  %-22s %11s  %s", l->label, plim_size_text(a, l->bytes), plim_basis_name(l->basis));
        if (l->low_bytes != l->high_bytes)
            fprintf(out, "   %s to %s", plim_size_text(a, l->low_bytes), plim_size_text(b, l->high_bytes));
        fputc('\n', out);
    }
    fprintf(out, "  %-22s %11s  of %s, after %.2f s\n", "peak", plim_size_text(a, card->peak_bytes),
            plim_size_text(b, usable_bytes(card)), (double)card->peak_us / 1e6);
    if (receipt->late.is_set)
        fprintf(out, "  %-22s %11s  when the work of streams is done late\n%s", "",
                plim_size_text(a, receipt->late.peak_bytes[index]),
                receipt->late.is_out_of_memory ? "  OUT OF MEMORY when the work of streams is done late\n" : "");
    plim_report_timeline(out, receipt, index, is_unicode);
    print_phases(out, receipt, index);
    print_asked(out, receipt, index);
}

/* --- what stopped it --- */

/* Of the frames of a stack, the native ones that say something; of Python's the innermost, and those of the program. */
static bool is_worth_it(const char *frame, size_t nth, bool is_python)
{
    enum { ALWAYS = 3 };
    return is_python ? nth < ALWAYS || !plim_attribution_is_installed(frame) : !plim_attribution_is_plumbing(frame);
}

static void print_frames(FILE *out, const char *stack, bool is_python)
{
    enum { MOST = 8, HEADING = 8 };
    char text[PLIM_LEDGER_STACK_BYTES], *frames[PLIM_ATTRIBUTION_MAX_FRAMES];
    snprintf(text, sizeof text, "%.*s", PLIM_LEDGER_STACK_BYTES - 1, stack);
    const size_t n = plim_attribution_frames(text, frames);
    size_t n_printed = 0, n_skipped = 0;
    for (size_t i = 0; i < n && n_printed < MOST; i++) {
        if (!is_worth_it(frames[i], i, is_python)) {
            n_skipped++;
            continue;
        }
        if (is_python && n_skipped)
            fprintf(out, "%*s... %zu in packages\n", HEADING, "", n_skipped);
        n_skipped = 0;
        plim_text_clean(frames[i]);
        fprintf(out, "%-*s", HEADING, n_printed++ ? "" : is_python ? "python" : "native");
        print_last(out, frames[i], PLIM_TEXT_WIDTH - HEADING);
    }
}

static void print_oom(FILE *out, const struct plim_ledger *ledger)
{
    const struct plim_ledger_oom *oom = &ledger->oom;
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT];
    if (oom->site && oom->site < PLIM_LEDGER_MAX_SITES) {
        print_frames(out, ledger->stack[oom->site].native, /* is_python */ false);
        print_frames(out, ledger->stack[oom->site].python, /* is_python */ true);
    }
    fprintf(out, "short of %s on gpu%u\n",
            plim_size_text(a, oom->size > oom->free_bytes ? oom->size - oom->free_bytes : 0), oom->device);
    fprintf(out, "OUT OF MEMORY on gpu%u after %.2f s: %s of %s, %s were free\n", oom->device,
            (double)oom->time_us / 1e6, plim_rehearsal_kind(oom->kind), plim_size_text(a, oom->size),
            plim_size_text(b, oom->free_bytes));
}

static void print_steps(FILE *out, const struct plim_rehearsal *receipt)
{
    const struct plim_rehearsal_steps *steps = &receipt->steps;
    if (steps->how == PLIM_STEPS_OPTIMIZER)
        fprintf(out, "%llu optimizer steps, as PyTorch counts them\n", (unsigned long long)steps->n);
    else if (steps->how == PLIM_STEPS_CYCLES)
        fprintf(out, "%llu more iterations of a cycle of %llu launches, with the same memory held\n",
                (unsigned long long)steps->n, (unsigned long long)steps->n_launches);
    else if (receipt->ledger->wants_steps)
        fputs("no steps were seen: no optimizer of PyTorch's, and no cycle of launches\n", out);
}

static void print_path(FILE *out, const struct plim_ledger *ledger)
{
    const struct plim_rehearsal_path path = plim_rehearsal_path(ledger);
    if (path.basis == PLIM_BASIS_EXACT)
        return;
    fprintf(out,
            "path  %s: small values were read back that may steer the program:\n"
            "      %llu computed by the card, which computes nothing here, and\n"
            "      %llu written by the host before kernels ran\n",
            plim_basis_name(path.basis), (unsigned long long)path.n_assumed, (unsigned long long)path.n_kept);
}

/* Else a peak of 0 B, and a search in which everything fits, look like an answer. */
static void print_unused(FILE *out, const struct plim_ledger *ledger)
{
    bool is_used = ledger->n_warnings > 0 || ledger->oom.is_set;
    for (uint32_t i = 0; i < ledger->n_cards; i++)
        is_used = is_used || ledger->card[i].n_taken > 0;
    if (!is_used)
        fputs("no card was used: the program made no CUDA context\n", out);
}

static void print_warnings(FILE *out, const struct plim_ledger *ledger)
{
    char text[PLIM_LEDGER_WHAT_BYTES + 64];
    for (uint32_t i = 0; i < ledger->n_warnings && i < PLIM_LEDGER_MAX_WARNINGS; i++) {
        const struct plim_ledger_warning *w = &ledger->warning[i];
        snprintf(text, sizeof text, "%s (%llu time%s)", w->what, (unsigned long long)w->count,
                 w->count == 1 ? "" : "s");
        plim_text_clean(text);
        fprintf(out, "%s:", w->kind);
        plim_print_wrapped(out, text, (int)strlen(w->kind) + 1, 4);
    }
    if (ledger->n_met_later)
        fprintf(out, "%llu %s met later, when memory had been given back\n", (unsigned long long)ledger->n_met_later,
                ledger->n_met_later == 1 ? "request did not fit and was" : "requests did not fit and were");
}

/* --- the engine's own words --- */

/* Whether it says the same of its buffers as the ledger does. */
static void print_said(FILE *out, const struct plim_rehearsal *receipt, const struct plim_receipt *said)
{
    unsigned n_same = 0, n_other = 0;
    for (uint32_t i = 0; i < receipt->ledger->n_cards; i++) {
        struct plim_rehearsal_line lines[PLIM_REHEARSAL_MAX_LINES];
        char id[16];
        snprintf(id, sizeof id, "gpu%u", i);
        const struct plim_receipt_device *device = plim_receipt_find(said, id);
        const size_t n = plim_rehearsal_lines(receipt, i, true, lines);
        for (size_t k = 0; device && k < n; k++)
            for (uint32_t j = 0; j < device->n_lines; j++) {
                const struct plim_receipt_line *line = &device->line[j];
                if (strcmp(line->label, lines[k].label) != 0)
                    continue;
                const bool is_same = lines[k].bytes >= line->low_bytes && lines[k].bytes <= line->high_bytes;
                n_same += is_same;
                n_other += !is_same;
                if (!is_same)
                    fprintf(out, "%s says of its %s on %s: %.2f MiB\n", said->engine, lines[k].label, id,
                            (double)line->bytes / (double)PLIM_MIB);
            }
    }
    if (n_same + n_other)
        fprintf(out, "%s%s%s prints the same for %u of %u buffers\n", said->engine, said->version[0] ? " " : "",
                said->version, n_same, n_same + n_other);
}

void plim_report_rehearsal_text(FILE *out, const struct plim_rehearsal *receipt, const struct plim_receipt *said,
                                bool is_unicode)
{
    const struct plim_ledger *ledger = receipt->ledger;
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT], c[PLIM_SIZE_TEXT];
    fprintf(out, "\nreceipt of %.40s on %.30s\n", receipt->command[0], receipt->card_name);
    for (uint32_t i = 0; i < ledger->n_cards; i++)
        print_card(out, receipt, i, is_unicode);
    fprintf(out, "host  peak %s resident, %s of it anonymous; pinned peak %s\n",
            plim_size_text(a, receipt->peak_rss_bytes), plim_size_text(b, receipt->peak_anonymous_bytes),
            plim_size_text(c, ledger->pinned_peak_bytes));
    if (receipt->peak_n_processes > 1)
        fprintf(out, "      in up to %zu processes together\n", receipt->peak_n_processes);
    if (ledger->pinned_peak_bytes >= PLIM_MIB)
        print_asked(out, receipt, PLIM_LEDGER_MAX_CARDS);
    print_unused(out, ledger);
    print_path(out, ledger);
    print_warnings(out, ledger);
    print_steps(out, receipt);
    if (said)
        print_said(out, receipt, said);
    if (ledger->oom.is_set)
        print_oom(out, ledger);
    else if (!strcmp(receipt->stopped_by, "exit"))
        fprintf(out,
                receipt->exit_code ? "it failed with exit status %d after %.1f s\n"
                                   : "it ran to its end, %d, in %.1f s\n",
                receipt->exit_code, receipt->seconds);
    else if (!strcmp(receipt->stopped_by, "signal"))
        fprintf(out, "ended by signal %d after %.1f s\n", receipt->exit_code - 128, receipt->seconds);
    else
        fprintf(out, "stopped after %.1f s: %s\n", receipt->seconds, receipt->stopped_by);
}

/* --- a search --- */

void plim_report_find_text(FILE *out, const struct plim_find *find)
{
    if (!find->is_monotonic)
        fprintf(out, "more took less for some values of %s: a larger one may fit that was not tried\n", find->name);
    else
        fprintf(out, "%u trials; what is larger than a value that does not fit was not tried\n", find->n_trials);
    if (!find->is_decided)
        fputs("the search was broken off\n", out);
    if (find->has_largest)
        fprintf(out, "%s=%llu is the largest of %llu to %llu that %s\n", find->name, (unsigned long long)find->largest,
                (unsigned long long)find->low, (unsigned long long)find->high,
                find->is_decided ? "fits" : "is known to fit");
    else
        fprintf(out, "%s=%llu, the least, %s\n", find->name, (unsigned long long)find->low,
                find->is_decided ? "does not fit" : "gave no answer");
}
