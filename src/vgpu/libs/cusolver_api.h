/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUSOLVER_API_H
#define PLIMSOLL_VGPU_LIBS_CUSOLVER_API_H

/*
 * The functions of cuSOLVER's dense API that have a body in libcusolver.so.11 and .12: our own declarations after its
 * manual. A list CUSOLVER_...(X) gives each name to X, here for its declaration and in cusolver.c for its body.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/libs/words.h"

#define CUSOLVER_EACH_TYPE(X, real, complex) X(S##real) X(D##real) X(C##complex) X(Z##complex)
#define CUSOLVER_EACH(X, name)               CUSOLVER_EACH_TYPE(X, name, name)

/* --- handles, settings, workspaces of the generic functions --- */

status cusolverDnSetStream(const void *handle, void *value);
status cusolverDnGetStream(const void *handle, void **ret_value);
status cusolverDnSetDeterministicMode(const void *handle, int value);
status cusolverDnGetDeterministicMode(const void *handle, int *ret_value);
status cusolverDnCreate(void **ret_handle);
status cusolverDnDestroy(void *handle);
status cusolverDnCreateParams(void **ret_object);
status cusolverDnDestroyParams(void *object);
status cusolverDnSetAdvOptions(const void *object);
status cusolverDnCreateGesvdjInfo(void **ret_object);
status cusolverDnDestroyGesvdjInfo(void *object);
status cusolverDnXgesvdjSetTolerance(const void *object);
status cusolverDnXgesvdjSetMaxSweeps(const void *object);
status cusolverDnXgesvdjSetSortEig(const void *object);
status cusolverDnCreateSyevjInfo(void **ret_object);
status cusolverDnDestroySyevjInfo(void *object);
status cusolverDnXsyevjSetTolerance(const void *object);
status cusolverDnXsyevjSetMaxSweeps(const void *object);
status cusolverDnXsyevjSetSortEig(const void *object);
status cusolverDnXpotrf_bufferSize(const void *h, const void *p, int part, int64_t n, int a_type, const void *a,
                                   int64_t step, int type, size_t *ret_card, size_t *ret_host);
status cusolverDnXgetrf_bufferSize(const void *h, const void *p, int64_t m, int64_t n, int a_type, const void *a,
                                   int64_t step, int type, size_t *ret_card, size_t *ret_host);
status cusolverDnXgeqrf_bufferSize(const void *h, const void *p, int64_t m, int64_t n, int a_type, const void *a,
                                   int64_t step, int tau_type, const void *tau, int type, size_t *ret_card,
                                   size_t *ret_host);
status cusolverDnXsytrs_bufferSize(const void *h, int part, int64_t n, int64_t n_right, int a_type, const void *a,
                                   int64_t step, const void *pivots, int b_type, const void *b, int64_t b_step,
                                   size_t *ret_card, size_t *ret_host);
status cusolverDnXsyevd_bufferSize(const void *h, const void *p, int job, int part, int64_t n, int a_type,
                                   const void *a, int64_t step, int w_type, const void *w, int type, size_t *ret_card,
                                   size_t *ret_host);
status cusolverDnXsyevBatched_bufferSize(const void *h, const void *p, int job, int part, int64_t n, int a_type,
                                         const void *a, int64_t step, int w_type, const void *w, int type,
                                         size_t *ret_card, size_t *ret_host, int64_t count);
status cusolverDnXgeev_bufferSize(const void *h, const void *p, int left, int right, int64_t n, int a_type,
                                  const void *a, int64_t step, int w_type, const void *w, int l_type, const void *l,
                                  int64_t l_step, int r_type, const void *r, int64_t r_step, int type, size_t *ret_card,
                                  size_t *ret_host);
status cusolverGetProperty(int part, int *value);
status cusolverGetVersion(int *ret_version);

/* --- workspaces: CUSOLVER_SIZES(X) gives each name to X_POTRF, X_GETRF ... by its signature --- */

#define CUSOLVER_POTRF_SIZE(name)                                                                                      \
    status cusolverDn##name##_bufferSize(const void *h, int part, int n, const void *a, int step, int *ret_n)
#define CUSOLVER_GETRF_SIZE(name)                                                                                      \
    status cusolverDn##name##_bufferSize(const void *h, int m, int n, const void *a, int step, int *ret_n)
#define CUSOLVER_ORGQR_SIZE(name)                                                                                      \
    status cusolverDn##name##_bufferSize(const void *h, int m, int n, int k, const void *a, int step, const void *tau, \
                                         int *ret_n)
#define CUSOLVER_ORMQR_SIZE(name)                                                                                      \
    status cusolverDn##name##_bufferSize(const void *h, int side, int operation, int m, int n, int k, const void *a,   \
                                         int step, const void *tau, const void *c, int c_step, int *ret_n)
#define CUSOLVER_SYTRF_SIZE(name)                                                                                      \
    status cusolverDn##name##_bufferSize(const void *h, int n, const void *a, int step, int *ret_n)
#define CUSOLVER_GESVD_SIZE(name) status cusolverDn##name##_bufferSize(const void *h, int m, int n, int *ret_n)
#define CUSOLVER_SYEVD_SIZE(name)                                                                                      \
    status cusolverDn##name##_bufferSize(const void *h, int job, int part, int n, const void *a, int step,             \
                                         const void *w, int *ret_n)
#define CUSOLVER_SYEVJ_BATCHED_SIZE(name)                                                                              \
    status cusolverDn##name##_bufferSize(const void *h, int job, int part, int n, const void *a, int step,             \
                                         const void *w, int *ret_n, const void *info, int count)
#define CUSOLVER_GESVDJ_SIZE(name)                                                                                     \
    status cusolverDn##name##_bufferSize(const void *h, int job, int econ, int m, int n, const void *a, int step,      \
                                         const void *s, const void *u, int u_step, const void *v, int v_step,          \
                                         int *ret_n)
#define CUSOLVER_GESVDJ_BATCHED_SIZE(name)                                                                             \
    status cusolverDn##name##_bufferSize(const void *h, int job, int m, int n, const void *a, int step, const void *s, \
                                         const void *u, int u_step, const void *v, int v_step, int *ret_n,             \
                                         const void *info, int count)
#define CUSOLVER_GESVDA_SIZE(name)                                                                                     \
    status cusolverDn##name##_bufferSize(const void *h, int job, int rank, int m, int n, const void *a, int step,      \
                                         long long a_next, const void *s, long long s_next, const void *u, int u_step, \
                                         long long u_next, const void *v, int v_step, long long v_next, int *ret_n,    \
                                         int count)
/* h_norms: one number per matrix, for the host */
#define CUSOLVER_RUN_GESVDA(name)                                                                                      \
    status cusolverDn##name(const void *h, int job, int rank, int m, int n, const void *a, int step, long long a_next, \
                            const void *s, long long s_next, const void *u, int u_step, long long u_next,              \
                            const void *v, int v_step, long long v_next, const void *work, int size, const void *info, \
                            double *h_norms, int count)

#define CUSOLVER_SIZES(X)                                                                                              \
    CUSOLVER_EACH(X##_POTRF, potrf)                                                                                    \
    CUSOLVER_EACH(X##_POTRF, potri)                                                                                    \
    CUSOLVER_EACH(X##_GETRF, getrf)                                                                                    \
    CUSOLVER_EACH(X##_GETRF, geqrf)                                                                                    \
    CUSOLVER_EACH_TYPE(X##_ORGQR, orgqr, ungqr)                                                                        \
    CUSOLVER_EACH_TYPE(X##_ORMQR, ormqr, unmqr)                                                                        \
    CUSOLVER_EACH(X##_SYTRF, sytrf)                                                                                    \
    CUSOLVER_EACH(X##_GESVD, gesvd)                                                                                    \
    CUSOLVER_EACH_TYPE(X##_SYEVD, syevd, heevd)                                                                        \
    CUSOLVER_EACH_TYPE(X##_SYEVD, syevj, heevj)                                                                        \
    CUSOLVER_EACH_TYPE(X##_SYEVJ_BATCHED, syevjBatched, heevjBatched)                                                  \
    CUSOLVER_EACH(X##_GESVDJ, gesvdj)                                                                                  \
    CUSOLVER_EACH(X##_GESVDJ_BATCHED, gesvdjBatched)                                                                   \
    CUSOLVER_EACH(X##_GESVDA, gesvdaStridedBatched)
#define DECLARE_POTRF(name)          CUSOLVER_POTRF_SIZE(name);
#define DECLARE_GETRF(name)          CUSOLVER_GETRF_SIZE(name);
#define DECLARE_ORGQR(name)          CUSOLVER_ORGQR_SIZE(name);
#define DECLARE_ORMQR(name)          CUSOLVER_ORMQR_SIZE(name);
#define DECLARE_SYTRF(name)          CUSOLVER_SYTRF_SIZE(name);
#define DECLARE_GESVD(name)          CUSOLVER_GESVD_SIZE(name);
#define DECLARE_SYEVD(name)          CUSOLVER_SYEVD_SIZE(name);
#define DECLARE_SYEVJ_BATCHED(name)  CUSOLVER_SYEVJ_BATCHED_SIZE(name);
#define DECLARE_GESVDJ(name)         CUSOLVER_GESVDJ_SIZE(name);
#define DECLARE_GESVDJ_BATCHED(name) CUSOLVER_GESVDJ_BATCHED_SIZE(name);
#define DECLARE_GESVDA(name)         CUSOLVER_GESVDA_SIZE(name);
CUSOLVER_SIZES(DECLARE)
#undef DECLARE_POTRF
#undef DECLARE_GETRF
#undef DECLARE_ORGQR
#undef DECLARE_ORMQR
#undef DECLARE_SYTRF
#undef DECLARE_GESVD
#undef DECLARE_SYEVD
#undef DECLARE_SYEVJ_BATCHED
#undef DECLARE_GESVDJ
#undef DECLARE_GESVDJ_BATCHED
#undef DECLARE_GESVDA

/* --- work --- */

#define CUSOLVER_WORK(X)                                                                                               \
    CUSOLVER_EACH(X, potrf)                                                                                            \
    CUSOLVER_EACH(X, potri)                                                                                            \
    CUSOLVER_EACH(X, potrs)                                                                                            \
    CUSOLVER_EACH(X, potrfBatched)                                                                                     \
    CUSOLVER_EACH(X, potrsBatched)                                                                                     \
    CUSOLVER_EACH(X, getrf)                                                                                            \
    CUSOLVER_EACH(X, getrs)                                                                                            \
    CUSOLVER_EACH(X, geqrf)                                                                                            \
    CUSOLVER_EACH_TYPE(X, orgqr, ungqr)                                                                                \
    CUSOLVER_EACH_TYPE(X, ormqr, unmqr)                                                                                \
    CUSOLVER_EACH(X, sytrf)                                                                                            \
    CUSOLVER_EACH(X, gesvd)                                                                                            \
    CUSOLVER_EACH_TYPE(X, syevd, heevd)                                                                                \
    CUSOLVER_EACH_TYPE(X, syevj, heevj)                                                                                \
    CUSOLVER_EACH_TYPE(X, syevjBatched, heevjBatched)                                                                  \
    CUSOLVER_EACH(X, gesvdj)                                                                                           \
    CUSOLVER_EACH(X, gesvdjBatched)                                                                                    \
    X(Xpotrf)                                                                                                          \
    X(Xpotrs)                                                                                                          \
    X(Xgetrf)                                                                                                          \
    X(Xgetrs)                                                                                                          \
    X(Xgeqrf)                                                                                                          \
    X(Xsytrs)                                                                                                          \
    X(Xsyevd)                                                                                                          \
    X(XsyevBatched)                                                                                                    \
    X(Xgeev)                                                                                                           \
    X(Xgesvd)                                                                                                          \
    X(Xtrtri)
#define DECLARE(name)        status cusolverDn##name(const void *handle, PLIM_WORDS);
#define DECLARE_GESVDA(name) CUSOLVER_RUN_GESVDA(name);
CUSOLVER_WORK(DECLARE)
CUSOLVER_EACH(DECLARE_GESVDA, gesvdaStridedBatched)
#undef DECLARE
#undef DECLARE_GESVDA

#endif
