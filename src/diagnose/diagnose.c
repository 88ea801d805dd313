/* SPDX-License-Identifier: MIT */
/*
 * The scan, from bytes to findings. Each stage has its file and its struct:
 *
 *   scan/log_buffer           chunks are decoded into a buffer that slides over the log
 *   scan/patterns/prefilter   hits: positions where an anchor of a pattern may stand
 *   scan/repeats              a hit in text that was read often enough is only counted
 *   scan/hits                 the other hits, in groups that share a window
 *   scan/window_reader        a window: the text around the hits, normalised, with the matches of their patterns
 *   scan/budget, unread       what all this may take, and the lines that were left out when it took more
 *   record, findings          a match with its evidence and traceback becomes a finding, or joins one
 *
 * docs/internals/scanner.md follows one line of a log through them.
 */
#include "diagnose/diagnose.h"

#include "base/mem.h"
#include "diagnose/record.h"
#include "diagnose/unread.h"

#include <string.h>

struct plim_diagnose {
    struct plim_prefilter *prefilter;
    struct plim_log_buffer buffer;
    struct plim_repeats repeats;
    struct plim_hits hits;
    struct plim_window_reader reader;
    struct plim_recorder recorder;
    struct plim_budget budget;
    struct plim_unread unread;
    uint64_t skipped_until; /* offset: the end of the last text that needed no reading */
    bool is_over;
};

struct plim_diagnose *plim_diagnose_new(void)
{
    struct plim_diagnose *d = plim_alloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->prefilter = plim_prefilter_new();
    const bool is_good = d->prefilter && plim_log_buffer_init(&d->buffer) &&
                         plim_window_reader_init(&d->reader, &d->budget) &&
                         plim_recorder_init(&d->recorder, &d->budget);
    if (!is_good || plim_n_patterns > PLIM_MAX_PATTERNS) {
        plim_diagnose_free(d);
        return NULL;
    }
    plim_diagnose_reset(d);
    return d;
}

void plim_diagnose_free(struct plim_diagnose *d)
{
    if (!d)
        return;
    plim_prefilter_free(d->prefilter);
    plim_log_buffer_done(&d->buffer);
    plim_window_reader_done(&d->reader);
    plim_recorder_done(&d->recorder);
    plim_free(d);
}

void plim_diagnose_reset(struct plim_diagnose *d)
{
    plim_log_buffer_reset(&d->buffer);
    plim_repeats_reset(&d->repeats);
    plim_hits_clear(&d->hits);
    plim_recorder_reset(&d->recorder);
    plim_budget_reset(&d->budget);
    plim_unread_reset(&d->unread);
    d->skipped_until = 0;
    d->is_over = false;
}

/* --- hits --- */

static void close_window(struct plim_diagnose *d, bool is_end)
{
    if (d->hits.n == 0)
        return;
    plim_window_reader_read(&d->reader, d->prefilter, &d->buffer, &d->hits, is_end);
    plim_recorder_take_window(&d->recorder, &d->reader, &d->buffer, &d->hits);
    if (plim_budget_is_spent(&d->budget))
        plim_unread_add(&d->unread, plim_log_line_at(&d->buffer, d->hits.first),
                        plim_log_line_at(&d->buffer, d->hits.last));
    else
        plim_unread_close(&d->unread);
    plim_hits_clear(&d->hits);
}

/* Prefixes of loggers name programs, and a window has no prefixes: there the bytes of the log decide. */
static void see_program(struct plim_diagnose *d, const struct plim_trigger *trigger, size_t at)
{
    const struct plim_log_buffer *b = &d->buffer;
    const size_t n = strlen(trigger->anchor);
    if (plim_patterns[trigger->pattern].role == PLIM_PATTERN_ROLE_PROGRAM && at >= trigger->at &&
        b->length - (at - trigger->at) >= n && !memcmp(b->data + at - trigger->at, trigger->anchor, n))
        plim_findings_see_program(d->recorder.findings, &plim_patterns[trigger->pattern]);
}

/* Returns true when the text there is of a kind that needs no reading: the scan goes on behind it. */
static bool look_at(struct plim_diagnose *d, const struct plim_candidate *candidate)
{
    struct plim_log_buffer *b = &d->buffer;
    const size_t at = candidate->at;
    for (uint16_t i = candidate->first; i < candidate->last; i++) {
        const struct plim_trigger *trigger = &plim_triggers[i];
        if (!plim_prefilter_agrees(i, b->data, b->length, at))
            continue;
        if (plim_hits_must_close(&d->hits, b, &d->repeats, at))
            close_window(d, false);
        const bool may_read = d->hits.n > 0 || plim_budget_may_read(&d->budget, b->base + at);
        plim_repeats_look(&d->repeats, b, trigger, at, may_read);
        if (!d->repeats.is_wanted && d->hits.n == 0) {
            plim_recorder_count(&d->recorder, d->repeats.kind, b, at, plim_log_line_end(b, at, PLIM_LOG_LINE_BYTES));
            return true;
        }
        if (!may_read) {
            const uint64_t line = plim_log_line_at(b, at);
            plim_unread_add(&d->unread, line, line);
            return true;
        }
        if (d->hits.n == 0)
            plim_recorder_open_window(&d->recorder);
        plim_hits_add(&d->hits, b, &d->repeats, trigger->pattern, at);
        see_program(d, trigger, at);
    }
    return false;
}

/* --- the log --- */

/* Lines of known kinds come in heaps: those behind one need no search. */
static void skip_lines(struct plim_diagnose *d, size_t last)
{
    struct plim_log_buffer *b = &d->buffer;
    plim_log_line_at(b, b->scanned);
    while (b->scanned < last && b->data[b->scanned] == '\n') {
        const size_t start = b->scanned + 1, end = plim_log_line_end(b, start, PLIM_LOG_LINE_BYTES);
        size_t n = 0;
        const struct plim_line_kind *kind = plim_repeats_known_line(&d->repeats, b, start, end, &n);
        if (!kind || start + n > last)
            break;
        plim_log_next_line(b, start);
        plim_recorder_count(&d->recorder, kind, b, start, end);
        b->scanned = start + n;
    }
}

/* The text of the last hit needs no reading: go on behind it, and behind lines like it. */
static void skip_text(struct plim_diagnose *d, size_t end)
{
    struct plim_log_buffer *b = &d->buffer;
    const bool is_next = d->repeats.text_start == d->skipped_until + 1;
    b->scanned = (size_t)(d->repeats.text_end - b->base);
    if (is_next)
        skip_lines(d, end);
    d->skipped_until = b->base + b->scanned;
}

static void scan(struct plim_diagnose *d, bool is_end)
{
    struct plim_log_buffer *b = &d->buffer;
    const size_t end = is_end                                 ? b->length
                       : b->length > PLIM_LOG_LOOKAHEAD_BYTES ? b->length - PLIM_LOG_LOOKAHEAD_BYTES
                                                              : 0;
    struct plim_candidate candidate;
    uint32_t link = 0;
    if (is_end && b->length > b->scanned)
        plim_budget_end(&d->budget, b->base + b->scanned, b->length - b->scanned);
    while (plim_prefilter_next(d->prefilter, b->data, b->length, end, &b->scanned, &link, &candidate))
        if (look_at(d, &candidate) && b->base + b->scanned < d->repeats.text_end) {
            skip_text(d, end);
            link = 0;
        }
    close_window(d, is_end);
}

static void take(struct plim_diagnose *d, const char *data, size_t size, bool is_end)
{
    struct plim_log_buffer *b = &d->buffer;
    size_t taken = 0;
    for (;;) {
        const size_t before = b->length, n = plim_log_buffer_fill(b, data + taken, size - taken, is_end);
        taken += n;
        if (n == 0 && b->length == before && taken == size)
            break;
        if (plim_log_buffer_is_full(b)) {
            scan(d, false);
            plim_log_buffer_slide(b);
        }
    }
}

void plim_diagnose_feed(struct plim_diagnose *d, const char *data, size_t size)
{
    if (d->is_over)
        return;
    d->buffer.n_raw_bytes += size;
    take(d, data, size, false);
}

enum { LINES_OF_MESSAGE = 2 }; /* of one that is the last of its log */

static const struct plim_diagnosis *conclude(struct plim_diagnose *d)
{
    struct plim_log_buffer *b = &d->buffer;
    struct plim_diagnosis *diagnosis = plim_findings_order(d->recorder.findings);
    diagnosis->n_bytes = b->n_raw_bytes;
    diagnosis->n_steps = d->budget.spent;
    diagnosis->unread = d->unread;
    diagnosis->n_lines =
        b->length > 0 ? plim_log_line_at(b, b->length) - (b->data[b->length - 1] == '\n') : b->base_lines;
    diagnosis->context.n_unknown =
        plim_unknown_find(&d->recorder.known, b, diagnosis->context.unknown, PLIM_MAX_UNKNOWN);
    for (uint32_t i = 0; i < diagnosis->n_findings; i++)
        diagnosis->findings[i].is_last = diagnosis->findings[i].last_line + LINES_OF_MESSAGE > diagnosis->n_lines;
    return diagnosis;
}

const struct plim_diagnosis *plim_diagnose_now(struct plim_diagnose *d)
{
    if (!d->is_over) {
        scan(d, true);
        plim_log_buffer_slide(&d->buffer);
    }
    return conclude(d);
}

void plim_diagnose_forget(struct plim_diagnose *d)
{
    plim_findings_forget(d->recorder.findings, d->buffer.base + d->buffer.scanned);
}

/* A text that no program printed, such as a title or a question: short, and without a message that is known. */
static void read_said(struct plim_diagnose *d)
{
    struct plim_log_buffer *b = &d->buffer;
    if (b->base > 0 || b->length == 0 || b->length > PLIM_WINDOW_BYTES || plim_budget_is_spent(&d->budget))
        return;
    plim_window_reader_read_said(&d->reader, b, true);
    plim_recorder_take_window(&d->recorder, &d->reader, b, &d->hits);
    if (plim_findings_are_bare(d->recorder.findings)) {
        plim_window_reader_read_said(&d->reader, b, false);
        plim_recorder_open_window(&d->recorder);
        plim_recorder_take_window(&d->recorder, &d->reader, b, &d->hits);
        plim_findings_look_around(d->recorder.findings, d->reader.blank.text);
    }
    plim_findings_name_programs(d->recorder.findings, b->data, b->length);
    plim_findings_read_sizes(d->recorder.findings, b->data, b->length);
    plim_findings_read_words(d->recorder.findings, b->data, b->length);
}

const struct plim_diagnosis *plim_diagnose_end(struct plim_diagnose *d)
{
    if (!d->is_over) {
        take(d, "", 0, true);
        scan(d, true);
        read_said(d);
        d->is_over = true;
    }
    return conclude(d);
}

void plim_diagnose_exit_status(struct plim_diagnose *d, int exit_status)
{
    plim_diagnose_end(d);
    plim_findings_exit_status(d->recorder.findings, exit_status);
}
