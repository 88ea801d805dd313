/* SPDX-License-Identifier: MIT */
#include "cli/trace/record.h"

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/recorded.h"
#include "cli/rehearse/options.h"
#include "record/run.h"
#include "rehearse/command.h"
#include "report/print.h"
#include "step/file.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

struct recording {
    const char *path; /* of the file */
    char **arguments;
    struct plim_record_folder folder;
};

bool plim_trace_is_recording(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strncmp(argv[i], "--record", 8) && (!argv[i][8] || argv[i][8] == '='))
            return true;
    return false;
}

static int usage(const char *format, const char *argument)
{
    plim_cli_usage("plimsoll trace --record run.step -- python3 train.py", format, argument);
    return PLIM_EXIT_OURS;
}

static int parse(int argc, char **argv, struct recording *r)
{
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *value = plim_cli_value(argc, argv, &i, "--record");
        if (!value && argv[i][0] != '-')
            break; /* the program */
        if (!value)
            return !strcmp(argv[i], "--record") ? usage("%s needs a file", argv[i])
                                                : usage("'%s' does not go with --record", argv[i]);
        r->path = value;
    }
    i += i < argc && !strcmp(argv[i], "--");
    r->arguments = argv + i;
    if (!r->path || !*r->path)
        return usage("%s needs a file", "--record");
    if (i == argc)
        return usage("no command to record%s", "");
    return plim_cli_can_record(r->path) ? 0 : PLIM_EXIT_OURS;
}

static int write_step(const struct recording *r, int status, struct plim_error *reterr)
{
    struct plim_step step;
    struct plim_recorded recorded;
    int result = plim_record_step(&r->folder, &step, &recorded, reterr);
    if (result < 0)
        return result;
    if (status)
        plim_record_cut(&step);
    char *command = plim_record_command(r->arguments);
    step.command = command ? plim_record_text(&step, command) : 0;
    plim_free(command);
    result = plim_step_write(r->path, &step, reterr);
    if (result == 0)
        plim_cli_say_recorded(r->path, &step, &recorded, NULL);
    plim_step_done(&step);
    return result;
}

static int write_snapshot(const struct recording *r, struct plim_error *reterr)
{
    size_t n;
    const int result = plim_record_snapshots(&r->folder, r->path, &n, reterr);
    if (result == 0)
        plim_print(stderr, "recorded %s%s; ask: plimsoll trace %s\n", r->path,
                   n > 1 ? ", and one with .rankN in its name for each further process" : "", r->path);
    return result;
}

static int run(struct recording *r)
{
    char program[PLIM_RECORD_PATH_BYTES];
    struct plim_error error = { 0 };
    int status = 0;
    int result = plim_command_find(r->arguments[0], getenv("PATH"), program, sizeof program, &error);
    if (result == 0)
        result = plim_record_run(program, r->arguments, r->folder.environment, &status, &error);
    if (result < 0) {
        plim_cli_fail(&error);
        return error.code == PLIM_E_NOT_FOUND ? PLIM_EXIT_NOT_FOUND : PLIM_EXIT_CANNOT_RUN;
    }
    result = plim_cli_is_snapshot(r->path) ? write_snapshot(r, &error) : write_step(r, status, &error);
    if (result < 0)
        plim_cli_fail(&error);
    return result == 0 || result == PLIM_E_NOT_FOUND ? status : PLIM_EXIT_OURS;
}

int plim_trace_record(int argc, char **argv)
{
    const struct plim_record_wish wish = { .n_steps = 0 };
    struct recording r = { .path = NULL };
    struct plim_error error = { 0 };
    const int refused = parse(argc, argv, &r);
    if (refused)
        return refused;
    if (plim_record_folder_make(&wish, environ, &r.folder, &error) < 0) {
        plim_cli_fail(&error);
        return PLIM_EXIT_OURS;
    }
    const int status = run(&r);
    plim_record_folder_remove(&r.folder);
    return status;
}
