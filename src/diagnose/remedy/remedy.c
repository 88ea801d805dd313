/* SPDX-License-Identifier: MIT */
#include "diagnose/remedy/remedy.h"

#include "diagnose/knowledge.h"
#include "diagnose/remedy/advice.h"
#include "diagnose/scan/pattern.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- writing the lists --- */

static struct plim_remedy *add(struct plim_advice *advice, int64_t frees_bytes, const char *costs, const char *change,
                               va_list arguments)
{
    struct plim_remedies *to = advice->remedies;
    if (to->n == PLIM_MAX_REMEDIES)
        return NULL;
    if (plim_is_known(frees_bytes) && plim_is_known(advice->missing_bytes) &&
        frees_bytes < advice->missing_bytes - PLIM_ROUNDING_BYTES)
        return NULL;
    struct plim_remedy *remedy = &to->item[to->n++];
    remedy->frees_bytes = frees_bytes;
    vsnprintf(remedy->change, sizeof remedy->change, change, arguments);
    snprintf(remedy->costs, sizeof remedy->costs, "%s", costs);
    return remedy;
}

struct plim_remedy *plim_advise(struct plim_advice *advice, int64_t frees_bytes, const char *costs, const char *change,
                                ...)
{
    va_list arguments;
    va_start(arguments, change);
    struct plim_remedy *remedy = add(advice, frees_bytes, costs, change, arguments);
    va_end(arguments);
    return remedy;
}

struct plim_remedy *plim_advise_exact(struct plim_advice *advice, int64_t frees_bytes, const char *costs,
                                      const char *change, ...)
{
    va_list arguments;
    va_start(arguments, change);
    struct plim_remedy *remedy = add(advice, frees_bytes, costs, change, arguments);
    va_end(arguments);
    if (remedy)
        remedy->is_exact = true;
    return remedy;
}

void plim_advise_command(struct plim_remedy *remedy, const char *format, ...)
{
    va_list arguments;
    if (!remedy)
        return;
    va_start(arguments, format);
    vsnprintf(remedy->command, sizeof remedy->command, format, arguments);
    va_end(arguments);
}

void plim_advise_useless(struct plim_advice *advice, const char *what, const char *why, ...)
{
    va_list arguments;
    struct plim_remedies *to = advice->remedies;
    if (to->n_useless == PLIM_MAX_USELESS)
        return;
    struct plim_useless *useless = &to->useless[to->n_useless++];
    snprintf(useless->what, sizeof useless->what, "%s", what);
    va_start(arguments, why);
    vsnprintf(useless->why, sizeof useless->why, why, arguments);
    va_end(arguments);
}

/* --- asking the finding --- */

int64_t plim_advice_number(const struct plim_advice *advice, enum plim_number which)
{
    return plim_figure(advice->finding, advice->context, which);
}

bool plim_advice_is(const struct plim_advice *advice, const char *frameworks)
{
    const char *name = advice->finding->framework ? advice->finding->framework : "";
    size_t length = strlen(name);
    for (const char *at = frameworks; length > 0 && (at = strstr(at, name)) != NULL; at++)
        if ((at == frameworks || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

bool plim_advice_is_stage(const struct plim_advice *advice, const char *stage)
{
    return advice->finding->pattern && !strcmp(advice->finding->pattern->stage, stage);
}

bool plim_advice_is_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@+=,";
    return *text && *text != '-' && strspn(text, plain) == strlen(text);
}

int64_t plim_advice_round_down(double value, int64_t step)
{
    return value > 0 && value < 1e12 ? (int64_t)(value / (double)step) * step : 0;
}

const char *plim_advice_model(const struct plim_advice *advice)
{
    const char *model = plim_figure_word(advice->finding, advice->context, PLIM_W_MODEL);
    return plim_advice_is_plain(model)                                 ? model
           : plim_advice_is(advice, "llama.cpp koboldcpp whisper.cpp") ? "MODEL.gguf"
                                                                       : "MODEL";
}

bool plim_advice_in_evidence(const struct plim_advice *advice, const char *text)
{
    bool is = false;
    for (uint32_t i = 0; i < advice->finding->n_evidence; i++)
        is = is || strstr(advice->finding->evidence[i].text, text) != NULL;
    return is;
}

const char *plim_advice_kind(const struct plim_advice *advice)
{
    return advice->finding->pattern ? advice->finding->pattern->id : "";
}

const char *plim_advice_backend(const struct plim_advice *advice)
{
    /* What names of buffers and of functions begin with. */
    static const char *const signs[][2] = {
        { "CUDA", "CUDA" },          { "ROCm", "HIP" },          { "HIP", "HIP" },
        { "Vulkan", "Vulkan" },      { "SYCL", "SYCL" },         { "MTL", "Metal" },
        { "Metal", "Metal" },        { "ggml_metal", "Metal" },  { "backend_metal", "Metal" },
        { "ggml_vulkan", "Vulkan" }, { "backend_sycl", "SYCL" },
    };
    const char *word = plim_figure_word(advice->finding, advice->context, PLIM_W_BACKEND);
    const char *buffer = plim_figure_word(advice->finding, advice->context, PLIM_W_BUFFER);
    const bool is_mac = !strcmp(plim_figure_word(advice->finding, advice->context, PLIM_W_PLATFORM), "mac");
    if (*word && strcmp(word, "CUDA") != 0) /* HIP builds of llama.cpp have CUDA in the names of functions */
        return word;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(buffer, signs[i][0], strlen(signs[i][0])))
            return signs[i][1];
    for (size_t i = 1; i < sizeof signs / sizeof *signs; i++)
        if (plim_advice_is_llama(advice) && plim_advice_in_evidence(advice, signs[i][0]))
            return signs[i][1];
    return is_mac ? "Metal" : word;
}

bool plim_advice_beside(const struct plim_advice *advice, const char *program)
{
    bool is = plim_advice_is(advice, program);
    for (uint32_t i = 0; advice->context && i < advice->context->n_programs; i++)
        is = is || !strcmp(advice->context->programs[i], program);
    return is;
}

/*
 * The name that the message itself uses; else by version: PYTORCH_ALLOC_CONF is documented from 2.10 on, and the old
 * name is still read (strings of libc10_cuda.so of 2.10 and 2.15 have both).
 */
const char *plim_advice_alloc_conf(const struct plim_advice *advice)
{
    static const char *const names[] = { "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF" };
    const char *version = plim_figure_word(advice->finding, advice->context, PLIM_W_TORCH_VERSION);
    const char *backend = plim_figure_word(advice->finding, advice->context, PLIM_W_BACKEND);
    char *end;
    for (int i = 0; i < 3; i++)
        if (plim_advice_in_evidence(advice, names[i]))
            return names[i];
    if (!strcmp(backend, "HIP"))
        return names[0];
    long major = strtol(version, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major > 2 || (major == 2 && minor >= 10) ? names[2] : names[1];
}

/* "train.py", from the log's command or the outermost frame that the user wrote; "" when it is not there. */
static const char *script(const struct plim_advice *advice)
{
    const char *word = plim_figure_word(advice->finding, advice->context, PLIM_W_SCRIPT);
    if (plim_advice_is_plain(word) && strstr(word, ".py"))
        return word;
    for (uint32_t i = 0; advice->context && i < advice->context->n_frames; i++) {
        const struct plim_frame *frame = &advice->context->frames[i];
        const char *slash = strrchr(frame->file, '/'), *name = slash ? slash + 1 : frame->file;
        if (frame->is_user && plim_advice_is_plain(name) && strstr(name, ".py"))
            return name;
    }
    return "";
}

void plim_advise_setting(const struct plim_advice *advice, struct plim_remedy *remedy, const char *name,
                         const char *value)
{
    const char *file = script(advice);
    if (*file)
        plim_advise_command(remedy, "%s=%s python %s", name, value, file);
    else
        plim_advise_command(remedy, "export %s=%s", name, value);
}

/* --- by cause --- */

static const char python[] =
    "pytorch transformers bitsandbytes accelerate deepspeed trl unsloth diffusers torchrun ray";

static const char amd_smi[] = "rocm-smi --showpids --showmeminfo vram";

static void add_entry(struct plim_advice *advice, const struct plim_knowledge_entry *entry)
{
    struct plim_field_text text;
    const int64_t others = advice->answer->others_bytes; /* the message accounts for the whole card */
    const bool is_amd = plim_advice_is(advice, "rocm") || !strcmp(plim_advice_backend(advice), "HIP");
    const bool is_alone = plim_is_known(others) && others < PLIM_STARTUP_OTHERS_BYTES;
    for (size_t i = 0; (text = plim_entry_field(entry, PLIM_FIELD_FIX, i)).text; i++)
        if (!is_alone || strncmp(text.rest, "nvidia-smi", 10) != 0)
            plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "", "%s", text.text), "%s",
                                is_amd && !strcmp(text.rest, "nvidia-smi") ? amd_smi : text.rest);
    for (size_t i = 0; (text = plim_entry_field(entry, PLIM_FIELD_USELESS, i)).text; i++) {
        const char *colon = strstr(text.text, ": ");
        char what[PLIM_REMEDY_TEXT_BYTES];
        snprintf(what, sizeof what, "%.*s", colon ? (int)(colon - text.text) : (int)strcspn(text.text, "."), text.text);
        plim_advise_useless(advice, what, "%s", colon ? colon + 2 : "");
    }
}

/* A program of any kind, and nothing known but that the card was full. */
static void advise_anybody(struct plim_advice *advice)
{
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see how full the card is, and of whom"), "%s",
                        !strcmp(plim_advice_backend(advice), "HIP") ? "rocm-smi --showpids --showmeminfo vram"
                                                                    : "nvidia-smi");
    plim_advise(advice, PLIM_UNKNOWN, "more steps for the same work", "less at once: a smaller input, smaller pieces");
}

static bool is_about(const struct plim_knowledge_entry *entry, const char *cause)
{
    return cause && strstr(plim_entry_field(entry, PLIM_FIELD_CAUSE, 0).text, cause) != NULL;
}

/* What stands with a message that the lists below do not fit, after what its figures say. */
static bool advise_own(struct plim_advice *advice)
{
    struct plim_knowledge_entry entry;
    const char *rule = advice->answer->best.rule ? advice->answer->best.rule : "";
    if (!plim_knowledge_of(advice->finding, PLIM_CAUSE_UNKNOWN, &entry) ||
        !plim_entry_field(&entry, PLIM_FIELD_OWN, 0).text ||
        (!is_about(&entry, plim_cause_name(advice->answer->best.cause)) && strcmp(rule, "rest") != 0) ||
        plim_is_absurd(advice->finding))
        return false;
    plim_advise_figures(advice);
    add_entry(advice, &entry);
    return true;
}

/*
 * What the entry of the message has, when it is about this cause, or the cause is only what is left over; else what the
 * entry of the cause has. That of one step speaks of training: it is for those who can train. Where no cause is known,
 * the entry says how to find one.
 */
static void advise_from_entry(struct plim_advice *advice)
{
    struct plim_knowledge_entry entry;
    const enum plim_cause cause = advice->answer->best.cause;
    const char *name = plim_cause_name(cause);
    const char *rule = advice->answer->best.rule ? advice->answer->best.rule : "";
    const bool is_recovered = advice->finding->pattern && advice->finding->pattern->role == PLIM_PATTERN_ROLE_RECOVERED;
    const bool is_stranger = cause == PLIM_CAUSE_BATCH_OR_ACTIVATION && !plim_advice_is(advice, python);
    if (!plim_knowledge_of(advice->finding, PLIM_CAUSE_UNKNOWN, &entry)) {
        if (is_stranger)
            advise_anybody(advice);
        else if (name && plim_knowledge_by_id(name, &entry) && !is_recovered)
            add_entry(advice, &entry);
    } else if (!name || is_about(&entry, name) || is_recovered || !strcmp(rule, "rest")) {
        add_entry(advice, &entry);
    } else if (is_stranger) {
        advise_anybody(advice);
    } else if (cause != PLIM_CAUSE_NOT_OOM && plim_knowledge_by_id(name, &entry)) {
        add_entry(advice, &entry);
    }
}

/* The kinds of trouble that the lists below compute something for. */
static void (*const by_cause[PLIM_CAUSE_MAX_])(struct plim_advice *) = {
    [PLIM_CAUSE_MODEL_TOO_BIG] = plim_advise_model,
    [PLIM_CAUSE_OTHER_PROCESS] = plim_advise_others,
    [PLIM_CAUSE_FRAGMENTATION] = plim_advise_pieces,
    [PLIM_CAUSE_KV_CACHE_CONTEXT] = plim_advise_context,
    [PLIM_CAUSE_BATCH_OR_ACTIVATION] = plim_advise_step,
    [PLIM_CAUSE_LEAK_OR_GROWTH] = plim_advise_growth,
    [PLIM_CAUSE_OPTIMIZER_STATES] = plim_advise_optimizer,
    [PLIM_CAUSE_HOST_RAM] = plim_advise_host,
    [PLIM_CAUSE_SHM] = plim_advise_shm,
    [PLIM_CAUSE_ALLOCATOR_LIMIT] = plim_advise_limit,
    [PLIM_CAUSE_MISCONFIGURATION_UTILIZATION] = plim_advise_share,
    [PLIM_CAUSE_DRIVER_OR_CONTEXT] = plim_advise_driver,
};

void plim_remedies_find(const struct plim_finding *finding, const struct plim_log_context *context,
                        const struct plim_cause_answer *answer, struct plim_remedies *ret_remedies)
{
    const struct plim_frame *frame;
    struct plim_advice advice = { .finding = finding,
                                  .context = context,
                                  .answer = answer,
                                  .trace = plim_trace_read(context, &frame),
                                  .missing_bytes = plim_is_known(answer->missing_bytes_of_kv)
                                                       ? answer->missing_bytes_of_kv
                                                       : answer->shortfall_bytes,
                                  .remedies = ret_remedies };
    memset(ret_remedies, 0, sizeof *ret_remedies);
    if (!advise_own(&advice) && !plim_advise_llama(&advice) && !plim_advise_library(&advice) &&
        by_cause[answer->best.cause])
        by_cause[answer->best.cause](&advice);
    if (ret_remedies->n == 0 && !finding->is_recovered)
        advise_from_entry(&advice);
}
