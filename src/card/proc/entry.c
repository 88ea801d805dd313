/* SPDX-License-Identifier: MIT */
#include "card/proc/entry.h"

#include "base/mem.h"
#include "base/system.h"
#include "plimsoll/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void plim_proc_path(const struct plim_proc_reader *reader, int64_t pid, const char *name,
                    char ret_path[PLIM_PROC_PATH_BYTES])
{
    const int n = snprintf(ret_path, PLIM_PROC_PATH_BYTES, "%s/proc/%" PRId64 "/%s", reader->root, pid, name);
    if (n < 0 || n >= PLIM_PROC_PATH_BYTES)
        ret_path[0] = '\0'; /* no such file */
}

long plim_proc_read_file(const char *path, char *buffer, size_t size)
{
    int file;
    size_t n = 0, got = 1;
    int result = plim_system_open(path, PLIM_OPEN_NOW, &file);
    if (result)
        return -1L - result;
    while (result == 0 && got > 0 && n < size - 1) {
        result = plim_system_read(file, buffer + n, size - 1 - n, &got);
        n += result == 0 ? got : 0;
    }
    plim_system_close(file);
    buffer[n] = '\0';
    return result ? -1L - result : (long)n;
}

int plim_proc_keep(struct plim_proc_entry *entry, enum plim_proc_text which, const char *text, size_t length)
{
    char *copy = plim_alloc(length + 1, 1);
    if (!copy)
        return PLIM_E_NOMEM;
    memcpy(copy, text, length);
    plim_free(entry->text[which]);
    entry->text[which] = copy;
    return 0;
}

void plim_proc_entry_done(struct plim_proc_entry *entry)
{
    for (int i = 0; i < PLIM_PROC_TEXTS; i++)
        plim_free(entry->text[i]);
    *entry = (struct plim_proc_entry){ .process.pid = entry->process.pid };
}
