/* SPDX-License-Identifier: MIT */
#include "diagnose/remedy/owners.h"

#include "base/table.h"
#include "diagnose/scan/patterns/pattern.h"

#include <ctype.h>
#include <string.h>

enum { COLUMN_WORD, COLUMN_KIND, COLUMN_OWNERS }; /* data/flag-owners.csv */
enum { COLUMN_NAME = 1, MAX_NAME_BYTES = 32 };    /* data/frameworks.csv */

static const char *cell(size_t row, size_t column) { return plim_table_cell(&plim_flag_owners_table, row, column); }

static bool is_under(const char *framework, const char *program)
{
    for (uint16_t i = 0; i < plim_n_wrappings; i++)
        if (!strcmp(plim_wrappings[i].framework, program))
            return plim_pattern_lists(plim_wrappings[i].wrapped, framework);
    return false;
}

static bool names(const char *text, const char *program)
{
    for (size_t row = 0; row < plim_frameworks_table.n_rows; row++)
        if (!strcmp(plim_table_cell(&plim_frameworks_table, row, 0), program))
            return strstr(text, plim_table_cell(&plim_frameworks_table, row, COLUMN_NAME)) != NULL;
    return false;
}

/* One of the owners may be meant. */
static bool fits(size_t row, const char *text, const char *framework)
{
    const bool is_variable = !strcmp(cell(row, COLUMN_KIND), "variable");
    for (const char *list = cell(row, COLUMN_OWNERS); *list; list += *list == ' ') {
        const size_t n = strcspn(list, " ");
        char owner[MAX_NAME_BYTES] = "";
        if (n < sizeof owner)
            memcpy(owner, list, n);
        list += n;
        if (!strcmp(owner, framework) || (is_variable && is_under(owner, framework)) ||
            (names(text, owner) && (!strcmp(framework, "other") || is_under(framework, owner))))
            return true;
    }
    return false;
}

/* The word stands there by itself: "-ub" is not in "-ubatch", nor "TF_" in "RTF_". */
static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    if (n == 0)
        return false;
    const bool is_open = !isalnum((unsigned char)word[n - 1]); /* "VLLM_": any name that begins so */
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        const bool is_start = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '-');
        if (is_start && (is_open || !isalnum((unsigned char)at[n])))
            return true;
    }
    return false;
}

bool plim_words_fit(const char *text, const char *framework)
{
    for (size_t row = 0; row < plim_flag_owners_table.n_rows; row++)
        if (has_word(text, cell(row, COLUMN_WORD)) && !fits(row, text, framework ? framework : "other"))
            return false;
    return true;
}
