/* SPDX-License-Identifier: MIT */
#include "trace/read/layer.h"

#include "base/mem.h"

#include <string.h>

/* What is at hand beyond what the cursor shows, as long as the end is not known: no reader asks for more at once. */
enum { RESERVE_BYTES = PLIM_CURSOR_MOST, BUFFER_BYTES = 4 * PLIM_CURSOR_MOST };

/* Drop what lies before the cursor. */
static void move_up(struct plim_trace_layer *layer, uint64_t at)
{
    const uint64_t n = at - layer->begin < layer->length ? at - layer->begin : layer->length;
    memmove(layer->buffer, layer->buffer + n, layer->length - (size_t)n);
    layer->length -= (size_t)n;
    layer->begin += n;
}

/* Have the buffer full from `at` on, or to the end. */
static void fill_buffer(struct plim_trace_layer *layer, uint64_t at)
{
    move_up(layer, at);
    while (!layer->is_ended && (layer->length < BUFFER_BYTES || layer->begin < at)) {
        const long n = layer->produce(layer, layer->buffer + layer->length, BUFFER_BYTES - layer->length);
        layer->length += n > 0 ? (size_t)n : 0;
        layer->is_ended = n <= 0;
        if (layer->begin < at)
            move_up(layer, at);
    }
}

static bool fill(struct plim_cursor *c, uint64_t n)
{
    struct plim_trace_layer *layer = c->source;
    fill_buffer(layer, c->at);
    const size_t shown = layer->is_ended ? layer->length : layer->length - RESERVE_BYTES;
    c->data = layer->buffer;
    c->data_at = layer->begin;
    c->data_end = layer->begin + shown;
    if (layer->is_ended) {
        c->size = c->data_end;
        if (c->at > c->size)
            c->at = c->size; /* skipped over the end */
    }
    return n <= c->size - c->at;
}

int plim_trace_layer_start(struct plim_trace_layer *layer, struct plim_error *reterr)
{
    layer->buffer = plim_alloc_unset(BUFFER_BYTES, 1);
    if (!layer->buffer) {
        plim_trace_layer_done(layer);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    layer->begin = layer->length = 0;
    layer->is_ended = false;
    layer->cursor = (struct plim_cursor){ .size = UINT64_MAX / 2, .fill = fill, .source = layer };
    fill(&layer->cursor, 0);
    return 0;
}

void plim_trace_layer_done(struct plim_trace_layer *layer)
{
    if (layer->close)
        layer->close(layer);
    plim_free(layer->buffer);
    *layer = (struct plim_trace_layer){ 0 };
}
