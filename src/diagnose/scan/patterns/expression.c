/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/expression.h"

#include "base/limits.h"
#include "diagnose/finding.h"
#include "diagnose/scan/patterns/match_limits.h"

#include <stdio.h>
#include <string.h>

enum {
    BYTES_BEFORE_JIT = 96 << 10, /* divided by the byte values that can begin a match */
    BYTE_VALUES = 256,
    MAX_PAIRS = 48,     /* groups of one expression, named or not */
    STEPS_OF_CALL = 32, /* to begin */
    BYTES_OF_STEP = 2,
    STEPS_OF_GAP = 16, /* of each character of a gap, which has words that may not be in it */
};

/* Phrases have gaps in gaps (data/errors/prose.rules): the length of a text does not tell what they take on it. */
static int count_gap(pcre2_callout_block *block, void *budget)
{
    (void)block;
    plim_budget_spend(budget, STEPS_OF_GAP);
    return plim_budget_is_spent(budget) ? PCRE2_ERROR_CALLOUT : 0;
}

bool plim_expression_scratch_init(struct plim_expression_scratch *scratch, struct plim_budget *budget)
{
    scratch->data = pcre2_match_data_create(MAX_PAIRS, NULL);
    scratch->limits = plim_match_limits();
    scratch->budget = budget;
    if (scratch->limits)
        pcre2_set_callout(scratch->limits, count_gap, budget);
    return scratch->data && scratch->limits;
}

void plim_expression_scratch_done(struct plim_expression_scratch *scratch)
{
    pcre2_match_data_free(scratch->data);
    pcre2_match_context_free(scratch->limits);
    scratch->data = NULL;
    scratch->limits = NULL;
}

void plim_expression_done(struct plim_expression *e)
{
    pcre2_code_free(e->code);
    e->code = NULL;
}

static int find_name(const char *name, bool *ret_is_word)
{
    *ret_is_word = false;
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (!strcmp(name, plim_number_name((enum plim_number)i)))
            return i;
    if (!strcmp(name, "other_pid"))
        return PLIM_GROUP_OTHER_PID;
    if (!strcmp(name, "other_bytes"))
        return PLIM_GROUP_OTHER_BYTES;
    *ret_is_word = true;
    for (int i = 0; i < PLIM_WORD_MAX_; i++)
        if (!strcmp(name, plim_word_name((enum plim_word)i)))
            return i;
    return 0;
}

static void list_groups(struct plim_expression *e)
{
    uint32_t n = 0, size = 0;
    PCRE2_SPTR entry = NULL;
    pcre2_pattern_info(e->code, PCRE2_INFO_NAMECOUNT, &n);
    pcre2_pattern_info(e->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
    pcre2_pattern_info(e->code, PCRE2_INFO_NAMETABLE, &entry);
    for (uint32_t i = 0; i < n && i < PLIM_MAX_GROUPS; i++, entry += size) {
        struct plim_group *group = &e->groups[e->n_groups++];
        group->number = (uint16_t)(entry[0] << 8 | entry[1]);
        group->index = (int16_t)find_name((const char *)entry + 2, &group->is_word);
        e->has_others = e->has_others || group->index == PLIM_GROUP_OTHER_BYTES;
    }
}

/*
 * The interpreter is fast where few byte values can begin a match. It took as long as making machine code for 52 KiB
 * where that is one value, for 6 with three or four, for 0.4 with 33 to 64, and for 0.25 where none is known, so that
 * all are tried: medians of 838 expressions over real logs. The limit lies above all of these, up to seven times.
 */
static uint32_t bytes_before_jit(const pcre2_code *code)
{
    uint32_t is_one = 0, n = 0;
    const uint8_t *starts = NULL;
    pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODETYPE, &is_one);
    pcre2_pattern_info(code, PCRE2_INFO_FIRSTBITMAP, &starts);
    for (uint32_t byte = 0; starts && byte < BYTE_VALUES; byte++)
        n += starts[byte / 8] >> byte % 8 & 1;
    return BYTES_BEFORE_JIT / (is_one ? 1 : n > 0 ? n : BYTE_VALUES);
}

bool plim_expression_compile(struct plim_expression *e, const char *text, char *ret_problem, size_t size)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    if (!e->was_tried) {
        e->was_tried = true;
        e->code =
            pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_DOTALL | PCRE2_DUPNAMES, &code, &at, NULL);
        if (e->code) {
            list_groups(e);
            e->bytes_before_jit = bytes_before_jit(e->code);
        } else if (ret_problem) {
            snprintf(ret_problem, size, "error %d at %zu of %s", code, at, text);
        }
    }
    return e->code != NULL;
}

bool plim_expression_find(struct plim_expression *e, const char *text, const char *subject, size_t from, size_t end,
                          struct plim_expression_scratch *scratch)
{
    if (from > end || plim_budget_is_spent(scratch->budget) || !plim_expression_compile(e, text, NULL, 0))
        return false;
    if (!e->is_fast) {
        e->n_bytes += (uint32_t)(end - from);
        e->is_fast = e->n_bytes >= e->bytes_before_jit;
        if (e->is_fast)
            pcre2_jit_compile(e->code, PCRE2_JIT_COMPLETE); /* without a JIT, the interpreter goes on */
    }
    const int result = pcre2_match(e->code, (PCRE2_SPTR)subject, end, from, 0, scratch->data, scratch->limits);
    const size_t seen = result > 0 ? pcre2_get_ovector_pointer(scratch->data)[1] : end;
    const size_t cut = result < 0 && result != PCRE2_ERROR_NOMATCH ? PLIM_MAX_MATCH_STEPS : 0;
    plim_budget_spend(scratch->budget, STEPS_OF_CALL + cut + (seen - from) / BYTES_OF_STEP);
    return result > 0;
}
