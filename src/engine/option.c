/* SPDX-License-Identifier: MIT */
#include "engine/option.h"

#include "base/text.h"
#include "engine/arguments.h"
#include "engine/type.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *plim_option_key(const struct plim_option *option) { return option->key; }

const struct plim_option_help *plim_option_words(const struct plim_option *option) { return &option->help; }

char *plim_option_name(const struct plim_option *option, char buffer[PLIM_OPTION_NAME_BYTES])
{
    snprintf(buffer, PLIM_OPTION_NAME_BYTES, "%.*s", (int)strcspn(option->help.names, " "), option->help.names);
    return buffer;
}

/* --- finding --- */

static const char *with_hyphens(const char *name, char *buffer, size_t size)
{
    if (strncmp(name, "--", 2) || !strchr(name, '_') || strlen(name) >= size)
        return name;
    strcpy(buffer, name);
    for (char *p = buffer; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return buffer;
}

const struct plim_option *plim_option_named(const struct plim_engine_type *type, const char *name, bool *ret_on)
{
    char buffer[64];
    name = with_hyphens(name, buffer, sizeof buffer);
    for (size_t i = 0; i < type->n_options; i++) {
        const struct plim_option *option = &type->options[i];
        *ret_on = plim_text_has_word(option->help.names, name);
        if (*ret_on || plim_text_has_word(option->help.negative, name))
            return option;
    }
    *ret_on = false;
    return NULL;
}

const struct plim_option *plim_option_with_key(const struct plim_engine_type *type, const char *key)
{
    for (size_t i = 0; i < type->n_options; i++)
        if (type->options[i].key && !strcmp(type->options[i].key, key))
            return &type->options[i];
    return NULL;
}

/* --- values --- */

int plim_option_refuse(const struct plim_option *option, const char *value, const char *expected,
                       struct plim_error *reterr)
{
    char name[PLIM_OPTION_NAME_BYTES];
    plim_option_name(option, name);
    return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "invalid value '%.60s' for %s: expected %s", value,
                     *name ? name : option->key, expected);
}

int plim_option_integer(const struct plim_option *option, const char *text, long low, long high, long *ret_value,
                        struct plim_error *reterr)
{
    char *end, expected[64];
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < low || value > high) {
        snprintf(expected, sizeof expected, "a number from %ld to %ld", low, high);
        return plim_option_refuse(option, text, expected, reterr);
    }
    *ret_value = value;
    return 0;
}

/* on, off and their synonyms; auto where it is allowed. */
static int take_switch(const struct plim_option *option, const char *text, enum plim_switch *ret_value,
                       struct plim_error *reterr)
{
    const bool has_auto = option->kind == PLIM_OPTION_SWITCH_AUTO;
    if (plim_text_has_word("on 1 true enabled", text))
        *ret_value = PLIM_ON;
    else if (plim_text_has_word("off 0 false disabled", text))
        *ret_value = PLIM_OFF;
    else if (has_auto && plim_text_has_word("auto -1", text))
        *ret_value = PLIM_UNSET;
    else
        return plim_option_refuse(option, text, has_auto ? "on, off or auto" : "on or off", reterr);
    return 0;
}

static int take_choice(const struct plim_option *option, const char *text, int *ret_choice, struct plim_error *reterr)
{
    char list[96] = "";
    for (int i = 0; option->choices[i]; i++) {
        const char *separator = !i ? "" : option->choices[i + 1] ? ", " : " or ";
        if (!strcmp(text, option->choices[i])) {
            *ret_choice = i;
            return 0;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", separator, option->choices[i]);
    }
    return plim_option_refuse(option, text, list, reterr);
}

/* By its value where it has one, else by its name. */
static int take_on_off(const struct plim_option *option, bool on, const char *text, enum plim_switch *ret_value,
                       struct plim_error *reterr)
{
    *ret_value = on ? PLIM_ON : PLIM_OFF;
    return text ? take_switch(option, text, ret_value, reterr) : 0;
}

/* Up to option->high files of one kind; with a limit of one, the last counts. */
static int take_file(const struct plim_option *option, const char *value, struct plim_arguments *a,
                     struct plim_error *reterr)
{
    char name[PLIM_OPTION_NAME_BYTES];
    int n = 0;
    for (uint32_t i = 0; i < a->n_files; i++) {
        n += a->file[i].option == option;
        if (a->file[i].option == option && option->high == 1) {
            a->file[i].path = value;
            return 0;
        }
    }
    if (n == option->high)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s: at most %d files", plim_option_name(option, name),
                         option->high);
    if (a->n_files == PLIM_ARGUMENTS_MAX_FILES)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "at most %d files beside the model",
                         PLIM_ARGUMENTS_MAX_FILES);
    a->file[a->n_files++] = (struct plim_named_file){ option, value };
    return 0;
}

static bool needs_value(enum plim_option_kind kind)
{
    return kind != PLIM_OPTION_FLAG && kind != PLIM_OPTION_SWITCH && kind != PLIM_OPTION_SWITCH_AUTO &&
           kind != PLIM_OPTION_SHOWN;
}

int plim_option_apply(const struct plim_option *option, bool on, const char *value, struct plim_arguments *arguments,
                      struct plim_error *reterr)
{
    void *field = (char *)&arguments->setup + option->offset;
    enum plim_switch state;
    long number;
    int result = 0;
    if (!value && needs_value(option->kind))
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%.60s needs a value", option->help.names);
    switch (option->kind) {
    case PLIM_OPTION_FLAG:
    case PLIM_OPTION_SWITCH:
    case PLIM_OPTION_SWITCH_AUTO:
        result = take_on_off(option, on, value, &state, reterr);
        if (result == 0 && option->kind == PLIM_OPTION_FLAG)
            *(bool *)field = state == PLIM_ON;
        else if (result == 0)
            *(enum plim_switch *)field = state;
        return result;
    case PLIM_OPTION_COUNT:
        result = plim_option_integer(option, value, option->low, option->high, &number, reterr);
        if (result == 0)
            *(uint32_t *)field = (uint32_t)number;
        return result;
    case PLIM_OPTION_INTEGER:
        result = plim_option_integer(option, value, option->low, option->high, &number, reterr);
        if (result == 0)
            *(int32_t *)field = (int32_t)number;
        return result;
    case PLIM_OPTION_CHOICE:
        return take_choice(option, value, field, reterr);
    case PLIM_OPTION_MODEL:
        arguments->model = value;
        return 0;
    case PLIM_OPTION_FILE:
        return take_file(option, value, arguments, reterr);
    case PLIM_OPTION_OWN:
        return option->take(option, value, arguments, reterr);
    case PLIM_OPTION_SHOWN:
        break;
    }
    return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "'%.60s' cannot be set", option->key);
}

/* --- the environment --- */

/* "LLAMA_ARG_NO_MMAP" is the negative of "LLAMA_ARG_MMAP": NO_ stands behind the prefix that all variables share. */
static bool is_negative_of(const char *variable, const char *name, size_t prefix)
{
    return !strncmp(name, variable, prefix) && !strncmp(name + prefix, "NO_", 3) &&
           !strcmp(name + prefix + 3, variable + prefix);
}

int plim_option_apply_variable(const struct plim_engine_type *type, const char *name, const char *value,
                               struct plim_arguments *arguments, struct plim_error *reterr)
{
    const size_t prefix = type->variable_prefix ? strlen(type->variable_prefix) : 0;
    if (!prefix || strncmp(name, type->variable_prefix, prefix) || !*value)
        return 0;
    for (size_t i = 0; i < type->n_options; i++) {
        const struct plim_option *option = &type->options[i];
        const bool has_negative = option->help.negative && *option->help.negative;
        if (!option->variable)
            continue;
        const bool is_negative = has_negative && is_negative_of(option->variable, name, prefix);
        if (!is_negative && strcmp(name, option->variable))
            continue;
        enum plim_switch on = PLIM_ON;
        int result = 0;
        if (!option->help.value && !is_negative)
            result = take_switch(option, value, &on, reterr);
        if (result == 0 && (option->help.value || has_negative || on == PLIM_ON))
            result = plim_option_apply(option, !is_negative && on == PLIM_ON, option->help.value ? value : NULL,
                                       arguments, reterr);
        return result < 0 ? result : 1;
    }
    return 0;
}
