/* SPDX-License-Identifier: MIT */
/* Two processes step an ocean model and pass halos through POSIX shared memory: halo_exchange COLUMNS LEVELS STEPS */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int step_ocean(double *halo, size_t columns, size_t levels, int steps)
{
    for (int step = 0; step < steps; step++) {
        for (size_t level = 0; level < levels; level++) {
            double *layer = halo + level * columns;
            for (size_t column = 0; column < columns; column++)
                layer[column] = 0.5 * layer[column] + 4.0 + (double)level / levels;
            if (level % 16 == 0)
                fprintf(stderr, "step %d level %zu/%zu\n", step, level, levels);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s COLUMNS LEVELS STEPS\n", argv[0]);
        return 2;
    }
    size_t columns = strtoul(argv[1], NULL, 10), levels = strtoul(argv[2], NULL, 10);
    size_t bytes = columns * levels * sizeof(double);
    int file = shm_open("/ocean-halo", O_CREAT | O_RDWR, 0600);
    if (file < 0 || ftruncate(file, (off_t)bytes)) {
        perror("/dev/shm/ocean-halo");
        return 1;
    }
    double *halo = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (halo == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    printf("halo /dev/shm/ocean-halo: %zu columns x %zu levels, %.1f MiB\n", columns, levels, bytes / 1048576.0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        return step_ocean(halo, columns, levels, atoi(argv[3]));
    int status;
    waitpid(child, &status, 0);
    shm_unlink("/ocean-halo");
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "rank 1 ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
        return 1;
    }
    printf("mean temperature of level 0: %.3f\n", halo[0]);
    return 0;
}
