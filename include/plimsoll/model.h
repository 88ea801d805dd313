/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_H
#define PLIMSOLL_MODEL_H

/*
 * A model, as its files describe it: the tensors (name, shape, type, place), the hyperparameters under the field's
 * names, and the metadata under the file's own keys; never the weights. Where the description came from - a GGUF file,
 * safetensors with a config.json, or a config.json alone - makes no difference to code that asks for tensors or
 * hyperparameters.
 *
 * A struct plim_model is read once and does not change afterwards; it keeps no file open and may be shared by threads.
 * Strings it hands out live as long as it does.
 */

#include "plimsoll/dtype.h"
#include "plimsoll/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plim_model;

/* Where the description of a model came from. */
enum plim_model_format {
    PLIM_FORMAT_UNKNOWN = 0,
    PLIM_FORMAT_GGUF,
    PLIM_FORMAT_SAFETENSORS, /* with the config.json beside them, if there is one */
    PLIM_FORMAT_HF_CONFIG,   /* a config.json alone: the tensors are those that it implies */
    PLIM_FORMAT_STEP,        /* a recorded step of PyTorch: what its allocator was asked for, and no tensors */
    PLIM_FORMAT_MAX_
};

/* The kind of a model: only a PLIM_MODEL_LANGUAGE (or one we do not know) runs by itself. */
enum plim_model_kind {
    PLIM_MODEL_UNKNOWN = 0,
    PLIM_MODEL_LANGUAGE,
    PLIM_MODEL_PROJECTOR, /* mmproj: the vision or audio encoder beside a language model */
    PLIM_MODEL_ADAPTER,   /* LoRA */
    PLIM_MODEL_DRAFT,     /* a draft head that needs its target model (EAGLE-3, DFlash ...) */
    PLIM_MODEL_STEP,      /* a recorded step of PyTorch, of whatever program */
    PLIM_MODEL_MAX_
};

/* How a model came about that no file of its own describes (plimsoll/convert.h). */
enum plim_model_forecast {
    PLIM_FORECAST_NONE = 0, /* its files describe it */
    PLIM_FORECAST_EXACT,    /* it follows from a complete config by rules that are proven against the converter */
    PLIM_FORECAST_FORMULA,  /* the config leaves something open, or the rules are not proven: plim_model_doubt() */
    PLIM_FORECAST_MAX_
};

/* A reason why a forecast may miss the file. */
struct plim_doubt {
    const char *text; /* one sentence without a full stop */
    const char
        *tensor; /* the one that the file may have or lack, whichever the forecast has not; NULL: no single one */
    int64_t more_bytes; /* what the file has more than the forecast, where that is known; 0: it is not */
};

enum { PLIM_MAX_DIMS = 8 };

/*
 * Dimensions go from the innermost, whose elements lie next to each other, outwards: ggml's order, PyTorch's reversed.
 * A linear layer of `out` x `in` has ne = { in, out }.
 */
struct plim_tensor {
    const char *name;
    uint64_t ne[PLIM_MAX_DIMS]; /* elements per dimension; 1 beyond n_dims */
    uint64_t bytes;             /* of the data */
    uint64_t offset;            /* of the data, from the start of the data section of its file */
    uint64_t info_at;           /* where its description stands in the header */
    uint32_t n_dims;
    enum plim_dtype type;
    uint32_t shard; /* which file of the model, from 0 */
};

/* One file of a model. */
struct plim_shard {
    const char *path; /* "" when read from memory */
    uint64_t file_bytes;
    uint64_t data_at; /* where the header ends and the data section begins */
};

/*
 * The numbers that architectures share, under the field's names. 0: the files neither give the number nor imply it.
 * Where layers differ, it is the largest value of a layer.
 */
struct plim_hyperparameters {
    uint32_t n_layer;        /* decoder blocks */
    uint32_t n_embd;         /* width of the hidden state */
    uint32_t n_head;         /* attention heads */
    uint32_t n_head_kv;      /* heads of K and V; n_head without grouped-query attention */
    uint32_t n_embd_head_k;  /* width of a head of K ... */
    uint32_t n_embd_head_v;  /* ... and of V */
    uint32_t n_embd_kv_lora; /* rank of the latent K and V (MLA) */
    uint32_t n_ff;           /* width inside the feed-forward block */
    uint32_t n_ff_expert;    /* and inside one expert */
    uint32_t n_vocab;
    uint32_t n_ctx_train; /* tokens the model was trained for */
    uint32_t n_expert, n_expert_used, n_expert_shared;
    uint32_t n_swa;               /* window of sliding attention, in tokens */
    double rope_freq_base;        /* theta */
    double rope_scale;            /* the factor by which RoPE scaling stretches the context */
    const char *rope_scaling;     /* "yarn", "linear" ...; NULL without */
    const char *type;             /* of values in the original: "bfloat16"; NULL: unknown */
    const char *quantization;     /* the method: "fp8", "gptq", "awq", "bitsandbytes" ...; NULL without */
    bool tie_word_embeddings;     /* the output matrix is the token embedding */
    bool has_tie_word_embeddings; /* the files give it */
};

/*
 * Read the description of a model: a GGUF file (version 2 or 3, either byte order; the other files of a split model,
 * "-00001-of-00003", are found beside it and read too, whichever of them is named), a .safetensors file, a
 * model.safetensors.index.json, a config.json, or a directory with one of these. The content decides which it is.
 *
 * Errors name the file, the tensor or key, and the byte offset. Formats: src/model/gguf.c, safetensors.c, hf_config.c.
 */
int plim_model_open(const char *path, struct plim_model **ret_model, struct plim_error *reterr);

struct plim_remote; /* a session with servers; made inside the program */

/* The stores of models that are given by name instead of path; of each kind the first with the name counts. */
struct plim_source_roots {
    const char *const *ollama; /* Ollama's stores ("~/.ollama/models" with the ~ resolved) */
    size_t n_ollama;
    const char *const *hub_caches; /* of "hf:ORG/REPO": caches of huggingface_hub ("~/.cache/huggingface/hub"), */
    size_t n_hub_caches;
    const char *const *llama_caches; /* llama.cpp's older ones ("~/.cache/llama.cpp"), */
    size_t n_llama_caches;
    const char *const *lmstudio; /* LM Studio's folders ("~/.lmstudio/models") */
    size_t n_lmstudio;
    struct plim_remote *remote; /* for names that are not here; NULL: no server is asked */
};

/*
 * The same for a path or a name of Ollama's ("llama3.1:8b"); an existing path wins. plim_model_path() is then the file
 * that was found.
 */
int plim_model_find(const char *name, const struct plim_source_roots *roots, struct plim_model **ret_model,
                    struct plim_error *reterr);

/* The same for one file in memory, GGUF or safetensors; file_bytes is the size of the whole file, data_bytes of the
 * part that is given. */
int plim_model_read(const void *data, uint64_t data_bytes, uint64_t file_bytes, struct plim_model **ret_model,
                    struct plim_error *reterr);

/* Free a model; NULL is fine. Returns NULL. */
struct plim_model *plim_model_free(struct plim_model *model);

enum plim_model_format plim_model_format(const struct plim_model *model);
const char *plim_model_format_name(enum plim_model_format format); /* "gguf", "safetensors", "hf_config" */
enum plim_model_kind plim_model_kind(const struct plim_model *model);
const char *plim_model_path(const struct plim_model *model);      /* as it was given; "" when read from memory */
const char *plim_model_name(const struct plim_model *model);      /* general.name, else of the file, else "" */
const char *plim_model_arch(const struct plim_model *model);      /* general.architecture or model_type, else "" */
const char *plim_model_file_type(const struct plim_model *model); /* "Q4_K_M", "BF16"; NULL if the file names none */
/*
 * The files contradict each other, in words: an index of safetensors names other tensors, places or sizes than the
 * files have; NULL: they do not. (Contradictions that make a model unreadable are errors of plim_model_open().)
 */
const char *plim_model_contradiction(const struct plim_model *model);

enum plim_model_forecast plim_model_forecast(const struct plim_model *model);
const struct plim_doubt *plim_model_doubt(const struct plim_model *model, size_t i); /* NULL past the last */

const struct plim_hyperparameters *plim_model_hyperparameters(const struct plim_model *model);

uint64_t plim_model_n_params(const struct plim_model *model);     /* elements of all tensors */
uint64_t plim_model_tensor_bytes(const struct plim_model *model); /* data of all tensors */
uint64_t plim_model_file_bytes(const struct plim_model *model);   /* all files */
uint32_t plim_model_n_shards(const struct plim_model *model);
const struct plim_shard *plim_model_shard(const struct plim_model *model, uint32_t i); /* NULL past the last */
const struct plim_tensor *plim_model_tensors(const struct plim_model *model, size_t *ret_n);

/*
 * 0 when the tensors are known. A config.json alone of a family whose rules are not known here has hyperparameters and
 * no tensors: then PLIM_E_UNSUPPORTED, with the reason.
 */
int plim_model_require_tensors(const struct plim_model *model, struct plim_error *reterr);

/* The tensor of this name, or NULL. */
const struct plim_tensor *plim_model_tensor(const struct plim_model *model, const char *name);

/*
 * Metadata, by the file's own key: "llama.context_length" in GGUF; "hidden_size" in a config.json, with dots into
 * nested objects and lists ("text_config.hidden_size", "architectures.0"); "__metadata__.format" in safetensors. For
 * code that follows a program which reads the same keys; other code asks for hyperparameters.
 *
 * A key that is absent, or has a type that does not convert, gives false (or NULL, or 0): numbers convert when the
 * value is exact.
 */
bool plim_model_u64(const struct plim_model *model, const char *key, uint64_t *ret_value);
bool plim_model_f64(const struct plim_model *model, const char *key, double *ret_value);
bool plim_model_bool(const struct plim_model *model, const char *key, bool *ret_value);
const char *plim_model_string(const struct plim_model *model, const char *key);

/* Elements in an array value, also of arrays too long to be kept (vocabularies); 0 when it is not an array. */
uint64_t plim_model_array_length(const struct plim_model *model, const char *key);

/* Copy up to max numbers of an array value; returns how many were there to copy (0 for strings and long arrays). */
size_t plim_model_array(const struct plim_model *model, const char *key, int64_t *ret_values, size_t max);

#ifdef __cplusplus
}
#endif

#endif
