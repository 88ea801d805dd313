/* SPDX-License-Identifier: MIT */
/* The files that a process has open and mapped: those of models, the one of its standard output, those of devices. */
#include "base/limits.h"
#include "base/system.h"
#include "card/proc/entry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- models --- */

static bool ends(const char *text, size_t length, const char *with)
{
    const size_t n = strlen(with);
    return length > n && !memcmp(text + length - n, with, n);
}

static bool has_word(const char *text, size_t length, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++)
        if (!memcmp(text + i, word, n))
            return true;
    return false;
}

/* By its name. ".bin" is the end of many names: only that of a model that says so. */
static bool is_model(const char *path, size_t length)
{
    static const char *const sure[] = { ".gguf", ".safetensors", ".pt", ".pth", ".ckpt", ".onnx", ".engine", ".ggml" };
    const char *name = path;
    for (size_t i = 0; i < length; i++)
        name = path[i] == '/' ? path + i + 1 : name;
    const size_t n = length - (size_t)(name - path);
    for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
        if (ends(name, n, sure[i]))
            return true;
    return ends(name, n, ".bin") && (has_word(name, n, "model") || has_word(name, n, "ggml"));
}

/* True for the same file, and for two parts of one model: "x-00001-of-00004.safetensors", "x-00002-of-...". */
static bool is_same_model(const char *a, const char *b, size_t length)
{
    if (strlen(a) != length)
        return false;
    size_t first = 0, end = length;
    while (first < length && a[first] == b[first])
        first++;
    while (end > first && a[end - 1] == b[end - 1])
        end--;
    if (first == length)
        return true;
    for (size_t i = first; i < end; i++)
        if (a[i] < '0' || a[i] > '9' || b[i] < '0' || b[i] > '9')
            return false;
    while (end < length && a[end] >= '0' && a[end] <= '9')
        end++;
    return length - end > 4 && !memcmp(a + end, "-of-", 4);
}

static int add_model(struct plim_proc_entry *entry, const char *path, size_t length)
{
    struct plim_sample_process *process = &entry->process;
    if (process->n_models == PLIM_SAMPLE_MODELS)
        return 0;
    for (uint32_t i = 0; i < process->n_models; i++)
        if (is_same_model(entry->text[PLIM_PROC_MODEL + i], path, length))
            return 0;
    const enum plim_proc_text which = (enum plim_proc_text)(PLIM_PROC_MODEL + (int)process->n_models);
    const int result = plim_proc_keep(entry, which, path, length);
    process->n_models += result == 0;
    return result;
}

/* --- files that are open --- */

/* The devices of NVIDIA's driver (also /dev/nvidiactl, /dev/nvidia-uvm), of WSL, and of DRM. */
static bool is_device(const char *path)
{
    return !strncmp(path, "/dev/nvidia", 11) || !strcmp(path, "/dev/dxg") || !strncmp(path, "/dev/dri/", 9);
}

/* The links below /proc lead into the process's own mounts; in a tree they are names in the tree. */
static int read_log(const struct plim_proc_reader *reader, struct plim_proc_entry *entry, const char *link,
                    const char *target)
{
    char path[2 * PLIM_PROC_PATH_BYTES];
    struct plim_file_status status;
    if (target[0] != '/' || !strncmp(target, "/dev/", 5))
        return 0;
    snprintf(path, sizeof path, "%s%s", reader->root, target);
    if (plim_system_look(*reader->root ? path : link, true, &status) != 0 || status.kind != PLIM_KIND_FILE)
        return 0;
    entry->process.log_written_unix_s = status.written_unix_s;
    return plim_proc_keep(entry, PLIM_PROC_LOG, target, strlen(target));
}

static int read_open_file(const struct plim_proc_reader *reader, struct plim_proc_entry *entry, const char *name,
                          uint64_t *ret_socket)
{
    char file[64], link[PLIM_PROC_PATH_BYTES], target[PLIM_PROC_PATH_BYTES];
    snprintf(file, sizeof file, "fd/%.32s", name);
    plim_proc_path(reader, entry->process.pid, file, link);
    if (plim_system_link(link, target, sizeof target) != 0)
        return 0; /* closed since */
    *ret_socket = !strncmp(target, "socket:[", 8) ? strtoull(target + 8, NULL, 10) : 0;
    entry->has_device = entry->has_device || is_device(target);
    if (!strcmp(name, "1"))
        return read_log(reader, entry, link, target);
    const size_t length = strlen(target);
    return target[0] == '/' && is_model(target, length) ? add_model(entry, target, length) : 0;
}

static int read_open_files(struct plim_proc_reader *reader, struct plim_proc_entry *entry)
{
    char path[PLIM_PROC_PATH_BYTES];
    uint64_t socket[PLIM_MAX_OPEN_FILES];
    struct plim_names names;
    uint32_t n_sockets = 0;
    int result = 0;
    entry->process.listens = -1;
    plim_proc_path(reader, entry->process.pid, "fd", path);
    const int error = plim_system_list(path, &names);
    entry->process.is_limited = error && error != ENOENT && entry->process.state != 'Z';
    if (error)
        return error == ENOMEM ? PLIM_E_NOMEM : 0;
    for (size_t i = 0; i < names.n && i < PLIM_MAX_OPEN_FILES && result == 0; i++) {
        socket[n_sockets] = 0;
        result = read_open_file(reader, entry, names.names[i], &socket[n_sockets]);
        n_sockets += socket[n_sockets] > 0;
    }
    plim_names_done(&names);
    entry->process.listens = plim_proc_listens(reader, entry->process.pid, socket, n_sockets);
    return result;
}

/* --- files that are mapped --- */

/* The runtimes by a library that only they have, in the wheels and packages of their projects. */
static const struct {
    const char *library, *runtime;
} runtimes[] = {
    { "/libtorch_cuda", "PyTorch" },
    { "/libc10_cuda", "PyTorch" },
    { "/libtorch_hip", "PyTorch" },
    { "/libtorch_xpu", "PyTorch" },
    { "/libtensorflow", "TensorFlow" },
    { "/xla_cuda_plugin", "JAX" },
    { "/jaxlib/", "JAX" },
    { "/libggml-cuda", "llama.cpp" },
    { "/libggml-hip", "llama.cpp" },
    { "/libggml-sycl", "llama.cpp" },
    { "/libggml-vulkan", "llama.cpp" },
    { "/libonnxruntime", "ONNX Runtime" },
    { "/cupy/", "CuPy" },
    { "/libnvinfer", "TensorRT" },
};

/* What was found in the lines so far. */
struct mappings {
    size_t runtime; /* the first in the list's order: PyTorch and others load TensorRT and ONNX Runtime as parts */
    char path[256]; /* of the line before: the segments of one file follow each other */
    size_t length;
};

/* `part` begins with a slash: a process has a thousand mappings, and few bytes of their paths are slashes. */
static bool has_part(const char *path, size_t length, const char *part)
{
    const char *const end = path + length;
    const size_t n = strlen(part);
    for (const char *at = path; (at = memchr(at, '/', (size_t)(end - at))) && (size_t)(end - at) >= n; at++)
        if (!memcmp(at, part, n))
            return true;
    return false;
}

/* "7f00-7f10 r--p 00000000 fd:01 1234   /path": the first slash begins the path. */
static int read_mapping(struct plim_proc_entry *entry, const char *line, size_t length, struct mappings *found)
{
    const char *path = memchr(line, '/', length);
    if (!path)
        return 0;
    length -= (size_t)(path - line);
    if (length == found->length && !memcmp(path, found->path, length))
        return 0;
    found->length = length <= sizeof found->path ? length : 0;
    memcpy(found->path, path, found->length);
    entry->has_device = entry->has_device || has_part(path, length, "/libcuda.so");
    for (size_t i = 0; i < found->runtime; i++)
        if (has_part(path, length, runtimes[i].library))
            found->runtime = i;
    return is_model(path, length) ? add_model(entry, path, length) : 0;
}

/* The lines in a window; what is left of the last one moves to its beginning. */
static int read_window(struct plim_proc_entry *entry, char *window, size_t *n, struct mappings *found)
{
    size_t start = 0;
    int result = 0;
    for (const char *end; result == 0 && (end = memchr(window + start, '\n', *n - start));) {
        result = read_mapping(entry, window + start, (size_t)(end - window) - start, found);
        start = (size_t)(end - window) + 1;
    }
    memmove(window, window + start, *n - start);
    *n -= start;
    return result;
}

static int read_mappings(const struct plim_proc_reader *reader, struct plim_proc_entry *entry)
{
    enum { WINDOW_BYTES = 16 << 10 };
    char path[PLIM_PROC_PATH_BYTES], window[WINDOW_BYTES];
    size_t n = 0, total = 0, got = 1;
    struct mappings found = { .runtime = sizeof runtimes / sizeof *runtimes };
    int file, result = 0;
    plim_proc_path(reader, entry->process.pid, "maps", path);
    if (plim_system_open(path, PLIM_OPEN_NOW, &file) != 0)
        return 0;
    while (result == 0 && got > 0 && total < PLIM_MAX_MAPS_BYTES) {
        if (plim_system_read(file, window + n, sizeof window - n, &got) != 0)
            break;
        n += got;
        total += got;
        result = read_window(entry, window, &n, &found);
        n = n == sizeof window ? 0 : n; /* no line is as long */
    }
    plim_system_close(file);
    if (result == 0 && found.runtime < sizeof runtimes / sizeof *runtimes)
        result = plim_proc_keep(entry, PLIM_PROC_RUNTIME, runtimes[found.runtime].runtime,
                                strlen(runtimes[found.runtime].runtime));
    return result;
}

/* --- */

int plim_proc_read_files(struct plim_proc_reader *reader, struct plim_proc_entry *entry)
{
    const int result = read_open_files(reader, entry);
    return result || entry->process.is_limited ? result : read_mappings(reader, entry);
}

int plim_proc_read_words(struct plim_proc_entry *entry, const char *words, size_t length)
{
    int result = 0;
    for (size_t at = 0; at < length && result == 0;) {
        const char *word = words + at, *equals = memchr(word, '=', strnlen(word, length - at));
        const size_t n = strnlen(word, length - at);
        const size_t from = equals && word[0] == '-' ? (size_t)(equals - word) + 1 : 0;
        if (is_model(word + from, n - from))
            result = add_model(entry, word + from, n - from);
        at += n + 1;
    }
    return result;
}
