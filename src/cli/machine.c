/* SPDX-License-Identifier: MIT */
#include "cli/machine.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* --- cards by name --- */

static int too_many(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "at most %d cards", PLIM_SETUP_MAX_DEVICES);
}

/* "2x RTX 3090" and "2 x RTX 3090" are two; the rest of the text is the name. */
static unsigned long take_count(const char **text)
{
    char *end;
    unsigned long n = strtoul(*text, &end, 10);
    const char *p = end + strspn(end, " ");
    if (end == *text || (*p != 'x' && *p != 'X') || !p[1])
        return 1;
    *text = p + 1 + strspn(p + 1, " ");
    return n;
}

static int add_named(const char *text, struct plim_machine *machine, struct plim_notes *notes,
                     struct plim_error *reterr)
{
    struct plim_card card;
    const char *name = text;
    unsigned long count = take_count(&name);
    int result = plim_catalogue_find(name, &card, reterr);
    if (result < 0)
        return result;
    if (count == 0 || count > PLIM_SETUP_MAX_DEVICES - machine->n_cards)
        return too_many(reterr);
    if (result == 1)
        plim_note(notes, "several cards are called '%.60s' and are alike here; taken as %s", name, card.name);
    while (count--)
        machine->card[machine->n_cards++] = card;
    return 0;
}

static int add_all_named(const struct plim_fit_options *options, struct plim_machine *machine, struct plim_notes *notes,
                         struct plim_error *reterr)
{
    for (int i = 0; i < options->n_cards; i++) {
        int result = strcmp(options->cards[i], "none") ? add_named(options->cards[i], machine, notes, reterr) : 0;
        if (result < 0)
            return result;
    }
    return 0;
}

/* --- cards that are here --- */

/* One word of CUDA_VISIBLE_DEVICES: a number, or the beginning of a UUID. -1: names none, which hides the rest too. */
static int visible_card(const char *word, size_t length, const struct plim_card *cards, uint32_t n)
{
    char *end;
    long index = strtol(word, &end, 10);
    if (end == word + length && length > 0)
        return index >= 0 && index < (long)n ? (int)index : -1;
    for (uint32_t i = 0; i < n; i++)
        if (length > 4 && !strncmp(cards[i].uuid, word, length))
            return (int)i;
    return -1;
}

/* Keep what CUDA would show to a program. */
static void hide_cards(struct plim_machine *machine, const char *visible)
{
    struct plim_machine all = *machine;
    machine->n_cards = 0;
    for (const char *word = visible; *word && machine->n_cards < PLIM_SETUP_MAX_DEVICES;) {
        size_t length = strcspn(word, ",");
        int card = visible_card(word, length, all.card, all.n_cards);
        if (card < 0)
            return;
        machine->card[machine->n_cards++] = all.card[card];
        word += length + (word[length] == ',');
    }
}

static void add_live(struct plim_machine *machine, struct plim_notes *notes)
{
    struct plim_error error = { 0 };
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (plim_cards_live(getenv("PLIMSOLL_NVML"), machine->card, PLIM_SETUP_MAX_DEVICES, &machine->n_cards, &error) < 0)
        plim_note(notes, "%s", error.what);
    if (visible && machine->n_cards) {
        hide_cards(machine, visible);
        if (machine->n_cards == 0)
            plim_note(notes, "CUDA_VISIBLE_DEVICES hides all cards of this machine");
    }
}

/* --- the machine --- */

static void find_host(const struct plim_fit_options *options, struct plim_machine *machine)
{
    plim_host_live(getenv("PLIMSOLL_SYSROOT"), &machine->host);
    if (options->ram_bytes)
        machine->host = (struct plim_host){ .total_bytes = options->ram_bytes,
                                            .free_bytes = options->ram_bytes,
                                            .is_assumed = true };
}

int plim_cli_machine(const struct plim_fit_options *options, struct plim_machine *ret_machine, struct plim_notes *notes,
                     struct plim_error *reterr)
{
    memset(ret_machine, 0, sizeof *ret_machine);
    find_host(options, ret_machine);
    if (!options->arguments.has_gpu || options->arguments.setup.backend == PLIM_BACKEND_CPU)
        return 0;
    if (options->n_cards && options->budget_bytes)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--card and --budget exclude each other");
    if (options->budget_bytes) {
        plim_card_of_budget(options->budget_bytes, &ret_machine->card[ret_machine->n_cards++]);
        return 0;
    }
    if (options->n_cards)
        return add_all_named(options, ret_machine, notes, reterr);
    add_live(ret_machine, notes);
    return ret_machine->n_cards == 0;
}

void plim_cli_ladder_card(unsigned step, struct plim_card *ret_card)
{
    static const unsigned gib[PLIM_LADDER_STEPS] = { 6, 8, 12, 16, 24, 32, 48, 80 };
    plim_card_of_size(gib[step < PLIM_LADDER_STEPS ? step : PLIM_LADDER_STEPS - 1], ret_card);
}
