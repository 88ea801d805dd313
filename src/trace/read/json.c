/* SPDX-License-Identifier: MIT */
#include "trace/read/json.h"

#include "base/json.h"
#include "base/mem.h"

#include <string.h>

/* An object or array that is being read. */
struct open {
    size_t from;             /* its first value on the stack */
    size_t n_lists, n_dicts; /* before it */
    bool is_object;
};

struct machine {
    struct plim_json json;
    struct plim_trace_objects *objects;
    plim_pickle_value *stack;
    size_t n_stack, stack_room;
    struct open open[PLIM_MAX_PICKLE_MARKS];
    size_t n_open;
    struct plim_error *reterr;
};

static int no_room(struct machine *m)
{
    return m->objects->is_too_big ? plim_fail(m->reterr, PLIM_E_TOO_BIG, m->json.c.at,
                                              "the JSON text unfolds to far more than a snapshot of its size")
                                  : plim_fail(m->reterr, PLIM_E_NOMEM, m->json.c.at, "out of memory");
}

static int push(struct machine *m, plim_pickle_value value)
{
    if (!PLIM_TRACE_GROW(m->objects, m->stack, m->n_stack, m->stack_room))
        return no_room(m);
    m->stack[m->n_stack++] = value;
    return 0;
}

static int push_text(struct machine *m, const struct plim_json_text *text)
{
    plim_pickle_value value;
    return plim_trace_text(m->objects, text->text, text->length, &value) ? push(m, value) : no_room(m);
}

static int push_number(struct machine *m)
{
    struct plim_json_number number;
    const int result = plim_json_number(&m->json, &number);
    if (result < 0)
        return result;
    if (number.type == PLIM_JSON_REAL) {
        uint64_t bits;
        memcpy(&bits, &number.f, sizeof bits);
        return push(m, plim_pickle_make(PLIM_PICKLE_REAL, bits >> 4));
    }
    const uint64_t bits = number.type == PLIM_JSON_SIGNED ? (uint64_t)number.i : number.u;
    const plim_pickle_value value = plim_pickle_make(PLIM_PICKLE_NUMBER, bits);
    const bool is_kept = (uint64_t)plim_pickle_number(value) == bits;
    return push(m, is_kept ? value : plim_pickle_make(PLIM_PICKLE_NONE, 0));
}

static int push_scalar(struct machine *m, enum plim_json_type type)
{
    struct plim_json_text text;
    bool truth = false;
    int result;
    switch (type) {
    case PLIM_JSON_STRING:
        result = plim_json_string(&m->json, &text);
        return result < 0 ? result : push_text(m, &text);
    case PLIM_JSON_NUMBER:
        return push_number(m);
    case PLIM_JSON_BOOL:
        result = plim_json_bool(&m->json, &truth);
        return result < 0 ? result : push(m, plim_pickle_make(PLIM_PICKLE_TRUTH, truth));
    case PLIM_JSON_NONFINITE:
        result = plim_json_nonfinite(&m->json);
        return result < 0 ? result : push(m, plim_pickle_make(PLIM_PICKLE_NONE, 0));
    default:
        result = plim_json_skip(&m->json);
        return result < 0 ? result : push(m, plim_pickle_make(PLIM_PICKLE_NONE, 0));
    }
}

/* --- objects and arrays --- */

static int open_value(struct machine *m, bool is_object)
{
    if (m->n_open == PLIM_MAX_PICKLE_MARKS)
        return plim_fail(m->reterr, PLIM_E_CORRUPT, m->json.c.at, "objects and arrays lie too deep");
    m->open[m->n_open++] = (struct open){ m->n_stack, m->objects->n_lists, m->objects->n_dicts, is_object };
    return is_object ? plim_json_object(&m->json) : plim_json_array(&m->json);
}

/* What a row was made of is needed no more; the dict itself takes the place of the first of those. */
static plim_pickle_value settle(struct machine *m, const struct open *open, plim_pickle_value value)
{
    struct plim_trace_objects *objects = m->objects;
    const struct plim_pickle_dict dict = objects->dicts[plim_pickle_rest(value)];
    if (plim_pickle_row(dict) <= PLIM_ROW_OTHER)
        return value;
    plim_trace_forget(objects, open->n_lists, open->n_dicts + 1);
    objects->dicts[open->n_dicts] = dict;
    return plim_pickle_make(PLIM_PICKLE_DICT, open->n_dicts);
}

static bool is_small_number(plim_pickle_value value)
{
    return plim_pickle_tag(value) == PLIM_PICKLE_NUMBER && plim_pickle_rest(value) < UINT64_C(1) << 30;
}

/* The values behind the opening bracket become one. */
static int close_value(struct machine *m)
{
    const struct open *open = &m->open[--m->n_open];
    const plim_pickle_value *items = m->stack + open->from;
    const size_t n = m->n_stack - open->from;
    plim_pickle_value value;
    if (open->is_object) {
        if (!plim_trace_new_dict(m->objects, &value) || !plim_trace_set(m->objects, value, items, n))
            return no_room(m);
        value = settle(m, open, value);
    } else if (n == 2 && is_small_number(items[0]) && is_small_number(items[1])) {
        value = plim_pickle_make(PLIM_PICKLE_PAIR, plim_pickle_rest(items[0]) << 30 | plim_pickle_rest(items[1]));
    } else {
        if (!plim_trace_new_list(m->objects, &value) || !plim_trace_append(m->objects, value, items, n))
            return no_room(m);
        if (plim_pickle_run(&m->objects->lists[plim_pickle_rest(value)]) != PLIM_ROW_EMPTY)
            m->objects->n_dicts = open->n_dicts; /* rows, which the run has by their numbers */
    }
    m->n_stack = open->from;
    return push(m, value);
}

/* The next item or member of what is open: 1, and its value is next; 0 at the end. */
static int next(struct machine *m)
{
    struct plim_json_text key;
    if (!m->open[m->n_open - 1].is_object)
        return plim_json_item(&m->json);
    const int more = plim_json_member(&m->json, &key);
    const int result = more > 0 ? push_text(m, &key) : more;
    return result < 0 ? result : more;
}

static int read_value(struct machine *m)
{
    const enum plim_json_type type = plim_json_type(&m->json);
    const bool is_open = type == PLIM_JSON_OBJECT || type == PLIM_JSON_ARRAY;
    int result = is_open ? open_value(m, type == PLIM_JSON_OBJECT) : push_scalar(m, type);
    int more = 0;
    while (result >= 0 && m->n_open && (more = next(m)) == 0)
        result = close_value(m);
    return result < 0 ? result : more;
}

int plim_trace_json_read(struct plim_cursor *cursor, struct plim_trace_objects *objects, plim_pickle_value *ret_top,
                         struct plim_error *reterr)
{
    struct machine m = { .objects = objects, .reterr = reterr };
    int result;
    plim_json_init(&m.json, *cursor, reterr);
    objects->read_at = &m.json.c.at;
    if (!PLIM_TRACE_GROW(objects, m.stack, 0, m.stack_room)) /* an empty stack has a place, too */
        return no_room(&m);
    do
        result = read_value(&m);
    while (result > 0);
    if (result == 0)
        result = plim_json_end(&m.json);
    if (result == 0)
        *ret_top = m.stack[0];
    cursor->at = m.json.c.at;
    objects->read_at = &cursor->at;
    plim_free(m.stack);
    return result;
}
