/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_PROGRAM_H
#define PLIMSOLL_WATCH_PROGRAM_H

/*
 * The program that a process runs, by its command line: data/watch-programs.csv lists those that are known, with the
 * source of each row.
 */

#include "watch/watch.h"

struct plim_watch_program {
    const char *framework; /* "" unknown */
    enum plim_watch_role role;
};

/* *known: what was found the last time, kept by the caller from 0 on: the search is done once for each command line. */
struct plim_watch_known_program {
    uint64_t hash; /* of what the rows look at; 0: nothing was found yet */
    uint32_t row;
    bool is_script;
};

void plim_watch_program(const struct plim_sample_process *process, struct plim_watch_known_program *known,
                        struct plim_watch_program *ret_program);

/* The model that the command line names: a file, or the name of a repository. Returns buffer, "" when there is none. */
const char *plim_watch_model(const struct plim_sample_process *process, char *buffer, size_t size);

/* True when the command line names a file or module to run: the same words are the same work then. An interpreter
 * alone, or with its program as an argument, is somebody at a prompt. */
bool plim_watch_is_script(const struct plim_sample_process *process);

#endif
