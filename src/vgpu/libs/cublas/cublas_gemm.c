/* SPDX-License-Identifier: MIT */
/*
 * libcublas: products of matrices and what they leave in device memory. A small product of known matrices is computed;
 * otherwise the result is forgotten, so that nothing older is taken for it.
 */
#include "vgpu/kernels/matrix/product.h"
#include "vgpu/libs/cublas/cublas.h"
#include "vgpu/libs/cublas/cublas_api.h"

#include <string.h>

/* The letters of the manual; of complex numbers only the size matters. */
enum { S_TYPE = 0, D_TYPE = 1, H_TYPE = 2, C_TYPE = 4, Z_TYPE = 5 }; /* cudaDataType */
enum {
    COMPUTE_16F = 64,
    COMPUTE_16F_PEDANTIC = 65,
    COMPUTE_64F = 70,
    COMPUTE_64F_PEDANTIC = 71,
    COMPUTE_32I = 72,
    COMPUTE_32I_PEDANTIC = 73
};

/* The type of alpha and beta. */
static int scale_type_of(int compute_type)
{
    switch (compute_type) {
    case COMPUTE_16F:
    case COMPUTE_16F_PEDANTIC:
        return H_TYPE;
    case COMPUTE_64F:
    case COMPUTE_64F_PEDANTIC:
        return D_TYPE;
    case COMPUTE_32I:
    case COMPUTE_32I_PEDANTIC:
        return 10; /* CUDA_R_32I */
    default:
        return S_TYPE;
    }
}

struct operand {
    const void *address;
    int type;
    int64_t step, stride; /* the leading dimension, and the way to the next of the batch */
    bool is_transposed;
};

static unsigned char set_steps(int64_t steps[3], const struct operand *operand)
{
    unsigned bytes;
    steps[0] = operand->is_transposed ? operand->step : 1;
    steps[1] = operand->is_transposed ? 1 : operand->step;
    steps[2] = operand->stride;
    return (unsigned char)plim_product_type(operand->type, &bytes);
}

static void run_product(const void *product) { plim_product_apply(product); }

static status multiply(const void *handle, struct plim_product *p, const void *alpha, const void *beta, int scale_type,
                       const struct operand *a, const struct operand *b, const struct operand *c)
{
    const struct plim_cublas *h = plim_cublas_of(handle);
    unsigned bytes;
    if (!h)
        return CUBLAS_NOT_INITIALIZED;
    if (p->m <= 0 || p->n <= 0)
        return plim_cublas_run(handle);
    p->a = a->address;
    p->b = b->address;
    p->c = (void *)(uintptr_t)c->address;
    p->a_type = set_steps(p->a_step, a);
    p->b_type = set_steps(p->b_step, b);
    p->c_type = set_steps(p->c_step, c);
    plim_product_type(c->type, &bytes);
    p->c_bytes = (unsigned char)bytes;
    p->is_plain = h->pointer_mode == CUBLAS_POINTER_HOST && plim_product_scale(scale_type, alpha, &p->alpha) &&
                  plim_product_scale(scale_type, beta, &p->beta);
    return plim_library_compute(h->device, h->stream, run_product, p, sizeof *p) ? CUBLAS_SUCCESS : CUBLAS_ALLOC_FAILED;
}

/* A declaration and the head of a definition. */
#define FUNCTION(name, ...)                                                                                            \
    status cublas##name(__VA_ARGS__);                                                                                  \
    status cublas##name(__VA_ARGS__)
#define SIZES .m = m, .n = n, .k = k
#define ARGUMENTS(integer)                                                                                             \
    const void *handle, int a_operation, int b_operation, integer m, integer n, integer k, const void *alpha

#define GEMM(name, integer, type)                                                                                      \
    FUNCTION(name, ARGUMENTS(integer), const void *a, integer a_step, const void *b, integer b_step, const void *beta, \
             void *c, integer c_step)                                                                                  \
    {                                                                                                                  \
        return multiply(handle, &(struct plim_product){ SIZES, .n_batches = 1 }, alpha, beta, type,                    \
                        &(struct operand){ a, type, a_step, 0, a_operation != 0 },                                     \
                        &(struct operand){ b, type, b_step, 0, b_operation != 0 },                                     \
                        &(struct operand){ c, type, c_step, 0, false });                                               \
    }
#define GEMM_STRIDED(name, integer, type)                                                                              \
    FUNCTION(name, ARGUMENTS(integer), const void *a, integer a_step, long long a_stride, const void *b,               \
             integer b_step, long long b_stride, const void *beta, void *c, integer c_step, long long c_stride,        \
             integer n_batches)                                                                                        \
    {                                                                                                                  \
        return multiply(handle, &(struct plim_product){ SIZES, .n_batches = n_batches }, alpha, beta, type,            \
                        &(struct operand){ a, type, a_step, a_stride, a_operation != 0 },                              \
                        &(struct operand){ b, type, b_step, b_stride, b_operation != 0 },                              \
                        &(struct operand){ c, type, c_step, c_stride, false });                                        \
    }
#define GEMM_BATCHED(name, integer, type)                                                                              \
    FUNCTION(name, ARGUMENTS(integer), const void *a, integer a_step, const void *b, integer b_step, const void *beta, \
             const void *c, integer c_step, integer n_batches)                                                         \
    {                                                                                                                  \
        return multiply(handle, &(struct plim_product){ SIZES, .n_batches = n_batches, .is_indirect = true }, alpha,   \
                        beta, type, &(struct operand){ a, type, a_step, 0, a_operation != 0 },                         \
                        &(struct operand){ b, type, b_step, 0, b_operation != 0 },                                     \
                        &(struct operand){ c, type, c_step, 0, false });                                               \
    }
#define GEMM_TYPED(name, integer, type)                                                                                \
    FUNCTION(name, ARGUMENTS(integer), const void *a, int a_type, integer a_step, const void *b, int b_type,           \
             integer b_step, const void *beta, void *c, int c_type, integer c_step)                                    \
    {                                                                                                                  \
        return multiply(handle, &(struct plim_product){ SIZES, .n_batches = 1 }, alpha, beta, type,                    \
                        &(struct operand){ a, a_type, a_step, 0, a_operation != 0 },                                   \
                        &(struct operand){ b, b_type, b_step, 0, b_operation != 0 },                                   \
                        &(struct operand){ c, c_type, c_step, 0, false });                                             \
    }
#define WIDTHS(X, name, type) X(name, int, type) X(name##_64, int64_t, type)

/* clang-format off */
WIDTHS(GEMM, Sgemm_v2, S_TYPE)
WIDTHS(GEMM, Dgemm_v2, D_TYPE)
WIDTHS(GEMM, Cgemm_v2, C_TYPE)
WIDTHS(GEMM, Zgemm_v2, Z_TYPE)
WIDTHS(GEMM, Hgemm, H_TYPE)
WIDTHS(GEMM, Cgemm3m, C_TYPE)
WIDTHS(GEMM, Zgemm3m, Z_TYPE)
WIDTHS(GEMM_STRIDED, SgemmStridedBatched, S_TYPE)
WIDTHS(GEMM_STRIDED, DgemmStridedBatched, D_TYPE)
WIDTHS(GEMM_STRIDED, CgemmStridedBatched, C_TYPE)
WIDTHS(GEMM_STRIDED, ZgemmStridedBatched, Z_TYPE)
WIDTHS(GEMM_STRIDED, HgemmStridedBatched, H_TYPE)
WIDTHS(GEMM_STRIDED, Cgemm3mStridedBatched, C_TYPE)
WIDTHS(GEMM_BATCHED, SgemmBatched, S_TYPE)
WIDTHS(GEMM_BATCHED, DgemmBatched, D_TYPE)
WIDTHS(GEMM_BATCHED, CgemmBatched, C_TYPE)
WIDTHS(GEMM_BATCHED, ZgemmBatched, Z_TYPE)
WIDTHS(GEMM_BATCHED, HgemmBatched, H_TYPE)
WIDTHS(GEMM_BATCHED, Cgemm3mBatched, C_TYPE)
WIDTHS(GEMM_TYPED, SgemmEx, S_TYPE)
WIDTHS(GEMM_TYPED, CgemmEx, C_TYPE)
WIDTHS(GEMM_TYPED, Cgemm3mEx, C_TYPE)
/* clang-format on */

#define GEMM_EX(name, integer, unused)                                                                                 \
    FUNCTION(name, ARGUMENTS(integer), const void *a, int a_type, integer a_step, const void *b, int b_type,           \
             integer b_step, const void *beta, void *c, int c_type, integer c_step, int compute_type, int algorithm)   \
    {                                                                                                                  \
        (void)algorithm;                                                                                               \
        return multiply(handle, &(struct plim_product){ SIZES, .n_batches = 1 }, alpha, beta,                          \
                        scale_type_of(compute_type), &(struct operand){ a, a_type, a_step, 0, a_operation != 0 },      \
                        &(struct operand){ b, b_type, b_step, 0, b_operation != 0 },                                   \
                        &(struct operand){ c, c_type, c_step, 0, false });                                             \
    }
#define GEMM_STRIDED_EX(name, integer, unused)                                                                         \
    FUNCTION(name, ARGUMENTS(integer), const void *a, int a_type, integer a_step, long long a_stride, const void *b,   \
             int b_type, integer b_step, long long b_stride, const void *beta, void *c, int c_type, integer c_step,    \
             long long c_stride, integer n_batches, int compute_type, int algorithm)                                   \
    {                                                                                                                  \
        (void)algorithm;                                                                                               \
        return multiply(handle, &(struct plim_product){ SIZES, .n_batches = n_batches }, alpha, beta,                  \
                        scale_type_of(compute_type),                                                                   \
                        &(struct operand){ a, a_type, a_step, a_stride, a_operation != 0 },                            \
                        &(struct operand){ b, b_type, b_step, b_stride, b_operation != 0 },                            \
                        &(struct operand){ c, c_type, c_step, c_stride, false });                                      \
    }
#define GEMM_BATCHED_EX(name, integer, unused)                                                                         \
    FUNCTION(name, ARGUMENTS(integer), const void *a, int a_type, integer a_step, const void *b, int b_type,           \
             integer b_step, const void *beta, const void *c, int c_type, integer c_step, integer n_batches,           \
             int compute_type, int algorithm)                                                                          \
    {                                                                                                                  \
        (void)algorithm;                                                                                               \
        return multiply(handle, &(struct plim_product){ SIZES, .n_batches = n_batches, .is_indirect = true }, alpha,   \
                        beta, scale_type_of(compute_type),                                                             \
                        &(struct operand){ a, a_type, a_step, 0, a_operation != 0 },                                   \
                        &(struct operand){ b, b_type, b_step, 0, b_operation != 0 },                                   \
                        &(struct operand){ c, c_type, c_step, 0, false });                                             \
    }

/* clang-format off */
WIDTHS(GEMM_EX, GemmEx, )
WIDTHS(GEMM_STRIDED_EX, GemmStridedBatchedEx, )
WIDTHS(GEMM_BATCHED_EX, GemmBatchedEx, )
/* clang-format on */

/* A matrix and a vector: a product with one column. */
#define GEMV(name, integer, type)                                                                                      \
    FUNCTION(name, const void *handle, int operation, integer rows, integer columns, const void *alpha, const void *a, \
             integer a_step, const void *x, integer x_step, const void *beta, void *y, integer y_step)                 \
    {                                                                                                                  \
        const integer m = operation ? columns : rows, k = operation ? rows : columns;                                  \
        return multiply(handle, &(struct plim_product){ .m = m, .n = 1, .k = k, .n_batches = 1 }, alpha, beta, type,   \
                        &(struct operand){ a, type, a_step, 0, operation != 0 },                                       \
                        &(struct operand){ x, type, x_step, 0, true }, &(struct operand){ y, type, y_step, 0, true }); \
    }
/* clang-format off */
WIDTHS(GEMV, Sgemv_v2, S_TYPE)
WIDTHS(GEMV, Dgemv_v2, D_TYPE)
WIDTHS(GEMV, Cgemv_v2, C_TYPE)
WIDTHS(GEMV, Zgemv_v2, Z_TYPE)
/* clang-format on */

/* A triangular system: its solution takes the place of B. */
static status solve(const void *handle, int64_t m, int64_t n, const void *b, int type, int64_t step, int64_t n_batches,
                    bool is_indirect)
{
    return multiply(handle,
                    &(struct plim_product){ .m = m, .n = n, .n_batches = n_batches, .is_indirect = is_indirect }, NULL,
                    NULL, type, &(struct operand){ .type = type }, &(struct operand){ .type = type },
                    &(struct operand){ b, type, step, 0, false });
}

#define TRIANGLE(integer)                                                                                              \
    const void *handle, int side, int fill, int operation, int diagonal, integer m, integer n, const void *alpha,      \
        const void *a, integer a_step
#define UNUSED (void)side, (void)fill, (void)operation, (void)diagonal, (void)alpha, (void)a, (void)a_step
#define TRSM(name, integer, type)                                                                                      \
    FUNCTION(name, TRIANGLE(integer), void *b, integer b_step)                                                         \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return solve(handle, m, n, b, type, b_step, 1, false);                                                         \
    }
#define TRSM_BATCHED(name, integer, type)                                                                              \
    FUNCTION(name, TRIANGLE(integer), const void *b, integer b_step, integer n_batches)                                \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return solve(handle, m, n, b, type, b_step, n_batches, true);                                                  \
    }
/* clang-format off */
WIDTHS(TRSM, Strsm_v2, S_TYPE)
WIDTHS(TRSM, Dtrsm_v2, D_TYPE)
WIDTHS(TRSM, Ctrsm_v2, C_TYPE)
WIDTHS(TRSM, Ztrsm_v2, Z_TYPE)
WIDTHS(TRSM_BATCHED, StrsmBatched, S_TYPE)
WIDTHS(TRSM_BATCHED, DtrsmBatched, D_TYPE)
WIDTHS(TRSM_BATCHED, CtrsmBatched, C_TYPE)
WIDTHS(TRSM_BATCHED, ZtrsmBatched, Z_TYPE)
/* clang-format on */
