/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUFILE_API_H
#define PLIMSOLL_VGPU_LIBS_CUFILE_API_H

/* The functions of the cuFile API that return no status. Their parameters are not read. */

#include <sys/types.h>

ssize_t cuFileRead(void);
ssize_t cuFileWrite(void);
long cuFileUseCount(void);
void cuFileHandleDeregister(void *handle);
void cuFileBatchIODestroy(void *batch);

#endif
