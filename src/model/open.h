/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_OPEN_H
#define PLIMSOLL_MODEL_OPEN_H

/* The format of a file, by its content; and models whose files lie elsewhere. */

#include "base/error.h"
#include "plimsoll/model.h"

struct plim_files; /* source/file.h */

enum plim_file_format {
    PLIM_FILE_GGUF, /* also any other content: its reader names it in the error */
    PLIM_FILE_SAFETENSORS,
    PLIM_FILE_SAFETENSORS_INDEX,
    PLIM_FILE_HF_CONFIG,
    PLIM_FILE_STEP,
};

/* Opens the file and reads as much of it as it takes. A file of unknown content is what its name promises. */
int plim_file_recognise(const char *path, enum plim_file_format *ret_format, struct plim_error *reterr) PLIM_MUST_CHECK;

/* plim_model_open() for files that lie elsewhere; a name is that of a file. */
int plim_model_open_in(const struct plim_files *files, const char *name, struct plim_model **ret_model,
                       struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
