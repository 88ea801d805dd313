/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LOG_TEXT_H
#define PLIMSOLL_ENGINE_LOG_TEXT_H

/* Numbers, sizes and names in a line of a log. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A size as it was printed: 4403.49 MiB is these bytes, give or take half of its last digit. */
struct plim_log_size {
    uint64_t bytes, half_bytes;
};

/* "4403.49 MiB", "636,18 MiB", "1.9 GiB", "0 B"; spaces before and between do not matter. Returns the end, or NULL. */
const char *plim_log_size(const char *text, struct plim_log_size *ret_size);

/* "8192", "49,152", "-12"; spaces before do not matter. Returns the end, or NULL (also for 2^62 and more). */
const char *plim_log_number(const char *text, int64_t *ret_number);

/* The text after the first `word` in the line; NULL without it. */
const char *plim_log_after(const char *line, const char *word);

/* The device behind a buffer's name: "CUDA0", "ROCm1", "Vulkan0" are gpu0, gpu1, gpu0; "CPU_Mapped" is host. */
void plim_log_device_id(const char *name, size_t length, char *buffer, size_t size);

#endif
