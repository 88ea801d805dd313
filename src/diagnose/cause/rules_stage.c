/* SPDX-License-Identifier: MIT */
/* Rules by the stage that the message names: weights, cache, working memory. */
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"

#include <inttypes.h>
#include <string.h>

/* Weights in one buffer that the driver does not give, however empty the card is: smaller weights are no remedy. */
bool plim_rule_buffer_limit(const struct plim_facts *facts, struct plim_guess *guess)
{
    const int64_t tried = facts->answer->tried_bytes;
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_fact_is_over_buffer_limit(facts) || plim_fact_is_stage(facts, "compute") ||
        plim_fact_is_stage(facts, "kv"))
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_DRIVER_OR_CONTEXT, PLIM_CONFIDENCE_HIGH,
                          "One buffer%s was requested%s%s, and that is more than the driver allows for a single "
                          "one, however empty the card is.",
                          plim_fact_is_stage(facts, "weights") ? " of weights" : "",
                          plim_is_known(tried) ? " with " : "", plim_is_known(tried) ? plim_say(&texts, tried) : "");
}

/* A message in general words can say what for: the cache of a context. */
bool plim_rule_kv_words(const struct plim_facts *facts, struct plim_guess *guess)
{
    static const char *const words[] = { "KV cache", "KVCache", "KV Cache", "kv cache",
                                         "kv_cache", "kvcache", "KV-cache" };
    const struct plim_cause_answer *a = facts->answer;
    const int64_t needed = plim_fact_own(facts, PLIM_N_NEEDED_BYTES),
                  available = plim_fact_own(facts, PLIM_N_AVAILABLE_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    bool is = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is = is || plim_fact_in_evidence(facts, words[i]);
    if (!is || !facts->finding->pattern || !facts->finding->pattern->is_general || plim_fact_is_host(facts))
        return false;
    if (plim_is_known(needed) && plim_is_known(available) && needed > available)
        return plim_guess_set(guess, PLIM_CAUSE_KV_CACHE_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
                              "The message says that it was for the cache of the context: %s needed, %s available.",
                              plim_say(&texts, needed), plim_say(&texts, available));
    return plim_guess_set(guess, PLIM_CAUSE_KV_CACHE_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
                          "The message says that it was for the cache of the context%s%s.",
                          plim_is_known(a->tried_bytes) ? ": " : "",
                          plim_is_known(a->tried_bytes) ? plim_say(&texts, a->tried_bytes) : "");
}

bool plim_rule_weights(const struct plim_facts *facts, struct plim_guess *guess)
{
    int64_t tried = facts->answer->tried_bytes, total = plim_fact_any(facts, PLIM_N_TOTAL_BYTES),
            free_bytes = plim_fact_any(facts, PLIM_N_FREE_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_fact_is_stage(facts, "weights") || plim_fact_is_over_buffer_limit(facts))
        return false;
    bool is_in_use =
        plim_is_known(total) && plim_is_known(free_bytes) && total - free_bytes > PLIM_STARTUP_OTHERS_BYTES;
    if (plim_is_known(tried) && is_in_use && tried > free_bytes && tried <= total - (int64_t)PLIM_GIB)
        return plim_guess_set(
            guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
            "The weights need %s in one buffer. The card has %s, but only %s was free: others hold %s.",
            plim_say(&texts, tried), plim_say(&texts, total), plim_say(&texts, free_bytes),
            plim_say(&texts, total - free_bytes));
    if (plim_is_known(tried) && plim_is_known(free_bytes) && free_bytes >= tried + (int64_t)PLIM_GIB)
        return plim_guess_set(guess, PLIM_CAUSE_DRIVER_OR_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
                              "The weights need %s in one buffer, and %s was free: the driver did not give it in one "
                              "piece.",
                              plim_say(&texts, tried), plim_say(&texts, free_bytes));
    if (plim_is_known(tried) && plim_is_known(free_bytes))
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG,
                              plim_is_known(total) ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
                              "The weights for this card need %s in one buffer, and %s was free.",
                              plim_say(&texts, tried), plim_say(&texts, free_bytes));
    if (plim_is_known(tried))
        return plim_guess_set(
            guess, PLIM_CAUSE_MODEL_TOO_BIG, plim_is_known(total) ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
            "It failed while the weights were loaded, with a buffer of %s: the first thing that goes to "
            "the card.",
            plim_say(&texts, tried));
    return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_MEDIUM,
                          "It failed while the weights were loaded, the first thing that goes to the card.");
}

/* The cache does not fit; a server says how long a context would. */
bool plim_rule_kv_stage(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    int64_t needed = plim_fact_own(facts, PLIM_N_NEEDED_BYTES),
            available = plim_fact_own(facts, PLIM_N_AVAILABLE_BYTES);
    int64_t tokens = plim_fact_own(facts, PLIM_N_TOKENS_NEEDED), left = plim_fact_own(facts, PLIM_N_TOKENS_AVAILABLE);
    int64_t length = plim_fact_own(facts, PLIM_N_MAX_SEQ_LEN), kv_tokens = plim_fact_own(facts, PLIM_N_KV_TOKENS);
    struct plim_size_texts texts = { .n = 0 };
    enum plim_cause cause = PLIM_CAUSE_KV_CACHE_CONTEXT;
    if (!plim_fact_is_stage(facts, "kv") && !plim_fact_is_stage(facts, "prefill") &&
        !plim_fact_is_stage(facts, "decode"))
        return false;
    if (plim_is_known(needed) && plim_is_known(available))
        return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH,
                              "One request of the full length needs %s of cache, and %s is left after the weights.",
                              plim_say(&texts, needed), plim_say(&texts, available));
    if (plim_is_known(length) && plim_is_known(kv_tokens))
        return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH,
                              "A request may have %" PRId64 " tokens, and the cache has room for %" PRId64 ".", length,
                              kv_tokens);
    if (plim_is_known(tokens) && plim_is_known(left))
        return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH,
                              "The next step needs room for %" PRId64 " tokens in the pool, and %" PRId64 " are free.",
                              tokens, left);
    int64_t rest = plim_is_known(a->free_bytes) ? PLIM_UNKNOWN : plim_left_by_weights(facts->finding, facts->context);
    const char *what = facts->finding->pattern && !strcmp(facts->finding->pattern->id, "llama-rs")
                           ? "states of the sequences"
                           : "cache for the context";
    const char *was = what[0] == 's' ? "were" : "was";
    if (plim_is_known(a->tried_bytes) && plim_is_known(rest))
        return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH,
                              "The %s %s requested with %s in one piece; the weights had left %s of what was free.",
                              what, was, plim_say(&texts, a->tried_bytes), plim_say(&texts, rest));
    if (plim_is_known(a->tried_bytes))
        return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH,
                              "It failed while the %s %s laid out, with %s in one piece%s%s.", what, was,
                              plim_say(&texts, a->tried_bytes), plim_is_known(a->free_bytes) ? "; free " : "",
                              plim_is_known(a->free_bytes) ? plim_say(&texts, a->free_bytes) : "");
    return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH, "It failed while the %s %s laid out.", what, was);
}

static bool is_mac(const struct plim_facts *facts)
{
    return !strcmp(facts->platform, "mac") ||
           !strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_BACKEND), "Metal");
}

/* The oldest message names no function, and no line before it tells whether the model was loaded. */
static bool is_silent_about_step(const struct plim_facts *facts)
{
    static const enum plim_number of_load[] = { PLIM_N_MODEL_BYTES, PLIM_N_KV_BYTES, PLIM_N_COMPUTE_BYTES,
                                                PLIM_N_N_CTX,       PLIM_N_N_LAYERS, PLIM_N_TRIED_BYTES };
    if (!facts->finding->pattern || strcmp(facts->finding->pattern->id, "llama-pool-old") != 0)
        return false;
    for (size_t i = 0; i < sizeof of_load / sizeof *of_load; i++)
        if (plim_is_known(plim_fact_any(facts, of_load[i])))
            return false;
    return !*plim_figure_word(facts->finding, facts->context, PLIM_W_PHASE);
}

/* The pool of llama.cpp grows while it computes. Whether it had answered before is not in the line. */
static bool pool_guess(const struct plim_facts *facts, struct plim_guess *guess)
{
    const bool was_serving = !strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_PHASE), "generating");
    const bool is_pool = plim_fact_in_evidence(facts, "in function alloc") ||
                         plim_fact_in_evidence(facts, "cuMemCreate") || plim_fact_in_evidence(facts, "cuMemSetAccess");
    if (!is_pool && !was_serving && is_silent_about_step(facts))
        return false;
    if (!is_pool && facts->finding->framework && !strcmp(facts->finding->framework, "ollama"))
        return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_LOW,
                              "The card had no room for something that the model's runner asked for. The line does not "
                              "say for what; the lines before it in the server's log would.");
    return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
                          "%s needed more temporary memory than was left on the card: the pool for it grows while the "
                          "model computes, after weights and cache were laid out.",
                          was_serving ? "It was answering; a request" : "A step of the model");
}

/* Working memory, before the first token (compute) or while it runs (pool). */
bool plim_rule_compute(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    int64_t kv = plim_fact_any(facts, PLIM_N_KV_BYTES), model = plim_fact_any(facts, PLIM_N_MODEL_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    const bool is_tried = plim_is_known(a->tried_bytes);
    const char *tried = is_tried ? plim_say(&texts, a->tried_bytes) : "";
    if (plim_fact_is_stage(facts, "pool"))
        return pool_guess(facts, guess);
    if (!plim_fact_is_stage(facts, "compute"))
        return false;
    if (!is_tried && is_mac(facts))
        return plim_guess_set(
            guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
            "The GPU stopped while it computed: what model, cache and working memory need together is "
            "more than it may use of this Mac's RAM.");
    if (!plim_fact_is_llama(facts))
        return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
                              "The working memory of one step did not fit%s%s.", is_tried ? ": " : "", tried);
    if (is_tried && plim_fact_is_over_buffer_limit(facts))
        return plim_guess_set(
            guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
            "One buffer of working memory was to have %s, and that is more than the driver allows for "
            "a single one, however empty the card is.",
            tried);
    int64_t large = (plim_is_known(kv) ? kv : 0) + (plim_is_known(model) ? model : 0);
    if (is_tried && large > 0 && a->tried_bytes / 4 > large)
        return plim_guess_set(
            guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
            "The requested working memory is %s, over four times weights and cache together (%s). That "
            "happens with several copies for pipeline parallelism.",
            tried, plim_say(&texts, large));
    if (is_tried)
        return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
                              "The working memory for one batch, %s, did not fit; it is the last thing that is laid "
                              "out, after weights and cache.",
                              tried);
    return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
                          "The working memory for one batch did not fit; it is the last thing that is laid out, after "
                          "weights and cache.");
}
