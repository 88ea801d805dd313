/* SPDX-License-Identifier: MIT */
#include "source/ollama_store.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/system.h"
#include "source/file.h"
#include "source/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256 };

/* --- names --- */

static bool is_name_text(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:";
    return *text && *text != '/' && *text != '.' && !strstr(text, "..") && !strstr(text, "//") &&
           text[strspn(text, allowed)] == '\0' && strlen(text) < NAME_BYTES;
}

bool plim_ollama_looks_like_name(const char *text)
{
    size_t n = strlen(text);
    bool is_file_name = n > 5 && !strcmp(text + n - 5, ".gguf");
    return is_name_text(text) && !is_file_name;
}

bool plim_ollama_is_name(const char *name) { return plim_ollama_looks_like_name(name) && !plim_path_exists(name); }

/* "llama3.1:8b" is registry.ollama.ai/library/llama3.1/8b: what is left out has a default. */
static bool manifest_name(const char *name, char *buffer, size_t size)
{
    char base[NAME_BYTES];
    const char *colon = strrchr(name, ':');
    if (colon && strchr(colon, '/'))
        colon = NULL; /* the port of a host */
    snprintf(base, sizeof base, "%.*s", (int)(colon ? (size_t)(colon - name) : strlen(name)), name);
    int slashes = 0;
    for (const char *p = base; *p; p++)
        slashes += *p == '/';
    int n = snprintf(buffer, size, "%s%s/%s",
                     slashes == 0   ? "registry.ollama.ai/library/"
                     : slashes == 1 ? "registry.ollama.ai/"
                                    : "",
                     base, colon && colon[1] ? colon + 1 : "latest");
    return n > 0 && (size_t)n < size;
}

/* --- manifests --- */

/* One layer of a manifest: {"mediaType": ..., "digest": "sha256:...", ...} */
struct layer {
    char type[64], digest[80];
};

static void copy_text(char *to, size_t size, const struct plim_json_text *text)
{
    const bool fits = !text->is_cut && text->length < size && !memchr(text->text, '\0', text->length);
    memcpy(to, text->text, fits ? text->length : 0);
    to[fits ? text->length : 0] = '\0';
}

static int read_layer_fields(struct plim_json *json, struct layer *layer)
{
    struct plim_json_text key, value;
    int result = plim_json_object(json);
    while (result == 0 && (result = plim_json_member(json, &key)) > 0) {
        const bool is_type = plim_json_is(&key, "mediaType"), is_digest = plim_json_is(&key, "digest");
        const bool is_wanted = (is_type || is_digest) && plim_json_type(json) == PLIM_JSON_STRING;
        result = is_wanted ? plim_json_string(json, &value) : plim_json_skip(json);
        if (result == 0 && is_wanted && is_type)
            copy_text(layer->type, sizeof layer->type, &value);
        else if (result == 0 && is_wanted)
            copy_text(layer->digest, sizeof layer->digest, &value);
    }
    return result;
}

/* The file of a layer: "sha256:..." lies in blobs/sha256-... */
static bool blob_path(const char *store, const struct layer *layer, char buffer[PLIM_STORE_PATH_BYTES])
{
    const char *digest = layer->digest;
    if (strncmp(digest, "sha256:", 7) || strspn(digest + 7, "0123456789abcdef") != strlen(digest + 7))
        return false;
    int n = snprintf(buffer, PLIM_STORE_PATH_BYTES, "%s/blobs/sha256-%s", store, digest + 7);
    return n > 0 && n < PLIM_STORE_PATH_BYTES;
}

/* Read a small JSON file with `read`: 1; 0 when it is not there; or an error, also when it is not what is expected. */
static int read_file(const char *path, int (*read)(struct plim_json *json, void *to), void *to,
                     struct plim_error *reterr)
{
    struct plim_file file;
    struct plim_json json;
    struct plim_error error = { 0 };
    const int result = plim_file_open(path, &file, &error);
    if (result < 0 && result != PLIM_E_NOT_FOUND && reterr)
        *reterr = error;
    if (result < 0)
        return result == PLIM_E_NOT_FOUND ? 0 : result;
    plim_json_init(&json, plim_file_cursor(&file, PLIM_MAX_MANIFEST_BYTES), NULL);
    const bool is_read =
        file.file_bytes <= PLIM_MAX_MANIFEST_BYTES && read(&json, to) == 0 && plim_json_end(&json) == 0;
    plim_file_close(&file);
    if (is_read)
        return 1;
    plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
              "this is no file of a model in Ollama's store, or it cannot be read");
    plim_error_where(reterr, path);
    plim_error_hint(reterr, "'ollama pull' brings the model again");
    return PLIM_E_CORRUPT;
}

/* The parameters of a Modelfile, of which three change what is allocated. */
static int read_parameters(struct plim_json *json, void *to)
{
    struct plim_stored_model *model = to;
    struct plim_json_text key;
    int result = plim_json_object(json);
    while (result == 0 && (result = plim_json_member(json, &key)) > 0) {
        struct plim_json_number number = { .type = PLIM_JSON_REAL };
        const bool is_ctx = plim_json_is(&key, "num_ctx"), is_batch = plim_json_is(&key, "num_batch");
        const bool is_gpu = plim_json_is(&key, "num_gpu"), is_number = plim_json_type(json) == PLIM_JSON_NUMBER;
        result = is_number ? plim_json_number(json, &number) : plim_json_skip(json);
        if (result < 0 || number.type != PLIM_JSON_UNSIGNED)
            continue;
        if (is_ctx && number.u < 1 << 30)
            model->num_ctx = (uint32_t)number.u;
        else if (is_batch && number.u < 1 << 30)
            model->num_batch = (uint32_t)number.u;
        else if (is_gpu && number.u < 100000)
            model->num_gpu = (int32_t)number.u;
    }
    return result;
}

struct manifest {
    const char *store;
    struct plim_stored_model *model;
};

static void add_layer(const struct manifest *m, const struct layer *layer)
{
    char path[PLIM_STORE_PATH_BYTES];
    if (!blob_path(m->store, layer, path))
        return;
    if (!strcmp(layer->type, "application/vnd.ollama.image.model"))
        memcpy(m->model->model, path, sizeof path);
    else if (!strcmp(layer->type, "application/vnd.ollama.image.projector"))
        memcpy(m->model->projector, path, sizeof path);
    else if (!strcmp(layer->type, "application/vnd.ollama.image.params"))
        (void)read_file(path, read_parameters, m->model, NULL);
}

static int read_layers(struct plim_json *json, const struct manifest *m)
{
    int result = plim_json_array(json);
    while (result == 0 && (result = plim_json_item(json)) > 0) {
        struct layer layer = { 0 };
        result = read_layer_fields(json, &layer);
        if (result == 0)
            add_layer(m, &layer);
    }
    return result;
}

static int read_manifest(struct plim_json *json, void *to)
{
    struct plim_json_text key;
    int result = plim_json_object(json);
    while (result == 0 && (result = plim_json_member(json, &key)) > 0)
        result = plim_json_is(&key, "layers") ? read_layers(json, to) : plim_json_skip(json);
    return result;
}

/* --- */

/*
 * Whether it cannot even be seen if there is such a file: in the home of another user, as that of Ollama's service
 * often is. Nothing there is a model of this user's.
 */
static bool is_closed(const char *path)
{
    struct plim_file_status status;
    return plim_system_look(path, true, &status) == EACCES;
}

/* 1, 0 when the store has no such model, or an error when it has one that cannot be read. */
static int find_in(const char *store, const char *manifest, struct plim_stored_model *model, struct plim_error *reterr)
{
    char path[PLIM_STORE_PATH_BYTES];
    struct manifest m = { store, model };
    int n = snprintf(path, sizeof path, "%s/manifests/%s", store, manifest);
    *model = (struct plim_stored_model){ .engine = "ollama", .num_gpu = -1 };
    if (n <= 0 || (size_t)n >= sizeof path)
        return 0;
    struct plim_error error = { 0 };
    const int result = read_file(path, read_manifest, &m, &error);
    if (result == PLIM_E_DENIED && is_closed(path))
        return 0;
    if (result < 0 && reterr && !reterr->code)
        *reterr = error;
    return result < 0 ? result : result && model->model[0];
}

int plim_ollama_find(const char *name, const struct plim_source_roots *roots, struct plim_stored_model *ret_model,
                     struct plim_error *reterr)
{
    char manifest[NAME_BYTES + 64];
    int result = 0;
    if (is_name_text(name) && manifest_name(name, manifest, sizeof manifest))
        for (size_t i = 0; i < roots->n_ollama && result == 0; i++)
            result = find_in(roots->ollama[i], manifest, ret_model, reterr);
    if (result)
        return result < 0 ? result : 0;
    int code =
        plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "there is no file and no Ollama model of this name here");
    plim_error_where(reterr, name);
    plim_error_hint(reterr, "check the path; 'ollama list' shows Ollama's models, OLLAMA_MODELS says where they are");
    return code;
}
