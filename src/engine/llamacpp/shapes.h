/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_SHAPES_H
#define PLIMSOLL_ENGINE_LLAMACPP_SHAPES_H

/*
 * Hyperparameters beside the tensors that they describe. llama.cpp refuses a file in which the two differ, and a bill
 * of either would be of a model that is not there.
 */

#include "engine/llamacpp/llama.h"

enum { PLIM_LLAMA_CONTRADICTION = 256 };

/*
 * Write where they contradict each other: the key, the tensor and both numbers; "" when they do not, and for
 * architectures that are not known. is_mended: the loader mends files of its own, as Ollama does, and only numbers that
 * decide figures are compared: not those of tokens, nor widths of the feed-forward part.
 */
void plim_llama_find_contradiction(const struct plim_llama *llama, bool is_mended, char text[PLIM_LLAMA_CONTRADICTION]);

#endif
