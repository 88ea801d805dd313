/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/log/log.h"

#include "engine/llamacpp/flags/options.h"
#include "engine/llamacpp/log/breakdown.h"
#include "engine/log_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One start of the program. */
struct start {
    struct plim_receipt done; /* the loads that are over */
    struct plim_receipt load; /* the one that is being read */
    struct plim_receipt aux;  /* projector, adapters; and the names of the cards */
    struct plim_breakdown table;
    uint32_t n_loads, n_contexts;
    uint64_t weights_bytes;
    bool has_weights, has_context, is_context_over;
    char projector_device[PLIM_RECEIPT_ID_BYTES];
};

struct llama_log {
    struct start start;
    struct plim_receipt before; /* of the start before this one, which stays when this one has no figures */
    uint32_t n_before;
};

static void init_start(struct start *log)
{
    memset(log, 0, sizeof *log);
    plim_receipt_init(&log->done, "llama.cpp", "log");
    plim_receipt_init(&log->load, "llama.cpp", "log");
    plim_receipt_init(&log->aux, "llama.cpp", "log");
    snprintf(log->projector_device, sizeof log->projector_device, "gpu0");
}

/* --- loads and starts --- */

static bool has_lines(const struct plim_receipt *receipt)
{
    for (uint32_t i = 0; i < receipt->n_devices; i++)
        if (receipt->device[i].n_lines)
            return true;
    return false;
}

static void add_all(const struct plim_receipt *from, const char *prefix, struct plim_receipt *to)
{
    char label[PLIM_RECEIPT_LABEL_BYTES + 8];
    for (uint32_t i = 0; i < from->n_devices; i++) {
        struct plim_receipt_device *device = NULL;
        for (uint32_t k = 0; k < from->device[i].n_lines; k++) {
            const struct plim_receipt_line *line = &from->device[i].line[k];
            device = device ? device : plim_receipt_device(to, from->device[i].id);
            snprintf(label, sizeof label, "%s%s", prefix, line->label);
            plim_receipt_add(device, line->pillar, label, line->bytes, line->high_bytes - line->bytes);
        }
    }
}

static void end_load(struct start *log)
{
    bool is_trial = log->has_weights && log->weights_bytes == 0;
    if (has_lines(&log->load) && !is_trial) {
        if (log->n_loads == 0) {
            log->done.settings = log->load.settings;
            memcpy(log->done.model, log->load.model, sizeof log->done.model);
            log->done.is_whole = log->load.is_whole;
        }
        add_all(&log->load, log->n_loads ? "draft " : "", &log->done);
        log->n_loads++;
    }
    plim_receipt_init(&log->load, "llama.cpp", "log");
    log->has_weights = log->has_context = log->is_context_over = false;
    log->weights_bytes = 0;
    log->n_contexts = 0;
}

/* "build: 6115 (9c35706b) with ..." */
static bool read_build(const char *line, int64_t *ret_number)
{
    const char *text = plim_log_after(line, "build: ");
    const char *end = text ? plim_log_number(text, ret_number) : NULL;
    return end && *ret_number >= 0 && end[0] == ' ' && end[1] == '(';
}

static bool is_start(const char *line)
{
    static const char *const words[] = { "load_model: loading model '", "starting llama server",
                                         "starting llama-server", "starting go runner", "msg=\"starting runner\"" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(line, words[i]))
            return true;
    int64_t build;
    return read_build(line, &build);
}

/* --- buffers --- */

static const struct kind {
    const char *word, *label;
    enum plim_pillar pillar;
} kinds[] = {
    { "model", "model buffer", PLIM_PILLAR_WEIGHTS },
    { "KV", "KV buffer", PLIM_PILLAR_KV_CACHE },
    { "RS", "RS buffer", PLIM_PILLAR_KV_CACHE },
    { "compute", "compute buffer", PLIM_PILLAR_ACTIVATIONS },
    { "output", "output buffer", PLIM_PILLAR_ACTIVATIONS },
    { "LoRA", "LoRA buffer", PLIM_PILLAR_WEIGHTS },
};
enum { KIND_MODEL, KIND_KV, KIND_RS, KIND_COMPUTE, KIND_OUTPUT, KIND_LORA, N_KINDS };

struct word {
    const char *text;
    size_t length;
};

/* The word that ends before `end`, in the line that begins at `line`; empty when there is none. */
static struct word word_before(const char *line, const char *end)
{
    while (end > line && end[-1] == ' ')
        end--;
    const char *start = end;
    while (start > line && start[-1] != ' ')
        start--;
    return (struct word){ start, (size_t)(end - start) };
}

static bool ends_with(struct word word, const char *text)
{
    size_t n = strlen(text);
    return word.length >= n && !memcmp(word.text + word.length - n, text, n);
}

static int kind_named(struct word word)
{
    for (int i = 0; i < N_KINDS; i++)
        if (strlen(kinds[i].word) == word.length && !memcmp(kinds[i].word, word.text, word.length))
            return i;
    return -1;
}

struct buffer {
    int kind;
    bool is_projector;
    char id[PLIM_RECEIPT_ID_BYTES];
    struct plim_log_size size;
};

/* "load_tensors:        CUDA0 model buffer size =  4403.49 MiB" */
static bool read_buffer(const char *line, struct buffer *ret_buffer)
{
    const char *found = strstr(line, "buffer size");
    const char *equals = found ? found + strlen("buffer size") : NULL;
    if (!found || found == line || found[-1] != ' ')
        return false;
    equals += strspn(equals, " ");
    if (*equals != '=' || !plim_log_size(equals + 1, &ret_buffer->size))
        return false;
    struct word word = word_before(line, found), device = word;
    ret_buffer->kind = kind_named(word);
    if (ret_buffer->kind >= 0)
        device = word_before(line, word.text);
    struct word function = word_before(line, device.text);
    if (device.length == 0 || !ends_with(function, ":"))
        return false;
    if (ret_buffer->kind < 0 && !ends_with(function, "load_tensors:")) /* before the word "model" was added */
        return false;
    ret_buffer->kind = ret_buffer->kind < 0 ? KIND_MODEL : ret_buffer->kind;
    ret_buffer->is_projector = ends_with(function, "compute_meta:");
    plim_log_device_id(device.text, device.length, ret_buffer->id, sizeof ret_buffer->id);
    return true;
}

static void add_line(struct plim_receipt *receipt, const char *prefix, const struct buffer *b)
{
    char label[PLIM_RECEIPT_LABEL_BYTES];
    const struct kind *kind = &kinds[b->kind];
    snprintf(label, sizeof label, "%s%s", prefix, kind->label);
    plim_receipt_add(plim_receipt_device(receipt, b->id), kind->pillar, label, b->size.bytes, b->size.half_bytes);
}

static void forget_line(struct plim_receipt_device *device, const char *label)
{
    struct plim_receipt_line *line = plim_receipt_line(device, label);
    if (line)
        *line = device->line[--device->n_lines];
}

/* A context's compute buffers may be reserved anew: then the first ones are gone. */
static void forget_compute(struct start *log, const char *prefix)
{
    char label[PLIM_RECEIPT_LABEL_BYTES];
    snprintf(label, sizeof label, "%scompute buffer", prefix);
    for (uint32_t i = 0; i < log->load.n_devices; i++)
        forget_line(&log->load.device[i], label);
}

static void see_buffer(struct start *log, const struct buffer *b)
{
    if (b->is_projector) { /* reserved more than once: the last one stays */
        forget_line(plim_receipt_device(&log->aux, b->id), "mmproj compute buffer");
        add_line(&log->aux, "mmproj ", b);
        return;
    }
    if (b->kind == KIND_LORA) {
        add_line(&log->aux, "", b);
        return;
    }
    if (b->kind == KIND_MODEL) {
        if (log->has_context)
            end_load(log);
        log->has_weights = true;
        log->weights_bytes += b->size.bytes;
    } else if (log->is_context_over && b->kind != KIND_COMPUTE) {
        log->n_contexts++;
        log->is_context_over = false;
    }
    const char *prefix = log->n_contexts && b->kind != KIND_MODEL ? "MTP " : "";
    if (log->is_context_over) {
        forget_compute(log, prefix);
        log->is_context_over = false;
    }
    add_line(&log->load, prefix, b);
    log->has_context = log->has_context || b->kind != KIND_MODEL;
    log->load.is_whole = log->load.is_whole || b->kind == KIND_COMPUTE;
}

/* --- everything else --- */

static int64_t read_switch(const char *text)
{
    text += strspn(text, " ");
    static const char *const on[] = { "1", "true", "enabled", "on" }, *const off[] = { "0", "false", "disabled",
                                                                                       "off" };
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        if (!strncmp(text, on[i], strlen(on[i])))
            return 1;
        if (!strncmp(text, off[i], strlen(off[i])))
            return 0;
    }
    return -1; /* "auto" */
}

/* The key of an option, as receipts have it. */
static const char *key_of(enum plim_llamacpp_option option) { return plim_llamacpp_options[option].key; }

/* "auto" says nothing yet. */
static void put_switch(struct plim_receipt_settings *settings, const char *key, int64_t value)
{
    if (value < 0)
        plim_settings_drop(settings, key);
    else
        plim_settings_put_bool(settings, key, value != 0);
}

/* "llama_context: n_ctx                 = 8192", of the first context of a load */
static void see_setting(struct start *log, const char *line)
{
    static const struct {
        const char *name;
        enum plim_llamacpp_option option;
        bool is_switch;
    } rows[] = {
        { "n_ctx", PLIM_LLAMACPP_CTX_SIZE, false },       { "n_batch", PLIM_LLAMACPP_BATCH, false },
        { "n_ubatch", PLIM_LLAMACPP_UBATCH, false },      { "n_seq_max", PLIM_LLAMACPP_N_PARALLEL, false },
        { "flash_attn", PLIM_LLAMACPP_FLASH_ATTN, true }, { "kv_unified", PLIM_LLAMACPP_KV_UNIFIED, true },
    };
    static const char *const functions[] = { "llama_context: ", "llama_new_context_with_model: ",
                                             "llama_init_from_model: " };
    const char *text = NULL;
    for (size_t i = 0; !text && i < sizeof functions / sizeof *functions; i++)
        text = plim_log_after(line, functions[i]);
    if (!text || log->has_context)
        return;
    text += strspn(text, " ");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].name);
        const char *value = text + n;
        if (strncmp(text, rows[i].name, n) != 0)
            continue;
        value += strspn(value, " ");
        int64_t number = -1;
        if (*value != '=')
            continue;
        if (rows[i].is_switch)
            put_switch(&log->load.settings, key_of(rows[i].option), read_switch(value + 1));
        else if (plim_log_number(value + 1, &number))
            plim_settings_put_integer(&log->load.settings, key_of(rows[i].option), number);
    }
}

static void see_cache_type(struct start *log, const char *line, const char *word, enum plim_llamacpp_option option)
{
    const char *text = plim_log_after(line, word);
    char name[16];
    if (!text || plim_settings_find(&log->load.settings, key_of(option)) || strcspn(text, ")") >= sizeof name)
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ")"), text);
    enum plim_dtype type = plim_dtype_named(name);
    if (type)
        plim_settings_put_text(&log->load.settings, key_of(option), plim_dtype_name(type));
}

/* "offloaded 33/33 layers to GPU" */
static void see_layers(struct start *log, const char *line)
{
    const char *text = plim_log_after(line, "offloaded ");
    int64_t number;
    const char *end = text ? plim_log_number(text, &number) : NULL;
    if (!end || *end != '/' || number < 0)
        return;
    if (log->has_context)
        end_load(log);
    plim_settings_put_integer(&log->load.settings, key_of(PLIM_LLAMACPP_N_GPU_LAYERS), number);
}

/* "using device CUDA0 (NVIDIA GeForce RTX 4060) (0000:01:00.0) - 7056 MiB free" */
static void see_card(struct start *log, const char *line)
{
    const char *text = plim_log_after(line, "using device "), *open = text ? strchr(text, '(') : NULL;
    char id[PLIM_RECEIPT_ID_BYTES];
    if (!open || open == text)
        return;
    plim_log_device_id(text, strcspn(text, " "), id, sizeof id);
    struct plim_receipt_device *device = plim_receipt_device(&log->aux, id);
    const char *dash = strstr(open, " - "), *close = strstr(open, ") (");
    close = close ? close : strstr(open, ") - ");
    struct plim_log_size size;
    if (close)
        snprintf(device->name, sizeof device->name, "%.*s", (int)(close - open - 1), open + 1);
    if (dash && plim_log_size(dash + 3, &size))
        device->free_bytes = size.bytes;
}

static void see_projector(struct start *log, const char *line)
{
    const char *text = plim_log_after(line, "CLIP using ");
    struct plim_log_size size;
    if (text)
        plim_log_device_id(text, strcspn(text, " "), log->projector_device, sizeof log->projector_device);
    text = plim_log_after(line, "load_hparams: model size:");
    if (!text || !plim_log_size(text, &size))
        return;
    struct plim_receipt_device *device = plim_receipt_device(&log->aux, log->projector_device);
    forget_line(device, "mmproj buffer");
    plim_receipt_add(device, PLIM_PILLAR_WEIGHTS, "mmproj buffer", size.bytes, size.half_bytes);
}

static void see_model(struct start *log, const char *line)
{
    if (strstr(line, "llama_model_loader: loaded meta data with") && log->has_context)
        end_load(log);
    int64_t build;
    if (read_build(line, &build) && build > 1) /* 0 and 1: built outside of its repository */
        snprintf(log->done.version, sizeof log->done.version, "b%" PRId64, build);
    const char *name = plim_log_after(line, "general.name"), *equals = name ? strchr(name, '=') : NULL;
    if (!equals)
        return;
    snprintf(log->load.model, sizeof log->load.model, "%s", equals + 1 + strspn(equals + 1, " "));
}

static void see_line(struct start *log, const char *line)
{
    struct buffer buffer;
    if (plim_breakdown_line(&log->table, line))
        return;
    if (read_buffer(line, &buffer)) {
        see_buffer(log, &buffer);
        return;
    }
    see_model(log, line);
    see_layers(log, line);
    see_setting(log, line);
    see_cache_type(log, line, "K (", PLIM_LLAMACPP_CACHE_TYPE_K);
    see_cache_type(log, line, "V (", PLIM_LLAMACPP_CACHE_TYPE_V);
    see_card(log, line);
    see_projector(log, line);
    if (log->has_context && strstr(line, "graph") && strstr(line, "nodes") && !strstr(line, "compute_meta"))
        log->is_context_over = true;
    if (strstr(line, "using full-size SWA cache"))
        put_switch(&log->load.settings, key_of(PLIM_LLAMACPP_SWA_FULL), 1);
    else if (strstr(line, "creating non-SWA KV cache") &&
             !plim_settings_find(&log->load.settings, key_of(PLIM_LLAMACPP_SWA_FULL)))
        put_switch(&log->load.settings, key_of(PLIM_LLAMACPP_SWA_FULL), 0);
    if (strstr(line, "Flash Attention enabled") || strstr(line, "Flash Attention was auto, set to enabled"))
        put_switch(&log->load.settings, key_of(PLIM_LLAMACPP_FLASH_ATTN), 1);
    if (strstr(line, "Flash Attention disabled") || strstr(line, "Flash Attention was auto, set to disabled"))
        put_switch(&log->load.settings, key_of(PLIM_LLAMACPP_FLASH_ATTN), 0);
}

static void name_cards(const struct plim_receipt *cards, struct plim_receipt *receipt)
{
    for (uint32_t i = 0; i < receipt->n_devices; i++) {
        struct plim_receipt_device *device = &receipt->device[i];
        const struct plim_receipt_device *card = plim_receipt_find(cards, device->id);
        if (card && card->name[0])
            memcpy(device->name, card->name, sizeof device->name);
        device->free_bytes = card ? card->free_bytes : 0;
    }
}

static bool end_start(struct start *log, struct plim_receipt *ret_receipt)
{
    const struct plim_receipt_settings settings = log->load.settings;
    end_load(log);
    if (log->n_loads == 0) /* only a table, or nothing */
        log->done.settings = settings;
    bool has_buffers = has_lines(&log->done);
    if (!has_buffers && log->table.n_rows) {
        log->done.is_whole = true;
        log->done.is_estimate = plim_breakdown_is_estimate(&log->table);
    }
    add_all(&log->aux, "", &log->done);
    plim_breakdown_add(&log->table, !has_buffers, &log->done);
    name_cards(&log->aux, &log->done);
    if (!has_lines(&log->done))
        return false;
    *ret_receipt = log->done;
    return true;
}

static void init(void *state)
{
    struct llama_log *log = state;
    init_start(&log->start);
}

static void read_line(void *state, const char *line)
{
    struct llama_log *log = state;
    if (is_start(line)) {
        log->n_before += end_start(&log->start, &log->before);
        init_start(&log->start);
    }
    see_line(&log->start, line);
}

static bool end(void *state, struct plim_receipt *ret_receipt)
{
    struct llama_log *log = state;
    bool has_figures = end_start(&log->start, ret_receipt);
    if (!has_figures && log->n_before)
        *ret_receipt = log->before;
    ret_receipt->n_starts = log->n_before + has_figures;
    return ret_receipt->n_starts > 0;
}

/* --- labels --- */

static const char *const buffers[] = {
    "model buffer", "KV buffer", "RS buffer", "compute buffer", "output buffer", NULL
};
static const char *const context[] = { "KV buffer", "RS buffer", NULL };

/* The columns of the table. Its "unaccounted" is the overhead, but for the memory that the driver keeps from all. */
static const struct plim_receipt_sum sums[] = {
    { .label = "context", .parts = context, .hides = "output buffer" },
    { .label = "unaccounted",
      .pillars = 1U << PLIM_PILLAR_OVERHEAD | 1U << PLIM_PILLAR_OTHERS,
      .except = "driver reserve",
      .has_others = true },
};
static const struct plim_receipt_labels labels = { buffers, sums, sizeof sums / sizeof *sums };

const struct plim_engine_log_type plim_llama_log_type = {
    .engine = "llama.cpp",
    .reads =
        "llama.cpp's 'CUDA0 KV buffer size = 1024.00 MiB' (newer versions print it with -v or -lv 4) and the memory "
        "table at its end",
    .size = sizeof(struct llama_log),
    .init = init,
    .line = read_line,
    .receipt = end,
    .labels = &labels,
};
