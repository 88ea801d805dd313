/* SPDX-License-Identifier: MIT */
#include "cli/recorded.h"

#include "base/units.h"
#include "report/print.h"

void plim_cli_say_recorded(const char *path, const struct plim_step *step, const struct plim_recorded *recorded,
                           const char *card)
{
    const struct plim_step_shape *shape = step->shapes;
    char size[PLIM_SIZE_TEXT];
    uint64_t reserved_bytes = 0;
    size_t n_devices = 0;
    for (size_t i = 0; i < shape->n_tracks; i++) {
        size_t same = 0; /* processes may share a card */
        while (shape->tracks[same].device != shape->tracks[i].device)
            same++;
        n_devices += same == i;
        if (shape->tracks[i].recorded->reserved_bytes > reserved_bytes)
            reserved_bytes = shape->tracks[i].recorded->reserved_bytes;
    }
    plim_print(stderr, "recorded %s: ", path);
    if (recorded->n_steps)
        plim_print(stderr, "%u step%s, ", (unsigned)recorded->n_steps, recorded->n_steps == 1 ? "" : "s");
    if (shape->n_tracks > 1)
        plim_print(stderr, "%zu device%s of %zu process%s, ", n_devices, n_devices == 1 ? "" : "s",
                   recorded->n_processes, recorded->n_processes == 1 ? "" : "es");
    plim_print(stderr, "%zu requests and returns, peak %s reserved; ask: plimsoll fit %s --card \"%s\"\n",
               recorded->n_events, plim_size_text(size, reserved_bytes), path, card ? card : "RTX 3090");
    if (recorded->starts_late)
        plim_print(stderr, "  it begins late: the run was longer than the history that PyTorch keeps\n");
    if (recorded->notes[0])
        plim_print(stderr, "  the recording is not whole: %s\n", recorded->notes);
    if (!recorded->is_met)
        plim_print(stderr, "  it does not come to what PyTorch counted: its figures are no better than estimates\n");
}
