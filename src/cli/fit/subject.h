/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_FIT_SUBJECT_H
#define PLIMSOLL_CLI_FIT_SUBJECT_H

/*
 * The model that an answer is about: the file itself; or the GGUF file that a config, a checkpoint or a name of the
 * catalogue becomes; or a quantization of either.
 */

#include "base/notes.h"
#include "plimsoll/model.h"
#include "source/paths.h"

struct plim_subject {
    const struct plim_model *model;         /* the one to answer for */
    bool is_table;                          /* all of its quantizations are asked for */
    struct plim_notes notes;                /* about where it comes from */
    struct plim_model *given, *full, *made; /* owned; model is one of them */
};

/*
 * Open what a path or a name means. quant: a quantization by name, "all" for a table, or NULL: a file as it is, and of
 * a model that is no GGUF file all of them, unless its name says which. Freed with plim_subject_done(), also after an
 * error.
 */
int plim_subject_open(struct plim_subject *subject, const struct plim_path *path, const char *quant,
                      struct plim_error *reterr);
void plim_subject_done(struct plim_subject *subject);

#endif
