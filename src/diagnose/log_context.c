/* SPDX-License-Identifier: MIT */
#include "diagnose/log_context.h"

#include "diagnose/program_marks.h"

#include <string.h>

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
    const int64_t total = numbers->value[PLIM_N_TOTAL_BYTES], free_bytes = numbers->value[PLIM_N_FREE_BYTES];
    const bool is_of_rest = total != PLIM_UNKNOWN && free_bytes != PLIM_UNKNOWN;
    const int64_t bytes = is_of_rest ? total - free_bytes : numbers->value[PLIM_N_MEMORY_BYTES];
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

void plim_log_context_add_programs_around(struct plim_log_context *context, const struct plim_observation *s)
{
    for (uint16_t i = 0; i < plim_n_patterns; i++) {
        const struct plim_pattern *p = &plim_patterns[i];
        if (p->role == PLIM_PATTERN_ROLE_PROGRAM && !has_program(context, p) && plim_program_is_around(p, s))
            plim_log_context_add_program(context, p);
    }
}

struct named_program {
    const struct plim_pattern *program;
    const char *at;
};

static bool goes_before(struct named_program a, struct named_program b)
{
    return a.program->is_weak != b.program->is_weak ? b.program->is_weak : a.at < b.at;
}

void plim_log_context_add_programs_named(struct plim_log_context *context, const char *text, size_t size)
{
    struct named_program named[PLIM_MAX_PROGRAMS];
    uint32_t n = 0;
    for (uint16_t i = 0; i < plim_n_patterns; i++) {
        const struct plim_pattern *program = &plim_patterns[i];
        const struct named_program one = { program,
                                           program->names ? plim_program_named_at(program, text, size) : NULL };
        if (!one.at || (n == PLIM_MAX_PROGRAMS && !goes_before(one, named[n - 1])))
            continue;
        uint32_t place = n < PLIM_MAX_PROGRAMS ? n++ : n - 1;
        for (; place > 0 && goes_before(one, named[place - 1]); place--)
            named[place] = named[place - 1];
        named[place] = one;
    }
    for (uint32_t i = 0; i < n; i++)
        plim_log_context_add_program(context, named[i].program);
}

/* Programs that wrap what was found so far replace it, until none does. A program without an id of its own ends it:
 * `other` is what many wrap. */
const char *plim_log_context_outermost(const struct plim_log_context *context, const char *framework)
{
    for (uint32_t round = 0; round < context->n_programs; round++) {
        const struct plim_pattern *outer = NULL;
        for (uint32_t i = 0; i < context->n_programs; i++) {
            const struct plim_pattern *program = context->programs[i];
            if (strcmp(program->framework, framework) != 0 && plim_pattern_lists(program->wraps, framework) &&
                (!outer || (outer->is_weak && !program->is_weak)))
                outer = program;
        }
        if (!outer)
            break;
        framework = outer->framework;
        if (!strcmp(framework, "other"))
            break;
    }
    return framework;
}

const char *plim_log_context_surroundings(const struct plim_log_context *context)
{
    for (uint32_t i = 0; i < context->n_programs; i++)
        if (plim_pattern_lists(context->programs[i]->wraps, "linux-kernel") &&
            !plim_pattern_lists(context->programs[i]->wraps, "other"))
            return context->programs[i]->framework;
    return NULL;
}

const char *plim_log_context_framework(const struct plim_log_context *context)
{
    const struct plim_pattern *const *programs = context->programs;
    uint32_t first = 0;
    for (uint32_t i = 1; i < context->n_programs; i++) /* what wraps the kernel only is rather surroundings */
        if (!plim_pattern_lists(programs[first]->wraps, "other") && plim_pattern_lists(programs[i]->wraps, "other"))
            first = i;
    return context->n_programs ? plim_log_context_outermost(context, programs[first]->framework) : NULL;
}
