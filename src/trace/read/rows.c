/* SPDX-License-Identifier: MIT */
/* From dicts to rows of a trace: entries, segments, blocks and frames. */
#include "base/limits.h"
#include "trace/read/objects.h"

#include <string.h>

/* The values of a dict by known key. */
struct fields {
    plim_pickle_value of[PLIM_KEY_MAX_];
    uint64_t has; /* a bit for each key */
};

static bool has(const struct fields *f, enum plim_trace_key key) { return f->has >> key & 1; }

static uint64_t number(const struct fields *f, enum plim_trace_key key)
{
    const bool is_number = has(f, key) && plim_pickle_tag(f->of[key]) == PLIM_PICKLE_NUMBER;
    return is_number ? (uint64_t)plim_pickle_number(f->of[key]) : 0;
}

static const char *text(const struct plim_trace_objects *objects, const struct fields *f, enum plim_trace_key key)
{
    const bool is_text = has(f, key) && plim_pickle_tag(f->of[key]) == PLIM_PICKLE_TEXT;
    return is_text ? objects->trace.text + plim_pickle_rest(f->of[key]) : "";
}

static bool truth(const struct fields *f, enum plim_trace_key key)
{
    return has(f, key) && plim_pickle_tag(f->of[key]) == PLIM_PICKLE_TRUTH && plim_pickle_rest(f->of[key]);
}

static uint32_t stack(const struct plim_trace_objects *objects, const struct fields *f)
{
    if (!has(f, PLIM_KEY_FRAMES) || plim_pickle_tag(f->of[PLIM_KEY_FRAMES]) != PLIM_PICKLE_LIST)
        return PLIM_TRACE_NO_STACK;
    const struct plim_pickle_list *list = &objects->lists[plim_pickle_rest(f->of[PLIM_KEY_FRAMES])];
    return plim_pickle_run(list) == PLIM_ROW_FRAME ? (uint32_t)list->first : PLIM_TRACE_NO_STACK;
}

static bool stream(struct plim_trace_objects *objects, const struct fields *f, uint16_t *ret_stream)
{
    struct plim_memory_trace *trace = &objects->trace;
    const uint64_t handle = number(f, PLIM_KEY_STREAM);
    size_t i = 0;
    while (i < trace->n_streams && trace->streams[i] != handle)
        i++;
    if (i == trace->n_streams) {
        objects->is_too_big |= i == PLIM_MAX_TRACE_HANDLES;
        if (objects->is_too_big || !PLIM_TRACE_GROW(objects, trace->streams, i, objects->handles_room))
            return false;
        trace->streams[trace->n_streams++] = handle;
    }
    *ret_stream = (uint16_t)i;
    return true;
}

static bool pool(struct plim_trace_objects *objects, const struct fields *f, enum plim_trace_key key,
                 uint16_t *ret_pool)
{
    struct plim_memory_trace *trace = &objects->trace;
    *ret_pool = PLIM_TRACE_NO_POOL;
    if (!has(f, key) || plim_trace_length(objects, f->of[key]) != 2)
        return true;
    const struct plim_trace_pool_id id = {
        (uint64_t)plim_pickle_number(plim_trace_item(objects, f->of[key], 0)),
        (uint64_t)plim_pickle_number(plim_trace_item(objects, f->of[key], 1)),
    };
    size_t i = 0;
    while (i < trace->n_pools && (trace->pools[i].first != id.first || trace->pools[i].second != id.second))
        i++;
    if (i == trace->n_pools) {
        objects->is_too_big |= i == PLIM_MAX_TRACE_HANDLES;
        if (objects->is_too_big || !PLIM_TRACE_GROW(objects, trace->pools, i, objects->pools_room))
            return false;
        trace->pools[trace->n_pools++] = id;
    }
    *ret_pool = (uint16_t)i;
    return true;
}

static uint8_t action(const char *word)
{
    static const char *const words[] = {
        [PLIM_TRACE_ALLOC] = "alloc",
        [PLIM_TRACE_FREE_REQUESTED] = "free_requested",
        [PLIM_TRACE_FREE_COMPLETED] = "free_completed",
        [PLIM_TRACE_SEGMENT_ALLOC] = "segment_alloc",
        [PLIM_TRACE_SEGMENT_FREE] = "segment_free",
        [PLIM_TRACE_SEGMENT_MAP] = "segment_map",
        [PLIM_TRACE_SEGMENT_UNMAP] = "segment_unmap",
        [PLIM_TRACE_OOM] = "oom",
        [PLIM_TRACE_SNAPSHOT] = "snapshot",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return (uint8_t)i;
    return PLIM_TRACE_OTHER;
}

static bool add_entry(struct plim_trace_objects *objects, const struct fields *f)
{
    struct plim_memory_trace *trace = &objects->trace;
    struct plim_trace_entry entry = {
        .address = number(f, has(f, PLIM_KEY_DEVICE_FREE) ? PLIM_KEY_DEVICE_FREE : PLIM_KEY_ADDR),
        .bytes = number(f, PLIM_KEY_SIZE),
        .time_us = number(f, PLIM_KEY_TIME_US),
        .stack = stack(objects, f),
        .action = action(text(objects, f, PLIM_KEY_ACTION)),
    };
    if (!stream(objects, f, &entry.stream) || !pool(objects, f, PLIM_KEY_POOL_ID, &entry.pool) ||
        !PLIM_TRACE_GROW(objects, trace->entries, trace->n_entries, objects->entries_room))
        return false;
    trace->entries[trace->n_entries++] = entry;
    return true;
}

static bool add_segment(struct plim_trace_objects *objects, const struct fields *f)
{
    struct plim_memory_trace *trace = &objects->trace;
    struct plim_trace_segment segment = {
        .address = number(f, PLIM_KEY_ADDRESS),
        .bytes = number(f, PLIM_KEY_TOTAL_SIZE),
        .stack = stack(objects, f),
        .device = (uint16_t)(number(f, PLIM_KEY_DEVICE) & 0xFF),
        .is_small = strcmp(text(objects, f, PLIM_KEY_SEGMENT_TYPE), "small") == 0,
        .is_expandable = truth(f, PLIM_KEY_IS_EXPANDABLE),
    };
    if (has(f, PLIM_KEY_BLOCKS) && plim_pickle_tag(f->of[PLIM_KEY_BLOCKS]) == PLIM_PICKLE_LIST) {
        const struct plim_pickle_list *blocks = &objects->lists[plim_pickle_rest(f->of[PLIM_KEY_BLOCKS])];
        if (plim_pickle_run(blocks) == PLIM_ROW_BLOCK) {
            objects->is_too_big |= blocks->first < objects->n_owned_blocks; /* of two segments: no snapshot has that */
            objects->n_owned_blocks = (uint32_t)blocks->first + blocks->n;
            segment.first_block = (uint32_t)blocks->first;
            segment.n_blocks = blocks->n;
        }
        if (objects->is_too_big)
            return false;
    }
    if (!stream(objects, f, &segment.stream) || !pool(objects, f, PLIM_KEY_SEGMENT_POOL_ID, &segment.pool) ||
        !PLIM_TRACE_GROW(objects, trace->segments, trace->n_segments, objects->segments_room))
        return false;
    if (segment.pool == PLIM_TRACE_NO_POOL)
        segment.pool = 0;
    trace->segments[trace->n_segments++] = segment;
    return true;
}

/* PyTorch before 2.1 put what a block was asked for into a list: torch/cuda/_memory_viz.py, _block_extra_legacy. */
static void read_history(const struct plim_trace_objects *objects, struct fields *f)
{
    static const enum plim_trace_key moved[][2] = { { PLIM_KEY_REAL_SIZE, PLIM_KEY_REQUESTED_SIZE },
                                                    { PLIM_KEY_FRAMES, PLIM_KEY_FRAMES } };
    const plim_pickle_value last = plim_trace_item(objects, f->of[PLIM_KEY_HISTORY], 0);
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        if (has(f, moved[i][1]))
            continue;
        f->of[moved[i][1]] = plim_trace_get(objects, last, moved[i][0]);
        f->has |= (uint64_t)(plim_pickle_tag(f->of[moved[i][1]]) != PLIM_PICKLE_NONE) << moved[i][1];
    }
}

static bool add_block(struct plim_trace_objects *objects, struct fields *f)
{
    struct plim_memory_trace *trace = &objects->trace;
    const char *state = text(objects, f, PLIM_KEY_STATE);
    if (has(f, PLIM_KEY_HISTORY))
        read_history(objects, f);
    struct plim_trace_block block = {
        .bytes = number(f, PLIM_KEY_SIZE),
        .requested_bytes =
            has(f, PLIM_KEY_REQUESTED_SIZE) ? number(f, PLIM_KEY_REQUESTED_SIZE) : number(f, PLIM_KEY_SIZE),
        .stack = stack(objects, f),
        .state = strcmp(state, "active_allocated") == 0       ? PLIM_TRACE_ALLOCATED
                 : strcmp(state, "active_pending_free") == 0  ? PLIM_TRACE_PENDING
                 : strcmp(state, "active_awaiting_free") == 0 ? PLIM_TRACE_PENDING
                                                              : PLIM_TRACE_INACTIVE,
    };
    if (!PLIM_TRACE_GROW(objects, trace->blocks, trace->n_blocks, objects->blocks_room))
        return false;
    trace->blocks[trace->n_blocks++] = block;
    return true;
}

static uint32_t text_number(const struct fields *f, enum plim_trace_key key)
{
    return has(f, key) && plim_pickle_tag(f->of[key]) == PLIM_PICKLE_TEXT ? (uint32_t)plim_pickle_rest(f->of[key]) : 0;
}

static enum plim_trace_row kind_of(const struct fields *f)
{
    if (has(f, PLIM_KEY_ACTION) && has(f, PLIM_KEY_SIZE))
        return PLIM_ROW_ENTRY;
    if (has(f, PLIM_KEY_ADDRESS) && has(f, PLIM_KEY_TOTAL_SIZE))
        return PLIM_ROW_SEGMENT;
    if (has(f, PLIM_KEY_STATE) && has(f, PLIM_KEY_SIZE))
        return PLIM_ROW_BLOCK;
    if (has(f, PLIM_KEY_FILENAME) && has(f, PLIM_KEY_LINE))
        return PLIM_ROW_FRAME;
    return PLIM_ROW_OTHER;
}

static bool add_row(struct plim_trace_objects *objects, enum plim_trace_row row, struct fields *f, uint32_t *ret_number)
{
    const struct plim_memory_trace *trace = &objects->trace;
    switch (row) {
    case PLIM_ROW_ENTRY:
        *ret_number = (uint32_t)trace->n_entries;
        return add_entry(objects, f);
    case PLIM_ROW_SEGMENT:
        *ret_number = (uint32_t)trace->n_segments;
        return add_segment(objects, f);
    case PLIM_ROW_BLOCK:
        *ret_number = (uint32_t)trace->n_blocks;
        return add_block(objects, f);
    default:
        return plim_trace_frame(objects,
                                (struct plim_trace_frame){ text_number(f, PLIM_KEY_FILENAME),
                                                           text_number(f, PLIM_KEY_NAME),
                                                           (uint32_t)number(f, PLIM_KEY_LINE) },
                                ret_number);
    }
}

/* A row is made of the first keys that a dict gets; Python writes all keys of such a small dict at once. */
bool plim_trace_set(struct plim_trace_objects *objects, plim_pickle_value value, const plim_pickle_value *items,
                    size_t n)
{
    struct plim_pickle_dict *dict = &objects->dicts[plim_pickle_rest(value)];
    struct fields f;
    uint32_t place = 0;
    f.has = 0;
    if (plim_pickle_row(*dict) > PLIM_ROW_OTHER)
        return true;
    for (size_t i = 0; i + 1 < n && plim_pickle_row(*dict) == PLIM_ROW_EMPTY; i += 2) {
        const enum plim_trace_key key = plim_trace_key(objects, items[i]);
        f.of[key] = items[i + 1];
        f.has |= (uint64_t)(key != PLIM_KEY_NONE) << key;
    }
    const enum plim_trace_row row = kind_of(&f);
    if (row == PLIM_ROW_OTHER)
        return plim_trace_set_other(objects, dict, items, n);
    const bool is_added = add_row(objects, row, &f, &place);
    if (is_added)
        *dict = plim_pickle_dict_of(row, place);
    return is_added;
}
