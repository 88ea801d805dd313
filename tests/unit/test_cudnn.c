/* SPDX-License-Identifier: MIT */
/* The virtual cuDNN: descriptors, weights of recurrent layers, plans with a workspace. */
#include "unit.h"
#include "virtual.h"

#include "vgpu/core/session.h"

enum { SUCCESS = 0, BAD_PARAM = 2000, NOT_FINALIZED = 2004, SIZE_INSUFFICIENT = 2006, ATTRIBUTE_TYPE = 2010 };
enum { FLOAT = 0, HALF = 2, LSTM = 2, GRU = 3, DOUBLE_BIAS = 2, OF_DATA_TYPE = 1, OF_INT64 = 3, OF_DESCRIPTOR = 15 };

static void *library, *handle;

static struct {
    int (*create)(int, void **);
    int (*destroy)(void *);
    int (*set)(void *, int, int, int64_t, const void *);
    int (*get)(const void *, int, int, int64_t, int64_t *, void *);
    int (*finalize)(void *);
    int (*execute)(void *, void *, void *);
    int (*make_tensor)(void **);
    int (*set_tensor)(void *, int, int, const int *, const int *);
    int (*get_tensor)(const void *, int, int *, int *, int *, int *);
} dnn;

static int set_up(void **state)
{
    int (*create)(void **);
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    open_library("libcuda.so.1");
    library = open_library("libcudnn.so.9");
    take(library, "cudnnCreate", &create);
    take(library, "cudnnBackendCreateDescriptor", &dnn.create);
    take(library, "cudnnBackendDestroyDescriptor", &dnn.destroy);
    take(library, "cudnnBackendSetAttribute", &dnn.set);
    take(library, "cudnnBackendGetAttribute", &dnn.get);
    take(library, "cudnnBackendFinalize", &dnn.finalize);
    take(library, "cudnnBackendExecute", &dnn.execute);
    take(library, "cudnnCreateTensorDescriptor", &dnn.make_tensor);
    take(library, "cudnnSetTensorNdDescriptor", &dnn.set_tensor);
    take(library, "cudnnGetTensorNdDescriptor", &dnn.get_tensor);
    return create(&handle);
}

static void test_tensors(void **state)
{
    (void)state;
    void *tensor = NULL;
    const int size[] = { 2, 3, 4 }, step[] = { 12, 4, 1 }, wrong[] = { 2, 0, 4 };
    int type = -1, n = -1, sizes[5] = { 0 }, steps[5] = { 0 };
    int (*destroy)(void *);
    take(library, "cudnnDestroyTensorDescriptor", &destroy);
    assert_int_equal(dnn.make_tensor(&tensor), SUCCESS);
    assert_int_equal(dnn.set_tensor(tensor, HALF, 3, size, step), SUCCESS);
    assert_int_equal(dnn.get_tensor(tensor, 5, &type, &n, sizes, steps), SUCCESS);
    assert_int_equal(type, HALF);
    assert_int_equal(n, 3);
    assert_memory_equal(sizes, size, sizeof size);
    assert_memory_equal(steps, step, sizeof step);
    assert_int_equal(dnn.set_tensor(tensor, HALF, 3, wrong, step), BAD_PARAM);
    assert_int_equal(dnn.set_tensor(tensor, 99, 3, size, step), BAD_PARAM);
    assert_int_equal(dnn.set_tensor(tensor, HALF, 9, size, step), BAD_PARAM);
    assert_int_equal(dnn.set_tensor(handle, HALF, 3, size, step), BAD_PARAM);
    assert_int_equal(destroy(tensor), SUCCESS);
    assert_int_equal(destroy(tensor), BAD_PARAM);
    assert_int_equal(dnn.get_tensor(tensor, 5, &type, &n, sizes, steps), BAD_PARAM);
}

/* All matrices and biases fill the space: without overlaps and within it. */
static void weights_fill_the_space(int cell, int n_gates, int direction, int hidden, int projection)
{
    enum { INPUT = 5, N_LAYERS = 2 };
    void *rnn = NULL, *matrix = NULL, *bias = NULL;
    size_t bytes = 0, sum = 0;
    static char space[1 << 16], used[1 << 16];
    int (*create)(void **), (*size)(void *, void *, size_t *);
    int (*set)(void *, int, int, int, int, int, int, int, int, int, int, int, int, void *, unsigned);
    int (*weight)(void *, void *, int, size_t, void *, int, void *, void **, void *, void **);
    take(library, "cudnnCreateRNNDescriptor", &create);
    take(library, "cudnnSetRNNDescriptor_v8", &set);
    take(library, "cudnnGetRNNWeightSpaceSize", &size);
    take(library, "cudnnGetRNNWeightParams", &weight);
    assert_int_equal(create(&rnn), SUCCESS);
    assert_int_equal(dnn.make_tensor(&matrix), SUCCESS);
    assert_int_equal(dnn.make_tensor(&bias), SUCCESS);
    assert_int_equal(size(handle, rnn, &bytes), BAD_PARAM); /* not set yet */
    assert_int_equal(
        set(rnn, 0, cell, DOUBLE_BIAS, direction, 0, FLOAT, FLOAT, 0, INPUT, hidden, projection, N_LAYERS, NULL, 0),
        SUCCESS);
    assert_int_equal(size(handle, rnn, &bytes), SUCCESS);
    assert_in_range(bytes, 1, sizeof space);
    memset(used, 0, sizeof used);
    for (int layer = 0; layer < N_LAYERS * (1 + direction); layer++)
        for (int linear = 0; linear < 2 * n_gates + (projection != hidden); linear++) {
            void *at[2] = { NULL, NULL };
            assert_int_equal(weight(handle, rnn, layer, bytes, space, linear, matrix, &at[0], bias, &at[1]), SUCCESS);
            for (int which = 0; which < 2; which++) {
                int type, n, sizes[3] = { 0 }, steps[3];
                assert_int_equal(dnn.get_tensor(which ? bias : matrix, 3, &type, &n, sizes, steps), SUCCESS);
                assert_int_equal(n == 0, at[which] == NULL);
                const size_t one = n ? (size_t)sizes[0] * (size_t)sizes[1] * (size_t)sizes[2] * sizeof(float) : 0;
                for (size_t i = 0; i < one; i++)
                    assert_int_equal(used[(char *)at[which] - space + (ptrdiff_t)i]++, 0);
                sum += one;
            }
        }
    assert_int_equal(sum, bytes);
    void *at = NULL;
    assert_int_equal(weight(handle, rnn, 0, bytes - 1, space, 0, matrix, &at, NULL, NULL), SIZE_INSUFFICIENT);
    assert_int_equal(weight(handle, rnn, 0, bytes, space, 99, matrix, &at, NULL, NULL), BAD_PARAM);
    assert_int_equal(weight(handle, rnn, 99, bytes, space, 0, matrix, &at, NULL, NULL), BAD_PARAM);
    assert_int_equal(weight(handle, rnn, 0, bytes, space, 0, NULL, NULL, bias, &at), SUCCESS);
}

static void test_recurrent_weights(void **state)
{
    (void)state;
    weights_fill_the_space(LSTM, 4, 0, 8, 8);
    weights_fill_the_space(LSTM, 4, 1, 8, 3);
    weights_fill_the_space(GRU, 3, 1, 7, 7);
    weights_fill_the_space(0, 1, 0, 4, 4);
}

static void *made(int type)
{
    void *descriptor = NULL;
    assert_int_equal(dnn.create(type, &descriptor), SUCCESS);
    return descriptor;
}

static void *tensor_of(const int64_t size[4], const int64_t step[4])
{
    void *tensor = made(17);
    const int type = HALF;
    assert_int_equal(dnn.set(tensor, 901, OF_DATA_TYPE, 1, &type), SUCCESS);
    assert_int_equal(dnn.set(tensor, 902, OF_INT64, 4, size), SUCCESS);
    assert_int_equal(dnn.set(tensor, 903, OF_INT64, 4, step), SUCCESS);
    assert_int_equal(dnn.finalize(tensor), SUCCESS);
    return tensor;
}

static void set_one(void *descriptor, int name, void *other)
{
    assert_int_equal(dnn.set(descriptor, name, OF_DESCRIPTOR, 1, &other), SUCCESS);
}

static int64_t number_of(const void *descriptor, int name)
{
    int64_t count = 0, number = -1;
    assert_int_equal(dnn.get(descriptor, name, OF_INT64, 1, &count, &number), SUCCESS);
    return number;
}

static float elapsed_ms(void *plan, void *pack)
{
    int (*make)(void **, unsigned), (*record)(void *, void *), (*elapsed)(float *, void *, void *);
    void *driver = open_library("libcuda.so.1"), *events[2] = { NULL, NULL };
    float ms = 0;
    take(driver, "cuEventCreate", &make);
    take(driver, "cuEventRecord", &record);
    take(driver, "cuEventElapsedTime", &elapsed);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(make(&events[i], 0), SUCCESS);
        assert_int_equal(i ? dnn.execute(handle, plan, pack) : SUCCESS, SUCCESS);
        assert_int_equal(record(events[i], NULL), SUCCESS);
    }
    assert_int_equal(elapsed(&ms, events[0], events[1]), SUCCESS);
    return ms;
}

/* The second engine of the same graph: no workspace, and a program that measures does not take it. */
static void without_a_workspace(void *heuristics)
{
    void *configs[3] = { made(3), made(3), made(3) }, *engine = made(2), *own = made(2), *plan = made(5),
         *pack = made(16);
    void *own_config = made(3), *own_plan = made(5);
    const int64_t index = 1;
    int64_t count = -1;
    assert_int_equal(dnn.get(heuristics, 202, OF_DESCRIPTOR, 1, &count, configs), SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(dnn.get(heuristics, 202, OF_DESCRIPTOR, 3, &count, configs), SUCCESS);
    assert_int_equal(count, 2);
    assert_int_equal(dnn.get(configs[1], 300, OF_DESCRIPTOR, 1, &count, &engine), SUCCESS);
    assert_int_equal(number_of(engine, 1301), index);
    set_one(plan, 401, configs[1]);
    assert_int_equal(dnn.finalize(plan), SUCCESS);
    assert_int_equal(number_of(plan, 402), 0);
    assert_int_equal(dnn.finalize(pack), SUCCESS);
    assert_true(elapsed_ms(plan, pack) >= 1000);
    /* as cudnn-frontend does from the number of an engine */
    void *graph = made(15);
    assert_int_equal(dnn.get(engine, 1300, OF_DESCRIPTOR, 1, &count, &graph), SUCCESS);
    set_one(own, 1300, graph);
    assert_int_equal(dnn.set(own, 1301, OF_INT64, 1, &index), SUCCESS);
    assert_int_equal(dnn.finalize(own), SUCCESS);
    set_one(own_config, 300, own);
    assert_int_equal(dnn.finalize(own_config), SUCCESS);
    set_one(own_plan, 401, own_config);
    assert_int_equal(dnn.finalize(own_plan), SUCCESS);
    assert_int_equal(number_of(own_plan, 402), 0);
}

/* From an operation to a plan in the order of cudnn-frontend, which destroys descriptors early. */
static void test_a_convolution(void **state)
{
    (void)state;
    const int64_t size[] = { 2, 4, 8, 8 }, first[] = { 256, 64, 8, 1 }, last[] = { 256, 1, 32, 4 };
    void *x = tensor_of(size, first), *w = tensor_of(size, last), *y = tensor_of(size, first);
    void *operation = made(10), *graph = made(15), *heuristics = made(4), *config = made(3), *plan = made(5);
    void *engine = made(2), *pack = made(16);
    int64_t count = -1, bytes = -1;
    set_one(operation, 703, w);
    set_one(operation, 704, x);
    set_one(operation, 705, y);
    assert_int_equal(dnn.finalize(operation), SUCCESS);
    assert_int_equal(dnn.destroy(x), SUCCESS);
    set_one(graph, 801, operation);
    set_one(heuristics, 201, graph);
    assert_int_equal(dnn.finalize(heuristics), NOT_FINALIZED);
    assert_int_equal(dnn.finalize(graph), SUCCESS);
    assert_int_equal(dnn.get(heuristics, 202, OF_DESCRIPTOR, 0, &count, NULL), NOT_FINALIZED);
    assert_int_equal(dnn.finalize(heuristics), SUCCESS);
    assert_int_equal(dnn.get(heuristics, 202, OF_DESCRIPTOR, 0, &count, NULL), SUCCESS);
    assert_int_equal(count, 2);
    without_a_workspace(heuristics);
    assert_int_equal(dnn.get(heuristics, 202, OF_DESCRIPTOR, 1, &count, &engine), BAD_PARAM);
    assert_int_equal(dnn.get(heuristics, 202, OF_DESCRIPTOR, 1, &count, &config), SUCCESS);
    assert_int_equal(dnn.get(config, 300, OF_DESCRIPTOR, 1, &count, &engine), SUCCESS);
    assert_int_equal(dnn.get(engine, 1303, 11, 8, &count, NULL), SUCCESS); /* no numerical notes */
    assert_int_equal(count, 0);
    assert_int_equal(dnn.finalize(plan), BAD_PARAM);
    set_one(plan, 401, config);
    assert_int_equal(dnn.execute(handle, plan, pack), NOT_FINALIZED);
    assert_int_equal(dnn.finalize(plan), SUCCESS);
    assert_int_equal(dnn.finalize(pack), SUCCESS);
    assert_int_equal(dnn.get(plan, 402, OF_INT64, 1, &count, &bytes), SUCCESS);
    assert_int_equal(bytes, 2 * 2 * 4 * 8 * 8 * 2); /* x and y; the channels of w are last */
    assert_int_equal(dnn.execute(handle, plan, pack), SUCCESS);
    assert_int_equal(dnn.execute(handle, pack, plan), BAD_PARAM);
    assert_int_equal(dnn.execute(NULL, plan, pack), BAD_PARAM);
    assert_int_equal(dnn.set(plan, 401, OF_DESCRIPTOR, 1, &config), BAD_PARAM); /* it is final */
    assert_int_equal(dnn.destroy(plan), SUCCESS);
    assert_int_equal(dnn.execute(handle, plan, pack), BAD_PARAM);
}

static void test_attributes(void **state)
{
    (void)state;
    void *tensor = made(17), *none = NULL;
    int64_t id = 42, got[2] = { 0, 0 }, count = -1;
    assert_int_equal(dnn.create(-1, &none), 3000);
    assert_int_equal(dnn.create(1000, &none), 3000);
    assert_int_equal(dnn.set(tensor, 906, OF_INT64, -1, &id), BAD_PARAM);
    assert_int_equal(dnn.set(tensor, 906, OF_INT64, INT64_MAX / 4, &id), BAD_PARAM);
    assert_int_equal(dnn.set(tensor, 906, OF_INT64, 1, &id), SUCCESS);
    assert_int_equal(dnn.finalize(tensor), SUCCESS);
    assert_int_equal(dnn.get(tensor, 906, OF_INT64, 2, &count, got), SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(got[0], 42);
    assert_int_equal(got[1], 0);
    assert_int_equal(dnn.get(tensor, 906, OF_DATA_TYPE, 1, &count, got), ATTRIBUTE_TYPE);
    assert_int_equal(dnn.get(tensor, 902, OF_INT64, 1, &count, got), SUCCESS);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_recurrent_weights),
        cmocka_unit_test(test_a_convolution),
        cmocka_unit_test(test_attributes),
    };
    return cmocka_run_group_tests_name("cudnn", tests, set_up, NULL);
}
