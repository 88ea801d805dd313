/* SPDX-License-Identifier: MIT */
#include "trace/objects.h"

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
};

/* --- room --- */

void *plim_trace_grow(struct plim_trace_objects *objects, void *array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return array;
    const size_t wanted = *room ? *room + *room / 2 + 1 : 16;
    const uint64_t more = (uint64_t)(wanted - *room) * size;
    objects->is_too_big |= wanted > UINT32_MAX || more > objects->max_bytes - objects->bytes;
    void *grown = objects->is_too_big ? NULL : plim_realloc(array, wanted, size);
    if (!grown)
        return NULL;
    objects->bytes += more;
    *room = wanted;
    return grown;
}

/* Room for one more row of an array of the trace, at its end; evaluates to false when there is none. */
#define GROW(objects, array, n, room)                                                                                  \
    ((n) < (room) || grow_into((objects), (void **)&(array), (n), &(room), sizeof *(array)))

static bool grow_into(struct plim_trace_objects *objects, void **array, size_t n, size_t *room, size_t size)
{
    void *grown = plim_trace_grow(objects, *array, n, room, size);
    if (grown)
        *array = grown;
    return grown != NULL;
}

int plim_trace_objects_init(struct plim_trace_objects *objects, uint64_t max_bytes, struct plim_error *reterr)
{
    struct plim_memory_trace *trace = &objects->trace;
    plim_pickle_value value;
    *objects = (struct plim_trace_objects){ .max_bytes = max_bytes };
    bool is_ready = plim_trace_text(objects, "", 0, &value) && GROW(objects, trace->pools, 0, objects->pools_room);
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
    return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
}

/* The trace itself stays. */
void plim_trace_objects_done(struct plim_trace_objects *objects)
{
    for (size_t i = 0; i < objects->n_lists; i++)
        plim_free(objects->lists[i].items);
    for (size_t i = 0; i < objects->n_others; i++)
        plim_free(objects->others[i].items);
    plim_free(objects->lists);
    plim_free(objects->others);
    plim_free(objects->dicts);
    plim_free(objects->words);
    objects->lists = NULL;
    objects->others = NULL;
    objects->dicts = NULL;
    objects->words = NULL;
    objects->n_lists = objects->n_others = objects->n_dicts = objects->n_words = 0;
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
    if (!GROW(objects, objects->lists, objects->n_lists, objects->lists_room))
        return false;
    objects->lists[objects->n_lists] = (struct plim_pickle_list){ 0 };
    *ret_value = plim_pickle_make(PLIM_PICKLE_LIST, objects->n_lists++);
    return true;
}

/* The kind and the number of a value that is a row, so that it may be part of a run. */
static uint8_t row_of(const struct plim_trace_objects *objects, plim_pickle_value value, uint32_t *ret_number)
{
    if (plim_pickle_tag(value) != PLIM_PICKLE_DICT)
        return PLIM_ROW_EMPTY;
    const struct plim_pickle_dict *dict = &objects->dicts[plim_pickle_rest(value)];
    *ret_number = dict->number;
    return dict->row > PLIM_ROW_OTHER ? dict->row : PLIM_ROW_EMPTY;
}

/* Do the items continue the run that a list is, or begin one? */
static bool is_run(const struct plim_trace_objects *objects, const struct plim_pickle_list *list,
                   const plim_pickle_value *items, size_t n)
{
    uint32_t number = 0, first = 0;
    const uint8_t row = row_of(objects, items[0], &first);
    if (list->items || row == PLIM_ROW_EMPTY || row == PLIM_ROW_FRAME ||
        (list->n && (list->row != row || list->first + list->n != first)))
        return false;
    for (size_t i = 1; i < n; i++)
        if (row_of(objects, items[i], &number) != row || number != first + i)
            return false;
    return true;
}

static bool make_plain(struct plim_trace_objects *objects, struct plim_pickle_list *list, size_t n)
{
    const uint64_t room = (uint64_t)list->n + n;
    if (list->items && room <= list->room)
        return true;
    if (list->n && !list->items) { /* a run that does not go on: no snapshot has one */
        objects->is_too_big = true;
        return false;
    }
    const uint64_t wanted = list->n ? room + room / 2 : room;
    objects->is_too_big |= wanted > UINT32_MAX || (wanted - list->room) * 8 > objects->max_bytes - objects->bytes;
    plim_pickle_value *items = objects->is_too_big ? NULL : plim_realloc(list->items, (size_t)wanted, sizeof *items);
    if (!items)
        return false;
    objects->bytes += (wanted - list->room) * 8;
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
    if (is_run(objects, list, items, n)) {
        uint32_t first = 0;
        list->row = row_of(objects, items[0], &first);
        if (!list->n)
            list->first = first;
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
    return list->items ? list->items[n] : plim_pickle_make(PLIM_PICKLE_NONE, 0);
}

/* --- dicts --- */

bool plim_trace_new_dict(struct plim_trace_objects *objects, plim_pickle_value *ret_value)
{
    if (!GROW(objects, objects->dicts, objects->n_dicts, objects->dicts_room))
        return false;
    objects->dicts[objects->n_dicts] = (struct plim_pickle_dict){ 0 };
    *ret_value = plim_pickle_make(PLIM_PICKLE_DICT, objects->n_dicts++);
    return true;
}

static bool set_other(struct plim_trace_objects *objects, struct plim_pickle_dict *dict, const plim_pickle_value *items,
                      size_t n)
{
    if (dict->row == PLIM_ROW_EMPTY) {
        if (!GROW(objects, objects->others, objects->n_others, objects->others_room))
            return false;
        objects->others[objects->n_others] = (struct plim_pickle_other){ 0 };
        *dict = (struct plim_pickle_dict){ (uint32_t)objects->n_others++, PLIM_ROW_OTHER };
    }
    struct plim_pickle_other *other = &objects->others[dict->number];
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
    if (plim_pickle_tag(value) == PLIM_PICKLE_DICT && objects->dicts[plim_pickle_rest(value)].row == PLIM_ROW_OTHER) {
        const struct plim_pickle_other *other = &objects->others[objects->dicts[plim_pickle_rest(value)].number];
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

/* --- rows --- */

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

/* The list of the frames: the number of a stack when all is read (snapshot.c). */
static uint32_t stack(const struct plim_trace_objects *objects, const struct fields *f)
{
    const bool is_list = has(f, PLIM_KEY_FRAMES) && plim_pickle_tag(f->of[PLIM_KEY_FRAMES]) == PLIM_PICKLE_LIST;
    const uint64_t list = is_list ? plim_pickle_rest(f->of[PLIM_KEY_FRAMES]) : 0;
    return is_list && objects->lists[list].n ? (uint32_t)list : PLIM_TRACE_NO_STACK;
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
        if (objects->is_too_big || !GROW(objects, trace->streams, i, objects->handles_room))
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
        if (objects->is_too_big || !GROW(objects, trace->pools, i, objects->pools_room))
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
        !GROW(objects, trace->entries, trace->n_entries, objects->entries_room))
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
        if (!blocks->items && blocks->row == PLIM_ROW_BLOCK) {
            objects->is_too_big |= blocks->first < objects->n_owned_blocks; /* of two segments: no snapshot has that */
            objects->n_owned_blocks = blocks->first + blocks->n;
            segment.first_block = blocks->first;
            segment.n_blocks = blocks->n;
        }
        if (objects->is_too_big)
            return false;
    }
    if (!stream(objects, f, &segment.stream) || !pool(objects, f, PLIM_KEY_SEGMENT_POOL_ID, &segment.pool) ||
        !GROW(objects, trace->segments, trace->n_segments, objects->segments_room))
        return false;
    if (segment.pool == PLIM_TRACE_NO_POOL)
        segment.pool = 0;
    trace->segments[trace->n_segments++] = segment;
    return true;
}

static bool add_block(struct plim_trace_objects *objects, const struct fields *f)
{
    struct plim_memory_trace *trace = &objects->trace;
    const char *state = text(objects, f, PLIM_KEY_STATE);
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
    if (!GROW(objects, trace->blocks, trace->n_blocks, objects->blocks_room))
        return false;
    trace->blocks[trace->n_blocks++] = block;
    return true;
}

static uint32_t text_number(const struct fields *f, enum plim_trace_key key)
{
    return has(f, key) && plim_pickle_tag(f->of[key]) == PLIM_PICKLE_TEXT ? (uint32_t)plim_pickle_rest(f->of[key]) : 0;
}

static bool add_frame(struct plim_trace_objects *objects, const struct fields *f)
{
    struct plim_memory_trace *trace = &objects->trace;
    if (!GROW(objects, trace->frames, trace->n_frames, objects->frames_room))
        return false;
    trace->frames[trace->n_frames++] =
        (struct plim_trace_frame){ text_number(f, PLIM_KEY_FILENAME), text_number(f, PLIM_KEY_NAME),
                                   (uint32_t)number(f, PLIM_KEY_LINE) };
    return true;
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

/* A row is made of the first keys that a dict gets; Python writes all keys of such a small dict at once. */
bool plim_trace_set(struct plim_trace_objects *objects, plim_pickle_value value, const plim_pickle_value *items,
                    size_t n)
{
    const struct plim_memory_trace *trace = &objects->trace;
    struct plim_pickle_dict *dict = &objects->dicts[plim_pickle_rest(value)];
    struct fields f;
    f.has = 0;
    if (dict->row > PLIM_ROW_OTHER)
        return true;
    for (size_t i = 0; i + 1 < n && dict->row == PLIM_ROW_EMPTY; i += 2) {
        const enum plim_trace_key key = plim_trace_key(objects, items[i]);
        f.of[key] = items[i + 1];
        f.has |= (uint64_t)(key != PLIM_KEY_NONE) << key;
    }
    const enum plim_trace_row row = kind_of(&f);
    bool is_added = false;
    size_t place = 0;
    switch (row) {
    case PLIM_ROW_ENTRY:
        is_added = add_entry(objects, &f);
        place = trace->n_entries;
        break;
    case PLIM_ROW_SEGMENT:
        is_added = add_segment(objects, &f);
        place = trace->n_segments;
        break;
    case PLIM_ROW_BLOCK:
        is_added = add_block(objects, &f);
        place = trace->n_blocks;
        break;
    case PLIM_ROW_FRAME:
        is_added = add_frame(objects, &f);
        place = trace->n_frames;
        break;
    default:
        return set_other(objects, dict, items, n);
    }
    if (is_added)
        *dict = (struct plim_pickle_dict){ (uint32_t)place - 1, (uint8_t)row };
    return is_added;
}
