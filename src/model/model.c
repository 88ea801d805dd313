/* SPDX-License-Identifier: MIT */
/*
 * The model noun: opening a file and its other parts, and answering questions about what was read.
 */
#include "base/limits.h"
#include "base/text.h"
#include "model/ggml_type.h"
#include "model/model_impl.h"
#include "source/file.h"
#include "source/gguf_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* --- metadata --- */

const struct plim_key *plim_key_find(const struct plim_key *keys, size_t n_keys, const char *name)
{
    size_t low = 0, high = n_keys;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(keys[middle].name, name);
        if (order == 0)
            return &keys[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool plim_key_u64(const struct plim_key *key, uint64_t *ret_value)
{
    switch (key->type) {
    case PLIM_GGUF_U8:
    case PLIM_GGUF_U16:
    case PLIM_GGUF_U32:
    case PLIM_GGUF_U64:
    case PLIM_GGUF_BOOL:
        *ret_value = key->u;
        return true;
    case PLIM_GGUF_I8:
    case PLIM_GGUF_I16:
    case PLIM_GGUF_I32:
    case PLIM_GGUF_I64:
        if (key->i < 0)
            return false;
        *ret_value = (uint64_t)key->i;
        return true;
    default:
        return false;
    }
}

static const struct plim_key *find(const struct plim_model *model, const char *key)
{
    return plim_key_find(model->keys, model->n_keys, key);
}

bool plim_model_u64(const struct plim_model *model, const char *key, uint64_t *ret_value)
{
    const struct plim_key *found = find(model, key);
    return found && plim_key_u64(found, ret_value);
}

bool plim_model_f64(const struct plim_model *model, const char *key, double *ret_value)
{
    const struct plim_key *found = find(model, key);
    uint64_t integer;
    if (!found)
        return false;
    if (found->type == PLIM_GGUF_F32 || found->type == PLIM_GGUF_F64)
        *ret_value = found->f;
    else if (found->type == PLIM_GGUF_I8 || found->type == PLIM_GGUF_I16 || found->type == PLIM_GGUF_I32 ||
             found->type == PLIM_GGUF_I64)
        *ret_value = (double)found->i;
    else if (plim_key_u64(found, &integer))
        *ret_value = (double)integer;
    else
        return false;
    return true;
}

bool plim_model_bool(const struct plim_model *model, const char *key, bool *ret_value)
{
    const struct plim_key *found = find(model, key);
    if (!found || found->type != PLIM_GGUF_BOOL)
        return false;
    *ret_value = found->u != 0;
    return true;
}

const char *plim_model_string(const struct plim_model *model, const char *key)
{
    const struct plim_key *found = find(model, key);
    return found && found->type == PLIM_GGUF_STRING ? found->string : NULL;
}

uint64_t plim_model_array_length(const struct plim_model *model, const char *key)
{
    const struct plim_key *found = find(model, key);
    return found && found->type == PLIM_GGUF_ARRAY ? found->n : 0;
}

size_t plim_model_array(const struct plim_model *model, const char *key, int64_t *ret_values, size_t max)
{
    const struct plim_key *found = find(model, key);
    if (!found || found->type != PLIM_GGUF_ARRAY || !found->numbers)
        return 0;
    size_t n = found->n < max ? (size_t)found->n : max;
    memcpy(ret_values, found->numbers, n * sizeof *ret_values);
    return n;
}

/* --- tensors --- */

static int compare_tensors(const void *a, const void *b)
{
    const struct plim_tensor *x = *(const struct plim_tensor *const *)a, *y = *(const struct plim_tensor *const *)b;
    int order = strcmp(x->name, y->name);
    if (order)
        return order;
    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    return (x->info_at > y->info_at) - (x->info_at < y->info_at);
}

const struct plim_tensor *plim_model_tensor(const struct plim_model *model, const char *name)
{
    size_t low = 0, high = model->n_tensors;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(model->by_name[middle]->name, name);
        if (order == 0)
            return model->by_name[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct plim_tensor *plim_model_tensors(const struct plim_model *model, size_t *ret_n)
{
    *ret_n = model->n_tensors;
    return model->tensors;
}

/* An arena that gave nothing: it is full, or memory is. */
static int out_of_memory(const struct plim_model *model, struct plim_error *reterr)
{
    if (!model->arena.is_full)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the model holds more than %d MiB of names and values",
                     PLIM_MAX_KEPT_BYTES >> 20);
}

int plim_model_index(struct plim_model *model, struct plim_error *reterr)
{
    model->by_name = plim_arena_alloc(&model->arena, model->n_tensors, sizeof *model->by_name);
    if (!model->by_name)
        return out_of_memory(model, reterr);
    for (size_t i = 0; i < model->n_tensors; i++) {
        const struct plim_tensor *tensor = &model->tensors[i];
        model->by_name[i] = tensor;
        model->tensor_bytes += tensor->bytes;
        model->n_params += tensor->ne[0] * tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
    }
    qsort(model->by_name, model->n_tensors, sizeof *model->by_name, compare_tensors);
    for (size_t i = 1; i < model->n_tensors; i++)
        if (!strcmp(model->by_name[i - 1]->name, model->by_name[i]->name))
            return plim_fail(reterr, PLIM_E_CORRUPT, model->by_name[i]->info_at,
                             "tensor '%.64s' is there twice, first at byte %" PRIu64, model->by_name[i]->name,
                             model->by_name[i - 1]->info_at);
    return 0;
}

/* --- what it is --- */

/* Architectures of files that only work beside a target model (llama-arch.cpp at v0.5.0). */
static bool is_draft_arch(const char *arch)
{
    static const char *const drafts[] = { "eagle3", "dflash", "gemma4-assistant" };
    for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++)
        if (!strcmp(arch, drafts[i]))
            return true;
    return false;
}

static enum plim_model_kind kind_of(const struct plim_model *model)
{
    const char *type = plim_model_string(model, "general.type");
    if ((type && !strcmp(type, "mmproj")) || !strcmp(model->arch, "clip"))
        return PLIM_MODEL_PROJECTOR;
    if ((type && !strcmp(type, "adapter")) || plim_model_string(model, "adapter.type"))
        return PLIM_MODEL_ADAPTER;
    if (is_draft_arch(model->arch))
        return PLIM_MODEL_DRAFT;
    return !type || !strcmp(type, "model") ? PLIM_MODEL_LANGUAGE : PLIM_MODEL_UNKNOWN;
}

/* The file name without directory, split suffix and ".gguf". */
static char *name_of_path(struct plim_arena *arena, const char *path)
{
    uint32_t part, count;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (plim_split_parse(path, &part, &count))
        length -= length < PLIM_SPLIT_SUFFIX ? length : PLIM_SPLIT_SUFFIX;
    else if (length > 5 && !strcmp(name + length - 5, ".gguf"))
        length -= 5;
    return plim_arena_copy(arena, name, length);
}

/* What the file calls itself, fit to be shown; "" when it does not. */
static int clean_string(struct plim_model *model, const char *key, const char **ret_text, struct plim_error *reterr)
{
    const char *text = plim_model_string(model, key);
    char *copy = plim_arena_copy(&model->arena, text ? text : "", text ? strlen(text) : 0);
    if (!copy)
        return out_of_memory(model, reterr);
    plim_text_clean(copy);
    *ret_text = copy;
    return 0;
}

static int describe(struct plim_model *model, struct plim_error *reterr)
{
    int result = clean_string(model, "general.architecture", &model->arch, reterr);
    if (result == 0)
        result = clean_string(model, "general.name", &model->name, reterr);
    if (result < 0)
        return result;
    if (!model->arch[0]) {
        int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "key 'general.architecture' is missing");
        plim_error_hint(reterr, "this GGUF file is not a model");
        return code;
    }
    model->kind = kind_of(model);
    if (!model->name[0])
        model->name = name_of_path(&model->arena, model->path);
    return model->name ? 0 : out_of_memory(model, reterr);
}

/* --- opening --- */

struct plim_model *plim_model_new(const char *path)
{
    struct plim_model *model = plim_alloc(1, sizeof *model);
    if (!model)
        return NULL;
    plim_arena_init(&model->arena, PLIM_MAX_KEPT_BYTES);
    model->path = plim_arena_copy(&model->arena, path, strlen(path));
    return model->path ? model : plim_model_free(model);
}

struct plim_model *plim_model_free(struct plim_model *model)
{
    if (model) {
        plim_arena_done(&model->arena);
        plim_free(model);
    }
    return NULL;
}

/* Append what one file holds; the first gives the metadata. */
static int add_file(struct plim_model *model, const struct plim_gguf_file *file, uint64_t file_bytes,
                    struct plim_error *reterr)
{
    for (size_t i = 0; i < file->n_tensors; i++)
        file->tensors[i].shard = model->n_shards;
    model->file_bytes += file_bytes;
    if (model->n_shards++ == 0) {
        model->keys = file->keys;
        model->n_keys = file->n_keys;
        model->tensors = file->tensors;
        model->n_tensors = file->n_tensors;
        return 0;
    }
    size_t n = model->n_tensors + file->n_tensors;
    if (n > PLIM_MAX_GGUF_TENSORS)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the parts together have too many tensors (%zu)", n);
    struct plim_tensor *all = plim_arena_alloc(&model->arena, n, sizeof *all);
    if (!all)
        return out_of_memory(model, reterr);
    memcpy(all, model->tensors, model->n_tensors * sizeof *all);
    memcpy(all + model->n_tensors, file->tensors, file->n_tensors * sizeof *all);
    model->tensors = all;
    model->n_tensors = n;
    return 0;
}

static uint64_t key_or(const struct plim_gguf_file *file, const char *name, uint64_t otherwise)
{
    const struct plim_key *key = plim_key_find(file->keys, file->n_keys, name);
    uint64_t value;
    return key && plim_key_u64(key, &value) ? value : otherwise;
}

/* Read part `part` (from 1) of `count`; ret_tensors is the tensor count the split promises, 0 if it does not say. */
static int open_part(struct plim_model *model, const char *path, uint32_t part, uint32_t count, uint64_t *ret_tensors,
                     struct plim_error *reterr)
{
    struct plim_file source;
    struct plim_gguf_file file = { 0 };
    int result = plim_file_open(path, &source, reterr);
    if (result < 0)
        return result;
    const uint64_t file_bytes = source.file_bytes;
    result = plim_gguf_parse(plim_file_cursor(&source, PLIM_MAX_GGUF_HEADER_BYTES), file_bytes, &model->arena, &file,
                             reterr);
    plim_file_close(&source);
    if (result == 0) {
        uint64_t says_count = key_or(&file, "split.count", 0), says_number = key_or(&file, "split.no", part - 1);
        if (part == 1 && count == 1 && says_count > 1) {
            result = plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET,
                               "this is part %" PRIu64 " of %" PRIu64 ", but its name does not end in -%05" PRIu64
                               "-of-%05" PRIu64 ".gguf",
                               says_number + 1, says_count, says_number + 1, says_count);
            plim_error_hint(reterr, "give the parts their names back: llama.cpp finds them by name, and so do we");
        } else if (count > 1 && says_count != count) {
            result =
                plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                          "the file name says %" PRIu32 " parts, key 'split.count' says %" PRIu64, count, says_count);
        } else if (says_number != part - 1) {
            result = plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                               "the file name says part %" PRIu32 ", key 'split.no' says %" PRIu64 " (from 0)", part,
                               says_number);
        } else {
            *ret_tensors = key_or(&file, "split.tensors.count", 0);
            result = add_file(model, &file, file_bytes, reterr);
        }
    }
    if (result < 0)
        plim_error_where(reterr, path);
    return result;
}

static int open_parts(struct plim_model *model, struct plim_error *reterr)
{
    char path[PATH_BYTES];
    uint32_t part = 1, count = 1;
    uint64_t promised = 0, ignored;
    bool is_split = plim_split_parse(model->path, &part, &count);
    if (count > PLIM_MAX_GGUF_SHARDS)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "%" PRIu32 " parts; at most %d are read", count,
                         PLIM_MAX_GGUF_SHARDS);
    for (uint32_t i = 1; i <= count; i++) {
        if (is_split && !plim_split_path(model->path, i, count, path, sizeof path))
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the path is longer than %d bytes", PATH_BYTES);
        int result = open_part(model, is_split ? path : model->path, i, count, i == 1 ? &promised : &ignored, reterr);
        if (result == PLIM_E_NOT_FOUND && is_split && i != part && reterr && !reterr->hint[0])
            plim_error_hint(reterr, "all %" PRIu32 " parts of a split model must lie in one directory", count);
        if (result < 0)
            return result;
    }
    if (promised && promised != model->n_tensors) {
        int code = plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                             "key 'split.tensors.count' promises %" PRIu64 " tensors, the parts hold %zu", promised,
                             model->n_tensors);
        plim_error_where(reterr, model->path);
        return code;
    }
    return 0;
}

int plim_model_open(const char *path, struct plim_model **ret_model, struct plim_error *reterr)
{
    struct plim_model *model = plim_model_new(path);
    if (!model)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    int result = open_parts(model, reterr);
    if (result == 0)
        result = plim_model_index(model, reterr);
    if (result == 0)
        result = describe(model, reterr);
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
    struct plim_gguf_file file;
    struct plim_model *model = plim_model_new("");
    if (!model)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    int result = plim_gguf_parse(plim_cursor(data, data_bytes), file_bytes, &model->arena, &file, reterr);
    if (result == 0)
        result = add_file(model, &file, file_bytes, reterr);
    if (result == 0)
        result = plim_model_index(model, reterr);
    if (result == 0)
        result = describe(model, reterr);
    if (result < 0) {
        plim_model_free(model);
        return result;
    }
    *ret_model = model;
    return 0;
}

/* --- answers --- */

enum plim_model_kind plim_model_kind(const struct plim_model *model) { return model->kind; }
const char *plim_model_path(const struct plim_model *model) { return model->path; }
const char *plim_model_name(const struct plim_model *model) { return model->name; }
const char *plim_model_arch(const struct plim_model *model) { return model->arch; }
uint64_t plim_model_n_params(const struct plim_model *model) { return model->n_params; }
uint64_t plim_model_tensor_bytes(const struct plim_model *model) { return model->tensor_bytes; }
uint64_t plim_model_file_bytes(const struct plim_model *model) { return model->file_bytes; }
uint32_t plim_model_n_shards(const struct plim_model *model) { return model->n_shards; }

const char *plim_model_file_type(const struct plim_model *model)
{
    uint64_t file_type;
    if (!plim_model_u64(model, "general.file_type", &file_type) || file_type > UINT32_MAX)
        return NULL;
    return plim_gguf_file_type_name((uint32_t)file_type);
}
