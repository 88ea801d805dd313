/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CATALOGUE_H
#define PLIMSOLL_CATALOGUE_H

/*
 * The catalogue of models: published configs that are compiled in, and how one is found by the names people use.
 *
 * A config says which tensors a model has before any file of it is here. What a config leaves out is filled from
 * another source, and each value that was filled in says from where; what stays unknown is absent. The catalogue is
 * static: strings live as long as the program.
 */

#include "plimsoll/error.h"
#include "plimsoll/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plim_catalogue_model {
    const char *id;            /* on Hugging Face: "Qwen/Qwen3-14B" */
    const char *name;          /* without the organisation: "Qwen3-14B" */
    const char *family;        /* "Qwen3"; "" when none is given */
    const char *source;        /* the published file that the config was read from */
    const char *disputed;      /* keys for which sources differ, separated by spaces; "" */
    double params;             /* as somebody stated them, mostly rounded; 0: nobody did ... */
    double params_active;      /* ... and those that one token uses */
    const char *params_source; /* ... "" without */
};

/* A key that the published config leaves out. */
struct plim_catalogue_fill {
    const char *key;    /* "tie_word_embeddings", "text_config.vocab_size" */
    const char *value;  /* as JSON */
    const char *how;    /* "source": another copy; "sibling": a model of the same shape; "default": of transformers;
                           "instead": another copy, and the published file has a value that is wrong */
    const char *source; /* that copy, model or class */
};

size_t plim_catalogue_model_count(void);

/* The i-th model, by id; i below the count. */
void plim_catalogue_model_at(size_t i, struct plim_catalogue_model *ret_model);

/* What was filled in: how many keys, of which at most max are written. */
size_t plim_catalogue_model_fills(size_t i, struct plim_catalogue_fill *ret_fills, size_t max);

/*
 * The config of the i-th model as a model of PLIM_FORMAT_HF_CONFIG, with the tensors of the checkpoint where the rules
 * are known (plim_model_require_tensors()). Freed with plim_model_free().
 */
int plim_catalogue_model_open(size_t i, struct plim_model **ret_model, struct plim_error *reterr);

enum plim_catalogue_outcome {
    PLIM_CATALOGUE_NOT_FOUND = 0, /* others: near misses */
    PLIM_CATALOGUE_FOUND,
    PLIM_CATALOGUE_AMBIGUOUS, /* others: what it may be */
};

enum { PLIM_CATALOGUE_MAX_OTHERS = 8 };

struct plim_catalogue_answer {
    enum plim_catalogue_outcome outcome;
    size_t model;         /* when found */
    bool is_exact;        /* the name is one of the model's, not a part of it */
    char quant[24];       /* the quantization in the name, as recipes are spelled: "Q4_K_M"; "" without one */
    bool is_quant_of_tag; /* it is what a tag of Ollama stands for: the name does not spell it */
    const char *tag;      /* the tag when the name is one of Ollama's: "qwen3:8b"; NULL otherwise */
    bool is_file_of_tag;  /* with this quantization the tag is a file of Ollama's, made by rules that may be its own */
    uint64_t file_bytes;  /* the size of that file, where it is published; 0: unknown */
    char passed_over[48]; /* words of the name that say nothing about the shape: "AWQ", another organisation */
    size_t others[PLIM_CATALOGUE_MAX_OTHERS];
    size_t n_others; /* listed */
    size_t n_all;    /* and in all */
};

/*
 * Find a model by its id, its name, a tag of Ollama's, or the name of a GGUF repository or file, in any case and with
 * any separators: "Qwen/Qwen3-14B", "qwen3 14b", "qwen3:14b-q8_0", "bartowski/Qwen_Qwen3-14B-GGUF:Q5_K_M",
 * "Qwen3-14B-Q4_K_M.gguf". A renamed model has all its names. An exact name wins over longer ones.
 *
 * 0 when found. PLIM_E_NOT_FOUND, with near misses; PLIM_E_USAGE for a name that several models of different shapes
 * have, with the list. The answer is filled in every case, and the error's hint names the others.
 */
int plim_catalogue_model_find(const char *name, struct plim_catalogue_answer *ret_answer, struct plim_error *reterr);

/* True when all words of the query are in the model's id, family or other names. */
bool plim_catalogue_model_matches(size_t i, const char *query);

#ifdef __cplusplus
}
#endif

#endif
