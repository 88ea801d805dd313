/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/lines/forecast.h"

#include "base/numbers.h"

#include <stdio.h>
#include <string.h>

/*
 * Shares of the weights: what is open without a tensor of its own, and the least band of a forecast in doubt. Both are
 * assumed: the matrices of a layer follow from sizes that a config cannot do without.
 */
enum { OPEN_SHARE = 20, LEAST_SHARE = 50 };

/*
 * The recipes give a token embedding that is the output as well the type of an output, Q6_K mostly, and the smallest of
 * the others is Q2_K: two fifths of that.
 */
enum { SMALLER_PARTS = 3, SMALLER_OF = 5 };

void plim_forecast_write_doubts(const struct plim_model *model, char *text, size_t size)
{
    const struct plim_doubt *doubt;
    size_t n = 0;
    text[0] = '\0';
    if (plim_model_forecast(model) != PLIM_FORECAST_FORMULA)
        return;
    n = (size_t)snprintf(text, size, "forecast from a config");
    for (size_t i = 0; n < size && (doubt = plim_model_doubt(model, i)); i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? "; " : ": ", doubt->text);
}

/* --- the band --- */

struct band {
    struct plim_weights *low, *high;
    int cpu;
};

static uint64_t *on_backend(struct plim_weights *w, int backend, int cpu)
{
    return backend == cpu ? &w->host_bytes : &w->device_bytes[backend];
}

static void lower(const struct band *band, int backend, uint64_t bytes)
{
    uint64_t *low = on_backend(band->low, backend, band->cpu);
    *low -= bytes < *low ? bytes : *low;
}

static void raise(const struct band *band, int backend, uint64_t bytes)
{
    uint64_t *high = on_backend(band->high, backend, band->cpu);
    *high = plim_bytes_sum(*high, bytes);
}

/* n_tensors when there is none of this name. */
static size_t tensor_named(const struct plim_llama *llama, const char *name)
{
    size_t i = 0;
    while (i < llama->n_tensors && strcmp(llama->tensors[i].name, name))
        i++;
    return i;
}

/*
 * Whether the output is the token embedding decides little where the two are on different devices: the engine copies
 * the embedding to that of the output, and the type of the embedding changes with its part.
 */
static void doubt_output(const struct plim_llama *llama, const struct plim_placement *p, size_t output,
                         const struct band *band)
{
    const struct plim_tensor *embd = plim_llama_global_tensor(llama, PLIM_GLOBAL_TOKEN_EMBD, PLIM_WEIGHT);
    if (!embd)
        return;
    const bool has_output = output < llama->n_tensors;
    const int reader = has_output ? plim_place_of(llama, p, output) : p->tied_output;
    const int home = plim_place_of(llama, p, (size_t)(embd - llama->tensors));
    const uint64_t embd_bytes = plim_llama_device_bytes(embd);
    const uint64_t output_bytes = has_output ? plim_llama_device_bytes(&llama->tensors[output]) : 0;
    if (has_output && reader == home)
        lower(band, home, output_bytes);
    else if (has_output)
        raise(band, home, output_bytes > embd_bytes ? output_bytes - embd_bytes : 0);
    else if (reader == home)
        raise(band, home, embd_bytes);
    else
        lower(band, home, embd_bytes / SMALLER_OF * SMALLER_PARTS);
}

static void widen(const struct band *band, int n_gpu, uint64_t share)
{
    for (int i = 0; i <= n_gpu; i++) {
        lower(band, i, *on_backend(band->low, i, band->cpu) / share);
        raise(band, i, *on_backend(band->high, i, band->cpu) / share);
    }
}

/* The file has so much more, or less, and nobody says where: it may be on any device that has weights. */
static void shift(const struct band *band, int n_gpu, int64_t more_bytes)
{
    for (int i = 0; i <= n_gpu; i++)
        if (*on_backend(band->high, i, band->cpu) && more_bytes > 0)
            raise(band, i, (uint64_t)more_bytes);
        else if (more_bytes < 0)
            lower(band, i, (uint64_t)-more_bytes);
}

void plim_forecast_weights(const struct plim_llama *llama, const struct plim_placement *p,
                           const struct plim_weights *weights, struct plim_weights *ret_low,
                           struct plim_weights *ret_high)
{
    const struct band band = { ret_low, ret_high, p->cpu };
    const struct plim_doubt *doubt;
    uint64_t share = LEAST_SHARE;
    *ret_low = *ret_high = *weights;
    for (size_t i = 0; (doubt = plim_model_doubt(llama->model, i)); i++) {
        if (!doubt->tensor) {
            if (doubt->more_bytes)
                shift(&band, p->n_gpu, doubt->more_bytes);
            else
                share = OPEN_SHARE;
            continue;
        }
        const size_t n = tensor_named(llama, doubt->tensor);
        if (!strcmp(doubt->tensor, "output.weight"))
            doubt_output(llama, p, n, &band);
        else if (n < llama->n_tensors)
            lower(&band, plim_place_of(llama, p, n), plim_llama_device_bytes(&llama->tensors[n]));
        else
            share = OPEN_SHARE; /* of unknown size */
    }
    widen(&band, p->n_gpu, share);
}
