/* SPDX-License-Identifier: MIT */
/* The reader on files that are right: versions, byte orders, splits, types, kinds and metadata. */
#include "model/dtype_row.h"
#include "raw_gguf.h"
#include "source/gguf_split.h"
#include "unit.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { F32 = 0, F16 = 1, FILE_BYTES = 1 << 30 };

static struct plim_model *opened(const char *path)
{
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    if (plim_model_open(path, &model, &error) < 0)
        fail_msg("%s: %s", path, error.what);
    return model;
}

static struct plim_model *read_raw(const struct raw *r)
{
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    if (plim_model_read(r->bytes, r->n, FILE_BYTES, &model, &error) < 0)
        fail_msg("%s at %llu", error.what, (unsigned long long)error.at);
    return model;
}

/* --- forms of one model --- */

static void assert_same_model(const struct plim_model *a, const struct plim_model *b, bool has_same_layout)
{
    size_t n_a, n_b;
    const struct plim_tensor *x = plim_model_tensors(a, &n_a), *y = plim_model_tensors(b, &n_b);
    assert_int_equal(n_a, n_b);
    assert_string_equal(plim_model_name(a), plim_model_name(b));
    assert_string_equal(plim_model_arch(a), plim_model_arch(b));
    assert_string_equal(plim_model_file_type(a), plim_model_file_type(b));
    assert_int_equal(plim_model_n_params(a), plim_model_n_params(b));
    assert_int_equal(plim_model_tensor_bytes(a), plim_model_tensor_bytes(b));
    for (size_t i = 0; i < n_a; i++) {
        assert_string_equal(x[i].name, y[i].name);
        assert_int_equal(x[i].type, y[i].type);
        assert_int_equal(x[i].bytes, y[i].bytes);
        assert_memory_equal(x[i].ne, y[i].ne, sizeof x[i].ne);
        if (has_same_layout)
            assert_int_equal(x[i].offset, y[i].offset);
    }
}

static void test_versions_and_byte_orders(void **state)
{
    static const char *const forms[] = { "zoo-v2/qwen3-0.6b-Q4_K_M.gguf", "zoo-big-endian/qwen3-0.6b-Q4_K_M.gguf" };
    struct plim_model *model = zoo_model("qwen3-0.6b-Q4_K_M");
    uint64_t n_layer = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        struct plim_model *other = opened(zoo_path(forms[i]));
        assert_same_model(model, other, true);
        assert_true(plim_model_u64(other, "qwen3.block_count", &n_layer));
        assert_int_equal(n_layer, 28);
        plim_model_free(other);
    }
    plim_model_free(model);
}

static void test_any_part_opens_the_split(void **state)
{
    static const char *const parts[] = { "zoo-split/qwen3-0.6b-Q4_K_M-00001-of-00003.gguf",
                                         "zoo-split/qwen3-0.6b-Q4_K_M-00002-of-00003.gguf",
                                         "zoo-split/qwen3-0.6b-Q4_K_M-00003-of-00003.gguf" };
    struct plim_model *model = zoo_model("qwen3-0.6b-Q4_K_M");
    (void)state;
    for (size_t i = 0; i < COUNT(parts); i++) {
        size_t n;
        struct plim_model *split = opened(zoo_path(parts[i]));
        const struct plim_tensor *tensors = plim_model_tensors(split, &n);
        assert_same_model(model, split, false);
        assert_int_equal(plim_model_n_shards(split), 3);
        assert_int_equal(tensors[0].shard, 0);
        assert_int_equal(tensors[n - 1].shard, 2);
        assert_true(plim_model_file_bytes(split) > plim_model_tensor_bytes(split));
        plim_model_free(split);
    }
    plim_model_free(model);
}

static void test_split_names(void **state)
{
    static const struct {
        const char *path;
        uint32_t part, count; /* 0: not one */
    } rows[] = {
        { "a-00001-of-00003.gguf", 1, 3 },
        { "/m/a.b-00003-of-00003.gguf", 3, 3 },
        { "-00001-of-00001.gguf", 1, 1 },
        { "a-00004-of-00003.gguf", 0, 0 },
        { "a-00000-of-00003.gguf", 0, 0 },
        { "a-0001-of-00003.gguf", 0, 0 },
        { "a-00001-of-00003.GGUF", 0, 0 },
        { "a-00001-of-00003.gguf.part", 0, 0 },
        { "a-0000x-of-00003.gguf", 0, 0 },
        { "a.gguf", 0, 0 },
        { "", 0, 0 },
        { "a_00001-of-00003.gguf", 0, 0 },
    };
    char path[64];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t part = 0, count = 0;
        assert_int_equal(plim_split_parse(rows[i].path, &part, &count), rows[i].part > 0);
        assert_int_equal(part, rows[i].part);
        assert_int_equal(count, rows[i].count);
    }
    assert_true(plim_split_path("/m/a-00001-of-00003.gguf", 2, 3, path, sizeof path));
    assert_string_equal(path, "/m/a-00002-of-00003.gguf");
    assert_false(plim_split_path("/m/a-00001-of-00003.gguf", 2, 3, path, 24));
}

static void test_vocabulary_is_counted_not_kept(void **state)
{
    struct plim_model *model = opened(zoo_path("zoo-vocab/qwen3-0.6b-Q4_K_M.gguf"));
    int64_t numbers[4];
    (void)state;
    assert_int_equal(plim_model_array_length(model, "tokenizer.ggml.tokens"), 151936);
    assert_true(plim_model_array_length(model, "tokenizer.ggml.merges") > 100000);
    assert_int_equal(plim_model_array(model, "tokenizer.ggml.tokens", numbers, 4), 0);
    assert_int_equal(plim_model_array(model, "tokenizer.ggml.token_type", numbers, 4), 0);
    plim_model_free(model);
}

/* --- types --- */

static void test_every_type_of_ggml(void **state)
{
    enum { N = 256 };
    size_t n_types = 0, n_expected = 0;
    (void)state;
    for (uint32_t id = 0; id < 60; id++) {
        static struct raw r;
        struct plim_model *model = NULL;
        struct plim_error error = { 0 };
        raw_model(&r, 1, 0);
        raw_tensor(&r, "some.weight", N, 2, id, 0);
        if (plim_model_read(r.bytes, r.n, FILE_BYTES, &model, &error) < 0) {
            char expected[32];
            assert_int_equal(error.code, PLIM_E_UNSUPPORTED);
            assert_non_null(strstr(error.what, "'some.weight'"));
            snprintf(expected, sizeof expected, "id %u", id);
            assert_non_null(strstr(error.what, expected));
            continue;
        }
        const struct plim_tensor *tensor = plim_model_tensor(model, "some.weight");
        assert_int_equal(tensor->bytes, 2 * plim_dtype_row_bytes(tensor->type, N));
        assert_int_equal(plim_model_n_params(model), 2 * N);
        plim_model_free(model);
        n_types++;
    }
    for (int type = PLIM_DTYPE_UNKNOWN + 1; type < PLIM_DTYPE_MAX_; type++)
        n_expected += plim_dtype_rows[type].ggml_id >= 0;
    assert_int_equal(n_types, n_expected);
}

/* --- kinds --- */

static void test_kinds(void **state)
{
    static const struct {
        const char *file;
        enum plim_model_kind kind;
    } rows[] = {
        { "llama-3.1-8b-Q4_K_M", PLIM_MODEL_LANGUAGE },       { "mmproj-gemma-3-4b-F16", PLIM_MODEL_PROJECTOR },
        { "lora-llama-3.1-8b-F32", PLIM_MODEL_ADAPTER },      { "eagle3-llama-3.1-8b-F16", PLIM_MODEL_DRAFT },
        { "mmproj-qwen2.5-vl-7b-F16", PLIM_MODEL_PROJECTOR }, { "bert-base-F16", PLIM_MODEL_LANGUAGE },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_model *model = zoo_model(rows[i].file);
        assert_int_equal(plim_model_kind(model), rows[i].kind);
        plim_model_free(model);
    }
}

static void test_name_from_the_path(void **state)
{
    struct raw *r = calloc(1, sizeof *r);
    char folder[] = "plimsoll-XXXXXX", path[PATH_MAX];
    (void)state;
    assert_non_null(mkdtemp(folder));
    raw_model(r, 0, 0);
    snprintf(path, sizeof path, "%s/a model.v1.gguf", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(r->bytes, 1, r->n, file);
    fclose(file);
    struct plim_model *model = opened(path);
    assert_string_equal(plim_model_name(model), "a model.v1");
    assert_string_equal(plim_model_path(model), path);
    assert_int_equal(plim_model_file_bytes(model), r->n);
    plim_model_free(model);
    unlink(path);
    rmdir(folder);
    free(r);
}

static void test_names_keep_their_bytes(void **state)
{
    static struct raw r;
    (void)state;
    raw_start(&r, 3, 0, 2);
    raw_string_key(&r, "general.architecture", "lla\x1b[2Jma");
    raw_string_key(&r, "general.name", "gr\xc3\xbc\xc3\x9f \xff\n");
    struct plim_model *model = read_raw(&r);
    assert_string_equal(plim_model_arch(model), "lla\x1b[2Jma");
    assert_string_equal(plim_model_name(model), "gr\xc3\xbc\xc3\x9f \xff\n");
    plim_model_free(model);
}

/* --- metadata --- */

static void put_numbers(struct raw *r)
{
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t bits;
        unsigned n_bytes;
    } keys[] = {
        { "u8", PLIM_GGUF_U8, 200, 1 },
        { "i8", PLIM_GGUF_I8, 0xff, 1 },
        { "u16", PLIM_GGUF_U16, 60000, 2 },
        { "i16", PLIM_GGUF_I16, 0x8000, 2 },
        { "u32", PLIM_GGUF_U32, 4000000000, 4 },
        { "i32", PLIM_GGUF_I32, 7, 4 },
        { "f32", PLIM_GGUF_F32, 0x3fc00000, 4 },
        { "bool", PLIM_GGUF_BOOL, 1, 1 },
        { "u64", PLIM_GGUF_U64, UINT64_MAX, 8 },
        { "i64", PLIM_GGUF_I64, (uint64_t)INT64_MIN, 8 },
        { "f64", PLIM_GGUF_F64, 0x4004000000000000, 8 },
    };
    for (size_t i = 0; i < COUNT(keys); i++) {
        raw_key(r, keys[i].name, keys[i].type);
        raw_uint(r, keys[i].bits, keys[i].n_bytes);
    }
}

static void check_numbers(const struct plim_model *model)
{
    static const struct {
        const char *name;
        bool is_unsigned; /* converts to one */
        uint64_t value;
    } rows[] = {
        { "u8", true, 200 },         { "i8", false, 0 },      { "u16", true, 60000 }, { "i16", false, 0 },
        { "u32", true, 4000000000 }, { "i32", true, 7 },      { "f32", false, 0 },    { "bool", true, 1 },
        { "u64", true, UINT64_MAX }, { "i64", false, 0 },     { "f64", false, 0 },    { "text", false, 0 },
        { "list", false, 0 },        { "nothing", false, 0 },
    };
    uint64_t value;
    double real = 0;
    bool truth = false;
    for (size_t i = 0; i < COUNT(rows); i++) {
        value = 77;
        assert_int_equal(plim_model_u64(model, rows[i].name, &value), rows[i].is_unsigned);
        assert_int_equal(value, rows[i].is_unsigned ? rows[i].value : 77);
    }
    assert_true(plim_model_f64(model, "f32", &real) && real == 1.5);
    assert_true(plim_model_f64(model, "f64", &real) && real == 2.5);
    assert_true(plim_model_f64(model, "u8", &real) && real == 200);
    assert_true(plim_model_f64(model, "i8", &real) && real == -1);
    assert_false(plim_model_f64(model, "text", &real));
    assert_true(plim_model_bool(model, "bool", &truth) && truth);
    assert_false(plim_model_bool(model, "u8", &truth));
}

static void put_arrays(struct raw *r)
{
    raw_key(r, "list", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_I32);
    raw_u64(r, 3);
    for (int i = -1; i < 2; i++)
        raw_u32(r, (uint32_t)i);
    raw_key(r, "bools", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_BOOL);
    raw_u64(r, 2);
    raw_uint(r, 1, 1);
    raw_uint(r, 0, 1);
    raw_key(r, "empty", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_U64);
    raw_u64(r, 0);
    raw_key(r, "nested", PLIM_GGUF_ARRAY);
    raw_u32(r, PLIM_GGUF_ARRAY);
    raw_u64(r, 2);
    raw_u32(r, PLIM_GGUF_STRING);
    raw_u64(r, 1);
    raw_text(r, "inner");
    raw_u32(r, PLIM_GGUF_U8);
    raw_u64(r, 3);
    raw_bytes(r, "abc", 3);
}

static void check_arrays(const struct plim_model *model)
{
    int64_t numbers[4] = { 9, 9, 9, 9 };
    assert_int_equal(plim_model_array_length(model, "list"), 3);
    assert_int_equal(plim_model_array(model, "list", numbers, 2), 2);
    assert_int_equal(numbers[0], -1);
    assert_int_equal(numbers[2], 9);
    assert_int_equal(plim_model_array(model, "list", numbers, 4), 3);
    assert_int_equal(numbers[2], 1);
    assert_int_equal(plim_model_array(model, "bools", numbers, 4), 2);
    assert_int_equal(numbers[0], 1);
    assert_int_equal(plim_model_array_length(model, "empty"), 0);
    assert_int_equal(plim_model_array_length(model, "nested"), 2);
    assert_int_equal(plim_model_array(model, "nested", numbers, 4), 0);
    assert_int_equal(plim_model_array_length(model, "text"), 0);
    assert_int_equal(plim_model_array_length(model, "nothing"), 0);
}

static void test_metadata(void **state)
{
    (void)state;
    for (int is_big_endian = 0; is_big_endian < 2; is_big_endian++) {
        static struct raw r;
        r.is_big_endian = is_big_endian;
        raw_start(&r, 3, 0, 17);
        raw_string_key(&r, "general.architecture", "llama");
        raw_string_key(&r, "text", "some text");
        put_numbers(&r);
        put_arrays(&r);
        struct plim_model *model = read_raw(&r);
        check_numbers(model);
        check_arrays(model);
        assert_string_equal(plim_model_string(model, "text"), "some text");
        assert_null(plim_model_string(model, "u8"));
        assert_null(plim_model_string(model, "nothing"));
        plim_model_free(model);
    }
}

static void test_alignment_of_the_data(void **state)
{
    static struct raw r;
    (void)state;
    raw_model(&r, 2, 1);
    raw_u32_key(&r, "general.alignment", 4096);
    raw_tensor(&r, "a", 10, 1, F16, 0);
    raw_tensor(&r, "b", 10, 1, F32, 4096);
    struct plim_model *model = read_raw(&r);
    assert_int_equal(plim_model_tensor(model, "b")->offset, 4096);
    assert_int_equal(plim_model_tensor_bytes(model), 60);
    assert_null(plim_model_tensor(model, "c"));
    assert_null(plim_model_tensor(model, ""));
    plim_model_free(model);
}

/* Everything the generator makes is read, and the file is as large as its tensors say. */
static void visit_model(const char *path, void *data)
{
    struct plim_model *model = opened(path);
    size_t n;
    const struct plim_tensor *tensors = plim_model_tensors(model, &n);
    uint64_t end = tensors[n - 1].offset + tensors[n - 1].bytes;
    (void)data;
    assert_true(plim_model_file_bytes(model) >= end);
    assert_true(plim_model_file_bytes(model) < end + (4 << 20));
    assert_non_null(plim_model_file_type(model));
    plim_model_free(model);
}

static void test_the_zoo(void **state)
{
    (void)state;
    assert_true(zoo_each(visit_model, NULL) > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_and_byte_orders),
        cmocka_unit_test(test_any_part_opens_the_split),
        cmocka_unit_test(test_split_names),
        cmocka_unit_test(test_vocabulary_is_counted_not_kept),
        cmocka_unit_test(test_every_type_of_ggml),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_name_from_the_path),
        cmocka_unit_test(test_names_keep_their_bytes),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_alignment_of_the_data),
        cmocka_unit_test(test_the_zoo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
