/* SPDX-License-Identifier: MIT */
/*
 * No advice names a flag, a variable or a function of another program: for every kind of message, under every program
 * that wraps it, for every cause, with figures and without. What stands under a program is allowed: PyTorch's variables
 * under transformers.
 */
#include "base/table.h"
#include "base/units.h"
#include "diagnose/remedy/knowledge.h"
#include "diagnose/remedy/owners.h"
#include "diagnose/remedy/remedy.h"
#include "diagnose/scan/patterns/pattern.h"
#include "unit.h"

#include <ctype.h>

static struct plim_finding finding;
static struct plim_log_context context;
static struct plim_cause_answer answer;
static struct plim_remedies remedies;

static void begin(const struct plim_pattern *pattern, const struct plim_pattern *program, int figures)
{
    memset(&finding, 0, sizeof finding);
    memset(&context, 0, sizeof context);
    plim_numbers_init(&finding.numbers);
    plim_numbers_init(&context.numbers);
    finding.pattern = pattern;
    finding.framework = program ? program->framework : pattern->framework;
    if (program)
        context.programs[context.n_programs++] = program;
    if (figures > 0) {
        finding.numbers.value[PLIM_N_TRIED_BYTES] = 2 * (int64_t)PLIM_GIB;
        finding.numbers.value[PLIM_N_TOTAL_BYTES] = 24 * (int64_t)PLIM_GIB;
        finding.numbers.value[PLIM_N_FREE_BYTES] = (int64_t)PLIM_GIB;
        finding.numbers.value[PLIM_N_ALLOCATED_BYTES] = 20 * (int64_t)PLIM_GIB;
        finding.numbers.value[PLIM_N_RESERVED_UNALLOCATED_BYTES] = (int64_t)PLIM_GIB;
    }
    if (figures > 1)
        strcpy(finding.words.text[PLIM_W_BACKEND], "HIP");
}

static unsigned look(void)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < remedies.n; i++) {
        char text[PLIM_REMEDY_TEXT_BYTES + PLIM_REMEDY_COMMAND_BYTES];
        snprintf(text, sizeof text, "%s %s", remedies.item[i].change, remedies.item[i].command);
        n += !plim_words_fit(text, finding.framework);
        if (!plim_words_fit(text, finding.framework))
            print_error("%s, %s, %s: %s\n", finding.framework, finding.pattern->id, plim_cause_name(answer.advised),
                        text);
    }
    for (uint32_t i = 0; i < remedies.n_useless; i++) {
        n += !plim_words_fit(remedies.useless[i].what, finding.framework);
        if (!plim_words_fit(remedies.useless[i].what, finding.framework))
            print_error("%s, %s: useless: %s\n", finding.framework, finding.pattern->id, remedies.useless[i].what);
    }
    return n;
}

static unsigned check(const struct plim_pattern *pattern, const struct plim_pattern *program)
{
    unsigned n_wrong = 0;
    for (int figures = 0; figures < 3; figures++)
        for (int cause = PLIM_CAUSE_UNKNOWN; cause < PLIM_CAUSE_MAX_; cause++) {
            if (pattern->cause != PLIM_CAUSE_UNKNOWN && cause != (int)pattern->cause)
                continue;
            begin(pattern, program, figures);
            plim_cause_find(&finding, &context, &answer);
            if (cause != PLIM_CAUSE_UNKNOWN)
                answer.best.cause = answer.advised = (enum plim_cause)cause;
            plim_remedies_find(&finding, &context, &answer, &remedies);
            n_wrong += look();
        }
    return n_wrong;
}

/* Advice goes by the program's framework: the other marks of one that was looked at change nothing. */
static bool is_repeated(uint16_t which, const char *inner)
{
    const struct plim_pattern *program = &plim_patterns[which];
    for (uint16_t i = 0; i < which; i++)
        if (plim_patterns[i].role == PLIM_PATTERN_ROLE_PROGRAM && plim_patterns[i].wraps &&
            !strcmp(plim_patterns[i].framework, program->framework) &&
            plim_pattern_lists(plim_patterns[i].wraps, inner))
            return true;
    return false;
}

static void test_every_advice(void **state)
{
    (void)state;
    unsigned n_wrong = 0, n_looked = 0;
    for (uint16_t i = 0; i < plim_n_patterns; i++) {
        const struct plim_pattern *pattern = &plim_patterns[i];
        if (pattern->role >= PLIM_PATTERN_ROLE_NEIGHBOUR)
            continue;
        n_wrong += check(pattern, NULL);
        n_looked++;
        for (uint16_t k = 0; k < plim_n_patterns && strcmp(pattern->framework, "other") != 0; k++)
            if (plim_patterns[k].role == PLIM_PATTERN_ROLE_PROGRAM && plim_patterns[k].wraps &&
                plim_pattern_lists(plim_patterns[k].wraps, pattern->framework) && !is_repeated(k, pattern->framework))
                n_wrong += check(pattern, &plim_patterns[k]);
    }
    assert_true(n_looked > 300);
    assert_int_equal(n_wrong, 0);
}

static void test_whose_words(void **state)
{
    (void)state;
    assert_true(plim_words_fit("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "transformers"));
    assert_true(plim_words_fit("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "vllm"));
    assert_false(plim_words_fit("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "jax"));
    assert_false(plim_words_fit("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "llama.cpp"));
    assert_false(plim_words_fit("vllm serve MODEL --enforce-eager", "ray"));
    assert_false(plim_words_fit("vllm serve MODEL --enforce-eager", "sglang"));
    assert_true(plim_words_fit("vllm serve MODEL --enforce-eager", "vllm"));
    assert_false(plim_words_fit("llama-server -m MODEL.gguf -ngl 20", "ollama"));
    assert_true(plim_words_fit("llama-server -m MODEL.gguf -ngl 20", "llama.cpp"));
    assert_true(plim_words_fit("In ComfyUI: keep less on the card. python main.py --lowvram", "pytorch"));
    assert_false(plim_words_fit("In ComfyUI: keep less on the card. python main.py --lowvram", "a1111"));
    assert_true(plim_words_fit("nvidia-smi; docker run --shm-size=8g", "a1111"));
    assert_true(plim_words_fit("-ubatch, RTF_RATE", "jax")); /* no words of the table */
}

/* A flag or variable in the advice of one program, and in no row: the table has to say whose it is, or it is a tool's.
 */
static void test_variables_have_owners(void **state)
{
    (void)state;
    static const char *const tools[] = { "CUDA_VISIBLE_DEVICES",
                                         "HIP_VISIBLE_DEVICES",
                                         "CUDA_LAUNCH_BLOCKING",
                                         "ZE_AFFINITY_MASK",
                                         "LD_PRELOAD",
                                         "MAX_JOBS",
                                         "NODE_OPTIONS",
                                         "ROW_REMAPPER",
                                         "OUT_OF_MEMORY",
                                         "LMCACHE_MAX_LOCAL",
                                         "KIND_GPU" };
    for (size_t i = 0; i < plim_knowledge_size(); i++) {
        const struct plim_knowledge_entry entry = plim_knowledge_entry(i);
        struct plim_field_text text;
        for (size_t k = 0; (text = plim_entry_field(&entry, PLIM_FIELD_FIX, k)).text; k++) {
            for (const char *at = text.rest; *at; at++) { /* NAME_OF_THINGS= */
                const size_t n = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
                bool is_known = n < 6 || at[n] != '=' || !memchr(at, '_', n) || !isupper((unsigned char)*at);
                for (size_t t = 0; t < COUNT(tools); t++)
                    is_known = is_known || !strncmp(at, tools[t], strlen(tools[t]));
                for (size_t row = 0; !is_known && row < plim_flag_owners_table.n_rows; row++) {
                    const char *word = plim_table_cell(&plim_flag_owners_table, row, 0);
                    is_known = !strncmp(at, word, strlen(word));
                }
                if (!is_known && (at == text.rest || !isalnum((unsigned char)at[-1])))
                    print_error("%s: %s\n", entry.id, text.rest);
                assert_true(is_known || (at != text.rest && (isalnum((unsigned char)at[-1]) || at[-1] == '_')));
                at += n > 0 ? n - 1 : 0;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whose_words),
        cmocka_unit_test(test_every_advice),
        cmocka_unit_test(test_variables_have_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
