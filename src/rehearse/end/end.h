/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_END_H
#define PLIMSOLL_REHEARSE_END_H

/* How a rehearsal ended, and whether that proves anything. The receipt, the gate and the search go by it. */

#include "receipt/rehearsal.h"

enum plim_end {
    /* ended well on the virtual card */
    PLIM_END_COMPLETED, /* with status 0 */
    PLIM_END_RECOVERED, /* the same; requests that did not fit were caught */
    PLIM_END_REACHED,   /* stopped where the user said */
    /* ended by itself with status 0, and shows nothing */
    PLIM_END_NO_STEPS, /* fewer than were asked for */
    PLIM_END_NO_CARD,  /* no process used a card */
    /* ended otherwise */
    PLIM_END_TOO_EARLY,      /* stopped, and it would have trained */
    PLIM_END_STATIC_RUNTIME, /* has NVIDIA's runtime in it, which found no card; whatever its status */
    PLIM_END_OUT_OF_MEMORY,
    PLIM_END_FAILED,
    PLIM_END_SIGNAL, /* out of memory before or not */
    PLIM_END_TIMEOUT,
    PLIM_END_INTERRUPT,
    PLIM_END_MAX_
};

/* All that the end hangs on. */
struct plim_end_facts {
    enum plim_stopped_by { PLIM_BY_ITSELF, PLIM_BY_SIGNAL, PLIM_BY_US, PLIM_BY_TIMEOUT, PLIM_BY_USER } by;
    bool has_failed;         /* its status is not 0 */
    bool is_out_of_memory;   /* a request did not fit, and was not met later; or the program says so of its own pool */
    bool has_gone_on;        /* after the request that did not fit; the last failure is another one */
    bool has_card;           /* a process used a card */
    bool has_static_runtime; /* NVIDIA's own runtime looked for the card in vain */
    bool lacks_steps;        /* that were asked for */
    bool is_before_training; /* an optimizer was made, and none has stepped */
};

enum plim_end plim_end_decide(const struct plim_end_facts *facts);

/* Of a rehearsal that is finished. */
enum plim_end plim_end_of(const struct plim_rehearsal *rehearsal);

/* As in JSON: "completed", "no_card" ... */
const char *plim_end_name(enum plim_end end);

/* PLIM_END_MAX_: no such word. */
enum plim_end plim_end_named(const char *name);

/* It ended well: what it took until then is what it takes. */
bool plim_end_is_good(enum plim_end end);

/* It did not end well, and memory was short. */
bool plim_end_is_for_memory(const struct plim_rehearsal *rehearsal);

/* Whether a process made a context on a card, or tried to. */
bool plim_end_has_card(const struct plim_rehearsal *rehearsal);

enum { PLIM_END_TEXT_BYTES = 320 };

/* Why no card was used, as far as that is known. */
void plim_end_why_no_card(const struct plim_rehearsal *rehearsal, char ret_text[PLIM_END_TEXT_BYTES]);

/* The library or program that has NVIDIA's runtime in it; NULL: none was found. */
const char *plim_end_static_runtime(const struct plim_rehearsal *rehearsal);

#endif
