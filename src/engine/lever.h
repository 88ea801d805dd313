/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LEVER_H
#define PLIMSOLL_ENGINE_LEVER_H

/*
 * Levers: the changes to a setup that reduce its need. An engine lists its own, cheapest first; the planner pulls them
 * without knowing their effect.
 */

#include "plimsoll/plan.h"

/* How the planner finds the value that costs least and fits. */
enum plim_lever_search {
    PLIM_LEVER_ONE,      /* there is one value */
    PLIM_LEVER_LARGEST,  /* the largest of [low, high) that fits; then all smaller ones fit too */
    PLIM_LEVER_SMALLEST, /* the smallest of [low, high] that fits */
    PLIM_LEVER_HALVES,   /* high, half of it, a quarter, ... down to low */
};

/* The given setup, and its bill. */
struct plim_situation {
    const struct plim_engine *engine;
    const struct plim_setup *setup;
    const struct plim_bill *before;
};

struct plim_lever_range {
    uint32_t now, low, high;
    uint32_t unit;     /* values are multiples of it; 0: of 1 */
    bool is_rounded;   /* a round number will do where that costs little */
    uint32_t fallback; /* when none fits */
    uint32_t small;    /* with other changes, and as a last resort: enough for most; 0: no such value */
    uint32_t ordinary; /* the value that most people need; 0: no such value */
    uint32_t all;      /* of a slow lever: the number of parts it can move */
};

struct plim_lever {
    const char *name; /* "context": for tests and programs */
    enum plim_lever_search search;
    bool is_slow;         /* part of the model is computed on the CPU: tokens come more slowly */
    bool is_cheap;        /* worth its price where speed is at stake */
    bool is_last_resort;  /* pulled in the last resort, with all others like it */
    bool needs_a_verdict; /* the fallback is worth nothing when it does not fit */

    /* The values to try on a setup that other levers may have changed; false: nothing to change. */
    bool (*range)(const struct plim_situation *at, const struct plim_setup *from, struct plim_lever_range *ret_range);
    void (*set)(const struct plim_situation *at, uint32_t value, struct plim_setup *setup);
    uint32_t (*value_of)(const struct plim_setup *setup);
    bool (*works)(const struct plim_bill *after); /* NULL: always */

    /* "a context of 9216 tokens instead of 32768"; and its costs, unless they are speed. */
    void (*describe)(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix);

    /* "a context of 9216 tokens", in a list of changes; false: this lever was not pulled. */
    bool (*list)(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                 char *text, size_t size);
};

/* Levers that only set and range, upwards: what may grow in a setup that fits. */
struct plim_growth {
    const struct plim_lever *context;                         /* its value is 0 where the setup leaves it open */
    const struct plim_lever *slots;                           /* each with a context of its own; NULL: no slots */
    uint32_t (*slot_tokens)(const struct plim_situation *at); /* the context that the slots lever gives each */
};

/* Two changes worth making at once; a search, if any, is over the second. */
struct plim_lever_pair {
    const struct plim_lever *first, *second;
    bool spares; /* also where the second alone fits, if it is changed less with the first */
};

#endif
