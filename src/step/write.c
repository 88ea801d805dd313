/* SPDX-License-Identifier: MIT */
/* The bytes of a step's file: numbers of seven bits to a byte, and what is usual in the fewest of them. */
#include "step/file.h"

#include "base/limits.h"
#include "base/mem.h"
#include "step/coding.h"
#include "step/order.h"

#include <string.h>

const unsigned char plim_step_magic[PLIM_STEP_MAGIC_BYTES] = { 0x89, 'P', 'L', 'S', 'T', 'E', 'P', '\n' };

/* Bytes that grow. What goes wrong stays: the rest of the writing has no effect. */
struct writer {
    const struct plim_step *step;
    uint64_t version;
    unsigned char *bytes;
    size_t n, room;
    bool is_out_of_memory;
    const char *objection; /* the rule that the step breaks */
};

static void put(struct writer *w, const void *bytes, size_t n)
{
    enum { FIRST_ROOM = 4096 };
    if (w->is_out_of_memory || w->objection)
        return;
    if (n > w->room - w->n) {
        const size_t room = 2 * w->room + n + FIRST_ROOM;
        unsigned char *grown = plim_realloc(w->bytes, room, 1);
        w->is_out_of_memory = !grown;
        if (!grown)
            return;
        w->bytes = grown;
        w->room = room;
    }
    if (n)
        memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
}

static void put_byte(struct writer *w, uint8_t byte) { put(w, &byte, 1); }

static void put_number(struct writer *w, uint64_t value)
{
    unsigned char bytes[PLIM_STEP_NUMBER_BYTES];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (unsigned char)(value | 0x80);
    bytes[n++] = (unsigned char)value;
    put(w, bytes, n);
}

/* The largest number stands for "unknown" and is written as 0. */
static void put_known(struct writer *w, uint64_t value) { put_number(w, value + 1); }

static void put_signed(struct writer *w, int64_t value)
{
    put_number(w, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_real(struct writer *w, double value)
{
    uint64_t bits;
    unsigned char bytes[sizeof bits];
    memcpy(&bits, &value, sizeof bits);
    for (unsigned i = 0; i < sizeof bits; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    put(w, bytes, sizeof bytes);
}

static void put_text(struct writer *w, const char *text, size_t size)
{
    const char *end = memchr(text, '\0', size);
    const size_t n = end ? (size_t)(end - text) : size;
    put_number(w, n);
    put(w, text, n);
}

static bool require(struct writer *w, bool holds, const char *rule)
{
    if (!holds && !w->objection)
        w->objection = rule;
    return holds;
}

static void put_count(struct writer *w, size_t n, size_t limit, const char *rule)
{
    require(w, n <= limit, rule);
    put_number(w, n);
}

/* --- the parts --- */

/* What an older program can read is written so that it does. */
static uint64_t version_of(const struct plim_step *step)
{
    bool is_newer = false;
    for (size_t i = 0; i < step->n_sites; i++)
        is_newer = is_newer || step->sites[i].loop;
    for (size_t i = 0; i < step->n_shapes; i++) {
        for (size_t k = 0; k < step->shapes[i].n_sizes; k++)
            is_newer = is_newer || step->shapes[i].sizes[k].is_rest;
        for (size_t k = 0; k < step->shapes[i].n_tracks; k++)
            is_newer = is_newer || step->shapes[i].tracks[k].n_loops;
    }
    return is_newer ? PLIM_STEP_FILE_VERSION : PLIM_STEP_FIRST_VERSION;
}

static void put_loop(struct writer *w, const struct plim_step_site *site, size_t last_text)
{
    require(w, site->loop <= last_text, "a site has a loop that there is not");
    put_number(w, site->loop);
    if (site->loop)
        put_number(w, site->piece);
}

static void put_head(struct writer *w)
{
    const struct plim_step *step = w->step;
    const size_t last = step->text_bytes ? step->text_bytes - 1 : 0;
    require(w, step->command <= last, "the command is a text that there is not");
    put(w, plim_step_magic, sizeof plim_step_magic);
    put_number(w, w->version);
    put_text(w, step->torch_version, sizeof step->torch_version - 1);
    put_text(w, step->alloc_conf, sizeof step->alloc_conf - 1);
    put_text(w, step->card_name, sizeof step->card_name - 1);
    put_number(w, step->card_bytes);
    require(w, !step->text_bytes || (!step->text[0] && !step->text[step->text_bytes - 1]),
            "texts begin and end with a NUL");
    put_count(w, step->text_bytes, PLIM_MAX_STEP_TEXT_BYTES, "there are more texts than a file has");
    put(w, step->text, step->text_bytes);
    put_number(w, step->command);
    put_count(w, step->n_variables, PLIM_STEP_MAX_VARIABLES, "there are more variables than a step has");
    for (uint32_t i = 0; i < step->n_variables && !w->objection; i++) {
        require(w, plim_step_is_name(step->variables[i].name), "a variable's name has letters, digits and _");
        put_text(w, step->variables[i].name, sizeof step->variables[i].name - 1);
    }
    put_number(w, step->n_sites);
    for (size_t i = 0; i < step->n_sites; i++) {
        require(w, step->sites[i].file <= last && step->sites[i].function <= last,
                "a site has a text that there is not");
        put_number(w, step->sites[i].file);
        put_number(w, step->sites[i].function);
        put_number(w, step->sites[i].line);
        if (w->version > PLIM_STEP_FIRST_VERSION)
            put_loop(w, &step->sites[i], last);
    }
}

static void put_rounding(struct writer *w, const struct plim_step_size *size)
{
    bool has_rounding = false;
    for (uint32_t v = 0; v < PLIM_STEP_MAX_VARIABLES; v++) {
        has_rounding |= size->rounding[v] != 0;
        require(w, size->rounding[v] <= (v < w->step->n_variables ? PLIM_STEP_MAX_ROUNDING : 0),
                "a size rounds a variable that there is not, or too far");
    }
    put_number(w, (uint64_t)size->n_terms * PLIM_STEP_SIZE_FLAGS + (has_rounding ? PLIM_STEP_HAS_ROUNDING : 0) +
                      (size->is_exact ? PLIM_STEP_IS_EXACT : 0));
    if (has_rounding)
        put(w, size->rounding, w->step->n_variables);
}

/* Behind a 0, where a denominator would stand. */
static void put_bounds(struct writer *w, const struct plim_step_size *size)
{
    require(w, !size->is_rest || size->most_bytes, "pieces have a size");
    if (!size->least_bytes && !size->multiple_bytes && !size->most_bytes)
        return;
    put_number(w, 0);
    put_number(w, size->least_bytes);
    put_number(w, size->multiple_bytes);
    put_number(w, size->most_bytes);
    if (w->version > PLIM_STEP_FIRST_VERSION)
        put_number(w, size->is_rest);
}

static void put_sizes(struct writer *w, const struct plim_step_shape *shape)
{
    size_t n_terms = 0;
    for (size_t i = 0; i < shape->n_sizes; i++)
        n_terms += shape->sizes[i].n_terms;
    put_number(w, shape->n_sizes);
    put_number(w, n_terms);
    for (size_t i = 0; i < shape->n_sizes; i++) {
        const struct plim_step_size *size = &shape->sizes[i];
        const bool has_terms = size->first_term <= shape->n_terms && size->n_terms <= shape->n_terms - size->first_term;
        if (!require(w, has_terms && size->denominator, "a size has terms that there are not, or no denominator"))
            return;
        put_rounding(w, size);
        put_bounds(w, size);
        put_number(w, size->denominator);
        for (uint32_t k = 0; k < size->n_terms; k++) {
            const struct plim_step_term *term = &shape->terms[size->first_term + k];
            put_signed(w, term->coefficient);
            put(w, term->power, w->step->n_variables);
            for (uint32_t v = 0; v < PLIM_STEP_MAX_VARIABLES; v++)
                require(w, term->power[v] <= (v < w->step->n_variables ? PLIM_STEP_MAX_DEGREE : 0),
                        "a power is too high");
        }
    }
}

static void put_allocations(struct writer *w, const struct plim_step_shape *shape, const struct plim_step_track *track)
{
    put_number(w, track->n_allocations);
    for (uint32_t i = 0; i < track->n_allocations && !w->objection; i++) {
        const struct plim_step_allocation *allocation = &track->allocations[i];
        require(w, allocation->size < shape->n_sizes, "an allocation has a size that there is not");
        require(w, allocation->site == PLIM_STEP_NO_SITE || allocation->site < w->step->n_sites,
                "an allocation has a site that there is not");
        put_number(w, allocation->size);
        put_number(w, allocation->site == PLIM_STEP_NO_SITE ? 0 : (uint64_t)allocation->site + 1);
        put_byte(w, plim_step_kinds_byte(allocation->pillar, allocation->phase));
    }
}

static void put_events(struct writer *w, const struct plim_step_track *track)
{
    struct plim_step_order order;
    uint16_t stream = 0, pool = 0;
    put_number(w, track->n_events);
    if (!plim_step_order_init(&order, track)) {
        w->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < track->n_events && !w->objection; i++) {
        const struct plim_step_event *event = &track->events[i];
        const char *rule = plim_step_order_next(&order, event);
        require(w, !rule, rule);
        put_byte(w, (uint8_t)(event->kind | (event->stream != stream ? PLIM_STEP_OTHER_STREAM : 0) |
                              (event->pool != pool ? PLIM_STEP_OTHER_POOL : 0)));
        if (event->stream != stream)
            put_number(w, stream = event->stream);
        if (event->pool != pool)
            put_number(w, pool = event->pool);
        if (plim_step_event_has_id(event) && event->kind != PLIM_STEP_TAKE)
            put_number(w, order.n_taken - 1 - event->id);
    }
    const char *rule = plim_step_order_end(&order);
    require(w, !rule, rule);
    plim_step_order_done(&order);
}

static void put_marks(struct writer *w, const struct plim_step_track *track)
{
    uint32_t event = 0, step = 0;
    put_number(w, track->n_marks);
    for (size_t i = 0; i < track->n_marks && !w->objection; i++) {
        const struct plim_step_mark *mark = &track->marks[i];
        require(w, mark->event >= event && mark->event <= track->n_events && mark->step >= step, "marks go forward");
        put_number(w, mark->event - event);
        put_number(w, mark->step - step);
        put_byte(w, plim_step_kinds_byte(0, mark->phase));
        event = mark->event;
        step = mark->step;
    }
}

static void put_marks_of(struct writer *w, const struct plim_step_track *track, const struct plim_step_loop *loop)
{
    require(w, plim_step_loop_has_marks(track, loop), "a mark is within a loop, or a loop has marks that are not");
    put_number(w, loop->n_marks);
    if (loop->n_marks)
        put_number(w, loop->first_mark);
}

static void put_loops(struct writer *w, const struct plim_step_shape *shape, const struct plim_step_track *track)
{
    uint32_t end = 0;
    put_number(w, track->n_loops);
    for (size_t i = 0; i < track->n_loops && !w->objection; i++) {
        const struct plim_step_loop *loop = &track->loops[i];
        uint32_t n = 0;
        if (!require(w,
                     loop->first_event >= end && loop->n_events && loop->n_events <= track->n_events &&
                         loop->first_event <= track->n_events - loop->n_events,
                     "a loop has events that there are not, or that another one has") ||
            !require(w, loop->turns < shape->n_sizes && shape->sizes[loop->turns].is_rest,
                     "the turns of a loop are pieces of a size"))
            return;
        put_number(w, loop->first_event - end);
        put_number(w, loop->n_events);
        put_number(w, loop->turns);
        put_marks_of(w, track, loop);
        end = loop->first_event + loop->n_events;
        for (uint32_t k = loop->first_event; k < end; k++)
            n += track->events[k].kind == PLIM_STEP_TAKE;
        require(w, n == loop->n_takes, "a loop has a size for each take");
        for (uint32_t k = 0; k < n && !w->objection; k++) {
            require(w, loop->sizes[k] < shape->n_sizes, "a loop has a size that there is not");
            put_number(w, loop->sizes[k]);
        }
    }
}

static void put_track(struct writer *w, const struct plim_step_shape *shape, const struct plim_step_track *track)
{
    put_number(w, track->rank);
    put_number(w, track->device);
    require(w, track->n_streams && track->n_pools && track->n_streams * track->n_pools <= PLIM_STEP_MAX_HEAPS,
            "a track has a stream and a pool, and not too many");
    require(w, track->end < PLIM_STEP_END_MAX_, "an end that there is not");
    put_number(w, track->n_streams);
    put_number(w, track->n_pools);
    put_byte(w, track->end);
    put_byte(w, (uint8_t)((track->starts_late ? PLIM_STEP_STARTS_LATE : 0) |
                          (track->has_retries ? PLIM_STEP_HAS_RETRIES : 0) |
                          (track->recorded ? PLIM_STEP_HAS_RECORDED : 0)));
    for (unsigned i = 0; track->has_retries && i < track->n_pools; i++)
        put_byte(w, track->has_retries[i]);
    for (size_t i = 0; track->recorded && i < shape->n_points; i++) {
        put_known(w, track->recorded[i].allocated_bytes);
        put_known(w, track->recorded[i].reserved_bytes);
    }
    put_known(w, track->outside_bytes);
    put_known(w, track->capacity_bytes);
    put_allocations(w, shape, track);
    put_events(w, track);
    put_marks(w, track);
    if (w->version > PLIM_STEP_FIRST_VERSION)
        put_loops(w, shape, track);
}

static void put_shape(struct writer *w, const struct plim_step_shape *shape)
{
    require(w, shape->n_points > 0, "a shape has a point");
    put_count(w, shape->n_points, PLIM_MAX_STEP_POINTS, "a shape has more points than a file has");
    for (size_t i = 0; i < shape->n_points && !w->objection; i++)
        for (uint32_t v = 0; v < w->step->n_variables; v++)
            put_number(w, shape->points[i].value[v]);
    const double sum = shape->left_out_allocated_error + shape->left_out_reserved_error;
    require(w, sum - sum == 0, "an error is a number");
    put_real(w, shape->left_out_allocated_error);
    put_real(w, shape->left_out_reserved_error);
    put_sizes(w, shape);
    put_count(w, shape->n_tracks, PLIM_MAX_STEP_TRACKS, "a shape has more tracks than a file has");
    size_t n_heaps = 0;
    for (size_t i = 0; i < shape->n_tracks && !w->objection; i++) {
        n_heaps += (size_t)shape->tracks[i].n_streams * shape->tracks[i].n_pools;
        require(w, n_heaps <= PLIM_STEP_MAX_HEAPS_OF_SHAPE, "the tracks of a shape have too many streams and pools");
        put_track(w, shape, &shape->tracks[i]);
    }
}

/* --- the file --- */

int plim_step_encode(const struct plim_step *step, unsigned char **ret_bytes, size_t *ret_n_bytes,
                     struct plim_error *reterr)
{
    struct writer w = { .step = step, .version = version_of(step) };
    put_head(&w);
    put_count(&w, step->n_shapes, PLIM_MAX_STEP_SHAPES, "there are more shapes than a file has");
    for (size_t i = 0; i < step->n_shapes && !w.objection; i++)
        put_shape(&w, &step->shapes[i]);
    uint64_t sum = PLIM_STEP_SUM_START;
    for (size_t i = 0; i < w.n; i++)
        sum = plim_step_sum(sum, w.bytes[i]);
    for (unsigned i = 0; i < sizeof sum; i++)
        put_byte(&w, (uint8_t)(sum >> 8 * i));
    require(&w, w.n <= PLIM_MAX_STEP_FILE_BYTES, "the file is larger than one that is read");
    if (!w.is_out_of_memory && !w.objection) {
        *ret_bytes = w.bytes;
        *ret_n_bytes = w.n;
        return 0;
    }
    plim_free(w.bytes);
    return w.objection ? plim_fail(reterr, PLIM_E_INTERNAL, PLIM_NO_OFFSET, "this is no step: %s", w.objection)
                       : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}
