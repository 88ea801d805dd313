/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_FUZZ_FUZZ_H
#define PLIMSOLL_FUZZ_FUZZ_H

/* Shared by the harnesses. */

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A broken promise is a finding, like a crash. */
#define FUZZ_REQUIRE(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* The size of the file whose header the input is. */
#define FUZZ_FILE_BYTES ((uint64_t)1 << 50)

/* What was reported is fit for a terminal: characters that are shown, line ends, and colours. */
static inline void fuzz_require_shown(const char *text, size_t size)
{
    uint32_t code;
    for (size_t at = 0, n; at < size; at += n) {
        n = plim_text_character(text + at, size - at, &code);
        if (code == '\033' && at + 3 < size && text[at + 1] == '[') {
            const size_t n_digits = strspn(text + at + 2, "0123456789");
            FUZZ_REQUIRE(n_digits && text[at + 2 + n_digits] == 'm');
            n = n_digits + 3;
            continue;
        }
        FUZZ_REQUIRE(code == '\n' || plim_text_is_shown(code));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
