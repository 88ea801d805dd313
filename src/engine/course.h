/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_COURSE_H
#define PLIMSOLL_ENGINE_COURSE_H

/*
 * The course of a program's memory that a bill stands on, for engines that replay one: the point at which it was
 * evaluated, its peaks by phase, and the lines of the program that hold memory when the bill binds. Texts live as long
 * as the engine.
 */

#include "plimsoll/bill.h"

enum {
    PLIM_COURSE_MAX_VARIABLES = 8,
    PLIM_COURSE_MAX_SITES = 16,
    PLIM_COURSE_MAX_DOUBTS = 5 + PLIM_COURSE_MAX_VARIABLES,
    PLIM_COURSE_POINT_BYTES = 160
};

enum plim_course_source { PLIM_COURSE_RECORDED, PLIM_COURSE_BETWEEN, PLIM_COURSE_BEYOND };

/* A variable of the program, and its value. */
struct plim_course_variable {
    const char *name;
    uint64_t value, least_recorded, most_recorded;
};

struct plim_course_site {
    const char *file, *function; /* ""; "": no line is known */
    uint32_t line, n;            /* n allocations */
    uint64_t bytes;
    enum plim_pillar pillar; /* of most of them; PLIM_PILLAR_MAX_: unknown */
    enum plim_phase phase;   /* in which most of them were taken; PLIM_PHASE_MAX_: unknown */
};

/* The most that is allocated while the program is in a phase. */
struct plim_course_phase {
    bool is_there;
    uint32_t step; /* of the first such peak */
    uint64_t allocated_bytes, reserved_bytes;
};

/*
 * The largest value of a variable with which the program never runs short of memory, found by replays: the same as in
 * rehearse/find.h.
 */
struct plim_course_largest {
    const char *variable;    /* NULL: it was not asked for */
    uint64_t value;          /* 0: none that was tried fits */
    uint64_t fails_at;       /* the next value, which does not; 0: nothing fails */
    uint64_t by_making_room; /* a larger value that runs because PyTorch empties its cache on the way; 0: none does */
    uint64_t fits_again;     /* a larger value that fits although fails_at does not; 0: none was met */
    uint64_t unknown_at;     /* a value between two shapes that cannot be told; 0: none was met */
    uint32_t n_tried;
};

/* What the recordings cannot show of the question. */
struct plim_course_doubt {
    const char *kind; /* "work_areas": for programs */
    const char *text;
};

struct plim_course {
    const char *command;  /* that was recorded, with {B} for a variable; "" unknown */
    const char *settings; /* of the allocator; "": its defaults */
    uint32_t n_variables;
    struct plim_course_variable variables[PLIM_COURSE_MAX_VARIABLES];
    char point[PLIM_COURSE_POINT_BYTES]; /* "B=4 S=512" */
    enum plim_course_source source;
    bool is_replay_equal; /* the recording, replayed, has the peaks that PyTorch had */
    double error;         /* the figures may be off by this part; 0: they are replayed at a recorded point */

    uint32_t rank, device, n_tracks; /* the one that decides, of so many */
    uint32_t n_devices;              /* fewer than tracks: ranks share a card */
    /* The need: the replay on this card, or with the least memory with which it runs. */
    uint64_t allocated_peak_bytes, reserved_peak_bytes, requested_peak_bytes;
    uint64_t room_bytes; /* of the card, for PyTorch */
    uint64_t n_retries;
    bool is_oom;                                                /* it does not run in room_bytes: */
    uint64_t oom_bytes;                                         /* the request that fails there, */
    uint64_t oom_held_bytes;                                    /* what is held when it does, */
    uint64_t oom_allocated_peak_bytes, oom_reserved_peak_bytes; /* PyTorch's peaks up to there, */
    uint64_t live_over_bytes; /* and what the program holds at once beyond the room; 0: other settings may help */

    size_t binding_event;
    uint32_t binding_step;
    enum plim_phase binding_phase; /* PLIM_PHASE_MAX_: unknown */
    struct plim_course_phase phases[PLIM_PHASE_MAX_];
    uint32_t n_sites, n_other_sites;
    struct plim_course_site sites[PLIM_COURSE_MAX_SITES]; /* when the bill binds */
    uint64_t other_sites_bytes;

    uint32_t n_doubts;
    struct plim_course_doubt doubts[PLIM_COURSE_MAX_DOUBTS];

    struct plim_course_largest largest;
};

#endif
