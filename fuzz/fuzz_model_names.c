/* SPDX-License-Identifier: MIT */
/* Models as people name them: one of the catalogue, or an error with a hint; and what a list of a query holds. */
#include "fuzz.h"

#include "model/catalogue/name.h"
#include "plimsoll/catalogue.h"

#include <string.h>

static void check_answer(const char *text)
{
    struct plim_catalogue_answer answer;
    struct plim_error error = { 0 };
    const int result = plim_catalogue_model_find(text, &answer, &error);
    FUZZ_REQUIRE((result == 0) == (answer.outcome == PLIM_CATALOGUE_FOUND));
    FUZZ_REQUIRE(result == 0 || (error.code == result && error.what[0] && error.hint[0]));
    FUZZ_REQUIRE(result == 0 || result == PLIM_E_USAGE || result == PLIM_E_NOT_FOUND);
    FUZZ_REQUIRE(answer.model < plim_catalogue_model_count() && answer.n_others <= PLIM_CATALOGUE_MAX_OTHERS);
    for (size_t i = 0; i < answer.n_others; i++)
        FUZZ_REQUIRE(answer.others[i] < plim_catalogue_model_count());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[500], quant[24], again[24];
    struct plim_name name;
    const size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    plim_name_read(text, &name);
    FUZZ_REQUIRE(memchr(name.text, '\0', sizeof name.text) && memchr(name.given, '\0', sizeof name.given));
    if (plim_name_quant(text, quant))
        FUZZ_REQUIRE(plim_name_quant(quant, again) && !strcmp(quant, again));
    check_answer(text);
    plim_catalogue_model_matches(n ? data[0] : 0, text);
    return 0;
}
