/* SPDX-License-Identifier: MIT */
/*
 * Load a model with the stock llama.cpp libraries and create a context, as llama-server does, then stop. What the
 * engine prints of its buffers is the receipt the bill is checked against.
 *
 * The libraries are opened at run time, of any version that llama_params.c has the layouts of; defaults come from the
 * library itself.
 *
 *     llama_probe LIBDIR MODEL [llama.cpp flags]
 */
#include "llama_params.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEVICES = 16, MAX_OVERRIDES = 64, MAX_FIT_OVERRIDES = 4096 };

struct buft_override {
    const char *pattern;
    void *buft;
};

/* Caches on the host are zeroed when they are made: leave gigabytes of fresh pages, which are zero, alone. */
void *memset(void *address, int byte, size_t size)
{
    enum { BIG_BYTES = 512 << 20 }; /* the scheduler's own tables, which are used again, are smaller */
    if (byte == 0 && size >= BIG_BYTES)
        return address;
    volatile unsigned char *p = address; /* volatile: or this loop would be made a call of memset() */
    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)byte;
    return address;
}

/* Weights that are read, not mapped: they are zeros in a file and zeros in fresh memory. */
size_t fread(void *restrict to, size_t size, size_t n, FILE *restrict file)
{
    enum { BIG_BYTES = 1 << 20 };
    if (size * n < BIG_BYTES)
        return (fread_unlocked)(to, size, n, file);
    return fseeko(file, (off_t)(size * n), SEEK_CUR) ? 0 : n;
}

static void die(const char *what, const char *why)
{
    fprintf(stderr, "llama_probe: %s: %s\n", what, why ? why : "?");
    exit(3);
}

static void library(const char *directory, const char *pattern)
{
    char path[4096];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", directory, pattern);
    if (glob(path, 0, NULL, &found) || found.gl_pathc == 0)
        return;
    void *handle = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL);
    if (!handle)
        die(found.gl_pathv[0], dlerror());
    globfree(&found);
}

/* A function by its name, or by that it had before. */
static void *symbol_or(const char *name, const char *before)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    return address || !before ? address : dlsym(RTLD_DEFAULT, before);
}

static void *symbol(const char *name)
{
    void *address = symbol_or(name, NULL);
    if (!address)
        die(name, "not exported");
    return address;
}

/* Open the libraries that every version has, under the names of this one; backends are opened by them. */
static void open_libraries(const char *directory)
{
    static const char *const patterns[] = { "libggml-base.so", "libggml.so",     "libggml.*.so*",
                                            "libllama.so",     "libllama.*.so*", "libllama-common.so" };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        library(directory, patterns[i]);
}

/* What the engine says goes to stdout; its debug lines only when user is not NULL. */
static void print_log(int level, const char *text, void *user)
{
    enum { DEBUG = 1, CONTINUED = 5 };
    static bool shown = true;
    if (level != CONTINUED)
        shown = level > DEBUG || user;
    if (shown)
        fputs(text, stdout);
}

static int cache_type(const char *name)
{
    const struct {
        const char *name;
        int id;
    } types[] = { { "f32", 0 },  { "f16", 1 },  { "q4_0", 2 },    { "q4_1", 3 }, { "q5_0", 6 },
                  { "q5_1", 7 }, { "q8_0", 8 }, { "iq4_nl", 20 }, { "bf16", 30 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(name, types[i].name))
            return types[i].id;
    die(name, "not a cache type");
    return -1;
}

struct options {
    const struct params_layout *layout;
    const char *model;
    struct model_params model_params;
    struct context_params context_params;
    float tensor_split[MAX_DEVICES];
    struct buft_override overrides[MAX_OVERRIDES + 1];
    int n_overrides;
    bool fit;
    bool wait;
};

static void *buffer_type(const char *name)
{
    size_t (*count)(void) = symbol("ggml_backend_dev_count");
    void *(*get)(size_t) = symbol("ggml_backend_dev_get");
    void *(*dev_buft)(void *) = symbol("ggml_backend_dev_buffer_type");
    const char *(*buft_name)(void *) = symbol("ggml_backend_buft_name");
    for (size_t i = 0; i < count(); i++) {
        void *buft = dev_buft(get(i));
        if (buft && !strcmp(buft_name(buft), name))
            return buft;
    }
    die(name, "not a buffer type");
    return NULL;
}

static void add_override(struct options *options, const char *pattern, const char *buft)
{
    if (options->n_overrides == MAX_OVERRIDES)
        die(pattern, "too many overrides");
    options->overrides[options->n_overrides++] = (struct buft_override){ strdup(pattern), buffer_type(buft) };
}

static void set_model(struct options *o, const char *flag, const char *field, int64_t value)
{
    if (!params_set(&o->model_params, o->layout->model, field, value))
        die(flag, "this version does not have it");
}

static void set_context(struct options *o, const char *flag, const char *field, int64_t value)
{
    if (!params_set(&o->context_params, o->layout->context, field, value))
        die(flag, "this version does not have it");
}

/* Weights are read, and not mapped. */
static void set_no_mmap(struct options *o)
{
    if (!params_set(&o->model_params, o->layout->model, "load_mode", 0))
        set_model(o, "--no-mmap", "use_mmap", false);
}

/* On, off, or automatic where the version knows that. */
static void set_flash(struct options *o, const char *value)
{
    const int type = !strcmp(value, "on") ? 1 : !strcmp(value, "off") ? 0 : -1;
    if (!params_set(&o->context_params, o->layout->context, "flash_attn_type", type))
        set_context(o, "-fa", "flash_attn", type == 1);
}

/* A llama.cpp command line, as far as it changes memory. */
static void parse(struct options *options, char **argv)
{
#define IS(short_name, long_name) (!strcmp(arg, short_name) || !strcmp(arg, long_name))
    for (char **p = argv; *p; p++) {
        const char *arg = *p;
        if (IS("-nkvo", "--no-kv-offload")) {
            set_context(options, arg, "offload_kqv", false);
        } else if (IS("-fit", "--fit")) {
            options->fit = true;
        } else if (!strcmp(arg, "--swa-full")) {
            set_context(options, arg, "swa_full", true);
        } else if (!strcmp(arg, "--no-swa-full")) {
            set_context(options, arg, "swa_full", false);
        } else if (IS("-kvu", "--kv-unified")) {
            set_context(options, arg, "kv_unified", true);
        } else if (IS("-no-kvu", "--no-kv-unified")) {
            set_context(options, arg, "kv_unified", false);
        } else if (!strcmp(arg, "--no-mmap")) {
            set_no_mmap(options);
        } else if (!strcmp(arg, "--no-op-offload")) {
            set_context(options, arg, "op_offload", false);
        } else if (!strcmp(arg, "--no-repack")) {
            set_model(options, arg, "use_extra_bufts", false);
        } else if (!strcmp(arg, "--no-host")) {
            set_model(options, arg, "no_host", true);
        } else if (!strcmp(arg, "--no-alloc")) {
            set_model(options, arg, "no_alloc", true);
            set_no_mmap(options);
        } else if (!strcmp(arg, "--load-mtp")) {
            set_model(options, arg, "load_mtp", true);
        } else if (!strcmp(arg, "--mtp")) {
            set_context(options, arg, "ctx_type", 1);
        } else if (IS("--embedding", "--embeddings")) {
            set_context(options, arg, "embeddings", true);
        } else if (!strcmp(arg, "--wait")) {
            options->wait = true;
        } else if (IS("-cmoe", "--cpu-moe")) {
            add_override(options, "\\.ffn_(up|down|gate|gate_up)_(ch|)exps", "CPU");
        } else if (p[1]) {
            const char *value = *++p;
            int number = atoi(value);
            if (IS("-c", "--ctx-size")) {
                set_context(options, arg, "n_ctx", number);
            } else if (IS("-b", "--batch-size")) {
                set_context(options, arg, "n_batch", number);
            } else if (IS("-ub", "--ubatch-size")) {
                set_context(options, arg, "n_ubatch", number);
            } else if (IS("-np", "--parallel")) {
                set_context(options, arg, "n_seq_max", number);
            } else if (!strcmp(arg, "--n-rs-seq")) {
                set_context(options, arg, "n_rs_seq", number);
            } else if (!strcmp(arg, "--n-outputs-max")) {
                set_context(options, arg, "n_outputs_max", number);
            } else if (IS("-ngl", "--n-gpu-layers")) {
                set_model(options, arg, "n_gpu_layers", number);
            } else if (IS("-fa", "--flash-attn")) {
                set_flash(options, value);
            } else if (IS("-ctk", "--cache-type-k")) {
                set_context(options, arg, "type_k", cache_type(value));
            } else if (IS("-ctv", "--cache-type-v")) {
                set_context(options, arg, "type_v", cache_type(value));
            } else if (IS("-mg", "--main-gpu")) {
                set_model(options, arg, "main_gpu", number);
            } else if (IS("-sm", "--split-mode")) {
                const char *modes[] = { "none", "layer", "row", "tensor" };
                for (int i = 0; i < 4; i++)
                    if (!strcmp(value, modes[i]))
                        set_model(options, arg, "split_mode", i);
            } else if (IS("-ts", "--tensor-split")) {
                int n = 0;
                for (char *end = strdup(value); *end && n < MAX_DEVICES; end += *end == ',')
                    options->tensor_split[n++] = strtof(end, &end);
                params_set_pointer(&options->model_params, options->layout->model, "tensor_split",
                                   options->tensor_split);
            } else if (IS("-ncmoe", "--n-cpu-moe")) {
                for (int i = 0; i < number; i++) {
                    char pattern[80];
                    snprintf(pattern, sizeof pattern, "blk\\.%d\\.ffn_(up|down|gate|gate_up)_(ch|)exps", i);
                    add_override(options, pattern, "CPU");
                }
            } else if (IS("-ot", "--override-tensor")) {
                char *copy = strdup(value);
                for (char *save = NULL, *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
                    char *equals = strrchr(one, '=');
                    if (!equals)
                        die(one, "expected regex=buffer");
                    *equals = '\0';
                    add_override(options, one, equals + 1);
                }
            } else {
                die(arg, "unknown flag");
            }
        } else {
            die(arg, "unknown flag or missing value");
        }
    }
#undef IS
    if (options->n_overrides && !params_set_pointer(&options->model_params, options->layout->model,
                                                    "tensor_buft_overrides", options->overrides))
        die("-ot", "this version does not have it");
}

/* Run llama.cpp's own --fit on the parameters and print what it chose. */
static void fit(struct options *options)
{
    typedef int fit_params(const char *, struct model_params *, struct context_params *, float *,
                           struct buft_override *, size_t *, uint32_t, const void *, int);
    fit_params *run = symbol("_Z17common_fit_paramsPKcP18llama_model_paramsP20llama_context_paramsPfP32llama_model_"
                             "tensor_buft_overridePmjPK22common_fit_extra_model14ggml_log_level");
    static struct buft_override overrides[MAX_FIT_OVERRIDES];
    size_t margins[MAX_DEVICES];
    for (int i = 0; i < MAX_DEVICES; i++)
        margins[i] = (size_t)1024 << 20;
    int status = run(options->model, &options->model_params, &options->context_params, options->tensor_split, overrides,
                     margins, 4096, NULL, 2);
    const char *const model_layout = options->layout->model;
    printf("fit: status %d -c %u -ngl %d", status,
           (unsigned)params_get(&options->context_params, options->layout->context, "n_ctx"),
           (int)params_get(&options->model_params, model_layout, "n_gpu_layers"));
    if (params_get(&options->model_params, model_layout, "tensor_split"))
        for (int i = 0; i < 4; i++)
            printf(" ts%d %.0f", i, (double)options->tensor_split[i]);
    int n = 0;
    while (overrides[n].pattern)
        n++;
    printf(" overrides %d\n", n);
    for (int i = 0; i < n; i++)
        printf("fit: override %s\n", overrides[i].pattern);
    if (n)
        params_set_pointer(&options->model_params, model_layout, "tensor_buft_overrides", overrides);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        die("usage", "llama_probe LIBDIR MODEL [llama.cpp flags]");
    static struct options options;
    options.layout = params_layout_of(argv[1]);
    if (!options.layout)
        die(argv[1], "a version without a layout in llama_params.c");
    open_libraries(argv[1]);
    void (*log_set)(void *, void *) = symbol("llama_log_set");
    void (*load_backends)(const char *) = symbol_or("ggml_backend_load_all_from_path", NULL);
    void (*backend_init)(void) = symbol("llama_backend_init");
    struct model_params (*model_defaults)(void) = symbol("llama_model_default_params");
    struct context_params (*context_defaults)(void) = symbol("llama_context_default_params");
    void *(*load)(const char *, struct model_params) =
        symbol_or("llama_model_load_from_file", "llama_load_model_from_file");
    void *(*init)(void *, struct context_params) = symbol_or("llama_init_from_model", "llama_new_context_with_model");
    if (!load || !init)
        die(argv[1], "no function that loads a model");

    log_set((void *)(uintptr_t)print_log, getenv("PLIM_PROBE_DEBUG"));
    if (load_backends)
        load_backends(argv[1]);
    backend_init();
    options.model = argv[2];
    options.model_params = model_defaults();
    options.context_params = context_defaults();
    parse(&options, argv + 3);
    if (options.fit)
        fit(&options);
    void *model = load(options.model, options.model_params);
    if (!model)
        die(options.model, "the engine does not load it");
    void *context = init(model, options.context_params);
    if (!context)
        die(options.model, "the engine creates no context");
    printf("probe: ready\n");
    fflush(stdout);
    if (options.wait)
        getchar();
    _exit(0);
}
