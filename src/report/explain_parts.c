/* SPDX-License-Identifier: MIT */
#include "report/explain_parts.h"

#include "base/table.h"
#include "diagnose/scan/patterns/pattern.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

#include <string.h>

void plim_explain_print_head(FILE *out, const char *text, const struct plim_style *style)
{
    plim_print(out, "\n%s%s%s\n", plim_paint(style, PLIM_BOLD), text, plim_paint(style, PLIM_PLAIN));
}

void plim_explain_print_paragraph(FILE *out, const char *text)
{
    plim_print(out, "  ");
    plim_print_wrapped(out, text, 2, 2);
}

bool plim_explain_is_recovered(const struct plim_explained *item)
{
    return item->finding->is_recovered ||
           (item->finding->pattern && item->finding->pattern->role == PLIM_PATTERN_ROLE_RECOVERED);
}

struct plim_field_text plim_explain_title(const struct plim_explained *item)
{
    return item->has_entry ? plim_entry_field(&item->entry, PLIM_FIELD_TITLE, 0)
                           : (struct plim_field_text){ NULL, NULL };
}

const char *plim_explain_program_name(const char *framework)
{
    for (size_t row = 0; row < plim_frameworks_table.n_rows; row++)
        if (!strcmp(framework, plim_table_cell(&plim_frameworks_table, row, 0)))
            return plim_table_cell(&plim_frameworks_table, row, 1);
    return framework;
}
