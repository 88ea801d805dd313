/* SPDX-License-Identifier: MIT */
/*
 * The memory that a card takes for allocations: probe info | malloc | vmm | pool | overhead. NVIDIA's libraries are
 * opened by name, so that one program runs on a card and on a virtual one. A line of JSON per step: what was taken in
 * bytes, as cudaMemGetInfo or NVML see it, or the error. Other programs must leave the card alone.
 *
 * Exit status: 0, or 77 when there is no card.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1 << 10, MIB = 1 << 20, SKIPPED = 77 };
typedef unsigned long long word;

static void *runtime, *driver, *nvml;

/* A function, or NULL: older libraries lack some. */
static void *find(void *library, const char *name) { return library ? dlsym(library, name) : NULL; }

#define FUNCTION(library, type, name, parameters)                                                                      \
    type(*name) parameters;                                                                                            \
    do {                                                                                                               \
        void *found_ = find(library, #name);                                                                           \
        memcpy(&name, &found_, sizeof found_);                                                                         \
    } while (0)

static void *open_one_of(const char *const *names)
{
    void *library = NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
    return library;
}

static void say(const char *step, long long bytes) { printf("{\"step\": \"%s\", \"bytes\": %lld}\n", step, bytes); }
static void say_error(const char *step, int error) { printf("{\"step\": \"%s\", \"error\": %d}\n", step, error); }

static size_t free_of(size_t *ret_total)
{
    size_t left = 0;
    FUNCTION(runtime, int, cudaMemGetInfo, (size_t *, size_t *));
    int error = cudaMemGetInfo(&left, ret_total);
    if (error) {
        say_error("cudaMemGetInfo", error);
        exit(1);
    }
    return left;
}

static size_t free_bytes(void)
{
    size_t total;
    return free_of(&total);
}

/* --- the card --- */

struct memory_info {
    word total, free, used;
};

static void *nvml_device(void)
{
    void *device = NULL;
    FUNCTION(nvml, int, nvmlInit_v2, (void));
    FUNCTION(nvml, int, nvmlDeviceGetHandleByIndex_v2, (unsigned, void **));
    if (!nvmlInit_v2 || !nvmlDeviceGetHandleByIndex_v2 || nvmlInit_v2() || nvmlDeviceGetHandleByIndex_v2(0, &device))
        return NULL;
    return device;
}

static word nvml_used(void *device)
{
    struct memory_info info = { 0, 0, 0 };
    FUNCTION(nvml, int, nvmlDeviceGetMemoryInfo, (void *, struct memory_info *));
    if (nvmlDeviceGetMemoryInfo)
        nvmlDeviceGetMemoryInfo(device, &info);
    return info.used;
}

static int info(void)
{
    char name[96] = "", version[96] = "";
    int runtime_version = 0, n = 0;
    struct memory_info memory = { 0, 0, 0 };
    void *device = nvml_device();
    FUNCTION(nvml, int, nvmlDeviceGetName, (void *, char *, unsigned));
    FUNCTION(nvml, int, nvmlSystemGetDriverVersion, (char *, unsigned));
    FUNCTION(nvml, int, nvmlDeviceGetMemoryInfo, (void *, struct memory_info *));
    FUNCTION(runtime, int, cudaRuntimeGetVersion, (int *));
    FUNCTION(runtime, int, cudaGetDeviceCount, (int *));
    if (!device || !cudaGetDeviceCount || cudaGetDeviceCount(&n) || n == 0) {
        fprintf(stderr, "probe: there is no card\n");
        return SKIPPED;
    }
    if (nvmlDeviceGetName)
        nvmlDeviceGetName(device, name, sizeof name);
    if (nvmlSystemGetDriverVersion)
        nvmlSystemGetDriverVersion(version, sizeof version);
    if (nvmlDeviceGetMemoryInfo)
        nvmlDeviceGetMemoryInfo(device, &memory);
    if (cudaRuntimeGetVersion)
        cudaRuntimeGetVersion(&runtime_version);
    printf("{\"card\": \"%s\", \"driver\": \"%s\", \"runtime\": %d, \"total_bytes\": %llu, \"is_virtual\": %s}\n", name,
           version, runtime_version, memory.total, getenv("PLIM_VGPU_LEDGER") ? "true" : "false");
    return 0;
}

/* --- cudaMalloc: how requests are rounded --- */

static int probe_malloc(void)
{
    static const size_t sizes[] = { 1,           512,      513,          64 * KIB,  MIB - 1,
                                    MIB,         MIB + 1,  2 * MIB - 1,  2 * MIB,   2 * MIB + 1,
                                    3 * MIB + 7, 10 * MIB, 20 * MIB + 1, 128 * MIB, 200 * MIB + 1 };
    enum { N_SIZES = sizeof sizes / sizeof *sizes, N_SMALL = 5000 };
    static void *pointers[N_SMALL];
    char step[64];
    FUNCTION(runtime, int, cudaMalloc, (void **, size_t));
    FUNCTION(runtime, int, cudaFree, (void *));
    size_t total = 0;
    cudaFree(NULL);
    const size_t start = free_of(&total);
    say("the card", (long long)total);
    for (int i = 0; i < N_SIZES; i++) {
        void *p = NULL;
        const size_t before = free_bytes();
        int error = cudaMalloc(&p, sizes[i]);
        snprintf(step, sizeof step, "cudaMalloc %zu", sizes[i]);
        if (error)
            say_error(step, error);
        else
            say(step, (long long)(before - free_bytes()));
        cudaFree(p);
    }
    static const size_t small[] = { 256, 512, 4096, 40000 };
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        const size_t before = free_bytes();
        int error = 0;
        for (int i = 0; i < N_SMALL; i++)
            error = error ? error : cudaMalloc(&pointers[i], small[k]);
        snprintf(step, sizeof step, "%d times cudaMalloc %zu", (int)N_SMALL, small[k]);
        if (error)
            say_error(step, error);
        else
            say(step, (long long)(before - free_bytes()));
        for (int i = 0; i < N_SMALL; i++)
            cudaFree(pointers[i]);
    }
    say("still held when all is freed", (long long)(start - free_bytes()));
    return 0;
}

/* --- mapped memory --- */

static int probe_vmm(void)
{
    struct {
        int type, handle_types, location_type, location_id;
        char rest[16];
    } prop = { 1, 0, 1, 0, { 0 } };
    const struct {
        int location_type, location_id, flags;
    } access = { 1, 0, 3 };
    word space = 0, handle = 0;
    size_t granularity = 0;
    FUNCTION(runtime, int, cudaFree, (void *));
    FUNCTION(driver, int, cuMemGetAllocationGranularity, (size_t *, const void *, int));
    FUNCTION(driver, int, cuMemAddressReserve, (word *, size_t, size_t, word, word));
    FUNCTION(driver, int, cuMemAddressFree, (word, size_t));
    FUNCTION(driver, int, cuMemCreate, (word *, size_t, const void *, word));
    FUNCTION(driver, int, cuMemRelease, (word));
    FUNCTION(driver, int, cuMemMap, (word, size_t, size_t, word, word));
    FUNCTION(driver, int, cuMemUnmap, (word, size_t));
    FUNCTION(driver, int, cuMemSetAccess, (word, size_t, const void *, size_t));
    cudaFree(NULL);
    int error = cuMemGetAllocationGranularity(&granularity, &prop, 0);
    say("granularity", error ? -error : (long long)granularity);
    const size_t size = 32 * MIB, start = free_bytes();
    if ((error = cuMemAddressReserve(&space, (size_t)64 << 30, 0, 0, 0)))
        say_error("cuMemAddressReserve", error);
    say("64 GiB reserved", (long long)(start - free_bytes()));
    if ((error = cuMemCreate(&handle, size, &prop, 0)))
        say_error("cuMemCreate", error);
    say("32 MiB created", (long long)(start - free_bytes()));
    if ((error = cuMemMap(space, size, 0, handle, 0)) || (error = cuMemSetAccess(space, size, &access, 1)))
        say_error("cuMemMap", error);
    say("mapped", (long long)(start - free_bytes()));
    cuMemRelease(handle);
    say("released, still mapped", (long long)(start - free_bytes()));
    cuMemUnmap(space, size);
    say("unmapped", (long long)(start - free_bytes()));
    cuMemAddressFree(space, (size_t)64 << 30);
    say("freed", (long long)(start - free_bytes()));
    return 0;
}

/* --- stream ordered allocation --- */

static int probe_pool(void)
{
    static const size_t sizes[] = { 1, 100 * KIB, 3 * MIB, 40 * MIB + 1 };
    enum { N = sizeof sizes / sizeof *sizes };
    void *p[N] = { NULL }, *pool = NULL;
    char step[64];
    FUNCTION(runtime, int, cudaFree, (void *));
    FUNCTION(runtime, int, cudaMallocAsync, (void **, size_t, void *));
    FUNCTION(runtime, int, cudaFreeAsync, (void *, void *));
    FUNCTION(runtime, int, cudaStreamSynchronize, (void *));
    FUNCTION(runtime, int, cudaDeviceGetDefaultMemPool, (void **, int));
    FUNCTION(runtime, int, cudaMemPoolTrimTo, (void *, size_t));
    cudaFree(NULL);
    const size_t start = free_bytes();
    for (int i = 0; i < N; i++) {
        int error = cudaMallocAsync(&p[i], sizes[i], NULL);
        cudaStreamSynchronize(NULL);
        snprintf(step, sizeof step, "cudaMallocAsync %zu", sizes[i]);
        if (error)
            say_error(step, error);
        else
            say(step, (long long)(start - free_bytes()));
    }
    for (int i = 0; i < N; i++)
        cudaFreeAsync(p[i], NULL);
    cudaStreamSynchronize(NULL);
    say("all freed", (long long)(start - free_bytes()));
    int error = cudaDeviceGetDefaultMemPool(&pool, 0);
    if (!error)
        error = cudaMemPoolTrimTo(pool, 0);
    if (error)
        say_error("cudaMemPoolTrimTo", error);
    else
        say("trimmed", (long long)(start - free_bytes()));
    return 0;
}

/* --- overhead --- */

struct unique_id {
    char bytes[128];
};

/* By NVML, which also sees what comes before the first call of CUDA. */
static int probe_overhead(void)
{
    static const char *const blas[] = { "libcublas.so.13", "libcublas.so.12", NULL };
    static const char *const dnn[] = { "libcudnn.so.9", NULL };
    static const char *const collectives[] = { "libnccl.so.2", NULL };
    void *device = nvml_device(), *handle = NULL;
    struct unique_id id;
    word before = nvml_used(device), after;
    FUNCTION(runtime, int, cudaFree, (void *));
    say("before", (long long)before);
    int error = cudaFree(NULL);
    after = nvml_used(device);
    if (error)
        say_error("context", error);
    else
        say("context", (long long)(after - before));

    void *library = open_one_of(blas);
    FUNCTION(library, int, cublasCreate_v2, (void **));
    before = nvml_used(device);
    if (cublasCreate_v2 && !(error = cublasCreate_v2(&handle)))
        say("cublasCreate", (long long)(nvml_used(device) - before));
    library = open_one_of(dnn);
    FUNCTION(library, int, cudnnCreate, (void **));
    before = nvml_used(device);
    if (cudnnCreate && !(error = cudnnCreate(&handle)))
        say("cudnnCreate", (long long)(nvml_used(device) - before));
    library = open_one_of(collectives);
    FUNCTION(library, int, ncclGetUniqueId, (struct unique_id *));
    FUNCTION(library, int, ncclCommInitRank, (void **, int, struct unique_id, int));
    before = nvml_used(device);
    if (ncclGetUniqueId && ncclCommInitRank && !ncclGetUniqueId(&id) && !ncclCommInitRank(&handle, 1, id, 0))
        say("ncclCommInitRank, 1 rank", (long long)(nvml_used(device) - before));
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const runtimes[] = { "libcudart.so.13", "libcudart.so.12", "libcudart.so", NULL };
    static const char *const drivers[] = { "libcuda.so.1", NULL }, *const tools[] = { "libnvidia-ml.so.1", NULL };
    static const struct {
        const char *name;
        int (*run)(void);
    } probes[] = { { "info", info },
                   { "malloc", probe_malloc },
                   { "vmm", probe_vmm },
                   { "pool", probe_pool },
                   { "overhead", probe_overhead } };
    nvml = open_one_of(tools);
    driver = open_one_of(drivers);
    runtime = open_one_of(runtimes);
    if (!nvml || !driver || !runtime) {
        fprintf(stderr, "probe: %s is not there\n", !nvml ? "NVML" : !driver ? "the driver" : "the CUDA runtime");
        return SKIPPED;
    }
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (argc == 2 && !strcmp(argv[1], probes[i].name))
            return probes[i].run();
    fprintf(stderr, "probe info | malloc | vmm | pool | overhead\n");
    return 2;
}
