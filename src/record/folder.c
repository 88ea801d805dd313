/* SPDX-License-Identifier: MIT */
#include "record/folder.h"

#include "record/leftovers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char plim_record_hook[];   /* hook/sitecustomize.py */
extern const char plim_record_pieces[]; /* hook/pieces.py */

static const char *value_of(char *const *environment, const char *name)
{
    const size_t n = strlen(name);
    for (; *environment; environment++)
        if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
            return *environment + n + 1;
    return NULL;
}

/* --- the folder --- */

/* PYTHONPATH is split at colons. */
static const char *parent_of(char *const *environment)
{
    const char *parent = value_of(environment, "TMPDIR");
    return parent && *parent == '/' && !strchr(parent, ':') && strlen(parent) < PLIM_RECORD_PATH_BYTES / 2 ? parent
                                                                                                           : "/tmp";
}

static bool write_file(const char *folder, const char *name, const char *text)
{
    char path[PLIM_RECORD_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/hook/%s", folder, name);
    FILE *file = fopen(path, "wxe");
    if (!file)
        return false;
    const bool is_written = fputs(text, file) >= 0;
    return fclose(file) == 0 && is_written;
}

static bool write_hook(const char *folder)
{
    char path[PLIM_RECORD_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/hook", folder);
    return mkdir(path, 0700) == 0 && write_file(folder, "sitecustomize.py", plim_record_hook) &&
           write_file(folder, "pieces.py", plim_record_pieces);
}

static int make_folder(char *const *environment, char path[PLIM_RECORD_PATH_BYTES], int *ret_lock,
                       struct plim_error *reterr)
{
    char made[PLIM_RECORD_PATH_BYTES];
    const char *parent = parent_of(environment);
    plim_record_leftovers_remove(parent);
    const bool is_made = plim_record_name(parent, made, sizeof made) && mkdtemp(made) != NULL;
    if (is_made) {
        snprintf(path, PLIM_RECORD_PATH_BYTES, "%s", made);
        *ret_lock = plim_record_hold(made);
    }
    return is_made && write_hook(path) ? 0 : plim_fail_errno(reterr, made, "make a folder for the recording", errno);
}

/* --- the environment --- */

static char *entry(struct plim_arena *arena, const char *name, const char *value, const char *rest)
{
    const size_t size = strlen(name) + strlen(value) + strlen(rest) + 3;
    char *text = plim_arena_alloc(arena, size, 1);
    if (text)
        snprintf(text, size, "%s=%s%s%s", name, value, *rest ? ":" : "", rest);
    return text;
}

static bool is_ours(const char *text)
{
    static const char *const names[] = { "PYTHONPATH=", "PLIM_RECORD=", "PLIM_RECORD_STEPS=" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(text, names[i], strlen(names[i])))
            return true;
    return false;
}

static bool make_environment(const struct plim_record_wish *wish, char *const *before,
                             struct plim_record_folder *folder)
{
    enum { N_OURS = 3, MAX_BYTES = 8 << 20 };
    char hook[PLIM_RECORD_PATH_BYTES + 8], number[16];
    size_t n = 0;
    while (before[n])
        n++;
    plim_arena_init(&folder->arena, MAX_BYTES);
    char **entries = folder->environment = plim_arena_alloc(&folder->arena, n + N_OURS + 1, sizeof *entries);
    if (!entries)
        return false;
    const char *python_path = value_of(before, "PYTHONPATH");
    n = 0;
    for (; *before; before++)
        if (!is_ours(*before))
            entries[n++] = *before;
    const size_t first = n;
    snprintf(hook, sizeof hook, "%s/hook", folder->path);
    snprintf(number, sizeof number, "%u", (unsigned)wish->n_steps);
    entries[n++] = entry(&folder->arena, "PYTHONPATH", hook, python_path ? python_path : "");
    entries[n++] = entry(&folder->arena, "PLIM_RECORD", folder->path, "");
    entries[n++] = entry(&folder->arena, "PLIM_RECORD_STEPS", number, "");
    for (size_t i = first; i < n; i++)
        if (!entries[i])
            return false;
    return true;
}

int plim_record_folder_make(const struct plim_record_wish *wish, char *const *environment,
                            struct plim_record_folder *ret_folder, struct plim_error *reterr)
{
    *ret_folder = (struct plim_record_folder){ .lock = -1 };
    int result = make_folder(environment, ret_folder->path, &ret_folder->lock, reterr);
    if (result == 0 && !make_environment(wish, environment, ret_folder))
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (result < 0)
        plim_record_folder_remove(ret_folder);
    return result;
}

/* --- the end --- */

void plim_record_folder_remove(struct plim_record_folder *folder)
{
    if (folder->path[0])
        plim_record_tree_remove(folder->path);
    if (folder->path[0] && folder->lock >= 0)
        close(folder->lock);
    plim_arena_done(&folder->arena);
    *folder = (struct plim_record_folder){ .environment = NULL };
}
