/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_CHOICE_H
#define PLIMSOLL_WATCH_ENDING_CHOICE_H

/*
 * Which processes of a sample may be ended, which are kept, and why. Nothing is done here. A process that is ended by
 * mistake is the worst that can happen: every doubt keeps it.
 */

#include "watch/ending/kinship.h"
#include "watch/watch.h"

/* Why a process is kept: the first rule that holds, in this order. */
enum plim_ending_keep {
    PLIM_KEEP_NOT, /* it is not: it may be ended */
    /* there is nothing to end */
    PLIM_KEEP_NO_PROCESS, /* no such process */
    PLIM_KEEP_NO_MEMORY,  /* it holds none on a card */
    PLIM_KEEP_GONE,       /* it has ended, the memory is still held */
    PLIM_KEEP_OUTSIDE,    /* it cannot be seen from here */
    PLIM_KEEP_CHANGED,    /* it has ended, or its number has a new owner */
    PLIM_KEEP_DEFUNCT,    /* it has ended, and its parent has not taken note */
    /* it is protected */
    PLIM_KEEP_INIT,
    PLIM_KEEP_KERNEL,
    PLIM_KEEP_SELF,
    PLIM_KEEP_ANCESTOR, /* this command runs in it */
    PLIM_KEEP_USER,     /* another user's */
    PLIM_KEEP_CONTAINER,
    PLIM_KEEP_DISPLAY,
    PLIM_KEEP_SERVICE, /* of the driver or the system */
    PLIM_KEEP_SLURM,   /* of another job */
    PLIM_KEEP_DEVICE,  /* it has no device file of a card open: the memory was that of an earlier process */
    /* it is not what was asked for */
    PLIM_KEEP_OTHER_USER,
    PLIM_KEEP_OTHER_CARD,
    PLIM_KEEP_SERVER, /* a server, and not named by its pid */
    PLIM_KEEP_NOT_STALE,
    PLIM_KEEP_NOTEBOOK, /* a notebook's kernel, and not named by its pid */
    PLIM_KEEP_YOUNG,
    PLIM_KEEP_JOB, /* another process of its job is kept */
    PLIM_KEEP_MAX_
};

const char *plim_keep_name(enum plim_ending_keep keep); /* "other_user", for JSON */

/* True for what is refused to this user, though asked for by pid. */
bool plim_keep_is_permission(enum plim_ending_keep keep);

/* What is asked for. With pids those processes; without, the stale ones. The rest narrows it. */
struct plim_wish {
    const int64_t *pid;
    size_t n_pids;
    bool is_stale;     /* named processes have to be stale, too */
    int64_t older_s;   /* started at least so long ago; 0: any */
    const char *user;  /* name or number; NULL: any */
    const bool *cards; /* by index in the sample: memory on one of them; NULL: any */
};

/* Who asks. */
struct plim_asker {
    int64_t pid, uid;      /* root is 0 */
    const char *slurm_job; /* of the process itself; "" none */
    bool is_elsewhere;     /* /proc is that of another machine: nothing will be ended, and this command is not in it */
    bool needs_device;     /* a process has to have a device file open: the driver is the real one */
};

struct plim_scene {
    const struct plim_sample *sample;
    const struct plim_watch_row *rows;  /* one for each holding */
    const struct plim_kinship *kinship; /* read before the sample was taken: then a number that went from one process
                                         * to another in between is noticed */
    const char *root;                   /* of /proc; NULL: "/" */
    struct plim_asker asker;
};

enum plim_part {
    PLIM_PART_HOLDER,   /* holds memory on a card */
    PLIM_PART_LAUNCHER, /* holds none; started those that do, and ends or restarts them */
    PLIM_PART_CHILD,    /* holds none; a worker of one that does, with copies of its open files */
};

enum { PLIM_CANDIDATE_WHY_BYTES = 240 };

struct plim_ending_candidate {
    struct plim_kin kin; /* pid, start_ticks, uid, command */
    char user[33];
    enum plim_part part;
    int32_t job;         /* processes of one number are ended together */
    bool is_root_of_job; /* is asked to end first: the others end with it, if all goes well */
    bool is_named;       /* by its pid */
    int64_t works_for;   /* pid of the root of all of its job, which may start it again; 0: it works for none */
    int64_t bytes;       /* on all cards; -1: the driver does not say */
    unsigned contexts;   /* enum plim_context */
    int64_t started_unix_s, idle_s;
    bool is_idle_at_least;
    enum plim_stale stale;
    char why[PLIM_WATCH_WHY_BYTES]; /* why it is stale or not, as a sentence */
    enum plim_ending_keep keep;
    char keep_why[PLIM_CANDIDATE_WHY_BYTES];
    char gentle[PLIM_CANDIDATE_WHY_BYTES];         /* a way to give the memory back without ending it; "" */
    char gentle_command[PLIM_CANDIDATE_WHY_BYTES]; /* for that; "" */
};

struct plim_candidate_holding {
    uint32_t candidate, card;
    int64_t bytes; /* -1: unknown */
};

struct plim_choice_card {
    char id[16], name[80];
    int64_t total_bytes, used_bytes, free_bytes; /* -1: unknown */
    int64_t returns_bytes;                       /* of the chosen; the lowest that is sure */
};

struct plim_choice {
    struct plim_ending_candidate *candidate; /* the chosen first, by job, the root of a job before the others */
    struct plim_candidate_holding *holding;
    struct plim_choice_card *card;
    uint32_t n, n_chosen, n_holdings, n_cards;
};

int plim_choice_make(const struct plim_scene *scene, const struct plim_wish *wish, struct plim_choice **ret_choice,
                     struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_choice_free(struct plim_choice *choice);

/* The candidate with this identity; NULL: none. */
const struct plim_ending_candidate *plim_choice_find(const struct plim_choice *choice, int64_t pid,
                                                     uint64_t start_ticks);

#endif
