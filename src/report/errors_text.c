/* SPDX-License-Identifier: MIT */
#include "report/errors.h"

#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

#include <string.h>

enum { ID_WIDTH = 30, NEAR = 4, POINT_BYTES = 640 };

static const char *title_of(const struct plim_knowledge_entry *entry)
{
    return plim_entry_field(entry, PLIM_FIELD_TITLE, 0).text;
}

static void print_row(FILE *out, const struct plim_knowledge_entry *entry, int indent, const struct plim_style *style)
{
    plim_print(out, "%*s%s", indent, "", plim_paint(style, PLIM_BOLD));
    plim_print_padded(out, entry->id, ID_WIDTH - 2);
    plim_print(out, "%s  ", plim_paint(style, PLIM_PLAIN));
    plim_print_wrapped(out, title_of(entry), indent + ID_WIDTH, indent + ID_WIDTH);
}

void plim_report_errors_near(FILE *out, const struct plim_errors_found *found, const struct plim_style *style)
{
    const size_t n = found->n < NEAR ? found->n : NEAR;
    plim_print(out, "No entry has this message. The nearest by its words, perhaps of something else:\n");
    for (size_t i = 0; i < n; i++)
        print_row(out, &found->hits[i].entry, 2, style);
    plim_print(out, "'plimsoll errors ID' shows one; 'plimsoll explain' reads the whole log.\n");
}

void plim_report_errors_list(FILE *out, const struct plim_errors_found *found, const struct plim_style *style)
{
    for (size_t i = 0; i < found->n; i++)
        print_row(out, &found->hits[i].entry, 0, style);
    plim_print(out, "%zu entr%s; 'plimsoll errors ID' shows one.\n", found->n, found->n == 1 ? "y" : "ies");
}

/* --- one entry --- */

static void print_head(FILE *out, const char *text, const struct plim_style *style)
{
    plim_print(out, "\n%s%s%s\n", plim_paint(style, PLIM_BOLD), text, plim_paint(style, PLIM_PLAIN));
}

static void print_point(FILE *out, const char *text)
{
    plim_print(out, "  - ");
    plim_print_wrapped(out, text, 4, 4);
}

/* All texts of a field under a heading, when there are any. */
static void print_list(FILE *out, const struct plim_knowledge_entry *entry, enum plim_field field, const char *head,
                       const struct plim_style *style)
{
    struct plim_field_text text = plim_entry_field(entry, field, 0);
    if (!text.text)
        return;
    print_head(out, head, style);
    for (size_t i = 0; (text = plim_entry_field(entry, field, i)).text; i++) {
        char words[POINT_BYTES];
        const char *bar = strstr(text.text, " | "); /* a command follows */
        snprintf(words, sizeof words, "%.*s", bar ? (int)(bar - text.text) : (int)strlen(text.text), text.text);
        print_point(out, words);
        if (bar)
            plim_print_command(out, bar + 3, 6);
    }
}

static void print_messages(FILE *out, const struct plim_knowledge_entry *entry, const struct plim_style *style)
{
    struct plim_field_text text = plim_entry_field(entry, PLIM_FIELD_PRINTS, 0);
    if (!text.text)
        return;
    print_head(out, "It says", style);
    for (size_t i = 0; (text = plim_entry_field(entry, PLIM_FIELD_PRINTS, i)).text; i++) {
        plim_print(out, "  %s", plim_paint(style, PLIM_DIM));
        plim_print_wrapped(out, text.text, 2, 4);
        plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    }
}

static void print_beliefs(FILE *out, const struct plim_knowledge_entry *entry, const struct plim_style *style)
{
    struct plim_field_text text = plim_entry_field(entry, PLIM_FIELD_BELIEF, 0);
    if (!text.text)
        return;
    print_head(out, "Common misconceptions", style);
    for (size_t i = 0; (text = plim_entry_field(entry, PLIM_FIELD_BELIEF, i)).text; i++) {
        print_point(out, text.text);
        plim_print(out, "    ");
        plim_print_wrapped(out, text.rest, 4, 4);
    }
}

static void print_one(FILE *out, const struct plim_knowledge_entry *entry, enum plim_field field, const char *head,
                      const struct plim_style *style)
{
    struct plim_field_text text = plim_entry_field(entry, field, 0);
    if (!text.text)
        return;
    print_head(out, head, style);
    plim_print(out, "  ");
    plim_print_wrapped(out, text.text, 2, 2);
}

static void print_related(FILE *out, const struct plim_knowledge_entry *entry, const struct plim_style *style)
{
    const char *list = plim_entry_field(entry, PLIM_FIELD_SEE, 0).text;
    char id[64];
    struct plim_knowledge_entry other;
    if (!list)
        return;
    print_head(out, "See also", style);
    while (*list) {
        size_t n = strcspn(list, " ");
        snprintf(id, sizeof id, "%.*s", (int)n, list);
        if (plim_knowledge_by_id(id, &other))
            print_row(out, &other, 2, style);
        list += n + strspn(list + n, " ");
    }
}

static void print_fixes(FILE *out, const struct plim_knowledge_entry *entry, const struct plim_style *style)
{
    struct plim_field_text text;
    print_head(out, "What to do, first things first", style);
    for (size_t i = 0; (text = plim_entry_field(entry, PLIM_FIELD_FIX, i)).text; i++) {
        plim_print(out, "%2zu. ", i + 1);
        plim_print_wrapped(out, text.text, 4, 4);
        if (text.rest[0]) {
            plim_print(out, "%s", plim_paint(style, PLIM_CYAN));
            plim_print_command(out, text.rest, 6);
            plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
        }
    }
}

void plim_report_errors_entry(FILE *out, const struct plim_errors_found *found, const struct plim_style *style)
{
    const struct plim_knowledge_entry *entry = &found->hits[0].entry;
    plim_print(out, "%s%s%s\n", plim_paint(style, PLIM_BOLD), title_of(entry), plim_paint(style, PLIM_PLAIN));
    plim_print(out, "  ");
    plim_print_wrapped(out, plim_entry_field(entry, PLIM_FIELD_MEANS, 0).text, 2, 2);
    print_messages(out, entry, style);
    print_list(out, entry, PLIM_FIELD_BECAUSE, "Why it happens", style);
    print_beliefs(out, entry, style);
    print_one(out, entry, PLIM_FIELD_SINCE, "Versions", style);
    print_one(out, entry, PLIM_FIELD_SOURCE, "Source", style);
    print_related(out, entry, style);
    if (found->n > 1 && !found->is_recognised) {
        print_head(out, "Other entries with these words", style);
        for (size_t i = 1; i < found->n && i <= NEAR; i++)
            print_row(out, &found->hits[i].entry, 2, style);
    }
    print_list(out, entry, PLIM_FIELD_USELESS, "What does not help", style);
    print_list(out, entry, PLIM_FIELD_INSTEAD, "Another way", style);
    print_fixes(out, entry, style);
}
