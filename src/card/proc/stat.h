/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_PROC_STAT_H
#define PLIMSOLL_CARD_PROC_STAT_H

/* The text of /proc/PID/stat and of /proc/PID/status (proc_pid_stat(5), proc_pid_status(5)). */

#include <stdbool.h>
#include <stdint.h>

enum { PLIM_TICKS_PER_S = 100 }; /* USER_HZ: 100 on every machine that has a GPU (include/asm-generic/param.h) */

struct plim_proc_stat {
    char name[64]; /* as the process calls itself; it may hold anything, a ')' too */
    char state;
    int64_t parent, group, session; /* group: of processes, by its leader's pid */
    bool has_terminal;
    int32_t n_threads;
    uint64_t cpu_ticks, start_ticks;
    uint64_t waited_ticks; /* of children that have ended */
    int64_t rss_pages;
};

/* False when it is not such a text. */
bool plim_proc_parse_stat(const char *text, struct plim_proc_stat *ret_stat);

struct plim_proc_status {
    int64_t uid;       /* the effective one; -1: not in the text */
    int64_t inner_pid; /* the last of NSpid, in the innermost namespace; -1: only one, or none */
    bool ignores_hangup;
};

void plim_proc_parse_status(const char *text, struct plim_proc_status *ret_status);

#endif
