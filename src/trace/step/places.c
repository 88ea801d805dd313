/* SPDX-License-Identifier: MIT */
/*
 * Which lines of a program stand in loops over pieces, themselves or through a call. Of several loops around a line
 * one that is not known counts, else the smallest pieces; the loop that is named is a known one, if there is any.
 */
#include "trace/step/parts.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 1024, MOST_LOOKS = 50000000 };

static void join(struct plim_step_piece *piece, const struct plim_trace_place *places,
                 const struct plim_step_piece *own)
{
    if (own->place == UINT32_MAX)
        return;
    if (piece->place == UINT32_MAX) {
        *piece = *own;
        return;
    }
    if (!places[piece->place].limit && places[own->place].limit)
        piece->place = own->place;
    piece->limit = !piece->limit || !own->limit ? 0 : piece->limit < own->limit ? piece->limit : own->limit;
}

static struct plim_step_piece piece_of(const struct plim_memory_trace *trace, const struct plim_trace_frame *frame,
                                       const struct plim_trace_place *places, size_t n)
{
    struct plim_step_piece piece = { .place = UINT32_MAX };
    for (size_t i = 0; i < n; i++) {
        const struct plim_trace_place *place = &places[i];
        const struct plim_step_piece own = { (uint32_t)i, place->limit };
        if (frame->line >= place->first && frame->line <= place->last &&
            !strcmp(trace->text + frame->file, place->file))
            join(&piece, places, &own);
    }
    return piece;
}

bool plim_step_pieces_open(struct plim_step_pieces *pieces, const struct plim_memory_trace *trace,
                           const struct plim_trace_place *places, size_t n)
{
    *pieces = (struct plim_step_pieces){ .trace = trace, .places = places };
    if (!n || trace->n_frames > MOST_LOOKS / n)
        return true;
    pieces->of_frame = plim_alloc(trace->n_frames + 1, sizeof *pieces->of_frame);
    for (size_t i = 0; pieces->of_frame && i < trace->n_frames; i++)
        pieces->of_frame[i] = piece_of(trace, &trace->frames[i], places, n);
    return pieces->of_frame != NULL;
}

void plim_step_pieces_done(struct plim_step_pieces *pieces) { plim_free(pieces->of_frame); }

bool plim_step_pieces_note(const struct plim_step_pieces *pieces, struct plim_step_words *words, uint32_t stack,
                           uint32_t site)
{
    const struct plim_memory_trace *trace = pieces->trace;
    struct plim_step_piece piece = { .place = UINT32_MAX };
    char text[TEXT_BYTES];
    if (!pieces->of_frame || stack >= trace->n_stacks)
        return true;
    const struct plim_trace_stack *s = &trace->stacks[stack];
    for (uint32_t i = 0; i < s->n; i++)
        join(&piece, pieces->places, &pieces->of_frame[trace->stack_frames[s->first + i]]);
    if (piece.place == UINT32_MAX)
        return true;
    const struct plim_trace_place *place = &pieces->places[piece.place];
    if (snprintf(text, sizeof text, "%s:%" PRIu32, place->file, place->line) >= (int)sizeof text)
        snprintf(text, sizeof text, "line %" PRIu32, place->line);
    return plim_step_words_loop(words, site, text, piece.limit);
}
