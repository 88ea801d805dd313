/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECEIPT_REHEARSAL_H
#define PLIMSOLL_RECEIPT_REHEARSAL_H

/*
 * The receipt of a rehearsal: a receipt like any other, with the lines of each card at its peak, and beside it what
 * only a rehearsal knows: the memory over time, the call sites, the steps, the request that did not fit.
 */

#include "receipt/receipt.h"

enum {
    PLIM_REHEARSAL_MAX_CARDS = PLIM_MAX_DEVICES,
    PLIM_REHEARSAL_MAX_POINTS = 512,
    PLIM_REHEARSAL_MAX_PHASES = 16,
    PLIM_REHEARSAL_MAX_CALL_SITES = 4096,
    PLIM_REHEARSAL_MAX_ALLOCATIONS = 256,
    PLIM_REHEARSAL_MAX_WARNINGS = 64,
    PLIM_REHEARSAL_MAX_PLACES = 64,
    PLIM_REHEARSAL_WHERE_BYTES = 160,
    PLIM_REHEARSAL_HOST = PLIM_REHEARSAL_MAX_CARDS, /* as the number of a device */
};

/* Memory held from this time on. */
struct plim_rehearsal_point {
    uint64_t time_us, bytes;
    const char *phase; /* of the last request; NULL: unknown */
};

/* Memory asked for in a phase of the program and held at the peak. */
struct plim_rehearsal_phase {
    const char *name; /* NULL: unknown */
    uint64_t bytes;
};

/* What PyTorch's allocator counted on a card: peaks of one process, the one that reserved most, each of its moment. */
struct plim_rehearsal_pytorch {
    uint32_t n_processes; /* that took memory through it, as far as they are known; 0: the rest is unknown */
    bool is_lower_bound;  /* a process did not tell at its end, or forgot a peak */
    uint64_t allocated_bytes, active_bytes, reserved_bytes;
};

struct plim_rehearsal_card {
    uint64_t reserved_bytes; /* kept by the driver */
    uint64_t others_bytes;   /* held by other programs */
    uint64_t peak_us;
    uint64_t late_peak_bytes;  /* with the schedule "both": of the lazy run */
    uint64_t other_peak_bytes; /* with the values "both": of the other run */
    struct plim_rehearsal_pytorch pytorch;
    struct plim_receipt_device final; /* its lines and its sum (peak_bytes) when the program ended or was stopped */
    uint32_t n_points, n_phases;
    struct plim_rehearsal_point point[PLIM_REHEARSAL_MAX_POINTS];
    struct plim_rehearsal_phase phase[PLIM_REHEARSAL_MAX_PHASES]; /* the largest first */
};

/* A place in the program that asks for memory: one stack, one device, one kind. */
struct plim_call_site {
    uint32_t device, number; /* number: in the ledger */
    enum plim_allocation_kind kind;
    const char *label;       /* the engine's own, as in its bills; NULL: unknown */
    enum plim_pillar pillar; /* PLIM_PILLAR_MAX_: unknown */
    const char *phase;       /* NULL: unknown */
    char where[PLIM_REHEARSAL_WHERE_BYTES];
    uint64_t peak_bytes, final_bytes; /* held at the peak of the device, and at the end */
    uint64_t n_requests;
    const char *native, *python; /* frames, one a line, the innermost first; they belong to the ledger */
};

/* One of the amounts held at the end. */
struct plim_rehearsal_allocation {
    uint32_t device;
    enum plim_allocation_kind kind;
    uint64_t bytes, time_us;
};

struct plim_rehearsal_warning {
    char kind[24], what[120];
    uint64_t count;
};

enum plim_steps_how {
    PLIM_STEPS_NONE,      /* no step was seen */
    PLIM_STEPS_OPTIMIZER, /* PyTorch's optimizers counted them */
    PLIM_STEPS_CYCLES,    /* the launches repeat */
};

struct plim_rehearsal_steps {
    uint64_t n, n_wanted; /* n_wanted: the program ran until it had taken so many; 0: nobody asked */
    enum plim_steps_how how;
    bool has_pytorch;    /* whose optimizers count alone */
    uint64_t n_launches; /* of a cycle */
};

/* Which way the peak on a card may differ because of a guess. */
enum plim_effect { PLIM_EFFECT_UNKNOWN, PLIM_EFFECT_NONE, PLIM_EFFECT_HIGHER, PLIM_EFFECT_LOWER };

/* A place in the program where a value was read that nobody knows, and its use. */
struct plim_rehearsal_place {
    char where[PLIM_REHEARSAL_WHERE_BYTES];  /* in the program's own code; else in a package; empty: unknown */
    char inside[PLIM_REHEARSAL_WHERE_BYTES]; /* the frame that read it, when that is another one */
    char text[PLIM_REHEARSAL_WHERE_BYTES];   /* the statement that uses it; empty: unknown */
    uint32_t text_line;                      /* its line, in the file that read it, when that is another line */
    char what[120];                          /* the value, or what was assumed */
    const char *decided;                     /* what hung on it */
    enum plim_effect effect;
    bool is_harmless;
    bool is_kept; /* written by the host before kernels ran that may have changed it */
    uint32_t size_bytes;
    uint64_t count;
};

enum plim_path_verdict {
    PLIM_PATH_EXACT,      /* nothing was read that may have steered the program elsewhere */
    PLIM_PATH_HARMLESS,   /* guesses were read, and none can matter to the memory */
    PLIM_PATH_GUESSED,    /* a guess may have steered it: the peak is a lower bound */
    PLIM_PATH_INCOMPLETE, /* it did not do all of its work: the peak is a lower bound */
};

/*
 * The basis of the program's path. A small value that was read back and that is not known may have steered the program
 * elsewhere than on a card; one of the host's that kernels may have changed is likely the same.
 */
struct plim_rehearsal_path {
    uint64_t n_assumed, n_kept;
    uint64_t n_data;       /* larger reads of guesses, which do not count for the verdict */
    enum plim_basis basis; /* exact: no such value was read */
    enum plim_path_verdict verdict;
    const char *incomplete; /* the reason */
    uint32_t n_places;      /* that are listed: the most important first */
    uint32_t n_more;        /* the others */
    struct plim_rehearsal_place place[PLIM_REHEARSAL_MAX_PLACES];
};

/* Out of memory inside a pool that the program manages itself, by its own message. */
struct plim_rehearsal_said {
    bool is_set;
    const char *framework; /* an id, as in a diagnosis: "jax" */
    uint64_t tried_bytes;
    char text[320]; /* the line */
};

/* A framework's pool that takes most of a card at once, so that the peak says nothing of its need. */
struct plim_rehearsal_pool {
    const char *framework, *setting; /* the setting makes it grow with the need; NULL: no such pool */
    uint32_t device;
    uint64_t bytes;
};

/* A process of the rehearsal that could not take part in it. */
enum plim_outsider {
    PLIM_OUTSIDER_NONE,
    PLIM_OUTSIDER_USER,        /* another user's: may not read the ledger */
    PLIM_OUTSIDER_ENVIRONMENT, /* the environment does not name the ledger */
};

/* The first request that did not fit and was not met later; when the program went on, the first one after that. */
struct plim_rehearsal_oom {
    bool is_set;
    bool has_gone_on; /* kernels were launched after it, and the program does not say at its end that it was fatal */
    uint32_t device;
    int32_t pid;
    enum plim_allocation_kind kind;
    uint64_t size_bytes, free_bytes, used_bytes, time_us;
    const char *label, *phase, *native, *python; /* as of a call site */
};

/* Whether the kernel ended a process of the rehearsal for want of host memory. */
enum plim_host_kill { PLIM_HOST_KILL_NONE, PLIM_HOST_KILL_LIKELY, PLIM_HOST_KILL_SURE, PLIM_HOST_KILL_MAX_ };

struct plim_rehearsal {
    struct plim_receipt receipt; /* the first n_cards devices are the cards; the host follows when it has lines */
    uint32_t n_cards;
    struct plim_rehearsal_card card[PLIM_REHEARSAL_MAX_CARDS];

    /* the run */
    char *const *command; /* NULL-terminated; the caller's */
    char card_name[160];  /* as on the command line */
    const char *values;   /* what copies from the card bring: "zero", "max", "off" */
    const char *tokens;   /* after how many an answer ends; NULL: at the program's limit */
    const char *schedule; /* when the work of streams is done: "eager", "lazy", or "both": then this is the eager run */
    int exit_code;        /* of the program: 128 + N when signal N ended it */
    const char *stopped_by; /* "exit", "signal", "ready", "stable", "steps", "timeout", "interrupt" */
    double seconds;
    uint64_t end_us; /* on the clock of the points */
    struct plim_rehearsal_late {
        bool is_set, is_out_of_memory;
        int exit_code;
        const char *stopped_by;
    } late; /* with the schedule "both": of the lazy run */
    struct plim_rehearsal_other {
        bool is_set, is_out_of_memory;
        int exit_code;
        const char *values, *stopped_by;
        enum plim_path_verdict verdict;
    } other; /* with the values "both": of the run with the smaller peak */

    struct plim_rehearsal_steps steps;
    struct plim_rehearsal_path path;
    struct plim_rehearsal_oom oom;
    uint64_t n_met_later;     /* requests that did not fit at first */
    uint64_t n_out_of_memory; /* requests that did not fit */
    struct plim_rehearsal_host {
        uint64_t peak_rss_bytes, peak_anonymous_bytes, pinned_peak_bytes; /* of all processes together */
        uint64_t written_bytes, written_us; /* to files in large parts, checkpoints; the time of such calls together */
        size_t peak_n_processes;
        enum plim_host_kill kill;
    } host;
    enum plim_outsider outsider; /* the first one that was seen */
    struct plim_rehearsal_said said;
    struct plim_rehearsal_pool pool;
    uint32_t n_warnings, n_allocations, n_call_sites;
    struct plim_rehearsal_warning warning[PLIM_REHEARSAL_MAX_WARNINGS];
    struct plim_rehearsal_allocation allocation[PLIM_REHEARSAL_MAX_ALLOCATIONS]; /* the largest first */
    struct plim_call_site
        call_site[PLIM_REHEARSAL_MAX_CALL_SITES]; /* by device; those that held most at its peak first */
    struct plim_ledger *ledger;                   /* the stacks are in it; closed by its owner */
};

#endif
