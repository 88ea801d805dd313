/* SPDX-License-Identifier: MIT */
/* Command lines: read as the engine reads them, changed, written, and read again. */
#include "base/units.h"
#include "engine/command.h"
#include "engine/type.h"
#include "unit.h"

enum { MAX_WORDS = 64 };

struct line {
    char text[512];
    char *words[MAX_WORDS + 1];
    int n;
};

/* Words of a shell: single quotes are all that plim_command_text() writes. */
static void split(const char *text, struct line *line)
{
    char *out = line->text;
    line->n = 0;
    assert_true(strlen(text) < sizeof line->text);
    while (*text) {
        bool is_quoted = false;
        assert_true(line->n < MAX_WORDS);
        line->words[line->n++] = out;
        for (; *text && (is_quoted || *text != ' '); text++) {
            if (*text == '\'')
                is_quoted = !is_quoted;
            else if (*text == '\\' && !is_quoted && text[1])
                *out++ = *++text;
            else
                *out++ = *text;
        }
        *out++ = '\0';
        text += *text == ' ';
    }
    line->words[line->n] = NULL;
}

struct read {
    struct line line;
    struct plim_arguments arguments;
    struct plim_command command;
    struct plim_error error;
    int result;
};

static void read_line(const char *text, struct read *r)
{
    memset(&r->error, 0, sizeof r->error);
    memset(&r->command, 0, sizeof r->command);
    split(text, &r->line);
    plim_arguments_init(&r->arguments);
    r->result = plim_command_read(r->line.n, r->line.words, NULL, &r->arguments, &r->command, &r->error);
}

static void test_a_server(void **state)
{
    static struct read r;
    (void)state;
    read_line(
        "/usr/bin/llama-server -m a.gguf -c 32768 -ngl 99 -ctk q8_0 -ctv Q4_0 -fa on -b 4096 -ub 1024 -np 3 "
        "--no-mmap -nkvo --kv-unified --swa-full -ts 3,1 -sm row -mg 1 -ncmoe 4 --host 0.0.0.0 --port 8080 --jinja",
        &r);
    const struct plim_llamacpp_setup *s = &r.arguments.setup.llamacpp;
    assert_int_equal(r.result, 0);
    assert_int_equal(s->client, PLIM_CLIENT_SERVER);
    assert_string_equal(r.arguments.model, "a.gguf");
    assert_int_equal(s->n_ctx, 32768);
    assert_int_equal(s->n_gpu_layers, 99);
    assert_int_equal(s->type_k, PLIM_DTYPE_Q8_0);
    assert_int_equal(s->type_v, PLIM_DTYPE_Q4_0);
    assert_int_equal(s->flash_attn, PLIM_ON);
    assert_int_equal(s->n_batch, 4096);
    assert_int_equal(s->n_ubatch, 1024);
    assert_int_equal(s->n_parallel, 3);
    assert_int_equal(s->mmap, PLIM_OFF);
    assert_int_equal(s->kv_offload, PLIM_OFF);
    assert_int_equal(s->kv_unified, PLIM_ON);
    assert_int_equal(s->swa_full, PLIM_ON);
    assert_int_equal(s->n_tensor_split, 2);
    assert_true(s->tensor_split[0] == 3 && s->tensor_split[1] == 1);
    assert_int_equal(s->split_mode, PLIM_SPLIT_ROW);
    assert_int_equal(s->main_gpu, 1);
    assert_int_equal(s->n_cpu_moe, 4);
    assert_string_equal(r.command.unknown, "");
}

static void test_clients(void **state)
{
    static const struct {
        const char *line;
        enum plim_client client;
    } rows[] = {
        { "llama-server -m a.gguf", PLIM_CLIENT_SERVER },
        { "./build/bin/llama-cli -m a.gguf", PLIM_CLIENT_CLI },
        { "llama-perplexity -m a.gguf", PLIM_CLIENT_LIBRARY },
        { "env CUDA_VISIBLE_DEVICES=1 llama-server -m a.gguf", PLIM_CLIENT_SERVER },
        { "ollama run llama3.1", PLIM_CLIENT_RUNNER },
        { "ollama serve", PLIM_CLIENT_RUNNER },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct read r;
        read_line(rows[i].line, &r);
        if (r.result < 0 || r.arguments.setup.llamacpp.client != rows[i].client)
            fail_msg("%s: client %d, %s", rows[i].line, r.arguments.setup.llamacpp.client, r.error.what);
    }
}

static void test_values_that_are_refused(void **state)
{
    static const struct {
        const char *flags, *names;
    } rows[] = {
        { "-c lots", "lots" },
        { "-c -5", "-5" },
        { "-c 99999999999", "99999999999" },
        { "-c", "needs a value" },
        { "-ngl some", "some" },
        { "-ctk q8_1", "q8_1" },
        { "-ctv q4_K", "q4_K" },
        { "-ctk float16", "float16" }, /* as PyTorch calls it */
        { "-ctv U8", "U8" },
        { "-fa perhaps", "perhaps" },
        { "-ts 1,x", "1,x" },
        { "-ts nan,1", "nan" },
        { "-ts inf", "inf" },
        { "-ts -1,2", "-1,2" },
        { "-sm columns", "columns" },
        { "-ot foo", "foo" },
        { "-ot =CPU", "=CPU" },
        { "-ot a=Tape", "a=Tape" },
        { "-ot a=CudaCudaCudaCudaCudaCudaCudaCudaCudaCudaCudaCuda1", "a=Cuda" },
        { "-ub 0", "0" },
        { "-b 0", "0" },
        { "--fit maybe", "maybe" },
        { "-lm tape", "tape" },
        { "-fitt x", "x" },
        { "-cram 1e9", "1e9" },
        { "-np 100000", "100000" },
        { "-ts 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "1,1" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct read r;
        char line[256];
        snprintf(line, sizeof line, "llama-server -m a.gguf %s", rows[i].flags);
        read_line(line, &r);
        if (r.result != PLIM_E_USAGE || !strstr(r.error.what, rows[i].names))
            fail_msg("%s: %d, \"%s\"", rows[i].flags, r.result, r.error.what);
    }
}

static void assert_override(const struct plim_override *override, const char *pattern, int device)
{
    assert_int_equal(override->pattern_bytes, strlen(pattern));
    assert_memory_equal(override->pattern, pattern, strlen(pattern));
    assert_int_equal(override->device, device);
}

static void test_overrides(void **state)
{
    static struct read r;
    (void)state;
    read_line("llama-server -ot '\\.ffn_.*_exps=CPU,blk\\.1\\.=CUDA1' -ot output=CUDA0", &r);
    const struct plim_llamacpp_setup *s = &r.arguments.setup.llamacpp;
    assert_int_equal(r.result, 0);
    assert_int_equal(s->n_overrides, 3);
    assert_override(&s->override[0], "\\.ffn_.*_exps", -1);
    assert_override(&s->override[1], "blk\\.1\\.", 1);
    assert_override(&s->override[2], "output", 0);
}

static void test_as_many_overrides_as_there_is_room_for(void **state)
{
    static struct read r;
    char line[512] = "llama-server -ot a=CPU";
    (void)state;
    for (int i = 1; i < PLIM_LLAMACPP_MAX_OVERRIDES; i++)
        strcat(line, ",a=CPU");
    read_line(line, &r);
    assert_int_equal(r.result, 0);
    assert_int_equal(r.arguments.setup.llamacpp.n_overrides, PLIM_LLAMACPP_MAX_OVERRIDES);
    strcat(line, ",a=CPU");
    read_line(line, &r);
    assert_int_equal(r.result, PLIM_E_USAGE);
}

/* Eight adapters of each kind, and twelve files beside the model. */
static void test_as_many_files_as_there_is_room_for(void **state)
{
    static struct read r;
    char line[512] = "llama-server -m a.gguf";
    (void)state;
    for (int i = 0; i < PLIM_LLAMACPP_MAX_LORAS; i++)
        strcat(line, " --lora b");
    read_line(line, &r);
    assert_int_equal(r.result, 0);
    assert_int_equal(r.arguments.n_files, PLIM_LLAMACPP_MAX_LORAS);
    const size_t n = strlen(line);
    strcat(line, " --lora b");
    read_line(line, &r);
    assert_int_equal(r.result, PLIM_E_USAGE);
    assert_non_null(strstr(r.error.what, "--lora"));
    line[n] = '\0';
    for (int i = PLIM_LLAMACPP_MAX_LORAS; i < PLIM_ARGUMENTS_MAX_FILES; i++)
        strcat(line, " --lora-scaled c:1");
    read_line(line, &r);
    assert_int_equal(r.result, 0);
    assert_int_equal(r.arguments.n_files, PLIM_ARGUMENTS_MAX_FILES);
    strcat(line, " -md d.gguf");
    read_line(line, &r);
    assert_int_equal(r.result, PLIM_E_USAGE);
    assert_non_null(strstr(r.error.what, "beside the model"));
}

/* Variables of llama.cpp stand for options, by their whole names; the negative of one counts whatever its value. */
static void test_variables(void **state)
{
    static const struct {
        const char *variable;
        enum plim_switch mmap;
        uint32_t n_ctx;
    } rows[] = {
        { "LLAMA_ARG_MMAP=1", PLIM_ON, 0 },
        { "LLAMA_ARG_MMAP=0", PLIM_OFF, 0 },
        { "LLAMA_ARG_NO_MMAP=1", PLIM_OFF, 0 },
        { "LLAMA_ARG_CTX_SIZE=4096", PLIM_UNSET, 4096 },
        { "LLAMA_ARG_CTX_SIZES=4096", PLIM_UNSET, 0 },
        { "LLAMA_ARG_CTX=4096", PLIM_UNSET, 0 },
        { "LLAMA_ARG_MMAPPED=1", PLIM_UNSET, 0 },
        { "LLAMA_LOG_CTX_SIZE=4096", PLIM_UNSET, 0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct read r;
        char line[128];
        snprintf(line, sizeof line, "%s llama-server -m a.gguf", rows[i].variable);
        read_line(line, &r);
        if (r.result < 0 || r.arguments.setup.llamacpp.mmap != rows[i].mmap ||
            r.arguments.setup.llamacpp.n_ctx != rows[i].n_ctx)
            fail_msg("%s: mmap %d, context %u", rows[i].variable, r.arguments.setup.llamacpp.mmap,
                     r.arguments.setup.llamacpp.n_ctx);
    }
}

/* The full context by name stays as it is; where none is named, --fit may shorten it. */
static void test_a_full_context(void **state)
{
    static const struct {
        const char *line;
        uint32_t fit_ctx;
    } rows[] = {
        { "llama-server -m a.gguf -c 0", UINT32_MAX },
        { "llama-server -m a.gguf -c 4096", 0 },
        { "llama-server -m a.gguf", 0 },
        { "llama-server -m a.gguf -fitc 2048", 2048 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct read r;
        read_line(rows[i].line, &r);
        assert_int_equal(r.result, 0);
        assert_int_equal(r.arguments.setup.llamacpp.fit_ctx, rows[i].fit_ctx);
    }
}

/* --- changes --- */

static struct plim_change change_of(const char *name, const char *value)
{
    struct plim_change change;
    bool on;
    change.option = plim_option_named(plim_engine_type_at(0), name, &on);
    assert_non_null(change.option);
    snprintf(change.value, sizeof change.value, "%s", value);
    return change;
}

static void test_changes(void **state)
{
    static const struct {
        const char *before, *option, *value, *after;
    } rows[] = {
        { "llama-server -m a.gguf", "-c", "4096", "llama-server -m a.gguf -c 4096" },
        { "llama-server -c 8192 -m a.gguf", "-c", "4096", "llama-server -c 4096 -m a.gguf" },
        { "llama-server --ctx-size 8192 -c 99 -m a", "-c", "4096", "llama-server --ctx-size 4096 -m a" },
        { "llama-server -m 'my model.gguf'", "-ub", "64", "llama-server -m 'my model.gguf' -ub 64" },
        { "llama-server -m a -cmoe", "-cmoe", "", "llama-server -m a -cmoe" },
        { "llama-server -m a -p 'it'\\''s'", "-np", "1", "llama-server -m a -p 'it'\\''s' -np 1" },
    };
    char text[PLIM_COMMAND_BYTES];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct read r;
        const struct plim_change change = change_of(rows[i].option, rows[i].value);
        read_line(rows[i].before, &r);
        assert_int_equal(r.result, 0);
        assert_non_null(plim_command_text(&r.command, &change, 1, text));
        assert_string_equal(text, rows[i].after);
    }
}

static void test_ollama_words(void **state)
{
    static struct plim_bill bill;
    const struct plim_engine_type *ollama;
    struct plim_fix fix = { .n_changes = 3 };
    char text[PLIM_COMMAND_BYTES];
    (void)state;
    assert_int_equal(plim_engine_type_named("ollama", &ollama, NULL, NULL), 0);
    bill.n_settings = 1;
    bill.settings[0] = (struct plim_setting){ .key = "n_seq", .kind = PLIM_SETTING_INTEGER, .integer = 2 };
    fix.changes[0] = change_of("-c", "16384");
    fix.changes[1] = change_of("-ctk", "q8_0");
    fix.changes[2] = change_of("-ctv", "q8_0");
    assert_true(ollama->paste(&fix, &bill, text, sizeof text));
    assert_string_equal(text, "PARAMETER num_ctx 8192\n"
                              "OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve");
    fix = (struct plim_fix){ .n_changes = 1 };
    fix.changes[0] = change_of("-ncmoe", "4");
    assert_false(ollama->paste(&fix, &bill, text, sizeof text)); /* Ollama has no setting for it */
}

/* Ollama's variables stand for options; its context is that of one slot. */
static void test_ollama_variables(void **state)
{
    static struct read r;
    (void)state;
    read_line("OLLAMA_CONTEXT_LENGTH=4096 OLLAMA_NUM_PARALLEL=3 OLLAMA_KV_CACHE_TYPE=q8_0 ollama run llama3.1", &r);
    const struct plim_llamacpp_setup *s = &r.arguments.setup.llamacpp;
    assert_int_equal(r.result, 0);
    assert_string_equal(plim_engine_type_name(r.arguments.setup.type), "ollama");
    assert_string_equal(r.arguments.model, "llama3.1");
    assert_int_equal(s->n_ctx, 3 * 4096);
    assert_int_equal(s->n_parallel, 3);
    assert_true(s->type_k == PLIM_DTYPE_Q8_0 && s->type_v == PLIM_DTYPE_Q8_0);
    read_line("OLLAMA_CONTEXT_LENGTH=1073741824 OLLAMA_NUM_PARALLEL=256 ollama run llama3.1", &r);
    assert_int_equal(s->n_ctx, 1 << 30); /* and not 2^38, which is 0 in 32 bits */
}

/* --- settings by name --- */

static void test_set(void **state)
{
    struct plim_setup setup, before;
    struct plim_error error = { 0 };
    (void)state;
    plim_setup_init(&setup, NULL);
    assert_int_equal(plim_setup_set(&setup, "n_ctx", "8192", &error), 0);
    assert_int_equal(plim_setup_set(&setup, "--cache-type-k", "q8_0", &error), 0);
    assert_int_equal(plim_setup_set(&setup, "--no-mmap", NULL, &error), 0);
    assert_int_equal(plim_setup_set(&setup, "client", "cli", &error), 0);
    assert_int_equal(setup.llamacpp.n_ctx, 8192);
    assert_int_equal(setup.llamacpp.type_k, PLIM_DTYPE_Q8_0);
    assert_int_equal(setup.llamacpp.mmap, PLIM_OFF);
    assert_int_equal(setup.llamacpp.client, PLIM_CLIENT_CLI);
    assert_int_equal(plim_setup_set(&setup, "kv_offload", "off", &error), 0);
    assert_int_equal(plim_setup_set(&setup, "--cpu-moe", "on", &error), 0);
    assert_int_equal(setup.llamacpp.kv_offload, PLIM_OFF);
    assert_true(setup.llamacpp.cpu_moe);
    assert_int_equal(plim_setup_set(&setup, "--cpu-moe", "0", &error), 0);
    assert_false(setup.llamacpp.cpu_moe);
    before = setup;
    assert_int_equal(plim_setup_set(&setup, "kv_offload", "perhaps", NULL), PLIM_E_USAGE);
    assert_int_equal(plim_setup_set(&setup, "--no-mmap", "on", NULL), PLIM_E_USAGE);
    assert_int_equal(plim_setup_set(&setup, "n_ctx", "lots", &error), PLIM_E_USAGE);
    assert_string_equal(error.what, "invalid value 'lots' for -c: expected a number from 0 to 1073741824");
    assert_int_equal(plim_setup_set(&setup, "-m", "a.gguf", NULL), PLIM_E_USAGE);
    assert_int_equal(plim_setup_set(&setup, "n_ctx_seq", "1", NULL), PLIM_E_USAGE);
    assert_int_equal(plim_setup_set(&setup, "-c", NULL, NULL), PLIM_E_USAGE);
    assert_int_equal(plim_setup_set(&setup, "nonesuch", "1", NULL), PLIM_E_USAGE);
    assert_memory_equal(&setup, &before, sizeof setup);
}

/* --- round trip --- */

static const char *const phrases[] = {
    "-c 4096",       "--ctx-size 512", "-b 256",     "-ub 64",     "-np 2",           "-ngl 7",    "-ngl all",
    "-ngl auto",     "-ctk q8_0",      "-ctv f16",   "-fa auto",   "-fa off",         "--no-mmap", "--mmap",
    "-nkvo",         "-no-kvu",        "-kvu",       "--swa-full", "-ts 1,2,0.5",     "-sm none",  "-mg 1",
    "-ot 'a b=CPU'", "-cmoe",          "-ncmoe 3",   "-ncffn 2",   "--no-op-offload", "-cram -1",  "--embedding",
    "--fit off",     "-fitt 512",      "-fitc 2048", "--temp 0.7", "-p 'some words'", "--mtp",     "--draft 4"
};

/* A command that is read, written and read again means the same. */
static void test_round_trip(void **state)
{
    uint64_t random = random_seed();
    static struct read first, second;
    char text[PLIM_COMMAND_BYTES];
    (void)state;
    for (int i = 0; i < 2000; i++) {
        char line[400] = "llama-server -m a.gguf";
        for (uint64_t n = random_below(&random, 7); n > 0; n--) {
            strcat(line, " ");
            strcat(line, phrases[random_below(&random, COUNT(phrases))]);
        }
        read_line(line, &first);
        if (first.result < 0)
            fail_msg("%s: %s", line, first.error.what);
        assert_non_null(plim_command_text(&first.command, NULL, 0, text));
        read_line(text, &second);
        assert_int_equal(second.result, 0);
        struct plim_llamacpp_setup *a = &first.arguments.setup.llamacpp, *b = &second.arguments.setup.llamacpp;
        for (uint32_t k = 0; k < a->n_overrides; k++) {
            assert_int_equal(a->override[k].pattern_bytes, b->override[k].pattern_bytes);
            assert_memory_equal(a->override[k].pattern, b->override[k].pattern, a->override[k].pattern_bytes);
            b->override[k].pattern = a->override[k].pattern;
        }
        if (memcmp(&first.arguments.setup, &second.arguments.setup, sizeof first.arguments.setup))
            fail_msg("'%s' is written as '%s', which means something else", line, text);
    }
}

/* Every option of every engine is found by each of its names, and by no other option's; keys and variables are unique.
 */
static void check_option(const struct plim_engine_type *type, const struct plim_option *option)
{
    const struct plim_option_help *help = &option->help;
    for (int is_negative = 0; is_negative < 2; is_negative++) {
        char names[256];
        snprintf(names, sizeof names, "%s", is_negative ? help->negative : help->names);
        for (char *rest = names, *name; (name = strsep(&rest, " "));) {
            bool on = false;
            if (!*name)
                continue;
            assert_ptr_equal(plim_option_named(type, name, &on), option);
            assert_int_equal(on, !is_negative);
        }
    }
    assert_non_null(help->help);
    assert_true(option->kind == PLIM_OPTION_OWN ? option->take != NULL : option->take == NULL);
    assert_true(option->kind != PLIM_OPTION_CHOICE || option->choices);
    if (option->key)
        assert_ptr_equal(plim_option_with_key(type, option->key), option);
    for (const struct plim_option *other = type->options; other < option; other++)
        assert_true(!other->variable || !option->variable || strcmp(other->variable, option->variable) != 0);
}

static void test_tables(void **state)
{
    const struct plim_engine_type *type;
    bool on;
    (void)state;
    for (size_t i = 0; (type = plim_engine_type_at(i)); i++) {
        for (size_t k = 0; k < type->n_options; k++)
            check_option(type, &type->options[k]);
        assert_null(plim_option_named(type, "-", &on));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_server),
        cmocka_unit_test(test_clients),
        cmocka_unit_test(test_values_that_are_refused),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_as_many_overrides_as_there_is_room_for),
        cmocka_unit_test(test_a_full_context),
        cmocka_unit_test(test_as_many_files_as_there_is_room_for),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_ollama_words),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_ollama_variables),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
