/* SPDX-License-Identifier: MIT */
/* plimsoll engines: the runtimes that --engine takes. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "plimsoll/engine.h"
#include "report/json_text.h"
#include "report/print.h"

#include <jansson.h>
#include <stdio.h>

enum option { OPTION_JSON, OPTION_HELP, N_OPTIONS };

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.engines/1)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "this text" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

static const struct {
    enum plim_task task;
    const char *name;
} tasks[] = { { PLIM_TASK_INFER, "infer" }, { PLIM_TASK_TRAIN, "train" } };

enum { N_TASKS = sizeof tasks / sizeof *tasks };

/* Like a help text: the table itself, a line for each runtime. */
static void print_text(void)
{
    plim_print(stdout, "%-12s %-12s %s\n", "engine", "tasks", "rules");
    for (size_t i = 0; plim_engine_type_at(i); i++) {
        const struct plim_engine_type *type = plim_engine_type_at(i);
        const char *oldest, *newest;
        char names[40] = "";
        size_t n = 0;
        for (size_t t = 0; t < N_TASKS; t++)
            if (plim_engine_type_tasks(type) & tasks[t].task)
                n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", tasks[t].name);
        plim_engine_type_proven(type, &oldest, &newest);
        plim_print(stdout, "%-12s %-12s %s %s to %s%s\n", plim_engine_type_name(type), names,
                   plim_engine_type_rules(type), oldest ? oldest : "-", newest ? newest : "-",
                   i == 0 ? "  (default)" : "");
    }
}

static bool print_json(void)
{
    json_t *list = json_array();
    for (size_t i = 0; plim_engine_type_at(i); i++) {
        const struct plim_engine_type *type = plim_engine_type_at(i);
        const char *oldest, *newest;
        json_t *names = json_array();
        for (size_t t = 0; t < N_TASKS; t++)
            if (plim_engine_type_tasks(type) & tasks[t].task)
                json_array_append_new(names, plim_text_json(tasks[t].name));
        plim_engine_type_proven(type, &oldest, &newest);
        json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:s?, s:s?, s:b}", "name", plim_engine_type_name(type),
                                              "tasks", names, "rules", plim_engine_type_rules(type), "proven_from",
                                              oldest, "proven_to", newest, "default", i == 0));
    }
    json_t *root = json_pack("{s:s, s:o}", "schema", "plimsoll.engines/1", "engines", list);
    return plim_json_write(stdout, root, JSON_INDENT(2));
}

static int run(int argc, char **argv)
{
    bool is_json = false;
    for (int i = 1; i < argc; i++) {
        if (plim_text_has_word(rows[OPTION_HELP].names, argv[i]))
            return plim_help_command(stdout, &plim_cli_engines);
        if (!plim_text_has_word(rows[OPTION_JSON].names, argv[i]))
            return plim_cli_usage("'plimsoll engines --help' lists the options", "unknown option '%s'", argv[i]);
        is_json = true;
    }
    if (!is_json)
        print_text();
    else if (!print_json())
        return PLIM_EXIT_INTERNAL;
    return plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}

const struct plim_cli_command plim_cli_engines = {
    .name = "engines",
    .arguments = "[OPTIONS]",
    .summary = "the engines that have bills: tasks, and the versions compared",
    .examples = "  plimsoll engines\n"
                "  plimsoll engines --json\n",
    .run = run,
    .options = list_options,
};
