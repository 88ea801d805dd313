/* SPDX-License-Identifier: MIT */
/* plimsoll.errors/1, as docs/json.md has it. */
#include "report/errors.h"

#include "report/json_text.h"

#include <jansson.h>
#include <string.h>

static json_t *one(const struct plim_knowledge_entry *entry, enum plim_field field)
{
    return plim_text_or_null_json(plim_entry_field(entry, field, 0).text);
}

static json_t *list(const struct plim_knowledge_entry *entry, enum plim_field field)
{
    struct plim_field_text text;
    json_t *array = json_array();
    for (size_t i = 0; (text = plim_entry_field(entry, field, i)).text; i++)
        json_array_append_new(array, plim_text_json(text.text));
    return array;
}

/* Names with blanks between them. */
static json_t *names(const struct plim_knowledge_entry *entry, enum plim_field field)
{
    const char *text = plim_entry_field(entry, field, 0).text;
    json_t *array = json_array();
    while (text && *text) {
        size_t n = strcspn(text, " ");
        json_array_append_new(array, plim_text_part_json(text, n));
        text += n + strspn(text + n, " ");
    }
    return array;
}

static json_t *pairs(const struct plim_knowledge_entry *entry, enum plim_field field, const char *first,
                     const char *second)
{
    struct plim_field_text text;
    json_t *array = json_array();
    for (size_t i = 0; (text = plim_entry_field(entry, field, i)).text; i++)
        json_array_append_new(array,
                              json_pack("{s:s, s:o}", first, text.text, second, plim_text_or_null_json(text.rest)));
    return array;
}

static json_t *entry_json(const struct plim_knowledge_entry *entry)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", entry->id,
                     "title", one(entry, PLIM_FIELD_TITLE), "framework", one(entry, PLIM_FIELD_FROM), "causes",
                     names(entry, PLIM_FIELD_CAUSE), "means", one(entry, PLIM_FIELD_MEANS), "messages",
                     list(entry, PLIM_FIELD_PRINTS), "kinds", names(entry, PLIM_FIELD_KIND), "because",
                     list(entry, PLIM_FIELD_BECAUSE), "fixes", pairs(entry, PLIM_FIELD_FIX, "change", "command"),
                     "alternatives", list(entry, PLIM_FIELD_INSTEAD), "will_not_help", list(entry, PLIM_FIELD_USELESS),
                     "beliefs", pairs(entry, PLIM_FIELD_BELIEF, "claim", "truth"), "versions",
                     one(entry, PLIM_FIELD_SINCE), "source", one(entry, PLIM_FIELD_SOURCE), "related",
                     names(entry, PLIM_FIELD_SEE));
}

bool plim_report_errors_json(FILE *out, const struct plim_errors_found *found)
{
    json_t *query = found->query ? plim_text_json(found->query) : NULL;
    json_t *entries = json_array();
    for (size_t i = 0; i < found->n; i++)
        json_array_append_new(entries, entry_json(&found->hits[i].entry));
    json_t *document = json_pack("{s:s, s:o, s:b, s:o}", "schema", "plimsoll.errors/1", "query",
                                 query ? query : json_null(), "recognised", found->is_recognised, "entries", entries);
    return plim_json_write(out, document, JSON_INDENT(2));
}
