/* SPDX-License-Identifier: MIT */
/*
 * Tokens per second of one sequence, from bandwidths: every token reads the weights it uses and what the cache holds.
 * It is there to show what moving layers to the host costs, and no more precise than its band.
 */
#include "engine/llamacpp/engine.h"

/* How much of a memory's bandwidth the engine reaches, and what each layer costs beside it. */
#define GPU_EFFICIENCY_LOW   0.45
#define GPU_EFFICIENCY_HIGH  0.90
#define HOST_EFFICIENCY_LOW  0.50
#define HOST_EFFICIENCY_HIGH 0.90
#define GPU_LAYER_S_LOW      20e-6
#define GPU_LAYER_S_HIGH     80e-6
/* Host memory when nobody says: two channels of DDR4-2666 to two of DDR5-6400, in bytes per second. */
#define HOST_BANDWIDTH_LOW  35e9
#define HOST_BANDWIDTH_HIGH 90e9

/* The part of its weights that a token uses: with experts, only those chosen. */
static double active_ratio(const struct plim_llama *llama)
{
    uint64_t all_bytes = llama->output_device_bytes, expert_bytes = 0;
    for (uint32_t il = 0; il < llama->hp.n_layer; il++) {
        all_bytes += llama->layer[il].device_bytes;
        expert_bytes += llama->layer[il].expert_bytes;
    }
    if (llama->hp.n_expert == 0 || all_bytes == 0)
        return 1;
    double used = (double)llama->hp.n_expert_used / llama->hp.n_expert;
    return 1 - (double)expert_bytes / (double)all_bytes * (1 - used);
}

/*
 * Experts moved to the host leave the GPU with weights that are all used, and the host with hardly any: the ratio of
 * each side follows from how much of the experts it holds, which is taken to be what lies there beyond its layers.
 */
static double host_weight_bytes(const struct plim_llama *llama, const struct plim_buffers *b)
{
    double bytes = 0;
    for (uint32_t il = 0; il < llama->hp.n_layer; il++)
        if (b->place.layer[il] == b->place.cpu)
            bytes += (double)llama->layer[il].device_bytes;
    if (b->place.tensor)
        for (size_t i = 0; i < llama->n_tensors; i++)
            if (llama->slot[i] >= 0 && b->place.layer[llama->slot[i]] != b->place.cpu &&
                b->place.tensor[i] == b->place.cpu)
                bytes += (double)plim_llama_device_bytes(&llama->tensors[i]);
    if (b->place.layer[llama->hp.n_layer_all] == b->place.cpu)
        bytes += (double)llama->output_device_bytes;
    return bytes;
}

void plim_speed_estimate(const struct plim_llama *llama, const struct plim_buffers *buffers,
                         const struct plim_machine *machine, struct plim_bill *bill)
{
    const struct plim_buffers *b = buffers;
    const double ratio = active_ratio(llama);
    double slow_s = 0, fast_s = 0;
    if (llama->hp.arch->no_output)
        return;
    for (int i = 0; i < b->place.n_gpu; i++) {
        double bandwidth = machine->card[i].bandwidth_bytes_per_s;
        double weights = (double)b->weights.device_bytes[i] * ratio, cache = (double)b->memory.kv_bytes[i];
        if (weights + cache <= 0)
            continue;
        if (bandwidth <= 0)
            return; /* an unknown card: no estimate */
        slow_s += (weights + cache) / (bandwidth * GPU_EFFICIENCY_LOW);
        fast_s += weights / (bandwidth * GPU_EFFICIENCY_HIGH);
    }
    const double host = machine->host.bandwidth_bytes_per_s;
    const double weights = host_weight_bytes(llama, b) * ratio, cache = (double)b->memory.kv_bytes[b->place.cpu];
    slow_s += (weights + cache) / ((host > 0 ? host : HOST_BANDWIDTH_LOW) * HOST_EFFICIENCY_LOW);
    fast_s += weights / ((host > 0 ? host : HOST_BANDWIDTH_HIGH) * HOST_EFFICIENCY_HIGH);
    slow_s += llama->hp.n_layer * GPU_LAYER_S_HIGH;
    fast_s += llama->hp.n_layer * GPU_LAYER_S_LOW;
    bill->tokens_per_s_low = 1 / slow_s;
    bill->tokens_per_s_high = 1 / fast_s;
}
