/* SPDX-License-Identifier: MIT */
/* Sizes as people write them: read sizes are in range, and written sizes can be read again. */
#include "fuzz.h"

#include "base/units.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[64], written[PLIM_SIZE_TEXT];
    uint64_t bytes = 0, again = 0;
    int64_t number = 0;
    size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    if (plim_size_parse(text, &bytes)) {
        FUZZ_REQUIRE(bytes < (uint64_t)1 << 63);
        plim_size_text(written, bytes);
        if (bytes < (uint64_t)1 << 50) { /* larger ones are written in units that are not read */
            FUZZ_REQUIRE(plim_size_parse(written, &again));
            FUZZ_REQUIRE((again > bytes ? again - bytes : bytes - again) <= bytes / 100);
        }
    }
    memcpy(&number, data, size < sizeof number ? size : sizeof number);
    FUZZ_REQUIRE(strlen(plim_size_text(written, (uint64_t)number)) < PLIM_SIZE_TEXT);
    FUZZ_REQUIRE(strlen(plim_size_text_signed(written, number)) < PLIM_SIZE_TEXT);
    return 0;
}
