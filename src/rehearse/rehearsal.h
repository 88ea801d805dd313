/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_REHEARSAL_H
#define PLIMSOLL_REHEARSE_REHEARSAL_H

/* The receipt of a rehearsal: what was taken on each card at the peak and at the end, and what stopped it. */

#include "rehearse/attribution.h"
#include "vgpu/core/ledger.h"

#include "plimsoll/bill.h"
#include "plimsoll/card.h"

/* What the program held when it ended, one amount each. */
struct plim_rehearsal_allocation {
    uint32_t device, kind;
    uint64_t bytes, time_us;
};

enum { PLIM_REHEARSAL_MAX_ALLOCATIONS = 256 };

enum plim_steps_how {
    PLIM_STEPS_NONE,      /* no step was seen */
    PLIM_STEPS_OPTIMIZER, /* PyTorch's optimizers counted them */
    PLIM_STEPS_CYCLES,    /* what is launched repeats */
};

struct plim_rehearsal_steps {
    uint64_t n;
    enum plim_steps_how how;
    uint64_t n_launches; /* of a cycle */
};

struct plim_rehearsal {
    char *const *command;   /* NULL-terminated; the caller's */
    char card_name[160];    /* as asked for */
    const char *values;     /* what copies from the card brought: "shadow", "zero", "max" */
    const char *schedule;   /* when the work of streams was done: "eager", "lazy", or "both": of that this is eager */
    int exit_code;          /* of the program: 128 + N when signal N ended it */
    const char *stopped_by; /* "exit", "signal", "ready", "stable", "steps", "timeout", "interrupt" */
    double seconds;
    uint64_t end_us; /* of the ledger: when the program was stopped or had ended */
    struct plim_rehearsal_steps steps;
    struct plim_ledger *ledger;
    /* as they were when the program was stopped or had ended: before what it held was given back */
    struct plim_ledger_card card[PLIM_LEDGER_MAX_CARDS];
    uint32_t n_allocations, n_allocations_left_out;
    struct plim_rehearsal_allocation allocation[PLIM_REHEARSAL_MAX_ALLOCATIONS]; /* the largest first */
    uint64_t site_peak_bytes[PLIM_LEDGER_MAX_SITES],
        site_end_bytes[PLIM_LEDGER_MAX_SITES]; /* by number in the ledger */
    /* with "both": of the lazy run */
    struct plim_rehearsal_late {
        uint64_t peak_bytes[PLIM_LEDGER_MAX_CARDS];
        bool is_set, is_out_of_memory;
        int exit_code;
        const char *stopped_by;
    } late;
    uint64_t peak_rss_bytes, peak_anonymous_bytes; /* of all its processes together */
    size_t peak_n_processes;
};

/*
 * What the program's path rests on. Kernels computed nothing: a small value that was read back and that nobody knew may
 * have steered the program elsewhere than on a card; one of the host's that kernels may have changed is likely the
 * same.
 */
struct plim_rehearsal_path {
    uint64_t n_assumed, n_kept;
    enum plim_basis basis; /* exact: no such value was read */
};

struct plim_rehearsal_path plim_rehearsal_path(const struct plim_ledger *ledger);

/* Keep what the ledger says now. */
void plim_rehearsal_take(struct plim_rehearsal *receipt);

/* The sites of a card (of the host: device PLIM_LEDGER_MAX_CARDS), those that held most at its peak first. */
size_t plim_rehearsal_sites(const struct plim_rehearsal *receipt, uint32_t device,
                            uint16_t ret_numbers[PLIM_LEDGER_MAX_SITES]);

/* What was asked for in a phase of the program and held at the peak. */
struct plim_rehearsal_phase {
    const char *name; /* NULL: in no phase that is known */
    uint64_t bytes;
};

enum { PLIM_REHEARSAL_MAX_PHASES = 16 };

/* The largest first; returns how many. */
size_t plim_rehearsal_phases(const struct plim_rehearsal *receipt, uint32_t device,
                             struct plim_rehearsal_phase ret_phases[PLIM_REHEARSAL_MAX_PHASES]);

struct plim_rehearsal_line {
    const char *label;       /* the engine's own words where the call says what it is for, else what was called */
    const char *what;        /* what was called */
    enum plim_pillar pillar; /* PLIM_PILLAR_MAX_: not known */
    enum plim_basis basis;
    uint64_t bytes, low_bytes, high_bytes;
    const char *why;
};

enum { PLIM_REHEARSAL_MAX_LINES = 24 };

/* Lines of a card at its peak, or at the end; returns how many. */
size_t plim_rehearsal_lines(const struct plim_rehearsal *receipt, uint32_t device, bool is_peak,
                            struct plim_rehearsal_line ret_lines[PLIM_REHEARSAL_MAX_LINES]);

/* Of what was pinned, when most was, the part that has the engine's own words. */
size_t plim_rehearsal_host_lines(const struct plim_rehearsal *receipt,
                                 struct plim_rehearsal_line ret_lines[PLIM_REHEARSAL_MAX_LINES]);

const char *plim_rehearsal_kind(uint32_t kind);

/* Without "NVIDIA". */
const char *plim_rehearsal_card_name(const struct plim_ledger_card *card);

/* Describe a card of the catalogue to the ledger. */
void plim_rehearsal_describe(const struct plim_card *card, struct plim_ledger_card *ret_card);

#endif
