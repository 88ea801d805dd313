/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_OLLAMA_STORE_H
#define PLIMSOLL_SOURCE_OLLAMA_STORE_H

/* Models by their Ollama names: "llama3.1:8b" is a manifest that names files of the store. */

#include "plimsoll/error.h"
#include "plimsoll/model.h"

#include <stdbool.h>
#include <stdint.h>

enum { PLIM_STORE_PATH_BYTES = 1024 };

/* A model of a store, and the parameters that are kept with it. */
struct plim_stored_model {
    const char *engine;                                                  /* the runtime whose store it is: "ollama" */
    char model[PLIM_STORE_PATH_BYTES], projector[PLIM_STORE_PATH_BYTES]; /* projector may be empty */
    uint32_t num_ctx, num_batch;                                         /* of its Modelfile; 0: not set */
    int32_t num_gpu;                                                     /* -1: not set */
};

/* True when this may be the name of a model in a store: no path, no file of that name. */
bool plim_ollama_is_name(const char *name);

/* The same by its form alone, whatever files there are. */
bool plim_ollama_looks_like_name(const char *text);

/* Find a model in the first of the stores that has one of this name. */
int plim_ollama_find(const char *name, const struct plim_source_roots *roots, struct plim_stored_model *ret_model,
                     struct plim_error *reterr);

#endif
