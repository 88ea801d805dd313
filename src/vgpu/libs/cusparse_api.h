/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUSPARSE_API_H
#define PLIMSOLL_VGPU_LIBS_CUSPARSE_API_H

/*
 * The functions of the cuSPARSE API that have a body in libcusparse.so.11 and .12: our own declarations after its
 * manual. A list CUSPARSE_WORK(X) gives each name to X, here for its declaration and in cusparse.c for its body.
 */

#include "vgpu/core/cuda_api.h"

#define CUSPARSE_EACH(X, name) X(S##name) X(D##name) X(C##name) X(Z##name)

/* --- handles, descriptions, sizes --- */

status cusparseSetStream(const void *handle, void *value);
status cusparseGetStream(const void *handle, void **ret_value);
status cusparseSetPointerMode(const void *handle, int value);
status cusparseGetPointerMode(const void *handle, int *ret_value);
status cusparseCreate(void **ret_handle);
status cusparseDestroy(void *handle);
const char *cusparseGetErrorName(status s);
const char *cusparseGetErrorString(status s);
status cusparseGetVersion(const void *handle, int *ret_version);
status cusparseGetProperty(int part, int *value);
status cusparseCreateMatDescr(void **ret_object);
status cusparseDestroyMatDescr(void *object);
status cusparseDestroySpMat(void *object);
status cusparseSpMatGetSize(const void *object, int64_t *ret_rows, int64_t *ret_columns, int64_t *ret_values);
status cusparseCsrSetPointers(const void *object, void *offsets, void *indices, void *values);
status cusparseCscSetPointers(const void *object, void *offsets, void *indices, void *values);
status cusparseCooSetPointers(const void *object, void *rows, void *columns, void *values);
status cusparseCsrSetStridedBatch(const void *object, int count);
status cusparseCooSetStridedBatch(const void *object, int count);
status cusparseSpMatSetAttribute(const void *object, int attribute, const void *value, size_t size);
status cusparseSpMatGetAttribute(const void *object, int attribute, void *value, size_t size);
status cusparseCreateDnMat(void **ret_object, int64_t n_rows, int64_t n_columns, int64_t step, void *values, int type,
                           int order);
status cusparseCreateConstDnMat(void **ret_object, int64_t n_rows, int64_t n_columns, int64_t step, void *values,
                                int type, int order);
status cusparseCreateDnVec(void **ret_object, int64_t n, void *values, int type);
status cusparseCreateConstDnVec(void **ret_object, int64_t n, void *values, int type);
status cusparseDestroyDnMat(void *object);
status cusparseDestroyDnVec(void *object);
status cusparseDnMatSetStridedBatch(const void *object, int count, int64_t next);
status cusparseXbsrsv2_zeroPivot(const void *handle, const void *info, int *position);
status cusparseXbsrsm2_zeroPivot(const void *handle, const void *info, int *position);
status cusparseSpMV_bufferSize(const void *h, int operation, const void *alpha, const void *a, const void *x,
                               const void *beta, const void *y, int type, int algorithm, size_t *ret_bytes);
status cusparseSpMM_bufferSize(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                               const void *b, const void *beta, const void *c, int type, int algorithm,
                               size_t *ret_bytes);
status cusparseSDDMM_bufferSize(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                                const void *b, const void *beta, const void *c, int type, int algorithm,
                                size_t *ret_bytes);
status cusparseSpSV_bufferSize(const void *h, int operation, const void *alpha, const void *a, const void *x,
                               const void *y, int type, int algorithm, const void *info, size_t *ret_bytes);
status cusparseSpSM_bufferSize(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                               const void *b, const void *c, int type, int algorithm, const void *info,
                               size_t *ret_bytes);
status cusparseXcoosort_bufferSizeExt(const void *h, int m, int n, int n_values, const void *rows, const void *columns,
                                      size_t *ret_bytes);
status cusparseXcsrsort_bufferSizeExt(const void *h, int m, int n, int n_values, const void *rows, const void *columns,
                                      size_t *ret_bytes);
status cusparseXcsrgeam2Nnz(const void *handle, int m, int n, const void *a, int a_values, const void *a_rows,
                            const void *a_columns, const void *b, int b_values, const void *b_rows,
                            const void *b_columns, const void *c, const void *c_rows, int *ret_n, const void *work);
status cusparseSpGEMM_workEstimation(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                                     const void *b, const void *beta, const void *c, int type, int algorithm,
                                     const void *object, size_t *bytes, const void *buffer);
status cusparseSpGEMM_compute(const void *h, int operation_a, int operation_b, const void *alpha, const void *a,
                              const void *b, const void *beta, const void *c, int type, int algorithm,
                              const void *object, size_t *bytes, const void *buffer);
status cusparseSetMatType(const void *object, int value);
int cusparseGetMatType(const void *object);
status cusparseSetMatFillMode(const void *object, int value);
int cusparseGetMatFillMode(const void *object);
status cusparseSetMatDiagType(const void *object, int value);
int cusparseGetMatDiagType(const void *object);
status cusparseSetMatIndexBase(const void *object, int value);
int cusparseGetMatIndexBase(const void *object);
status cusparseCreateBsrsv2Info(void **ret_object);
status cusparseDestroyBsrsv2Info(void *object);
status cusparseCreateBsrsm2Info(void **ret_object);
status cusparseDestroyBsrsm2Info(void *object);
status cusparseSpSV_createDescr(void **ret_object);
status cusparseSpSV_destroyDescr(void *object);
status cusparseSpSM_createDescr(void **ret_object);
status cusparseSpSM_destroyDescr(void *object);
status cusparseSpGEMM_createDescr(void **ret_object);
status cusparseSpGEMM_destroyDescr(void *object);

#define CUSPARSE_COMPRESSED(name)                                                                                      \
    status cusparseCreate##name(void **ret_object, int64_t n_rows, int64_t n_columns, int64_t n_values, void *offsets, \
                                void *indices, void *values, int offset_type, int index_type, int base, int type)
#define CUSPARSE_COORDINATES(name)                                                                                     \
    status cusparseCreate##name(void **ret_object, int64_t n_rows, int64_t n_columns, int64_t n_values, void *rows,    \
                                void *columns, void *values, int index_type, int base, int type)
CUSPARSE_COMPRESSED(Csr);
CUSPARSE_COMPRESSED(ConstCsr);
CUSPARSE_COMPRESSED(Csc);
CUSPARSE_COMPRESSED(ConstCsc);
CUSPARSE_COORDINATES(Coo);
CUSPARSE_COORDINATES(ConstCoo);

#define CUSPARSE_BSRSV2(name)                                                                                          \
    status cusparse##name(const void *h, int direction, int operation, int mb, int n_blocks, const void *d,            \
                          const void *values, const void *rows, const void *columns, int size, const void *info,       \
                          int *ret_bytes)
#define CUSPARSE_BSRSM2(name)                                                                                          \
    status cusparse##name(const void *h, int direction, int operation_a, int operation_x, int mb, int n, int n_blocks, \
                          const void *d, const void *values, const void *rows, const void *columns, int size,          \
                          const void *info, int *ret_bytes)
#define CUSPARSE_CSRGEAM2(name)                                                                                        \
    status cusparse##name(const void *h, int m, int n, const void *alpha, const void *a, int a_values,                 \
                          const void *a_data, const void *a_rows, const void *a_columns, const void *beta,             \
                          const void *b, int b_values, const void *b_data, const void *b_rows, const void *b_columns,  \
                          const void *c, const void *c_data, const void *c_rows, const void *c_columns,                \
                          size_t *ret_bytes)
#define DECLARE_BSRSV2(name)   CUSPARSE_BSRSV2(name);
#define DECLARE_BSRSM2(name)   CUSPARSE_BSRSM2(name);
#define DECLARE_CSRGEAM2(name) CUSPARSE_CSRGEAM2(name);
CUSPARSE_EACH(DECLARE_BSRSV2, bsrsv2_bufferSize)
CUSPARSE_EACH(DECLARE_BSRSM2, bsrsm2_bufferSize)
CUSPARSE_EACH(DECLARE_CSRGEAM2, csrgeam2_bufferSizeExt)
#undef DECLARE_BSRSV2
#undef DECLARE_BSRSM2
#undef DECLARE_CSRGEAM2

/* --- work --- */

#define CUSPARSE_WORK(X)                                                                                               \
    X(SpMV)                                                                                                            \
    X(SpMV_preprocess)                                                                                                 \
    X(SpMM)                                                                                                            \
    X(SpMM_preprocess)                                                                                                 \
    X(SpSV_analysis)                                                                                                   \
    X(SpSV_solve)                                                                                                      \
    X(SpSM_analysis)                                                                                                   \
    X(SpSM_solve)                                                                                                      \
    X(SDDMM)                                                                                                           \
    X(SDDMM_preprocess)                                                                                                \
    X(CreateIdentityPermutation)                                                                                       \
    X(XcoosortByRow)                                                                                                   \
    X(XcoosortByColumn)                                                                                                \
    X(Xcsrsort)                                                                                                        \
    X(Xcoo2csr)                                                                                                        \
    X(Xcsr2coo)                                                                                                        \
    CUSPARSE_EACH(X, bsrmv)                                                                                            \
    CUSPARSE_EACH(X, bsrmm)                                                                                            \
    CUSPARSE_EACH(X, bsrsv2_analysis)                                                                                  \
    CUSPARSE_EACH(X, bsrsv2_solve)                                                                                     \
    CUSPARSE_EACH(X, bsrsm2_analysis)                                                                                  \
    CUSPARSE_EACH(X, bsrsm2_solve)                                                                                     \
    CUSPARSE_EACH(X, csrgeam2)                                                                                         \
    X(SpGEMM_copy)
#define DECLARE(name) status cusparse##name(const void *handle);
CUSPARSE_WORK(DECLARE)
#undef DECLARE

#endif
