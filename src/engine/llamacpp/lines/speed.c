/* SPDX-License-Identifier: MIT */
/*
 * Tokens per second of one sequence, from bandwidths: every token reads the weights it uses and the filled cache.
 * It shows the cost of moving layers to the host, and is no more precise than its band.
 *
 * The constants hold what was published for Llama 3 8B in Q4_K_M (4.3 GiB read per token), tokens/s at short contexts:
 * RTX 3070 71, 3080 106 to 112, 3090 112, 4070 Ti 82, 4080 106, 4090 128, A6000 102, A100 138, H100 PCIe 144; M1 Max
 * 34, M2 Ultra 76, M3 Max 51 (XiongjieDai/GPU-Benchmarks-on-LLM-Inference, May 2024); RTX 2080 72, RTX 4060 Laptop 47
 * (AlexsJones/llmfit#773 and #958, 2026). That is 31 % of the bandwidth of an A100 and 85 % of that of a 4060.
 */
#include "engine/llamacpp/engine.h"

/* The part of a memory's bandwidth that the engine reaches, and the extra time of each layer. */
#define CUDA_EFFICIENCY_LOW  0.55
#define OTHER_EFFICIENCY_LOW 0.42
#define GPU_EFFICIENCY_HIGH  0.90
#define HOST_EFFICIENCY_LOW  0.50
#define HOST_EFFICIENCY_HIGH 0.90
#define GPU_LAYER_S_LOW      20e-6
#define GPU_LAYER_S_HIGH     100e-6
/* Host memory of unknown speed: two channels of DDR4-2666 to two of DDR5-6400, in bytes per second. */
#define HOST_BANDWIDTH_LOW  35e9
#define HOST_BANDWIDTH_HIGH 90e9

struct reads {
    double weights[PLIM_MAX_DEVICES + 1]; /* bytes per token and backend */
};

/* Of the experts, a token reads those that are chosen. */
static double used_ratio(const struct plim_hparams *hp)
{
    return hp->n_expert ? (double)hp->n_expert_used / hp->n_expert : 1;
}

static void read_layers(const struct plim_llama *llama, const struct plim_placement *p, struct reads *reads)
{
    const double ratio = used_ratio(&llama->hp);
    for (uint32_t il = 0; il < llama->hp.n_layer; il++) {
        const uint32_t source = il % llama->hp.n_layer_file; /* where the tensors are */
        const struct plim_layer *layer = &llama->layer[source];
        reads->weights[p->layer[source]] +=
            (double)(layer->device_bytes - layer->expert_bytes) + (double)layer->expert_bytes * ratio;
    }
}

/* The same where tensors are apart from their layer. */
static void read_tensors(const struct plim_llama *llama, const struct plim_placement *p, struct reads *reads)
{
    const double ratio = used_ratio(&llama->hp);
    const uint32_t n_runs = llama->hp.n_layer / llama->hp.n_layer_file;
    for (size_t i = 0; i < llama->n_tensors; i++)
        if (llama->slot[i] >= 0 && llama->slot[i] < (int)llama->hp.n_layer)
            reads->weights[p->tensor[i]] +=
                n_runs * (double)plim_llama_device_bytes(&llama->tensors[i]) * (llama->is_expert[i] ? ratio : 1);
}

/* The cache of one sequence when it is full, and its state. */
static double cache_bytes(const struct plim_buffers *b, int backend)
{
    return (double)b->memory.kv_bytes[backend] / b->context.n_stream +
           (double)b->memory.rs_bytes[backend] / b->context.n_seq_max;
}

void plim_speed_estimate(const struct plim_llama *llama, const struct plim_buffers *buffers,
                         const struct plim_machine *machine, enum plim_backend backend, struct plim_bill *bill)
{
    const struct plim_placement *p = &buffers->place;
    const double gpu_low = backend == PLIM_BACKEND_CUDA ? CUDA_EFFICIENCY_LOW : OTHER_EFFICIENCY_LOW;
    const double host = machine->host.bandwidth_bytes_per_s;
    struct reads reads = { { 0 } };
    double slow_s = llama->hp.n_layer * GPU_LAYER_S_HIGH, fast_s = llama->hp.n_layer * GPU_LAYER_S_LOW;
    if (llama->hp.arch->no_output)
        return;
    if (p->tensor)
        read_tensors(llama, p, &reads);
    else
        read_layers(llama, p, &reads);
    reads.weights[p->layer[llama->hp.n_layer_all]] += (double)llama->output_device_bytes;
    for (int i = 0; i < p->n_gpu; i++) {
        const double bandwidth = machine->card[i].bandwidth_bytes_per_s;
        if (reads.weights[i] + cache_bytes(buffers, i) <= 0)
            continue;
        if (bandwidth <= 0)
            return; /* an unknown card: no estimate */
        slow_s += (reads.weights[i] + cache_bytes(buffers, i)) / (bandwidth * gpu_low);
        fast_s += reads.weights[i] / (bandwidth * GPU_EFFICIENCY_HIGH);
    }
    slow_s += (reads.weights[p->cpu] + cache_bytes(buffers, p->cpu)) /
              ((host > 0 ? host : HOST_BANDWIDTH_LOW) * HOST_EFFICIENCY_LOW);
    fast_s += reads.weights[p->cpu] / ((host > 0 ? host : HOST_BANDWIDTH_HIGH) * HOST_EFFICIENCY_HIGH);
    bill->tokens_per_s_low = 1 / slow_s;
    bill->tokens_per_s_high = 1 / fast_s;
}
