/* SPDX-License-Identifier: MIT */
/*
 * cudaDeviceProp by byte offset, as driver_types.h of CUDA 11.8, 12.9 and 13.0 lays it out: 12 begins with the fields
 * of 11, and 13 dropped some, so all fields after them moved. A field has the value of the device attribute of the same
 * meaning; fields without a row are zero.
 */
#include "vgpu/runtime/properties.h"

#include "vgpu/runtime/runtime.h"

#include <string.h>

enum {
    NAME_BYTES = 256,
    UUID = 256,
    TOTAL_GLOBAL_MEM = 288,
    NONE = -1,
};
static const size_t size_of[] = {
    [PLIM_PROPERTIES_11] = 728, [PLIM_PROPERTIES_12] = 1032, [PLIM_PROPERTIES_13] = 1008
};

static const struct {
    short attribute, offset_12, offset_13, size;
} fields[] = {
    { 8, 296, 296, 8 },   /* sharedMemPerBlock */
    { 12, 304, 304, 4 },  /* regsPerBlock */
    { 10, 308, 308, 4 },  /* warpSize */
    { 11, 312, 312, 8 },  /* memPitch */
    { 1, 320, 320, 4 },   /* maxThreadsPerBlock */
    { 13, 348, NONE, 4 }, /* clockRate */
    { 9, 352, 352, 8 },   /* totalConstMem */
    { 75, 360, 360, 4 },  /* major */
    { 76, 364, 364, 4 },  /* minor */
    { 14, 368, 368, 8 },  /* textureAlignment */
    { 51, 376, 376, 8 },  /* texturePitchAlignment */
    { 15, 384, NONE, 4 }, /* deviceOverlap */
    { 16, 388, 384, 4 },  /* multiProcessorCount */
    { 18, 396, 388, 4 },  /* integrated */
    { 19, 400, 392, 4 },  /* canMapHostMemory */
    { 20, 404, NONE, 4 }, /* computeMode */
    { 30, 568, 552, 8 },  /* surfaceAlignment */
    { 31, 576, 560, 4 },  /* concurrentKernels */
    { 33, 584, 568, 4 },  /* pciBusID */
    { 34, 588, 572, 4 },  /* pciDeviceID */
    { 50, 592, 576, 4 },  /* pciDomainID */
    { 40, 600, 584, 4 },  /* asyncEngineCount */
    { 41, 604, 588, 4 },  /* unifiedAddressing */
    { 36, 608, NONE, 4 }, /* memoryClockRate */
    { 37, 612, 592, 4 },  /* memoryBusWidth */
    { 38, 616, 596, 4 },  /* l2CacheSize */
    { 39, 624, 604, 4 },  /* maxThreadsPerMultiProcessor */
    { 78, 628, 608, 4 },  /* streamPrioritiesSupported */
    { 79, 632, 612, 4 },  /* globalL1CacheSupported */
    { 80, 636, 616, 4 },  /* localL1CacheSupported */
    { 81, 640, 624, 8 },  /* sharedMemPerMultiprocessor */
    { 82, 648, 632, 4 },  /* regsPerMultiprocessor */
    { 83, 652, 636, 4 },  /* managedMemory */
    { 87, 668, NONE, 4 }, /* singleToDoublePrecisionPerfRatio */
    { 89, 676, 656, 4 },  /* concurrentManagedAccess */
    { 90, 680, 660, 4 },  /* computePreemptionSupported */
    { 91, 684, 664, 4 },  /* canUseHostPointerForRegisteredMem */
    { 95, 688, 668, 4 },  /* cooperativeLaunch */
    { 97, 696, 672, 8 },  /* sharedMemPerBlockOptin */
    { 106, 712, 688, 4 }, /* maxBlocksPerMultiProcessor */
    { 111, 720, 696, 8 }, /* reservedSharedMemPerBlock */
    { 99, 728, 704, 4 },  /* hostRegisterSupported */
    { 115, 744, 720, 4 }, /* memoryPoolsSupported */
    { 120, 772, 748, 4 }, /* clusterLaunch */
    { 2, 324, 324, 4 },   /* maxThreadsDim[0] */
    { 3, 328, 328, 4 },   /* maxThreadsDim[1] */
    { 4, 332, 332, 4 },   /* maxThreadsDim[2] */
    { 5, 336, 336, 4 },   /* maxGridSize[0] */
    { 6, 340, 340, 4 },   /* maxGridSize[1] */
    { 7, 344, 344, 4 },   /* maxGridSize[2] */
};

void plim_properties(void *ret_properties, int device, enum plim_properties_layout layout)
{
    unsigned char *properties = ret_properties;
    size_t total_bytes = 0;
    memset(properties, 0, size_of[layout]);
    cuDeviceGetName((char *)properties, NAME_BYTES, device);
    cuDeviceGetUuid(properties + UUID, device);
    cuDeviceTotalMem_v2(&total_bytes, device);
    memcpy(properties + TOTAL_GLOBAL_MEM, &total_bytes, sizeof total_bytes);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const int offset = layout == PLIM_PROPERTIES_13 ? fields[i].offset_13 : fields[i].offset_12;
        int value = 0;
        if (offset == NONE || (size_t)offset >= size_of[layout] ||
            cuDeviceGetAttribute(&value, fields[i].attribute, device) || value < 0)
            continue;
        if (fields[i].size == sizeof(size_t)) {
            size_t wide = (size_t)value;
            memcpy(properties + offset, &wide, sizeof wide);
        } else {
            memcpy(properties + offset, &value, sizeof value);
        }
    }
}
