/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_UNITS_H
#define PLIMSOLL_BASE_UNITS_H

/* Bytes and spans of time as people write them. MiB, GiB and hours exist only here: else there are bytes and seconds.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLIM_KIB ((uint64_t)1 << 10)
#define PLIM_MIB ((uint64_t)1 << 20)
#define PLIM_GIB ((uint64_t)1 << 30)

enum { PLIM_SIZE_TEXT = 24 };

/*
 * Read a size: "7.5GiB", "8192MiB", "8G" (= GiB), "8GB" (= GiB, as memory is sold), "512m", plain bytes. Case and one
 * space before the unit do not matter. False for anything else, and for sizes of 2^63 bytes or more.
 */
bool plim_size_parse(const char *text, uint64_t *ret_bytes);

/* "512 B", "1.50 KiB", "258.50 MiB", "5.06 GiB": three significant places or two decimals. Returns buffer. */
char *plim_size_text(char buffer[PLIM_SIZE_TEXT], uint64_t bytes);

/* The same with a sign in front: "+1.02 GiB", "-300 MiB". Returns buffer. */
char *plim_size_text_signed(char buffer[PLIM_SIZE_TEXT], int64_t bytes);

/* --- spans of time --- */

enum { PLIM_SPAN_TEXT_BYTES = 32 };

/*
 * Read a span: "90s", "10m", "2h", "1.5h", "3d", "1h30m", plain seconds; "min" and one space before a unit are taken
 * too. False for anything else, and for spans of more than ten thousand years.
 */
bool plim_span_parse(const char *text, int64_t *ret_seconds);

/* "40 s", "12 min", "6 h 20 min", "3.5 days". Returns buffer. */
const char *plim_span_text(char buffer[PLIM_SPAN_TEXT_BYTES], int64_t seconds);

static inline uint64_t plim_align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

#endif
