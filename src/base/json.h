/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_JSON_H
#define PLIMSOLL_BASE_JSON_H

/*
 * A pull reader of JSON: the caller asks for the type it expects, and no tree is built. It is for large headers of
 * which little is kept, read through a cursor. Strict as RFC 8259: no trailing commas, no comments, UTF-8 only.
 *
 *     plim_json_object(&j);
 *     while ((more = plim_json_member(&j, &key)) > 0)
 *         plim_json_u64(&j, &value);
 *
 * Functions return 0 (some 1, see there) or a negative PLIM_E_*, with the byte offset of the error.
 */

#include "base/cursor.h"
#include "base/error.h"
#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_json {
    struct plim_cursor c; /* offsets in errors are its */
    struct plim_error *err;
    bool is_start;                           /* an object or array was just opened */
    char text[PLIM_MAX_JSON_TEXT_BYTES + 4]; /* of the last string; 4: the last character may reach beyond */
};

/* A string without its escapes, in the reader until the next one is read. It may contain NUL bytes. */
struct plim_json_text {
    const char *text;
    size_t length; /* at most PLIM_MAX_JSON_TEXT_BYTES */
    uint64_t at;   /* where it begins, in the file */
    bool is_cut;   /* it is longer */
};

void plim_json_init(struct plim_json *json, struct plim_cursor cursor, struct plim_error *reterr);

int plim_json_object(struct plim_json *json) PLIM_MUST_CHECK;
int plim_json_array(struct plim_json *json) PLIM_MUST_CHECK;

/* The next member of an object: 1, and its value is next; 0 at the end of the object. */
int plim_json_member(struct plim_json *json, struct plim_json_text *ret_key) PLIM_MUST_CHECK;

/* The next item of an array: 1, and it is next; 0 at the end of the array. */
int plim_json_item(struct plim_json *json) PLIM_MUST_CHECK;

int plim_json_string(struct plim_json *json, struct plim_json_text *ret_text) PLIM_MUST_CHECK;

/* What value comes next, by its first character. */
enum plim_json_type {
    PLIM_JSON_INVALID,
    PLIM_JSON_OBJECT,
    PLIM_JSON_ARRAY,
    PLIM_JSON_STRING,
    PLIM_JSON_NUMBER,
    PLIM_JSON_BOOL,
    PLIM_JSON_NULL,
    PLIM_JSON_NONFINITE /* NaN, Infinity, -Infinity: Python writes them, JSON does not have them */
};
enum plim_json_type plim_json_type(struct plim_json *json);

int plim_json_bool(struct plim_json *json, bool *ret_value) PLIM_MUST_CHECK;

/* Pass over a non-finite number, for readers of files that Python wrote; plim_json_skip() and _number() refuse them. */
int plim_json_nonfinite(struct plim_json *json) PLIM_MUST_CHECK;

/*
 * Any number. Integers from -2^63 to 2^64 - 1 are exact; a real number is the nearest double when it has up to 15
 * digits and an exponent up to 22, and a few units in the last place off beyond that.
 */
struct plim_json_number {
    enum { PLIM_JSON_UNSIGNED, PLIM_JSON_SIGNED, PLIM_JSON_REAL } type;
    union {
        uint64_t u;
        int64_t i; /* negative */
        double f;
    };
};
int plim_json_number(struct plim_json *json, struct plim_json_number *ret_number) PLIM_MUST_CHECK;

/* A whole number from 0 to 2^64 - 1, exactly; nothing else. */
int plim_json_u64(struct plim_json *json, uint64_t *ret_value) PLIM_MUST_CHECK;

/* Any value, PLIM_MAX_JSON_DEPTH deep at most. */
int plim_json_skip(struct plim_json *json) PLIM_MUST_CHECK;

/* Nothing but white space follows. */
int plim_json_end(struct plim_json *json) PLIM_MUST_CHECK;

/* Where the next token begins, in the file. */
uint64_t plim_json_at(struct plim_json *json);

bool plim_json_is(const struct plim_json_text *text, const char *what);

#endif
