/* SPDX-License-Identifier: MIT */
/* holder MIB [DEVICE]: a process that holds so much memory of a GPU until it is ended; with 0, one that only sleeps. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of libcuda, as documented in NVIDIA's driver API. */
struct driver {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*context)(void **, unsigned, int);
    int (*allocate)(unsigned long long *, size_t);
};

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (!address) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return address;
}

static int hold(size_t bytes, int number)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    struct driver cuda;
    unsigned long long address;
    int device;
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&cuda.init = symbol(library, "cuInit");
    *(void **)&cuda.device = symbol(library, "cuDeviceGet");
    *(void **)&cuda.context = symbol(library, "cuCtxCreate_v2");
    *(void **)&cuda.allocate = symbol(library, "cuMemAlloc_v2");
    return cuda.init(0) || cuda.device(&device, number) || cuda.context(&context, 0, device) ||
           cuda.allocate(&address, bytes);
}

int main(int argc, char **argv)
{
    const size_t mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (mib && hold(mib << 20, argc > 2 ? atoi(argv[2]) : 0)) {
        fprintf(stderr, "holder: no memory\n");
        return 1;
    }
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
