/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECORD_RECORD_H
#define PLIMSOLL_RECORD_RECORD_H

/*
 * A recording: a program runs with the environment of a folder (folder.h), and afterwards what the hook wrote there
 * becomes a step, with a track for each device of each process that used CUDA through PyTorch.
 */

#include "record/folder.h"
#include "step/step.h"

enum { PLIM_RECORD_TEXT_BYTES = 512 };

struct plim_recorded {
    size_t n_processes, n_events;
    uint32_t n_steps;                   /* the most that a process took */
    char notes[PLIM_RECORD_TEXT_BYTES]; /* what is not in it, as the hook noted; may be empty */
    bool starts_late;                   /* the beginning was more than the history of PyTorch keeps */
    bool is_met;                        /* what PyTorch counted at the end is what the recording says */
};

/*
 * The step is freed with plim_step_done(). PLIM_E_NOT_FOUND: the program wrote nothing, and the error says why.
 * Its command, card and outside_bytes are for the caller to fill in.
 */
PLIM_MUST_CHECK int plim_record_step(const struct plim_record_folder *folder, struct plim_step *ret_step,
                                     struct plim_recorded *ret_recorded, struct plim_error *reterr);

/*
 * PyTorch's own snapshots instead: that of the first process becomes `path`, "run.pickle", those of others
 * "run.rank1.pickle" and so on. As above.
 */
PLIM_MUST_CHECK int plim_record_snapshots(const struct plim_record_folder *folder, const char *path, size_t *ret_n,
                                          struct plim_error *reterr);

/* The program was interrupted or failed: that its end is in the recording says nothing. */
void plim_record_cut(struct plim_step *step);

/* Adds a text to a step and returns its place; 0, which is "", when memory ran out. */
uint32_t plim_record_text(struct plim_step *step, const char *text);

/* A command as a shell would need it, freed with plim_free(); NULL: out of memory. */
char *plim_record_command(char *const *arguments);

#endif
