/* SPDX-License-Identifier: MIT */
/* The cards of a machine that llama.cpp's flags use: -dev, -sm none and -mg. */
#include "engine/llamacpp/flags/flags.h"
#include "engine/llamacpp/flags/options.h"

#include "base/error.h"
#include "engine/llamacpp/engine.h"

static int no_such_device(enum plim_llamacpp_option option, uint32_t index, const struct plim_machine *machine,
                          struct plim_error *reterr)
{
    char name[PLIM_OPTION_NAME_BYTES];
    int code =
        plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s names device %u, but there %s %u card%s, counted from 0",
                  plim_option_name(&plim_llamacpp_options[option], name), index, machine->n_cards == 1 ? "is" : "are",
                  machine->n_cards, machine->n_cards == 1 ? "" : "s");
    plim_error_hint(reterr, "name them all: --card '2x RTX 3090', or --card once for each");
    return code;
}

/* The place of a card in the list; -1: it is not there. */
static int position_of(const struct plim_device_list *list, int index)
{
    for (uint32_t i = 0; i < list->n; i++)
        if ((int)list->index[i] == index)
            return (int)i;
    return -1;
}

/* -ot names devices by their own numbers, the setup by their place among those that are used. */
static int move_overrides(struct plim_llamacpp_setup *setup, struct plim_error *reterr)
{
    for (uint32_t i = 0; i < setup->n_overrides; i++) {
        int *device = &setup->override[i].device, position = position_of(&setup->devices, *device);
        if (*device >= 0 && position < 0)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET,
                             "-ot puts tensors on device %d, which -dev leaves out", *device);
        *device = position;
    }
    return 0;
}

/* Keep the listed cards in their order. */
static int select_devices(struct plim_llamacpp_setup *setup, struct plim_machine *machine, struct plim_notes *notes,
                          struct plim_error *reterr)
{
    const struct plim_device_list *list = &setup->devices;
    const struct plim_machine all = *machine;
    bool is_as_it_was = list->n == all.n_cards;
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->index[i] >= all.n_cards)
            return no_such_device(PLIM_LLAMACPP_DEVICE, list->index[i], &all, reterr);
        machine->card[i] = all.card[list->index[i]];
        is_as_it_was = is_as_it_was && list->index[i] == i;
    }
    machine->n_cards = list->n;
    for (uint32_t i = 0; i < list->n && !is_as_it_was; i++)
        plim_note(notes, "gpu%u is device %u, %s", i, list->index[i], machine->card[i].name);
    return move_overrides(setup, reterr);
}

enum plim_cards_use plim_llamacpp_cards_use(const struct plim_setup *setup)
{
    const struct plim_device_list *list = &setup->llamacpp.devices;
    if (setup->llamacpp.backend == PLIM_BACKEND_CPU)
        return PLIM_CARDS_UNUSED;
    return list->is_given && list->n == 0 ? PLIM_CARDS_HIDDEN : PLIM_CARDS_USED;
}

int plim_llamacpp_select_cards(struct plim_setup *setup, struct plim_machine *machine, struct plim_notes *notes,
                               struct plim_error *reterr)
{
    struct plim_llamacpp_setup *own = &setup->llamacpp, copy;
    int result = 0;
    own->backend = plim_llamacpp_with_backend(own, machine, &copy)->backend;
    if (own->devices.is_given)
        result = select_devices(own, machine, notes, reterr);
    if (result < 0 || own->split_mode != PLIM_SPLIT_NONE || machine->n_cards == 0)
        return result;
    if (own->no_main_gpu)
        machine->n_cards = 0;
    else if (own->main_gpu >= machine->n_cards)
        return no_such_device(PLIM_LLAMACPP_MAIN_GPU, own->main_gpu, machine, reterr);
    return 0;
}
