/* SPDX-License-Identifier: MIT */
/* Opening a model, whatever it is: what recognises a format, and which reader it has. */
#include "model/gguf.h"

#include <string.h>

static int out_of_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

int plim_model_open(const char *path, struct plim_model **ret_model, struct plim_error *reterr)
{
    struct plim_model *model = plim_model_new(path);
    if (!model)
        return out_of_memory(reterr);
    int result = plim_gguf_open(model, reterr);
    if (result < 0) {
        plim_error_where(reterr, path);
        plim_model_free(model);
        return result;
    }
    *ret_model = model;
    return 0;
}

int plim_model_read(const void *data, uint64_t data_bytes, uint64_t file_bytes, struct plim_model **ret_model,
                    struct plim_error *reterr)
{
    struct plim_model *model = plim_model_new("");
    if (!model)
        return out_of_memory(reterr);
    int result = plim_gguf_read(model, plim_cursor(data, data_bytes), file_bytes, reterr);
    if (result < 0) {
        plim_model_free(model);
        return result;
    }
    *ret_model = model;
    return 0;
}
