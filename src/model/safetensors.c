/* SPDX-License-Identifier: MIT */
/*
 * The safetensors reader: one file.
 *
 * A file is eight bytes with the length of the header (little-endian), the header, and the data. The header is a JSON
 * object: for each tensor its dtype, shape and data_offsets, and perhaps strings under __metadata__. We walk it in
 * memory and keep names and numbers. The data is never looked at; that it would be there is checked against the size
 * of the file.
 *
 * Format and what is refused: https://github.com/huggingface/safetensors, README.md and safetensors/src/tensor.rs at
 * v0.6.2. Beyond that, no name may be there twice anywhere, and limits are those of base/limits.h. A type's name and
 * size are those of model/dtype.c.
 */
#include "model/safetensors.h"

#include "base/json.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8 };

static const char metadata_name[] = "__metadata__";

struct reader {
    struct plim_json json;
    struct plim_model *model;
    struct plim_error *err;
    uint64_t file_bytes, data_at;
    size_t first;         /* of this file's tensors in the model */
    uint64_t metadata_at; /* 0: there is none yet */
};

/* A tensor as the header describes it. */
struct entry {
    const char *name;
    uint64_t at; /* where its name stands */
    enum plim_dtype type;
    uint64_t shape[PLIM_MAX_DIMS]; /* outermost first */
    uint64_t begin, end;
    uint32_t n_dims;
    bool has_type, has_shape, has_offsets;
};

static int out_of_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

static int copy_name(struct reader *r, const struct plim_json_text *text, const char **ret_name)
{
    if (text->is_cut || text->length > PLIM_MAX_SAFETENSORS_NAME_BYTES)
        return plim_fail(r->err, PLIM_E_TOO_BIG, text->at, "a name of more than %d bytes",
                         PLIM_MAX_SAFETENSORS_NAME_BYTES);
    if (memchr(text->text, '\0', text->length))
        return plim_fail(r->err, PLIM_E_CORRUPT, text->at, "a name contains a NUL character");
    *ret_name = plim_arena_copy(&r->model->arena, text->text, text->length);
    return *ret_name ? 0 : plim_model_no_room(r->model, r->err);
}

/* --- one tensor --- */

static int twice(struct reader *r, uint64_t at, const struct entry *tensor, const char *field)
{
    return plim_fail(r->err, PLIM_E_CORRUPT, at, "tensor '%.64s' has two of '%s'", tensor->name, field);
}

static int read_type(struct reader *r, struct entry *tensor)
{
    struct plim_json_text text;
    int result = plim_json_string(&r->json, &text);
    if (result < 0)
        return result;
    for (int i = PLIM_DTYPE_UNKNOWN + 1; i < PLIM_DTYPE_MAX_; i++) {
        const char *name = plim_dtype_safetensors_name((enum plim_dtype)i);
        if (name && plim_json_is(&text, name)) {
            tensor->type = (enum plim_dtype)i;
            return 0;
        }
    }
    return plim_fail(r->err, PLIM_E_UNSUPPORTED, text.at, "tensor '%.64s' has the unknown dtype '%.*s'", tensor->name,
                     text.length < 32 ? (int)text.length : 32, text.text);
}

/* Numbers of an array; fails when there are more than max. */
static int read_numbers(struct reader *r, const struct entry *tensor, const char *field, uint64_t *ret_numbers,
                        uint32_t max, uint32_t *ret_n)
{
    uint32_t n = 0;
    int result = plim_json_array(&r->json);
    if (result < 0)
        return result;
    while ((result = plim_json_item(&r->json)) > 0) {
        if (n == max)
            return plim_fail(r->err, PLIM_E_CORRUPT, plim_json_at(&r->json),
                             "'%s' of tensor '%.64s' has more than %" PRIu32 " numbers", field, tensor->name, max);
        result = plim_json_u64(&r->json, &ret_numbers[n++]);
        if (result < 0)
            return result;
    }
    *ret_n = n;
    return result;
}

static int read_offsets(struct reader *r, struct entry *tensor)
{
    uint64_t offsets[2], at = plim_json_at(&r->json);
    uint32_t n = 0;
    int result = read_numbers(r, tensor, "data_offsets", offsets, 2, &n);
    if (result < 0)
        return result;
    if (n != 2 || offsets[0] > offsets[1])
        return plim_fail(r->err, PLIM_E_CORRUPT, at,
                         "'data_offsets' of tensor '%.64s' must be two numbers, the smaller first", tensor->name);
    tensor->begin = offsets[0];
    tensor->end = offsets[1];
    return 0;
}

static int read_field(struct reader *r, const struct plim_json_text *key, struct entry *tensor)
{
    if (plim_json_is(key, "dtype")) {
        if (tensor->has_type)
            return twice(r, key->at, tensor, "dtype");
        tensor->has_type = true;
        return read_type(r, tensor);
    }
    if (plim_json_is(key, "shape")) {
        if (tensor->has_shape)
            return twice(r, key->at, tensor, "shape");
        tensor->has_shape = true;
        return read_numbers(r, tensor, "shape", tensor->shape, PLIM_MAX_DIMS, &tensor->n_dims);
    }
    if (plim_json_is(key, "data_offsets")) {
        if (tensor->has_offsets)
            return twice(r, key->at, tensor, "data_offsets");
        tensor->has_offsets = true;
        return read_offsets(r, tensor);
    }
    return plim_json_skip(&r->json); /* readers ignore what they do not know */
}

/* The shape times the size of an element is what the offsets span. */
static int check_size(struct reader *r, const struct entry *tensor)
{
    uint64_t bits = 8 * plim_dtype_block_bytes(tensor->type) / plim_dtype_block_elements(tensor->type);
    bool overflows = false, is_empty = false;
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        is_empty |= tensor->shape[i] == 0;
    for (uint32_t i = 0; i < tensor->n_dims && !is_empty; i++)
        overflows |= __builtin_mul_overflow(bits, tensor->shape[i], &bits);
    if (is_empty)
        bits = 0;
    if (overflows)
        return plim_fail(r->err, PLIM_E_CORRUPT, tensor->at, "tensor '%.64s' is larger than 2^64 bits", tensor->name);
    if (bits % 8 || bits / 8 != tensor->end - tensor->begin)
        return plim_fail(r->err, PLIM_E_CORRUPT, tensor->at,
                         "tensor '%.64s' has %" PRIu64 " bits by its shape, and %" PRIu64 " bytes by its data_offsets",
                         tensor->name, bits, tensor->end - tensor->begin);
    return 0;
}

static int add_tensor(struct reader *r, const struct entry *entry)
{
    struct plim_tensor *tensor;
    if (r->model->n_tensors - r->first == PLIM_MAX_SAFETENSORS_TENSORS)
        return plim_fail(r->err, PLIM_E_TOO_BIG, entry->at, "more than %d tensors in one header",
                         PLIM_MAX_SAFETENSORS_TENSORS);
    int result = plim_model_add_tensors(r->model, 1, &tensor, r->err);
    if (result < 0)
        return result;
    tensor->name = entry->name;
    tensor->type = entry->type;
    tensor->info_at = entry->at;
    tensor->offset = entry->begin;
    tensor->bytes = entry->end - entry->begin;
    tensor->n_dims = entry->n_dims;
    for (uint32_t i = 0; i < entry->n_dims; i++)
        tensor->ne[i] = entry->shape[entry->n_dims - 1 - i];
    return 0;
}

static int read_tensor(struct reader *r, const struct plim_json_text *name)
{
    struct plim_json_text key;
    struct entry tensor = { .at = name->at };
    int result = copy_name(r, name, &tensor.name);
    if (result == 0)
        result = plim_json_object(&r->json);
    while (result == 0 && (result = plim_json_member(&r->json, &key)) > 0)
        result = read_field(r, &key, &tensor);
    if (result < 0)
        return result;
    if (!tensor.has_type || !tensor.has_shape || !tensor.has_offsets)
        return plim_fail(r->err, PLIM_E_CORRUPT, tensor.at, "tensor '%.64s' has no '%s'", tensor.name,
                         !tensor.has_type    ? "dtype"
                         : !tensor.has_shape ? "shape"
                                             : "data_offsets");
    result = check_size(r, &tensor);
    return result < 0 ? result : add_tensor(r, &tensor);
}

/* --- the header --- */

/* One string of __metadata__. */
static int read_metadatum(struct reader *r, const struct plim_json_text *name)
{
    char text[sizeof metadata_name + 1 + PLIM_MAX_SAFETENSORS_NAME_BYTES];
    struct plim_json_text value = { 0 }, full = *name;
    struct plim_key key = { .at = name->at, .type = PLIM_VALUE_STRING };
    full.text = text;
    full.length = (size_t)snprintf(text, sizeof text, "%s.", metadata_name);
    if (name->is_cut || full.length + name->length > PLIM_MAX_SAFETENSORS_NAME_BYTES)
        full.is_cut = true;
    else
        memcpy(text + full.length, name->text, name->length);
    full.length += name->length;
    int result = copy_name(r, &full, &key.name);
    if (result == 0)
        result = plim_json_string(&r->json, &value);
    if (result < 0)
        return result;
    if (r->model->n_keys == PLIM_MAX_GGUF_KEYS)
        return plim_fail(r->err, PLIM_E_TOO_BIG, name->at, "more than %d keys", PLIM_MAX_GGUF_KEYS);
    if (value.text && !value.is_cut && !memchr(value.text, '\0', value.length)) {
        key.string = plim_arena_copy(&r->model->arena, value.text, value.length);
        if (!key.string)
            return plim_model_no_room(r->model, r->err);
    }
    return plim_model_add_key(r->model, &key, r->err);
}

static int read_metadata(struct reader *r, uint64_t at)
{
    struct plim_json_text key;
    if (r->metadata_at)
        return plim_fail(r->err, PLIM_E_CORRUPT, at, "'%s' appears twice, first at byte %" PRIu64, metadata_name,
                         r->metadata_at);
    r->metadata_at = at;
    int result = plim_json_object(&r->json);
    while (result == 0 && (result = plim_json_member(&r->json, &key)) > 0)
        result = read_metadatum(r, &key);
    return result;
}

static int read_members(struct reader *r)
{
    struct plim_json_text key;
    int result = plim_json_object(&r->json);
    while (result == 0 && (result = plim_json_member(&r->json, &key)) > 0)
        result = plim_json_is(&key, metadata_name) ? read_metadata(r, key.at) : read_tensor(r, &key);
    return result < 0 ? result : plim_json_end(&r->json);
}

/* --- the layout of the data --- */

static int compare_places(const void *a, const void *b)
{
    const struct plim_tensor *x = *(const struct plim_tensor *const *)a, *y = *(const struct plim_tensor *const *)b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int check_end(struct reader *r, uint64_t data_end)
{
    char size[PLIM_SIZE_TEXT];
    const uint64_t data_bytes = r->file_bytes - r->data_at;
    if (data_end == data_bytes)
        return 0;
    if (data_end < data_bytes)
        return plim_fail(r->err, PLIM_E_CORRUPT, r->data_at + data_end,
                         "%" PRIu64 " bytes at the end of the file belong to no tensor", data_bytes - data_end);
    int code =
        plim_fail(r->err, PLIM_E_TRUNCATED, r->file_bytes,
                  "the file ends inside the data: %" PRIu64 " bytes wanted, %" PRIu64 " there", data_end, data_bytes);
    plim_error_hint(r->err, "the file has %s; an interrupted download? fetch it again",
                    plim_size_text(size, r->file_bytes));
    return code;
}

/* Without gaps and overlaps, from the end of the header to the end of the file. */
static int check_layout(struct reader *r)
{
    const size_t n = r->model->n_tensors - r->first;
    const struct plim_tensor *tensors = n ? r->model->tensors + r->first : NULL;
    uint64_t expected = 0;
    const struct plim_tensor **places = plim_alloc(n, sizeof *places);
    if (!places)
        return out_of_memory(r->err);
    for (size_t i = 0; i < n; i++)
        places[i] = &tensors[i];
    if (n)
        qsort(places, n, sizeof *places, compare_places);
    int result = 0;
    for (size_t i = 0; i < n && result == 0; i++) {
        if (places[i]->offset != expected)
            result = plim_fail(r->err, PLIM_E_CORRUPT, places[i]->info_at,
                               "the data of tensor '%.64s' %s: offset %" PRIu64 ", expected %" PRIu64, places[i]->name,
                               places[i]->offset < expected ? "overlaps another" : "leaves a gap", places[i]->offset,
                               expected);
        expected = places[i]->offset + places[i]->bytes;
    }
    plim_free(places);
    return result < 0 ? result : check_end(r, expected);
}

/* --- the file --- */

/* Read the length of the header and end the cursor where the header does. */
static int find_header(struct reader *r)
{
    const unsigned char *first;
    struct plim_cursor *c = &r->json.c;
    const uint64_t length = plim_cursor_u64(c);
    if (c->failed && c->error)
        return plim_fail(r->err, PLIM_E_IO, 0, "cannot read: %s", strerror(c->error));
    if (c->failed)
        return plim_fail(r->err, PLIM_E_TRUNCATED, 0, "the file ends inside the length of the header");
    if (plim_cursor_left(c) && plim_cursor_peek(c, 1, &first) && *first != '{')
        return plim_fail(r->err, PLIM_E_UNSUPPORTED, LENGTH_BYTES,
                         "expected safetensors: '{' after the length of the header, found byte %02x", *first);
    if (length > PLIM_MAX_SAFETENSORS_HEADER_BYTES)
        return plim_fail(r->err, PLIM_E_TOO_BIG, 0, "a header of %" PRIu64 " bytes; the format allows %d", length,
                         PLIM_MAX_SAFETENSORS_HEADER_BYTES);
    if (length > plim_cursor_left(c)) {
        int code = plim_fail(r->err, PLIM_E_TRUNCATED, c->size,
                             "the file ends inside the header: %" PRIu64 " bytes wanted, %" PRIu64 " there", length,
                             plim_cursor_left(c));
        plim_error_hint(r->err, "an interrupted download? fetch it again");
        return code;
    }
    r->data_at = c->size = LENGTH_BYTES + length;
    return 0;
}

int plim_safetensors_parse(struct plim_cursor cursor, uint64_t file_bytes, struct plim_model *model,
                           uint64_t *ret_data_at, struct plim_error *reterr)
{
    const size_t first_key = model->n_keys;
    struct reader r = { .model = model, .first = model->n_tensors, .err = reterr, .file_bytes = file_bytes };
    plim_json_init(&r.json, cursor, reterr);
    int result = find_header(&r);
    if (result == 0)
        result = read_members(&r);
    if (result == 0 && model->n_keys > first_key)
        result = plim_keys_sort(model->keys + first_key, model->n_keys - first_key, reterr);
    if (model->n_shards > 0)
        model->n_keys = first_key;
    if (result == 0)
        result = check_layout(&r);
    if (result == 0)
        *ret_data_at = r.data_at;
    return result;
}
