/* SPDX-License-Identifier: MIT */
/*
 * Tags of Ollama's library.
 *
 * A tag is a size, then mostly a variant, then a quantization: "8b", "8b-instruct-q4_K_M". The table has a row for each
 * tag without a quantization. Variants that differ by training only are left out there: "text" and "base" name the
 * model before it was taught to chat, whose shape is the same.
 */
#include "model/catalogue/ollama.h"

#include "base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of data/ollama.csv. */
enum { TAG, ID, QUANT, BYTES };

static bool find(const char *tag, struct plim_ollama_tag *ret_tag)
{
    const struct plim_table *table = &plim_ollama_table;
    size_t low = 0, high = table->n_rows; /* sorted by tag */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(tag, plim_table_cell(table, middle, TAG));
        if (order == 0) {
            *ret_tag =
                (struct plim_ollama_tag){ .tag = plim_table_cell(table, middle, TAG),
                                          .id = plim_table_cell(table, middle, ID),
                                          .quant = plim_table_cell(table, middle, QUANT),
                                          .file_bytes = strtoull(plim_table_cell(table, middle, BYTES), NULL, 10) };
            return true;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

bool plim_ollama_tag_find(const char *name, struct plim_ollama_tag *ret_tag)
{
    static const char *const variants[] = { "-instruct", "-chat", "-it", "-text", "-base", "-pt" };
    char tag[96];
    const bool has_tag = strchr(name, ':') != NULL;
    const int n = snprintf(tag, sizeof tag, has_tag ? "%s" : "%s:latest", name);
    if (n < 0 || n >= (int)sizeof tag)
        return false;
    if (find(tag, ret_tag))
        return true;
    for (size_t i = 0; has_tag && i < sizeof variants / sizeof *variants; i++) {
        const size_t end = strlen(variants[i]), length = strlen(tag);
        if (length <= end || strcmp(tag + length - end, variants[i]))
            continue;
        tag[length - end] = '\0';
        return find(tag, ret_tag);
    }
    return false;
}
