/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include "base/text.h"
#include "cli/help.h"
#include "report/print.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct plim_cli_command *const commands[] = { &plim_cli_fit,      &plim_cli_explain, &plim_cli_errors,
                                                           &plim_cli_cards,    &plim_cli_check,   &plim_cli_hollow,
                                                           &plim_cli_rehearse, &plim_cli_engines, &plim_cli_models,
                                                           &plim_cli_ps,       &plim_cli_top,     &plim_cli_free,
                                                           &plim_cli_trace,    &plim_cli_sweep,   NULL };

static int unknown_command(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (plim_text_is_near(name, commands[i]->name)) {
            char hint[64];
            snprintf(hint, sizeof hint, "did you mean 'plimsoll %s'?", commands[i]->name);
            return plim_cli_usage(hint, "unknown command '%s'", name);
        }
    return plim_cli_usage("'plimsoll --help' lists the commands", "unknown command '%s'", name);
}

static const struct plim_cli_command *command_named(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (!strcmp(name, commands[i]->name))
            return commands[i];
    return NULL;
}

static int help(const char *name)
{
    const struct plim_cli_command *command = name ? command_named(name) : NULL;
    if (command)
        return plim_help_command(stdout, command);
    if (name)
        return unknown_command(name);
    plim_help_main(stdout, commands);
    return plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}

/* Workspaces come and go while setups are compared: keep their memory instead of asking the kernel for it again. */
static void keep_freed_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
#endif
}

/*
 * The next file that is opened would take the place of a standard stream that the caller has closed: a ledger where the
 * program of a rehearsal writes. Opened the wrong way round, so that using it fails as before.
 */
static void fill_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

int main(int argc, char **argv)
{
    keep_freed_memory();
    fill_closed_streams();
    if (argc < 2) {
        plim_help_short(stderr);
        return PLIM_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
        return help(argc > 2 ? argv[2] : NULL);
    if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version")) {
        plim_print(stdout, "plimsoll %s\n", PLIMSOLL_VERSION);
        return plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
    }
    if (!strcmp(name, "--generate")) /* used when building: completions and option sections of manual pages */
        return plim_help_generate(stdout, commands, argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "");
    const struct plim_cli_command *command = command_named(name);
    return command ? command->run(argc - 1, argv + 1) : unknown_command(name);
}
