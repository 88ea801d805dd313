/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_OLLAMA_LOG_H
#define PLIMSOLL_ENGINE_OLLAMA_LOG_H

/*
 * What Ollama itself logs of a model's memory, to a tenth of a MiB or GiB:
 *
 *     time=... level=INFO source=device.go:240 msg="model weights" device=CUDA0 size="4.3 GiB"
 *     time=... level=INFO source=ggml.go:666 msg="compute graph" backend=CUDA0 buffer_type=CUDA0 size="1.1 GiB"
 *
 * Each layout it tries is logged like that; the last one counts. When its runner is llama.cpp, the buffers that
 * llama.cpp prints (llamacpp/log.h) are what was allocated.
 */

#include "receipt/receipt.h"

struct plim_ollama_log {
    struct plim_receipt receipt;
    bool is_over; /* everything but weights was seen: weights begin the next layout */
};

void plim_ollama_log_init(struct plim_ollama_log *log);
void plim_ollama_log_line(struct plim_ollama_log *log, const char *line);
bool plim_ollama_log_receipt(const struct plim_ollama_log *log, struct plim_receipt *ret_receipt);

#endif
