/* SPDX-License-Identifier: MIT */
/*
 * A runtime that does not exist, in one file: what a new one needs. It stages its weights while it loads, computes in
 * batches of tokens, and gives its cache what is left of a share of the card. It proves that plan, report and cli know
 * no runtime: nothing in them was written for it.
 */
#include "base/mem.h"
#include "base/units.h"
#include "bill/bill.h"
#include "engine/command.h"
#include "engine/type.h"

#include <stdio.h>
#include <string.h>

enum { TOKEN_KV_BYTES = 1 << 16, TOKEN_ACTIVATION_BYTES = 1 << 20, STAGED_PART = 4, LEAST_TOKENS = 64 };

/* --- settings --- */

struct toy_setup {
    uint32_t n_ctx, n_tokens, percent;
};

static struct toy_setup *own(struct plim_setup *setup) { return (struct toy_setup *)(void *)setup->own; }

static const struct toy_setup *own_of(const struct plim_setup *setup)
{
    return (const struct toy_setup *)(const void *)setup->own;
}

enum { MODEL, N_CTX, N_TOKENS, PERCENT, N_OPTIONS };

#define AT(field) .offset = offsetof(struct plim_setup, own) + offsetof(struct toy_setup, field)

static const struct plim_option options[N_OPTIONS] = {
    [MODEL] = { { "-m --model", "", "FILE", "the model" }, .kind = PLIM_OPTION_MODEL },
    [N_CTX] = { { "--max-len", "", "N", "longest sequence" },
                .key = "n_ctx",
                .variable = "TOY_MAX_LEN",
                .kind = PLIM_OPTION_COUNT,
                AT(n_ctx),
                .low = 1,
                .high = 1 << 20,
                .is_compared = true,
                .reports_default = true },
    [N_TOKENS] = { { "--batched-tokens", "", "N", "tokens computed at once" },
                   .key = "n_tokens",
                   .kind = PLIM_OPTION_COUNT,
                   AT(n_tokens),
                   .low = 1,
                   .high = 1 << 20 },
    [PERCENT] = { { "--share", "", "PERCENT", "part of the card that may be used" },
                  .key = "percent",
                  .kind = PLIM_OPTION_COUNT,
                  AT(percent),
                  .low = 1,
                  .high = 100 },
};

static void init(struct plim_setup *setup) { *own(setup) = (struct toy_setup){ 0, 1024, 90 }; }

/* --- rules --- */

static int open_engine(const struct plim_model *model, const char *version, struct plim_engine **ret_engine,
                       struct plim_error *reterr)
{
    (void)model;
    *ret_engine = plim_alloc(1, sizeof **ret_engine);
    if (!*ret_engine)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    (*ret_engine)->version = version ? version : "1";
    return 0;
}

static void close_engine(struct plim_engine *engine) { plim_free(engine); }

static void shape(const struct plim_engine *engine, struct plim_model_shape *ret_shape)
{
    (void)engine;
    *ret_shape = (struct plim_model_shape){ .n_ctx_train = 4096, .has_attention = true };
}

static void add_setting(struct plim_bill *bill, int option, int64_t value)
{
    plim_bill_add_setting(bill, &options[option], options[option].key, PLIM_SETTING_INTEGER, value, NULL);
}

static int write_bill(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                      struct plim_bill *bill, struct plim_error *reterr)
{
    const struct toy_setup *o = own_of(setup);
    const uint64_t weights_bytes = plim_model_tensor_bytes(engine->model), n_ctx = o->n_ctx ? o->n_ctx : 4096;
    (void)reterr;
    add_setting(bill, N_CTX, (int64_t)n_ctx);
    bill->settings[0].is_default = o->n_ctx == 0;
    add_setting(bill, N_TOKENS, o->n_tokens);
    add_setting(bill, PERCENT, o->percent);
    plim_bill_add_devices(bill, machine, machine->n_cards);
    for (uint32_t i = 0; i < machine->n_cards; i++) {
        struct plim_device_bill *device = &bill->device[i];
        plim_bill_add(device, PLIM_PILLAR_WEIGHTS, "weights", PLIM_BASIS_EXACT, weights_bytes);
        struct plim_line *line =
            plim_bill_add(device, PLIM_PILLAR_WEIGHTS, "staging", PLIM_BASIS_EXACT, weights_bytes / STAGED_PART);
        plim_line_in_phases(device, line, PLIM_IN_PHASE(PLIM_PHASE_LOAD));
        line = plim_bill_add(device, PLIM_PILLAR_ACTIVATIONS, "activations", PLIM_BASIS_EXACT,
                             (uint64_t)o->n_tokens * TOKEN_ACTIVATION_BYTES);
        plim_line_in_phases(device, line, PLIM_IN_PHASE(PLIM_PHASE_PREFILL) | PLIM_IN_PHASE(PLIM_PHASE_DECODE));
        line = plim_bill_add(device, PLIM_PILLAR_KV_CACHE, "cache", PLIM_BASIS_EXACT, n_ctx * TOKEN_KV_BYTES);
        plim_line_in_phases(device, line, PLIM_IN_PHASE(PLIM_PHASE_PREFILL) | PLIM_IN_PHASE(PLIM_PHASE_DECODE));
        plim_line_is_elastic(line);
        plim_bill_stretch(device, device->total_bytes / 100 * o->percent);
        bill->capacity.kv_n_tokens += line->bytes / TOKEN_KV_BYTES;
        bill->capacity.n_ctx = (uint32_t)n_ctx;
        bill->capacity.n_seq = (uint32_t)(bill->capacity.kv_n_tokens / n_ctx);
        plim_bill_add_card(&machine->card[i], device);
    }
    return 0;
}

/* --- advice --- */

static bool tokens_range(const struct plim_situation *at, const struct plim_setup *from,
                         struct plim_lever_range *ret_range)
{
    (void)from;
    *ret_range = (struct plim_lever_range){ .now = own_of(at->setup)->n_tokens,
                                            .low = LEAST_TOKENS,
                                            .high = own_of(at->setup)->n_tokens / 2,
                                            .fallback = LEAST_TOKENS };
    return ret_range->high >= LEAST_TOKENS;
}

static void tokens_set(const struct plim_situation *at, uint32_t n, struct plim_setup *setup)
{
    (void)at;
    own(setup)->n_tokens = n;
}

static void tokens_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    snprintf(fix->change, sizeof fix->change, "batches of %u tokens instead of %u", own_of(after)->n_tokens,
             own_of(at->setup)->n_tokens);
    snprintf(fix->costs, sizeof fix->costs, "prompts are read more slowly");
}

static bool tokens_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                        char *text, size_t size)
{
    (void)bill;
    snprintf(text, size, "batches of %u", own_of(after)->n_tokens);
    return own_of(after)->n_tokens != own_of(at->setup)->n_tokens;
}

static const struct plim_lever tokens = {
    .name = "tokens",
    .search = PLIM_LEVER_HALVES,
    .range = tokens_range,
    .set = tokens_set,
    .describe = tokens_describe,
    .list = tokens_list,
};

static const struct plim_lever *const levers[] = { &tokens, NULL };

static uint32_t write_changes(const struct plim_situation *at, const struct plim_lever *lever,
                              const struct plim_setup *to, struct plim_change ret_changes[PLIM_FIX_MAX_CHANGES])
{
    (void)lever;
    if (own_of(to)->n_tokens == own_of(at->setup)->n_tokens)
        return 0;
    ret_changes[0].option = &options[N_TOKENS];
    snprintf(ret_changes[0].value, sizeof ret_changes[0].value, "%u", own_of(to)->n_tokens);
    return 1;
}

/* --- words and command lines --- */

static const char *program(const struct plim_setup *setup)
{
    (void)setup;
    return "toy-serve";
}

static void describe(const struct plim_bill *bill, uint32_t n_cards, char *text, size_t size)
{
    snprintf(text, size, "%d tokens at once on %u cards", (int)plim_bill_setting_integer(bill, "n_tokens"), n_cards);
}

static int find_program(const char *name, const char *next, struct plim_setup *setup)
{
    (void)next, (void)setup;
    return !strcmp(name, "toy-serve");
}

static int read_variable(const char *name, const char *value, struct plim_arguments *arguments,
                         struct plim_error *reterr)
{
    return plim_option_apply_variable(arguments->setup.type, name, value, arguments, reterr);
}

static int read_command(int argc, char *const *argv, int first, struct plim_arguments *arguments,
                        struct plim_command *command, struct plim_error *reterr)
{
    int result = 0;
    for (int i = first; i + 1 < argc && result == 0; i += 2) {
        bool on;
        const struct plim_option *option = plim_option_named(arguments->setup.type, argv[i], &on);
        if (!option)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "unknown option '%s'", argv[i]);
        plim_command_add_option(command, option, argv[i], strlen(argv[i]), argv[i + 1]);
        result = plim_option_apply(option, on, argv[i + 1], arguments, reterr);
    }
    return result;
}

const struct plim_engine_type plim_toy_type = {
    .name = "toy",
    .rules = "toy",
    .heading = "the toy's options",
    .tasks = PLIM_TASK_INFER,
    .options = options,
    .n_options = N_OPTIONS,
    .variable_prefix = "TOY_",
    .init = init,
    .open = open_engine,
    .close = close_engine,
    .shape = shape,
    .bill = write_bill,
    .levers = levers,
    .write_changes = write_changes,
    .client = program,
    .program = program,
    .describe = describe,
    .find_program = find_program,
    .read_variable = read_variable,
    .read_command = read_command,
};
