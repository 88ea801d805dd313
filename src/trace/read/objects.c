/* SPDX-License-Identifier: MIT */
#include "trace/read/objects.h"

#include "base/limits.h"
#include "base/mem.h"

#include <string.h>

static const struct {
    const char *word;
    enum plim_trace_key key;
} known[] = {
    { "action", PLIM_KEY_ACTION },
    { "addr", PLIM_KEY_ADDR },
    { "device_free", PLIM_KEY_DEVICE_FREE },
    { "size", PLIM_KEY_SIZE },
    { "stream", PLIM_KEY_STREAM },
    { "time_us", PLIM_KEY_TIME_US },
    { "frames", PLIM_KEY_FRAMES },
    { "pool_id", PLIM_KEY_POOL_ID },
    { "device", PLIM_KEY_DEVICE },
    { "address", PLIM_KEY_ADDRESS },
    { "total_size", PLIM_KEY_TOTAL_SIZE },
    { "segment_type", PLIM_KEY_SEGMENT_TYPE },
    { "segment_pool_id", PLIM_KEY_SEGMENT_POOL_ID },
    { "is_expandable", PLIM_KEY_IS_EXPANDABLE },
    { "blocks", PLIM_KEY_BLOCKS },
    { "requested_size", PLIM_KEY_REQUESTED_SIZE },
    { "state", PLIM_KEY_STATE },
    { "filename", PLIM_KEY_FILENAME },
    { "line", PLIM_KEY_LINE },
    { "name", PLIM_KEY_NAME },
    { "segments", PLIM_KEY_SEGMENTS },
    { "device_traces", PLIM_KEY_DEVICE_TRACES },
    { "allocator_settings", PLIM_KEY_ALLOCATOR_SETTINGS },
    { "PYTORCH_CUDA_ALLOC_CONF", PLIM_KEY_CONF },
    { "max_split_size", PLIM_KEY_MAX_SPLIT_SIZE },
    { "garbage_collection_threshold", PLIM_KEY_GC_THRESHOLD },
    { "expandable_segments", PLIM_KEY_EXPANDABLE_SEGMENTS },
    { "roundup_power2_divisions", PLIM_KEY_DIVISIONS },
    { "history", PLIM_KEY_HISTORY },
    { "real_size", PLIM_KEY_REAL_SIZE },
};

int plim_trace_objects_init(struct plim_trace_objects *objects, const uint64_t *read_at, struct plim_error *reterr)
{
    struct plim_memory_trace *trace = &objects->trace;
    plim_pickle_value value;
    *objects = (struct plim_trace_objects){ .read_at = read_at };
    bool is_ready =
        plim_trace_text(objects, "", 0, &value) && PLIM_TRACE_GROW(objects, trace->pools, 0, objects->pools_room);
    if (is_ready)
        trace->pools[trace->n_pools++] = (struct plim_trace_pool_id){ 0, 0 };
    for (size_t i = 0; i < sizeof known / sizeof *known && is_ready; i++) {
        is_ready = plim_trace_text(objects, known[i].word, strlen(known[i].word), &value);
        if (is_ready && plim_pickle_rest(value) < sizeof objects->key_of)
            objects->key_of[plim_pickle_rest(value)] = (uint8_t)known[i].key;
    }
    if (is_ready)
        return 0;
    plim_trace_objects_done(objects);
    plim_free(trace->text);
    plim_free(trace->pools);
    *trace = (struct plim_memory_trace){ 0 };
    return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
}

void plim_trace_forget(struct plim_trace_objects *objects, size_t n_lists, size_t n_dicts)
{
    for (; objects->n_lists > n_lists; objects->n_lists--)
        if (plim_pickle_run(&objects->lists[objects->n_lists - 1]) == PLIM_ROW_EMPTY)
            plim_free(objects->lists[objects->n_lists - 1].items);
    objects->n_dicts = n_dicts;
}

/* The trace itself stays. */
void plim_trace_objects_done(struct plim_trace_objects *objects)
{
    plim_trace_forget(objects, 0, 0);
    for (size_t i = 0; i < objects->n_others; i++)
        plim_free(objects->others[i].items);
    plim_free(objects->lists);
    plim_free(objects->others);
    plim_free(objects->dicts);
    plim_free(objects->words);
    plim_free(objects->frame_table);
    plim_free(objects->stack_table);
    objects->lists = NULL;
    objects->others = NULL;
    objects->dicts = NULL;
    objects->words = objects->frame_table = objects->stack_table = NULL;
    objects->n_others = objects->n_words = 0;
}

/* --- texts --- */

static size_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001B3);
    return (size_t)(hash ^ hash >> 29);
}

static bool grow_words(struct plim_trace_objects *objects)
{
    const size_t room = objects->words_room ? 2 * objects->words_room : 1024;
    uint32_t *words = plim_alloc(room, sizeof *words);
    if (!words)
        return false;
    for (size_t i = 0; i < objects->words_room; i++) {
        const uint32_t word = objects->words[i];
        if (!word)
            continue;
        const char *text = objects->trace.text + word - 1;
        size_t at = hash_of(text, strlen(text)) & (room - 1);
        while (words[at])
            at = (at + 1) & (room - 1);
        words[at] = word;
    }
    plim_free(objects->words);
    objects->words = words;
    objects->words_room = room;
    return true;
}

static bool add_text(struct plim_trace_objects *objects, const char *text, size_t length)
{
    struct plim_memory_trace *trace = &objects->trace;
    const size_t needed = trace->text_bytes + length + 1;
    if (needed > PLIM_MAX_TRACE_TEXT_BYTES) {
        objects->is_too_big = true;
        return false;
    }
    if (needed > objects->text_room) {
        size_t room = needed + needed / 2 + 512;
        char *grown = plim_realloc(trace->text, room, 1);
        if (!grown)
            return false;
        trace->text = grown;
        objects->text_room = room;
    }
    memcpy(trace->text + trace->text_bytes, text, length);
    trace->text[needed - 1] = '\0';
    trace->text_bytes = needed;
    return true;
}

/* A text ends at its first NUL: none of a snapshot has one. */
bool plim_trace_text(struct plim_trace_objects *objects, const char *text, size_t length, plim_pickle_value *ret_value)
{
    struct plim_memory_trace *trace = &objects->trace;
    const char *nul = length ? memchr(text, '\0', length) : NULL;
    if (nul)
        length = (size_t)(nul - text);
    if (2 * (objects->n_words + 1) > objects->words_room && !grow_words(objects))
        return false;
    size_t at = hash_of(text, length) & (objects->words_room - 1);
    for (; objects->words[at]; at = (at + 1) & (objects->words_room - 1)) {
        const char *there = trace->text + objects->words[at] - 1;
        if (strncmp(there, text, length) == 0 && there[length] == '\0') {
            *ret_value = plim_pickle_make(PLIM_PICKLE_TEXT, objects->words[at] - 1);
            return true;
        }
    }
    const size_t offset = trace->text_bytes;
    if (!add_text(objects, text, length))
        return false;
    objects->words[at] = (uint32_t)offset + 1;
    objects->n_words++;
    *ret_value = plim_pickle_make(PLIM_PICKLE_TEXT, offset);
    return true;
}

/* --- lists --- */

bool plim_trace_new_list(struct plim_trace_objects *objects, plim_pickle_value *ret_value)
{
    if (!PLIM_TRACE_GROW(objects, objects->lists, objects->n_lists, objects->lists_room))
        return false;
    objects->lists[objects->n_lists] = (struct plim_pickle_list){ 0 };
    *ret_value = plim_pickle_make(PLIM_PICKLE_LIST, objects->n_lists++);
    return true;
}

/* The kind and the number of a value that is a row, so that it may be part of a run. */
static enum plim_trace_row row_of(const struct plim_trace_objects *objects, plim_pickle_value value,
                                  uint32_t *ret_number)
{
    if (plim_pickle_tag(value) != PLIM_PICKLE_DICT)
        return PLIM_ROW_EMPTY;
    const struct plim_pickle_dict dict = objects->dicts[plim_pickle_rest(value)];
    *ret_number = plim_pickle_row_number(dict);
    return plim_pickle_row(dict) > PLIM_ROW_OTHER ? plim_pickle_row(dict) : PLIM_ROW_EMPTY;
}

/* Do the items continue the run that a list is, or begin one? */
static bool is_run(const struct plim_trace_objects *objects, const struct plim_pickle_list *list,
                   const plim_pickle_value *items, size_t n)
{
    uint32_t number = 0, first = 0;
    const enum plim_trace_row row = row_of(objects, items[0], &first);
    if (row == PLIM_ROW_EMPTY || row == PLIM_ROW_FRAME ||
        (list->n && (plim_pickle_run(list) != row || list->first + list->n != first)))
        return false;
    for (size_t i = 1; i < n; i++)
        if (row_of(objects, items[i], &number) != row || number != first + i)
            return false;
    return true;
}

static bool are_frames(const struct plim_trace_objects *objects, const struct plim_pickle_list *list,
                       const plim_pickle_value *items, size_t n)
{
    uint32_t number = 0;
    bool are = !list->n || plim_pickle_run(list) == PLIM_ROW_FRAME;
    for (size_t i = 0; i < n && are; i++)
        are = row_of(objects, items[i], &number) == PLIM_ROW_FRAME;
    return are;
}

static bool add_frames(struct plim_trace_objects *objects, const uint32_t *frames, size_t n)
{
    struct plim_memory_trace *trace = &objects->trace;
    for (size_t i = 0; i < n; i++) {
        if (!PLIM_TRACE_GROW(objects, trace->stack_frames, trace->n_stack_frames, objects->stack_frames_room))
            return false;
        trace->stack_frames[trace->n_stack_frames++] = frames[i];
    }
    return true;
}

/* The list becomes a stack, or a longer one: Python writes the items of a long list in several parts. */
static bool append_frames(struct plim_trace_objects *objects, struct plim_pickle_list *list,
                          const plim_pickle_value *items, size_t n)
{
    struct plim_memory_trace *trace = &objects->trace;
    const size_t first = trace->n_stack_frames;
    for (uint32_t i = 0; i < list->n; i++) {
        const uint32_t frame = trace->stack_frames[trace->stacks[list->first].first + i];
        if (!add_frames(objects, &frame, 1))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t frame = 0;
        row_of(objects, items[i], &frame);
        if (!add_frames(objects, &frame, 1))
            return false;
    }
    uint32_t stack = 0;
    const uint32_t n_frames = (uint32_t)(trace->n_stack_frames - first);
    if (!plim_trace_stack(objects, first, &stack))
        return false;
    *list = (struct plim_pickle_list){ .first = stack, .n = n_frames, .room = PLIM_PICKLE_RUN + PLIM_ROW_FRAME };
    return true;
}

static bool make_plain(struct plim_trace_objects *objects, struct plim_pickle_list *list, size_t n)
{
    const bool is_run = plim_pickle_run(list) != PLIM_ROW_EMPTY; /* that does not go on: no snapshot has one */
    const uint64_t needed = (uint64_t)list->n + n, wanted = list->n ? needed + needed / 2 : needed;
    if (!is_run && needed <= list->room)
        return true;
    objects->is_too_big |= is_run || wanted > PLIM_PICKLE_MAX_ROWS;
    if (objects->is_too_big || !plim_trace_may_take(objects, (wanted - list->room) * sizeof *list->items))
        return false;
    plim_pickle_value *items = plim_realloc(list->items, (size_t)wanted, sizeof *items);
    if (!items)
        return false;
    list->items = items;
    list->room = (uint32_t)wanted;
    return true;
}

bool plim_trace_append(struct plim_trace_objects *objects, plim_pickle_value value, const plim_pickle_value *items,
                       size_t n)
{
    struct plim_pickle_list *list = &objects->lists[plim_pickle_rest(value)];
    if (!n)
        return true;
    if (are_frames(objects, list, items, n))
        return append_frames(objects, list, items, n);
    if (is_run(objects, list, items, n)) {
        uint32_t first = 0;
        const enum plim_trace_row row = row_of(objects, items[0], &first);
        if (!list->n)
            *list = (struct plim_pickle_list){ .first = first, .room = PLIM_PICKLE_RUN + (uint32_t)row };
    } else {
        if (!make_plain(objects, list, n))
            return false;
        memcpy(list->items + list->n, items, n * sizeof *items);
    }
    list->n += (uint32_t)n;
    return true;
}

size_t plim_trace_length(const struct plim_trace_objects *objects, plim_pickle_value list)
{
    if (plim_pickle_tag(list) == PLIM_PICKLE_PAIR)
        return 2;
    return plim_pickle_tag(list) == PLIM_PICKLE_LIST ? objects->lists[plim_pickle_rest(list)].n : 0;
}

plim_pickle_value plim_trace_item(const struct plim_trace_objects *objects, plim_pickle_value value, size_t n)
{
    if (n >= plim_trace_length(objects, value))
        return plim_pickle_make(PLIM_PICKLE_NONE, 0);
    if (plim_pickle_tag(value) == PLIM_PICKLE_PAIR)
        return plim_pickle_make(PLIM_PICKLE_NUMBER,
                                n ? plim_pickle_rest(value) & 0x3FFFFFFF : plim_pickle_rest(value) >> 30);
    const struct plim_pickle_list *list = &objects->lists[plim_pickle_rest(value)];
    return plim_pickle_run(list) == PLIM_ROW_EMPTY ? list->items[n] : plim_pickle_make(PLIM_PICKLE_NONE, 0);
}

/* --- dicts --- */

bool plim_trace_new_dict(struct plim_trace_objects *objects, plim_pickle_value *ret_value)
{
    if (!PLIM_TRACE_GROW(objects, objects->dicts, objects->n_dicts, objects->dicts_room))
        return false;
    objects->dicts[objects->n_dicts] = (struct plim_pickle_dict){ 0 };
    *ret_value = plim_pickle_make(PLIM_PICKLE_DICT, objects->n_dicts++);
    return true;
}

bool plim_trace_set_other(struct plim_trace_objects *objects, struct plim_pickle_dict *dict,
                          const plim_pickle_value *items, size_t n)
{
    if (plim_pickle_row(*dict) == PLIM_ROW_EMPTY) {
        if (!PLIM_TRACE_GROW(objects, objects->others, objects->n_others, objects->others_room))
            return false;
        objects->others[objects->n_others] = (struct plim_pickle_other){ 0 };
        *dict = plim_pickle_dict_of(PLIM_ROW_OTHER, objects->n_others++);
    }
    struct plim_pickle_other *other = &objects->others[plim_pickle_row_number(*dict)];
    for (size_t i = 0; i < n; i++) {
        size_t room = other->room;
        plim_pickle_value *grown = plim_trace_grow(objects, other->items, other->n, &room, sizeof *grown);
        if (!grown)
            return false;
        other->items = grown;
        other->room = (uint32_t)room;
        other->items[other->n++] = items[i];
    }
    return true;
}

plim_pickle_value plim_trace_get(const struct plim_trace_objects *objects, plim_pickle_value value,
                                 enum plim_trace_key key)
{
    const struct plim_pickle_dict dict = plim_pickle_tag(value) == PLIM_PICKLE_DICT
                                             ? objects->dicts[plim_pickle_rest(value)]
                                             : (struct plim_pickle_dict){ 0 };
    if (plim_pickle_row(dict) == PLIM_ROW_OTHER) {
        const struct plim_pickle_other *other = &objects->others[plim_pickle_row_number(dict)];
        for (uint32_t i = 0; i + 1 < other->n; i += 2)
            if (plim_trace_key(objects, other->items[i]) == key)
                return other->items[i + 1];
    }
    return plim_pickle_make(PLIM_PICKLE_NONE, 0);
}

bool plim_trace_row(const struct plim_trace_objects *objects, plim_pickle_value value, enum plim_trace_row row,
                    uint32_t *ret_number)
{
    return row_of(objects, value, ret_number) == row;
}
