/* SPDX-License-Identifier: MIT */
/*
 * libcufile: direct reads from files to a card are not supported. Functions that return no status report that in their
 * own way.
 */
#include "vgpu/libs/cufile_api.h"
#include "vgpu/libs/library.h"

#include <sys/types.h>

enum { PLATFORM_NOT_SUPPORTED = 5007 };

static ssize_t refuse(const char *name, const void *caller)
{
    plim_vgpu_unsupported(name, caller);
    return -PLATFORM_NOT_SUPPORTED;
}

ssize_t cuFileRead(void) { return refuse("cuFileRead", __builtin_return_address(0)); }
ssize_t cuFileWrite(void) { return refuse("cuFileWrite", __builtin_return_address(0)); }
long cuFileUseCount(void) { return 0; }
void cuFileHandleDeregister(void *handle) { (void)handle; }
void cuFileBatchIODestroy(void *batch) { (void)batch; }
