/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_OLLAMA_OLLAMA_H
#define PLIMSOLL_ENGINE_OLLAMA_OLLAMA_H

/*
 * Ollama starts llama-server with settings of its own. Its rules are llama.cpp's; its defaults, and its names for the
 * settings, are here.
 */

#include "engine/type.h"

/*
 * Fill in unset settings as Ollama does on this machine, for a model trained on n_ctx_train tokens.
 *
 * Source: Ollama at fb30760, routes.go (context by total VRAM) and llm/llama_server.go (slots, batch).
 */
void plim_ollama_defaults(const struct plim_machine *machine, uint32_t n_ctx_train, struct plim_llamacpp_setup *setup);

/* --- its words (words.c) --- */

/* Set in front of `ollama`: OLLAMA_CONTEXT_LENGTH and its kin, and llama.cpp's own variables. */
int plim_ollama_read_variable(const char *name, const char *value, struct plim_arguments *arguments,
                              struct plim_error *reterr);

/* "ollama run [flags] NAME [prompt]" */
int plim_ollama_read_command(int argc, char *const *argv, int first, struct plim_arguments *arguments,
                             struct plim_command *command, struct plim_error *reterr);

/* The parameters of a Modelfile, where nothing else is set. */
void plim_ollama_apply_stored(const struct plim_stored_model *model, struct plim_setup *setup);

/* A fix as lines of a Modelfile and settings of the server; false where Ollama has no setting for it. */
bool plim_ollama_paste(const struct plim_fix *fix, const struct plim_bill *before, char *text, size_t size);

/* The changes of --fit, by the names of a Modelfile. */
void plim_ollama_write_flags(const struct plim_llamacpp_setup *before, const struct plim_llamacpp_setup *after,
                             uint32_t n_ctx, char *text, size_t size);

#endif
