/* SPDX-License-Identifier: MIT */
#include "emit/hollow_own.h"

#include "base/mem.h"
#include "model/safetensors.h"
#include "source/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, FIRST_ROOM = 64 };

static bool identify(const char *path, struct plim_file_id *ret_id)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return false;
    *ret_id = (struct plim_file_id){ (uint64_t)status.st_dev, (uint64_t)status.st_ino };
    return true;
}

static bool has(const struct plim_hollow_own *own, const struct plim_file_id *id)
{
    for (size_t i = 0; i < own->n; i++)
        if (own->ids[i].device == id->device && own->ids[i].inode == id->inode)
            return true;
    return false;
}

int plim_hollow_own_add(struct plim_hollow_own *own, const char *path, struct plim_error *reterr)
{
    struct plim_file_id id;
    if (!identify(path, &id) || has(own, &id))
        return 0;
    if (own->n == own->room) {
        const size_t room = own->room ? 2 * own->room : FIRST_ROOM;
        struct plim_file_id *ids = plim_realloc(own->ids, room, sizeof *ids);
        if (!ids)
            return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
        own->ids = ids;
        own->room = room;
    }
    own->ids[own->n++] = id;
    return 0;
}

bool plim_hollow_own_has(const struct plim_hollow_own *own, const char *path)
{
    struct plim_file_id id;
    return identify(path, &id) && has(own, &id);
}

void plim_hollow_own_done(struct plim_hollow_own *own)
{
    plim_free(own->ids);
    *own = (struct plim_hollow_own){ 0 };
}

/* --- a checkpoint --- */

static bool starts_with(const char *text, const char *start) { return !strncmp(text, start, strlen(start)); }

/* Names of weights on Hugging Face, and of files that a loader reads with them. */
static bool is_usual(const char *name)
{
    static const char *const weights[] = { "model", "pytorch_model", "consolidated", "adapter_model" };
    static const char *const companions[] = { ".json", ".jinja", ".txt", ".model", ".py" };
    const char *end = strrchr(name, '.');
    if (!end || end == name)
        return false;
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++)
        if (!strcmp(end, companions[i]))
            return true;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        if (starts_with(name, weights[i]))
            return true;
    return false;
}

static int add_in(struct plim_hollow_own *own, const char *folder, const char *name, struct plim_error *reterr)
{
    char path[PATH_BYTES];
    const int n = snprintf(path, sizeof path, "%s%s", folder, name);
    return n > 0 && n < PATH_BYTES ? plim_hollow_own_add(own, path, reterr) : 0;
}

/* The files that an index names, whatever they are called; an index that cannot be read names none. */
static int add_named(struct plim_hollow_own *own, const char *folder, struct plim_error *reterr)
{
    char path[PATH_BYTES];
    struct plim_file file;
    const int n = snprintf(path, sizeof path, "%smodel.safetensors.index.json", folder);
    if (n < 0 || n >= PATH_BYTES || plim_file_open(path, &file, NULL) < 0)
        return 0;
    int result = 0;
    struct plim_safetensors_index *index = plim_alloc(1, sizeof *index);
    if (!index)
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    else if (plim_safetensors_index_read(plim_file_cursor(&file, PLIM_MAX_INDEX_BYTES), index, NULL) == 0)
        for (size_t i = 0; i < index->n_files && result == 0; i++)
            result = add_in(own, folder, index->files[i], reterr);
    if (index)
        plim_safetensors_index_done(index);
    plim_free(index);
    plim_file_close(&file);
    return result;
}

static int add_folder_of(struct plim_hollow_own *own, const char *path, struct plim_error *reterr)
{
    char folder[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    const int n = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 0, path);
    DIR *directory = n < PATH_BYTES ? opendir(*folder ? folder : ".") : NULL;
    int result = directory ? add_named(own, folder, reterr) : 0;
    for (const struct dirent *entry; directory && result == 0 && (entry = readdir(directory));)
        if (is_usual(entry->d_name))
            result = add_in(own, folder, entry->d_name, reterr);
    if (directory)
        closedir(directory);
    return result;
}

int plim_hollow_own_add_beside(struct plim_hollow_own *own, const char *path, struct plim_error *reterr)
{
    char *target = realpath(path, NULL); /* a link may lead to a file in another folder */
    int result = plim_hollow_own_add(own, path, reterr);
    if (result == 0)
        result = add_folder_of(own, path, reterr);
    if (result == 0 && target)
        result = add_folder_of(own, target, reterr);
    free(target);
    return result;
}
