/* SPDX-License-Identifier: MIT */
/* Cards as people name them: a card of the catalogue or an error with a hint. */
#include "fuzz.h"

#include "cli/fit/machine.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return setenv("PLIMSOLL_SYSROOT", "/nonexistent", 1); /* reading this machine's memory takes longest */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    struct plim_card card = { 0 };
    struct plim_error error = { 0 };
    struct plim_notes notes = { 0 };
    static struct plim_machine machine;
    size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    int result = plim_catalogue_find(text, &card, &error);
    if (result >= 0)
        FUZZ_REQUIRE(card.name[0] && card.total_bytes && card.total_low_bytes <= card.total_bytes);
    else
        FUZZ_REQUIRE(error.code == PLIM_E_USAGE && error.what[0] && error.hint[0]);
    plim_catalogue_matches(n ? data[0] : 0, text);

    if (n == 0 || (text[0] >= ':' && text[0] != 'n')) /* counts and "none" are read by the program */
        return 0;
    struct plim_fit_options options = { .n_cards = 1, .cards = { text }, .ram_bytes = 1 };
    plim_arguments_init(&options.arguments);
    memset(&error, 0, sizeof error);
    result = plim_cli_machine(&options, &machine, &notes, &error);
    FUZZ_REQUIRE(result >= 0 || (error.code == result && error.what[0]));
    FUZZ_REQUIRE(machine.n_cards <= PLIM_MAX_DEVICES);
    return 0;
}
