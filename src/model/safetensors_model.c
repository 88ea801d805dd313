/* SPDX-License-Identifier: MIT */
/* The model in safetensors files: one of them or those that an index names, with the config.json beside them. */
#include "model/safetensors.h"

#include "base/numbers.h"
#include "model/hf_config.h"
#include "source/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* --- files --- */

/* Headers of all files together are bounded. */
static uint64_t header_budget(const struct plim_model *model)
{
    uint64_t budget = PLIM_MAX_MODEL_HEADER_BYTES;
    for (uint32_t i = 0; i < model->n_shards; i++)
        budget -= plim_min_u64(budget, model->shards[i].data_at);
    return budget;
}

int plim_safetensors_add_file(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    struct plim_file source;
    uint64_t data_at = 0;
    const uint64_t budget = header_budget(model);
    int result = plim_files_open(model->files, path, &source, reterr);
    if (result < 0)
        return result;
    result = plim_safetensors_parse(plim_file_cursor(&source, UINT64_MAX), source.file_bytes, model, &data_at, reterr);
    if (result == 0 && data_at > budget)
        result = plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET,
                           "the headers of all files together have more than %d bytes", PLIM_MAX_MODEL_HEADER_BYTES);
    if (result == 0)
        result = plim_model_add_shard(model, path, source.file_bytes, data_at, reterr);
    plim_file_close(&source);
    if (result < 0)
        plim_error_where(reterr, path);
    return result;
}

static int join(const char *index, const char *name, char path[PATH_BYTES], struct plim_error *reterr)
{
    const char *slash = strrchr(index, '/');
    const int folder = slash ? (int)(slash + 1 - index) : 0;
    const int n = snprintf(path, PATH_BYTES, "%.*s%s", folder, index, name);
    return n > 0 && n < PATH_BYTES
               ? 0
               : plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the path is longer than %d bytes", PATH_BYTES);
}

static int add_shards(struct plim_model *model, const char *path, const struct plim_safetensors_index *index,
                      struct plim_error *reterr)
{
    char shard[PATH_BYTES];
    int result = 0;
    for (size_t i = 0; i < index->n_files && result == 0; i++) {
        result = join(path, index->files[i], shard, reterr);
        if (result == 0)
            result = plim_safetensors_add_file(model, shard, reterr);
        if (result == PLIM_E_NOT_FOUND)
            plim_error_hint(reterr, "the index names it; all files of a model must lie beside it");
    }
    return result;
}

static int read_index(const struct plim_files *files, const char *path, struct plim_safetensors_index *index,
                      struct plim_error *reterr)
{
    struct plim_file source;
    int result = plim_files_open(files, path, &source, reterr);
    if (result < 0)
        return result;
    if (source.file_bytes > PLIM_MAX_INDEX_BYTES)
        result = plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "a file of %" PRIu64 " bytes; at most %d are read",
                           source.file_bytes, PLIM_MAX_INDEX_BYTES);
    else
        result = plim_safetensors_index_read(plim_file_cursor(&source, PLIM_MAX_INDEX_BYTES), index, reterr);
    plim_file_close(&source);
    if (result < 0)
        plim_error_where(reterr, path);
    return result;
}

int plim_safetensors_add_index(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    struct plim_safetensors_index *index = plim_alloc(1, sizeof *index);
    if (!index)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    int result = read_index(model->files, path, index, reterr);
    if (result == 0)
        result = add_shards(model, path, index, reterr);
    plim_safetensors_index_done(index);
    plim_free(index);
    return result;
}

/* --- the model --- */

/* PEFT names the two matrices of an adapter so. */
static bool is_adapter(const struct plim_model *model)
{
    for (size_t i = 0; i < model->n_tensors; i++)
        if (strstr(model->tensors[i].name, ".lora_A."))
            return true;
    return false;
}

/* The name of a file without its suffix; its directory's when it is called as all are. */
static int name_model(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    static const char suffix[] = ".safetensors";
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const size_t length = strlen(file), n = length - plim_min_u64(length, sizeof suffix - 1);
    const bool has_suffix = !strcmp(file + n, suffix);
    model->name = plim_arena_copy(&model->arena, file, has_suffix ? n : length);
    if (!model->name)
        return plim_model_no_room(model, reterr);
    return strncmp(file, "model", 5) ? 0 : plim_model_name_by_folder(model, path, reterr);
}

/* A config.json of another kind, as parts of pipelines have, adds nothing: the tensors are known without it. */
static int add_config(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    char config[PATH_BYTES];
    struct plim_error error = { 0 };
    int result = join(path, "config.json", config, reterr);
    if (result < 0 || !plim_files_have(model->files, config))
        return result;
    result = plim_hf_config_add(model, config, &error);
    if (result == PLIM_E_UNSUPPORTED)
        return 0;
    if (result < 0 && reterr && !reterr->code)
        *reterr = error;
    return result;
}

static int finish(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    int result = name_model(model, path, reterr);
    if (result == 0)
        result = add_config(model, path, reterr);
    if (result == 0)
        result = plim_model_index(model, reterr);
    if (result < 0)
        return result;
    model->format = PLIM_FORMAT_SAFETENSORS;
    if (is_adapter(model))
        model->kind = PLIM_MODEL_ADAPTER;
    plim_hf_config_settle(model);
    return 0;
}

int plim_safetensors_open(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    int result = plim_safetensors_add_file(model, path, reterr);
    return result < 0 ? result : finish(model, path, reterr);
}

int plim_safetensors_open_index(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    int result = plim_safetensors_add_index(model, path, reterr);
    if (result == 0)
        result = finish(model, path, reterr);
    return result < 0 ? result : plim_safetensors_check_index(model, path, reterr);
}

int plim_safetensors_read(struct plim_model *model, struct plim_cursor cursor, uint64_t file_bytes,
                          struct plim_error *reterr)
{
    uint64_t data_at = 0;
    int result = plim_safetensors_parse(cursor, file_bytes, model, &data_at, reterr);
    if (result == 0)
        result = plim_model_add_shard(model, "", file_bytes, data_at, reterr);
    if (result == 0)
        result = plim_model_index(model, reterr);
    model->format = PLIM_FORMAT_SAFETENSORS;
    return result;
}
