/* SPDX-License-Identifier: MIT */
/*
 * How a model is found by the names people use.
 *
 * Readings of a name are tried from strict to forgiving, and the first that finds something decides: the id, the name,
 * a tag of Ollama's, and the words of the name in any order. Words such as "instruct" are left out and added freely,
 * for they do not tell shapes apart. Several models are one answer when they have the same shape, or when all others
 * are longer names of the first; otherwise the name is ambiguous.
 */
#include "plimsoll/catalogue.h"

#include "base/error.h"
#include "base/text.h"
#include "model/catalogue/columns.h"
#include "model/catalogue/name.h"
#include "model/catalogue/ollama.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CANDIDATES = 256, MAX_DISTANCE = 3 };

/* Words that do not tell shapes apart: kinds of training, layouts of the same weights. */
static const char free_words[] = "instruct chat it hf base text meta model llm preview pt sft dpo";

/* Words of repositories that hold other formats of a model that the catalogue has as well. */
static const char format_words[] = "fp8 nvfp4 bf16 awq gptq int4 int8";

static const char *cell(size_t i, enum plim_models_column column) { return plim_models_cell(i, column); }

static bool is_same_shape(size_t a, size_t b)
{
    return !strcmp(cell(a, PLIM_MODELS_SHAPE), cell(b, PLIM_MODELS_SHAPE));
}

/* The next of a model's names: its name, its id, then others. *at is 0 at first; false after the last. */
static bool next_name(size_t i, size_t *at, char ret_name[PLIM_NAME_BYTES])
{
    const char *more = cell(i, PLIM_MODELS_OTHER_NAMES);
    if (*at < 2) {
        snprintf(ret_name, PLIM_NAME_BYTES, "%s", cell(i, *at ? PLIM_MODELS_ID : PLIM_MODELS_NAME));
        ++*at;
        return true;
    }
    const char *start = more + (*at - 2);
    const size_t n = strcspn(start, ";");
    if (n == 0)
        return false;
    snprintf(ret_name, PLIM_NAME_BYTES, "%.*s", (int)n, start);
    *at += n + (start[n] == ';');
    return true;
}

/* --- candidates --- */

struct candidate {
    size_t model;
    unsigned extra;    /* words of the model that the query lacks ... */
    unsigned letters;  /* ... those of them without digits ... */
    unsigned variants; /* ... and free words that only one of them has */
};

struct candidates {
    struct candidate at[MAX_CANDIDATES];
    size_t n;
};

static void add(struct candidates *list, const struct candidate *candidate)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].model == candidate->model) {
            struct candidate *c = &list->at[i];
            if (candidate->extra < c->extra || (candidate->extra == c->extra && candidate->variants < c->variants))
                *c = *candidate;
            return;
        }
    if (list->n < MAX_CANDIDATES)
        list->at[list->n++] = *candidate;
}

static bool is_named(const char *name, size_t length, const char *key)
{
    const char *slash = memchr(name, '/', length);
    const size_t before = slash ? (size_t)(slash - name) + 1 : 0;
    return plim_name_is_key(name, length, key) || (slash && plim_name_is_key(name + before, length - before, key));
}

/* Models that have this key as one of their names. */
static void by_key(const char *text, struct candidates *list)
{
    char key[PLIM_NAME_BYTES];
    plim_name_key(text, key);
    for (size_t i = 0; *key && i < plim_catalogue_model_count(); i++) {
        const char *name = cell(i, PLIM_MODELS_NAME), *id = cell(i, PLIM_MODELS_ID);
        bool is = is_named(name, strlen(name), key) || is_named(id, strlen(id), key);
        for (const char *other = cell(i, PLIM_MODELS_OTHER_NAMES); *other && !is; other += *other == ';') {
            const size_t n = strcspn(other, ";");
            is = is_named(other, n, key);
            other += n;
        }
        if (is)
            add(list, &(struct candidate){ .model = i });
    }
}

/* The name has this word, or one that means the same. */
static bool has_meaning(const struct plim_name_words *words, const char *word)
{
    static const char *const taught[] = { "instruct", "chat", "it" };
    if (plim_text_has_word("instruct chat it", word))
        for (size_t i = 0; i < sizeof taught / sizeof *taught; i++)
            if (plim_name_has_word(words, taught[i]))
                return true;
    return plim_name_has_word(words, word);
}

/* "coder", "vl", "distill"; not a size, a version or a date. */
static bool is_letters(const char *word) { return !word[strcspn(word, "0123456789")]; }

/* The query's words are among those of this name, or say who made the model. */
static bool has_words(size_t i, const char *name, const struct plim_name_words *query, struct candidate *ret_candidate)
{
    struct plim_name_words words, maker;
    char organisation[PLIM_NAME_BYTES];
    const char *slash = strchr(name, '/');
    snprintf(organisation, sizeof organisation, "%.*s", (int)strcspn(cell(i, PLIM_MODELS_ID), "/"),
             cell(i, PLIM_MODELS_ID));
    plim_name_split(organisation, &maker);
    plim_name_split(slash ? slash + 1 : name, &words);
    struct candidate found = { .model = i };
    for (size_t k = 0; k < query->n; k++)
        if (!has_meaning(&words, query->word[k])) {
            if (plim_text_has_word(free_words, query->word[k]))
                found.variants++;
            else if (!plim_name_has_word(&maker, query->word[k]))
                return false;
        }
    for (size_t k = 0; k < words.n; k++)
        if (!has_meaning(query, words.word[k])) {
            if (plim_text_has_word(format_words, words.word[k]))
                return false;
            if (plim_text_has_word(free_words, words.word[k])) {
                found.variants++;
                continue;
            }
            found.extra++;
            found.letters += is_letters(words.word[k]);
        }
    *ret_candidate = found;
    return true;
}

static bool is_telling(const struct plim_name_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        if (!plim_text_has_word(free_words, words->word[i]))
            return true;
    return false;
}

static void by_words(const char *text, struct candidates *list)
{
    struct plim_name_words query;
    char name[PLIM_NAME_BYTES];
    struct candidate found;
    plim_name_split(text, &query);
    for (size_t i = 0; is_telling(&query) && i < plim_catalogue_model_count(); i++)
        for (size_t at = 0; next_name(i, &at, name);)
            if (has_words(i, name, &query, &found))
                add(list, &found);
}

/* --- the choice --- */

/* b is a longer name than a: it has all its words but the free ones. */
static bool is_longer(size_t a, size_t b)
{
    struct plim_name_words less, more;
    plim_name_split(cell(a, PLIM_MODELS_NAME), &less);
    plim_name_split(cell(b, PLIM_MODELS_NAME), &more);
    for (size_t i = 0; i < less.n; i++)
        if (!plim_text_has_word(free_words, less.word[i]) && !plim_name_has_word(&more, less.word[i]))
            return false;
    return true;
}

static bool is_before(const struct candidate *a, const struct candidate *b)
{
    if (a->extra != b->extra)
        return a->extra < b->extra;
    if (a->variants != b->variants)
        return a->variants < b->variants;
    return strlen(cell(a->model, PLIM_MODELS_NAME)) < strlen(cell(b->model, PLIM_MODELS_NAME));
}

/* "llama 3.3" is the one of a size, not one that was made of it. */
static void drop_derived(struct candidates *list)
{
    bool has_plain = false;
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        has_plain |= list->at[i].letters == 0;
    for (size_t i = 0; i < list->n; i++)
        if (!has_plain || list->at[i].letters == 0)
            list->at[n++] = list->at[i];
    list->n = n;
}

/* The best to the front; true when it is the answer. */
static bool choose(struct candidates *list)
{
    drop_derived(list);
    for (size_t i = 1; i < list->n; i++)
        for (size_t k = i; k > 0 && is_before(&list->at[k], &list->at[k - 1]); k--) {
            const struct candidate swapped = list->at[k];
            list->at[k] = list->at[k - 1];
            list->at[k - 1] = swapped;
        }
    const struct candidate *best = list->at;
    for (size_t i = 1; i < list->n; i++) {
        const struct candidate *other = &list->at[i];
        const bool is_exact = best->extra == 0 && (other->extra > 0 || other->variants > best->variants);
        if (is_exact || is_same_shape(best->model, other->model))
            continue;
        const bool is_level = other->extra == best->extra && other->variants == best->variants;
        if (is_level || !is_longer(best->model, other->model))
            return false;
    }
    return list->n > 0;
}

static void list_others(const struct candidates *list, struct plim_catalogue_answer *answer)
{
    answer->n_all = answer->n_others = 0;
    for (size_t i = 0; i < list->n; i++) {
        bool is_new = true; /* models of one shape are one choice */
        for (size_t k = 0; k < i && is_new; k++)
            is_new = !is_same_shape(list->at[i].model, list->at[k].model);
        if (is_new && answer->n_others < PLIM_CATALOGUE_MAX_OTHERS)
            answer->others[answer->n_others++] = list->at[i].model;
        answer->n_all += is_new;
    }
}

/* --- readings --- */

static bool find_id(const char *id, size_t *ret_model)
{
    for (size_t i = 0; i < plim_catalogue_model_count(); i++)
        if (!strcmp(cell(i, PLIM_MODELS_ID), id)) {
            *ret_model = i;
            return true;
        }
    return false;
}

/* Returns 0 when it is no tag, 1 when found; PLIM_E_NOT_FOUND for a tag of a model that is not in the catalogue. */
static int by_tag(const struct plim_name *name, struct plim_catalogue_answer *answer, struct plim_error *reterr)
{
    struct plim_ollama_tag tag;
    size_t model;
    if (!plim_ollama_tag_find(name->given, &tag) && !plim_ollama_tag_find(name->text, &tag))
        return 0;
    answer->tag = tag.tag;
    if (!find_id(tag.id, &model)) {
        int code = plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET,
                             "Ollama's '%s' is %s, which is not in the catalogue", tag.tag, tag.id);
        plim_error_hint(reterr, "'plimsoll models' lists all");
        return code;
    }
    answer->outcome = PLIM_CATALOGUE_FOUND;
    answer->is_exact = true;
    answer->model = model;
    if (!answer->quant[0] && *tag.quant) {
        snprintf(answer->quant, sizeof answer->quant, "%s", tag.quant);
        answer->is_quant_of_tag = true;
    }
    answer->is_file_of_tag = *tag.quant && !strcmp(answer->quant, tag.quant);
    answer->file_bytes = answer->is_file_of_tag ? tag.file_bytes : 0;
    return 1;
}

/* The name with its organisation decides when an id is that. */
static void by_id(const struct plim_name *name, struct candidates *list)
{
    char whole[2 * PLIM_NAME_BYTES];
    if (!name->organisation[0])
        return;
    snprintf(whole, sizeof whole, "%s/%s", name->organisation, name->given);
    whole[PLIM_NAME_BYTES - 1] = '\0';
    by_key(whole, list);
}

/* How much of the name was read: all of it, all but suffixes, or words of it. */
enum reading { WHOLE, WITHOUT_SUFFIXES, WORDS };

static enum reading read_candidates(const struct plim_name *name, struct candidates *list)
{
    list->n = 0;
    by_id(name, list);
    if (list->n == 0)
        by_key(name->given, list);
    if (list->n)
        return WHOLE;
    if (strcmp(name->plain, name->given) != 0)
        by_key(name->plain, list);
    if (list->n == 0 && strcmp(name->text, name->plain) != 0)
        by_key(name->text, list);
    if (list->n)
        return WITHOUT_SUFFIXES;
    by_words(name->text, list);
    return WORDS;
}

/* --- what is said --- */

static void name_others(const struct plim_catalogue_answer *answer, const char *before, struct plim_error *reterr)
{
    char names[420] = "";
    size_t n = 0;
    for (size_t k = 0; k < answer->n_others; k++) {
        const char *name = cell(answer->others[k], PLIM_MODELS_NAME);
        if (n + strlen(name) + 5 >= sizeof names)
            break;
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", k ? ", " : "", name);
    }
    if (answer->n_all > answer->n_others)
        plim_error_hint(reterr, "%s%s and %zu more", before, names, answer->n_all - answer->n_others);
    else
        plim_error_hint(reterr, "%s%s", before, names);
}

static unsigned nearness(size_t i, const char *key)
{
    char name[PLIM_NAME_BYTES], other[PLIM_NAME_BYTES];
    unsigned best = PLIM_NAME_BYTES;
    const size_t n = strlen(key);
    for (size_t at = 0; next_name(i, &at, name);) {
        const char *slash = strchr(name, '/');
        const size_t m = plim_name_key(slash ? slash + 1 : name, other);
        if ((m > n ? m - n : n - m) > MAX_DISTANCE)
            continue;
        const unsigned d = plim_text_distance(key, other);
        best = d < best ? d : best;
    }
    return best;
}

/* How many words of the query the name lacks, when it shares most of them; PLIM_NAME_WORDS otherwise. */
static unsigned lacking(size_t i, const struct plim_name_words *query)
{
    struct plim_name_words words;
    unsigned shared = 0, n = 0;
    bool has_letters = false;
    plim_name_split(cell(i, PLIM_MODELS_NAME), &words);
    for (size_t k = 0; k < query->n; k++) {
        const char *word = query->word[k];
        if (plim_text_has_word(free_words, word))
            continue;
        n++;
        const bool is_shared = plim_name_has_word(&words, word);
        shared += is_shared;
        has_letters |= is_shared && (word[0] < '0' || word[0] > '9') && word[1];
    }
    return has_letters && 2 * shared >= n ? n - shared : PLIM_NAME_WORDS;
}

static int not_found(const char *given, const struct plim_name *name, struct plim_catalogue_answer *answer,
                     struct plim_error *reterr)
{
    char key[PLIM_NAME_BYTES];
    struct plim_name_words words;
    struct candidates near;
    near.n = 0;
    const size_t length = plim_name_key(name->text, key);
    const unsigned limit = length / 3 + 1 < MAX_DISTANCE ? (unsigned)length / 3 + 1 : MAX_DISTANCE;
    plim_name_split(name->text, &words);
    for (size_t i = 0; i < plim_catalogue_model_count(); i++) {
        const unsigned d = nearness(i, key), missing = lacking(i, &words);
        if (d <= limit)
            add(&near, &(struct candidate){ .model = i, .extra = d });
        else if (missing < PLIM_NAME_WORDS)
            add(&near, &(struct candidate){ .model = i, .extra = MAX_DISTANCE + missing });
    }
    choose(&near);
    list_others(&near, answer);
    if (answer->n_others > 3)
        answer->n_others = 3;
    answer->n_all = answer->n_others;
    int code =
        plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "no model in the catalogue is called '%.80s'", given);
    if (answer->n_others)
        name_others(answer, "did you mean one of these? ", reterr);
    else
        plim_error_hint(reterr, "'plimsoll models' lists all");
    return code;
}

static int ambiguous(const char *given, const struct candidates *list, struct plim_catalogue_answer *answer,
                     struct plim_error *reterr)
{
    answer->outcome = PLIM_CATALOGUE_AMBIGUOUS;
    list_others(list, answer);
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "'%.80s' is the name of %zu models that differ", given,
                         answer->n_all);
    name_others(answer, "name one of them: ", reterr);
    return code;
}

/* By the words of a name, or as the tag that Ollama reads it as. */
static int by_name(const char *given, const struct plim_name *name, struct plim_catalogue_answer *answer,
                   struct plim_error *reterr)
{
    struct candidates list;
    const enum reading reading = read_candidates(name, &list);
    if (reading == WORDS && !name->organisation[0] && !strchr(name->given, ':')) {
        const int tagged = by_tag(name, answer, reterr);
        if (tagged != 0)
            return tagged < 0 ? tagged : 0;
    }
    if (list.n == 0)
        return not_found(given, name, answer, reterr);
    if (!choose(&list))
        return ambiguous(given, &list, answer, reterr);
    answer->outcome = PLIM_CATALOGUE_FOUND;
    answer->is_exact = reading != WORDS;
    answer->model = list.at[0].model;
    if (reading == WHOLE && name->is_quant_suffix) /* "...-BF16" is a name of the model */
        answer->quant[0] = '\0';
    if (reading != WHOLE)
        memcpy(answer->passed_over, name->passed_over, sizeof answer->passed_over);
    return 0;
}

int plim_catalogue_model_find(const char *name, struct plim_catalogue_answer *ret_answer, struct plim_error *reterr)
{
    struct plim_name read;
    plim_name_read(name, &read);
    *ret_answer = (struct plim_catalogue_answer){ 0 };
    memcpy(ret_answer->quant, read.quant, sizeof ret_answer->quant);
    const int tagged = strchr(read.given, ':') ? by_tag(&read, ret_answer, reterr) : 0;
    if (tagged != 0)
        return tagged < 0 ? tagged : 0;
    return by_name(name, &read, ret_answer, reterr);
}

/* --- lists --- */

/* Names run together, and where words begin: what people join or separate does not matter, but numbers stay whole. */
struct joined {
    char text[4 * PLIM_NAME_BYTES];
    bool begins[4 * PLIM_NAME_BYTES + 1];
};

static void join(const char *text, struct joined *joined)
{
    bool is_new = true;
    size_t n = 0;
    for (; *text && n < sizeof joined->text - 1; text++) {
        const unsigned char c = (unsigned char)*text;
        const bool is_point = c == '.' && n && isdigit((unsigned char)text[1]) && !is_new;
        if (!isalnum(c) && c != '+' && !is_point) {
            is_new = true;
            continue;
        }
        joined->begins[n] = is_new;
        joined->text[n++] = (char)tolower(c);
        is_new = false;
    }
    joined->begins[n] = true;
    joined->text[n] = '\0';
}

/* The key begins where a word does, and ends in no number. */
static bool has_joined(const struct joined *joined, const char *key)
{
    const size_t n = strlen(key);
    for (const char *at = strstr(joined->text, key); at; at = strstr(at + 1, key)) {
        const size_t start = (size_t)(at - joined->text), end = start + n;
        const bool is_number = isdigit((unsigned char)key[n - 1]) && (isdigit((unsigned char)at[n]) || at[n] == '.');
        if (joined->begins[start] && (joined->begins[end] || !is_number))
            return true;
    }
    return false;
}

bool plim_catalogue_model_matches(size_t i, const char *query)
{
    char all[4 * PLIM_NAME_BYTES], key[PLIM_NAME_BYTES], word[PLIM_NAME_BYTES];
    struct joined joined;
    snprintf(all, sizeof all, "%s %s %s", cell(i, PLIM_MODELS_ID), cell(i, PLIM_MODELS_FAMILY),
             cell(i, PLIM_MODELS_OTHER_NAMES));
    join(all, &joined);
    while (*query) {
        const size_t length = strcspn(query, " \t");
        snprintf(word, sizeof word, "%.*s", (int)length, query);
        if (plim_name_key(word, key) && !has_joined(&joined, key))
            return false;
        query += length + strspn(query + length, " \t");
    }
    return true;
}
