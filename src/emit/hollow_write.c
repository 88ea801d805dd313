/* SPDX-License-Identifier: MIT */
/*
 * Writing a hollow model: all of its files, or no file at all.
 *
 * Each file is written under a temporary name in its folder, extended to its full size, checked for a real hole, and
 * synced. When all of them are, they get their names; a file of this name takes the temporary one, so that a failure
 * gives it back. A failure leaves nothing behind.
 */
#include "base/units.h"
#include "emit/hollow.h"
#include "source/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, CHUNK_BYTES = 1 << 20, MAX_TRIES = 100 };

/* The hole that is tried first, so that a file system without holes does not write hundreds of gigabytes of zeros. */
enum { TRIAL_BYTES = 16 << 20 };

/* Allowance for file systems: blocks, extents, preallocation for a growing file. */
enum { SLACK_BYTES = 2 << 20 };

/* One file of the model. */
struct written {
    const char *temporary;
    enum state {
        STATE_NONE,
        STATE_TEMPORARY, /* written, under the temporary name */
        STATE_NAMED,
        STATE_EXCHANGED, /* named, and the temporary name is that of the file that was there */
        STATE_REPLACED,  /* named, and the file that was there is gone */
    } state;
};

struct writer {
    struct plim_hollow *hollow;
    bool (*is_stopped)(void);
    struct plim_error *err;
    struct written *file;
    bool may_replace;
    bool has_made_folder;
};

static int fail_to(struct plim_error *reterr, const char *path, const char *what, int error)
{
    int code = plim_fail_errno(reterr, path, what, error);
    if (error == ENOSPC || error == EDQUOT)
        plim_error_hint(reterr, "headers alone take space, and the disk has not enough for them");
    else if (error == EFBIG)
        plim_error_hint(reterr, "the file system or a limit (ulimit -f) does not allow files of this size");
    return code;
}

static int stopped(const struct writer *w)
{
    return w->is_stopped() ? plim_fail(w->err, PLIM_E_IO, PLIM_NO_OFFSET, "interrupted; nothing was written") : 0;
}

/* --- before anything is written --- */

static int check_target(struct writer *w, const char *path)
{
    struct stat target;
    if (lstat(path, &target) < 0)
        return 0;
    if (S_ISDIR(target.st_mode)) {
        int code = plim_fail(w->err, PLIM_E_USAGE, PLIM_NO_OFFSET, "a folder of this name exists");
        plim_error_where(w->err, path);
        return code;
    }
    if (plim_hollow_own_has(&w->hollow->own, path)) {
        int code = plim_fail(w->err, PLIM_E_USAGE, PLIM_NO_OFFSET,
                             "this file belongs to the model itself: it would be overwritten");
        plim_error_hint(w->err, "name another folder");
        plim_error_where(w->err, path);
        return code;
    }
    if (w->may_replace)
        return 0;
    int code = plim_fail(w->err, PLIM_E_USAGE, PLIM_NO_OFFSET, "a file of this name exists");
    plim_error_hint(w->err, "--force replaces it");
    plim_error_where(w->err, path);
    return code;
}

static int make_folder(struct writer *w)
{
    if (!w->hollow->makes_folder)
        return 0;
    if (mkdir(w->hollow->folder, 0777) < 0)
        return fail_to(w->err, w->hollow->folder, "make this folder", errno);
    w->has_made_folder = true;
    return 0;
}

/* --- one file --- */

static int open_temporary(struct writer *w, size_t nth, int *ret_fd)
{
    char path[PATH_BYTES];
    const char *folder = w->hollow->folder;
    const size_t length = strlen(folder);
    const bool has_slash = length == 0 || folder[length - 1] == '/';
    for (int i = 0; i < MAX_TRIES; i++) {
        int n = snprintf(path, sizeof path, "%s%s.plimsoll-%ld-%zu-%d", folder, has_slash ? "" : "/", (long)getpid(),
                         nth, i);
        if (n < 0 || n >= PATH_BYTES)
            return plim_fail(w->err, PLIM_E_USAGE, PLIM_NO_OFFSET, "the path is longer than %d bytes", PATH_BYTES);
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0) {
            w->file[nth].temporary = plim_arena_copy(&w->hollow->arena, path, (size_t)n);
            *ret_fd = fd;
            if (w->file[nth].temporary) {
                w->file[nth].state = STATE_TEMPORARY;
                return 0;
            }
            close(fd);
            unlink(path);
            return plim_fail(w->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
        }
        if (errno != EEXIST)
            return fail_to(w->err, *folder ? folder : ".", "write into this folder", errno);
    }
    return fail_to(w->err, *folder ? folder : ".", "write into this folder", EEXIST);
}

static int write_bytes(struct writer *w, int fd, const char *path, const void *bytes, uint64_t n)
{
    uint64_t done = 0;
    while (done < n) {
        const uint64_t left = n - done;
        ssize_t written = write(fd, (const char *)bytes + done, left < CHUNK_BYTES ? left : CHUNK_BYTES);
        if (written < 0 && errno != EINTR)
            return fail_to(w->err, path, "write", errno);
        done += written > 0 ? (uint64_t)written : 0;
        int result = stopped(w);
        if (result < 0)
            return result;
    }
    return 0;
}

/* The head of a file of the model, byte for byte. */
static int copy_head(struct writer *w, int fd, const struct plim_hollow_file *file)
{
    struct plim_file source;
    int result = plim_file_open(file->source, &source, w->err);
    if (result < 0)
        return result;
    struct plim_cursor c = plim_file_cursor(&source, UINT64_MAX);
    bool is_same = source.file_bytes == file->bytes;
    while (c.at < file->head_bytes && is_same && result == 0) {
        const unsigned char *piece;
        const uint64_t left = file->head_bytes - c.at, n = left < PLIM_CURSOR_MOST ? left : PLIM_CURSOR_MOST;
        is_same = plim_cursor_take(&c, n, &piece);
        if (is_same)
            result = write_bytes(w, fd, file->path, piece, n);
    }
    plim_file_close(&source);
    if (c.error)
        return fail_to(w->err, file->source, "read", c.error);
    if (!is_same) {
        result = plim_fail(w->err, PLIM_E_IO, PLIM_NO_OFFSET, "the file changed while it was read");
        plim_error_where(w->err, file->source);
    }
    return result;
}

static int write_head(struct writer *w, int fd, const struct plim_hollow_file *file)
{
    if (!file->source)
        return write_bytes(w, fd, file->path, file->head, file->head_bytes);
    return file->bytes ? copy_head(w, fd, file) : 0; /* an empty file has no head */
}

/* Bytes on disk of a file that ends in a hole, or an error when the hole takes space. */
static int measure(struct writer *w, int fd, const struct plim_hollow_file *file, uint64_t *ret_disk_bytes)
{
    struct stat status;
    char size[PLIM_SIZE_TEXT], disk[PLIM_SIZE_TEXT];
    if (fsync(fd) < 0 || fstat(fd, &status) < 0)
        return fail_to(w->err, file->path, "write", errno);
    const uint64_t bytes = (uint64_t)status.st_size, disk_bytes = (uint64_t)status.st_blocks * 512;
    const uint64_t allowed = file->head_bytes + SLACK_BYTES;
    *ret_disk_bytes = disk_bytes;
    /* a file system that cannot tell reports data up to the end */
    const off_t data = bytes > allowed ? lseek(fd, (off_t)allowed, SEEK_DATA) : -1;
    if (bytes <= allowed || (disk_bytes <= allowed && data < 0 && errno == ENXIO))
        return 0;
    int code = plim_fail(w->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                         "the file system does not support sparse files: %s of zeros took %s",
                         plim_size_text(size, bytes), plim_size_text(disk, disk_bytes));
    plim_error_hint(w->err, "nothing was written; choose a folder on ext4, XFS, Btrfs or tmpfs");
    plim_error_where(w->err, file->path);
    return code;
}

/* The hole; for the first file a small one is tried before. */
static int make_hole(struct writer *w, int fd, struct plim_hollow_file *file, bool is_first)
{
    const uint64_t sizes[] = { file->head_bytes + TRIAL_BYTES, file->bytes };
    if (file->bytes == file->head_bytes)
        return measure(w, fd, file, &file->disk_bytes);
    for (int i = is_first ? 0 : 1; i < 2; i++) {
        if (sizes[i] > INT64_MAX || ftruncate(fd, (off_t)sizes[i]) < 0)
            return fail_to(w->err, file->path, "make a file of this size", sizes[i] > INT64_MAX ? EFBIG : errno);
        int result = measure(w, fd, file, &file->disk_bytes);
        if (result == 0)
            result = stopped(w);
        if (result < 0)
            return result;
    }
    return 0;
}

static int write_file(struct writer *w, size_t nth)
{
    int fd = -1;
    struct plim_hollow_file *file = &w->hollow->files[nth];
    int result = open_temporary(w, nth, &fd);
    if (result < 0)
        return result;
    result = write_head(w, fd, file);
    if (result == 0)
        result = make_hole(w, fd, file, nth == 0);
    if (close(fd) < 0 && result == 0)
        result = fail_to(w->err, file->path, "write", errno);
    return result;
}

/* --- all of them --- */

/* Give a file its name. Without --force it must be free still; the kernel looks and renames in one step. */
static int name_file(struct writer *w, size_t nth)
{
    struct written *file = &w->file[nth];
    const char *from = file->temporary, *to = w->hollow->files[nth].path;
    enum state state = STATE_EXCHANGED;
    int done = w->may_replace ? renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) : -1;
    if (done < 0 && (!w->may_replace || errno == ENOENT)) {
        state = STATE_NAMED;
        done = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
    }
    if (done < 0 && (errno == EINVAL || errno == ENOSYS)) { /* not every file system can: look, then rename */
        if (check_target(w, to) < 0)
            return w->err ? w->err->code : PLIM_E_USAGE;
        state = w->may_replace ? STATE_REPLACED : STATE_NAMED;
        done = rename(from, to);
    }
    if (done < 0)
        return fail_to(w->err, to, "rename the file", errno);
    file->state = state;
    return 0;
}

/* As it was before. */
static void undo(const struct writer *w)
{
    for (size_t i = 0; i < w->hollow->n_files; i++) {
        const struct written *file = &w->file[i];
        if (file->state == STATE_TEMPORARY)
            unlink(file->temporary);
        else if (file->state == STATE_EXCHANGED)
            rename(file->temporary, w->hollow->files[i].path);
        else if (file->state == STATE_NAMED || (file->state == STATE_REPLACED && w->has_made_folder))
            unlink(w->hollow->files[i].path);
    }
    if (w->has_made_folder)
        rmdir(w->hollow->folder);
}

static void remove_replaced(const struct writer *w)
{
    for (size_t i = 0; i < w->hollow->n_files; i++)
        if (w->file[i].state == STATE_EXCHANGED)
            unlink(w->file[i].temporary);
}

int plim_hollow_write(struct plim_hollow *hollow, bool may_replace, bool (*is_stopped)(void), struct plim_error *reterr)
{
    int result = 0;
    struct writer w = { .hollow = hollow, .is_stopped = is_stopped, .err = reterr, .may_replace = may_replace };
    w.file = plim_alloc(hollow->n_files, sizeof *w.file);
    if (!w.file)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < hollow->n_files && result == 0; i++)
        result = check_target(&w, hollow->files[i].path);
    if (result == 0)
        result = make_folder(&w);
    for (size_t i = 0; i < hollow->n_files && result == 0; i++)
        result = write_file(&w, i);
    if (result == 0)
        result = stopped(&w);
    for (size_t i = 0; i < hollow->n_files && result == 0; i++)
        result = name_file(&w, i);
    if (result < 0)
        undo(&w);
    else
        remove_replaced(&w);
    plim_free(w.file);
    return result;
}
