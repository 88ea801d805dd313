/* SPDX-License-Identifier: MIT */
/* Rules by the traceback, by a series of memory figures, and the rule for the rest. */
#include "base/units.h"
#include "diagnose/cause/growth.h"
#include "diagnose/cause/purpose.h"
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The innermost frame that the user wrote, else the one that says something: "train.py:42 in train". */
static const char *say_frame(const struct plim_facts *facts, char *text, size_t size)
{
    const struct plim_frame *frame = facts->frame;
    const char *slash;
    for (uint32_t i = facts->context->n_frames; i-- > 0;)
        if (facts->context->frames[i].is_user) {
            frame = &facts->context->frames[i];
            break;
        }
    if (!frame || !frame->file[0])
        return "";
    slash = strrchr(frame->file, '/');
    if (frame->line)
        snprintf(text, size, " (%s:%" PRIu32 ")", slash ? slash + 1 : frame->file, frame->line);
    else
        snprintf(text, size, " (%s)", slash ? slash + 1 : frame->file);
    return text;
}

/* "Tried 1.17 GiB, free 0.20 GiB; PyTorch has 18.38 of 23.69 GiB. ", as far as known. */
static const char *say_account(const struct plim_facts *facts, char *text, size_t size)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    size_t n = 0;
    text[0] = '\0';
    if (plim_is_known(a->tried_bytes))
        n += (size_t)snprintf(text + n, size - n, "Tried %s", plim_say(&texts, a->tried_bytes));
    if (n && n < size && plim_is_known(a->free_bytes))
        n += (size_t)snprintf(text + n, size - n, ", free %s", plim_say(&texts, a->free_bytes));
    if (n && n < size && plim_is_known(a->allocated_bytes))
        n += (size_t)snprintf(text + n, size - n, "; %s%s already allocated here", plim_say(&texts, a->allocated_bytes),
                              plim_is_known(a->total_bytes) ? "" : " is");
    if (n && n < size && plim_is_known(a->allocated_bytes) && plim_is_known(a->total_bytes))
        n += (size_t)snprintf(text + n, size - n, " of %s", plim_say(&texts, a->total_bytes));
    if (n && n < size && plim_is_known(a->allocated_bytes) && plim_is_known(a->total_bytes) &&
        a->allocated_bytes > a->total_bytes + PLIM_ROUNDING_BYTES)
        n += (size_t)snprintf(text + n, size - n, ", more than the card has: %s, and that ran out",
                              plim_spill_words(facts->platform, facts->context));
    if (n == 0 && plim_is_known(a->free_bytes) && !plim_is_known(a->total_bytes))
        n += (size_t)snprintf(text, size, "Free: %s", plim_say(&texts, a->free_bytes));
    if (n && n < size)
        snprintf(text + n, size - n, ". ");
    return text;
}

enum { ACCOUNT_BYTES = 240, WHERE_BYTES = 160 };

static const char *phase(const struct plim_facts *facts)
{
    return plim_figure_word(facts->finding, facts->context, PLIM_W_PHASE);
}

bool plim_rule_optimizer(const struct plim_facts *facts, struct plim_guess *guess)
{
    char account[ACCOUNT_BYTES], where[WHERE_BYTES];
    if (facts->trace != PLIM_TRACE_OPTIMIZER && facts->trace != PLIM_TRACE_FOREACH)
        return false;
    /* what is laid out before the first step, copies of weights among it, is not as surely the states */
    const bool is_step = strcmp(facts->frame->name, "__init__") != 0 && !strstr(facts->frame->name, "create") &&
                         !strstr(facts->frame->name, "configure");
    return plim_guess_set(guess, PLIM_CAUSE_OPTIMIZER_STATES, is_step ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
                          "%sIt failed in the optimizer, at %s%s: %s", say_account(facts, account, sizeof account),
                          facts->frame->name, say_frame(facts, where, sizeof where),
                          facts->trace == PLIM_TRACE_FOREACH
                              ? "it makes copies of all parameters' values at once, beside its states."
                              : "it makes its states for every parameter at the first step.");
}

/* Without a frame that tells more: the last that the log says of its work. */
bool plim_rule_optimizer_phase(const struct plim_facts *facts, struct plim_guess *guess)
{
    char account[ACCOUNT_BYTES];
    return facts->trace == PLIM_TRACE_NONE && !strcmp(phase(facts), "optimizer") &&
           (!facts->context || facts->context->n_series == 0) &&
           plim_guess_set(guess, PLIM_CAUSE_OPTIMIZER_STATES, PLIM_CONFIDENCE_MEDIUM,
                          "%sThe last that the log says before it is that the optimizer was being made.",
                          say_account(facts, account, sizeof account));
}

/* An evaluation that collects what every batch gave, on the card: each turn it needs the whole of it once more. */
bool plim_rule_keep(const struct plim_facts *facts, struct plim_guess *guess)
{
    char account[ACCOUNT_BYTES], where[WHERE_BYTES];
    return facts->trace == PLIM_TRACE_KEEP &&
           plim_guess_set(
               guess, PLIM_CAUSE_LEAK_OR_GROWTH, PLIM_CONFIDENCE_MEDIUM,
               "%sIt failed where the results of all batches are put together%s: they stay on the card until "
               "the end.",
               say_account(facts, account, sizeof account), say_frame(facts, where, sizeof where));
}

/* Only a series that rises shows growth; without one it is never claimed. */
bool plim_rule_growth(const struct plim_facts *facts, struct plim_guess *guess)
{
    struct plim_size_texts texts = { .n = 0 };
    struct plim_rise growth;
    char span[PLIM_SPAN_TEXT_BYTES], pace[ACCOUNT_BYTES] = "";
    if (!plim_rise_read(facts->context, facts->answer->total_bytes, &growth))
        return plim_rule_told_growth(facts, guess) || plim_rule_printed_growth(facts, guess);
    if (plim_is_known(growth.bytes_per_hour))
        snprintf(pace, sizeof pace, " in %s, %s an hour", plim_span_text(span, growth.seconds),
                 plim_say(&texts, growth.bytes_per_hour));
    return plim_guess_set(guess, PLIM_CAUSE_LEAK_OR_GROWTH,
                          growth.n >= 2 * PLIM_MIN_POINTS ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
                          "Memory rose from %s to %s over the last %" PRIu32
                          " figures in the log%s, at nearly every one: "
                          "something is kept that should be freed.",
                          plim_say(&texts, growth.first_bytes), plim_say(&texts, growth.last_bytes), growth.n, pace);
}

static bool makes_context(const char *text)
{
    static const char *const calls[] = { "PrimaryCtxRetain",
                                         "CtxCreate",
                                         "cuInit",
                                         "hipInit",
                                         "cudaMemGetInfo",
                                         "hipMemGetInfo",
                                         "get_device_memory",
                                         "device_get_memory",
                                         "cudaSetDevice",
                                         "hipSetDevice",
                                         "creating CUDA context" };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strstr(text, calls[i]))
            return true;
    return false;
}

/* The driver's own beginning needs no memory of a card. */
static bool is_before_context(const struct plim_facts *facts)
{
    const char *operation = facts->finding->words.text[PLIM_W_OPERATION];
    return strstr(operation, "cuInit") || strstr(operation, "hipInit") || plim_fact_in_evidence(facts, "to cuInit") ||
           plim_fact_in_evidence(facts, "cuInit(") || plim_fact_in_evidence(facts, "hipInit(");
}

/* The stack of a program in C++ is in the functions that begin it, before there is any model. */
bool plim_rule_starting(const struct plim_facts *facts, struct plim_guess *guess)
{
    return !strcmp(phase(facts), "starting") && !plim_is_known(facts->answer->tried_bytes) &&
           facts->trace == PLIM_TRACE_NONE &&
           plim_guess_set(guess, PLIM_CAUSE_DRIVER_OR_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
                          "It failed in the functions that begin the program, before there was any model: the driver "
                          "had no room for its context and handles, or another process has the card.");
}

/* The call that failed is one of those that make a program's context on the card, its first some hundred MiB. */
bool plim_rule_context(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_finding *finding = facts->finding;
    const struct plim_log_context *context = facts->context;
    bool is = makes_context(finding->words.text[PLIM_W_OPERATION]);
    for (uint32_t i = 0; i < finding->n_evidence && !is; i++)
        is = makes_context(finding->evidence[i].text);
    for (uint32_t i = 0; context && i < context->n_frames && !is; i++)
        is = makes_context(context->frames[i].name);
    if (is && is_before_context(facts) && !plim_is_known(facts->answer->tried_bytes))
        return plim_guess_set(guess, PLIM_CAUSE_DRIVER_OR_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
                              "The driver failed before it made anything on a card: it, or the system, refused.");
    return is && !plim_is_known(facts->answer->tried_bytes) &&
           plim_guess_set(guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
                          "The driver had no room for the context that every program needs first, some hundred MiB: "
                          "the card was full before it began.");
}

/* "CUDA error: out of memory" without figures comes from beside the allocator; where CUDA begins, it is the context. */
bool plim_rule_no_context(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_log_context *context = facts->context;
    char where[WHERE_BYTES];
    /* A server's workers have their context before they load. */
    bool begins = facts->trace == PLIM_TRACE_LOAD && !strstr(facts->frame->file, "vllm/") &&
                  !strstr(facts->frame->file, "sglang/");
    if (facts->finding->pattern && facts->finding->pattern->is_said)
        return false; /* no message, so no message without figures */
    for (uint32_t i = 0; context && i < context->n_frames; i++)
        begins = begins || !strcmp(context->frames[i].name, "_lazy_init") ||
                 !strcmp(context->frames[i].name, "first_time_calculation") ||
                 !strcmp(context->frames[i].name, "set_device");
    if (!begins || strcmp(facts->stage, "api") != 0 || plim_is_known(facts->answer->tried_bytes))
        return false;
    return plim_guess_set(
        guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
        "The driver refused before PyTorch's allocator had to serve a request%s: the card has no room even "
        "for a context, so another process fills it.",
        say_frame(facts, where, sizeof where));
}

/* A library's handle, some ten or hundred MiB beside what the framework has: what it was for is known, who has the rest
 * is not. */
bool plim_rule_handle(const struct plim_facts *facts, struct plim_guess *guess)
{
    return plim_fact_is_stage(facts, "handle") && facts->trace == PLIM_TRACE_NONE &&
           plim_guess_set(guess, PLIM_CAUSE_DRIVER_OR_CONTEXT, PLIM_CONFIDENCE_LOW,
                          "A library could not make its handle, its first memory on the card: others, or the framework "
                          "itself, have the card.");
}

enum { FULL_SHARE = 10 }; /* less than a tenth is free: a full card, for a program that begins */

/* A library did not start. Whether its few MiB were missing, a driver that fits or a sound context, the status does not
 * say; nor does the traceback, which shows its first call. */
bool plim_rule_status(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_fact_is_stage(facts, "status"))
        return false;
    if (plim_is_known(a->free_bytes) && plim_is_known(a->total_bytes) && a->free_bytes < a->total_bytes / FULL_SHARE)
        return plim_guess_set(
            guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
            "A library of CUDA did not start, and the card had %s free of %s: another process has it.",
            plim_say(&texts, a->free_bytes), plim_say(&texts, a->total_bytes));
    return plim_guess_set(
        guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_LOW,
        "A library of CUDA did not start, and nothing here says that memory was short. A full card can "
        "be the reason, as can versions that do not fit, or a check that failed before.");
}

/* While weights were loaded; or the card is full of memory that is not activations. */
bool plim_rule_loading(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    char account[ACCOUNT_BYTES], where[WHERE_BYTES];
    bool is_loading = facts->trace == PLIM_TRACE_LOAD;
    bool has_traceback = facts->context && facts->context->n_frames > 0;
    bool is_full = plim_is_known(a->allocated_bytes) && plim_is_known(a->total_bytes) &&
                   (double)a->allocated_bytes > PLIM_WEIGHTS_SHARE * (double)a->total_bytes;
    say_account(facts, account, sizeof account);
    /* in somebody's own code, a name that is not of loading itself can mean more */
    const bool is_named = is_loading && (!facts->frame->is_user || strstr(facts->frame->name, "load") ||
                                         strstr(facts->frame->name, "pretrained"));
    /* nor is it sure whose memory it is, as long as the program does not say that it has it */
    const bool is_plain = is_named && plim_is_known(a->allocated_bytes) && plim_is_known(a->total_bytes) &&
                          a->allocated_bytes > a->total_bytes / 2;
    if (is_loading)
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, is_plain ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
                              "%sIt failed while the model was loaded, in %s%s: nothing has been computed yet.",
                              account, facts->frame->name, say_frame(facts, where, sizeof where));
    if ((!has_traceback || facts->trace == PLIM_TRACE_NONE) && !strcmp(phase(facts), "loading"))
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_MEDIUM,
                              "%sThe last step in the log before it is the loading of the model.", account);
    is_full = is_full && strcmp(phase(facts), "generating") != 0 && a->tried_bytes <= a->total_bytes / 2;
    if (has_traceback && facts->trace == PLIM_TRACE_NONE && is_full)
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_LOW,
                              "%sThe card is full, and the traceback shows no forward or backward pass.", account);
    return false;
}

bool plim_rule_cache(const struct plim_facts *facts, struct plim_guess *guess)
{
    char account[ACCOUNT_BYTES], where[WHERE_BYTES];
    if (facts->trace != PLIM_TRACE_KV)
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_KV_CACHE_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
                          "%sIt failed where keys and values of the context are stored%s.",
                          say_account(facts, account, sizeof account), say_frame(facts, where, sizeof where));
}

/* ONNX Runtime names the node of the graph that it was running. */
static bool is_running_node(const struct plim_facts *facts)
{
    return facts->finding->pattern && !strcmp(facts->finding->pattern->framework, "onnxruntime") &&
           *facts->finding->words.text[PLIM_W_OPERATION] && !plim_is_known(plim_fact_own(facts, PLIM_N_LIMIT_BYTES)) &&
           !plim_is_known(plim_fact_own(facts, PLIM_N_AVAILABLE_BYTES));
}

/*
 * TensorFlow names the node that asked, JAX the program: what it is part of stands in its name, "gradients/conv2d/...",
 * "training/Adam/mul", "dense/kernel/Initializer/random_uniform".
 */
bool plim_rule_node(const struct plim_facts *facts, struct plim_guess *guess)
{
    static const struct {
        const char *part;
        enum plim_cause cause;
        const char *what;
    } parts[] = {
        { "gradient", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a gradient" },
        { "Adam", PLIM_CAUSE_OPTIMIZER_STATES, "belongs to the optimizer" },
        { "Momentum", PLIM_CAUSE_OPTIMIZER_STATES, "belongs to the optimizer" },
        { "RMSprop", PLIM_CAUSE_OPTIMIZER_STATES, "belongs to the optimizer" },
        { "RMSProp", PLIM_CAUSE_OPTIMIZER_STATES, "belongs to the optimizer" },
        { "Adagrad", PLIM_CAUSE_OPTIMIZER_STATES, "belongs to the optimizer" },
        { "adam", PLIM_CAUSE_OPTIMIZER_STATES, "belongs to the optimizer" },
        { "_momentum/", PLIM_CAUSE_OPTIMIZER_STATES, "belongs to the optimizer" },
        { "_velocity/", PLIM_CAUSE_OPTIMIZER_STATES, "belongs to the optimizer" },
        { "Initializer", PLIM_CAUSE_MODEL_TOO_BIG, "makes a variable of the model" },
        { "initializer", PLIM_CAUSE_MODEL_TOO_BIG, "makes a variable of the model" },
        { "/Assign", PLIM_CAUSE_MODEL_TOO_BIG, "makes a variable of the model" },
        { "jit_init_fn", PLIM_CAUSE_OPTIMIZER_STATES, "makes the optimizer's states" }, /* as all of optax name it */
        { "jit_init", PLIM_CAUSE_MODEL_TOO_BIG, "makes the variables of the model" },
        { "jit__init", PLIM_CAUSE_MODEL_TOO_BIG, "makes the variables of the model" },
        { "onv", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "atMul", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "atmul", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "oftmax", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "Relu", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "BiasAdd", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "Pool", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "insum", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "BatchNorm", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "ttention", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "lstm", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "CudnnRNN", PLIM_CAUSE_BATCH_OR_ACTIVATION, "computes a layer" },
        { "step", PLIM_CAUSE_BATCH_OR_ACTIVATION, "is a step" },
        { "jit_loss", PLIM_CAUSE_BATCH_OR_ACTIVATION, "is a step" },
        { "jit_forward", PLIM_CAUSE_BATCH_OR_ACTIVATION, "is a step" },
        { "jit_update", PLIM_CAUSE_BATCH_OR_ACTIVATION, "is a step" },
        { "jit_apply", PLIM_CAUSE_BATCH_OR_ACTIVATION, "is a step" },
    };
    const char *node = facts->finding->words.text[PLIM_W_OPERATION];
    const char *framework = facts->finding->pattern ? facts->finding->pattern->framework : "";
    char account[ACCOUNT_BYTES];
    if (!*node || facts->trace != PLIM_TRACE_NONE ||
        (strcmp(framework, "tensorflow") != 0 && strcmp(framework, "jax") != 0))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(node, parts[i].part))
            return plim_guess_set(guess, parts[i].cause, PLIM_CONFIDENCE_MEDIUM,
                                  "%sIt was asked for by %.90s, which %s.", say_account(facts, account, sizeof account),
                                  node, parts[i].what);
    /* the name of a function of the program, behind what JAX puts before it */
    return !strncmp(node, "jit_", 4) && plim_purpose_of_names(node + 4, strlen(node + 4)) == PLIM_PURPOSE_WEIGHTS &&
           plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_LOW,
                          "%sIt was asked for by %.90s, which makes weights, by its name.",
                          say_account(facts, account, sizeof account), node);
}

bool plim_rule_step(const struct plim_facts *facts, struct plim_guess *guess)
{
    char account[ACCOUNT_BYTES], where[WHERE_BYTES];
    const char *what;
    const bool is_trial = facts->trace == PLIM_TRACE_FORWARD && plim_is_trial_step(facts->finding, facts->context);
    switch (is_trial ? PLIM_TRACE_PROFILE : facts->trace) {
    case PLIM_TRACE_BACKWARD:
        what = "in the backward pass";
        break;
    case PLIM_TRACE_FORWARD:
        what = "in the forward pass";
        break;
    case PLIM_TRACE_LOSS:
        what = "at the logits and the loss (tokens x vocabulary x 2 or 4 bytes)";
        break;
    case PLIM_TRACE_GENERATE:
        what = "while text was generated";
        break;
    case PLIM_TRACE_PROFILE:
        what = "while the server tried its largest step";
        break;
    default:
        if (is_running_node(facts))
            return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
                                  "%sIt failed while the node %.60s was computed: what it needed is for the work of a "
                                  "step.",
                                  say_account(facts, account, sizeof account),
                                  facts->finding->words.text[PLIM_W_OPERATION]);
        if (facts->context && facts->context->n_frames > 0)
            return facts->trace == PLIM_TRACE_NONE && !strcmp(phase(facts), "stepping") &&
                   plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_LOW,
                                  "%sThe log shows steps before it, and the traceback nothing else: one of them needed "
                                  "more than was left.",
                                  say_account(facts, account, sizeof account));
        if (!strcmp(phase(facts), "warming"))
            return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
                                  "%sIt failed while the server tried its largest step.",
                                  say_account(facts, account, sizeof account));
        if (!strcmp(phase(facts), "training") || !strcmp(phase(facts), "stepping") ||
            (facts->context && facts->context->n_series > 0))
            return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
                                  "%sThe log shows steps before it: one of them needed more than was left.",
                                  say_account(facts, account, sizeof account));
        return false;
    }
    /* Of a card that is full the traceback shows who was last, and a small piece can be anything's. */
    const struct plim_cause_answer *a = facts->answer;
    const bool is_known = plim_is_known(a->tried_bytes) && plim_is_known(a->total_bytes);
    /* going back, in a program that has the card to itself: a smaller piece is of the step as surely */
    const bool is_own = is_known && facts->trace == PLIM_TRACE_BACKWARD && plim_is_known(a->allocated_bytes) &&
                        (double)a->allocated_bytes > PLIM_WEIGHTS_SHARE * (double)a->total_bytes;
    const bool is_large =
        is_known && a->tried_bytes >= a->total_bytes / (is_own ? 2 * PLIM_STEP_OF_CARD : PLIM_STEP_OF_CARD);
    return plim_guess_set(
        guess, PLIM_CAUSE_BATCH_OR_ACTIVATION,
        facts->trace != PLIM_TRACE_GENERATE && is_large ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
        "%sIt failed %s%s.", say_account(facts, account, sizeof account), what, say_frame(facts, where, sizeof where));
}

/* Memory was short, and nothing says what for: no cause is better than the commonest one. */
bool plim_rule_rest(const struct plim_facts *facts, struct plim_guess *guess)
{
    char account[ACCOUNT_BYTES];
    const bool is_python = facts->finding->framework && facts->context &&
                           (facts->context->n_frames > 0 || !strcmp(facts->finding->framework, "pytorch"));
    return plim_guess_set(guess, PLIM_CAUSE_UNKNOWN, PLIM_CONFIDENCE_NONE,
                          "%sIts purpose is not in this log; %s would tell.",
                          say_account(facts, account, sizeof account),
                          is_python ? "the traceback before the error" : "the lines before the error");
}
