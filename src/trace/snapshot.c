/* SPDX-License-Identifier: MIT */
#include "trace/snapshot.h"

#include "base/limits.h"
#include "base/mem.h"
#include "source/file.h"
#include "trace/read/json.h"
#include "trace/read/layer.h"
#include "trace/read/pickle.h"

#include <string.h>

static int no_snapshot(const char *what, struct plim_error *reterr)
{
    plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "not a snapshot of PyTorch's memory: %s", what);
    plim_error_hint(reterr, "torch.cuda.memory._dump_snapshot('snapshot.pickle') writes one");
    return PLIM_E_UNSUPPORTED;
}

/* --- empty_cache() --- */

static bool is_emptying(const struct plim_memory_trace *trace, const struct plim_trace_stack *stack, uint32_t name)
{
    for (uint32_t i = 0; i < stack->n; i++)
        if (trace->frames[trace->stack_frames[stack->first + i]].name == name)
            return true;
    return false;
}

/* Mark the entries of which the stacks are in torch.cuda.empty_cache(). */
static int mark_emptying(struct plim_trace_objects *objects, struct plim_error *reterr)
{
    struct plim_memory_trace *trace = &objects->trace;
    plim_pickle_value word;
    bool *marks = plim_alloc(trace->n_stacks + 1, sizeof *marks);
    const bool is_made = marks && plim_trace_text(objects, "empty_cache", strlen("empty_cache"), &word);
    for (size_t i = 0; i < trace->n_stacks && is_made; i++)
        marks[i] = is_emptying(trace, &trace->stacks[i], (uint32_t)plim_pickle_rest(word));
    for (size_t i = 0; i < trace->n_entries && is_made; i++)
        trace->entries[i].is_emptying =
            trace->entries[i].stack != PLIM_TRACE_NO_STACK && marks[trace->entries[i].stack];
    plim_free(marks);
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
        if (list->n && plim_pickle_run(list) != PLIM_ROW_ENTRY)
            return no_snapshot("a trace has other entries than PyTorch writes", reterr);
        trace->devices[i] = (struct plim_trace_device){ list->n ? (size_t)list->first : 0, list->n };
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
    if (plim_pickle_tag(divisions) != PLIM_PICKLE_DICT)
        return;
    const struct plim_pickle_dict dict = objects->dicts[plim_pickle_rest(divisions)];
    if (plim_pickle_row(dict) != PLIM_ROW_OTHER)
        return;
    const struct plim_pickle_other *other = &objects->others[plim_pickle_row_number(dict)];
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
    return list->n == 0 || plim_pickle_run(list) == row;
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
    return result < 0 ? result : mark_emptying(objects, reterr);
}

/* --- the file --- */

enum form { FORM_PICKLE, FORM_JSON, FORM_GZIP, FORM_ZIP, FORM_BASE64, FORM_UNKNOWN };

/* memory_viz's JSON and pages hold a pickle: [{"name": "snapshot.pickle", "base64": "..."}]. */
static bool has_base64(const unsigned char *start, size_t n)
{
    static const char word[] = "\"base64\"";
    for (size_t i = 0; i + sizeof word - 1 <= n; i++)
        if (memcmp(start + i, word, sizeof word - 1) == 0)
            return true;
    return false;
}

static enum form form_of(struct plim_cursor *c)
{
    const unsigned char *start;
    const uint64_t left = plim_cursor_left(c);
    const size_t n = left < 256 ? (size_t)left : 256;
    size_t i = 0;
    if (n < 2 || !plim_cursor_peek(c, n, &start))
        return FORM_UNKNOWN;
    if (start[0] == 0x1F && start[1] == 0x8B)
        return FORM_GZIP;
    if (n >= 4 && memcmp(start, "PK\3\4", 4) == 0)
        return FORM_ZIP;
    while (i < n && (start[i] == ' ' || start[i] == '\t' || start[i] == '\r' || start[i] == '\n'))
        i++;
    if (i < n && (start[i] == '{' || start[i] == '['))
        return has_base64(start, n) ? FORM_BASE64 : FORM_JSON;
    if (i < n && start[i] == '<')
        return FORM_BASE64;
    return start[0] == 0x80 ? FORM_PICKLE : FORM_UNKNOWN;
}

struct layers {
    struct plim_trace_layer of[PLIM_MAX_TRACE_LAYERS];
    size_t n;
};

/* Take off one layer after the other; *cursor is moved to the innermost. */
static int unwrap(struct layers *layers, struct plim_cursor **cursor, enum form *ret_form, struct plim_error *reterr)
{
    int result = 0;
    while (result == 0) {
        struct plim_trace_layer *layer = &layers->of[layers->n];
        const enum form form = *ret_form = form_of(*cursor);
        if (form == FORM_PICKLE || form == FORM_JSON)
            return 0;
        if (form == FORM_UNKNOWN)
            return no_snapshot("neither a pickle of protocol 2 or newer nor JSON, a page of memory_viz, gzip or zip",
                               reterr);
        if (layers->n == PLIM_MAX_TRACE_LAYERS)
            return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "one file inside another too often");
        result = form == FORM_GZIP  ? plim_trace_layer_gzip(*cursor, layer, reterr)
                 : form == FORM_ZIP ? plim_trace_layer_zip(*cursor, layer, reterr)
                                    : plim_trace_layer_base64(*cursor, layer, reterr);
        if (result == 0) {
            *cursor = &layer->cursor;
            layers->n++;
        }
    }
    return result;
}

/* Why unpacking failed says more than that the snapshot ends early. */
static int explain(const struct layers *layers, int result, struct plim_error *reterr)
{
    for (size_t i = 0; i < layers->n; i++)
        if (layers->of[i].failure.code) {
            if (reterr)
                *reterr = layers->of[i].failure;
            return layers->of[i].failure.code;
        }
    if (layers->n)
        plim_error_hint(reterr, "the offset counts from the beginning of what was unpacked");
    return result;
}

/* torch.save() before 1.6 wrote a number that no file begins with by chance, two more values, and what was saved. */
static int read_pickles(struct plim_cursor *cursor, struct plim_trace_objects *objects, plim_pickle_value *ret_top,
                        struct plim_error *reterr)
{
    int result = plim_pickle_read(cursor, objects, ret_top, reterr);
    const bool is_saved = result == 0 && plim_pickle_tag(*ret_top) == PLIM_PICKLE_NONE && plim_cursor_left(cursor) > 0;
    for (int i = 0; i < 3 && result == 0 && is_saved; i++)
        result = plim_pickle_read(cursor, objects, ret_top, reterr);
    return result;
}

static int read_objects(struct plim_cursor *cursor, struct plim_trace_objects *objects, struct plim_error *reterr)
{
    struct layers layers = { .n = 0 };
    enum form form;
    plim_pickle_value top;
    int result = unwrap(&layers, &cursor, &form, reterr);
    if (result == 0) {
        objects->read_at = &cursor->at;
        result = form == FORM_JSON ? plim_trace_json_read(cursor, objects, &top, reterr)
                                   : read_pickles(cursor, objects, &top, reterr);
        if (result == 0)
            result = assemble(objects, top, reterr);
    }
    result = result < 0 ? explain(&layers, result, reterr) : result;
    while (layers.n > 0)
        plim_trace_layer_done(&layers.of[--layers.n]);
    return result;
}

int plim_snapshot_read(struct plim_cursor *cursor, struct plim_memory_trace *ret_trace, struct plim_error *reterr)
{
    struct plim_trace_objects objects;
    int result = plim_trace_objects_init(&objects, &cursor->at, reterr);
    if (result < 0)
        return result;
    result = read_objects(cursor, &objects, reterr);
    plim_trace_objects_done(&objects);
    if (result == 0)
        *ret_trace = objects.trace;
    else
        plim_snapshot_done(&objects.trace);
    return result;
}

/* A file that is missing or empty: the hint is for models elsewhere. */
static int hint_of_snapshots(int result, struct plim_error *reterr)
{
    if (reterr && (result == PLIM_E_NOT_FOUND || result == PLIM_E_TRUNCATED)) {
        *reterr->hint = '\0';
        plim_error_hint(reterr, "torch.cuda.memory._dump_snapshot('snapshot.pickle') writes one");
    }
    return result;
}

int plim_snapshot_open(const char *path, struct plim_memory_trace *ret_trace, struct plim_error *reterr)
{
    struct plim_file file;
    int result = plim_file_open(path, &file, reterr);
    if (result < 0)
        return hint_of_snapshots(result, reterr);
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

static bool has_expandable(const struct plim_memory_trace *trace)
{
    for (size_t i = 0; i < trace->n_segments; i++)
        if (trace->segments[i].is_expandable)
            return true;
    for (size_t i = 0; i < trace->n_entries; i++)
        if (trace->entries[i].action == PLIM_TRACE_SEGMENT_MAP)
            return true;
    return false;
}

int plim_snapshot_settings(const struct plim_memory_trace *trace, struct plim_torch_settings *ret_settings,
                           struct plim_error *reterr)
{
    plim_torch_settings_init(ret_settings);
    if (!trace->has_settings) {
        ret_settings->is_expandable = has_expandable(trace);
        return 0;
    }
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
