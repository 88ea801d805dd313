/* SPDX-License-Identifier: MIT */
/* Made of the option tables when Plimsoll is built: completions of shells, option sections of the manual. */
#include "cli/help.h"

#include <string.h>

/* --- manual --- */

/* scdoc gives these characters a meaning. */
static void print_escaped(FILE *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void print_manual_row(FILE *out, const struct plim_option_help *row)
{
    char names[200];
    plim_help_names(row, names, sizeof names);
    fputc('*', out);
    print_escaped(out, names, "*_\\");
    fputc('*', out);
    if (row->value) {
        fputs(" _", out);
        print_escaped(out, row->value, "*_\\");
        fputc('_', out);
    }
    fputs("\n\t", out);
    print_escaped(out, row->help, "*_\\");
    fputs("\n\n", out);
}

static void generate_manual(FILE *out, const struct plim_cli_command *command)
{
    struct plim_cli_options groups[PLIM_CLI_MAX_GROUPS] = { 0 };
    command->options(groups);
    for (int g = 0; g < PLIM_CLI_MAX_GROUPS && groups[g].heading; g++) {
        fprintf(out, "## %s\n\n", groups[g].heading);
        for (size_t i = 0; i < groups[g].n; i++)
            print_manual_row(out, plim_cli_option_at(&groups[g], i));
    }
}

/* --- completions --- */

typedef void print_name(FILE *out, const struct plim_option_help *row, const char *name, int length);

static void each_name(FILE *out, const struct plim_option_help *row, print_name *print)
{
    for (int k = 0; k < 2; k++)
        for (const char *list = k ? row->negative : row->names; *list;) {
            int length = (int)strcspn(list, " ");
            print(out, row, list, length);
            list += length + (int)strspn(list + length, " ");
        }
}

static void print_word(FILE *out, const struct plim_option_help *row, const char *name, int length)
{
    (void)row;
    fprintf(out, " %.*s", length, name);
}

/* In single quotes for zsh, where brackets and colons separate the parts. */
static void print_zsh_name(FILE *out, const struct plim_option_help *row, const char *name, int length)
{
    fprintf(out, "    '*%.*s[", length, name);
    for (const char *p = row->help; *p; p++) {
        if (strchr("[]:\\", *p))
            fputc('\\', out);
        fputs(*p == '\'' ? "'\\''" : (char[]){ *p, '\0' }, out);
    }
    fprintf(out, "]%s%s'\n", row->value ? ":value:" : "",
            row->value && !strncmp(row->value, "FILE", 4) ? "_files" : "");
}

static const char *fish_command; /* the command whose options are being printed */

static void print_fish_name(FILE *out, const struct plim_option_help *row, const char *name, int length)
{
    const char *kind = name[1] == '-' ? "-l" : length == 2 ? "-s" : "-o";
    int dashes = name[1] == '-' ? 2 : 1;
    fprintf(out, "complete --command plimsoll -n '__fish_seen_subcommand_from %s' %s %.*s%s -d '", fish_command, kind,
            length - dashes, name + dashes, row->value ? " -r" : "");
    for (const char *p = row->help; *p; p++)
        fputs(*p == '\'' ? "\\'" : (char[]){ *p, '\0' }, out);
    fputs("'\n", out);
}

static void each_option(FILE *out, const struct plim_cli_command *command, print_name *print)
{
    struct plim_cli_options groups[PLIM_CLI_MAX_GROUPS] = { 0 };
    command->options(groups);
    for (int g = 0; g < PLIM_CLI_MAX_GROUPS && groups[g].heading; g++)
        for (size_t i = 0; i < groups[g].n; i++)
            each_name(out, plim_cli_option_at(&groups[g], i), print);
}

static void generate_bash(FILE *out, const struct plim_cli_command *const *commands)
{
    fputs("_plimsoll() {\n  local words\n  case ${COMP_WORDS[1]} in\n", out);
    for (const struct plim_cli_command *const *c = commands; *c; c++) {
        fprintf(out, "  %s) words=\"", (*c)->name);
        each_option(out, *c, print_word);
        fputs("\" ;;\n", out);
    }
    fputs("  *) words=\"", out);
    for (const struct plim_cli_command *const *c = commands; *c; c++)
        fprintf(out, "%s ", (*c)->name);
    fputs("--help --version\" ;;\n  esac\n"
          "  COMPREPLY=()\n"
          "  if [ \"$COMP_CWORD\" -eq 1 ] || [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
          "  fi\n}\ncomplete -o default -F _plimsoll plimsoll\n",
          out);
}

static void generate_zsh(FILE *out, const struct plim_cli_command *const *commands)
{
    fputs("#compdef plimsoll\nif (( CURRENT == 2 )); then\n  _values command", out);
    for (const struct plim_cli_command *const *c = commands; *c; c++)
        fprintf(out, " '%s[%s]'", (*c)->name, (*c)->summary);
    fputs("\n  return\nfi\ncase $words[2] in\n", out);
    for (const struct plim_cli_command *const *c = commands; *c; c++) {
        fprintf(out, "%s) shift words; (( CURRENT-- )); local -a options=(\n", (*c)->name);
        each_option(out, *c, print_zsh_name);
        fputs("    '*:file:_files')\n  _arguments $options ;;\n", out);
    }
    fputs("esac\n", out);
}

static void generate_fish(FILE *out, const struct plim_cli_command *const *commands)
{
    for (const struct plim_cli_command *const *c = commands; *c; c++) {
        fprintf(out, "complete --command plimsoll -n __fish_use_subcommand -f -a %s -d '%s'\n", (*c)->name,
                (*c)->summary);
        fish_command = (*c)->name;
        each_option(out, *c, print_fish_name);
    }
}

/* --- */

int plim_help_generate(FILE *out, const struct plim_cli_command *const *commands, const char *what, const char *command)
{
    if (!strcmp(what, "bash"))
        generate_bash(out, commands);
    else if (!strcmp(what, "zsh"))
        generate_zsh(out, commands);
    else if (!strcmp(what, "fish"))
        generate_fish(out, commands);
    else {
        for (const struct plim_cli_command *const *c = commands; *c; c++)
            if (!strcmp(what, "man") && !strcmp(command, (*c)->name)) {
                generate_manual(out, *c);
                return PLIM_EXIT_YES;
            }
        return plim_cli_usage("write: plimsoll --generate bash|zsh|fish, or man COMMAND", "nothing to generate");
    }
    return PLIM_EXIT_YES;
}
