/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUBLAS_CUBLAS_API_H
#define PLIMSOLL_VGPU_LIBS_CUBLAS_CUBLAS_API_H

/*
 * The functions of the cuBLAS and cuBLASLt APIs that have a body: our own declarations after their manuals (11.8, 12.8
 * and 13.2). PLIM_MAJOR is the major version. Functions come in families; a list CUBLAS_...(X) gives each name to X,
 * here for its declaration and in a .c file for its body.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/libs/words.h"

/* Each function has a form for 64-bit sizes. S and D are real, C and Z complex. */
#define CUBLAS_BOTH(X, name)            X(name) X(name##_64)
#define CUBLAS_REAL(X, name, suffix)    CUBLAS_BOTH(X, S##name##suffix) CUBLAS_BOTH(X, D##name##suffix)
#define CUBLAS_COMPLEX(X, name, suffix) CUBLAS_BOTH(X, C##name##suffix) CUBLAS_BOTH(X, Z##name##suffix)
#define CUBLAS_FOUR(X, name, suffix)    CUBLAS_REAL(X, name, suffix) CUBLAS_COMPLEX(X, name, suffix)

/* --- the handle --- */

status cublasCreate_v2(void **ret_handle);
status cublasDestroy_v2(void *handle);
const char *cublasGetStatusName(status code);
const char *cublasGetStatusString(status code);
status cublasGetVersion_v2(const void *handle, int *ret_version);
status cublasGetProperty(int part, int *value);
size_t cublasGetCudartVersion(void);
status cublasSetWorkspace_v2(const void *handle, void *workspace, size_t size);
status cublasLoggerConfigure(int is_on, int to_stdout, int to_stderr, const char *file);
status cublasSetLoggerCallback(void *callback);
status cublasGetLoggerCallback(void **ret_callback);

/* The state of a handle: X(name, suffix, type, member of struct plim_cublas). */
#define CUBLAS_STATES(X)                                                                                               \
    X(Stream, _v2, void *, stream)                                                                                     \
    X(MathMode, , int, math_mode)                                                                                      \
    X(PointerMode, _v2, int, pointer_mode)                                                                             \
    X(AtomicsMode, , int, atomics_mode)                                                                                \
    X(SmCountTarget, , int, sm_count_target)                                                                           \
    X(EmulationStrategy, , int, emulation_strategy)                                                                    \
    X(EmulationSpecialValuesSupport, , int, emulation_values)                                                          \
    X(FixedPointEmulationMantissaControl, , int, mantissa_control)                                                     \
    X(FixedPointEmulationMaxMantissaBitCount, , int, mantissa_max_bits)                                                \
    X(FixedPointEmulationMantissaBitOffset, , int, mantissa_offset)                                                    \
    X(FixedPointEmulationMantissaBitCountPointer, , void *, mantissa_count)

#define CUBLAS_SETTER(name, suffix, type) status cublasSet##name##suffix(const void *handle, type value)
#define CUBLAS_GETTER(name, suffix, type) status cublasGet##name##suffix(const void *handle, type *ret_value)
#define DECLARE(name, suffix, type, member)                                                                            \
    CUBLAS_SETTER(name, suffix, type);                                                                                 \
    CUBLAS_GETTER(name, suffix, type);
CUBLAS_STATES(DECLARE)
#undef DECLARE

/* --- functions that take a handle first and write device memory only --- */

/* Vectors. Functions that return a number follow below. */
#define CUBLAS_VECTORS(X)                                                                                              \
    CUBLAS_FOUR(X, axpy, _v2)                                                                                          \
    CUBLAS_FOUR(X, copy, _v2)                                                                                          \
    CUBLAS_FOUR(X, swap, _v2)                                                                                          \
    CUBLAS_FOUR(X, scal, _v2)                                                                                          \
    CUBLAS_FOUR(X, rot, _v2)                                                                                           \
    CUBLAS_REAL(X, rotm, _v2)                                                                                          \
    CUBLAS_BOTH(X, Csscal_v2)                                                                                          \
    CUBLAS_BOTH(X, Zdscal_v2)                                                                                          \
    CUBLAS_BOTH(X, Csrot_v2)                                                                                           \
    CUBLAS_BOTH(X, Zdrot_v2)                                                                                           \
    CUBLAS_BOTH(X, AxpyEx)                                                                                             \
    CUBLAS_BOTH(X, CopyEx)                                                                                             \
    CUBLAS_BOTH(X, SwapEx)                                                                                             \
    CUBLAS_BOTH(X, ScalEx)                                                                                             \
    CUBLAS_BOTH(X, RotEx)                                                                                              \
    CUBLAS_BOTH(X, RotmEx)

/* A matrix and a vector. */
#define CUBLAS_MATRIX_VECTOR(X)                                                                                        \
    CUBLAS_FOUR(X, gbmv, _v2)                                                                                          \
    CUBLAS_FOUR(X, trmv, _v2)                                                                                          \
    CUBLAS_FOUR(X, tbmv, _v2)                                                                                          \
    CUBLAS_FOUR(X, tpmv, _v2)                                                                                          \
    CUBLAS_FOUR(X, trsv, _v2)                                                                                          \
    CUBLAS_FOUR(X, tpsv, _v2)                                                                                          \
    CUBLAS_FOUR(X, tbsv, _v2)                                                                                          \
    CUBLAS_FOUR(X, symv, _v2)                                                                                          \
    CUBLAS_COMPLEX(X, hemv, _v2)                                                                                       \
    CUBLAS_REAL(X, sbmv, _v2)                                                                                          \
    CUBLAS_COMPLEX(X, hbmv, _v2)                                                                                       \
    CUBLAS_REAL(X, spmv, _v2)                                                                                          \
    CUBLAS_COMPLEX(X, hpmv, _v2)                                                                                       \
    CUBLAS_REAL(X, ger, _v2)                                                                                           \
    CUBLAS_COMPLEX(X, geru, _v2)                                                                                       \
    CUBLAS_COMPLEX(X, gerc, _v2)                                                                                       \
    CUBLAS_FOUR(X, syr, _v2)                                                                                           \
    CUBLAS_COMPLEX(X, her, _v2)                                                                                        \
    CUBLAS_REAL(X, spr, _v2)                                                                                           \
    CUBLAS_COMPLEX(X, hpr, _v2)                                                                                        \
    CUBLAS_FOUR(X, syr2, _v2)                                                                                          \
    CUBLAS_COMPLEX(X, her2, _v2)                                                                                       \
    CUBLAS_REAL(X, spr2, _v2)                                                                                          \
    CUBLAS_COMPLEX(X, hpr2, _v2)                                                                                       \
    CUBLAS_FOUR(X, gemvBatched, )                                                                                      \
    CUBLAS_FOUR(X, gemvStridedBatched, )                                                                               \
    CUBLAS_BOTH(X, HSHgemvBatched)                                                                                     \
    CUBLAS_BOTH(X, HSSgemvBatched)                                                                                     \
    CUBLAS_BOTH(X, TSTgemvBatched)                                                                                     \
    CUBLAS_BOTH(X, TSSgemvBatched)                                                                                     \
    CUBLAS_BOTH(X, HSHgemvStridedBatched)                                                                              \
    CUBLAS_BOTH(X, HSSgemvStridedBatched)                                                                              \
    CUBLAS_BOTH(X, TSTgemvStridedBatched)                                                                              \
    CUBLAS_BOTH(X, TSSgemvStridedBatched)

/* Matrices; products and triangular systems are in cublas_gemm.c. */
#define CUBLAS_MATRICES(X)                                                                                             \
    CUBLAS_BOTH(X, Uint8gemmBias)                                                                                      \
    CUBLAS_FOUR(X, syrk, _v2)                                                                                          \
    CUBLAS_COMPLEX(X, herk, _v2)                                                                                       \
    CUBLAS_FOUR(X, syr2k, _v2)                                                                                         \
    CUBLAS_COMPLEX(X, her2k, _v2)                                                                                      \
    CUBLAS_FOUR(X, syrkx, )                                                                                            \
    CUBLAS_COMPLEX(X, herkx, )                                                                                         \
    CUBLAS_BOTH(X, CsyrkEx)                                                                                            \
    CUBLAS_BOTH(X, Csyrk3mEx)                                                                                          \
    CUBLAS_BOTH(X, CherkEx)                                                                                            \
    CUBLAS_BOTH(X, Cherk3mEx)                                                                                          \
    CUBLAS_FOUR(X, symm, _v2)                                                                                          \
    CUBLAS_COMPLEX(X, hemm, _v2)                                                                                       \
    CUBLAS_FOUR(X, trmm, _v2)                                                                                          \
    CUBLAS_FOUR(X, geam, )                                                                                             \
    CUBLAS_FOUR(X, dgmm, )                                                                                             \
    CUBLAS_FOUR(X, bdmm, )                                                                                             \
    CUBLAS_REAL(X, gemmGroupedBatched, )                                                                               \
    CUBLAS_BOTH(X, GemmGroupedBatchedEx)                                                                               \
    CUBLAS_FOUR(X, tpttr, )                                                                                            \
    CUBLAS_FOUR(X, trttp, )

/* Batched factorizations whose arrays of error codes are in device memory. */
#define CUBLAS_FACTORIZATIONS(X)                                                                                       \
    CUBLAS_FOUR(X, getrfBatched, )                                                                                     \
    CUBLAS_FOUR(X, getriBatched, )                                                                                     \
    CUBLAS_FOUR(X, matinvBatched, )

#define CUBLAS_WORK(X) CUBLAS_VECTORS(X) CUBLAS_MATRIX_VECTOR(X) CUBLAS_MATRICES(X) CUBLAS_FACTORIZATIONS(X)
#define DECLARE(name)  status cublas##name(const void *handle, PLIM_WORDS);
CUBLAS_WORK(DECLARE)
#undef DECLARE

/* --- results that go to the host: X(name, type of sizes, bytes of the result) --- */

#define CUBLAS_WIDTHS(X, name, bytes) X(name##_v2, int, bytes) X(name##_v2_64, int64_t, bytes)
#define CUBLAS_NORMS(X)                                                                                                \
    CUBLAS_WIDTHS(X, Snrm2, 4)                                                                                         \
    CUBLAS_WIDTHS(X, Dnrm2, 8)                                                                                         \
    CUBLAS_WIDTHS(X, Scnrm2, 4)                                                                                        \
    CUBLAS_WIDTHS(X, Dznrm2, 8)                                                                                        \
    CUBLAS_WIDTHS(X, Sasum, 4)                                                                                         \
    CUBLAS_WIDTHS(X, Dasum, 8)                                                                                         \
    CUBLAS_WIDTHS(X, Scasum, 4)                                                                                        \
    CUBLAS_WIDTHS(X, Dzasum, 8)
#define CUBLAS_EXTREMES(X)                                                                                             \
    CUBLAS_WIDTHS(X, Isamax, )                                                                                         \
    CUBLAS_WIDTHS(X, Idamax, )                                                                                         \
    CUBLAS_WIDTHS(X, Icamax, )                                                                                         \
    CUBLAS_WIDTHS(X, Izamax, )                                                                                         \
    CUBLAS_WIDTHS(X, Isamin, )                                                                                         \
    CUBLAS_WIDTHS(X, Idamin, )                                                                                         \
    CUBLAS_WIDTHS(X, Icamin, )                                                                                         \
    CUBLAS_WIDTHS(X, Izamin, )
#define CUBLAS_DOTS(X)                                                                                                 \
    CUBLAS_WIDTHS(X, Sdot, 4)                                                                                          \
    CUBLAS_WIDTHS(X, Ddot, 8)                                                                                          \
    CUBLAS_WIDTHS(X, Cdotu, 8)                                                                                         \
    CUBLAS_WIDTHS(X, Cdotc, 8)                                                                                         \
    CUBLAS_WIDTHS(X, Zdotu, 16)                                                                                        \
    CUBLAS_WIDTHS(X, Zdotc, 16)
#define CUBLAS_NORM(name, integer)                                                                                     \
    status cublas##name(const void *handle, integer n, const void *x, integer step, void *result)
#define CUBLAS_EXTREME(name, integer)                                                                                  \
    status cublas##name(const void *handle, integer n, const void *x, integer step, integer *result)
#define CUBLAS_DOT(name, integer)                                                                                      \
    status cublas##name(const void *handle, integer n, const void *x, integer x_step, const void *y, integer y_step,   \
                        void *result)
#define DECLARE_NORM(name, integer, bytes)    CUBLAS_NORM(name, integer);
#define DECLARE_EXTREME(name, integer, bytes) CUBLAS_EXTREME(name, integer);
#define DECLARE_DOT(name, integer, bytes)     CUBLAS_DOT(name, integer);
CUBLAS_NORMS(DECLARE_NORM)
CUBLAS_EXTREMES(DECLARE_EXTREME)
CUBLAS_DOTS(DECLARE_DOT)
#undef DECLARE_NORM
#undef DECLARE_EXTREME
#undef DECLARE_DOT

/* The same with the types of the data as arguments: X(name, type of sizes). */
#define CUBLAS_TYPED_NORM(name, integer)                                                                               \
    status cublas##name(const void *handle, integer n, const void *x, int x_type, integer step, void *result,          \
                        int type, int work_type)
#define CUBLAS_TYPED_EXTREME(name, integer)                                                                            \
    status cublas##name(const void *handle, integer n, const void *x, int x_type, integer step, integer *result)
#define CUBLAS_TYPED_DOT(name, integer)                                                                                \
    status cublas##name(const void *handle, integer n, const void *x, int x_type, integer x_step, const void *y,       \
                        int y_type, integer y_step, void *result, int type, int work_type)
CUBLAS_TYPED_NORM(Nrm2Ex, int);
CUBLAS_TYPED_NORM(Nrm2Ex_64, int64_t);
CUBLAS_TYPED_NORM(AsumEx, int);
CUBLAS_TYPED_NORM(AsumEx_64, int64_t);
CUBLAS_TYPED_EXTREME(IamaxEx, int);
CUBLAS_TYPED_EXTREME(IamaxEx_64, int64_t);
CUBLAS_TYPED_EXTREME(IaminEx, int);
CUBLAS_TYPED_EXTREME(IaminEx_64, int64_t);
CUBLAS_TYPED_DOT(DotEx, int);
CUBLAS_TYPED_DOT(DotEx_64, int64_t);
CUBLAS_TYPED_DOT(DotcEx, int);
CUBLAS_TYPED_DOT(DotcEx_64, int64_t);

/* --- batched solvers: *info is in host memory --- */

#define CUBLAS_EACH(X, name) X(S##name) X(D##name) X(C##name) X(Z##name)
#define CUBLAS_SOLVER(name)                                                                                            \
    status cublas##name(const void *handle, int operation, int n, int n_right, const void *a, int a_step,              \
                        const void *pivots, void *b, int b_step, int *info, int count)
#define CUBLAS_ORTHOGONAL(name)                                                                                        \
    status cublas##name(const void *handle, int m, int n, const void *a, int a_step, const void *tau, int *info,       \
                        int count)
#define CUBLAS_LEAST_SQUARES(name)                                                                                     \
    status cublas##name(const void *handle, int operation, int m, int n, int n_right, void *a, int a_step, void *c,    \
                        int c_step, int *info, void *device_info, int count)
#define DECLARE_SOLVER(name)        CUBLAS_SOLVER(name);
#define DECLARE_ORTHOGONAL(name)    CUBLAS_ORTHOGONAL(name);
#define DECLARE_LEAST_SQUARES(name) CUBLAS_LEAST_SQUARES(name);
CUBLAS_EACH(DECLARE_SOLVER, getrsBatched)
CUBLAS_EACH(DECLARE_ORTHOGONAL, geqrfBatched)
CUBLAS_EACH(DECLARE_LEAST_SQUARES, gelsBatched)
#undef DECLARE_SOLVER
#undef DECLARE_ORTHOGONAL
#undef DECLARE_LEAST_SQUARES

/* --- copies: X(name, type of sizes, kind of copy, further parameters) --- */

#define CUBLAS_STREAM , void *stream __attribute__((unused))
#define CUBLAS_COPIES(X, what)                                                                                         \
    X(Set##what, int, PLIM_COPY_TO_DEVICE, )                                                                           \
    X(Set##what##_64, int64_t, PLIM_COPY_TO_DEVICE, )                                                                  \
    X(Set##what##Async, int, PLIM_COPY_TO_DEVICE, CUBLAS_STREAM)                                                       \
    X(Set##what##Async_64, int64_t, PLIM_COPY_TO_DEVICE, CUBLAS_STREAM)                                                \
    X(Get##what, int, PLIM_COPY_TO_HOST, )                                                                             \
    X(Get##what##_64, int64_t, PLIM_COPY_TO_HOST, )                                                                    \
    X(Get##what##Async, int, PLIM_COPY_TO_HOST, CUBLAS_STREAM)                                                         \
    X(Get##what##Async_64, int64_t, PLIM_COPY_TO_HOST, CUBLAS_STREAM)
#define CUBLAS_COPY_VECTOR(name, integer, ...)                                                                         \
    status cublas##name(integer n, integer size, const void *from, integer from_step, void *to,                        \
                        integer to_step __VA_ARGS__)
#define CUBLAS_COPY_MATRIX(name, integer, ...)                                                                         \
    status cublas##name(integer n_rows, integer n_columns, integer size, const void *from, integer from_step,          \
                        void *to, integer to_step __VA_ARGS__)
#define DECLARE_VECTOR(name, integer, kind, more) CUBLAS_COPY_VECTOR(name, integer, more);
#define DECLARE_MATRIX(name, integer, kind, more) CUBLAS_COPY_MATRIX(name, integer, more);
CUBLAS_COPIES(DECLARE_VECTOR, Vector)
CUBLAS_COPIES(DECLARE_MATRIX, Matrix)
#undef DECLARE_VECTOR
#undef DECLARE_MATRIX

/* --- cuBLASLt --- */

/* cublasLtMatmulAlgo_t */
struct cublaslt_algorithm {
    uint64_t data[8];
};

/* cublasLtMatmulHeuristicResult_t */
struct cublaslt_heuristic {
    struct cublaslt_algorithm algorithm;
    size_t workspace_bytes;
    status state;
    float n_waves;
    int reserved[4];
};
_Static_assert(sizeof(struct cublaslt_heuristic) == 96, "cublasLtMatmulHeuristicResult_t");

/* Descriptors: X(name, table in cublaslt.c). */
#define CUBLASLT_DESCRIPTORS(X)                                                                                        \
    X(MatrixLayout, layout)                                                                                            \
    X(MatmulDesc, matmul)                                                                                              \
    X(MatmulPreference, preference)                                                                                    \
    X(MatrixTransformDesc, transform)                                                                                  \
    X(EmulationDesc, emulation)
#define CUBLASLT_SET_ATTRIBUTE(name)                                                                                   \
    status cublasLt##name##SetAttribute(void *data, int id, const void *value, size_t size)
#define CUBLASLT_GET_ATTRIBUTE(name)                                                                                   \
    status cublasLt##name##GetAttribute(const void *data, int id, void *value, size_t size, size_t *ret_written)
#define CUBLASLT_DESTROY(name) status cublasLt##name##Destroy(void *data)
#define DECLARE_ATTRIBUTES(name, kind)                                                                                 \
    CUBLASLT_SET_ATTRIBUTE(name);                                                                                      \
    CUBLASLT_GET_ATTRIBUTE(name);
#define DECLARE_DESTROY(name, kind) CUBLASLT_DESTROY(name);
CUBLASLT_DESCRIPTORS(DECLARE_ATTRIBUTES)
DECLARE_ATTRIBUTES(MatmulAlgoConfig, algorithm)
CUBLASLT_DESCRIPTORS(DECLARE_DESTROY)
#undef DECLARE_ATTRIBUTES
#undef DECLARE_DESTROY

status cublasLtMatrixLayoutInit_internal(void *data, size_t size, int type, uint64_t rows, uint64_t columns,
                                         int64_t step);
status cublasLtMatrixLayoutCreate(void **ret_data, int type, uint64_t rows, uint64_t columns, int64_t step);
#if PLIM_MAJOR >= 13
status cublasLtGroupedMatrixLayoutInit_internal(void *data, size_t size, int type, int count, const void *rows,
                                                const void *columns, const void *steps);
status cublasLtGroupedMatrixLayoutCreate(void **ret_data, int type, int count, const void *rows, const void *columns,
                                         const void *steps);
#endif
status cublasLtMatmulDescInit_internal(void *data, size_t size, int compute_type, int scale_type);
status cublasLtMatmulDescCreate(void **ret_data, int compute_type, int scale_type);
status cublasLtMatrixTransformDescInit_internal(void *data, size_t size, int scale_type);
status cublasLtMatrixTransformDescCreate(void **ret_data, int scale_type);
status cublasLtMatmulPreferenceInit_internal(void *data, size_t size);
status cublasLtMatmulPreferenceCreate(void **ret_data);
status cublasLtEmulationDescInit_internal(void *data, size_t size);
status cublasLtEmulationDescCreate(void **ret_data);
status cublasLtMatmulAlgoGetHeuristic(const void *handle, const void *operation, const void *a, const void *b,
                                      const void *c, const void *d, const void *wish, int n_wanted,
                                      struct cublaslt_heuristic *results, int *ret_n);
status cublasLtMatmulAlgoGetIds(const void *handle, int compute_type, int scale_type, int a, int b, int c, int d,
                                int n_wanted, int *ids, int *ret_n);
status cublasLtMatmulAlgoInit(const void *handle, int compute_type, int scale_type, int a, int b, int c, int d, int id,
                              struct cublaslt_algorithm *ret_algorithm);
status cublasLtMatmulAlgoCheck(const void *handle, const void *operation, const void *a, const void *b, const void *c,
                               const void *d, const struct cublaslt_algorithm *chosen,
                               struct cublaslt_heuristic *ret_result);
status cublasLtMatmul(const void *handle, const void *operation, const void *alpha, const void *a, const void *a_layout,
                      const void *b, const void *b_layout, const void *beta, const void *c, const void *c_layout,
                      void *d, const void *d_layout, const struct cublaslt_algorithm *chosen, void *workspace,
                      size_t size, void *stream);
status cublasLtMatrixTransform(const void *handle, const void *operation, const void *alpha, const void *a,
                               const void *a_layout, const void *beta, const void *b, const void *b_layout, void *c,
                               const void *c_layout, void *stream);
status cublasLtCreate(void **ret_handle);
status cublasLtDestroy(void *handle);
size_t cublasLtGetVersion(void);
size_t cublasLtGetCudartVersion(void);
status cublasLtGetProperty(int part, int *value);
status cublasLtLoggerSetCallback(void *callback);
status cublasLtLoggerSetFile(void *file);
status cublasLtLoggerOpenFile(const char *path);
status cublasLtLoggerSetLevel(int level);
status cublasLtLoggerSetMask(int mask);
status cublasLtLoggerForceDisable(void);
status cublasLtHeuristicsCacheSetCapacity(size_t n);
status cublasLtHeuristicsCacheGetCapacity(size_t *ret_n);

#endif
