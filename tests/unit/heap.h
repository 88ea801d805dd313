/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_HEAP_H
#define PLIMSOLL_TESTS_HEAP_H

/*
 * A heap that counts: malloc() and its family as the library's objects call them, by the linker's --wrap. What shared
 * libraries allocate for themselves is not seen.
 */

#include <stddef.h>

size_t heap_live_bytes(void);
size_t heap_live_blocks(void);

/* The most bytes that were live since the last heap_start(). */
size_t heap_peak_bytes(void);
void heap_start(void);

#endif
