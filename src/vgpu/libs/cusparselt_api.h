/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUSPARSELT_API_H
#define PLIMSOLL_VGPU_LIBS_CUSPARSELT_API_H

/* The functions of the cuSPARSELt API that have a body in libcusparseLt.so.0: our own declarations after its manual. */

#include "vgpu/core/cuda_api.h"

/* The content of the opaque structures of the program, of every kind. */
enum { CUSPARSELT_ATTRIBUTES = 24 };
struct cusparselt_object {
    uint32_t tag;
    int type, is_structured, device;
    int64_t n_rows, n_columns;
    uint64_t attribute[CUSPARSELT_ATTRIBUTES];
};
_Static_assert(sizeof(struct cusparselt_object) <= 256, "fits into cusparseLt's structures of every version");

status cusparseLtInit(struct cusparselt_object *handle);
status cusparseLtDestroy(const struct cusparselt_object *handle);
status cusparseLtDenseDescriptorInit(const struct cusparselt_object *handle, struct cusparselt_object *matrix,
                                     int64_t n_rows, int64_t n_columns, int64_t step, uint32_t alignment, int type,
                                     int order);
status cusparseLtStructuredDescriptorInit(const struct cusparselt_object *handle, struct cusparselt_object *matrix,
                                          int64_t n_rows, int64_t n_columns, int64_t step, uint32_t alignment, int type,
                                          int order, int sparsity);
status cusparseLtMatDescriptorDestroy(const struct cusparselt_object *matrix);
status cusparseLtMatmulDescriptorInit(const struct cusparselt_object *handle, struct cusparselt_object *product,
                                      int operation_a, int operation_b, const struct cusparselt_object *a,
                                      const struct cusparselt_object *b, const struct cusparselt_object *c,
                                      const struct cusparselt_object *d, int compute_type);
status cusparseLtMatmulAlgSelectionInit(const struct cusparselt_object *handle, struct cusparselt_object *algorithm,
                                        const struct cusparselt_object *product, int kind);
status cusparseLtMatmulAlgSelectionDestroy(const struct cusparselt_object *algorithm);
status cusparseLtMatmulPlanInit(const struct cusparselt_object *handle, struct cusparselt_object *plan,
                                const struct cusparselt_object *product, const struct cusparselt_object *algorithm);
status cusparseLtMatmulPlanDestroy(const struct cusparselt_object *plan);
status cusparseLtMatmulGetWorkspace(const struct cusparselt_object *handle, const struct cusparselt_object *plan,
                                    size_t *ret_bytes);
status cusparseLtMatmul(const struct cusparselt_object *handle, const struct cusparselt_object *plan, const void *alpha,
                        const void *a, const void *b, const void *beta, const void *c, void *d, void *workspace,
                        void *const *streams, int n_streams);
status cusparseLtMatmulSearch(const struct cusparselt_object *handle, struct cusparselt_object *plan, const void *alpha,
                              const void *a, const void *b, const void *beta, const void *c, void *d, void *workspace,
                              void *const *streams, int n_streams);
status cusparseLtSpMMACompressedSize2(const struct cusparselt_object *handle, const struct cusparselt_object *matrix,
                                      size_t *ret_bytes, size_t *ret_buffer_bytes);
status cusparseLtSpMMACompress2(const struct cusparselt_object *handle, const struct cusparselt_object *matrix,
                                int is_sparse_a, int operation, const void *dense, void *compressed, void *buffer,
                                void *stream);
const char *cusparseLtGetErrorName(status code);
const char *cusparseLtGetErrorString(status code);
status cusparseLtGetVersion(const struct cusparselt_object *handle, int *ret_version);
status cusparseLtGetProperty(int part, int *value);
status cusparseLtMatDescSetAttribute(const struct cusparselt_object *handle, struct cusparselt_object *object, int id,
                                     const void *value, size_t size);
status cusparseLtMatDescGetAttribute(const struct cusparselt_object *handle, const struct cusparselt_object *object,
                                     int id, void *value, size_t size);
status cusparseLtMatmulDescSetAttribute(const struct cusparselt_object *handle, struct cusparselt_object *object,
                                        int id, const void *value, size_t size);
status cusparseLtMatmulDescGetAttribute(const struct cusparselt_object *handle, const struct cusparselt_object *object,
                                        int id, void *value, size_t size);
status cusparseLtMatmulAlgSetAttribute(const struct cusparselt_object *handle, struct cusparselt_object *object, int id,
                                       const void *value, size_t size);
status cusparseLtMatmulAlgGetAttribute(const struct cusparselt_object *handle, const struct cusparselt_object *object,
                                       int id, void *value, size_t size);

#endif
