/* SPDX-License-Identifier: MIT */
#include "cli/trace/page.h"

#include "cli/answer_file.h"
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool write_page(FILE *out, const void *answer) { return plim_report_trace_page(out, answer); }

/* As page.html begins, and no page of another program does. */
static const char beginning[] = "<!doctype html>\n<!-- SPDX-License-Identifier: MIT -->\n";

static int fail(const char *path)
{
    struct plim_error error = { 0 };
    const int number = errno ? errno : EIO;
    (void)plim_fail_errno(&error, path, "write the page", number);
    if (number == EEXIST)
        plim_error_hint(&error, "it is no page of 'plimsoll trace' and is not written over: name another file");
    return plim_cli_fail(&error);
}

int plim_cli_trace_page_check(const char *path)
{
    if (!strcmp(path, "-") || (plim_answer_file_can_be_written(path) &&
                               plim_answer_file_is_replaceable(path, beginning, sizeof beginning - 1)))
        return PLIM_EXIT_YES;
    return fail(path);
}

int plim_cli_trace_page_write(const char *path, const struct plim_trace_answer *answer)
{
    const struct plim_answer_writer writer = { write_page, answer };
    errno = 0;
    if (strcmp(path, "-") != 0)
        return plim_answer_file_write(path, &writer) ? PLIM_EXIT_YES : fail(path);
    if (!write_page(stdout, answer) && !ferror(stdout))
        return fail("stdout");
    return plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}
