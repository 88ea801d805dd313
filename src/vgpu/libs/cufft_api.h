/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUFFT_API_H
#define PLIMSOLL_VGPU_LIBS_CUFFT_API_H

/* The functions of the cuFFT API that have a body in libcufft.so.10 to .12: our own declarations after its manual. */

#include "vgpu/core/cuda_api.h"

/* The layouts change nothing. */
#define CUFFT_LAYOUT(integer)                                                                                          \
    const integer *in_embed, integer in_step, integer in_distance, const integer *out_embed, integer out_step,         \
        integer out_distance

status cufftCreate(int *ret_plan);
status cufftDestroy(int number);
status cufftMakePlan1d(int plan, int nx, int type, int count, size_t *ret_bytes);
status cufftMakePlan2d(int plan, int nx, int ny, int type, size_t *ret_bytes);
status cufftMakePlan3d(int plan, int nx, int ny, int nz, int type, size_t *ret_bytes);
status cufftMakePlanMany(int plan, int rank, const int *n, CUFFT_LAYOUT(int), int type, int count, size_t *ret_bytes);
status cufftMakePlanMany64(int plan, int rank, const long long *n, CUFFT_LAYOUT(long long), int type, long long count,
                           size_t *ret_bytes);
status cufftXtMakePlanMany(int plan, int rank, const long long *n, const long long *in_embed, long long in_step,
                           long long in_distance, int in_type, const long long *out_embed, long long out_step,
                           long long out_distance, int out_type, long long count, size_t *ret_bytes, int type);
status cufftPlan1d(int *ret_plan, int nx, int type, int count);
status cufftPlan2d(int *ret_plan, int nx, int ny, int type);
status cufftPlan3d(int *ret_plan, int nx, int ny, int nz, int type);
status cufftPlanMany(int *ret_plan, int rank, const int *n, CUFFT_LAYOUT(int), int type, int count);
status cufftEstimate1d(int nx, int type, int count, size_t *ret_bytes);
status cufftEstimate2d(int nx, int ny, int type, size_t *ret_bytes);
status cufftEstimate3d(int nx, int ny, int nz, int type, size_t *ret_bytes);
status cufftEstimateMany(int rank, const int *n, CUFFT_LAYOUT(int), int type, int count, size_t *ret_bytes);
status cufftGetSize(int number, size_t *ret_bytes);
status cufftSetAutoAllocation(int number, int is_automatic);
status cufftSetWorkArea(int number, void *area);
status cufftSetStream(int number, void *stream);
status cufftExecC2C(int plan, void *in, void *out);
status cufftExecR2C(int plan, void *in, void *out);
status cufftExecC2R(int plan, void *in, void *out);
status cufftExecZ2Z(int plan, void *in, void *out);
status cufftExecD2Z(int plan, void *in, void *out);
status cufftExecZ2D(int plan, void *in, void *out);
status cufftXtExec(int plan, void *in, void *out);
status cufftGetVersion(int *ret_version);
status cufftGetProperty(int part, int *value);

#endif
