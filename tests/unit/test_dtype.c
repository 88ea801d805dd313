/* SPDX-License-Identifier: MIT */
#include "model/ggml_type.h"
#include "unit.h"

/* ggml.h: enum ggml_type; block sizes of ggml-common.h. The bytes of a row of 256 elements. */
static const struct {
    const char *name;
    uint32_t ggml_id;
    uint64_t row_bytes;
    uint32_t block;
} rows[] = {
    { "f32", 0, 1024, 1 },      { "f16", 1, 512, 1 },       { "q4_0", 2, 144, 32 },     { "q4_1", 3, 160, 32 },
    { "q5_0", 6, 176, 32 },     { "q5_1", 7, 192, 32 },     { "q8_0", 8, 272, 32 },     { "q8_1", 9, 288, 32 },
    { "q2_K", 10, 84, 256 },    { "q3_K", 11, 110, 256 },   { "q4_K", 12, 144, 256 },   { "q5_K", 13, 176, 256 },
    { "q6_K", 14, 210, 256 },   { "q8_K", 15, 292, 256 },   { "iq2_xxs", 16, 66, 256 }, { "iq2_xs", 17, 74, 256 },
    { "iq3_xxs", 18, 98, 256 }, { "iq1_s", 19, 50, 256 },   { "iq4_nl", 20, 144, 32 },  { "iq3_s", 21, 110, 256 },
    { "iq2_s", 22, 82, 256 },   { "iq4_xs", 23, 136, 256 }, { "i8", 24, 256, 1 },       { "i16", 25, 512, 1 },
    { "i32", 26, 1024, 1 },     { "i64", 27, 2048, 1 },     { "f64", 28, 2048, 1 },     { "iq1_m", 29, 56, 256 },
    { "bf16", 30, 512, 1 },     { "tq1_0", 34, 54, 256 },   { "tq2_0", 35, 66, 256 },   { "mxfp4", 39, 136, 32 },
    { "nvfp4", 40, 144, 64 },   { "q1_0", 41, 36, 128 },    { "q2_0", 42, 72, 64 },
};

static void test_rows(void **state)
{
    (void)state;
    assert_int_equal(COUNT(rows), PLIM_DTYPE_MAX_ - 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const enum plim_dtype type = plim_dtype_named(rows[i].name);
        if (type == PLIM_DTYPE_UNKNOWN)
            fail_msg("%s is not known", rows[i].name);
        assert_int_equal(plim_dtype_from_ggml(rows[i].ggml_id), type);
        assert_string_equal(plim_dtype_name(type), rows[i].name);
        assert_int_equal(plim_dtype_row_bytes(type, 256), rows[i].row_bytes);
        assert_int_equal(plim_dtype_row_bytes(type, 0), 0);
        assert_int_equal(plim_dtype_block_elements(type), rows[i].block);
        assert_int_equal(plim_dtype_is_quantized(type), rows[i].block > 1);
        assert_int_equal(plim_dtype_block_bytes(type) * (256 / rows[i].block), rows[i].row_bytes);
    }
}

static void test_ids_that_are_no_types(void **state)
{
    static const struct {
        uint32_t ggml_id;
        const char *name;
    } removed[] = { { 4, "Q4_2" },      { 5, "Q4_3" },        { 31, "Q4_0_4_4" },   { 32, "Q4_0_4_8" },
                    { 33, "Q4_0_8_8" }, { 36, "IQ4_NL_4_4" }, { 37, "IQ4_NL_4_8" }, { 38, "IQ4_NL_8_8" } };
    (void)state;
    for (size_t i = 0; i < COUNT(removed); i++) {
        assert_int_equal(plim_dtype_from_ggml(removed[i].ggml_id), PLIM_DTYPE_UNKNOWN);
        assert_string_equal(plim_ggml_removed_type(removed[i].ggml_id), removed[i].name);
    }
    for (uint32_t id = 43; id < 300; id++) {
        assert_int_equal(plim_dtype_from_ggml(id), PLIM_DTYPE_UNKNOWN);
        assert_null(plim_ggml_removed_type(id));
    }
    assert_int_equal(plim_dtype_from_ggml(UINT32_MAX), PLIM_DTYPE_UNKNOWN);
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(plim_dtype_named("Q8_0"), PLIM_DTYPE_Q8_0);
    assert_int_equal(plim_dtype_named("q4_k"), PLIM_DTYPE_Q4_K);
    assert_int_equal(plim_dtype_named("unknown"), PLIM_DTYPE_UNKNOWN);
    assert_int_equal(plim_dtype_named(""), PLIM_DTYPE_UNKNOWN);
    assert_string_equal(plim_dtype_name(PLIM_DTYPE_UNKNOWN), "unknown");
    assert_string_equal(plim_dtype_name(PLIM_DTYPE_MAX_), "unknown");
    assert_int_equal(plim_dtype_row_bytes(PLIM_DTYPE_UNKNOWN, 100), 0);
    assert_string_equal(plim_gguf_file_type_name(15), "Q4_K_M");
    assert_null(plim_gguf_file_type_name(4));
    assert_null(plim_gguf_file_type_name(UINT32_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_ids_that_are_no_types),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
