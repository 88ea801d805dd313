/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_CAUSE_CAUSE_H
#define PLIMSOLL_DIAGNOSE_CAUSE_CAUSE_H

/*
 * Why it failed: ordered rules over the figures of a finding, the stage that its text names, the traceback and what
 * else the log says. The first rule that holds gives the cause; the next two that hold stay as second candidates. Pure:
 * no memory is taken, nothing is read but the arguments.
 */

#include "diagnose/finding.h"

/* How sure. High: arithmetic, or the text itself. Medium: figures that fit. Low: no better candidate. */
enum plim_confidence { PLIM_CONFIDENCE_NONE = 0, PLIM_CONFIDENCE_LOW, PLIM_CONFIDENCE_MEDIUM, PLIM_CONFIDENCE_HIGH };

enum { PLIM_GUESS_WHY_BYTES = 480, PLIM_MAX_SECOND_GUESSES = 2 };

struct plim_guess {
    enum plim_cause cause;
    enum plim_confidence confidence;
    const char *rule;               /* id of the rule, for tests and for whoever wants to look it up */
    char why[PLIM_GUESS_WHY_BYTES]; /* the arithmetic in words, one or two sentences */
};

/* Bytes; PLIM_UNKNOWN where the log does not say. */
struct plim_cause_answer {
    struct plim_guess best;
    enum plim_cause advised; /* that remedies are for: of best; the commonest one when the log does not show any */
    struct plim_guess second[PLIM_MAX_SECOND_GUESSES];
    uint32_t n_second;
    int64_t tried_bytes, total_bytes, free_bytes;
    int64_t allocated_bytes, unallocated_bytes, private_bytes, allowed_bytes; /* normalised over generations */
    int64_t own_bytes;                                                        /* this process, with its context */
    int64_t others_bytes;                                                     /* everybody else on the card */
    int64_t shortfall_bytes;                                                  /* tried - free, when positive */
    int64_t other_pid; /* the largest other process that is named */
    int64_t other_pid_bytes;
    int own_index;               /* which of finding->others is this process after all (containers), or -1 */
    bool is_others_listed;       /* others are named, not only computed as the remainder */
    bool is_process_unreliable;  /* Windows and WSL: the driver does not attribute memory to processes */
    int64_t missing_bytes_of_kv; /* vLLM: needed - available */
};

/*
 * ret_answer->best.cause is PLIM_CAUSE_UNKNOWN when the line only says that something failed, or that memory was short
 * and not what for; `why` says so.
 */
void plim_cause_find(const struct plim_finding *finding, const struct plim_log_context *context,
                     struct plim_cause_answer *ret_answer);

/* "high", "medium", "low", "none" */
const char *plim_confidence_name(enum plim_confidence confidence);

#endif
