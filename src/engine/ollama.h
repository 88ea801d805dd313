/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_OLLAMA_H
#define PLIMSOLL_ENGINE_OLLAMA_H

/* Ollama runs llama-server with settings of its own: its defaults, in llama.cpp's words. */

#include "plimsoll/card.h"

/*
 * Fill in what is unset as Ollama does on this machine, for a model trained on n_ctx_train tokens.
 *
 * Source: Ollama at fb30760, routes.go (context by total VRAM) and llm/llama_server.go (slots, batch).
 */
void plim_ollama_defaults(const struct plim_machine *machine, uint32_t n_ctx_train, struct plim_setup *setup);

#endif
