/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_RULES_H
#define PLIMSOLL_WATCH_ENDING_RULES_H

/* The rules that keep a process from being ended. */

#include "watch/ending/choice.h"

/* One process before the rules: of the sample, of the list of all processes, or of both. */
struct plim_ending_subject {
    const struct plim_scene *scene;
    const struct plim_wish *wish;
    const struct plim_sample_process *process; /* NULL: a launcher, which holds nothing */
    const struct plim_watch_row *row;          /* of its largest holding; NULL with process */
    const struct plim_kin *kin;                /* NULL: not in the list of processes */
    unsigned contexts;
    bool is_named;
    bool is_on_card; /* of those that were asked for */
};

/* The first rule that keeps it, with the reason as a sentence; PLIM_KEEP_NOT: none. */
enum plim_ending_keep plim_rules_apply(const struct plim_ending_subject *subject,
                                       char ret_why[PLIM_CANDIDATE_WHY_BYTES]);

/* The same with the rules of protection alone, for those that were not asked for themselves. */
enum plim_ending_keep plim_rules_protect(const struct plim_ending_subject *subject,
                                         char ret_why[PLIM_CANDIDATE_WHY_BYTES]);

/* True for the program of a desktop, or of a service of the driver or the system. The name of a file, or of a process
 * as the kernel cuts it (15 letters). */
bool plim_program_is_display(const char *program);
bool plim_program_is_service(const char *program);
bool plim_kin_is_service(const struct plim_kin *kin);

#endif
