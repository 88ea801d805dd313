/* SPDX-License-Identifier: MIT */
#include "engine/log.h"

#include "base/limits.h"
#include "base/mem.h"
#include "engine/llamacpp/log/log.h"
#include "engine/ollama_log.h"
#include "engine/vllm/log.h"

struct plim_log {
    struct plim_llama_log llama;
    struct plim_ollama_log ollama;
    struct plim_vllm_log vllm;
    bool is_in_escape;
    size_t length;
    char line[PLIM_MAX_LOG_LINE_BYTES];
};

struct plim_log *plim_log_new(void)
{
    struct plim_log *log = plim_alloc(1, sizeof *log);
    if (!log)
        return NULL;
    plim_llama_log_init(&log->llama);
    plim_ollama_log_init(&log->ollama);
    plim_vllm_log_init(&log->vllm);
    return log;
}

void plim_log_free(struct plim_log *log) { plim_free(log); }

static void end_line(struct plim_log *log)
{
    log->line[log->length] = '\0';
    if (log->length) {
        plim_llama_log_line(&log->llama, log->line);
        plim_ollama_log_line(&log->ollama, log->line);
        plim_vllm_log_line(&log->vllm, log->line);
    }
    log->length = 0;
    log->is_in_escape = false;
}

static void feed_character(struct plim_log *log, char c)
{
    if (c == '\n' || c == '\r') {
        end_line(log);
    } else if (log->is_in_escape) {
        log->is_in_escape = !((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    } else if (c == '\033') {
        log->is_in_escape = true;
    } else if (log->length + 1 < sizeof log->line) {
        log->line[log->length++] = c == '\0' || c == '\t' ? ' ' : c;
    }
}

void plim_log_feed(struct plim_log *log, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        feed_character(log, data[i]);
}

int plim_log_receipt(struct plim_log *log, struct plim_receipt *ret_receipt, struct plim_error *reterr)
{
    end_line(log);
    if (plim_llama_log_receipt(&log->llama, ret_receipt) || plim_vllm_log_receipt(&log->vllm, ret_receipt) ||
        plim_ollama_log_receipt(&log->ollama, ret_receipt)) {
        plim_receipt_sort(ret_receipt);
        return 0;
    }
    int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "no buffers in this log");
    plim_error_hint(reterr,
                    "it takes lines like 'CUDA0 KV buffer size = 1024.00 MiB', llama.cpp's table at its end, or what "
                    "Ollama or vLLM say of memory; llama.cpp prints its buffers with -v or -lv 4 in newer versions");
    return code;
}
