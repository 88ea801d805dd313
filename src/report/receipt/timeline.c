/* SPDX-License-Identifier: MIT */
/* Each column is a slice of the time and shows the most that was held in it. */
#include "report/receipt/timeline.h"

#include "base/units.h"
#include "report/print.h"

#include <string.h>

enum { WIDTH = 64, HEIGHT = 6, PARTS = 8, LABEL = 11 };

struct drawing {
    uint64_t bytes[WIDTH];
    char phase[WIDTH + 1];
    const char *name[WIDTH]; /* of the phase */
    uint64_t full_bytes, start_us, end_us;
    unsigned peak_column;
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
            d->bytes[at] = held > d->bytes[at] ? held : d->bytes[at];
            d->bytes[at + 1] = at + 1 == column && is_at_start ? 0 : held;
        }
        held = point->bytes;
        d->bytes[at] = held > d->bytes[at] ? held : d->bytes[at];
        mark_phase(point->phase, at, d);
    }
    for (; at < WIDTH; at++)
        d->bytes[at] = held > d->bytes[at] ? held : d->bytes[at];
    if (peak_bytes > d->bytes[d->peak_column]) /* of points that are close together one is recorded */
        d->bytes[d->peak_column] = peak_bytes;
}

static unsigned level_of(const struct drawing *d, unsigned column)
{
    const unsigned most = HEIGHT * PARTS;
    const unsigned level = (unsigned)((double)d->bytes[column] * most / (double)d->full_bytes + 0.5);
    return d->bytes[column] && !level ? 1 : level > most ? most : level;
}

static void print_cell(FILE *out, const struct drawing *d, unsigned row, unsigned column, bool is_unicode)
{
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const char *const ascii[] = { " ", ".", ".", ".", ":", ":", ":", "#", "#" };
    const unsigned below = (HEIGHT - 1 - row) * PARTS;
    const unsigned level = level_of(d, column);
    const unsigned part = level <= below ? 0 : level - below > PARTS ? PARTS : level - below;
    plim_print(out, "%s", (is_unicode ? blocks : ascii)[part]);
}

/* The names of the letters, each once. */
static void print_legend(FILE *out, const struct drawing *d)
{
    bool is_printed[128] = { false };
    if (strspn(d->phase, ".") == WIDTH)
        return;
    plim_print(out, "%*s  %s\n%*s", LABEL, "", d->phase, LABEL, "");
    for (unsigned i = 0; i < WIDTH; i++)
        if (d->name[i] && !is_printed[(unsigned char)d->phase[i] % 128]) {
            is_printed[(unsigned char)d->phase[i] % 128] = true;
            plim_print(out, "  %c %s", d->phase[i], d->name[i]);
        }
    plim_print(out, "\n");
}

static void draw(FILE *out, const struct drawing *d, uint64_t peak_bytes, bool is_unicode)
{
    char size[PLIM_SIZE_TEXT], text[32], start[32];
    for (unsigned row = 0; row < HEIGHT; row++) {
        plim_print(out, "%*s %s", LABEL, row == 0 ? plim_size_text(size, d->full_bytes) : "", is_unicode ? "│" : "|");
        unsigned n = WIDTH;
        while (n > 0 && level_of(d, n - 1) <= (HEIGHT - 1 - row) * PARTS)
            n--;
        for (unsigned column = 0; column < n; column++)
            print_cell(out, d, row, column, is_unicode);
        plim_print(out, "\n");
    }
    plim_print(out, "%*s %s", LABEL, "0", is_unicode ? "└" : "+");
    for (unsigned i = 0; i < WIDTH; i++)
        plim_print(out, "%s", i == d->peak_column ? "^" : is_unicode ? "─" : "-");
    plim_print(out, "\n");
    const int n = snprintf(text, sizeof text, "peak %s", plim_size_text(size, peak_bytes));
    const int left = (int)d->peak_column + n / 2 + 1 > WIDTH ? WIDTH - n : (int)d->peak_column - n / 2;
    const int n_start = snprintf(start, sizeof start, "%.2f s", (double)d->start_us / 1e6);
    if (left > n_start)
        plim_print(out, "%*s  %s%*s%s", LABEL, "", start, left - n_start, "", text);
    else
        plim_print(out, "%*s  %*s%s", LABEL, "", left > 0 ? left : 0, "", text);
    const int rest = WIDTH - (left > 0 ? left : 0) - n;
    if (rest >= 10)
        plim_print(out, "%*.2f s", rest - 2, (double)d->end_us / 1e6);
    plim_print(out, "\n");
    print_legend(out, d);
}

void plim_report_timeline(FILE *out, const struct plim_rehearsal *rehearsal, uint32_t device, bool is_unicode)
{
    const struct plim_rehearsal_card *card = &rehearsal->card[device];
    const struct plim_receipt_device *peak = &rehearsal->receipt.device[device];
    const uint64_t gone_bytes = card->reserved_bytes + card->others_bytes;
    const uint64_t usable_bytes = peak->total_bytes > gone_bytes ? peak->total_bytes - gone_bytes : 0;
    struct drawing d = { .start_us = first_us(rehearsal), .end_us = rehearsal->end_us };
    if (!peak->peak_bytes || d.start_us >= d.end_us)
        return;
    memset(d.phase, '.', WIDTH);
    d.full_bytes =
        peak->peak_bytes > usable_bytes / 3 && usable_bytes > peak->peak_bytes ? usable_bytes : peak->peak_bytes;
    d.peak_column = column_of(&d, card->peak_us);
    sample(rehearsal, device, &d);
    draw(out, &d, peak->peak_bytes, is_unicode);
}
