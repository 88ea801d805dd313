/* SPDX-License-Identifier: MIT */
#include "diagnose/cause/bag.h"

#include "base/table.h"

#include <string.h>

enum { LEAST_LETTERS = 2, MOST_LETTERS = 20, COLUMN_WORD = 0 };

/* The row of a word; n_rows: it has none. Rows are in the order of strcmp. */
static size_t row_of(const char *word)
{
    size_t low = 0, high = plim_cause_words_table.n_rows;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(word, plim_table_cell(&plim_cause_words_table, middle, COLUMN_WORD));
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return plim_cause_words_table.n_rows;
}

bool plim_bag_has(const struct plim_bag *bag, size_t row)
{
    return row < PLIM_MAX_BAG_ROWS && (bag->rows[row / 64] >> row % 64 & 1);
}

void plim_bag_add(struct plim_bag *bag, const char *word)
{
    const size_t row = row_of(word);
    if (row == plim_cause_words_table.n_rows || row >= PLIM_MAX_BAG_ROWS || plim_bag_has(bag, row))
        return;
    bag->rows[row / 64] |= (uint64_t)1 << row % 64;
    bag->n++;
}

/* Of an ASCII letter the small one; 0: no letter. */
static char letter(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c >= 'a' && c <= 'z' ? c : 0;
}

void plim_bag_read(const char *text, size_t size, struct plim_bag *ret_bag)
{
    memset(ret_bag, 0, sizeof *ret_bag);
    for (size_t at = 0; at < size;) {
        char word[MOST_LETTERS + 1];
        size_t n = 0;
        for (; at < size && letter(text[at]); at++, n++)
            if (n < MOST_LETTERS)
                word[n] = letter(text[at]);
        if (n >= LEAST_LETTERS && n <= MOST_LETTERS) {
            word[n] = '\0';
            plim_bag_add(ret_bag, word);
        }
        if (n == 0)
            at++;
    }
}
