/* SPDX-License-Identifier: MIT */
/* What the libraries of CUDA 11 do otherwise than those of 12 and 13: structures, parameters, the time of a context. */
#include "unit.h"
#include "virtual.h"

enum {
    SUCCESS = 0,
    NOT_FOUND = 500,
    PROPERTIES_11 = 728,
    PROPERTIES_12 = 1032,
    TOTAL_MEMORY = 288,
    MAJOR = 360,
    RESERVED_SHARED = 720,
    POOLS_OF_12 = 744,
    GUARD = 0x5a
};

static struct {
    int (*set_device)(int);
    int (*get_device)(int *);
    int (*properties)(void *, int);
    int (*entry)(const char *, void **, unsigned long long);
    int (*malloc)(void **, size_t);
    int (*version)(int *);
    int (*current)(void **);
} cuda;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024,1024", 1);
    void *runtime = open_library("libcudart.so.11.0");
    take(open_library("libcuda.so.1"), "cuCtxGetCurrent", &cuda.current);
    take(runtime, "cudaSetDevice", &cuda.set_device);
    take(runtime, "cudaGetDevice", &cuda.get_device);
    take(runtime, "cudaGetDeviceProperties", &cuda.properties);
    take(runtime, "cudaGetDriverEntryPoint", &cuda.entry);
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaRuntimeGetVersion", &cuda.version);
    return 0;
}

static int int_at(const unsigned char *bytes, size_t at)
{
    int value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

/* Of 11, no byte is written behind its end; 12 has it by the old name, and more by the new one. */
static void test_properties(void **state)
{
    (void)state;
    int (*of_12)(void *, int), (*old_of_12)(void *, int);
    unsigned char eleven[PROPERTIES_12], old[PROPERTIES_12], twelve[PROPERTIES_12];
    void *runtime = open_library("libcudart.so.12");
    take(runtime, "cudaGetDeviceProperties", &old_of_12);
    take(runtime, "cudaGetDeviceProperties_v2", &of_12);
    memset(eleven, GUARD, sizeof eleven);
    memset(old, GUARD, sizeof old);
    assert_int_equal(cuda.properties(eleven, 0), SUCCESS);
    assert_int_equal(old_of_12(old, 0), SUCCESS);
    assert_int_equal(of_12(twelve, 0), SUCCESS);
    for (size_t i = PROPERTIES_11; i < PROPERTIES_12; i++)
        assert_int_equal(eleven[i], GUARD);
    assert_memory_equal(eleven, old, sizeof eleven);
    assert_memory_equal(eleven, twelve, PROPERTIES_11);
    assert_int_equal(int_at(eleven, MAJOR), 8);
    assert_true(int_at(eleven, TOTAL_MEMORY) > 0);
    assert_int_equal(int_at(eleven, RESERVED_SHARED), 1024);
    assert_int_equal(int_at(twelve, POOLS_OF_12), 1);
}

/* It takes three parameters: what is in the register of a fourth is not written to. */
static void test_entry_point(void **state)
{
    (void)state;
    void *function = NULL;
    assert_int_equal(cuda.entry("cuGraphInstantiate", &function, 0), SUCCESS);
    void *wanted;
    take(open_library("libcuda.so.1"), "cuGraphInstantiate_v2", &wanted);
    assert_ptr_equal(function, wanted);
    assert_int_equal(cuda.entry("cuNoSuchFunction", &function, 0), NOT_FOUND);
}

/* Of CUDA 11, cudaSetDevice() makes no context; the next call that needs one does. */
static void test_context_comes_late(void **state)
{
    (void)state;
    void *context = &context, *memory = NULL;
    int device = -1, version = 0;
    assert_int_equal(cuda.version(&version), SUCCESS);
    assert_int_equal(version / 1000, 11);
    assert_int_equal(cuda.set_device(1), SUCCESS);
    assert_int_equal(cuda.current(&context), SUCCESS);
    assert_null(context);
    assert_int_equal(cuda.get_device(&device), SUCCESS);
    assert_int_equal(device, 1);
    assert_int_equal(cuda.malloc(&memory, 4096), SUCCESS);
    assert_int_equal(cuda.current(&context), SUCCESS);
    assert_non_null(context);
    assert_int_equal(cuda.set_device(0), SUCCESS);
    assert_int_equal(cuda.current(&context), SUCCESS);
    assert_null(context);
}

/* A recurrent layer of cuDNN 8: its input comes with the call, and its weights are where those of cuDNN 9 are. */
static void test_recurrent_layer(void **state)
{
    (void)state;
    enum { BATCH = 4, INPUT = 8, HIDDEN = 16, STEPS = 5, LSTM = 2, FLOAT = 0, GATES = 4 };
    void *library = open_library("libcudnn.so.8"), *handle, *layer, *tensor, *filter, *dropout;
    int (*create)(void **), (*create_layer)(void **), (*create_tensor)(void **), (*create_filter)(void **);
    int (*create_dropout)(void **), (*set_tensor)(void *, int, int, const int *, const int *);
    int (*set_layer)(void *, void *, int, int, void *, int, int, int, int, int);
    int (*weights)(void *, void *, void *, size_t *, int), (*work)(void *, void *, int, void *const *, size_t *);
    int (*place)(void *, void *, int, void *, void *, const void *, int, void *, void **);
    int (*filter_of)(void *, int, int *, int *, int *, int *);
    const char *(*text)(int);
    take(library, "cudnnCreate", &create);
    take(library, "cudnnCreateRNNDescriptor", &create_layer);
    take(library, "cudnnCreateTensorDescriptor", &create_tensor);
    take(library, "cudnnCreateFilterDescriptor", &create_filter);
    take(library, "cudnnCreateDropoutDescriptor", &create_dropout);
    take(library, "cudnnSetTensorNdDescriptor", &set_tensor);
    take(library, "cudnnSetRNNDescriptor_v6", &set_layer);
    take(library, "cudnnGetRNNParamsSize", &weights);
    take(library, "cudnnGetRNNWorkspaceSize", &work);
    take(library, "cudnnGetRNNLinLayerMatrixParams", &place);
    take(library, "cudnnGetFilterNdDescriptor", &filter_of);
    take(library, "cudnnGetErrorString", &text);
    assert_int_equal(create(&handle), SUCCESS);
    assert_int_equal(create_layer(&layer), SUCCESS);
    assert_int_equal(create_tensor(&tensor), SUCCESS);
    assert_int_equal(create_filter(&filter), SUCCESS);
    assert_int_equal(create_dropout(&dropout), SUCCESS);
    assert_int_equal(set_tensor(tensor, FLOAT, 3, (const int[]){ BATCH, INPUT, 1 }, (const int[]){ INPUT, 1, 1 }),
                     SUCCESS);
    assert_int_equal(set_layer(handle, layer, HIDDEN, 1, dropout, 0, 0, LSTM, 0, FLOAT), SUCCESS);

    size_t bytes = 0;
    assert_int_equal(weights(handle, layer, tensor, &bytes, FLOAT), SUCCESS);
    assert_int_equal(bytes, 4 * GATES * HIDDEN * (INPUT + HIDDEN + 2)); /* torch.nn.LSTM(8, 16).parameters() */
    void *const steps[STEPS] = { tensor, tensor, tensor, tensor, tensor };
    assert_int_equal(work(handle, layer, STEPS, steps, &bytes), SUCCESS);
    assert_int_equal(bytes, 4 * GATES * HIDDEN * BATCH * STEPS);

    void *start = NULL;
    char *space = (char *)0x10000;
    int type, format, n, size[3];
    assert_int_equal(place(handle, layer, 0, tensor, NULL, space, GATES, filter, &start), SUCCESS);
    assert_ptr_equal(start, space + 4 * GATES * HIDDEN * INPUT); /* the first gate of the state */
    assert_int_equal(filter_of(filter, 3, &type, &format, &n, size), SUCCESS);
    assert_int_equal(n, 3);
    assert_int_equal(size[1] * size[2], HIDDEN * HIDDEN);
    assert_int_equal(place(handle, layer, 1, tensor, NULL, space, 0, filter, &start), 3);
    assert_string_equal(text(3), "CUDNN_STATUS_BAD_PARAM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_context_comes_late),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_entry_point),
        cmocka_unit_test(test_recurrent_layer),
    };
    return cmocka_run_group_tests_name("cuda11", tests, set_up, NULL);
}
