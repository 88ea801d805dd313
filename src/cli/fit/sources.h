/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_FIT_SOURCES_H
#define PLIMSOLL_CLI_FIT_SOURCES_H

/* Where the models of a command line are: this machine's stores, and servers. */

#include "base/error.h"
#include "cli/progress.h"
#include "plimsoll/model.h"

struct plim_files;

struct plim_cli_sources {
    struct plim_source_roots roots; /* for plim_paths_expand() */
    struct plim_progress progress;  /* while a server is waited for; to be cleared before anything is printed */
};

/* A session with servers is made when one of the names needs it; it asks none before. */
int plim_cli_sources_open(const char *const *names, size_t n, bool is_offline, struct plim_cli_sources *ret_sources,
                          struct plim_error *reterr) PLIM_MUST_CHECK;

/* After an error: where no server answers, a model of the catalogue is a forecast all the same. */
void plim_cli_sources_hint(const char *const *names, size_t n, struct plim_error *reterr);

void plim_cli_sources_done(struct plim_cli_sources *sources);

/* The files of servers, for those beside a model; NULL: none are asked. */
const struct plim_files *plim_cli_sources_files(struct plim_cli_sources *sources);

#endif
