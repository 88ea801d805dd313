/* SPDX-License-Identifier: MIT */
/*
 * The table of element types.
 *
 * ggml: block sizes of ggml-common.h and the type traits of ggml.c at d99724f, checked against what the engine
 * allocates by the engine tests. safetensors: enum Dtype of safetensors/src/tensor.rs (v0.6.2; C64 and the FNUZ types
 * are newer). PyTorch: c10/core/ScalarType.h of 2.15. Packed forms: the pack factor 32 / bits of GPTQ and AWQ (vLLM,
 * quantization/gptq.py and awq.py), two values in a uint8 in bitsandbytes (functional.py: quantize_4bit).
 */
#include "model/dtype_row.h"
#include "model/ggml_type.h"

#include <stddef.h>
#include <strings.h>

const struct plim_dtype_row plim_dtype_rows[PLIM_DTYPE_MAX_] = {
    [PLIM_DTYPE_UNKNOWN] = { "unknown", 1, 0, -1, NULL, NULL },
    [PLIM_DTYPE_F32] = { "f32", 1, 4, 0, "F32", "float32" },
    [PLIM_DTYPE_F16] = { "f16", 1, 2, 1, "F16", "float16" },
    [PLIM_DTYPE_BF16] = { "bf16", 1, 2, 30, "BF16", "bfloat16" },
    [PLIM_DTYPE_F64] = { "f64", 1, 8, 28, "F64", "float64" },
    [PLIM_DTYPE_I8] = { "i8", 1, 1, 24, "I8", "int8" },
    [PLIM_DTYPE_I16] = { "i16", 1, 2, 25, "I16", "int16" },
    [PLIM_DTYPE_I32] = { "i32", 1, 4, 26, "I32", "int32" },
    [PLIM_DTYPE_I64] = { "i64", 1, 8, 27, "I64", "int64" },
    [PLIM_DTYPE_Q4_0] = { "q4_0", 32, 18, 2, NULL, NULL },
    [PLIM_DTYPE_Q4_1] = { "q4_1", 32, 20, 3, NULL, NULL },
    [PLIM_DTYPE_Q5_0] = { "q5_0", 32, 22, 6, NULL, NULL },
    [PLIM_DTYPE_Q5_1] = { "q5_1", 32, 24, 7, NULL, NULL },
    [PLIM_DTYPE_Q8_0] = { "q8_0", 32, 34, 8, NULL, NULL },
    [PLIM_DTYPE_Q8_1] = { "q8_1", 32, 36, 9, NULL, NULL },
    [PLIM_DTYPE_Q2_K] = { "q2_K", 256, 84, 10, NULL, NULL },
    [PLIM_DTYPE_Q3_K] = { "q3_K", 256, 110, 11, NULL, NULL },
    [PLIM_DTYPE_Q4_K] = { "q4_K", 256, 144, 12, NULL, NULL },
    [PLIM_DTYPE_Q5_K] = { "q5_K", 256, 176, 13, NULL, NULL },
    [PLIM_DTYPE_Q6_K] = { "q6_K", 256, 210, 14, NULL, NULL },
    [PLIM_DTYPE_Q8_K] = { "q8_K", 256, 292, 15, NULL, NULL },
    [PLIM_DTYPE_IQ1_S] = { "iq1_s", 256, 50, 19, NULL, NULL },
    [PLIM_DTYPE_IQ1_M] = { "iq1_m", 256, 56, 29, NULL, NULL },
    [PLIM_DTYPE_IQ2_XXS] = { "iq2_xxs", 256, 66, 16, NULL, NULL },
    [PLIM_DTYPE_IQ2_XS] = { "iq2_xs", 256, 74, 17, NULL, NULL },
    [PLIM_DTYPE_IQ2_S] = { "iq2_s", 256, 82, 22, NULL, NULL },
    [PLIM_DTYPE_IQ3_XXS] = { "iq3_xxs", 256, 98, 18, NULL, NULL },
    [PLIM_DTYPE_IQ3_S] = { "iq3_s", 256, 110, 21, NULL, NULL },
    [PLIM_DTYPE_IQ4_NL] = { "iq4_nl", 32, 18, 20, NULL, NULL },
    [PLIM_DTYPE_IQ4_XS] = { "iq4_xs", 256, 136, 23, NULL, NULL },
    [PLIM_DTYPE_TQ1_0] = { "tq1_0", 256, 54, 34, NULL, NULL },
    [PLIM_DTYPE_TQ2_0] = { "tq2_0", 256, 66, 35, NULL, NULL },
    [PLIM_DTYPE_MXFP4] = { "mxfp4", 32, 17, 39, NULL, NULL },
    [PLIM_DTYPE_NVFP4] = { "nvfp4", 64, 36, 40, NULL, NULL },
    [PLIM_DTYPE_Q1_0] = { "q1_0", 128, 18, 41, NULL, NULL },
    [PLIM_DTYPE_Q2_0] = { "q2_0", 64, 18, 42, NULL, NULL },
    [PLIM_DTYPE_BOOL] = { "bool", 1, 1, -1, "BOOL", "bool" },
    [PLIM_DTYPE_U8] = { "u8", 1, 1, -1, "U8", "uint8" },
    [PLIM_DTYPE_U16] = { "u16", 1, 2, -1, "U16", "uint16" },
    [PLIM_DTYPE_U32] = { "u32", 1, 4, -1, "U32", "uint32" },
    [PLIM_DTYPE_U64] = { "u64", 1, 8, -1, "U64", "uint64" },
    [PLIM_DTYPE_C64] = { "c64", 1, 8, -1, "C64", "complex64" },
    [PLIM_DTYPE_C128] = { "c128", 1, 16, -1, NULL, "complex128" },
    [PLIM_DTYPE_F8_E4M3] = { "f8_e4m3", 1, 1, -1, "F8_E4M3", "float8_e4m3fn" },
    [PLIM_DTYPE_F8_E5M2] = { "f8_e5m2", 1, 1, -1, "F8_E5M2", "float8_e5m2" },
    [PLIM_DTYPE_F8_E4M3FNUZ] = { "f8_e4m3fnuz", 1, 1, -1, "F8_E4M3FNUZ", "float8_e4m3fnuz" },
    [PLIM_DTYPE_F8_E5M2FNUZ] = { "f8_e5m2fnuz", 1, 1, -1, "F8_E5M2FNUZ", "float8_e5m2fnuz" },
    [PLIM_DTYPE_F8_E8M0] = { "f8_e8m0", 1, 1, -1, "F8_E8M0", "float8_e8m0fnu" },
    [PLIM_DTYPE_F6_E2M3] = { "f6_e2m3", 4, 3, -1, "F6_E2M3", NULL },
    [PLIM_DTYPE_F6_E3M2] = { "f6_e3m2", 4, 3, -1, "F6_E3M2", NULL },
    [PLIM_DTYPE_F4_E2M1] = { "f4_e2m1", 2, 1, -1, "F4", "float4_e2m1fn_x2" },
    [PLIM_DTYPE_NF4] = { "nf4", 2, 1, -1, NULL, NULL },
    [PLIM_DTYPE_FP4] = { "fp4", 2, 1, -1, NULL, NULL },
    [PLIM_DTYPE_INT4] = { "int4", 2, 1, -1, NULL, NULL },
    [PLIM_DTYPE_UINT4] = { "uint4", 2, 1, -1, NULL, NULL },
    [PLIM_DTYPE_INT4_X8] = { "int4_x8", 8, 4, -1, NULL, NULL },
    [PLIM_DTYPE_INT8_X4] = { "int8_x4", 4, 4, -1, NULL, NULL },
};

/* Types that ggml had once; a file with them needs the tools of its time or a fresh conversion. */
static const struct removed {
    uint32_t ggml_id;
    const char *name;
} removed[] = {
    { 4, "Q4_2" },      { 5, "Q4_3" },        { 31, "Q4_0_4_4" },   { 32, "Q4_0_4_8" },
    { 33, "Q4_0_8_8" }, { 36, "IQ4_NL_4_4" }, { 37, "IQ4_NL_4_8" }, { 38, "IQ4_NL_8_8" },
};

/* llama.h: enum llama_ftype at v0.5.0; the gaps are numbers that were withdrawn. */
static const char *const file_types[] = {
    [0] = "F32",     [1] = "F16",     [2] = "Q4_0",       [3] = "Q4_1",    [7] = "Q8_0",     [8] = "Q5_0",
    [9] = "Q5_1",    [10] = "Q2_K",   [11] = "Q3_K_S",    [12] = "Q3_K_M", [13] = "Q3_K_L",  [14] = "Q4_K_S",
    [15] = "Q4_K_M", [16] = "Q5_K_S", [17] = "Q5_K_M",    [18] = "Q6_K",   [19] = "IQ2_XXS", [20] = "IQ2_XS",
    [21] = "Q2_K_S", [22] = "IQ3_XS", [23] = "IQ3_XXS",   [24] = "IQ1_S",  [25] = "IQ4_NL",  [26] = "IQ3_S",
    [27] = "IQ3_M",  [28] = "IQ2_S",  [29] = "IQ2_M",     [30] = "IQ4_XS", [31] = "IQ1_M",   [32] = "BF16",
    [36] = "TQ1_0",  [37] = "TQ2_0",  [38] = "MXFP4_MOE", [39] = "NVFP4",  [40] = "Q1_0",    [41] = "Q2_0",
};

static const struct plim_dtype_row *row(enum plim_dtype type)
{
    return &plim_dtype_rows[type > PLIM_DTYPE_UNKNOWN && type < PLIM_DTYPE_MAX_ ? type : PLIM_DTYPE_UNKNOWN];
}

const char *plim_dtype_name(enum plim_dtype type) { return row(type)->name; }
const char *plim_dtype_safetensors_name(enum plim_dtype type) { return row(type)->safetensors; }
const char *plim_dtype_torch_name(enum plim_dtype type) { return row(type)->torch; }
uint32_t plim_dtype_block_elements(enum plim_dtype type) { return row(type)->elements; }
uint32_t plim_dtype_block_bytes(enum plim_dtype type) { return row(type)->bytes; }
bool plim_dtype_is_quantized(enum plim_dtype type) { return row(type)->elements > 1; }

uint64_t plim_dtype_row_bytes(enum plim_dtype type, uint64_t n_elements)
{
    return n_elements / row(type)->elements * row(type)->bytes; /* also for types that are not valid */
}

enum plim_dtype plim_dtype_named(const char *name)
{
    for (int type = PLIM_DTYPE_UNKNOWN + 1; type < PLIM_DTYPE_MAX_; type++) {
        const struct plim_dtype_row *r = &plim_dtype_rows[type];
        if (!strcasecmp(r->name, name) || (r->safetensors && !strcasecmp(r->safetensors, name)) ||
            (r->torch && !strcasecmp(r->torch, name)))
            return (enum plim_dtype)type;
    }
    return PLIM_DTYPE_UNKNOWN;
}

enum plim_dtype plim_dtype_from_ggml(uint32_t ggml_id)
{
    for (int type = PLIM_DTYPE_UNKNOWN + 1; type < PLIM_DTYPE_MAX_; type++)
        if (plim_dtype_rows[type].ggml_id == (int64_t)ggml_id)
            return (enum plim_dtype)type;
    return PLIM_DTYPE_UNKNOWN;
}

const char *plim_gguf_file_type_name(uint32_t file_type)
{
    return file_type < sizeof file_types / sizeof *file_types ? file_types[file_type] : NULL;
}

const char *plim_ggml_removed_type(uint32_t ggml_id)
{
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        if (removed[i].ggml_id == ggml_id)
            return removed[i].name;
    return NULL;
}
