/* SPDX-License-Identifier: MIT */
#include "rehearse/find.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_number(const char **text, uint64_t *ret_value)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    const unsigned long long value = strtoull(*text, &end, 10);
    *text = end;
    *ret_value = value;
    return errno == 0 && value <= (uint64_t)INT64_MAX;
}

int plim_find_parse(const char *text, struct plim_find *ret_find, struct plim_error *reterr)
{
    struct plim_find find = { .is_monotonic = true };
    const char *equals = strchr(text, '='), *p = equals ? equals + 1 : text;
    const size_t n = equals ? (size_t)(equals - text) : 0;
    bool is_right = n < sizeof find.name && equals != text && read_number(&p, &find.low) && !strncmp(p, "..", 2);
    p += 2 * is_right;
    is_right = is_right && read_number(&p, &find.high) && !*p && find.low <= find.high;
    if (!is_right) {
        plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "invalid value '%.60s' for --find: expected a range", text);
        plim_error_hint(reterr, "write --find N=1..512, and {} where the command has the number");
        return PLIM_E_USAGE;
    }
    memcpy(find.name, text, n);
    if (n == 0)
        find.name[0] = 'N';
    *ret_find = find;
    return 0;
}

bool plim_find_has_place(char *const *arguments)
{
    for (; *arguments; arguments++)
        if (strstr(*arguments, "{}"))
            return true;
    return false;
}

/* A copy of the text with the number for each {}. */
static char *fill(struct plim_arena *arena, const char *text, const char *number)
{
    size_t size = strlen(text) + 1;
    for (const char *place = text; (place = strstr(place, "{}")); place += 2)
        size += strlen(number);
    char *copy = plim_arena_alloc(arena, size, 1), *end = copy;
    if (!copy)
        return NULL;
    for (const char *place; (place = strstr(text, "{}")); text = place + 2)
        end += sprintf(end, "%.*s%s", (int)(place - text), text, number);
    strcpy(end, text);
    return copy;
}

char **plim_find_arguments(struct plim_arena *arena, char *const *arguments, uint64_t value)
{
    char number[24];
    size_t n = 0;
    while (arguments[n])
        n++;
    char **list = plim_arena_alloc(arena, n + 1, sizeof *list);
    snprintf(number, sizeof number, "%" PRIu64, value);
    for (size_t i = 0; list && i < n; i++) {
        list[i] = fill(arena, arguments[i], number);
        if (!list[i])
            return NULL;
    }
    return list;
}

static bool is_fit(const struct plim_find *find, enum plim_find_outcome outcome)
{
    return outcome == PLIM_FIND_FITS || (find->is_of_completion && outcome == PLIM_FIND_RECOVERED);
}

static void bounds(const struct plim_find *find, bool *ret_has_fit, uint64_t *ret_fit, bool *ret_has_not,
                   uint64_t *ret_not)
{
    *ret_has_fit = *ret_has_not = false;
    *ret_fit = *ret_not = 0;
    for (uint32_t i = 0; i < find->n_trials; i++) {
        const struct plim_find_trial *t = &find->trial[i];
        const bool fits = is_fit(find, t->outcome);
        if (fits && (!*ret_has_fit || t->value > *ret_fit)) {
            *ret_has_fit = true;
            *ret_fit = t->value;
        }
        if (!fits && t->outcome < PLIM_FIND_FAILED && (!*ret_has_not || t->value < *ret_not)) {
            *ret_has_not = true;
            *ret_not = t->value;
        }
    }
}

/* The least first: if it does not fit, or the command is wrong, that is known at once. Then the greatest. */
bool plim_find_next(const struct plim_find *find, uint64_t *ret_value)
{
    bool has_fit, has_not;
    uint64_t fit, not ;
    bounds(find, &has_fit, &fit, &has_not, &not );
    if (find->n_trials == PLIM_FIND_MAX_TRIALS)
        return false;
    if (find->n_trials && find->trial[find->n_trials - 1].outcome >= PLIM_FIND_FAILED)
        return false;
    if (!has_fit)
        *ret_value = find->low;
    else if (!has_not)
        *ret_value = find->high;
    else
        *ret_value = fit + (not -fit) / 2;
    return has_fit ? fit < find->high && (!has_not || not -fit > 1) : !has_not;
}

void plim_find_note(struct plim_find *find, const struct plim_find_trial *trial)
{
    bool has_fit, has_not;
    uint64_t fit, not, next;
    if (find->n_trials == PLIM_FIND_MAX_TRIALS)
        return;
    find->trial[find->n_trials++] = *trial;
    if (trial->outcome == PLIM_FIND_RECOVERED) {
        find->is_of_completion = find->is_of_completion || trial->value == find->low;
        find->has_recovered = true;
        if (trial->value > find->largest_recovered)
            find->largest_recovered = trial->value;
    }
    bounds(find, &has_fit, &fit, &has_not, &not );
    find->has_largest = has_fit;
    find->largest = fit;
    find->is_decided = trial->outcome < PLIM_FIND_FAILED && !plim_find_next(find, &next);
    for (uint32_t i = 0; i < find->n_trials; i++) /* peaks of trials that ran out are where they stopped */
        if (find->trial[i].outcome == PLIM_FIND_FITS && trial->outcome == PLIM_FIND_FITS &&
            ((find->trial[i].value < trial->value && find->trial[i].peak_bytes > trial->peak_bytes) ||
             (find->trial[i].value > trial->value && find->trial[i].peak_bytes < trial->peak_bytes)))
            find->is_monotonic = false;
}
