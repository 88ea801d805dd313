/* SPDX-License-Identifier: MIT */
#include "record/record.h"

#include "record/absence.h"
#include "record/dumps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *path, const char *what, struct plim_error *reterr)
{
    return plim_fail_errno(reterr, path, what, errno);
}

static int copy(int from, int to, const char *path, struct plim_error *reterr)
{
    static char part[1 << 16];
    for (;;) {
        const ssize_t n = read(from, part, sizeof part);
        if (n < 0)
            return fail(path, "read", reterr);
        if (n == 0)
            return 0;
        for (ssize_t at = 0, written; at < n; at += written)
            if ((written = write(to, part + at, (size_t)(n - at))) < 0)
                return fail(path, "write", reterr);
    }
}

/* The folder may be on another file system. */
static int copy_file(const char *from, const char *to, struct plim_error *reterr)
{
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return fail(from, "open", reterr);
    const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int result = out < 0 ? fail(to, "write", reterr) : copy(in, out, to, reterr);
    if (out >= 0 && close(out) < 0 && result == 0)
        result = fail(to, "write", reterr);
    close(in);
    return result;
}

int plim_record_snapshots(const struct plim_record_folder *folder, const char *path, size_t *ret_n,
                          struct plim_error *reterr)
{
    struct plim_record_dumps dumps;
    char notes[PLIM_RECORD_TEXT_BYTES], from[PLIM_RECORD_PATH_BYTES + PLIM_RECORD_NAME_BYTES],
        to[PLIM_RECORD_PATH_BYTES];
    const char *dot = strrchr(path, '.');
    const int stem = dot ? (int)(dot - path) : (int)strlen(path);
    int result = plim_record_dumps_read(folder->path, &dumps, reterr);
    if (result < 0)
        return result;
    plim_record_notes(folder->path, notes);
    if (!dumps.n)
        result = plim_record_absence(folder->path, notes, reterr);
    for (size_t i = 0; result == 0 && i < dumps.n; i++) {
        snprintf(from, sizeof from, "%s/%s", folder->path, dumps.dumps[i].snapshot);
        if (i)
            snprintf(to, sizeof to, "%.*s.rank%ld%s", stem, path, (long)dumps.dumps[i].rank, dot ? dot : "");
        else
            snprintf(to, sizeof to, "%s", path);
        result = copy_file(from, to, reterr);
    }
    *ret_n = dumps.n;
    plim_record_dumps_done(&dumps);
    return result;
}
