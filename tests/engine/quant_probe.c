/* SPDX-License-Identifier: MIT */
/*
 * Ask the stock llama.cpp library which type llama-quantize would give each tensor of a model, for many file types, and
 * print it: the truth the rules are checked against.
 *
 * The question is llama_model_quantize() itself as a dry run, which reads the header, decides and writes nothing, so
 * that models without weights and file types that need an importance matrix can be asked about. What it decided is in
 * its log, one line per tensor. (llama_quant_compute_types(), also exported, decides for a list of tensors; the order
 * of the list and the model's type would be ours to get right.)
 *
 *     quant_probe LIBDIR MODEL [--imatrix] [--write FILE] FTYPE...
 *
 * prints "FTYPE<tab>tensor<tab>type" for each tensor, or "FTYPE<tab>-<tab>reason" when the engine refuses. FTYPE is a
 * number of enum llama_ftype. --imatrix pretends that there is an importance matrix, --write really quantizes.
 * The parameters are declared here after llama.h of v0.5.0 (unchanged from v0.4.1 to v0.6.0) and asserted by size.
 */
#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024, NAME_BYTES = 256, TYPE_BYTES = 32 };

struct imatrix_data {
    const char *name;
    const float *data;
    size_t size;
};

struct quantize_params {
    int32_t nthread;
    int32_t ftype;
    int32_t output_tensor_type;
    int32_t token_embedding_type;
    bool allow_requantize, quantize_output_tensor, only_copy, pure, keep_split, dry_run;
    const struct imatrix_data *imatrix;
    const void *kv_overrides;
    const void *tt_overrides;
    const int32_t *prune_layers;
    size_t max_buf_size;
};
_Static_assert(sizeof(struct quantize_params) == 64, "llama_model_quantize_params of llama.cpp v0.5.0");

static void die(const char *what, const char *why)
{
    fprintf(stderr, "quant_probe: %s: %s\n", what, why ? why : "?");
    exit(3);
}

static void load_library(const char *directory, const char *pattern)
{
    char path[4096];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", directory, pattern);
    if (glob(path, 0, NULL, &found) || found.gl_pathc == 0)
        die(path, "not found");
    if (!dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL))
        die(found.gl_pathv[0], dlerror());
    globfree(&found);
}

/* Set the function pointer that ret_function points to. */
static void find(const char *name, void *ret_function)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    if (!address)
        die(name, "not exported");
    memcpy(ret_function, &address, sizeof address);
}

/* --- the log --- */

/* A line of the log, which the engine prints in pieces, and what to print of it. */
struct listener {
    char line[LINE_BYTES];
    size_t used;
    char reason[LINE_BYTES]; /* the last "failed to quantize" */
    int ftype;
};

static bool word_after(const char *line, const char *mark, char word[TYPE_BYTES])
{
    const char *at = strstr(line, mark);
    return at && sscanf(at + strlen(mark), " %31[A-Za-z0-9_]", word) == 1;
}

/*
 * "[   3/ 291] blk.0.attn_k.weight - [ 4096, 1024, 1, 1], type = f16, size = 8.00 MiB -> 2.25 MiB (q4_K)" in a dry run,
 * "..., type = f16, converting to q4_K .. size = ..." in a real one, "..., type = f32, size = 0.016 MiB" when kept.
 */
static void hear_line(struct listener *listener)
{
    char name[NAME_BYTES], type[TYPE_BYTES];
    const char *line = listener->line, *failed = strstr(line, "failed to quantize: ");
    if (failed)
        snprintf(listener->reason, sizeof listener->reason, "%s", failed + strlen("failed to quantize: "));
    if (sscanf(line, "[%*d/%*d] %255s - [", name) != 1)
        return;
    if (word_after(line, "converting to ", type) || word_after(line, "MiB (", type) ||
        word_after(line, "type = ", type))
        printf("%d\t%s\t%s\n", listener->ftype, name, type);
}

static void hear(int level, const char *text, void *user)
{
    struct listener *listener = user;
    (void)level;
    for (; *text; text++) {
        if (*text != '\n') {
            if (listener->used < LINE_BYTES - 1)
                listener->line[listener->used++] = *text;
            continue;
        }
        listener->line[listener->used] = '\0';
        listener->used = 0;
        hear_line(listener);
    }
}

int main(int argc, char **argv)
{
    static const float value = 1;
    static const struct imatrix_data imatrix[] = { { "a tensor no model has", &value, 1 }, { NULL, NULL, 0 } };
    static struct listener listener;
    void (*log_set)(void (*)(int, const char *, void *), void *);
    struct quantize_params (*defaults)(void);
    uint32_t (*quantize)(const char *, const char *, const struct quantize_params *);
    const char *output = NULL;
    if (argc < 4)
        die("usage", "quant_probe LIBDIR MODEL [--imatrix] [--write FILE] FTYPE...");
    load_library(argv[1], "libggml-base.so");
    load_library(argv[1], "libggml.*.so*");
    load_library(argv[1], "libllama.*.so*");
    find("llama_log_set", &log_set);
    find("llama_model_quantize_default_params", &defaults);
    find("llama_model_quantize", &quantize);

    log_set(hear, &listener);
    struct quantize_params params = defaults();
    params.nthread = 1;
    params.allow_requantize = true;
    params.dry_run = true;
    for (char **p = argv + 3; *p; p++) {
        if (!strcmp(*p, "--imatrix")) {
            params.imatrix = imatrix;
        } else if (!strcmp(*p, "--write") && p[1]) {
            output = *++p;
            params.dry_run = false;
        } else {
            params.ftype = listener.ftype = atoi(*p);
            listener.reason[0] = '\0';
            if (quantize(argv[2], output ? output : "", &params))
                printf("%d\t-\t%s\n", listener.ftype, listener.reason);
        }
    }
    fflush(stdout);
    _Exit(0);
}
