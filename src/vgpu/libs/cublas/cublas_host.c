/* SPDX-License-Identifier: MIT */
/*
 * libcublas: results that go to the host. With the pointer mode HOST a dot product or a norm is returned at once: zero,
 * the result for a card full of zeros, and the receipt says so. Copies of vectors and matrices are copies.
 */
#include "vgpu/driver/memory/values.h"
#include "vgpu/libs/cublas/cublas.h"
#include "vgpu/libs/cublas/cublas_api.h"
#include "vgpu/values/shadow.h"

#include <string.h>

/* size bytes of a result. */
static status answer(const void *handle, void *result, size_t size)
{
    const struct plim_cublas *h = plim_cublas_of(handle);
    const status done = plim_cublas_run(handle);
    if (done != CUBLAS_SUCCESS)
        return done;
    if (!result)
        return CUBLAS_INVALID_VALUE;
    if (h->pointer_mode == CUBLAS_POINTER_HOST)
        plim_library_answer(result, size);
    else
        plim_shadow_forget(result, size);
    return CUBLAS_SUCCESS;
}

/* 1, the first, as all elements are equal; 0 if there are no elements. */
static status index_of_extreme(const void *handle, int64_t n, void *result, size_t size)
{
    const struct plim_cublas *h = plim_cublas_of(handle);
    const status done = answer(handle, result, size);
    if (done == CUBLAS_SUCCESS && h->pointer_mode == CUBLAS_POINTER_HOST && n > 0)
        memset(result, 1, 1);
    return done;
}

/* Bytes of a cudaDataType: 16-bit floats (2, 14) and pairs of them (6, 15), float, double, complex. */
static size_t size_of(int type)
{
    return type == 2 || type == 14                ? 2
           : type == 0 || type == 6 || type == 15 ? 4
           : type == 1 || type == 4               ? 8
           : type == 5                            ? 16
                                                  : 0;
}

#define NORM(name, integer, bytes)                                                                                     \
    CUBLAS_NORM(name, integer)                                                                                         \
    {                                                                                                                  \
        (void)n, (void)x, (void)step;                                                                                  \
        return answer(handle, result, bytes);                                                                          \
    }
#define EXTREME(name, integer, bytes)                                                                                  \
    CUBLAS_EXTREME(name, integer)                                                                                      \
    {                                                                                                                  \
        (void)x, (void)step;                                                                                           \
        return index_of_extreme(handle, n, result, sizeof(integer));                                                   \
    }
#define DOT(name, integer, bytes)                                                                                      \
    CUBLAS_DOT(name, integer)                                                                                          \
    {                                                                                                                  \
        (void)n, (void)x, (void)x_step, (void)y, (void)y_step;                                                         \
        return answer(handle, result, bytes);                                                                          \
    }

CUBLAS_NORMS(NORM)
CUBLAS_EXTREMES(EXTREME)
CUBLAS_DOTS(DOT)

#define TYPED_NORM(name, integer)                                                                                      \
    CUBLAS_TYPED_NORM(name, integer)                                                                                   \
    {                                                                                                                  \
        (void)n, (void)x, (void)x_type, (void)step, (void)work_type;                                                   \
        return size_of(type) ? answer(handle, result, size_of(type)) : CUBLAS_NOT_SUPPORTED;                           \
    }
#define TYPED_EXTREME(name, integer)                                                                                   \
    CUBLAS_TYPED_EXTREME(name, integer)                                                                                \
    {                                                                                                                  \
        (void)x, (void)x_type, (void)step;                                                                             \
        return index_of_extreme(handle, n, result, sizeof(integer));                                                   \
    }
#define TYPED_DOT(name, integer)                                                                                       \
    CUBLAS_TYPED_DOT(name, integer)                                                                                    \
    {                                                                                                                  \
        (void)n, (void)x, (void)x_type, (void)x_step, (void)y, (void)y_type, (void)y_step, (void)work_type;            \
        return size_of(type) ? answer(handle, result, size_of(type)) : CUBLAS_NOT_SUPPORTED;                           \
    }

TYPED_NORM(Nrm2Ex, int)
TYPED_NORM(Nrm2Ex_64, int64_t)
TYPED_NORM(AsumEx, int)
TYPED_NORM(AsumEx_64, int64_t)
TYPED_EXTREME(IamaxEx, int)
TYPED_EXTREME(IamaxEx_64, int64_t)
TYPED_EXTREME(IaminEx, int)
TYPED_EXTREME(IaminEx_64, int64_t)
TYPED_DOT(DotEx, int)
TYPED_DOT(DotEx_64, int64_t)
TYPED_DOT(DotcEx, int)
TYPED_DOT(DotcEx_64, int64_t)

/* --- batched solvers: *info is in host memory and says whether the arguments are valid --- */

static status write_to(const void *handle, const void *first, const void *second)
{
    return plim_cublas_write(handle, (const uintptr_t[PLIM_N_WORDS]){ (uintptr_t)first, (uintptr_t)second });
}

#define SOLVER(name)                                                                                                   \
    CUBLAS_SOLVER(name)                                                                                                \
    {                                                                                                                  \
        (void)operation, (void)n, (void)n_right, (void)a, (void)a_step, (void)pivots, (void)b_step, (void)count;       \
                                                                                                                       \
        if (!info)                                                                                                     \
            return CUBLAS_INVALID_VALUE;                                                                               \
        *info = 0;                                                                                                     \
        return write_to(handle, b, NULL);                                                                              \
    }
#define ORTHOGONAL(name)                                                                                               \
    CUBLAS_ORTHOGONAL(name)                                                                                            \
    {                                                                                                                  \
        (void)m, (void)n, (void)a_step, (void)count;                                                                   \
        if (!info)                                                                                                     \
            return CUBLAS_INVALID_VALUE;                                                                               \
        *info = 0;                                                                                                     \
        return write_to(handle, a, tau);                                                                               \
    }
#define LEAST_SQUARES(name)                                                                                            \
    CUBLAS_LEAST_SQUARES(name)                                                                                         \
    {                                                                                                                  \
        (void)operation, (void)m, (void)n, (void)n_right, (void)a_step, (void)c_step;                                  \
        (void)device_info, (void)count;                                                                                \
        if (!info)                                                                                                     \
            return CUBLAS_INVALID_VALUE;                                                                               \
        *info = 0;                                                                                                     \
        return write_to(handle, a, c);                                                                                 \
    }

CUBLAS_EACH(SOLVER, getrsBatched)
CUBLAS_EACH(ORTHOGONAL, geqrfBatched)
CUBLAS_EACH(LEAST_SQUARES, gelsBatched)

/* --- copies --- */

/* n_rows elements side by side, n_columns times; steps in elements. */
static status copy(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n_rows, int64_t n_columns,
                   int64_t size, enum plim_copy_kind kind)
{
    if (n_rows < 0 || n_columns < 0 || size <= 0 || to_step <= 0 || from_step <= 0 || size > 64)
        return CUBLAS_INVALID_VALUE;
    if (!n_rows || !n_columns)
        return CUBLAS_SUCCESS;
    const struct plim_copy box = { .to = to,
                                   .from = from,
                                   .width = (size_t)(n_rows * size),
                                   .height = (size_t)n_columns,
                                   .depth = 1,
                                   .to_pitch = (size_t)(to_step * size),
                                   .from_pitch = (size_t)(from_step * size) };
    return plim_vgpu_copy_box(&box, kind, NULL) == PLIM_CUDA_SUCCESS ? CUBLAS_SUCCESS : CUBLAS_MAPPING_ERROR;
}

#define COPY_VECTOR(name, integer, kind, more)                                                                         \
    CUBLAS_COPY_VECTOR(name, integer, more) { return copy(to, to_step, from, from_step, 1, n, size, kind); }
#define COPY_MATRIX(name, integer, kind, more)                                                                         \
    CUBLAS_COPY_MATRIX(name, integer, more)                                                                            \
    {                                                                                                                  \
        return copy(to, to_step, from, from_step, n_rows, n_columns, size, kind);                                      \
    }

CUBLAS_COPIES(COPY_VECTOR, Vector)
CUBLAS_COPIES(COPY_MATRIX, Matrix)
