/* SPDX-License-Identifier: MIT */
/* Names in all their forms: parts of a split, types, quantization recipes, versions of the engine; and text made safe
 * to show. */
#include "fuzz.h"

#include "base/text.h"
#include "engine/llamacpp/epoch.h"
#include "model/quant_recipe_rules.h"
#include "plimsoll/quant_recipe.h"
#include "source/gguf_split.h"

#include <string.h>

static void check_split(const char *text)
{
    char path[512];
    uint32_t part = 0, count = 0, part_again = 0, count_again = 0;
    if (!plim_split_parse(text, &part, &count))
        return;
    FUZZ_REQUIRE(part >= 1 && part <= count && count <= 99999);
    FUZZ_REQUIRE(plim_split_path(text, part, count, path, sizeof path) && !strcmp(path, text));
    FUZZ_REQUIRE(plim_split_parse(path, &part_again, &count_again) && part_again == part && count_again == count);
    FUZZ_REQUIRE(!plim_split_path(text, part, count, path, strlen(text)));
}

static void check_clean(char *text)
{
    char once[300];
    plim_text_clean(text);
    memcpy(once, text, strlen(text) + 1);
    FUZZ_REQUIRE(!strchr(text, '\n') && !strchr(text, '\033'));
    fuzz_require_shown(text, strlen(text));
    plim_text_clean(text);
    FUZZ_REQUIRE(!strcmp(once, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[300];
    struct plim_epoch epoch;
    struct plim_error error = { 0 };
    size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    check_split(text);
    plim_dtype_named(text);
    plim_quant_recipe_named(text);
    plim_matrix_role(text);
    plim_matrix_layer(text);
    if (plim_epoch_find(text, &epoch, &error) < 0)
        FUZZ_REQUIRE(error.code == PLIM_E_USAGE && error.hint[0]);
    check_clean(text);
    return 0;
}
