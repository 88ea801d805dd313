/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_AUX_FILES_H
#define PLIMSOLL_ENGINE_AUX_FILES_H

/* The auxiliary models that a command line names: projector, draft model, adapters. */

#include "engine/arguments.h"
#include "plimsoll/model.h"

struct plim_files; /* source/file.h */

struct plim_aux_files {
    struct plim_model *model[PLIM_ARGUMENTS_MAX_FILES];
    uint32_t n;
    const struct plim_files *remote;
};

/* Name a file of this kind, unless the arguments name one already; ignored by runtimes without such files. */
int plim_aux_files_add(struct plim_arguments *arguments, enum plim_model_kind kind, const char *path,
                       struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * Open the files that the arguments name and put them into their setup; it must not outlive *ret_files. URLs are opened
 * among the files of `remote`, which may be NULL.
 */
int plim_aux_files_open(struct plim_arguments *arguments, const struct plim_files *remote,
                        struct plim_aux_files *ret_files, struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_aux_files_done(struct plim_aux_files *files);

#endif
