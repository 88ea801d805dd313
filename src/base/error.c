/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int(plim_fail)(struct plim_error *reterr, int code, uint64_t at, const char *format, ...)
{
    if (!reterr || reterr->code)
        return code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reterr->what, sizeof reterr->what, format, arguments);
    va_end(arguments);
    plim_text_clean(reterr->what);
    reterr->code = code;
    reterr->at = at;
    return code;
}

static int code_of_errno(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return PLIM_E_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return PLIM_E_DENIED;
    case ENOMEM:
        return PLIM_E_NOMEM;
    case ENOSYS:
        return PLIM_E_UNSUPPORTED;
    default:
        return PLIM_E_IO;
    }
}

int plim_fail_errno(struct plim_error *reterr, const char *path, const char *what, int error)
{
    const int code = code_of_errno(error);
    plim_fail(reterr, code, PLIM_NO_OFFSET, "cannot %s: %s", what, strerror(error));
    plim_error_where(reterr, path);
    return code;
}

void plim_error_hint(struct plim_error *reterr, const char *format, ...)
{
    if (!reterr || reterr->hint[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reterr->hint, sizeof reterr->hint, format, arguments);
    va_end(arguments);
    plim_text_clean(reterr->hint);
}

void plim_error_where(struct plim_error *reterr, const char *path)
{
    if (!reterr || reterr->where[0])
        return;
    size_t length = strlen(path);
    const size_t room = sizeof reterr->where - 1;
    if (length <= room)
        memcpy(reterr->where, path, length + 1);
    else
        snprintf(reterr->where, sizeof reterr->where, "...%s", path + length - (room - 3));
    plim_text_clean(reterr->where);
}

int plim_error_exit_status(int code)
{
    switch ((enum plim_error_code)code) {
    case PLIM_OK:
        return 0;
    case PLIM_E_USAGE:
        return 2;
    case PLIM_E_NOT_FOUND:
    case PLIM_E_DENIED:
    case PLIM_E_TRUNCATED:
    case PLIM_E_CORRUPT:
    case PLIM_E_UNSUPPORTED:
    case PLIM_E_TOO_BIG:
    case PLIM_E_IO:
        return 3;
    case PLIM_E_NO_DEVICE:
    case PLIM_E_NO_DRIVER:
        return 4;
    case PLIM_E_NETWORK:
        return 5;
    case PLIM_E_NOMEM:
    case PLIM_E_INTERNAL:
        break;
    }
    return 70;
}
