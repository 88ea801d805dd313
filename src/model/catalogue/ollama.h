/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CATALOGUE_OLLAMA_H
#define PLIMSOLL_MODEL_CATALOGUE_OLLAMA_H

/* Tags of Ollama's library (data/ollama.csv): the model and the quantization that they stand for. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_ollama_tag {
    const char *tag;     /* "qwen3:8b" */
    const char *id;      /* of the model in the catalogue; "" when the catalogue does not have it */
    const char *quant;   /* that the tag stands for; "" when unknown */
    uint64_t file_bytes; /* of the file that Ollama publishes; 0 when unknown */
};

/* "qwen3:8b", "qwen3:8b-instruct"; "qwen3" is "qwen3:latest". In lower case, without a quantization at its end. */
bool plim_ollama_tag_find(const char *name, struct plim_ollama_tag *ret_tag);

#endif
