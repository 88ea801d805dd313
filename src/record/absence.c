/* SPDX-License-Identifier: MIT */
#include "record/absence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next line without the number of its process in front; NULL at the end. */
static char *next_line(FILE *file, char line[PLIM_RECORD_TEXT_BYTES])
{
    if (!file || !fgets(line, PLIM_RECORD_TEXT_BYTES, file))
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    char *blank = strchr(line, ' ');
    return blank ? blank + 1 : line;
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[PLIM_RECORD_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "re");
}

void plim_record_notes(const char *folder, char ret_notes[PLIM_RECORD_TEXT_BYTES])
{
    char line[PLIM_RECORD_TEXT_BYTES];
    const char *text;
    size_t n = 0;
    FILE *file = open_in(folder, "notes");
    ret_notes[0] = '\0';
    while ((text = next_line(file, line)))
        if (!strstr(ret_notes, text) && n + strlen(text) + 3 < PLIM_RECORD_TEXT_BYTES)
            n += (size_t)snprintf(ret_notes + n, PLIM_RECORD_TEXT_BYTES - n, "%s%s", n ? "; " : "", text);
    if (file)
        fclose(file);
}

/* How far the process that came farthest got. */
enum stage { NO_PYTHON, NO_TORCH, NO_CUDA_BUILD, NO_CUDA_USE, NO_DUMP };

static enum stage stage_of(const char *text)
{
    if (!strcmp(text, "cuda"))
        return NO_DUMP;
    if (!strncmp(text, "torch ", 6))
        return strstr(text, "cuda None") ? NO_CUDA_BUILD : NO_CUDA_USE;
    return NO_TORCH;
}

int plim_record_absence(const char *folder, const char *notes, struct plim_error *reterr)
{
    static const char *const reasons[] = {
        [NO_PYTHON] = "the program started no Python, or one that ignores PYTHONPATH (-I, -E, -S)",
        [NO_TORCH] = "the program did not import torch",
        [NO_CUDA_BUILD] = "the program's PyTorch was built without CUDA",
        [NO_CUDA_USE] = "the program did not use CUDA through PyTorch",
        [NO_DUMP] = "the program allocated nothing through PyTorch, or was ended before it could write",
    };
    char line[PLIM_RECORD_TEXT_BYTES];
    enum stage farthest = NO_PYTHON;
    const char *text;
    FILE *file = open_in(folder, "stages");
    while ((text = next_line(file, line))) {
        const enum stage stage = stage_of(text);
        farthest = stage > farthest ? stage : farthest;
    }
    if (file)
        fclose(file);
    plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "nothing was recorded: %s", reasons[farthest]);
    if (*notes)
        plim_error_hint(reterr, "%s", notes);
    return PLIM_E_NOT_FOUND;
}
