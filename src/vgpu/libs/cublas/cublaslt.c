/* SPDX-License-Identifier: MIT */
/*
 * libcublasLt: descriptors, one algorithm for every product, products that compute nothing. The algorithm needs no
 * workspace: programs bring one of a size that they choose beforehand. One source serves all majors (PLIM_MAJOR).
 */
#include "vgpu/kernels/matrix/product.h"
#include "vgpu/libs/cublas/cublas.h"
#include "vgpu/libs/cublas/cublas_api.h"
#include "vgpu/libs/cublas/packed.h"
#include "vgpu/values/shadow.h"

#include <stdlib.h>
#include <string.h>

enum { HANDLE = 1 };

/* Attributes by number, with the defaults of the manual; offsets that fit the small structures of 11.8 and 12.8. */
enum {
    LAYOUT_TYPE = 0,
    LAYOUT_ORDER = 1,
    LAYOUT_ROWS = 2,
    LAYOUT_COLUMNS = 3,
    LAYOUT_STEP = 4,
    LAYOUT_N_BATCHES = 5,
    LAYOUT_STRIDE = 6
};
static const struct plim_packed_attribute layout_attributes[] = {
    { 0, 4, 4, 0 },  { 1, 4, 8, 0 },   { 2, 8, 16, 0 },  { 3, 8, 24, 0 },  { 4, 8, 32, 0 },
    { 5, 4, 12, 1 }, { 6, 8, 40, 0 },  { 7, 8, 48, 0 },  { 8, 4, 56, 0 },
#if PLIM_MAJOR >= 13
    { 9, 8, 64, 0 }, { 10, 8, 72, 0 }, { 11, 8, 80, 0 }, { 12, 4, 60, 0 }, { 13, 4, 88, 0 },
#endif
};

enum {
    MATMUL_COMPUTE_TYPE = 0,
    MATMUL_SCALE_TYPE = 1,
    MATMUL_POINTER_MODE = 2,
    MATMUL_TRANSPOSES = 3, /* A, then B */
    MATMUL_EPILOGUE = 7,
    MATMUL_BIAS = 8,
    MATMUL_EXTRA = 11,  /* a second output of the epilogue */
    MATMUL_SCALES = 17, /* of A, B, C and D; then the largest magnitude of D */
    MATMUL_BIAS_TYPE = 26
};
static const struct plim_packed_attribute matmul_attributes[] = {
    { 0, 4, 4, 0 },     { 1, 4, 8, 0 },    { 2, 4, 12, 0 },   { 3, 4, 16, 0 },   { 4, 4, 20, 0 },
    { 5, 4, 24, 0 },    { 6, 4, 28, 2 },   { 7, 4, 32, 1 },   { 8, 8, 40, 0 },   { 10, 8, 48, 0 },
    { 11, 8, 56, 0 },   { 12, 8, 64, 0 },  { 13, 8, 72, 0 },  { 14, 8, 80, 0 },  { 15, 4, 36, 0 },
    { 17, 8, 88, 0 },   { 18, 8, 96, 0 },  { 19, 8, 104, 0 }, { 20, 8, 112, 0 }, { 21, 8, 120, 0 },
    { 22, 4, 128, -1 }, { 23, 8, 136, 0 }, { 24, 8, 144, 0 }, { 25, 1, 132, 0 }, { 26, 4, 152, -1 },
#if PLIM_MAJOR >= 12
    { 31, 4, 156, 0 },  { 32, 4, 160, 0 }, { 33, 4, 164, 0 }, { 34, 4, 168, 0 }, { 35, 4, 172, 0 },
    { 36, 8, 176, 0 },  { 37, 4, 184, 0 },
#endif
#if PLIM_MAJOR >= 13
    { 38, 8, 192, 0 },  { 39, 8, 200, 0 }, { 40, 8, 208, 0 },
#elif PLIM_MAJOR == 12
    { 27, 4, 188, 0 },  { 28, 4, 192, 0 }, { 29, 8, 200, 0 }, { 30, 8, 208, 0 },
#endif
};

enum { PREFERENCE_WORKSPACE = 1 };
static const struct plim_packed_attribute preference_attributes[] = {
    { 0, 4, 4, 0 },    { 1, 8, 8, 0 },    { 3, 4, 16, 7 },  { 5, 4, 20, 256 }, { 6, 4, 24, 256 },
    { 7, 4, 28, 256 }, { 8, 4, 32, 256 }, { 9, 4, 36, 0 },  { 12, 8, 40, -1 },
#if PLIM_MAJOR >= 13
    { 13, 4, 48, 0 },  { 14, 4, 52, 0 },  { 15, 4, 56, 0 },
#elif PLIM_MAJOR == 11
    { 2, 4, 48, 1 },   { 4, 4, 52, 1 },   { 10, 4, 56, 3 }, { 11, 4, 60, 1 },  { 13, 4, 64, 0 },
#endif
};

static const struct plim_packed_attribute transform_attributes[] = {
    { 0, 4, 4, 0 }, { 1, 4, 8, 0 }, { 2, 4, 12, 0 }, { 3, 4, 16, 0 }
};

static const struct plim_packed_attribute emulation_attributes[] = { { 0, 4, 4, 0 },  { 1, 4, 8, 0xffff },
                                                                     { 2, 4, 12, 0 }, { 3, 4, 16, 0 },
                                                                     { 4, 4, 20, 0 }, { 5, 8, 24, 0 } };

enum { ALGORITHM_ID = 0 };
static const struct plim_packed_attribute algorithm_attributes[] = {
    { 0, 4, 4, 0 },  { 1, 4, 8, 0 },  { 2, 4, 12, 1 }, { 3, 4, 16, 0 }, { 4, 4, 20, 0 },
    { 5, 4, 24, 0 }, { 6, 4, 28, 0 }, { 7, 2, 32, 0 }, { 8, 2, 34, 0 }
};

#define KIND(name, tag, words)                                                                                         \
    static const struct plim_packed_kind name = { tag, 8 * (words),                                                    \
                                                  sizeof name##_attributes / sizeof *name##_attributes,                \
                                                  name##_attributes };
KIND(layout, 0x506c4c61, PLIM_MAJOR >= 13 ? 14 : 8)
KIND(matmul, 0x506c4d6d, PLIM_MAJOR >= 12 ? 32 : 23)
KIND(preference, 0x506c5072, PLIM_MAJOR >= 13 ? 12 : PLIM_MAJOR == 12 ? 8 : 10)
KIND(transform, 0x506c5472, 8)
KIND(emulation, 0x506c456d, 8)
KIND(algorithm, 0x506c416c, 8)

static status create(void **ret_data, const struct plim_packed_kind *kind)
{
    void *data = ret_data ? malloc(kind->size) : NULL;
    if (!data)
        return ret_data ? CUBLAS_ALLOC_FAILED : CUBLAS_INVALID_VALUE;
    plim_packed_init(data, kind);
    *ret_data = data;
    return CUBLAS_SUCCESS;
}

static status init(void *data, size_t size, const struct plim_packed_kind *kind)
{
    if (!data || size < kind->size)
        return CUBLAS_INVALID_VALUE;
    plim_packed_init(data, kind);
    return CUBLAS_SUCCESS;
}

static status destroy(void *data, const struct plim_packed_kind *kind)
{
    if (data && !plim_packed_is(data, kind))
        return CUBLAS_INVALID_VALUE;
    if (data)
        memset(data, 0, kind->size);
    free(data);
    return CUBLAS_SUCCESS;
}

#define ATTRIBUTES(name, kind)                                                                                         \
    CUBLASLT_SET_ATTRIBUTE(name)                                                                                       \
    {                                                                                                                  \
        return plim_packed_set(data, &kind, id, value, size) ? CUBLAS_SUCCESS : CUBLAS_INVALID_VALUE;                  \
    }                                                                                                                  \
    CUBLASLT_GET_ATTRIBUTE(name)                                                                                       \
    {                                                                                                                  \
        return plim_packed_get(data, &kind, id, value, size, ret_written) ? CUBLAS_SUCCESS : CUBLAS_INVALID_VALUE;     \
    }
#define DESTROY(name, kind)                                                                                            \
    CUBLASLT_DESTROY(name) { return destroy(data, &kind); }

CUBLASLT_DESCRIPTORS(ATTRIBUTES)
ATTRIBUTES(MatmulAlgoConfig, algorithm)
CUBLASLT_DESCRIPTORS(DESTROY)

/* --- creation --- */

static status fill_layout(status done, void *data, int type, uint64_t rows, uint64_t columns, int64_t step)
{
    if (done != CUBLAS_SUCCESS)
        return done;
    plim_packed_put(data, &layout, LAYOUT_TYPE, type);
    plim_packed_put(data, &layout, LAYOUT_ROWS, (int64_t)rows);
    plim_packed_put(data, &layout, LAYOUT_COLUMNS, (int64_t)columns);
    plim_packed_put(data, &layout, LAYOUT_STEP, step);
    return done;
}

status cublasLtMatrixLayoutInit_internal(void *data, size_t size, int type, uint64_t rows, uint64_t columns,
                                         int64_t step)
{
    return fill_layout(init(data, size, &layout), data, type, rows, columns, step);
}

status cublasLtMatrixLayoutCreate(void **ret_data, int type, uint64_t rows, uint64_t columns, int64_t step)
{
    const status done = create(ret_data, &layout);
    return fill_layout(done, ret_data ? *ret_data : NULL, type, rows, columns, step);
}

#if PLIM_MAJOR >= 13
enum { LAYOUT_COUNT = 5, LAYOUT_BATCH_MODE = 8, BATCH_GROUPED = 2 };

static status fill_groups(status done, void *data, int type, int count, const void *const arrays[3])
{
    if (done != CUBLAS_SUCCESS)
        return done;
    plim_packed_put(data, &layout, LAYOUT_TYPE, type);
    plim_packed_put(data, &layout, LAYOUT_COUNT, count);
    plim_packed_put(data, &layout, LAYOUT_BATCH_MODE, BATCH_GROUPED);
    for (int i = 0; i < 3; i++)
        plim_packed_put(data, &layout, 9 + i, (int64_t)(uintptr_t)arrays[i]);
    return done;
}

status cublasLtGroupedMatrixLayoutInit_internal(void *data, size_t size, int type, int count, const void *rows,
                                                const void *columns, const void *steps)
{
    return fill_groups(init(data, size, &layout), data, type, count, (const void *const[]){ rows, columns, steps });
}

status cublasLtGroupedMatrixLayoutCreate(void **ret_data, int type, int count, const void *rows, const void *columns,
                                         const void *steps)
{
    const status done = create(ret_data, &layout);
    return fill_groups(done, ret_data ? *ret_data : NULL, type, count, (const void *const[]){ rows, columns, steps });
}
#endif

static status fill_types(status done, void *data, const struct plim_packed_kind *kind, int first, int second)
{
    if (done == CUBLAS_SUCCESS) {
        plim_packed_put(data, kind, MATMUL_COMPUTE_TYPE, first);
        if (kind == &matmul)
            plim_packed_put(data, kind, MATMUL_SCALE_TYPE, second);
    }
    return done;
}

status cublasLtMatmulDescInit_internal(void *data, size_t size, int compute_type, int scale_type)
{
    return fill_types(init(data, size, &matmul), data, &matmul, compute_type, scale_type);
}

status cublasLtMatmulDescCreate(void **ret_data, int compute_type, int scale_type)
{
    const status done = create(ret_data, &matmul);
    return fill_types(done, ret_data ? *ret_data : NULL, &matmul, compute_type, scale_type);
}

status cublasLtMatrixTransformDescInit_internal(void *data, size_t size, int scale_type)
{
    return fill_types(init(data, size, &transform), data, &transform, scale_type, 0);
}

status cublasLtMatrixTransformDescCreate(void **ret_data, int scale_type)
{
    const status done = create(ret_data, &transform);
    return fill_types(done, ret_data ? *ret_data : NULL, &transform, scale_type, 0);
}

status cublasLtMatmulPreferenceInit_internal(void *data, size_t size) { return init(data, size, &preference); }
status cublasLtMatmulPreferenceCreate(void **ret_data) { return create(ret_data, &preference); }
status cublasLtEmulationDescInit_internal(void *data, size_t size) { return init(data, size, &emulation); }
status cublasLtEmulationDescCreate(void **ret_data) { return create(ret_data, &emulation); }

/* --- algorithms --- */

/* Cards before 8.9 lack 8-bit floats, those before 10.0 lack 4-bit floats. */
static bool is_possible(int type)
{
    enum { FLOAT_8_E4M3 = 28, FLOAT_8_E5M2 = 29, FLOAT_4_E2M1 = 33 };
    const struct plim_ledger_card *card = plim_vgpu_card(plim_library_device());
    const uint32_t capability = card ? card->compute_capability : 0;
    return type == FLOAT_8_E4M3 || type == FLOAT_8_E5M2 ? capability >= 89
           : type == FLOAT_4_E2M1                       ? capability >= 100
                                                        : true;
}

static status check(const void *handle, const void *operation, const void *const layouts[4])
{
    if (!handle)
        return CUBLAS_NOT_INITIALIZED;
    if (!plim_packed_is(operation, &matmul))
        return CUBLAS_INVALID_VALUE;
    for (int i = 0; i < 4; i++)
        if (!plim_packed_is(layouts[i], &layout))
            return CUBLAS_INVALID_VALUE;
    for (int i = 0; i < 4; i++)
        if (!is_possible((int)plim_packed_value(layouts[i], &layout, LAYOUT_TYPE)))
            return CUBLAS_NOT_SUPPORTED;
    return CUBLAS_SUCCESS;
}

status cublasLtMatmulAlgoGetHeuristic(const void *handle, const void *operation, const void *a, const void *b,
                                      const void *c, const void *d, const void *wish, int n_wanted,
                                      struct cublaslt_heuristic *results, int *ret_n)
{
    if (!results || !ret_n || n_wanted < 1 || !plim_packed_is(wish, &preference))
        return CUBLAS_INVALID_VALUE;
    *ret_n = 0;
    const status done = check(handle, operation, (const void *const[]){ a, b, c, d });
    if (done != CUBLAS_SUCCESS)
        return done;
    memset(results, 0, sizeof *results);
    plim_packed_init(&results->algorithm, &algorithm);
    results->n_waves = 1;
    *ret_n = 1;
    return CUBLAS_SUCCESS;
}

status cublasLtMatmulAlgoGetIds(const void *handle, int compute_type, int scale_type, int a, int b, int c, int d,
                                int n_wanted, int *ids, int *ret_n)
{
    (void)compute_type, (void)scale_type, (void)a, (void)b, (void)c, (void)d;
    if (!handle)
        return CUBLAS_NOT_INITIALIZED;
    if (!ids || !ret_n || n_wanted < 1)
        return CUBLAS_INVALID_VALUE;
    ids[0] = 0;
    *ret_n = 1;
    return CUBLAS_SUCCESS;
}

status cublasLtMatmulAlgoInit(const void *handle, int compute_type, int scale_type, int a, int b, int c, int d, int id,
                              struct cublaslt_algorithm *ret_algorithm)
{
    (void)compute_type, (void)scale_type, (void)a, (void)b, (void)c, (void)d;
    if (!handle)
        return CUBLAS_NOT_INITIALIZED;
    if (!ret_algorithm || id != 0)
        return CUBLAS_INVALID_VALUE;
    plim_packed_init(ret_algorithm, &algorithm);
    return CUBLAS_SUCCESS;
}

status cublasLtMatmulAlgoCheck(const void *handle, const void *operation, const void *a, const void *b, const void *c,
                               const void *d, const struct cublaslt_algorithm *chosen,
                               struct cublaslt_heuristic *ret_result)
{
    if (!plim_packed_is(chosen, &algorithm) || !ret_result)
        return CUBLAS_INVALID_VALUE;
    const status done = check(handle, operation, (const void *const[]){ a, b, c, d });
    if (done != CUBLAS_SUCCESS)
        return done;
    *ret_result = (struct cublaslt_heuristic){ .algorithm = *chosen, .n_waves = 1 };
    return CUBLAS_SUCCESS;
}

/* --- work --- */

struct product_work {
    struct plim_product product;
    const void *extra, *largest;
};

/* What a launch writes beside its result is forgotten. */
static void run_product(const void *context)
{
    const struct product_work *work = context;
    plim_product_apply(&work->product);
    if (work->extra)
        plim_shadow_lose(work->extra);
    if (work->largest)
        plim_shadow_forget(work->largest, sizeof(float));
}

static bool read_scale(const void *operation, const void *from, double *ret_value)
{
    const int type = (int)plim_packed_value(operation, &matmul, MATMUL_SCALE_TYPE);
    return plim_packed_value(operation, &matmul, MATMUL_POINTER_MODE) == CUBLAS_POINTER_HOST &&
           plim_product_scale(type, from, ret_value);
}

static unsigned char read_layout(const void *data, bool is_transposed, int64_t steps[3], unsigned char *ret_bytes)
{
    unsigned bytes;
    const enum plim_element element = plim_product_type((int)plim_packed_value(data, &layout, LAYOUT_TYPE), &bytes);
    const bool is_by_row = plim_packed_value(data, &layout, LAYOUT_ORDER) == 1;
    const int64_t step = plim_packed_value(data, &layout, LAYOUT_STEP);
    steps[0] = is_transposed != is_by_row ? step : 1;
    steps[1] = is_transposed != is_by_row ? 1 : step;
    steps[2] = plim_packed_value(data, &layout, LAYOUT_STRIDE);
    *ret_bytes = (unsigned char)bytes;
    return (unsigned char)element;
}

/* All but addresses and alpha and beta. Of epilogues only "none" and "bias" are plain; scales are not. */
static struct product_work product_of(const void *operation, const void *a, const void *b, const void *d)
{
    enum { NONE = 1, BIAS = 4, N_SCALES = 4 };
    struct product_work work = { .extra = NULL };
    struct plim_product *p = &work.product;
    unsigned char bytes;
    const bool transposes_a = plim_packed_value(operation, &matmul, MATMUL_TRANSPOSES) != 0;
    const bool transposes_b = plim_packed_value(operation, &matmul, MATMUL_TRANSPOSES + 1) != 0;
    const int64_t epilogue = plim_packed_value(operation, &matmul, MATMUL_EPILOGUE);
    p->a_type = read_layout(a, transposes_a, p->a_step, &bytes);
    p->b_type = read_layout(b, transposes_b, p->b_step, &bytes);
    p->c_type = read_layout(d, false, p->c_step, &p->c_bytes);
    p->m = plim_packed_value(d, &layout, LAYOUT_ROWS);
    p->n = plim_packed_value(d, &layout, LAYOUT_COLUMNS);
    p->k = plim_packed_value(a, &layout, transposes_a ? LAYOUT_ROWS : LAYOUT_COLUMNS);
    p->n_batches = plim_packed_value(d, &layout, LAYOUT_N_BATCHES);
    p->is_plain = epilogue == NONE || epilogue == BIAS;
    if (epilogue == BIAS) {
        const int64_t type = plim_packed_value(operation, &matmul, MATMUL_BIAS_TYPE);
        unsigned bias_bytes;
        p->bias = (const void *)(uintptr_t)plim_packed_value(operation, &matmul, MATMUL_BIAS);
        p->bias_type = type >= 0 ? (unsigned char)plim_product_type((int)type, &bias_bytes) : p->c_type;
    }
    for (int i = 0; i < N_SCALES; i++)
        p->is_plain = p->is_plain && plim_packed_value(operation, &matmul, MATMUL_SCALES + i) == 0;
    work.extra = (const void *)(uintptr_t)plim_packed_value(operation, &matmul, MATMUL_EXTRA);
    work.largest = (const void *)(uintptr_t)plim_packed_value(operation, &matmul, MATMUL_SCALES + N_SCALES);
    return work;
}

status cublasLtMatmul(const void *handle, const void *operation, const void *alpha, const void *a, const void *a_layout,
                      const void *b, const void *b_layout, const void *beta, const void *c, const void *c_layout,
                      void *d, const void *d_layout, const struct cublaslt_algorithm *chosen, void *workspace,
                      size_t size, void *stream)
{
    (void)workspace, (void)size;
    const status done = check(handle, operation, (const void *const[]){ a_layout, b_layout, c_layout, d_layout });
    if (done != CUBLAS_SUCCESS)
        return done;
    if (chosen && !plim_packed_is(chosen, &algorithm))
        return CUBLAS_INVALID_VALUE;
    struct product_work work = product_of(operation, a_layout, b_layout, d_layout);
    work.product.a = a;
    work.product.b = b;
    work.product.c = d;
    work.product.is_plain = work.product.is_plain && read_scale(operation, alpha, &work.product.alpha) &&
                            read_scale(operation, beta, &work.product.beta) && (work.product.beta == 0 || c == d);
    return plim_library_compute(plim_library_device(), stream, run_product, &work, sizeof work)
               ? CUBLAS_SUCCESS
               : CUBLAS_EXECUTION_FAILED;
}

static void forget_result(const void *product) { plim_product_apply(product); }

/* b and its layout may be NULL. */
status cublasLtMatrixTransform(const void *handle, const void *operation, const void *alpha, const void *a,
                               const void *a_layout, const void *beta, const void *b, const void *b_layout, void *c,
                               const void *c_layout, void *stream)
{
    (void)alpha, (void)a, (void)beta, (void)b;
    if (!handle)
        return CUBLAS_NOT_INITIALIZED;
    if (!plim_packed_is(operation, &transform) || !plim_packed_is(a_layout, &layout) ||
        !plim_packed_is(c_layout, &layout) || (b_layout && !plim_packed_is(b_layout, &layout)))
        return CUBLAS_INVALID_VALUE;
    struct plim_product result = { .c = c, .is_plain = false };
    result.c_type = read_layout(c_layout, false, result.c_step, &result.c_bytes);
    result.m = plim_packed_value(c_layout, &layout, LAYOUT_ROWS);
    result.n = plim_packed_value(c_layout, &layout, LAYOUT_COLUMNS);
    result.n_batches = plim_packed_value(c_layout, &layout, LAYOUT_N_BATCHES);
    return plim_library_compute(plim_library_device(), stream, forget_result, &result, sizeof result)
               ? CUBLAS_SUCCESS
               : CUBLAS_EXECUTION_FAILED;
}

/* --- the library --- */

status cublasLtCreate(void **ret_handle)
{
    if (!ret_handle)
        return CUBLAS_INVALID_VALUE;
    if (plim_library_device() < 0)
        return CUBLAS_NOT_INITIALIZED;
    *ret_handle = plim_handle_make(HANDLE, 1, NULL);
    return *ret_handle ? CUBLAS_SUCCESS : CUBLAS_ALLOC_FAILED;
}

status cublasLtDestroy(void *handle)
{
    if (!plim_handle_body(handle, HANDLE))
        return CUBLAS_NOT_INITIALIZED;
    plim_handle_drop(handle);
    return CUBLAS_SUCCESS;
}

size_t cublasLtGetVersion(void) { return PLIM_MAJOR * 10000 + PLIM_MINOR * 100 + PLIM_PATCH; }
size_t cublasLtGetCudartVersion(void) { return PLIM_OF_CUDA; }

status cublasLtGetProperty(int part, int *value)
{
    if (part < 0 || part > 2 || !value)
        return CUBLAS_INVALID_VALUE;
    *value = ((const int[]){ PLIM_MAJOR, PLIM_MINOR, PLIM_PATCH })[part];
    return CUBLAS_SUCCESS;
}

/* Nothing is logged, and there is no cache of heuristics. */
status cublasLtLoggerSetCallback(void *callback) { return (void)callback, CUBLAS_SUCCESS; }
status cublasLtLoggerSetFile(void *file) { return (void)file, CUBLAS_SUCCESS; }
status cublasLtLoggerOpenFile(const char *path) { return (void)path, CUBLAS_SUCCESS; }
status cublasLtLoggerSetLevel(int level) { return (void)level, CUBLAS_SUCCESS; }
status cublasLtLoggerSetMask(int mask) { return (void)mask, CUBLAS_SUCCESS; }
status cublasLtLoggerForceDisable(void) { return CUBLAS_SUCCESS; }
status cublasLtHeuristicsCacheSetCapacity(size_t n) { return (void)n, CUBLAS_SUCCESS; }

status cublasLtHeuristicsCacheGetCapacity(size_t *ret_n)
{
    if (!ret_n)
        return CUBLAS_INVALID_VALUE;
    *ret_n = 0;
    return CUBLAS_SUCCESS;
}
