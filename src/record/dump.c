/* SPDX-License-Identifier: MIT */
#include "record/dump.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct plim_record_dump *dump;
    struct plim_trace_mark mark;             /* the one that is read: its places and addresses follow it */
    bool is_placed[PLIM_RECORD_MAX_DEVICES]; /* of the dump's devices: the mark is among its marks */
    bool has_end, is_broken, is_out_of_memory;
};

static bool take_word(const char **text, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(*text, word, n) != 0 || ((*text)[n] != ' ' && (*text)[n] != '\0'))
        return false;
    *text += n + ((*text)[n] == ' ');
    return true;
}

static bool take_number(const char **text, uint64_t *ret_number)
{
    char *end;
    errno = 0;
    if (**text < '0' || **text > '9')
        return false;
    *ret_number = strtoull(*text, &end, 10);
    *text = *end == ' ' ? end + 1 : end;
    return !errno && (*end == ' ' || *end == '\0');
}

static bool take_fraction(const char *text, double *ret_fraction)
{
    const char *end = "x";
    *ret_fraction = plim_decimal(text, &end);
    return *end == '\0' && *ret_fraction > 0 && *ret_fraction <= 1;
}

static void *with_room(struct reader *r, void *array, size_t size, size_t n, size_t *room)
{
    if (n < *room)
        return array;
    const size_t more = n > 64 ? 2 * n : 128;
    void *grown = plim_realloc(array, more, size);
    *room = grown ? more : *room;
    r->is_out_of_memory = r->is_out_of_memory || !grown;
    return grown;
}

/* --- devices --- */

static bool read_device(struct reader *r, const char *text)
{
    struct plim_record_dump *dump = r->dump;
    struct plim_record_device d = { 0 };
    uint64_t number;
    if (dump->n_devices == PLIM_RECORD_MAX_DEVICES || !take_number(&text, &number) ||
        number >= PLIM_RECORD_MAX_DEVICES || !take_number(&text, &d.allocated_bytes) ||
        !take_number(&text, &d.allocated_peak_bytes) || !take_number(&text, &d.reserved_bytes) ||
        !take_number(&text, &d.reserved_peak_bytes) || !take_number(&text, &d.card_bytes))
        return false;
    d.device = d.card = (uint32_t)number;
    d.marks.are_cut = dump->n_dropped > 0;
    snprintf(d.card_name, sizeof d.card_name, "%s", text);
    if (!dump->devices)
        dump->devices = plim_alloc(PLIM_RECORD_MAX_DEVICES, sizeof *dump->devices);
    r->is_out_of_memory = r->is_out_of_memory || !dump->devices;
    if (dump->devices)
        dump->devices[dump->n_devices++] = d;
    return true;
}

static struct plim_record_device *device_of(const struct plim_record_dump *dump, uint64_t number)
{
    for (size_t i = 0; i < dump->n_devices; i++)
        if (dump->devices[i].device == number)
            return &dump->devices[i];
    return NULL;
}

static bool read_card(const struct plim_record_dump *dump, const char *text)
{
    uint64_t number, card;
    struct plim_record_device *device;
    if (!take_number(&text, &number) || !take_number(&text, &card) || card > UINT32_MAX ||
        !(device = device_of(dump, number)))
        return false;
    device->card = (uint32_t)card;
    return true;
}

/* --- marks --- */

static bool read_mark(struct reader *r, const char *text)
{
    uint64_t step;
    const enum plim_trace_mark_kind kind = take_word(&text, "before")  ? PLIM_TRACE_BEFORE_STEP
                                           : take_word(&text, "inner") ? PLIM_TRACE_INNER_STEP
                                           : take_word(&text, "after") ? PLIM_TRACE_AFTER_STEP
                                                                       : PLIM_TRACE_END;
    if ((kind == PLIM_TRACE_END && !take_word(&text, "end")) || !take_number(&text, &step) || step > UINT32_MAX - 2)
        return false;
    r->mark = (struct plim_trace_mark){ .step = (uint32_t)step, .kind = (uint8_t)kind };
    memset(r->is_placed, 0, sizeof r->is_placed);
    return true;
}

static bool read_place(struct reader *r, const char *text)
{
    uint64_t number;
    struct plim_trace_mark mark = r->mark;
    if (!take_number(&text, &number) || !take_number(&text, &mark.n_taken) || !take_number(&text, &mark.n_given))
        return false;
    struct plim_record_device *device = device_of(r->dump, number);
    struct plim_trace_marks *marks = device ? &device->marks : NULL;
    if (!marks || marks->n_marks == PLIM_RECORD_MAX_MARKS)
        return false;
    const struct plim_trace_mark *last = marks->n_marks ? &marks->marks[marks->n_marks - 1] : NULL;
    if (last && (mark.n_taken < last->n_taken || mark.n_given < last->n_given || last->kind == PLIM_TRACE_END))
        return false;
    struct plim_trace_mark *grown = with_room(r, marks->marks, sizeof *grown, marks->n_marks, &device->marks_room);
    if (!grown)
        return false;
    marks->marks = grown;
    grown[marks->n_marks++] = mark;
    r->is_placed[device - r->dump->devices] = true;
    return true;
}

/* The addresses of one device are not told from those of others: each device looks for all of them. */
static bool read_addresses(struct reader *r, size_t list_at, const char *text)
{
    for (size_t i = 0; i < r->dump->n_devices; i++) {
        struct plim_record_device *device = &r->dump->devices[i];
        struct plim_trace_marks *marks = &device->marks;
        if (!r->is_placed[i])
            continue;
        struct plim_trace_addresses *list = (void *)((char *)&marks->marks[marks->n_marks - 1] + list_at);
        const char *at = text;
        uint64_t address;
        list->first = marks->n_addresses;
        while (take_number(&at, &address)) {
            uint64_t *grown =
                with_room(r, marks->addresses, sizeof *grown, marks->n_addresses, &device->addresses_room);
            if (!grown)
                return false;
            marks->addresses = grown;
            grown[marks->n_addresses++] = address;
        }
        list->n = marks->n_addresses - list->first;
        if (*at)
            return false;
    }
    return true;
}

/* --- the process --- */

static bool copy(char *to, size_t size, const char *text)
{
    return snprintf(to, size, "%s", text) >= 0; /* what is longer is cut */
}

static bool read_about(struct reader *r, const char *text)
{
    struct plim_record_dump *dump = r->dump;
    uint64_t number = 0;
    if (take_word(&text, "torch"))
        return copy(dump->torch_version, sizeof dump->torch_version, text);
    if (take_word(&text, "conf"))
        return copy(dump->alloc_conf, sizeof dump->alloc_conf, text);
    if (take_word(&text, "kind"))
        return copy(dump->kind, sizeof dump->kind, text);
    if (take_word(&text, "snapshot"))
        return strlen(text) < sizeof dump->snapshot && !strchr(text, '/') &&
               copy(dump->snapshot, sizeof dump->snapshot, text);
    if (take_word(&text, "rank -1"))
        return true;
    if (take_word(&text, "rank") && take_number(&text, &number) && number < UINT32_MAX)
        return dump->rank = (int64_t)number, true;
    if (take_word(&text, "fraction"))
        return take_fraction(text, &dump->fraction);
    if (take_word(&text, "pid") && take_number(&text, &number))
        return dump->pid = (int64_t)number, true;
    if (take_word(&text, "whole") && take_number(&text, &number))
        return dump->is_whole = number != 0, true;
    if (take_word(&text, "peak") && take_number(&text, &number))
        return dump->has_peak = number != 0, true;
    if (take_word(&text, "number"))
        return take_number(&text, &dump->number);
    return take_word(&text, "dropped") && take_number(&text, &dump->n_dropped);
}

/* --- sources --- */

static bool read_place_of_source(struct reader *r, const char *text)
{
    struct plim_record_dump *dump = r->dump;
    uint64_t first, last, line;
    struct plim_trace_place place = { .first = 0 };
    if (dump->n_places == PLIM_RECORD_MAX_PLACES || !take_number(&text, &first) || !take_number(&text, &last) ||
        !take_number(&text, &line) || !take_number(&text, &place.limit) || first > last || last > UINT32_MAX ||
        line > UINT32_MAX || !*text)
        return false;
    struct plim_trace_place *grown = with_room(r, dump->places, sizeof *grown, dump->n_places, &dump->places_room);
    if (!grown)
        return false;
    dump->places = grown;
    place.first = (uint32_t)first;
    place.last = (uint32_t)last;
    place.line = (uint32_t)line;
    place.file = plim_alloc(strlen(text) + 1, 1);
    r->is_out_of_memory = !place.file;
    if (!place.file)
        return false;
    memcpy(place.file, text, strlen(text) + 1);
    grown[dump->n_places++] = place;
    return true;
}

/* --- lines --- */

static bool read_line(struct reader *r, const char *text)
{
    if (take_word(&text, "pieces"))
        return read_place_of_source(r, text);
    if (take_word(&text, "mark"))
        return read_mark(r, text);
    if (take_word(&text, "at"))
        return read_place(r, text);
    if (take_word(&text, "weights"))
        return read_addresses(r, offsetof(struct plim_trace_mark, weights), text);
    if (take_word(&text, "gradients"))
        return read_addresses(r, offsetof(struct plim_trace_mark, gradients), text);
    if (take_word(&text, "states"))
        return read_addresses(r, offsetof(struct plim_trace_mark, states), text);
    if (take_word(&text, "device"))
        return read_device(r, text);
    if (take_word(&text, "card"))
        return read_card(r->dump, text);
    if (!strcmp(text, "end"))
        return r->has_end = true;
    return read_about(r, text);
}

static bool is_whole(const struct plim_record_dump *dump)
{
    for (size_t i = 0; i < dump->n_devices; i++)
        if (!dump->devices[i].marks.n_marks)
            return false;
    return dump->n_devices && dump->snapshot[0];
}

int plim_record_dump_read(const char *path, struct plim_record_dump *ret_dump, struct plim_error *reterr)
{
    struct plim_record_dump dump = { .rank = -1 };
    struct reader r = { .dump = &dump };
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return plim_fail_errno(reterr, path, "open", errno);
    for (ssize_t n; !r.has_end && !r.is_broken && !r.is_out_of_memory && (n = getline(&line, &room, file)) > 0;) {
        if (line[n - 1] == '\n')
            line[n - 1] = '\0';
        r.is_broken = !read_line(&r, line);
    }
    fclose(file);
    free(line);
    if (r.has_end && !r.is_broken && !r.is_out_of_memory && is_whole(&dump)) {
        *ret_dump = dump;
        return 0;
    }
    plim_record_dump_done(&dump);
    return r.is_out_of_memory
               ? plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory")
               : plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "the marks of a recording are broken");
}

void plim_record_dump_done(struct plim_record_dump *dump)
{
    for (size_t i = 0; i < dump->n_devices; i++) {
        plim_free(dump->devices[i].marks.marks);
        plim_free(dump->devices[i].marks.addresses);
    }
    plim_free(dump->devices);
    for (size_t i = 0; i < dump->n_places; i++)
        plim_free(dump->places[i].file);
    plim_free(dump->places);
    *dump = (struct plim_record_dump){ .rank = -1 };
}
