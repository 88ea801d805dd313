/* SPDX-License-Identifier: MIT */
/* The reader on files that are wrong: one row per way, with the error, what it names and the byte it points at. */
#include "base/limits.h"
#include "raw_gguf.h"
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { F32 = 0, Q4_0 = 2, F64 = 28, FILE_BYTES = 1 << 20 };

/* Writes a malformed file; returns the byte the error must point at. */
typedef uint64_t make_bad(struct raw *r);

/* --- the header --- */

static uint64_t no_bytes(struct raw *r) { return r->n = 0; }

static uint64_t half_a_magic(struct raw *r)
{
    raw_bytes(r, "GG", 2);
    return 0;
}

static uint64_t another_magic(struct raw *r)
{
    raw_bytes(r,
              "\x7f"
              "ELF and more bytes to come",
              26);
    return 0;
}

static uint64_t old_ggml(struct raw *r)
{
    raw_bytes(r, "tjgg\1\0\0\0and so on", 17);
    return 0;
}

static uint64_t lfs_pointer(struct raw *r)
{
    raw_bytes(r, "version https://git-lfs.github.com/spec/v1\n", 43);
    return 0;
}

static uint64_t web_page(struct raw *r)
{
    raw_bytes(r, "<!DOCTYPE html><html>", 21);
    return 0;
}

static uint64_t safetensors_cut_short(struct raw *r)
{
    raw_u64(r, 100);
    raw_bytes(r, "{\"__metadata__\":{}}", 19);
    return r->n;
}

static uint64_t version_1(struct raw *r)
{
    raw_start(r, 1, 0, 0);
    return 4;
}

static uint64_t version_4(struct raw *r)
{
    raw_start(r, 4, 0, 0);
    return 4;
}

static uint64_t version_0(struct raw *r)
{
    raw_start(r, 0, 0, 0);
    return 4;
}

static uint64_t too_many_tensors(struct raw *r)
{
    raw_start(r, 3, UINT64_MAX, 0);
    return 8;
}

static uint64_t too_many_keys(struct raw *r)
{
    raw_start(r, 3, 0, (uint64_t)1 << 40);
    return 16;
}

static uint64_t one_tensor_too_many(struct raw *r)
{
    raw_start(r, 3, PLIM_MAX_GGUF_TENSORS + 1, 0);
    return 8;
}

static uint64_t one_key_too_many(struct raw *r)
{
    raw_start(r, 3, 0, PLIM_MAX_GGUF_KEYS + 1);
    return 16;
}

static uint64_t counts_beyond_the_file(struct raw *r)
{
    raw_start(r, 3, 100000, 60000);
    return 24;
}

static uint64_t no_architecture(struct raw *r)
{
    raw_start(r, 3, 0, 1);
    raw_u32_key(r, "llama.block_count", 1);
    return PLIM_NO_OFFSET;
}

static uint64_t architecture_is_a_number(struct raw *r)
{
    raw_start(r, 3, 0, 1);
    raw_u32_key(r, "general.architecture", 1);
    return PLIM_NO_OFFSET;
}

static uint64_t architecture_is_empty(struct raw *r)
{
    raw_start(r, 3, 0, 1);
    raw_string_key(r, "general.architecture", "");
    return PLIM_NO_OFFSET;
}

/* --- keys --- */

static uint64_t empty_key(struct raw *r)
{
    raw_model(r, 0, 1);
    return raw_u32_key(r, "", 1);
}

static uint64_t long_key(struct raw *r)
{
    raw_model(r, 0, 1);
    uint64_t at = r->n;
    raw_u64(r, 5000);
    for (int i = 0; i < 5008; i++)
        raw_uint(r, 'x', 1);
    return at;
}

static uint64_t key_beyond_the_file(struct raw *r)
{
    raw_model(r, 0, 1);
    raw_u64(r, UINT64_MAX);
    raw_bytes(r, "0123456789", 10);
    return r->n - 10;
}

static uint64_t key_with_nul(struct raw *r)
{
    raw_model(r, 0, 1);
    uint64_t at = r->n;
    raw_u64(r, 3);
    raw_bytes(r, "a\0b", 3);
    raw_u32(r, PLIM_GGUF_U8);
    raw_u32(r, 0);
    return at;
}

static uint64_t duplicate_key(struct raw *r)
{
    raw_model(r, 0, 3);
    raw_u32_key(r, "a.b", 1);
    raw_u32_key(r, "a.c", 1);
    return raw_string_key(r, "a.b", "again");
}

static uint64_t unknown_value_type(struct raw *r)
{
    raw_model(r, 0, 1);
    raw_key(r, "some.key", 13);
    uint64_t at = r->n - 4;
    raw_u64(r, 0);
    return at;
}

static uint64_t unknown_item_type(struct raw *r)
{
    raw_model(r, 0, 1);
    raw_key(r, "some.key", PLIM_GGUF_ARRAY);
    uint64_t at = r->n;
    raw_u32(r, 77);
    raw_u64(r, 1);
    return at;
}

static uint64_t endless_array(struct raw *r)
{
    raw_model(r, 0, 1);
    raw_key(r, "some.key", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_U64);
    raw_u64(r, UINT64_MAX / 8 + 2); /* times 8 is 8 */
    raw_u64(r, 0);
    return r->n - 8;
}

static uint64_t endless_strings(struct raw *r)
{
    raw_model(r, 0, 1);
    raw_key(r, "some.key", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_STRING);
    raw_u64(r, UINT64_MAX);
    raw_text(r, "one");
    return r->n;
}

static uint64_t endless_arrays(struct raw *r)
{
    raw_model(r, 0, 1);
    raw_key(r, "some.key", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_ARRAY);
    raw_u64(r, UINT64_MAX);
    raw_u32(r, PLIM_GGUF_U8);
    raw_u64(r, 0);
    return r->n;
}

static uint64_t deep_array(struct raw *r)
{
    raw_model(r, 0, 1);
    raw_key(r, "some.key", PLIM_GGUF_ARRAY);
    for (int i = 0; i < 8; i++) {
        raw_u32(r, PLIM_GGUF_ARRAY);
        raw_u64(r, 1);
    }
    return r->n - 5 * 12;
}

static uint64_t long_string(struct raw *r)
{
    raw_model(r, 0, 1);
    raw_key(r, "some.key", PLIM_GGUF_STRING);
    raw_u64(r, (uint64_t)1 << 63);
    return r->n;
}

static uint64_t long_string_in_a_list(struct raw *r)
{
    raw_model(r, 0, 1);
    raw_key(r, "some.key", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_STRING);
    raw_u64(r, 2);
    raw_text(r, "one");
    raw_u64(r, 1000);
    raw_bytes(r, "two", 3);
    return r->n - 3;
}

static uint64_t alignment_of(struct raw *r, uint32_t value)
{
    raw_model(r, 0, 1);
    return raw_u32_key(r, "general.alignment", value);
}

static uint64_t alignment_0(struct raw *r) { return alignment_of(r, 0); }
static uint64_t alignment_48(struct raw *r) { return alignment_of(r, 48); }
static uint64_t alignment_huge(struct raw *r) { return alignment_of(r, 1u << 31); }

static uint64_t alignment_in_words(struct raw *r)
{
    raw_model(r, 0, 1);
    return raw_string_key(r, "general.alignment", "32");
}

/* --- tensors --- */

static uint64_t empty_tensor_name(struct raw *r)
{
    raw_model(r, 1, 0);
    return raw_tensor(r, "", 32, 1, F32, 0);
}

static uint64_t long_tensor_name(struct raw *r)
{
    raw_model(r, 1, 0);
    uint64_t at = r->n;
    raw_u64(r, 1025);
    for (int i = 0; i < 1025 + 40; i++)
        raw_uint(r, 'x', 1);
    return at;
}

static uint64_t duplicate_tensor(struct raw *r)
{
    raw_model(r, 3, 0);
    raw_tensor(r, "blk.0.a", 8, 1, F32, 0);
    raw_tensor(r, "blk.0.b", 8, 1, F32, 32);
    return raw_tensor(r, "blk.0.a", 8, 1, F32, 64);
}

/* Where the n-th number after the name of the tensor stands. */
static uint64_t after_name(uint64_t at, const char *name, uint64_t n_bytes) { return at + 8 + strlen(name) + n_bytes; }

static uint64_t five_dimensions(struct raw *r)
{
    raw_model(r, 1, 0);
    uint64_t at = r->n;
    raw_text(r, "some.weight");
    raw_u32(r, 5);
    for (int i = 0; i < 5; i++)
        raw_u64(r, 1);
    raw_u32(r, F32);
    raw_u64(r, 0);
    return after_name(at, "some.weight", 0);
}

static uint64_t negative_dimension(struct raw *r)
{
    raw_model(r, 1, 0);
    uint64_t at = raw_tensor(r, "some.weight", UINT64_MAX, 1, F32, 0);
    return after_name(at, "some.weight", 4);
}

static uint64_t product_overflows(struct raw *r)
{
    raw_model(r, 1, 0);
    uint64_t at = raw_tensor(r, "some.weight", (uint64_t)1 << 40, (uint64_t)1 << 30, F32, 0);
    return after_name(at, "some.weight", 12);
}

static uint64_t bytes_overflow(struct raw *r)
{
    raw_model(r, 1, 0);
    uint64_t at = raw_tensor(r, "some.weight", (uint64_t)1 << 61, 1, F64, 0);
    return after_name(at, "some.weight", 20);
}

static uint64_t half_a_block(struct raw *r)
{
    raw_model(r, 1, 0);
    uint64_t at = raw_tensor(r, "some.weight", 48, 2, Q4_0, 0);
    return after_name(at, "some.weight", 20);
}

static uint64_t removed_type(struct raw *r)
{
    raw_model(r, 1, 0);
    uint64_t at = raw_tensor(r, "some.weight", 32, 2, 31, 0);
    return after_name(at, "some.weight", 20);
}

static uint64_t unknown_type(struct raw *r)
{
    raw_model(r, 1, 0);
    uint64_t at = raw_tensor(r, "some.weight", 32, 2, 4711, 0);
    return after_name(at, "some.weight", 20);
}

static uint64_t data_start(const struct raw *r) { return (r->n + 31) / 32 * 32; }

static uint64_t misaligned_tensor(struct raw *r)
{
    raw_model(r, 1, 0);
    raw_tensor(r, "some.weight", 32, 1, F32, 16);
    return data_start(r);
}

static uint64_t overlapping_tensors(struct raw *r)
{
    raw_model(r, 2, 0);
    raw_tensor(r, "first.weight", 32, 1, F32, 0);
    raw_tensor(r, "some.weight", 32, 1, F32, 96);
    return data_start(r);
}

static uint64_t gap_between_tensors(struct raw *r)
{
    raw_model(r, 2, 0);
    raw_tensor(r, "first.weight", 32, 1, F32, 0);
    raw_tensor(r, "some.weight", 32, 1, F32, 160);
    return data_start(r);
}

static uint64_t offset_overflows(struct raw *r)
{
    raw_model(r, 1, 0);
    raw_tensor(r, "some.weight", 32, 1, F32, UINT64_MAX - 31);
    return data_start(r);
}

static uint64_t data_beyond_the_file(struct raw *r)
{
    raw_model(r, 2, 0);
    raw_tensor(r, "first.weight", 32, 1, F32, 0);
    raw_tensor(r, "some.weight", FILE_BYTES, 1, F32, 128);
    return data_start(r) + 128;
}

static uint64_t all_tensors_overflow(struct raw *r)
{
    raw_model(r, 2, 0);
    raw_tensor(r, "first.weight", (uint64_t)1 << 60, 1, F32, 0);
    raw_tensor(r, "some.weight", (uint64_t)1 << 60, 1, F32, (uint64_t)1 << 62);
    return data_start(r);
}

/* --- the table --- */

static const struct {
    const char *name;
    make_bad *make;
    int code;
    const char *names; /* what the message must name */
} rows[] = {
    { "no bytes", no_bytes, PLIM_E_TRUNCATED, "the header" },
    { "half a magic", half_a_magic, PLIM_E_TRUNCATED, "the header" },
    { "another magic", another_magic, PLIM_E_UNSUPPORTED, "7f 45 4c 46" },
    { "old GGML", old_ggml, PLIM_E_UNSUPPORTED, "ggjt" },
    { "LFS pointer", lfs_pointer, PLIM_E_UNSUPPORTED, "Git LFS pointer" },
    { "web page", web_page, PLIM_E_UNSUPPORTED, "web page" },
    { "safetensors", safetensors_cut_short, PLIM_E_TRUNCATED, "inside the header" },
    { "version 0", version_0, PLIM_E_UNSUPPORTED, "version 0" },
    { "version 1", version_1, PLIM_E_UNSUPPORTED, "version 1" },
    { "version 4", version_4, PLIM_E_UNSUPPORTED, "version 4" },
    { "too many tensors", too_many_tensors, PLIM_E_TOO_BIG, "tensors" },
    { "too many keys", too_many_keys, PLIM_E_TOO_BIG, "keys" },
    { "one tensor too many", one_tensor_too_many, PLIM_E_TOO_BIG, "131073 tensors" },
    { "one key too many", one_key_too_many, PLIM_E_TOO_BIG, "65537 metadata keys" },
    { "counts beyond the file", counts_beyond_the_file, PLIM_E_TRUNCATED,
      "the metadata: 3180000 bytes wanted, 0 left" },
    { "no architecture", no_architecture, PLIM_E_UNSUPPORTED, "'general.architecture'" },
    { "architecture is a number", architecture_is_a_number, PLIM_E_UNSUPPORTED, "'general.architecture'" },
    { "architecture is empty", architecture_is_empty, PLIM_E_UNSUPPORTED, "'general.architecture'" },

    { "empty key", empty_key, PLIM_E_CORRUPT, "metadata key 1" },
    { "long key", long_key, PLIM_E_CORRUPT, "metadata key 1" },
    { "key beyond the file", key_beyond_the_file, PLIM_E_TRUNCATED, "the metadata" },
    { "key with NUL", key_with_nul, PLIM_E_CORRUPT, "metadata key 1" },
    { "duplicate key", duplicate_key, PLIM_E_CORRUPT, "'a.b'" },
    { "unknown value type", unknown_value_type, PLIM_E_CORRUPT, "'some.key'" },
    { "unknown item type", unknown_item_type, PLIM_E_CORRUPT, "'some.key'" },
    { "endless array", endless_array, PLIM_E_TRUNCATED, "'some.key'" },
    { "endless strings", endless_strings, PLIM_E_TRUNCATED, "'some.key'" },
    { "endless arrays", endless_arrays, PLIM_E_TRUNCATED, "'some.key'" },
    { "deep array", deep_array, PLIM_E_TOO_BIG, "'some.key'" },
    { "long string", long_string, PLIM_E_TRUNCATED, "'some.key'" },
    { "long string in a list", long_string_in_a_list, PLIM_E_TRUNCATED, "'some.key'" },
    { "alignment 0", alignment_0, PLIM_E_CORRUPT, "'general.alignment'" },
    { "alignment 48", alignment_48, PLIM_E_CORRUPT, "'general.alignment'" },
    { "huge alignment", alignment_huge, PLIM_E_CORRUPT, "'general.alignment'" },
    { "alignment in words", alignment_in_words, PLIM_E_CORRUPT, "'general.alignment'" },

    { "empty tensor name", empty_tensor_name, PLIM_E_CORRUPT, "tensor 0" },
    { "long tensor name", long_tensor_name, PLIM_E_CORRUPT, "tensor 0" },
    { "duplicate tensor", duplicate_tensor, PLIM_E_CORRUPT, "'blk.0.a'" },
    { "five dimensions", five_dimensions, PLIM_E_CORRUPT, "'some.weight'" },
    { "negative dimension", negative_dimension, PLIM_E_CORRUPT, "'some.weight'" },
    { "product overflows", product_overflows, PLIM_E_CORRUPT, "'some.weight'" },
    { "bytes overflow", bytes_overflow, PLIM_E_CORRUPT, "'some.weight'" },
    { "half a block", half_a_block, PLIM_E_CORRUPT, "'some.weight'" },
    { "removed type", removed_type, PLIM_E_UNSUPPORTED, "Q4_0_4_4" },
    { "unknown type", unknown_type, PLIM_E_UNSUPPORTED, "4711" },
    { "misaligned tensor", misaligned_tensor, PLIM_E_CORRUPT, "'some.weight' is misaligned" },
    { "overlapping tensors", overlapping_tensors, PLIM_E_CORRUPT, "'some.weight'" },
    { "gap between tensors", gap_between_tensors, PLIM_E_CORRUPT, "'some.weight'" },
    { "offset overflows", offset_overflows, PLIM_E_CORRUPT, "'some.weight'" },
    { "data beyond the file", data_beyond_the_file, PLIM_E_TRUNCATED, "'some.weight'" },
    { "all tensors overflow", all_tensors_overflow, PLIM_E_TRUNCATED, "'first.weight'" },
};

static void test_malformed(void **state)
{
    struct raw *r = calloc(1, sizeof *r);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_model *model = (struct plim_model *)(uintptr_t)1;
        struct plim_error error = { 0 };
        memset(r, 0, sizeof *r);
        uint64_t at = rows[i].make(r);
        int code = plim_model_read(r->bytes, r->n, r->n > FILE_BYTES ? r->n : FILE_BYTES, &model, &error);
        if (code != rows[i].code || error.code != code || !strstr(error.what, rows[i].names) || error.at != at)
            fail_msg("%s: code %d, expected %d; at %lld, expected %lld: \"%s\", expected to name \"%s\"", rows[i].name,
                     code, rows[i].code, (long long)error.at, (long long)at, error.what, rows[i].names);
        assert_int_equal(plim_error_exit_status(code), 3);
        assert_ptr_equal(model, (void *)(uintptr_t)1); /* written only on success */
        assert_int_equal(plim_model_read(r->bytes, r->n, FILE_BYTES, &model, NULL), code);
    }
    free(r);
}

/* A file that ends anywhere before its data is truncated, and the error points into it. */
static void test_truncated_at_every_byte(void **state)
{
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    struct raw *r = calloc(1, sizeof *r);
    (void)state;
    raw_model(r, 2, 3);
    raw_u32_key(r, "llama.block_count", 1);
    raw_key(r, "list", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_U16);
    raw_u64(r, 3);
    raw_bytes(r, "abcdef", 6);
    raw_key(r, "words", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_STRING);
    raw_u64(r, 2);
    raw_text(r, "one");
    raw_text(r, "");
    raw_tensor(r, "first.weight", 32, 1, F32, 0);
    raw_tensor(r, "second.weight", 32, 1, F32, 128);
    const uint64_t end = data_start(r) + 256;
    for (uint64_t n = 0; n < end; n++) {
        unsigned char *copy = malloc(n ? n : 1); /* of this size, so that a sanitizer sees a read beyond it */
        uint64_t n_header = n < r->n ? n : r->n;
        memcpy(copy, r->bytes, n_header);
        memset(&error, 0, sizeof error);
        assert_int_equal(plim_model_read(copy, n_header, n, &model, &error), PLIM_E_TRUNCATED);
        assert_true(error.at <= end && error.hint[0]);
        free(copy);
    }
    assert_int_equal(plim_model_read(r->bytes, r->n, end, &model, &error), 0);
    plim_model_free(model);
    free(r);
}

/* --- what is no file --- */

struct folder {
    char path[64], file[128];
};

static void assert_open_fails(const char *path, int code, const char *names)
{
    struct plim_model *model = NULL;
    struct plim_error error = { 0 };
    int result = plim_model_open(path, &model, &error);
    if (result != code || !strstr(error.what, names))
        fail_msg("%s: code %d, expected %d: \"%s\", expected \"%s\"", path, result, code, error.what, names);
    assert_int_equal(plim_error_exit_status(result), 3);
    assert_true(error.where[0] || !path[0]);
}

static int make_folder(void **state)
{
    static struct folder folder;
    strcpy(folder.path, "plimsoll-XXXXXX");
    if (!mkdtemp(folder.path))
        return -1;
    snprintf(folder.file, sizeof folder.file, "%s/model.gguf", folder.path);
    *state = &folder;
    return 0;
}

static int remove_folder(void **state)
{
    const struct folder *folder = *state;
    unlink(folder->file);
    return rmdir(folder->path);
}

static void write_file(const char *path, const void *bytes, size_t n, mode_t mode)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
    assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

static void test_no_such_file(void **state)
{
    const struct folder *folder = *state;
    assert_open_fails(folder->file, PLIM_E_NOT_FOUND, "No such file");
    assert_open_fails("", PLIM_E_NOT_FOUND, "No such file");
    assert_open_fails("/dev/null/x.gguf", PLIM_E_NOT_FOUND, "Not a directory");
}

static void test_directory(void **state)
{
    const struct folder *folder = *state;
    assert_open_fails(folder->path, PLIM_E_NOT_FOUND, "no model in this directory");
}

static void test_pipe(void **state)
{
    const struct folder *folder = *state;
    assert_int_equal(mkfifo(folder->file, 0600), 0);
    assert_open_fails(folder->file, PLIM_E_UNSUPPORTED, "a pipe"); /* and does not wait for a writer */
}

static void test_device(void **state)
{
    (void)state;
    assert_open_fails("/dev/zero", PLIM_E_UNSUPPORTED, "a device");
}

static void test_empty_file(void **state)
{
    const struct folder *folder = *state;
    write_file(folder->file, "", 0, 0600);
    assert_open_fails(folder->file, PLIM_E_TRUNCATED, "empty");
}

static void test_unreadable_file(void **state)
{
    const struct folder *folder = *state;
    if (geteuid() == 0)
        skip(); /* root may read everything */
    write_file(folder->file, "GGUF", 4, 0);
    assert_open_fails(folder->file, PLIM_E_DENIED, "Permission denied");
}

static void test_loop_of_links(void **state)
{
    const struct folder *folder = *state;
    assert_int_equal(symlink("model.gguf", folder->file), 0);
    assert_open_fails(folder->file, PLIM_E_IO, "symbolic links");
}

static void test_long_path(void **state)
{
    char path[6000];
    (void)state;
    memset(path, 'x', sizeof path);
    strcpy(path + sizeof path - 21, "-00001-of-00002.gguf");
    struct plim_model *model = NULL;
    struct plim_error error = { 0 };
    assert_true(plim_model_open(path, &model, &error) < 0);
    assert_true(strlen(error.where) < sizeof error.where);
}

/* --- splits --- */

static void put_part(const char *folder, const char *source, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (symlink(source, path) < 0)
        fail_msg("%s: cannot link", path);
}

static void remove_part(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static void assert_part_fails(const struct folder *folder, const char *name, int code, const char *names,
                              const char *where)
{
    char path[256];
    struct plim_model *model = NULL;
    struct plim_error error = { 0 };
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    int result = plim_model_open(path, &model, &error);
    if (result != code || !strstr(error.what, names) || !strstr(error.where, where))
        fail_msg("%s: code %d, expected %d: \"%s\" (%s), expected \"%s\" (%s)", name, result, code, error.what,
                 error.where, names, where);
    assert_int_equal(plim_error_exit_status(result), 3);
}

static void test_wrong_splits(void **state)
{
    const struct folder *folder = *state;
    const char *one = zoo_path("zoo-split/qwen3-0.6b-Q4_K_M-00001-of-00003.gguf");
    const char *two = zoo_path("zoo-split/qwen3-0.6b-Q4_K_M-00002-of-00003.gguf");
    const char *whole = zoo_path("zoo/qwen3-0.6b-Q4_K_M.gguf");
    put_part(folder->path, one, "m-00001-of-00003.gguf");
    put_part(folder->path, two, "m-00002-of-00003.gguf");
    assert_part_fails(folder, "m-00001-of-00003.gguf", PLIM_E_NOT_FOUND, "No such file", "m-00003-of-00003.gguf");
    put_part(folder->path, two, "m-00003-of-00003.gguf"); /* the wrong one under this name */
    assert_part_fails(folder, "m-00002-of-00003.gguf", PLIM_E_CORRUPT, "split.no", "m-00003-of-00003.gguf");
    put_part(folder->path, one, "m-00001-of-00002.gguf");
    put_part(folder->path, two, "m-00002-of-00002.gguf");
    assert_part_fails(folder, "m-00001-of-00002.gguf", PLIM_E_CORRUPT, "split.count", "m-00001-of-00002.gguf");
    put_part(folder->path, whole, "w-00001-of-00002.gguf");
    assert_part_fails(folder, "w-00001-of-00002.gguf", PLIM_E_CORRUPT, "split.count", "w-00001-of-00002.gguf");
    put_part(folder->path, one, "renamed.gguf");
    assert_part_fails(folder, "renamed.gguf", PLIM_E_NOT_FOUND, "part 1 of 3", "renamed.gguf");
    static const char *const all[] = { "m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf",
                                       "m-00001-of-00002.gguf", "m-00002-of-00002.gguf", "w-00001-of-00002.gguf",
                                       "renamed.gguf" };
    for (size_t i = 0; i < COUNT(all); i++)
        remove_part(folder->path, all[i]);
}

/* A part that holds one tensor of a promised number, and a string of so many bytes, which is a hole. */
static void write_part(const struct folder *folder, const char *name, uint32_t part, uint32_t count, uint32_t n_tensors,
                       uint64_t string_bytes)
{
    char path[256], tensor[16];
    struct raw *r = calloc(1, sizeof *r);
    assert_non_null(r);
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    snprintf(tensor, sizeof tensor, "t%u", part);
    raw_model(r, 1, 4);
    raw_key(r, "split.count", PLIM_GGUF_U16);
    raw_uint(r, count, 2);
    raw_key(r, "split.no", PLIM_GGUF_U16);
    raw_uint(r, part - 1, 2);
    raw_key(r, "split.tensors.count", PLIM_GGUF_I32);
    raw_u32(r, n_tensors);
    raw_key(r, "text", PLIM_GGUF_STRING);
    raw_u64(r, string_bytes);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(r->bytes, 1, r->n, file), r->n);
    assert_int_equal(fseeko(file, (off_t)string_bytes, SEEK_CUR), 0);
    r->n = 0;
    raw_tensor(r, tensor, 32, 1, F32, 0);
    assert_int_equal(fwrite(r->bytes, 1, r->n, file), r->n);
    fclose(file);
    assert_int_equal(truncate(path, (off_t)(string_bytes + 4096)), 0);
    free(r);
}

/* What the parts promise each other, and what all of them may have together. */
static void test_parts_together(void **state)
{
    static const char *const names[] = { "p-00001-of-00002.gguf", "p-00002-of-00002.gguf" };
    const struct folder *folder = *state;
    struct plim_model *model = NULL;
    char path[256];
    for (uint32_t i = 0; i < 2; i++)
        write_part(folder, names[i], i + 1, 2, 2, 100);
    snprintf(path, sizeof path, "%s/%s", folder->path, names[0]);
    assert_int_equal(plim_model_open(path, &model, NULL), 0);
    plim_model_free(model);
    write_part(folder, names[0], 1, 2, 3, 100);
    assert_part_fails(folder, names[0], PLIM_E_CORRUPT, "promises 3 tensors, the parts hold 2", names[0]);
    for (uint32_t i = 0; i < 2; i++) /* each header would do, both are too much */
        write_part(folder, names[i], i + 1, 2, 2, PLIM_MAX_GGUF_HEADER_BYTES / 16 * 9);
    assert_part_fails(folder, names[0], PLIM_E_TRUNCATED, "the file ends inside the metadata", names[1]);
    put_part(folder->path, names[0], "q-00001-of-99999.gguf");
    assert_part_fails(folder, "q-00001-of-99999.gguf", PLIM_E_TOO_BIG, "99999 parts; at most 1024", "");
    remove_part(folder->path, "q-00001-of-99999.gguf");
    for (uint32_t i = 0; i < 2; i++)
        remove_part(folder->path, names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parts_together, make_folder, remove_folder),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_truncated_at_every_byte),
        cmocka_unit_test_setup_teardown(test_no_such_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_directory, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_pipe, make_folder, remove_folder),
        cmocka_unit_test(test_device),
        cmocka_unit_test_setup_teardown(test_empty_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_unreadable_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_loop_of_links, make_folder, remove_folder),
        cmocka_unit_test(test_long_path),
        cmocka_unit_test_setup_teardown(test_wrong_splits, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
