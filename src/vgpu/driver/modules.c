/* SPDX-License-Identifier: MIT */
/* libcuda: modules and libraries. They are kept as loaded, and searched when the program asks for a name. */
#include "vgpu/driver/modules.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/launches.h"
#include "vgpu/driver/memory/device_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 1 << 30 };

/* A name that the program asked for. */
struct named {
    char *name;
    struct plim_object *kernel; /* or */
    uint64_t address, size;     /* a variable */
    struct named *next;
};

struct module {
    void *image;    /* our copy of a cubin, whose size is known, or of a file; else the program's memory */
    uint64_t limit; /* the number of bytes that may be read */
    bool is_own;
    struct named *names;
};

static struct module *module_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_MODULE);
    return object ? PLIM_BODY(object, module) : NULL;
}

struct plim_kernel *plim_kernel_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_KERNEL);
    return object ? PLIM_BODY(object, plim_kernel) : NULL;
}

/* --- loading --- */

static status load(void **ret_module, const void *image, uint64_t limit, bool is_own)
{
    const uint64_t size = plim_cubin_size(image, limit);
    void *copy = size && !is_own ? malloc(size) : NULL;
    if (copy)
        memcpy(copy, image, size);
    const struct module module = { .image = copy ? copy : (void *)(uintptr_t)image,
                                   .limit = copy ? size : limit,
                                   .is_own = is_own || copy };
    struct plim_object *object =
        size && !is_own && !copy ? NULL : plim_object_make(PLIM_OBJECT_MODULE, &module, sizeof module);
    if (!object) {
        free(copy);
        return PLIM_CUDA_OUT_OF_MEMORY;
    }
    *ret_module = object;
    return PLIM_CUDA_SUCCESS;
}

status cuLibraryLoadData(void **ret_library, const void *image, void *options, void **values, unsigned n,
                         void *library_options, void **library_values, unsigned n_library)
{
    int error;
    (void)options, (void)values, (void)n, (void)library_options, (void)library_values, (void)n_library;
    plim_vgpu_ledger(&error);
    if (error || !ret_library || !image)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    return load(ret_library, image, PLIM_CUBIN_MOST_BYTES, false);
}

status cuModuleLoadDataEx(void **ret_module, const void *image, unsigned n, void *options, void **values)
{
    (void)n, (void)options, (void)values;
    status error = plim_context_need();
    if (error || !ret_module || !image)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    return load(ret_module, image, PLIM_CUBIN_MOST_BYTES, false);
}

status cuModuleLoadData(void **ret_module, const void *image)
{
    return cuModuleLoadDataEx(ret_module, image, 0, NULL, NULL);
}

status cuModuleLoadFatBinary(void **ret_module, const void *image) { return cuModuleLoadData(ret_module, image); }

static status load_file(void **ret_module, const char *path)
{
    struct stat file;
    char *image = NULL;
    ssize_t n = 0;
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return path ? PLIM_CUDA_FILE_NOT_FOUND : PLIM_CUDA_INVALID_VALUE;
    if (fstat(fd, &file) == 0 && file.st_size > 0 && file.st_size < MAX_FILE_BYTES)
        image = malloc((size_t)file.st_size + 1);
    if (image)
        n = read(fd, image, (size_t)file.st_size);
    close(fd);
    if (!image || n != file.st_size) {
        free(image);
        return PLIM_CUDA_INVALID_IMAGE;
    }
    image[n] = '\0'; /* PTX ends with it */
    status error = load(ret_module, image, (uint64_t)n, true);
    if (error)
        free(image);
    return error;
}

status cuModuleLoad(void **ret_module, const char *path)
{
    status error = plim_context_need();
    return error || !ret_module ? (error ? error : PLIM_CUDA_INVALID_VALUE) : load_file(ret_module, path);
}

status cuLibraryLoadFromFile(void **ret_library, const char *path, void *options, void **values, unsigned n,
                             void *library_options, void **library_values, unsigned n_library)
{
    (void)options, (void)values, (void)n, (void)library_options, (void)library_values, (void)n_library;
    return ret_library ? load_file(ret_library, path) : PLIM_CUDA_INVALID_VALUE;
}

status cuModuleUnload(void *handle)
{
    struct plim_device_memory memory;
    PLIM_OBJECTS_LOCKED;
    struct module *module = module_of(handle);
    if (!module)
        return PLIM_CUDA_INVALID_HANDLE;
    for (struct named *named = module->names, *next; named; named = next) {
        next = named->next;
        if (named->kernel)
            plim_object_drop(named->kernel);
        if (named->address)
            (void)plim_device_memory_unplace(PLIM_DEVICE_MEMORY_IPC, named->address, &memory);
        free(named->name);
        free(named);
    }
    if (module->is_own)
        free(module->image);
    plim_object_drop(handle);
    return PLIM_CUDA_SUCCESS;
}

status cuLibraryUnload(void *library) { return cuModuleUnload(library); }

status cuModuleGetLoadingMode(int *mode)
{
    enum { LAZY = 2 };
    if (!mode)
        return PLIM_CUDA_INVALID_VALUE;
    *mode = LAZY;
    return PLIM_CUDA_SUCCESS;
}

/* --- names --- */

/* With the lock held. */
static struct named *known(const struct module *module, const char *name, bool is_kernel)
{
    struct named *named = module->names;
    while (named && (strcmp(named->name, name) != 0 || !named->kernel == is_kernel))
        named = named->next;
    return named;
}

static struct named *remember(struct module *module, const char *name)
{
    struct named *named = calloc(1, sizeof *named);
    if (named && !(named->name = strdup(name))) {
        free(named);
        return NULL;
    }
    if (named) {
        named->next = module->names;
        module->names = named;
    }
    return named;
}

static status find_kernel(struct plim_object *object, const char *name, void **ret_kernel)
{
    enum { MAX_THREADS = 1024, N_REGISTERS = 64, SHARED_BYTES = 48 << 10 }; /* for code without such attributes */
    struct module *module = PLIM_BODY(object, module);
    struct named *named = known(module, name, true);
    struct plim_cubin_kernel code;
    if (!named) {
        if (plim_cubin_kernel(module->image, module->limit, name, &code) == PLIM_CUBIN_NO)
            return PLIM_CUDA_NOT_FOUND;
        if (code.n_registers <= 0)
            code.n_registers = N_REGISTERS;
        if (code.max_threads <= 0)
            code.max_threads = MAX_THREADS;
        if (!(named = remember(module, name)))
            return PLIM_CUDA_OUT_OF_MEMORY;
        const struct plim_kernel kernel = { .module = object,
                                            .name = named->name,
                                            .code = code,
                                            .max_dynamic_shared_bytes = SHARED_BYTES,
                                            .carveout = -1 };
        named->kernel = plim_object_make(PLIM_OBJECT_KERNEL, &kernel, sizeof kernel);
    }
    if (!named->kernel)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *ret_kernel = named->kernel;
    return PLIM_CUDA_SUCCESS;
}

status plim_vgpu_host_kernel(void **library, const void *fat_binary, const char *name,
                             const struct plim_meaning *meaning, void **ret_function)
{
    status error = PLIM_CUDA_SUCCESS;
    PLIM_OBJECTS_LOCKED;
    if (!*library)
        error = load(library, fat_binary, PLIM_CUBIN_MOST_BYTES, false);
    if (!error)
        error = find_kernel(*library, name, ret_function);
    if (!error)
        plim_kernel_of(*ret_function)->meaning = meaning;
    return error;
}

status cuModuleGetFunction(void **ret_function, void *handle, const char *name)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_MODULE);
    if (!object)
        return PLIM_CUDA_INVALID_HANDLE;
    return ret_function && name ? find_kernel(object, name, ret_function) : PLIM_CUDA_INVALID_VALUE;
}

status cuLibraryGetKernel(void **ret_kernel, void *library, const char *name)
{
    return cuModuleGetFunction(ret_kernel, library, name);
}

/* The memory of a variable is charged with the code. */
status cuModuleGetGlobal_v2(device_pointer *ret_address, size_t *ret_size, void *handle, const char *name)
{
    uint64_t size = 0;
    PLIM_OBJECTS_LOCKED;
    struct module *module = module_of(handle);
    if (!module)
        return PLIM_CUDA_INVALID_HANDLE;
    if (!name)
        return PLIM_CUDA_INVALID_VALUE;
    status error = PLIM_CUDA_SUCCESS;
    struct named *named = known(module, name, false);
    if (!named && plim_cubin_variable(module->image, module->limit, name, &size) != PLIM_CUBIN_YES)
        error = PLIM_CUDA_NOT_FOUND;
    else if (!named && !(named = remember(module, name)))
        error = PLIM_CUDA_OUT_OF_MEMORY;
    else if (!named->size)
        named->size = size;
    if (!error && !named->address) {
        const int device = plim_context_device() < 0 ? 0 : plim_context_device();
        error = plim_device_memory_place(PLIM_DEVICE_MEMORY_IPC, device, named->size ? named->size : 1, NULL,
                                         &named->address);
    }
    if (!error && ret_address)
        *ret_address = named->address;
    if (!error && ret_size)
        *ret_size = named->size;
    return error;
}

status cuLibraryGetGlobal(device_pointer *ret_address, size_t *ret_size, void *library, const char *name)
{
    return cuModuleGetGlobal_v2(ret_address, ret_size, library, name);
}

/* A cubin does not tell managed variables from others: no name is found. */
status cuLibraryGetManaged(device_pointer *ret_address, size_t *ret_size, void *library, const char *name)
{
    (void)ret_address, (void)ret_size;
    return !module_of(library) ? PLIM_CUDA_INVALID_HANDLE : name ? PLIM_CUDA_NOT_FOUND : PLIM_CUDA_INVALID_VALUE;
}

status cuModuleGetFunctionCount(unsigned *count, void *handle)
{
    PLIM_OBJECTS_LOCKED;
    const struct module *module = module_of(handle);
    if (!module || !count)
        return module ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    *count = 0;
    while (plim_cubin_name(module->image, module->limit, *count))
        ++*count;
    return PLIM_CUDA_SUCCESS;
}

status cuModuleEnumerateFunctions(void **functions, unsigned n, void *handle)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_MODULE);
    if (!object || !functions)
        return object ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    status error = PLIM_CUDA_SUCCESS;
    for (unsigned i = 0; i < n && !error; i++) {
        const struct module *module = PLIM_BODY(object, module);
        const char *name = plim_cubin_name(module->image, module->limit, i);
        if (!name)
            break;
        error = find_kernel(object, name, &functions[i]);
    }
    return error;
}

status cuLibraryGetKernelCount(unsigned *count, void *library) { return cuModuleGetFunctionCount(count, library); }

status cuLibraryEnumerateKernels(void **kernels, unsigned n, void *library)
{
    return cuModuleEnumerateFunctions(kernels, n, library);
}

status cuLibraryGetModule(void **ret_module, void *library)
{
    if (!module_of(library) || !ret_module)
        return PLIM_CUDA_INVALID_HANDLE;
    *ret_module = library;
    return PLIM_CUDA_SUCCESS;
}

status cuKernelGetFunction(void **ret_function, void *kernel)
{
    if (!plim_kernel_of(kernel) || !ret_function)
        return PLIM_CUDA_INVALID_HANDLE;
    *ret_function = kernel;
    return PLIM_CUDA_SUCCESS;
}

status cuKernelGetLibrary(void **ret_library, void *handle)
{
    const struct plim_kernel *kernel = plim_kernel_of(handle);
    if (!kernel || !ret_library)
        return PLIM_CUDA_INVALID_HANDLE;
    *ret_library = kernel->module;
    return PLIM_CUDA_SUCCESS;
}

status cuFuncGetModule(void **ret_module, void *function) { return cuKernelGetLibrary(ret_module, function); }

status cuFuncGetName(const char **ret_name, void *handle)
{
    const struct plim_kernel *kernel = plim_kernel_of(handle);
    if (!kernel || !ret_name)
        return PLIM_CUDA_INVALID_HANDLE;
    *ret_name = kernel->name;
    return PLIM_CUDA_SUCCESS;
}

status cuKernelGetName(const char **ret_name, void *kernel) { return cuFuncGetName(ret_name, kernel); }
