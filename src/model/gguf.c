/* SPDX-License-Identifier: MIT */
/*
 * The GGUF reader: one file, versions 2 and 3, either byte order.
 *
 * A GGUF file is a header (magic, version, counts), the metadata keys, the tensor descriptions, padding, and the data.
 * We walk the header once, keep what is small (names, numbers, short strings, per-layer arrays) in an arena and
 * step over the rest (vocabularies, merges, chat templates). The data is never looked at; that it would be there, in
 * order and without overlap, is checked against the file size, as llama.cpp does when it loads the file.
 *
 * Format: ggml docs/gguf.md; what is refused: gguf_init_from_reader() in ggml src/gguf.cpp at d99724f. Limits are
 * those of base/limits.h. Deliberately not here: splits and the meaning of keys (gguf_model.c).
 */
#include "model/gguf.h"

#include "base/cursor.h"
#include "base/limits.h"
#include "base/units.h"
#include "model/ggml_type.h"
#include "model/strings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ALIGNMENT = 32, NAME_TEXT = 72 };

struct reader {
    struct plim_cursor c;
    struct plim_model *model;
    struct plim_arena *arena; /* the model's */
    struct plim_error *err;
    uint64_t file_bytes;
    uint64_t n_kv, n_tensors;
    const char *section; /* what is being read, for "the file ends inside ..." */
    const char *name;    /* of the key or tensor being read, once it is known */
};

/* A name as it may be shown: printable ASCII, the rest as '?', cut to fit. */
static const char *shown(char text[NAME_TEXT], const char *name, uint64_t length)
{
    size_t n = length < NAME_TEXT - 4 ? (size_t)length : NAME_TEXT - 4;
    for (size_t i = 0; i < n; i++)
        text[i] = isprint((unsigned char)name[i]) ? name[i] : '?';
    strcpy(text + n, n < length ? "..." : "");
    return text;
}

static int truncated(struct reader *r)
{
    char size[PLIM_SIZE_TEXT], name[NAME_TEXT];
    const bool has_name = r->name != NULL;
    if (r->c.error)
        return plim_fail(r->err, PLIM_E_IO, r->c.failed_at, "cannot read: %s", strerror(r->c.error));
    int code = plim_fail(r->err, PLIM_E_TRUNCATED, r->c.failed_at,
                         "the file ends inside %s%s%s%s: %" PRIu64 " bytes wanted, %" PRIu64 " left", r->section,
                         has_name ? ", at '" : "", has_name ? shown(name, r->name, strlen(r->name)) : "",
                         has_name ? "'" : "", r->c.failed_need, r->c.size - r->c.failed_at);
    plim_error_hint(r->err, "the file has %s; an interrupted download? fetch it again",
                    plim_size_text(size, r->file_bytes));
    return code;
}

static int out_of_memory(struct reader *r)
{
    if (!r->arena->is_full)
        return plim_fail(r->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    return plim_fail(r->err, PLIM_E_TOO_BIG, r->c.at, "the header holds more than %d MiB of names and values",
                     PLIM_MAX_KEPT_BYTES >> 20);
}

/* --- header --- */

static int not_gguf(struct reader *r)
{
    static const struct {
        const char *magic, *what;
    } others[] = {
        { "tjgg", "an old GGML file (ggjt), which llama.cpp stopped reading in 2023" },
        { "lmgg", "an old GGML file (ggml), which llama.cpp stopped reading in 2023" },
        { "fmgg", "an old GGML file (ggmf), which llama.cpp stopped reading in 2023" },
        { "PK\3\4", "a zip archive, perhaps a PyTorch checkpoint" },
        { "\x1f\x8b", "a gzip archive" },
        { "version ht", "a Git LFS pointer, not the model itself" },
        { "<!DO", "a web page, not the model itself" },
        { "<htm", "a web page, not the model itself" },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t n = strlen(others[i].magic);
        if (r->c.size >= n && !memcmp(r->c.data, others[i].magic, n)) {
            int code = plim_fail(r->err, PLIM_E_UNSUPPORTED, 0, "expected GGUF, found %s", others[i].what);
            plim_error_hint(r->err, "download the .gguf file, or convert the model with convert_hf_to_gguf.py");
            return code;
        }
    }
    return plim_fail(r->err, PLIM_E_UNSUPPORTED, 0, "expected the four bytes 'GGUF', found %02x %02x %02x %02x",
                     r->c.data[0], r->c.data[1], r->c.data[2], r->c.data[3]);
}

static int read_header(struct reader *r)
{
    enum { MIN_KEY_BYTES = 8 + 4 + 1, MIN_TENSOR_BYTES = 8 + 4 + 4 + 8 };
    const unsigned char *magic;
    r->section = "the header";
    if (!plim_cursor_take(&r->c, 4, &magic))
        return truncated(r);
    if (memcmp(magic, "GGUF", 4))
        return not_gguf(r);
    uint32_t version = plim_cursor_u32(&r->c);
    if (!r->c.failed && version && !(version & 0xffff)) {
        r->c.big_endian = true;
        version = version >> 24 | (version >> 8 & 0xff00);
    }
    r->n_tensors = plim_cursor_u64(&r->c);
    r->n_kv = plim_cursor_u64(&r->c);
    if (r->c.failed)
        return truncated(r);
    if (version != 2 && version != 3) {
        int code =
            plim_fail(r->err, PLIM_E_UNSUPPORTED, 4, "GGUF version %" PRIu32 "; versions 2 and 3 are known", version);
        if (version == 1)
            plim_error_hint(r->err, "version 1 files are from August 2023: convert the model again");
        return code;
    }
    if (r->n_tensors > PLIM_MAX_GGUF_TENSORS)
        return plim_fail(r->err, PLIM_E_TOO_BIG, 8, "%" PRIu64 " tensors; at most %d are read", r->n_tensors,
                         PLIM_MAX_GGUF_TENSORS);
    if (r->n_kv > PLIM_MAX_GGUF_KEYS)
        return plim_fail(r->err, PLIM_E_TOO_BIG, 16, "%" PRIu64 " metadata keys; at most %d are read", r->n_kv,
                         PLIM_MAX_GGUF_KEYS);
    /* so that counts alone cannot make us allocate */
    uint64_t least = r->n_kv * MIN_KEY_BYTES + r->n_tensors * MIN_TENSOR_BYTES;
    if (least > plim_cursor_left(&r->c)) {
        r->section = "the metadata";
        r->c.failed_at = r->c.at;
        r->c.failed_need = least;
        return truncated(r);
    }
    return 0;
}

/* --- strings --- */

/* The length of a string whose text, all of it there, comes next. */
static bool read_length(struct reader *r, uint64_t *ret_length)
{
    *ret_length = plim_cursor_u64(&r->c);
    return !r->c.failed && (*ret_length <= plim_cursor_left(&r->c) || plim_cursor_skip(&r->c, *ret_length));
}

/* A key or tensor name: bounded, not empty, without NUL bytes; copied into the arena. */
static int read_name(struct reader *r, const char *what, uint64_t number, uint64_t max_bytes, const char **ret_name)
{
    const unsigned char *text;
    uint64_t length, at = r->c.at;
    r->name = NULL;
    if (!read_length(r, &length))
        return truncated(r);
    if (length == 0 || length > max_bytes)
        return plim_fail(r->err, PLIM_E_CORRUPT, at,
                         "the name of %s %" PRIu64 " has %" PRIu64 " bytes; 1 to %" PRIu64 " are expected", what,
                         number, length, max_bytes);
    if (!plim_cursor_take(&r->c, length, &text))
        return truncated(r);
    if (memchr(text, '\0', length))
        return plim_fail(r->err, PLIM_E_CORRUPT, at, "the name of %s %" PRIu64 " contains a NUL byte", what, number);
    *ret_name = r->name = plim_arena_copy(r->arena, (const char *)text, length);
    return *ret_name ? 0 : out_of_memory(r);
}

/* --- values --- */

static const uint8_t value_bytes[PLIM_GGUF_TYPE_MAX_] = {
    [PLIM_GGUF_U8] = 1,  [PLIM_GGUF_I8] = 1,  [PLIM_GGUF_U16] = 2, [PLIM_GGUF_I16] = 2,
    [PLIM_GGUF_U32] = 4, [PLIM_GGUF_I32] = 4, [PLIM_GGUF_F32] = 4, [PLIM_GGUF_BOOL] = 1,
    [PLIM_GGUF_U64] = 8, [PLIM_GGUF_I64] = 8, [PLIM_GGUF_F64] = 8,
};

static bool is_float(unsigned type) { return type == PLIM_GGUF_F32 || type == PLIM_GGUF_F64; }

static bool is_signed(unsigned type)
{
    return type == PLIM_GGUF_I8 || type == PLIM_GGUF_I16 || type == PLIM_GGUF_I32 || type == PLIM_GGUF_I64;
}

static int64_t sign_extend(uint64_t value, unsigned n_bytes)
{
    unsigned shift = 64 - 8 * n_bytes;
    return (int64_t)(value << shift) >> shift;
}

static int unknown_type(struct reader *r, const struct plim_key *key, uint64_t at, uint32_t type)
{
    char name[NAME_TEXT];
    return plim_fail(r->err, PLIM_E_CORRUPT, at, "key '%s' has value type %" PRIu32 "; 0 to %d are defined",
                     shown(name, key->name, strlen(key->name)), type, PLIM_GGUF_TYPE_MAX_ - 1);
}

static enum plim_value_type value_type(unsigned type)
{
    return is_float(type)             ? PLIM_VALUE_REAL
           : is_signed(type)          ? PLIM_VALUE_SIGNED
           : type == PLIM_GGUF_BOOL   ? PLIM_VALUE_BOOL
           : type == PLIM_GGUF_STRING ? PLIM_VALUE_STRING
           : type == PLIM_GGUF_ARRAY  ? PLIM_VALUE_ARRAY
                                      : PLIM_VALUE_UNSIGNED;
}

static int read_scalar(struct reader *r, unsigned type, struct plim_key *key)
{
    unsigned n_bytes = value_bytes[type];
    uint64_t bits = plim_cursor_uint(&r->c, n_bytes);
    if (r->c.failed)
        return truncated(r);
    if (type == PLIM_GGUF_F32) {
        uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof value);
        key->f = (double)value;
    } else if (type == PLIM_GGUF_F64) {
        memcpy(&key->f, &bits, sizeof bits);
    } else if (is_signed(type)) {
        key->i = sign_extend(bits, n_bytes);
    } else {
        key->u = bits;
    }
    return 0;
}

static int skip_strings(struct reader *r, uint64_t n)
{
    const bool is_foreign = r->c.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    while (n > 0) {
        const unsigned char *start;
        uint64_t n_walked;
        if (!plim_cursor_peek(&r->c, sizeof(uint64_t), &start))
            return truncated(r);
        r->c.at += plim_strings_walk(start, r->c.data_end - r->c.at, n, is_foreign, &n_walked);
        n -= n_walked;
        if (n == 0)
            break;
        n--; /* the one that reaches past what is at hand */
        if (!plim_cursor_skip(&r->c, plim_cursor_u64(&r->c)))
            return truncated(r);
    }
    return 0;
}

static int keep_numbers(struct reader *r, unsigned item, struct plim_key *key)
{
    unsigned n_bytes = value_bytes[item];
    int64_t *numbers = plim_arena_alloc(r->arena, key->n, sizeof *numbers);
    if (!numbers)
        return out_of_memory(r);
    for (uint64_t i = 0; i < key->n; i++) {
        uint64_t bits = plim_cursor_uint(&r->c, n_bytes);
        numbers[i] = is_signed(item) ? sign_extend(bits, n_bytes) : (int64_t)bits;
    }
    key->numbers = numbers;
    return r->c.failed ? truncated(r) : 0;
}

/* Read the element type and count of an array and step over it; the outermost array of integers is kept if short. */
static int read_array(struct reader *r, struct plim_key *key, unsigned depth)
{
    char name[NAME_TEXT];
    uint64_t at = r->c.at;
    uint32_t item = plim_cursor_u32(&r->c);
    uint64_t n = plim_cursor_u64(&r->c);
    if (r->c.failed)
        return truncated(r);
    if (item >= PLIM_GGUF_TYPE_MAX_)
        return unknown_type(r, key, at, item);
    if (depth == 0)
        key->n = n;
    if (item == PLIM_GGUF_ARRAY) {
        if (depth + 1 >= PLIM_MAX_GGUF_ARRAY_DEPTH)
            return plim_fail(r->err, PLIM_E_TOO_BIG, at, "key '%s' nests arrays deeper than %d",
                             shown(name, key->name, strlen(key->name)), PLIM_MAX_GGUF_ARRAY_DEPTH);
        for (uint64_t i = 0; i < n; i++) {
            int result = read_array(r, key, depth + 1);
            if (result < 0)
                return result;
        }
        return 0;
    }
    if (item == PLIM_GGUF_STRING)
        return skip_strings(r, n);
    if (n > plim_cursor_left(&r->c) / value_bytes[item]) {
        r->c.failed_at = r->c.at;
        r->c.failed_need = n > UINT64_MAX / value_bytes[item] ? UINT64_MAX : n * value_bytes[item];
        return truncated(r);
    }
    if (depth == 0 && n <= PLIM_MAX_KEPT_ARRAY && !is_float(item))
        return keep_numbers(r, item, key);
    return plim_cursor_skip(&r->c, n * value_bytes[item]) ? 0 : truncated(r);
}

static int read_string_value(struct reader *r, struct plim_key *key)
{
    const unsigned char *text;
    uint64_t length;
    if (!read_length(r, &length))
        return truncated(r);
    if (length > PLIM_MAX_KEPT_STRING_BYTES)
        return plim_cursor_skip(&r->c, length) ? 0 : truncated(r);
    if (!plim_cursor_take(&r->c, length, &text))
        return truncated(r);
    key->string = plim_arena_copy(r->arena, (const char *)text, length);
    return key->string ? 0 : out_of_memory(r);
}

static int read_key(struct reader *r, uint64_t number, struct plim_key *key)
{
    key->at = r->c.at;
    int result = read_name(r, "metadata key", number, PLIM_MAX_GGUF_KEY_BYTES, &key->name);
    if (result < 0)
        return result;
    uint64_t at = r->c.at;
    uint32_t type = plim_cursor_u32(&r->c);
    if (r->c.failed)
        return truncated(r);
    if (type >= PLIM_GGUF_TYPE_MAX_)
        return unknown_type(r, key, at, type);
    key->type = value_type(type);
    return type == PLIM_GGUF_ARRAY    ? read_array(r, key, 0)
           : type == PLIM_GGUF_STRING ? read_string_value(r, key)
                                      : read_scalar(r, type, key);
}

static int read_keys(struct reader *r, struct plim_key *keys)
{
    r->section = "the metadata";
    for (uint64_t i = 0; i < r->n_kv; i++) {
        int result = read_key(r, i, &keys[i]);
        if (result < 0)
            return result;
    }
    return plim_keys_sort(keys, r->n_kv, r->err);
}

/* --- tensors --- */

static int unknown_tensor_type(struct reader *r, const char *name, uint64_t at, uint32_t id)
{
    const char *old = plim_ggml_removed_type(id);
    int code = old ? plim_fail(r->err, PLIM_E_UNSUPPORTED, at,
                               "tensor '%s' has type %s (id %" PRIu32 "), which ggml has removed", name, old, id)
                   : plim_fail(r->err, PLIM_E_UNSUPPORTED, at, "tensor '%s' has type id %" PRIu32 ", unknown to ggml",
                               name, id);
    plim_error_hint(r->err, old ? "quantize the model again; Q4_0 is now repacked when it is loaded"
                                : "a fork of llama.cpp may have written this file: use that fork, or another quant");
    return code;
}

/* Dimensions and type of one tensor: no overflow, whole blocks per row. */
static int read_tensor(struct reader *r, uint64_t number, struct plim_tensor *tensor)
{
    char name[NAME_TEXT];
    uint64_t elements = 1;
    tensor->info_at = r->c.at;
    int result = read_name(r, "tensor", number, PLIM_MAX_GGUF_NAME_BYTES, &tensor->name);
    if (result < 0)
        return result;
    shown(name, tensor->name, strlen(tensor->name));
    uint64_t at = r->c.at;
    tensor->n_dims = plim_cursor_u32(&r->c);
    if (!r->c.failed && tensor->n_dims > 4)
        return plim_fail(r->err, PLIM_E_CORRUPT, at, "tensor '%s' has %" PRIu32 " dimensions; at most 4 are allowed",
                         name, tensor->n_dims);
    for (unsigned i = 0; i < tensor->n_dims && !r->c.failed; i++) {
        at = r->c.at;
        tensor->ne[i] = plim_cursor_u64(&r->c);
        if (tensor->ne[i] > INT64_MAX || (tensor->ne[i] && elements > INT64_MAX / tensor->ne[i]))
            return plim_fail(r->err, PLIM_E_CORRUPT, at, "dimension %u of tensor '%s' is %" PRIu64 ": too large", i,
                             name, tensor->ne[i]);
        elements *= tensor->ne[i];
    }
    at = r->c.at;
    uint32_t id = plim_cursor_u32(&r->c);
    tensor->offset = plim_cursor_u64(&r->c);
    if (r->c.failed)
        return truncated(r);
    tensor->type = plim_dtype_from_ggml(id);
    if (tensor->type == PLIM_DTYPE_UNKNOWN)
        return unknown_tensor_type(r, name, at, id);
    uint32_t block = plim_dtype_block_elements(tensor->type), block_bytes = plim_dtype_block_bytes(tensor->type);
    if (tensor->ne[0] % block)
        return plim_fail(r->err, PLIM_E_CORRUPT, at,
                         "rows of tensor '%s' have %" PRIu64 " elements; %s needs a multiple of %" PRIu32, name,
                         tensor->ne[0], plim_dtype_name(tensor->type), block);
    if (elements / block > INT64_MAX / block_bytes)
        return plim_fail(r->err, PLIM_E_CORRUPT, at, "tensor '%s' is larger than 2^63 bytes", name);
    tensor->bytes = elements / block * block_bytes;
    return 0;
}

/* The data of the tensors must follow each other, aligned, within the file (gguf.cpp makes the same demand). */
static int check_layout(struct reader *r, const struct plim_tensor *tensors, uint64_t alignment)
{
    char name[NAME_TEXT], size[PLIM_SIZE_TEXT];
    uint64_t data_start = plim_align_up(r->c.at, alignment), expected = 0;
    for (uint64_t i = 0; i < r->n_tensors; i++) {
        const struct plim_tensor *t = &tensors[i];
        shown(name, t->name, strlen(t->name));
        if (t->offset % alignment)
            return plim_fail(r->err, PLIM_E_CORRUPT, data_start,
                             "the data of tensor '%s' is misaligned: offset %" PRIu64 ", alignment %" PRIu64, name,
                             t->offset, alignment);
        if (t->offset != expected)
            return plim_fail(r->err, PLIM_E_CORRUPT, data_start,
                             "the data of tensor '%s' %s: offset %" PRIu64 ", expected %" PRIu64, name,
                             t->offset < expected ? "overlaps the one before" : "leaves a gap", t->offset, expected);
        if (t->bytes > UINT64_MAX / 2 - expected)
            return plim_fail(r->err, PLIM_E_CORRUPT, data_start, "the tensors up to '%s' exceed 2^63 bytes", name);
        uint64_t end = data_start + t->offset + t->bytes;
        if (end > r->file_bytes) {
            int code = plim_fail(r->err, PLIM_E_TRUNCATED, data_start + t->offset,
                                 "tensor %" PRIu64 " '%s' needs %" PRIu64 " bytes past the end of the file", i, name,
                                 end - r->file_bytes);
            plim_error_hint(r->err, "the file has %s; an interrupted download? fetch it again",
                            plim_size_text(size, r->file_bytes));
            return code;
        }
        expected = plim_align_up(t->offset + t->bytes, alignment);
    }
    return 0;
}

static int read_tensors(struct reader *r, struct plim_gguf_file *file)
{
    struct plim_tensor *tensors;
    uint64_t alignment = DEFAULT_ALIGNMENT;
    const struct plim_key *key = plim_key_find(file->keys, file->n_keys, "general.alignment");
    if (key && (!plim_key_u64(key, &alignment) || alignment == 0 || alignment > PLIM_MAX_GGUF_ALIGNMENT ||
                (alignment & (alignment - 1))))
        return plim_fail(r->err, PLIM_E_CORRUPT, key->at, "key 'general.alignment' must be a power of two up to %d",
                         PLIM_MAX_GGUF_ALIGNMENT);
    r->section = "the tensor list";
    int result = plim_model_add_tensors(r->model, r->n_tensors, &tensors, r->err);
    for (uint64_t i = 0; i < r->n_tensors && result == 0; i++)
        result = read_tensor(r, i, &tensors[i]);
    if (result < 0)
        return result;
    file->data_at = plim_align_up(r->c.at, alignment);
    return check_layout(r, tensors, alignment);
}

int plim_gguf_parse(struct plim_cursor cursor, uint64_t file_bytes, struct plim_model *model,
                    struct plim_gguf_file *ret_file, struct plim_error *reterr)
{
    struct reader r = { .c = cursor, .model = model, .arena = &model->arena, .err = reterr, .file_bytes = file_bytes };
    struct plim_gguf_file file = { 0 };
    int result = read_header(&r);
    if (result < 0)
        return result;
    file.n_keys = r.n_kv;
    file.keys = plim_arena_alloc(r.arena, file.n_keys, sizeof *file.keys);
    if (!file.keys)
        return out_of_memory(&r);
    result = read_keys(&r, file.keys);
    if (result == 0)
        result = read_tensors(&r, &file);
    if (result < 0)
        return result;
    *ret_file = file;
    return 0;
}
