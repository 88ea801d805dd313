/* SPDX-License-Identifier: MIT */
/*
 * libcusolver, dense part: handles, workspaces, factorizations that compute nothing and report no error. How much
 * workspace NVIDIA's library wants depends on its algorithms: it is taken as large as the matrix, and that is said in
 * the receipt. One source serves libcusolver.so.11 and .12 (PLIM_MAJOR).
 */
#include "vgpu/libs/library.h"

#include <limits.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 2, INVALID_VALUE = 3, EXECUTION_FAILED = 6 };
enum { HANDLE = 1, INFO, PARAMETERS };
enum { HANDLE_BYTES = 4 << 20 }; /* on top of a cuBLAS handle of its own */

struct solver {
    int device, deterministic_mode;
    void *stream;
    struct plim_library_charge own, cublas;
};

status cusolverDnCreate(void **ret_handle)
{
    if (!ret_handle)
        return INVALID_VALUE;
    const int device = plim_library_device();
    const struct plim_ledger_card *card = plim_vgpu_card(device);
    if (!card)
        return NOT_INITIALIZED;
    struct solver *h;
    void *handle = plim_handle_make(HANDLE, sizeof *h, (void **)&h);
    if (!handle)
        return ALLOC_FAILED;
    h->device = device;
    if (!plim_library_charge(&h->cublas, device, PLIM_KIND_CUBLAS, card->cublas.bytes) ||
        !plim_library_charge(&h->own, device, PLIM_KIND_LIBRARY, HANDLE_BYTES)) {
        plim_library_uncharge(&h->cublas);
        plim_handle_drop(handle);
        return ALLOC_FAILED;
    }
    *ret_handle = handle;
    return SUCCESS;
}

status cusolverDnDestroy(void *handle)
{
    struct solver *h = plim_handle_body(handle, HANDLE);
    if (!h)
        return NOT_INITIALIZED;
    plim_library_uncharge(&h->own);
    plim_library_uncharge(&h->cublas);
    plim_handle_drop(handle);
    return SUCCESS;
}

#define STATE(name, type, member)                                                                                      \
    status cusolverDnSet##name(const void *handle, type value)                                                         \
    {                                                                                                                  \
        struct solver *h = plim_handle_body(handle, HANDLE);                                                           \
        if (h)                                                                                                         \
            h->member = value;                                                                                         \
        return h ? SUCCESS : NOT_INITIALIZED;                                                                          \
    }                                                                                                                  \
    status cusolverDnGet##name(const void *handle, type *ret_value)                                                    \
    {                                                                                                                  \
        const struct solver *h = plim_handle_body(handle, HANDLE);                                                     \
        if (h && ret_value)                                                                                            \
            *ret_value = h->member;                                                                                    \
        return !h ? NOT_INITIALIZED : ret_value ? SUCCESS : INVALID_VALUE;                                             \
    }

STATE(Stream, void *, stream)
STATE(DeterministicMode, int, deterministic_mode)

/* Objects that only hold wishes for an algorithm. */
static status make(void **ret_object, int type)
{
    if (!ret_object)
        return INVALID_VALUE;
    *ret_object = plim_handle_make(type, 1, NULL);
    return *ret_object ? SUCCESS : ALLOC_FAILED;
}

static status drop(void *object, int type)
{
    if (object && !plim_handle_body(object, type))
        return INVALID_VALUE;
    plim_handle_drop(object);
    return SUCCESS;
}

static status wish(const void *object, int type) { return plim_handle_body(object, type) ? SUCCESS : INVALID_VALUE; }

status cusolverDnCreateParams(void **ret_object) { return make(ret_object, PARAMETERS); }
status cusolverDnDestroyParams(void *object) { return drop(object, PARAMETERS); }
status cusolverDnSetAdvOptions(const void *object) { return wish(object, PARAMETERS); }
status cusolverDnCreateGesvdjInfo(void **ret_object) { return make(ret_object, INFO); }
status cusolverDnDestroyGesvdjInfo(void *object) { return drop(object, INFO); }
status cusolverDnXgesvdjSetTolerance(const void *object) { return wish(object, INFO); }
status cusolverDnXgesvdjSetMaxSweeps(const void *object) { return wish(object, INFO); }
status cusolverDnXgesvdjSetSortEig(const void *object) { return wish(object, INFO); }
status cusolverDnCreateSyevjInfo(void **ret_object) { return make(ret_object, INFO); }
status cusolverDnDestroySyevjInfo(void *object) { return drop(object, INFO); }
status cusolverDnXsyevjSetTolerance(const void *object) { return wish(object, INFO); }
status cusolverDnXsyevjSetMaxSweeps(const void *object) { return wish(object, INFO); }
status cusolverDnXsyevjSetSortEig(const void *object) { return wish(object, INFO); }

/* --- workspaces --- */

/* Elements of an m x n matrix, count of them; the interface knows no more than an int. */
static status elements(const void *handle, int64_t m, int64_t n, int64_t count, int *ret_n)
{
    int64_t all;
    if (!plim_handle_body(handle, HANDLE))
        return NOT_INITIALIZED;
    if (m < 0 || n < 0 || count < 0 || !ret_n)
        return INVALID_VALUE;
    if (__builtin_mul_overflow(m, n, &all) || __builtin_mul_overflow(all, count, &all) || all > INT_MAX)
        all = INT_MAX;
    plim_vgpu_remark("assumed", "the workspace of a cuSOLVER function is as large as its matrix: nobody measured it");
    *ret_n = (int)all;
    return SUCCESS;
}

#define IGNORE                          (void)
#define EACH_TYPE(macro, real, complex) macro(S##real) macro(D##real) macro(C##complex) macro(Z##complex)
#define EACH(macro, name)               EACH_TYPE(macro, name, name)

#define POTRF(name)                                                                                                    \
    status cusolverDn##name##_bufferSize(const void *h, int part, int n, const void *a, int step, int *ret_n)          \
    {                                                                                                                  \
        IGNORE part, IGNORE a, IGNORE step;                                                                            \
        return elements(h, n, n, 1, ret_n);                                                                            \
    }
#define GETRF(name)                                                                                                    \
    status cusolverDn##name##_bufferSize(const void *h, int m, int n, const void *a, int step, int *ret_n)             \
    {                                                                                                                  \
        IGNORE a, IGNORE step;                                                                                         \
        return elements(h, m, n, 1, ret_n);                                                                            \
    }
#define ORGQR(name)                                                                                                    \
    status cusolverDn##name##_bufferSize(const void *h, int m, int n, int k, const void *a, int step, const void *tau, \
                                         int *ret_n)                                                                   \
    {                                                                                                                  \
        IGNORE k, IGNORE a, IGNORE step, IGNORE tau;                                                                   \
        return elements(h, m, n, 1, ret_n);                                                                            \
    }
#define ORMQR(name)                                                                                                    \
    status cusolverDn##name##_bufferSize(const void *h, int side, int operation, int m, int n, int k, const void *a,   \
                                         int step, const void *tau, const void *c, int c_step, int *ret_n)             \
    {                                                                                                                  \
        IGNORE side, IGNORE operation, IGNORE k, IGNORE a, IGNORE step, IGNORE tau, IGNORE c, IGNORE c_step;           \
        return elements(h, m, n, 1, ret_n);                                                                            \
    }
#define SYTRF(name)                                                                                                    \
    status cusolverDn##name##_bufferSize(const void *h, int n, const void *a, int step, int *ret_n)                    \
    {                                                                                                                  \
        IGNORE a, IGNORE step;                                                                                         \
        return elements(h, n, n, 1, ret_n);                                                                            \
    }
#define GESVD(name)                                                                                                    \
    status cusolverDn##name##_bufferSize(const void *h, int m, int n, int *ret_n)                                      \
    {                                                                                                                  \
        return elements(h, m, n, 1, ret_n);                                                                            \
    }
#define SYEVD(name)                                                                                                    \
    status cusolverDn##name##_bufferSize(const void *h, int job, int part, int n, const void *a, int step,             \
                                         const void *w, int *ret_n)                                                    \
    {                                                                                                                  \
        IGNORE job, IGNORE part, IGNORE a, IGNORE step, IGNORE w;                                                      \
        return elements(h, n, n, 1, ret_n);                                                                            \
    }
#define SYEVJ_BATCHED(name)                                                                                            \
    status cusolverDn##name##_bufferSize(const void *h, int job, int part, int n, const void *a, int step,             \
                                         const void *w, int *ret_n, const void *info, int count)                       \
    {                                                                                                                  \
        IGNORE job, IGNORE part, IGNORE a, IGNORE step, IGNORE w, IGNORE info;                                         \
        return elements(h, n, n, count, ret_n);                                                                        \
    }
#define GESVDJ(name)                                                                                                   \
    status cusolverDn##name##_bufferSize(const void *h, int job, int econ, int m, int n, const void *a, int step,      \
                                         const void *s, const void *u, int u_step, const void *v, int v_step,          \
                                         int *ret_n)                                                                   \
    {                                                                                                                  \
        IGNORE job, IGNORE econ, IGNORE a, IGNORE step, IGNORE s, IGNORE u, IGNORE u_step, IGNORE v, IGNORE v_step;    \
        return elements(h, m, n, 1, ret_n);                                                                            \
    }
#define GESVDJ_BATCHED(name)                                                                                           \
    status cusolverDn##name##_bufferSize(const void *h, int job, int m, int n, const void *a, int step, const void *s, \
                                         const void *u, int u_step, const void *v, int v_step, int *ret_n,             \
                                         const void *info, int count)                                                  \
    {                                                                                                                  \
        IGNORE job, IGNORE a, IGNORE step, IGNORE s, IGNORE u, IGNORE u_step, IGNORE v, IGNORE v_step, IGNORE info;    \
        return elements(h, m, n, count, ret_n);                                                                        \
    }
#define GESVDA(name)                                                                                                   \
    status cusolverDn##name##_bufferSize(const void *h, int job, int rank, int m, int n, const void *a, int step,      \
                                         long long a_next, const void *s, long long s_next, const void *u, int u_step, \
                                         long long u_next, const void *v, int v_step, long long v_next, int *ret_n,    \
                                         int count)                                                                    \
    {                                                                                                                  \
        IGNORE job, IGNORE rank, IGNORE a, IGNORE step, IGNORE a_next, IGNORE s, IGNORE s_next, IGNORE u;              \
        IGNORE u_step, IGNORE u_next, IGNORE v, IGNORE v_step, IGNORE v_next;                                          \
        return elements(h, m, n, count, ret_n);                                                                        \
    }

EACH(POTRF, potrf)
EACH(POTRF, potri)
EACH(GETRF, getrf)
EACH(GETRF, geqrf)
EACH_TYPE(ORGQR, orgqr, ungqr)
EACH_TYPE(ORMQR, ormqr, unmqr)
EACH(SYTRF, sytrf)
EACH(GESVD, gesvd)
EACH_TYPE(SYEVD, syevd, heevd)
EACH_TYPE(SYEVD, syevj, heevj)
EACH_TYPE(SYEVJ_BATCHED, syevjBatched, heevjBatched)
EACH(GESVDJ, gesvdj)
EACH(GESVDJ_BATCHED, gesvdjBatched)
EACH(GESVDA, gesvdaStridedBatched)

/* --- work --- */

static status run(const void *handle)
{
    const struct solver *h = plim_handle_body(handle, HANDLE);
    return !h ? NOT_INITIALIZED : plim_library_work(h->device, h->stream) ? SUCCESS : EXECUTION_FAILED;
}

#define RUN(name)                                                                                                      \
    status cusolverDn##name(const void *handle) { return run(handle); }
/* h_norms: one number per matrix, for the host */
#define RUN_GESVDA(name)                                                                                               \
    status cusolverDn##name(const void *h, int job, int rank, int m, int n, const void *a, int step, long long a_next, \
                            const void *s, long long s_next, const void *u, int u_step, long long u_next,              \
                            const void *v, int v_step, long long v_next, const void *work, int size, const void *info, \
                            double *h_norms, int count)                                                                \
    {                                                                                                                  \
        IGNORE job, IGNORE rank, IGNORE m, IGNORE n, IGNORE a, IGNORE step, IGNORE a_next, IGNORE s, IGNORE s_next;    \
        IGNORE u, IGNORE u_step, IGNORE u_next, IGNORE v, IGNORE v_step, IGNORE v_next, IGNORE work, IGNORE size;      \
        IGNORE info;                                                                                                   \
        const status done = run(h);                                                                                    \
        if (done == SUCCESS && h_norms && count > 0)                                                                   \
            plim_library_answer(h_norms, (size_t)count * sizeof *h_norms);                                             \
        return done;                                                                                                   \
    }

EACH(RUN, potrf)
EACH(RUN, potri)
EACH(RUN, potrs)
EACH(RUN, potrfBatched)
EACH(RUN, potrsBatched)
EACH(RUN, getrf)
EACH(RUN, getrs)
EACH(RUN, geqrf)
EACH_TYPE(RUN, orgqr, ungqr)
EACH_TYPE(RUN, ormqr, unmqr)
EACH(RUN, sytrf)
EACH(RUN, gesvd)
EACH_TYPE(RUN, syevd, heevd)
EACH_TYPE(RUN, syevj, heevj)
EACH_TYPE(RUN, syevjBatched, heevjBatched)
EACH(RUN, gesvdj)
EACH(RUN, gesvdjBatched)
EACH(RUN_GESVDA, gesvdaStridedBatched)
RUN(Xpotrf)
RUN(Xpotrs)
RUN(Xgetrf)
RUN(Xgetrs)
RUN(Xgeqrf)
RUN(Xsytrs)
RUN(Xsyevd)
RUN(XsyevBatched)
RUN(Xgeev)
RUN(Xgesvd)
RUN(Xtrtri)

/* --- workspaces of the generic functions: bytes, on the card and on the host --- */

static status bytes(const void *handle, int64_t m, int64_t n, int64_t count, int type, size_t *ret_card,
                    size_t *ret_host)
{
    const size_t size = type == 1 || type == 4 ? 8 : type == 5 ? 16 : 4; /* cudaDataType: doubles, complex */
    int64_t all;
    if (!plim_handle_body(handle, HANDLE))
        return NOT_INITIALIZED;
    if (m < 0 || n < 0 || count < 0 || !ret_card || !ret_host || __builtin_mul_overflow(m, n, &all) ||
        __builtin_mul_overflow(all, count, &all) || all > (INT64_C(1) << 48))
        return INVALID_VALUE;
    plim_vgpu_remark("assumed", "the workspace of a cuSOLVER function is as large as its matrix: nobody measured it");
    *ret_card = (size_t)all * size;
    *ret_host = 0;
    return SUCCESS;
}

status cusolverDnXpotrf_bufferSize(const void *h, const void *p, int part, int64_t n, int a_type, const void *a,
                                   int64_t step, int type, size_t *ret_card, size_t *ret_host)
{
    IGNORE p, IGNORE part, IGNORE a_type, IGNORE a, IGNORE step;
    return bytes(h, n, n, 1, type, ret_card, ret_host);
}

status cusolverDnXgetrf_bufferSize(const void *h, const void *p, int64_t m, int64_t n, int a_type, const void *a,
                                   int64_t step, int type, size_t *ret_card, size_t *ret_host)
{
    IGNORE p, IGNORE a_type, IGNORE a, IGNORE step;
    return bytes(h, m, n, 1, type, ret_card, ret_host);
}

status cusolverDnXgeqrf_bufferSize(const void *h, const void *p, int64_t m, int64_t n, int a_type, const void *a,
                                   int64_t step, int tau_type, const void *tau, int type, size_t *ret_card,
                                   size_t *ret_host)
{
    IGNORE p, IGNORE a_type, IGNORE a, IGNORE step, IGNORE tau_type, IGNORE tau;
    return bytes(h, m, n, 1, type, ret_card, ret_host);
}

status cusolverDnXsytrs_bufferSize(const void *h, int part, int64_t n, int64_t n_right, int a_type, const void *a,
                                   int64_t step, const void *pivots, int b_type, const void *b, int64_t b_step,
                                   size_t *ret_card, size_t *ret_host)
{
    IGNORE part, IGNORE a, IGNORE step, IGNORE pivots, IGNORE b_type, IGNORE b, IGNORE b_step;
    return bytes(h, n, n_right, 1, a_type, ret_card, ret_host);
}

status cusolverDnXsyevd_bufferSize(const void *h, const void *p, int job, int part, int64_t n, int a_type,
                                   const void *a, int64_t step, int w_type, const void *w, int type, size_t *ret_card,
                                   size_t *ret_host)
{
    IGNORE p, IGNORE job, IGNORE part, IGNORE a_type, IGNORE a, IGNORE step, IGNORE w_type, IGNORE w;
    return bytes(h, n, n, 1, type, ret_card, ret_host);
}

status cusolverDnXsyevBatched_bufferSize(const void *h, const void *p, int job, int part, int64_t n, int a_type,
                                         const void *a, int64_t step, int w_type, const void *w, int type,
                                         size_t *ret_card, size_t *ret_host, int64_t count)
{
    IGNORE p, IGNORE job, IGNORE part, IGNORE a_type, IGNORE a, IGNORE step, IGNORE w_type, IGNORE w;
    return bytes(h, n, n, count, type, ret_card, ret_host);
}

status cusolverDnXgeev_bufferSize(const void *h, const void *p, int left, int right, int64_t n, int a_type,
                                  const void *a, int64_t step, int w_type, const void *w, int l_type, const void *l,
                                  int64_t l_step, int r_type, const void *r, int64_t r_step, int type, size_t *ret_card,
                                  size_t *ret_host)
{
    IGNORE p, IGNORE left, IGNORE right, IGNORE a_type, IGNORE a, IGNORE step, IGNORE w_type, IGNORE w;
    IGNORE l_type, IGNORE l, IGNORE l_step, IGNORE r_type, IGNORE r, IGNORE r_step;
    return bytes(h, n, n, 1, type, ret_card, ret_host);
}

status cusolverGetProperty(int part, int *value)
{
    static const int version[] = { PLIM_MAJOR, PLIM_MAJOR == 12 ? 2 : 7, PLIM_MAJOR == 12 ? 0 : 3 };
    if (part < 0 || part > 2 || !value)
        return INVALID_VALUE;
    *value = version[part];
    return SUCCESS;
}

status cusolverGetVersion(int *ret_version)
{
    if (!ret_version)
        return INVALID_VALUE;
    *ret_version = PLIM_MAJOR == 12 ? 12200 : 11703;
    return SUCCESS;
}
