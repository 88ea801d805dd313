/* SPDX-License-Identifier: MIT */
#include "source/file.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "base/system.h"
#include "source/folder.h"

#include <errno.h>

/*
 * Small enough to stay in a processor's nearest caches while it is walked and to be mapped in a few page faults, large
 * enough that calls do not count: of 32 KiB to 512 KiB, 128 KiB is the fastest (bench/start.py).
 */
enum { WINDOW_BYTES = 128 << 10 };
_Static_assert((int)WINDOW_BYTES >= (int)PLIM_CURSOR_MOST, "a cursor may want this much at once");

static int fail_to_open(struct plim_error *reterr, const char *path, int error)
{
    int code = plim_fail_errno(reterr, path, "open", error);
    if (code == PLIM_E_NOT_FOUND)
        plim_error_hint(reterr, "check the path; a model is one .gguf file, or the first of its parts");
    return code;
}

static const char *name_of(enum plim_file_kind kind)
{
    return kind == PLIM_KIND_FOLDER   ? "a directory"
           : kind == PLIM_KIND_PIPE   ? "a pipe"
           : kind == PLIM_KIND_SOCKET ? "a socket"
                                      : "a device";
}

static int check_kind(const char *path, const struct plim_file_status *status, struct plim_error *reterr)
{
    int result = 0;
    if (status->kind != PLIM_KIND_FILE) {
        result =
            plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "expected a file, found %s", name_of(status->kind));
    } else if (status->bytes == 0) {
        result = plim_fail(reterr, PLIM_E_TRUNCATED, 0, "the file is empty");
        plim_error_hint(reterr, "download it again");
    }
    if (result < 0)
        plim_error_where(reterr, path);
    return result;
}

int plim_file_open(const char *path, struct plim_file *ret_file, struct plim_error *reterr)
{
    struct plim_file_status status;
    int fd, error = plim_system_open(path, PLIM_OPEN_NOW, &fd);
    if (error == ENXIO && plim_system_look(path, true, &status) == 0) /* sockets cannot be opened at all */
        return check_kind(path, &status, reterr);
    if (error)
        return fail_to_open(reterr, path, error);
    error = plim_system_status(fd, &status);
    int result = error ? fail_to_open(reterr, path, error) : check_kind(path, &status, reterr);
    unsigned char *window = result == 0 ? plim_alloc_unset(WINDOW_BYTES, 1) : NULL;
    if (result == 0 && !window)
        result = fail_to_open(reterr, path, ENOMEM);
    if (result < 0) {
        plim_system_close(fd);
        return result;
    }
    *ret_file = (struct plim_file){ .fd = fd, .file_bytes = status.bytes, .window = window };
    return 0;
}

int plim_files_open(const struct plim_files *files, const char *path, struct plim_file *ret_file,
                    struct plim_error *reterr)
{
    unsigned char *window = NULL;
    if (!files)
        return plim_file_open(path, ret_file, reterr);
    int result = files->open(files, path, ret_file, reterr);
    if (result < 0)
        return result;
    window = plim_alloc_unset(WINDOW_BYTES, 1);
    if (!window) {
        files->close(ret_file);
        return fail_to_open(reterr, path, ENOMEM);
    }
    ret_file->files = files;
    ret_file->window = window;
    return 0;
}

bool plim_files_have(const struct plim_files *files, const char *path)
{
    return files ? files->exists(files, path) : plim_path_exists(path);
}

/* How much of a window can be filled: of a file that lies elsewhere what is here, if that is enough. */
static bool have_bytes(struct plim_cursor *c, uint64_t n, uint64_t *wanted)
{
    struct plim_file *file = c->source;
    if (!file->files)
        return true;
    if (c->at + n > file->here_bytes && !file->files->grow(file, c->at + n, c->size)) {
        c->error = EIO;
        c->size = c->at;
        return false;
    }
    *wanted = plim_min_u64(*wanted, file->here_bytes - c->at);
    return true;
}

/* Move the window to where the cursor is. */
static bool fill_window(struct plim_cursor *c, uint64_t n)
{
    struct plim_file *file = c->source;
    uint64_t wanted = plim_min_u64(c->size - c->at, WINDOW_BYTES), length = 0;
    if (!have_bytes(c, n, &wanted))
        return false;
    while (length < wanted) {
        size_t got = 0;
        const int error = plim_system_read_at(file->fd, file->window + length, wanted - length,
                                              file->start_at + c->at + length, &got);
        if (error)
            c->error = error;
        if (got == 0)
            break;
        length += got;
    }
    if (length < wanted)
        c->size = c->at + length; /* the file was longer when it was opened, or cannot be read further */
    c->data = file->window;
    c->data_at = c->at;
    c->data_end = c->at + length;
    return n <= length;
}

struct plim_cursor plim_file_cursor(struct plim_file *file, uint64_t max_bytes)
{
    return (struct plim_cursor){ .size = file->file_bytes < max_bytes ? file->file_bytes : max_bytes,
                                 .fill = fill_window,
                                 .source = file };
}

void plim_file_close(struct plim_file *file)
{
    if (file->files)
        file->files->close(file);
    else
        plim_system_close(file->fd);
    plim_free(file->window);
    *file = (struct plim_file){ .fd = -1 };
}

long plim_file_read_text(const char *path, char *buffer, size_t size)
{
    size_t length = 0, n = 1;
    int fd;
    int error = plim_system_open(path, PLIM_OPEN_WAIT, &fd);
    if (error)
        return error == ENOENT ? PLIM_E_NOT_FOUND : PLIM_E_DENIED;
    for (; length + 1 < size && error == 0 && n > 0; length += error ? 0 : n)
        error = plim_system_read(fd, buffer + length, size - 1 - length, &n);
    plim_system_close(fd);
    buffer[length] = '\0';
    return error ? PLIM_E_IO : (long)length;
}
