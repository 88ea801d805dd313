/* SPDX-License-Identifier: MIT */
/* The buffers of one model under one setup, and the GPUs that take part. */
#include "engine/llamacpp/engine.h"

#include "base/units.h"

#include <inttypes.h>
#include <string.h>

/* The memory of a card that is taken before llama.cpp first reads its free memory: a typical context. */
#define SEEN_CONTEXT_BYTES (256 * PLIM_MIB)

int plim_visible_gpus(const struct plim_llamacpp_setup *setup, const struct plim_machine *machine,
                      uint64_t *ret_split_bytes)
{
    if (setup->backend == PLIM_BACKEND_CPU)
        return 0;
    for (uint32_t i = 0; i < machine->n_cards; i++) {
        uint64_t free_bytes = plim_card_free_bytes(&machine->card[i]);
        ret_split_bytes[i] = free_bytes > 2 * SEEN_CONTEXT_BYTES ? free_bytes - SEEN_CONTEXT_BYTES : free_bytes;
    }
    return (int)machine->n_cards;
}

/* Logits (and embeddings) that are copied back: pinned host memory. llama_context::output_reserve names T5 itself: it
 * always keeps both there. */
static uint64_t output_bytes(const struct plim_llama *llama, const struct plim_llama_context *cx)
{
    uint64_t n_outputs = cx->n_seq_max;
    uint64_t per_output = llama->hp.n_vocab;
    if (cx->embeddings || !strcmp(llama->hp.arch->name, "t5"))
        per_output += llama->hp.n_embd_out;
    return n_outputs * per_output * sizeof(float);
}

/* Counts that reach beyond their arrays, and a device that is not there. */
static int check(const struct plim_llamacpp_setup *setup, int n_gpu, struct plim_error *reterr)
{
    const struct {
        const char *what;
        uint32_t n, max;
    } rows[] = {
        { "shares of the split", setup->n_tensor_split, PLIM_MAX_DEVICES },
        { "-ot patterns", setup->n_overrides, PLIM_LLAMACPP_MAX_OVERRIDES },
        { "overflows", setup->n_overflows, PLIM_MAX_DEVICES },
        { "adapters", setup->n_loras, PLIM_LLAMACPP_MAX_LORAS },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].n > rows[i].max)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "a setup has at most %" PRIu32 " %s, not %" PRIu32,
                             rows[i].max, rows[i].what, rows[i].n);
    if (setup->split_mode == PLIM_SPLIT_NONE && n_gpu > 0 && setup->main_gpu >= (uint32_t)n_gpu)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "-mg names device %" PRIu32 "; there are %d",
                         setup->main_gpu, n_gpu);
    return 0;
}

int plim_buffers_measure(struct plim_workspace *workspace, const struct plim_llama *llama,
                         const struct plim_epoch *epoch, const struct plim_llamacpp_setup *setup, int n_gpu,
                         const uint64_t *split_bytes, bool is_estimate, struct plim_buffers *ret_buffers,
                         struct plim_error *reterr)
{
    struct plim_buffers *b = ret_buffers;
    int result = check(setup, n_gpu, reterr);
    if (result < 0)
        return result;
    plim_llama_context_resolve(llama, setup, epoch, n_gpu, &b->context);
    b->context.loses_pins = is_estimate || epoch->loses_pins;
    result = plim_place(llama, setup, &b->context, n_gpu, split_bytes, &b->place, reterr);
    if (result < 0)
        return result;
    plim_place_weights(llama, &b->context, &b->place, &b->weights);
    plim_llama_memory_size(llama, &b->context, &b->place, &b->memory);
    plim_compute_size(workspace, llama, &b->context, &b->place, &b->compute);
    b->context.flash_attn = b->compute.flash_attn;
    b->output_bytes = output_bytes(llama, &b->context);
    return 0;
}

/* True when the memory that llama.cpp allocates before it computes anything fits. */
static bool is_allocated(const struct plim_buffers *b, int n_gpu, const uint64_t *split_bytes, uint64_t host_bytes)
{
    for (int i = 0; i < n_gpu; i++)
        if (plim_buffers_sum(b, i) > split_bytes[i])
            return false;
    return host_bytes == 0 || b->compute.bytes[b->place.cpu] <= host_bytes;
}

void plim_buffers_settle(struct plim_workspace *workspace, const struct plim_llama *llama, int n_gpu,
                         const uint64_t *split_bytes, uint64_t host_bytes, struct plim_buffers *buffers)
{
    struct plim_llama_context *cx = &buffers->context;
    if (!plim_compute_is_pipelined(cx, &buffers->place) || is_allocated(buffers, n_gpu, split_bytes, host_bytes))
        return;
    cx->no_pipeline = true;
    plim_compute_size(workspace, llama, cx, &buffers->place, &buffers->compute);
}

void plim_buffers_done(struct plim_buffers *buffers) { plim_placement_done(&buffers->place); }

uint64_t plim_buffers_sum(const struct plim_buffers *buffers, int i)
{
    const int cpu = buffers->place.cpu;
    uint64_t weights = i == cpu ? buffers->weights.host_bytes : buffers->weights.device_bytes[i];
    return weights + buffers->memory.kv_bytes[i] + buffers->memory.rs_bytes[i] + buffers->compute.bytes[i];
}
