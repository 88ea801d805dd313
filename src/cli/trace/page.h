/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TRACE_PAGE_H
#define PLIMSOLL_CLI_TRACE_PAGE_H

/* --html: the page that draws a history. */

#include "report/trace/trace.h"

/* "-" is stdout. An exit status: 0, or that of the error that was printed. */
int plim_cli_trace_page_check(const char *path);
int plim_cli_trace_page_write(const char *path, const struct plim_trace_answer *answer);

#endif
