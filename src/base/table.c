/* SPDX-License-Identifier: MIT */
#include "base/table.h"

#include <string.h>

size_t plim_table_column(const struct plim_table *table, const char *name)
{
    size_t i = 0;
    while (i < table->n_columns && strcmp(table->columns[i], name))
        i++;
    return i;
}
