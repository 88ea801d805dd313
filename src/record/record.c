/* SPDX-License-Identifier: MIT */
#include "record/record.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "record/absence.h"
#include "record/dumps.h"
#include "trace/snapshot.h"

#include <stdio.h>
#include <string.h>

/* --- a process --- */

static enum plim_step_end end_of(const char *kind)
{
    return !strcmp(kind, "steps")    ? PLIM_STEP_END_STEPS
           : !strcmp(kind, "exit")   ? PLIM_STEP_END_EXIT
           : !strcmp(kind, "memory") ? PLIM_STEP_END_MEMORY
                                     : PLIM_STEP_END_UNKNOWN;
}

/*
 * The history says what the peaks were; PyTorch's own counts say whether it is right. Peaks that the program set back
 * are lower than the history's. Those that are not in the history are higher, and stay so: no replay has them.
 */
static bool settle_peaks(const struct plim_record_dump *dump, const struct plim_record_device *device,
                         const struct plim_trace_step_figures *figures, struct plim_step_peaks *recorded)
{
    const bool has_peak = dump->is_whole || dump->has_peak;
    const bool is_met = figures->allocated_bytes == device->allocated_bytes &&
                        figures->reserved_bytes == device->reserved_bytes &&
                        (!has_peak || figures->allocated_peak_bytes >= device->allocated_peak_bytes);
    recorded->allocated_bytes = device->allocated_peak_bytes;
    if (is_met)
        recorded->allocated_bytes = plim_max_u64(recorded->allocated_bytes, figures->allocated_peak_bytes);
    recorded->reserved_bytes = plim_max_u64(recorded->reserved_bytes, device->reserved_peak_bytes);
    return is_met;
}

static uint32_t steps_of(const struct plim_trace_marks *marks)
{
    uint32_t n = 0;
    for (size_t i = 0; i < marks->n_marks; i++)
        if (marks->marks[i].kind == PLIM_TRACE_AFTER_STEP && marks->marks[i].step >= n)
            n = marks->marks[i].step + 1;
    return n;
}

static int add_tracks(const struct plim_record_dump *dump, struct plim_memory_trace *trace,
                      const struct plim_torch_settings *settings, struct plim_step *step,
                      struct plim_recorded *recorded, struct plim_error *reterr)
{
    for (size_t i = 0; i < dump->n_devices; i++) {
        const struct plim_record_device *device = &dump->devices[i];
        const struct plim_trace_step_question question = { .device = device->device,
                                                           .rank = (uint32_t)dump->rank,
                                                           .end = end_of(dump->kind),
                                                           .settings = settings,
                                                           .marks = &device->marks,
                                                           .places = dump->places,
                                                           .n_places = dump->n_places };
        struct plim_trace_step_figures figures;
        const int result = plim_trace_step_add(trace, &question, step, &figures, reterr);
        if (result < 0)
            return result;
        struct plim_step_track *track = &step->shapes->tracks[step->shapes->n_tracks - 1];
        track->device = device->card;
        recorded->is_met &= settle_peaks(dump, device, &figures, track->recorded);
        recorded->n_events += track->n_events;
        recorded->starts_late |= track->starts_late;
        const uint32_t n_steps = steps_of(&device->marks);
        recorded->n_steps = n_steps > recorded->n_steps ? n_steps : recorded->n_steps;
    }
    return 0;
}

/*
 * The settings that the environment had, unless the program changed them: then those of the history (NULL: it has
 * none). The fraction is PyTorch's own answer; no history has it.
 */
static void describe_settings(const struct plim_record_dump *dump, const struct plim_torch_settings *settings,
                              struct plim_step *step)
{
    struct plim_torch_settings said, had;
    plim_torch_settings_init(&said);
    const bool is_read = plim_torch_settings_parse(&said, dump->alloc_conf, NULL) == 0;
    had = settings ? *settings : said;
    if (dump->fraction > 0)
        had.fraction = dump->fraction;
    if ((is_read && plim_torch_settings_are_equal(&said, &had)) ||
        !plim_torch_settings_text(&had, step->alloc_conf, sizeof step->alloc_conf))
        snprintf(step->alloc_conf, sizeof step->alloc_conf, "%s", dump->alloc_conf);
}

static int add_process(const char *folder, const struct plim_record_dump *dump, struct plim_step *step,
                       struct plim_recorded *recorded, struct plim_error *reterr)
{
    char path[PLIM_RECORD_PATH_BYTES + PLIM_RECORD_NAME_BYTES];
    struct plim_memory_trace trace;
    struct plim_torch_settings settings;
    snprintf(path, sizeof path, "%s/%s", folder, dump->snapshot);
    int result = plim_snapshot_open(path, &trace, reterr);
    if (result < 0)
        return result;
    result = plim_snapshot_settings(&trace, &settings, reterr);
    if (result == 0 && !step->n_shapes)
        describe_settings(dump, trace.has_settings ? &settings : NULL, step);
    if (result == 0)
        result = add_tracks(dump, &trace, &settings, step, recorded, reterr);
    plim_snapshot_done(&trace);
    return result;
}

/* --- the step --- */

void plim_record_cut(struct plim_step *step)
{
    for (size_t i = 0; i < step->shapes->n_tracks; i++)
        if (step->shapes->tracks[i].end == PLIM_STEP_END_EXIT)
            step->shapes->tracks[i].end = PLIM_STEP_END_UNKNOWN;
}

uint32_t plim_record_text(struct plim_step *step, const char *text)
{
    const size_t n = strlen(text) + 1, first = step->text_bytes ? step->text_bytes : 1;
    char *grown = n > 1 && first + n < UINT32_MAX ? plim_realloc(step->text, first + n, 1) : NULL;
    if (!grown)
        return 0;
    grown[0] = '\0';
    memcpy(grown + first, text, n);
    step->text = grown;
    step->text_bytes = first + n;
    return (uint32_t)first;
}

char *plim_record_command(char *const *arguments)
{
    size_t room = 1, n = 0;
    for (char *const *a = arguments; *a; a++)
        room += 4 * strlen(*a) + 3;
    char *text = plim_alloc(room, 1);
    for (char *const *a = arguments; text && *a; a++) {
        const bool is_list = strchr(*a, '{') && (strchr(*a, ',') || strstr(*a, "..")); /* {B} alone is plain */
        const bool is_plain = **a && !is_list && !(*a)[strcspn(*a, " \t\n'\"\\$`*?[]()<>|&;#~!")];
        n += (size_t)snprintf(text + n, room - n, "%s%s", n ? " " : "", is_plain ? "" : "'");
        for (const char *c = *a; *c; c++)
            n += (size_t)snprintf(text + n, room - n, *c == '\'' ? "'\\''" : "%c", *c);
        n += (size_t)snprintf(text + n, room - n, "%s", is_plain ? "" : "'");
    }
    return text;
}

static void describe(const struct plim_record_dump *dump, struct plim_step *step)
{
    const struct plim_record_device *device = dump->devices;
    const size_t n = strcspn(dump->torch_version, "+"); /* 2.15.0+cu130 */
    snprintf(step->torch_version, sizeof step->torch_version, "%.*s", (int)n, dump->torch_version);
    snprintf(step->card_name, sizeof step->card_name, "%s", device->card_name);
    step->card_bytes = device->card_bytes;
}

int plim_record_step(const struct plim_record_folder *folder, struct plim_step *ret_step,
                     struct plim_recorded *ret_recorded, struct plim_error *reterr)
{
    struct plim_record_dumps dumps;
    struct plim_step step = { .n_shapes = 0 };
    struct plim_recorded recorded = { .is_met = true };
    int result = plim_record_dumps_read(folder->path, &dumps, reterr);
    if (result < 0)
        return result;
    plim_record_notes(folder->path, recorded.notes);
    if (!dumps.n)
        result = plim_record_absence(folder->path, recorded.notes, reterr);
    for (size_t i = 0; result == 0 && i < dumps.n; i++)
        result = add_process(folder->path, &dumps.dumps[i], &step, &recorded, reterr);
    if (result == 0) {
        describe(dumps.dumps, &step);
        recorded.n_processes = dumps.n;
        *ret_step = step;
        *ret_recorded = recorded;
    } else {
        plim_step_done(&step);
    }
    plim_record_dumps_done(&dumps);
    return result;
}
