/* SPDX-License-Identifier: MIT */
/* libcurand: generators, with the 192 KiB that NVIDIA's library takes for one. Nothing is generated. */
#include "vgpu/libs/curand_api.h"
#include "vgpu/libs/library.h"

enum {
    SUCCESS = 0,
    NOT_INITIALIZED = 101,
    ALLOCATION_FAILED = 102,
    TYPE_ERROR = 103,
    OUT_OF_RANGE = 104,
    LAUNCH_FAILURE = 201,
    INITIALIZATION_FAILED = 203
};
enum { GENERATOR = 1, STATE_BYTES = 192 << 10 };

struct generator {
    int device;
    void *stream;
    struct plim_library_charge state;
};

/* 100 to 200: pseudo and quasi random generators of all kinds. */
status curandCreateGenerator(void **ret_generator, int type)
{
    if (!ret_generator)
        return OUT_OF_RANGE;
    if (type < 100 || type > 204)
        return TYPE_ERROR;
    const int device = plim_library_device();
    if (device < 0)
        return INITIALIZATION_FAILED;
    struct generator *generator;
    void *handle = plim_handle_make(GENERATOR, sizeof *generator, (void **)&generator);
    if (!handle)
        return ALLOCATION_FAILED;
    generator->device = device;
    if (!plim_library_charge(&generator->state, device, PLIM_KIND_LIBRARY, STATE_BYTES)) {
        plim_handle_drop(handle);
        return ALLOCATION_FAILED;
    }
    *ret_generator = handle;
    return SUCCESS;
}

status curandDestroyGenerator(void *handle)
{
    struct generator *generator = plim_handle_body(handle, GENERATOR);
    if (!generator)
        return NOT_INITIALIZED;
    plim_library_uncharge(&generator->state);
    plim_handle_drop(handle);
    return SUCCESS;
}

status curandSetStream(const void *handle, void *stream)
{
    struct generator *generator = plim_handle_body(handle, GENERATOR);
    if (generator)
        generator->stream = stream;
    return generator ? SUCCESS : NOT_INITIALIZED;
}

static status run(const void *handle, const void *out)
{
    const struct generator *generator = plim_handle_body(handle, GENERATOR);
    return !generator                                                               ? NOT_INITIALIZED
           : plim_library_write_to(generator->device, generator->stream, out, NULL) ? SUCCESS
                                                                                    : LAUNCH_FAILURE;
}

static status set(const void *handle) { return plim_handle_body(handle, GENERATOR) ? SUCCESS : NOT_INITIALIZED; }

status curandSetPseudoRandomGeneratorSeed(const void *generator) { return set(generator); }
status curandSetGeneratorOffset(const void *generator) { return set(generator); }
status curandSetGeneratorOrdering(const void *generator) { return set(generator); }
status curandSetQuasiRandomGeneratorDimensions(const void *generator) { return set(generator); }
status curandGenerate(const void *generator, void *out) { return run(generator, out); }
status curandGenerateLongLong(const void *generator, void *out) { return run(generator, out); }
status curandGenerateUniform(const void *generator, void *out) { return run(generator, out); }
status curandGenerateUniformDouble(const void *generator, void *out) { return run(generator, out); }
status curandGenerateNormal(const void *generator, void *out) { return run(generator, out); }
status curandGenerateNormalDouble(const void *generator, void *out) { return run(generator, out); }
status curandGenerateLogNormal(const void *generator, void *out) { return run(generator, out); }
status curandGenerateLogNormalDouble(const void *generator, void *out) { return run(generator, out); }
status curandGeneratePoisson(const void *generator, void *out) { return run(generator, out); }
status curandGenerateSeeds(const void *generator) { return run(generator, NULL); }

static const int version[] = { PLIM_MAJOR, PLIM_MINOR, PLIM_PATCH };

status curandGetVersion(int *ret_version)
{
    if (!ret_version)
        return OUT_OF_RANGE;
    *ret_version = version[0] * 1000 + version[1] * 100 + version[2];
    return SUCCESS;
}

status curandGetProperty(int part, int *value)
{
    if (part < 0 || part > 2 || !value)
        return OUT_OF_RANGE;
    *value = version[part];
    return SUCCESS;
}
