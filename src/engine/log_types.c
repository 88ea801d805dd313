/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/log/log.h"
#include "engine/ollama/log.h"
#include "engine/vllm/log.h"

/* Ollama's own lines come last: where its runner is llama.cpp, the buffers that llama.cpp prints are more precise. */
const struct plim_engine_log_type *const plim_engine_log_types[PLIM_ENGINE_LOG_TYPES] = {
    &plim_llama_log_type,
    &plim_vllm_log_type,
    &plim_ollama_log_type,
};
