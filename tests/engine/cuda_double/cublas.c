/* SPDX-License-Identifier: MIT */
/* libcublas.so.13 of the test double: every product succeeds and computes nothing. */
#include <stdlib.h>

typedef int status;

status cublasCreate_v2(void **handle)
{
    *handle = malloc(1);
    return *handle ? 0 : 3;
}

status cublasDestroy_v2(void *handle)
{
    free(handle);
    return 0;
}

const char *cublasGetStatusString(status code) { return code ? "error of the test double" : "success"; }

#define DOES_NOTHING(name)                                                                                             \
    status name(void) { return 0; }

DOES_NOTHING(cublasSetMathMode)
DOES_NOTHING(cublasSetStream_v2)
DOES_NOTHING(cublasSetWorkspace_v2)
DOES_NOTHING(cublasSgemm_v2)
DOES_NOTHING(cublasSgemmBatched)
DOES_NOTHING(cublasSgemmStridedBatched)
DOES_NOTHING(cublasGemmEx)
DOES_NOTHING(cublasGemmBatchedEx)
DOES_NOTHING(cublasGemmStridedBatchedEx)
DOES_NOTHING(cublasStrsmBatched)
