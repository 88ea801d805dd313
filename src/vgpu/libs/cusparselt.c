/* SPDX-License-Identifier: MIT */
/*
 * libcusparseLt: all state is in structures of the program, of 512 bytes (0.8) or 1024 (0.7), of which the first 256
 * are used. A matrix of half the elements is compressed to 9/16 of its size, or 10/16 for elements of one byte: the
 * values that are kept and two bits for each. Products compute nothing, one algorithm serves all.
 */
#include "vgpu/libs/cusparselt_api.h"
#include "vgpu/libs/library.h"

#include <string.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3, EXECUTION_FAILED = 6, NOT_SUPPORTED = 10 };
enum tag { HANDLE = 0x506c5331, MATRIX, MATMUL, ALGORITHM, PLAN };
enum { MAX_ID = 1, SPLIT_K = 3 };

static bool is(const struct cusparselt_object *object, enum tag tag) { return object && object->tag == (uint32_t)tag; }

static status start(const struct cusparselt_object *handle, struct cusparselt_object *object, enum tag tag)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!object)
        return INVALID_VALUE;
    *object = (struct cusparselt_object){ .tag = tag };
    return SUCCESS;
}

static status finish(const struct cusparselt_object *object, enum tag tag)
{
    if (!is(object, tag))
        return INVALID_VALUE;
    ((struct cusparselt_object *)(uintptr_t)object)->tag = 0;
    return SUCCESS;
}

/* Requires compute capability 8.0. */
status cusparseLtInit(struct cusparselt_object *handle)
{
    if (!handle)
        return INVALID_VALUE;
    const int device = plim_library_device();
    const struct plim_ledger_card *card = plim_vgpu_card(device);
    if (!card)
        return NOT_INITIALIZED;
    if (card->compute_capability < 80)
        return NOT_SUPPORTED;
    *handle = (struct cusparselt_object){ .tag = HANDLE, .device = device };
    return SUCCESS;
}

status cusparseLtDestroy(const struct cusparselt_object *handle) { return finish(handle, HANDLE); }

static int element_bits(int type)
{
    switch (type) {
    case 3:  /* CUDA_R_8I */
    case 28: /* CUDA_R_8F_E4M3 */
    case 29: /* CUDA_R_8F_E5M2 */
        return 8;
    case 33: /* CUDA_R_4F_E2M1 */
        return 4;
    case 0:  /* CUDA_R_32F */
    case 10: /* CUDA_R_32I */
        return 32;
    default:
        return 16;
    }
}

static status describe(const struct cusparselt_object *handle, struct cusparselt_object *matrix, int64_t n_rows,
                       int64_t n_columns, int type, bool is_structured)
{
    if (n_rows < 1 || n_columns < 1 || n_rows > INT32_MAX || n_columns > INT32_MAX)
        return is(handle, HANDLE) ? INVALID_VALUE : NOT_INITIALIZED;
    const status done = start(handle, matrix, MATRIX);
    if (done == SUCCESS) {
        matrix->n_rows = n_rows;
        matrix->n_columns = n_columns;
        matrix->type = type;
        matrix->is_structured = is_structured;
    }
    return done;
}

status cusparseLtDenseDescriptorInit(const struct cusparselt_object *handle, struct cusparselt_object *matrix,
                                     int64_t n_rows, int64_t n_columns, int64_t step, uint32_t alignment, int type,
                                     int order)
{
    (void)step, (void)alignment, (void)order;
    return describe(handle, matrix, n_rows, n_columns, type, false);
}

status cusparseLtStructuredDescriptorInit(const struct cusparselt_object *handle, struct cusparselt_object *matrix,
                                          int64_t n_rows, int64_t n_columns, int64_t step, uint32_t alignment, int type,
                                          int order, int sparsity)
{
    (void)step, (void)alignment, (void)order, (void)sparsity;
    return describe(handle, matrix, n_rows, n_columns, type, true);
}

status cusparseLtMatDescriptorDestroy(const struct cusparselt_object *matrix) { return finish(matrix, MATRIX); }

status cusparseLtMatmulDescriptorInit(const struct cusparselt_object *handle, struct cusparselt_object *product,
                                      int operation_a, int operation_b, const struct cusparselt_object *a,
                                      const struct cusparselt_object *b, const struct cusparselt_object *c,
                                      const struct cusparselt_object *d, int compute_type)
{
    (void)operation_a, (void)operation_b, (void)compute_type;
    if (!is(a, MATRIX) || !is(b, MATRIX) || !is(c, MATRIX) || !is(d, MATRIX) || a->is_structured == b->is_structured)
        return is(handle, HANDLE) ? INVALID_VALUE : NOT_INITIALIZED;
    return start(handle, product, MATMUL);
}

status cusparseLtMatmulAlgSelectionInit(const struct cusparselt_object *handle, struct cusparselt_object *algorithm,
                                        const struct cusparselt_object *product, int kind)
{
    (void)kind;
    if (!is(product, MATMUL))
        return is(handle, HANDLE) ? INVALID_VALUE : NOT_INITIALIZED;
    const status done = start(handle, algorithm, ALGORITHM);
    if (done == SUCCESS)
        algorithm->attribute[MAX_ID] = algorithm->attribute[SPLIT_K] = 1;
    return done;
}

status cusparseLtMatmulAlgSelectionDestroy(const struct cusparselt_object *algorithm)
{
    return finish(algorithm, ALGORITHM);
}

static status set(const struct cusparselt_object *handle, struct cusparselt_object *object, enum tag tag, int id,
                  const void *value, size_t size)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(object, tag) || id < 0 || id >= CUSPARSELT_ATTRIBUTES || !value || !size || size > sizeof(uint64_t))
        return INVALID_VALUE;
    object->attribute[id] = 0;
    memcpy(&object->attribute[id], value, size);
    return SUCCESS;
}

static status get(const struct cusparselt_object *handle, const struct cusparselt_object *object, enum tag tag, int id,
                  void *value, size_t size)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(object, tag) || id < 0 || id >= CUSPARSELT_ATTRIBUTES || !value || !size || size > sizeof(uint64_t))
        return INVALID_VALUE;
    memcpy(value, &object->attribute[id], size);
    return SUCCESS;
}

#define ATTRIBUTES(name, tag)                                                                                          \
    status cusparseLt##name##SetAttribute(const struct cusparselt_object *handle, struct cusparselt_object *object,    \
                                          int id, const void *value, size_t size)                                      \
    {                                                                                                                  \
        return set(handle, object, tag, id, value, size);                                                              \
    }                                                                                                                  \
    status cusparseLt##name##GetAttribute(const struct cusparselt_object *handle,                                      \
                                          const struct cusparselt_object *object, int id, void *value, size_t size)    \
    {                                                                                                                  \
        return get(handle, object, tag, id, value, size);                                                              \
    }

ATTRIBUTES(MatDesc, MATRIX)
ATTRIBUTES(MatmulDesc, MATMUL)
ATTRIBUTES(MatmulAlg, ALGORITHM)

/* --- plans and work --- */

status cusparseLtMatmulPlanInit(const struct cusparselt_object *handle, struct cusparselt_object *plan,
                                const struct cusparselt_object *product, const struct cusparselt_object *algorithm)
{
    if (!is(product, MATMUL) || !is(algorithm, ALGORITHM))
        return is(handle, HANDLE) ? INVALID_VALUE : NOT_INITIALIZED;
    return start(handle, plan, PLAN);
}

status cusparseLtMatmulPlanDestroy(const struct cusparselt_object *plan) { return finish(plan, PLAN); }

status cusparseLtMatmulGetWorkspace(const struct cusparselt_object *handle, const struct cusparselt_object *plan,
                                    size_t *ret_bytes)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(plan, PLAN) || !ret_bytes)
        return INVALID_VALUE;
    plim_vgpu_remark("assumed", "cuSPARSELt's products take no workspace (not measured)");
    *ret_bytes = 0;
    return SUCCESS;
}

static status work(const struct cusparselt_object *handle, const struct cusparselt_object *plan, void *const *streams,
                   int n_streams, const void *result)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(plan, PLAN))
        return INVALID_VALUE;
    void *stream = streams && n_streams > 0 ? streams[0] : NULL;
    return plim_library_write_to(handle->device, stream, result, NULL) ? SUCCESS : EXECUTION_FAILED;
}

status cusparseLtMatmul(const struct cusparselt_object *handle, const struct cusparselt_object *plan, const void *alpha,
                        const void *a, const void *b, const void *beta, const void *c, void *d, void *workspace,
                        void *const *streams, int n_streams)
{
    (void)alpha, (void)a, (void)b, (void)beta, (void)c, (void)workspace;
    return work(handle, plan, streams, n_streams, d);
}

/* The search finds the only algorithm. */
status cusparseLtMatmulSearch(const struct cusparselt_object *handle, struct cusparselt_object *plan, const void *alpha,
                              const void *a, const void *b, const void *beta, const void *c, void *d, void *workspace,
                              void *const *streams, int n_streams)
{
    return cusparseLtMatmul(handle, plan, alpha, a, b, beta, c, d, workspace, streams, n_streams);
}

/* --- compression --- */

status cusparseLtSpMMACompressedSize2(const struct cusparselt_object *handle, const struct cusparselt_object *matrix,
                                      size_t *ret_bytes, size_t *ret_buffer_bytes)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(matrix, MATRIX) || !matrix->is_structured || !ret_bytes || !ret_buffer_bytes)
        return INVALID_VALUE;
    const int bits = element_bits(matrix->type);
    const uint64_t n = (uint64_t)matrix->n_rows * (uint64_t)matrix->n_columns;
    *ret_bytes = (size_t)(n / 8 * (unsigned)bits / 16 * (bits <= 8 ? 10 : 9));
    *ret_buffer_bytes = *ret_bytes;
    plim_vgpu_remark("assumed", "cuSPARSELt compresses with a buffer as large as the result (not measured)");
    return SUCCESS;
}

status cusparseLtSpMMACompress2(const struct cusparselt_object *handle, const struct cusparselt_object *matrix,
                                int is_sparse_a, int operation, const void *dense, void *compressed, void *buffer,
                                void *stream)
{
    (void)is_sparse_a, (void)operation, (void)dense;
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(matrix, MATRIX) || !matrix->is_structured)
        return INVALID_VALUE;
    return plim_library_write_to(handle->device, stream, compressed, buffer) ? SUCCESS : EXECUTION_FAILED;
}

/* --- texts, versions --- */

const char *cusparseLtGetErrorName(status code)
{
    return code == SUCCESS           ? "CUSPARSE_STATUS_SUCCESS"
           : code == NOT_INITIALIZED ? "CUSPARSE_STATUS_NOT_INITIALIZED"
           : code == INVALID_VALUE   ? "CUSPARSE_STATUS_INVALID_VALUE"
           : code == NOT_SUPPORTED   ? "CUSPARSE_STATUS_NOT_SUPPORTED"
                                     : "CUSPARSE_STATUS_EXECUTION_FAILED";
}

const char *cusparseLtGetErrorString(status code) { return cusparseLtGetErrorName(code); }

status cusparseLtGetVersion(const struct cusparselt_object *handle, int *ret_version)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!ret_version)
        return INVALID_VALUE;
    *ret_version = 801;
    return SUCCESS;
}

status cusparseLtGetProperty(int part, int *value)
{
    if (part < 0 || part > 2 || !value)
        return INVALID_VALUE;
    *value = ((const int[]){ 0, 8, 1 })[part];
    return SUCCESS;
}
