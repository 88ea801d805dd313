/* SPDX-License-Identifier: MIT */
#include "cli/fit/sources.h"

#include "base/system.h"
#include "base/units.h"
#include "plimsoll/catalogue.h"
#include "source/remote/remote.h"
#include "source/roots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell(void *context, uint64_t received_bytes)
{
    char size[PLIM_SIZE_TEXT], text[PLIM_SIZE_TEXT + 64];
    snprintf(text, sizeof text, "reading headers: %s received", plim_size_text(size, received_bytes));
    plim_progress_say(context, text);
}

int plim_cli_sources_open(const char *const *names, size_t n, bool is_offline, struct plim_cli_sources *ret_sources,
                          struct plim_error *reterr)
{
    struct plim_cli_sources *s = ret_sources;
    struct plim_remote_settings settings;
    bool has_address = false;
    memset(s, 0, sizeof *s);
    s->roots = *plim_source_roots(getenv);
    for (size_t i = 0; i < n; i++)
        has_address |= plim_remote_is_address(names[i]);
    if (!has_address)
        return 0;
    plim_remote_settings_read(getenv, &settings);
    settings.is_offline = is_offline;
    settings.tell = tell;
    settings.context = &s->progress;
    s->progress.is_on = plim_system_is_terminal(fileno(stderr));
    s->progress.start_us = plim_system_now_us();
    struct plim_error error = { 0 };
    int result = plim_remote_new(&settings, &s->roots.remote, &error);
    if (result == PLIM_E_UNSUPPORTED) /* this build has none: a model may still be on this machine */
        return 0;
    if (result < 0 && reterr)
        *reterr = error;
    return result;
}

void plim_cli_sources_hint(const char *const *names, size_t n, struct plim_error *reterr)
{
    struct plim_catalogue_answer found;
    if (n != 1 || !reterr || reterr->code != PLIM_E_NETWORK || strncmp(names[0], "hf:", 3) != 0 ||
        plim_catalogue_model_find(names[0] + 3, &found, NULL) < 0)
        return;
    reterr->hint[0] = '\0';
    plim_error_hint(reterr, "its published config is in the catalogue: plimsoll fit %.150s", names[0] + 3);
}

void plim_cli_sources_done(struct plim_cli_sources *sources)
{
    sources->roots.remote = plim_remote_free(sources->roots.remote);
    plim_progress_clear(&sources->progress);
}

const struct plim_files *plim_cli_sources_files(struct plim_cli_sources *sources)
{
    return sources->roots.remote ? plim_remote_files(sources->roots.remote) : NULL;
}
