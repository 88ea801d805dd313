/* SPDX-License-Identifier: MIT */
/*
 * Opening a model of any format: one table has the formats, how each is recognised, and its reader.
 *
 * A file is recognised by its first bytes, a JSON file by its members, a directory by the files in it. A name that no
 * path has may be one of Ollama's.
 */
#include "model/open.h"

#include "base/json.h"
#include "base/limits.h"
#include "model/gguf.h"
#include "model/hf_config.h"
#include "model/safetensors.h"
#include "model/step_model.h"
#include "source/file.h"
#include "source/folder.h"
#include "source/ollama_store.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096, PEEK_BYTES = 16 };

/* The beginning of a file. */
struct peek {
    unsigned char bytes[PEEK_BYTES]; /* zeros beyond n */
    uint64_t n;
    enum { NO_JSON, INDEX, CONFIG } json;
};

static bool is_index(const struct peek *p) { return p->json == INDEX; }
static bool is_config(const struct peek *p) { return p->json == CONFIG; }
static bool is_step(const struct peek *p) { return plim_step_model_is(p->bytes, p->n); }
static bool is_gguf(const struct peek *p) { return !memcmp(p->bytes, "GGUF", 4); }

/* After the length of the header, which is below 2^56, the header itself. */
static bool is_safetensors(const struct peek *p)
{
    return p->n > 8 && p->bytes[8] == '{' && p->bytes[7] == '\0' && !is_gguf(p);
}

/* In the order in which a directory is searched: weights before what only describes them. */
static const struct format {
    enum plim_file_format format;
    const char *suffix; /* what counts when the content says nothing */
    const char
        *file; /* a directory with this file is such a model; NULL: one with a single file of this suffix; "": none */
    bool (*recognise)(const struct peek *peek);
    int (*read)(struct plim_model *model, const char *path, struct plim_error *reterr);
} formats[] = {
    { PLIM_FILE_SAFETENSORS_INDEX, ".index.json", "model.safetensors.index.json", is_index,
      plim_safetensors_open_index },
    { PLIM_FILE_SAFETENSORS, ".safetensors", "model.safetensors", is_safetensors, plim_safetensors_open },
    { PLIM_FILE_GGUF, ".gguf", NULL, is_gguf, plim_gguf_open },
    { PLIM_FILE_HF_CONFIG, ".json", "config.json", is_config, plim_hf_config_open },
    { PLIM_FILE_STEP, ".step", "", is_step, plim_step_model_open },
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static int out_of_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

/* --- files --- */

/* An index or a config, by the first member that only one of them has. */
static void peek_json(struct plim_file *file, struct peek *peek)
{
    struct plim_json json;
    struct plim_json_text key;
    plim_json_init(&json, plim_file_cursor(file, PLIM_MAX_INDEX_BYTES), NULL);
    int result = plim_json_object(&json);
    while (result == 0 && plim_json_member(&json, &key) > 0) {
        peek->json = plim_json_is(&key, "weight_map")                                          ? INDEX
                     : plim_json_is(&key, "architectures") || plim_json_is(&key, "model_type") ? CONFIG
                                                                                               : NO_JSON;
        if (peek->json != NO_JSON)
            return;
        result = plim_json_skip(&json);
    }
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static const struct format *format_of(const struct peek *peek, const char *path)
{
    static const struct format gguf = { PLIM_FILE_GGUF, NULL, NULL, is_gguf, plim_gguf_open };
    for (size_t i = 0; i < N_FORMATS; i++)
        if (formats[i].recognise(peek))
            return &formats[i];
    for (size_t i = 0; i < N_FORMATS; i++)
        if (ends_with(path, formats[i].suffix))
            return &formats[i];
    return &gguf;
}

static int recognise(const struct plim_files *files, const char *path, const struct format **ret_format,
                     struct plim_error *reterr)
{
    struct plim_file file;
    struct peek peek = { .json = NO_JSON };
    const unsigned char *bytes;
    int result = plim_files_open(files, path, &file, reterr);
    if (result < 0)
        return result;
    struct plim_cursor c = plim_file_cursor(&file, PEEK_BYTES);
    peek.n = file.file_bytes < PEEK_BYTES ? file.file_bytes : PEEK_BYTES;
    if (plim_cursor_take(&c, peek.n, &bytes))
        memcpy(peek.bytes, bytes, peek.n);
    if (peek.bytes[0] == '{' && !is_safetensors(&peek))
        peek_json(&file, &peek);
    plim_file_close(&file);
    *ret_format = format_of(&peek, path);
    return 0;
}

int plim_file_recognise(const char *path, enum plim_file_format *ret_format, struct plim_error *reterr)
{
    const struct format *format;
    int result = recognise(NULL, path, &format, reterr);
    if (result == 0)
        *ret_format = format->format;
    return result;
}

/* --- directories --- */

static int join(const char *folder, const char *name, char path[PATH_BYTES], struct plim_error *reterr)
{
    int n = snprintf(path, PATH_BYTES, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", name);
    return n > 0 && n < PATH_BYTES
               ? 0
               : plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the path is longer than %d bytes", PATH_BYTES);
}

/* The path of the one GGUF model in a folder; "" when there is none. */
static int find_gguf(const char *folder, char path[PATH_BYTES], struct plim_error *reterr)
{
    char name[256];
    size_t n = 0;
    path[0] = '\0';
    int result = plim_folder_find_gguf(folder, name, sizeof name, &n, reterr);
    if (result < 0 || n == 0)
        return result;
    if (n == 1)
        return join(folder, name, path, reterr);
    result = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "there are %zu GGUF models in this directory", n);
    plim_error_hint(reterr, "name one of them: %.120s", name);
    return result;
}

static int find_in_folder(const char *folder, char path[PATH_BYTES], const struct format **ret_format,
                          struct plim_error *reterr)
{
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (formats[i].file && !*formats[i].file)
            continue;
        int result = formats[i].file ? join(folder, formats[i].file, path, reterr) : find_gguf(folder, path, reterr);
        if (result < 0)
            return result;
        *ret_format = &formats[i];
        if (path[0] && plim_path_exists(path))
            return 0;
    }
    int code = plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "there is no model in this directory");
    plim_error_hint(reterr, "a model is a .gguf file, .safetensors files with their index, or a config.json");
    return code;
}

/* --- any of them --- */

static int open_path(struct plim_model *model, const char *given, struct plim_error *reterr)
{
    char path[PATH_BYTES];
    const struct format *format;
    const bool is_folder = !model->files && plim_path_is_folder(given);
    int result =
        is_folder ? find_in_folder(given, path, &format, reterr) : recognise(model->files, given, &format, reterr);
    return result < 0 ? result : format->read(model, is_folder ? path : given, reterr);
}

/* What went wrong elsewhere is why a reader could not read. */
static int prefer(const struct plim_files *files, int result, struct plim_error *reterr)
{
    if (result == 0 || !files || !files->error->code)
        return result;
    if (reterr)
        *reterr = *files->error;
    return files->error->code;
}

int plim_model_open_in(const struct plim_files *files, const char *path, struct plim_model **ret_model,
                       struct plim_error *reterr)
{
    struct plim_model *model = plim_model_new(path);
    if (!model)
        return out_of_memory(reterr);
    model->files = files;
    int result = prefer(files, open_path(model, path, reterr), reterr);
    model->files = NULL;
    if (result < 0) {
        plim_error_where(reterr, path);
        plim_model_free(model);
        return result;
    }
    *ret_model = model;
    return 0;
}

int plim_model_open(const char *path, struct plim_model **ret_model, struct plim_error *reterr)
{
    return plim_model_open_in(NULL, path, ret_model, reterr);
}

int plim_model_find(const char *name, const struct plim_source_roots *roots, struct plim_model **ret_model,
                    struct plim_error *reterr)
{
    struct plim_stored_model found;
    if (!roots || !plim_ollama_is_name(name))
        return plim_model_open(name, ret_model, reterr);
    int result = plim_ollama_find(name, roots, &found, reterr);
    return result < 0 ? result : plim_model_open(found.model, ret_model, reterr);
}

int plim_model_read(const void *data, uint64_t data_bytes, uint64_t file_bytes, struct plim_model **ret_model,
                    struct plim_error *reterr)
{
    struct peek peek = { .n = data_bytes < PEEK_BYTES ? data_bytes : PEEK_BYTES };
    struct plim_model *model = plim_model_new("");
    if (!model)
        return out_of_memory(reterr);
    if (peek.n)
        memcpy(peek.bytes, data, peek.n);
    const struct plim_cursor cursor = plim_cursor(data, data_bytes);
    int result = is_safetensors(&peek) ? plim_safetensors_read(model, cursor, file_bytes, reterr)
                                       : plim_gguf_read(model, cursor, file_bytes, reterr);
    if (result < 0) {
        plim_model_free(model);
        return result;
    }
    *ret_model = model;
    return 0;
}
