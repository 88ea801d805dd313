/* SPDX-License-Identifier: MIT */
#include "report/receipt/timeline.h"

#include "base/units.h"
#include "report/history/chart.h"
#include "report/print.h"

#include <string.h>

enum { WIDTH = PLIM_HISTORY_COLUMNS };

struct drawing {
    struct plim_history history;
    char phase[WIDTH + 1];
    const char *name[WIDTH]; /* of the phase */
    uint64_t start_us, end_us;
};

static unsigned column_of(const struct drawing *d, uint64_t time_us)
{
    const uint64_t column = time_us > d->start_us ? (time_us - d->start_us) * WIDTH / (d->end_us - d->start_us) : 0;
    return column < WIDTH ? (unsigned)column : WIDTH - 1;
}

/* The letter of a phase; '.' for one that has none. */
static char letter_of(const char *phase)
{
    static const char *const names[] = { "load",           "KV cache", "compute",     "forward",       "backward",
                                         "optimizer step", "generate", "profile run", "graph capture", NULL };
    static const char letters[] = "LKCFBOGPX";
    for (size_t i = 0; phase && names[i]; i++)
        if (!strcmp(names[i], phase))
            return letters[i];
    return '.';
}

static void mark_phase(const char *phase, unsigned column, struct drawing *d)
{
    if (letter_of(phase) == '.')
        return;
    d->phase[column] = letter_of(phase);
    d->name[column] = phase;
}

/* A Python program imports for seconds before its first request. All cards start at the same time, for comparison. */
static uint64_t first_us(const struct plim_rehearsal *rehearsal)
{
    uint64_t first = rehearsal->end_us;
    for (uint32_t i = 0; i < rehearsal->n_cards; i++)
        if (rehearsal->card[i].n_points && rehearsal->card[i].point[0].time_us < first)
            first = rehearsal->card[i].point[0].time_us;
    const uint64_t margin = (rehearsal->end_us - first) / 16;
    return first > margin ? first - margin : 0;
}

static void sample(const struct plim_rehearsal *rehearsal, uint32_t device, struct drawing *d)
{
    const struct plim_rehearsal_card *card = &rehearsal->card[device];
    const uint64_t peak_bytes = rehearsal->receipt.device[device].peak_bytes;
    uint64_t held = 0;
    unsigned at = 0;
    for (uint32_t i = 0; i < card->n_points; i++) {
        const struct plim_rehearsal_point *point = &card->point[i];
        const unsigned column = column_of(d, point->time_us);
        const bool is_at_start = (point->time_us - d->start_us) * WIDTH % (d->end_us - d->start_us) == 0;
        for (; at < column; at++) {
            d->history.bytes[at] = held > d->history.bytes[at] ? held : d->history.bytes[at];
            d->history.bytes[at + 1] = at + 1 == column && is_at_start ? 0 : held;
        }
        held = point->bytes;
        d->history.bytes[at] = held > d->history.bytes[at] ? held : d->history.bytes[at];
        mark_phase(point->phase, at, d);
    }
    for (; at < WIDTH; at++)
        d->history.bytes[at] = held > d->history.bytes[at] ? held : d->history.bytes[at];
    if (peak_bytes > d->history.bytes[d->history.peak_column]) /* of points that are close together one is recorded */
        d->history.bytes[d->history.peak_column] = peak_bytes;
}

/* The names of the letters, each once. */
static void print_legend(FILE *out, const struct drawing *d)
{
    bool is_printed[128] = { false };
    if (strspn(d->phase, ".") == WIDTH)
        return;
    plim_print(out, "%*s  %s\n%*s", PLIM_HISTORY_LABEL, "", d->phase, PLIM_HISTORY_LABEL, "");
    for (unsigned i = 0; i < WIDTH; i++)
        if (d->name[i] && !is_printed[(unsigned char)d->phase[i] % 128]) {
            is_printed[(unsigned char)d->phase[i] % 128] = true;
            plim_print(out, "  %c %s", d->phase[i], d->name[i]);
        }
    plim_print(out, "\n");
}

static void draw(FILE *out, const struct drawing *d, uint64_t peak_bytes, bool is_unicode)
{
    char size[PLIM_SIZE_TEXT], peak[32], start[32], end[32];
    snprintf(peak, sizeof peak, "peak %s", plim_size_text(size, peak_bytes));
    snprintf(start, sizeof start, "%.2f s", (double)d->start_us / 1e6);
    snprintf(end, sizeof end, "%.2f s", (double)d->end_us / 1e6);
    struct plim_history history = d->history;
    history.peak = peak;
    history.start = start;
    history.end = end;
    plim_history_print(out, &history, is_unicode);
    print_legend(out, d);
}

void plim_report_timeline(FILE *out, const struct plim_rehearsal *rehearsal, uint32_t device, bool is_unicode)
{
    const struct plim_rehearsal_card *card = &rehearsal->card[device];
    const struct plim_receipt_device *peak = &rehearsal->receipt.device[device];
    const uint64_t gone_bytes = card->reserved_bytes + card->others_bytes;
    const uint64_t usable_bytes = peak->total_bytes > gone_bytes ? peak->total_bytes - gone_bytes : 0;
    struct drawing d = { .history.oom_column = WIDTH, .start_us = first_us(rehearsal), .end_us = rehearsal->end_us };
    if (!peak->peak_bytes || d.start_us >= d.end_us)
        return;
    memset(d.phase, '.', WIDTH);
    d.history.full_bytes =
        peak->peak_bytes > usable_bytes / 3 && usable_bytes > peak->peak_bytes ? usable_bytes : peak->peak_bytes;
    d.history.peak_column = column_of(&d, card->peak_us);
    sample(rehearsal, device, &d);
    draw(out, &d, peak->peak_bytes, is_unicode);
}
