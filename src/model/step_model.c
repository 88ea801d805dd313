/* SPDX-License-Identifier: MIT */
#include "model/step_model.h"

#include "base/limits.h"
#include "model/model_impl.h"
#include "source/file.h"
#include "step/file.h"

#include <string.h>

const struct plim_step *plim_model_step(const struct plim_model *model) { return model->step; }

bool plim_step_model_is(const unsigned char *bytes, uint64_t n_bytes)
{
    return n_bytes >= PLIM_STEP_MAGIC_BYTES && !memcmp(bytes, plim_step_magic, PLIM_STEP_MAGIC_BYTES);
}

static int read_step(struct plim_model *model, struct plim_file *file, struct plim_error *reterr)
{
    struct plim_cursor cursor = plim_file_cursor(file, PLIM_MAX_STEP_FILE_BYTES);
    struct plim_step *step = plim_alloc(1, sizeof *step);
    if (!step)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    model->step = step; /* zeros until it is read */
    return plim_step_read_bytes(&cursor, step, reterr);
}

int plim_step_model_open(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    struct plim_file file;
    const char *slash = strrchr(path, '/');
    int result = plim_files_open(model->files, path, &file, reterr);
    if (result < 0)
        return result;
    result = file.file_bytes <= PLIM_MAX_STEP_FILE_BYTES
                 ? read_step(model, &file, reterr)
                 : plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the file has more than %d MiB",
                             PLIM_MAX_STEP_FILE_BYTES >> 20);
    if (result == 0)
        result = plim_model_add_shard(model, path, file.file_bytes, 0, reterr);
    if (result == 0)
        result = plim_model_copy_text(model, slash ? slash + 1 : path, &model->name, reterr);
    plim_file_close(&file);
    model->format = PLIM_FORMAT_STEP;
    model->kind = PLIM_MODEL_STEP;
    plim_fail(&model->no_tensors, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "a recorded step has no tensors");
    plim_error_where(&model->no_tensors, path);
    return result;
}
