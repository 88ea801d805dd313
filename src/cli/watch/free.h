/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_WATCH_FREE_H
#define PLIMSOLL_CLI_WATCH_FREE_H

/* What the options of `plimsoll free` say, and one look at the machine after the other. */

#include "card/sample.h"
#include "watch/ending/ending.h"

enum { PLIM_FREE_MAX_PIDS = 256 };

struct plim_free_arguments {
    int64_t pid[PLIM_FREE_MAX_PIDS];
    size_t n_pids;
    bool is_stale, is_dry_run, is_yes, is_json, is_help;
    bool is_narrowed; /* by age, user or card: then stale processes are meant, too */
    int64_t older_s, grace_s, idle_after_s;
    const char *user, *card, *color, *sysroot;
};

/* A look: the machine as it is now, and the choice that follows. */
struct plim_free_look {
    struct plim_sampler *sampler;
    struct plim_watch *watch;
    const struct plim_sample *sample;
    struct plim_kinship kinship;
    struct plim_choice *choice;
    struct plim_asker asker;
    bool *cards; /* those asked for */
};

int plim_free_look_open(const struct plim_free_arguments *arguments, struct plim_free_look *ret_look,
                        struct plim_error *reterr);

/* The list of all processes alone. */
int plim_free_look_kinship(const struct plim_free_arguments *arguments, struct plim_free_look *look,
                           struct plim_error *reterr);

/* The sample alone; the choice stays. */
int plim_free_look_sample(struct plim_free_look *look, struct plim_error *reterr);

/* All of it again: *ret_choice is the caller's. */
int plim_free_look_choose(const struct plim_free_arguments *arguments, struct plim_free_look *look,
                          struct plim_choice **ret_choice, struct plim_error *reterr);

void plim_free_look_close(struct plim_free_look *look);

#endif
