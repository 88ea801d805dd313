/* SPDX-License-Identifier: MIT */
#include "source/folder.h"

#include "base/limits.h"
#include "base/system.h"
#include "source/gguf_split.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool plim_path_exists(const char *path)
{
    struct plim_file_status status;
    const int error = plim_system_look(path, true, &status);
    return error != ENOENT && error != ENOTDIR && error != ENAMETOOLONG;
}

bool plim_path_is_folder(const char *path)
{
    struct plim_file_status status;
    return plim_system_look(path, true, &status) == 0 && status.kind == PLIM_KIND_FOLDER;
}

static bool is_model(const char *name)
{
    uint32_t part, count;
    const size_t n = strlen(name);
    return name[0] != '.' && n > 5 && !strcasecmp(name + n - 5, ".gguf") &&
           !(plim_split_parse(name, &part, &count) && part > 1);
}

int plim_folder_find_gguf(const char *folder, char *ret_name, size_t size, size_t *ret_n, struct plim_error *reterr)
{
    struct plim_names entries;
    const int error = plim_system_list(folder, &entries);
    if (error)
        return plim_fail_errno(reterr, folder, "read this directory", error);
    *ret_n = 0;
    for (size_t i = 0; i < entries.n; i++)
        if (is_model(entries.names[i]) && strlen(entries.names[i]) < size && ++*ret_n == 1)
            snprintf(ret_name, size, "%s", entries.names[i]);
    const size_t n_left_out = entries.n_left_out;
    plim_names_done(&entries);
    return n_left_out ? plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET,
                                  "the directory has more than %d entries: name the file", PLIM_MAX_FOLDER_NAMES)
                      : 0;
}
