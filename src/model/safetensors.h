/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_SAFETENSORS_H
#define PLIMSOLL_MODEL_SAFETENSORS_H

/*
 * safetensors: the header of one file (safetensors.c), the index of several (safetensors_index.c), and the model that
 * they make with the config.json beside them (safetensors_model.c).
 */

#include "base/cursor.h"
#include "base/limits.h"
#include "model/model_impl.h"

/*
 * Read the header of a file of file_bytes, of which the cursor reads at least the start, and add its tensors to the
 * model; of the first file, the strings under __metadata__ as well. Both need plim_model_index() and plim_keys_sort()
 * at the end: names that appear twice are found there. As the format requires, the data of the tensors must follow each
 * other without gaps and end where the file does. *ret_data_at is where the header ends.
 */
int plim_safetensors_parse(struct plim_cursor cursor, uint64_t file_bytes, struct plim_model *model,
                           uint64_t *ret_data_at, struct plim_error *reterr) PLIM_MUST_CHECK;

/* Add one file, or every file that an index names, to a new model. */
int plim_safetensors_add_file(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;
int plim_safetensors_add_index(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;

/* After plim_model_index(): does the index say of these files what they are? If not, the model contradicts itself. */
int plim_safetensors_check_index(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;

/* Fill a new model from such a file, an index, or memory; with the config.json that lies beside the file. */
int plim_safetensors_open(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;
int plim_safetensors_open_index(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;
int plim_safetensors_read(struct plim_model *model, struct plim_cursor cursor, uint64_t file_bytes,
                          struct plim_error *reterr) PLIM_MUST_CHECK;

/* The files that a model.safetensors.index.json names, each once, in their order. Names are plain: no folders. */
struct plim_safetensors_index {
    struct plim_arena arena;
    const char *files[PLIM_MAX_SAFETENSORS_FILES];
    size_t n_files;
};

/* After success or failure, plim_safetensors_index_done(). */
int plim_safetensors_index_read(struct plim_cursor cursor, struct plim_safetensors_index *ret_index,
                                struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_safetensors_index_done(struct plim_safetensors_index *index);

#endif
