/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include "base/system.h"
#include "report/print.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_US = 1000000, BETWEEN_US = 100000, NAME_BYTES = 48 };

void plim_progress_begin(struct plim_progress *progress)
{
    const bool is_on = plim_system_is_terminal(fileno(stderr)) && !plim_system_is_terminal(fileno(stdout));
    *progress = (struct plim_progress){ .is_on = is_on, .start_us = plim_system_now_us() };
}

static bool is_time(struct plim_progress *progress)
{
    const uint64_t now = progress->is_on ? plim_system_now_us() : 0;
    if (now < progress->start_us + FIRST_US || now < progress->last_us + BETWEEN_US)
        return false;
    progress->is_shown = true;
    progress->last_us = now;
    return true;
}

void plim_progress_step(struct plim_progress *progress, size_t i, size_t n, const char *name)
{
    if (!is_time(progress))
        return;
    char end[NAME_BYTES];
    const size_t length = strlen(name);
    snprintf(end, sizeof end, "%s", length < sizeof end ? name : name + length - (sizeof end - 1));
    plim_print(stderr, "\r\033[K%zu of %zu: %s", i + 1, n, end);
    fflush(stderr);
}

void plim_progress_say(struct plim_progress *progress, const char *text)
{
    if (!is_time(progress))
        return;
    plim_print(stderr, "\r\033[K%s", text);
    fflush(stderr);
}

void plim_progress_clear(struct plim_progress *progress)
{
    if (progress->is_shown)
        plim_print(stderr, "\r\033[K");
    progress->is_shown = false;
}
