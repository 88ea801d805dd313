/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_PROPERTIES_H
#define PLIMSOLL_VGPU_RUNTIME_PROPERTIES_H

/* Fill a cudaDeviceProp of this major version of the runtime for a device that exists. */
void plim_properties(void *ret_properties, int device);

#endif
