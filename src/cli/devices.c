/* SPDX-License-Identifier: MIT */
#include "cli/devices.h"

static int no_such_device(const char *flag, uint32_t index, const struct plim_machine *machine,
                          struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET,
                         "%s names device %u, but there %s %u card%s, counted from 0", flag, index,
                         machine->n_cards == 1 ? "is" : "are", machine->n_cards, machine->n_cards == 1 ? "" : "s");
    plim_error_hint(reterr, "name them all: --card '2x RTX 3090', or --card once for each");
    return code;
}

/* Where a card stands in the list; -1: nowhere. */
static int position_of(const struct plim_device_list *list, int index)
{
    for (uint32_t i = 0; i < list->n; i++)
        if ((int)list->index[i] == index)
            return (int)i;
    return -1;
}

/* -ot names devices by their own numbers, the setup by their place among those that are used. */
static int move_overrides(const struct plim_device_list *list, struct plim_setup *setup, struct plim_error *reterr)
{
    for (uint32_t i = 0; i < setup->n_overrides; i++) {
        int *device = &setup->override[i].device, position = position_of(list, *device);
        if (*device >= 0 && position < 0)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET,
                             "-ot puts tensors on device %d, which -dev leaves out", *device);
        *device = position;
    }
    return 0;
}

/* Keep the listed cards in their order. */
static int select_devices(const struct plim_device_list *list, struct plim_machine *machine, struct plim_setup *setup,
                          struct plim_notes *notes, struct plim_error *reterr)
{
    const struct plim_machine all = *machine;
    bool is_as_it_was = list->n == all.n_cards;
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->index[i] >= all.n_cards)
            return no_such_device("-dev", list->index[i], &all, reterr);
        machine->card[i] = all.card[list->index[i]];
        is_as_it_was = is_as_it_was && list->index[i] == i;
    }
    machine->n_cards = list->n;
    for (uint32_t i = 0; i < list->n && !is_as_it_was; i++)
        plim_note(notes, "gpu%u is device %u, %s", i, list->index[i], machine->card[i].name);
    return move_overrides(list, setup, reterr);
}

int plim_cli_use_devices(const struct plim_arguments *arguments, struct plim_machine *machine, struct plim_setup *setup,
                         struct plim_notes *notes, struct plim_error *reterr)
{
    int result = 0;
    if (arguments->devices.is_given)
        result = select_devices(&arguments->devices, machine, setup, notes, reterr);
    if (result < 0 || setup->split_mode != PLIM_SPLIT_NONE || machine->n_cards == 0)
        return result;
    if (arguments->no_main_gpu)
        machine->n_cards = 0;
    else if (setup->main_gpu >= machine->n_cards)
        return no_such_device("-mg", setup->main_gpu, machine, reterr);
    return 0;
}
