/* SPDX-License-Identifier: MIT */
#include "engine/ollama/log.h"

#include "engine/log_text.h"

#include <string.h>

struct ollama_log {
    struct plim_receipt receipt;
    bool is_layout_over; /* a line other than weights was read: the next weights begin another layout */
};

static void init(void *state)
{
    struct ollama_log *log = state;
    plim_receipt_init(&log->receipt, "ollama", "log");
    log->is_layout_over = false;
}

/* The value of a key: device=CUDA0, size="4.3 GiB". */
static const char *value_of(const char *line, const char *key)
{
    const char *value = plim_log_after(line, key);
    return value && *value == '"' ? value + 1 : value;
}

static void read_line(void *state, const char *line)
{
    struct ollama_log *log = state;
    static const struct {
        const char *words, *label;
        enum plim_pillar pillar;
    } rows[] = { { "msg=\"model weights\"", "model buffer", PLIM_PILLAR_WEIGHTS },
                 { "msg=\"kv cache\"", "KV buffer", PLIM_PILLAR_KV_CACHE },
                 { "msg=\"compute graph\"", "compute buffer", PLIM_PILLAR_ACTIVATIONS } };
    static const char *const keys[] = { " buffer_type=", " device=", " buffer=", " backend=" };
    const char *device = NULL, *size = value_of(line, " size=");
    struct plim_log_size bytes;
    char id[PLIM_RECEIPT_ID_BYTES];
    for (size_t i = 0; !device && i < sizeof keys / sizeof *keys; i++)
        device = value_of(line, keys[i]);
    if (!device || !size || !plim_log_size(size, &bytes))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strstr(line, rows[i].words))
            continue;
        bool is_weights = rows[i].pillar == PLIM_PILLAR_WEIGHTS;
        if (is_weights && log->is_layout_over)
            init(log);
        log->is_layout_over = !is_weights;
        plim_log_device_id(device, strcspn(device, " \""), id, sizeof id);
        struct plim_receipt_device *to = plim_receipt_device(&log->receipt, id);
        struct plim_receipt_line *line_before = plim_receipt_line(to, rows[i].label);
        if (line_before && !is_weights) /* a graph is reserved more than once: the last one stays */
            *line_before = to->line[--to->n_lines];
        plim_receipt_add(to, rows[i].pillar, rows[i].label, bytes.bytes, bytes.half_bytes);
        log->receipt.is_whole = log->receipt.is_whole || rows[i].pillar == PLIM_PILLAR_ACTIVATIONS;
    }
}

static bool end(void *state, struct plim_receipt *ret_receipt)
{
    const struct ollama_log *log = state;
    *ret_receipt = log->receipt;
    ret_receipt->n_starts = 1;
    return log->receipt.n_devices > 0;
}

const struct plim_engine_log_type plim_ollama_log_type = {
    .engine = "ollama",
    .reads = "Ollama's 'model weights', 'kv cache', 'compute graph'",
    .size = sizeof(struct ollama_log),
    .init = init,
    .line = read_line,
    .receipt = end,
};
