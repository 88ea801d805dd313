/* SPDX-License-Identifier: MIT */
#include "trace/snapshot.h"

#include "base/limits.h"
#include "base/mem.h"
#include "source/file.h"
#include "trace/pickle.h"

#include <string.h>

static int no_snapshot(const char *what, struct plim_error *reterr)
{
    plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "not a snapshot of PyTorch's memory: %s", what);
    plim_error_hint(reterr, "torch.cuda.memory._dump_snapshot('snapshot.pickle') writes one");
    return PLIM_E_UNSUPPORTED;
}

/* --- stacks: from lists of frames --- */

struct stacks {
    struct plim_trace_objects *objects;
    uint32_t *stack_of; /* by list; 0: not yet, else the stack plus one */
    size_t stacks_room, frames_room;
    uint32_t emptying; /* the text "empty_cache" */
    bool *is_emptying; /* by stack; shares stacks_room */
    size_t emptying_room;
};

static bool add_stack(struct stacks *s, uint32_t list)
{
    struct plim_memory_trace *trace = &s->objects->trace;
    const plim_pickle_value value = plim_pickle_make(PLIM_PICKLE_LIST, list);
    const uint32_t first = (uint32_t)trace->n_stack_frames;
    bool is_emptying = false;
    for (size_t i = 0; i < plim_trace_length(s->objects, value); i++) {
        uint32_t frame;
        if (!plim_trace_row(s->objects, plim_trace_item(s->objects, value, i), PLIM_ROW_FRAME, &frame))
            continue;
        uint32_t *frames =
            plim_trace_grow(s->objects, trace->stack_frames, trace->n_stack_frames, &s->frames_room, sizeof *frames);
        if (!frames)
            return false;
        trace->stack_frames = frames;
        frames[trace->n_stack_frames++] = frame;
        is_emptying |= s->emptying && trace->frames[frame].name == s->emptying;
    }
    struct plim_trace_stack *stacks =
        plim_trace_grow(s->objects, trace->stacks, trace->n_stacks, &s->stacks_room, sizeof *stacks);
    trace->stacks = stacks ? stacks : trace->stacks;
    bool *marks = plim_trace_grow(s->objects, s->is_emptying, trace->n_stacks, &s->emptying_room, sizeof *marks);
    s->is_emptying = marks ? marks : s->is_emptying;
    if (!stacks || !marks)
        return false;
    s->is_emptying[trace->n_stacks] = is_emptying;
    stacks[trace->n_stacks++] = (struct plim_trace_stack){ first, (uint32_t)trace->n_stack_frames - first };
    s->stack_of[list] = (uint32_t)trace->n_stacks;
    return true;
}

/* The number of a list becomes that of a stack. */
static bool name_stack(struct stacks *s, uint32_t *stack)
{
    if (*stack == PLIM_TRACE_NO_STACK)
        return true;
    if (!s->stack_of[*stack] && !add_stack(s, *stack))
        return false;
    *stack = s->stack_of[*stack] - 1;
    return true;
}

static bool name_stacks(struct stacks *s)
{
    struct plim_memory_trace *trace = &s->objects->trace;
    bool is_named = true;
    for (size_t i = 0; i < trace->n_segments && is_named; i++)
        is_named = name_stack(s, &trace->segments[i].stack);
    for (size_t i = 0; i < trace->n_blocks && is_named; i++)
        is_named = name_stack(s, &trace->blocks[i].stack);
    for (size_t i = 0; i < trace->n_entries && is_named; i++) {
        is_named = name_stack(s, &trace->entries[i].stack);
        if (is_named && trace->entries[i].stack != PLIM_TRACE_NO_STACK)
            trace->entries[i].is_emptying = s->is_emptying[trace->entries[i].stack];
    }
    return is_named;
}

static int make_stacks(struct plim_trace_objects *objects, struct plim_error *reterr)
{
    plim_pickle_value word;
    struct stacks s = { .objects = objects };
    s.stack_of = plim_alloc(objects->n_lists + 1, sizeof *s.stack_of);
    bool is_made = s.stack_of && plim_trace_text(objects, "empty_cache", strlen("empty_cache"), &word);
    s.emptying = is_made ? (uint32_t)plim_pickle_rest(word) : 0;
    is_made = is_made && name_stacks(&s);
    plim_free(s.stack_of);
    plim_free(s.is_emptying);
    return is_made ? 0 : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

/* --- the parts --- */

static int read_traces(struct plim_trace_objects *objects, plim_pickle_value traces, struct plim_error *reterr)
{
    struct plim_memory_trace *trace = &objects->trace;
    const size_t n = plim_trace_length(objects, traces);
    if (n > PLIM_MAX_TRACE_DEVICES)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "traces of %zu devices", n);
    trace->devices = plim_alloc(n + 1, sizeof *trace->devices);
    if (!trace->devices)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < n; i++) {
        const plim_pickle_value item = plim_trace_item(objects, traces, i);
        if (plim_pickle_tag(item) != PLIM_PICKLE_LIST)
            return no_snapshot("a trace is no list", reterr);
        const struct plim_pickle_list *list = &objects->lists[plim_pickle_rest(item)];
        if (list->n && (list->items || list->row != PLIM_ROW_ENTRY))
            return no_snapshot("a trace has other entries than PyTorch writes", reterr);
        trace->devices[i] = (struct plim_trace_device){ list->first, list->n };
    }
    trace->n_devices = n;
    return 0;
}

static double real_of(plim_pickle_value value)
{
    double real = 0;
    const uint64_t bits = plim_pickle_rest(value) << 4;
    if (plim_pickle_tag(value) == PLIM_PICKLE_REAL)
        memcpy(&real, &bits, sizeof real);
    return real;
}

static void read_divisions(const struct plim_trace_objects *objects, plim_pickle_value divisions,
                           struct plim_trace_settings *settings)
{
    if (plim_pickle_tag(divisions) != PLIM_PICKLE_DICT ||
        objects->dicts[plim_pickle_rest(divisions)].row != PLIM_ROW_OTHER)
        return;
    const struct plim_pickle_other *other = &objects->others[objects->dicts[plim_pickle_rest(divisions)].number];
    for (size_t i = 0; 2 * i + 1 < other->n && i < PLIM_TRACE_N_DIVISIONS; i++)
        settings->divisions[i] = (uint32_t)plim_pickle_number(other->items[2 * i + 1]);
    settings->has_divisions = true;
}

static void read_settings(struct plim_trace_objects *objects, plim_pickle_value dict)
{
    struct plim_trace_settings *settings = &objects->trace.settings;
    const plim_pickle_value conf = plim_trace_get(objects, dict, PLIM_KEY_CONF);
    const plim_pickle_value split = plim_trace_get(objects, dict, PLIM_KEY_MAX_SPLIT_SIZE);
    const plim_pickle_value expandable = plim_trace_get(objects, dict, PLIM_KEY_EXPANDABLE_SEGMENTS);
    objects->trace.has_settings = plim_pickle_tag(split) == PLIM_PICKLE_NUMBER;
    settings->text = plim_pickle_tag(conf) == PLIM_PICKLE_TEXT ? (uint32_t)plim_pickle_rest(conf) : 0;
    settings->max_split_bytes = plim_pickle_tag(split) == PLIM_PICKLE_NUMBER ? plim_pickle_number(split) : -1;
    const double threshold = real_of(plim_trace_get(objects, dict, PLIM_KEY_GC_THRESHOLD));
    settings->gc_threshold = threshold > 0 && threshold < 1 ? threshold : 0; /* PyTorch refuses others */
    settings->is_expandable = plim_pickle_tag(expandable) == PLIM_PICKLE_TRUTH && plim_pickle_rest(expandable);
    read_divisions(objects, plim_trace_get(objects, dict, PLIM_KEY_DIVISIONS), settings);
}

static bool is_list_of(const struct plim_trace_objects *objects, plim_pickle_value value, enum plim_trace_row row)
{
    if (plim_pickle_tag(value) != PLIM_PICKLE_LIST)
        return false;
    const struct plim_pickle_list *list = &objects->lists[plim_pickle_rest(value)];
    return list->n == 0 || (!list->items && list->row == row);
}

static int assemble(struct plim_trace_objects *objects, plim_pickle_value top, struct plim_error *reterr)
{
    const struct plim_memory_trace *trace = &objects->trace;
    const plim_pickle_value segments = plim_trace_get(objects, top, PLIM_KEY_SEGMENTS);
    const plim_pickle_value traces = plim_trace_get(objects, top, PLIM_KEY_DEVICE_TRACES);
    int result = 0;
    if (plim_pickle_tag(top) == PLIM_PICKLE_LIST) {
        if (!is_list_of(objects, top, PLIM_ROW_SEGMENT))
            return no_snapshot("a list of something else than segments", reterr);
    } else if (!is_list_of(objects, segments, PLIM_ROW_SEGMENT)) {
        return no_snapshot("it has no segments", reterr);
    } else {
        result = read_traces(objects, traces, reterr);
        read_settings(objects, plim_trace_get(objects, top, PLIM_KEY_ALLOCATOR_SETTINGS));
    }
    if (result == 0 && trace->n_segments == 0 && trace->n_entries == 0)
        return no_snapshot("it has neither segments nor a history", reterr);
    return result < 0 ? result : make_stacks(objects, reterr);
}

int plim_snapshot_read(struct plim_cursor *cursor, struct plim_memory_trace *ret_trace, struct plim_error *reterr)
{
    struct plim_trace_objects objects;
    plim_pickle_value top;
    const uint64_t max_bytes = PLIM_MAX_TRACE_LEAST_BYTES + PLIM_MAX_TRACE_FACTOR * cursor->size;
    const unsigned char *start;
    if (!plim_cursor_peek(cursor, 2, &start) || start[0] != 0x80)
        return no_snapshot("no pickle of protocol 2 or newer", reterr);
    int result = plim_trace_objects_init(&objects, max_bytes, reterr);
    if (result == 0)
        result = plim_pickle_read(cursor, &objects, &top, reterr);
    if (result == 0)
        result = assemble(&objects, top, reterr);
    plim_trace_objects_done(&objects);
    if (result == 0)
        *ret_trace = objects.trace;
    else
        plim_snapshot_done(&objects.trace);
    return result;
}

int plim_snapshot_open(const char *path, struct plim_memory_trace *ret_trace, struct plim_error *reterr)
{
    struct plim_file file;
    int result = plim_file_open(path, &file, reterr);
    if (result < 0)
        return result;
    if (file.file_bytes > PLIM_MAX_TRACE_FILE_BYTES) {
        result = plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "a snapshot of more than 64 GiB");
    } else {
        struct plim_cursor cursor = plim_file_cursor(&file, PLIM_MAX_TRACE_FILE_BYTES);
        result = plim_snapshot_read(&cursor, ret_trace, reterr);
    }
    plim_file_close(&file);
    if (result < 0)
        plim_error_where(reterr, path);
    return result;
}

void plim_snapshot_done(struct plim_memory_trace *trace)
{
    plim_free(trace->entries);
    plim_free(trace->devices);
    plim_free(trace->segments);
    plim_free(trace->blocks);
    plim_free(trace->stacks);
    plim_free(trace->stack_frames);
    plim_free(trace->frames);
    plim_free(trace->text);
    plim_free(trace->streams);
    plim_free(trace->pools);
    *trace = (struct plim_memory_trace){ 0 };
}

int plim_snapshot_settings(const struct plim_memory_trace *trace, struct plim_torch_settings *ret_settings,
                           struct plim_error *reterr)
{
    plim_torch_settings_init(ret_settings);
    if (!trace->has_settings)
        return 0;
    const int result = plim_torch_settings_parse(ret_settings, plim_trace_words(trace, trace->settings.text), reterr);
    if (result < 0)
        return result;
    /* What the allocator had in the end counts more than the text: a program may have changed it. */
    ret_settings->max_split_bytes =
        trace->settings.max_split_bytes > 0 ? (uint64_t)trace->settings.max_split_bytes : UINT64_MAX;
    ret_settings->gc_threshold = trace->settings.gc_threshold;
    ret_settings->is_expandable = trace->settings.is_expandable;
    if (trace->settings.has_divisions)
        memcpy(ret_settings->divisions, trace->settings.divisions, sizeof ret_settings->divisions);
    return 0;
}
