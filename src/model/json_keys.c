/* SPDX-License-Identifier: MIT */
#include "model/json_keys.h"

#include "base/json.h"
#include "base/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct reader {
    struct plim_json json;
    struct plim_model *model;
    char name[PLIM_MAX_CONFIG_KEY_BYTES + 1]; /* of the value being read */
    int64_t numbers[PLIM_MAX_KEPT_ARRAY];     /* of the list being read, while it holds nothing else */
};

static int read_value(struct reader *r, size_t length, uint64_t at, unsigned depth);

/* One more key under the first `length` bytes of the name. */
static int add_key(struct reader *r, size_t length, struct plim_key key)
{
    key.name = plim_arena_copy(&r->model->arena, r->name, length);
    return key.name ? plim_model_add_key(r->model, &key, r->json.err) : plim_model_no_room(r->model, r->json.err);
}

/* Append a part to the name; 0 when it becomes too long to be kept. */
static size_t append(struct reader *r, size_t length, const char *part, size_t n)
{
    const size_t dot = length > 0;
    if (length + dot + n > PLIM_MAX_CONFIG_KEY_BYTES || memchr(part, '\0', n))
        return 0;
    r->name[length] = '.';
    memcpy(r->name + length + dot, part, n);
    return length + dot + n;
}

static int read_member(struct reader *r, size_t length, const struct plim_json_text *key, unsigned depth)
{
    const uint64_t at = key->at;
    const size_t n = key->is_cut || key->length == 0 ? 0 : append(r, length, key->text, key->length);
    return n ? read_value(r, n, at, depth) : plim_json_skip(&r->json);
}

static int read_object(struct reader *r, size_t length, uint64_t at, unsigned depth)
{
    struct plim_json_text key;
    int result = plim_json_object(&r->json);
    if (result == 0 && length)
        result = add_key(r, length, (struct plim_key){ .at = at, .type = PLIM_VALUE_OBJECT });
    while (result == 0 && (result = plim_json_member(&r->json, &key)) > 0)
        result = read_member(r, length, &key, depth + 1);
    return result;
}

/* --- scalars --- */

static int read_string(struct reader *r, struct plim_key *key)
{
    struct plim_json_text text;
    int result = plim_json_string(&r->json, &text);
    if (result < 0)
        return result;
    key->type = PLIM_VALUE_STRING;
    if (text.is_cut || memchr(text.text, '\0', text.length))
        return 0;
    key->string = plim_arena_copy(&r->model->arena, text.text, text.length);
    return key->string ? 0 : plim_model_no_room(r->model, r->json.err);
}

static int read_number(struct reader *r, struct plim_key *key)
{
    struct plim_json_number number;
    int result = plim_json_number(&r->json, &number);
    if (result < 0)
        return result;
    key->type = number.type == PLIM_JSON_UNSIGNED ? PLIM_VALUE_UNSIGNED
                : number.type == PLIM_JSON_SIGNED ? PLIM_VALUE_SIGNED
                                                  : PLIM_VALUE_REAL;
    if (number.type == PLIM_JSON_REAL)
        key->f = number.f;
    else if (number.type == PLIM_JSON_SIGNED)
        key->i = number.i;
    else
        key->u = number.u;
    return 0;
}

static int read_bool(struct reader *r, struct plim_key *key)
{
    bool truth = false;
    int result = plim_json_bool(&r->json, &truth);
    key->type = PLIM_VALUE_BOOL;
    key->u = truth;
    return result;
}

/* --- lists --- */

/* Append the number of an item to the name; 0 when the name is too long, or the list. */
static size_t append_index(struct reader *r, size_t length, uint64_t i)
{
    char number[24];
    const int digits = snprintf(number, sizeof number, "%" PRIu64, i);
    return i < PLIM_MAX_KEPT_ARRAY ? append(r, length, number, (size_t)digits) : 0;
}

/* The numbers so far get keys of their own, for the list holds something else as well. */
static int spill_numbers(struct reader *r, size_t length, uint64_t at, uint64_t n)
{
    int result = 0;
    for (uint64_t i = 0; i < n && i < PLIM_MAX_KEPT_ARRAY && result == 0; i++) {
        const int64_t value = r->numbers[i];
        const size_t end = append_index(r, length, i);
        if (end)
            result = add_key(r, end, (struct plim_key){ .at = at, .type = PLIM_VALUE_SIGNED, .i = value });
    }
    return result;
}

/* The i-th item of a list that holds integers and booleans so far; ends *has_numbers when it is neither. */
static int read_first_items(struct reader *r, size_t length, uint64_t i, unsigned depth, bool *has_numbers)
{
    int64_t value;
    struct plim_key key = { .at = plim_json_at(&r->json) };
    const enum plim_json_type type = plim_json_type(&r->json);
    const bool is_scalar = type == PLIM_JSON_NUMBER || type == PLIM_JSON_BOOL;
    int result = type == PLIM_JSON_NUMBER ? read_number(r, &key) : is_scalar ? read_bool(r, &key) : 0;
    if (result < 0)
        return result;
    const bool is_signed = key.type == PLIM_VALUE_SIGNED;
    *has_numbers = is_scalar && (is_signed || (key.type != PLIM_VALUE_REAL && key.u <= INT64_MAX));
    if (*has_numbers) {
        value = is_signed ? key.i : (int64_t)key.u;
        if (i < PLIM_MAX_KEPT_ARRAY) /* a longer list is not kept */
            r->numbers[i] = value;
        return 0;
    }
    result = spill_numbers(r, length, key.at, i);
    const size_t n = append_index(r, length, i);
    if (result < 0 || (is_scalar && !n))
        return result;
    return is_scalar ? add_key(r, n, key) : n ? read_value(r, n, key.at, depth) : plim_json_skip(&r->json);
}

static int read_item(struct reader *r, size_t length, uint64_t i, unsigned depth)
{
    const size_t n = append_index(r, length, i);
    return n ? read_value(r, n, plim_json_at(&r->json), depth) : plim_json_skip(&r->json);
}

static int keep_list(struct reader *r, size_t length, struct plim_key key, bool has_numbers)
{
    if (has_numbers && key.n <= PLIM_MAX_KEPT_ARRAY) {
        int64_t *numbers = plim_arena_alloc(&r->model->arena, key.n, sizeof *numbers);
        if (!numbers)
            return plim_model_no_room(r->model, r->json.err);
        memcpy(numbers, r->numbers, key.n * sizeof *numbers);
        key.numbers = numbers;
    }
    return add_key(r, length, key);
}

static int read_list(struct reader *r, size_t length, uint64_t at, unsigned depth)
{
    struct plim_key key = { .at = at, .type = PLIM_VALUE_ARRAY };
    bool has_numbers = true; /* and nothing else, so far */
    int result = plim_json_array(&r->json);
    while (result == 0 && (result = plim_json_item(&r->json)) > 0) {
        result = has_numbers ? read_first_items(r, length, key.n, depth + 1, &has_numbers)
                             : read_item(r, length, key.n, depth + 1);
        key.n++;
    }
    return result < 0 ? result : keep_list(r, length, key, has_numbers);
}

/* --- values --- */

static int read_value(struct reader *r, size_t length, uint64_t at, unsigned depth)
{
    int result;
    struct plim_key key = { .at = at };
    if (depth == PLIM_MAX_JSON_DEPTH)
        return plim_fail(r->json.err, PLIM_E_TOO_BIG, plim_json_at(&r->json), "JSON nested deeper than %d",
                         PLIM_MAX_JSON_DEPTH);
    switch (plim_json_type(&r->json)) {
    case PLIM_JSON_OBJECT:
        return read_object(r, length, at, depth);
    case PLIM_JSON_ARRAY:
        return read_list(r, length, at, depth);
    case PLIM_JSON_STRING:
        result = read_string(r, &key);
        break;
    case PLIM_JSON_NUMBER:
        result = read_number(r, &key);
        break;
    case PLIM_JSON_BOOL:
        result = read_bool(r, &key);
        break;
    case PLIM_JSON_NONFINITE: /* "time_step_limit": [0.0, Infinity] of Mamba 2 */
        return plim_json_nonfinite(&r->json);
    default:
        return plim_json_skip(&r->json); /* null, or an error */
    }
    return result < 0 ? result : add_key(r, length, key);
}

int plim_json_keys_read(struct plim_model *model, struct plim_cursor cursor, struct plim_error *reterr)
{
    struct reader *r = plim_alloc(1, sizeof *r);
    if (!r)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    r->model = model;
    plim_json_init(&r->json, cursor, reterr);
    int result = read_object(r, 0, 0, 0);
    if (result == 0)
        result = plim_json_end(&r->json);
    plim_free(r);
    return result < 0 ? result : plim_keys_sort(model->keys, model->n_keys, reterr);
}
