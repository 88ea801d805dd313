/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CURAND_API_H
#define PLIMSOLL_VGPU_LIBS_CURAND_API_H

/* The functions of the cuRAND API that have a body in libcurand.so.10: our own declarations after its manual. */

#include "vgpu/core/cuda_api.h"

status curandCreateGenerator(void **ret_generator, int type);
status curandDestroyGenerator(void *handle);
status curandSetStream(const void *handle, void *stream);
status curandSetPseudoRandomGeneratorSeed(const void *generator);
status curandSetGeneratorOffset(const void *generator);
status curandSetGeneratorOrdering(const void *generator);
status curandSetQuasiRandomGeneratorDimensions(const void *generator);
status curandGenerate(const void *generator, void *out);
status curandGenerateLongLong(const void *generator, void *out);
status curandGenerateUniform(const void *generator, void *out);
status curandGenerateUniformDouble(const void *generator, void *out);
status curandGenerateNormal(const void *generator, void *out);
status curandGenerateNormalDouble(const void *generator, void *out);
status curandGenerateLogNormal(const void *generator, void *out);
status curandGenerateLogNormalDouble(const void *generator, void *out);
status curandGeneratePoisson(const void *generator, void *out);
status curandGenerateSeeds(const void *generator);
status curandGetVersion(int *ret_version);
status curandGetProperty(int part, int *value);

#endif
