/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_RESIDENT_H
#define PLIMSOLL_TESTS_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The memory that the mapping with this address takes, by the kernel; SIZE_MAX: there is none. */
static inline size_t resident_bytes(const void *address)
{
    char line[256];
    unsigned long long kib = 0, start, end;
    const unsigned long long at = (unsigned long long)(uintptr_t)address;
    bool is_here = false;
    FILE *file = fopen("/proc/self/smaps", "re");
    while (file && fgets(line, sizeof line, file) && !(is_here && sscanf(line, "Rss: %llu", &kib) == 1))
        if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
            is_here = start <= at && at < end;
    if (file)
        fclose(file);
    return is_here ? (size_t)kib * 1024 : SIZE_MAX;
}

#endif
