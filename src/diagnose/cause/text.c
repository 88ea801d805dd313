/* SPDX-License-Identifier: MIT */
/* Rules that the message decides: what it is about, at which stage, and the figures that belong to that stage. */
#include "diagnose/cause/rules.h"
#include "diagnose/scan/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t own(const struct plim_facts *facts, enum plim_number which)
{
    return plim_figure(facts->finding, NULL, which);
}

static int64_t any(const struct plim_facts *facts, enum plim_number which)
{
    return plim_figure(facts->finding, facts->context, which);
}

static bool is_stage(const struct plim_facts *facts, const char *name) { return !strcmp(facts->stage, name); }

static bool is_role(const struct plim_facts *facts, enum plim_pattern_role role)
{
    return facts->finding->pattern && facts->finding->pattern->role == role;
}

bool plim_rule_not_memory(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_pattern *pattern = facts->finding->pattern;
    const char *note = pattern ? pattern->note : "";
    if (is_role(facts, PLIM_PATTERN_ROLE_RECOVERED) || facts->finding->is_recovered)
        return plim_guess_set(guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_HIGH, "%s",
                              is_role(facts, PLIM_PATTERN_ROLE_RECOVERED) && *note
                                  ? note
                                  : "Memory was short, and the program went on "
                                    "without it. This is no failure.");
    if (is_role(facts, PLIM_PATTERN_ROLE_FAULT) || is_role(facts, PLIM_PATTERN_ROLE_LOOK_ALIKE) ||
        (pattern && pattern->cause == PLIM_CAUSE_NOT_OOM))
        return plim_guess_set(guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_HIGH, "%s",
                              *note ? note : "The message is about something else than memory.");
    return false;
}

/* "It failed, look above": no cause can be read from it. */
bool plim_rule_hearsay(const struct plim_facts *facts, struct plim_guess *guess)
{
    if ((!is_role(facts, PLIM_PATTERN_ROLE_WRAPPER) && !is_role(facts, PLIM_PATTERN_ROLE_CONSEQUENCE)) ||
        facts->finding->pattern->cause != PLIM_CAUSE_UNKNOWN || facts->finding->is_recovered)
        return false;
    guess->rule = "hearsay";
    plim_guess_set(
        guess, PLIM_CAUSE_UNKNOWN, PLIM_CONFIDENCE_NONE,
        "This line only says that something failed. Why is in lines before it, which this log does not have.");
    return true;
}

/* llama.cpp and TensorFlow name the buffer or the allocator: one of the CPU is RAM, whatever it was for. */
bool plim_rule_ram_buffer(const struct plim_facts *facts, struct plim_guess *guess)
{
    const char *buffer = facts->finding->words.text[PLIM_W_BUFFER];
    const char *allocator = facts->finding->words.text[PLIM_W_ALLOCATOR];
    struct plim_size_texts texts = { .n = 0 };
    if (strncmp(buffer, "CPU", 3) != 0 && !strstr(allocator, "cpu"))
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
                          "A buffer of the CPU could not be made%s%s: this is RAM, not the card.",
                          plim_is_known(facts->answer->tried_bytes) ? ", " : "",
                          plim_is_known(facts->answer->tried_bytes) ? plim_say(&texts, facts->answer->tried_bytes)
                                                                    : "");
}

/* --- servers --- */

/* vLLM: so much of the card is wanted, so much is free. What is in use before it starts belongs to others. */
bool plim_rule_startup(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    int64_t desired = own(facts, PLIM_N_DESIRED_BYTES), utilization = any(facts, PLIM_N_UTILIZATION);
    struct plim_size_texts texts = { .n = 0 };
    if (!is_stage(facts, "startup"))
        return false;
    bool is_account = plim_is_known(a->total_bytes) && plim_is_known(a->free_bytes) && a->free_bytes <= a->total_bytes;
    if (!is_account && facts->finding->pattern->cause != PLIM_CAUSE_UNKNOWN)
        return false;
    if (!is_account)
        return plim_guess_set(guess, PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, PLIM_CONFIDENCE_LOW,
                              "Less memory was free at the start than the share of the card that was asked for.");
    if (!plim_is_known(desired) && plim_is_known(utilization))
        desired = (int64_t)((double)utilization / 1e6 * (double)a->total_bytes);
    int64_t in_use = a->total_bytes - a->free_bytes;
    bool is_by_others = in_use > PLIM_STARTUP_OTHERS_BYTES;
    return plim_guess_set(
        guess, is_by_others ? PLIM_CAUSE_OTHER_PROCESS : PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, PLIM_CONFIDENCE_HIGH,
        "Wants %s of %s, and %s is free: %s is in use %s", plim_say(&texts, desired), plim_say(&texts, a->total_bytes),
        plim_say(&texts, a->free_bytes), plim_say(&texts, in_use),
        is_by_others ? "by others before it starts." : "before it starts, as much as a context or a desktop takes.");
}

/* "1 - utilization" of this card could still be given to it. */
static bool is_beyond_card(const struct plim_facts *facts, int64_t missing, int64_t *ret_total)
{
    const int64_t total = any(facts, PLIM_N_TOTAL_BYTES), share = any(facts, PLIM_N_UTILIZATION);
    const double used = plim_is_known(share) && share > 0 && share <= 1000000 ? (double)share / 1e6 : 0.9;
    *ret_total = total;
    return plim_is_known(total) && total > 0 &&
           (double)missing > (1 - used) * (double)total - (double)PLIM_STARTUP_RESERVE_BYTES;
}

/* After the weights nothing of the share is left for the cache: a larger share, or a smaller model. */
bool plim_rule_fraction(const struct plim_facts *facts, struct plim_guess *guess)
{
    const int64_t available = any(facts, PLIM_N_AVAILABLE_BYTES), model = any(facts, PLIM_N_MODEL_BYTES);
    int64_t total = PLIM_UNKNOWN;
    struct plim_size_texts texts = { .n = 0 };
    char parts[200] = "";
    if (!is_stage(facts, "fraction"))
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
    if (plim_is_known(model) && plim_is_known(any(facts, PLIM_N_TOTAL_BYTES)) &&
        (double)model > 0.95 * (double)any(facts, PLIM_N_TOTAL_BYTES))
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_HIGH,
                              "%sThe card has %s: the weights alone fill it.", parts,
                              plim_say(&texts, any(facts, PLIM_N_TOTAL_BYTES)));
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
    int64_t n_seqs = own(facts, PLIM_N_MAX_NUM_SEQS);
    struct plim_size_texts texts = { .n = 0 };
    char tried[64] = "";
    if (plim_is_known(a->tried_bytes) && plim_is_known(a->free_bytes))
        snprintf(tried, sizeof tried, "Tried %s, free %s. ", plim_say(&texts, a->tried_bytes),
                 plim_say(&texts, a->free_bytes));
    if (is_stage(facts, "sampler")) {
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
    if (!is_stage(facts, "graph") &&
        !(is_server && (facts->trace == PLIM_TRACE_CAPTURE || facts->trace == PLIM_TRACE_POOL)))
        return false;
    if (facts->trace == PLIM_TRACE_POOL && !is_stage(facts, "graph"))
        return plim_guess_set(
            guess, PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, PLIM_CONFIDENCE_MEDIUM,
            "%sIt failed while the cache was laid out: its share of the card is larger than what is there.", tried);
    return plim_guess_set(
        guess, PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, PLIM_CONFIDENCE_HIGH,
        "%sIt failed while CUDA graphs were captured, after the cache had taken its share of the card.", tried);
}

/* --- llama.cpp: the stage is the diagnosis --- */

bool plim_rule_weights(const struct plim_facts *facts, struct plim_guess *guess)
{
    int64_t tried = facts->answer->tried_bytes, total = any(facts, PLIM_N_TOTAL_BYTES),
            free_bytes = any(facts, PLIM_N_FREE_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    if (!is_stage(facts, "weights"))
        return false;
    bool is_in_use =
        plim_is_known(total) && plim_is_known(free_bytes) && total - free_bytes > PLIM_STARTUP_OTHERS_BYTES;
    if (plim_is_known(tried) && is_in_use && tried > free_bytes && tried <= total - (int64_t)PLIM_GIB)
        return plim_guess_set(
            guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
            "The weights need %s in one buffer. The card has %s, but only %s was free: others hold %s.",
            plim_say(&texts, tried), plim_say(&texts, total), plim_say(&texts, free_bytes),
            plim_say(&texts, total - free_bytes));
    if (plim_is_known(tried) && plim_is_known(free_bytes))
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_HIGH,
                              "The weights for this card need %s in one buffer, and %s was free.",
                              plim_say(&texts, tried), plim_say(&texts, free_bytes));
    if (plim_is_known(tried))
        return plim_guess_set(
            guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_HIGH,
            "It failed while the weights were loaded, with a buffer of %s: the first thing that goes to "
            "the card.",
            plim_say(&texts, tried));
    return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_HIGH,
                          "It failed while the weights were loaded, the first thing that goes to the card.");
}

/* The cache does not fit; a server says how long a context would. */
bool plim_rule_kv_stage(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    int64_t needed = own(facts, PLIM_N_NEEDED_BYTES), available = own(facts, PLIM_N_AVAILABLE_BYTES);
    int64_t tokens = own(facts, PLIM_N_TOKENS_NEEDED), left = own(facts, PLIM_N_TOKENS_AVAILABLE);
    int64_t length = own(facts, PLIM_N_MAX_SEQ_LEN), kv_tokens = own(facts, PLIM_N_KV_TOKENS);
    struct plim_size_texts texts = { .n = 0 };
    enum plim_cause cause = PLIM_CAUSE_KV_CACHE_CONTEXT;
    if (!is_stage(facts, "kv") && !is_stage(facts, "prefill") && !is_stage(facts, "decode"))
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
                              "The %s %s asked for with %s in one piece; the weights had left %s of what was free.",
                              what, was, plim_say(&texts, a->tried_bytes), plim_say(&texts, rest));
    if (plim_is_known(a->tried_bytes))
        return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH,
                              "It failed while the %s %s laid out, with %s in one piece%s%s.", what, was,
                              plim_say(&texts, a->tried_bytes), plim_is_known(a->free_bytes) ? "; free " : "",
                              plim_is_known(a->free_bytes) ? plim_say(&texts, a->free_bytes) : "");
    return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH, "It failed while the %s %s laid out.", what, was);
}

static bool is_in_evidence(const struct plim_facts *facts, const char *text)
{
    bool is = false;
    for (uint32_t i = 0; i < facts->finding->n_evidence; i++)
        is = is || strstr(facts->finding->evidence[i].text, text) != NULL;
    return is;
}

/* llama.cpp and what is built on it lay out weights, cache and working memory in this order. */
static bool is_llama(const struct plim_facts *facts)
{
    static const char *const names[] = { "llama.cpp", "ollama", "koboldcpp", "lmstudio" };
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is = is || (facts->finding->framework && !strcmp(facts->finding->framework, names[i]));
    return is;
}

static bool is_mac(const struct plim_facts *facts)
{
    return !strcmp(facts->platform, "mac") ||
           !strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_BACKEND), "Metal");
}

/* The pool of llama.cpp grows while it computes. Whether it had answered before is not in the line. */
static bool pool_guess(const struct plim_facts *facts, struct plim_guess *guess)
{
    const bool was_serving = !strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_PHASE), "generating");
    const bool is_pool = is_in_evidence(facts, "in function alloc") || is_in_evidence(facts, "cuMemCreate") ||
                         is_in_evidence(facts, "cuMemSetAccess");
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
    int64_t kv = any(facts, PLIM_N_KV_BYTES), model = any(facts, PLIM_N_MODEL_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    const bool is_tried = plim_is_known(a->tried_bytes);
    const char *tried = is_tried ? plim_say(&texts, a->tried_bytes) : "";
    if (is_stage(facts, "pool"))
        return pool_guess(facts, guess);
    if (!is_stage(facts, "compute"))
        return false;
    if (!is_tried && is_mac(facts))
        return plim_guess_set(
            guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
            "The GPU stopped while it computed: what model, cache and working memory need together is "
            "more than it may use of this Mac's RAM.");
    if (!is_llama(facts))
        return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
                              "The working memory of one step did not fit%s%s.", is_tried ? ": " : "", tried);
    if (is_tried && strstr(facts->finding->words.text[PLIM_W_OPERATION], "exceeds device memory"))
        return plim_guess_set(
            guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
            "One buffer of working memory was to have %s, and that is more than the driver allows for "
            "a single one, however empty the card is.",
            tried);
    int64_t large = (plim_is_known(kv) ? kv : 0) + (plim_is_known(model) ? model : 0);
    if (is_tried && large > 0 && a->tried_bytes / 4 > large)
        return plim_guess_set(
            guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
            "The working memory asked for is %s, over four times weights and cache together (%s). That "
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

/* --- the host --- */

static const char *limit_words(const struct plim_facts *facts)
{
    const char *constraint = facts->finding->words.text[PLIM_W_CONSTRAINT];
    if (strstr(constraint, "MEMCG"))
        return " A limit of its control group was hit, not the RAM of the machine.";
    if (strstr(constraint, "CPUSET") || strstr(constraint, "MEMORY_POLICY"))
        return " The memory of the nodes it is tied to was full; others may have some.";
    return "";
}

static const char says_it_itself[] = "The message itself says so; it has no more figures than that.";

/* What a message says that prints no figures: by the beginning of its pattern's id. */
static const char *said(const struct plim_facts *facts)
{
    static const char *const rows[][2] = {
        { "docker-oomkilled", "Docker notes that the container ran out of memory: of its limit, or of the machine." },
        { "kubernetes-evict", "The node was short of RAM, and Kubernetes put this pod out to save it." },
        { "kubernetes-system", "The node itself ran out of RAM, not a limit of one container." },
        { "kubernetes-", "A container used more RAM than its limit. The limit is not in this log." },
        { "slurm-", "The job used more RAM than it had asked for. How much that was is not in this log." },
        { "job-memory", "The job used more RAM than it had asked for." },
        { "python-memory", "Python asked for RAM and did not get it. How much is not in the message." },
        { "cpp-bad-alloc", "A C++ program asked for RAM and did not get it. How much is not in the message." },
        { "host-errno", "A call of the system was refused for want of RAM, or of a limit on it." },
        { "llama-mmap", "The model's file could not be put into memory." },
        { "systemd-oomd", "systemd-oomd ended it because the RAM was under pressure, before the kernel would have." },
        { "systemd-", "The kernel ended a process of this unit for want of RAM: of its limit, or of the machine." },
        { "ray-", "Ray ended the task because the RAM of the node was nearly full." },
        { "kernel-overcommit", "The kernel would not promise so much memory (vm.overcommit_memory)." },
        { "kernel-", "The kernel had no RAM left and began to end processes." },
        { "onnxruntime-host", "The allocator of ONNX Runtime for the CPU got no RAM." },
        { "paddle-host", "Paddle got no RAM for pinned or ordinary memory of the computer." },
    };
    const char *id = facts->finding->pattern ? facts->finding->pattern->id : "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(id, rows[i][0], strlen(rows[i][0])))
            return rows[i][1];
    return says_it_itself;
}

/* Who ended it. */
static const char *killer(const struct plim_facts *facts)
{
    const char *id = facts->finding->pattern ? facts->finding->pattern->id : "";
    return !strncmp(id, "earlyoom", 8)           ? "earlyoom"
           : !strncmp(id, "systemd-oomd", 12)    ? "systemd-oomd"
           : !strncmp(id, "kubernetes-evic", 15) ? "Kubernetes"
           : !strncmp(id, "ray-", 4)             ? "Ray"
                                                 : "Linux";
}

static bool host_guess(const struct plim_facts *facts, struct plim_guess *guess)
{
    int64_t rss = own(facts, PLIM_N_RSS_BYTES), limit = own(facts, PLIM_N_LIMIT_BYTES), pid = own(facts, PLIM_N_PID);
    int64_t needed = own(facts, PLIM_N_NEEDED_BYTES), available = own(facts, PLIM_N_AVAILABLE_BYTES);
    int64_t tried = facts->answer->tried_bytes;
    struct plim_size_texts texts = { .n = 0 };
    char who[160] = "the process";
    const char *name = facts->finding->words.text[PLIM_W_PROCESS];
    if (plim_is_known(pid))
        snprintf(who, sizeof who, "process %" PRId64 "%s%s%s", pid, *name ? " (" : "", name, *name ? ")" : "");
    else if (*name)
        snprintf(who, sizeof who, "%s", name);
    if (plim_is_known(rss) && plim_is_known(limit))
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
                              "%s ended %s, which held %s of RAM; its limit was %s.", killer(facts), who,
                              plim_say(&texts, rss), plim_say(&texts, limit));
    if (plim_is_known(rss))
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH, "%s ended %s, which held %s of RAM.%s",
                              killer(facts), who, plim_say(&texts, rss), limit_words(facts));
    const bool is_beside = is_llama(facts);
    if (!plim_is_known(needed))
        needed = own(facts, PLIM_N_DESIRED_BYTES);
    if (plim_is_known(needed) && plim_is_known(available))
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
                              "It wants %s of RAM%s, and %s is available.", plim_say(&texts, needed),
                              is_beside ? " beside what goes to the card" : "", plim_say(&texts, available));
    if (plim_is_known(needed) && plim_is_known(facts->answer->total_bytes))
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
                              "It wants %s of RAM, and the machine has %s in all.", plim_say(&texts, needed),
                              plim_say(&texts, facts->answer->total_bytes));
    if (plim_is_known(tried))
        return plim_guess_set(
            guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
            "A piece of %s of RAM was tried and refused. This is the computer's memory, not the card's.",
            plim_say(&texts, tried));
    if (plim_is_known(limit))
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH, "Its limit of RAM, %s, was reached.",
                              plim_say(&texts, limit));
    return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH, "%s%s", said(facts), limit_words(facts));
}

static bool is_host(const struct plim_facts *facts)
{
    return is_stage(facts, "host") || is_stage(facts, "dataloader") ||
           (facts->finding->pattern && facts->finding->pattern->cause == PLIM_CAUSE_HOST_RAM);
}

/* Signal 9 without a word about memory: nearly always RAM, but somebody else may have sent it. */
bool plim_rule_killed(const struct plim_facts *facts, struct plim_guess *guess)
{
    int64_t status = own(facts, PLIM_N_EXIT_STATUS), signal = own(facts, PLIM_N_SIGNAL);
    const char *detail = facts->finding->words.text[PLIM_W_DETAIL];
    bool is_nine = signal == 9 || status == 137 || status == -9;
    if (!is_nine || !is_host(facts) || plim_is_known(own(facts, PLIM_N_RSS_BYTES)) ||
        plim_is_known(own(facts, PLIM_N_LIMIT_BYTES)) || strstr(detail, "OOM") ||
        strstr(facts->finding->pattern->id, "oom"))
        return false;
    return plim_guess_set(
        guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_MEDIUM,
        "%s is signal 9: the program was ended from outside and could not say why. On Linux that is nearly "
        "always want of RAM; a full GPU never does it.",
        status == 137 ? "Exit status 137" : "This");
}

/* --- the rest: the pattern names its cause, or its stage does --- */

static bool named_guess(const struct plim_facts *facts, enum plim_cause cause, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    char tried[96] = "";
    if (plim_is_known(a->tried_bytes) && plim_is_known(a->free_bytes))
        snprintf(tried, sizeof tried, "Tried %s, free %s. ", plim_say(&texts, a->tried_bytes),
                 plim_say(&texts, a->free_bytes));
    else if (plim_is_known(a->tried_bytes))
        snprintf(tried, sizeof tried, "Tried %s. ", plim_say(&texts, a->tried_bytes));
    static const char *const words[PLIM_CAUSE_MAX_] = {
        [PLIM_CAUSE_SHM] = "Processes hand data to each other through /dev/shm, and that was full.",
        [PLIM_CAUSE_ALLOCATOR_LIMIT] = "A limit that was set for this program was hit, not the end of the card.",
        [PLIM_CAUSE_DRIVER_OR_CONTEXT] = "The driver or the system refused, not the memory of the card.",
        [PLIM_CAUSE_OPTIMIZER_STATES] = "It failed where the optimizer's states are made.",
    };
    /* What these say is more than their cause. */
    static const char *const exact[][2] = {
        { "sglang-unbalanced",
          "The cards of this server do not have the same amount free: another process is on one." },
        { "vllm-share-range", "The share is a part of one, and a number of one or more was given." },
        { "ollama-runner-exited", "The runner ended while the model was loaded, and its reason is not in this line." },
        { "vllm-profiling", "More was free after the trial step than before it: another program let go of memory "
                            "meanwhile, so vLLM cannot tell what its own step needs." },
        { "pytorch-oom-absurd", "More was asked for than any machine has. That is a wrong shape or a number that "
                                "overflowed, not a large batch." },
        { "accelerate-batch", "The batch was halved after each failure until nothing was left to halve: what does not "
                              "fit is there with a batch of 1 too, or the failures were of another kind." },
        { "metal-resources", "The number of buffers is limited, not their size: too many small ones are alive." },
        { "tensorflow-context", "The driver had no room for TensorFlow's context, some hundred MiB: the card was full "
                                "before it began." },
        { "windows-commit", "Windows promises no more than RAM and page file together, and that was used up." },
    };
    const int64_t left = own(facts, PLIM_N_AVAILABLE_BYTES);
    if (cause == PLIM_CAUSE_ALLOCATOR_LIMIT && plim_is_known(a->tried_bytes) && plim_is_known(left) && left >= 0 &&
        left < a->tried_bytes)
        return plim_guess_set(
            guess, cause, PLIM_CONFIDENCE_HIGH,
            "Tried %s, and %s was left of its limit. That limit was set; it is not the end of the card.",
            plim_say(&texts, a->tried_bytes), plim_say(&texts, left));
    if (!strcmp(facts->finding->pattern->id, "metal-buffer") && plim_is_known(a->tried_bytes) &&
        plim_is_known(a->allowed_bytes))
        return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH,
                              "One buffer of %s was tried, and Metal allows %s for one, whatever is free.",
                              plim_say(&texts, a->tried_bytes), plim_say(&texts, a->allowed_bytes));
    const char *said_words = words[cause] ? words[cause] : says_it_itself, *id = facts->finding->pattern->id;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (!strcmp(id, exact[i][0]))
            said_words = exact[i][1];
    return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH, "%s%s", tried, said_words);
}

bool plim_rule_text(const struct plim_facts *facts, struct plim_guess *guess)
{
    enum plim_cause cause = facts->finding->pattern ? facts->finding->pattern->cause : PLIM_CAUSE_UNKNOWN;
    if (cause == PLIM_CAUSE_UNKNOWN)
        return false;
    if (cause == PLIM_CAUSE_HOST_RAM)
        return host_guess(facts, guess);
    struct plim_guess exact = { 0 };
    if (!strcmp(facts->finding->pattern->id, "accelerate-batch"))
        return named_guess(facts, cause, guess);
    plim_rule_fn *const stages[] = { plim_rule_weights, plim_rule_kv_stage, plim_rule_compute,   plim_rule_graphs,
                                     plim_rule_cap,     plim_rule_allowed,  plim_rule_too_large, plim_rule_others };
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        if (stages[i](facts, &exact) && exact.cause == cause) { /* the same, with the figures that belong to it */
            *guess = exact;
            guess->confidence = PLIM_CONFIDENCE_HIGH;
            return true;
        }
    return named_guess(facts, cause, guess);
}

bool plim_rule_stage(const struct plim_facts *facts, struct plim_guess *guess)
{
    if (is_host(facts))
        return host_guess(facts, guess);
    if (is_stage(facts, "shm"))
        return named_guess(facts, PLIM_CAUSE_SHM, guess);
    if (is_stage(facts, "virtual"))
        return named_guess(facts, PLIM_CAUSE_DRIVER_OR_CONTEXT, guess);
    if (is_stage(facts, "optimizer"))
        return named_guess(facts, PLIM_CAUSE_OPTIMIZER_STATES, guess);
    if (is_stage(facts, "cap"))
        return plim_rule_cap(facts, guess) || named_guess(facts, PLIM_CAUSE_ALLOCATOR_LIMIT, guess);
    return false;
}
