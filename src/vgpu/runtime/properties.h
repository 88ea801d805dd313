/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_PROPERTIES_H
#define PLIMSOLL_VGPU_RUNTIME_PROPERTIES_H

/* The major versions of CUDA that laid cudaDeviceProp out anew. */
enum plim_properties_layout { PLIM_PROPERTIES_11, PLIM_PROPERTIES_12, PLIM_PROPERTIES_13 };

/* Fill a cudaDeviceProp for a device that exists. */
void plim_properties(void *ret_properties, int device, enum plim_properties_layout layout);

#endif
