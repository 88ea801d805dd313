/* SPDX-License-Identifier: MIT */
#include "cli/fit/machine.h"

#include "base/units.h"
#include "engine/type.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- cards by name --- */

static int how_many(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--card: from 1 to %d cards can be named", PLIM_MAX_DEVICES);
}

/* The catalogue knows nothing of options: its error with the option's name. */
static int unknown_card(const struct plim_error *error, struct plim_error *reterr)
{
    plim_fail(reterr, error->code, error->at, "--card: %s", error->what);
    plim_error_hint(reterr, "%s", error->hint);
    return error->code;
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

/* A size names a card of that much memory, where no catalogue has one; a number alone is a name: 4060. */
static bool is_size(const char *text, uint64_t *ret_bytes)
{
    const char last = *text ? text[strlen(text) - 1] : '0';
    return (last < '0' || last > '9') && plim_size_parse(text, ret_bytes) && *ret_bytes > 0;
}

int plim_cli_add_cards(const char *text, struct plim_machine *machine, struct plim_notes *notes,
                       struct plim_error *reterr)
{
    struct plim_card card;
    uint64_t bytes;
    const char *name = text;
    unsigned long count = take_count(&name);
    struct plim_error error = { 0 };
    int result = 0;
    if (is_size(name, &bytes))
        plim_card_of_budget(bytes, &card);
    else
        result = plim_catalogue_find(name, &card, &error);
    if (result < 0)
        return unknown_card(&error, reterr);
    if (count == 0 || count > PLIM_MAX_DEVICES - machine->n_cards)
        return how_many(reterr);
    if (result == 1)
        plim_note(notes, "several cards are named '%.60s', with equal memory; %s is assumed", name, card.name);
    while (count--)
        machine->card[machine->n_cards++] = card;
    return 0;
}

static int add_all_named(const struct plim_fit_options *options, struct plim_machine *machine, struct plim_notes *notes,
                         struct plim_error *reterr)
{
    for (int i = 0; i < options->n_cards; i++) {
        bool is_none = !strcasecmp(options->cards[i], "none");
        if (is_none && options->n_cards > 1)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--card none and other cards exclude each other");
        int result = is_none ? 0 : plim_cli_add_cards(options->cards[i], machine, notes, reterr);
        if (result < 0)
            return result;
    }
    return 0;
}

/* --- cards of this machine --- */

/* One word of CUDA_VISIBLE_DEVICES: a number, or the beginning of a UUID. -1: no such card, which hides the rest. */
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

/* Keep the cards that CUDA would show to a program. */
static void hide_cards(struct plim_machine *machine, const char *visible, struct plim_notes *notes)
{
    struct plim_machine all = *machine;
    machine->n_cards = 0;
    for (const char *word = visible; *word && machine->n_cards < PLIM_MAX_DEVICES;) {
        size_t length = strcspn(word, ",");
        int card = visible_card(word, length, all.card, all.n_cards);
        if (card < 0)
            break;
        machine->card[machine->n_cards++] = all.card[card];
        word += length + (word[length] == ',');
    }
    if (machine->n_cards == 0 && all.n_cards)
        plim_note(notes, "CUDA_VISIBLE_DEVICES hides all cards");
}

/* NVML lists cards by their place on the bus; CUDA numbers the fastest first unless CUDA_DEVICE_ORDER is set. */
static void note_order(const struct plim_machine *machine, const char *visible, const char *order,
                       struct plim_notes *notes)
{
    const bool is_by_uuid = visible && (!strncmp(visible, "GPU-", 4) || !strncmp(visible, "MIG-", 4));
    bool are_alike = true;
    for (uint32_t i = 1; i < machine->n_cards; i++)
        are_alike = are_alike && !strcmp(machine->card[i].name, machine->card[0].name);
    if (!are_alike && !is_by_uuid && !(order && !strcmp(order, "PCI_BUS_ID")))
        plim_note(notes, "these cards differ, and CUDA may number them in another order, the fastest first; "
                         "CUDA_DEVICE_ORDER=PCI_BUS_ID makes it the order shown here");
}

static void add_live(const struct plim_command *command, struct plim_machine *machine, struct plim_notes *notes)
{
    struct plim_error error = { 0 };
    const char *visible = command->visible ? command->visible : getenv("CUDA_VISIBLE_DEVICES");
    const char *order = command->device_order ? command->device_order : getenv("CUDA_DEVICE_ORDER");
    if (plim_cards_live(getenv("PLIMSOLL_NVML"), machine->card, PLIM_MAX_DEVICES, &machine->n_cards, &error) < 0)
        plim_note(notes, "%s", error.what);
    note_order(machine, visible, order, notes);
    if (visible)
        hide_cards(machine, visible, notes);
}

/* --- the machine --- */

static void find_host(const struct plim_fit_options *options, struct plim_machine *machine, struct plim_notes *notes)
{
    plim_host_live(getenv("PLIMSOLL_SYSROOT"), &machine->host);
    if (options->ram_bytes)
        machine->host = (struct plim_host){ .total_bytes = options->ram_bytes,
                                            .free_bytes = options->ram_bytes,
                                            .is_assumed = true };
    else if (machine->host.total_bytes == 0)
        plim_note(notes, "the RAM of this machine is unknown, and the verdict leaves it out; --ram gives it");
    else if (machine->host.is_partial)
        plim_note(notes, "a file with the limit of this machine's RAM cannot be read: less may be left than shown");
}

/* A named card that shares its host's memory brings that host with it. */
static void use_shared_memory(const struct plim_fit_options *options, struct plim_machine *machine)
{
    const struct plim_card *card = &machine->card[0];
    if (machine->n_cards && card->shared_bytes && !card->is_live && !options->ram_bytes)
        machine->host = (struct plim_host){ .total_bytes = card->shared_bytes,
                                            .free_bytes = card->shared_bytes,
                                            .is_assumed = true,
                                            .bandwidth_bytes_per_s = card->bandwidth_bytes_per_s };
}

int plim_cli_machine(struct plim_fit_options *options, struct plim_machine *ret_machine, struct plim_notes *notes,
                     struct plim_error *reterr)
{
    struct plim_setup *setup = &options->arguments.setup;
    const struct plim_engine_type *type = setup->type;
    const enum plim_cards_use use = type->cards_use ? type->cards_use(setup) : PLIM_CARDS_USED;
    struct plim_machine *machine = ret_machine;
    int result = 0;
    memset(machine, 0, sizeof *machine);
    find_host(options, machine, notes);
    if (options->n_cards && options->n_budgets)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--card and --budget exclude each other");
    if (use == PLIM_CARDS_UNUSED)
        return 0;
    for (int i = 0; i < options->n_budgets; i++)
        plim_card_of_budget(options->budget_bytes[i], &machine->card[machine->n_cards++]);
    if (options->n_cards)
        result = add_all_named(options, machine, notes, reterr);
    else if (!options->n_budgets)
        add_live(&options->command, machine, notes);
    if (result < 0)
        return result;
    const bool is_named = options->n_budgets || options->n_cards;
    if (is_named && options->command.visible)
        hide_cards(machine, options->command.visible, notes);
    if (!is_named && machine->n_cards == 0 && use == PLIM_CARDS_USED) {
        plim_card_of_size(1, &machine->card[machine->n_cards++]); /* each step of the ladder has one card */
        result = 1;
    }
    use_shared_memory(options, machine);
    const int failed = type->select_cards ? type->select_cards(setup, machine, notes, reterr) : 0;
    return failed < 0 ? failed : machine->n_cards ? result : 0;
}

void plim_cli_ladder_card(unsigned step, struct plim_card *ret_card)
{
    static const unsigned gib[PLIM_LADDER_STEPS] = { 6, 8, 12, 16, 24, 32, 48, 80 };
    plim_card_of_size(gib[step < PLIM_LADDER_STEPS ? step : PLIM_LADDER_STEPS - 1], ret_card);
}
