/* SPDX-License-Identifier: MIT */
/*
 * Where no rule holds: what the words of the text say, by weights that were learned from logs whose causes people have
 * told (data/causes/README.md, tools/learn_causes.py). A cause is named when it is more likely than all others
 * together; that is never more than a low confidence.
 */
#include "diagnose/cause/bag.h"
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"

#include "base/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROW_BIAS = 0,
    FIRST_CAUSE = 1, /* column */
    THOUSANDTHS = 1000,
    LEAST_WORDS = 20, /* that are known; fewer say nothing */
    N_SHOWN = 3,      /* words in `why` */
    TELLING_LETTERS = 4,
    FACT_BYTES = 96,
    WORDS_BYTES = 3 * 32,
};

static const double share_to_name = 0.5;

static double weight(size_t row, size_t column)
{
    return (double)strtol(plim_table_cell(&plim_cause_words_table, row, column), NULL, 10) / THOUSANDTHS;
}

/* Figures as the weights know them: the ratio of two, up to the next of these steps. */
static void add_ratio(const struct plim_numbers *numbers, enum plim_number which, enum plim_number of,
                      struct plim_bag *bag)
{
    static const struct {
        double most;
        const char *name;
    } steps[] = { { 0.01, "0.01" }, { 0.05, "0.05" }, { 0.2, "0.2" }, { 0.5, "0.5" },
                  { 0.8, "0.8" },   { 1, "1" },       { 1.5, "1.5" }, { INFINITY, "more" } };
    const int64_t value = numbers->value[which], whole = numbers->value[of];
    char fact[FACT_BYTES];
    size_t i = 0;
    if (value == PLIM_UNKNOWN || whole == PLIM_UNKNOWN || whole == 0)
        return;
    while ((double)value / (double)whole > steps[i].most)
        i++;
    snprintf(fact, sizeof fact, "%s/%s=%s", plim_number_name(which), plim_number_name(of), steps[i].name);
    plim_bag_add(bag, fact);
}

static void add_facts(const struct plim_facts *facts, struct plim_bag *bag)
{
    static const enum plim_number ratios[][2] = {
        { PLIM_N_TRIED_BYTES, PLIM_N_TOTAL_BYTES },     { PLIM_N_ALLOCATED_BYTES, PLIM_N_TOTAL_BYTES },
        { PLIM_N_FREE_BYTES, PLIM_N_TOTAL_BYTES },      { PLIM_N_TRIED_BYTES, PLIM_N_FREE_BYTES },
        { PLIM_N_TRIED_BYTES, PLIM_N_ALLOCATED_BYTES }, { PLIM_N_RESERVED_UNALLOCATED_BYTES, PLIM_N_TOTAL_BYTES },
    };
    char fact[FACT_BYTES];
    snprintf(fact, sizeof fact, "kind=%s", facts->finding->pattern->id);
    plim_bag_add(bag, fact);
    snprintf(fact, sizeof fact, "stage=%s", facts->stage);
    plim_bag_add(bag, fact);
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        add_ratio(&facts->finding->numbers, ratios[i][0], ratios[i][1], bag);
}

/* What the words weigh for the cause of a column, scaled to a bag of length 1. */
static double score(const struct plim_bag *bag, size_t column)
{
    double sum = 0;
    for (size_t row = 0; row < plim_cause_words_table.n_rows; row++)
        if (plim_bag_has(bag, row))
            sum += weight(row, column);
    return weight(ROW_BIAS, column) + sum / sqrt((double)bag->n);
}

/* The column of the likeliest cause, and its share of all. */
static size_t likeliest(const struct plim_bag *bag, double *ret_share)
{
    size_t best = FIRST_CAUSE;
    double best_score = -INFINITY, total = 0;
    for (size_t column = FIRST_CAUSE; column < plim_cause_words_table.n_columns; column++) {
        const double its = score(bag, column);
        total = total * exp(fmin(best_score - its, 0)) + exp(fmin(its - best_score, 0));
        if (its > best_score) {
            best_score = its;
            best = column;
        }
    }
    *ret_share = 1 / total;
    return best;
}

static enum plim_cause cause_of(size_t column)
{
    for (int i = 0; i < PLIM_CAUSE_MAX_; i++) {
        const char *name = plim_cause_name((enum plim_cause)i);
        if (name && !strcmp(name, plim_cause_words_table.columns[column]))
            return (enum plim_cause)i;
    }
    return PLIM_CAUSE_UNKNOWN;
}

/* A word that a reader makes something of: no fact, and longer than "of" and "the". */
static bool is_telling(const char *word) { return strlen(word) >= TELLING_LETTERS && !strchr(word, '='); }

/* The words that weigh most for a cause: in quotes, the heaviest first. */
static const char *heaviest(const struct plim_bag *bag, size_t column, char *text, size_t size)
{
    struct plim_bag rest = *bag;
    text[0] = '\0';
    for (int shown = 0; shown < N_SHOWN; shown++) {
        size_t top = 0;
        for (size_t row = 1; row < plim_cause_words_table.n_rows; row++)
            if (plim_bag_has(&rest, row) && is_telling(plim_table_cell(&plim_cause_words_table, row, 0)) &&
                (top == 0 || weight(row, column) > weight(top, column)))
                top = row;
        if (top == 0)
            break;
        const size_t n = strlen(text);
        snprintf(text + n, size - n, "%s\"%s\"", shown ? ", " : "", plim_table_cell(&plim_cause_words_table, top, 0));
        rest.rows[top / 64] &= ~((uint64_t)1 << top % 64);
    }
    return text;
}

bool plim_rule_words(const struct plim_facts *facts, struct plim_guess *guess)
{
    char words[WORDS_BYTES];
    double share;
    if (!facts->context || !facts->finding->pattern || facts->context->bag.n == 0)
        return false;
    struct plim_bag bag = facts->context->bag;
    add_facts(facts, &bag);
    if (bag.n < LEAST_WORDS)
        return false;
    const size_t column = likeliest(&bag, &share);
    if (!(share > share_to_name))
        return false;
    return plim_guess_set(
        guess, cause_of(column), PLIM_CONFIDENCE_LOW,
        "Nothing here says it outright; the words of the log (%s ...) are those of such failures more "
        "than of all others together.",
        heaviest(&bag, column, words, sizeof words));
}
