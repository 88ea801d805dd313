/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_LLAMACPP_H
#define PLIMSOLL_LLAMACPP_H

/*
 * The settings of llama.cpp, and of runtimes that stand on it (Ollama). The fields carry llama.cpp's own flag names; an
 * unset field takes the engine's default for the client (llama-server, llama-cli, or a program that uses the library).
 */

#include "plimsoll/card.h"
#include "plimsoll/dtype.h"
#include "plimsoll/switch.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plim_model;

enum { PLIM_LLAMACPP_MAX_OVERRIDES = 64, PLIM_LLAMACPP_MAX_LORAS = 8 };

/*
 * The program that runs the model: the defaults for slots, outputs, KV layout and --fit differ. A runner is a program
 * that starts llama-server with settings of its own, as Ollama does.
 */
enum plim_client { PLIM_CLIENT_SERVER = 0, PLIM_CLIENT_CLI, PLIM_CLIENT_LIBRARY, PLIM_CLIENT_RUNNER, PLIM_CLIENT_MAX_ };

enum plim_backend {
    PLIM_BACKEND_CUDA = 0,
    PLIM_BACKEND_HIP,
    PLIM_BACKEND_VULKAN,
    PLIM_BACKEND_METAL,
    PLIM_BACKEND_CPU,
    PLIM_BACKEND_MAX_
};

enum plim_split_mode { PLIM_SPLIT_LAYER = 0, PLIM_SPLIT_NONE, PLIM_SPLIT_ROW, PLIM_SPLIT_TENSOR, PLIM_SPLIT_MAX_ };

enum {
    PLIM_NGL_AUTO = -1, /* all that fit: everything, unless --fit lowers it */
    PLIM_NGL_ALL = -2,
};

/* "regex=buffer type" of -ot: tensors whose name matches go there. Device -1 is the CPU. */
struct plim_override {
    const char *pattern;    /* lives at least as long as the setup */
    uint32_t pattern_bytes; /* 0: up to its end */
    int device;
};

/*
 * The part of a layer that --fit can keep on its device: everything but the named weights. The layers after it keep
 * everything but their experts.
 */
enum plim_overflow_part {
    PLIM_OVERFLOW_EXPERTS = 0,   /* the experts go */
    PLIM_OVERFLOW_FFN,           /* gate, up and down go: attention stays */
    PLIM_OVERFLOW_GATE_AND_DOWN, /* up stays too */
    PLIM_OVERFLOW_DOWN,          /* and gate */
};

/* n_layers layers from first whose experts are on the CPU; of the first, `part` is on `device` (-1: the CPU). */
struct plim_overflow {
    uint32_t first, n_layers;
    enum plim_overflow_part part;
    int device;
};

/* The devices of -dev, as indices into the machine's cards: "CUDA1,CUDA0" is 1, 0. */
struct plim_device_list {
    bool is_given;
    uint32_t n; /* 0 with is_given: no device */
    uint32_t index[PLIM_MAX_DEVICES];
};

struct plim_llamacpp_setup {
    enum plim_client client;
    enum plim_backend backend;

    uint32_t n_ctx;                 /* 0: the model's own */
    uint32_t n_batch;               /* 0: 2048 */
    uint32_t n_ubatch;              /* 0: 512 */
    uint32_t n_parallel;            /* slots; 0: the client's default */
    uint32_t n_outputs_max;         /* 0: the client's default */
    uint32_t n_rs_seq;              /* extra recurrent states per sequence, for speculative decoding */
    int32_t n_gpu_layers;           /* or PLIM_NGL_* */
    enum plim_dtype type_k, type_v; /* PLIM_DTYPE_UNKNOWN: f16 */
    enum plim_switch flash_attn;    /* unset: auto */
    enum plim_switch kv_offload, kv_unified, swa_full, op_offload, mmap, fit, embedding;

    enum plim_split_mode split_mode;
    uint32_t main_gpu;
    bool no_main_gpu;        /* -mg -1: with -sm none, no GPU at all */
    uint32_t n_tensor_split; /* entries given with -ts; 0: by free memory */
    double tensor_split[PLIM_MAX_DEVICES];
    struct plim_device_list devices;
    bool has_rpc; /* --rpc: other machines take a part, which is not counted */

    bool cpu_moe;       /* -cmoe */
    uint32_t n_cpu_moe; /* -ncmoe: the lowest N layers */
    uint32_t n_cpu_ffn; /* -ncffn: the same for dense feed-forward weights */
    uint32_t n_overrides;
    struct plim_override override[PLIM_LLAMACPP_MAX_OVERRIDES];
    uint32_t n_overflows; /* as --fit would decide */
    struct plim_overflow overflow[PLIM_MAX_DEVICES];

    uint32_t fit_ctx;          /* smallest context --fit may choose; 0: 4096, UINT32_MAX: it may not change it (-c 0) */
    uint64_t fit_target_bytes; /* what --fit leaves free per device; 0: 1 GiB */
    int32_t cache_ram_mib;     /* prompt cache of llama-server in host RAM; PLIM_CACHE_RAM_DEFAULT, -1: no limit */

    /* auxiliary models: they must outlive the setup, and the draft also every engine that has read the setup */
    const struct plim_model *mmproj;
    enum plim_switch mmproj_auto, mmproj_offload;
    uint32_t n_loras;
    const struct plim_model *lora[PLIM_LLAMACPP_MAX_LORAS];
    const struct plim_model *draft;
    int32_t n_gpu_layers_draft;
    enum plim_dtype type_k_draft, type_v_draft;
    uint32_t n_draft; /* tokens drafted per step; 0: the default when there is a draft model or mtp */
    bool mtp;         /* draft with the model's own next-token-prediction layers */
};

enum { PLIM_CACHE_RAM_DEFAULT = INT32_MIN };

#ifdef __cplusplus
}
#endif

#endif
