/* SPDX-License-Identifier: MIT */
#include "cli/recorded.h"

#include "base/mem.h"
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

/* A file with another beginning than a recording's: a program that was named in the wrong place. */
static bool is_of_others(const char *path)
{
    static const unsigned char pickle[] = { 0x80 };
    return !(plim_cli_is_snapshot(path)
                 ? plim_answer_file_is_replaceable(path, pickle, sizeof pickle)
                 : plim_answer_file_is_replaceable(path, plim_step_magic, PLIM_STEP_MAGIC_BYTES));
}

bool plim_cli_can_record(const char *path)
{
    struct stat status;
    const bool is_there = stat(path, &status) == 0;
    const char *reason = !strcmp(path, "--")                      ? "--record needs a file in front of --"
                         : !plim_answer_file_can_be_written(path) ? strerror(errno)
                         : is_there && !S_ISREG(status.st_mode)   ? "not a file"
                         : !is_there || !is_of_others(path)       ? NULL
                         : plim_cli_is_snapshot(path)             ? "the file there is no snapshot"
                                                                  : "the file there is no recorded step";
    if (reason)
        plim_print(stderr, "plimsoll: cannot write the recording: %s (%s)\n", reason, path);
    return !reason;
}

/* Cards of `rehearse`, "RTX 4090" or "8GiB, 8GiB", as options of `fit`. */
static void say_cards(const char *cards)
{
    for (const char *at = cards; *at;) {
        const size_t n = strcspn(at, ",");
        plim_print(stderr, " --card \"%.*s\"", (int)n, at);
        at += n + strspn(at + n, ", ");
    }
}

void plim_cli_say_question(const char *path, const char *card)
{
    const char *words[] = { "plimsoll", "fit", path, NULL };
    char *command = plim_record_command((char *const *)words);
    plim_print(stderr, "%s", command ? command : "plimsoll fit");
    plim_free(command);
    say_cards(card);
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
    plim_print(stderr, "%zu requests and returns, peak %s reserved; ask: ", recorded->n_events,
               plim_size_text(size, reserved_bytes));
    plim_cli_say_question(path, card ? card : "RTX 3090");
    plim_print(stderr, "\n");
    if (recorded->starts_late)
        plim_print(stderr, "  it begins late: the run was longer than the history that PyTorch keeps\n");
    if (recorded->notes[0])
        plim_print(stderr, "  the recording is not whole: %s\n", recorded->notes);
    if (!recorded->is_met)
        plim_print(stderr, "  it does not come to what PyTorch counted: its figures are no better than estimates\n");
}
