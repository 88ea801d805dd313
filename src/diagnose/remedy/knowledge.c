/* SPDX-License-Identifier: MIT */
#include "diagnose/remedy/knowledge.h"

#include "base/gnu_string.h"
#include "base/table.h"
#include "diagnose/scan/patterns/pattern.h"

#include <ctype.h>
#include <string.h>

/* Columns of plim_errors_table, made by tools/embed_entries.py; an entry's rows follow each other. */
enum { COLUMN_ENTRY, COLUMN_FIELD, COLUMN_TEXT, COLUMN_REST };

static const char *const field_names[PLIM_FIELD_MAX_] = {
    [PLIM_FIELD_TITLE] = "title",     [PLIM_FIELD_FROM] = "from",     [PLIM_FIELD_PRINTS] = "prints",
    [PLIM_FIELD_KIND] = "kind",       [PLIM_FIELD_CAUSE] = "cause",   [PLIM_FIELD_MEANS] = "means",
    [PLIM_FIELD_BECAUSE] = "because", [PLIM_FIELD_FIX] = "fix",       [PLIM_FIELD_INSTEAD] = "instead",
    [PLIM_FIELD_USELESS] = "useless", [PLIM_FIELD_BELIEF] = "belief", [PLIM_FIELD_SINCE] = "since",
    [PLIM_FIELD_SOURCE] = "source",   [PLIM_FIELD_SEE] = "see",       [PLIM_FIELD_OWN] = "own",
};

static const char *cell(size_t row, size_t column) { return plim_table_cell(&plim_errors_table, row, column); }

/* The entry that begins at a row. */
static struct plim_knowledge_entry entry_at(size_t row)
{
    struct plim_knowledge_entry entry = { cell(row, COLUMN_ENTRY), row, 0 };
    while (row + entry.n_rows < plim_errors_table.n_rows && !strcmp(cell(row + entry.n_rows, COLUMN_ENTRY), entry.id))
        entry.n_rows++;
    return entry;
}

size_t plim_knowledge_size(void)
{
    size_t n = 0;
    for (size_t row = 0; row < plim_errors_table.n_rows; row += entry_at(row).n_rows)
        n++;
    return n;
}

struct plim_knowledge_entry plim_knowledge_entry(size_t n)
{
    size_t row = 0;
    while (n-- > 0 && row < plim_errors_table.n_rows)
        row += entry_at(row).n_rows;
    return entry_at(row);
}

struct plim_field_text plim_entry_field(const struct plim_knowledge_entry *entry, enum plim_field field, size_t n)
{
    for (size_t row = entry->first_row; row < entry->first_row + entry->n_rows; row++)
        if (!strcmp(cell(row, COLUMN_FIELD), field_names[field]) && n-- == 0)
            return (struct plim_field_text){ cell(row, COLUMN_TEXT), cell(row, COLUMN_REST) };
    return (struct plim_field_text){ NULL, NULL };
}

bool plim_knowledge_by_id(const char *id, struct plim_knowledge_entry *ret_entry)
{
    struct plim_knowledge_entry entry;
    for (size_t row = 0; row < plim_errors_table.n_rows; row += entry.n_rows) {
        entry = entry_at(row);
        if (!strcmp(entry.id, id)) {
            *ret_entry = entry;
            return true;
        }
    }
    return false;
}

/* How many letters of `name` a list of names agrees with; a name may end with '*'. 0: it is not in the list. */
static size_t agreement(const char *list, const char *name)
{
    size_t best = 0;
    while (list && *list) {
        size_t n = strcspn(list, " ");
        bool is_open = n > 0 && list[n - 1] == '*';
        size_t length = is_open ? n - 1 : n;
        if (length > best && !strncmp(list, name, length) && (is_open || name[length] == '\0'))
            best = length;
        list += n + strspn(list + n, " ");
    }
    return best;
}

bool plim_knowledge_for(const char *kind, enum plim_cause cause, struct plim_knowledge_entry *ret_entry)
{
    size_t best = 0;
    const char *cause_name = plim_cause_name(cause);
    struct plim_knowledge_entry entry;
    for (size_t row = 0; row < plim_errors_table.n_rows; row += entry.n_rows) {
        entry = entry_at(row);
        size_t n = agreement(plim_entry_field(&entry, PLIM_FIELD_KIND, 0).text, kind);
        if (n > best) {
            best = n;
            *ret_entry = entry;
        }
    }
    return best > 0 || (cause_name && plim_knowledge_by_id(cause_name, ret_entry));
}

bool plim_knowledge_of(const struct plim_finding *finding, enum plim_cause cause,
                       struct plim_knowledge_entry *ret_entry)
{
    static const struct {
        const char *entry;
        enum plim_word word;
        const char *has, *instead;
    } exact[] = {
        { "kernel-oom-kill", PLIM_W_CONSTRAINT, "MEMCG", "cgroup-oom" },
        { "kernel-oom-kill", PLIM_W_CONSTRAINT, "CPUSET", "numa-oom" },
        { "kernel-oom-kill", PLIM_W_CONSTRAINT, "MEMORY_POLICY", "numa-oom" },
        { "pytorch-oom", PLIM_W_BACKEND, "HIP", "pytorch-hip-oom" },
        { "pytorch-oom", PLIM_W_BACKEND, "XPU", "pytorch-xpu-oom" },
    };
    if (!plim_knowledge_for(finding->pattern ? finding->pattern->id : "", cause, ret_entry))
        return false;
    if (!strcmp(ret_entry->id, "candle-oom") && finding->framework && !strcmp(finding->framework, "tei"))
        return plim_knowledge_by_id("tei-oom", ret_entry);
    if (!strcmp(ret_entry->id, "pytorch-oom") && plim_number(&finding->numbers, PLIM_N_TRIED_BYTES) == PLIM_UNKNOWN &&
        plim_number(&finding->numbers, PLIM_N_TOTAL_BYTES) == PLIM_UNKNOWN)
        return plim_knowledge_by_id("pytorch-oom-short", ret_entry);
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (!strcmp(ret_entry->id, exact[i].entry) && strstr(finding->words.text[exact[i].word], exact[i].has))
            return plim_knowledge_by_id(exact[i].instead, ret_entry);
    return true;
}

/* --- search by words --- */

/* A phrase scores 60 to 200, by how much of the text it is; from 120 on it is nearly half of it. */
enum { MAX_WORDS = 48, WORD_BYTES = 40, PHRASE_SCORE = 120 };

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Words of the query in small letters; numbers and single letters say nothing. Returns how many. */
static size_t split(const char *query, char words[MAX_WORDS][WORD_BYTES])
{
    size_t n = 0;
    while (*query && n < MAX_WORDS) {
        size_t length = 0;
        bool has_letter = false;
        while (*query && !is_word_char(*query))
            query++;
        for (; *query && is_word_char(*query); query++) {
            has_letter = has_letter || isalpha((unsigned char)*query);
            if (length + 1 < WORD_BYTES)
                words[n][length++] = (char)tolower((unsigned char)*query);
        }
        words[n][length] = '\0';
        bool is_new = length > 1 && (has_letter || length == 3); /* 137 */
        for (size_t i = 0; i < n; i++)
            is_new = is_new && strcmp(words[i], words[n]) != 0;
        n += is_new;
    }
    return n;
}

/* 2: as a whole word; 1: inside of one; 0: not. */
static unsigned holds(const char *text, const char *word)
{
    unsigned best = 0;
    const size_t length = strlen(word);
    for (const char *at = text; best < 2 && (at = strcasestr(at, word)) != NULL; at++) {
        bool begins = at == text || !is_word_char(at[-1]), ends = !is_word_char(at[length]);
        best = begins && ends ? 2 : 1;
    }
    return length < 4 && best < 2 ? 0 : best;
}

/* What a word in a field is worth. */
static unsigned weight_of(const char *field)
{
    static const struct {
        enum plim_field field;
        unsigned weight;
    } weights[] = { { PLIM_FIELD_PRINTS, 6 },  { PLIM_FIELD_TITLE, 6 },   { PLIM_FIELD_FROM, 4 },
                    { PLIM_FIELD_KIND, 2 },    { PLIM_FIELD_MEANS, 2 },   { PLIM_FIELD_BELIEF, 2 },
                    { PLIM_FIELD_FIX, 2 },     { PLIM_FIELD_BECAUSE, 1 }, { PLIM_FIELD_SINCE, 1 },
                    { PLIM_FIELD_USELESS, 1 }, { PLIM_FIELD_INSTEAD, 1 } };
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
        if (!strcmp(field, field_names[weights[i].field]))
            return weights[i].weight;
    return 0;
}

/* The best that a word makes in an entry: 0 to 12, and 16 in its id. */
static unsigned word_score(const struct plim_knowledge_entry *entry, const char *word)
{
    unsigned best = 8 * holds(entry->id, word);
    for (size_t row = entry->first_row; row < entry->first_row + entry->n_rows; row++) {
        unsigned weight = weight_of(cell(row, COLUMN_FIELD));
        unsigned in_text = weight ? weight * holds(cell(row, COLUMN_TEXT), word) : 0;
        unsigned in_rest = weight ? weight * holds(cell(row, COLUMN_REST), word) : 0;
        best = in_text > best ? in_text : best;
        best = in_rest > best ? in_rest : best;
    }
    return best;
}

/* The query stands in a title or a message as it is: the more of it, the better. */
static unsigned phrase_score(const struct plim_knowledge_entry *entry, const char *query)
{
    const size_t length = strlen(query);
    unsigned best = 0;
    for (size_t row = entry->first_row; length > 2 && row < entry->first_row + entry->n_rows; row++) {
        const char *field = cell(row, COLUMN_FIELD), *text = cell(row, COLUMN_TEXT);
        if ((strcmp(field, "title") != 0 && strcmp(field, "prints") != 0) || !strcasestr(text, query))
            continue;
        unsigned score = 60 + (unsigned)(140 * length / (strlen(text) + 1));
        best = score > best ? score : best;
    }
    return best;
}

size_t plim_knowledge_search(const char *query, struct plim_search_result ret_hits[PLIM_MAX_SEARCH_RESULTS])
{
    char words[MAX_WORDS][WORD_BYTES];
    unsigned rarity[MAX_WORDS];
    const size_t n_words = split(query, words);
    struct plim_knowledge_entry entry;
    size_t n = 0;
    for (size_t w = 0; w < n_words; w++) { /* a word that every entry has says less than one that few have */
        unsigned n_with = 0;
        for (size_t row = 0; row < plim_errors_table.n_rows; row += entry.n_rows) {
            entry = entry_at(row);
            n_with += word_score(&entry, words[w]) > 0;
        }
        rarity[w] = n_with == 0 ? 0 : n_with <= 2 ? 8 : n_with <= 6 ? 5 : n_with <= 20 ? 2 : 1;
    }
    for (size_t row = 0; row < plim_errors_table.n_rows; row += entry.n_rows) {
        entry = entry_at(row);
        unsigned phrase = phrase_score(&entry, query);
        struct plim_search_result hit = { entry, phrase, phrase >= PHRASE_SCORE, false };
        size_t n_found = 0;
        for (size_t w = 0; w < n_words; w++) {
            const unsigned score = word_score(&entry, words[w]);
            hit.score += rarity[w] * score;
            n_found += score > 0;
        }
        hit.is_weak = 3 * n_found < 2 * n_words;
        if (hit.score == 0)
            continue;
        size_t at = n < PLIM_MAX_SEARCH_RESULTS ? n++ : PLIM_MAX_SEARCH_RESULTS;
        for (; at > 0 && ret_hits[at - 1].score < hit.score; at--)
            if (at < PLIM_MAX_SEARCH_RESULTS)
                ret_hits[at] = ret_hits[at - 1];
        if (at < PLIM_MAX_SEARCH_RESULTS)
            ret_hits[at] = hit;
    }
    return n;
}
