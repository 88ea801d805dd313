/* SPDX-License-Identifier: MIT */
/*
 * Remedies for llama.cpp and the programs that are built on it: Ollama, KoboldCpp, LM Studio. What to change follows
 * from the stage that failed; how it is written from the program, and what else is to be had from the backend.
 */
#include "diagnose/remedy/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a setting is called in each program: N is where the value goes, M where the model does. */
enum setting {
    SETTING_LAYERS,
    SETTING_CONTEXT,
    SETTING_BATCH,
    SETTING_CACHE,
    SETTING_ATTENTION,
    SETTING_SLOTS,
    N_SETTINGS
};

#define MODELFILE(line) "printf 'FROM {M}\\n" line "\\n' > Modelfile && ollama create small -f Modelfile"

static const struct dialect {
    const char *framework;
    const char *commands[N_SETTINGS]; /* NULL: not available */
} dialects[] = {
    { "llama.cpp",
      { "llama-server -m {M} -ngl {N}", "llama-server -m {M} -c {N}", "llama-server -m {M} -ub {N}",
        "llama-server -m {M} -ctk q8_0 -ctv q8_0", "llama-server -m {M} -fa on", "llama-server -m {M} --parallel 1" } },
    /* A chat's /set comes too late for a model that does not load: Ollama reads these from a Modelfile as well. */
    { "ollama",
      { MODELFILE("PARAMETER num_gpu {N}"), MODELFILE("PARAMETER num_ctx {N}"), MODELFILE("PARAMETER num_batch {N}"),
        "OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve", "OLLAMA_FLASH_ATTENTION=1 ollama serve",
        "OLLAMA_NUM_PARALLEL=1 ollama serve" } },
    { "koboldcpp",
      { "koboldcpp --model {M} --gpulayers {N}", "koboldcpp --model {M} --contextsize {N}",
        "koboldcpp --model {M} --blasbatchsize {N}", "koboldcpp --model {M} --quantkv 1 --flashattention",
        "koboldcpp --model {M} --flashattention", NULL } },
    { "lmstudio", { NULL, "lms load {M} --context-length {N}", NULL, NULL, NULL, NULL } },
};

/* Replace "{M}" or "{N}". */
static void fill(char *text, size_t size, const char *mark, const char *value)
{
    char rest[PLIM_REMEDY_COMMAND_BYTES];
    char *at = strstr(text, mark);
    if (!at)
        return;
    snprintf(rest, sizeof rest, "%s", at + strlen(mark));
    snprintf(at, size - (size_t)(at - text), "%s%s", value, rest);
}

static void turn(const struct plim_advice *advice, struct plim_remedy *remedy, enum setting setting, int64_t value)
{
    char text[PLIM_REMEDY_COMMAND_BYTES], number[24];
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        if (!plim_advice_is(advice, dialects[i].framework) || !dialects[i].commands[setting])
            continue;
        snprintf(text, sizeof text, "%s", dialects[i].commands[setting]);
        snprintf(number, sizeof number, "%" PRId64, value);
        fill(text, sizeof text, "{M}", plim_advice_model(advice));
        fill(text, sizeof text, "{N}", number);
        plim_advise_command(remedy, "%s", text);
    }
}

static bool is_backend(const struct plim_advice *advice, const char *name)
{
    return !strcmp(plim_advice_backend(advice), name);
}

/* --- what fits --- */

/* Of the weights tried, this part fits beside 1 GiB for cache and working memory. [assumed] Below 0: unknown. */
static double part_that_fits(const struct plim_advice *advice)
{
    const int64_t free_bytes = plim_advice_number(advice, PLIM_N_FREE_BYTES), tried = advice->answer->tried_bytes;
    if (!plim_is_known(free_bytes) || !plim_is_known(tried) || tried <= 0 || free_bytes >= tried)
        return -1;
    const double room = (double)free_bytes - (double)PLIM_GIB;
    return room <= 0 ? 0 : room / (double)tried;
}

/* Layers given to the card now; they cannot be more than there are. */
static int64_t layers_now(const struct plim_advice *advice)
{
    const int64_t now = plim_advice_number(advice, PLIM_N_N_GPU_LAYERS),
                  all = plim_advice_number(advice, PLIM_N_N_LAYERS);
    const int64_t layers = plim_is_known(all) && (!plim_is_known(now) || now > all) ? all : now;
    return plim_is_known(layers) && layers > 0 && layers <= 4096 ? layers : PLIM_UNKNOWN;
}

static const char slower[] = "speed: the other layers run on the CPU";

static void fewer_layers(struct plim_advice *advice, double part)
{
    const int64_t now = layers_now(advice);
    struct plim_remedy *remedy;
    if (plim_is_known(now) && part > 0 && (int64_t)(part * (double)now) > 0) {
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, slower,
                                   "%" PRId64 " layers on the card instead of %" PRId64
                                   ", with 1 GiB for cache and working memory",
                                   (int64_t)(part * (double)now), now);
        turn(advice, remedy, SETTING_LAYERS, (int64_t)(part * (double)now));
    } else if (plim_is_known(now) && now > 4) {
        remedy = plim_advise(advice, PLIM_UNKNOWN, slower,
                             "fewer layers on the card: %" PRId64 " instead of %" PRId64 ", then more or fewer",
                             now * 3 / 4, now);
        turn(advice, remedy, SETTING_LAYERS, now * 3 / 4);
    } else if (part > 0) {
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, slower,
                                   "fewer layers on the card: %.0f %% of them fit, with 1 GiB for the rest",
                                   floor(100 * part));
        if (plim_advice_is(advice, "lmstudio"))
            plim_advise_command(remedy, "lms load %s --gpu %.2f", plim_advice_model(advice), floor(100 * part) / 100);
        else
            turn(advice, remedy, SETTING_LAYERS, 20);
    } else if (plim_advice_is(advice, "lmstudio")) {
        remedy = plim_advise(advice, PLIM_UNKNOWN, slower, "less \"GPU Offload\" in the load settings of the model");
        plim_advise_command(remedy, "lms load %s --gpu 0.5", plim_advice_model(advice));
    } else {
        remedy = plim_advise(advice, PLIM_UNKNOWN, slower,
                             "fewer layers on the card: begin with 20, then more until it fails");
        turn(advice, remedy, SETTING_LAYERS, 20);
    }
}

static void ask_fit(struct plim_advice *advice, const char *change)
{
    if (!plim_advice_is(advice, "ollama"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "some quality", "%s", change), "plimsoll fit %s",
                            plim_advice_model(advice));
    else
        plim_advise(advice, PLIM_UNKNOWN, "some quality",
                    "a smaller model, or a smaller quantisation of it: the tags of the model in Ollama's library");
}

static void shorter_context(struct plim_advice *advice)
{
    const int64_t n_ctx = plim_advice_number(advice, PLIM_N_N_CTX);
    const int64_t length =
        plim_is_known(n_ctx) && n_ctx >= 1024 ? plim_advice_round_down((double)n_ctx / 2, 256) : 4096;
    struct plim_remedy *remedy =
        plim_is_known(n_ctx) && n_ctx >= 1024
            ? plim_advise(advice, PLIM_UNKNOWN, "conversations longer than that are cut off",
                          "half of the context: %" PRId64 " tokens instead of %" PRId64, length, n_ctx)
            : plim_advise(advice, PLIM_UNKNOWN, "conversations longer than that are cut off",
                          "a shorter context: %" PRId64 " tokens", length);
    turn(advice, remedy, SETTING_CONTEXT, length);
}

/* --- what a backend adds --- */

/* The least part of a Mac's RAM that its GPU may use: the RAM is at most the limit divided by it. */
static const double least_part_of_ram = 0.66;

/*
 * What all buffers together take, when the log has them; a GiB for what it does not have, and 4 for macOS. The mark of
 * macOS can be moved there. [iogpu.wired_limit_mb, macOS 14 and later, MiB; 0 is the default; gone with the next start]
 */
void plim_advise_wired_limit(struct plim_advice *advice, int64_t needed_bytes)
{
    const int64_t limit = plim_advice_number(advice, PLIM_N_FREE_BYTES);
    struct plim_remedy *remedy;
    if (plim_is_known(needed_bytes) && needed_bytes > 0) {
        const int64_t bytes = needed_bytes + (int64_t)PLIM_GIB, mib = bytes / (int64_t)PLIM_MIB;
        struct plim_size_texts texts = { .n = 0 };
        if (plim_is_known(limit) && limit > 0 &&
            (double)bytes + 4 * (double)PLIM_GIB > (double)limit / least_part_of_ram) {
            plim_advise_useless(advice, "iogpu.wired_limit_mb",
                                "%s are needed, and this Mac lets the GPU use %s of its RAM", plim_say(&texts, bytes),
                                plim_say(&texts, limit));
            return;
        }
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, "macOS and other programs get less, until the next start",
                                   "let the GPU use more of the RAM: it needs %" PRId64
                                   " MiB with 1 GiB to spare, and macOS wants 4 to 8 GiB for itself",
                                   mib);
        plim_advise_command(remedy, "sudo sysctl iogpu.wired_limit_mb=%" PRId64, mib);
        return;
    }
    remedy = plim_advise(advice, PLIM_UNKNOWN, "macOS and other programs get less, until the next start",
                         "let the GPU use 85 %% of the RAM, instead of 66 to 75 %% (macOS 14 and later)");
    plim_advise_command(remedy, "sudo sysctl iogpu.wired_limit_mb=$(( $(sysctl -n hw.memsize) / 1048576 * 85 / 100 ))");
}

static int64_t all_buffers(const struct plim_advice *advice)
{
    const int64_t model = plim_advice_number(advice, PLIM_N_MODEL_BYTES),
                  kv = plim_advice_number(advice, PLIM_N_KV_BYTES),
                  compute = plim_advice_number(advice, PLIM_N_COMPUTE_BYTES);
    if (!plim_is_known(model) || model <= 0 || !plim_is_known(kv) || kv < 0)
        return PLIM_UNKNOWN;
    return model + kv + (plim_is_known(compute) && compute > 0 ? compute : 0);
}

/* The largest storage buffer that a 32-bit size can name; drivers of Vulkan and Level Zero stop there unless asked. */
#define FOUR_GIB ((int64_t)(4 * PLIM_GIB))

static void backend_extras(struct plim_advice *advice)
{
    const int64_t tried = advice->answer->tried_bytes;
    const char *model = plim_advice_model(advice);
    const bool is_capped =
        strstr(plim_figure_word(advice->finding, NULL, PLIM_W_OPERATION), "exceeds device memory") != NULL;
    if (is_backend(advice, "Metal"))
        plim_advise_wired_limit(advice, all_buffers(advice));
    if (!plim_advice_is(advice, "llama.cpp"))
        return;
    if (is_backend(advice, "Vulkan") && is_capped && plim_is_known(tried) && tried < FOUR_GIB)
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN,
                                              "nothing, if the driver can do it; else it fails in another place",
                                              "let one buffer be larger than the driver names as its limit"),
                            "GGML_VK_FORCE_MAX_ALLOCATION_SIZE=%" PRId64 " llama-server -m %s", tried, model);
    else if (is_backend(advice, "Vulkan") && !is_capped)
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "much speed for what lies there",
                                        "let buffers go to the RAM when the card is full"),
                            "GGML_VK_ALLOW_SYSMEM_FALLBACK=1 llama-server -m %s", model);
    if (is_backend(advice, "SYCL") && plim_is_known(tried) && tried > FOUR_GIB)
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing",
                                        "allow pieces over 4 GiB, which Level Zero refuses unless it is told"),
                            "UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1 llama-server -m %s", model);
    if (is_backend(advice, "HIP"))
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "nothing", "see how full the card is, and which processes use it"),
            "rocm-smi --showpids --showmeminfo vram");
}

/* --- by stage --- */

static void weights(struct plim_advice *advice)
{
    fewer_layers(advice, part_that_fits(advice));
    ask_fit(advice, "a smaller file of the same model: plimsoll says which fits, and with how many layers");
    backend_extras(advice);
    if (plim_advice_is(advice, "ollama"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "room for layers",
                                        "make Ollama plan with 1 GiB less of each card (its service: systemctl edit "
                                        "ollama, Environment=)"),
                            "OLLAMA_GPU_OVERHEAD=1073741824 ollama serve");
    plim_advise_useless(advice, "a shorter context or a smaller batch", "the weights are loaded first, before either");
}

/* Recurrent models: a state for each sequence, as large for one token as for a million. */
static void states(struct plim_advice *advice)
{
    turn(advice, plim_advise(advice, PLIM_UNKNOWN, "requests wait for each other", "one slot: one state"),
         SETTING_SLOTS, 1);
    fewer_layers(advice, -1);
    ask_fit(advice, "let plimsoll compute what fits");
    plim_advise_useless(advice, "a shorter context", "a state has the same size at any length");
}

/* The cache of a token in 8 bits beside 16: 34 bytes for 32 values in ggml's q8_0. */
static const double q8_0_ratio = 34.0 / 64.0;

static void context(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const int64_t n_ctx = plim_advice_number(advice, PLIM_N_N_CTX), n_seq = plim_advice_number(advice, PLIM_N_N_SEQ);
    const int64_t free_bytes =
        plim_is_known(a->free_bytes) ? a->free_bytes : plim_left_by_weights(advice->finding, advice->context);
    const int64_t layers = plim_advice_number(advice, PLIM_N_N_GPU_LAYERS);
    struct plim_remedy *remedy = NULL;
    int64_t length = PLIM_UNKNOWN;
    if (plim_is_known(free_bytes) && plim_is_known(a->tried_bytes) && a->tried_bytes > free_bytes)
        advice->missing_bytes = a->tried_bytes - free_bytes;
    /* Of what is free, half a GiB stays for the working memory. */
    if (plim_is_known(n_ctx) && n_ctx > 0 && plim_is_known(a->tried_bytes) && a->tried_bytes > 0 &&
        plim_is_known(free_bytes) && free_bytes > (int64_t)PLIM_GIB)
        length = plim_advice_round_down(
            (double)n_ctx * ((double)free_bytes - (double)PLIM_GIB / 2) / (double)a->tried_bytes, 256);
    if (plim_is_known(length) && length > 0 && length < n_ctx) {
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, "conversations longer than that are cut off",
                                   "a context of %" PRId64 " tokens instead of %" PRId64, length, n_ctx);
    } else if (plim_is_known(n_ctx) && n_ctx >= 1024) {
        length = plim_advice_round_down((double)n_ctx / 2, 256);
        remedy = plim_advise(advice, plim_is_known(a->tried_bytes) ? a->tried_bytes / 2 : PLIM_UNKNOWN,
                             "conversations longer than that are cut off",
                             "half of the context: %" PRId64 " tokens instead of %" PRId64, length, n_ctx);
    } else {
        const bool is_ollama = plim_advice_is(advice, "ollama");
        length = is_ollama ? 4096 : 8192;
        remedy = plim_advise(advice, PLIM_UNKNOWN, "conversations longer than that are cut off",
                             "a context of %" PRId64 " tokens: without the knob it is %s", length,
                             is_ollama ? "chosen by the card, or by the client" : "the longest that the model knows");
    }
    turn(advice, remedy, SETTING_CONTEXT, length);
    remedy = plim_advise(
        advice, plim_is_known(a->tried_bytes) ? (int64_t)((1 - q8_0_ratio) * (double)a->tried_bytes) : PLIM_UNKNOWN,
        "a little accuracy", "the cache in 8 bits: 53 %% of its bytes");
    turn(advice, remedy, SETTING_CACHE, 0);
    if (plim_is_known(n_seq) && n_seq > 1)
        turn(advice,
             plim_advise(advice, PLIM_UNKNOWN, "requests wait for each other", "one slot instead of %" PRId64, n_seq),
             SETTING_SLOTS, 1);
    if (plim_is_known(layers) && layers > 4) {
        const int64_t model = plim_advice_number(advice, PLIM_N_MODEL_BYTES);
        bool can = plim_is_known(a->tried_bytes) && plim_is_known(model) && model >= 0;
        /* a quarter of the layers leaves with its weights and its cache */
        remedy = plim_advise(advice, can ? a->tried_bytes / 4 + model / 4 : PLIM_UNKNOWN, "speed",
                             "fewer layers on the card: the cache of a layer lives where the layer does");
        turn(advice, remedy, SETTING_LAYERS, layers * 3 / 4);
    }
    backend_extras(advice);
    if (!plim_advice_is(advice, "ollama"))
        ask_fit(advice, "let plimsoll compute what fits");
    plim_advise_useless(advice,
                        plim_advice_is(advice, "ollama")      ? "a smaller num_batch"
                        : plim_advice_is(advice, "llama.cpp") ? "a smaller -b or -ub"
                                                              : "a smaller batch",
                        "that is the working memory, which comes after the cache");
}

static void flash_attention(struct plim_advice *advice)
{
    turn(advice,
         plim_advise(advice, PLIM_UNKNOWN, "nothing, on cards that can do it",
                     "flash attention: the working memory no longer grows with the context"),
         SETTING_ATTENTION, 0);
}

/* The default of -ub. */
enum { DEFAULT_UBATCH = 512 };

static void working_memory(struct plim_advice *advice)
{
    const struct plim_cause_answer *a = advice->answer;
    const int64_t n_ubatch = plim_advice_number(advice, PLIM_N_N_UBATCH);
    const int64_t now = plim_is_known(n_ubatch) && n_ubatch > 64 && n_ubatch < (1 << 20) ? n_ubatch : DEFAULT_UBATCH;
    const int64_t layers = layers_now(advice);
    struct plim_size_texts texts = { .n = 0 };
    struct plim_remedy *remedy;
    bool is_absurd =
        plim_is_known(a->tried_bytes) && ((plim_is_known(a->total_bytes) && a->tried_bytes > a->total_bytes) ||
                                          a->tried_bytes > (int64_t)(100 * PLIM_GIB));
    if (is_absurd && plim_advice_is(advice, "llama.cpp"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "the cards work one after the other",
                                        "build with one copy of the buffers: %s is requested when several cards keep "
                                        "several copies",
                                        plim_say(&texts, a->tried_bytes)),
                            "cmake -B build -DGGML_CUDA=ON -DGGML_SCHED_MAX_COPIES=1 && cmake --build build -j");
    /* Scores of all tokens by all tokens are what makes it so large. [assumed] */
    const bool is_large = plim_is_known(a->tried_bytes) && a->tried_bytes >= (int64_t)(2 * PLIM_GIB) && !is_absurd;
    if (is_large)
        flash_attention(advice);
    remedy = plim_advise(advice, PLIM_UNKNOWN, "prompts are read somewhat slower",
                         "a micro-batch of %" PRId64 " instead of %" PRId64 "%s", now / 2, now,
                         plim_is_known(n_ubatch) ? "" : ", the default");
    turn(advice, remedy, SETTING_BATCH, now / 2);
    if (is_large)
        shorter_context(advice);
    else
        flash_attention(advice);
    if (plim_is_known(layers) && layers > 2)
        turn(advice,
             plim_advise(advice, PLIM_UNKNOWN, "speed", "two layers less on the card: %" PRId64 " instead of %" PRId64,
                         layers - 2, layers),
             SETTING_LAYERS, layers - 2);
    else
        fewer_layers(advice, -1);
    backend_extras(advice);
}

/* A command buffer of Metal failed: what is in use at once is more than the GPU may have, of whatever kind. */
static void apple(struct plim_advice *advice)
{
    const int64_t n_ctx = plim_advice_number(advice, PLIM_N_N_CTX), kv = plim_advice_number(advice, PLIM_N_KV_BYTES);
    const int64_t limit = plim_advice_number(advice, PLIM_N_FREE_BYTES), all = all_buffers(advice);
    int64_t length = 0;
    /* Half a GiB stays for what grows while it computes. */
    if (plim_is_known(n_ctx) && n_ctx > 0 && plim_is_known(kv) && kv > 0 && plim_is_known(limit) && limit > 0 &&
        plim_is_known(all) && all > limit)
        length = plim_advice_round_down(
            (double)n_ctx * ((double)limit - (double)(all - kv) - (double)PLIM_GIB / 2) / (double)kv, 256);
    if (length > 0 && length < n_ctx)
        turn(advice,
             plim_advise_exact(advice, PLIM_UNKNOWN, "conversations longer than that are cut off",
                               "a context of %" PRId64 " tokens instead of %" PRId64, length, n_ctx),
             SETTING_CONTEXT, length);
    else
        shorter_context(advice);
    plim_advise_wired_limit(advice, all_buffers(advice));
    turn(advice,
         plim_advise(advice, PLIM_UNKNOWN, "prompts are read somewhat slower",
                     "a micro-batch of 256, half of the default"),
         SETTING_BATCH, DEFAULT_UBATCH / 2);
    ask_fit(advice, "a smaller file of the same model: plimsoll says which fits");
}

/* The line has a size or nothing, and no stage: what makes room whatever it was for. */
static void any_stage(struct plim_advice *advice)
{
    fewer_layers(advice, -1);
    shorter_context(advice);
    turn(advice, plim_advise(advice, PLIM_UNKNOWN, "a little accuracy", "the cache in 8 bits: 53 %% of its bytes"),
         SETTING_CACHE, 0);
    backend_extras(advice);
    ask_fit(advice, "let plimsoll compute what fits");
}

bool plim_advise_llama(struct plim_advice *advice)
{
    const char *rule = advice->answer->best.rule ? advice->answer->best.rule : "";
    const bool is_metal = is_backend(advice, "Metal");
    const bool is_bare = !plim_is_known(advice->answer->tried_bytes);
    if (!plim_advice_is_llama(advice))
        return false;
    switch (advice->answer->advised) {
    case PLIM_CAUSE_MODEL_TOO_BIG:
        weights(advice);
        return true;
    case PLIM_CAUSE_KV_CACHE_CONTEXT:
        if (!strcmp(plim_advice_kind(advice), "llama-rs"))
            states(advice);
        else
            context(advice);
        return true;
    case PLIM_CAUSE_BATCH_OR_ACTIVATION:
        if (is_metal && is_bare)
            apple(advice);
        else if (!strcmp(rule, "rest") ||
                 (is_bare && plim_advice_is_stage(advice, "pool") && plim_advice_is(advice, "ollama lmstudio")))
            any_stage(advice);
        else
            working_memory(advice);
        return true;
    default:
        return false;
    }
}
