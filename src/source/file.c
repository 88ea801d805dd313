/* SPDX-License-Identifier: MIT */
#include "source/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_errno(struct plim_error *reterr, const char *path, int error)
{
    int code = error == ENOENT || error == ENOTDIR ? PLIM_E_NOT_FOUND
               : error == EACCES || error == EPERM ? PLIM_E_DENIED
               : error == ENOMEM                   ? PLIM_E_NOMEM
                                                   : PLIM_E_IO;
    plim_fail(reterr, code, PLIM_NO_OFFSET, "cannot open: %s", strerror(error));
    if (code == PLIM_E_NOT_FOUND)
        plim_error_hint(reterr, "check the path; a model is one .gguf file, or the first of its parts");
    plim_error_where(reterr, path);
    return code;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

int plim_file_map(const char *path, uint64_t max_bytes, struct plim_file *ret_file, struct plim_error *reterr)
{
    struct stat status;
    int result = 0;
    /* O_NONBLOCK: opening a FIFO must not wait for a writer */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail_errno(reterr, path, errno);
    if (fstat(fd, &status) < 0) {
        result = fail_errno(reterr, path, errno);
    } else if (!S_ISREG(status.st_mode)) {
        result =
            plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "expected a file, found %s", kind_of(status.st_mode));
        plim_error_where(reterr, path);
    } else if (status.st_size == 0) {
        result = plim_fail(reterr, PLIM_E_TRUNCATED, 0, "the file is empty");
        plim_error_hint(reterr, "download it again");
        plim_error_where(reterr, path);
    } else {
        uint64_t file_bytes = (uint64_t)status.st_size;
        uint64_t map_bytes = file_bytes < max_bytes ? file_bytes : max_bytes;
        void *data = mmap(NULL, map_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            result = fail_errno(reterr, path, errno);
        } else {
            madvise(data, map_bytes, MADV_SEQUENTIAL);
            *ret_file = (struct plim_file){ data, map_bytes, file_bytes };
        }
    }
    close(fd);
    return result;
}

void plim_file_unmap(struct plim_file *file)
{
    if (file->data)
        munmap((void *)(uintptr_t)file->data, file->map_bytes);
    *file = (struct plim_file){ 0 };
}

long plim_file_read_text(const char *path, char *buffer, size_t size)
{
    size_t length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? PLIM_E_NOT_FOUND : PLIM_E_DENIED;
    while (length + 1 < size) {
        ssize_t n = read(fd, buffer + length, size - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    close(fd);
    buffer[length] = '\0';
    return (long)length;
}
