/* SPDX-License-Identifier: MIT */
#include "engine/vllm/log.h"

#include "engine/log_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct vllm_log {
    struct plim_receipt receipt;
};

static void init(void *state)
{
    struct vllm_log *log = state;
    plim_receipt_init(&log->receipt, "vllm", "log");
}

/* The device of the worker that printed the line; gpu0 when the line names no worker. */
static void worker_id(const char *line, char *buffer, size_t size)
{
    static const char *const words[] = { "_TP", "rank=" };
    int64_t number = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *text = plim_log_after(line, words[i]);
        if (text && plim_log_number(text, &number) && number >= 0 && number < 1000)
            break;
        number = 0;
    }
    snprintf(buffer, size, "gpu%" PRId64, number);
}

static void read_line(void *state, const char *line)
{
    struct vllm_log *log = state;
    static const struct {
        const char *words, *further, *label; /* further: the figure comes after these */
        enum plim_pillar pillar;
    } rows[] = {
        { "Model loading took", "", "model weights", PLIM_PILLAR_WEIGHTS },
        { "Loading model weights took", "", "model weights", PLIM_PILLAR_WEIGHTS },
        { "model weights take", "", "model weights", PLIM_PILLAR_WEIGHTS },
        { "Available KV cache memory:", "", "KV cache", PLIM_PILLAR_KV_CACHE },
        { "memory reserved for KV Cache is", "", "KV cache", PLIM_PILLAR_KV_CACHE },
        { "PyTorch activation peak memory takes", "", "activation peak", PLIM_PILLAR_ACTIVATIONS },
        { "non_torch_memory takes", "", "outside PyTorch", PLIM_PILLAR_OVERHEAD },
        { "Graph capturing finished in", "took", "CUDA graphs", PLIM_PILLAR_OVERHEAD },
    };
    int64_t n_tokens;
    const char *text = plim_log_after(line, "GPU KV cache size:");
    if (text && plim_log_number(text, &n_tokens))
        log->receipt.kv_n_tokens = n_tokens;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plim_log_size size;
        char id[PLIM_RECEIPT_ID_BYTES];
        text = plim_log_after(line, rows[i].words);
        if (text && rows[i].further[0])
            text = plim_log_after(text, rows[i].further);
        if (!text || !plim_log_size(text, &size))
            continue;
        worker_id(line, id, sizeof id);
        struct plim_receipt_device *device = plim_receipt_device(&log->receipt, id);
        struct plim_receipt_line *before = plim_receipt_line(device, rows[i].label);
        if (before) /* printed twice, or after a restart: the last one counts */
            *before = device->line[--device->n_lines];
        plim_receipt_add(device, rows[i].pillar, rows[i].label, size.bytes, size.half_bytes);
        log->receipt.is_whole = log->receipt.is_whole || rows[i].pillar == PLIM_PILLAR_KV_CACHE;
    }
}

static bool end(void *state, struct plim_receipt *ret_receipt)
{
    const struct vllm_log *log = state;
    *ret_receipt = log->receipt;
    ret_receipt->n_starts = 1;
    return log->receipt.n_devices > 0;
}

const struct plim_engine_log_type plim_vllm_log_type = {
    .engine = "vllm",
    .reads = "vLLM's 'Model loading took', 'Available KV cache memory'",
    .size = sizeof(struct vllm_log),
    .init = init,
    .line = read_line,
    .receipt = end,
};
