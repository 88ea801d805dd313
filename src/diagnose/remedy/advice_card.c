/* SPDX-License-Identifier: MIT */
/* Remedies for a card that other processes hold, that is fragmented, that is limited, or whose driver refuses. */
#include "diagnose/remedy/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The commands of a vendor that list the processes on its cards, and the variable that chooses a card. */
static const struct tool {
    const char *backend, *who, *free_bytes, *choose;
} tools[] = {
    { "HIP", "rocm-smi --showpids", "rocm-smi --showmeminfo vram", "HIP_VISIBLE_DEVICES" },
    { "XPU", "xpu-smi ps", "xpu-smi discovery", "ZE_AFFINITY_MASK" },
    { "SYCL", "xpu-smi ps", "xpu-smi discovery", "ONEAPI_DEVICE_SELECTOR=level_zero" },
    { "MPS", "top -l 1 -o mem -n 10", NULL, NULL },
    { "Metal", "top -l 1 -o mem -n 10", NULL, NULL },
    { "", "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
      "nvidia-smi --query-gpu=index,memory.free --format=csv", "CUDA_VISIBLE_DEVICES" },
};

static const struct tool *tool_of(const struct plim_advice *advice)
{
    const char *backend = plim_advice_backend(advice);
    size_t i = 0;
    while (*tools[i].backend && strcmp(tools[i].backend, backend) != 0)
        i++;
    return &tools[i];
}

/* A board whose GPU shares the RAM (GB10, Thor: 119 to 123 GiB) counts cached files as used: no card of its own memory
   has such a size. */
static bool is_shared_board(int64_t total_bytes)
{
    return plim_is_known(total_bytes) && total_bytes > (int64_t)(117 * PLIM_GIB) &&
           total_bytes < (int64_t)(126 * PLIM_GIB);
}

/* Allocator settings gain what is reserved and not used, at most. */
void plim_advise_others(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    struct plim_size_texts texts = { .n = 0 };
    const struct tool *tool = tool_of(advice);
    const int64_t device = plim_advice_number(advice, PLIM_N_DEVICE);
    struct plim_remedy *remedy;
    if (is_shared_board(a->total_bytes))
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "files are read again from disk",
                        "on a GB10 or Thor, which share their RAM with the GPU: drop cached files, which "
                        "count as used"),
            "sudo sh -c 'sync; echo 3 > /proc/sys/vm/drop_caches'");
    if (plim_is_known(a->other_pid)) {
        remedy = plim_advise_exact(advice, a->other_pid_bytes, "whatever it is doing: look at it first",
                                   "end process %" PRId64 ", which holds %s, if it is yours", a->other_pid,
                                   plim_say(&texts, a->other_pid_bytes));
        plim_advise_command(remedy, "ps -o pid,user,etime,args -p %" PRId64 "    # then: kill %" PRId64, a->other_pid,
                            a->other_pid);
    } else {
        remedy = plim_advise(advice, plim_is_known(a->others_bytes) ? a->others_bytes : PLIM_UNKNOWN,
                             "whatever they are doing: look at them first",
                             "see which processes use the card, and end what is yours");
        plim_advise_command(remedy, "%s", tool->who);
    }
    if (plim_advice_is(advice, "vllm") && plim_advice_is_stage(advice, "startup"))
        plim_advise_share(advice);
    if (tool->choose && !is_shared_board(a->total_bytes)) {
        remedy = plim_advise(advice, PLIM_UNKNOWN, "nothing, if the machine has another card",
                             "run on the card that has most free");
        plim_advise_command(remedy, "%s    # then: %s%s%d", tool->free_bytes, tool->choose,
                            strchr(tool->choose, '=') ? ":" : "=", plim_is_known(device) && device == 0 ? 1 : 0);
    }
    if (plim_advice_is(advice, "jax"))
        plim_advise_setting(advice,
                            plim_advise(advice, PLIM_UNKNOWN, "a little speed; pieces can become too small",
                                        "take memory when it is needed, instead of 75 %% of the card at the start"),
                            "XLA_PYTHON_CLIENT_PREALLOCATE", "false");
    if (plim_advice_is(advice, "tensorflow"))
        plim_advise_setting(advice,
                            plim_advise(advice, PLIM_UNKNOWN, "a little speed",
                                        "take memory when it is needed, instead of the whole card at the start"),
                            "TF_FORCE_GPU_ALLOW_GROWTH", "true");
    if (!plim_advice_is_llama(advice))
        plim_advise(advice, PLIM_UNKNOWN, "both get less",
                    "share the card on purpose: a memory fraction for each process, or MIG");
    if (!plim_advice_is(advice, "vllm sglang") && !plim_advice_is_llama(advice) && plim_is_known(a->others_bytes) &&
        a->others_bytes > 0)
        plim_advise_useless(advice, "a smaller batch", "%s of the card belongs to other processes, and that is missing",
                            plim_say(&texts, a->others_bytes));
    if (plim_is_known(a->unallocated_bytes) && plim_is_known(a->tried_bytes) && a->unallocated_bytes < a->tried_bytes &&
        plim_advice_has_torch(advice))
        plim_advise_useless(advice, "expandable_segments, empty_cache()",
                            "only %s is reserved and not used, and %s was needed",
                            plim_say(&texts, a->unallocated_bytes), plim_say(&texts, a->tried_bytes));
}

void plim_advise_pieces(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const char *platform = plim_figure_word(advice->finding, advice->context, PLIM_W_PLATFORM);
    const char *conf = plim_figure_word(advice->finding, advice->context, PLIM_W_ALLOC_CONF);
    struct plim_size_texts texts = { .n = 0 };
    const bool has_torch = plim_advice_has_torch(advice), is_known = has_torch && plim_advice_has_segments(advice);
    const bool can_expand = is_known && !plim_is_windows(platform) && !a->is_process_unreliable &&
                            !strstr(conf, "expandable_segments:True") && !strstr(conf, "expandable_segments:refused");
    if (can_expand)
        plim_advise_setting(advice,
                            plim_advise(advice, a->unallocated_bytes, "nothing; set it before the program starts",
                                        "let segments grow, so that pieces join: up to %s becomes usable",
                                        plim_say(&texts, a->unallocated_bytes)),
                            plim_advice_alloc_conf(advice), "expandable_segments:True");
    if (has_torch &&
        !plim_is_known(plim_figure(advice->finding, NULL, PLIM_N_CACHED_BYTES))) /* or it had no settings yet */
        plim_advise_setting(advice,
                            plim_advise(advice, PLIM_UNKNOWN, "some memory; the value has to be tried out",
                                        "keep large blocks from being cut"),
                            plim_advice_alloc_conf(advice), "max_split_size_mb:512");
    plim_advise(advice, PLIM_UNKNOWN, "a little computing on padding",
                "few different shapes: pad or bucket inputs, so that freed blocks fit again");
    plim_advise(advice, PLIM_UNKNOWN, "a little speed", "a somewhat smaller batch, which needs smaller pieces");
    if (has_torch)
        plim_advise_useless(advice, "empty_cache() before the next try",
                            "the allocator returned every whole free segment before it gave up; the segments that are "
                            "left are partly in use");
    if (!can_expand && is_known)
        plim_advise_useless(advice, "expandable_segments", "%s",
                            strstr(conf, "expandable_segments:True") ? "it is on already"
                                                                     : "this platform does not support it");
}

/* "0.62": what is needed of the whole, rounded up to hundredths. */
static double share_up(int64_t part, int64_t total) { return ceil(100.0 * (double)part / (double)total) / 100; }

/* What the pool would have to hold for this request: PLIM_UNKNOWN when the message does not say what it has. */
static int64_t pool_needed(const struct plim_cause_answer *a)
{
    return plim_is_known(a->allocated_bytes) && plim_is_known(a->tried_bytes) && a->allocated_bytes >= 0 &&
                   a->tried_bytes < INT64_C(1) << 50
               ? a->allocated_bytes + a->tried_bytes
               : PLIM_UNKNOWN;
}

static int64_t round_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

static const char rest_gets_less[] = "the rest of the card gets less";

/* CUDA.jl has two limits, and one in its old versions; the message tells which was met. */
static void raise_julia(struct plim_advice *advice, int64_t needed)
{
    const bool is_old = plim_advice_in_evidence(advice, "capped at");
    const char *name = is_old                                      ? "JULIA_CUDA_MEMORY_LIMIT"
                       : plim_advice_in_evidence(advice, "soft =") ? "JULIA_CUDA_SOFT_MEMORY_LIMIT"
                                                                   : "JULIA_CUDA_HARD_MEMORY_LIMIT";
    const int64_t most = plim_is_known(needed) ? round_up(needed, (int64_t)(PLIM_GIB / 4)) : PLIM_UNKNOWN;
    char value[32];
    struct plim_size_texts texts = { .n = 0 };
    struct plim_remedy *remedy;
    if (!plim_is_known(most)) {
        remedy = plim_advise(advice, PLIM_UNKNOWN, rest_gets_less, "raise the limit, or leave the variable unset");
        plim_advise_command(remedy, "unset %s", name);
        return;
    }
    remedy = plim_advise_exact(advice, PLIM_UNKNOWN, rest_gets_less,
                               "a limit of at least %s: what it has and what it tried", plim_say(&texts, most));
    if (is_old)
        snprintf(value, sizeof value, "%" PRId64, most);
    else
        snprintf(value, sizeof value, "%" PRId64 "MiB", most / (int64_t)PLIM_MIB);
    plim_advise_command(remedy, "%s=%s julia script.jl", name, value);
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "time, each time", "release arrays that are no longer needed"),
        "GC.gc(true); CUDA.reclaim()");
}

/* The limit of a pool or an arena: what it is called, and how far it has to go. */
static void raise_pool(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const int64_t needed = pool_needed(a);
    const int64_t left =
        plim_is_known(a->free_bytes) ? a->free_bytes : plim_figure(advice->finding, NULL, PLIM_N_AVAILABLE_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    struct plim_remedy *remedy;
    if (plim_advice_is(advice, "onnxruntime triton-server")) {
        if (plim_is_known(left) && plim_is_known(a->tried_bytes) && left >= 0 && a->tried_bytes > left)
            remedy = plim_advise_exact(advice, PLIM_UNKNOWN, rest_gets_less,
                                       "raise gpu_mem_limit by %s or more, or leave it out for no limit",
                                       plim_say(&texts, a->tried_bytes - left));
        else
            remedy = plim_advise(advice, PLIM_UNKNOWN, rest_gets_less,
                                 "raise gpu_mem_limit in the options of the provider, or leave it out for no limit");
        if (plim_advice_beside(advice, "triton-server"))
            plim_advise_command(remedy, "grep -n -A 1 gpu_mem_limit /models/*/config.pbtxt");
        else
            plim_advise_command(remedy, "providers=[\"CUDAExecutionProvider\"]");
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "a little time while it grows",
                        "grow by the amount needed instead of doubling"),
            "providers=[(\"CUDAExecutionProvider\", {\"arena_extend_strategy\": \"kSameAsRequested\"})]");
        plim_advise(advice, PLIM_UNKNOWN, "more calls for the same work", "a smaller batch or input");
    } else if (plim_advice_is(advice, "cupy")) {
        if (plim_is_known(needed))
            plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, rest_gets_less,
                                                  "a limit of at least %s: what it has and what it tried",
                                                  plim_say(&texts, round_up(needed, (int64_t)PLIM_MIB))),
                                "cupy.get_default_memory_pool().set_limit(size=%" PRId64 ")",
                                round_up(needed, (int64_t)PLIM_MIB));
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, rest_gets_less, "take the limit of the pool away"),
                            "cupy.get_default_memory_pool().set_limit(size=0)");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see whether the limit comes from outside"),
                            "echo \"$CUPY_GPU_MEMORY_LIMIT\"");
    } else if (plim_advice_is(advice, "rapids")) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, rest_gets_less, "let the pool grow to the whole card"),
                            "rmm.reinitialize(pool_allocator=True, maximum_pool_size=None)");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "speed of what lies there", "let cuDF spill to RAM"),
                            "CUDF_SPILL=on python job.py");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "speed, when it is more than the card",
                                        "a pool of card and RAM together (managed memory)"),
                            "rmm.reinitialize(pool_allocator=True, managed_memory=True)");
        plim_advise(advice, PLIM_UNKNOWN, "time", "fewer columns and rows at once: partitions (dask-cudf)");
    } else if (plim_advice_is(advice, "julia-cuda")) {
        raise_julia(advice, needed);
    } else if (plim_advice_is(advice, "jax")) {
        const int64_t share = plim_advice_number(advice, PLIM_N_MEM_FRACTION);
        if (!plim_is_known(share) || share < 900000)
            plim_advise_setting(advice,
                                plim_advise(advice, PLIM_UNKNOWN, "NCCL and cuDNN live in the rest",
                                            "a larger share of the card for JAX: 90 %% instead of 75 %%, the default"),
                                "XLA_PYTHON_CLIENT_MEM_FRACTION", ".90");
    } else if (plim_advice_is(advice, "paddle")) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, rest_gets_less, "take the limit away"),
                            "unset FLAGS_gpu_memory_limit_mb");
    }
}

void plim_advise_limit(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    struct plim_size_texts texts = { .n = 0 };
    int64_t limit = plim_advice_number(advice, PLIM_N_LIMIT_BYTES);
    int64_t held = plim_is_known(a->allocated_bytes)
                       ? a->allocated_bytes + (plim_is_known(a->unallocated_bytes) ? a->unallocated_bytes : 0)
                       : PLIM_UNKNOWN;
    struct plim_remedy *remedy;
    advice->missing_bytes = PLIM_UNKNOWN; /* of the limit, not of the card */
    if (plim_is_known(a->allowed_bytes) && plim_is_known(held) && plim_is_known(a->tried_bytes) &&
        plim_is_known(a->total_bytes) && a->total_bytes > 0) {
        double share = share_up(held + a->tried_bytes + PLIM_ROUNDING_BYTES, a->total_bytes);
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, "what the limit protects gets less",
                                   "allow at least %s: a fraction of %.2f or more, instead of %.2f",
                                   plim_say(&texts, held + a->tried_bytes), share > 1 ? 1.0 : share,
                                   (double)a->allowed_bytes / (double)a->total_bytes);
        if (plim_advice_has_torch(advice))
            plim_advise_command(remedy, "torch.cuda.set_per_process_memory_fraction(%.2f)", share > 1 ? 1.0 : share);
    } else {
        raise_pool(advice);
    }
    if (advice->remedies->n == 0 && plim_is_known(limit))
        plim_advise(advice, PLIM_UNKNOWN, "what the limit protects gets less", "raise the limit, which is %s",
                    plim_say(&texts, limit));
    if (plim_is_known(a->free_bytes) && a->free_bytes > 0 && advice->remedies->n)
        plim_advise_useless(advice, "ending other processes", "the card has %s free already",
                            plim_say(&texts, a->free_bytes));
}

/* What the maker's driver writes to the kernel's log; an Xid is NVIDIA's. */
static const char *driver_words(const struct plim_advice *advice)
{
    const char *backend = plim_advice_backend(advice);
    return !strcmp(backend, "HIP") || plim_advice_is(advice, "rocm")                                    ? "amdgpu|kfd"
           : !strcmp(backend, "XPU") || !strcmp(backend, "SYCL") || plim_advice_is(advice, "sycl")      ? "i915|xe "
           : !strcmp(backend, "CUDA") || plim_advice_is(advice, "nccl cublas cudnn nvidia-driver vllm") ? "xid|nvrm"
                                                                                                        : "gpu|drm|xid";
}

/* A library wants some ten MiB beside what its program has, and there were none left. */
static void advise_handle(struct plim_advice *advice)
{
    const bool is_amd = !strcmp(plim_advice_backend(advice), "HIP");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see which processes use the card, and make room"),
                        is_amd ? "rocm-smi --showpids --showmeminfo vram" : "nvidia-smi");
    if (plim_advice_is(advice, "tensorflow"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "memory that is in pieces",
                                        "let TensorFlow take what it needs instead of the whole card"),
                            "TF_FORCE_GPU_ALLOW_GROWTH=true python train.py");
    else if (plim_advice_is(advice, "jax"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "memory for arrays", "let JAX reserve less of the card"),
                            "XLA_PYTHON_CLIENT_MEM_FRACTION=.70 python train.py");
    else if (plim_advice_is(advice, "pytorch transformers accelerate diffusers trl"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "memory for tensors",
                                        "leave a part of the card for the libraries; PyTorch keeps what it once had"),
                            "torch.cuda.set_per_process_memory_fraction(0.9)");
    plim_advise(advice, PLIM_UNKNOWN, "more steps for the same work", "less at once: a smaller batch or input");
}

void plim_advise_driver(struct plim_advice *advice)
{
    const char *platform = plim_figure_word(advice->finding, advice->context, PLIM_W_PLATFORM);
    struct plim_remedy *remedy;
    if (plim_advice_is_stage(advice, "handle")) {
        advise_handle(advice);
        return;
    }
    if (plim_advice_is_stage(advice, "virtual")) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "take the limit of address space away"),
                            "ulimit -v unlimited");
        if (plim_advice_is(advice, "llama.cpp"))
            plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little memory",
                                            "build llama.cpp without the pool that reserves 32 GiB of addresses"),
                                "cmake -B build -DGGML_CUDA=ON -DGGML_CUDA_NO_VMM=ON && cmake --build build -j");
    } else if (strstr(plim_figure_word(advice->finding, NULL, PLIM_W_OPERATION), "exceeds device ")) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "much speed for what lies there",
                                        "keep the largest tensors, those of the vocabulary, in the RAM"),
                            "llama-server -m %s -ot 'token_embd=CPU'", plim_advice_model(advice));
        plim_advise(advice, PLIM_UNKNOWN, "quality", "a file of fewer bits: its largest tensor is smaller");
    } else if (!strcmp(platform, "wsl")) {
        remedy = plim_advise(advice, PLIM_UNKNOWN, "RAM for Windows", "give WSL more RAM and swap, then start it anew");
        plim_advise_command(remedy,
                            "notepad.exe \"$(wslpath \"$(wslvar USERPROFILE)\")/.wslconfig\"    # [wsl2] memory=24GB "
                            "swap=32GB, then: wsl.exe --shutdown");
    } else if (!strcmp(platform, "windows") || advice->answer->is_process_unreliable) {
        if (*platform || !plim_is_unix(advice->context))
            plim_advise(advice, PLIM_UNKNOWN, "disk space",
                        "a larger page file: System > Advanced > Performance > Virtual memory > managed by the system");
        if (*platform == '\0')
            plim_advise(advice, PLIM_UNKNOWN, "RAM for Windows",
                        "under WSL: more memory and swap in .wslconfig, then wsl.exe --shutdown");
        plim_advise(advice, PLIM_UNKNOWN, "a little speed",
                    "fewer processes and workers: each loads the libraries of CUDA");
    } else if (plim_advice_is(advice, "rocm sycl")) {
        return; /* its own entry */
    } else if (!strcmp(platform, "jetson")) {
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "files are read again from disk", "drop cached files, then start again"),
            "sudo sh -c 'sync; echo 3 > /proc/sys/vm/drop_caches'");
    } else {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "look at the limits of this shell"),
                            "ulimit -a");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see whether the driver is well"),
                            "sudo dmesg -T | grep -i -E '%s'", driver_words(advice));
    }
    if (plim_is_known(advice->answer->free_bytes) && plim_is_known(advice->answer->tried_bytes))
        plim_advise_useless(advice, "a smaller batch", "the card was not full");
}
