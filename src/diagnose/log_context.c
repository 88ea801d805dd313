/* SPDX-License-Identifier: MIT */
#include "diagnose/log_context.h"

#include "base/gnu_string.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 80 }; /* of a program's `path` */

void plim_log_context_init(struct plim_log_context *context)
{
    memset(context, 0, sizeof *context);
    plim_numbers_init(&context->numbers);
}

static bool replaces(enum plim_keep keep, int64_t old, int64_t new)
{
    return keep == PLIM_KEEP_LAST || (keep == PLIM_KEEP_MIN && new < old) || (keep == PLIM_KEEP_MAX && new > old);
}

static void add_neighbour(struct plim_log_context *context, const struct plim_match *m, bool is_late)
{
    const enum plim_keep keep = m->pattern->keep;
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++) {
        const int64_t new = m->numbers.value[i];
        int64_t *old = &context->numbers.value[i], sum;
        if (new == PLIM_UNKNOWN)
            continue;
        if (*old == PLIM_UNKNOWN)
            *old = new;
        else if (!is_late && keep == PLIM_KEEP_SUM && !__builtin_add_overflow(*old, new, &sum))
            *old = sum;
        else if (!is_late && replaces(keep, *old, new))
            *old = new;
    }
    for (int i = 0; i < PLIM_WORD_MAX_; i++)
        if (m->words.text[i][0] && (!context->words.text[i][0] || (!is_late && keep == PLIM_KEEP_LAST)))
            memcpy(context->words.text[i], m->words.text[i], PLIM_WORD_BYTES);
}

static void add_point(struct plim_log_context *context, const struct plim_observation *s)
{
    const struct plim_numbers *numbers = &s->match->numbers;
    const int64_t bytes = numbers->value[PLIM_N_MEMORY_BYTES];
    if (bytes == PLIM_UNKNOWN)
        return;
    if (context->n_series == PLIM_MAX_SERIES) {
        memmove(context->series, context->series + 1, (PLIM_MAX_SERIES - 1) * sizeof *context->series);
        context->n_series--;
    }
    context->series[context->n_series++] = (struct plim_point){ numbers->value[PLIM_N_STEP], bytes, s->stamp };
    context->n_points++;
}

static bool has_program(const struct plim_log_context *context, const struct plim_pattern *program)
{
    for (uint32_t i = 0; i < context->n_programs; i++)
        if (context->programs[i] == program)
            return true;
    return false;
}

void plim_log_context_add_program(struct plim_log_context *context, const struct plim_pattern *program)
{
    if (!has_program(context, program) && context->n_programs < PLIM_MAX_PROGRAMS)
        context->programs[context->n_programs++] = program;
}

void plim_log_context_add(struct plim_log_context *context, const struct plim_observation *s, bool is_late)
{
    const struct plim_match *match = s->match;
    if (match->pattern->role == PLIM_PATTERN_ROLE_NEIGHBOUR)
        add_neighbour(context, match, is_late);
    else if (match->pattern->role == PLIM_PATTERN_ROLE_SERIES && !is_late)
        add_point(context, s);
    else if (match->pattern->role == PLIM_PATTERN_ROLE_PROGRAM)
        plim_log_context_add_program(context, match->pattern);
}

static bool is_in_frames(const struct plim_observation *s, const char *path)
{
    for (uint32_t k = 0; k < s->n_frames; k++)
        if (strstr(s->frames[k].file, path))
            return true;
    return false;
}

/* A link to the pages of a program does not show that it ran, nor does a folder of its cache: a source or a library
 * does. */
static bool is_in_source(const char *text, const char *at)
{
    enum { MAX_PATH_BYTES = 200 };
    static const char around[] = " \"'<>()[],", *const ends[] = { ".py", ".so", ".c", ".h", ".rs", ".jl" };
    const size_t n = strcspn(at, around);
    bool is_source = false;
    for (const char *c = at; c > text && at - c < MAX_PATH_BYTES && !strchr(around, c[-1]); c--)
        if (c[-1] == ':' && !strncmp(c, "//", 2))
            return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && n < MAX_PATH_BYTES; i++)
        is_source = is_source || memmem(at, n, ends[i], strlen(ends[i]));
    return is_source;
}

static bool is_path_in_text(const char *text, const char *path)
{
    for (const char *at = text; text && (at = strstr(at, path)) != NULL; at++)
        if (is_in_source(text, at))
            return true;
    return false;
}

/* In frames paths have one kind of slash, in the text that of the system; and not all that names files is a frame. */
static bool is_any_path_around(const struct plim_observation *s, const char *const *paths)
{
    for (; paths && *paths; paths++) {
        char windows[PATH_BYTES];
        snprintf(windows, sizeof windows, "%s", *paths);
        for (char *c = windows; *c; c++)
            *c = *c == '/' ? '\\' : *c;
        if (is_in_frames(s, *paths))
            return true;
        for (int k = 0; k < 2; k++)
            if (is_path_in_text(s->texts[k], *paths) || is_path_in_text(s->texts[k], windows))
                return true;
    }
    return false;
}

static bool is_any_in_texts(const struct plim_observation *s, const char *const *words)
{
    for (; words && *words; words++)
        for (int k = 0; k < 2; k++)
            if (s->texts[k] && strstr(s->texts[k], *words))
                return true;
    return false;
}

void plim_log_context_add_programs_around(struct plim_log_context *context, const struct plim_observation *s)
{
    for (uint16_t i = 0; i < plim_n_patterns; i++) {
        const struct plim_pattern *p = &plim_patterns[i];
        if ((p->paths || p->nears) && !has_program(context, p) &&
            (is_any_path_around(s, p->paths) || is_any_in_texts(s, p->nears)))
            plim_log_context_add_program(context, p);
    }
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_word(const char *text, size_t size, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = text, *end = text + size; (at = memmem(at, (size_t)(end - at), word, n)); at++)
        if ((at == text || !is_word_byte(at[-1])) && (at + n == end || !is_word_byte(at[n])))
            return true;
    return false;
}

void plim_log_context_add_programs_named(struct plim_log_context *context, const char *text, size_t size)
{
    for (uint16_t i = 0; i < plim_n_patterns; i++)
        for (const char *const *name = plim_patterns[i].names; name && *name; name++)
            if (has_word(text, size, *name)) {
                plim_log_context_add_program(context, &plim_patterns[i]);
                break;
            }
}

/* Programs that wrap what was found so far replace it, until none does. A program without an id of its own ends it:
 * `other` is what many wrap. */
const char *plim_log_context_outermost(const struct plim_log_context *context, const char *framework)
{
    for (uint32_t round = 0; round < context->n_programs; round++) {
        const char *outer = NULL;
        for (uint32_t i = 0; i < context->n_programs && !outer; i++) {
            const struct plim_pattern *program = context->programs[i];
            if (strcmp(program->framework, framework) != 0 && plim_pattern_lists(program->wraps, framework))
                outer = program->framework;
        }
        if (!outer)
            break;
        framework = outer;
        if (!strcmp(outer, "other"))
            break;
    }
    return framework;
}

const char *plim_log_context_framework(const struct plim_log_context *context)
{
    const struct plim_pattern *first = NULL;
    for (uint32_t i = 0; i < context->n_programs; i++) {
        const struct plim_pattern *program = context->programs[i];
        /* What runs a program is rather its surroundings: it wraps the kernel only. */
        if (!first || (!plim_pattern_lists(first->wraps, "other") && plim_pattern_lists(program->wraps, "other")))
            first = program;
    }
    return first ? plim_log_context_outermost(context, first->framework) : NULL;
}
