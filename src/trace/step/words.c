/* SPDX-License-Identifier: MIT */
#include "trace/step/parts.h"

#include "base/mem.h"
#include "trace/holders.h"

#include <string.h>

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static uint64_t text_hash(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return mixed(hash, 0);
}

/* A free address beside UINT64_MAX, which is no row of a table. */
static uint64_t key_of(uint64_t hash) { return hash == UINT64_MAX ? 0 : hash; }

/* The array with room for one more; NULL: out of memory, and it stays as it is. */
static void *with_room(void *array, size_t size, size_t n, size_t *room)
{
    if (n < *room)
        return array;
    const size_t more = *room ? 2 * *room : 256 > n ? 256 : 2 * n;
    void *grown = plim_realloc(array, more, size);
    *room = grown ? more : *room;
    return grown;
}

/* --- texts --- */

static uint32_t add_text(struct plim_step_words *w, const char *text)
{
    struct plim_step *step = w->step;
    const size_t n = strlen(text) + 1, first = step->text_bytes ? step->text_bytes : 1;
    if (n == 1)
        return 0;
    if (first + n > w->text_room || !step->text) {
        const size_t room = 2 * (first + n) + 1024;
        char *grown = room < UINT32_MAX ? plim_realloc(step->text, room, 1) : NULL;
        if (!grown)
            return UINT32_MAX;
        step->text = grown;
        w->text_room = room;
        step->text[0] = '\0';
    }
    memcpy(step->text + first, text, n);
    step->text_bytes = first + n;
    return (uint32_t)first;
}

/* --- sizes --- */

static uint32_t add_size(struct plim_step_words *w, uint64_t bytes)
{
    struct plim_step_shape *shape = w->step->shapes;
    struct plim_step_size *sizes = with_room(shape->sizes, sizeof *sizes, shape->n_sizes, &w->sizes_room);
    shape->sizes = sizes ? sizes : shape->sizes;
    struct plim_step_term *terms = with_room(shape->terms, sizeof *terms, shape->n_terms, &w->terms_room);
    shape->terms = terms ? terms : shape->terms;
    if (!sizes || !terms)
        return UINT32_MAX;
    const int64_t coefficient = bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
    shape->terms[shape->n_terms] = (struct plim_step_term){ .coefficient = coefficient };
    shape->sizes[shape->n_sizes] = (struct plim_step_size){ (uint32_t)shape->n_terms++, 1, 1, .is_exact = true };
    return (uint32_t)shape->n_sizes++;
}

uint32_t plim_step_words_size(struct plim_step_words *w, uint64_t bytes)
{
    const struct plim_trace_live_row *known = plim_trace_live_find(&w->sizes, key_of(bytes));
    if (known)
        return known->number;
    const uint32_t number = add_size(w, bytes);
    const struct plim_trace_live_row row = { .address = key_of(bytes), .number = number };
    return number != UINT32_MAX && plim_trace_live_add(&w->sizes, row) ? number : UINT32_MAX;
}

/* --- sites --- */

static uint64_t site_key(const char *file, const char *function, uint32_t line)
{
    return key_of(mixed(text_hash(text_hash(UINT64_C(0xcbf29ce484222325), file), function), line));
}

static uint32_t add_site(struct plim_step_words *w, const char *file, const char *function, uint32_t line)
{
    struct plim_step *step = w->step;
    struct plim_step_site *sites = with_room(step->sites, sizeof *sites, step->n_sites, &w->sites_room);
    if (!sites)
        return UINT32_MAX;
    step->sites = sites;
    const uint32_t file_text = add_text(w, file), function_text = add_text(w, function);
    if (file_text == UINT32_MAX || function_text == UINT32_MAX)
        return UINT32_MAX;
    step->sites[step->n_sites] = (struct plim_step_site){ .file = file_text, .function = function_text, .line = line };
    return (uint32_t)step->n_sites++;
}

/* Frames of one line and function are one site; a snapshot has a frame for each address of code. */
static uint32_t find_site(struct plim_step_words *w, const char *file, const char *function, uint32_t line)
{
    const uint64_t key = site_key(file, function, line);
    const struct plim_trace_live_row *known = plim_trace_live_find(&w->sites, key);
    if (known)
        return known->number;
    const uint32_t number = add_site(w, file, function, line);
    const struct plim_trace_live_row row = { .address = key, .number = number };
    return number != UINT32_MAX && plim_trace_live_add(&w->sites, row) ? number : UINT32_MAX;
}

uint32_t plim_step_words_site(struct plim_step_words *w, const struct plim_memory_trace *trace, uint32_t frame)
{
    if (w->site_of_frame[frame] == UINT32_MAX) {
        const struct plim_trace_frame *f = &trace->frames[frame];
        w->site_of_frame[frame] = find_site(w, trace->text + f->file, trace->text + f->name, f->line);
    }
    return w->site_of_frame[frame];
}

bool plim_step_words_loop(struct plim_step_words *w, uint32_t site, const char *loop, uint64_t piece)
{
    struct plim_step_site *own = &w->step->sites[site];
    if (own->loop) {
        own->piece = own->piece < piece ? own->piece : piece; /* 0, which is not known, is the least */
        return true;
    }
    for (size_t i = 0; i < w->step->n_sites && !own->loop; i++)
        if (!strcmp(plim_step_text(w->step, w->step->sites[i].loop), loop))
            own->loop = w->step->sites[i].loop;
    if (!own->loop)
        own->loop = add_text(w, loop);
    own->piece = piece;
    return own->loop != UINT32_MAX;
}

/* --- tables --- */

/* What other tracks brought is found again. */
static bool list_known(struct plim_step_words *w)
{
    const struct plim_step *step = w->step;
    const struct plim_step_shape *shape = step->shapes;
    bool has_memory = true;
    for (uint32_t i = 0; i < shape->n_sizes && has_memory; i++) {
        const uint64_t bytes = (uint64_t)shape->terms[shape->sizes[i].first_term].coefficient;
        has_memory =
            plim_trace_live_add(&w->sizes, (struct plim_trace_live_row){ .address = key_of(bytes), .number = i });
    }
    for (uint32_t i = 0; i < step->n_sites && has_memory; i++) {
        const struct plim_step_site *site = &step->sites[i];
        const uint64_t key =
            site_key(plim_step_text(step, site->file), plim_step_text(step, site->function), site->line);
        has_memory = plim_trace_live_add(&w->sites, (struct plim_trace_live_row){ .address = key, .number = i });
    }
    return has_memory;
}

bool plim_step_words_open(struct plim_step_words *w, struct plim_step *step, size_t n_frames)
{
    *w = (struct plim_step_words){ .step = step,
                                   .sizes_room = step->shapes->n_sizes,
                                   .terms_room = step->shapes->n_terms,
                                   .sites_room = step->n_sites,
                                   .text_room = step->text_bytes };
    w->site_of_frame = plim_alloc_unset(n_frames + 1, sizeof *w->site_of_frame);
    if (w->site_of_frame)
        memset(w->site_of_frame, 0xff, (n_frames + 1) * sizeof *w->site_of_frame);
    return w->site_of_frame && list_known(w);
}

void plim_step_words_done(struct plim_step_words *w)
{
    plim_trace_live_done(&w->sizes);
    plim_trace_live_done(&w->sites);
    plim_free(w->site_of_frame);
}
