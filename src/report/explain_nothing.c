/* SPDX-License-Identifier: MIT */
#include "report/columns.h"
#include "report/explain_parts.h"
#include "report/print.h"

#include <inttypes.h>
#include <string.h>

enum { LINE_BYTES = 640 };

/* Not of the kernel's kill: that is recognised. */
static void describe_status(char *text, size_t size, int64_t exit_status)
{
    const int64_t signal = exit_status < 0 ? -exit_status : exit_status - 128;
    if (exit_status == 0)
        snprintf(text, size, "Exit status 0: the command says that it ended well.");
    else if (signal >= 1 && signal <= 64)
        snprintf(text, size,
                 "Exit status %" PRId64 " is signal %" PRId64
                 ", not the 9 with which the kernel ends a program when RAM is out.",
                 exit_status, signal);
    else
        snprintf(text, size, "Exit status %" PRId64 " is the command's own word, not a signal's.", exit_status);
}

static void print_no_text(FILE *out, const struct plim_explanation *explanation)
{
    plim_print(out, "%s is not text, so it was not read as a log.\n\n", explanation->source);
    plim_print_wrapped(
        out,
        "It would need what the program wrote. From a picture of the screen, copy the text. Of journald's files:", 0,
        0);
    plim_print(out, "  journalctl --file FILE | plimsoll explain -\n");
    plim_print(out, "NO TEXT; NOTHING WAS READ.\n");
}

static void print_not_found(FILE *out, const struct plim_explanation *explanation)
{
    char text[LINE_BYTES];
    const int64_t exit_status = explanation->diagnosis->context.numbers.value[PLIM_N_EXIT_STATUS];
    const bool has_status = plim_explain_is_known(exit_status);
    const char *framework = explanation->diagnosis->framework;
    const bool is_named = framework && strcmp(framework, "other") != 0;
    plim_print(out, "%s: %" PRIu64 " line%s%s%s, and no memory error that plimsoll knows.\n\n", explanation->source,
               explanation->diagnosis->n_lines, explanation->diagnosis->n_lines == 1 ? "" : "s", is_named ? " of " : "",
               is_named ? plim_explain_program_name(framework) : "");
    if (has_status) {
        describe_status(text, sizeof text, exit_status);
        plim_print_wrapped(out, text, 0, 0);
    }
    plim_print_wrapped(
        out,
        "It would need the message itself: the traceback and the lines before it, or the end of the log of the "
        "server (not of the program that called it).",
        0, 0);
    if (!has_status) {
        plim_print_wrapped(out, "A program that ended without a word was perhaps killed: give its exit status.", 0, 0);
        plim_print(out, "  plimsoll explain --exit-status 137 < LOG\n");
    }
    plim_explain_print_unread(out, explanation);
    snprintf(text, sizeof text, "NOTHING RECOGNISED; 'plimsoll errors WORDS' searches the knowledge base.");
    plim_print_wrapped(out, text, 0, 0);
}

void plim_explain_print_nothing(FILE *out, const struct plim_explanation *explanation)
{
    if (explanation->is_no_text)
        print_no_text(out, explanation);
    else
        print_not_found(out, explanation);
}
