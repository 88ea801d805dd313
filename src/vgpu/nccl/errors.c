/* SPDX-License-Identifier: MIT */
/* Texts of errors, and the version. */
#include "vgpu/nccl/nccl_api.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char last_error[256];

nccl_result plim_nccl_fail(nccl_result error, const char *format, ...)
{
    char text[sizeof last_error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    memcpy(last_error, text, sizeof text);
    pthread_mutex_unlock(&lock);
    return error;
}

/* As in NCCL, the argument is ignored and the text stays until the next error. */
const char *ncclGetLastError(struct nccl_comm *comm)
{
    (void)comm;
    return last_error;
}
NCCL_OTHER_NAME(ncclGetLastError);

nccl_result ncclGetVersion(int *version)
{
    if (!version)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "GetVersion : version argument is NULL");
    *version = NCCL_VERSION_CODE;
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclGetVersion);

/* NCCL's own texts: programs and their users search for them. */
const char *ncclGetErrorString(nccl_result result)
{
    static const char *const texts[] = {
        [NCCL_SUCCESS] = "no error",
        [NCCL_UNHANDLED_CUDA_ERROR] = "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        [NCCL_SYSTEM_ERROR] = "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        [NCCL_INTERNAL_ERROR] = "internal error - please report this issue to the NCCL developers",
        [NCCL_INVALID_ARGUMENT] = "invalid argument (run with NCCL_DEBUG=WARN for details)",
        [NCCL_INVALID_USAGE] = "invalid usage (run with NCCL_DEBUG=WARN for details)",
        [NCCL_REMOTE_ERROR] = "remote process exited or there was a network error",
        [NCCL_IN_PROGRESS] = "NCCL operation in progress",
        [NCCL_TIMEOUT] = "timeout",
    };
    return result >= 0 && (size_t)result < sizeof texts / sizeof *texts ? texts[result] : "unknown result code";
}
NCCL_OTHER_NAME(ncclGetErrorString);

/* It has done nothing since 2.24. */
void ncclResetDebugInit(void) {}
NCCL_OTHER_NAME(ncclResetDebugInit);
