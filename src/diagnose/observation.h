/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_OBSERVATION_H
#define PLIMSOLL_DIAGNOSE_OBSERVATION_H

/* A match with its place in the log. */

#include "diagnose/scan/patterns/match.h"

struct plim_observation {
    const struct plim_match *match;
    uint64_t offset, line;
    struct plim_stamp stamp; /* of the line, for a point of a series */
    bool is_counted;         /* by plim_findings_count() already */
    bool is_bare;            /* as in struct plim_finding */
    struct plim_evidence evidence[PLIM_MAX_EVIDENCE];
    uint32_t n_evidence;
    const struct plim_frame *frames; /* of the traceback that belongs to it; NULL: not looked for */
    uint32_t n_frames;
    const char *texts[2]; /* the text around it, and that of its traceback; NULL: not looked at */
};

#endif
