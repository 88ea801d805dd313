/* SPDX-License-Identifier: MIT */
/* --schedule lazy: work in streams is done when the program waits for it, not before. */
#include "unit.h"
#include "virtual.h"

enum { SUCCESS = 0, NOT_READY = 600, NON_BLOCKING = 1, QUEUE_LENGTH = 1024, MOST_QUESTIONS = 100 };

static struct {
    void (*enter)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*launch)(const void *, unsigned long long, unsigned, unsigned long long, unsigned, void **, size_t, void *);
    int (*copy)(void *, const void *, size_t, int);
    int (*stream)(void **, unsigned);
    int (*stream_destroy)(void *);
    int (*stream_wait)(void *);
    int (*stream_query)(void *);
    int (*stream_order)(void *, void *, unsigned);
    int (*event)(void **, unsigned);
    int (*record)(void *, void *);
    int (*query)(void *);
    int (*wait)(void *);
    int (*synchronize)(void);
} cuda;

static const char kernel[1];
static void *streams[12], *event, *other;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    setenv("PLIM_VGPU_SCHEDULE", "lazy", 1);
    open_library("libcuda.so.1");
    void *runtime = open_library("libcudart.so.13");
    take(runtime, "__cudaRegisterFunction", &cuda.enter);
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaLaunchKernel", &cuda.launch);
    take(runtime, "cudaMemcpy", &cuda.copy);
    take(runtime, "cudaStreamCreateWithFlags", &cuda.stream);
    take(runtime, "cudaStreamDestroy", &cuda.stream_destroy);
    take(runtime, "cudaStreamSynchronize", &cuda.stream_wait);
    take(runtime, "cudaStreamQuery", &cuda.stream_query);
    take(runtime, "cudaStreamWaitEvent", &cuda.stream_order);
    take(runtime, "cudaEventCreateWithFlags", &cuda.event);
    take(runtime, "cudaEventRecord", &cuda.record);
    take(runtime, "cudaEventQuery", &cuda.query);
    take(runtime, "cudaEventSynchronize", &cuda.wait);
    take(runtime, "cudaDeviceSynchronize", &cuda.synchronize);
    cuda.enter(NULL, kernel, NULL, "nothing", -1, NULL, NULL, NULL, NULL, NULL);
    for (size_t i = 0; i < COUNT(streams); i++)
        if (cuda.stream(&streams[i], NON_BLOCKING))
            return -1;
    return cuda.event(&event, 2) || cuda.event(&other, 2);
}

static void launch(void *stream)
{
    assert_int_equal(cuda.launch(kernel, 1ull << 32 | 1, 1, 1ull << 32 | 1, 1, NULL, 0, stream), SUCCESS);
}

static void record_behind_work(void *recorded, void *stream)
{
    launch(stream);
    assert_int_equal(cuda.record(recorded, stream), SUCCESS);
    assert_int_equal(cuda.query(recorded), NOT_READY);
}

static void test_what_waiting_ends(void **state)
{
    (void)state;
    void *p = NULL;
    char byte = 0;
    assert_int_equal(cuda.query(event), SUCCESS); /* never recorded */
    assert_int_equal(cuda.record(event, streams[0]), SUCCESS);
    assert_int_equal(cuda.query(event), SUCCESS); /* after no work */
    record_behind_work(event, streams[0]);
    assert_int_equal(cuda.stream_query(streams[0]), NOT_READY);
    assert_int_equal(cuda.stream_wait(streams[1]), SUCCESS); /* of another */
    assert_int_equal(cuda.query(event), NOT_READY);
    assert_int_equal(cuda.stream_wait(streams[0]), SUCCESS);
    assert_int_equal(cuda.query(event), SUCCESS);
    assert_int_equal(cuda.stream_query(streams[0]), SUCCESS);

    record_behind_work(event, streams[0]);
    launch(streams[0]);
    assert_int_equal(cuda.wait(event), SUCCESS);
    assert_int_equal(cuda.query(event), SUCCESS);
    assert_int_equal(cuda.stream_query(streams[0]), NOT_READY); /* the work after the event */

    record_behind_work(event, streams[0]);
    assert_int_equal(cuda.synchronize(), SUCCESS);
    assert_int_equal(cuda.query(event), SUCCESS);

    record_behind_work(event, streams[0]);
    assert_int_equal(cuda.malloc(&p, 8), SUCCESS);
    assert_int_equal(cuda.query(event), NOT_READY);
    assert_int_equal(cuda.copy(p, &byte, 1, 1), SUCCESS); /* waits for the default stream, not for this one */
    assert_int_equal(cuda.query(event), NOT_READY);
    assert_int_equal(cuda.free(p), SUCCESS);
    assert_int_equal(cuda.query(event), SUCCESS);

    void *blocking = NULL;
    assert_int_equal(cuda.stream(&blocking, 0), SUCCESS);
    record_behind_work(event, blocking);
    assert_int_equal(cuda.stream_wait(NULL), SUCCESS);
    assert_int_equal(cuda.query(event), SUCCESS);
    record_behind_work(event, blocking);
    assert_int_equal(cuda.stream_destroy(blocking), SUCCESS);
    assert_int_equal(cuda.query(event), SUCCESS);
}

static void test_streams_that_wait_for_others(void **state)
{
    (void)state;
    record_behind_work(event, streams[0]);
    assert_int_equal(cuda.stream_order(streams[1], event, 0), SUCCESS);
    assert_int_equal(cuda.record(other, streams[1]), SUCCESS);
    assert_int_equal(cuda.query(other), NOT_READY);
    assert_int_equal(cuda.stream_order(streams[2], other, 0), SUCCESS);
    assert_int_equal(cuda.stream_wait(streams[2]), SUCCESS);
    assert_int_equal(cuda.query(other), SUCCESS);
    assert_int_equal(cuda.query(event), SUCCESS);

    record_behind_work(event, streams[0]); /* in a circle, and for more events than are kept */
    for (size_t i = 0; i < COUNT(streams); i++) {
        record_behind_work(other, streams[i]);
        assert_int_equal(cuda.stream_order(streams[(i + 1) % COUNT(streams)], other, 0), SUCCESS);
        if (i > 0)
            assert_int_equal(cuda.stream_order(streams[0], other, 0), SUCCESS);
    }
    assert_int_equal(cuda.stream_wait(streams[0]), SUCCESS);
    assert_int_equal(cuda.query(event), SUCCESS);
    assert_int_equal(cuda.query(other), SUCCESS);
}

static void test_what_ends_by_itself(void **state)
{
    (void)state;
    record_behind_work(event, streams[3]);
    for (int i = 0; i < QUEUE_LENGTH; i++) {
        assert_int_equal(cuda.query(event), NOT_READY);
        launch(streams[3]);
    }
    assert_int_equal(cuda.query(event), SUCCESS); /* a card would have made the program wait */

    int n = 0;
    record_behind_work(event, streams[4]);
    while (cuda.query(event) == NOT_READY && n < 10 * MOST_QUESTIONS)
        n++;
    assert_in_range(n, MOST_QUESTIONS / 2, 2 * MOST_QUESTIONS); /* a polling program gets its answer */
    n = 0;
    launch(streams[5]);
    while (cuda.stream_query(streams[5]) == NOT_READY && n < 10 * MOST_QUESTIONS)
        n++;
    assert_in_range(n, MOST_QUESTIONS / 2, 2 * MOST_QUESTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_waiting_ends),
        cmocka_unit_test(test_streams_that_wait_for_others),
        cmocka_unit_test(test_what_ends_by_itself),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
