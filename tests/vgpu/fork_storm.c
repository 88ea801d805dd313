/* SPDX-License-Identifier: MIT */
/*
 * Threads use the preloaded library while others fork, and their children use it at once: a lock that a thread held at
 * that moment would never be given back in the child.
 *
 *     fork_storm LIBRARY
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_THREADS = 3, N_FORKS = 300, MAPPED = 1 << 16, HANGS_S = 60 };
static const off_t hollow_bytes = 32 << 20;

static void *(*map)(void *address, size_t size, int protection, int flags, int fd, long offset);
static int (*advise)(void *address, size_t size, int advice);
static int hollow_fd;
static atomic_bool is_over;

static bool use(void)
{
    void *start = map(NULL, MAPPED, PROT_READ, MAP_PRIVATE, hollow_fd, 0);
    return start != MAP_FAILED && advise(start, MAPPED, MADV_WILLNEED) == 0 && munmap(start, MAPPED) == 0;
}

static void *work(void *unused)
{
    while (!atomic_load(&is_over) && use())
        continue;
    return unused;
}

static bool one_fork(void)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        alarm(HANGS_S);
        _exit(use() ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    pthread_t thread[N_THREADS];
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    FILE *hollow = tmpfile();
    int n = 0;
    if (!library || !hollow || ftruncate(fileno(hollow), hollow_bytes) < 0)
        return 2;
    hollow_fd = fileno(hollow);
    *(void **)&map = dlsym(library, "mmap64");
    *(void **)&advise = dlsym(library, "madvise");
    if (!map || !advise)
        return 2;
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_create(&thread[i], NULL, work, NULL) != 0)
            return 2;
    while (n < N_FORKS && one_fork())
        n++;
    atomic_store(&is_over, true);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(thread[i], NULL);
    fclose(hollow);
    printf("%d of %d children came back\n", n, N_FORKS);
    return n == N_FORKS ? 0 : 1;
}
