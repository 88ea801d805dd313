/* SPDX-License-Identifier: MIT */
/*
 * Load a model with the stock llama.cpp libraries and create a context, as llama-server does, then stop. What the
 * engine prints of its buffers is the receipt the bill is checked against.
 *
 * The libraries are opened at run time. The two parameter structures are declared here after llama.h of v0.5.0
 * (unchanged from v0.4.1 to v0.6.0) and asserted by size; defaults come from the library itself.
 *
 *     llama_probe LIBDIR MODEL [llama.cpp flags]
 */
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

struct model_params {
    void **devices;
    const struct buft_override *tensor_buft_overrides;
    int32_t n_gpu_layers;
    int32_t split_mode;
    int32_t load_mode;
    int32_t lazy_mode;
    int32_t main_gpu;
    const float *tensor_split;
    void *progress_callback;
    void *progress_callback_user_data;
    const void *kv_overrides;
    bool vocab_only, check_tensors, use_extra_bufts, no_host, no_alloc, load_mtp;
};
_Static_assert(sizeof(struct model_params) == 80, "llama_model_params of llama.cpp v0.5.0");

struct context_params {
    uint32_t n_ctx, n_batch, n_ubatch, n_seq_max, n_rs_seq, n_outputs_max, n_outputs_max_per_seq;
    int32_t n_threads, n_threads_batch;
    int32_t ctx_type, rope_scaling_type, pooling_type, attention_type, flash_attn_type;
    float rope_freq_base, rope_freq_scale;
    float yarn_ext_factor, yarn_attn_factor, yarn_beta_fast, yarn_beta_slow;
    uint32_t yarn_orig_ctx;
    float defrag_thold;
    void *cb_eval, *cb_eval_user_data;
    int32_t type_k, type_v;
    void *abort_callback, *abort_callback_data;
    bool embeddings, offload_kqv, no_perf, op_offload, swa_full, kv_unified;
    void *samplers;
    size_t n_samplers;
    void *ctx_other;
};
_Static_assert(sizeof(struct context_params) == 160, "llama_context_params of llama.cpp v0.5.0");

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

static void *library(const char *directory, const char *pattern)
{
    char path[4096];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", directory, pattern);
    if (glob(path, 0, NULL, &found) || found.gl_pathc == 0)
        die(path, "not found");
    void *handle = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL);
    if (!handle)
        die(found.gl_pathv[0], dlerror());
    globfree(&found);
    return handle;
}

static void *symbol(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    if (!address)
        die(name, "not exported");
    return address;
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

/* A llama.cpp command line, as far as it changes memory. */
static void parse(struct options *options, char **argv)
{
    struct model_params *mp = &options->model_params;
    struct context_params *cp = &options->context_params;
#define IS(short_name, long_name) (!strcmp(arg, short_name) || !strcmp(arg, long_name))
    for (char **p = argv; *p; p++) {
        const char *arg = *p;
        if (IS("-nkvo", "--no-kv-offload")) {
            cp->offload_kqv = false;
        } else if (IS("-fit", "--fit")) {
            options->fit = true;
        } else if (!strcmp(arg, "--swa-full")) {
            cp->swa_full = true;
        } else if (!strcmp(arg, "--no-swa-full")) {
            cp->swa_full = false;
        } else if (IS("-kvu", "--kv-unified")) {
            cp->kv_unified = true;
        } else if (IS("-no-kvu", "--no-kv-unified")) {
            cp->kv_unified = false;
        } else if (!strcmp(arg, "--no-mmap")) {
            mp->load_mode = 0;
        } else if (!strcmp(arg, "--no-op-offload")) {
            cp->op_offload = false;
        } else if (!strcmp(arg, "--no-repack")) {
            mp->use_extra_bufts = false;
        } else if (!strcmp(arg, "--no-host")) {
            mp->no_host = true;
        } else if (!strcmp(arg, "--no-alloc")) {
            mp->no_alloc = true;
            mp->load_mode = 0;
        } else if (!strcmp(arg, "--load-mtp")) {
            mp->load_mtp = true;
        } else if (!strcmp(arg, "--mtp")) {
            cp->ctx_type = 1;
        } else if (IS("--embedding", "--embeddings")) {
            cp->embeddings = true;
        } else if (!strcmp(arg, "--wait")) {
            options->wait = true;
        } else if (IS("-cmoe", "--cpu-moe")) {
            add_override(options, "\\.ffn_(up|down|gate|gate_up)_(ch|)exps", "CPU");
        } else if (p[1]) {
            const char *value = *++p;
            int number = atoi(value);
            if (IS("-c", "--ctx-size")) {
                cp->n_ctx = (uint32_t)number;
            } else if (IS("-b", "--batch-size")) {
                cp->n_batch = (uint32_t)number;
            } else if (IS("-ub", "--ubatch-size")) {
                cp->n_ubatch = (uint32_t)number;
            } else if (IS("-np", "--parallel")) {
                cp->n_seq_max = (uint32_t)number;
            } else if (!strcmp(arg, "--n-rs-seq")) {
                cp->n_rs_seq = (uint32_t)number;
            } else if (!strcmp(arg, "--n-outputs-max")) {
                cp->n_outputs_max = (uint32_t)number;
            } else if (IS("-ngl", "--n-gpu-layers")) {
                mp->n_gpu_layers = number;
            } else if (IS("-fa", "--flash-attn")) {
                cp->flash_attn_type = !strcmp(value, "on") ? 1 : !strcmp(value, "off") ? 0 : -1;
            } else if (IS("-ctk", "--cache-type-k")) {
                cp->type_k = cache_type(value);
            } else if (IS("-ctv", "--cache-type-v")) {
                cp->type_v = cache_type(value);
            } else if (IS("-mg", "--main-gpu")) {
                mp->main_gpu = number;
            } else if (IS("-sm", "--split-mode")) {
                const char *modes[] = { "none", "layer", "row", "tensor" };
                for (int i = 0; i < 4; i++)
                    if (!strcmp(value, modes[i]))
                        mp->split_mode = i;
            } else if (IS("-ts", "--tensor-split")) {
                int n = 0;
                for (char *end = strdup(value); *end && n < MAX_DEVICES; end += *end == ',')
                    options->tensor_split[n++] = strtof(end, &end);
                mp->tensor_split = options->tensor_split;
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
    if (options->n_overrides)
        mp->tensor_buft_overrides = options->overrides;
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
    printf("fit: status %d -c %u -ngl %d", status, options->context_params.n_ctx, options->model_params.n_gpu_layers);
    if (options->model_params.tensor_split)
        for (int i = 0; i < 4; i++)
            printf(" ts%d %.0f", i, (double)options->tensor_split[i]);
    int n = 0;
    while (overrides[n].pattern)
        n++;
    printf(" overrides %d\n", n);
    for (int i = 0; i < n; i++)
        printf("fit: override %s\n", overrides[i].pattern);
    if (n)
        options->model_params.tensor_buft_overrides = overrides;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        die("usage", "llama_probe LIBDIR MODEL [llama.cpp flags]");
    library(argv[1], "libggml-base.so");
    library(argv[1], "libggml.*.so*");
    library(argv[1], "libllama.*.so*");
    library(argv[1], "libllama-common.so");
    void (*log_set)(void *, void *) = symbol("llama_log_set");
    void (*load_backends)(const char *) = symbol("ggml_backend_load_all_from_path");
    struct model_params (*model_defaults)(void) = symbol("llama_model_default_params");
    struct context_params (*context_defaults)(void) = symbol("llama_context_default_params");
    void *(*load)(const char *, struct model_params) = symbol("llama_model_load_from_file");
    void *(*init)(void *, struct context_params) = symbol("llama_init_from_model");

    log_set((void *)(uintptr_t)print_log, getenv("PLIM_PROBE_DEBUG"));
    load_backends(argv[1]);
    static struct options options;
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
