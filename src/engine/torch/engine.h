/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_ENGINE_H
#define PLIMSOLL_ENGINE_TORCH_ENGINE_H

/*
 * PyTorch as a runtime whose model is a recorded step: the bill is what the caching allocator does with the step's
 * requests on a card.
 */

#include "base/mem.h"
#include "card/cuda_overhead.h"
#include "engine/course.h"
#include "engine/torch/step.h"
#include "engine/type.h"

/* What is asked of a step, in struct plim_setup. */
struct plim_torch_wish {
    uint32_t n_set;
    struct plim_torch_value {
        char name[PLIM_STEP_NAME_BYTES];
        uint64_t value;
    } set[PLIM_STEP_MAX_VARIABLES]; /* --set */
    char max[PLIM_STEP_NAME_BYTES]; /* --max; "": not asked for */
    uint64_t max_low, max_high;     /* the values that are tried; 0: any */
    bool has_alloc_conf;
    char alloc_conf[sizeof((struct plim_step *)0)->alloc_conf]; /* else the recording's */
    struct plim_course_largest largest;                         /* found for --max */
};

struct plim_torch_wish *plim_torch_wish(struct plim_setup *setup);
const struct plim_torch_wish *plim_torch_wish_of(const struct plim_setup *setup);

/* Has the variable a value? */
bool plim_torch_wish_has(const struct plim_torch_wish *wish, const char *name);

/* Add a value, or replace the one that the variable has. */
int plim_torch_wish_set(struct plim_torch_wish *wish, const char *name, uint64_t value, struct plim_error *reterr);

/* The settings of the allocator, as text. */
const char *plim_torch_wish_conf(const struct plim_torch_wish *wish, const struct plim_step *step);

enum {
    PLIM_TORCH_SET,
    PLIM_TORCH_MAX,
    PLIM_TORCH_ALLOC_CONF,
    PLIM_TORCH_N_OPTIONS,
    /* shown, and no options */
    PLIM_TORCH_POINT = PLIM_TORCH_N_OPTIONS,
    PLIM_TORCH_COMMAND,
    PLIM_TORCH_N_ROWS
};
extern const struct plim_option plim_torch_options[PLIM_TORCH_N_ROWS];

/* What is found out about a track before it is billed. */
struct plim_torch_check {
    uint32_t place;         /* of its card among those of the job */
    bool is_equal;          /* the recording, replayed as it was made, has the recorded peaks */
    uint64_t missing_bytes; /* ... or has so much less reserved than PyTorch had */
    uint64_t peak_bytes;    /* reserved with memory enough; of all tracks where some share a card, else 0 */
};

/* A track under settings with memory enough, and with the least that is enough. */
struct plim_torch_whole {
    bool is_made, has_least;
    struct plim_torch_conditions conditions;
    struct plim_torch_result enough, least;
    uint64_t least_capacity_bytes;
};

/* What the tracks of a card of the job take of it, if all peaks come at the same time: on the card last asked about. */
struct plim_torch_place {
    bool is_made;
    struct plim_card card;
    struct plim_overhead_band sum;
};

/* The step at one point: its requests, and what PyTorch made of them when it was recorded. */
struct plim_torch_scene {
    bool is_made;
    struct plim_step_point point;
    struct plim_step_choice choice;
    struct plim_step_shape *unrolled; /* the shape of the choice, where that has loops; else NULL */
    struct plim_torch_tape *tapes;    /* [n_tracks of the shape] */
    struct plim_torch_check *checks;  /* [n_tracks] */
    struct plim_torch_whole *wholes;  /* [2 * n_tracks]: of any card, and of the last one; as they were asked for */
    struct plim_torch_place *places;  /* [n_places] */
    uint32_t n_places;                /* cards of the job */
};

enum plim_torch_kinship { PLIM_TORCH_KIN_SAME, PLIM_TORCH_KIN_OTHER, PLIM_TORCH_KIN_UNKNOWN, PLIM_TORCH_KIN_MAX_ };

struct plim_torch {
    struct plim_engine base;
    const struct plim_step *step;
    struct plim_card recorded_card;               /* zeros: not in the catalogue */
    struct plim_torch_scene scene;                /* of the last point */
    const char *card_doubts[PLIM_TORCH_KIN_MAX_]; /* of doubts.c */
    struct plim_arena texts;
};

static inline struct plim_torch *plim_torch_of(struct plim_engine *engine) { return (struct plim_torch *)engine; }

/* A copy of a text that lives as long as the engine; NULL: out of memory. */
const char *plim_torch_keep(struct plim_torch *engine, const char *text);

/* The variable of a name; PLIM_E_USAGE with those there are. */
int plim_torch_find_variable(const struct plim_step *step, const char *name, uint32_t *ret_variable,
                             struct plim_error *reterr);
/* The point that a wish means: the recorded one, the first of several, with the values that are set. */
int plim_torch_point_of(const struct plim_step *step, const struct plim_torch_wish *wish,
                        struct plim_step_point *ret_point, struct plim_error *reterr);
/* Make the engine's scene that of a point. */
int plim_torch_scene_make(struct plim_torch *engine, const struct plim_step_point *point, struct plim_error *reterr);
void plim_torch_scene_done(struct plim_torch_scene *scene);

/* --- the bill (bill.c) --- */

/* The conditions that a card gives a track, and how far they may be off. */
struct plim_torch_room {
    struct plim_torch_conditions conditions;
    uint64_t worst_capacity_bytes; /* at the high end of what else takes memory */
    uint64_t taken_bytes;          /* by what else takes memory */
    bool are_recorded;             /* the settings are those of the recording */
};

/* How a track runs on a card. */
struct plim_torch_need {
    struct plim_torch_room room;
    struct plim_torch_result there; /* with the room that there is */
    struct plim_torch_result least; /* the same, or where that runs out of memory with the least that is enough */
    struct plim_torch_conditions least_conditions; /* of that */
    uint64_t free_peak_bytes;                      /* reserved, when no memory limits it */
    bool never_runs;                               /* with any memory, as the memory fraction does not allow it */
};

/* What the other tracks of its card take, if all peaks come at the same time; at least nothing. */
struct plim_overhead_band plim_torch_others_band(const struct plim_torch *engine, const struct plim_card *card,
                                                 size_t track);
/* What libraries take beside PyTorch's allocator. */
struct plim_overhead_band plim_torch_outside_band(const struct plim_torch *engine, const struct plim_card *card,
                                                  const struct plim_step_track *track);
/* Is a card of the generation of the recorded one? On another, PyTorch takes other kernels and work areas. */
enum plim_torch_kinship plim_torch_kinship_of(const struct plim_torch *engine, const struct plim_card *card);

int plim_torch_room_of(const struct plim_torch *engine, const struct plim_torch_wish *wish, size_t track,
                       const struct plim_card *card, struct plim_torch_room *ret_room, struct plim_error *reterr);
int plim_torch_need_of(const struct plim_torch *engine, size_t track, const struct plim_torch_room *room,
                       struct plim_torch_need *ret_need, struct plim_error *reterr);
bool plim_torch_need_is_more(const struct plim_torch_need *need, const struct plim_torch_need *than);
/* The device of a bill that a track belongs to: one for each card of the job, or for all of them the first. */
uint32_t plim_torch_device_of(const struct plim_torch *engine, const struct plim_machine *machine, size_t track);
int plim_torch_bill(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                    struct plim_bill *ret_bill, struct plim_error *reterr);
/* The part by which figures at the scene's point may be off. */
double plim_torch_error_of(const struct plim_torch *engine);

/* --- what the recordings cannot show (doubts.c) --- */

/* Of the card, in words; NULL: it is of the generation of the recorded one. */
const char *plim_torch_card_doubt(struct plim_torch *engine, const struct plim_card *card);
/* The most that work areas may add which no recording was large enough for; 0: there are none to come. */
uint64_t plim_torch_hidden_bytes(const struct plim_torch *engine, size_t track, const struct plim_torch_room *room,
                                 const struct plim_card *card);
/* All of them, for people. */
void plim_torch_add_doubts(struct plim_torch *engine, const struct plim_card *card, struct plim_course *course);

/* --- the rest --- */

int plim_torch_course(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                      const struct plim_bill *bill, struct plim_course *ret_course, struct plim_error *reterr);
/* With --max: find the largest value that fits, and set its variable to that, unless --set has one for it. */
int plim_torch_settle(struct plim_engine *engine, struct plim_setup *setup, const struct plim_machine *machine,
                      struct plim_error *reterr);

extern const struct plim_lever *const plim_torch_levers[];
extern const struct plim_lever_pair plim_torch_pairs[];
uint32_t plim_torch_write_changes(const struct plim_situation *at, const struct plim_lever *lever,
                                  const struct plim_setup *to, struct plim_change ret_changes[PLIM_FIX_MAX_CHANGES]);
bool plim_torch_paste(const struct plim_fix *fix, const struct plim_bill *before, char *text, size_t size);
void plim_torch_describe(const struct plim_bill *bill, uint32_t n_cards, char *text, size_t size);

#endif
