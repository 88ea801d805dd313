/* SPDX-License-Identifier: MIT */
/*
 * The model noun: how readers fill it, and the answers it gives. It knows no format; what a reader must know about the
 * inside is in model_impl.h.
 */
#include "model/model_impl.h"

#include "base/limits.h"
#include "base/numbers.h"
#include "step/step.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MODEL_TIB = PLIM_MAX_MODEL_BYTES >> 40 };

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
    if (key->type == PLIM_VALUE_UNSIGNED || key->type == PLIM_VALUE_BOOL)
        *ret_value = key->u;
    else if (key->type == PLIM_VALUE_SIGNED && key->i >= 0)
        *ret_value = (uint64_t)key->i;
    else
        return false;
    return true;
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
    if (found->type == PLIM_VALUE_REAL)
        *ret_value = found->f;
    else if (found->type == PLIM_VALUE_SIGNED)
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
    if (!found || found->type != PLIM_VALUE_BOOL)
        return false;
    *ret_value = found->u != 0;
    return true;
}

const char *plim_model_string(const struct plim_model *model, const char *key)
{
    const struct plim_key *found = find(model, key);
    return found && found->type == PLIM_VALUE_STRING ? found->string : NULL;
}

uint64_t plim_model_array_length(const struct plim_model *model, const char *key)
{
    const struct plim_key *found = find(model, key);
    return found && found->type == PLIM_VALUE_ARRAY ? found->n : 0;
}

size_t plim_model_array(const struct plim_model *model, const char *key, int64_t *ret_values, size_t max)
{
    const struct plim_key *found = find(model, key);
    if (!found || found->type != PLIM_VALUE_ARRAY || !found->numbers)
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

int plim_model_require_tensors(const struct plim_model *model, struct plim_error *reterr)
{
    if (model->no_tensors.code && reterr && !reterr->code)
        *reterr = model->no_tensors;
    return model->no_tensors.code;
}

/* --- for readers --- */

int plim_model_no_room(const struct plim_model *model, struct plim_error *reterr)
{
    if (!model->arena.is_full)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the model holds more than %d MiB of names and values",
                     PLIM_MAX_KEPT_BYTES >> 20);
}

struct plim_model *plim_model_new(const char *path)
{
    struct plim_model *model = plim_alloc(1, sizeof *model);
    if (!model)
        return NULL;
    plim_arena_init(&model->arena, PLIM_MAX_KEPT_BYTES);
    model->name = model->arch = "";
    model->path = plim_arena_copy(&model->arena, path, strlen(path));
    return model->path ? model : plim_model_free(model);
}

struct plim_model *plim_model_free(struct plim_model *model)
{
    if (model) {
        plim_free(model->tensors);
        plim_free(model->shards);
        if (model->step)
            plim_step_done(model->step);
        plim_free(model->step);
        plim_arena_done(&model->arena);
        plim_free(model);
    }
    return NULL;
}

int plim_model_add_shard(struct plim_model *model, const char *path, uint64_t file_bytes, uint64_t data_at,
                         struct plim_error *reterr)
{
    const char *copy = plim_arena_copy(&model->arena, path, strlen(path));
    struct plim_shard *shards = copy ? plim_realloc(model->shards, model->n_shards + 1u, sizeof *shards) : NULL;
    if (!shards)
        return plim_model_no_room(model, reterr);
    model->shards = shards;
    shards[model->n_shards++] = (struct plim_shard){ copy, file_bytes, data_at };
    model->file_bytes = plim_bytes_sum(model->file_bytes, file_bytes);
    return 0;
}

/* Tensors and arena together stay below one ceiling. */
static int grow_tensors(struct plim_model *model, size_t room, struct plim_error *reterr)
{
    const size_t bytes = room * sizeof *model->tensors;
    if (bytes > PLIM_MAX_KEPT_BYTES || PLIM_MAX_KEPT_BYTES - bytes < model->arena.total_bytes) {
        model->arena.is_full = true;
        return plim_model_no_room(model, reterr);
    }
    struct plim_tensor *tensors = plim_realloc(model->tensors, room, sizeof *tensors);
    if (!tensors)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    model->tensors = tensors;
    model->tensor_room = room;
    model->arena.max_bytes = PLIM_MAX_KEPT_BYTES - bytes;
    return 0;
}

int plim_model_add_tensors(struct plim_model *model, size_t n, struct plim_tensor **ret_tensors,
                           struct plim_error *reterr)
{
    const size_t before = model->n_tensors, after = before + n;
    /* a known number is made room for exactly; what comes one by one, by halves */
    const size_t room = n == 1 ? after + after / 2 + 16 : after;
    int result = after > model->tensor_room ? grow_tensors(model, room, reterr) : 0;
    if (result < 0)
        return result;
    model->n_tensors = after;
    for (size_t i = before; i < after; i++)
        model->tensors[i] = (struct plim_tensor){ .ne = { 1, 1, 1, 1, 1, 1, 1, 1 }, .shard = model->n_shards };
    *ret_tensors = n ? model->tensors + before : NULL;
    return 0;
}

int plim_model_add_key(struct plim_model *model, const struct plim_key *key, struct plim_error *reterr)
{
    enum { FIRST_ROOM = 64 };
    if (model->n_keys == model->key_room) {
        const size_t room = model->key_room ? 2 * model->key_room : FIRST_ROOM;
        struct plim_key *keys = plim_arena_alloc(&model->arena, room, sizeof *keys);
        if (!keys)
            return plim_model_no_room(model, reterr);
        if (model->n_keys)
            memcpy(keys, model->keys, model->n_keys * sizeof *keys);
        model->keys = keys;
        model->key_room = room;
    }
    model->keys[model->n_keys++] = *key;
    return 0;
}

static int compare_keys(const void *a, const void *b)
{
    const struct plim_key *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

int plim_keys_sort(struct plim_key *keys, size_t n, struct plim_error *reterr)
{
    if (n)
        qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(keys[i - 1].name, keys[i].name))
            return plim_fail(reterr, PLIM_E_CORRUPT, keys[i].at, "key '%.64s' appears twice, first at byte %" PRIu64,
                             keys[i].name, keys[i - 1].at);
    return 0;
}

int plim_model_copy_text(struct plim_model *model, const char *text, const char **ret_copy, struct plim_error *reterr)
{
    char *copy = plim_arena_copy(&model->arena, text ? text : "", text ? strlen(text) : 0);
    if (!copy)
        return plim_model_no_room(model, reterr);
    *ret_copy = copy;
    return 0;
}

static const char *folder_start(const char *path, const char *end)
{
    while (end > path && end[-1] != '/')
        end--;
    return end;
}

/* Hubs have files at REPO/resolve/REVISION/, their caches at models--ORG--REPO/snapshots/REVISION/: step up to REPO. */
static void leave_revision(const char *path, const char **start, const char **end)
{
    static const char *const marks[] = { "/resolve/", "/snapshots/" };
    static const char stored[] = "models--";
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t n = strlen(marks[i]);
        if ((size_t)(*start - path) <= n || memcmp(*start - n, marks[i], n) != 0)
            continue;
        *end = *start - n;
        *start = folder_start(path, *end);
        const bool is_stored = !strncmp(*start, stored, sizeof stored - 1);
        for (const char *p = *start; is_stored && p + 2 < *end; p++)
            if (p[0] == '-' && p[1] == '-')
                *start = p + 2;
        return;
    }
}

int plim_model_name_by_folder(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    const char *end = strrchr(path, '/');
    if (!end)
        return 0;
    const char *start = folder_start(path, end);
    leave_revision(path, &start, &end);
    const size_t n = (size_t)(end - start);
    if (n == 0 || (n <= 2 && !strncmp(start, "..", n)))
        return 0;
    char *name = plim_arena_copy(&model->arena, start, n);
    if (!name)
        return plim_model_no_room(model, reterr);
    model->name = name;
    return 0;
}

static uint64_t elements_of(const struct plim_tensor *tensor)
{
    uint64_t n = tensor->bytes ? 1 : 0;
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        n *= tensor->ne[i];
    return n;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *path_of(const struct plim_model *model, const struct plim_tensor *tensor)
{
    return tensor->shard < model->n_shards ? model->shards[tensor->shard].path : "";
}

static int add_up(struct plim_model *model, const struct plim_tensor *tensor, struct plim_error *reterr)
{
    if (tensor->bytes > PLIM_MAX_MODEL_BYTES - model->tensor_bytes) {
        int code =
            plim_fail(reterr, PLIM_E_TOO_BIG, tensor->info_at,
                      "the tensors of the model up to '%.64s' have more than %d TiB", tensor->name, MAX_MODEL_TIB);
        plim_error_where(reterr, path_of(model, tensor));
        return code;
    }
    model->tensor_bytes += tensor->bytes;
    model->n_params += elements_of(tensor);
    return 0;
}

static int check_names(const struct plim_model *model, struct plim_error *reterr)
{
    for (size_t i = 1; i < model->n_tensors; i++) {
        const struct plim_tensor *first = model->by_name[i - 1], *second = model->by_name[i];
        if (strcmp(first->name, second->name) != 0)
            continue;
        int code = plim_fail(reterr, PLIM_E_CORRUPT, second->info_at,
                             "tensor '%.64s' appears twice, first at byte %" PRIu64 "%s%.64s", second->name,
                             first->info_at, first->shard == second->shard ? "" : " of ",
                             first->shard == second->shard ? "" : base_name(path_of(model, first)));
        plim_error_where(reterr, path_of(model, second));
        return code;
    }
    return 0;
}

int plim_model_index(struct plim_model *model, struct plim_error *reterr)
{
    model->by_name = plim_arena_alloc(&model->arena, model->n_tensors, sizeof *model->by_name);
    if (!model->by_name)
        return plim_model_no_room(model, reterr);
    for (size_t i = 0; i < model->n_tensors; i++) {
        model->by_name[i] = &model->tensors[i];
        int result = add_up(model, &model->tensors[i], reterr);
        if (result < 0)
            return result;
    }
    qsort(model->by_name, model->n_tensors, sizeof *model->by_name, compare_tensors);
    return check_names(model, reterr);
}

int plim_model_index_as(struct plim_model *model, const struct plim_model *other, struct plim_error *reterr)
{
    model->by_name = plim_arena_alloc(&model->arena, model->n_tensors, sizeof *model->by_name);
    if (!model->by_name)
        return plim_model_no_room(model, reterr);
    for (size_t i = 0; i < model->n_tensors; i++) {
        model->by_name[i] = model->tensors + (other->by_name[i] - other->tensors);
        int result = add_up(model, &model->tensors[i], reterr);
        if (result < 0)
            return result;
    }
    return 0;
}

/* --- answers --- */

const char *plim_model_format_name(enum plim_model_format format)
{
    static const char *const names[PLIM_FORMAT_MAX_] = { "unknown", "gguf", "safetensors", "hf_config", "step" };
    return names[format > PLIM_FORMAT_UNKNOWN && format < PLIM_FORMAT_MAX_ ? format : PLIM_FORMAT_UNKNOWN];
}

enum plim_model_format plim_model_format(const struct plim_model *model) { return model->format; }
enum plim_model_kind plim_model_kind(const struct plim_model *model) { return model->kind; }
const char *plim_model_path(const struct plim_model *model) { return model->path; }
const char *plim_model_name(const struct plim_model *model) { return model->name; }
const char *plim_model_arch(const struct plim_model *model) { return model->arch; }
const char *plim_model_contradiction(const struct plim_model *model) { return model->contradiction; }
const char *plim_model_file_type(const struct plim_model *model) { return model->file_type; }
uint64_t plim_model_n_params(const struct plim_model *model) { return model->n_params; }
uint64_t plim_model_tensor_bytes(const struct plim_model *model) { return model->tensor_bytes; }
uint64_t plim_model_file_bytes(const struct plim_model *model) { return model->file_bytes; }
uint32_t plim_model_n_shards(const struct plim_model *model) { return model->n_shards; }

enum plim_model_forecast plim_model_forecast(const struct plim_model *model) { return model->forecast; }

int plim_model_add_doubt(struct plim_model *model, const struct plim_doubt *doubt, struct plim_error *reterr)
{
    struct plim_doubt *doubts = plim_arena_alloc(&model->arena, model->n_doubts + 1, sizeof *doubts);
    const char *text = plim_arena_copy(&model->arena, doubt->text, strlen(doubt->text));
    if (!doubts || !text)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (model->n_doubts)
        memcpy(doubts, model->doubts, model->n_doubts * sizeof *doubts);
    doubts[model->n_doubts] = *doubt;
    doubts[model->n_doubts].text = text;
    model->doubts = doubts;
    model->n_doubts++;
    model->forecast = PLIM_FORECAST_FORMULA;
    return 0;
}

const struct plim_doubt *plim_model_doubt(const struct plim_model *model, size_t i)
{
    return i < model->n_doubts ? &model->doubts[i] : NULL;
}

const struct plim_hyperparameters *plim_model_hyperparameters(const struct plim_model *model)
{
    return &model->hyperparameters;
}

const struct plim_shard *plim_model_shard(const struct plim_model *model, uint32_t i)
{
    return i < model->n_shards ? &model->shards[i] : NULL;
}
