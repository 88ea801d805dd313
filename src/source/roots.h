/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_ROOTS_H
#define PLIMSOLL_SOURCE_ROOTS_H

/*
 * Where this user's models lie.
 *
 * Ollama's are in the folder that OLLAMA_MODELS names, else in ~/.ollama/models and where the service of a Linux
 * package keeps them (scripts/install.sh of Ollama: the home of the user "ollama"). The cache of huggingface_hub is
 * named by HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME or XDG_CACHE_HOME (its constants.py); llama.cpp puts
 * LLAMA_CACHE first (common/hf-cache.cpp: get_cache_directory), and kept its own in LLAMA_CACHE or XDG_CACHE_HOME
 * before. LM Studio's is
 * ~/.lmstudio/models, once ~/.cache/lm-studio/models.
 */

#include "plimsoll/model.h"

/* variable() returns the value of a variable of the environment, or NULL. The result is static: it holds until the next
 * call. */
const struct plim_source_roots *plim_source_roots(char *(*variable)(const char *name));

#endif
