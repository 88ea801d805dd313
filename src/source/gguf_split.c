/* SPDX-License-Identifier: MIT */
#include "source/gguf_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool five_digits(const char *text, uint32_t *ret_number)
{
    uint32_t number = 0;
    for (int i = 0; i < 5; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (uint32_t)(text[i] - '0');
    }
    *ret_number = number;
    return true;
}

bool plim_split_parse(const char *path, uint32_t *ret_part, uint32_t *ret_count)
{
    size_t length = strlen(path);
    if (length < PLIM_SPLIT_SUFFIX)
        return false;
    const char *suffix = path + length - PLIM_SPLIT_SUFFIX;
    uint32_t part, count;
    if (suffix[0] != '-' || strncmp(suffix + 6, "-of-", 4) || strcmp(suffix + 15, ".gguf"))
        return false;
    if (!five_digits(suffix + 1, &part) || !five_digits(suffix + 10, &count) || part < 1 || part > count)
        return false;
    *ret_part = part;
    *ret_count = count;
    return true;
}

bool plim_split_path(const char *path, uint32_t part, uint32_t count, char *buffer, size_t size)
{
    int prefix = (int)(strlen(path) - PLIM_SPLIT_SUFFIX);
    int n = snprintf(buffer, size, "%.*s-%05" PRIu32 "-of-%05" PRIu32 ".gguf", prefix, path, part, count);
    return n > 0 && (size_t)n < size;
}
