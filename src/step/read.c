/* SPDX-License-Identifier: MIT */
/*
 * The reader of a step's file. Every number is checked before it is used, every array has at most as many items as the
 * rest of the file has room for, and what can be written in one way only is read in that way only.
 */
#include "step/file.h"

#include "base/limits.h"
#include "base/mem.h"
#include "source/file.h"
#include "step/coding.h"
#include "step/order.h"

#include <string.h>

struct reader {
    struct plim_cursor *cursor;
    struct plim_step *step;
    struct plim_error *reterr;
    uint64_t sum, version;
    bool is_newer; /* something is there that the first version does not have */
    int result;    /* of the first failure; then nothing is read any more */
};

static bool is_well(const struct reader *r) { return r->result == 0; }

static void refuse(struct reader *r, int code, uint64_t at, const char *what)
{
    if (is_well(r))
        r->result = plim_fail(r->reterr, code, at, "%s", what);
}

static void expect(struct reader *r, bool holds, uint64_t at, const char *what)
{
    if (!holds)
        refuse(r, PLIM_E_CORRUPT, at, what);
}

static void run_out(struct reader *r, const char *what)
{
    if (r->cursor->error)
        r->result = is_well(r) ? plim_fail_errno(r->reterr, "", "read", r->cursor->error) : r->result;
    else if (is_well(r))
        r->result = plim_fail(r->reterr, PLIM_E_TRUNCATED, r->cursor->failed_at, "the file ends within %s", what);
}

/* --- bytes and numbers --- */

static uint8_t take_byte(struct reader *r, const char *what)
{
    const unsigned char *byte;
    if (!is_well(r))
        return 0;
    if (!plim_cursor_take(r->cursor, 1, &byte)) {
        run_out(r, what);
        return 0;
    }
    r->sum = plim_step_sum(r->sum, *byte);
    return *byte;
}

static uint64_t take_number(struct reader *r, const char *what)
{
    const uint64_t at = r->cursor->at;
    uint64_t value = 0;
    for (unsigned i = 0; i < PLIM_STEP_NUMBER_BYTES; i++) {
        const uint8_t byte = take_byte(r, what);
        if (i == PLIM_STEP_NUMBER_BYTES - 1 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            expect(r, byte || i == 0, at, "a number has more bytes than it needs");
            return is_well(r) ? value : 0;
        }
    }
    expect(r, false, at, "a number has more than 64 bits");
    return 0;
}

/* A number of at most `most`. */
static uint64_t take_up_to(struct reader *r, uint64_t most, const char *what)
{
    const uint64_t at = r->cursor->at, value = take_number(r, what);
    if (is_well(r) && value > most)
        r->result = plim_fail(r->reterr, PLIM_E_CORRUPT, at, "%s is %llu, expected at most %llu", what,
                              (unsigned long long)value, (unsigned long long)most);
    return is_well(r) ? value : 0;
}

static uint64_t take_known(struct reader *r, const char *what) { return take_number(r, what) - 1; }

static int64_t take_signed(struct reader *r, const char *what)
{
    const uint64_t bits = take_number(r, what);
    const uint64_t value = bits >> 1 ^ (bits & 1 ? UINT64_MAX : 0);
    int64_t result;
    memcpy(&result, &value, sizeof result);
    return result;
}

/* An error of a fit: a number. */
static double take_real(struct reader *r, const char *what)
{
    const uint64_t at = r->cursor->at;
    uint64_t bits = 0;
    double value;
    for (unsigned i = 0; i < sizeof bits; i++)
        bits |= (uint64_t)take_byte(r, what) << 8 * i;
    memcpy(&value, &bits, sizeof value);
    expect(r, value - value == 0, at, "an error is not a number"); /* nor is the infinite one */
    return value;
}

static void take_bytes(struct reader *r, char *bytes, size_t n, const char *what)
{
    for (size_t i = 0; i < n && is_well(r); i++)
        bytes[i] = (char)take_byte(r, what);
}

/* A text into its buffer, which is zero. */
static void take_text(struct reader *r, char *buffer, size_t size, const char *what)
{
    const size_t n = take_up_to(r, size - 1, what);
    const uint64_t at = r->cursor->at;
    take_bytes(r, buffer, n, what);
    expect(r, strlen(buffer) == n, at, "a text has a NUL inside");
}

/* A number of items of which each has `least` bytes in the file or more, and room for them; NULL: refused. */
static void *take_array(struct reader *r, uint64_t limit, uint64_t least, size_t item_bytes, uint64_t *ret_n,
                        const char *what)
{
    const uint64_t at = r->cursor->at, n = take_up_to(r, limit, what);
    if (is_well(r) && least && n > plim_cursor_left(r->cursor) / least)
        r->result = plim_fail(r->reterr, PLIM_E_TRUNCATED, at, "%llu %s do not fit into the rest of the file",
                              (unsigned long long)n, what);
    if (!is_well(r))
        return NULL;
    void *array = plim_alloc(n, item_bytes);
    if (!array)
        refuse(r, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    *ret_n = array ? n : 0;
    return array;
}

/* A pillar or a phase: half a byte. */
static uint8_t kind_of(struct reader *r, unsigned bits, unsigned max, const char *what)
{
    expect(r, bits < max || bits == PLIM_STEP_UNKNOWN_KIND, r->cursor->at - 1, what);
    return (uint8_t)(bits < max ? bits : max);
}

/* --- the head --- */

static void read_magic(struct reader *r)
{
    char magic[PLIM_STEP_MAGIC_BYTES] = { 0 };
    take_bytes(r, magic, sizeof magic, "the magic bytes of a recorded step");
    if (is_well(r) && memcmp(magic, plim_step_magic, sizeof magic) != 0) {
        refuse(r, PLIM_E_UNSUPPORTED, 0, "not a recorded step");
        plim_error_hint(r->reterr, "'plimsoll rehearse --record run.step -- COMMAND' records one");
    }
    const uint64_t at = r->cursor->at, version = take_number(r, "the version");
    r->version = version;
    if (is_well(r) && (version < PLIM_STEP_FIRST_VERSION || version > PLIM_STEP_FILE_VERSION)) {
        r->result = plim_fail(r->reterr, PLIM_E_UNSUPPORTED, at, "a recorded step of version %llu, expected %d at most",
                              (unsigned long long)version, PLIM_STEP_FILE_VERSION);
        plim_error_hint(r->reterr, version ? "a newer plimsoll reads it" : "record it again");
    }
}

static uint32_t take_text_offset(struct reader *r, const char *what)
{
    return (uint32_t)take_up_to(r, r->step->text_bytes ? r->step->text_bytes - 1 : 0, what);
}

static void read_texts(struct reader *r)
{
    uint64_t n = 0;
    const uint64_t at = r->cursor->at;
    char *text = take_array(r, PLIM_MAX_STEP_TEXT_BYTES, 1, 1, &n, "bytes of text");
    r->step->text = text;
    r->step->text_bytes = (size_t)n;
    if (!text)
        return;
    take_bytes(r, text, n, "the texts");
    expect(r, !n || (!text[0] && !text[n - 1]), at, "texts begin and end with a NUL");
}

static void read_variables(struct reader *r)
{
    struct plim_step *step = r->step;
    step->n_variables = (uint32_t)take_up_to(r, PLIM_STEP_MAX_VARIABLES, "variables");
    for (uint32_t i = 0; i < step->n_variables && is_well(r); i++) {
        const uint64_t at = r->cursor->at;
        take_text(r, step->variables[i].name, sizeof step->variables[i].name, "the name of a variable");
        expect(r, plim_step_is_name(step->variables[i].name), at, "a variable's name has letters, digits and _");
        for (uint32_t k = 0; k < i; k++)
            expect(r, strcmp(step->variables[i].name, step->variables[k].name) != 0, at, "two variables have one name");
    }
}

static void read_head(struct reader *r)
{
    struct plim_step *step = r->step;
    uint64_t n = 0;
    read_magic(r);
    take_text(r, step->torch_version, sizeof step->torch_version, "the version of PyTorch");
    take_text(r, step->alloc_conf, sizeof step->alloc_conf, "the allocator's settings");
    take_text(r, step->card_name, sizeof step->card_name, "the card's name");
    step->card_bytes = take_number(r, "the card's memory");
    read_texts(r);
    step->command = take_text_offset(r, "the command's text");
    read_variables(r);
    step->sites = take_array(r, UINT32_MAX - 1, 3, sizeof *step->sites, &n, "sites");
    step->n_sites = (size_t)n;
    for (size_t i = 0; i < step->n_sites && is_well(r); i++) {
        step->sites[i].file = take_text_offset(r, "the file of a site");
        step->sites[i].function = take_text_offset(r, "the function of a site");
        step->sites[i].line = (uint32_t)take_up_to(r, UINT32_MAX, "the line of a site");
        if (r->version > PLIM_STEP_FIRST_VERSION)
            step->sites[i].loop = take_text_offset(r, "the loop of a site");
        if (step->sites[i].loop)
            step->sites[i].piece = take_number(r, "the pieces of a loop");
        r->is_newer |= step->sites[i].loop > 0;
    }
}

/* --- a shape --- */

static void read_points(struct reader *r, struct plim_step_shape *shape)
{
    const uint64_t at = r->cursor->at;
    uint64_t n = 0;
    shape->points = take_array(r, PLIM_MAX_STEP_POINTS, r->step->n_variables, sizeof *shape->points, &n, "points");
    shape->n_points = (size_t)n;
    expect(r, n > 0, at, "a shape has no point");
    for (size_t i = 0; i < shape->n_points && is_well(r); i++)
        for (uint32_t v = 0; v < r->step->n_variables; v++)
            shape->points[i].value[v] = take_number(r, "a value of a variable");
}

static void read_term(struct reader *r, struct plim_step_term *term)
{
    term->coefficient = take_signed(r, "a coefficient");
    for (uint32_t v = 0; v < r->step->n_variables && v < PLIM_STEP_MAX_VARIABLES; v++) {
        const uint64_t at = r->cursor->at;
        term->power[v] = take_byte(r, "a power");
        expect(r, term->power[v] <= PLIM_STEP_MAX_DEGREE, at, "a power is higher than the 4th");
    }
}

static void read_rounding(struct reader *r, struct plim_step_size *size)
{
    const uint64_t at = r->cursor->at;
    bool has_rounding = false;
    for (uint32_t v = 0; v < r->step->n_variables && v < PLIM_STEP_MAX_VARIABLES; v++) {
        size->rounding[v] = (uint8_t)take_up_to(r, PLIM_STEP_MAX_ROUNDING, "the rounding of a variable");
        has_rounding |= size->rounding[v] != 0;
    }
    expect(r, has_rounding, at, "a size that rounds rounds no variable");
}

/* Bounds stand behind a 0 in the place of the denominator, which follows them. */
static void read_denominator(struct reader *r, struct plim_step_size *size)
{
    const uint64_t at = r->cursor->at;
    size->denominator = (uint32_t)take_up_to(r, UINT32_MAX, "the denominator of a size");
    if (size->denominator || !is_well(r))
        return;
    size->least_bytes = take_number(r, "the bounds of a size");
    size->multiple_bytes = take_number(r, "the bounds of a size");
    size->most_bytes = take_number(r, "the bounds of a size");
    if (r->version > PLIM_STEP_FIRST_VERSION)
        size->is_rest = take_up_to(r, 1, "whether a size is that of the last piece");
    r->is_newer |= size->is_rest;
    expect(r, size->least_bytes || size->multiple_bytes || size->most_bytes, at,
           "a size has bounds that bound nothing");
    expect(r, size->most_bytes || !size->is_rest, at, "pieces have no size");
    const uint64_t denominator_at = r->cursor->at;
    size->denominator = (uint32_t)take_up_to(r, UINT32_MAX, "the denominator of a size");
    expect(r, size->denominator > 0, denominator_at, "the denominator of a size is 0");
}

static void read_sizes(struct reader *r, struct plim_step_shape *shape)
{
    uint64_t n = 0, n_terms = 0;
    shape->sizes = take_array(r, UINT32_MAX, 2, sizeof *shape->sizes, &n, "sizes");
    shape->n_sizes = (size_t)n;
    shape->terms = take_array(r, UINT32_MAX, 1 + r->step->n_variables, sizeof *shape->terms, &n_terms, "terms");
    shape->n_terms = (size_t)n_terms;
    uint32_t next = 0;
    for (size_t i = 0; i < shape->n_sizes && is_well(r); i++) {
        struct plim_step_size *size = &shape->sizes[i];
        const uint64_t most = (n_terms - next) * PLIM_STEP_SIZE_FLAGS + PLIM_STEP_SIZE_FLAGS - 1;
        const uint64_t bits = take_up_to(r, most, "four times the terms of a size");
        size->first_term = next;
        size->n_terms = (uint32_t)(bits / PLIM_STEP_SIZE_FLAGS);
        size->is_exact = bits & PLIM_STEP_IS_EXACT;
        if (bits & PLIM_STEP_HAS_ROUNDING)
            read_rounding(r, size);
        read_denominator(r, size);
        for (uint32_t k = 0; k < size->n_terms && is_well(r); k++)
            read_term(r, &shape->terms[next + k]);
        next += size->n_terms;
    }
    expect(r, next == n_terms, r->cursor->at, "the sizes have fewer terms than the shape");
}

/* --- a track --- */

static void read_allocations(struct reader *r, const struct plim_step_shape *shape, struct plim_step_track *track)
{
    uint64_t n = 0;
    track->allocations = take_array(r, UINT32_MAX - 1, 3, sizeof *track->allocations, &n, "allocations");
    track->n_allocations = (uint32_t)n;
    expect(r, !n || shape->n_sizes, r->cursor->at, "there are allocations, but no sizes");
    for (uint32_t i = 0; i < track->n_allocations && is_well(r); i++) {
        struct plim_step_allocation *allocation = &track->allocations[i];
        allocation->size = (uint32_t)take_up_to(r, shape->n_sizes - 1, "the size of an allocation");
        allocation->site = (uint32_t)take_up_to(r, r->step->n_sites, "the site of an allocation") - 1;
        const uint8_t kinds = take_byte(r, "an allocation");
        allocation->pillar = kind_of(r, kinds >> 4, PLIM_PILLAR_MAX_, "a pillar that this version does not have");
        allocation->phase = kind_of(r, kinds & 15, PLIM_PHASE_MAX_, "a phase that this version does not have");
    }
}

/* The stream or the pool of an event that is not that of the one before. */
static uint16_t take_other(struct reader *r, unsigned n, uint16_t before, const char *what)
{
    const uint64_t at = r->cursor->at;
    const uint16_t other = (uint16_t)take_up_to(r, n - 1, what);
    expect(r, other != before, at, "an event changes to the stream or pool that it is in");
    return other;
}

static void read_event(struct reader *r, const struct plim_step_track *track, struct plim_step_order *order,
                       const struct plim_step_event *before, struct plim_step_event *event)
{
    const uint64_t at = r->cursor->at;
    const uint8_t bits = take_byte(r, "an event");
    *event = (struct plim_step_event){ 0, before->stream, before->pool, bits & PLIM_STEP_KIND_BITS };
    expect(r, bits < PLIM_STEP_OTHER_POOL << 1, at, "the byte of an event has bits that this version does not know");
    if (bits & PLIM_STEP_OTHER_STREAM)
        event->stream = take_other(r, track->n_streams, before->stream, "the stream of an event");
    if (bits & PLIM_STEP_OTHER_POOL)
        event->pool = take_other(r, track->n_pools, before->pool, "the pool of an event");
    if (event->kind == PLIM_STEP_TAKE) {
        event->id = order->n_taken;
    } else if (plim_step_event_has_id(event)) {
        const uint64_t back_at = r->cursor->at, back = take_number(r, "the allocation of an event");
        expect(r, back < order->n_taken, back_at, "an allocation is given back before any is taken");
        event->id = is_well(r) ? order->n_taken - 1 - (uint32_t)back : 0;
    }
    const char *rule = is_well(r) ? plim_step_order_next(order, event) : NULL;
    expect(r, !rule, at, rule);
}

static void read_events(struct reader *r, struct plim_step_track *track)
{
    static const struct plim_step_event first = { 0 };
    struct plim_step_order order = { 0 };
    uint64_t n = 0;
    track->events = take_array(r, UINT32_MAX - 1, 1, sizeof *track->events, &n, "events");
    track->n_events = (size_t)n;
    if (!is_well(r))
        return;
    if (!plim_step_order_init(&order, track))
        refuse(r, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < track->n_events && is_well(r); i++)
        read_event(r, track, &order, i ? &track->events[i - 1] : &first, &track->events[i]);
    const char *rule = is_well(r) ? plim_step_order_end(&order) : NULL;
    expect(r, !rule, r->cursor->at, rule);
    plim_step_order_done(&order);
}

static void read_marks(struct reader *r, struct plim_step_track *track)
{
    uint64_t n = 0;
    uint32_t event = 0, step = 0;
    track->marks = take_array(r, UINT32_MAX, 3, sizeof *track->marks, &n, "marks");
    track->n_marks = (size_t)n;
    for (size_t i = 0; i < track->n_marks && is_well(r); i++) {
        event += (uint32_t)take_up_to(r, track->n_events - event, "the events to a mark");
        step += (uint32_t)take_up_to(r, UINT32_MAX - step, "the steps to a mark");
        const uint8_t kinds = take_byte(r, "a mark");
        expect(r, kinds >> 4 == 0, r->cursor->at - 1, "a mark has a pillar");
        track->marks[i] =
            (struct plim_step_mark){ event, step, kind_of(r, kinds & 15, PLIM_PHASE_MAX_, "the phase of a mark") };
    }
}

static void read_loop(struct reader *r, const struct plim_step_shape *shape, const struct plim_step_track *track,
                      uint32_t from, struct plim_step_loop *loop)
{
    const uint64_t at = r->cursor->at;
    uint32_t n = 0;
    loop->first_event = from + (uint32_t)take_up_to(r, track->n_events - from, "the events to a loop");
    loop->n_events = (uint32_t)take_up_to(r, track->n_events - loop->first_event, "the events of a loop");
    expect(r, loop->n_events > 0, at, "a loop has no events");
    const uint64_t turns_at = r->cursor->at;
    loop->turns = (uint32_t)take_up_to(r, shape->n_sizes - 1, "the turns of a loop");
    if (!is_well(r))
        return;
    expect(r, shape->sizes[loop->turns].is_rest, turns_at, "the turns of a loop are of a size without pieces");
    loop->n_marks = (uint32_t)take_up_to(r, track->n_marks, "the marks of a loop");
    if (loop->n_marks)
        loop->first_mark = (uint32_t)take_up_to(r, track->n_marks - loop->n_marks, "the marks of a loop");
    expect(r, plim_step_loop_has_marks(track, loop), at, "a mark is within a loop, or a loop has marks that are not");
    for (uint32_t i = 0; i < loop->n_events; i++)
        n += track->events[loop->first_event + i].kind == PLIM_STEP_TAKE;
    loop->sizes = plim_alloc((size_t)n + 1, sizeof *loop->sizes);
    loop->n_takes = n;
    if (!loop->sizes)
        refuse(r, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (uint32_t i = 0; i < n && is_well(r); i++)
        loop->sizes[i] = (uint32_t)take_up_to(r, shape->n_sizes - 1, "the size of an allocation in a loop");
}

static void read_loops(struct reader *r, const struct plim_step_shape *shape, struct plim_step_track *track)
{
    const uint64_t at = r->cursor->at;
    uint64_t n = 0;
    uint32_t end = 0;
    track->loops = take_array(r, UINT32_MAX, 3, sizeof *track->loops, &n, "loops");
    track->n_loops = (size_t)n;
    r->is_newer |= n > 0;
    expect(r, !n || shape->n_sizes, at, "there are loops, but no sizes");
    for (size_t i = 0; i < track->n_loops && is_well(r); i++) {
        read_loop(r, shape, track, end, &track->loops[i]);
        end = track->loops[i].first_event + track->loops[i].n_events;
    }
}

static void read_retries(struct reader *r, struct plim_step_track *track)
{
    track->has_retries = plim_alloc(track->n_pools, sizeof *track->has_retries);
    if (!track->has_retries) {
        refuse(r, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
        return;
    }
    for (unsigned i = 0; i < track->n_pools; i++)
        track->has_retries[i] = take_up_to(r, 1, "whether a pool has retries");
}

static void read_recorded(struct reader *r, const struct plim_step_shape *shape, struct plim_step_track *track)
{
    track->recorded = plim_alloc(shape->n_points, sizeof *track->recorded);
    if (!track->recorded) {
        refuse(r, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
        return;
    }
    for (size_t i = 0; i < shape->n_points && is_well(r); i++) {
        track->recorded[i].allocated_bytes = take_known(r, "a recorded peak");
        track->recorded[i].reserved_bytes = take_known(r, "a recorded peak");
    }
}

static void read_track(struct reader *r, const struct plim_step_shape *shape, struct plim_step_track *track)
{
    const uint64_t at = r->cursor->at;
    track->rank = (uint32_t)take_up_to(r, UINT32_MAX, "the rank of a track");
    track->device = (uint32_t)take_up_to(r, UINT32_MAX, "the device of a track");
    track->n_streams = (uint16_t)take_up_to(r, UINT16_MAX, "the streams of a track");
    track->n_pools = (uint16_t)take_up_to(r, UINT16_MAX, "the pools of a track");
    const uint32_t n_heaps = (uint32_t)track->n_streams * track->n_pools;
    expect(r, n_heaps > 0 && n_heaps <= PLIM_STEP_MAX_HEAPS, at, "a track has no stream or pool, or too many");
    track->end = (uint8_t)take_up_to(r, PLIM_STEP_END_MAX_ - 1, "the end of a track");
    const uint8_t flags =
        (uint8_t)take_up_to(r, PLIM_STEP_STARTS_LATE | PLIM_STEP_HAS_RETRIES | PLIM_STEP_HAS_RECORDED, "a track");
    track->starts_late = flags & PLIM_STEP_STARTS_LATE;
    if (is_well(r) && flags & PLIM_STEP_HAS_RETRIES)
        read_retries(r, track);
    if (is_well(r) && flags & PLIM_STEP_HAS_RECORDED)
        read_recorded(r, shape, track);
    track->outside_bytes = take_known(r, "the memory outside the allocator");
    track->capacity_bytes = take_known(r, "the memory for segments");
    read_allocations(r, shape, track);
    read_events(r, track);
    read_marks(r, track);
    if (is_well(r) && r->version > PLIM_STEP_FIRST_VERSION)
        read_loops(r, shape, track);
}

static void read_shape(struct reader *r, struct plim_step_shape *shape)
{
    enum { LEAST_TRACK_BYTES = 11 };
    uint64_t n = 0;
    read_points(r, shape);
    shape->left_out_allocated_error = take_real(r, "the error of a shape");
    shape->left_out_reserved_error = take_real(r, "the error of a shape");
    read_sizes(r, shape);
    shape->tracks = take_array(r, PLIM_MAX_STEP_TRACKS, LEAST_TRACK_BYTES, sizeof *shape->tracks, &n, "tracks");
    shape->n_tracks = (size_t)n;
    n = 0;
    for (size_t i = 0; i < shape->n_tracks && is_well(r); i++) {
        const uint64_t at = r->cursor->at;
        read_track(r, shape, &shape->tracks[i]);
        n += (uint64_t)shape->tracks[i].n_streams * shape->tracks[i].n_pools;
        expect(r, n <= PLIM_STEP_MAX_HEAPS_OF_SHAPE, at, "the tracks of a shape have too many streams and pools");
    }
}

/* --- the file --- */

static void read_sum(struct reader *r)
{
    const uint64_t at = r->cursor->at;
    uint64_t sum = 0;
    const uint64_t expected = r->sum;
    for (unsigned i = 0; i < PLIM_STEP_SUM_BYTES; i++)
        sum |= (uint64_t)take_byte(r, "the check sum") << 8 * i;
    expect(r, sum == expected, at, "the check sum is another one: the file was damaged");
    expect(r, plim_cursor_left(r->cursor) == 0, r->cursor->at, "expected the end of the file");
}

int plim_step_read_bytes(struct plim_cursor *cursor, struct plim_step *ret_step, struct plim_error *reterr)
{
    enum { LEAST_SHAPE_BYTES = 20 };
    struct plim_step step = { 0 };
    struct reader r = { .cursor = cursor, .step = &step, .reterr = reterr, .sum = PLIM_STEP_SUM_START };
    uint64_t n = 0;
    read_head(&r);
    step.shapes = take_array(&r, PLIM_MAX_STEP_SHAPES, LEAST_SHAPE_BYTES, sizeof *step.shapes, &n, "shapes");
    step.n_shapes = (size_t)n;
    for (size_t i = 0; i < step.n_shapes && is_well(&r); i++)
        read_shape(&r, &step.shapes[i]);
    expect(&r, r.is_newer || r.version == PLIM_STEP_FIRST_VERSION, r.cursor->at,
           "a step of a newer version has nothing that needs it");
    read_sum(&r);
    if (!is_well(&r)) {
        plim_step_done(&step);
        return r.result;
    }
    *ret_step = step;
    return 0;
}

int plim_step_read(const char *path, struct plim_step *ret_step, struct plim_error *reterr)
{
    struct plim_file file;
    int result = plim_file_open(path, &file, reterr);
    if (result < 0)
        return result;
    struct plim_cursor cursor = plim_file_cursor(&file, PLIM_MAX_STEP_FILE_BYTES);
    if (file.file_bytes > PLIM_MAX_STEP_FILE_BYTES)
        result = plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the file has more than %d MiB",
                           PLIM_MAX_STEP_FILE_BYTES >> 20);
    else
        result = plim_step_read_bytes(&cursor, ret_step, reterr);
    plim_error_where(result < 0 ? reterr : NULL, path);
    plim_file_close(&file);
    return result;
}
