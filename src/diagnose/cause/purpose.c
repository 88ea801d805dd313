/* SPDX-License-Identifier: MIT */
#include "diagnose/cause/purpose.h"

#include "base/table.h"

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
