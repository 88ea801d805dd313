/* SPDX-License-Identifier: MIT */
#include "cli/rehearse/record.h"

#include "base/mem.h"
#include "cli/recorded.h"
#include "rehearse/end/end.h"
#include "step/file.h"

#include <stdio.h>

extern char **environ;

int plim_rehearse_record_begin(struct plim_rehearse_options *o, struct plim_record_folder *ret_folder)
{
    const struct plim_stop_condition *stop = &o->launch.stop;
    const struct plim_record_wish wish = { .n_steps = stop->until == PLIM_UNTIL_STEPS ? stop->n_steps : 0 };
    struct plim_error error = { 0 };
    if (plim_record_folder_make(&wish, environ, ret_folder, &error) < 0) {
        plim_cli_fail(&error);
        return PLIM_EXIT_OURS;
    }
    o->launch.environment = ret_folder->environment;
    return 0;
}

/* --- memory outside of PyTorch's allocator --- */

static bool is_outside(enum plim_allocation_kind kind)
{
    return kind != PLIM_ALLOCATION_CONTEXT && kind != PLIM_ALLOCATION_KERNELS && kind != PLIM_ALLOCATION_PINNED &&
           kind != PLIM_ALLOCATION_MANAGED;
}

/*
 * What a card held at its peak beside the context and its kernels, less what PyTorch had reserved. Processes of one
 * card share it: the account of a card does not tell them apart.
 */
static void fill_outside(const struct plim_rehearsal *rehearsal, struct plim_step_shape *shape)
{
    for (size_t i = 0; i < shape->n_tracks; i++) {
        struct plim_step_track *track = &shape->tracks[i];
        uint64_t held_bytes = 0, reserved_bytes = 0, n_tracks = 0;
        if (track->device >= rehearsal->n_cards)
            continue;
        const struct plim_receipt_device *device = &rehearsal->receipt.device[track->device];
        for (uint32_t k = 0; k < device->n_lines; k++)
            held_bytes += is_outside(device->line[k].kind) ? device->line[k].bytes : 0;
        for (size_t k = 0; k < shape->n_tracks; k++) {
            const bool is_here = shape->tracks[k].device == track->device;
            n_tracks += is_here;
            reserved_bytes += is_here ? shape->tracks[k].recorded->reserved_bytes : 0;
        }
        if (held_bytes >= reserved_bytes) /* else the peaks of its processes were at other times: nothing is known */
            track->outside_bytes = (held_bytes - reserved_bytes) / n_tracks;
    }
}

/* --- the file --- */

int plim_rehearse_record_take(const struct plim_rehearse_options *o, const struct plim_rehearsal *rehearsal,
                              struct plim_record_folder *folder, struct plim_step *ret_step,
                              struct plim_recorded *ret_recorded, struct plim_error *reterr)
{
    const int result = plim_record_step(folder, ret_step, ret_recorded, reterr);
    plim_record_folder_remove(folder);
    if (result < 0)
        return result;
    char *command = plim_record_command(o->launch.arguments);
    ret_step->command = command ? plim_record_text(ret_step, command) : 0;
    plim_free(command);
    snprintf(ret_step->card_name, sizeof ret_step->card_name, "%s", o->machine.card[0].name);
    ret_step->card_bytes = o->machine.card[0].total_bytes;
    fill_outside(rehearsal, ret_step->shapes);
    if (!plim_end_is_good(plim_end_of(rehearsal)))
        plim_record_cut(ret_step);
    return 0;
}

int plim_rehearse_record_finish(const struct plim_rehearse_options *o, const struct plim_rehearsal *rehearsal,
                                struct plim_record_folder *folder)
{
    struct plim_step step;
    struct plim_recorded recorded;
    struct plim_error error = { 0 };
    int result = plim_rehearse_record_take(o, rehearsal, folder, &step, &recorded, &error);
    if (result == 0) {
        result = plim_step_write(o->record_path, &step, &error);
        if (result == 0 && !o->is_quiet)
            plim_cli_say_recorded(o->record_path, &step, &recorded, o->card);
        plim_step_done(&step);
    }
    if (result < 0)
        plim_cli_fail(&error);
    return result == 0 || result == PLIM_E_NOT_FOUND ? 0 : PLIM_EXIT_OURS;
}
