/* SPDX-License-Identifier: MIT */
/*
 * The scanner. A buffer slides over the decoded log. The prefilter names places where an anchor may stand; places that
 * are near each other share a window, in which the patterns behind these anchors are run. Lines that repeat themselves
 * are counted (seen.h). What lies before a window stays in the buffer long enough for a traceback.
 */
#include "diagnose/diagnose.h"

#include "base/mem.h"
#include "base/text.h"
#include "diagnose/findings.h"
#include "diagnose/scan/decode.h"
#include "diagnose/scan/frames.h"
#include "diagnose/scan/line_cache.h"
#include "diagnose/scan/matches.h"
#include "diagnose/scan/prefilter.h"
#include "diagnose/scan/text_kind.h"
#include "diagnose/scan/window.h"

#include <string.h>

enum {
    HISTORY = 64 << 10,
    BLOCK = 256 << 10,
    CORE = 4 << 10,   /* places as near as this share a window */
    NEAR = 768,       /* of a window without a finding, before and after */
    BEHIND = 3 << 10, /* of a window, before its first place */
    AHEAD = 5 << 10,  /* and after its last */
    LOOKAHEAD = 16 << 10,
    TRACEBACK = PLIM_WINDOW_BYTES - 1024,
    LINE_BEHIND = 256, /* a line's kind is told by all of it when it begins so near before a place ... */
    LINE_BYTES = 512,  /* ... and by no more than this */
    PIECE_BEHIND = 32, /* of longer ones, by what is so near */
    PIECE_BYTES = 192,
    NEAR_BYTES = 48, /* of a place, from its anchor on */
    MAX_KINDS = 64,  /* of lines with a pattern, then of what is near it */
    LONG_LINE = 4096,
    ANCHOR = 80, /* of an anchor, before a match */
    MAX_PER_PATTERN = 8,
    MAX_PATTERNS = 2048,
    MAX_PLACES = 256,      /* of one window that are remembered */
    EVIDENCE_BEFORE = 120, /* characters of a long line that are shown before what was found */
};

/* Where an anchor stands, and the kind of line that it is in. */
struct place {
    uint64_t offset, line_start;
    struct plim_line_kind *line;
    uint16_t pattern;
};

struct plim_diagnose {
    struct plim_prefilter *prefilter;
    struct plim_matcher *matcher;
    struct plim_findings *findings;
    struct plim_text_kinds *text_kinds;

    char *data; /* HISTORY + BLOCK, and what may be read behind it */

    /* what follows is of one log (plim_diagnose_reset) */
    size_t length;
    struct plim_decoder decoder;
    size_t scanned;         /* positions before it have been looked at */
    uint64_t base;          /* offset of data[0] in the decoded log */
    uint64_t base_lines;    /* line ends before data[0] */
    size_t counted;         /* up to here ... */
    uint64_t counted_lines; /* ... there are so many line ends in data */
    uint64_t n_raw_bytes;

    /* the window that is being collected */
    struct place places[MAX_PLACES];
    uint64_t wanted[MAX_PATTERNS / 64];
    size_t first, last;
    /* the text around the last place */
    uint64_t line_start, line_end;
    struct plim_line_kind *line;
    uint64_t skipped_until;  /* the end of the last text that needed no reading */
    uint64_t counted_before; /* the same when the window was opened */
    uint64_t counted_until;  /* messages before it are in the counts of findings */

    uint64_t last_match[MAX_PATTERNS]; /* offset + 1 of each pattern's last match */
    uint16_t n_kinds[MAX_PATTERNS];    /* of the text around its places */
    struct plim_window blank, joined;
    struct plim_matches matches;
    struct plim_match more_matches[MAX_PER_PATTERN];
    struct plim_frame frames[PLIM_MAX_FRAMES];
    struct plim_line_cache seen;
    struct plim_line_kind groups[MAX_PATTERNS]; /* all kinds of text with a pattern */
    uint32_t n_places;
    bool is_over, has_window, has_finding, is_line_wanted, may_have_frames;
};

struct plim_diagnose *plim_diagnose_new(void)
{
    struct plim_diagnose *d = plim_alloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->data = plim_alloc_unset(HISTORY + BLOCK + PLIM_LINE_CACHE_READ_AHEAD, 1);
    d->prefilter = plim_prefilter_new();
    d->matcher = plim_matcher_new();
    d->findings = plim_findings_new();
    d->text_kinds = plim_text_kinds_new();
    if (!d->data || !d->prefilter || !d->matcher || !d->findings || !d->text_kinds || plim_n_patterns > MAX_PATTERNS) {
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
    plim_free(d->data);
    plim_prefilter_free(d->prefilter);
    plim_matcher_free(d->matcher);
    plim_text_kinds_free(d->text_kinds);
    plim_findings_free(d->findings);
    plim_free(d);
}

void plim_diagnose_reset(struct plim_diagnose *d)
{
    memset((char *)d + offsetof(struct plim_diagnose, length), 0, sizeof *d - offsetof(struct plim_diagnose, length));
    plim_decoder_init(&d->decoder);
    for (uint32_t i = 0; i < MAX_PATTERNS; i++)
        d->groups[i] = (struct plim_line_kind){ .group = &d->groups[i], .found_at = UINT64_MAX, .finding = -1 };
    plim_findings_reset(d->findings);
}

/* --- lines --- */

static uint64_t count_lines(const char *data, size_t n)
{
    uint64_t lines = 0;
    while (n > 0) { /* bytes in a byte: a loop that vectors are good at */
        const size_t part = n < 128 ? n : 128;
        unsigned char sum = 0;
        for (size_t i = 0; i < part; i++)
            sum = (unsigned char)(sum + (data[i] == '\n'));
        lines += sum;
        data += part;
        n -= part;
    }
    return lines;
}

static uint64_t line_at(struct plim_diagnose *d, size_t at)
{
    if (at >= d->counted)
        d->counted_lines += count_lines(d->data + d->counted, at - d->counted);
    else
        d->counted_lines -= count_lines(d->data + at, d->counted - at);
    d->counted = at;
    return d->base_lines + d->counted_lines + 1;
}

static size_t line_start(const struct plim_diagnose *d, size_t at, size_t most)
{
    const size_t first = at > most ? at - most : 0;
    const char *found = memrchr(d->data + first, '\n', at - first);
    return found ? (size_t)(found - d->data) + 1 : first;
}

static size_t line_end(const struct plim_diagnose *d, size_t at, size_t most)
{
    const size_t last = d->length - at > most ? at + most : d->length;
    const char *found = memchr(d->data + at, '\n', last - at);
    return found ? (size_t)(found - d->data) : last;
}

/* --- a window --- */

static void show_line(struct plim_diagnose *d, size_t at, struct plim_evidence *ret_evidence)
{
    size_t start = line_start(d, at, EVIDENCE_BEFORE);
    size_t n = line_end(d, at, PLIM_EVIDENCE_BYTES) - start;
    ret_evidence->line = line_at(d, at);
    if (n > PLIM_EVIDENCE_BYTES - 1)
        n = PLIM_EVIDENCE_BYTES - 1;
    memcpy(ret_evidence->text, d->data + start, n);
    ret_evidence->text[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (ret_evidence->text[i] == '\0' || ret_evidence->text[i] == '\t' || ret_evidence->text[i] == '\r')
            ret_evidence->text[i] = ' ';
    while (n > 0 && ret_evidence->text[n - 1] == ' ')
        ret_evidence->text[--n] = '\0';
    plim_text_clean(ret_evidence->text);
}

static void run_pattern(struct plim_diagnose *d, uint16_t pattern, bool is_broken, bool is_end)
{
    struct plim_matches *m = &d->matches;
    const uint32_t room = PLIM_MAX_MATCHES - m->n;
    m->n += plim_matcher_run(d->matcher, &d->blank, pattern, is_end, m->list + m->n,
                             room < MAX_PER_PATTERN ? room : MAX_PER_PATTERN);
    if (!is_broken || plim_patterns[pattern].is_general) /* which goes by words */
        return;
    const uint32_t n = plim_matcher_run(d->matcher, &d->joined, pattern, is_end, d->more_matches, MAX_PER_PATTERN);
    for (uint32_t i = 0; i < n; i++)
        plim_matches_add_joined(m, &d->more_matches[i]);
}

/* Those that are wanted; the general ones, or the others. */
static void run_patterns(struct plim_diagnose *d, bool is_general, bool is_broken, bool is_end)
{
    for (uint32_t i = 0; i < MAX_PATTERNS / 64; i++)
        for (uint64_t left = d->wanted[i]; left; left &= left - 1) {
            const uint16_t pattern = (uint16_t)(64 * i + (uint32_t)__builtin_ctzll(left));
            if (plim_patterns[pattern].is_general == is_general)
                run_pattern(d, pattern, is_broken, is_end);
        }
}

/* Text like that around the match's anchor is this finding. */
static void remember(struct plim_diagnose *d, uint64_t start, uint64_t end, uint16_t pattern, int finding)
{
    for (uint32_t i = 0; i < d->n_places; i++) {
        const struct place *place = &d->places[i];
        if (place->pattern == pattern && place->offset >= start && place->offset < end &&
            place->line->found_at != place->line_start) { /* the first of a line is what it counts for */
            place->line->finding = finding;
            place->line->found_at = place->line_start;
        }
    }
}

/* Frames of Python; "[core.py:611]" before the lines of a log is none. */
static bool shows_frames(const char *text, size_t n)
{
    const char *const end = text + n;
    if (memmem(text, n, "File ", 5))
        return true;
    for (const char *p = text; (p = memmem(p, (size_t)(end - p), ".py", 3));) {
        p += 3;
        if (p == end || *p != ':')
            return true;
        do
            p++;
        while (p < end && *p >= '0' && *p <= '9');
        if (p == end || *p != ']')
            return true;
    }
    return false;
}

static uint32_t read_frames(struct plim_diagnose *d, size_t first, size_t end)
{
    if (!d->may_have_frames)
        return 0;
    plim_window_build(&d->joined, d->data + first, end - first, PLIM_JOIN_BLANK);
    return plim_frames_read(&d->joined, d->frames);
}

/*
 * Native code and error reports print what happened first and the traceback right behind it; debuggers do so too, and
 * turn its order round. Only the first traceback belongs to the message.
 */
static uint32_t read_frames_behind(struct plim_diagnose *d, size_t at, size_t behind)
{
    static const char head[] = "Traceback (most recent call last", turned[] = "Exception has occurred";
    const size_t from = behind < d->length ? line_end(d, behind, LONG_LINE) : d->length;
    const size_t near = d->length - from < AHEAD ? d->length - from : AHEAD;
    const char *text = d->data + from, *first = memmem(text, near < LONG_LINE / 4 ? near : LONG_LINE / 4, "File \"", 6);
    if (!first)
        return 0;
    const char *next = memmem(first, near - (size_t)(first - text), head, sizeof head - 1);
    const uint32_t n = read_frames(d, from, next ? (size_t)(next - d->data) : from + near);
    const size_t before = line_start(d, at, EVIDENCE_BEFORE);
    const size_t start = before > EVIDENCE_BEFORE ? before - EVIDENCE_BEFORE : 0;
    if (memmem(d->data + start, at - start, turned, sizeof turned - 1))
        for (uint32_t i = 0; i < n / 2; i++) {
            const struct plim_frame frame = d->frames[i];
            d->frames[i] = d->frames[n - 1 - i];
            d->frames[n - 1 - i] = frame;
        }
    return n;
}

/*
 * Words without a figure of memory can be those of a page or a program that speaks of failures. A message with figures
 * is one, wherever it stands.
 */
static bool is_told(struct plim_diagnose *d, size_t window_start, const struct plim_match *m)
{
    if (m->pattern->role != PLIM_PATTERN_ROLE_FAILURE && m->pattern->role != PLIM_PATTERN_ROLE_CONSEQUENCE)
        return false;
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (plim_number_kind((enum plim_number)i) == PLIM_NUMBER_BYTES && m->numbers.value[i] != PLIM_UNKNOWN)
            return false;
    return plim_text_kind_at(d->text_kinds, &d->blank, d->data + window_start, m->start, m->end) != PLIM_TEXT_KIND_LOG;
}

static void sight(struct plim_diagnose *d, size_t window_start, const struct plim_match *m)
{
    const size_t at = window_start + m->start;
    const uint16_t pattern = (uint16_t)(m->pattern - plim_patterns);
    struct plim_observation sighting = { .match = m, .offset = d->base + at };
    if (sighting.offset < d->last_match[pattern])
        return; /* the window before this one has had it */
    if (is_told(d, window_start, m))
        return;
    d->last_match[pattern] = sighting.offset + 1;
    if (m->is_dropped)
        return;
    sighting.is_counted = sighting.offset < d->counted_before;
    if (m->pattern->role < PLIM_PATTERN_ROLE_NEIGHBOUR) {
        sighting.line = line_at(d, at);
        for (uint32_t i = 0; i < m->n_hits; i++) {
            struct plim_evidence *evidence = &sighting.evidence[sighting.n_evidence];
            show_line(d, window_start + m->hits[i], evidence);
            if (evidence->text[0])
                sighting.n_evidence++;
        }
    }
    if (plim_findings_wants_frames(d->findings, m->pattern)) {
        sighting.texts[0] = d->blank.text;
        const size_t first = line_start(d, at > TRACEBACK ? at - TRACEBACK : 0, TRACEBACK);
        sighting.frames = d->frames;
        sighting.n_frames = read_frames(d, first, at);
        if (!sighting.n_frames)
            sighting.n_frames = read_frames_behind(d, at, window_start + m->end);
        if (sighting.n_frames)
            sighting.texts[1] = d->joined.text;
    }
    const int finding = plim_findings_add(d->findings, &sighting);
    if (finding >= 0) {
        const uint64_t end = d->base + line_end(d, window_start + m->end, LONG_LINE);
        d->counted_until = end > d->counted_until ? end : d->counted_until;
        remember(d, sighting.offset, d->base + window_start + m->end, pattern, finding);
    }
}

static void want(struct plim_diagnose *d, uint16_t pattern) { d->wanted[pattern / 64] |= (uint64_t)1 << pattern % 64; }

/* A failure wants the neighbours before it, also those that were passed over. */
static void want_neighbours(struct plim_diagnose *d, size_t start, size_t end)
{
    struct plim_candidate candidate;
    uint32_t link = 0;
    while (plim_prefilter_next(d->prefilter, d->data, d->length, end, &start, &link, &candidate))
        for (uint16_t i = candidate.first; i < candidate.last; i++) {
            const enum plim_pattern_role role = plim_patterns[plim_triggers[i].pattern].role;
            if ((role == PLIM_PATTERN_ROLE_NEIGHBOUR || role == PLIM_PATTERN_ROLE_SERIES) &&
                plim_prefilter_agrees(i, d->data, d->length, candidate.at))
                want(d, plim_triggers[i].pattern);
        }
}

static void close_window(struct plim_diagnose *d, bool is_end)
{
    if (!d->has_window)
        return;
    d->has_window = false;
    const size_t behind = d->has_finding ? BEHIND : NEAR, ahead = d->has_finding ? AHEAD : NEAR;
    const size_t start = line_start(d, d->first > behind ? d->first - behind : 0, behind / 2);
    const size_t end = d->length - d->last > ahead ? d->last + ahead : d->length;
    const size_t size = end - start < PLIM_WINDOW_BYTES ? end - start : PLIM_WINDOW_BYTES;
    const size_t before = start > 2 * TRACEBACK ? start - 2 * TRACEBACK : 0; /* where tracebacks can stand */
    const size_t after = d->length - start - size > AHEAD ? start + size + AHEAD : d->length;
    const bool is_broken = memchr(d->data + start, '\n', size) != NULL;
    const bool is_cut = end < d->length || is_end || size < end - start;
    want_neighbours(d, start, d->first);
    plim_window_build(&d->blank, d->data + start, size, PLIM_JOIN_BLANK);
    if (is_broken)
        plim_window_build(&d->joined, d->data + start, size, PLIM_JOIN_NOTHING);
    d->may_have_frames = shows_frames(d->data + before, after - before);
    d->matches.n = 0;
    run_patterns(d, false, is_broken, is_cut);
    if (d->matches.n < MAX_PER_PATTERN) { /* else it is full of messages that are known */
        plim_matcher_know(d->matcher, d->matches.list, d->matches.n);
        run_patterns(d, true, is_broken, is_cut);
        plim_matcher_know(d->matcher, NULL, 0);
    }
    memset(d->wanted, 0, sizeof d->wanted);
    plim_matches_settle(&d->matches);
    for (uint32_t i = 0; i < d->matches.n; i++) /* what begins behind the last place is the next window's, in order */
        if (start + d->matches.sorted[i]->start <= d->last + ANCHOR)
            sight(d, start, d->matches.sorted[i]);
    d->n_places = 0;
}

/* --- places --- */

/* Text from d->data[start] on, up to `end` and no more than `most` bytes but figures. */
static uint64_t hash_text(struct plim_diagnose *d, size_t start, size_t end, size_t most)
{
    size_t n = 0;
    const uint64_t hash = plim_line_cache_hash(d->data + start, end - start, most, &n);
    d->line_start = d->base + start;
    d->line_end = d->base + start + n;
    return hash;
}

/*
 * What is known of the text around a place: of its line, of a piece of a long one. When a pattern stands in too many
 * kinds of them, of the text close to it; at last of all texts with it. So endless variety comes to an end, too.
 */
static struct plim_line_kind *kind_of(struct plim_diagnose *d, const struct plim_trigger *trigger, size_t at)
{
    const uint16_t pattern = trigger->pattern;
    const size_t line = line_start(d, at, LINE_BEHIND), end = line_end(d, at, 2 * LINE_BYTES);
    const bool is_whole = line == 0 || d->data[line - 1] == '\n';
    const size_t piece = at > line + PIECE_BEHIND ? at - PIECE_BEHIND : line,
                 near = at > line + trigger->at ? at - trigger->at : line;
    uint64_t hash = hash_text(d, is_whole ? line : piece, end, is_whole ? LINE_BYTES : PIECE_BYTES);
    struct plim_line_kind *kind = plim_line_cache_find(&d->seen, hash);
    uint16_t most = MAX_KINDS;
    if (!kind && d->n_kinds[pattern] >= most) {
        hash = hash_text(d, near, end, NEAR_BYTES);
        kind = plim_line_cache_find(&d->seen, hash);
        most = 2 * MAX_KINDS;
    }
    if (kind)
        return kind;
    if (d->n_kinds[pattern] >= most)
        return &d->groups[pattern];
    d->n_kinds[pattern]++;
    return plim_line_cache_add(&d->seen, hash, &d->groups[pattern]);
}

/* The same as of the place before when that text holds it. */
static void look_at_kind(struct plim_diagnose *d, const struct plim_trigger *trigger, size_t at)
{
    const uint64_t offset = d->base + at;
    if (d->line && offset >= d->line_start && offset < d->line_end)
        return;
    d->line = kind_of(d, trigger, at);
    d->is_line_wanted = plim_line_cache_wants(d->line, offset);
    if (d->is_line_wanted)
        plim_line_cache_read(d->line, offset);
}

/* Text of a kind that was read often enough. */
static void count_text(struct plim_diagnose *d, const struct plim_line_kind *line, size_t at, size_t end)
{
    if (line->finding >= 0 && d->base + at >= d->counted_until) {
        d->counted_until = d->base + end;
        plim_findings_count(d->findings, line->finding, line_at(d, at));
    }
}

/* Prefixes of loggers name programs, and the window has no prefixes: there the bytes of the log decide. */
static void see_program(struct plim_diagnose *d, const struct plim_trigger *trigger, size_t at)
{
    const size_t n = strlen(trigger->anchor);
    if (plim_patterns[trigger->pattern].role == PLIM_PATTERN_ROLE_PROGRAM && at >= trigger->at &&
        d->length - (at - trigger->at) >= n && !memcmp(d->data + at - trigger->at, trigger->anchor, n))
        plim_findings_see_program(d->findings, &plim_patterns[trigger->pattern]);
}

static void take_place(struct plim_diagnose *d, uint16_t pattern, size_t at)
{
    if (!d->has_window) {
        d->has_window = true;
        d->first = at;
        d->has_finding = false;
        d->counted_before = d->counted_until;
    }
    d->last = at;
    d->has_finding = d->has_finding || plim_patterns[pattern].role < PLIM_PATTERN_ROLE_NEIGHBOUR;
    if (d->n_places < MAX_PLACES) /* always so: look_at_place() closes a full window */
        d->places[d->n_places++] = (struct place){ d->base + at, d->line_start, d->line, pattern };
    want(d, pattern);
}

/* Returns true when the text there is of a kind that needs no reading: the scan goes on behind it. */
static bool look_at_place(struct plim_diagnose *d, const struct plim_candidate *candidate)
{
    for (uint16_t i = candidate->first; i < candidate->last; i++) {
        if (!plim_prefilter_agrees(i, d->data, d->length, candidate->at))
            continue;
        const bool is_far = candidate->at >= d->first + CORE && d->base + candidate->at >= d->line_end;
        if (d->has_window && (is_far || d->n_places == MAX_PLACES)) /* not in the middle of a line, if possible */
            close_window(d, false);
        look_at_kind(d, &plim_triggers[i], candidate->at);
        if (!d->is_line_wanted && !d->has_window) {
            count_text(d, d->line, candidate->at, line_end(d, candidate->at, LONG_LINE));
            return true;
        }
        take_place(d, plim_triggers[i].pattern, candidate->at);
        see_program(d, &plim_triggers[i], candidate->at);
    }
    return false;
}

/* --- the log --- */

/* Lines of known kinds come in heaps: those behind one need no search. */
static void skip_lines(struct plim_diagnose *d, size_t last)
{
    line_at(d, d->scanned);
    while (d->scanned < last && d->data[d->scanned] == '\n') {
        const size_t start = d->scanned + 1, end = line_end(d, start, LONG_LINE);
        const size_t most = end - start < 2 * LINE_BYTES ? end : start + 2 * LINE_BYTES;
        size_t n = 0;
        const uint64_t hash = plim_line_cache_hash(d->data + start, most - start, LINE_BYTES, &n);
        const struct plim_line_kind *line = plim_line_cache_find(&d->seen, hash);
        if (!line || start + n > last || plim_line_cache_wants(line, d->base + start))
            break;
        d->counted = start; /* line_at() need not look */
        d->counted_lines++;
        count_text(d, line, start, end);
        d->scanned = start + n;
    }
}

static void scan(struct plim_diagnose *d, bool is_end)
{
    const size_t end = is_end ? d->length : d->length > LOOKAHEAD ? d->length - LOOKAHEAD : 0;
    struct plim_candidate candidate;
    uint32_t link = 0;
    while (plim_prefilter_next(d->prefilter, d->data, d->length, end, &d->scanned, &link, &candidate))
        if (look_at_place(d, &candidate) && d->base + d->scanned < d->line_end) {
            const bool is_next = d->line_start == d->skipped_until + 1;
            d->scanned = (size_t)(d->line_end - d->base);
            link = 0;
            if (is_next)
                skip_lines(d, end);
            d->skipped_until = d->base + d->scanned;
        }
    close_window(d, is_end);
}

/* Let go of what nobody will look at any more. */
static void slide(struct plim_diagnose *d)
{
    if (d->scanned <= HISTORY - LOOKAHEAD)
        return;
    const size_t gone = d->scanned - (HISTORY - LOOKAHEAD);
    line_at(d, gone);
    d->base_lines += d->counted_lines;
    d->counted = 0;
    d->counted_lines = 0;
    memmove(d->data, d->data + gone, d->length - gone);
    d->length -= gone;
    d->scanned -= gone;
    d->base += gone;
}

static void take(struct plim_diagnose *d, const char *data, size_t size, bool is_end)
{
    size_t taken = 0;
    for (;;) {
        const size_t before = d->length;
        const size_t n =
            plim_decode(&d->decoder, data + taken, size - taken, is_end, d->data, HISTORY + BLOCK, &d->length);
        taken += n;
        if (n == 0 && d->length == before && taken == size)
            break;
        if (HISTORY + BLOCK - d->length < 2 * PLIM_DECODE_HEAD_BYTES) {
            scan(d, false);
            slide(d);
        }
    }
}

void plim_diagnose_feed(struct plim_diagnose *d, const char *data, size_t size)
{
    if (d->is_over)
        return;
    d->n_raw_bytes += size;
    take(d, data, size, false);
}

static const struct plim_diagnosis *conclude(struct plim_diagnose *d)
{
    struct plim_diagnosis *diagnosis = plim_findings_order(d->findings);
    diagnosis->n_bytes = d->n_raw_bytes;
    diagnosis->n_lines = d->length > 0 ? line_at(d, d->length) - (d->data[d->length - 1] == '\n') : d->base_lines;
    return diagnosis;
}

const struct plim_diagnosis *plim_diagnose_now(struct plim_diagnose *d)
{
    if (!d->is_over) {
        scan(d, true);
        slide(d);
    }
    return conclude(d);
}

void plim_diagnose_forget(struct plim_diagnose *d) { plim_findings_forget(d->findings, d->base + d->scanned); }

const struct plim_diagnosis *plim_diagnose_end(struct plim_diagnose *d)
{
    if (!d->is_over) {
        take(d, "", 0, true);
        scan(d, true);
        d->is_over = true;
    }
    return conclude(d);
}

void plim_diagnose_exit_status(struct plim_diagnose *d, int exit_status)
{
    plim_diagnose_end(d);
    plim_findings_exit_status(d->findings, exit_status);
}
