/* SPDX-License-Identifier: MIT */
/* The runtime beside the driver: what one of them makes or chooses is known to the other. */
#include "virtual.h"

#include <stdint.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_FUNCTION = 98, MIB = 1 << 20 };

struct dim3 {
    unsigned x, y, z;
};

static struct {
    void **(*register_fat)(void *);
    void (*enter)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
    int (*function_of)(void **, const void *);
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    int (*function_name)(const char **, void *);
    int (*function_attribute)(int *, int, void *);
    int (*last_error)(void);
    int (*retain)(void **, int);
    int (*release)(int);
    int (*set_current)(void *);
    int (*get_current)(void **);
    int (*get_device)(int *);
    int (*set_device)(int);
    int (*info)(size_t *, size_t *);
} cuda;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024,2048", 1);
    void *driver = open_library("libcuda.so.1"), *runtime = open_library("libcudart.so.13");
    take(runtime, "__cudaRegisterFatBinary", &cuda.register_fat);
    take(runtime, "__cudaRegisterFunction", &cuda.enter);
    take(runtime, "cudaGetFuncBySymbol", &cuda.function_of);
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaGetLastError", &cuda.last_error);
    take(runtime, "cudaGetDevice", &cuda.get_device);
    take(runtime, "cudaSetDevice", &cuda.set_device);
    take(runtime, "cudaMemGetInfo", &cuda.info);
    take(driver, "cuLaunchKernel", &cuda.launch);
    take(driver, "cuFuncGetName", &cuda.function_name);
    take(driver, "cuFuncGetAttribute", &cuda.function_attribute);
    take(driver, "cuDevicePrimaryCtxRetain", &cuda.retain);
    take(driver, "cuDevicePrimaryCtxRelease_v2", &cuda.release);
    take(driver, "cuCtxSetCurrent", &cuda.set_current);
    take(driver, "cuCtxGetCurrent", &cuda.get_current);
    return 0;
}

/* A kernel of the program, by the driver's handle: it has its name and is launched as one of a module is. */
static void test_a_kernel_by_its_symbol(void **state)
{
    (void)state;
    static const char stub[16], unknown[16];
    static const struct {
        uint32_t magic, version;
        const void *data, *others;
    } fat = { 0x466243b1, 1, NULL, NULL };
    void *function = NULL, *again = NULL;
    const char *name;
    int n_threads = 0;
    void **handle = cuda.register_fat((void *)(uintptr_t)&fat);
    cuda.enter(handle, stub, NULL, "_Z6nobodyPf", -1, NULL, NULL, NULL, NULL, NULL);
    assert_int_equal(cuda.function_of(&function, stub), SUCCESS);
    assert_int_equal(cuda.function_of(&again, stub), SUCCESS);
    assert_ptr_equal(function, again);
    assert_int_equal(cuda.function_name(&name, function), SUCCESS);
    assert_string_equal(name, "_Z6nobodyPf");
    assert_int_equal(cuda.function_attribute(&n_threads, 0, function), SUCCESS);
    assert_int_equal(n_threads, 1024);
    void *memory, *parameters[] = { &memory };
    assert_int_equal(cuda.malloc(&memory, 4096), SUCCESS);
    assert_int_equal(cuda.launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL), SUCCESS);
    assert_int_equal(cuda.launch(function, 1, 1, 1, 2048, 1, 1, 0, NULL, parameters, NULL), INVALID_VALUE);
    assert_int_equal(cuda.free(memory), SUCCESS);
    assert_int_equal(cuda.last_error(), SUCCESS);
    assert_int_equal(cuda.function_of(&function, unknown), INVALID_FUNCTION);
    assert_int_equal(cuda.function_of(NULL, stub), INVALID_VALUE);
    (void)cuda.last_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kernel_by_its_symbol),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
