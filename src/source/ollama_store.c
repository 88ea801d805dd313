/* SPDX-License-Identifier: MIT */
#include "source/ollama_store.h"

#include "base/error.h"
#include "base/system.h"
#include "source/file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MANIFEST_BYTES = 64 << 10, NAME_BYTES = 256 };

/* --- names --- */

static bool is_name_text(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:";
    return *text && *text != '/' && *text != '.' && !strstr(text, "..") && !strstr(text, "//") &&
           text[strspn(text, allowed)] == '\0' && strlen(text) < NAME_BYTES;
}

bool plim_ollama_is_name(const char *name)
{
    size_t n = strlen(name);
    bool is_file_name = n > 5 && !strcmp(name + n - 5, ".gguf");
    struct plim_file_status status;
    return is_name_text(name) && !is_file_name && plim_system_look(name, true, &status) != 0;
}

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

static json_t *read_json(const char *path)
{
    static char text[MAX_MANIFEST_BYTES];
    return plim_file_read_text(path, text, sizeof text) < 0 ? NULL : json_loads(text, 0, NULL);
}

/* The file of a layer: "sha256:..." lies in blobs/sha256-... */
static bool blob_path(const char *store, json_t *layer, char buffer[PLIM_STORE_PATH_BYTES])
{
    const char *digest = json_string_value(json_object_get(layer, "digest"));
    if (!digest || strncmp(digest, "sha256:", 7) || strspn(digest + 7, "0123456789abcdef") != strlen(digest + 7))
        return false;
    int n = snprintf(buffer, PLIM_STORE_PATH_BYTES, "%s/blobs/sha256-%s", store, digest + 7);
    return n > 0 && n < PLIM_STORE_PATH_BYTES;
}

static uint32_t count_of(json_t *object, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(object, key));
    return n > 0 && n < 1 << 30 ? (uint32_t)n : 0;
}

static void read_parameters(const char *path, struct plim_ollama_model *model)
{
    json_t *parameters = read_json(path), *num_gpu = json_object_get(parameters, "num_gpu");
    model->num_ctx = count_of(parameters, "num_ctx");
    model->num_batch = count_of(parameters, "num_batch");
    if (json_is_integer(num_gpu) && json_integer_value(num_gpu) >= 0 && json_integer_value(num_gpu) < 100000)
        model->num_gpu = (int32_t)json_integer_value(num_gpu);
    json_decref(parameters);
}

static void read_layer(const char *store, json_t *layer, struct plim_ollama_model *model)
{
    char path[PLIM_STORE_PATH_BYTES];
    const char *type = json_string_value(json_object_get(layer, "mediaType"));
    if (!type || !blob_path(store, layer, path))
        return;
    if (!strcmp(type, "application/vnd.ollama.image.model"))
        memcpy(model->model, path, sizeof path);
    else if (!strcmp(type, "application/vnd.ollama.image.projector"))
        memcpy(model->projector, path, sizeof path);
    else if (!strcmp(type, "application/vnd.ollama.image.params"))
        read_parameters(path, model);
}

static bool read_manifest(const char *store, const char *name, struct plim_ollama_model *model)
{
    char path[PLIM_STORE_PATH_BYTES];
    size_t i;
    json_t *layer;
    int n = snprintf(path, sizeof path, "%s/manifests/%s", store, name);
    json_t *manifest = n > 0 && (size_t)n < sizeof path ? read_json(path) : NULL;
    json_array_foreach(json_object_get(manifest, "layers"), i, layer) read_layer(store, layer, model);
    json_decref(manifest);
    return model->model[0] != '\0';
}

/* --- */

int plim_ollama_find(const char *name, struct plim_ollama_model *ret_model, struct plim_error *reterr)
{
    char home_store[PLIM_STORE_PATH_BYTES], manifest[NAME_BYTES + 64];
    const char *given = getenv("OLLAMA_MODELS"), *home = getenv("HOME");
    snprintf(home_store, sizeof home_store, "%s/.ollama/models", home ? home : "");
    const char *const stores[] = { given, given ? NULL : home_store,
                                   given ? NULL : "/usr/share/ollama/.ollama/models" };
    *ret_model = (struct plim_ollama_model){ .num_gpu = -1 };
    if (is_name_text(name) && manifest_name(name, manifest, sizeof manifest))
        for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
            if (stores[i] && read_manifest(stores[i], manifest, ret_model))
                return 0;
    int code =
        plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "there is no file and no Ollama model of this name here");
    plim_error_where(reterr, name);
    plim_error_hint(reterr, "check the path; 'ollama list' shows Ollama's models, OLLAMA_MODELS says where they are");
    return code;
}
