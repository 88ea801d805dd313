/* SPDX-License-Identifier: MIT */
/* Remedies for servers: the length of the context, and the share of the card. Here most values can be computed. */
#include "diagnose/remedy/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* vLLM's block of tokens when the log does not say it. */
enum { DEFAULT_BLOCK = 16 };

/* The cache of a token in vLLM's fp8 beside 16 bits. */
static const double fp8_ratio = 0.5;

/* --- the context --- */

/* The length that fits: as the program says, or in proportion to what is available. */
static int64_t length_that_fits(const struct plim_advice *advice, int64_t *ret_now)
{
    const struct plim_finding *n = advice->finding;
    int64_t block = plim_advice_number(advice, PLIM_N_BLOCK_SIZE), length = plim_figure(n, NULL, PLIM_N_MAX_SEQ_LEN);
    int64_t estimate = plim_figure(n, NULL, PLIM_N_ESTIMATED_MAX_LEN), tokens = plim_figure(n, NULL, PLIM_N_KV_TOKENS);
    int64_t needed = plim_figure(n, NULL, PLIM_N_NEEDED_BYTES),
            available = plim_figure(n, NULL, PLIM_N_AVAILABLE_BYTES);
    if (!plim_is_known(block) || block <= 0 || block > 4096)
        block = DEFAULT_BLOCK;
    if (!plim_is_known(length))
        length = plim_advice_number(advice, PLIM_N_MAX_MODEL_LEN);
    *ret_now = length;
    if (plim_is_known(estimate) && estimate > 0)
        return plim_advice_round_down((double)estimate, block);
    if (plim_is_known(tokens) && tokens > 0 && plim_is_known(length) && tokens < length)
        return plim_advice_round_down((double)tokens, block);
    if (plim_is_known(length) && length > 0 && plim_is_known(needed) && needed > 0 && plim_is_known(available) &&
        available > 0 && available < needed) /* two decimals of GiB: what is available may be 5 MiB less */
        return plim_advice_round_down((double)length * ((double)available - 5 * (double)PLIM_MIB) / (double)needed,
                                      block);
    return PLIM_UNKNOWN;
}

static void context_of_vllm(struct plim_advice *advice)
{
    int64_t now, length = length_that_fits(advice, &now);
    const struct plim_finding *n = advice->finding;
    const int64_t needed = plim_figure(n, NULL, PLIM_N_NEEDED_BYTES),
                  available = plim_figure(n, NULL, PLIM_N_AVAILABLE_BYTES);
    const int64_t total = plim_advice_number(advice, PLIM_N_TOTAL_BYTES),
                  share = plim_advice_number(advice, PLIM_N_UTILIZATION);
    const int64_t weights = plim_advice_number(advice, PLIM_N_MODEL_BYTES),
                  tp = plim_advice_number(advice, PLIM_N_TENSOR_PARALLEL);
    const char *model = plim_advice_model(advice);
    struct plim_remedy *remedy;
    if (plim_is_known(length) && length > 0) {
        char from[48] = "";
        if (plim_is_known(now))
            snprintf(from, sizeof from, " instead of %" PRId64, now);
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, "longer conversations and documents are refused",
                                   "a context of %" PRId64 " tokens%s", length, from);
        plim_advise_command(remedy, "vllm serve %s --max-model-len %" PRId64, model, length);
    } else {
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "longer conversations and documents are refused", "a shorter context"),
            "vllm serve %s --max-model-len 8192", model);
    }
    remedy = plim_advise(advice, plim_is_known(needed) ? (int64_t)((1 - fp8_ratio) * (double)needed) : PLIM_UNKNOWN,
                         "a little accuracy", "the cache in 8 bits: half of its bytes");
    plim_advise_command(remedy, "vllm serve %s --kv-cache-dtype fp8", model);
    if (plim_is_known(total) && plim_is_known(share) && share < 940000) {
        remedy = plim_advise_exact(advice, (int64_t)((0.95 - (double)share / 1e6) * (double)total),
                                   "less is left for other programs", "a share of 0.95 of the card instead of %.2f",
                                   (double)share / 1e6);
        plim_advise_command(remedy, "vllm serve %s --gpu-memory-utilization 0.95", model);
    } else if (!plim_is_known(share) || share < 940000) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "less is left for other programs",
                                        "a larger share of the card, if it is free"),
                            "vllm serve %s --gpu-memory-utilization 0.95", model);
    }
    const int64_t n_cards = plim_is_known(tp) && tp > 0 && tp < 64 ? 2 * tp : 2;
    bool can_split = plim_is_known(weights) && plim_is_known(needed) && plim_is_known(available);
    /* half of the weights leave, and half of the cache is needed */
    remedy = plim_advise(advice, can_split ? weights / 2 + needed / 2 : PLIM_UNKNOWN, "cards",
                         "split the model over %" PRId64 " cards", n_cards);
    plim_advise_command(remedy, "vllm serve %s --tensor-parallel-size %" PRId64, model, n_cards);
    plim_advise_useless(advice, "--max-num-seqs 1", "one request of the full length does not fit already");
}

static void context_of_sglang(struct plim_advice *advice)
{
    const char *model = plim_advice_model(advice);
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "requests wait", "fewer requests at once"),
                        "python -m sglang.launch_server --model-path %s --max-running-requests 32", model);
    if (plim_advice_is_stage(advice, "prefill"))
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "long prompts take longer", "read prompts in smaller pieces"),
            "python -m sglang.launch_server --model-path %s --chunked-prefill-size 2048", model);
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "less for working memory", "a larger pool, if the card is not full"),
        "python -m sglang.launch_server --model-path %s --mem-fraction-static 0.9", model);
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "a little accuracy", "the cache in 8 bits: twice as many tokens"),
        "python -m sglang.launch_server --model-path %s --kv-cache-dtype fp8_e5m2", model);
}

void plim_advise_context(struct plim_advice *advice)
{
    if (plim_advice_is(advice, "vllm")) {
        context_of_vllm(advice);
    } else if (plim_advice_is(advice, "sglang")) {
        context_of_sglang(advice);
    } else if (plim_advice_is(advice, "transformers pytorch accelerate bitsandbytes unsloth")) {
        plim_advise(advice, PLIM_UNKNOWN, "long texts are cut", "shorter inputs, or a smaller max_new_tokens");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little accuracy", "the cache in 4 bits"),
                            "model.generate(**inputs, cache_implementation=\"quantized\")");
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "speed", "the cache in RAM"),
                            "model.generate(**inputs, cache_implementation=\"offloaded\")");
        plim_advise_useless(advice, "gradient checkpointing", "nothing is trained here");
    }
}

/* --- the share of the card --- */

/* Hundredths, rounded down. */
static double down(double share) { return floor(100 * share + 1e-9) / 100; }

static void share_at_start(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const int64_t share = plim_advice_number(advice, PLIM_N_UTILIZATION);
    const int64_t total =
        plim_is_known(a->total_bytes) ? a->total_bytes : plim_advice_number(advice, PLIM_N_TOTAL_BYTES);
    const int64_t free_bytes =
        plim_is_known(a->free_bytes) ? a->free_bytes : plim_advice_number(advice, PLIM_N_FREE_BYTES);
    const char *model = plim_advice_model(advice);
    char from[40] = "";
    if (!plim_is_known(total) || total <= 0 || !plim_is_known(free_bytes) || free_bytes > total)
        return;
    double most = down((double)(free_bytes - PLIM_STARTUP_RESERVE_BYTES) / (double)total);
    if (most < 0.05)
        return;
    if (plim_is_known(share))
        snprintf(from, sizeof from, " instead of %.2f", (double)share / 1e6);
    plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "a smaller cache: fewer or shorter requests at once",
                                          "ask for what is free: a share of at most %.2f%s", most, from),
                        "vllm serve %s --gpu-memory-utilization %.2f", model, most);
}

/*
 * The card's size when the log does not have it, from below: the share held the weights and what was left of it. A
 * smaller card needs more of a share for the same bytes, so what is computed with this is enough on the true one.
 */
static int64_t least_total(int64_t model, int64_t available, double share)
{
    static const double most_bytes = (double)((int64_t)1 << 50); /* no card: the figures are not what they seem */
    const bool is_known = plim_is_known(model) && plim_is_known(available) && share > 0;
    const double total = is_known ? ((double)model + (double)available) / share : 0;
    return total > 0 && total < most_bytes ? (int64_t)total : PLIM_UNKNOWN;
}

/* Between what the start needs and what the card has. */
static void share_of_empty_pool(struct plim_advice *advice)
{
    const int64_t available = plim_advice_number(advice, PLIM_N_AVAILABLE_BYTES);
    const int64_t free_bytes = plim_advice_number(advice, PLIM_N_FREE_BYTES);
    const bool is_sglang = plim_advice_is(advice, "sglang");
    const bool is_server = is_sglang || plim_advice_is(advice, "vllm"); /* else a trainer has vLLM inside */
    const int64_t share = plim_advice_number(advice, is_sglang ? PLIM_N_MEM_FRACTION : PLIM_N_UTILIZATION);
    const bool is_said = plim_is_known(share) && share > 0 && share <= 1000000;
    const double now = is_said ? (double)share / 1e6 : is_sglang ? 0 : 0.9;
    const char *model = plim_advice_model(advice);
    int64_t total = plim_advice_number(advice, PLIM_N_TOTAL_BYTES);
    double most = 0.95;
    char from[40] = "";
    struct plim_remedy *remedy = NULL;
    if (is_said)
        snprintf(from, sizeof from, " instead of %.2f", now);
    if (plim_is_known(total) && total > 0 && plim_is_known(free_bytes) && free_bytes <= total)
        most = down((double)(free_bytes - PLIM_STARTUP_RESERVE_BYTES) / (double)total);
    if (most > 0.97)
        most = 0.97;
    if (!plim_is_known(total) && is_said)
        total = least_total(plim_advice_number(advice, PLIM_N_MODEL_BYTES), available, now);
    if (plim_is_known(total) && total > 0 && plim_is_known(available) && now > 0) {
        double missing = (available < 0 ? -(double)available : 0) + (double)PLIM_GIB / 2;
        double least = ceil(100 * (now + missing / (double)total)) / 100;
        if (least <= most)
            remedy =
                plim_advise_exact(advice, PLIM_UNKNOWN, "less is left for other programs",
                                  "a share of the card between %.2f and %.2f%s: %.2f leaves half a GiB for the cache",
                                  least, most, from, least);
    } else if (now < most) {
        remedy = plim_advise(advice, PLIM_UNKNOWN, "less is left for other programs",
                             "a larger share of the card%s, if no other process uses it", from);
    }
    if (is_server)
        plim_advise_command(remedy,
                            is_sglang ? "python -m sglang.launch_server --model-path %s --mem-fraction-static %.2f"
                                      : "vllm serve %s --gpu-memory-utilization %.2f",
                            model, is_sglang && most > 0.9 ? 0.9 : most);
    if (!is_sglang)
        remedy = plim_advise(advice, PLIM_UNKNOWN, "speed of small batches",
                             "no CUDA graphs: their memory goes to the cache");
    if (is_server && !is_sglang)
        plim_advise_command(remedy, "vllm serve %s --enforce-eager", model);
    plim_advise(advice, PLIM_UNKNOWN, "a little quality",
                "a quantised version of the model: a half to a quarter of the bytes");
    remedy = plim_advise(advice, PLIM_UNKNOWN, "cards", "split the model over two cards");
    if (is_server)
        plim_advise_command(remedy,
                            is_sglang ? "python -m sglang.launch_server --model-path %s --tp 2"
                                      : "vllm serve %s --tensor-parallel-size 2",
                            model);
    plim_advise_useless(advice, "a shorter context alone", "the pool is empty before the first token");
    plim_advise_useless(advice, is_sglang ? "a lower --mem-fraction-static" : "a lower share",
                        "it makes the empty pool emptier");
}

/* Nothing of the share is taken yet: the largest step that is allowed has to become smaller, or the weights. */
static void trial_step(struct plim_advice *advice)
{
    const char *model = plim_advice_model(advice);
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "long prompts are read in more pieces",
                                    "a smaller largest step: at most 2048 tokens at once, and 64 requests"),
                        "vllm serve %s --max-num-batched-tokens 2048 --max-num-seqs 64", model);
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "a little quality",
                    "a quantised version of the model (FP8, AWQ, GPTQ): a half to a quarter of the bytes"),
        "vllm serve %s --quantization fp8", model);
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "cards", "split the model over two cards"),
                        "vllm serve %s --tensor-parallel-size 2", model);
    plim_advise_useless(advice, "another --gpu-memory-utilization",
                        "the trial step comes before the share is divided; it failed on the whole card");
}

void plim_advise_share(struct plim_advice *advice)
{
    const int64_t share = plim_advice_number(advice, PLIM_N_UTILIZATION),
                  n_seqs = plim_advice_number(advice, PLIM_N_MAX_NUM_SEQS);
    const char *model = plim_advice_model(advice);
    const double now = plim_is_known(share) && share > 0 && share <= 1000000 ? (double)share / 1e6 : 0.9;
    if (plim_advice_is_stage(advice, "startup")) {
        share_at_start(advice);
        if (advice->answer->advised == PLIM_CAUSE_MISCONFIGURATION_UTILIZATION)
            plim_advise_useless(advice, "a smaller model", "the share is taken whatever the model needs");
        return;
    }
    if (plim_advice_is_stage(advice, "fraction")) {
        share_of_empty_pool(advice);
        return;
    }
    if (plim_advice_is(advice, "sglang")) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "fewer tokens in the pool",
                                        "a smaller static share: the rest is for working memory"),
                            "python -m sglang.launch_server --model-path %s --mem-fraction-static 0.8", model);
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "speed of large batches", "graphs for smaller batches only"),
            "python -m sglang.launch_server --model-path %s --cuda-graph-max-bs 16", model);
        return;
    }
    if (!plim_advice_is(advice, "vllm"))
        return;
    if (advice->answer->advised == PLIM_CAUSE_BATCH_OR_ACTIVATION &&
        plim_is_trial_step(advice->finding, advice->context)) {
        trial_step(advice);
        return;
    }
    if (plim_advice_is_stage(advice, "sampler")) {
        int64_t fewer = plim_is_known(n_seqs) && n_seqs > 1 ? n_seqs / 4 : 64;
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "requests beyond that wait",
                                              "at most %" PRId64 " requests at once", fewer < 1 ? 1 : fewer),
                            "vllm serve %s --max-num-seqs %" PRId64, model, fewer < 1 ? 1 : fewer);
    }
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a smaller cache",
                                    "a little less for the cache: a share of %.2f instead of %.2f", down(now - 0.05),
                                    now),
                        "vllm serve %s --gpu-memory-utilization %.2f", model, down(now - 0.05));
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "speed of small batches", "no CUDA graphs"),
                        "vllm serve %s --enforce-eager", model);
    plim_advise_useless(advice, "a larger share", "it takes from the rest that was too small");
}

/* --- messages with figures of their own --- */

static int64_t whole_gib(int64_t bytes) { return bytes / (int64_t)PLIM_GIB; }

/* A figure of the message itself that can stand for a count or a size. */
static int64_t own_figure(const struct plim_advice *advice, enum plim_number which)
{
    const int64_t value = plim_figure(advice->finding, NULL, which);
    return plim_is_known(value) && value > 0 && value < INT64_C(1) << 50 ? value : PLIM_UNKNOWN;
}

static void figures_of_cpu(struct plim_advice *advice)
{
    const int64_t available = own_figure(advice, PLIM_N_AVAILABLE_BYTES),
                  total = own_figure(advice, PLIM_N_TOTAL_BYTES);
    const char *model = plim_advice_model(advice);
    if (!plim_is_known(available) || available < (int64_t)PLIM_GIB)
        return;
    if (plim_is_known(own_figure(advice, PLIM_N_NEEDED_BYTES)))
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "a smaller cache",
                                              "at most %" PRId64 " GiB for the cache: so much is free on the node",
                                              whole_gib(available)),
                            "vllm serve %s --kv-cache-memory-bytes %" PRId64, model,
                            whole_gib(available) * (int64_t)PLIM_GIB);
    else if (plim_is_known(total) && total >= available && down((double)available / (double)total) >= 0.05)
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "a smaller cache",
                                              "a share of at most %.2f: so much of the node is free",
                                              down((double)available / (double)total)),
                            "vllm serve %s --gpu-memory-utilization %.2f", model,
                            down((double)available / (double)total));
}

void plim_advise_figures(struct plim_advice *advice)
{
    const char *kind = plim_advice_kind(advice), *model = plim_advice_model(advice);
    const int64_t left = own_figure(advice, PLIM_N_TOKENS_AVAILABLE), needed = own_figure(advice, PLIM_N_TOKENS_NEEDED);
    const int64_t available = own_figure(advice, PLIM_N_AVAILABLE_BYTES);
    if (!strcmp(kind, "vllm-mamba-blocks") && plim_is_known(left))
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "requests beyond that wait",
                                              "at most %" PRId64 " requests at once: one block for each", left),
                            "vllm serve %s --max-num-seqs %" PRId64, model, left);
    else if (!strcmp(kind, "sglang-request-long") && plim_is_known(left))
        plim_advise_exact(advice, PLIM_UNKNOWN, "longer texts are cut",
                          "a request of at most %" PRId64 " tokens, prompt and answer together: the pool has no more",
                          left);
    else if (!strcmp(kind, "sglang-host-cache") && plim_is_known(available) && whole_gib(available) > 4)
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "fewer prefixes are kept",
                                              "a cache in RAM of at most %" PRId64 " GB, with 4 for the rest",
                                              whole_gib(available) - 4),
                            "python -m sglang.launch_server --model-path %s --enable-hierarchical-cache --hicache-size "
                            "%" PRId64,
                            model, whole_gib(available) - 4);
    else if (!strcmp(kind, "vllm-pinned-pool") && plim_is_known(available) && whole_gib(available) > 4)
        plim_advise_exact(advice, PLIM_UNKNOWN, "a smaller pool",
                          "host_pool_gib of at most %" PRId64 ", with 4 for the rest", whole_gib(available) - 4);
    else if (!strcmp(kind, "vllm-encoder-cache") && plim_is_known(needed) && needed < (1 << 24))
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "more working memory",
                                              "a cache for the encoder that holds the %" PRId64 " tokens of this item",
                                              needed),
                            "vllm serve %s --max-num-batched-tokens %" PRId64, model, (needed + 1023) / 1024 * 1024);
    else if (!strcmp(kind, "ggml-tensor-too-large") && *advice->finding->words.text[PLIM_W_OPERATION])
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "a little speed", "keep that tensor in RAM"),
                            "llama-server -m %s -ot %s=CPU", model, advice->finding->words.text[PLIM_W_OPERATION]);
    else if (!strcmp(kind, "vllm-cpu-startup"))
        figures_of_cpu(advice);
    else if (plim_advice_is(advice, "ray kubernetes"))
        plim_advise_use(advice);
    else if (advice->answer->advised == PLIM_CAUSE_HOST_RAM && strncmp(kind, "vllm-", 5) != 0)
        plim_advise_limit_of_ram(advice);
}
