/* SPDX-License-Identifier: MIT */
/* The safetensors reader: what it reads, and files that are wrong, with the error and the byte it points at. */
#include "base/json.h"
#include "heap.h"
#include "model/safetensors.h"
#include "unit.h"

enum { MAX_FILE = 1 << 16, LENGTH_BYTES = 8, MAX_HEAP = 64 << 20 };

static struct plim_model *model;
static uint64_t data_at;
static struct plim_error error;

static size_t put_length(char *file, uint64_t length)
{
    for (int i = 0; i < LENGTH_BYTES; i++)
        file[i] = (char)(length >> 8 * i);
    return LENGTH_BYTES;
}

/* Read one file as a model; what is left of the one before is freed by done(). */
static int read_bytes(const void *bytes, uint64_t n, uint64_t file_bytes)
{
    error = (struct plim_error){ 0 };
    model = plim_model_new("");
    if (!model)
        return PLIM_E_NOMEM;
    int result = plim_safetensors_read(model, plim_cursor(bytes, n), file_bytes, &error);
    data_at = result == 0 ? plim_model_shard(model, 0)->data_at : 0;
    return result;
}

static void done(void) { model = plim_model_free(model); }

/* Read a file of this header, padded with spaces, and so much data. */
static int read_text(const char *text, uint64_t data_bytes)
{
    static char file[MAX_FILE];
    const size_t n = strlen(text), padded = (n + 7) / 8 * 8;
    assert_true(padded + LENGTH_BYTES <= MAX_FILE);
    memset(file, ' ', sizeof file);
    memcpy(file + put_length(file, padded), text, n);
    return read_bytes(file, LENGTH_BYTES + padded, LENGTH_BYTES + padded + data_bytes);
}

static void test_reads(void **state)
{
    (void)state;
    assert_int_equal(
        read_text("{\"__metadata__\":{\"format\":\"pt\"},"
                  "\"b\":{\"data_offsets\":[8,20],\"shape\":[2,3],\"dtype\":\"BF16\"},"
                  "\"a\\u00e9\\ud83d\\ude00\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8],\"x\":[{}]},"
                  "\"none\":{\"dtype\":\"F32\",\"shape\":[0,9],\"data_offsets\":[8,8]}}",
                  20),
        0);
    size_t n;
    const struct plim_tensor *tensors = plim_model_tensors(model, &n);
    assert_int_equal(n, 3);
    assert_string_equal(tensors[0].name, "b");
    assert_int_equal(tensors[0].type, PLIM_DTYPE_BF16);
    assert_int_equal(tensors[0].n_dims, 2);
    assert_int_equal(tensors[0].ne[0], 3); /* innermost first */
    assert_int_equal(tensors[0].ne[1], 2);
    assert_int_equal(tensors[0].ne[2], 1);
    assert_int_equal(tensors[0].offset, 8);
    assert_int_equal(tensors[0].bytes, 12);
    assert_string_equal(tensors[1].name, "a\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(tensors[1].n_dims, 0);
    assert_int_equal(data_at % 8, 0);
    assert_int_equal(plim_model_n_params(model), 6 + 1 + 0);
    assert_int_equal(plim_model_tensor_bytes(model), 20);
    assert_string_equal(plim_model_string(model, "__metadata__.format"), "pt");
    assert_int_equal(plim_model_format(model), PLIM_FORMAT_SAFETENSORS);
    done();
    assert_int_equal(read_text("{}", 0), 0);
    plim_model_tensors(model, &n);
    assert_int_equal(n, 0);
    done();
}

static void test_numbers_are_exact(void **state)
{
    (void)state;
    /* 2^53 + 1 bytes: no double holds that */
    assert_int_equal(read_text("{\"a\":{\"dtype\":\"U8\",\"shape\":[9007199254740993],"
                               "\"data_offsets\":[0,9007199254740993]}}",
                               9007199254740993u),
                     0);
    assert_true(plim_model_tensor(model, "a")->bytes == 9007199254740993u);
    done();
}

#define A(type, shape, offsets) "{\"a\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void test_wrong_headers(void **state)
{
    /* the error points at the first place of `at` in the text; at the end of the text when it is "" */
    static const struct {
        const char *text;
        uint64_t data_bytes;
        int code;
        const char *at, *what;
    } rows[] = {
        { A("BF17", "[1]", "[0,2]"), 2, PLIM_E_UNSUPPORTED, "BF17", "unknown dtype 'BF17'" },
        { A("F16", "[1]", "[0,4]"), 4, PLIM_E_CORRUPT, "a\"", "16 bits by its shape, and 4 bytes" },
        { A("F4", "[3]", "[0,1]"), 1, PLIM_E_CORRUPT, "a\"", "12 bits by its shape" },
        { A("F16", "[4294967296,4294967296]", "[0,4]"), 4, PLIM_E_CORRUPT, "a\"", "larger than 2^64 bits" },
        { A("F16", "[1]", "[2,0]"), 2, PLIM_E_CORRUPT, "[2,0]", "the smaller first" },
        { A("F16", "[1]", "[0,2,3]"), 2, PLIM_E_CORRUPT, "3]", "more than 2 numbers" },
        { A("F16", "[1]", "[0]"), 2, PLIM_E_CORRUPT, "[0]", "must be two numbers" },
        { A("F16", "[1,1,1,1,1,1,1,1,9]", "[0,2]"), 2, PLIM_E_CORRUPT, "9]", "more than 8 numbers" },
        { A("F16", "[-1]", "[0,2]"), 2, PLIM_E_CORRUPT, "-1", "a whole number, not negative" },
        { A("F16", "[1.0]", "[0,2]"), 2, PLIM_E_CORRUPT, "1.0", "a whole number" },
        { A("F16", "[1e0]", "[0,2]"), 2, PLIM_E_CORRUPT, "1e0", "a whole number" },
        { A("F16", "[01]", "[0,2]"), 2, PLIM_E_CORRUPT, "01", "a whole number" },
        { A("F16", "[18446744073709551616]", "[0,2]"), 2, PLIM_E_CORRUPT, "18446", "larger than 2^64 - 1" },
        { A("F16", "[1,]", "[0,2]"), 2, PLIM_E_CORRUPT, "]", "a whole number" },
        { A("F16", "[1]", "[2,4]"), 4, PLIM_E_CORRUPT, "a\"", "leaves a gap: offset 2, expected 0" },
        { A("F16", "[1]", "[0,2]"), 3, PLIM_E_CORRUPT, NULL, "1 bytes at the end of the file belong to no tensor" },
        { A("F16", "[1]", "[0,2]"), 1, PLIM_E_TRUNCATED, NULL, "2 bytes wanted, 1 there" },
        { A("F16", "[1]", "[0,2]") "x", 2, PLIM_E_CORRUPT, "x", "expected the end" },
        { A("F16", "[1]", "[0,2],\"dtype\":\"F16\""), 2, PLIM_E_CORRUPT, "dtype\":\"F16\"}", "two of 'dtype'" },
        { A("F16", "[1],\"shape\":[2]", "[0,2]"), 2, PLIM_E_CORRUPT, "shape\":[2]", "two of 'shape'" },
        { "{\"a\":{\"dtype\":\"F16\",\"shape\":[1]}}", 2, PLIM_E_CORRUPT, "a\"", "has no 'data_offsets'" },
        { "{\"a\":{}}", 2, PLIM_E_CORRUPT, "a\"", "has no 'dtype'" },
        { "{\"a\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, PLIM_E_CORRUPT, "a\"", "has no 'dtype'" },
        { "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, PLIM_E_CORRUPT, "a\"", "has no 'shape'" },
        { "{\"a\":3}", 2, PLIM_E_CORRUPT, "3", "expected an object" },
        { "{\"a\\u0000\":{}}", 2, PLIM_E_CORRUPT, "a\\", "NUL" },
        { "{\"a\\ud800\":{}}", 2, PLIM_E_CORRUPT, "\\ud", "an escape" },
        { "{\"a\\udc00\":{}}", 2, PLIM_E_CORRUPT, "\\ud", "an escape" },
        { "{\"a\\ud83d\\u0041\":{}}", 2, PLIM_E_CORRUPT, "\\ud", "an escape" },
        { "{\"a\\x\":{}}", 2, PLIM_E_CORRUPT, "\\x", "an escape" },
        { "{\"\xc0\x80\":{}}", 2, PLIM_E_CORRUPT, "\xc0", "not UTF-8" },
        { "{\"a\n\":{}}", 2, PLIM_E_CORRUPT, "\n", "a control character" },
        { "{\"a\"={}}", 2, PLIM_E_CORRUPT, "=", "expected ':'" },
        { "{\"a", 2, PLIM_E_TRUNCATED, "a", "the string does not end" },
        { "{", 2, PLIM_E_TRUNCATED, "", "the JSON text ends" },
        { "{\"__metadata__\":{\"x\":1}}", 0, PLIM_E_CORRUPT, "1", "expected a string" },
        { "{\"__metadata__\":{\"x\":\"\",\"y\":\"\",\"x\":\"2\"}}", 0, PLIM_E_CORRUPT, "x\":\"2",
          "key '__metadata__.x' appears twice" },
        { "{\"__metadata__\":{},\"__meta\\u0064ata__\":{}}", 0, PLIM_E_CORRUPT, "__meta\\", "appears twice" },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
          "\"\\u0061\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
          2, PLIM_E_CORRUPT, "\\u0061", "tensor 'a' appears twice, first at byte 10" },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
          "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
          2, PLIM_E_CORRUPT, "b\"", "overlaps another" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *found = rows[i].at ? strstr(rows[i].text, rows[i].at) : NULL;
        const size_t blocks = heap_live_blocks();
        assert_int_equal(read_text(rows[i].text, rows[i].data_bytes), rows[i].code);
        assert_non_null(strstr(error.what, rows[i].what));
        if (found && *rows[i].at)
            assert_int_equal(error.at, LENGTH_BYTES + (uint64_t)(found - rows[i].text));
        assert_int_equal(plim_error_exit_status(error.code), 3);
        done();
        assert_int_equal(heap_live_blocks(), blocks);
    }
}

/* Depth is bounded where a value is stepped over. */
static void test_depth(void **state)
{
    static char text[MAX_FILE];
    (void)state;
    for (int depth = 30; depth < 20000; depth *= 25) {
        size_t n = (size_t)sprintf(text, "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":");
        memset(text + n, '[', (size_t)depth);
        memset(text + n + depth, ']', (size_t)depth);
        strcpy(text + n + 2 * depth, "}}");
        assert_int_equal(read_text(text, 1), depth < PLIM_MAX_JSON_DEPTH ? 0 : PLIM_E_TOO_BIG);
        done();
    }
}

static void test_lengths(void **state)
{
    static const struct {
        uint64_t length;
        char first;
        int code;
    } rows[] = {
        { 100, '{', PLIM_E_TRUNCATED },       { UINT64_MAX, '{', PLIM_E_TOO_BIG }, { 100000001, '{', PLIM_E_TOO_BIG },
        { 100000000, '{', PLIM_E_TRUNCATED }, { 4, '[', PLIM_E_UNSUPPORTED },      { 0, '{', PLIM_E_TRUNCATED },
    };
    char file[16] = "";
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        put_length(file, rows[i].length);
        file[LENGTH_BYTES] = rows[i].first;
        assert_int_equal(read_bytes(file, sizeof file, sizeof file), rows[i].code);
        done();
    }
    for (uint64_t n = 0; n < LENGTH_BYTES; n++) {
        assert_int_equal(read_bytes(file, n, n), PLIM_E_TRUNCATED);
        done();
    }
}

/* As many names as fit into a large header: what is kept stays below the limit. */
static void test_many_names(void **state)
{
    enum { BYTES = 40 << 20 };
    char *file = malloc(BYTES);
    const size_t before = heap_live_bytes();
    (void)state;
    assert_non_null(file);
    size_t n = LENGTH_BYTES + (size_t)sprintf(file + LENGTH_BYTES, "{\"__metadata__\":{}");
    for (unsigned i = 0; n + 400 < BYTES; i++)
        n += (size_t)sprintf(file + n, ",\"%0160u\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[%u,%u]}", i, i,
                             i + 1);
    n += (size_t)sprintf(file + n, "}");
    put_length(file, n - LENGTH_BYTES);
    heap_start();
    assert_int_equal(read_bytes(file, n, n + 1), PLIM_E_TOO_BIG);
    done();
    assert_true(heap_peak_bytes() - before < MAX_HEAP);
    free(file);
}

/* A name at the limit is read, a longer one is refused: never cut, for two names may begin alike. */
static void test_long_names(void **state)
{
    static char text[MAX_FILE];
    (void)state;
    for (int n = PLIM_MAX_SAFETENSORS_NAME_BYTES - 1; n < 4 * PLIM_MAX_SAFETENSORS_NAME_BYTES;
         n += n < 1025 ? 1 : 900) {
        sprintf(text, "{\"%0*d\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", n, 0);
        assert_int_equal(read_text(text, 1), n <= PLIM_MAX_SAFETENSORS_NAME_BYTES ? 0 : PLIM_E_TOO_BIG);
        done();
    }
}

/* As many tensors as are read, and one more. */
static void test_many_tensors(void **state)
{
    enum { BYTES = 16 << 20 };
    char *file = malloc(BYTES);
    (void)state;
    assert_non_null(file);
    for (unsigned n_tensors = PLIM_MAX_SAFETENSORS_TENSORS; n_tensors <= PLIM_MAX_SAFETENSORS_TENSORS + 1;
         n_tensors++) {
        size_t n = LENGTH_BYTES + (size_t)sprintf(file + LENGTH_BYTES, "{\"__metadata__\":{}");
        for (unsigned i = 0; i < n_tensors; i++)
            n += (size_t)sprintf(file + n, ",\"%x\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[%u,%u]}", i, i,
                                 i + 1);
        n += (size_t)sprintf(file + n, "}");
        put_length(file, n - LENGTH_BYTES);
        assert_int_equal(read_bytes(file, n, n + n_tensors),
                         n_tensors > PLIM_MAX_SAFETENSORS_TENSORS ? PLIM_E_TOO_BIG : 0);
        done();
    }
    free(file);
}

/* Tensors and names have one ceiling together. */
static void test_one_ceiling(void **state)
{
    const size_t most = PLIM_MAX_KEPT_BYTES / sizeof(struct plim_tensor);
    struct plim_tensor *tensors;
    (void)state;
    model = plim_model_new("");
    assert_non_null(model);
    assert_int_equal(plim_model_add_tensors(model, most + 1, &tensors, NULL), PLIM_E_TOO_BIG);
    assert_int_equal(plim_model_add_tensors(model, most / 2, &tensors, NULL), 0);
    assert_non_null(plim_arena_alloc(&model->arena, PLIM_MAX_KEPT_BYTES / 4, 1));
    assert_null(plim_arena_alloc(&model->arena, PLIM_MAX_KEPT_BYTES / 3, 1));
    assert_true(model->arena.is_full);
    assert_int_equal(plim_model_add_tensors(model, most / 3, &tensors, NULL), PLIM_E_TOO_BIG);
    done();
}

/* Every prefix and many changes of a good header: an answer or an error, never a crash. */
static void test_damage(void **state)
{
    static const char good[] = "{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"F16\",\"shape\":[2,1],"
                               "\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}";
    char text[sizeof good];
    uint64_t seed = random_seed();
    (void)state;
    for (size_t n = 0; n < sizeof good - 1; n++) {
        memcpy(text, good, sizeof good);
        text[n] = '\0';
        assert_true(read_text(text, 4) < 0);
        done();
    }
    for (int i = 0; i < 20000; i++) {
        memcpy(text, good, sizeof good);
        for (int k = 0; k < 1 + i % 3; k++) {
            char c = "{}[]\",:\\u0129e.- \xff\xc3"[random_below(&seed, 18)];
            text[random_below(&seed, sizeof good - 1)] = c;
        }
        int result = read_text(text, 4);
        assert_true(result == 0 || error.what[0]);
        done();
    }
}

/* Whichever allocation fails: an error, and nothing is lost. */
static void test_memory_runs_out(void **state)
{
    static const char text[] =
        "{\"__metadata__\":{\"a\":\"\"},\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    static const char map[] = "{\"weight_map\":{\"x\":\"a\",\"y\":\"b\"}}";
    struct plim_safetensors_index index;
    long n = 0, n_index = 0;
    (void)state;
    for (int result = -1; result < 0; n++) {
        const size_t blocks = heap_live_blocks();
        plim_alloc_fail_after(n);
        result = read_text(text, 1);
        assert_true(result == 0 || result == PLIM_E_NOMEM);
        plim_alloc_fail_after(-1);
        done();
        assert_int_equal(heap_live_blocks(), blocks);
    }
    for (int result = -1; result < 0; n_index++) {
        plim_alloc_fail_after(n_index);
        result = plim_safetensors_index_read(plim_cursor(map, strlen(map)), &index, NULL);
        assert_true(result == 0 || result == PLIM_E_NOMEM);
        plim_alloc_fail_after(-1);
        plim_safetensors_index_done(&index);
    }
    assert_true(n > 4);
    assert_int_equal(n_index, 2); /* all names are in one block of the arena */
}

/* --- the index --- */

static void test_index(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *what; /* or the files */
    } rows[] = {
        { "{\"metadata\":{\"total_size\":1.5e3},\"weight_map\":{\"x\":\"b.st\",\"y\":\"a.st\",\"z\":\"\\u0062.st\"}}",
          0, "a.st b.st " },
        { "{\"weight_map\":{\"x\":\"bb\",\"y\":\"b\",\"z\":\"a\",\"u\":\"bb\",\"v\":\"ba\",\"w\":\"b\"}}", 0,
          "a b ba bb " },
        { "{\"weight_map\":{\"x\":\"../b\"}}", PLIM_E_CORRUPT, "not beside it" },
        { "{\"weight_map\":{\"x\":\"/b\"}}", PLIM_E_CORRUPT, "not beside it" },
        { "{\"weight_map\":{\"x\":\"..\"}}", PLIM_E_CORRUPT, "not beside it" },
        { "{\"weight_map\":{\"x\":\".hidden\"}}", PLIM_E_CORRUPT, "not beside it" },
        { "{\"weight_map\":{\"x\":\"c\\\\b\"}}", PLIM_E_CORRUPT, "not beside it" }, /* folders and drives of Windows */
        { "{\"weight_map\":{\"x\":\"c:b\"}}", PLIM_E_CORRUPT, "not beside it" },
        { "{\"weight_map\":{\"x\":\"\"}}", PLIM_E_CORRUPT, "not beside it" },
        { "{\"weight_map\":{\"x\":\"a\\u0000\"}}", PLIM_E_CORRUPT, "not beside it" },
        { "{\"weight_map\":{}}", PLIM_E_CORRUPT, "empty" },
        { "{}", PLIM_E_CORRUPT, "missing" },
        { "{\"weight_map\":{\"x\":\"b\"},\"weight_map\":{}}", PLIM_E_CORRUPT, "twice" },
        { "{\"weight_map\":{\"x\":\"b\"}", PLIM_E_TRUNCATED, "ends" },
        { "[]", PLIM_E_CORRUPT, "expected an object" },
        { "", PLIM_E_TRUNCATED, "ends" },
    };
    struct plim_safetensors_index index;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char files[64] = "";
        error = (struct plim_error){ 0 };
        assert_int_equal(plim_safetensors_index_read(plim_cursor(rows[i].text, strlen(rows[i].text)), &index, &error),
                         rows[i].code);
        for (size_t k = 0; k < index.n_files && rows[i].code == 0; k++)
            strcat(strcat(files, index.files[k]), " ");
        if (rows[i].code == 0)
            assert_string_equal(files, rows[i].what);
        else
            assert_non_null(strstr(error.what, rows[i].what));
        plim_safetensors_index_done(&index);
    }
}

/* A megabyte of other names is refused at the limit, and soon. */
static void test_index_of_many_files(void **state)
{
    enum { BYTES = 1 << 20 };
    static char text[BYTES];
    struct plim_safetensors_index index;
    size_t n = (size_t)sprintf(text, "{\"weight_map\":{");
    (void)state;
    for (unsigned i = 0; n + 64 < BYTES; i++)
        n += (size_t)sprintf(text + n, "%s\"%u\":\"f%u\"", i ? "," : "", i, i);
    assert_int_equal(plim_safetensors_index_read(plim_cursor(text, n), &index, NULL), PLIM_E_TOO_BIG);
    plim_safetensors_index_done(&index);
}

/* The folder; in a hub or the cache of one, the repository. */
static void test_names_by_folder(void **state)
{
    static const char *const rows[][2] = {
        { "a/Qwen3-14B/model.safetensors", "Qwen3-14B" },
        { "Qwen3-14B/config.json", "Qwen3-14B" },
        { "http://host/Qwen/Qwen3-14B/resolve/main/model.safetensors", "Qwen3-14B" },
        { "http://host/Qwen/Qwen3-14B/resolve/main/text_encoder/model.safetensors", "text_encoder" },
        { "/c/models--Qwen--Qwen3-14B/snapshots/0123/model.safetensors", "Qwen3-14B" },
        { "models--gpt2/snapshots/0123/model.safetensors", "gpt2" },
        { "/a--b/snapshots/0123/model.safetensors", "a--b" },
        { "/snapshots/0123/model.safetensors", "0123" },
        { "snapshots/0123/model.safetensors", "0123" },
        { "model.safetensors", "before" },
        { "../model.safetensors", "before" },
        { "/model.safetensors", "before" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        model = plim_model_new("");
        assert_non_null(model);
        model->name = "before";
        assert_int_equal(plim_model_name_by_folder(model, rows[i][0], &error), 0);
        assert_string_equal(model->name, rows[i][1]);
        done();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),         cmocka_unit_test(test_numbers_are_exact),
        cmocka_unit_test(test_wrong_headers), cmocka_unit_test(test_depth),
        cmocka_unit_test(test_lengths),       cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_damage),        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_long_names),    cmocka_unit_test(test_many_tensors),
        cmocka_unit_test(test_one_ceiling),   cmocka_unit_test(test_names_by_folder),
        cmocka_unit_test(test_index),         cmocka_unit_test(test_index_of_many_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
