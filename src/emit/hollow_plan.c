/* SPDX-License-Identifier: MIT */
/* Which files a hollow copy of a model has, under which names, and how much of each is not hollow. */
#include "base/limits.h"
#include "emit/checkpoint.h"
#include "emit/hollow.h"
#include "model/gguf.h"
#include "model/safetensors.h"
#include "source/file.h"
#include "source/gguf_split.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096,
    MAX_PATHS_BYTES = 16 << 20,
    MAX_COPIED_BYTES = 256 << 20, /* of one file beside the weights: the largest tokenizers have 40 MB */
    MAX_FILES = PLIM_MAX_SAFETENSORS_FILES + 256,
};

static const char index_name[] = "model.safetensors.index.json", weights_name[] = "model.safetensors";

struct plan {
    struct plim_hollow *hollow;
    struct plim_error *err;
    const char *out;
    bool is_folder; /* out is one, or becomes one */
};

static int out_of_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static int join(struct plan *p, const char *folder, const char *name, const char **ret_path)
{
    char path[PATH_BYTES];
    const bool has_slash = !*folder || ends_with(folder, "/");
    int n = snprintf(path, sizeof path, "%s%s%s", folder, has_slash ? "" : "/", name);
    if (n < 0 || n >= PATH_BYTES)
        return plim_fail(p->err, PLIM_E_USAGE, PLIM_NO_OFFSET, "the path is longer than %d bytes", PATH_BYTES);
    *ret_path = plim_arena_copy(&p->hollow->arena, path, (size_t)n);
    return *ret_path ? 0 : out_of_memory(p->err);
}

/* The folder a path lies in, with its slash; "" when it has none. */
static int folder_of(struct plan *p, const char *path, const char **ret_folder)
{
    *ret_folder = plim_arena_copy(&p->hollow->arena, path, (size_t)(base_name(path) - path));
    return *ret_folder ? 0 : out_of_memory(p->err);
}

/* --- where it goes --- */

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Several files need a folder, which is made when it is not there. */
static int open_out(struct plan *p, bool has_several)
{
    struct stat status;
    const bool is_there = stat(p->out, &status) == 0;
    if (is_there && !S_ISDIR(status.st_mode) && has_several)
        return plim_fail(p->err, PLIM_E_USAGE, PLIM_NO_OFFSET, "'%.120s' is no folder, and the model has several files",
                         p->out);
    p->is_folder = has_several || ends_with(p->out, "/") || (is_there && S_ISDIR(status.st_mode));
    p->hollow->makes_folder = p->is_folder && !is_there;
    if (!p->is_folder)
        return folder_of(p, p->out, &p->hollow->folder);
    p->hollow->folder = p->out;
    return 0;
}

/* One more file; in a folder it keeps its name. */
static int add(struct plan *p, const char *source, const char *name, const struct plim_hollow_file *file)
{
    struct plim_hollow *h = p->hollow;
    if (h->n_files == MAX_FILES)
        return plim_fail(p->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "more than %d files", MAX_FILES);
    struct plim_hollow_file *added = &h->files[h->n_files++];
    *added = *file;
    added->source = source;
    if (p->is_folder)
        return join(p, h->folder, name, &added->path);
    added->path = p->out;
    return 0;
}

/* --- GGUF --- */

static int read_gguf(const char *path, struct plim_hollow_file *file, struct plim_error *reterr)
{
    struct plim_file source;
    struct plim_gguf_file header;
    struct plim_model *model = plim_model_new(path);
    if (!model)
        return out_of_memory(reterr);
    int result = plim_file_open(path, &source, reterr);
    if (result < 0) {
        plim_model_free(model);
        return result;
    }
    const uint64_t bytes = source.file_bytes;
    result = plim_gguf_parse(plim_file_cursor(&source, PLIM_MAX_GGUF_HEADER_BYTES), bytes, model, &header, reterr);
    if (result == 0)
        *file =
            (struct plim_hollow_file){ .head_bytes = header.data_at < bytes ? header.data_at : bytes, .bytes = bytes };
    else
        plim_error_where(reterr, path);
    plim_model_free(model);
    plim_file_close(&source);
    return result;
}

/* A file name for all parts: "-o new-00001-of-00003.gguf". */
static bool names_parts(const char *out, uint32_t count)
{
    uint32_t part, out_count;
    return plim_split_parse(out, &part, &out_count) && out_count == count;
}

static int add_part(struct plan *p, const char *model, uint32_t part, uint32_t count)
{
    char path[PATH_BYTES], target[PATH_BYTES];
    struct plim_hollow_file file;
    bool fits = plim_split_path(model, part, count, path, sizeof path);
    if (fits && !p->is_folder)
        fits = plim_split_path(p->out, part, count, target, sizeof target);
    if (!fits)
        return plim_fail(p->err, PLIM_E_USAGE, PLIM_NO_OFFSET, "the path is longer than %d bytes", PATH_BYTES);
    const char *source = plim_arena_copy(&p->hollow->arena, path, strlen(path));
    const char *name = plim_arena_copy(&p->hollow->arena, target, p->is_folder ? 0 : strlen(target));
    if (!source || !name)
        return out_of_memory(p->err);
    int result = read_gguf(source, &file, p->err);
    if (result == 0)
        result = add(p, source, base_name(source), &file);
    if (result == 0 && !p->is_folder)
        p->hollow->files[p->hollow->n_files - 1].path = name;
    return result;
}

static int plan_gguf(struct plan *p, const char *path)
{
    uint32_t part, count = 1;
    struct plim_model *model = NULL;
    struct plim_hollow_file file;
    /* whether all parts are there and belong together */
    int result = plim_model_open(path, &model, p->err);
    plim_model_free(model);
    const bool is_split = plim_split_parse(path, &part, &count);
    if (result == 0)
        result = open_out(p, count > 1 && !names_parts(p->out, count));
    for (uint32_t i = 1; i <= count && is_split && result == 0; i++)
        result = add_part(p, path, i, count);
    if (is_split || result < 0)
        return result;
    result = read_gguf(path, &file, p->err);
    return result < 0 ? result : add(p, path, base_name(path), &file);
}

/* --- safetensors --- */

static int read_safetensors(const char *path, struct plim_hollow_file *file, struct plim_error *reterr)
{
    struct plim_file source;
    struct plim_safetensors header;
    int result = plim_file_open(path, &source, reterr);
    if (result < 0)
        return result;
    const uint64_t bytes = source.file_bytes;
    result = plim_safetensors_read(plim_file_cursor(&source, UINT64_MAX), bytes, &header, reterr);
    if (result == 0)
        *file = (struct plim_hollow_file){ .head_bytes = header.header_bytes, .bytes = bytes };
    else
        plim_error_where(reterr, path);
    plim_safetensors_done(&header);
    plim_file_close(&source);
    return result;
}

static int add_safetensors(struct plan *p, const char *path)
{
    struct plim_hollow_file file;
    int result = read_safetensors(path, &file, p->err);
    return result < 0 ? result : add(p, path, base_name(path), &file);
}

/* A file that is copied as it is. */
static int add_copy(struct plan *p, const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > MAX_COPIED_BYTES) {
        int code = plim_fail(p->err, PLIM_E_IO, PLIM_NO_OFFSET, "this file cannot be copied");
        plim_error_where(p->err, path);
        return code;
    }
    const uint64_t bytes = (uint64_t)status.st_size;
    return add(p, path, base_name(path), &(struct plim_hollow_file){ .head_bytes = bytes, .bytes = bytes });
}

static int plan_shards(struct plan *p, const char *path, const struct plim_safetensors_index *index)
{
    const char *folder, *shard;
    int result = open_out(p, true);
    if (result == 0)
        result = folder_of(p, path, &folder);
    if (result == 0)
        result = add_copy(p, path);
    for (size_t i = 0; i < index->n_files && result == 0; i++) {
        result = join(p, folder, index->files[i], &shard);
        if (result == 0)
            result = add_safetensors(p, shard);
        if (result == PLIM_E_NOT_FOUND)
            plim_error_hint(p->err, "the index names it; all files of a model must lie beside it");
    }
    return result;
}

static int too_big(struct plan *p, const char *path, uint64_t bytes, int most)
{
    int code = plim_fail(p->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "a file of %" PRIu64 " bytes; at most %d are read",
                         bytes, most);
    plim_error_where(p->err, path);
    return code;
}

static int plan_index(struct plan *p, const char *path)
{
    struct plim_file source;
    struct plim_safetensors_index *index = plim_alloc(1, sizeof *index);
    if (!index)
        return out_of_memory(p->err);
    int result = plim_file_open(path, &source, p->err);
    if (result == 0) {
        result = source.file_bytes > PLIM_MAX_INDEX_BYTES
                     ? too_big(p, path, source.file_bytes, PLIM_MAX_INDEX_BYTES)
                     : plim_safetensors_index_read(plim_file_cursor(&source, UINT64_MAX), index, p->err);
        plim_file_close(&source);
        if (result < 0)
            plim_error_where(p->err, path);
        else
            result = plan_shards(p, path, index);
        plim_safetensors_index_done(index);
    }
    plim_free(index);
    return result;
}

/* --- config.json --- */

/* A small file, whole. */
static int read_whole(struct plan *p, const char *path, void **ret_bytes, size_t *ret_size)
{
    struct plim_file source;
    int result = plim_file_open(path, &source, p->err);
    if (result < 0)
        return result;
    const uint64_t size = source.file_bytes;
    char *bytes = size > PLIM_MAX_CONFIG_BYTES ? NULL : plim_alloc(size, 1);
    struct plim_cursor c = plim_file_cursor(&source, UINT64_MAX);
    if (!bytes)
        result = size > PLIM_MAX_CONFIG_BYTES ? too_big(p, path, size, PLIM_MAX_CONFIG_BYTES) : out_of_memory(p->err);
    for (uint64_t done = 0; done < size && result == 0; done = c.at) {
        const unsigned char *piece;
        const uint64_t n = size - done < PLIM_CURSOR_MOST ? size - done : PLIM_CURSOR_MOST;
        if (plim_cursor_take(&c, n, &piece))
            memcpy(bytes + done, piece, n);
        else
            result = plim_fail(p->err, PLIM_E_IO, done, "cannot read: %s",
                               c.error ? strerror(c.error) : "it became shorter");
    }
    plim_file_close(&source);
    if (result < 0) {
        plim_error_where(p->err, path);
        plim_free(bytes);
        return result;
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return 0;
}

static int plan_config(struct plan *p, const char *path, bool is_alone)
{
    void *text = NULL;
    size_t size = 0;
    struct plim_hf_checkpoint checkpoint = { 0 };
    int result = read_whole(p, path, &text, &size);
    if (result < 0)
        return result;
    result = plim_hf_checkpoint_describe(text, size, &checkpoint, p->err);
    plim_free(text);
    p->hollow->head = checkpoint.head;
    if (result < 0)
        plim_error_where(p->err, path);
    else
        result = open_out(p, !ends_with(p->out, ".safetensors"));
    const struct plim_hollow_file file = { .head = checkpoint.head,
                                           .head_bytes = checkpoint.head_bytes,
                                           .bytes = checkpoint.file_bytes };
    if (result == 0)
        result = add(p, NULL, weights_name, &file);
    if (result == 0 && p->is_folder && is_alone)
        result = add_copy(p, path);
    return result;
}

/* --- a folder --- */

/* What a loader reads beside the weights: configuration, tokenizer, templates, code. */
static bool is_companion(const char *name)
{
    static const char *const ends[] = { ".json", ".jinja", ".txt", ".model", ".py" };
    if (name[0] == '.' || ends_with(name, ".index.json"))
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i]))
            return true;
    return false;
}

static int add_companion(struct plan *p, const char *folder, const char *name)
{
    struct stat status;
    const char *path;
    int result = is_companion(name) ? join(p, folder, name, &path) : 1;
    if (result != 0)
        return result < 0 ? result : 0;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? add_copy(p, path) : 0;
}

static int add_companions(struct plan *p, const char *folder)
{
    struct dirent **entries;
    int result = 0, n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0)
        return plim_fail(p->err, PLIM_E_DENIED, PLIM_NO_OFFSET, "the folder cannot be read");
    for (int i = 0; i < n; i++) {
        if (result == 0)
            result = add_companion(p, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return result;
}

static int plan_folder(struct plan *p, const char *folder)
{
    const char *index, *weights, *config;
    int result = join(p, folder, index_name, &index);
    if (result == 0)
        result = join(p, folder, weights_name, &weights);
    if (result == 0)
        result = join(p, folder, "config.json", &config);
    if (result < 0)
        return result;
    if (access(index, F_OK) == 0) {
        result = plan_index(p, index);
    } else if (access(weights, F_OK) == 0) {
        result = open_out(p, true);
        if (result == 0)
            result = add_safetensors(p, weights);
    } else if (access(config, F_OK) == 0) {
        result = plan_config(p, config, false);
    } else {
        result = plim_fail(p->err, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "there is no %s, %s or config.json in this folder",
                           weights_name, index_name);
        plim_error_hint(p->err, "a GGUF model is named by its file");
        plim_error_where(p->err, folder);
    }
    return result == 0 && p->is_folder ? add_companions(p, folder) : result;
}

/* --- any of them --- */

/* Told by the first bytes, or by the name where that is what one would want to hear of. */
static int plan_file(struct plan *p, const char *path)
{
    struct plim_file source;
    const unsigned char *bytes = NULL;
    int result = plim_file_open(path, &source, p->err);
    if (result < 0)
        return result;
    const uint64_t n = source.file_bytes < 16 ? source.file_bytes : 16;
    struct plim_cursor c = plim_file_cursor(&source, n);
    const bool is_read = plim_cursor_take(&c, n, &bytes);
    const bool is_gguf = is_read && n >= 4 && !memcmp(bytes, "GGUF", 4);
    const bool is_safetensors = is_read && n > 8 && bytes[8] == '{' && bytes[7] == '\0' && !is_gguf;
    const bool is_brace = is_read && bytes[0] == '{' && !is_safetensors;
    plim_file_close(&source);
    const bool is_json = is_brace || (!is_gguf && !is_safetensors && ends_with(path, ".json"));
    if (is_json && ends_with(path, ".index.json"))
        return plan_index(p, path);
    if (is_json)
        return plan_config(p, path, true);
    if (!is_safetensors && (is_gguf || !ends_with(path, ".safetensors")))
        return plan_gguf(p, path); /* which says what it is when it is none */
    result = open_out(p, false);
    return result < 0 ? result : add_safetensors(p, path);
}

int plim_hollow_plan(const char *model, const char *out, struct plim_hollow *ret_hollow, struct plim_error *reterr)
{
    struct plan p = { .hollow = ret_hollow, .err = reterr, .out = out };
    *ret_hollow = (struct plim_hollow){ 0 };
    plim_arena_init(&ret_hollow->arena, MAX_PATHS_BYTES);
    ret_hollow->files = plim_alloc(MAX_FILES, sizeof *ret_hollow->files);
    if (!ret_hollow->files)
        return out_of_memory(reterr);
    return is_folder(model) ? plan_folder(&p, model) : plan_file(&p, model);
}

void plim_hollow_done(struct plim_hollow *hollow)
{
    plim_free(hollow->files);
    plim_free(hollow->head);
    plim_arena_done(&hollow->arena);
    *hollow = (struct plim_hollow){ 0 };
}
