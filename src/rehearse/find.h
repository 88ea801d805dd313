/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_FIND_H
#define PLIMSOLL_REHEARSE_FIND_H

/*
 * The largest value with which a program never runs short of memory, by bisection: every request was met at once. It
 * rests on one assumption: what runs short with one value runs short with every larger one. The peaks that were seen
 * say whether that is likely. Where a program gives memory back and asks again (PyTorch empties its cache), or catches
 * the error, it may complete with more; near the end of the card that hangs on the last MiB and is no bound to bisect
 * for. Only a program that catches the error at the least value already means to, and is asked with what it completes.
 */

#include "base/mem.h"
#include "plimsoll/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { PLIM_FIND_MAX_TRIALS = 80, PLIM_FIND_NAME_BYTES = 32 };

enum plim_find_outcome {
    PLIM_FIND_FITS,
    PLIM_FIND_RECOVERED, /* ended well, but a request did not fit when it was made first */
    PLIM_FIND_OUT_OF_MEMORY,
    PLIM_FIND_FAILED,  /* failed for another reason: shows nothing */
    PLIM_FIND_STOPPED, /* by the user, or too long */
};

struct plim_find_trial {
    uint64_t value;
    enum plim_find_outcome outcome;
    int exit_code;
    uint64_t peak_bytes; /* of all cards together */
    bool is_lower_bound; /* a card may take more: its path was guessed, or did not come to its end */
    double seconds;
};

struct plim_find {
    char name[PLIM_FIND_NAME_BYTES];
    uint64_t low, high;
    bool has_largest;
    uint64_t largest;
    bool is_of_completion; /* the least value recovered: the largest with which it ends well is sought */
    bool has_recovered;
    uint64_t largest_recovered; /* that was met: larger values were not looked for */
    bool is_decided;            /* false: the search was broken off */
    bool is_monotonic;          /* more never took less */
    uint32_t n_trials;
    struct plim_find_trial trial[PLIM_FIND_MAX_TRIALS];
};

/* "N=1..512" */
int plim_find_parse(const char *text, struct plim_find *ret_find, struct plim_error *reterr);

/* Whether the command has a {} for the value. */
bool plim_find_has_place(char *const *arguments);

/* The command with the value for each {}; NULL: the arena is full. */
char **plim_find_arguments(struct plim_arena *arena, char *const *arguments, uint64_t value);

/* The value to try next; false when there is nothing left to try. */
bool plim_find_next(const struct plim_find *find, uint64_t *ret_value);

/* Enter the outcome of a trial. */
void plim_find_note(struct plim_find *find, const struct plim_find_trial *trial);

#endif
