/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_OLLAMA_LOG_H
#define PLIMSOLL_ENGINE_OLLAMA_LOG_H

/*
 * Ollama's log as a receipt. It rounds its figures to a tenth of a MiB or GiB:
 *
 *     time=... level=INFO source=device.go:240 msg="model weights" device=CUDA0 size="4.3 GiB"
 *     time=... level=INFO source=ggml.go:666 msg="compute graph" backend=CUDA0 buffer_type=CUDA0 size="1.1 GiB"
 *
 * Ollama logs every layout that it tries; the last one counts. When its runner is llama.cpp, the buffers that llama.cpp
 * prints (llamacpp/log/log.h) are what was allocated.
 */

#include "engine/log_type.h"

extern const struct plim_engine_log_type plim_ollama_log_type;

#endif
