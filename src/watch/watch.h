/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_WATCH_H
#define PLIMSOLL_WATCH_WATCH_H

/*
 * What follows from samples: how long a process has been idle, whether it is stale and why, how fast its memory grows.
 * A watch knows the samples it was given and what earlier runs wrote into a state file; nothing else. A process that is
 * called stale may be ended by its user, so every doubt is "unknown", with the doubt as the reason.
 */

#include "base/error.h"
#include "card/sample.h"

enum { PLIM_WATCH_IDLE_AFTER_S = 600, PLIM_WATCH_WHY_BYTES = 200 };

enum plim_stale { PLIM_STALE_UNKNOWN, PLIM_STALE_NO, PLIM_STALE_YES };

/* The rule that decided: the first that holds, in the order of stale.c. */
enum plim_stale_reason {
    PLIM_REASON_NONE,
    PLIM_REASON_GONE,           /* yes: ended, its memory is still held */
    PLIM_REASON_DEFUNCT,        /* yes: ended, and its parent has not taken note */
    PLIM_REASON_CONTAINER_GONE, /* yes: idle, and its control group was deleted */
    PLIM_REASON_ORPHAN,         /* yes: idle, and its parent is gone */
    PLIM_REASON_EARLIER_RUN,    /* yes: an idle earlier run of a script that runs again */
    PLIM_REASON_NOTEBOOK,       /* yes: an idle kernel of a notebook */
    PLIM_REASON_SERVER,         /* no: a server waits for requests */
    PLIM_REASON_DISPLAY,        /* no: the desktop */
    PLIM_REASON_MPS,            /* no: the server of NVIDIA's multi-process service */
    PLIM_REASON_SERVICE,        /* no: a unit of systemd */
    PLIM_REASON_ATTACHED,       /* no: idle, but its parent is there */
    PLIM_REASON_ACTIVE,         /* no */
    PLIM_REASON_STOPPED,        /* unknown: Ctrl-Z, or a debugger */
    PLIM_REASON_ON_PURPOSE,     /* unknown: its parent is gone, perhaps on purpose (nohup, setsid, a container) */
    PLIM_REASON_YOUNG,          /* unknown: not watched for long enough */
    PLIM_REASON_UNSEEN,         /* unknown: the driver says nothing about its activity */
    PLIM_REASON_OUTSIDE,        /* unknown: the process cannot be seen from here */
    PLIM_REASON_MAX_
};

enum plim_watch_role {
    PLIM_ROLE_UNKNOWN,
    PLIM_ROLE_SCRIPT,
    PLIM_ROLE_SERVER,
    PLIM_ROLE_NOTEBOOK,
    PLIM_ROLE_DISPLAY,
    PLIM_ROLE_WORKER, /* of a server or launcher: useless without it */
    PLIM_ROLE_MPS,
    PLIM_ROLE_MAX_
};

/* How memory changes. */
enum plim_trend {
    PLIM_TREND_UNKNOWN, /* too few samples */
    PLIM_TREND_STEADY,
    PLIM_TREND_WARM_UP, /* grows, and has not yet been level since its start */
    PLIM_TREND_GROWING, /* goes on growing: a leak, or a cache without a limit */
    PLIM_TREND_MAX_
};

struct plim_watch_growth {
    enum plim_trend trend;
    int64_t bytes_per_min; /* 0 unless it grows */
    int64_t full_s;        /* until the card is full at this rate; -1: not growing, or unknown */
    int64_t window_s;      /* that the rate was taken over */
};

/* One for each holding of the sample, with the same index. */
struct plim_watch_row {
    const char *framework; /* "PyTorch", "llama.cpp", "vLLM"; "" unknown */
    const char *model;     /* file or name; "" */
    enum plim_watch_role role;
    int64_t idle_s;        /* without activity on the GPU, and none of the processor that was seen; -1: unknown */
    bool is_idle_at_least; /* so long it was observed; it may be longer */
    enum plim_stale stale;
    enum plim_stale_reason reason;
    char why[PLIM_WATCH_WHY_BYTES]; /* the reason as a sentence */
    struct plim_watch_growth growth;
};

/* One for each card of the sample, with the same index. */
struct plim_watch_card {
    int64_t unattributed_bytes; /* used, and held by none of the holdings; -1: unknown */
    char unattributed_why[PLIM_WATCH_WHY_BYTES];
    int64_t stale_bytes; /* of stale processes that can be ended; the lowest that is sure to come back */
    struct plim_watch_growth growth;
};

/* Processes that `plimsoll free --stale` ends. Kernels of notebooks hold variables: their user shuts them down. */
static inline bool plim_watch_can_be_ended(const struct plim_watch_row *row)
{
    return row->stale == PLIM_STALE_YES && row->reason != PLIM_REASON_GONE && row->reason != PLIM_REASON_DEFUNCT &&
           row->reason != PLIM_REASON_NOTEBOOK;
}

struct plim_watch;

struct plim_watch_options {
    int64_t idle_after_s; /* 0: PLIM_WATCH_IDLE_AFTER_S */
    const char *own_log;  /* a file that the caller writes to: that it grows is no activity of others. NULL: none */
};

int plim_watch_open(const struct plim_watch_options *options, struct plim_watch **ret_watch,
                    struct plim_error *reterr) PLIM_MUST_CHECK;

/* The next sample, in order of time. What it points to has to hold until the next one. */
int plim_watch_add(struct plim_watch *watch, const struct plim_sample *sample,
                   struct plim_error *reterr) PLIM_MUST_CHECK;

/* Of the last sample. They hold until the next one. */
const struct plim_watch_row *plim_watch_rows(const struct plim_watch *watch);
const struct plim_watch_card *plim_watch_cards(const struct plim_watch *watch);

/*
 * Up to max points of the memory of a card, or of a holding of the last sample; newest last, evenly spaced. Returns
 * their number.
 */
enum { PLIM_WATCH_MAX_POINTS = 240 };
uint32_t plim_watch_card_history(const struct plim_watch *watch, uint32_t card, int64_t *ret_bytes, uint32_t max);
uint32_t plim_watch_history(const struct plim_watch *watch, uint32_t holding, int64_t *ret_bytes, uint32_t max);

/*
 * What earlier runs saw of the processes, from a file; call it before the first sample. A file that is missing, damaged
 * or not this user's is as none.
 */
void plim_watch_load(struct plim_watch *watch, const char *path);
/* Write it, all or nothing. */
int plim_watch_save(const struct plim_watch *watch, const char *path, struct plim_error *reterr);

void plim_watch_close(struct plim_watch *watch);

/*
 * A short name of a model: "Qwen3-14B-Q4_K_M.gguf" of a file, "Qwen3-8B" of a file that is named after nothing in a
 * folder of that name or in the cache of a hub. Returns buffer.
 */
const char *plim_watch_model_name(const char *model, char *buffer, size_t size);

/* "orphan", "container gone": one word or two for a column and for JSON. */
const char *plim_stale_reason_name(enum plim_stale_reason reason);
const char *plim_watch_role_name(enum plim_watch_role role);
const char *plim_trend_name(enum plim_trend trend);

#endif
