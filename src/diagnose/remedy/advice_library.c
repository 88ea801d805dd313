/* SPDX-License-Identifier: MIT */
/*
 * Remedies for what has settings of its own: Apple's Metal, TensorFlow, NVIDIA's servers. Lists in which nothing is
 * computed or chosen are in data/errors, with the entry of the message.
 */
#include "diagnose/remedy/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Apple --- */

/* PyTorch's share of recommendedMaxWorkingSetSize when nothing is set, and the most that can be. [MPSAllocator.h] */
static const double mps_ratio = 1.7, mps_most = 2.0;

/* A higher mark, when the message has all four figures and the default was in force. */
static void raise_watermark(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const int64_t other = plim_figure(advice->finding, NULL, PLIM_N_OTHER_ALLOCATIONS_BYTES);
    if (!plim_is_known(a->allowed_bytes) || a->allowed_bytes <= 0 || !plim_is_known(a->allocated_bytes) ||
        !plim_is_known(a->tried_bytes) || !plim_is_known(other) || other < 0 || a->tried_bytes > a->allowed_bytes)
        return;
    const double needed = (double)a->allocated_bytes + (double)other + (double)a->tried_bytes;
    const double ratio = ceil(100 * mps_ratio * needed / (double)a->allowed_bytes) / 100;
    if (ratio > mps_most)
        return;
    plim_advise_setting(advice,
                        plim_advise_exact(advice, PLIM_UNKNOWN, "the Mac may begin to swap, or hang",
                                          "a higher mark: %.2f instead of %.2f, if the default is in force", ratio,
                                          mps_ratio),
                        "PYTORCH_MPS_HIGH_WATERMARK_RATIO", "");
    struct plim_remedy *remedy = &advice->remedies->item[advice->remedies->n - 1];
    char *at = strstr(remedy->command, "RATIO=");
    if (at) {
        char rest[PLIM_REMEDY_COMMAND_BYTES];
        snprintf(rest, sizeof rest, "%s", at + strlen("RATIO="));
        snprintf(at, sizeof remedy->command - (size_t)(at - remedy->command), "RATIO=%.2f%s", ratio, rest);
    }
}

static void apple_torch(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (plim_is_known(a->tried_bytes) && a->tried_bytes > 2 * (int64_t)(20 * PLIM_MIB))
        plim_advise(advice, PLIM_UNKNOWN, "more calls for the same work",
                    "half of what goes in at once (batch, picture, prompt): this piece of %s becomes %s",
                    plim_say(&texts, a->tried_bytes), plim_say(&texts, a->tried_bytes / 2));
    else
        plim_advise(advice, PLIM_UNKNOWN, "more calls for the same work",
                    "half of what goes in at once: the batch, the picture, the prompt");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little accuracy",
                                    "float16, if the model is in float32 now: half of its bytes"),
                        "model = model.to(\"mps\", dtype=torch.float16)");
    raise_watermark(advice);
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see what else holds the RAM of the Mac"),
                        "top -l 1 -o mem -n 10");
    plim_advise_useless(advice, "PYTORCH_CUDA_ALLOC_CONF and other settings of CUDA", "this is Metal");
}

/* MLX and others that speak to Metal themselves. */
static void mlx(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (plim_is_known(a->allowed_bytes) && plim_is_known(a->tried_bytes) && a->allowed_bytes > 0 &&
        a->tried_bytes > a->allowed_bytes) {
        plim_advise_exact(advice, PLIM_UNKNOWN, "more calls for the same work",
                          "at most %.0f %% of it at once: one buffer may have %s, and %s was requested",
                          floor(100 * (double)a->allowed_bytes / (double)a->tried_bytes),
                          plim_say(&texts, a->allowed_bytes), plim_say(&texts, a->tried_bytes));
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "what is older than that is forgotten", "with mlx-lm: a bounded cache"),
            "mlx_lm.generate --model MODEL --max-kv-size 4096 --prompt ...");
        plim_advise_useless(advice, "iogpu.wired_limit_mb", "it bounds all buffers together, and this is one");
        return;
    }
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "what is older than that is forgotten",
                                    "less at once: a shorter prompt, or with mlx-lm a bounded cache"),
                        "mlx_lm.generate --model MODEL --max-kv-size 4096 --prompt ...");
    plim_advise_wired_limit(advice, PLIM_UNKNOWN);
    plim_advise(advice, PLIM_UNKNOWN, "some quality", "the same model in 4 bits, or a smaller one");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see what else holds the RAM of the Mac"),
                        "top -l 1 -o mem -n 10");
}

/* --- TensorFlow --- */

/* The first number of "64,56,56,256". */
static int64_t first_of_shape(const struct plim_advice *advice)
{
    const char *shape = advice->finding->words.text[PLIM_W_SHAPE];
    char *end;
    shape += strspn(shape, "[( ");
    const long n = strtol(shape, &end, 10);
    return end != shape && n > 1 && n < (1 << 20) && strchr(end, ',') ? n : PLIM_UNKNOWN;
}

static void tensorflow(struct plim_advice *advice)
{
    const int64_t first = first_of_shape(advice), tried = advice->answer->tried_bytes;
    struct plim_size_texts texts = { .n = 0 };
    if (plim_is_known(first) && plim_is_known(tried))
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "a little time",
                                              "a batch of %" PRId64 " if the %" PRId64
                                              " in front of the shape is the batch: this tensor becomes %s",
                                              first / 2, first, plim_say(&texts, tried / 2)),
                            "model.fit(..., batch_size=%" PRId64 ")", first / 2);
    else
        plim_advise(advice, PLIM_UNKNOWN, "a little time", "half of the batch, or a smaller input");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little accuracy",
                                    "16 bits for activations, if they are in float32 now: half of their bytes"),
                        "tf.keras.mixed_precision.set_global_policy(\"mixed_float16\")");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see whether another process uses the card"),
                        "nvidia-smi");
    plim_advise_setting(advice,
                        plim_advise(advice, PLIM_UNKNOWN, "a little speed",
                                    "when the pool is full of pieces: the allocator of CUDA instead of BFC"),
                        "TF_GPU_ALLOCATOR", "cuda_malloc_async");
}

/* --- servers of NVIDIA --- */

/* The cache takes its share of what is free (0.9 of it by default), and buffers follow the limits. */
static void trtllm(struct plim_advice *advice)
{
    const char *model = plim_advice_model(advice);
    const bool is_triton = plim_advice_beside(advice, "triton-server");
    struct plim_remedy *remedy = plim_advise(advice, PLIM_UNKNOWN, "fewer tokens in the cache",
                                             "a smaller share of the free memory for the cache: 0.8, where 0.9 is the "
                                             "default%s",
                                             is_triton ? " (config.pbtxt of tensorrt_llm)" : "");
    if (is_triton)
        plim_advise_command(remedy,
                            "parameters { key: \"kv_cache_free_gpu_mem_fraction\" value { string_value: \"0.8\" } }");
    else
        plim_advise_command(remedy, "trtllm-serve %s --kv_cache_free_gpu_memory_fraction 0.8", model);
    remedy = plim_advise(advice, PLIM_UNKNOWN, "requests beyond that wait or are refused",
                         "smaller limits: the buffers beside the cache follow them, used or not");
    plim_advise_command(remedy,
                        is_triton ? "trtllm-build --max_batch_size 32 --max_num_tokens 2048 --max_seq_len 8192 ..."
                                  : "trtllm-serve %s --max_batch_size 32 --max_num_tokens 2048 --max_seq_len 8192",
                        model);
    if (!is_triton)
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "fewer tokens in the cache", "the same in Python"),
                            "LLM(model=\"%s\", kv_cache_config=KvCacheConfig(free_gpu_memory_fraction=0.8))", model);
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "cards", "split the model over two cards"),
                        is_triton ? "python convert_checkpoint.py --tp_size 2 ..." : "trtllm-serve %s --tp_size 2",
                        model);
    plim_advise_useless(advice, "a larger share for the cache", "it takes from the rest that was too small");
}

/* A model inside Triton: each instance has its own weights, and the settings of its runtime are in its config.pbtxt. */
static void triton(struct plim_advice *advice)
{
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "requests wait for each other",
                                    "one instance of the model: each has its own weights (config.pbtxt)"),
                        "instance_group [ { count: 1 kind: KIND_GPU } ]");
    if (!strncmp(plim_advice_kind(advice), "onnxruntime-", 12)) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little time while it grows",
                                        "let ONNX Runtime's arena grow by the amount needed instead of doubling"),
                            "parameters { key: \"arena_extend_strategy\" value { string_value: \"1\" } }");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little time", "and give memory back after a run"),
                            "parameters { key: \"memory.enable_memory_arena_shrinkage\" value { string_value: "
                            "\"gpu:0\" } }");
    }
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "the others are not there", "only the models that are needed"),
        "tritonserver --model-repository=/models --model-control-mode=explicit --load-model=NAME");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see which process holds how much"),
                        "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv");
    plim_advise_useless(advice, "--cuda-memory-pool-byte-size, --pinned-memory-pool-byte-size",
                        "pools for inputs and outputs, not for models");
}

bool plim_advise_library(struct plim_advice *advice)
{
    const enum plim_cause cause = advice->answer->advised;
    const bool is_cache = cause == PLIM_CAUSE_KV_CACHE_CONTEXT || cause == PLIM_CAUSE_MISCONFIGURATION_UTILIZATION;
    if ((plim_advice_is(advice, "tensorrt-llm") || !strncmp(plim_advice_kind(advice), "tensorrt-llm-", 13)) &&
        (is_cache || cause == PLIM_CAUSE_BATCH_OR_ACTIVATION || cause == PLIM_CAUSE_MODEL_TOO_BIG)) {
        trtllm(advice);
        return true;
    }
    if (cause == PLIM_CAUSE_ALLOCATOR_LIMIT && !strcmp(plim_advice_backend(advice), "MPS")) {
        apple_torch(advice); /* the limit is PyTorch's mark */
        return true;
    }
    if ((cause != PLIM_CAUSE_BATCH_OR_ACTIVATION && cause != PLIM_CAUSE_MODEL_TOO_BIG) ||
        plim_is_absurd(advice->finding))
        return false;
    if (plim_advice_is(advice, "triton-server"))
        triton(advice);
    else if (plim_advice_is(advice, "metal"))
        mlx(advice);
    else if (!strcmp(plim_advice_backend(advice), "MPS"))
        apple_torch(advice);
    else if (plim_advice_is(advice, "tensorflow") && plim_is_known(advice->answer->tried_bytes))
        tensorflow(advice);
    else
        return false;
    return true;
}
