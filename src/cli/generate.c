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
    if (!*names)
        return;
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

/* What follows an option or a command: nothing, one of some words, or something that is on this machine now. */
enum follower {
    FOLLOWER_NONE,
    FOLLOWER_ANY,
    FOLLOWER_WORDS,
    FOLLOWER_FILE,
    FOLLOWER_CARD,
    FOLLOWER_USER,
    FOLLOWER_PID
};

/* "auto|always|never"; a word in capitals, or a sign, stands for something else. */
static bool is_choice(const char *word) { return *word >= 'a' && *word <= 'z'; }

static bool has_choices(const char *value)
{
    bool has = is_choice(value) && strchr(value, '|');
    for (const char *bar = value; !has && (bar = strchr(bar, '|')); bar++)
        has = is_choice(bar + 1);
    return has;
}

/* "[=processes]" belongs to the option's own word. */
static enum follower follower_of(const struct plim_option_help *row)
{
    const char *value = row->value;
    return !value || *value == '['        ? FOLLOWER_NONE
           : has_choices(value)           ? FOLLOWER_WORDS
           : !strncmp(value, "FILE", 4)   ? FOLLOWER_FILE
           : !strcmp(value, "CARD")       ? FOLLOWER_CARD
           : strstr(row->names, "--user") ? FOLLOWER_USER
                                          : FOLLOWER_ANY;
}

static bool takes_pids(const struct plim_cli_command *command) { return strstr(command->arguments, "PID") != NULL; }

/* The column of `plimsoll ps --plain`; 0: it has none. */
static int live_column(enum follower follower)
{
    return follower == FOLLOWER_CARD ? 1 : follower == FOLLOWER_PID ? 2 : follower == FOLLOWER_USER ? 3 : 0;
}

/*
 * A function of the shell: what is in this column now, where that is a plain word: "-" is what is unknown, and a shell
 * may give other characters a meaning.
 */
#define LIVE(column)                                                                                                   \
    "plimsoll ps --plain 2>/dev/null | tail -n +2 | cut -f" column " | grep -x '[[:alnum:]][[:alnum:]_.:@-]*' | sort " \
    "-u"

static void print_live(FILE *out) { fputs("_plimsoll_live() {\n  " LIVE("\"$1\"") "\n}\n", out); }

/* "auto always never" */
static void print_choices(FILE *out, const struct plim_option_help *row)
{
    const char *blank = "";
    for (const char *word = row->value; *word;) {
        const int length = (int)strcspn(word, "|");
        if (is_choice(word)) {
            fprintf(out, "%s%.*s", blank, length, word);
            blank = " ";
        }
        word += length + (word[length] == '|');
    }
}

/* A case of bash: what follows this option. */
static void print_bash_follower(FILE *out, const struct plim_option_help *row, const char *name, int length)
{
    const enum follower follower = follower_of(row);
    if (follower != FOLLOWER_WORDS && !live_column(follower))
        return;
    fprintf(out, "    %.*s) values=\"", length, name);
    if (follower == FOLLOWER_WORDS)
        print_choices(out, row);
    else
        fprintf(out, "$(_plimsoll_live %d)", live_column(follower));
    fputs("\" ;;\n", out);
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
    const enum follower follower = follower_of(row);
    fputs(follower == FOLLOWER_NONE ? "]" : "]:value:", out);
    if (follower == FOLLOWER_FILE)
        fputs("_files", out);
    if (follower == FOLLOWER_WORDS) {
        fputs("(", out);
        print_choices(out, row);
        fputs(")", out);
    }
    if (live_column(follower))
        fprintf(out, "{compadd -- $(_plimsoll_live %d)}", live_column(follower));
    fputs("'\n", out);
}

static const char *fish_command; /* the command whose options are being printed */

static void print_fish_name(FILE *out, const struct plim_option_help *row, const char *name, int length)
{
    const enum follower follower = follower_of(row);
    const char *kind = name[1] == '-' ? "-l" : length == 2 ? "-s" : "-o";
    int dashes = name[1] == '-' ? 2 : 1;
    fprintf(out, "complete --command plimsoll -n '__fish_seen_subcommand_from %s' %s %.*s%s", fish_command, kind,
            length - dashes, name + dashes, follower == FOLLOWER_NONE ? "" : " -r");
    if (follower == FOLLOWER_WORDS) {
        fputs(" -f -a '", out);
        print_choices(out, row);
        fputs("'", out);
    }
    if (live_column(follower))
        fprintf(out, " -f -a '(_plimsoll_live %d)'", live_column(follower));
    fputs(" -d '", out);
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
    print_live(out);
    fputs("_plimsoll() {\n  local words values= word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "  case ${COMP_WORDS[1]} in\n",
          out);
    for (const struct plim_cli_command *const *c = commands; *c; c++) {
        fprintf(out, "  %s) words=\"", (*c)->name);
        each_option(out, *c, print_word);
        fputs("\"\n    case $before in\n", out);
        each_option(out, *c, print_bash_follower);
        if (takes_pids(*c))
            fprintf(out, "    *) [[ $word == -* ]] || values=\"$(_plimsoll_live %d)\" ;;\n", live_column(FOLLOWER_PID));
        fputs("    esac ;;\n", out);
    }
    fputs("  *) words=\"", out);
    for (const struct plim_cli_command *const *c = commands; *c; c++)
        fprintf(out, "%s ", (*c)->name);
    fputs("--help --version\" ;;\n  esac\n"
          "  COMPREPLY=()\n"
          "  if [ \"$COMP_CWORD\" -gt 1 ] && [ -n \"$values\" ]; then\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
          "  elif [ \"$COMP_CWORD\" -eq 1 ] || [[ $word == -* ]]; then\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
          "  fi\n}\ncomplete -o default -F _plimsoll plimsoll\n",
          out);
}

static void generate_zsh(FILE *out, const struct plim_cli_command *const *commands)
{
    fputs("#compdef plimsoll\n", out);
    print_live(out);
    fputs("if (( CURRENT == 2 )); then\n  _values command", out);
    for (const struct plim_cli_command *const *c = commands; *c; c++)
        fprintf(out, " '%s[%s]'", (*c)->name, (*c)->summary);
    fputs("\n  return\nfi\ncase $words[2] in\n", out);
    for (const struct plim_cli_command *const *c = commands; *c; c++) {
        fprintf(out, "%s) shift words; (( CURRENT-- )); local -a options=(\n", (*c)->name);
        each_option(out, *c, print_zsh_name);
        if (takes_pids(*c))
            fprintf(out, "    '*:pid:{compadd -- $(_plimsoll_live %d)}')\n", live_column(FOLLOWER_PID));
        else
            fputs("    '*:file:_files')\n", out);
        fputs("  _arguments $options ;;\n", out);
    }
    fputs("esac\n", out);
}

static void generate_fish(FILE *out, const struct plim_cli_command *const *commands)
{
    fputs("function _plimsoll_live\n  " LIVE("$argv[1]") "\nend\n", out);
    for (const struct plim_cli_command *const *c = commands; *c; c++) {
        fprintf(out, "complete --command plimsoll -n __fish_use_subcommand -f -a %s -d '%s'\n", (*c)->name,
                (*c)->summary);
        fish_command = (*c)->name;
        if (takes_pids(*c))
            fprintf(out,
                    "complete --command plimsoll -n '__fish_seen_subcommand_from %s' -f -a '(_plimsoll_live %d)'\n",
                    fish_command, live_column(FOLLOWER_PID));
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
