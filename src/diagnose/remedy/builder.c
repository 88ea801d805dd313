/* SPDX-License-Identifier: MIT */
/* What the files of advice are written with: adding to the lists, and asking the finding. */
#include "diagnose/remedy/advice.h"
#include "diagnose/remedy/owners.h"
#include "diagnose/scan/patterns/pattern.h"

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

bool plim_advice_is_llama(const struct plim_advice *advice)
{
    return plim_advice_is(advice, "llama.cpp ollama koboldcpp lmstudio");
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
    static const char *const by_framework[][2] = { { "rocm", "HIP" }, { "sycl", "SYCL" }, { "metal", "Metal" } };
    for (size_t i = 0; !*word && i < sizeof by_framework / sizeof *by_framework; i++)
        if (plim_advice_is(advice, by_framework[i][0]))
            return by_framework[i][1];
    return is_mac ? "Metal" : word;
}

bool plim_advice_beside(const struct plim_advice *advice, const char *program)
{
    bool is = plim_advice_is(advice, program);
    for (uint32_t i = 0; advice->context && i < advice->context->n_programs; i++)
        is = is || !strcmp(advice->context->programs[i]->framework, program);
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

bool plim_advice_has_torch(const struct plim_advice *advice)
{
    return plim_words_fit("expandable_segments", advice->finding->framework);
}

bool plim_advice_has_segments(const struct plim_advice *advice)
{
    const char *version = plim_figure_word(advice->finding, advice->context, PLIM_W_TORCH_VERSION);
    char *end;
    const long major = strtol(version, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    if (*version)
        return major > 2 || (major == 2 && minor >= 1);
    return !plim_is_known(plim_figure(advice->finding, NULL, PLIM_N_CACHED_BYTES)) &&
           !plim_is_known(plim_figure(advice->finding, NULL, PLIM_N_RESERVED_BYTES));
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
