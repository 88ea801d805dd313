/* SPDX-License-Identifier: MIT */
/*
 * An index beside the files that it names: the file of every tensor, and the size of all. Loaders go by the files, so
 * that a difference is no error; but it is not known which of the two is the model.
 */
#include "base/json.h"
#include "model/safetensors.h"
#include "source/file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = PLIM_MAX_SAFETENSORS_NAME_BYTES + 1 };

struct checker {
    struct plim_json json;
    struct plim_model *model;
    size_t n_found;
    char text[256]; /* the first contradiction */
};

static void say(struct checker *c, const char *format, ...) PLIM_PRINTF(2, 3);
static void say(struct checker *c, const char *format, ...)
{
    va_list arguments;
    if (c->text[0])
        return;
    va_start(arguments, format);
    vsnprintf(c->text, sizeof c->text, format, arguments);
    va_end(arguments);
}

static const char *file_of(const struct plim_model *model, const struct plim_tensor *tensor)
{
    const char *path = model->shards[tensor->shard].path, *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int check_entry(struct checker *c, const struct plim_json_text *key)
{
    char name[NAME_BYTES];
    struct plim_json_text file;
    const size_t length = key->is_cut || key->length >= sizeof name ? 0 : key->length;
    memcpy(name, key->text, length);
    name[length] = '\0';
    int result = plim_json_string(&c->json, &file);
    if (result < 0)
        return result;
    const struct plim_tensor *tensor = plim_model_tensor(c->model, name);
    if (!tensor)
        say(c, "the index names tensor '%.60s', which no file has", name);
    else if (!plim_json_is(&file, file_of(c->model, tensor)))
        say(c, "tensor '%.60s' is in %.60s, and the index names another file", name, file_of(c->model, tensor));
    c->n_found += tensor != NULL;
    return 0;
}

static int check_map(struct checker *c)
{
    struct plim_json_text key;
    int result = plim_json_object(&c->json);
    while (result == 0 && (result = plim_json_member(&c->json, &key)) > 0)
        result = check_entry(c, &key);
    return result;
}

static int check_metadata(struct checker *c)
{
    struct plim_json_text key;
    struct plim_json_number size;
    int result = plim_json_type(&c->json) == PLIM_JSON_OBJECT ? plim_json_object(&c->json) : plim_json_skip(&c->json);
    while (result == 0 && (result = plim_json_member(&c->json, &key)) > 0) {
        const bool is_size = plim_json_is(&key, "total_size") && plim_json_type(&c->json) == PLIM_JSON_NUMBER;
        result = is_size ? plim_json_number(&c->json, &size) : plim_json_skip(&c->json);
        if (result == 0 && is_size && size.type == PLIM_JSON_UNSIGNED && size.u != c->model->tensor_bytes)
            say(c, "by the index the tensors have %" PRIu64 " bytes, in the files %" PRIu64, size.u,
                c->model->tensor_bytes);
    }
    return result;
}

static int check(struct checker *c)
{
    struct plim_json_text key;
    int result = plim_json_object(&c->json);
    while (result == 0 && (result = plim_json_member(&c->json, &key)) > 0)
        result = plim_json_is(&key, "weight_map") ? check_map(c)
                 : plim_json_is(&key, "metadata") ? check_metadata(c)
                                                  : plim_json_skip(&c->json);
    if (result == 0 && c->n_found < c->model->n_tensors)
        say(c, "the files have %zu tensors, and the index names %zu of them", c->model->n_tensors, c->n_found);
    return result;
}

int plim_safetensors_check_index(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    struct plim_file source;
    struct checker c = { .model = model };
    int result = plim_files_open(model->files, path, &source, reterr);
    if (result < 0)
        return result;
    plim_json_init(&c.json, plim_file_cursor(&source, PLIM_MAX_INDEX_BYTES), reterr);
    result = check(&c);
    plim_file_close(&source);
    if (result < 0) {
        plim_error_where(reterr, path);
        return result;
    }
    if (!c.text[0])
        return 0;
    model->contradiction = plim_arena_copy(&model->arena, c.text, strlen(c.text));
    return model->contradiction ? 0 : plim_model_no_room(model, reterr);
}
