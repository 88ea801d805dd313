/* SPDX-License-Identifier: MIT */
#include "diagnose/record.h"

#include "diagnose/printed.h"
#include "diagnose/scan/stamp.h"

#include <string.h>

enum {
    STEPS_OF_MATCH = 1000,
    STEPS_OF_PROSE = 20000, /* its rules around a match */
    STEPS_OF_PRINTED = 20000,
    STEPS_OF_TRACEBACK = 40000, /* the window of a traceback, and the programs that it names */
};

bool plim_recorder_init(struct plim_recorder *r, struct plim_budget *budget)
{
    r->budget = budget;
    r->findings = plim_findings_new();
    r->text_kinds = plim_text_kinds_new();
    return r->findings && r->text_kinds;
}

void plim_recorder_done(struct plim_recorder *r)
{
    plim_findings_free(r->findings);
    plim_text_kinds_free(r->text_kinds);
    r->findings = NULL;
    r->text_kinds = NULL;
}

void plim_recorder_reset(struct plim_recorder *r)
{
    plim_findings_reset(r->findings);
    plim_text_kinds_listen(r->text_kinds, NULL, 0);
    memset(r->last_match, 0, sizeof r->last_match);
    r->counted_until = r->counted_before = 0;
    plim_known_lines_reset(&r->known);
}

void plim_recorder_open_window(struct plim_recorder *r) { r->counted_before = r->counted_until; }

/* A message with a figure of memory is one, wherever it stands; without one it can be a sentence about failures. */
static bool is_prose(struct plim_recorder *r, const struct plim_window_reader *reader, const struct plim_log_buffer *b,
                     const struct plim_match *m)
{
    if (m->pattern->role != PLIM_PATTERN_ROLE_FAILURE && m->pattern->role != PLIM_PATTERN_ROLE_CONSEQUENCE)
        return false;
    plim_text_kinds_listen(r->text_kinds, b->data, b->base == 0 && b->length <= PLIM_WINDOW_BYTES ? b->length : 0);
    for (int i = 0; i < PLIM_NUMBER_MAX_ && !m->pattern->is_said; i++)
        if (plim_number_kind((enum plim_number)i) == PLIM_NUMBER_BYTES && m->numbers.value[i] != PLIM_UNKNOWN)
            return false;
    plim_budget_spend(r->budget, STEPS_OF_PROSE);
    if (m->pattern->is_said)
        return !plim_text_is_statement(r->text_kinds, &reader->blank, b->data + reader->start, m->start, m->end);
    return plim_text_kind_at(r->text_kinds, &reader->blank, b->data + reader->start, m->start, m->end) !=
           PLIM_TEXT_KIND_LOG;
}

static void add_evidence(struct plim_observation *o, struct plim_log_buffer *b, size_t window_start)
{
    o->line = plim_log_line_at(b, window_start + o->match->start);
    for (uint32_t i = 0; i < o->match->n_starts; i++) {
        struct plim_evidence *evidence = &o->evidence[o->n_evidence];
        plim_log_show_line(b, window_start + o->match->starts[i], evidence);
        if (evidence->text[0])
            o->n_evidence++;
    }
}

static void add_traceback(struct plim_recorder *r, struct plim_observation *o, const struct plim_window_reader *reader,
                          const struct plim_log_buffer *b)
{
    struct plim_traceback *t = &r->traceback;
    plim_traceback_read(t, b, reader->start + o->match->start, reader->start + o->match->end);
    o->frames = t->frames;
    o->n_frames = t->n_frames;
    o->texts[0] = reader->blank.text;
    o->texts[1] = t->n_frames ? t->window.text : NULL;
}

/* What the program printed before the failure that the log is about. */
static void read_printed(struct plim_recorder *r, const struct plim_log_buffer *b, int finding,
                         const struct plim_observation *o, size_t at)
{
    const size_t first =
        plim_log_line_start(b, at > PLIM_PRINTED_BYTES ? at - PLIM_PRINTED_BYTES : 0, PLIM_LOG_LINE_BYTES);
    struct plim_printed *printed = plim_findings_printed_of(r->findings, finding, o->offset);
    if (!printed)
        return;
    plim_budget_spend(r->budget, STEPS_OF_PRINTED);
    plim_printed_read(b->data + first, at - first, printed);
}

static void record_match(struct plim_recorder *r, const struct plim_window_reader *reader, struct plim_log_buffer *b,
                         struct plim_hits *hits, const struct plim_match *m)
{
    const uint16_t pattern = (uint16_t)(m->pattern - plim_patterns);
    const size_t end = reader->start + m->end;
    struct plim_observation o = { .match = m, .offset = b->base + reader->start + m->start };
    if (o.offset < r->last_match[pattern]) /* the window before this one had it */
        return;
    if (is_prose(r, reader, b, m))
        return;
    r->last_match[pattern] = o.offset + 1;
    if (m->pattern->role < PLIM_PATTERN_ROLE_NEIGHBOUR)
        plim_known_lines_add(&r->known, b, reader->start + m->start, end);
    /* What is no statement cannot say more than what is one. */
    if (m->dropped_by && (!m->pattern->is_said || !is_prose(r, reader, b, m->dropped_by)))
        return;
    o.is_counted = o.offset < r->counted_before;
    o.is_bare = plim_text_is_bare(r->text_kinds, &reader->blank, m->start, m->end);
    if (m->pattern->role == PLIM_PATTERN_ROLE_SERIES) {
        const size_t start = reader->start + m->start, line = plim_log_line_start(b, start, PLIM_LOG_LINE_BYTES);
        o.stamp = plim_stamp_of_line(b->data + line, b->length - line);
    }
    if (m->pattern->role < PLIM_PATTERN_ROLE_NEIGHBOUR)
        add_evidence(&o, b, reader->start);
    if (plim_findings_wants_frames(r->findings, m->pattern)) {
        plim_budget_spend(r->budget, STEPS_OF_TRACEBACK);
        add_traceback(r, &o, reader, b);
    }
    const int finding = plim_findings_add(r->findings, &o);
    if (finding < 0)
        return;
    if (!m->pattern->is_said)
        read_printed(r, b, finding, &o, reader->start + m->start);
    const uint64_t line_end = b->base + plim_log_line_end(b, end, PLIM_LOG_LINE_BYTES);
    r->counted_until = line_end > r->counted_until ? line_end : r->counted_until;
    plim_hits_remember(hits, o.offset, b->base + end, pattern, finding);
}

void plim_recorder_take_window(struct plim_recorder *r, const struct plim_window_reader *reader,
                               struct plim_log_buffer *b, struct plim_hits *hits)
{
    plim_traceback_open_window(&r->traceback, reader->start, reader->end);
    for (uint32_t i = 0; i < reader->n_matches; i++) {
        plim_budget_spend(r->budget, STEPS_OF_MATCH);
        record_match(r, reader, b, hits, reader->matches.sorted[i]);
    }
}

void plim_recorder_count(struct plim_recorder *r, const struct plim_line_kind *kind, struct plim_log_buffer *b,
                         size_t start, size_t end)
{
    if (kind->finding >= 0 && b->base + start >= r->counted_until) {
        r->counted_until = b->base + end;
        plim_known_lines_add(&r->known, b, start, end);
        plim_findings_count(r->findings, kind->finding, plim_log_line_at(b, start));
    }
}
