/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_EXPRESSION_H
#define PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_EXPRESSION_H

/* A regular expression of a pattern: compiled when it is first run, with its named groups looked up. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "diagnose/scan/budget.h"

enum {
    PLIM_MAX_GROUPS = 24, /* named groups of one expression */
    PLIM_GROUP_OTHER_PID = -1,
    PLIM_GROUP_OTHER_BYTES = -2,
};

struct plim_group {
    uint16_t number;
    bool is_word;
    int16_t index; /* enum plim_number, enum plim_word, PLIM_GROUP_OTHER_... */
};

/* All zero: not compiled yet. */
struct plim_expression {
    pcre2_code *code; /* NULL: not compiled, or it does not compile */
    bool was_tried, has_others, is_fast;
    uint16_t n_groups;
    uint32_t n_bytes; /* that it has been run over */
    uint32_t bytes_before_jit;
    struct plim_group groups[PLIM_MAX_GROUPS];
};

/* What expressions share while they run: the groups of the last match, the limits, and the steps that are left. */
struct plim_expression_scratch {
    pcre2_match_data *data;
    pcre2_match_context *limits;
    struct plim_budget *budget;
};

/* False: out of memory. */
bool plim_expression_scratch_init(struct plim_expression_scratch *scratch, struct plim_budget *budget);
void plim_expression_scratch_done(struct plim_expression_scratch *scratch);

/* False: it does not compile; ret_problem says where, unless it is NULL. */
bool plim_expression_compile(struct plim_expression *expression, const char *text, char *ret_problem, size_t size);
void plim_expression_done(struct plim_expression *expression);

/* Find the expression, whose text is given, in subject[from..end); the groups are in scratch->data then. Nothing is
 * found when the budget is spent. */
bool plim_expression_find(struct plim_expression *expression, const char *text, const char *subject, size_t from,
                          size_t end, struct plim_expression_scratch *scratch);

#endif
