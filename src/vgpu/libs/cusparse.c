/* SPDX-License-Identifier: MIT */
/*
 * libcusparse: matrices and vectors are descriptions, products compute nothing. One file serves cu12 and cu13, whose
 * libraries have one name. Figures that NVIDIA's library computes from the data are assumed, and the receipt says so:
 * the number of elements of a sparse product or sum, and its workspace.
 */
#include "vgpu/libs/cusparse_api.h"

#include "vgpu/core/guesses.h"
#include "vgpu/libs/library.h"
#include "vgpu/values/shadow.h"

#include <string.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 2, INVALID_VALUE = 3, EXECUTION_FAILED = 6 };
enum { HANDLE = 1, MATRIX_DESCRIPTION, SPARSE, DENSE, VECTOR, INFO, PRODUCT };

struct sparse_handle {
    int device, pointer_mode;
    void *stream;
};

struct description {
    int type, fill, diagonal, base;
};

struct sparse {
    int64_t n_rows, n_columns, n_values;
    int type, base, count;
    void *offsets, *indices, *values;
    int attribute[4];
};

struct dense {
    int64_t n_rows, n_columns, step;
    void *values;
    int type, order, count;
    int64_t next;
};

struct product {
    int64_t n_values;
};

/* --- handles --- */

status cusparseCreate(void **ret_handle)
{
    const int device = ret_handle ? plim_library_device() : -1;
    struct sparse_handle *h;
    if (device < 0)
        return ret_handle ? NOT_INITIALIZED : INVALID_VALUE;
    *ret_handle = plim_handle_make(HANDLE, sizeof *h, (void **)&h);
    if (*ret_handle)
        h->device = device;
    return *ret_handle ? SUCCESS : ALLOC_FAILED;
}

static status drop(void *object, int type, status otherwise)
{
    if (!plim_handle_body(object, type))
        return otherwise;
    plim_handle_drop(object);
    return SUCCESS;
}

status cusparseDestroy(void *handle) { return drop(handle, HANDLE, NOT_INITIALIZED); }

#define STATE(name, type, member)                                                                                      \
    status cusparseSet##name(const void *handle, type value)                                                           \
    {                                                                                                                  \
        struct sparse_handle *h = plim_handle_body(handle, HANDLE);                                                    \
        if (h)                                                                                                         \
            h->member = value;                                                                                         \
        return h ? SUCCESS : NOT_INITIALIZED;                                                                          \
    }                                                                                                                  \
    status cusparseGet##name(const void *handle, type *ret_value)                                                      \
    {                                                                                                                  \
        const struct sparse_handle *h = plim_handle_body(handle, HANDLE);                                              \
        if (h && ret_value)                                                                                            \
            *ret_value = h->member;                                                                                    \
        return !h ? NOT_INITIALIZED : ret_value ? SUCCESS : INVALID_VALUE;                                             \
    }

STATE(Stream, void *, stream)
STATE(PointerMode, int, pointer_mode)

static const char *const words[][2] = {
    { "CUSPARSE_STATUS_SUCCESS", "success" },
    { "CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error" },
    { "CUSPARSE_STATUS_ALLOC_FAILED", "resource allocation failed" },
    { "CUSPARSE_STATUS_INVALID_VALUE", "invalid value" },
    { "CUSPARSE_STATUS_ARCH_MISMATCH", "the device lacks a feature" },
    { "CUSPARSE_STATUS_MAPPING_ERROR", "access to GPU memory failed" },
    { "CUSPARSE_STATUS_EXECUTION_FAILED", "the GPU program failed" },
    { "CUSPARSE_STATUS_INTERNAL_ERROR", "internal error" },
    { "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported" },
    { "CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot" },
    { "CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported" },
    { "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources" },
};
enum { N_WORDS = sizeof words / sizeof *words };

const char *cusparseGetErrorName(status s) { return s >= 0 && s < N_WORDS ? words[s][0] : "unknown error"; }
const char *cusparseGetErrorString(status s) { return s >= 0 && s < N_WORDS ? words[s][1] : "unknown error"; }

status cusparseGetVersion(const void *handle, int *ret_version)
{
    if (!ret_version)
        return INVALID_VALUE;
    *ret_version = PLIM_MAJOR * 1000 + PLIM_MINOR * 100 + PLIM_PATCH;
    return plim_handle_body(handle, HANDLE) ? SUCCESS : NOT_INITIALIZED;
}

status cusparseGetProperty(int part, int *value)
{
    if (part < 0 || part > 2 || !value)
        return INVALID_VALUE;
    *value = ((const int[]){ 12, 5, 8 })[part];
    return SUCCESS;
}

/* --- descriptions --- */

static status make(void **ret_object, int type, size_t size, void **ret_body)
{
    if (!ret_object)
        return INVALID_VALUE;
    *ret_object = plim_handle_make(type, size, ret_body);
    return *ret_object ? SUCCESS : ALLOC_FAILED;
}

status cusparseCreateMatDescr(void **ret_object)
{
    return make(ret_object, MATRIX_DESCRIPTION, sizeof(struct description), NULL);
}
status cusparseDestroyMatDescr(void *object) { return drop(object, MATRIX_DESCRIPTION, INVALID_VALUE); }

#define PART(name, member)                                                                                             \
    status cusparseSetMat##name(const void *object, int value)                                                         \
    {                                                                                                                  \
        struct description *d = plim_handle_body(object, MATRIX_DESCRIPTION);                                          \
        if (d)                                                                                                         \
            d->member = value;                                                                                         \
        return d ? SUCCESS : INVALID_VALUE;                                                                            \
    }                                                                                                                  \
    int cusparseGetMat##name(const void *object)                                                                       \
    {                                                                                                                  \
        const struct description *d = plim_handle_body(object, MATRIX_DESCRIPTION);                                    \
        return d ? d->member : 0;                                                                                      \
    }

PART(Type, type)
PART(FillMode, fill)
PART(DiagType, diagonal)
PART(IndexBase, base)

static status make_sparse(void **ret_object, struct sparse all)
{
    struct sparse *s;
    if (all.n_rows < 0 || all.n_columns < 0 || all.n_values < 0)
        return INVALID_VALUE;
    const status done = make(ret_object, SPARSE, sizeof *s, (void **)&s);
    if (done == SUCCESS)
        *s = all;
    return done;
}

#define COMPRESSED(name)                                                                                               \
    CUSPARSE_COMPRESSED(name)                                                                                          \
    {                                                                                                                  \
        (void)offset_type, (void)index_type;                                                                           \
        return make_sparse(ret_object, (struct sparse){ .n_rows = n_rows,                                              \
                                                        .n_columns = n_columns,                                        \
                                                        .n_values = n_values,                                          \
                                                        .type = type,                                                  \
                                                        .base = base,                                                  \
                                                        .count = 1,                                                    \
                                                        .offsets = offsets,                                            \
                                                        .indices = indices,                                            \
                                                        .values = values });                                           \
    }
#define COORDINATES(name)                                                                                              \
    CUSPARSE_COORDINATES(name)                                                                                         \
    {                                                                                                                  \
        (void)index_type;                                                                                              \
        return make_sparse(ret_object, (struct sparse){ .n_rows = n_rows,                                              \
                                                        .n_columns = n_columns,                                        \
                                                        .n_values = n_values,                                          \
                                                        .type = type,                                                  \
                                                        .base = base,                                                  \
                                                        .count = 1,                                                    \
                                                        .offsets = rows,                                               \
                                                        .indices = columns,                                            \
                                                        .values = values });                                           \
    }
COMPRESSED(Csr)
COMPRESSED(ConstCsr)
COMPRESSED(Csc)
COMPRESSED(ConstCsc)
COORDINATES(Coo)
COORDINATES(ConstCoo)

status cusparseDestroySpMat(void *object) { return drop(object, SPARSE, INVALID_VALUE); }

status cusparseSpMatGetSize(const void *object, int64_t *ret_rows, int64_t *ret_columns, int64_t *ret_values)
{
    const struct sparse *s = plim_handle_body(object, SPARSE);
    if (!s || !ret_rows || !ret_columns || !ret_values)
        return INVALID_VALUE;
    *ret_rows = s->n_rows;
    *ret_columns = s->n_columns;
    *ret_values = s->n_values;
    return SUCCESS;
}

static status set_pointers(const void *object, void *offsets, void *indices, void *values)
{
    struct sparse *s = plim_handle_body(object, SPARSE);
    if (!s)
        return INVALID_VALUE;
    s->offsets = offsets;
    s->indices = indices;
    s->values = values;
    return SUCCESS;
}

status cusparseCsrSetPointers(const void *object, void *offsets, void *indices, void *values)
{
    return set_pointers(object, offsets, indices, values);
}
status cusparseCscSetPointers(const void *object, void *offsets, void *indices, void *values)
{
    return set_pointers(object, offsets, indices, values);
}
status cusparseCooSetPointers(const void *object, void *rows, void *columns, void *values)
{
    return set_pointers(object, rows, columns, values);
}

static status set_count(const void *object, int count)
{
    struct sparse *s = plim_handle_body(object, SPARSE);
    if (!s || count < 1)
        return INVALID_VALUE;
    s->count = count;
    return SUCCESS;
}

status cusparseCsrSetStridedBatch(const void *object, int count) { return set_count(object, count); }
status cusparseCooSetStridedBatch(const void *object, int count) { return set_count(object, count); }

/* 0: fill mode, 1: diagonal type */
status cusparseSpMatSetAttribute(const void *object, int attribute, const void *value, size_t size)
{
    struct sparse *s = plim_handle_body(object, SPARSE);
    if (!s || attribute < 0 || attribute > 1 || !value || size != sizeof(int))
        return INVALID_VALUE;
    memcpy(&s->attribute[attribute], value, size);
    return SUCCESS;
}

status cusparseSpMatGetAttribute(const void *object, int attribute, void *value, size_t size)
{
    const struct sparse *s = plim_handle_body(object, SPARSE);
    if (!s || attribute < 0 || attribute > 1 || !value || size != sizeof(int))
        return INVALID_VALUE;
    memcpy(value, &s->attribute[attribute], size);
    return SUCCESS;
}

static status make_dense(void **ret_object, struct dense all, int kind)
{
    struct dense *d;
    if (all.n_rows < 0 || all.n_columns < 0)
        return INVALID_VALUE;
    const status done = make(ret_object, kind, sizeof *d, (void **)&d);
    if (done == SUCCESS)
        *d = all;
    return done;
}

status cusparseCreateDnMat(void **ret_object, int64_t n_rows, int64_t n_columns, int64_t step, void *values, int type,
                           int order)
{
    return make_dense(ret_object, (struct dense){ n_rows, n_columns, step, values, type, order, 1, 0 }, DENSE);
}

status cusparseCreateConstDnMat(void **ret_object, int64_t n_rows, int64_t n_columns, int64_t step, void *values,
                                int type, int order)
{
    return make_dense(ret_object, (struct dense){ n_rows, n_columns, step, values, type, order, 1, 0 }, DENSE);
}

status cusparseCreateDnVec(void **ret_object, int64_t n, void *values, int type)
{
    return make_dense(ret_object, (struct dense){ n, 1, n, values, type, 1, 1, 0 }, VECTOR);
}

status cusparseCreateConstDnVec(void **ret_object, int64_t n, void *values, int type)
{
    return make_dense(ret_object, (struct dense){ n, 1, n, values, type, 1, 1, 0 }, VECTOR);
}

status cusparseDestroyDnMat(void *object) { return drop(object, DENSE, INVALID_VALUE); }
status cusparseDestroyDnVec(void *object) { return drop(object, VECTOR, INVALID_VALUE); }

status cusparseDnMatSetStridedBatch(const void *object, int count, int64_t next)
{
    struct dense *d = plim_handle_body(object, DENSE);
    if (!d || count < 1)
        return INVALID_VALUE;
    d->count = count;
    d->next = next;
    return SUCCESS;
}

#define OBJECT(create, destroy, kind, size)                                                                            \
    status cusparse##create(void **ret_object) { return make(ret_object, kind, size, NULL); }                          \
    status cusparse##destroy(void *object) { return drop(object, kind, INVALID_VALUE); }

OBJECT(CreateBsrsv2Info, DestroyBsrsv2Info, INFO, 1)
OBJECT(CreateBsrsm2Info, DestroyBsrsm2Info, INFO, 1)
OBJECT(SpSV_createDescr, SpSV_destroyDescr, INFO, 1)
OBJECT(SpSM_createDescr, SpSM_destroyDescr, INFO, 1)
OBJECT(SpGEMM_createDescr, SpGEMM_destroyDescr, PRODUCT, sizeof(struct product))

/* --- work --- */

/* Addresses are in descriptors and arguments that are not told apart: whatever is known may be overwritten. */
static void doubt(const void *unused)
{
    (void)unused;
    plim_shadow_doubt_all();
}

static status run(const void *handle)
{
    const struct sparse_handle *h = plim_handle_body(handle, HANDLE);
    return !h                                                             ? NOT_INITIALIZED
           : plim_library_compute(h->device, h->stream, doubt, handle, 0) ? SUCCESS
                                                                          : EXECUTION_FAILED;
}

#define RUN(name)                                                                                                      \
    status cusparse##name(const void *handle) { return run(handle); }

CUSPARSE_WORK(RUN)

/* -1: there is no zero pivot. */
static status pivot(const void *handle, const void *info, int *position)
{
    const struct sparse_handle *h = plim_handle_body(handle, HANDLE);
    if (!h)
        return NOT_INITIALIZED;
    if (!plim_handle_body(info, INFO) || !position)
        return INVALID_VALUE;
    if (h->pointer_mode == 0)
        *position = -1;
    return SUCCESS;
}

status cusparseXbsrsv2_zeroPivot(const void *handle, const void *info, int *position)
{
    return pivot(handle, info, position);
}
status cusparseXbsrsm2_zeroPivot(const void *handle, const void *info, int *position)
{
    return pivot(handle, info, position);
}

/* --- workspaces and sizes that depend on the data --- */

enum { INDEX_BYTES = 4 };

static status workspace(const void *handle, int64_t n, size_t *ret_bytes)
{
    if (!plim_handle_body(handle, HANDLE))
        return NOT_INITIALIZED;
    if (n < 0 || n > (INT64_C(1) << 48) || !ret_bytes)
        return INVALID_VALUE;
    plim_vgpu_remark("assumed",
                     "cuSPARSE takes no workspace for products with dense matrices, otherwise an index per value");
    *ret_bytes = (size_t)n * INDEX_BYTES;
    return SUCCESS;
}

static int64_t n_values_of(const void *object)
{
    const struct sparse *s = plim_handle_body(object, SPARSE);
    return s ? s->n_values : -1;
}

status cusparseSpMV_bufferSize(const void *h, int operation, const void *alpha, const void *a, const void *x,
                               const void *beta, const void *y, int type, int algorithm, size_t *ret_bytes)
{
    (void)operation, (void)alpha, (void)x, (void)beta, (void)y, (void)type, (void)algorithm;
    return plim_handle_body(a, SPARSE) ? workspace(h, 0, ret_bytes) : INVALID_VALUE;
}

status cusparseSpMM_bufferSize(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                               const void *b, const void *beta, const void *c, int type, int algorithm,
                               size_t *ret_bytes)
{
    (void)operation_a, (void)operation_b, (void)alpha, (void)b, (void)beta, (void)c, (void)type, (void)algorithm;
    return plim_handle_body(a, SPARSE) ? workspace(h, 0, ret_bytes) : INVALID_VALUE;
}

status cusparseSDDMM_bufferSize(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                                const void *b, const void *beta, const void *c, int type, int algorithm,
                                size_t *ret_bytes)
{
    (void)operation_a, (void)operation_b, (void)alpha, (void)a, (void)b, (void)beta, (void)type, (void)algorithm;
    return plim_handle_body(c, SPARSE) ? workspace(h, 0, ret_bytes) : INVALID_VALUE;
}

status cusparseSpSV_bufferSize(const void *h, int operation, const void *alpha, const void *a, const void *x,
                               const void *y, int type, int algorithm, const void *info, size_t *ret_bytes)
{
    (void)operation, (void)alpha, (void)x, (void)y, (void)type, (void)algorithm, (void)info;
    return workspace(h, n_values_of(a), ret_bytes);
}

status cusparseSpSM_bufferSize(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                               const void *b, const void *c, int type, int algorithm, const void *info,
                               size_t *ret_bytes)
{
    (void)operation_a, (void)operation_b, (void)alpha, (void)b, (void)c, (void)type, (void)algorithm, (void)info;
    return workspace(h, n_values_of(a), ret_bytes);
}

status cusparseXcoosort_bufferSizeExt(const void *h, int m, int n, int n_values, const void *rows, const void *columns,
                                      size_t *ret_bytes)
{
    (void)m, (void)n, (void)rows, (void)columns;
    return workspace(h, n_values, ret_bytes);
}

status cusparseXcsrsort_bufferSizeExt(const void *h, int m, int n, int n_values, const void *rows, const void *columns,
                                      size_t *ret_bytes)
{
    (void)m, (void)n, (void)rows, (void)columns;
    return workspace(h, n_values, ret_bytes);
}

#define BSRSV2(name)                                                                                                   \
    CUSPARSE_BSRSV2(name)                                                                                              \
    {                                                                                                                  \
        size_t bytes = 0;                                                                                              \
        (void)direction, (void)operation, (void)mb, (void)d, (void)values, (void)rows, (void)columns, (void)size;      \
        (void)info;                                                                                                    \
        const status done = ret_bytes ? workspace(h, n_blocks, &bytes) : INVALID_VALUE;                                \
        if (done == SUCCESS)                                                                                           \
            *ret_bytes = (int)bytes;                                                                                   \
        return done;                                                                                                   \
    }
#define BSRSM2(name)                                                                                                   \
    CUSPARSE_BSRSM2(name)                                                                                              \
    {                                                                                                                  \
        size_t bytes = 0;                                                                                              \
        (void)direction, (void)operation_a, (void)operation_x, (void)mb, (void)n, (void)d, (void)values, (void)rows;   \
        (void)columns, (void)size, (void)info;                                                                         \
        const status done = ret_bytes ? workspace(h, n_blocks, &bytes) : INVALID_VALUE;                                \
        if (done == SUCCESS)                                                                                           \
            *ret_bytes = (int)bytes;                                                                                   \
        return done;                                                                                                   \
    }
#define CSRGEAM2(name)                                                                                                 \
    CUSPARSE_CSRGEAM2(name)                                                                                            \
    {                                                                                                                  \
        (void)n, (void)alpha, (void)a, (void)a_values, (void)a_data, (void)a_rows, (void)a_columns, (void)beta;        \
        (void)b, (void)b_values, (void)b_data, (void)b_rows, (void)b_columns, (void)c, (void)c_data, (void)c_rows;     \
        (void)c_columns;                                                                                               \
        return workspace(h, (int64_t)m + 1, ret_bytes);                                                                \
    }
CUSPARSE_EACH(BSRSV2, bsrsv2_bufferSize)
CUSPARSE_EACH(BSRSM2, bsrsm2_bufferSize)
CUSPARSE_EACH(CSRGEAM2, csrgeam2_bufferSizeExt)

/* A sum has at most the elements of both operands. */
status cusparseXcsrgeam2Nnz(const void *handle, int m, int n, const void *a, int a_values, const void *a_rows,
                            const void *a_columns, const void *b, int b_values, const void *b_rows,
                            const void *b_columns, const void *c, const void *c_rows, int *ret_n, const void *work)
{
    const struct sparse_handle *h = plim_handle_body(handle, HANDLE);
    (void)a, (void)a_rows, (void)a_columns, (void)b, (void)b_rows, (void)b_columns, (void)c, (void)c_rows, (void)work;
    if (!h)
        return NOT_INITIALIZED;
    const int64_t all = (int64_t)a_values + b_values, room = (int64_t)m * n;
    if (!ret_n || m < 0 || n < 0 || a_values < 0 || b_values < 0)
        return INVALID_VALUE;
    if (h->pointer_mode == 0) {
        plim_vgpu_guessed(&(struct plim_vgpu_guess){
            .is_answer = true,
            .what = "a sum of sparse matrices is assumed to have the elements of both operands",
            .size_bytes = sizeof *ret_n });
        *ret_n = (int)(all < room ? all : room);
    }
    return run(handle);
}

/* The product of evenly filled matrices: each element of the first is multiplied with a row of the second. */
static int64_t n_of_product(const struct sparse *a, const struct sparse *b)
{
    int64_t room;
    if (__builtin_mul_overflow(a->n_rows, b->n_columns, &room))
        room = INT64_MAX;
    const double n = b->n_rows ? (double)a->n_values * (double)b->n_values / (double)b->n_rows : 0;
    return n < (double)room ? (int64_t)(n + 0.5) : room;
}

/* Called twice: without a buffer for its size, with a buffer for the work. */
static status product(const void *handle, const void *a, const void *b, const void *c, const void *object,
                      size_t *bytes, const void *buffer)
{
    const struct sparse *first = plim_handle_body(a, SPARSE), *second = plim_handle_body(b, SPARSE);
    struct sparse *third = plim_handle_body(c, SPARSE);
    struct product *p = plim_handle_body(object, PRODUCT);
    if (!first || !second || !third || !p || !bytes)
        return plim_handle_body(handle, HANDLE) ? INVALID_VALUE : NOT_INITIALIZED;
    p->n_values = n_of_product(first, second);
    if (!buffer)
        return workspace(handle, p->n_values, bytes);
    third->n_values = p->n_values;
    plim_vgpu_guessed(&(struct plim_vgpu_guess){
        .is_answer = true,
        .what = "a product of sparse matrices is assumed to be one of evenly filled matrices",
        .size_bytes = sizeof third->n_values });
    return run(handle);
}

status cusparseSpGEMM_workEstimation(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                                     const void *b, const void *beta, const void *c, int type, int algorithm,
                                     const void *object, size_t *bytes, const void *buffer)
{
    (void)operation_a, (void)operation_b, (void)alpha, (void)beta, (void)type, (void)algorithm;
    return product(h, a, b, c, object, bytes, buffer);
}

status cusparseSpGEMM_compute(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                              const void *b, const void *beta, const void *c, int type, int algorithm,
                              const void *object, size_t *bytes, const void *buffer)
{
    (void)operation_a, (void)operation_b, (void)alpha, (void)beta, (void)type, (void)algorithm;
    return product(h, a, b, c, object, bytes, buffer);
}
