/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_ENDING_H
#define PLIMSOLL_WATCH_ENDING_ENDING_H

/*
 * Ending the chosen processes of a choice, step by step, so that a caller with a screen of its own can go on drawing:
 *
 *     plim_ending_open()     holds each by a pidfd, once it is certain that it is the one that was chosen
 *     plim_ending_confirm()  with a choice made of a new sample: who no longer holds memory, or is no longer stale,
 *                            is let go
 *     plim_ending_advance()  again and again: SIGTERM to the roots of jobs, to the others, SIGKILL; until it says so
 *     plim_ending_verify()   with new samples, until it says so: has the memory come back?
 *     plim_ending_close()
 *
 * A signal is sent after plim_ending_confirm() only, and to processes that are in both choices.
 */

#include "watch/ending/choice.h"

enum plim_ending_end {
    PLIM_END_WAITING,  /* not ended yet */
    PLIM_END_BEFORE,   /* it had ended by itself, before any signal */
    PLIM_END_CHANGED,  /* let go: its number has a new owner, or it is no longer chosen */
    PLIM_END_DENIED,   /* the system does not permit it */
    PLIM_END_FAILED,   /* no handle, for want of files or memory */
    PLIM_END_TERM,     /* ended after SIGTERM */
    PLIM_END_KILL,     /* ended after SIGKILL */
    PLIM_END_SURVIVED, /* not even SIGKILL has ended it: it waits inside the kernel */
    PLIM_END_MAX_
};

const char *plim_ending_end_name(enum plim_ending_end end); /* "terminated", for JSON */

/* True for what is no more, by a signal or by itself. */
static inline bool plim_ending_has_ended(enum plim_ending_end end)
{
    return end == PLIM_END_BEFORE || end == PLIM_END_TERM || end == PLIM_END_KILL;
}

struct plim_ended {
    struct plim_ending_candidate candidate;
    enum plim_ending_end end;
    int64_t took_ms;                    /* from its first signal to its end; -1: has not ended, or had none */
    char why[PLIM_CANDIDATE_WHY_BYTES]; /* it was let go, denied or survived; "" */
};

/* Of a card that memory was expected back on. */
struct plim_returned {
    uint32_t card; /* index in the sample */
    char id[16], name[80];
    int64_t expected_bytes; /* what the ended held, as far as the driver says */
    int64_t returned_bytes; /* -1: unknown */
    int64_t free_bytes;     /* now; -1: unknown */
    bool is_back;
    char why[PLIM_CANDIDATE_WHY_BYTES]; /* it is not back: who holds it; "" */
};

enum { PLIM_ENDING_GRACE_MS = 10000 };

struct plim_ending;

/*
 * One signal to one process, nothing after it, for a choice that does not keep it: to that process and to none that has
 * its number now. Fails with PLIM_E_NOT_FOUND when it has ended, and as below.
 */
int plim_ending_send(const struct plim_ending_candidate *candidate, const struct plim_asker *asker, int signal,
                     struct plim_error *reterr) PLIM_MUST_CHECK;

/* Fails with PLIM_E_UNSUPPORTED where the kernel has no pidfd, or where the choice is of another machine. */
int plim_ending_open(const struct plim_choice *choice, const struct plim_asker *asker, int64_t grace_ms,
                     struct plim_ending **ret_ending, struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * The choice is one of the same wish, made of this sample, which was taken after plim_ending_open(). *ret_n is the
 * number of processes that are left to end. On failure none is.
 */
int plim_ending_confirm(struct plim_ending *ending, const struct plim_choice *choice, const struct plim_sample *sample,
                        uint32_t *ret_n, struct plim_error *reterr) PLIM_MUST_CHECK;

/* Wait up to wait_ms for something to happen, then do what is due. True: all have ended, or cannot be ended. */
bool plim_ending_advance(struct plim_ending *ending, int wait_ms);

/*
 * What the cards say now. True: all is back. The driver may need a moment: ask again for some seconds.
 */
bool plim_ending_verify(struct plim_ending *ending, const struct plim_sample *sample);

uint32_t plim_ending_count(const struct plim_ending *ending);
const struct plim_ended *plim_ending_at(const struct plim_ending *ending, uint32_t i);
uint32_t plim_ending_cards(const struct plim_ending *ending);
const struct plim_returned *plim_ending_card(const struct plim_ending *ending, uint32_t i);

void plim_ending_close(struct plim_ending *ending);

#endif
