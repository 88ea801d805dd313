/* SPDX-License-Identifier: MIT */
/* The virtual cuFFT, cuRAND, cuSOLVER, cuSPARSE, CUPTI and the like: memory, results and errors. */
#include "unit.h"
#include "virtual.h"

#include "vgpu/core/session.h"

enum { MIB = 1 << 20, KIB = 1 << 10, C2C = 0x29 };

static struct plim_ledger *ledger;

static int set_up(void **state)
{
    struct plim_ledger *(*open)(int *);
    int error;
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    take(open_library("libcuda.so.1"), "plim_vgpu_ledger", &open);
    ledger = open(&error);
    assert_non_null(ledger);
    return 0;
}

static uint64_t taken(void) { return ledger->card[0].kind_bytes[PLIM_KIND_LIBRARY]; }

static bool is_said(const char *kind, const char *text)
{
    for (uint32_t i = 0; i < ledger->n_warnings; i++)
        if (!strcmp(ledger->warning[i].kind, kind) && strstr(ledger->warning[i].what, text))
            return true;
    return false;
}

static bool is_assumed(const char *text)
{
    for (uint32_t i = 1; i < PLIM_LEDGER_MAX_GUESSES; i++)
        if (ledger->guess[i].is_answer && strstr(ledger->guess[i].what, text))
            return true;
    return false;
}

static void test_cufft(void **state)
{
    (void)state;
    void *library = open_library("libcufft.so.11");
    int (*create)(int *), (*destroy)(int), (*make)(int, int, int, int, size_t *), (*automatic)(int, int), (*run)(int);
    int (*plan_2d)(int *, int, int, int), (*estimate)(int, int, int, size_t *);
    take(library, "cufftCreate", &create);
    take(library, "cufftDestroy", &destroy);
    take(library, "cufftMakePlan1d", &make);
    take(library, "cufftSetAutoAllocation", &automatic);
    take(library, "cufftExecC2C", &run);
    take(library, "cufftPlan2d", &plan_2d);
    take(library, "cufftEstimate1d", &estimate);
    int plan = -1, other = -1;
    size_t bytes = 1;
    const uint64_t before = taken();
    assert_int_equal(create(&plan), 0);
    assert_int_equal(run(plan), 1); /* not made yet */
    assert_int_equal(make(plan, 0, C2C, 1, &bytes), 8);
    assert_int_equal(make(plan, 1024, 7, 1, &bytes), 3);
    assert_int_equal(make(plan, 1024, C2C, 16, &bytes), 0);
    assert_int_equal(bytes, 1024 * 16 * 8);
    assert_int_equal(taken(), before + bytes);
    assert_true(is_said("assumed", "cuFFT"));
    assert_int_equal(run(plan), 0);
    assert_int_equal(destroy(plan), 0);
    assert_int_equal(destroy(plan), 1);
    assert_int_equal(run(plan), 1);
    assert_int_equal(run(-5), 1);
    assert_int_equal(taken(), before);
    /* the program's own work area */
    assert_int_equal(create(&other), 0);
    assert_int_equal(automatic(other, 0), 0);
    assert_int_equal(make(other, 1024, C2C, 16, &bytes), 0);
    assert_int_equal(taken(), before);
    assert_int_equal(destroy(other), 0);
    /* more than the card has */
    assert_int_equal(plan_2d(&plan, 1 << 15, 1 << 15, C2C), 2);
    assert_int_equal(taken(), before);
    assert_int_equal(estimate(1 << 20, C2C, 1, &bytes), 0);
    assert_int_equal(bytes, 8 * MIB);
}

static void test_curand(void **state)
{
    (void)state;
    void *library = open_library("libcurand.so.10"), *generator = NULL;
    int (*create)(void **, int), (*destroy)(void *), (*uniform)(void *, float *, size_t);
    take(library, "curandCreateGenerator", &create);
    take(library, "curandDestroyGenerator", &destroy);
    take(library, "curandGenerateUniform", &uniform);
    const uint64_t before = taken();
    assert_int_equal(create(&generator, 7), 103);
    assert_int_equal(create(&generator, 100), 0);
    assert_int_equal(taken(), before + 192 * KIB);
    assert_int_equal(uniform(generator, NULL, 8), 0);
    assert_int_equal(destroy(generator), 0);
    assert_int_equal(uniform(generator, NULL, 8), 101);
    assert_int_equal(taken(), before);
}

static void test_cusolver(void **state)
{
    (void)state;
    void *library = open_library("libcusolver.so.12"), *handle = NULL;
    int (*create)(void **), (*destroy)(void *), (*size)(void *, int, int, void *, int, int *), (*run)(void *);
    int (*svd)(void *, int, int, int, int, void *, int, long long, void *, long long, void *, int, long long, void *,
               int, long long, void *, int, void *, double *, int);
    take(library, "cusolverDnCreate", &create);
    take(library, "cusolverDnDestroy", &destroy);
    take(library, "cusolverDnSgetrf_bufferSize", &size);
    take(library, "cusolverDnCungqr", &run);
    take(library, "cusolverDnDgesvdaStridedBatched", &svd);
    const uint64_t before = taken();
    double norms[3] = { 1, 1, 1 };
    int n = -1;
    assert_int_equal(size(handle, 4, 5, NULL, 4, &n), 1);
    assert_int_equal(create(&handle), 0);
    assert_int_equal(taken(), before + 4 * MIB);
    assert_int_equal(size(handle, 40, 5, NULL, 40, &n), 0);
    assert_int_equal(n, 200);
    assert_int_equal(size(handle, 1 << 20, 1 << 20, NULL, 1, &n), 0);
    assert_int_equal(n, 0x7fffffff);
    assert_int_equal(size(handle, -1, 5, NULL, 1, &n), 3);
    assert_int_equal(size(handle, 4, 5, NULL, 1, NULL), 3);
    assert_int_equal(run(handle), 0);
    assert_int_equal(svd(handle, 0, 0, 4, 4, NULL, 4, 0, NULL, 0, NULL, 4, 0, NULL, 4, 0, NULL, 0, NULL, norms, 2), 0);
    assert_true(norms[0] == 0 && norms[1] == 0 && norms[2] == 1);
    assert_int_equal(destroy(handle), 0);
    assert_int_equal(destroy(handle), 1);
    assert_int_equal(run(handle), 1);
    assert_int_equal(taken(), before);
}

static void test_cusparse(void **state)
{
    (void)state;
    void *library = open_library("libcusparse.so.12"), *handle = NULL, *a = NULL, *b = NULL, *c = NULL, *p = NULL;
    int (*create)(void **), (*product)(void **), (*drop)(void *);
    int (*csr)(void **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int);
    int (*compute)(void *, int, int, void *, void *, void *, void *, void *, int, int, void *, size_t *, void *);
    int (*size)(void *, int64_t *, int64_t *, int64_t *);
    take(library, "cusparseCreate", &create);
    take(library, "cusparseCreateCsr", &csr);
    take(library, "cusparseSpGEMM_createDescr", &product);
    take(library, "cusparseSpGEMM_compute", &compute);
    take(library, "cusparseSpMatGetSize", &size);
    take(library, "cusparseDestroySpMat", &drop);
    int64_t n_rows = -1, n_columns = -1, n_values = -1;
    size_t bytes = 0;
    char buffer[1];
    assert_int_equal(create(&handle), 0);
    assert_int_equal(csr(&a, 100, 50, 200, NULL, NULL, NULL, 1, 1, 0, 0), 0);
    assert_int_equal(csr(&b, 50, 80, 100, NULL, NULL, NULL, 1, 1, 0, 0), 0);
    assert_int_equal(csr(&c, 100, 80, 0, NULL, NULL, NULL, 1, 1, 0, 0), 0);
    assert_int_equal(csr(&c, -1, 80, 0, NULL, NULL, NULL, 1, 1, 0, 0), 3);
    assert_int_equal(product(&p), 0);
    assert_int_equal(compute(handle, 0, 0, NULL, a, b, NULL, c, 0, 0, p, &bytes, NULL), 0);
    assert_int_equal(bytes, 400 * 4);
    assert_int_equal(compute(handle, 0, 0, NULL, a, b, NULL, c, 0, 0, p, &bytes, buffer), 0);
    assert_int_equal(size(c, &n_rows, &n_columns, &n_values), 0);
    assert_int_equal(n_rows, 100);
    assert_int_equal(n_columns, 80);
    assert_int_equal(n_values, 400); /* 2 elements in each of 200 rows met */
    assert_true(is_assumed("product of sparse"));
    assert_int_equal(drop(c), 0);
    assert_int_equal(drop(c), 3);
    assert_int_equal(size(c, &n_rows, &n_columns, &n_values), 3);
    assert_int_equal(compute(handle, 0, 0, NULL, a, b, NULL, c, 0, 0, p, &bytes, buffer), 3);
}

static void test_cupti(void **state)
{
    (void)state;
    void *library = open_library("libcupti.so.13"), *mine = NULL, *other = NULL, *record = NULL;
    int (*subscribe)(void **, void *, void *), (*leave)(void *), (*next)(void *, size_t, void **);
    int (*push)(unsigned, uint64_t), (*pop)(unsigned, uint64_t *);
    uint64_t last = 0;
    take(library, "cuptiSubscribe", &subscribe);
    take(library, "cuptiUnsubscribe", &leave);
    take(library, "cuptiActivityGetNextRecord", &next);
    take(library, "cuptiActivityPushExternalCorrelationId", &push);
    take(library, "cuptiActivityPopExternalCorrelationId", &pop);
    assert_int_equal(subscribe(&mine, NULL, NULL), 0);
    assert_int_equal(subscribe(&other, NULL, NULL), 39);
    assert_int_equal(next(NULL, 0, &record), 12);
    assert_int_equal(pop(1, &last), 18);
    assert_int_equal(push(1, 77), 0);
    assert_int_equal(pop(1, &last), 0);
    assert_int_equal(last, 77);
    assert_int_equal(pop(99, &last), 1);
    assert_int_equal(leave(mine), 0);
    assert_int_equal(leave(mine), 1);
    assert_true(is_said("no_records", "CUPTI"));
}

static void test_missing_functions_are_reported(void **state)
{
    (void)state;
    ssize_t (*read)(void *, void *, size_t, off_t, off_t);
    void *(*shared)(size_t);
    take(open_library("libcufile.so.0"), "cuFileRead", &read);
    take(open_library("libnvshmem_host.so.3"), "nvshmem_malloc", &shared);
    assert_true(read(NULL, NULL, 4096, 0, 0) < 0);
    assert_null(shared(4096));
    assert_true(is_said("not_supported", "cuFileRead"));
    assert_true(is_said("not_supported", "nvshmem_malloc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cufft),    cmocka_unit_test(test_curand),
        cmocka_unit_test(test_cusolver), cmocka_unit_test(test_cusparse),
        cmocka_unit_test(test_cupti),    cmocka_unit_test(test_missing_functions_are_reported),
    };
    return cmocka_run_group_tests_name("libraries", tests, set_up, NULL);
}
