/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_STEPS_H
#define PLIMSOLL_REHEARSE_STEPS_H

/* The steps that a program has taken, by its optimizers or by its launches. */

#include "receipt/rehearsal.h"
#include "vgpu/core/ledger.h"

/*
 * How many steps the program has taken. PyTorch counts the steps of its optimizers; of several processes, the one with
 * the fewest counts. Without PyTorch, cycles count: the launches between two waits for the card repeat, with the same
 * memory held, at least n_wanted times up to now. Loops that are not steps repeat, too; the receipt says that it
 * counted cycles. A program with PyTorch repeats itself before its first step, while it loads and quantizes.
 */
void plim_steps_count(const struct plim_ledger *ledger, uint32_t n_wanted, struct plim_rehearsal_steps *ret_steps);

/* Whether memory was asked for in a backward pass of PyTorch. */
bool plim_steps_has_backward(const struct plim_ledger *ledger);

/* The optimizers of PyTorch in all processes, as far as they were seen. */
struct plim_optimizers {
    bool has_made;        /* one was made */
    bool is_counted;      /* in a process where steps are counted: not in old ones of PyTorch */
    bool lacks_states;    /* one has stepped and has no states, which it should have */
    uint64_t least_steps; /* of the processes that have stepped, the one with the fewest; 0: none has */
};

/* The ledger may be NULL. */
struct plim_optimizers plim_optimizers_of(const struct plim_ledger *ledger);

#endif
