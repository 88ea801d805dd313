/* SPDX-License-Identifier: MIT */
#include "source/paths.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/system.h"
#include "source/folder.h"
#include "source/gguf_split.h"
#include "source/hub_store.h"
#include "source/remote/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PATH_BYTES = 4096, MAX_DEPTH = 8, MAX_ARENA_BYTES = 20 << 20 };

static int out_of_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

/* Files of Ollama's store have names of their own. */
static const char *store_of(const char *path) { return strstr(path, "/blobs/sha256-") ? "ollama" : NULL; }

static int add(struct plim_paths *paths, const char *text, bool is_found, int error, struct plim_error *reterr)
{
    if (paths->n == PLIM_MAX_FILES) {
        paths->n_left_out++;
        return 0;
    }
    char *copy = plim_arena_copy(&paths->arena, text, strlen(text));
    if (!copy)
        return out_of_memory(reterr);
    paths->paths[paths->n++] =
        (struct plim_path){ .text = copy, .error = error, .is_found = is_found, .store = store_of(text) };
    return 0;
}

/* --- directories --- */

static bool is_later_part(const char *path)
{
    uint32_t part, count;
    return plim_split_parse(path, &part, &count) && part > 1;
}

/* The blobs of an Ollama store have no ending: there the first bytes decide. One that cannot be read may be a model. */
static bool has_magic(const char *path)
{
    char magic[4] = "";
    FILE *file = fopen(path, "rb");
    const size_t n = file ? fread(magic, 1, sizeof magic, file) : 0;
    const bool is_unread = !file || ferror(file);
    if (file)
        fclose(file);
    return is_unread || (n == sizeof magic && !memcmp(magic, "GGUF", sizeof magic));
}

static bool looks_like_model(const char *path, const char *name)
{
    size_t n = strlen(name);
    if (n > 5 && !strcasecmp(name + n - 5, ".gguf"))
        return !is_later_part(path);
    return !strncmp(name, "sha256-", 7) && has_magic(path);
}

static int add_directory(struct plim_paths *paths, const char *directory, unsigned depth, struct plim_error *reterr);

static bool is_not_there(int error) { return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG; }

/*
 * Links to directories are not followed: they may lead back up. What cannot be looked at is added with its error, and
 * the other models are answered for.
 */
static int add_entry(struct plim_paths *paths, const char *path, const char *name, unsigned depth,
                     struct plim_error *reterr)
{
    struct plim_file_status self, target;
    int error = name[0] == '.' ? ENOENT : plim_system_look(path, false, &self);
    if (error == 0 && self.kind == PLIM_KIND_FOLDER)
        return depth < MAX_DEPTH ? add_directory(paths, path, depth + 1, reterr) : 0;
    if (error == 0)
        error = plim_system_look(path, true, &target);
    if (error)
        return is_not_there(error) || error == ELOOP ? 0 : add(paths, path, true, error, reterr);
    return target.kind == PLIM_KIND_FILE && looks_like_model(path, name) ? add(paths, path, true, 0, reterr) : 0;
}

static int add_directory(struct plim_paths *paths, const char *directory, unsigned depth, struct plim_error *reterr)
{
    struct plim_names entries;
    int result = 0;
    const int error = plim_system_list(directory, &entries);
    if (error && depth)
        return is_not_there(error) ? 0 : add(paths, directory, true, error, reterr);
    if (error)
        return plim_fail_errno(reterr, directory, "read this directory", error);
    paths->n_entries_left_out += entries.n_left_out;
    for (size_t i = 0; i < entries.n && result == 0; i++) {
        char path[PATH_BYTES];
        int length = snprintf(path, sizeof path, "%s/%s", directory, entries.names[i]);
        if (length > 0 && length < PATH_BYTES)
            result = add_entry(paths, path, entries.names[i], depth, reterr);
    }
    plim_names_done(&entries);
    return result;
}

/* A checkpoint as Hugging Face publishes it, in a directory of its own. */
static bool has_config(const char *directory)
{
    char path[PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s/config.json", directory);
    return length > 0 && length < PATH_BYTES && plim_path_exists(path);
}

static int expand_directory(struct plim_paths *paths, const char *given, struct plim_error *reterr)
{
    char directory[PATH_BYTES];
    const size_t before = paths->n;
    int length = snprintf(directory, sizeof directory, "%s", given);
    while (length > 1 && length < PATH_BYTES && directory[length - 1] == '/')
        directory[--length] = '\0';
    int result = add_directory(paths, directory, 0, reterr);
    if (result == 0 && paths->n == before && has_config(directory))
        return add(paths, directory, false, 0, reterr);
    paths->has_directory = true;
    if (result == 0 && paths->n == before) {
        result = plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET,
                           "there is no GGUF file in this directory, and no config.json");
        plim_error_where(reterr, given);
    }
    return result;
}

/* --- names --- */

/* A path, from here or from a root, or the name of a file of a known format. */
static bool looks_like_path(const char *name)
{
    static const char *const endings[] = { ".gguf", ".safetensors", ".json" };
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t m = strlen(endings[i]);
        if (n >= m && !strcasecmp(name + n - m, endings[i]))
            return true;
    }
    return strchr("./~", name[0]) != NULL;
}

static int add_missing(struct plim_paths *paths, const char *name, const struct plim_error *why,
                       struct plim_error *reterr)
{
    const int result = add(paths, name, false, 0, reterr);
    if (result < 0 || paths->n_left_out)
        return result;
    struct plim_error *copy = plim_arena_alloc(&paths->arena, 1, sizeof *copy);
    if (!copy)
        return out_of_memory(reterr);
    *copy = *why;
    paths->paths[paths->n - 1].missing = copy;
    paths->paths[paths->n - 1].looks_like_path = looks_like_path(name);
    return 0;
}

static int add_file(struct plim_paths *paths, const char *path, int error, struct plim_error *reterr)
{
    struct plim_error why = { 0 };
    if (!error)
        return add(paths, path, false, 0, reterr);
    plim_fail_errno(&why, path, "open", error);
    return add_missing(paths, path, &why, reterr);
}

static int add_ollama(struct plim_paths *paths, const char *name, const struct plim_source_roots *roots,
                      struct plim_error *reterr)
{
    struct plim_stored_model model;
    struct plim_error error = { 0 };
    int result = plim_ollama_find(name, roots, &model, &error);
    if (result == PLIM_E_NOT_FOUND)
        return add_missing(paths, name, &error, reterr);
    if (result < 0 && reterr)
        *reterr = error;
    if (result == 0)
        result = add(paths, model.model, false, 0, reterr);
    if (result < 0 || paths->n_left_out)
        return result;
    struct plim_stored_model *copy = plim_arena_alloc(&paths->arena, 1, sizeof *copy);
    if (!copy)
        return out_of_memory(reterr);
    *copy = model;
    paths->paths[paths->n - 1].stored = copy;
    paths->paths[paths->n - 1].projector = copy->projector[0] ? copy->projector : NULL;
    paths->paths[paths->n - 1].store = model.engine;
    return 0;
}

/* --- hubs and servers --- */

static int copy_text(struct plim_paths *paths, const char *text, const char **ret_copy, struct plim_error *reterr)
{
    if (!*text)
        return 0;
    *ret_copy = plim_arena_copy(&paths->arena, text, strlen(text));
    return *ret_copy ? 0 : out_of_memory(reterr);
}

static int add_named(struct plim_paths *paths, const char *given, const char *model, const char *projector,
                     struct plim_remote *remote, struct plim_error *reterr)
{
    int result = add(paths, model, false, 0, reterr);
    if (result < 0 || paths->n_left_out)
        return result;
    struct plim_path *path = &paths->paths[paths->n - 1];
    path->remote = remote;
    result = copy_text(paths, given, &path->given, reterr);
    return result < 0 ? result : copy_text(paths, projector, &path->projector, reterr);
}

/* A file that is here wins over one that is on a server. */
static int add_address(struct plim_paths *paths, const char *given, const struct plim_source_roots *roots,
                       struct plim_error *reterr)
{
    struct plim_remote_address address;
    struct plim_hub_files files = { .model = "" };
    struct plim_remote_model model = { .url = "" };
    int result = plim_remote_address_read(given, PLIM_HUB_ENDPOINT, &address, reterr);
    if (result == 0)
        result = plim_hub_store_find(&address, roots, &files, reterr);
    if (result < 0)
        plim_error_where(reterr, given);
    if (result != 0)
        return result < 0 ? result : add_named(paths, given, files.model, files.projector, NULL, reterr);
    result = plim_remote_find(roots->remote, given, &model, reterr);
    return result < 0 ? result : add_named(paths, given, model.url, model.projector, roots->remote, reterr);
}

/* --- the command line --- */

/* A path or a name: a directory stands for its models. */
static int expand(struct plim_paths *paths, const char *given, const struct plim_source_roots *roots,
                  struct plim_error *reterr)
{
    struct plim_file_status status;
    const int error = plim_system_look(given, true, &status);
    if (error && !is_not_there(error))
        return plim_fail_errno(reterr, given, "open", error);
    if (error == 0 && status.kind == PLIM_KIND_FOLDER)
        return expand_directory(paths, given, reterr);
    if (error == 0)
        return add(paths, given, false, 0, reterr);
    if (plim_remote_is_address(given))
        return add_address(paths, given, roots, reterr);
    return plim_ollama_looks_like_name(given) ? add_ollama(paths, given, roots, reterr)
                                              : add_file(paths, given, error, reterr);
}

static int standard_input(struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "a model cannot be read from standard input");
    plim_error_hint(reterr, "name the file; for one that is called '-', write ./-");
    return code;
}

/* A later part of a split whose first part is named as well, as by dir/\*.gguf. */
static bool is_named_already(const char *path, const char *const *given, size_t n)
{
    char first[PATH_BYTES];
    uint32_t part, count;
    if (!plim_split_parse(path, &part, &count) || part == 1 || !plim_split_path(path, 1, count, first, sizeof first))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(given[i], first))
            return true;
    return false;
}

int plim_paths_expand(const char *const *given, size_t n, const struct plim_source_roots *roots,
                      struct plim_paths *ret_paths, struct plim_error *reterr)
{
    struct plim_paths *paths = ret_paths;
    int result = 0;
    memset(paths, 0, sizeof *paths);
    plim_arena_init(&paths->arena, MAX_ARENA_BYTES);
    paths->paths = plim_alloc_unset(PLIM_MAX_FILES, sizeof *paths->paths);
    if (!paths->paths)
        return out_of_memory(reterr);
    for (size_t i = 0; i < n && result == 0; i++) {
        if (is_named_already(given[i], given, n))
            continue;
        result = !strcmp(given[i], "-") ? standard_input(reterr) : expand(paths, given[i], roots, reterr);
    }
    return result;
}

void plim_paths_done(struct plim_paths *paths)
{
    plim_free(paths->paths);
    plim_arena_done(&paths->arena);
    paths->paths = NULL;
}
