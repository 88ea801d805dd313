/* SPDX-License-Identifier: MIT */
/* Rules by the traceback, by a series of memory figures, and what is left. */
#include "diagnose/cause/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * What frames say, by a part of the file's path and of the function's name ("" matches all). Read from the innermost
 * frame outwards, the first row that matches decides: within a frame, rows higher up win.
 */
static const struct sign {
    const char *file, *name;
    enum plim_trace trace;
} signs[] = {
    { "", "_multi_tensor_", PLIM_TRACE_FOREACH },
    { "", "_foreach_", PLIM_TRACE_FOREACH },
    { "", "_init_group", PLIM_TRACE_OPTIMIZER },
    { "", "initialize_optimizer_states", PLIM_TRACE_OPTIMIZER },
    { "", "_single_tensor_", PLIM_TRACE_OPTIMIZER },
    { "", "_lazy_init_optimizer", PLIM_TRACE_OPTIMIZER },
    { "", "init_state", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/zero", "flatten", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/zero/stage_1_and_2", "__init__", PLIM_TRACE_OPTIMIZER },
    { "torch/optim/", "_fused_", PLIM_TRACE_OPTIMIZER },
    { "bitsandbytes/optim", "", PLIM_TRACE_OPTIMIZER },
    { "apex/optimizers", "", PLIM_TRACE_OPTIMIZER },
    { "torch/optim/", "", PLIM_TRACE_OPTIMIZER },
    { "/optim/", "step", PLIM_TRACE_OPTIMIZER },
    { "/optimizers/", "step", PLIM_TRACE_OPTIMIZER },
    { "/ops/adam/", "", PLIM_TRACE_OPTIMIZER },
    { "transformers/optimization", "step", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/", "_configure_zero_optimizer", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/zero", "_create_fp32_partitions", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/zero", "step", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/bf16_optimizer", "", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/fp16/", "__init__", PLIM_TRACE_OPTIMIZER },

    { "vllm/", "capture_model", PLIM_TRACE_CAPTURE },
    { "vllm/", "capture", PLIM_TRACE_CAPTURE },
    { "sglang/", "capture", PLIM_TRACE_CAPTURE },
    { "", "init_cuda_graph", PLIM_TRACE_CAPTURE },
    { "", "init_device_graphs", PLIM_TRACE_CAPTURE },
    { "torch/cuda/graphs", "", PLIM_TRACE_CAPTURE },
    { "", "initialize_kv_cache", PLIM_TRACE_POOL },
    { "", "_allocate_kv_cache", PLIM_TRACE_POOL },
    { "", "init_memory_pool", PLIM_TRACE_POOL },
    { "", "_create_buffers", PLIM_TRACE_POOL },
    { "", "determine_available_memory", PLIM_TRACE_PROFILE },
    { "", "determine_num_available_blocks", PLIM_TRACE_PROFILE },
    { "", "profile_run", PLIM_TRACE_PROFILE },

    { "cache_engine.py", "", PLIM_TRACE_POOL },
    { "exllamav2/cache", "", PLIM_TRACE_KV },
    { "exllamav3/cache", "", PLIM_TRACE_KV },
    { "", "create_state_tensors", PLIM_TRACE_KV },
    { "cache_utils.py", "update", PLIM_TRACE_KV },
    { "cache_utils.py", "lazy_initialization", PLIM_TRACE_KV },
    { "cache_utils.py", "", PLIM_TRACE_KV },

    { "", "cross_entropy", PLIM_TRACE_LOSS },
    { "", "ForCausalLMLoss", PLIM_TRACE_LOSS },
    { "", "compute_loss", PLIM_TRACE_LOSS },
    { "", "lm_head", PLIM_TRACE_LOSS },
    { "", "log_softmax", PLIM_TRACE_LOSS },

    { "", "from_pretrained", PLIM_TRACE_LOAD },
    { "", "load_state_dict", PLIM_TRACE_LOAD },
    { "", "_load_pretrained_model", PLIM_TRACE_LOAD },
    { "", "_load_state_dict_into", PLIM_TRACE_LOAD },
    { "", "load_checkpoint", PLIM_TRACE_LOAD },
    { "", "load_weights", PLIM_TRACE_LOAD },
    { "", "load_model", PLIM_TRACE_LOAD },
    { "", "load_pretrained", PLIM_TRACE_LOAD },
    { "", "from_single_file", PLIM_TRACE_LOAD },
    { "", "load_torch_file", PLIM_TRACE_LOAD },
    { "", "load_diffusion_model", PLIM_TRACE_LOAD },
    { "", "instantiate_from_config", PLIM_TRACE_LOAD },
    { "comfy/model_patcher", "", PLIM_TRACE_LOAD },
    { "comfy/model_management", "load_models_gpu", PLIM_TRACE_LOAD },
    { "comfy/model_management", "model_load", PLIM_TRACE_LOAD },
    { "memory_management", "load_models_gpu", PLIM_TRACE_LOAD },
    { "pipeline_utils.py", "to", PLIM_TRACE_LOAD },
    { "bitsandbytes/nn/modules.py", "to", PLIM_TRACE_LOAD },
    { "bitsandbytes/nn/modules.py", "cuda", PLIM_TRACE_LOAD },
    { "bitsandbytes/nn/modules.py", "_quantize", PLIM_TRACE_LOAD },
    { "", "create_quantized_param", PLIM_TRACE_LOAD },
    { "faster_whisper/", "__init__", PLIM_TRACE_LOAD },
    { "", "_convert_to_deepspeed_param", PLIM_TRACE_LOAD },
    { "", "_post_init_method", PLIM_TRACE_LOAD },
    { "", "caching_allocator_warmup", PLIM_TRACE_LOAD },
    { "", "set_module_tensor_to_device", PLIM_TRACE_LOAD },
    { "", "_materialize", PLIM_TRACE_LOAD },
    { "", "dispatch_model", PLIM_TRACE_LOAD },
    { "", "create_weights", PLIM_TRACE_LOAD },
    { "", "create_weight_func", PLIM_TRACE_LOAD },
    { "", "create_shared_weights", PLIM_TRACE_LOAD },
    { "", "_rebuild_", PLIM_TRACE_LOAD },
    { "model_executor/models/", "make_layers", PLIM_TRACE_LOAD },
    { "model_executor/", "__init__", PLIM_TRACE_LOAD },
    { "sglang/srt/models/", "__init__", PLIM_TRACE_LOAD },
    { "sglang/srt/layers/", "__init__", PLIM_TRACE_LOAD },
    { "torch/serialization", "", PLIM_TRACE_LOAD },
    { "safetensors", "", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "_apply", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "convert", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "to", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "cuda", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "half", PLIM_TRACE_LOAD },

    { "", "run_backward", PLIM_TRACE_BACKWARD },
    { "torch/_tensor.py", "backward", PLIM_TRACE_BACKWARD },
    { "torch/autograd", "backward", PLIM_TRACE_BACKWARD },
    { "", "backward", PLIM_TRACE_BACKWARD },
    { "torch/nn/functional.py", "", PLIM_TRACE_FORWARD },
    { "torch/functional.py", "", PLIM_TRACE_FORWARD },
    { "", "_call_impl", PLIM_TRACE_FORWARD },
    { "", "forward", PLIM_TRACE_FORWARD },
    { "diffusers/", "decode", PLIM_TRACE_FORWARD },
    { "", "training_step", PLIM_TRACE_FORWARD },
    { "", "train_step", PLIM_TRACE_FORWARD },
    { "", "attention", PLIM_TRACE_FORWARD },
    { "", "conv1d", PLIM_TRACE_FORWARD },
    { "", "conv2d", PLIM_TRACE_FORWARD },
    { "", "conv3d", PLIM_TRACE_FORWARD },
    { "", "softmax", PLIM_TRACE_FORWARD },
    { "", "einsum", PLIM_TRACE_FORWARD },
    { "", "denoise", PLIM_TRACE_FORWARD },
    { "", "predict", PLIM_TRACE_FORWARD },
    { "", "inference", PLIM_TRACE_FORWARD },
    { "", "execute_model", PLIM_TRACE_FORWARD },
    { "", "merge_multimodal", PLIM_TRACE_FORWARD },
    { "", "get_multimodal_embeddings", PLIM_TRACE_FORWARD },
    { "", "generate", PLIM_TRACE_GENERATE },
    { "", "_sample", PLIM_TRACE_GENERATE },
};

static bool is_sign(const struct sign *sign, const struct plim_frame *frame)
{
    /* A short name has to be the whole name: "to" is in many. */
    bool is_name = strlen(sign->name) < 5 ? !*sign->name || !strcmp(frame->name, sign->name)
                                          : strstr(frame->name, sign->name) != NULL;
    return is_name && (!*sign->file || strstr(frame->file, sign->file) != NULL);
}

enum plim_trace plim_trace_read(const struct plim_log_context *context, const struct plim_frame **ret_frame)
{
    *ret_frame = NULL;
    for (uint32_t i = context ? context->n_frames : 0; i-- > 0;)
        for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++)
            if (is_sign(&signs[k], &context->frames[i])) {
                *ret_frame = &context->frames[i];
                return signs[k].trace;
            }
    return PLIM_TRACE_NONE;
}

bool plim_is_trial_step(const struct plim_finding *finding, const struct plim_log_context *context)
{
    static const char *const names[] = { "profile_run", "determine_available_memory",
                                         "determine_num_available_blocks" };
    bool is_in_traceback = false;
    if (!context || !finding->framework || strcmp(finding->framework, "vllm") != 0)
        return false;
    for (uint32_t i = 0; i < context->n_frames; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            is_in_traceback = is_in_traceback || !strcmp(context->frames[i].name, names[k]);
    return is_in_traceback || (plim_is_known(plim_figure(finding, context, PLIM_N_MODEL_BYTES)) &&
                               !plim_is_known(plim_figure(finding, context, PLIM_N_AVAILABLE_BYTES)) &&
                               !plim_is_known(plim_figure(finding, context, PLIM_N_KV_TOKENS)));
}

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
    if (!frame)
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
        n += (size_t)snprintf(text + n, size - n,
                              ", more than the card has: Windows keeps the rest in RAM, and that ran out");
    if (n == 0 && plim_is_known(a->free_bytes) && !plim_is_known(a->total_bytes))
        n += (size_t)snprintf(text, size, "Free: %s", plim_say(&texts, a->free_bytes));
    if (n && n < size)
        snprintf(text + n, size - n, ". ");
    return text;
}

enum { ACCOUNT_BYTES = 240, WHERE_BYTES = 160 };

bool plim_rule_optimizer(const struct plim_facts *facts, struct plim_guess *guess)
{
    char account[ACCOUNT_BYTES], where[WHERE_BYTES];
    if (facts->trace != PLIM_TRACE_OPTIMIZER && facts->trace != PLIM_TRACE_FOREACH)
        return false;
    return plim_guess_set(
        guess, PLIM_CAUSE_OPTIMIZER_STATES, PLIM_CONFIDENCE_HIGH, "%sIt failed in the optimizer, at %s%s: %s",
        say_account(facts, account, sizeof account), facts->frame->name, say_frame(facts, where, sizeof where),
        facts->trace == PLIM_TRACE_FOREACH ? "it makes copies of all parameters' values at once, beside its states."
                                           : "it makes its states for every parameter at the first step.");
}

/* Spearman's rank correlation of bytes with time; ties get their mean rank. */
static double rank_correlation(const struct plim_point *points, uint32_t n)
{
    double sum = 0, squares = 0, time_squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        double below = 0;
        for (uint32_t k = 0; k < n; k++)
            below += points[k].bytes < points[i].bytes ? 1 : points[k].bytes == points[i].bytes && k != i ? 0.5 : 0;
        double rank = below - (double)(n - 1) / 2, time = (double)i - (double)(n - 1) / 2;
        sum += rank * time;
        squares += rank * rank;
        time_squares += time * time;
    }
    return squares > 0 && time_squares > 0 ? sum / (__builtin_sqrt(squares) * __builtin_sqrt(time_squares)) : 0;
}

/* Only a series that rises shows growth; without one it is never claimed. */
bool plim_rule_growth(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_log_context *context = facts->context;
    struct plim_size_texts texts = { .n = 0 };
    uint32_t n = context ? context->n_series : 0;
    if (n < PLIM_MIN_POINTS)
        return false;
    const struct plim_point *first = &context->series[0], *last = &context->series[n - 1];
    if (first->bytes < 0 || last->bytes < 0)
        return false;
    int64_t grown = last->bytes - first->bytes;
    int64_t total = facts->answer->total_bytes;
    int64_t enough = plim_is_known(total) && total / 100 > PLIM_ROUNDING_BYTES ? total / 100 : PLIM_ROUNDING_BYTES;
    if (grown < enough || rank_correlation(context->series, n) <= PLIM_MIN_CORRELATION)
        return false;
    return plim_guess_set(
        guess, PLIM_CAUSE_LEAK_OR_GROWTH, n >= 2 * PLIM_MIN_POINTS ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
        "Memory rose from %s to %s over the last %" PRIu32 " figures in the log, at nearly every one: "
        "something is kept that should be let go.",
        plim_say(&texts, first->bytes), plim_say(&texts, last->bytes), n);
}

static const char *phase(const struct plim_facts *facts)
{
    return plim_figure_word(facts->finding, facts->context, PLIM_W_PHASE);
}

/* "CUDA error: out of memory" without figures comes from outside the allocator; where CUDA begins, it is the context.
 */
bool plim_rule_no_context(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_log_context *context = facts->context;
    char where[WHERE_BYTES];
    bool begins = facts->trace == PLIM_TRACE_LOAD;
    for (uint32_t i = 0; context && i < context->n_frames; i++)
        begins =
            begins || !strcmp(context->frames[i].name, "_lazy_init") || !strcmp(context->frames[i].name, "set_device");
    if (!begins || strcmp(facts->stage, "api") != 0 || plim_is_known(facts->answer->tried_bytes))
        return false;
    return plim_guess_set(
        guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
        "The driver refused before PyTorch's allocator was asked for anything%s: the card has no room even "
        "for a context, so somebody else fills it.",
        say_frame(facts, where, sizeof where));
}

/* While weights were loaded; or the card is full of what is no activation. */
bool plim_rule_loading(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    char account[ACCOUNT_BYTES], where[WHERE_BYTES];
    bool is_loading = facts->trace == PLIM_TRACE_LOAD;
    bool has_traceback = facts->context && facts->context->n_frames > 0;
    bool is_full = plim_is_known(a->allocated_bytes) && plim_is_known(a->total_bytes) &&
                   (double)a->allocated_bytes > PLIM_WEIGHTS_SHARE * (double)a->total_bytes;
    say_account(facts, account, sizeof account);
    if (is_loading)
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_HIGH,
                              "%sIt failed while the model was loaded, in %s%s: nothing has been computed yet.",
                              account, facts->frame->name, say_frame(facts, where, sizeof where));
    if ((!has_traceback || facts->trace == PLIM_TRACE_NONE) && !strcmp(phase(facts), "loading"))
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_MEDIUM,
                              "%sThe last that the log shows before it is the loading of the model.", account);
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
    return plim_guess_set(guess, PLIM_CAUSE_KV_CACHE_CONTEXT, PLIM_CONFIDENCE_HIGH,
                          "%sIt failed where keys and values of the context are stored%s.",
                          say_account(facts, account, sizeof account), say_frame(facts, where, sizeof where));
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
        if (facts->context && facts->context->n_frames > 0)
            return false;
        if (!strcmp(phase(facts), "training") || (facts->context && facts->context->n_series > 0))
            return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
                                  "%sThe log shows steps before it: one of them needed more than was left.",
                                  say_account(facts, account, sizeof account));
        return false;
    }
    return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION,
                          facts->trace == PLIM_TRACE_GENERATE ? PLIM_CONFIDENCE_MEDIUM : PLIM_CONFIDENCE_HIGH,
                          "%sIt failed %s%s.", say_account(facts, account, sizeof account), what,
                          say_frame(facts, where, sizeof where));
}

/* Memory was short, and nothing says what for. */
bool plim_rule_rest(const struct plim_facts *facts, struct plim_guess *guess)
{
    char account[ACCOUNT_BYTES];
    const bool is_python = facts->finding->framework && facts->context &&
                           (facts->context->n_frames > 0 || !strcmp(facts->finding->framework, "pytorch"));
    return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_LOW,
                          "%sWhat it was needed for is not in this log: %s would tell.",
                          say_account(facts, account, sizeof account),
                          is_python ? "the traceback before the error" : "the lines before the error");
}
