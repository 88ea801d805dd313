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

/*
 * What ggml does not have. safetensors: the names that _safetensors_rust of 0.6.2 reads (F4 is an element, half a
 * byte); C64 and FNUZ of v0.7.0's tensor.rs. PyTorch: dir(torch) of 2.15, itemsize (float4_e2m1fn_x2 is a byte of two).
 * Packed forms: qweight of a GPTQ or AWQ layer of K x N has K / 8 x N int32 at 4 bits, K / 4 x N at 8; a bitsandbytes
 * weight of 4 bits has K * N / 2 bytes.
 */
static const struct {
    enum plim_dtype type;
    const char *name, *safetensors, *torch;
    uint64_t row_bytes; /* of 256 elements */
} others[] = {
    { PLIM_DTYPE_BOOL, "bool", "BOOL", "bool", 256 },
    { PLIM_DTYPE_U8, "u8", "U8", "uint8", 256 },
    { PLIM_DTYPE_U16, "u16", "U16", "uint16", 512 },
    { PLIM_DTYPE_U32, "u32", "U32", "uint32", 1024 },
    { PLIM_DTYPE_U64, "u64", "U64", "uint64", 2048 },
    { PLIM_DTYPE_C64, "c64", "C64", "complex64", 2048 },
    { PLIM_DTYPE_C128, "c128", NULL, "complex128", 4096 },
    { PLIM_DTYPE_F8_E4M3, "f8_e4m3", "F8_E4M3", "float8_e4m3fn", 256 },
    { PLIM_DTYPE_F8_E5M2, "f8_e5m2", "F8_E5M2", "float8_e5m2", 256 },
    { PLIM_DTYPE_F8_E4M3FNUZ, "f8_e4m3fnuz", "F8_E4M3FNUZ", "float8_e4m3fnuz", 256 },
    { PLIM_DTYPE_F8_E5M2FNUZ, "f8_e5m2fnuz", "F8_E5M2FNUZ", "float8_e5m2fnuz", 256 },
    { PLIM_DTYPE_F8_E8M0, "f8_e8m0", "F8_E8M0", "float8_e8m0fnu", 256 },
    { PLIM_DTYPE_F6_E2M3, "f6_e2m3", "F6_E2M3", NULL, 192 },
    { PLIM_DTYPE_F6_E3M2, "f6_e3m2", "F6_E3M2", NULL, 192 },
    { PLIM_DTYPE_F4_E2M1, "f4_e2m1", "F4", "float4_e2m1fn_x2", 128 },
    { PLIM_DTYPE_NF4, "nf4", NULL, NULL, 128 },
    { PLIM_DTYPE_FP4, "fp4", NULL, NULL, 128 },
    { PLIM_DTYPE_INT4, "int4", NULL, NULL, 128 },
    { PLIM_DTYPE_UINT4, "uint4", NULL, NULL, 128 },
    { PLIM_DTYPE_INT4_X8, "int4_x8", NULL, NULL, 128 },
    { PLIM_DTYPE_INT8_X4, "int8_x4", NULL, NULL, 256 },
};

static void assert_same_text(const char *text, const char *expected)
{
    assert_int_equal(text != NULL, expected != NULL);
    if (expected)
        assert_string_equal(text, expected);
}

static void test_other_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        const enum plim_dtype type = others[i].type;
        assert_string_equal(plim_dtype_name(type), others[i].name);
        assert_same_text(plim_dtype_safetensors_name(type), others[i].safetensors);
        assert_same_text(plim_dtype_torch_name(type), others[i].torch);
        assert_int_equal(plim_dtype_named(others[i].name), type);
        if (others[i].safetensors)
            assert_int_equal(plim_dtype_named(others[i].safetensors), type);
        if (others[i].torch)
            assert_int_equal(plim_dtype_named(others[i].torch), type);
        assert_int_equal(plim_dtype_row_bytes(type, 256), others[i].row_bytes);
    }
}

/* No name means two types. */
static void test_names_differ(void **state)
{
    (void)state;
    for (int i = PLIM_DTYPE_UNKNOWN + 1; i < PLIM_DTYPE_MAX_; i++) {
        const char *const names[] = { plim_dtype_name((enum plim_dtype)i),
                                      plim_dtype_safetensors_name((enum plim_dtype)i),
                                      plim_dtype_torch_name((enum plim_dtype)i) };
        for (size_t k = 0; k < COUNT(names); k++)
            if (names[k] && plim_dtype_named(names[k]) != (enum plim_dtype)i)
                fail_msg("%s is two types", names[k]);
    }
}

static void test_rows(void **state)
{
    (void)state;
    assert_int_equal(COUNT(rows) + COUNT(others), PLIM_DTYPE_MAX_ - 1);
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
    assert_int_equal(plim_dtype_named("bfloat16"), PLIM_DTYPE_BF16);
    assert_int_equal(plim_dtype_named("I64"), PLIM_DTYPE_I64);
    assert_string_equal(plim_dtype_torch_name(PLIM_DTYPE_F16), "float16");
    assert_null(plim_dtype_torch_name(PLIM_DTYPE_Q4_K));
    assert_null(plim_dtype_safetensors_name(PLIM_DTYPE_UNKNOWN));
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
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_other_rows),
        cmocka_unit_test(test_names_differ), cmocka_unit_test(test_ids_that_are_no_types),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
