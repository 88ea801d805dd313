/* SPDX-License-Identifier: MIT */
/*
 * The time of calls of the virtual GPU: calls FOLDER. A target is an upper limit; the ratio is the measured time to it.
 * Each figure is the minimum of several rounds, to leave out other load. Exit status 1: a target is missed.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_LIVE = 100000, N_ROUNDS = 5, GRANULE = 2 << 20 };
typedef unsigned long long word;

static struct {
    void (*enter)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*launch)(const void *, word, unsigned, word, unsigned, void **, size_t, void *);
    int (*copy)(void *, const void *, size_t, int);
    int (*fill)(void *, int, size_t);
    int (*event_create)(void **);
    int (*event_record)(void *, void *);
    int (*event_query)(void *);
    int (*attributes)(void *, const void *);
    int (*last_error)(void);
    int (*reserve)(word *, size_t, size_t, word, word);
    int (*create)(word *, size_t, const void *, word);
    int (*release)(word);
    int (*map)(word, size_t, size_t, word, word);
    int (*unmap)(word, size_t);
    int (*access)(word, size_t, const void *, size_t);
} cuda;

static void *live[N_LIVE], *event, *memory;
static word space, handles[N_LIVE];
static int n_errors;

static void take(void *library, const char *name, void *slot)
{
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "calls: %s is not there: %s\n", name, dlerror());
        exit(2);
    }
    memcpy(slot, &found, sizeof found);
}

static void check(int error) { n_errors += error != 0; }

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- timed calls --- */

static const char kernel[1];
static void launch_nothing(void) { check(cuda.launch(kernel, 1ull << 32 | 1, 1, 1ull << 32 | 1, 1, NULL, 0, NULL)); }
/* a + b of 16 Mi elements, as PyTorch 2.15 launches it; its name says the meaning. */
enum { N_ELEMENTS = 16 << 20 };
static const char addition[1];
static const char addition_name[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EELb0EEEviT0_T1_";
static float *tensors[3];

static void launch_addition(void)
{
    int n = N_ELEMENTS;
    float alpha = 1;
    void *parameters[] = { &n, &alpha, tensors };
    check(cuda.launch(addition, 1ull << 32 | 8192, 1, 1ull << 32 | 128, 1, parameters, 0, NULL));
}

static void ask_for_error(void) { check(cuda.last_error()); }

static void allocate_and_free(void)
{
    void *p = NULL;
    check(cuda.malloc(&p, 1 << 20));
    check(cuda.free(p));
}

/* Free the oldest allocation and make another, as in a queue. */
static void replace(void)
{
    static size_t next;
    check(cuda.free(live[next]));
    check(cuda.malloc(&live[next], 4096));
    next = (next + 1) % N_LIVE;
}

static void copy_8_bytes_back(void)
{
    word value = 1;
    check(cuda.copy(memory, &value, sizeof value, 1));
    check(cuda.copy(&value, memory, sizeof value, 2));
}

/* The values of as many tensors as there are allocations are known. */
static void write_and_read_one(void)
{
    word value = 1;
    static size_t next;
    check(cuda.copy(live[next], &value, sizeof value, 1));
    check(cuda.copy(&value, live[next], sizeof value, 2));
    next = (next + 7919) % N_LIVE;
}

static void record_and_query(void)
{
    check(cuda.event_record(event, NULL));
    check(cuda.event_query(event));
}

static void ask_whose_pointer(void)
{
    char attributes[128];
    static size_t next;
    check(cuda.attributes(attributes, live[next]));
    next = (next + 7919) % N_LIVE;
}

static void map_one(size_t i)
{
    const int prop[8] = { 1, 0, 1, 0 }, access[3] = { 1, 0, 3 };
    const word at = space + (word)i * GRANULE;
    check(cuda.create(&handles[i], GRANULE, prop, 0));
    check(cuda.map(at, GRANULE, 0, handles[i], 0));
    check(cuda.access(at, GRANULE, access, 1));
}

static void unmap_one(size_t i)
{
    check(cuda.unmap(space + (word)i * GRANULE, GRANULE));
    check(cuda.release(handles[i]));
}

static void map_and_unmap(void)
{
    static size_t next;
    unmap_one(next);
    map_one(next);
    next = (next + 7919) % N_LIVE;
}

/* --- */

static double least_ns(void (*call)(void), int n_calls)
{
    double least = 0;
    for (int round = 0; round < N_ROUNDS; round++) {
        const double start = now_ns();
        for (int i = 0; i < n_calls; i++)
            call();
        const double each = (now_ns() - start) / n_calls;
        least = round == 0 || each < least ? each : least;
    }
    return least;
}

static bool is_met = true;

static double row(const char *what, void (*call)(void), int n_calls, double target_ns)
{
    const double ns = least_ns(call, n_calls);
    if (target_ns > 0) {
        printf("%-58s %8.0f ns %8.0f ns %8.2f\n", what, ns, target_ns, ns / target_ns);
        is_met = is_met && ns <= target_ns;
    } else {
        printf("%-58s %8.0f ns %11s %8s\n", what, ns, "-", "-");
    }
    return ns;
}

/* A launch whose meaning is computed may take 250 ns more, whatever the size of the tensors. */
static void launch_with_meaning(double launch_ns)
{
    enum { MORE_NS = 250 };
    if (!dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL)) { /* whose demangler reads the name */
        printf("a kernel with a meaning: skipped, the C++ library is not there\n");
        return;
    }
    cuda.enter(NULL, addition, NULL, addition_name, -1, NULL, NULL, NULL, NULL, NULL);
    for (int i = 0; i < 3; i++)
        check(cuda.malloc((void **)&tensors[i], N_ELEMENTS * sizeof *tensors[i]));
    row("launch of a + b, both unknown", launch_addition, 100000, launch_ns + MORE_NS);
    check(cuda.fill(tensors[1], 1, N_ELEMENTS * sizeof *tensors[1]));
    row("launch of a + b, unknown and constant", launch_addition, 100000, launch_ns + MORE_NS);
    check(cuda.fill(tensors[2], 1, N_ELEMENTS * sizeof *tensors[2]));
    row("launch of a + b, both constant", launch_addition, 100000, launch_ns + MORE_NS);
    for (int i = 0; i < 3; i++)
        check(cuda.free(tensors[i]));
}

int main(int argc, char **argv)
{
    char path[2][4096];
    if (argc != 2)
        return 2;
    setenv("PLIM_VGPU_RAW", "1048576", 1);
    snprintf(path[0], sizeof path[0], "%s/libcuda.so.1", argv[1]);
    snprintf(path[1], sizeof path[1], "%s/libcudart.so.13", argv[1]);
    void *driver = dlopen(path[0], RTLD_NOW | RTLD_GLOBAL), *runtime = dlopen(path[1], RTLD_NOW | RTLD_GLOBAL);
    take(runtime, "__cudaRegisterFunction", &cuda.enter);
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaLaunchKernel", &cuda.launch);
    take(runtime, "cudaMemcpy", &cuda.copy);
    take(runtime, "cudaMemset", &cuda.fill);
    take(runtime, "cudaEventCreate", &cuda.event_create);
    take(runtime, "cudaEventRecord", &cuda.event_record);
    take(runtime, "cudaEventQuery", &cuda.event_query);
    take(runtime, "cudaPointerGetAttributes", &cuda.attributes);
    take(runtime, "cudaPeekAtLastError", &cuda.last_error);
    take(driver, "cuMemAddressReserve", &cuda.reserve);
    take(driver, "cuMemCreate", &cuda.create);
    take(driver, "cuMemRelease", &cuda.release);
    take(driver, "cuMemMap", &cuda.map);
    take(driver, "cuMemUnmap", &cuda.unmap);
    take(driver, "cuMemSetAccess", &cuda.access);

    printf("%-58s %11s %11s %8s\n", "call of the virtual GPU", "measured", "at most", "ratio");
    cuda.enter(NULL, kernel, NULL, "nothing", -1, NULL, NULL, NULL, NULL, NULL);
    check(cuda.event_create(&event));
    check(cuda.malloc(&memory, 1 << 20));
    const double launch_ns = row("kernel launch", launch_nothing, 200000, 200);
    launch_with_meaning(launch_ns);
    row("cudaPeekAtLastError", ask_for_error, 200000, 0);
    row("cudaEventRecord + cudaEventQuery", record_and_query, 100000, 0);
    row("8 bytes to the card and back", copy_8_bytes_back, 100000, 0);
    row("cudaMalloc + cudaFree, nothing else held", allocate_and_free, 50000, 1000);
    for (size_t i = 0; i < N_LIVE; i++)
        check(cuda.malloc(&live[i], 4096));
    row("cudaMalloc + cudaFree, 100,000 held", allocate_and_free, 50000, 1000);
    row("cudaFree of the oldest of 100,000 + cudaMalloc", replace, 50000, 1000);
    row("8 bytes to the card and back, 100,000 values held", write_and_read_one, 200000, 2000);
    row("cudaPointerGetAttributes, 100,000 held", ask_whose_pointer, 50000, 0);
    check(cuda.reserve(&space, (size_t)N_LIVE * GRANULE, 0, 0, 0));
    for (size_t i = 0; i < N_LIVE; i++)
        map_one(i);
    row("cuMemUnmap, Release, Create, Map, SetAccess, 100,000 held", map_and_unmap, 20000, 2000);
    if (n_errors)
        fprintf(stderr, "calls: %d calls failed\n", n_errors);
    printf("targets: %s\n", is_met && !n_errors ? "kept" : "NOT kept");
    return is_met && !n_errors ? 0 : 1;
}
