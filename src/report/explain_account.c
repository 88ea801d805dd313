/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "report/columns.h"
#include "report/explain_parts.h"
#include "report/paint.h"
#include "report/print.h"

#include <inttypes.h>
#include <string.h>

enum {
    EVIDENCE_LINES = 2, /* JSON has all */
    LABEL_WIDTH = 16,
};

/* "process 19239   14.26 GiB" */
static void print_figure(FILE *out, const char *label, int64_t bytes, const char *note, const struct plim_style *style)
{
    char size[PLIM_SIZE_TEXT];
    if (!plim_explain_is_known(bytes))
        return;
    plim_print(out, "  %-*s %11s", LABEL_WIDTH, label,
               bytes < 0 ? plim_size_text_signed(size, bytes) : plim_size_text(size, (uint64_t)bytes));
    if (*note)
        plim_print(out, "  %s%s%s", plim_paint(style, PLIM_DIM), note, plim_paint(style, PLIM_PLAIN));
    plim_print(out, "\n");
}

/* The processes on the card: only where the message has enough figures to add up. */
void plim_explain_print_account(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_cause_answer *a = &item->cause;
    const struct plim_finding *f = item->finding;
    char label[48], note[96] = "", size[PLIM_SIZE_TEXT], other[PLIM_SIZE_TEXT];
    if (!plim_explain_is_known(a->total_bytes) || !plim_explain_is_known(a->free_bytes))
        return;
    print_figure(out, a->best.cause == PLIM_CAUSE_HOST_RAM ? "the machine" : "the card", a->total_bytes, "", style);
    if (plim_explain_is_known(a->allocated_bytes) && plim_explain_is_known(a->unallocated_bytes))
        snprintf(note, sizeof note, "%s in tensors, %s cached, unused",
                 plim_size_text(size, (uint64_t)a->allocated_bytes),
                 plim_size_text(other, (uint64_t)a->unallocated_bytes));
    bool is_printed = plim_explain_is_known(f->numbers.value[PLIM_N_PROCESS_BYTES]) || a->own_index >= 0;
    if (is_printed)
        print_figure(out, "this process", a->own_bytes, note, style);
    else if (plim_explain_is_known(a->allocated_bytes))
        print_figure(out, "in tensors", a->allocated_bytes, "", style);
    for (uint32_t i = 0; i < f->n_others && i < 3; i++) {
        if ((int)i == a->own_index)
            continue;
        if (plim_explain_is_known(f->others[i].pid))
            snprintf(label, sizeof label, "process %" PRId64, f->others[i].pid);
        else
            snprintf(label, sizeof label, "another process");
        print_figure(out, label, f->others[i].bytes, "", style);
    }
    if (!a->is_others_listed && plim_explain_is_known(a->others_bytes) && a->others_bytes > (int64_t)PLIM_GIB)
        print_figure(out, "others", a->others_bytes, "the remainder", style);
    print_figure(out, "free", a->free_bytes, "", style);
    note[0] = '\0';
    if (plim_explain_is_known(a->shortfall_bytes))
        snprintf(note, sizeof note, "%s too much", plim_size_text(size, (uint64_t)a->shortfall_bytes));
    print_figure(out, "tried", a->tried_bytes, note, style);
}

/* Where a line begins to say something: prefixes of loggers and ranks are passed over when room is short. */
static const char *substance(const char *text, int room)
{
    static const char *const signs[] = {
        "Error:", "error:", "Killed process", "out of memory", "failed to", "oom-kill"
    };
    const char *best = NULL;
    for (size_t i = 0; (int)strlen(text) > room && i < sizeof signs / sizeof signs[0]; i++) {
        const char *at = strstr(text, signs[i]);
        best = at && (!best || at < best) ? at : best;
    }
    const char *last = text + strlen(text) - (room > 8 ? room - 8 : 0); /* further right, less would be shown */
    best = best && best > last ? last : best;
    while (best && best > text && best[-1] != ' ')
        best--;
    return best && best - text > room / 4 ? best : text;
}

/* A message that is printed twice, with different prefixes. */
static bool is_same_text(const char *a, const char *b)
{
    enum { ENOUGH = 60 };
    const char *colon_a = strstr(a, "Error: "), *colon_b = strstr(b, "Error: ");
    return colon_a && colon_b && strlen(colon_a) > ENOUGH && !strncmp(colon_a, colon_b, ENOUGH);
}

/* The lines of the log that the figures were read from. */
void plim_explain_print_evidence(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_finding *f = item->finding;
    for (uint32_t i = 0; i < f->n_evidence && i < EVIDENCE_LINES; i++) {
        if (i > 0 && is_same_text(f->evidence[i - 1].text, f->evidence[i].text))
            continue;
        int column = plim_print(out, "  line %" PRIu64 ": ", f->evidence[i].line);
        plim_print(out, "%s", plim_paint(style, PLIM_DIM));
        const int room = PLIM_TEXT_WIDTH - column;
        const char *from = substance(f->evidence[i].text, room);
        const char *lead = from > f->evidence[i].text ? "..." : "";
        const int left = room - 3 - (int)strlen(lead);
        plim_print(out, "%s%.*s%s\n", lead, left, from, plim_print_width(from) > left ? "..." : "");
        plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    }
}
