/* SPDX-License-Identifier: MIT */
/*
 * Command lines, one word per line of the input: of `plimsoll fit` or, after "--", of an engine. An accepted line must
 * give a bill of a small model and commands that are accepted again.
 */
#include "fuzz.h"

#include "cli/fit/machine.h"
#include "cli/fit/options.h"
#include "engine/type.h"
#include "gguf_writer.h"
#include "plimsoll/plan.h"

#include <string.h>

enum { MAX_WORDS = 64, MAX_TEXT = 4096 };

static struct plim_model *model;
static struct plim_bill bill;
static struct plim_fix fixes[PLIM_MAX_FIXES];

static void add_layer(struct gguf_writer *w, unsigned layer)
{
    static const struct {
        const char *name;
        uint64_t ne0, ne1, ne2;
    } tensors[] = { { "attn_norm", 256, 1, 1 },      { "attn_q", 256, 256, 1 },        { "attn_k", 256, 128, 1 },
                    { "attn_v", 256, 128, 1 },       { "attn_output", 256, 256, 1 },   { "ffn_norm", 256, 1, 1 },
                    { "ffn_gate_inp", 256, 4, 1 },   { "ffn_gate_exps", 256, 512, 4 }, { "ffn_up_exps", 256, 512, 4 },
                    { "ffn_down_exps", 512, 256, 4 } };
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%u.%s.weight", layer, tensors[i].name);
        gguf_add_tensor(w, name, tensors[i].ne1 == 1 ? PLIM_DTYPE_F32 : PLIM_DTYPE_Q4_K, tensors[i].ne0, tensors[i].ne1,
                        tensors[i].ne2);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const struct {
        const char *key;
        uint32_t value;
    } keys[] = { { "llama.context_length", 8192 },     { "llama.embedding_length", 256 },
                 { "llama.block_count", 3 },           { "llama.feed_forward_length", 512 },
                 { "llama.attention.head_count", 4 },  { "llama.attention.head_count_kv", 2 },
                 { "llama.expert_count", 4 },          { "llama.expert_used_count", 2 },
                 { "llama.rope.dimension_count", 64 }, { "llama.vocab_size", 1024 } };
    struct gguf_writer w = { 0 };
    (void)argc, (void)argv;
    setenv("PLIMSOLL_SYSROOT", "/nonexistent", 1); /* reading this machine's memory takes longest */
    gguf_add_string(&w, "general.architecture", "llama");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        gguf_add_u32(&w, keys[i].key, keys[i].value);
    gguf_add_f32(&w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    gguf_add_tensor(&w, "token_embd.weight", PLIM_DTYPE_Q4_K, 256, 1024, 1);
    gguf_add_tensor(&w, "output_norm.weight", PLIM_DTYPE_F32, 256, 1, 1);
    for (unsigned layer = 0; layer < 3; layer++)
        add_layer(&w, layer);
    model = gguf_model(&w);
    gguf_writer_done(&w);
    return 0;
}

static void check_commands(const struct plim_fit_options *o, uint32_t n_fixes)
{
    char text[PLIM_COMMAND_BYTES];
    for (uint32_t i = 0; i < n_fixes; i++) {
        if (plim_command_text(&o->command, fixes[i].changes, fixes[i].n_changes, text))
            FUZZ_REQUIRE(strlen(text) < PLIM_COMMAND_BYTES);
        const struct plim_engine_type *type;
        for (size_t k = 0; (type = plim_engine_type_at(k)); k++)
            if (type->paste && !strcmp(type->rules, o->arguments.setup.type->rules))
                type->paste(&fixes[i], &bill, text, sizeof text);
    }
}

static void answer(struct plim_fit_options *o, bool is_with_fixes)
{
    static struct plim_machine machine;
    struct plim_error error = { 0 };
    struct plim_engine *engine = NULL;
    struct plim_notes notes = { 0 };
    static struct plim_adjustment start;
    uint32_t n_fixes = 0;
    o->ram_bytes = o->ram_bytes ? o->ram_bytes : 1;
    if (o->n_cards == 0 && o->n_budgets == 0)
        o->budget_bytes[o->n_budgets++] = 1 << 24; /* independent of the fuzzer's own machine */
    if (plim_cli_machine(o, &machine, &notes, &error) < 0 ||
        plim_engine_new(model, o->arguments.setup.type, o->version, &engine, &error) < 0) {
        FUZZ_REQUIRE(error.what[0]);
        return;
    }
    const struct plim_setup *setup = &o->arguments.setup;
    if (plim_engine_bill(engine, setup, &machine, &o->margin, &bill, &error) < 0) {
        FUZZ_REQUIRE(error.what[0]);
    } else if (is_with_fixes && plim_plan_fixes(engine, setup, &machine, &o->margin, &bill, fixes, PLIM_MAX_FIXES,
                                                &n_fixes, &error) == 0) {
        check_commands(o, n_fixes);
        if (plim_engine_adjust(engine, setup, &machine, &bill, &start, &error) < 0)
            FUZZ_REQUIRE(error.what[0]);
    }
    plim_engine_free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[MAX_TEXT];
    char *words[MAX_WORDS + 1] = { "fit" };
    struct plim_fit_options options;
    struct plim_error error = { 0 };
    int n_words = 1;
    size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    for (char *rest = text; rest && n_words < MAX_WORDS;)
        words[n_words++] = strsep(&rest, "\n");
    int result = plim_fit_options_parse(n_words, words, &options, &error);
    if (result >= 0)
        answer(&options, size % 8 == 0); /* fixes take a hundred bills */
    else
        FUZZ_REQUIRE(error.code == result && error.what[0]);
    plim_fit_options_done(&options);
    return 0;
}
