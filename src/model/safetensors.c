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
 * v0.6.2. Beyond that, no name may be there twice anywhere, and limits are those of base/limits.h.
 */
#include "model/safetensors.h"

#include "base/json.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, FIRST_ROOM = 256 };

static const struct {
    const char *name;
    unsigned bits;
} types[] = {
    { "BOOL", 8 },    { "F4", 4 },      { "F6_E2M3", 6 }, { "F6_E3M2", 6 },     { "U8", 8 },          { "I8", 8 },
    { "F8_E5M2", 8 }, { "F8_E4M3", 8 }, { "F8_E8M0", 8 }, { "F8_E4M3FNUZ", 8 }, { "F8_E5M2FNUZ", 8 }, { "I16", 16 },
    { "U16", 16 },    { "F16", 16 },    { "BF16", 16 },   { "I32", 32 },        { "U32", 32 },        { "F32", 32 },
    { "C64", 64 },    { "F64", 64 },    { "I64", 64 },    { "U64", 64 },
};

/* A name of the header: of a tensor, or of a string under __metadata__. */
struct name {
    const char *text;
    uint64_t at;
};

struct reader {
    struct plim_json json;
    struct plim_safetensors *header;
    struct plim_error *err;
    struct name *metadata;
    size_t n_metadata, tensor_room, metadata_room;
    uint64_t metadata_at; /* 0: there is none yet */
};

unsigned plim_safetensors_type_bits(const char *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, type))
            return types[i].bits;
    return 0;
}

static int out_of_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

/* Room for one more element of an array that grows by doubling. */
static int grow(struct reader *r, void **array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return 0;
    if (n >= PLIM_MAX_SAFETENSORS_TENSORS)
        return plim_fail(r->err, PLIM_E_TOO_BIG, plim_json_at(&r->json), "more than %d names in one header",
                         PLIM_MAX_SAFETENSORS_TENSORS);
    const size_t more = *room ? 2 * *room : FIRST_ROOM;
    void *bigger = plim_realloc(*array, more, size);
    if (!bigger)
        return out_of_memory(r->err);
    *array = bigger;
    *room = more;
    return 0;
}

static int copy_name(struct reader *r, const struct plim_json_text *text, const char **ret_name)
{
    if (text->is_cut || text->length > PLIM_MAX_SAFETENSORS_NAME_BYTES)
        return plim_fail(r->err, PLIM_E_TOO_BIG, text->at, "a name of more than %d bytes",
                         PLIM_MAX_SAFETENSORS_NAME_BYTES);
    if (memchr(text->text, '\0', text->length))
        return plim_fail(r->err, PLIM_E_CORRUPT, text->at, "a name contains a NUL character");
    *ret_name = plim_arena_copy(&r->header->arena, text->text, text->length);
    if (!*ret_name && r->header->arena.is_full)
        return plim_fail(r->err, PLIM_E_TOO_BIG, text->at, "the header holds more than %d MiB of names",
                         PLIM_MAX_SAFETENSORS_KEPT_BYTES >> 20);
    return *ret_name ? 0 : out_of_memory(r->err);
}

/* --- one tensor --- */

static int twice(struct reader *r, uint64_t at, const struct plim_safetensor *tensor, const char *field)
{
    return plim_fail(r->err, PLIM_E_CORRUPT, at, "tensor '%.64s' has two of '%s'", tensor->name, field);
}

static int read_type(struct reader *r, struct plim_safetensor *tensor)
{
    struct plim_json_text text;
    int result = plim_json_string(&r->json, &text);
    if (result < 0)
        return result;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (plim_json_is(&text, types[i].name)) {
            tensor->type = types[i].name;
            return 0;
        }
    return plim_fail(r->err, PLIM_E_UNSUPPORTED, text.at, "tensor '%.64s' has dtype '%.*s', which is not known",
                     tensor->name, text.length < 32 ? (int)text.length : 32, text.text);
}

/* Numbers of an array; fails when there are more than max. */
static int read_numbers(struct reader *r, const struct plim_safetensor *tensor, const char *field,
                        uint64_t *ret_numbers, uint32_t max, uint32_t *ret_n)
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

static int read_offsets(struct reader *r, struct plim_safetensor *tensor)
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

static int read_field(struct reader *r, const struct plim_json_text *key, struct plim_safetensor *tensor)
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
        return read_numbers(r, tensor, "shape", tensor->shape, PLIM_MAX_SAFETENSORS_DIMS, &tensor->n_dims);
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
static int check_size(struct reader *r, const struct plim_safetensor *tensor)
{
    uint64_t bits = plim_safetensors_type_bits(tensor->type);
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

static int read_tensor(struct reader *r, const struct plim_json_text *name)
{
    struct plim_safetensors *h = r->header;
    struct plim_json_text key;
    void *tensors = h->tensors;
    int result = grow(r, &tensors, h->n_tensors, &r->tensor_room, sizeof *h->tensors);
    h->tensors = tensors;
    if (result < 0)
        return result;
    struct plim_safetensor *tensor = &h->tensors[h->n_tensors];
    *tensor = (struct plim_safetensor){ .at = name->at };
    result = copy_name(r, name, &tensor->name);
    if (result == 0)
        result = plim_json_object(&r->json);
    if (result < 0)
        return result;
    while ((result = plim_json_member(&r->json, &key)) > 0) {
        result = read_field(r, &key, tensor);
        if (result < 0)
            return result;
    }
    if (result < 0)
        return result;
    if (!tensor->has_type || !tensor->has_shape || !tensor->has_offsets)
        return plim_fail(r->err, PLIM_E_CORRUPT, tensor->at, "tensor '%.64s' has no '%s'", tensor->name,
                         !tensor->has_type    ? "dtype"
                         : !tensor->has_shape ? "shape"
                                              : "data_offsets");
    h->n_tensors++;
    return check_size(r, tensor);
}

/* --- the header --- */

static int read_metadata(struct reader *r, uint64_t at)
{
    struct plim_json_text key, value;
    if (r->metadata_at)
        return plim_fail(r->err, PLIM_E_CORRUPT, at, "'__metadata__' is there twice, first at byte %" PRIu64,
                         r->metadata_at);
    r->metadata_at = at;
    int result = plim_json_object(&r->json);
    if (result < 0)
        return result;
    while ((result = plim_json_member(&r->json, &key)) > 0) {
        void *names = r->metadata;
        result = grow(r, &names, r->n_metadata, &r->metadata_room, sizeof *r->metadata);
        r->metadata = names;
        if (result < 0)
            return result;
        struct name *name = &r->metadata[r->n_metadata++];
        *name = (struct name){ .at = key.at };
        result = copy_name(r, &key, &name->text);
        if (result == 0)
            result = plim_json_string(&r->json, &value);
        if (result < 0)
            return result;
    }
    return result;
}

static int read_members(struct reader *r)
{
    struct plim_json_text key;
    int result = plim_json_object(&r->json);
    if (result < 0)
        return result;
    while ((result = plim_json_member(&r->json, &key)) > 0) {
        result = plim_json_is(&key, "__metadata__") ? read_metadata(r, key.at) : read_tensor(r, &key);
        if (result < 0)
            return result;
    }
    return result < 0 ? result : plim_json_end(&r->json);
}

/* --- what must hold between them --- */

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int check_names(struct reader *r, struct name *names, size_t n, const char *what)
{
    if (n)
        qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(names[i - 1].text, names[i].text))
            return plim_fail(r->err, PLIM_E_CORRUPT, names[i].at, "%s '%.64s' is there twice, first at byte %" PRIu64,
                             what, names[i].text, names[i - 1].at);
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    const struct plim_safetensor *x = *(const struct plim_safetensor *const *)a,
                                 *y = *(const struct plim_safetensor *const *)b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static int check_end(struct reader *r, uint64_t data_end)
{
    char size[PLIM_SIZE_TEXT];
    const struct plim_safetensors *h = r->header;
    const uint64_t data_bytes = h->file_bytes - h->header_bytes;
    if (data_end == data_bytes)
        return 0;
    if (data_end < data_bytes)
        return plim_fail(r->err, PLIM_E_CORRUPT, h->header_bytes + data_end,
                         "%" PRIu64 " bytes at the end of the file belong to no tensor", data_bytes - data_end);
    int code =
        plim_fail(r->err, PLIM_E_TRUNCATED, h->file_bytes,
                  "the file ends inside the data: %" PRIu64 " bytes wanted, %" PRIu64 " there", data_end, data_bytes);
    plim_error_hint(r->err, "the file has %s; an interrupted download? fetch it again",
                    plim_size_text(size, h->file_bytes));
    return code;
}

/* Without gaps and overlaps, from the end of the header to the end of the file. */
static int check_layout(struct reader *r, const struct plim_safetensor **places)
{
    const struct plim_safetensors *h = r->header;
    uint64_t expected = 0;
    for (size_t i = 0; i < h->n_tensors; i++)
        places[i] = &h->tensors[i];
    if (h->n_tensors)
        qsort(places, h->n_tensors, sizeof *places, compare_places);
    for (size_t i = 0; i < h->n_tensors; i++) {
        if (places[i]->begin != expected)
            return plim_fail(r->err, PLIM_E_CORRUPT, places[i]->at,
                             "the data of tensor '%.64s' %s: offset %" PRIu64 ", expected %" PRIu64, places[i]->name,
                             places[i]->begin < expected ? "overlaps another" : "leaves a gap", places[i]->begin,
                             expected);
        expected = places[i]->end;
    }
    return check_end(r, expected);
}

static int check(struct reader *r)
{
    const size_t n = r->header->n_tensors;
    struct name *names = plim_alloc(n, sizeof *names);
    const struct plim_safetensor **places = plim_alloc(n, sizeof *places);
    int result = names && places ? 0 : out_of_memory(r->err);
    for (size_t i = 0; i < n && result == 0; i++)
        names[i] = (struct name){ r->header->tensors[i].name, r->header->tensors[i].at };
    if (result == 0)
        result = check_names(r, names, n, "tensor");
    if (result == 0)
        result = check_names(r, r->metadata, r->n_metadata, "metadata");
    if (result == 0)
        result = check_layout(r, places);
    plim_free(places);
    plim_free(names);
    return result;
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
    r->header->header_bytes = c->size = LENGTH_BYTES + length;
    return 0;
}

int plim_safetensors_read(struct plim_cursor cursor, uint64_t file_bytes, struct plim_safetensors *ret_header,
                          struct plim_error *reterr)
{
    struct plim_safetensors *h = ret_header;
    *h = (struct plim_safetensors){ .file_bytes = file_bytes };
    plim_arena_init(&h->arena, PLIM_MAX_SAFETENSORS_KEPT_BYTES);
    struct reader r = { .header = h, .err = reterr };
    plim_json_init(&r.json, cursor, reterr);
    int result = find_header(&r);
    if (result == 0)
        result = read_members(&r);
    if (result == 0)
        result = check(&r);
    plim_free(r.metadata);
    return result;
}

void plim_safetensors_done(struct plim_safetensors *header)
{
    plim_free(header->tensors);
    plim_arena_done(&header->arena);
    *header = (struct plim_safetensors){ 0 };
}
