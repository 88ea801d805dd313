/* SPDX-License-Identifier: MIT */
/* Output that all commands share: errors with their hints, colour, and the check that stdout took the answer. */
#include "base/gnu_string.h"
#include "base/system.h"
#include "base/text.h"
#include "cli/cli.h"
#include "report/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int plim_cli_fail(const struct plim_error *error)
{
    fflush(stdout);
    plim_print(stderr, "plimsoll: %s", error->what);
    if (error->where[0] && error->at != PLIM_NO_OFFSET)
        plim_print(stderr, " (%s, at byte %" PRIu64 ")", error->where, error->at);
    else if (error->where[0])
        plim_print(stderr, " (%s)", error->where);
    plim_print(stderr, "\n");
    if (error->hint[0])
        plim_print(stderr, "hint: %s\n", error->hint);
    return plim_error_exit_status(error->code);
}

const char *plim_cli_value(int argc, char **argv, int *i, const char *names)
{
    const char *word = argv[*i], *equals = strchr(word, '=');
    const size_t n = equals && !strncmp(word, "--", 2) ? (size_t)(equals - word) : strlen(word);
    char name[32];
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, word);
    if (!plim_text_has_word(names, name))
        return NULL;
    if (word[n] == '=')
        return word + n + 1;
    return *i + 1 < argc ? argv[++*i] : NULL;
}

int plim_cli_usage(const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    plim_print(stderr, "plimsoll: ");
    plim_print_list(stderr, format, &arguments);
    va_end(arguments);
    plim_print(stderr, "\nhint: %s\n", hint);
    return PLIM_EXIT_USAGE;
}

bool plim_cli_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    plim_print(stderr, "plimsoll: the answer could not be written: %s\n", strerror(errno));
    return false;
}

bool plim_cli_has_colour(int fd, const char *mode)
{
    if (mode && !strcmp(mode, "always"))
        return true;
    if (mode && !strcmp(mode, "never"))
        return false;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool is_refused = no_color && *no_color;
    return plim_system_is_terminal(fd) && !is_refused && term && strcmp(term, "dumb") != 0;
}

bool plim_cli_is_unicode(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char *value = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !(value && *value); i++)
        value = getenv(names[i]);
    return value && (strcasestr(value, "UTF-8") || strcasestr(value, "utf8"));
}
