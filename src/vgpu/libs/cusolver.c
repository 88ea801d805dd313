/* SPDX-License-Identifier: MIT */
/*
 * libcusolver, dense part: handles, workspaces, factorizations that compute nothing and report no error. The workspace
 * of NVIDIA's library depends on its algorithms: it is assumed as large as the matrix, and the receipt says so. One
 * source serves libcusolver.so.11 and .12 (PLIM_MAJOR).
 */
#include "vgpu/libs/cusolver_api.h"
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

/* Objects that hold options of an algorithm. */
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

/* Elements of count matrices of m x n, limited to an int by the interface. */
static status elements(const void *handle, int64_t m, int64_t n, int64_t count, int *ret_n)
{
    int64_t all;
    if (!plim_handle_body(handle, HANDLE))
        return NOT_INITIALIZED;
    if (m < 0 || n < 0 || count < 0 || !ret_n)
        return INVALID_VALUE;
    if (__builtin_mul_overflow(m, n, &all) || __builtin_mul_overflow(all, count, &all) || all > INT_MAX)
        all = INT_MAX;
    plim_vgpu_remark("assumed", "the workspace of a cuSOLVER function is as large as its matrix (not measured)");
    *ret_n = (int)all;
    return SUCCESS;
}

#define IGNORE (void)

#define SIZE_POTRF(name)                                                                                               \
    CUSOLVER_POTRF_SIZE(name)                                                                                          \
    {                                                                                                                  \
        IGNORE part, IGNORE a, IGNORE step;                                                                            \
        return elements(h, n, n, 1, ret_n);                                                                            \
    }
#define SIZE_GETRF(name)                                                                                               \
    CUSOLVER_GETRF_SIZE(name)                                                                                          \
    {                                                                                                                  \
        IGNORE a, IGNORE step;                                                                                         \
        return elements(h, m, n, 1, ret_n);                                                                            \
    }
#define SIZE_ORGQR(name)                                                                                               \
    CUSOLVER_ORGQR_SIZE(name)                                                                                          \
    {                                                                                                                  \
        IGNORE k, IGNORE a, IGNORE step, IGNORE tau;                                                                   \
        return elements(h, m, n, 1, ret_n);                                                                            \
    }
#define SIZE_ORMQR(name)                                                                                               \
    CUSOLVER_ORMQR_SIZE(name)                                                                                          \
    {                                                                                                                  \
        IGNORE side, IGNORE operation, IGNORE k, IGNORE a, IGNORE step, IGNORE tau, IGNORE c, IGNORE c_step;           \
        return elements(h, m, n, 1, ret_n);                                                                            \
    }
#define SIZE_SYTRF(name)                                                                                               \
    CUSOLVER_SYTRF_SIZE(name)                                                                                          \
    {                                                                                                                  \
        IGNORE a, IGNORE step;                                                                                         \
        return elements(h, n, n, 1, ret_n);                                                                            \
    }
#define SIZE_GESVD(name)                                                                                               \
    CUSOLVER_GESVD_SIZE(name) { return elements(h, m, n, 1, ret_n); }
#define SIZE_SYEVD(name)                                                                                               \
    CUSOLVER_SYEVD_SIZE(name)                                                                                          \
    {                                                                                                                  \
        IGNORE job, IGNORE part, IGNORE a, IGNORE step, IGNORE w;                                                      \
        return elements(h, n, n, 1, ret_n);                                                                            \
    }
#define SIZE_SYEVJ_BATCHED(name)                                                                                       \
    CUSOLVER_SYEVJ_BATCHED_SIZE(name)                                                                                  \
    {                                                                                                                  \
        IGNORE job, IGNORE part, IGNORE a, IGNORE step, IGNORE w, IGNORE info;                                         \
        return elements(h, n, n, count, ret_n);                                                                        \
    }
#define SIZE_GESVDJ(name)                                                                                              \
    CUSOLVER_GESVDJ_SIZE(name)                                                                                         \
    {                                                                                                                  \
        IGNORE job, IGNORE econ, IGNORE a, IGNORE step, IGNORE s, IGNORE u, IGNORE u_step, IGNORE v, IGNORE v_step;    \
        return elements(h, m, n, 1, ret_n);                                                                            \
    }
#define SIZE_GESVDJ_BATCHED(name)                                                                                      \
    CUSOLVER_GESVDJ_BATCHED_SIZE(name)                                                                                 \
    {                                                                                                                  \
        IGNORE job, IGNORE a, IGNORE step, IGNORE s, IGNORE u, IGNORE u_step, IGNORE v, IGNORE v_step, IGNORE info;    \
        return elements(h, m, n, count, ret_n);                                                                        \
    }
#define SIZE_GESVDA(name)                                                                                              \
    CUSOLVER_GESVDA_SIZE(name)                                                                                         \
    {                                                                                                                  \
        IGNORE job, IGNORE rank, IGNORE a, IGNORE step, IGNORE a_next, IGNORE s, IGNORE s_next, IGNORE u;              \
        IGNORE u_step, IGNORE u_next, IGNORE v, IGNORE v_step, IGNORE v_next;                                          \
        return elements(h, m, n, count, ret_n);                                                                        \
    }

CUSOLVER_SIZES(SIZE)

/* --- work --- */

static status run(const void *handle, const uintptr_t words[PLIM_N_WORDS])
{
    const struct solver *h = plim_handle_body(handle, HANDLE);
    return !h ? NOT_INITIALIZED : plim_library_write(h->device, h->stream, words) ? SUCCESS : EXECUTION_FAILED;
}

#define RUN(name)                                                                                                      \
    status cusolverDn##name(const void *handle, PLIM_WORDS) { return run(handle, PLIM_WORDS_GIVEN); }
#define RUN_GESVDA(name)                                                                                               \
    CUSOLVER_RUN_GESVDA(name)                                                                                          \
    {                                                                                                                  \
        IGNORE job, IGNORE rank, IGNORE m, IGNORE n, IGNORE a, IGNORE step, IGNORE a_next, IGNORE s_next;              \
        IGNORE u_step, IGNORE u_next, IGNORE v_step, IGNORE v_next, IGNORE work, IGNORE size;                          \
        const status done =                                                                                            \
            run(h, (const uintptr_t[PLIM_N_WORDS]){ (uintptr_t)s, (uintptr_t)u, (uintptr_t)v, (uintptr_t)info });      \
        if (done == SUCCESS && h_norms && count > 0)                                                                   \
            plim_library_answer(h_norms, (size_t)count * sizeof *h_norms);                                             \
        return done;                                                                                                   \
    }

CUSOLVER_WORK(RUN)
CUSOLVER_EACH(RUN_GESVDA, gesvdaStridedBatched)

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
    plim_vgpu_remark("assumed", "the workspace of a cuSOLVER function is as large as its matrix (not measured)");
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
    static const int version[] = { PLIM_MAJOR, PLIM_MINOR, PLIM_PATCH };
    if (part < 0 || part > 2 || !value)
        return INVALID_VALUE;
    *value = version[part];
    return SUCCESS;
}

status cusolverGetVersion(int *ret_version)
{
    if (!ret_version)
        return INVALID_VALUE;
    *ret_version = PLIM_MAJOR * 1000 + PLIM_MINOR * 100 + PLIM_PATCH;
    return SUCCESS;
}
