/* SPDX-License-Identifier: MIT */
/*
 * The program that is rehearsed while calls fail: takes 3 times 64 MiB of the virtual GPU, and says so. `program stay`
 * then waits for a minute, beside a child that does the same.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_S = 60, N_BLOCKS = 3, BLOCK_MIB = 64 };

int main(int argc, char **argv)
{
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW), *memory;
    int (*take)(void **, size_t) = NULL;
    if (runtime)
        *(void **)&take = dlsym(runtime, "cudaMalloc");
    for (int i = 0; i < N_BLOCKS; i++)
        if (!take || take(&memory, (size_t)BLOCK_MIB << 20) != 0)
            return 9;
    puts("took 192 MiB");
    fflush(stdout);
    if (argc > 1 && !strcmp(argv[1], "stay")) {
        fork();
        sleep(WAIT_S);
    }
    return 0;
}
