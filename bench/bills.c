/* SPDX-License-Identifier: MIT */
/*
 * Bills per second on one core, from models that are read once: bills MODEL.gguf...
 *
 * A pass walks a search's grid of setups, every one of them once, with an engine made for the pass, before the clock
 * starts: no setup is seen twice. Passes are repeated for some seconds; the time is that of the processor, so other
 * programs count little.
 */
#include "plimsoll/engine.h"

#include <stdio.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SECONDS = 2, CONTEXT_STEP = 256 /* to which llama.cpp rounds */, CARD_GIB = 24, HOST_GIB = 64 };

static const enum plim_dtype cache_types[] = { PLIM_DTYPE_F16, PLIM_DTYPE_Q8_0, PLIM_DTYPE_Q4_0 };
static const uint32_t ubatches[] = { 128, 256, 512, 1024, 2048 };

struct pass {
    struct plim_engine *engine;
    struct plim_machine machine;
    struct plim_bill bill;
    struct plim_model_shape shape;
    unsigned long n_bills;
    struct plim_error error;
};

static int add(struct pass *pass, const struct plim_setup *setup)
{
    int result = plim_engine_bill(pass->engine, setup, &pass->machine, NULL, &pass->bill, &pass->error);
    pass->n_bills++;
    return result;
}

/* Contexts x cache types x micro-batches, and n_steps numbers of layers on the GPU for each: 0 is all of them. */
static int walk(struct pass *pass, const uint32_t *contexts, uint32_t n_contexts, size_t n_types, uint32_t n_steps)
{
    struct plim_setup setup;
    int result = 0;
    plim_setup_init(&setup, NULL);
    for (uint32_t c = 0; c < n_contexts; c++)
        for (size_t t = 0; t < n_types; t++)
            for (size_t u = 0; u < COUNT(ubatches); u++)
                for (uint32_t step = 0; result == 0 && step < n_steps; step++) {
                    setup.llamacpp.n_ctx = contexts ? contexts[c] : (c + 1) * CONTEXT_STEP;
                    setup.llamacpp.type_k = setup.llamacpp.type_v = cache_types[t];
                    setup.llamacpp.n_batch = setup.llamacpp.n_ubatch = ubatches[u];
                    setup.llamacpp.n_gpu_layers = step ? (int32_t)step - 1 : PLIM_NGL_ALL;
                    result = add(pass, &setup);
                }
    return result;
}

static int walk_f16(struct pass *pass) { return walk(pass, NULL, pass->shape.n_ctx_train / CONTEXT_STEP + 1, 1, 1); }

static int walk_caches(struct pass *pass)
{
    return walk(pass, NULL, pass->shape.n_ctx_train / CONTEXT_STEP + 1, COUNT(cache_types), 1);
}

static int walk_layers(struct pass *pass)
{
    static const uint32_t contexts[] = { 4096, 8192, 16384, 32768, 65536, 131072 };
    return walk(pass, contexts, COUNT(contexts), COUNT(cache_types), pass->shape.n_layer + 2);
}

static const struct grid {
    const char *name;
    int (*walk)(struct pass *);
} grids[] = {
    { "all layers on the GPU, f16 cache", walk_f16 },
    { "the same, f16, q8_0 and q4_0", walk_caches },
    { "0 to all layers on the GPU", walk_layers },
};

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int measure(const struct plim_model *model, const struct grid *grid)
{
    static struct pass pass;
    double elapsed = 0;
    unsigned n_passes = 0;
    int result = 0;
    pass = (struct pass){ .machine = { .n_cards = 1, .host = { .total_bytes = (uint64_t)HOST_GIB << 30 } } };
    plim_card_of_size(CARD_GIB, &pass.machine.card[0]);
    for (; result == 0 && elapsed < SECONDS; n_passes++) {
        result = plim_engine_new(model, NULL, NULL, &pass.engine, &pass.error);
        if (result < 0)
            break;
        plim_engine_shape(pass.engine, &pass.shape);
        const double start = cpu_s();
        result = grid->walk(&pass);
        elapsed += cpu_s() - start;
        pass.engine = plim_engine_free(pass.engine);
    }
    if (result < 0)
        fprintf(stderr, "%s: %s\n", plim_model_name(model), pass.error.what);
    else
        printf("%9.0f bills/s  %6.2f us each  %s (%lu setups, each once per pass)\n", (double)pass.n_bills / elapsed,
               1e6 * elapsed / (double)pass.n_bills, grid->name, pass.n_bills / n_passes);
    return result;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) {
        struct plim_error error = { 0 };
        struct plim_model *model = NULL;
        if (plim_model_open(argv[i], &model, &error) < 0) {
            fprintf(stderr, "%s: %s\n", argv[i], error.what);
            status = 1;
            continue;
        }
        for (size_t g = 0; g < COUNT(grids); g++)
            if (measure(model, &grids[g]) < 0)
                status = 1;
        plim_model_free(model);
    }
    return status;
}
