/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_READ_OBJECTS_H
#define PLIMSOLL_TRACE_READ_OBJECTS_H

/*
 * The objects of a snapshot while it is read. A value is one number: a tag and what fits beside it. Dicts become rows
 * of a trace as soon as their keys are known (an entry, a segment, a block, a frame), so that a file of gigabytes never
 * stands in memory as dicts; lists of such rows are runs of numbers.
 */

#include "base/error.h"
#include "trace/trace.h"

enum plim_pickle_tag {
    PLIM_PICKLE_NONE, /* also a number that is too large to be one of a snapshot */
    PLIM_PICKLE_TRUTH,
    PLIM_PICKLE_NUMBER, /* signed, 60 bits */
    PLIM_PICKLE_REAL,   /* a double without its last four bits */
    PLIM_PICKLE_TEXT,   /* an offset in the texts */
    PLIM_PICKLE_PAIR,   /* a tuple of two numbers below 2^30 */
    PLIM_PICKLE_LIST,   /* or a tuple: a number in lists */
    PLIM_PICKLE_DICT,   /* a number in dicts */
};

typedef uint64_t plim_pickle_value;

static inline enum plim_pickle_tag plim_pickle_tag(plim_pickle_value value)
{
    return (enum plim_pickle_tag)(value >> 60);
}
static inline uint64_t plim_pickle_rest(plim_pickle_value value) { return value & ((UINT64_C(1) << 60) - 1); }
static inline plim_pickle_value plim_pickle_make(enum plim_pickle_tag tag, uint64_t rest)
{
    return (uint64_t)tag << 60 | (rest & ((UINT64_C(1) << 60) - 1));
}
static inline int64_t plim_pickle_number(plim_pickle_value value) { return (int64_t)(value << 4) >> 4; }

/* The keys that are known, by their places in a list of words. */
enum plim_trace_key {
    PLIM_KEY_NONE,
    PLIM_KEY_ACTION,
    PLIM_KEY_ADDR,
    PLIM_KEY_DEVICE_FREE,
    PLIM_KEY_SIZE,
    PLIM_KEY_STREAM,
    PLIM_KEY_TIME_US,
    PLIM_KEY_FRAMES,
    PLIM_KEY_POOL_ID,
    PLIM_KEY_DEVICE,
    PLIM_KEY_ADDRESS,
    PLIM_KEY_TOTAL_SIZE,
    PLIM_KEY_SEGMENT_TYPE,
    PLIM_KEY_SEGMENT_POOL_ID,
    PLIM_KEY_IS_EXPANDABLE,
    PLIM_KEY_BLOCKS,
    PLIM_KEY_REQUESTED_SIZE,
    PLIM_KEY_STATE,
    PLIM_KEY_FILENAME,
    PLIM_KEY_LINE,
    PLIM_KEY_NAME,
    PLIM_KEY_SEGMENTS,
    PLIM_KEY_DEVICE_TRACES,
    PLIM_KEY_ALLOCATOR_SETTINGS,
    PLIM_KEY_CONF,
    PLIM_KEY_MAX_SPLIT_SIZE,
    PLIM_KEY_GC_THRESHOLD,
    PLIM_KEY_EXPANDABLE_SEGMENTS,
    PLIM_KEY_DIVISIONS,
    PLIM_KEY_HISTORY,
    PLIM_KEY_REAL_SIZE,
    PLIM_KEY_MAX_,
};

enum plim_trace_row {
    PLIM_ROW_EMPTY,
    PLIM_ROW_OTHER,
    PLIM_ROW_ENTRY,
    PLIM_ROW_SEGMENT,
    PLIM_ROW_BLOCK,
    PLIM_ROW_FRAME
};

/* A dict and a list are small: a snapshot has one or more of each for each of its entries. */
struct plim_pickle_dict {
    uint32_t place; /* the number of the row, eight times, and the kind; of other dicts the number is one in others */
};

static inline struct plim_pickle_dict plim_pickle_dict_of(enum plim_trace_row row, size_t number)
{
    return (struct plim_pickle_dict){ (uint32_t)number << 3 | (uint32_t)row };
}
static inline enum plim_trace_row plim_pickle_row(struct plim_pickle_dict dict)
{
    return (enum plim_trace_row)(dict.place & 7);
}
static inline uint32_t plim_pickle_row_number(struct plim_pickle_dict dict) { return dict.place >> 3; }

/* The most rows, lists and the like: their numbers have 29 bits. */
#define PLIM_PICKLE_MAX_ROWS (UINT32_C(1) << 29)

/* Any values; or rows of one kind with consecutive numbers; or the frames of a stack. */
struct plim_pickle_list {
    union {
        plim_pickle_value *items;
        uint64_t first; /* the number of the first row, or of the stack */
    };
    uint32_t n;
    uint32_t room; /* of items; PLIM_PICKLE_RUN and a kind of row: a run, of frames: a stack */
};

#define PLIM_PICKLE_RUN UINT32_C(0xFFFFFFF0)

/* The kind of row that a list is a run of. */
static inline enum plim_trace_row plim_pickle_run(const struct plim_pickle_list *list)
{
    return list->room > PLIM_PICKLE_RUN ? (enum plim_trace_row)(list->room - PLIM_PICKLE_RUN) : PLIM_ROW_EMPTY;
}

struct plim_pickle_other {
    plim_pickle_value *items; /* keys and values by turns */
    uint32_t n, room;
};

struct plim_trace_objects {
    struct plim_memory_trace trace;
    size_t entries_room, segments_room, blocks_room, frames_room, text_room, handles_room, pools_room;
    struct plim_pickle_dict *dicts;
    struct plim_pickle_list *lists;
    struct plim_pickle_other *others;
    size_t n_dicts, dicts_room, n_lists, lists_room, n_others, others_room;
    uint32_t n_owned_blocks; /* the first blocks, which belong to segments */
    /* Tables by hash of what is kept once: texts (offset plus one), frames and stacks (number plus one); 0 is empty. */
    uint32_t *words, *frame_table, *stack_table;
    size_t n_words, words_room, frame_table_room, stack_table_room, stacks_room, stack_frames_room;
    uint8_t key_of[512];     /* the known words are the first texts */
    const uint64_t *read_at; /* how much of the file was read: so much decides how much memory its objects may take */
    uint64_t bytes;
    bool is_too_big;
};

PLIM_MUST_CHECK int plim_trace_objects_init(struct plim_trace_objects *objects, const uint64_t *read_at,
                                            struct plim_error *reterr);
void plim_trace_objects_done(struct plim_trace_objects *objects);

/*
 * Room for one more in an array of rows of `size` bytes; NULL when memory or the budget ran out. The array moves.
 */
void *plim_trace_grow(struct plim_trace_objects *objects, void *array, size_t n, size_t *room, size_t size);

/* The same, as a condition: room for one more in an array, which is a variable, and so is its room. */
bool plim_trace_grow_into(struct plim_trace_objects *objects, void **array, size_t n, size_t *room, size_t size);
#define PLIM_TRACE_GROW(objects, array, n, room)                                                                       \
    ((n) < (room) || plim_trace_grow_into((objects), (void **)&(array), (n), &(room), sizeof *(array)))

/* These return false when memory or the budget ran out. */
bool plim_trace_text(struct plim_trace_objects *objects, const char *text, size_t length, plim_pickle_value *ret_value);
bool plim_trace_new_list(struct plim_trace_objects *objects, plim_pickle_value *ret_value);
bool plim_trace_new_dict(struct plim_trace_objects *objects, plim_pickle_value *ret_value);
bool plim_trace_append(struct plim_trace_objects *objects, plim_pickle_value list, const plim_pickle_value *items,
                       size_t n);
/* n keys and values by turns. The first of a dict make it a row, if they are those of one; rows.c. */
bool plim_trace_set(struct plim_trace_objects *objects, plim_pickle_value dict, const plim_pickle_value *items,
                    size_t n);

/* The number of a frame, or of the stack of frames at the end of the trace's; each is kept once. */
bool plim_trace_frame(struct plim_trace_objects *objects, struct plim_trace_frame frame, uint32_t *ret_number);
bool plim_trace_stack(struct plim_trace_objects *objects, size_t first_frame, uint32_t *ret_number);
/* Nothing refers to the lists and dicts from these numbers on any more. */
void plim_trace_forget(struct plim_trace_objects *objects, size_t n_lists, size_t n_dicts);
/* May objects take so many more bytes? Counts them. */
bool plim_trace_may_take(struct plim_trace_objects *objects, uint64_t bytes);

/* ... of a dict that is no row. */
bool plim_trace_set_other(struct plim_trace_objects *objects, struct plim_pickle_dict *dict,
                          const plim_pickle_value *items, size_t n);

/* The n-th item of a list; NONE past its end. */
plim_pickle_value plim_trace_item(const struct plim_trace_objects *objects, plim_pickle_value list, size_t n);
size_t plim_trace_length(const struct plim_trace_objects *objects, plim_pickle_value list);
/* What a dict that is no row has under a known key; NONE when it has nothing. */
plim_pickle_value plim_trace_get(const struct plim_trace_objects *objects, plim_pickle_value dict,
                                 enum plim_trace_key key);
/* The row that a dict became. */
bool plim_trace_row(const struct plim_trace_objects *objects, plim_pickle_value value, enum plim_trace_row row,
                    uint32_t *ret_number);

static inline enum plim_trace_key plim_trace_key(const struct plim_trace_objects *objects, plim_pickle_value value)
{
    return plim_pickle_tag(value) == PLIM_PICKLE_TEXT && plim_pickle_rest(value) < sizeof objects->key_of
               ? (enum plim_trace_key)objects->key_of[plim_pickle_rest(value)]
               : PLIM_KEY_NONE;
}

#endif
