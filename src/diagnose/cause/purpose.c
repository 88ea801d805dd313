/* SPDX-License-Identifier: MIT */
#include "diagnose/cause/purpose.h"

#include "base/table.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { COLUMN_WORD, COLUMN_PURPOSE, COLUMN_WEIGHT };

static enum plim_purpose purpose_named(const char *name)
{
    static const char *const names[PLIM_PURPOSE_MAX_] = {
        [PLIM_PURPOSE_WEIGHTS] = "weights", [PLIM_PURPOSE_OPTIMIZER] = "optimizer", [PLIM_PURPOSE_KV] = "kv",
        [PLIM_PURPOSE_WORK] = "work",       [PLIM_PURPOSE_FREE] = "free",           [PLIM_PURPOSE_USED] = "used",
        [PLIM_PURPOSE_TOTAL] = "total",     [PLIM_PURPOSE_MEMORY] = "memory",       [PLIM_PURPOSE_HOST] = "host",
        [PLIM_PURPOSE_LOADING] = "loading", [PLIM_PURPOSE_CARD] = "card",           [PLIM_PURPOSE_OTHERS] = "others",
    };
    for (int i = 0; i < PLIM_PURPOSE_MAX_; i++)
        if (names[i] && !strcmp(name, names[i]))
            return (enum plim_purpose)i;
    return PLIM_PURPOSE_NONE;
}

enum plim_purpose plim_purpose_of_word(const char *word, size_t n, enum plim_purpose_weight *ret_weight)
{
    const struct plim_table *table = &plim_purposes_table;
    for (size_t row = 0; row < table->n_rows; row++) {
        const char *name = plim_table_cell(table, row, COLUMN_WORD);
        if (strncasecmp(name, word, n) != 0 || name[n])
            continue;
        const char *weight = plim_table_cell(table, row, COLUMN_WEIGHT);
        *ret_weight = *weight == 'w'             ? PLIM_PURPOSE_WEAK
                      : strcmp(weight, "strong") ? PLIM_PURPOSE_STATE
                                                 : PLIM_PURPOSE_STRONG;
        return purpose_named(plim_table_cell(table, row, COLUMN_PURPOSE));
    }
    return PLIM_PURPOSE_NONE;
}

static bool is_letter(char c) { return isalpha((unsigned char)c); }

/* "make_layer", "init_block": what is made there stays. */
static bool is_maker(const char *name, size_t n)
{
    static const char *const makers[] = { "make", "init", "build", "create", "load", "restore", "place" };
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (n >= strlen(makers[i]) && !memcmp(name, makers[i], strlen(makers[i])))
            return true;
    return false;
}

enum plim_purpose plim_purpose_of_names(const char *text, size_t n)
{
    enum plim_purpose_weight weight;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && is_letter(text[end]) &&
               (end == i || islower((unsigned char)text[end]) || isupper((unsigned char)text[end - 1])))
            end++;
        const enum plim_purpose purpose =
            end > i ? plim_purpose_of_word(text + i, end - i, &weight) : PLIM_PURPOSE_NONE;
        if (purpose == PLIM_PURPOSE_WEIGHTS || purpose == PLIM_PURPOSE_OPTIMIZER || purpose == PLIM_PURPOSE_KV)
            return purpose;
        if (purpose == PLIM_PURPOSE_LOADING && is_maker(text, n))
            return PLIM_PURPOSE_WEIGHTS;
        i = end > i ? end : i + 1;
    }
    return PLIM_PURPOSE_NONE;
}
