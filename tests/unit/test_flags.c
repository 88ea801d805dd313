/* SPDX-License-Identifier: MIT */
/* Command lines: read as the engine reads them, changed, written, and read again. */
#include "base/units.h"
#include "emit/command.h"
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

/* To be ended with plim_arguments_done(). */
static void read_line(const char *text, struct read *r)
{
    memset(&r->error, 0, sizeof r->error);
    memset(&r->command, 0, sizeof r->command);
    split(text, &r->line);
    plim_arguments_init(&r->arguments);
    r->result = plim_command_read(r->line.n, r->line.words, &r->arguments, &r->command, &r->error);
}

static void test_a_server(void **state)
{
    static struct read r;
    (void)state;
    read_line(
        "/usr/bin/llama-server -m a.gguf -c 32768 -ngl 99 -ctk q8_0 -ctv Q4_0 -fa on -b 4096 -ub 1024 -np 3 "
        "--no-mmap -nkvo --kv-unified --swa-full -ts 3,1 -sm row -mg 1 -ncmoe 4 --host 0.0.0.0 --port 8080 --jinja",
        &r);
    const struct plim_setup *s = &r.arguments.setup;
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
    plim_arguments_done(&r.arguments);
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
        { "ollama run llama3.1", PLIM_CLIENT_OLLAMA },
        { "ollama serve", PLIM_CLIENT_OLLAMA },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct read r;
        read_line(rows[i].line, &r);
        if (r.result < 0 || r.arguments.setup.client != rows[i].client)
            fail_msg("%s: client %d, %s", rows[i].line, r.arguments.setup.client, r.error.what);
        plim_arguments_done(&r.arguments);
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
        { "-fa perhaps", "perhaps" },
        { "-ts 1,x", "1,x" },
        { "-ts nan,1", "nan" },
        { "-ts inf", "inf" },
        { "-ts -1,2", "-1,2" },
        { "-sm columns", "columns" },
        { "-ot foo", "foo" },
        { "-ot =CPU", "=CPU" },
        { "-ot a=Tape", "a=Tape" },
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
        plim_arguments_done(&r.arguments);
    }
}

static void test_overrides(void **state)
{
    static struct read r;
    (void)state;
    read_line("llama-server -ot '\\.ffn_.*_exps=CPU,blk\\.1\\.=CUDA1' -ot output=CUDA0", &r);
    assert_int_equal(r.result, 0);
    assert_int_equal(r.arguments.setup.n_overrides, 3);
    assert_string_equal(r.arguments.setup.override[0].pattern, "\\.ffn_.*_exps");
    assert_int_equal(r.arguments.setup.override[0].device, -1);
    assert_string_equal(r.arguments.setup.override[1].pattern, "blk\\.1\\.");
    assert_int_equal(r.arguments.setup.override[1].device, 1);
    assert_int_equal(r.arguments.setup.override[2].device, 0);
    plim_arguments_done(&r.arguments);
}

/* --- changes --- */

static void test_changes(void **state)
{
    static const struct {
        const char *before;
        struct plim_flag_change change;
        const char *after;
    } rows[] = {
        { "llama-server -m a.gguf", { "-c", "4096", false }, "llama-server -m a.gguf -c 4096" },
        { "llama-server -c 8192 -m a.gguf", { "-c", "4096", false }, "llama-server -c 4096 -m a.gguf" },
        { "llama-server --ctx-size 8192 -c 99 -m a", { "-c", "4096", false }, "llama-server --ctx-size 4096 -m a" },
        { "llama-server -m 'my model.gguf'", { "-ub", "64", false }, "llama-server -m 'my model.gguf' -ub 64" },
        { "llama-server -m a -cmoe", { "-cmoe", "", true }, "llama-server -m a -cmoe" },
        { "llama-server -m a -p 'it'\\''s'", { "-np", "1", false }, "llama-server -m a -p 'it'\\''s' -np 1" },
    };
    char text[PLIM_COMMAND_BYTES];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct read r;
        read_line(rows[i].before, &r);
        assert_int_equal(r.result, 0);
        assert_non_null(plim_command_text(&r.command, &rows[i].change, 1, text));
        assert_string_equal(text, rows[i].after);
        plim_arguments_done(&r.arguments);
    }
}

static void test_ollama_words(void **state)
{
    struct plim_fix fix = { .n_changes = 3 };
    char text[PLIM_COMMAND_BYTES];
    (void)state;
    fix.changes[0] = (struct plim_flag_change){ "-c", "16384", false };
    fix.changes[1] = (struct plim_flag_change){ "-ctk", "q8_0", false };
    fix.changes[2] = (struct plim_flag_change){ "-ctv", "q8_0", false };
    assert_true(plim_ollama_text(&fix, 2, text));
    assert_non_null(strstr(text, "num_ctx 8192"));
    assert_non_null(strstr(text, "OLLAMA_KV_CACHE_TYPE=q8_0"));
    fix = (struct plim_fix){ .n_changes = 1 };
    fix.changes[0] = (struct plim_flag_change){ "-ncmoe", "4", false };
    assert_false(plim_ollama_text(&fix, 1, text)); /* Ollama has no words for it */
}

/* --- round trip --- */

static const char *const phrases[] = {
    "-c 4096",       "--ctx-size 512", "-b 256",     "-ub 64",     "-np 2",           "-ngl 7",    "-ngl all",
    "-ngl auto",     "-ctk q8_0",      "-ctv f16",   "-fa auto",   "-fa off",         "--no-mmap", "--mmap",
    "-nkvo",         "-no-kvu",        "-kvu",       "--swa-full", "-ts 1,2,0.5",     "-sm none",  "-mg 1",
    "-ot 'a b=CPU'", "-cmoe",          "-ncmoe 3",   "-ncffn 2",   "--no-op-offload", "-cram -1",  "--embedding",
    "--fit off",     "-fitt 512",      "-fitc 2048", "--temp 0.7", "-p 'some words'", "--mtp",     "--draft 4"
};

/* A command that is read, written and read again says the same. */
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
        for (uint32_t k = 0; k < first.arguments.setup.n_overrides; k++) {
            assert_string_equal(first.arguments.setup.override[k].pattern, second.arguments.setup.override[k].pattern);
            second.arguments.setup.override[k].pattern = first.arguments.setup.override[k].pattern;
        }
        if (memcmp(&first.arguments.setup, &second.arguments.setup, sizeof first.arguments.setup))
            fail_msg("'%s' is written as '%s', which says something else", line, text);
        plim_arguments_done(&first.arguments);
        plim_arguments_done(&second.arguments);
    }
}

/* Every flag of the table is found by each of its names, and by no other flag's. */
static void test_table(void **state)
{
    (void)state;
    for (int flag = PLIM_FLAG_NONE + 1; flag < PLIM_FLAG_MAX_; flag++) {
        const struct plim_flag_info *info = plim_flag_info((enum plim_flag)flag);
        for (int is_negative = 0; is_negative < 2; is_negative++) {
            char names[256];
            snprintf(names, sizeof names, "%s", is_negative ? info->negative : info->names);
            for (char *rest = names, *name; (name = strsep(&rest, " "));) {
                bool on = false;
                if (!*name)
                    continue;
                assert_int_equal(plim_flag_named(name, &on), flag);
                assert_int_equal(on, !is_negative);
            }
        }
        assert_non_null(info->help);
    }
    bool on;
    assert_int_equal(plim_flag_named("", &on), PLIM_FLAG_NONE);
    assert_int_equal(plim_flag_named("-", &on), PLIM_FLAG_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_server),
        cmocka_unit_test(test_clients),
        cmocka_unit_test(test_values_that_are_refused),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_ollama_words),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
