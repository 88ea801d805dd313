/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_EMIT_FLAGS_H
#define PLIMSOLL_EMIT_FLAGS_H

/*
 * llama.cpp's command-line flags: one table for reading an engine's command line as it is, for the options of `plimsoll
 * fit` (which are those that change memory), for writing commands to paste, and for the manual.
 *
 * Source: common/arg.cpp of llama.cpp v0.4.1 and v0.6.0.
 */

#include "base/error.h"
#include "plimsoll/setup.h"

#include <stdbool.h>

/*
 * X(identifier, names, names of the negative form, value placeholder, help). No placeholder: a switch. The identifier
 * is also the flag's name in the environment: LLAMA_ARG_CTX_SIZE.
 */
#define PLIM_FLAGS(X)                                                                                                  \
    X(MODEL, "-m --model", "", "FILE", "the model (with an engine's own command line)")                                \
    X(CTX_SIZE, "-c --ctx-size", "", "N", "context of all slots together; 0 is the model's own (default)")             \
    X(BATCH, "-b --batch-size", "", "N", "logical batch (default 2048)")                                               \
    X(UBATCH, "-ub --ubatch-size", "", "N", "tokens computed at once (default 512)")                                   \
    X(N_PARALLEL, "-np --parallel", "", "N", "slots, or sequences (default: 4 for a server, which share one cache)")   \
    X(N_OUTPUTS_MAX, "--n-outputs-max", "", "N", "most logits rows of one batch (default: by client)")                 \
    X(N_GPU_LAYERS, "-ngl --gpu-layers --n-gpu-layers", "", "N", "layers on GPUs: a number, 'auto' or 'all'")          \
    X(CACHE_TYPE_K, "-ctk --cache-type-k", "", "TYPE", "type of the K cache: f16 (default), q8_0, q4_0 ...")           \
    X(CACHE_TYPE_V, "-ctv --cache-type-v", "", "TYPE", "type of the V cache")                                          \
    X(FLASH_ATTN, "-fa --flash-attn", "", "on|off|auto", "flash attention (default auto)")                             \
    X(KV_OFFLOAD, "-kvo --kv-offload", "-nkvo --no-kv-offload", NULL, "keep the KV cache on the GPU")                  \
    X(KV_UNIFIED, "-kvu --kv-unified", "-no-kvu --no-kv-unified", NULL, "one KV cache shared by all slots")            \
    X(SWA_FULL, "--swa-full", "--no-swa-full", NULL, "full-size cache for layers with a sliding window")               \
    X(TENSOR_SPLIT, "-ts --tensor-split", "", "N0,N1,...", "share of each GPU (default: by free memory)")              \
    X(SPLIT_MODE, "-sm --split-mode", "", "none|layer|row|tensor", "how several GPUs share the model")                 \
    X(MAIN_GPU, "-mg --main-gpu", "", "N", "the GPU to use with -sm none")                                             \
    X(DEVICE, "-dev --device", "", "LIST", "devices to use, in this order: CUDA0,CUDA1; or none")                      \
    X(OVERRIDE_TENSOR, "-ot --override-tensor", "", "PATTERN=BUFFER,...",                                              \
      "put tensors that match elsewhere: '\\.ffn_.*=CPU'")                                                             \
    X(CPU_MOE, "-cmoe --cpu-moe", "", NULL, "keep all experts on the CPU")                                             \
    X(N_CPU_MOE, "-ncmoe --n-cpu-moe", "", "N", "keep the experts of the first N layers on the CPU")                   \
    X(N_CPU_FFN, "-ncffn --n-cpu-ffn", "", "N", "keep the dense feed-forward weights of the first N layers there")     \
    X(OP_OFFLOAD, "--op-offload", "--no-op-offload", NULL, "compute large batches of CPU layers on the GPU")           \
    X(MMAP, "--mmap", "--no-mmap", NULL, "map the file instead of reading it")                                         \
    X(LOAD_MODE, "-lm --load-mode", "", "MODE", "auto, mmap, none, mlock, mmap+mlock or dio")                          \
    X(MMPROJ, "-mm --mmproj", "", "FILE", "multimodal projector")                                                      \
    X(MMPROJ_AUTO, "--mmproj-auto", "--no-mmproj --no-mmproj-auto", NULL, "use the projector")                         \
    X(MMPROJ_OFFLOAD, "--mmproj-offload", "--no-mmproj-offload", NULL, "projector on the GPU")                         \
    X(LORA, "--lora", "", "FILE,...", "LoRA adapters")                                                                 \
    X(LORA_SCALED, "--lora-scaled", "", "FILE:SCALE,...", "LoRA adapters with a scale")                                \
    X(SPEC_DRAFT_MODEL, "-md --model-draft --spec-draft-model", "", "FILE", "draft model for speculative decoding")    \
    X(N_GPU_LAYERS_DRAFT, "-ngld --gpu-layers-draft --n-gpu-layers-draft --spec-draft-ngl", "", "N",                   \
      "its layers on GPUs")                                                                                            \
    X(SPEC_DRAFT_CACHE_TYPE_K, "-ctkd --cache-type-k-draft --spec-draft-type-k", "", "TYPE", "type of its K cache")    \
    X(SPEC_DRAFT_CACHE_TYPE_V, "-ctvd --cache-type-v-draft --spec-draft-type-v", "", "TYPE", "type of its V cache")    \
    X(SPEC_DRAFT_N_MAX, "--spec-draft-n-max --draft --draft-n --draft-max", "", "N",                                   \
      "tokens drafted per step (default 3)")                                                                           \
    X(SPEC_TYPE, "--spec-type", "", "TYPE", "kind of speculative decoding; draft-mtp uses the model's own layers")     \
    X(MTP, "--mtp", "--no-mtp", NULL, "draft with the model's own next-token-prediction layers")                       \
    X(CACHE_RAM, "-cram --cache-ram", "", "MIB", "prompt cache in RAM; 0 none, -1 no limit (default 8192)")            \
    X(EMBEDDINGS, "--embedding --embeddings", "", NULL, "embeddings instead of text")                                  \
    X(RERANKING, "--rerank --reranking", "", NULL, "reranking")                                                        \
    X(FIT, "-fit --fit", "", "on|off", "llama.cpp's own fitting of what is unset (default on)")                        \
    X(FIT_TARGET, "-fitt --fit-target", "", "MIB,...", "what --fit leaves free per device (default 1024)")             \
    X(FIT_CTX, "-fitc --fit-ctx", "", "N", "smallest context --fit may choose (default 4096)")

#define PLIM_FLAG_ENUM(id, names, negative, value, help) PLIM_FLAG_##id,
enum plim_flag { PLIM_FLAG_NONE = 0, PLIM_FLAGS(PLIM_FLAG_ENUM) PLIM_FLAG_MAX_ };
#undef PLIM_FLAG_ENUM

struct plim_flag_info {
    const char *names;    /* separated by spaces, the shortest first */
    const char *negative; /* the same for "off" */
    const char *value;    /* placeholder; NULL for switches */
    const char *help;
};

const struct plim_flag_info *plim_flag_info(enum plim_flag flag);

/*
 * The flag of this name ("-c", "--no-mmap", "--ctx_size"); PLIM_FLAG_NONE when it is not one of ours. *ret_on is false
 * for "off".
 */
enum plim_flag plim_flag_named(const char *name, bool *ret_on);

/* True when `name` is one of the names in a list separated by spaces. */
bool plim_flag_is_in(const char *name, const char *list);

/* The devices of -dev, as indices into the machine's cards: "CUDA1,CUDA0" is 1, 0. */
struct plim_device_list {
    bool is_given;
    uint32_t n; /* 0 with is_given: none */
    uint32_t index[PLIM_SETUP_MAX_DEVICES];
};

/* What a command line says: a setup and the files it names. Strings point into the command line. */
struct plim_arguments {
    struct plim_setup setup;
    struct plim_device_list devices;
    const char *model, *mmproj, *draft;
    const char *lora[PLIM_SETUP_MAX_LORAS]; /* whole values: "a.gguf,b.gguf" */
    uint32_t n_loras;
    bool no_mmproj;
    bool no_main_gpu;                         /* -mg -1: with -sm none, no GPU at all */
    char *patterns[PLIM_SETUP_MAX_OVERRIDES]; /* owned */
};

void plim_arguments_init(struct plim_arguments *arguments);
void plim_arguments_done(struct plim_arguments *arguments);

/* Apply one flag. value is NULL for switches. */
int plim_flag_apply(enum plim_flag flag, bool on, const char *value, struct plim_arguments *arguments,
                    struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * Apply a variable of the environment, as llama.cpp reads them: LLAMA_ARG_CTX_SIZE=8192. Returns 1 when it is one of
 * ours, 0 when it is not.
 */
int plim_flag_apply_variable(const char *name, const char *value, struct plim_arguments *arguments,
                             struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
