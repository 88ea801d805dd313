/* SPDX-License-Identifier: MIT */
/* Rules for servers that reserve a share of the card: vLLM, SGLang. */
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* vLLM: so much of the card is wanted, so much is free. What is in use before it starts belongs to others. */
bool plim_rule_startup(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    int64_t desired = plim_fact_own(facts, PLIM_N_DESIRED_BYTES),
            utilization = plim_fact_any(facts, PLIM_N_UTILIZATION);
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_fact_is_stage(facts, "startup"))
        return false;
    bool is_account = plim_is_known(a->total_bytes) && plim_is_known(a->free_bytes) && a->free_bytes <= a->total_bytes;
    if (!is_account && facts->finding->pattern->cause != PLIM_CAUSE_UNKNOWN)
        return false;
    if (!is_account)
        return plim_guess_set(guess, PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, PLIM_CONFIDENCE_LOW,
                              "Less memory was free at the start than the share of the card that was requested.");
    if (!plim_is_known(desired) && plim_is_known(utilization))
        desired = (int64_t)((double)utilization / 1e6 * (double)a->total_bytes);
    int64_t in_use = a->total_bytes - a->free_bytes;
    /* A driver, a context, WSL's own part: little of a card, and the share that is wanted leaves less than that. */
    const bool is_greedy = plim_is_known(desired) && a->total_bytes - desired < in_use &&
                           (double)in_use < PLIM_OTHERS_SHARE * (double)a->total_bytes &&
                           (double)desired > PLIM_GREEDY_SHARE * (double)a->total_bytes;
    bool is_by_others = in_use > PLIM_STARTUP_OTHERS_BYTES && !is_greedy;
    return plim_guess_set(
        guess, is_by_others ? PLIM_CAUSE_OTHER_PROCESS : PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, PLIM_CONFIDENCE_HIGH,
        "Wants %s of %s, and %s is free: %s is in use %s", plim_say(&texts, desired), plim_say(&texts, a->total_bytes),
        plim_say(&texts, a->free_bytes), plim_say(&texts, in_use),
        is_by_others ? "by others before it starts." : "before it starts, as much as a context or a desktop takes.");
}

/* "1 - utilization" of this card could still be given to it. */
static bool is_beyond_card(const struct plim_facts *facts, int64_t missing, int64_t *ret_total)
{
    const int64_t total = plim_fact_any(facts, PLIM_N_TOTAL_BYTES), share = plim_fact_any(facts, PLIM_N_UTILIZATION);
    const double used = plim_is_known(share) && share > 0 && share <= 1000000 ? (double)share / 1e6 : 0.9;
    *ret_total = total;
    return plim_is_known(total) && total > 0 &&
           (double)missing > (1 - used) * (double)total - (double)PLIM_STARTUP_RESERVE_BYTES;
}

/* After the weights nothing of the share is left for the cache: a larger share, or a smaller model. */
bool plim_rule_fraction(const struct plim_facts *facts, struct plim_guess *guess)
{
    const int64_t available = plim_fact_any(facts, PLIM_N_AVAILABLE_BYTES),
                  model = plim_fact_any(facts, PLIM_N_MODEL_BYTES);
    int64_t total = PLIM_UNKNOWN;
    struct plim_size_texts texts = { .n = 0 };
    char parts[200] = "";
    if (!plim_fact_is_stage(facts, "fraction"))
        return false;
    if (plim_is_known(model) && plim_is_known(available) && available < 0)
        snprintf(parts, sizeof parts,
                 "The weights took %s; with what the first step needs, its share is %s too small. ",
                 plim_say(&texts, model), plim_say(&texts, -available));
    else if (plim_is_known(available) && available < 0)
        snprintf(parts, sizeof parts, "Weights and first step need %s more than its share. ",
                 plim_say(&texts, -available));
    else if (plim_is_known(model) && plim_is_known(available))
        snprintf(parts, sizeof parts, "The weights took %s, and %s is left of its share for the cache. ",
                 plim_say(&texts, model), plim_say(&texts, available));
    else if (plim_is_known(available))
        snprintf(parts, sizeof parts, "%s is left of its share for the cache. ", plim_say(&texts, available));
    else if (plim_is_known(model))
        snprintf(parts, sizeof parts, "The weights took %s; nothing is left of its share for the cache. ",
                 plim_say(&texts, model));
    if (plim_is_known(available) && available < 0 && is_beyond_card(facts, -available, &total))
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_HIGH,
                              "%sEven the whole card of %s would not be enough.", parts, plim_say(&texts, total));
    if (plim_is_known(model) && plim_is_known(plim_fact_any(facts, PLIM_N_TOTAL_BYTES)) &&
        (double)model > 0.95 * (double)plim_fact_any(facts, PLIM_N_TOTAL_BYTES))
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_HIGH,
                              "%sThe card has %s: the weights alone fill it.", parts,
                              plim_say(&texts, plim_fact_any(facts, PLIM_N_TOTAL_BYTES)));
    return plim_guess_set(guess, PLIM_CAUSE_MISCONFIGURATION_UTILIZATION,
                          plim_is_known(available) ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM, "%s%s", parts,
                          plim_is_known(available) && available < 0
                              ? "So there is no room for the cache."
                              : "The share of the card it may use is smaller than what the model needs to start.");
}

/* Graphs and warm-up come after the pool that fills the share. */
bool plim_rule_graphs(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    int64_t n_seqs = plim_fact_own(facts, PLIM_N_MAX_NUM_SEQS);
    struct plim_size_texts texts = { .n = 0 };
    char tried[64] = "";
    if (plim_is_known(a->tried_bytes) && plim_is_known(a->free_bytes))
        snprintf(tried, sizeof tried, "Tried %s, free %s. ", plim_say(&texts, a->tried_bytes),
                 plim_say(&texts, a->free_bytes));
    if (plim_fact_is_stage(facts, "sampler")) {
        char many[48] = "the largest number of";
        if (plim_is_known(n_seqs))
            snprintf(many, sizeof many, "%" PRId64, n_seqs);
        return plim_guess_set(
            guess, PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, PLIM_CONFIDENCE_HIGH,
            "The cache was laid out first and took the whole share; the trial step with %s requests found "
            "nothing left for its logits.",
            many);
    }
    bool is_server = !strcmp(facts->finding->framework ? facts->finding->framework : "", "vllm") ||
                     !strcmp(facts->finding->framework ? facts->finding->framework : "", "sglang");
    const bool is_capturing =
        is_server && !strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_PHASE), "capturing");
    if (!plim_fact_is_stage(facts, "graph") && !is_capturing &&
        !(is_server && (plim_trace_has(facts->context, PLIM_TRACE_CAPTURE) || facts->trace == PLIM_TRACE_POOL)))
        return false;
    if (facts->trace == PLIM_TRACE_POOL && !plim_fact_is_stage(facts, "graph") && !is_capturing)
        return plim_guess_set(
            guess, PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, PLIM_CONFIDENCE_MEDIUM,
            "%sIt failed while the cache was laid out: its share of the card is larger than what is there.", tried);
    return plim_guess_set(
        guess, PLIM_CAUSE_MISCONFIGURATION_UTILIZATION,
        plim_fact_is_stage(facts, "graph") ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
        "%sIt failed while CUDA graphs were captured, after the cache had taken its share of the card.", tried);
}

/* vLLM laid out its cache in what its share left. A step that finds too little then is short because of the share. */
bool plim_rule_share(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    const int64_t share = plim_fact_any(facts, PLIM_N_UTILIZATION);
    const bool has_cache = plim_is_known(plim_fact_any(facts, PLIM_N_KV_TOKENS)) ||
                           plim_is_known(plim_fact_any(facts, PLIM_N_AVAILABLE_BYTES));
    struct plim_size_texts texts = { .n = 0 };
    /* a message that is cut says only what is free; without a word of others the rest is its own */
    const int64_t own = plim_is_known(a->own_bytes) || a->is_others_listed || !plim_is_known(a->total_bytes) ||
                                !plim_is_known(a->free_bytes)
                            ? a->own_bytes
                            : a->total_bytes - a->free_bytes;
    if (!facts->finding->framework || strcmp(facts->finding->framework, "vllm") != 0 || !has_cache ||
        !plim_is_known(share) || share <= 0 || share > PLIM_SHARE_ONE || !plim_is_known(a->total_bytes) ||
        !plim_is_known(own) || !plim_is_known(a->shortfall_bytes) || plim_is_trial_step(facts->finding, facts->context))
        return false;
    const double wanted = (double)share / PLIM_SHARE_ONE * (double)a->total_bytes;
    const bool has_others = plim_is_known(a->others_bytes) && a->others_bytes > PLIM_STARTUP_OTHERS_BYTES;
    if ((double)own < PLIM_SHARE_TAKEN * wanted || has_others)
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, PLIM_CONFIDENCE_MEDIUM,
                          "vLLM has %s of %s, which is its share of %.2f; a step tried %s more, and %s is free beside "
                          "the share.",
                          plim_say(&texts, own), plim_say(&texts, a->total_bytes), (double)share / PLIM_SHARE_ONE,
                          plim_say(&texts, a->tried_bytes), plim_say(&texts, a->free_bytes));
}
