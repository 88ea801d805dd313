/* SPDX-License-Identifier: MIT */
/* The runtime beside the driver: what one of them makes or chooses is known to the other. */
#include "virtual.h"

#include <stdint.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    NOT_INITIALIZED = 3,
    INVALID_FUNCTION = 98,
    NO_DEVICE = 100,
    INVALID_CONTEXT = 201,
    MIB = 1 << 20
};

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
    int (*malloc_async)(void **, size_t, void *);
    int (*reset)(void);
    int (*init)(unsigned);
    int (*count)(int *);
    int (*runtime_count)(int *);
    int (*profiler_start)(void);
    int (*gl_devices)(unsigned *, int *, unsigned, int);
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
    take(runtime, "cudaMallocAsync", &cuda.malloc_async);
    take(runtime, "cudaDeviceReset", &cuda.reset);
    take(runtime, "cudaGetDeviceCount", &cuda.runtime_count);
    take(driver, "cuInit", &cuda.init);
    take(driver, "cuDeviceGetCount", &cuda.count);
    take(driver, "cuProfilerStart", &cuda.profiler_start);
    take(driver, "cuGLGetDevices_v2", &cuda.gl_devices);
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

/* The driver wants cuInit(), which the runtime calls itself. */
static void test_the_driver_is_initialized_first(void **state)
{
    (void)state;
    int n = 0;
    assert_int_equal(cuda.count(&n), NOT_INITIALIZED);
    assert_int_equal(cuda.runtime_count(&n), SUCCESS);
    assert_int_equal(n, 2);
    assert_int_equal(cuda.count(&n), SUCCESS);
    assert_int_equal(n, 2);
}

static size_t total_mib(void)
{
    size_t rest = 0, total = 0;
    assert_int_equal(cuda.info(&rest, &total), SUCCESS);
    return total / MIB;
}

static size_t free_mib(void)
{
    size_t rest = 0, total = 0;
    assert_int_equal(cuda.info(&rest, &total), SUCCESS);
    return rest / MIB;
}

/* The runtime works with the context that the program chose through the driver, and on its card. */
static void test_the_current_context_counts(void **state)
{
    (void)state;
    void *context, *current, *memory;
    int device = 7;
    assert_int_equal(cuda.get_device(&device), SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(cuda.retain(&context, 1), SUCCESS);
    assert_int_equal(cuda.set_current(context), SUCCESS);
    assert_int_equal(cuda.get_device(&device), SUCCESS);
    assert_int_equal(device, 1);
    assert_int_equal(total_mib(), 2048);
    assert_int_equal(cuda.malloc(&memory, 100 * MIB), SUCCESS);
    assert_int_equal(free_mib(), 2048 - 100);
    assert_int_equal(cuda.set_device(0), SUCCESS);
    assert_int_equal(cuda.get_current(&current), SUCCESS);
    assert_ptr_not_equal(current, context);
    assert_int_equal(total_mib(), 1024);
    assert_int_equal(free_mib(), 1024);
    assert_int_equal(cuda.set_current(NULL), SUCCESS); /* then cudaSetDevice() counts */
    assert_int_equal(cuda.get_device(&device), SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(cuda.free(memory), SUCCESS);
    assert_int_equal(cuda.set_device(1), SUCCESS);
    assert_int_equal(cuda.get_current(&current), SUCCESS);
    assert_ptr_equal(current, context);
    assert_int_equal(free_mib(), 2048);
    assert_int_equal(cuda.set_device(0), SUCCESS);
    assert_int_equal(cuda.release(1), SUCCESS);
}

/* cudaDeviceReset() frees all that the process holds on this card, and nothing on another one. */
static void test_a_reset_frees_a_card(void **state)
{
    (void)state;
    void *first, *second, *pooled, *elsewhere;
    int device = 7;
    assert_int_equal(cuda.set_device(1), SUCCESS);
    assert_int_equal(cuda.malloc(&elsewhere, 10 * MIB), SUCCESS);
    assert_int_equal(cuda.set_device(0), SUCCESS);
    assert_int_equal(cuda.malloc(&first, 10 * MIB), SUCCESS);
    assert_int_equal(cuda.malloc(&second, 20 * MIB), SUCCESS);
    assert_int_equal(cuda.malloc_async(&pooled, 5 * MIB, NULL), SUCCESS);
    assert_true(free_mib() <= 1024 - 35);
    assert_int_equal(cuda.reset(), SUCCESS);
    assert_int_equal(cuda.get_device(&device), SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(free_mib(), 1024);
    assert_int_equal(cuda.free(first), INVALID_VALUE);
    assert_int_equal(cuda.last_error(), INVALID_VALUE);
    assert_int_equal(cuda.malloc(&first, 10 * MIB), SUCCESS);
    assert_int_equal(cuda.free(first), SUCCESS);
    assert_int_equal(cuda.set_device(1), SUCCESS);
    assert_int_equal(free_mib(), 2048 - 10);
    assert_int_equal(cuda.free(elsewhere), SUCCESS);
    assert_int_equal(cuda.set_device(0), SUCCESS);
}

/* Names of interfaces that a virtual card does not have: they are there, and say so. */
static void test_other_interfaces(void **state)
{
    (void)state;
    unsigned n = 7;
    assert_int_equal(cuda.set_device(0), SUCCESS);
    assert_int_equal(cuda.profiler_start(), SUCCESS);
    assert_int_equal(cuda.set_current(NULL), SUCCESS);
    assert_int_equal(cuda.profiler_start(), INVALID_CONTEXT);
    assert_int_equal(cuda.gl_devices(&n, NULL, 0, 1), NO_DEVICE);
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_driver_is_initialized_first),
        cmocka_unit_test(test_a_kernel_by_its_symbol),
        cmocka_unit_test(test_the_current_context_counts),
        cmocka_unit_test(test_a_reset_frees_a_card),
        cmocka_unit_test(test_other_interfaces),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
