/* SPDX-License-Identifier: MIT */
#include "cli/recorded.h"

#include "base/units.h"
#include "cli/answer_file.h"
#include "report/print.h"
#include "step/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool plim_cli_is_snapshot(const char *path)
{
    const size_t n = strlen(path);
    return n > 7 && !strcmp(path + n - 7, ".pickle");
}

/* A file with another beginning than a recorded step's: a program that was named in the wrong place. */
static bool is_of_others(const char *path)
{
    unsigned char magic[PLIM_STEP_MAGIC_BYTES];
    FILE *file = plim_cli_is_snapshot(path) ? NULL : fopen(path, "re");
    const size_t n = file ? fread(magic, 1, sizeof magic, file) : 0;
    if (file)
        fclose(file);
    return n && (n < sizeof magic || memcmp(magic, plim_step_magic, sizeof magic) != 0);
}

bool plim_cli_can_record(const char *path)
{
    struct stat status;
    const bool is_there = stat(path, &status) == 0;
    const char *reason = !strcmp(path, "--")                      ? "--record needs a file in front of --"
                         : !plim_answer_file_can_be_written(path) ? strerror(errno)
                         : is_there && !S_ISREG(status.st_mode)   ? "not a file"
                         : is_there && is_of_others(path)         ? "the file there is no recorded step"
                                                                  : NULL;
    if (reason)
        plim_print(stderr, "plimsoll: cannot write the recording: %s (%s)\n", reason, path);
    return !reason;
}

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
