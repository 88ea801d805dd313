/* SPDX-License-Identifier: MIT */
/* Remedies for a program that needs more than the card has: a step, the optimizer, the weights, growth. */
#include "base/units.h"
#include "diagnose/cause/growth.h"
#include "diagnose/remedy/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char pytorch[] =
    "pytorch transformers bitsandbytes accelerate deepspeed trl unsloth diffusers torchrun ray";
static const char pictures[] = "comfyui a1111 diffusers";

/* A function or a file that trains, by its name: train_one_epoch, training_step, trainer.py; not from_pretrained. */
static bool has_training_frame(const struct plim_advice *advice)
{
    bool has = false;
    for (uint32_t i = 0; advice->context && i < advice->context->n_frames; i++) {
        const struct plim_frame *frame = &advice->context->frames[i];
        const char *slash = strrchr(frame->file, '/'), *file = slash ? slash + 1 : frame->file;
        has = has || !strncmp(frame->name, "train", 5) || strstr(frame->name, "_train_") ||
              strstr(frame->name, "training_step") || (!strncmp(file, "train", 5) && frame->is_user);
    }
    return has;
}

static bool is_training(const struct plim_advice *advice)
{
    return has_training_frame(advice) || advice->trace == PLIM_TRACE_BACKWARD || advice->trace == PLIM_TRACE_LOSS ||
           advice->trace == PLIM_TRACE_OPTIMIZER || advice->trace == PLIM_TRACE_FOREACH ||
           plim_advice_is(advice, "deepspeed trl unsloth accelerate") ||
           !strcmp(plim_figure_word(advice->finding, advice->context, PLIM_W_PHASE), "training");
}

static bool is_in_traceback(const struct plim_advice *advice, const char *part)
{
    bool is = false;
    for (uint32_t i = 0; advice->context && i < advice->context->n_frames; i++)
        is = is || strstr(advice->context->frames[i].file, part) != NULL;
    return is;
}

/* A call of the driver or the handle of a library: PyTorch's allocator had no part in it. */
static bool is_outside(const struct plim_advice *advice)
{
    return plim_advice_is_stage(advice, "api") || plim_advice_is_stage(advice, "handle");
}

/* What PyTorch calls the card: AMD's are "cuda" as well. */
static const char *torch_device(const struct plim_advice *advice)
{
    const char *backend = plim_advice_backend(advice);
    return !strcmp(backend, "XPU") ? "xpu" : !strcmp(backend, "NPU") ? "npu" : "cuda";
}

/* Where the traceback shows that it computes in 16 bits already, more of that is no advice. */
static bool is_half_precision(const struct plim_advice *advice)
{
    const char *dtype = plim_figure_word(advice->finding, advice->context, PLIM_W_DTYPE);
    return strstr(dtype, "16") || strstr(dtype, "half") || is_in_traceback(advice, "autocast_mode") ||
           is_in_traceback(advice, "bitsandbytes") || is_in_traceback(advice, "fp16") ||
           plim_advice_in_evidence(advice, "fp16") || plim_advice_in_evidence(advice, "bf16");
}

/* What does not help when PyTorch itself has the card. */
static void useless_allocator(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    struct plim_size_texts texts = { .n = 0 };
    const bool has_pools = plim_is_known(a->private_bytes) && a->private_bytes > 0; /* they keep their free blocks */
    if ((!plim_advice_is(advice, pytorch) && !plim_advice_is(advice, pictures)) || is_outside(advice) ||
        !strcmp(plim_advice_backend(advice), "MPS"))
        return;
    if (!has_pools)
        plim_advise_useless(advice, "empty_cache()", "PyTorch returned all it could before it gave up");
    if (plim_is_known(a->unallocated_bytes) && plim_is_known(a->tried_bytes) && a->unallocated_bytes < a->tried_bytes)
        plim_advise_useless(
            advice, plim_advice_has_segments(advice) ? "expandable_segments, max_split_size_mb" : "max_split_size_mb",
            "only %s is reserved and not used, and %s was needed", plim_say(&texts, a->unallocated_bytes),
            plim_say(&texts, a->tried_bytes));
}

static void useless_pools(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (plim_is_known(a->private_bytes) && plim_is_known(a->total_bytes) &&
        (double)a->private_bytes >= PLIM_OTHERS_SHARE * (double)a->total_bytes)
        plim_advise(advice, a->private_bytes, "graphs make small steps faster",
                    "fewer CUDA graphs, or none: %s is in private pools, which only graphs use",
                    plim_say(&texts, a->private_bytes));
}

/* --- one step --- */

/* How many times smaller one piece has to be to fit into what is free, as a power of two: at least 2. */
static int64_t times_smaller(const struct plim_cause_answer *a)
{
    const int64_t room = plim_is_known(a->free_bytes) ? a->free_bytes : a->total_bytes;
    int64_t times = 2;
    if (!plim_is_known(a->tried_bytes) || !plim_is_known(room) || room < (int64_t)PLIM_GIB)
        return times;
    while (times < 1024 && a->tried_bytes / times > room)
        times *= 2;
    return times;
}

static void halve_batch(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const int64_t batch = plim_advice_number(advice, PLIM_N_BATCH_SIZE), times = times_smaller(a);
    const bool is_split = plim_is_known(batch) && batch >= times && batch > 1;
    struct plim_size_texts texts = { .n = 0 };
    char gain[120] = "", part[32] = "half";
    struct plim_remedy *remedy;
    if (times == 4)
        snprintf(part, sizeof part, "a quarter");
    else if (times > 2)
        snprintf(part, sizeof part, "1/%" PRId64, times);
    if (plim_is_known(a->tried_bytes) &&
        a->tried_bytes > (int64_t)(20 * PLIM_MIB)) /* below that it is a segment's size */
        snprintf(gain, sizeof gain, ": this piece becomes %s%s%s", plim_say(&texts, a->tried_bytes / times),
                 plim_is_known(a->shortfall_bytes) ? ", others shrink as well; missing were " : "",
                 plim_is_known(a->shortfall_bytes) ? plim_say(&texts, a->shortfall_bytes) : "");
    if (batch == 1) {
        plim_advise(advice, PLIM_UNKNOWN, "long inputs are cut",
                    "shorter sequences or smaller images: the batch is 1 already%s", gain);
        return;
    }
    if (!is_training(advice)) {
        plim_advise(advice, PLIM_UNKNOWN, "about the same time in all, in more calls",
                    "%s of the batch, or of the input at once%s", part, gain);
        return;
    }
    if (is_split)
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, "a little time; the result is the same",
                                   "a batch of %" PRId64 " instead of %" PRId64 ", gradients summed over %" PRId64
                                   " steps%s",
                                   batch / times, batch, times, gain);
    else
        remedy =
            plim_advise(advice, PLIM_UNKNOWN, "a little time; the result is the same",
                        "%s of the batch, gradients summed over %s steps%s", part, times == 2 ? "two" : "more", gain);
    if (plim_advice_is(advice, "transformers trl unsloth accelerate") && is_split)
        plim_advise_command(remedy, "--per_device_train_batch_size %" PRId64 " --gradient_accumulation_steps %" PRId64,
                            batch / times, times);
    else if (plim_advice_is(advice, "transformers trl unsloth"))
        plim_advise_command(remedy, "--per_device_train_batch_size HALF --gradient_accumulation_steps TWICE");
}

static void step_of_pictures(struct plim_advice *advice)
{
    plim_advise(advice, PLIM_UNKNOWN, "detail; enlarge it in tiles afterwards",
                "a smaller picture, fewer frames, or a batch of 1");
    if (plim_advice_is(advice, "comfyui")) {
        plim_advise(advice, PLIM_UNKNOWN, "a little time", "VAE Decode (Tiled) instead of VAE Decode");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "time", "keep less on the card"),
                            "python main.py --lowvram");
    } else if (plim_advice_is(advice, "a1111")) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "a fused attention kernel"),
                            "./webui.sh --opt-sdp-attention");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "time", "keep less on the card"), "./webui.sh --medvram");
    } else {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "time", "one part of the pipeline on the card at a time"),
                            "pipe.enable_model_cpu_offload()");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little time", "decode the picture in tiles"),
                            "pipe.vae.enable_tiling()");
    }
}

/* These servers take the cache out of what the weights leave: less for it, or less to work on at once. */
static void step_of_server(struct plim_advice *advice)
{
    static const struct {
        const char *framework, *command, *share, *batch;
    } servers[] = {
        { "tgi", "text-generation-launcher --model-id", "--cuda-memory-fraction 0.9",
          "--max-batch-prefill-tokens 2048" },
        { "lmdeploy", "lmdeploy serve api_server", "--cache-max-entry-count 0.5", "--max-batch-size 32" },
    };
    const char *model = plim_advice_model(advice);
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        if (!plim_advice_is(advice, servers[i].framework))
            continue;
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "fewer tokens in the cache",
                                        "a smaller share for the cache: the rest is for working memory"),
                            "%s %s %s", servers[i].command, model, servers[i].share);
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "requests beyond that wait", "less to work on at once"),
                            "%s %s %s", servers[i].command, model, servers[i].batch);
    }
    plim_advise(advice, PLIM_UNKNOWN, "a little quality",
                "a quantised version of the model: a half to a quarter of the bytes");
}

/* AMD's processors with a GPU in them use the RAM, up to a limit of the kernel: in pages of 4 KiB. */
static void more_for_an_apu(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (strcmp(plim_advice_backend(advice), "HIP") != 0 || !plim_is_known(a->tried_bytes) ||
        !plim_is_known(a->total_bytes) || !plim_is_known(a->free_bytes) || a->tried_bytes <= a->total_bytes ||
        a->tried_bytes > INT64_C(1) << 40)
        return;
    const int64_t gib = (a->total_bytes - a->free_bytes + a->tried_bytes) / (int64_t)PLIM_GIB + 1;
    plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "RAM, and a restart",
                                          "only on an APU: let the card use %s of the RAM (a parameter of the kernel)",
                                          plim_say(&texts, gib * (int64_t)PLIM_GIB)),
                        "ttm.pages_limit=%" PRId64, gib * (int64_t)PLIM_GIB / 4096);
}

void plim_advise_step(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    bool is_absurd = plim_is_absurd(advice->finding) || !strcmp(plim_advice_kind(advice), "pytorch-oom-absurd") ||
                     (plim_is_known(a->tried_bytes) && plim_is_known(a->total_bytes) && a->total_bytes > 0 &&
                      a->tried_bytes / PLIM_ABSURD_TIMES > a->total_bytes);
    if (is_absurd) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing",
                                        "print the shapes right before that line: one is not what you mean"),
                            "print(x.shape, y.shape, x.dtype)");
        return;
    }
    if (plim_advice_is(advice, pictures)) {
        step_of_pictures(advice);
        useless_allocator(advice);
        return;
    }
    if (!plim_advice_is(advice, pytorch)) {
        if (plim_advice_is(advice, "vllm sglang"))
            plim_advise_share(advice);
        else if (plim_advice_is(advice, "tgi lmdeploy"))
            step_of_server(advice);
        return; /* the knowledge base knows the rest */
    }
    if ((is_outside(advice) && advice->trace == PLIM_TRACE_NONE) ||
        !strcmp(plim_advice_kind(advice), "accelerate-batch"))
        return; /* their entries say it */
    halve_batch(advice);
    more_for_an_apu(advice);
    if (advice->trace == PLIM_TRACE_LOSS)
        plim_advise(advice, PLIM_UNKNOWN, "a little time",
                    "the loss in pieces, or a fused kernel for it (Liger): logits are tokens x vocabulary");
    if (is_training(advice))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "about a third more time for each step",
                                        "gradient checkpointing: activations are computed again instead of kept"),
                            plim_advice_is(advice, "pytorch")
                                ? "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)"
                                : "model.gradient_checkpointing_enable()");
    else if (advice->trace != PLIM_TRACE_NONE) /* of a bare message nobody knows: it may be training */
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "nothing, when you do not train", "keep nothing for gradients"),
            "with torch.inference_mode():");
    if (plim_advice_is(advice, "transformers trl unsloth accelerate deepspeed bitsandbytes"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing, on cards that can do it",
                                        "a fused attention kernel: no matrix of tokens by tokens"),
                            "AutoModelForCausalLM.from_pretrained(name, attn_implementation=\"sdpa\")");
    if (!is_half_precision(advice))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little accuracy",
                                        "bfloat16, if it computes in float32 now: half of every activation"),
                            "with torch.autocast(\"%s\", dtype=torch.bfloat16):", torch_device(advice));
    useless_pools(advice);
    useless_allocator(advice);
}

void plim_advise_optimizer(struct plim_advice *advice)
{
    bool is_trainer = plim_advice_is(advice, "transformers trl unsloth");
    if (advice->trace == PLIM_TRACE_FOREACH)
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little time",
                                        "one parameter after the other: no copies of all of them at once"),
                            "optimizer = torch.optim.AdamW(model.parameters(), foreach=False)");
    if (plim_advice_is(advice, "deepspeed"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "more traffic between cards",
                                        "the next ZeRO stage: states are spread over the cards"),
                            "\"zero_optimization\": {\"stage\": 3}");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little accuracy",
                                    "an 8-bit optimizer: 2 bytes for each parameter instead of 8"),
                        is_trainer ? "--optim adamw_bnb_8bit"
                                   : "optimizer = bitsandbytes.optim.AdamW8bit(model.parameters())");
    plim_advise(advice, PLIM_UNKNOWN, "some quality on hard tasks",
                "train an adapter (LoRA): states for about one parameter in a hundred");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "time", "states in RAM"),
                        plim_advice_is(advice, "deepspeed") ? "\"offload_optimizer\": {\"device\": \"cpu\"}"
                        : is_trainer                        ? "--optim paged_adamw_8bit"
                                     : "optimizer = bitsandbytes.optim.PagedAdamW8bit(model.parameters())");
    plim_advise_useless(advice, "a smaller batch", "states are made for each parameter, whatever the batch");
    useless_allocator(advice);
}

void plim_advise_growth(struct plim_advice *advice)
{
    if (plim_advice_has_torch(advice)) {
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "nothing", "sum numbers, not tensors: a tensor keeps its whole graph"),
            "total_loss += loss.item()");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a copy to RAM", "move what you keep off the card"),
                            "outputs.append(y.detach().cpu())");
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "a slower run, once",
                        "find the objects that hold it: record, run some steps, write a snapshot"),
            "torch.cuda.memory._record_memory_history(); ...; torch.cuda.memory._dump_snapshot(\"oom.pickle\")");
        plim_advise_useless(advice, "empty_cache()", "what a variable still holds is not in the cache");
    } else {
        plim_advise(advice, PLIM_UNKNOWN, "what is older is computed or read again",
                    "a bound for everything that is kept from one step or request to the next: lists, caches, queues");
    }
    const int64_t lasts = plim_rise_lasts(advice->context, advice->answer->total_bytes);
    char span[PLIM_SPAN_TEXT_BYTES], half[PLIM_SPAN_TEXT_BYTES];
    if (plim_is_known(lasts))
        plim_advise(advice, PLIM_UNKNOWN, "time to load again",
                    "until it is found: a new process every %s; at this pace the memory is full after %s",
                    plim_span_text(half, lasts / 2), plim_span_text(span, lasts));
    else
        plim_advise(advice, PLIM_UNKNOWN, "time to load again", "until it is found: a new process for each job");
}

/* --- the weights --- */

void plim_advise_model(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const char *model = plim_advice_model(advice);
    struct plim_size_texts texts = { .n = 0 };
    if (plim_advice_is(advice, "vllm sglang tgi")) {
        const int64_t n = plim_advice_number(advice, PLIM_N_TENSOR_PARALLEL),
                      twice = plim_is_known(n) && n > 0 && n < 64 ? 2 * n : 2;
        plim_advise(advice, PLIM_UNKNOWN, "a little quality",
                    "a quantised version of the model (FP8, AWQ, GPTQ): a half to a quarter of the bytes");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "cards", "split it over %" PRId64 " cards", twice),
                            plim_advice_is(advice, "vllm") ? "vllm serve %s --tensor-parallel-size %" PRId64
                            : plim_advice_is(advice, "tgi")
                                ? "text-generation-launcher --model-id %s --num-shard %" PRId64
                                : "python -m sglang.launch_server --model-path %s --tp %" PRId64,
                            model, twice);
        plim_advise_useless(advice, "a larger share of the card", "the model is larger than the card");
        plim_advise_useless(advice, "a shorter context", "the weights come first");
        return;
    }
    if (plim_advice_is(advice, pictures)) {
        step_of_pictures(advice);
        return;
    }
    if (!plim_advice_is(advice, pytorch))
        return;
    if (plim_advice_is(advice, "pytorch") && !is_in_traceback(advice, "transformers")) {
        if (!is_training(advice))
            plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little quality",
                                            "4 bits for each parameter, if it is a model of Hugging Face"),
                                "AutoModelForCausalLM.from_pretrained(name, "
                                "quantization_config=BitsAndBytesConfig(load_in_4bit=True))");
        if (!is_half_precision(advice))
            plim_advise_command(
                plim_advise(advice, PLIM_UNKNOWN, "a little accuracy",
                            "bfloat16, if it is float32 now: half of the bytes, before it goes to the card"),
                "model = model.to(torch.bfloat16).to(\"%s\")", torch_device(advice));
        plim_advise(advice, PLIM_UNKNOWN, "quality", "a smaller model");
        plim_advise(advice, PLIM_UNKNOWN, "speed", "spread it over several cards, or keep a part in RAM");
        if (plim_is_known(a->total_bytes))
            plim_advise(advice, PLIM_UNKNOWN, "money", "a card with more than %s", plim_say(&texts, a->total_bytes));
        useless_allocator(advice);
        return;
    }
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "a little quality; slower for small batches",
                    "load in 4 bits: a quarter of bfloat16"),
        "AutoModelForCausalLM.from_pretrained(name, quantization_config=BitsAndBytesConfig(load_in_4bit=True))");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing, if it is loaded in float32 now",
                                    "load in the precision of the file"),
                        "AutoModelForCausalLM.from_pretrained(name, dtype=\"auto\", device_map=\"auto\")");
    plim_advise(advice, PLIM_UNKNOWN, "speed", "spread it over several cards or into RAM (device_map=\"auto\")");
    if (plim_is_known(a->total_bytes))
        plim_advise(advice, PLIM_UNKNOWN, "money", "a card with more than %s", plim_say(&texts, a->total_bytes));
    plim_advise_useless(advice, "a smaller batch", "nothing has been computed yet");
    useless_allocator(advice);
}
