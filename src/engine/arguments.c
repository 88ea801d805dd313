/* SPDX-License-Identifier: MIT */
/* Reading a command line: variables and launchers here, the flags by the program's runtime. */
#include "engine/arguments.h"

#include "engine/command.h"
#include "engine/programs.h"
#include "engine/type.h"

#include <stdio.h>
#include <string.h>

void plim_arguments_init(struct plim_arguments *arguments)
{
    memset(arguments, 0, sizeof *arguments);
    plim_setup_init(&arguments->setup, NULL);
}

enum { NAME_BYTES = 64 };

/* "NAME=value" in two parts; NULL when the name is too long for a known variable. */
static const char *split(const char *word, size_t length, char name[NAME_BYTES])
{
    if (length >= NAME_BYTES)
        return NULL;
    snprintf(name, NAME_BYTES, "%.*s", (int)length, word);
    return word + length + 1;
}

/* The variables of the environment that are options of the runtime. */
static int read_environment(char *const *environment, struct plim_arguments *arguments, struct plim_command *command,
                            struct plim_error *reterr)
{
    for (char *const *entry = environment; entry && *entry; entry++) {
        char name[NAME_BYTES];
        const char *equals = strchr(*entry, '='), *value;
        if (!equals || !(value = split(*entry, (size_t)(equals - *entry), name)))
            continue;
        int result = plim_option_apply_variable(arguments->setup.type, name, value, arguments, reterr);
        if (result < 0)
            return result;
        if (result > 0)
            plim_command_note(command->variables, sizeof command->variables, name);
    }
    return 0;
}

/* The variables that are set in front of the program. */
static int read_variables(int argc, char *const *argv, struct plim_arguments *arguments, struct plim_command *command,
                          struct plim_error *reterr)
{
    int result = 0;
    for (int i = 0; i < argc && result >= 0; i++) {
        char name[NAME_BYTES];
        const size_t length = plim_engine_variable_length(argv[i]);
        const char *value = length ? split(argv[i], length, name) : NULL;
        if (!value)
            continue;
        if (!strcmp(name, "CUDA_VISIBLE_DEVICES"))
            command->visible = value;
        if (!strcmp(name, "CUDA_DEVICE_ORDER"))
            command->device_order = value;
        result = arguments->setup.type->read_variable(name, value, arguments, reterr);
    }
    return result;
}

int plim_command_read(int argc, char *const *argv, char *const *environment, struct plim_arguments *arguments,
                      struct plim_command *ret_command, struct plim_error *reterr)
{
    int first, after;
    int result = plim_engine_program_find(argc, argv, &arguments->setup, &first, &after, reterr);
    if (result < 0)
        return result;
    memset(ret_command, 0, sizeof *ret_command);
    result = read_environment(environment, arguments, ret_command, reterr);
    if (result >= 0)
        result = read_variables(first, argv, arguments, ret_command, reterr);
    if (result < 0)
        return result;
    for (int i = 0; i < after; i++)
        plim_command_add(ret_command, argv[i]);
    return arguments->setup.type->read_command(argc, argv, after, arguments, ret_command, reterr);
}
