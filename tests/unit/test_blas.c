/* SPDX-License-Identifier: MIT */
/* The virtual cuBLAS and cuBLASLt: state, outputs, invalid handles. */
#include "unit.h"
#include "virtual.h"

#include "vgpu/core/session.h"

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, NOT_SUPPORTED = 15, HOST = 0, DEVICE = 1 };
enum { FLOAT_32 = 0, FLOAT_8 = 28, COMPUTE_32F = 68 };

static void *blas, *lt, *driver;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    setenv("PLIM_VGPU_RAW_CC", "8.6", 1);
    driver = open_library("libcuda.so.1");
    blas = open_library("libcublas.so.13");
    lt = open_library("libcublasLt.so.12");
    return 0;
}

/* A function with up to six words of arguments; a double in the middle would need more. */
static int call(void *library, const char *name, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
                uintptr_t f)
{
    int (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    take(library, name, &function);
    return function(a, b, c, d, e, f);
}
#define P(pointer)        ((uintptr_t)(pointer))
#define CALL1(name, a)    call(blas, name, P(a), 0, 0, 0, 0, 0)
#define CALL2(name, a, b) call(blas, name, P(a), P(b), 0, 0, 0, 0)

static uint64_t n_remarks(const char *kind)
{
    struct plim_ledger *(*open)(int *);
    int error;
    uint64_t n = 0;
    take(driver, "plim_vgpu_ledger", &open);
    const struct plim_ledger *ledger = open(&error);
    for (uint32_t i = 0; ledger && i < ledger->n_warnings; i++)
        if (!strcmp(ledger->warning[i].kind, kind))
            n += ledger->warning[i].count;
    return n;
}

/* The answers of a library that nobody knows. */
static uint64_t n_answers(void)
{
    struct plim_ledger *(*open)(int *);
    int error;
    uint64_t n = 0;
    take(driver, "plim_vgpu_ledger", &open);
    const struct plim_ledger *ledger = open(&error);
    for (uint32_t i = 0; ledger && i < PLIM_LEDGER_MAX_GUESSES; i++)
        n += ledger->guess[i].is_answer ? ledger->guess[i].count : 0;
    return n;
}

static void test_state_comes_back(void **state)
{
    (void)state;
    static const char *const modes[] = { "MathMode", "PointerMode_v2", "AtomicsMode", "SmCountTarget" };
    void *handle = NULL, *stream = NULL;
    char name[64];
    assert_int_equal(CALL1("cublasCreate_v2", &handle), SUCCESS);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        int value = -1;
        snprintf(name, sizeof name, "cublasGet%s", modes[i]);
        assert_int_equal(CALL2(name, handle, &value), SUCCESS);
        assert_int_equal(value, 0);
        assert_int_equal(CALL2(name, handle, NULL), INVALID_VALUE);
        snprintf(name, sizeof name, "cublasSet%s", modes[i]);
        assert_int_equal(CALL2(name, handle, 1), SUCCESS);
        snprintf(name, sizeof name, "cublasGet%s", modes[i]);
        assert_int_equal(CALL2(name, handle, &value), SUCCESS);
        assert_int_equal(value, 1);
    }
    assert_int_equal(CALL2("cublasSetStream_v2", handle, 0x1234), SUCCESS);
    assert_int_equal(CALL2("cublasGetStream_v2", handle, &stream), SUCCESS);
    assert_ptr_equal(stream, (void *)0x1234);
    assert_int_equal(CALL2("cublasSetWorkspace_v2", handle, 0x1010), INVALID_VALUE);
    assert_int_equal(CALL2("cublasSetWorkspace_v2", handle, 0x1100), SUCCESS);
    assert_int_equal(CALL1("cublasDestroy_v2", handle), SUCCESS);
}

static void test_invalid_handles(void **state)
{
    (void)state;
    void *handle = NULL, *other = NULL;
    char mine[64] = "";
    int version = 0;
    assert_int_equal(CALL1("cublasCreate_v2", NULL), INVALID_VALUE);
    assert_int_equal(CALL1("cublasCreate_v2", &handle), SUCCESS);
    assert_int_equal(CALL1("cublasSgemm_v2", handle), SUCCESS);
    assert_int_equal(CALL1("cublasDestroy_v2", handle), SUCCESS);
    assert_int_equal(CALL1("cublasDestroy_v2", handle), NOT_INITIALIZED);
    assert_int_equal(CALL1("cublasSgemm_v2", handle), NOT_INITIALIZED);
    assert_int_equal(CALL1("cublasZtrsmBatched_64", mine), NOT_INITIALIZED);
    assert_int_equal(CALL1("cublasGemmEx", NULL), NOT_INITIALIZED);
    assert_int_equal(CALL2("cublasSetStream_v2", (char *)handle + 1, 0), NOT_INITIALIZED);
    assert_int_equal(CALL1("cublasCreate_v2", &other), SUCCESS);
    assert_int_equal(CALL1("cublasDestroy_v2", other), SUCCESS);
    assert_int_equal(CALL2("cublasGetVersion_v2", NULL, &version), SUCCESS);
    assert_int_equal(version / 10000, 13);
}

static void test_results_for_the_host(void **state)
{
    (void)state;
    void *handle = NULL;
    double dot[2] = { 1, 2 };
    int at = -1;
    int64_t wide = -1;
    int (*dot_c)(void *, int, const void *, int, const void *, int, void *);
    take(blas, "cublasZdotc_v2", &dot_c);
    const uint64_t before = n_answers();
    assert_int_equal(CALL1("cublasCreate_v2", &handle), SUCCESS);
    assert_int_equal(dot_c(handle, 4, NULL, 1, NULL, 1, dot), SUCCESS);
    assert_true(dot[0] == 0 && dot[1] == 0);
    assert_int_equal(call(blas, "cublasIsamax_v2", P(handle), 4, 0, 1, P(&at), 0), SUCCESS);
    assert_int_equal(at, 1);
    assert_int_equal(call(blas, "cublasIsamax_v2_64", P(handle), 0, 0, 1, P(&wide), 0), SUCCESS);
    assert_int_equal(wide, 0);
    assert_int_equal(n_answers(), before + 3);
    /* in the card's memory, which the host must not write */
    assert_int_equal(CALL2("cublasSetPointerMode_v2", handle, DEVICE), SUCCESS);
    assert_int_equal(call(blas, "cublasSnrm2_v2", P(handle), 4, 0, 1, 64, 0), SUCCESS);
    assert_int_equal(call(blas, "cublasSnrm2_v2", P(handle), 4, 0, 1, 0, 0), INVALID_VALUE);
    assert_int_equal(n_answers(), before + 3);
    assert_int_equal(CALL1("cublasDestroy_v2", handle), SUCCESS);
}

static void test_unknown_results_are_reported(void **state)
{
    (void)state;
    const uint64_t before = n_remarks("not_supported");
    assert_int_equal(CALL1("cublasXtCreate", NULL), NOT_SUPPORTED);
    assert_int_equal(n_remarks("not_supported"), before + 1);
}

/* --- cuBLASLt --- */

struct heuristic {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int state;
    float n_waves;
    int reserved[4];
};

static int heuristic(void *operation, void *const layouts[4], void *preference, int n_wanted, struct heuristic *result,
                     int *ret_n)
{
    int (*ask)(const void *, const void *, const void *, const void *, const void *, const void *, const void *, int,
               struct heuristic *, int *);
    take(lt, "cublasLtMatmulAlgoGetHeuristic", &ask);
    return ask(lt, operation, layouts[0], layouts[1], layouts[2], layouts[3], preference, n_wanted, result, ret_n);
}

static void test_descriptors(void **state)
{
    (void)state;
    uint64_t mine[32], number = 0;
    void *layout = NULL;
    int type = -1;
    size_t written = 0;
    assert_int_equal(call(lt, "cublasLtMatrixLayoutCreate", P(&layout), 14, 512, 256, 512, 0), SUCCESS);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutGetAttribute", P(layout), 2, P(&number), 8, P(&written), 0), 0);
    assert_int_equal(number, 512);
    assert_int_equal(written, 8);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutGetAttribute", P(layout), 0, P(&type), 4, 0, 0), SUCCESS);
    assert_int_equal(type, 14);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutGetAttribute", P(layout), 5, 0, 0, P(&written), 0), SUCCESS);
    assert_int_equal(written, 4);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutSetAttribute", P(layout), 2, P(&number), 4, 0, 0), INVALID_VALUE);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutSetAttribute", P(layout), 99, P(&number), 8, 0, 0), INVALID_VALUE);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutSetAttribute", P(layout), 2, 0, 8, 0, 0), INVALID_VALUE);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutDestroy", P(layout), 0, 0, 0, 0, 0), SUCCESS);
    memset(mine, 0xaa, sizeof mine);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutInit_internal", P(mine), 64, FLOAT_32, 8, 8, 8), SUCCESS);
    assert_int_equal(mine[8], 0xaaaaaaaaaaaaaaaa);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutInit_internal", P(mine), 32, FLOAT_32, 8, 8, 8), INVALID_VALUE);
    assert_int_equal(call(lt, "cublasLtMatmulDescSetAttribute", P(mine), 3, P(&type), 4, 0, 0), INVALID_VALUE);
}

/* Every attribute keeps its value; none overlaps another. */
static void test_attributes_do_not_overlap(void **state)
{
    (void)state;
    uint64_t mine[32];
    assert_int_equal(call(lt, "cublasLtMatmulDescInit_internal", P(mine), sizeof mine, COMPUTE_32F, FLOAT_32, 0, 0), 0);
    for (int pass = 0; pass < 2; pass++)
        for (uintptr_t id = 0; id < 64; id++) {
            unsigned char bytes[8], expected[8];
            size_t size = 0;
            if (call(lt, "cublasLtMatmulDescGetAttribute", P(mine), id, 0, 0, P(&size), 0) != SUCCESS)
                continue;
            memset(expected, (int)id + 1, sizeof expected);
            if (pass) {
                assert_int_equal(call(lt, "cublasLtMatmulDescGetAttribute", P(mine), id, P(bytes), size, 0, 0), 0);
                assert_memory_equal(bytes, expected, size);
            } else {
                assert_int_equal(call(lt, "cublasLtMatmulDescSetAttribute", P(mine), id, P(expected), size, 0, 0), 0);
            }
        }
}

static void test_heuristics(void **state)
{
    (void)state;
    void *operation = NULL, *preference = NULL, *layout = NULL, *small = NULL;
    struct heuristic result[4];
    int n = -1;
    memset(result, 0xff, sizeof result);
    assert_int_equal(call(lt, "cublasLtMatmulDescCreate", P(&operation), COMPUTE_32F, FLOAT_32, 0, 0, 0), SUCCESS);
    assert_int_equal(call(lt, "cublasLtMatmulPreferenceCreate", P(&preference), 0, 0, 0, 0, 0), SUCCESS);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutCreate", P(&layout), FLOAT_32, 8, 8, 8, 0), SUCCESS);
    assert_int_equal(call(lt, "cublasLtMatrixLayoutCreate", P(&small), FLOAT_8, 8, 8, 8, 0), SUCCESS);
    void *const layouts[4] = { layout, layout, layout, layout }, *const eighths[4] = { small, small, layout, layout };
    assert_int_equal(heuristic(operation, layouts, preference, 4, result, &n), SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(result[0].state, SUCCESS);
    assert_int_equal(result[0].workspace_bytes, 0);
    assert_true(result[0].n_waves > 0);
    assert_int_equal(heuristic(operation, layouts, preference, 0, result, &n), INVALID_VALUE);
    assert_int_equal(heuristic(layout, layouts, preference, 1, result, &n), INVALID_VALUE);
    /* 8-bit floats on a card of 8.6 */
    assert_int_equal(heuristic(operation, eighths, preference, 1, result, &n), NOT_SUPPORTED);
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_comes_back),     cmocka_unit_test(test_invalid_handles),
        cmocka_unit_test(test_results_for_the_host), cmocka_unit_test(test_unknown_results_are_reported),
        cmocka_unit_test(test_descriptors),          cmocka_unit_test(test_attributes_do_not_overlap),
        cmocka_unit_test(test_heuristics),
    };
    return cmocka_run_group_tests_name("blas", tests, set_up, NULL);
}
