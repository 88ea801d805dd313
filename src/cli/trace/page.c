/* SPDX-License-Identifier: MIT */
#include "cli/trace/page.h"

#include "cli/answer_file.h"
#include "cli/cli.h"
#include "report/print.h"

#include <errno.h>
#include <string.h>

static bool write_page(FILE *out, const void *answer) { return plim_report_trace_page(out, answer); }

int plim_cli_trace_page_check(const char *path)
{
    if (!strcmp(path, "-") || plim_answer_file_can_be_written(path))
        return PLIM_EXIT_YES;
    return plim_cli_usage("--html takes a file to write, or - for stdout", "cannot write the page: %s (%s)",
                          strerror(errno), path);
}

int plim_cli_trace_page_write(const char *path, const struct plim_trace_answer *answer)
{
    const bool is_stdout = !strcmp(path, "-");
    errno = 0;
    const bool is_written = is_stdout
                                ? write_page(stdout, answer)
                                : plim_answer_file_write(path, &(struct plim_answer_writer){ write_page, answer });
    if (!is_written)
        plim_print(stderr, "plimsoll: cannot write the page: %s (%s)\n", strerror(errno ? errno : EIO), path);
    return is_written ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}
