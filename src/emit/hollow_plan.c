/* SPDX-License-Identifier: MIT */
/* The files of a hollow copy: their names, and how much of each is not hollow. */
#include "emit/hollow.h"

#include "base/limits.h"
#include "emit/checkpoint.h"
#include "model/gguf.h"
#include "model/hf_config.h"
#include "model/open.h"
#include "model/safetensors.h"
#include "source/folder.h"
#include "source/gguf_split.h"

#include <dirent.h>
#include <errno.h>
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
    const struct plim_hollow_python *python; /* NULL: without */
    bool is_folder;                          /* out is one, or becomes one */
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

static int path_too_long(struct plan *p)
{
    return plim_fail(p->err, PLIM_E_USAGE, PLIM_NO_OFFSET, "the path is longer than %d bytes", PATH_BYTES);
}

static int join(struct plan *p, const char *folder, const char *name, const char **ret_path)
{
    char path[PATH_BYTES];
    const bool has_slash = !*folder || ends_with(folder, "/");
    int n = snprintf(path, sizeof path, "%s%s%s", folder, has_slash ? "" : "/", name);
    if (n < 0 || n >= PATH_BYTES)
        return path_too_long(p);
    *ret_path = plim_arena_copy(&p->hollow->arena, path, (size_t)n);
    return *ret_path ? 0 : out_of_memory(p->err);
}

/* The folder a path lies in, with its slash; "" for a bare name. */
static int folder_of(struct plan *p, const char *path, const char **ret_folder)
{
    *ret_folder = plim_arena_copy(&p->hollow->arena, path, (size_t)(base_name(path) - path));
    return *ret_folder ? 0 : out_of_memory(p->err);
}

/* --- output paths --- */

/* Several files need a folder, which is made when it does not exist. */
static int open_out(struct plan *p, bool has_several)
{
    struct stat status;
    const bool is_there = stat(p->out, &status) == 0;
    if (is_there && !S_ISDIR(status.st_mode) && has_several)
        return plim_fail(p->err, PLIM_E_USAGE, PLIM_NO_OFFSET,
                         "'%.120s' is not a folder, and the model has several files", p->out);
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
    int result = source ? plim_hollow_own_add(&h->own, source, p->err) : 0;
    if (result == 0 && p->is_folder)
        return join(p, h->folder, name, &added->path);
    added->path = p->out;
    return result;
}

/* --- GGUF --- */

/* Everything of a file but its weights. */
static struct plim_hollow_file hollow_of(const struct plim_shard *shard)
{
    const uint64_t head = shard->data_at < shard->file_bytes ? shard->data_at : shard->file_bytes;
    return (struct plim_hollow_file){ .head_bytes = head, .bytes = shard->file_bytes };
}

/* A file of the model that was read; in a folder it keeps its name. */
static int add_shard(struct plan *p, const struct plim_shard *shard)
{
    const char *source = plim_arena_copy(&p->hollow->arena, shard->path, strlen(shard->path));
    const struct plim_hollow_file file = hollow_of(shard);
    return source ? add(p, source, base_name(source), &file) : out_of_memory(p->err);
}

/* A file name for all parts: "-o new-00001-of-00003.gguf". */
static bool names_parts(const char *out, uint32_t count)
{
    uint32_t part, out_count;
    return plim_split_parse(out, &part, &out_count) && out_count == count;
}

/* The i-th part, from 1, under the name of its place in the split that is written. */
static int add_part(struct plan *p, const struct plim_shard *shard, uint32_t part, uint32_t count)
{
    char target[PATH_BYTES];
    int result = add_shard(p, shard);
    if (result < 0 || p->is_folder)
        return result;
    if (!plim_split_path(p->out, part, count, target, sizeof target))
        return path_too_long(p);
    const char *path = plim_arena_copy(&p->hollow->arena, target, strlen(target));
    p->hollow->files[p->hollow->n_files - 1].path = path;
    return path ? 0 : out_of_memory(p->err);
}

static int plan_gguf(struct plan *p, struct plim_model *model, const char *path)
{
    int result = plim_gguf_open(model, path, p->err);
    const uint32_t count = plim_model_n_shards(model);
    if (result == 0)
        result = open_out(p, count > 1 && !names_parts(p->out, count));
    for (uint32_t i = 0; i < count && result == 0; i++) {
        const struct plim_shard *shard = plim_model_shard(model, i);
        result = names_parts(p->out, count) ? add_part(p, shard, i + 1, count) : add_shard(p, shard);
    }
    return result;
}

/* --- safetensors --- */

static int plan_safetensors(struct plan *p, struct plim_model *model, const char *path, bool needs_folder)
{
    int result = open_out(p, needs_folder);
    if (result == 0)
        result = plim_hollow_own_add_beside(&p->hollow->own, path, p->err);
    if (result == 0)
        result = plim_safetensors_add_file(model, path, p->err);
    return result < 0 ? result : add_shard(p, plim_model_shard(model, 0));
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

static int plan_index(struct plan *p, struct plim_model *model, const char *path)
{
    int result = plim_safetensors_add_index(model, path, p->err);
    if (result == 0)
        result = plim_model_index(model, p->err);
    if (result == 0)
        result = plim_safetensors_check_index(model, path, p->err);
    if (result == 0)
        result = open_out(p, true);
    if (result == 0)
        result = plim_hollow_own_add_beside(&p->hollow->own, path, p->err);
    if (result == 0)
        result = add_copy(p, path);
    for (uint32_t i = 0; i < plim_model_n_shards(model) && result == 0; i++)
        result = add_shard(p, plim_model_shard(model, i));
    return result;
}

/* --- config.json --- */

/* The tensors that our own rules, or those of transformers, give it. */
static int write_head(struct plan *p, struct plim_model *model, const char *path, struct plim_checkpoint_head *head)
{
    int result = 0;
    if (p->python) {
        result = plim_hf_config_add(model, path, p->err);
        return result < 0 ? result : plim_hollow_python(p->python, path, head, p->hollow->maker, p->err);
    }
    result = plim_hf_config_open(model, path, p->err);
    if (result == 0)
        result = plim_model_require_tensors(model, p->err);
    return result < 0 ? result : plim_checkpoint_head_write(model, head, p->err);
}

static int plan_config(struct plan *p, struct plim_model *model, const char *path, bool is_alone)
{
    struct plim_checkpoint_head head = { 0 };
    int result = write_head(p, model, path, &head);
    p->hollow->head = head.bytes;
    if (result < 0)
        plim_error_where(p->err, path);
    else
        result = open_out(p, !ends_with(p->out, ".safetensors"));
    if (result == 0)
        result = plim_hollow_own_add_beside(&p->hollow->own, path, p->err);
    const struct plim_hollow_file file = { .head = head.bytes, .head_bytes = head.n_bytes, .bytes = head.file_bytes };
    if (result == 0)
        result = add(p, NULL, weights_name, &file);
    if (result == 0 && p->is_folder && is_alone)
        result = add_copy(p, path);
    return result;
}

/* --- a folder --- */

/* Files that a loader reads beside the weights: configuration, tokenizer, templates, code. */
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
    if (stat(path, &status) < 0)
        return errno == ENOENT ? 0 : plim_fail_errno(p->err, path, "look at this file", errno);
    return S_ISREG(status.st_mode) ? add_copy(p, path) : 0;
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

static int plan_folder(struct plan *p, struct plim_model *model, const char *folder)
{
    const char *index, *weights, *config;
    int result = join(p, folder, index_name, &index);
    if (result == 0)
        result = join(p, folder, weights_name, &weights);
    if (result == 0)
        result = join(p, folder, "config.json", &config);
    if (result < 0)
        return result;
    if (plim_path_exists(index)) {
        result = plan_index(p, model, index);
    } else if (plim_path_exists(weights)) {
        result = plan_safetensors(p, model, weights, true);
    } else if (plim_path_exists(config)) {
        result = plan_config(p, model, config, false);
    } else {
        result = plim_fail(p->err, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "this folder has no %s, %s or config.json",
                           weights_name, index_name);
        plim_error_hint(p->err, "a GGUF model is named by its file");
        plim_error_where(p->err, folder);
    }
    return result == 0 && p->is_folder ? add_companions(p, folder) : result;
}

/* --- any of them --- */

static int plan_file(struct plan *p, struct plim_model *model, const char *path)
{
    enum plim_file_format format;
    int result = plim_file_recognise(path, &format, p->err);
    if (result < 0)
        return result;
    switch (format) {
    case PLIM_FILE_SAFETENSORS_INDEX:
        return plan_index(p, model, path);
    case PLIM_FILE_SAFETENSORS:
        return plan_safetensors(p, model, path, false);
    case PLIM_FILE_HF_CONFIG:
        return plan_config(p, model, path, true);
    case PLIM_FILE_STEP:
        result = plim_fail(p->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "a recorded step has no weights");
        plim_error_where(p->err, path);
        return result;
    default:
        return plan_gguf(p, model, path);
    }
}

int plim_hollow_plan(const char *model, const char *out, const struct plim_hollow_python *python,
                     struct plim_hollow *ret_hollow, struct plim_error *reterr)
{
    struct plan p = { .hollow = ret_hollow, .err = reterr, .out = out, .python = python };
    *ret_hollow = (struct plim_hollow){ 0 };
    plim_arena_init(&ret_hollow->arena, MAX_PATHS_BYTES);
    ret_hollow->files = plim_alloc(MAX_FILES, sizeof *ret_hollow->files);
    struct plim_model *read = ret_hollow->files ? plim_model_new(model) : NULL;
    if (!read)
        return out_of_memory(reterr);
    int result = plim_path_is_folder(model) ? plan_folder(&p, read, model) : plan_file(&p, read, model);
    if (result == 0 && python && !ret_hollow->maker[0])
        result = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--python is for a config.json without weights");
    const char *contradiction = plim_model_contradiction(read);
    if (contradiction)
        snprintf(ret_hollow->contradiction, sizeof ret_hollow->contradiction, "%s", contradiction);
    plim_model_free(read);
    return result;
}

void plim_hollow_done(struct plim_hollow *hollow)
{
    plim_free(hollow->files);
    plim_free(hollow->head);
    plim_hollow_own_done(&hollow->own);
    plim_arena_done(&hollow->arena);
    *hollow = (struct plim_hollow){ 0 };
}
