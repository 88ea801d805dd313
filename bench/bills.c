/* SPDX-License-Identifier: MIT */
/* Bills per second on one core, from a model that is read once: bills MODEL.gguf... */
#include "plimsoll/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECONDS = 2 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A search's walk over setups: contexts, micro-batches, layers and cache types, so that nothing can be remembered. */
static void vary(struct plim_setup *setup, unsigned long i, uint32_t n_layer)
{
    static const enum plim_dtype types[] = { PLIM_DTYPE_F16, PLIM_DTYPE_Q8_0, PLIM_DTYPE_Q4_0 };
    setup->n_ctx = 1024 + 256 * (uint32_t)(i % 500);
    setup->n_ubatch = 64u << i % 5;
    setup->type_k = setup->type_v = types[i % 3];
    setup->n_gpu_layers = i % 2 ? PLIM_NGL_ALL : (int32_t)(i / 2 % (n_layer + 1));
}

static int measure(const char *path)
{
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    struct plim_engine *engine = NULL;
    struct plim_machine machine = { .n_cards = 1, .host = { .total_bytes = (uint64_t)64 << 30 } };
    struct plim_model_shape shape;
    struct plim_setup setup;
    static struct plim_bill bill;
    uint64_t sum = 0;
    unsigned long n = 0;
    if (plim_model_open(path, &model, &error) < 0 || plim_engine_new(model, NULL, &engine, &error) < 0) {
        fprintf(stderr, "%s: %s\n", path, error.what);
        return 1;
    }
    plim_card_of_size(24, &machine.card[0]);
    plim_engine_shape(engine, &shape);
    plim_setup_init(&setup);
    double start = now_s(), elapsed = 0;
    for (; elapsed < SECONDS; elapsed = now_s() - start)
        for (int k = 0; k < 100; k++, n++) {
            vary(&setup, n, shape.n_layer);
            if (plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error) < 0)
                return 1;
            sum += bill.device[0].need_bytes;
        }
    printf("%-28s %10.0f bills/s  %6.2f us each  (%u layers; sum %llx)\n", plim_model_name(model), (double)n / elapsed,
           1e6 * elapsed / (double)n, shape.n_layer, (unsigned long long)sum);
    plim_engine_free(engine);
    plim_model_free(model);
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++)
        status |= measure(argv[i]);
    return status;
}
