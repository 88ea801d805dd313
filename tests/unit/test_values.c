/* SPDX-License-Identifier: MIT */
/* Values read back from a virtual card: the host's own, else zero; and the remarks about them. */
#include "unit.h"
#include "virtual.h"

#include "vgpu/core/session.h"
#include "vgpu/values/shadow.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };
enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_PITCH = 12, TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, ANY = 4 };

typedef unsigned long long word;

struct pitched {
    void *start;
    size_t pitch, width, height;
};

static struct {
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*copy)(void *, const void *, size_t, int);
    int (*copy_2d)(void *, size_t, const void *, size_t, size_t, size_t, int);
    int (*fill)(void *, int, size_t);
    int (*fill_2d)(void *, size_t, int, size_t, size_t);
    int (*fill_32)(word, unsigned, size_t);
    int (*fill_16)(word, unsigned short, size_t);
    int (*fill_rows_32)(word, size_t, unsigned, size_t, size_t);
    int (*copy_box)(const void *);
    int (*launch)(const void *, unsigned long long, unsigned, unsigned long long, unsigned, void **, size_t, void *);
    struct plim_ledger *(*ledger)(int *);
    enum plim_shadow_known (*read)(void *, const void *, size_t);
    uint64_t (*n_evicted)(void);
    void (*enter)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
} cuda;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    void *driver = open_library("libcuda.so.1"), *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaMemcpy", &cuda.copy);
    take(runtime, "cudaMemcpy2D", &cuda.copy_2d);
    take(runtime, "cudaMemset", &cuda.fill);
    take(runtime, "cudaMemset2D", &cuda.fill_2d);
    take(runtime, "cudaLaunchKernel", &cuda.launch);
    take(runtime, "__cudaRegisterFunction", &cuda.enter);
    take(driver, "cuMemsetD32_v2", &cuda.fill_32);
    take(driver, "cuMemsetD16_v2", &cuda.fill_16);
    take(driver, "cuMemsetD2D32_v2", &cuda.fill_rows_32);
    take(driver, "cuMemcpy3D_v2", &cuda.copy_box);
    take(driver, "plim_vgpu_ledger", &cuda.ledger);
    take(driver, "plim_shadow_read", &cuda.read);
    take(driver, "plim_shadow_n_evicted", &cuda.n_evicted);
    return 0;
}

/* How often a remark with `text` was made. */
static unsigned long long n_said(const char *text)
{
    int error;
    unsigned long long n = 0;
    const struct plim_ledger *ledger = cuda.ledger(&error);
    assert_non_null(ledger);
    for (uint32_t i = 0; i < ledger->n_warnings; i++)
        if (!strncmp(ledger->warning[i].kind, "value", 5) && strstr(ledger->warning[i].what, text))
            n += ledger->warning[i].count;
    return n;
}

static void *card_memory(size_t size)
{
    void *p = NULL;
    assert_int_equal(cuda.malloc(&p, size), SUCCESS);
    return p;
}

/*
 * In a process of its own, which must be forked before the first call: the 4 bytes of a count, as they are read back.
 */
static int fetched_with(const char *policy, bool is_count)
{
    static const char count[1];
    int status;
    pid_t child = fork();
    if (child == 0) {
        uint64_t n_inputs = 70;
        int mine = 5;
        void *p = NULL, *parameters[3] = { NULL, NULL, &n_inputs };
        setenv("PLIM_VGPU_VALUES", policy, 1);
        cuda.enter(NULL, count, NULL, "_ZN3cub18DeviceReduceKernelI9NonZeroOpEEv", -1, NULL, NULL, NULL, NULL, NULL);
        if (cuda.malloc(&p, 4) != SUCCESS || cuda.copy(p, &mine, 4, TO_DEVICE) != SUCCESS ||
            (is_count && cuda.launch(count, 1ull << 32 | 1, 1, 1ull << 32 | 1, 1, parameters, 0, NULL) != SUCCESS) ||
            cuda.copy(&mine, p, 4, TO_HOST) != SUCCESS)
            mine = 255;
        _exit(mine);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void test_policies(void **state)
{
    (void)state;
    assert_int_equal(fetched_with("zero", false), 0);
    assert_int_equal(fetched_with("zero", true), 0);
    assert_int_equal(fetched_with("shadow", false), 5);
    assert_int_equal(fetched_with("shadow", true), 0);
    assert_int_equal(fetched_with("max", false), 5);
    assert_int_equal(fetched_with("max", true), 70);
}

static void test_what_the_host_wrote_comes_back(void **state)
{
    (void)state;
    uint64_t mine[600], back[600];
    char *a = card_memory(1 * MIB), *b = card_memory(1 * MIB);
    for (size_t i = 0; i < COUNT(mine); i++)
        mine[i] = i * 0x0101010101010101u + 1;
    assert_int_equal(cuda.copy(a + 1000, mine, sizeof mine, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(b + 77, a + 1000, sizeof mine, ON_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(back, b + 77, sizeof back, TO_HOST), SUCCESS);
    assert_memory_equal(back, mine, sizeof mine);
    assert_int_equal(cuda.copy(back, b + 77 + 8 * 599, 8, ANY), SUCCESS);
    assert_int_equal(back[0], mine[599]);
    assert_int_equal(n_said("computed by"), 0);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.free(b), SUCCESS);
}

static void test_what_nobody_wrote_is_zero_and_counted(void **state)
{
    (void)state;
    uint64_t value = 1, large[9];
    char *a = card_memory(64 * KIB);
    const unsigned long long before = n_said("8 bytes read back: computed by the card");
    assert_int_equal(cuda.copy(&value, a, 8, TO_HOST), SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(n_said("8 bytes read back: computed by the card"), before + 1);
    assert_int_equal(cuda.copy(large, a, sizeof large, TO_HOST), SUCCESS); /* too large to steer a program */
    value = 7;
    assert_int_equal(cuda.copy(a + 4, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(&value, a, 8, TO_HOST), SUCCESS); /* half of it is known */
    assert_int_equal(value, 7ull << 32);
    assert_int_equal(n_said("computed by"), before + 2);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_values_go_when_memory_does(void **state)
{
    (void)state;
    static char much[65 * KIB];
    int value = 5, back = 0;
    char *a = card_memory(1 * MIB), *b = card_memory(1 * MIB);
    assert_int_equal(cuda.copy(a + 128, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.read(&back, a + 128, 4), PLIM_SHADOW_KNOWN);
    assert_int_equal(cuda.copy(a, much, sizeof much, TO_DEVICE), SUCCESS); /* by a large copy */
    assert_int_equal(cuda.read(&back, a + 128, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(back, 0);
    assert_int_equal(cuda.copy(a, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(a, b, 4, ON_DEVICE), SUCCESS); /* with unknown values */
    assert_int_equal(cuda.read(&back, a, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.copy(a, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.read(&back, a, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.copy(a, &value, 4, TO_DEVICE), INVALID_VALUE); /* it is freed */
    assert_int_equal(cuda.copy(&value, a, 4, TO_HOST), INVALID_VALUE);
    assert_int_equal(cuda.free(b), SUCCESS);
}

static void launch_high(const void *function, void **parameters, unsigned height)
{
    assert_int_equal(cuda.launch(function, (word)height << 32 | 1, 1, 1ull << 32 | 1, 1, parameters, 0, NULL), SUCCESS);
}

static void launch(const void *function, void **parameters) { launch_high(function, parameters, 1); }

static void test_a_kernel_may_have_changed_it(void **state)
{
    (void)state;
    int value = 5, back = 0;
    char *a = card_memory(64);
    void *no_arguments[1] = { NULL };
    cuda.enter(NULL, (const char *)&cuda, NULL, "some_kernel", -1, NULL, NULL, NULL, NULL, NULL);
    assert_int_equal(cuda.copy(a, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.launch(&cuda, 1ull << 32 | 1, 1, 1ull << 32 | 1, 1, no_arguments, 0, NULL), SUCCESS);
    assert_int_equal(cuda.copy(&back, a, 4, TO_HOST), SUCCESS);
    assert_int_equal(back, 5);
    assert_int_equal(n_said("4 bytes read back: written by the host"), 1);
    assert_int_equal(cuda.free(a), SUCCESS);
}

/* PyTorch's names, as nvcc mangles them, and parameters of their layouts. */
static void test_kernels_that_are_known(void **state)
{
    static const char fill[1], half[1], add[1], sum[1], count[1], second[1], range[1], cast[1];
    static const struct {
        const char *function, *name;
    } kernels[] = {
        { fill, "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_" },
        { half, "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIN3c104HalfEEESt5arrayIPcLm1EEEEvi"
                "T0_T1_" },
        { add, "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_" },
        { sum, "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIbNS0_9MinMaxOpsIbbiEEjbLi4ELi4EEEEEvT1_" },
        { count, "_ZN14at_cuda_detail3cub18DeviceReduceKernelINS0_9NonZeroOpIbEEPKblEEyS7_iNS5_10__identityEEEvT0_" },
        { range,
          "_ZN50_GLOBAL__N__2fa45684_17_RangeFactories_cu_38772b0829elementwise_kernel_with_indexIiZZZN2at6native"
          "15arange_cuda_outEvENKUlvE_clEvEUllE_EEvT_T0_PN15function_traitsISD_E11result_typeE" },
        { cast, "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_15gpu_kernel_implINS0_10AbsFunctorIfEEEEvRNS_18Tensor"
                "IteratorBaseERKT_EUliE_EEviT1_" },
        { second, "_ZN14at_cuda_detail3cub28DeviceReduceSingleTileKernelIPiS1_iiEEvT0_T1_T2_" },
    };
    (void)state;
    char *a = card_memory(64 * KIB), *b = a + 4096;
    void *output[3] = { a, b, b };
    float value = 1.5f, back = 0;
    uint16_t sixteen = 0x3c00;
    int n = 3, many[300];
    uint64_t fetched;
    void *parameters[3] = { &n, &value, output };
    for (size_t i = 0; i < COUNT(kernels); i++)
        cuda.enter(NULL, kernels[i].function, NULL, kernels[i].name, -1, NULL, NULL, NULL, NULL, NULL);
    memset(many, 7, sizeof many);

    launch(fill, parameters);
    assert_int_equal(cuda.copy(&back, a + 8, 4, TO_HOST), SUCCESS);
    assert_true(back >= 1.5f && back <= 1.5f);
    assert_int_equal(cuda.read(&back, a + 12, 4), PLIM_SHADOW_UNKNOWN);
    parameters[1] = &sixteen;
    launch(half, parameters);
    assert_int_equal(cuda.read(&fetched, a, 4), PLIM_SHADOW_KNOWN);
    assert_memory_equal(&fetched, "\x00\x3c\x00\x3c", 4);

    assert_int_equal(cuda.copy(a, many, sizeof many, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(b, many, sizeof many, TO_DEVICE), SUCCESS);
    launch(add, parameters); /* its inputs stay */
    assert_int_equal(cuda.read(&back, a, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.read(&back, a + 512, 4), PLIM_SHADOW_KEPT);
    assert_int_equal(cuda.read(&back, b, 4), PLIM_SHADOW_KEPT);

    /* an old pointer among the strides, then its buffers */
    void *object[200] = { (void *)1, (void *)"x", [30] = a + 8, [31] = b, [140] = b, [141] = a + 512 };
    parameters[0] = object;
    launch(sum, parameters);
    assert_int_equal(cuda.read(&back, a + 512, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.read(&back, b, 4), PLIM_SHADOW_KEPT);

    n = 3;
    parameters[0] = &n;
    parameters[2] = &output[1];
    launch(range, parameters);
    assert_int_equal(cuda.read(&back, b, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.read(&back, b + 512, 4), PLIM_SHADOW_KEPT);
    parameters[1] = object;
    object[30] = a; /* an old pointer among the strides; the two buffers follow */
    object[63] = b + 512;
    object[64] = a;
    assert_int_equal(cuda.copy(a, many, 4, TO_DEVICE), SUCCESS);
    launch(cast, parameters);
    assert_int_equal(cuda.read(&back, b + 512, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.read(&back, a, 4), PLIM_SHADOW_KEPT);
    assert_int_equal(cuda.copy(b, many, 4, TO_DEVICE), SUCCESS);

    uint64_t n_inputs = 5000;
    parameters[2] = &n_inputs;
    launch(count, parameters);
    launch(second, parameters);
    assert_int_equal(cuda.copy(&fetched, b, 4, TO_HOST), SUCCESS);
    memcpy(&n, &fetched, sizeof n);
    assert_int_equal(n, 0);
    assert_int_equal(n_said("number of selected elements, taken as zero"), 1);
    assert_int_equal(cuda.copy(&n, b, 4, TO_HOST), SUCCESS);
    assert_int_equal(n, 0x07070707);
    assert_int_equal(cuda.free(a), SUCCESS);
}

/* The flag that ends a generation loop, as PyTorch 2.15 computes it; the token is unknown. */
static void test_the_end_of_a_loop(void **state)
{
    static const char fill[1], flags[1], equal[1], either[1], not [1], both[1], max[1], is_zero[1], one_less[1];
    static const struct {
        const char *function, *name;
    } kernels[] = {
        { fill, "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_11FillFunctorIlEESt5arrayIPcLm1ELb0EEEviT0_T1_" },
        { flags,
          "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIbEESt5arrayIPcLm1ELb0EEEviT0_T1_" },
        { equal,
          "_ZN2at6native27unrolled_elementwise_kernelINS0_13BinaryFunctorIllbNS0_51_GLOBAL__N__68c48bfe_18_CompareE"
          "QKernel_cu_d8008c9616CompareEqFunctorIlEEEESt5arrayIPcLm3EELi4E23TrivialOffsetCalculatorILi2EjESA_ILi1E"
          "jENS0_6memory15LoadWithoutCastENSD_16StoreWithoutCastEEEviT_T0_T2_T3_T4_T5_" },
        { either,
          "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIbbbNS0_16BitwiseOrFunctorIbEEEESt5"
          "arrayIPcLm3EELb0EEEviT0_T1_" },
        { not,
          "_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_23bitwise_not_kernel_cudaERNS_18TensorIteratorBaseEE"
          "UlbE_St5arrayIPcLm2EELb0EEEviT0_T1_" },
        { both,
          "_ZN2at6native27unrolled_elementwise_kernelINS0_13BinaryFunctorIlllNS0_17BitwiseAndFunctorIlEEEESt5arrayIP"
          "cLm3EELi4E23TrivialOffsetCalculatorILi2EjES9_ILi1EjENS0_6memory12LoadWithCastILi2EEENSC_13StoreWithCastIL"
          "i1EEEEEviT_T0_T2_T3_T4_T5_" },
        { max,
          "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIlNS0_13MaxNanFunctorIlEEEEjl" },
        { is_zero,
          "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13AUnaryFunctorIllbNS0_51_GLOBAL__N__68c48bfe_18_"
          "CompareEQKernel_cu_d8008c9616CompareEqFunctorIlEEEESt5arrayIPcLm2EELb0EEEviT0_T1_" },
        { one_less,
          "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_22CUDAFunctorOnOther_addIlEESt5arrayIPcLm2EELb0"
          "EEEviT0_T1_" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(kernels); i++)
        cuda.enter(NULL, kernels[i].function, NULL, kernels[i].name, -1, NULL, NULL, NULL, NULL, NULL);
    enum { LONG = 4, BOOL = 11 };
    char *at = card_memory(16 * KIB);
    void *token = at, *end = at + 512, *unfinished = at + 1024, *is_end = at + 1536, *is_long = at + 2048,
         *flag = at + 2560;
    int64_t eos = 2, one = 1, rest = 0, zero_and[2] = { 0, 0 }, less[2] = { 1, -1 };
    const char loads[2] = { LONG, BOOL }, stores[1] = { LONG };
    int n = 1;
    assert_int_equal(cuda.copy(end, &eos, 8, TO_DEVICE), SUCCESS);
    launch(fill, (void *[]){ &n, &one, (void *[]){ unfinished } });
    for (int length = 0; length <= 3; length++) {
        const bool is_over = length == 3;
        int which = 0;
        int object[512] = { [4] = 8, [5] = 1, [6] = 1 };
        launch(flags, (void *[]){ &n, (void *)(uintptr_t)&is_over, (void *[]){ is_long } });
        launch(equal, (void *[]){ &n, &which, (void *[]){ is_end, token, end } });
        launch(either, (void *[]){ &n, &which, (void *[]){ flag, is_long, is_end } });
        launch(not, (void *[]){ &n, &which, (void *[]){ flag, flag } });
        launch(both, (void *[]){ &n, &which, (void *[]){ unfinished, unfinished, flag }, NULL, NULL,
                                 (void *)(uintptr_t)loads, (void *)(uintptr_t)stores });
        memcpy(&object[248], (void *[]){ unfinished, is_end }, 2 * sizeof(void *));
        launch(max, (void *[]){ object });
        launch(is_zero, (void *[]){ &n, zero_and, (void *[]){ flag, is_end } });
        rest = 0;
        assert_int_equal(cuda.read(&rest, flag, 1), PLIM_SHADOW_UNKNOWN);
        assert_int_equal(rest, is_over);
    }
    launch(one_less, (void *[]){ &n, less, (void *[]){ is_end, end } });
    assert_int_equal(cuda.read(&rest, is_end, 8), PLIM_SHADOW_KEPT);
    assert_true(rest == -1);
    assert_int_equal(cuda.free(at), SUCCESS);
}

/* 64-bit integers that kernels compute from known ones. */
static void test_whole_numbers(void **state)
{
    static const char add[1], number[1], compare[1], max[1], min[1], sum[1];
    static const struct {
        const char *function, *name;
    } kernels[] = {
        { add, "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIlEESt5arrayIPcLm3EEEEviT0_T1_" },
        { number,
          "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_21CUDAFunctorOnSelf_addIlEESt5arrayIPcLm2EEEEv" },
        { compare, "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_50_GLOBAL__N__e5_17_CompareKernels_cu_8f1b2"
                   "9aa14CompareFunctorIlEESt5arrayIPcLm3EEEEviT0_T1_" },
        { max,
          "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIlNS0_13MaxNanFunctorIlEEEE" },
        { min,
          "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIlNS0_13MinNanFunctorIlEEEE" },
        { sum,
          "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIlZNS0_11sum_functorIlllEcl" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(kernels); i++)
        cuda.enter(NULL, kernels[i].function, NULL, kernels[i].name, -1, NULL, NULL, NULL, NULL, NULL);
    char *a = card_memory(16 * KIB), *b = a + 4096, *c = a + 8192;
    const int64_t first[3] = { 7, -2, 5 }, second[3] = { 1, 10, 5 };
    int64_t back[3], other[2] = { 100, 2 }, alpha = -1;
    int n = 3, greater = 1;
    void *output[3] = { c, a, b }, *parameters[3] = { &n, &alpha, output };
    assert_int_equal(cuda.copy(a, first, sizeof first, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(b, second, sizeof second, TO_DEVICE), SUCCESS);
    launch(add, parameters);
    assert_int_equal(cuda.read(back, c, sizeof back), PLIM_SHADOW_KNOWN);
    assert_true(back[0] == 6 && back[1] == -12 && back[2] == 0);
    parameters[1] = &greater;
    launch(compare, parameters);
    assert_int_equal(cuda.read(back, c, 3), PLIM_SHADOW_KEPT);
    assert_memory_equal(back, "\x01\x00\x00", 3);
    parameters[1] = other;
    launch(number, parameters);
    cuda.read(back, c, sizeof back);
    assert_true(back[0] == 207 && back[1] == 198);

    int object[512] = { [4] = 8, [5] = 3, [6] = 1, [20] = 1, [21] = 3, [96] = 8 };
    void *buffers[2] = { a, c };
    memcpy(&object[248], buffers, sizeof buffers);
    parameters[0] = object;
    static const struct {
        const char *function;
        int64_t result;
    } reductions[] = { { max, 7 }, { min, -2 }, { sum, 10 } };
    for (size_t i = 0; i < COUNT(reductions); i++) {
        assert_int_equal(cuda.copy(a, first, sizeof first, TO_DEVICE), SUCCESS);
        launch(reductions[i].function, parameters);
        assert_int_equal(cuda.read(back, c, 8), PLIM_SHADOW_KNOWN);
        assert_true(back[0] == reductions[i].result);
    }
    launch(max, parameters); /* a kernel ran since the inputs were written: the result is uncertain */
    assert_int_equal(cuda.read(back, c, 8), PLIM_SHADOW_KEPT);
    object[96] = 16; /* every second one: not read */
    launch(max, parameters);
    assert_int_equal(cuda.read(back, c, 8), PLIM_SHADOW_UNKNOWN);
    object[96] = 8;
    object[5] = object[21] = 4; /* the fourth is unknown */
    launch(max, parameters);
    assert_int_equal(cuda.read(back, c, 8), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.free(a), SUCCESS);
}

/* torch.cat: one block of the grid's height per input; later entries of the list are old. */
static void test_joined(void **state)
{
    static const char cat[1];
    (void)state;
    cuda.enter(
        NULL, cat, NULL,
        "_ZN2at6native40_GLOBAL__N__f1f992fe_8_Shape_cu_49f7391c26CatArrayBatchedCopy_contigINS1_10OpaqueTypeILj8EE"
        "EjLi1ELi128ELi1EEEvPT_NS1_25CatArrInputTensorMetadataIS5_T0_XT2_EXT3_EEENS1_16TensorSizeStrideIS8_Lj4EEEiS8_",
        -1, NULL, NULL, NULL, NULL, NULL);
    struct {
        const void *input[128];
        uint32_t offset[128], size[128], n[128];
    } inputs = { .offset = { 0, 1, 3 }, .size = { 1, 2, 1 }, .n = { 1, 2, 1 } };
    char *a = card_memory(16 * KIB), *output = a + 8192;
    const int64_t numbers[3] = { 5, 6, 7 };
    int64_t back[4] = { 0 };
    uint32_t stride = 1;
    int dimension = 0;
    void *parameters[5] = { &output, &inputs, NULL, &dimension, &stride };
    inputs.input[0] = a + 16;
    inputs.input[1] = inputs.input[2] = a;
    assert_int_equal(cuda.copy(a, numbers, sizeof numbers, TO_DEVICE), SUCCESS);
    launch_high(cat, parameters, 2);
    assert_int_equal(cuda.read(back, output, 3 * sizeof *back), PLIM_SHADOW_KNOWN);
    assert_true(back[0] == 7 && back[1] == 5 && back[2] == 6);
    assert_int_equal(cuda.read(back, output + 3 * sizeof *back, sizeof *back), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_fills(void **state)
{
    (void)state;
    uint32_t back[4];
    char *a = card_memory(64 * KIB);
    const word at = (word)(uintptr_t)a;
    assert_int_equal(cuda.fill(a, 0x81, 10), SUCCESS);
    assert_int_equal(cuda.copy(back, a, 12, TO_HOST), SUCCESS);
    assert_int_equal(back[0], 0x81818181);
    assert_int_equal(back[2], 0x8181);
    assert_int_equal(cuda.fill_32(at + 2, 1, 1), INVALID_VALUE);
    assert_int_equal(cuda.fill_32(at + 4092, 0xdeadbeef, 2), SUCCESS); /* across two pages */
    assert_int_equal(cuda.copy(back, a + 4092, 8, TO_HOST), SUCCESS);
    assert_int_equal(back[0], 0xdeadbeef);
    assert_int_equal(back[1], 0xdeadbeef);
    assert_int_equal(cuda.fill_16(at, 0x1234, 3), SUCCESS);
    assert_int_equal(cuda.copy(back, a, 8, TO_HOST), SUCCESS);
    assert_int_equal(back[0], 0x12341234);
    assert_int_equal(back[1], 0x81811234);
    assert_int_equal(cuda.fill_rows_32(at, 16, 9, 2, 3), SUCCESS);
    assert_int_equal(cuda.copy(back, a + 32, 16, TO_HOST), SUCCESS);
    assert_int_equal(back[1], 9);
    assert_int_equal(back[2], 0);
    assert_int_equal(cuda.fill_2d(a, 4, 0, 8, 2), INVALID_PITCH);
    assert_int_equal(cuda.fill(a, 0, (size_t)1 << 60), INVALID_VALUE);
    assert_int_equal(cuda.fill(back, 0, 4), INVALID_VALUE);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_rows(void **state)
{
    (void)state;
    char mine[3][10] = { "aaaaaaaaa", "bbbbbbbbb", "ccccccccc" }, back[3][4];
    char *a = card_memory(64 * KIB);
    assert_int_equal(cuda.copy_2d(a, 512, mine, 10, 10, 3, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy_2d(back, 4, a + 2, 512, 4, 3, TO_HOST), SUCCESS);
    for (int row = 0; row < 3; row++)
        assert_memory_equal(back[row], mine[row], 4);
    assert_int_equal(cuda.copy_2d(back, 4, a, 512, 8, 3, TO_HOST), INVALID_PITCH);
    assert_int_equal(cuda.copy_2d(back, 4, a, (size_t)1 << 62, 4, 1000, TO_HOST), INVALID_VALUE);

    struct {
        size_t x, y, z, level;
        int type;
        void *host;
        word device;
        void *array, *nothing;
        size_t pitch, height;
    } sides[2] = { { .y = 1, .type = 2, .device = (word)(uintptr_t)a, .pitch = 512 },
                   { .x = 1, .type = 1, .host = back, .pitch = 4 } };
    struct {
        char sides[176];
        size_t width, height, depth;
    } box = { .width = 3, .height = 2, .depth = 1 };
    memcpy(box.sides, sides, sizeof sides);
    memset(back, '-', sizeof back);
    assert_int_equal(cuda.copy_box(&box), SUCCESS);
    assert_memory_equal(back, "-bbb-ccc----", 12);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_wrong_copies_are_refused(void **state)
{
    (void)state;
    char mine[16] = { 0 };
    char *a = card_memory(4 * MIB);
    assert_int_equal(cuda.copy(mine, mine + 8, 8, TO_DEVICE), INVALID_VALUE);
    assert_int_equal(cuda.copy(mine, mine + 8, 8, TO_HOST), INVALID_VALUE);
    assert_int_equal(cuda.copy(a, a + 8, 8, TO_HOST), INVALID_VALUE);
    assert_int_equal(cuda.copy(a, NULL, 8, TO_DEVICE), INVALID_VALUE);
    assert_int_equal(cuda.copy(a, mine, (size_t)1 << 61, TO_DEVICE), INVALID_VALUE);
    assert_int_equal(cuda.copy(a, mine, 8, 9), 21);
    assert_int_equal(cuda.copy(a, mine, 0, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_the_store_is_bounded(void **state)
{
    (void)state;
    static char kept[64 * KIB];
    enum { N = PLIM_SHADOW_STORE_BYTES / (64 * KIB) };
    int back = 0;
    const uint64_t before = cuda.n_evicted();
    char *a = card_memory((size_t)(N + 1) * 64 * KIB);
    memset(kept, 1, sizeof kept);
    for (size_t i = 0; i <= N; i++)
        assert_int_equal(cuda.copy(a + i * sizeof kept, kept, sizeof kept, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.n_evicted(), before + 16);
    assert_int_equal(n_said("the oldest"), 1);
    assert_int_equal(cuda.read(&back, a, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(back, 0);
    assert_int_equal(cuda.read(&back, a + sizeof kept, 4), PLIM_SHADOW_KNOWN);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.read(&back, a + sizeof kept, 4), PLIM_SHADOW_UNKNOWN);
}

static void *churn(void *seed)
{
    uint64_t random = 5 + (uint64_t)(uintptr_t)seed;
    uintptr_t n_wrong = 0;
    for (int i = 0; i < 500; i++) {
        char mine[3000], back[3000];
        void *p = NULL;
        const size_t size = (size_t)random_below(&random, sizeof mine) + 1;
        memset(mine, i, size);
        n_wrong += cuda.malloc(&p, size) != SUCCESS || cuda.copy(p, mine, size, TO_DEVICE) != SUCCESS ||
                   cuda.copy(back, p, size, TO_HOST) != SUCCESS || memcmp(mine, back, size) != 0 ||
                   cuda.free(p) != SUCCESS;
    }
    return (void *)n_wrong;
}

static void test_threads_do_not_see_each_other(void **state)
{
    (void)state;
    pthread_t threads[16];
    for (uintptr_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *n_wrong;
        pthread_join(threads[i], &n_wrong);
        assert_null(n_wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_what_the_host_wrote_comes_back),
        cmocka_unit_test(test_what_nobody_wrote_is_zero_and_counted),
        cmocka_unit_test(test_values_go_when_memory_does),
        cmocka_unit_test(test_a_kernel_may_have_changed_it),
        cmocka_unit_test(test_kernels_that_are_known),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_the_end_of_a_loop),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_fills),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_wrong_copies_are_refused),
        cmocka_unit_test(test_the_store_is_bounded),
        cmocka_unit_test(test_threads_do_not_see_each_other),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
