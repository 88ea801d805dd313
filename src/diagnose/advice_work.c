/* SPDX-License-Identifier: MIT */
/* Remedies for a program that needs more than the card has: a step, the optimizer, the weights, growth. */
#include "diagnose/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char pytorch[] =
    "pytorch transformers bitsandbytes accelerate deepspeed trl unsloth diffusers torchrun ray";
static const char pictures[] = "comfyui a1111 diffusers";
static const char llama[] = "llama.cpp koboldcpp whisper.cpp";

static bool is_training(const struct plim_advice *advice)
{
    return advice->trace == PLIM_TRACE_BACKWARD || advice->trace == PLIM_TRACE_LOSS ||
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

/* What does not help when PyTorch itself has the card. */
static void useless_allocator(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_advice_is(advice, pytorch) && !plim_advice_is(advice, pictures))
        return;
    plim_advise_useless(advice, "empty_cache()", "PyTorch returned all it could before it gave up");
    if (plim_is_known(a->unallocated_bytes) && plim_is_known(a->tried_bytes) && a->unallocated_bytes < a->tried_bytes)
        plim_advise_useless(advice, "expandable_segments, max_split_size_mb",
                            "only %s is reserved and not used, and %s was needed",
                            plim_say(&texts, a->unallocated_bytes), plim_say(&texts, a->tried_bytes));
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

static void halve_batch(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const int64_t batch = plim_advice_number(advice, PLIM_N_BATCH_SIZE);
    struct plim_size_texts texts = { .n = 0 };
    char gain[120] = "";
    struct plim_remedy *remedy;
    if (plim_is_known(a->tried_bytes) &&
        a->tried_bytes > (int64_t)(20 * PLIM_MIB)) /* below that it is a segment's size */
        snprintf(gain, sizeof gain, ": this piece becomes %s%s%s", plim_say(&texts, a->tried_bytes / 2),
                 plim_is_known(a->shortfall_bytes) ? ", and all others half as large; missing were " : "",
                 plim_is_known(a->shortfall_bytes) ? plim_say(&texts, a->shortfall_bytes) : "");
    if (batch == 1) {
        plim_advise(advice, PLIM_UNKNOWN, "long inputs are cut",
                    "shorter sequences or smaller images: the batch is 1 already%s", gain);
        return;
    }
    if (!is_training(advice)) {
        plim_advise(advice, PLIM_UNKNOWN, "about the same time in all, in more calls",
                    "half of the batch, or of the input at once%s", gain);
        return;
    }
    if (plim_is_known(batch) && batch > 1)
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, "a little time; the result is the same",
                                   "a batch of %" PRId64 " instead of %" PRId64 ", gradients summed over two steps%s",
                                   batch / 2, batch, gain);
    else
        remedy = plim_advise(advice, PLIM_UNKNOWN, "a little time; the result is the same",
                             "half of the batch, gradients summed over two steps%s", gain);
    if (plim_advice_is(advice, "transformers trl unsloth accelerate") && plim_is_known(batch))
        plim_advise_command(remedy, "--per_device_train_batch_size %" PRId64 " --gradient_accumulation_steps 2",
                            batch / 2);
    else if (plim_advice_is(advice, "transformers trl unsloth"))
        plim_advise_command(remedy, "--per_device_train_batch_size HALF --gradient_accumulation_steps TWICE");
}

static void step_of_pictures(struct plim_advice *advice)
{
    plim_advise(advice, PLIM_UNKNOWN, "detail; enlarge it in tiles afterwards",
                "a smaller picture, fewer frames, or a batch of 1");
    if (plim_advice_is(advice, "comfyui")) {
        plim_advise(advice, PLIM_UNKNOWN, "a little time", "VAE Decode (Tiled) in place of VAE Decode");
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

static void step_of_llama(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const int64_t n_ubatch = plim_advice_number(advice, PLIM_N_N_UBATCH);
    const int64_t half = plim_is_known(n_ubatch) && n_ubatch > 64 ? n_ubatch / 2 : 256;
    const int64_t layers = plim_advice_number(advice, PLIM_N_N_GPU_LAYERS);
    const char *model = plim_advice_model(advice);
    struct plim_size_texts texts = { .n = 0 };
    bool is_absurd =
        plim_is_known(a->tried_bytes) && ((plim_is_known(a->total_bytes) && a->tried_bytes > a->total_bytes) ||
                                          a->tried_bytes > (int64_t)(100 * PLIM_GIB));
    if (is_absurd)
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "the cards work one after the other",
                                        "build with one copy of the buffers: %s is asked for because of several",
                                        plim_say(&texts, a->tried_bytes)),
                            "cmake -B build -DGGML_CUDA=ON -DGGML_SCHED_MAX_COPIES=1 && cmake --build build -j");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "prompts are read somewhat slower",
                                    plim_is_known(n_ubatch) ? "a micro-batch of %" PRId64 " instead of %" PRId64
                                                            : "a micro-batch of %" PRId64,
                                    half, n_ubatch),
                        "llama-server -m %s -ub %" PRId64, model, half);
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing, on cards that can do it", "flash attention"),
                        "llama-server -m %s -fa on", model);
    if (plim_is_known(layers) && layers > 2)
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "speed",
                                        "two layers less on the card: %" PRId64 " instead of %" PRId64, layers - 2,
                                        layers),
                            "llama-server -m %s -ngl %" PRId64, model, layers - 2);
    else
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "speed", "fewer layers on the card; plimsoll counts them"),
            "plimsoll fit %s", model);
    plim_advise_useless(advice, "a smaller context alone",
                        "with flash attention the working memory hardly depends on it");
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
        { "tensorrt-llm", "trtllm-serve", "--kv_cache_free_gpu_memory_fraction 0.8", "--max_batch_size 32" },
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

void plim_advise_step(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    bool is_absurd =
        plim_is_absurd(advice->finding) || (plim_is_known(a->tried_bytes) && plim_is_known(a->total_bytes) &&
                                            a->total_bytes > 0 && a->tried_bytes / PLIM_ABSURD_TIMES > a->total_bytes);
    if (plim_advice_is(advice, llama) || plim_advice_is(advice, "ollama lmstudio")) {
        if (plim_advice_is(advice, "ollama"))
            plim_advise_model(advice);
        else if (plim_advice_is(advice, llama))
            step_of_llama(advice);
        return;
    }
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
        else if (plim_advice_is(advice, "tgi lmdeploy tensorrt-llm"))
            step_of_server(advice);
        return; /* the knowledge base knows the rest */
    }
    halve_batch(advice);
    if (advice->trace == PLIM_TRACE_LOSS)
        plim_advise(advice, PLIM_UNKNOWN, "a little time",
                    "the loss in pieces, or a fused kernel for it (Liger): logits are tokens x vocabulary");
    if (is_training(advice))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "about a third more time for each step",
                                        "gradient checkpointing: activations are computed again instead of kept"),
                            plim_advice_is(advice, "pytorch")
                                ? "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)"
                                : "model.gradient_checkpointing_enable()");
    else
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "nothing, when you do not train", "keep nothing for gradients"),
            "with torch.inference_mode():");
    if (plim_advice_is(advice, "transformers trl unsloth accelerate deepspeed bitsandbytes"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing, on cards that can do it",
                                        "a fused attention kernel: no matrix of tokens by tokens"),
                            "AutoModelForCausalLM.from_pretrained(name, attn_implementation=\"sdpa\")");
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "a little accuracy", "bfloat16 instead of float32: half of every activation"),
        "with torch.autocast(\"cuda\", dtype=torch.bfloat16):");
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
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "nothing", "sum numbers, not tensors: a tensor keeps its whole graph"),
        "total_loss += loss.item()");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a copy to RAM", "move what you keep off the card"),
                        "outputs.append(y.detach().cpu())");
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "a slower run, once",
                    "see who holds it: record, run some steps, write a snapshot"),
        "torch.cuda.memory._record_memory_history(); ...; torch.cuda.memory._dump_snapshot(\"oom.pickle\")");
    plim_advise(advice, PLIM_UNKNOWN, "time to load again", "until it is found: a new process for each job");
    plim_advise_useless(advice, "empty_cache()", "what a variable still holds is not in the cache");
}

/* --- the weights --- */

/* Layers that fit: what was tried was the weights of the layers given to the card. About 1 GiB stays for the rest. */
static int64_t layers_that_fit(const struct plim_advice *advice, int64_t *ret_now)
{
    const int64_t free_bytes = plim_advice_number(advice, PLIM_N_FREE_BYTES), tried = advice->answer->tried_bytes;
    int64_t now = plim_advice_number(advice, PLIM_N_N_GPU_LAYERS), all = plim_advice_number(advice, PLIM_N_N_LAYERS);
    if (plim_is_known(all) && (!plim_is_known(now) || now > all))
        now = all;
    *ret_now = now;
    if (!plim_is_known(now) || now <= 0 || now > 4096 || !plim_is_known(free_bytes) || !plim_is_known(tried) ||
        tried <= 0 || free_bytes >= tried)
        return PLIM_UNKNOWN;
    double per_layer = (double)tried / (double)now, room = (double)free_bytes - (double)PLIM_GIB;
    return room <= 0 ? 0 : (int64_t)(room / per_layer);
}

static void model_of_llama(struct plim_advice *advice)
{
    int64_t now, layers = layers_that_fit(advice, &now);
    const char *model = plim_advice_model(advice);
    const bool is_ollama = plim_advice_is(advice, "ollama");
    struct plim_remedy *remedy;
    if (plim_is_known(layers) && layers < now && layers > 0) {
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, "speed: the other layers run on the CPU",
                                   "%" PRId64 " layers on the card instead of %" PRId64
                                   ", with 1 GiB for cache and working memory",
                                   layers, now);
        plim_advise_command(
            remedy, is_ollama ? "/set parameter num_gpu %" PRId64 : "llama-server -m MODEL.gguf -ngl %" PRId64, layers);
        if (remedy && !is_ollama)
            plim_advise_command(remedy, "llama-server -m %s -ngl %" PRId64, model, layers);
    } else {
        remedy =
            plim_advise(advice, PLIM_UNKNOWN, "speed: the other layers run on the CPU", "fewer layers on the card");
        plim_advise_command(remedy, is_ollama ? "/set parameter num_gpu 20" : "llama-server -m %s -ngl 20", model);
    }
    if (is_ollama)
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "room for layers", "leave 1 GiB of each card free"),
                            "OLLAMA_GPU_OVERHEAD=1073741824 ollama serve");
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "some quality", "a smaller file of the same model: plimsoll says which fits"),
        "plimsoll fit %s", model);
    plim_advise_useless(advice, "a shorter context or a smaller batch", "the weights are loaded first, before either");
}

void plim_advise_model(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const char *model = plim_advice_model(advice);
    struct plim_size_texts texts = { .n = 0 };
    if (plim_advice_is(advice, llama) || plim_advice_is(advice, "ollama")) {
        model_of_llama(advice);
        return;
    }
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
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little accuracy",
                                        "2 bytes for each parameter instead of 4, before it goes to the card"),
                            "model = model.to(torch.bfloat16).to(\"cuda\")");
        plim_advise(advice, PLIM_UNKNOWN, "quality", "a smaller model, or one quantised to 8 or 4 bits");
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
