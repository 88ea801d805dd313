/* SPDX-License-Identifier: MIT */
#include "step/pieces.h"

#include "base/mem.h"
#include "step/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 120, MOST_LOOKS = 1 << 23 /* less than a second */ };

static uint64_t largest_recorded(const struct plim_step_shape *shape, uint32_t size)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < shape->n_points; i++) {
        const uint64_t bytes = plim_step_size_bytes(shape, size, &shape->points[i]);
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

static bool is_larger(const struct plim_step_shape *shape, uint32_t size, const struct plim_step_point *point)
{
    return !shape->sizes[size].most_bytes && plim_step_size_bytes(shape, size, point) > largest_recorded(shape, size);
}

/* --- how many rows there are at most --- */

/* Do two sizes grow alike, as far as the recordings tell? */
static bool are_proportional(const struct plim_step_shape *shape, uint32_t a, uint32_t b)
{
    const double first = (double)plim_step_size_bytes(shape, a, &shape->points[0]),
                 second = (double)plim_step_size_bytes(shape, b, &shape->points[0]);
    for (size_t i = 1; i < shape->n_points; i++)
        if ((double)plim_step_size_bytes(shape, a, &shape->points[i]) * second !=
            (double)plim_step_size_bytes(shape, b, &shape->points[i]) * first)
            return false;
    return first > 0 && second > 0;
}

/* What is allocated in a file: a size and a line, once each, in order. */
struct use {
    uint32_t file, site, size;
};

struct uses {
    struct use *use;
    size_t n;
};

static int compare(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    return x->file != y->file   ? (x->file > y->file) - (x->file < y->file)
           : x->size != y->size ? (x->size > y->size) - (x->size < y->size)
                                : (x->site > y->site) - (x->site < y->site);
}

/* Of files that have loops over pieces. False: out of memory. */
static bool list_uses(const struct plim_step *step, const struct plim_step_shape *shape, struct uses *uses)
{
    size_t n = 0;
    bool has_any = false;
    for (size_t i = 0; i < step->n_sites; i++)
        has_any = has_any || step->sites[i].loop;
    if (!has_any)
        return true;
    for (size_t t = 0; t < shape->n_tracks; t++)
        n += shape->tracks[t].n_allocations;
    bool *has_loops = plim_alloc(step->text_bytes + 1, sizeof *has_loops); /* [text]: as the name of a file */
    uses->use = plim_alloc_unset(n + 1, sizeof *uses->use);
    for (size_t i = 0; has_loops && i < step->n_sites; i++)
        has_loops[step->sites[i].file] = has_loops[step->sites[i].file] || step->sites[i].loop;
    for (size_t t = 0; has_loops && uses->use && t < shape->n_tracks; t++)
        for (uint32_t i = 0; i < shape->tracks[t].n_allocations; i++) {
            const struct plim_step_allocation *own = &shape->tracks[t].allocations[i];
            if (own->site < step->n_sites && own->size < shape->n_sizes && has_loops[step->sites[own->site].file])
                uses->use[uses->n++] = (struct use){ step->sites[own->site].file, own->site, own->size };
        }
    if (uses->n > 1)
        qsort(uses->use, uses->n, sizeof *uses->use, compare);
    n = 0;
    for (size_t i = 0; i < uses->n; i++)
        if (i == 0 || compare(&uses->use[i], &uses->use[i - 1]) != 0)
            uses->use[n++] = uses->use[i];
    uses->n = n;
    plim_free(has_loops);
    return has_loops && uses->use;
}

/*
 * A tensor with one element for each row has a byte for it at least: of those of the file that grow like this
 * allocation the smallest, in bytes. The number of its size.
 */
static uint32_t size_of_rows(const struct plim_step_shape *shape, const struct uses *uses, size_t number,
                             uint64_t *n_looks)
{
    uint32_t smallest = uses->use[number].size;
    size_t first = number;
    while (first > 0 && uses->use[first - 1].file == uses->use[number].file)
        first--;
    for (size_t i = first; i < uses->n && uses->use[i].file == uses->use[number].file; i++) {
        const uint32_t other = uses->use[i].size;
        *n_looks += shape->n_points;
        if (largest_recorded(shape, other) < largest_recorded(shape, smallest) &&
            are_proportional(shape, uses->use[number].size, other))
            smallest = other;
    }
    return smallest;
}

/* --- refusing --- */

/* The variable that is farthest beyond the recordings, and its largest value there. */
static uint32_t farthest(const struct plim_step *step, const struct plim_step_shape *shape,
                         const struct plim_step_point *point, uint64_t *ret_most)
{
    uint32_t variable = 0;
    double best = 0;
    for (uint32_t v = 0; v < step->n_variables; v++) {
        uint64_t high = 1;
        for (size_t i = 0; i < shape->n_points; i++)
            high = shape->points[i].value[v] > high ? shape->points[i].value[v] : high;
        if ((double)point->value[v] / (double)high > best) {
            best = (double)point->value[v] / (double)high;
            variable = v;
            *ret_most = high;
        }
    }
    return variable;
}

/* The value of a variable in all recordings; 1: it has several. */
static uint64_t fixed_value(const struct plim_step_shape *shape, uint32_t variable)
{
    const uint64_t value = shape->points[0].value[variable];
    for (size_t i = 1; i < shape->n_points; i++)
        if (shape->points[i].value[variable] != value)
            return 1;
    return value ? value : 1;
}

/*
 * What a row has at most of a size that has one element for each: 8 bytes, if that divides the size wherever variables
 * have been. A row that has less only turns more often.
 */
static uint64_t most_of_row(const struct plim_step_shape *shape, uint32_t size)
{
    const struct plim_step_size *s = &shape->sizes[size];
    const uint64_t twos = s->denominator & (0 - s->denominator); /* its factor that is a power of two */
    uint64_t most = 8, fixed[PLIM_STEP_MAX_VARIABLES];
    for (uint32_t v = 0; v < PLIM_STEP_MAX_VARIABLES; v++)
        fixed[v] = fixed_value(shape, v);
    for (uint32_t i = 0; i < s->n_terms; i++) {
        const int64_t coefficient = shape->terms[s->first_term + i].coefficient;
        uint64_t rest = coefficient < 0 ? 0 - (uint64_t)coefficient : (uint64_t)coefficient;
        for (uint32_t v = 0; v < PLIM_STEP_MAX_VARIABLES; v++)
            rest /= rest % fixed[v] ? 1 : fixed[v];
        while (most > 1 && rest % (most * twos))
            most /= 2;
    }
    return most;
}

/* The least value of the variable with more bytes, the others as in the first recording; 0: none was found. */
static uint64_t value_with(const struct plim_step_shape *shape, uint32_t size, uint32_t variable, uint64_t from,
                           uint64_t bytes)
{
    enum { MOST_DOUBLINGS = 40 };
    struct plim_step_point point = shape->points[0];
    uint64_t low = from, high = from;
    for (unsigned i = 0; i < MOST_DOUBLINGS; i++, high *= 2) {
        point.value[variable] = high;
        if (plim_step_size_bytes(shape, size, &point) > bytes)
            break;
        low = high;
    }
    while (low < high) {
        point.value[variable] = low + (high - low) / 2;
        if (plim_step_size_bytes(shape, size, &point) > bytes)
            high = point.value[variable];
        else
            low = point.value[variable] + 1;
    }
    point.value[variable] = high;
    return plim_step_size_bytes(shape, size, &point) > bytes ? high : 0;
}

/* The end of a path is enough to know it. */
static const char *short_place(const char *place)
{
    const char *at = place + strlen(place);
    for (unsigned n = 0; at > place; at--)
        if (at[-1] == '/' && ++n == 2)
            return at;
    return at;
}

static int refuse(const struct plim_step *step, const struct plim_step_shape *shape,
                  const struct plim_step_point *point, const struct plim_step_site *site, uint32_t rows,
                  struct plim_error *reterr)
{
    const char *place = short_place(plim_step_text(step, site->loop));
    char pieces[TEXT_BYTES] = "pieces";
    uint64_t most = 0, second = 0, third = 0;
    const uint32_t v = farthest(step, shape, point, &most);
    if (site->piece && site->piece < UINT64_MAX / 32) {
        const uint64_t bytes = site->piece * most_of_row(shape, rows);
        snprintf(pieces, sizeof pieces, "pieces of %" PRIu64, site->piece);
        second = value_with(shape, rows, v, most, bytes + bytes / 4);
        third = value_with(shape, rows, v, most, 2 * bytes + bytes / 4);
    }
    const bool is_known = second > most && third > second;
    if (!is_known) {
        second = most < UINT64_MAX / 8 ? 4 * most : most;
        third = most < UINT64_MAX / 8 ? 8 * most : most;
    }
    plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
              "the program works in %s at %.80s, and no recording has several: what is larger is not known", pieces,
              place);
    plim_error_hint(reterr,
                    "record larger values, too, %s turns twice and three times: --vary %s=...,%" PRIu64 ",%" PRIu64,
                    is_known ? "so that it" : "until it", step->variables[v].name, second, third);
    return PLIM_E_UNSUPPORTED;
}

/* What is cut into pieces of a size is not known to be where all recordings have several, and there is one. */
static int check_turns(const struct plim_step_shape *shape, const struct plim_step_point *point,
                       struct plim_error *reterr)
{
    for (size_t t = 0; t < shape->n_tracks; t++)
        for (size_t i = 0; i < shape->tracks[t].n_loops; i++) {
            const uint32_t turns = shape->tracks[t].loops[i].turns;
            bool has_one = shape->sizes[turns].most_bytes == 1 || plim_step_size_pieces(shape, turns, point) > 1;
            for (size_t k = 0; k < shape->n_points && !has_one; k++)
                has_one = plim_step_size_pieces(shape, turns, &shape->points[k]) == 1;
            if (has_one)
                continue;
            plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                      "the program works in pieces, and all recordings have several: what a single one takes is not "
                      "known");
            plim_error_hint(reterr, "record smaller values, too: plimsoll rehearse --record FILE --vary VAR=...");
            return PLIM_E_UNSUPPORTED;
        }
    return 0;
}

static int check_uses(const struct plim_step *step, const struct plim_step_shape *shape, const struct uses *uses,
                      const struct plim_step_point *point, struct plim_error *reterr)
{
    uint64_t n_looks = 0;
    for (size_t i = 0; i < uses->n; i++) {
        const struct plim_step_site *site = &step->sites[uses->use[i].site];
        if (!site->loop || !is_larger(shape, uses->use[i].size, point))
            continue;
        if (n_looks > MOST_LOOKS)
            return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET,
                             "too many lines of the step work in pieces: what is larger is not known");
        const uint32_t rows = size_of_rows(shape, uses, i, &n_looks);
        if (!site->piece || plim_step_size_bytes(shape, rows, point) > site->piece)
            return refuse(step, shape, point, site, rows, reterr);
    }
    return 0;
}

int plim_step_check_pieces(const struct plim_step *step, const struct plim_step_shape *shape,
                           const struct plim_step_point *point, struct plim_error *reterr)
{
    struct uses uses = { .n = 0 };
    const int result = list_uses(step, shape, &uses) ? check_uses(step, shape, &uses, point, reterr)
                                                     : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    plim_free(uses.use);
    return result < 0 ? result : check_turns(shape, point, reterr);
}
