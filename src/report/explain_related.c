/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/pattern.h"
#include "report/explain_parts.h"
#include "report/print.h"

#include <inttypes.h>
#include <string.h>

enum { LINE_BYTES = 640, RELATED = 3 };

static bool is_ram(const struct plim_explained *item)
{
    return item->cause.best.cause == PLIM_CAUSE_HOST_RAM || item->cause.best.cause == PLIM_CAUSE_SHM;
}

/* A full card does not fill the RAM: such a failure stands for itself, although it came later. */
static bool is_result(const struct plim_explained *item, const struct plim_explained *root)
{
    const bool is_killed_by_name = is_ram(item) && item->cause.best.confidence == PLIM_CONFIDENCE_HIGH;
    return item->finding->is_related && !(is_killed_by_name && !is_ram(root));
}

/* What the root's own line says once more, as a wrapper does, tells nothing. */
static bool is_repeated(const struct plim_explained *item, const struct plim_explained *root)
{
    const struct plim_field_text title = plim_explain_title(item), of_root = plim_explain_title(root);
    const bool is_same = title.text && of_root.text && !strcmp(title.text, of_root.text);
    return is_same || (item->finding->is_related && item->finding->line == root->finding->line);
}

/* With what the program went on before it failed after all: left out where there is more to tell. */
static bool is_small_talk(const struct plim_explained *item, const struct plim_explained *root)
{
    return plim_explain_is_recovered(item) && !plim_explain_is_recovered(root) &&
           item->finding->line < root->finding->line;
}

/* What else the log has: what follows from the root, then what stands apart. */
void plim_explain_print_related(FILE *out, const struct plim_explanation *explanation, const struct plim_style *style)
{
    const struct plim_explained *root = &explanation->items[0];
    uint32_t n = 0, n_more = 0;
    for (uint32_t i = 1; i < explanation->n_items; i++) {
        const struct plim_explained *item = &explanation->items[i];
        char text[LINE_BYTES];
        if ((explanation->n_items > 2 && is_small_talk(item, root)) || is_repeated(item, root) ||
            is_repeated(item, &explanation->items[i - 1]))
            continue;
        if (n == RELATED) {
            n_more++;
            continue;
        }
        if (n++ == 0)
            plim_explain_print_head(out, "Also in this log", style);
        snprintf(text, sizeof text, "line %" PRIu64 ": %s%s", item->finding->line,
                 plim_explain_title(item).text ? plim_explain_title(item).text : item->finding->pattern->id,
                 plim_explain_is_recovered(item) ? " (the program went on)"
                 : is_result(item, root)         ? " (follows from it)"
                                                 : "");
        plim_explain_print_paragraph(out, text);
    }
    if (n_more)
        plim_print(out, "  and %" PRIu32 " more\n", n_more);
}
