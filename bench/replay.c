/* SPDX-License-Identifier: MIT */
/*
 * Events per second of PyTorch's allocator as it is modelled here, on one core: replay SNAPSHOT. The snapshot is read
 * once; its requests go through a new allocator again and again for some seconds of processor time.
 */
#include "trace/requests.h"
#include "trace/snapshot.h"

#include <stdio.h>
#include <time.h>

enum { SECONDS = 2 };

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run(const struct plim_trace_requests *requests, const struct plim_torch_settings *settings,
               struct plim_error *error)
{
    struct plim_torch_allocator *allocator;
    const struct plim_torch_setup setup = { .settings = *settings,
                                            .capacity_bytes = UINT64_MAX,
                                            .n_ids = requests->n_ids,
                                            .n_streams = requests->n_streams,
                                            .n_pools = requests->n_pools };
    int result = plim_torch_allocator_open(&setup, &allocator, error);
    if (result < 0)
        return result;
    for (size_t i = 0; i < requests->n_segments && result == 0; i++)
        result = plim_torch_allocator_adopt(allocator, &requests->segments[i], error);
    if (result == 0)
        result = plim_torch_allocator_run(allocator, requests->events, requests->n_events, error);
    plim_torch_allocator_free(allocator);
    return result;
}

static int measure(const struct plim_trace_requests *requests, const char *conf, struct plim_error *error)
{
    struct plim_torch_settings settings;
    size_t n_events = 0;
    double elapsed = 0;
    plim_torch_settings_init(&settings);
    int result = plim_torch_settings_parse(&settings, conf, error);
    const double start = cpu_s();
    for (; result == 0 && elapsed < SECONDS; elapsed = cpu_s() - start) {
        result = run(requests, &settings, error);
        n_events += requests->n_events;
    }
    if (result == 0)
        printf("%6.1f million events/s  %5.1f ns each  %s\n", 1e-6 * (double)n_events / elapsed,
               1e9 * elapsed / (double)n_events, *conf ? conf : "default settings");
    return result;
}

int main(int argc, char **argv)
{
    static const char *const confs[] = { "", "expandable_segments:True", "max_split_size_mb:32" };
    struct plim_memory_trace trace = { 0 };
    struct plim_trace_requests requests = { 0 };
    struct plim_torch_settings settings;
    struct plim_error error = { 0 };
    int result = argc == 2 ? plim_snapshot_open(argv[1], &trace, &error) : -1;
    if (result == 0)
        result = plim_snapshot_settings(&trace, &settings, &error);
    if (result == 0)
        result = plim_trace_requests_make(&trace, 0, &settings, &requests, &error);
    for (size_t i = 0; i < sizeof confs / sizeof *confs && result == 0; i++)
        result = measure(&requests, confs[i], &error);
    if (result < 0)
        fprintf(stderr, "replay: %s\n", argc == 2 ? error.what : "usage: replay SNAPSHOT");
    plim_trace_requests_done(&requests);
    plim_snapshot_done(&trace);
    return result < 0;
}
