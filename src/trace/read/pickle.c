/* SPDX-License-Identifier: MIT */
#include "trace/read/pickle.h"

#include "base/limits.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum opcode {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_NONE = 'N',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_BINFLOAT = 'G',
    OP_BINUNICODE = 'X',
    OP_EMPTY_LIST = ']',
    OP_APPEND = 'a',
    OP_APPENDS = 'e',
    OP_EMPTY_DICT = '}',
    OP_SETITEM = 's',
    OP_SETITEMS = 'u',
    OP_EMPTY_TUPLE = ')',
    OP_TUPLE = 't',
    OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_GLOBAL = 'c',
    OP_INST = 'i',
    OP_REDUCE = 'R',
    OP_BUILD = 'b',
    OP_OBJ = 'o',
    OP_PERSID = 'P',
    OP_BINPERSID = 'Q',
    OP_PROTO = 0x80,
    OP_NEWOBJ = 0x81,
    OP_EXT1 = 0x82,
    OP_EXT2 = 0x83,
    OP_EXT4 = 0x84,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8A,
    OP_LONG4 = 0x8B,
    OP_SHORT_BINUNICODE = 0x8C,
    OP_BINUNICODE8 = 0x8D,
    OP_NEWOBJ_EX = 0x92,
    OP_STACK_GLOBAL = 0x93,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
};

enum { OLDEST_PROTOCOL = 2, NEWEST_PROTOCOL = 5 };

struct machine {
    struct plim_cursor *c;
    struct plim_trace_objects *objects;
    plim_pickle_value *stack, *memo;
    size_t n_stack, stack_room, n_memo, memo_room;
    size_t marks[PLIM_MAX_PICKLE_MARKS];
    size_t n_marks;
    uint64_t at; /* of the opcode */
    struct plim_error *reterr;
};

/* --- what goes wrong --- */

static int corrupt(struct machine *m, const char *what)
{
    return plim_fail(m->reterr, PLIM_E_CORRUPT, m->at, "the pickle is damaged: %s", what);
}

static int no_room(struct machine *m)
{
    if (m->objects->is_too_big)
        return plim_fail(m->reterr, PLIM_E_TOO_BIG, m->at,
                         "the pickle unfolds to far more than a snapshot of its size");
    return plim_fail(m->reterr, PLIM_E_NOMEM, m->at, "out of memory");
}

/* The name that an opcode wants imported: "module name" in two lines, or the last two texts. */
static int refuse_name(struct machine *m, bool is_on_stack)
{
    char name[128] = "";
    const char *text = m->objects->trace.text;
    if (is_on_stack && m->n_stack >= 2 && plim_pickle_tag(m->stack[m->n_stack - 2]) == PLIM_PICKLE_TEXT &&
        plim_pickle_tag(m->stack[m->n_stack - 1]) == PLIM_PICKLE_TEXT) {
        snprintf(name, sizeof name, "%s.%s", text + plim_pickle_rest(m->stack[m->n_stack - 2]),
                 text + plim_pickle_rest(m->stack[m->n_stack - 1]));
    } else if (!is_on_stack) {
        size_t n = 0;
        for (unsigned lines = 0; lines < 2 && n < sizeof name - 1;) {
            const char letter = (char)plim_cursor_uint(m->c, 1);
            if (m->c->failed)
                break;
            lines += letter == '\n';
            if (letter != '\n' || lines == 1)
                name[n++] = letter == '\n' ? '.' : letter;
        }
    }
    plim_fail(m->reterr, PLIM_E_UNSUPPORTED, m->at, "the pickle wants to import '%s': a snapshot is data only", name);
    plim_error_hint(m->reterr, "it was not imported: a saved model wants such things, and so does a harmful file; "
                               "torch.cuda.memory._dump_snapshot('snapshot.pickle') writes a snapshot");
    return PLIM_E_UNSUPPORTED;
}

static int refuse_opcode(struct machine *m, unsigned opcode)
{
    const bool runs = opcode == OP_REDUCE || opcode == OP_BUILD || opcode == OP_OBJ || opcode == OP_NEWOBJ ||
                      opcode == OP_NEWOBJ_EX || (opcode >= OP_EXT1 && opcode <= OP_EXT4) || opcode == OP_PERSID ||
                      opcode == OP_BINPERSID;
    if (runs)
        return plim_fail(m->reterr, PLIM_E_UNSUPPORTED, m->at,
                         "the pickle wants to run code (opcode 0x%02x): a snapshot is data only", opcode);
    return plim_fail(m->reterr, PLIM_E_UNSUPPORTED, m->at, "opcode 0x%02x is none of a snapshot's pickle", opcode);
}

/* --- the stack and the memo --- */

static int push(struct machine *m, plim_pickle_value value)
{
    plim_pickle_value *stack = plim_trace_grow(m->objects, m->stack, m->n_stack, &m->stack_room, sizeof *m->stack);
    if (!stack)
        return no_room(m);
    m->stack = stack;
    m->stack[m->n_stack++] = value;
    return 0;
}

/* The stack down to which opcodes may take: the last mark. */
static size_t floor_of(const struct machine *m) { return m->n_marks ? m->marks[m->n_marks - 1] : 0; }

static bool has_values(const struct machine *m, size_t n) { return m->n_stack - floor_of(m) >= n; }

static int mark(struct machine *m)
{
    if (m->n_marks == PLIM_MAX_PICKLE_MARKS)
        return corrupt(m, "lists and dicts lie too deep");
    m->marks[m->n_marks++] = m->n_stack;
    return 0;
}

static int remember(struct machine *m, uint64_t place)
{
    if (!has_values(m, 1))
        return corrupt(m, "nothing to remember");
    if (place > m->n_memo)
        return corrupt(m, "the memo has a gap");
    if (place == m->n_memo) {
        plim_pickle_value *memo = plim_trace_grow(m->objects, m->memo, m->n_memo, &m->memo_room, sizeof *m->memo);
        if (!memo)
            return no_room(m);
        m->memo = memo;
        m->n_memo++;
    }
    m->memo[place] = m->stack[m->n_stack - 1];
    return 0;
}

static int recall(struct machine *m, uint64_t place)
{
    if (m->c->failed)
        return 0;
    return place < m->n_memo ? push(m, m->memo[place]) : corrupt(m, "the memo has no such place");
}

/* --- values --- */

static int push_number(struct machine *m, int64_t number)
{
    const bool is_kept = number >= -(INT64_C(1) << 59) && number < INT64_C(1) << 59;
    return push(m, is_kept ? plim_pickle_make(PLIM_PICKLE_NUMBER, (uint64_t)number)
                           : plim_pickle_make(PLIM_PICKLE_NONE, 0));
}

/* Little-endian two's complement. Longer ones than eight bytes are none of a snapshot's numbers. */
static int push_long(struct machine *m, uint64_t n)
{
    const unsigned char *bytes;
    if (n > 8) {
        plim_cursor_skip(m->c, n);
        return push(m, plim_pickle_make(PLIM_PICKLE_NONE, 0));
    }
    if (!plim_cursor_take(m->c, n, &bytes))
        return 0;
    uint64_t value = n && bytes[n - 1] & 0x80 ? UINT64_MAX : 0;
    for (uint64_t i = n; i-- > 0;)
        value = value << 8 | bytes[i];
    return push_number(m, (int64_t)value);
}

static int push_real(struct machine *m)
{
    const unsigned char *bytes;
    uint64_t bits = 0;
    if (!plim_cursor_take(m->c, 8, &bytes))
        return 0;
    for (unsigned i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    return push(m, plim_pickle_make(PLIM_PICKLE_REAL, bits >> 4));
}

static int push_text(struct machine *m, uint64_t length)
{
    const unsigned char *bytes;
    plim_pickle_value value;
    if (m->c->failed)
        return 0;
    if (length > PLIM_MAX_PICKLE_TEXT_BYTES)
        return plim_fail(m->reterr, PLIM_E_TOO_BIG, m->at, "a text of %" PRIu64 " bytes is none of a snapshot", length);
    if (!plim_cursor_take(m->c, length, &bytes))
        return 0;
    return plim_trace_text(m->objects, (const char *)bytes, (size_t)length, &value) ? push(m, value) : no_room(m);
}

static int push_new(struct machine *m, bool (*make)(struct plim_trace_objects *, plim_pickle_value *))
{
    plim_pickle_value value;
    return make(m->objects, &value) ? push(m, value) : no_room(m);
}

static bool is_small_number(plim_pickle_value value)
{
    return plim_pickle_tag(value) == PLIM_PICKLE_NUMBER && plim_pickle_rest(value) < UINT64_C(1) << 30;
}

/* The last n values become a tuple. */
static int make_tuple(struct machine *m, size_t n)
{
    plim_pickle_value value;
    if (!has_values(m, n))
        return corrupt(m, "a tuple lacks values");
    const plim_pickle_value *items = m->stack + m->n_stack - n;
    if (n == 2 && is_small_number(items[0]) && is_small_number(items[1]))
        value = plim_pickle_make(PLIM_PICKLE_PAIR, plim_pickle_rest(items[0]) << 30 | plim_pickle_rest(items[1]));
    else if (!plim_trace_new_list(m->objects, &value) || !plim_trace_append(m->objects, value, items, n))
        return no_room(m);
    m->n_stack -= n;
    return push(m, value);
}

static int make_marked_tuple(struct machine *m)
{
    if (!m->n_marks)
        return corrupt(m, "a tuple without a beginning");
    const size_t n = m->n_stack - m->marks[--m->n_marks];
    return make_tuple(m, n);
}

/* The last n values go into the list or dict below them; n of SIZE_MAX: those behind the mark. */
static int fill(struct machine *m, size_t n, enum plim_pickle_tag wanted)
{
    if (n == SIZE_MAX) {
        if (!m->n_marks)
            return corrupt(m, "items without a beginning");
        n = m->n_stack - m->marks[--m->n_marks];
    }
    if (!has_values(m, n + 1) || plim_pickle_tag(m->stack[m->n_stack - n - 1]) != wanted)
        return corrupt(m, "items belong to no list or dict");
    const plim_pickle_value *items = m->stack + m->n_stack - n;
    const bool is_done = wanted == PLIM_PICKLE_LIST ? plim_trace_append(m->objects, items[-1], items, n)
                                                    : plim_trace_set(m->objects, items[-1], items, n);
    m->n_stack -= n;
    return is_done ? 0 : no_room(m);
}

static int read_protocol(struct machine *m)
{
    const uint64_t protocol = plim_cursor_uint(m->c, 1);
    if (m->c->failed || (protocol >= OLDEST_PROTOCOL && protocol <= NEWEST_PROTOCOL))
        return 0;
    return plim_fail(m->reterr, PLIM_E_UNSUPPORTED, m->at, "pickle protocol %" PRIu64 " is not known", protocol);
}

static int obey_container(struct machine *m, unsigned opcode)
{
    switch (opcode) {
    case OP_EMPTY_LIST:
        return push_new(m, plim_trace_new_list);
    case OP_EMPTY_DICT:
        return push_new(m, plim_trace_new_dict);
    case OP_APPEND:
        return fill(m, 1, PLIM_PICKLE_LIST);
    case OP_APPENDS:
        return fill(m, SIZE_MAX, PLIM_PICKLE_LIST);
    case OP_SETITEM:
        return fill(m, 2, PLIM_PICKLE_DICT);
    case OP_SETITEMS:
        return fill(m, SIZE_MAX, PLIM_PICKLE_DICT);
    case OP_EMPTY_TUPLE:
        return make_tuple(m, 0);
    case OP_TUPLE:
        return make_marked_tuple(m);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return make_tuple(m, opcode - OP_TUPLE1 + 1);
    case OP_MARK:
        return mark(m);
    case OP_GLOBAL:
    case OP_INST:
    case OP_STACK_GLOBAL:
        return refuse_name(m, opcode == OP_STACK_GLOBAL);
    default:
        return refuse_opcode(m, opcode);
    }
}

static int obey(struct machine *m, unsigned opcode)
{
    switch (opcode) {
    case OP_BINGET:
        return recall(m, plim_cursor_uint(m->c, 1));
    case OP_LONG_BINGET:
        return recall(m, plim_cursor_u32(m->c));
    case OP_MEMOIZE:
        return remember(m, m->n_memo);
    case OP_BINPUT:
        return remember(m, plim_cursor_uint(m->c, 1));
    case OP_LONG_BINPUT:
        return remember(m, plim_cursor_u32(m->c));
    case OP_BININT:
        return push_number(m, (int32_t)plim_cursor_u32(m->c));
    case OP_BININT1:
        return push_number(m, (int64_t)plim_cursor_uint(m->c, 1));
    case OP_BININT2:
        return push_number(m, (int64_t)plim_cursor_uint(m->c, 2));
    case OP_LONG1:
        return push_long(m, plim_cursor_uint(m->c, 1));
    case OP_LONG4:
        return push_long(m, plim_cursor_u32(m->c));
    case OP_BINFLOAT:
        return push_real(m);
    case OP_SHORT_BINUNICODE:
        return push_text(m, plim_cursor_uint(m->c, 1));
    case OP_BINUNICODE:
        return push_text(m, plim_cursor_u32(m->c));
    case OP_BINUNICODE8:
        return push_text(m, plim_cursor_u64(m->c));
    case OP_NONE:
        return push(m, plim_pickle_make(PLIM_PICKLE_NONE, 0));
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return push(m, plim_pickle_make(PLIM_PICKLE_TRUTH, opcode == OP_NEWTRUE));
    case OP_FRAME: /* how many bytes follow: for readers that fetch them at once */
        plim_cursor_skip(m->c, 8);
        return 0;
    case OP_PROTO:
        return read_protocol(m);
    default:
        return obey_container(m, opcode);
    }
}

/*
 * The opcodes that most of a snapshot is of, when all their bytes are at hand: a frame of a stack is one that gets
 * something from the memo. False: nothing was done.
 */
static inline bool obey_at_hand(struct machine *m)
{
    struct plim_cursor *c = m->c;
    const uint64_t end = c->data_end < c->size ? c->data_end : c->size;
    if (c->failed || c->at >= end || end - c->at < 5 || m->n_stack == m->stack_room)
        return false;
    const unsigned char *p = c->data + (c->at - c->data_at);
    uint64_t value;
    unsigned n_bytes;
    switch (p[0]) {
    case OP_BINGET:
    case OP_BININT1:
        value = p[1];
        n_bytes = 2;
        break;
    case OP_BININT2:
        value = (uint64_t)p[1] | (uint64_t)p[2] << 8;
        n_bytes = 3;
        break;
    case OP_LONG_BINGET:
        value = (uint64_t)p[1] | (uint64_t)p[2] << 8 | (uint64_t)p[3] << 16 | (uint64_t)p[4] << 24;
        n_bytes = 5;
        break;
    default:
        return false;
    }
    if (p[0] == OP_BININT1 || p[0] == OP_BININT2)
        m->stack[m->n_stack++] = plim_pickle_make(PLIM_PICKLE_NUMBER, value);
    else if (value < m->n_memo)
        m->stack[m->n_stack++] = m->memo[value];
    else
        return false;
    c->at += n_bytes;
    return true;
}

static int run(struct machine *m, plim_pickle_value *ret_top)
{
    for (;;) {
        while (obey_at_hand(m))
            continue;
        m->at = m->c->at;
        const unsigned opcode = (unsigned)plim_cursor_uint(m->c, 1);
        if (opcode == OP_STOP && !m->c->failed)
            break;
        const int result = m->c->failed ? 0 : obey(m, opcode);
        if (result < 0)
            return result;
        if (m->c->failed && m->c->error)
            return plim_fail_errno(m->reterr, NULL, "cannot read", m->c->error);
        if (m->c->failed)
            return plim_fail(m->reterr, PLIM_E_TRUNCATED, m->c->failed_at, "the pickle ends early");
    }
    if (m->n_marks || m->n_stack != 1)
        return corrupt(m, "it ends with more or less than one value");
    *ret_top = m->stack[0];
    return 0;
}

int plim_pickle_read(struct plim_cursor *cursor, struct plim_trace_objects *objects, plim_pickle_value *ret_top,
                     struct plim_error *reterr)
{
    struct machine m = { .c = cursor, .objects = objects, .reterr = reterr };
    const bool has_stack = PLIM_TRACE_GROW(objects, m.stack, 0, m.stack_room); /* an empty one has a place, too */
    const int result = has_stack ? run(&m, ret_top) : no_room(&m);
    plim_free(m.stack);
    plim_free(m.memo);
    return result;
}
