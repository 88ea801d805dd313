/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_EMIT_HOLLOW_H
#define PLIMSOLL_EMIT_HOLLOW_H

/*
 * A hollow model: the files of a model with their real headers, their real sizes, and a hole where the weights are.
 * It loads as the model does and takes almost no space on disk.
 */

#include "base/error.h"
#include "base/mem.h"
#include "emit/hollow_own.h"
#include "emit/hollow_python.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_hollow_file {
    const char *path;    /* to be written */
    const char *source;  /* the file it is made of; NULL when its head is in memory */
    const void *head;    /* else */
    uint64_t head_bytes; /* at the start of the file, not hollow; all of a file that is copied */
    uint64_t bytes;      /* of the file */
    uint64_t disk_bytes; /* on disk, once it is written */
};

struct plim_hollow {
    struct plim_arena arena; /* of the paths */
    struct plim_hollow_file *files;
    size_t n_files;
    struct plim_hollow_own own;    /* never replaced */
    const char *folder;            /* the output folder */
    bool makes_folder;             /* it does not exist yet */
    char contradiction[256];       /* between the model's files, in words; "" without one */
    char maker[PLIM_HOLLOW_MAKER]; /* the class that transformers made, with --python; "" without */
    void *head;                    /* of a checkpoint that a config.json describes; owned */
};

/*
 * The files that a hollow copy of this model has. `model` is a GGUF file, or a part of a split one; a .safetensors
 * file; a model.safetensors.index.json; a config.json; or a folder with one of these. `out` is a folder, or a file name
 * when there is one file. With python, which may be NULL, a config.json of any architecture. Nothing is written. After
 * success or failure, plim_hollow_done().
 */
int plim_hollow_plan(const char *model, const char *out, const struct plim_hollow_python *python,
                     struct plim_hollow *ret_hollow, struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * Write all of them, or no file at all. Existing files are replaced only with may_replace, and never when they belong
 * to the model. Gives up as soon as is_stopped() is true. Fails when the file system does not support sparse files.
 */
int plim_hollow_write(struct plim_hollow *hollow, bool may_replace, bool (*is_stopped)(void),
                      struct plim_error *reterr) PLIM_MUST_CHECK;

void plim_hollow_done(struct plim_hollow *hollow);

#endif
