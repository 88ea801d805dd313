/* SPDX-License-Identifier: MIT */
/* Diffuse heat in a cube of N x N x N cells: heat3d N STEPS */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *field(size_t n, const char *what)
{
    double *cells = calloc(n * n * n, sizeof *cells);
    if (!cells) {
        fprintf(stderr, "heat3d: field '%s' of %zu cells, %.1f GB: %s\n", what, n * n * n,
                n * n * n * sizeof *cells / 1e9, strerror(errno));
        exit(1);
    }
    return cells;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: heat3d N STEPS\n");
        return 2;
    }
    size_t n = strtoul(argv[1], NULL, 10);
    int steps = atoi(argv[2]);
    printf("heat3d: grid %zu^3, %d steps\n", n, steps);
    fflush(stdout);
    double *now = field(n, "now"), *next = field(n, "next");
    now[(n / 2 * n + n / 2) * n + n / 2] = 1000.0;
    for (int step = 0; step < steps; step++) {
        for (size_t x = 1; x + 1 < n; x++)
            for (size_t y = 1; y + 1 < n; y++)
                for (size_t z = 1; z + 1 < n; z++) {
                    size_t i = (x * n + y) * n + z;
                    next[i] = now[i] + 0.1 * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n] + now[i - n * n] +
                                              now[i + n * n] - 6 * now[i]);
                }
        double *old = now;
        now = next;
        next = old;
    }
    printf("centre: %.6f K\n", now[(n / 2 * n + n / 2) * n + n / 2]);
    free(now);
    free(next);
    return 0;
}
