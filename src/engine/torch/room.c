/* SPDX-License-Identifier: MIT */
/* The room that a card leaves to PyTorch's allocator, and what a track makes of it. */
#include "engine/torch/engine.h"

#include "base/numbers.h"
#include "card/cuda_overhead.h"

#include <math.h>
#include <string.h>

uint32_t plim_torch_device_of(const struct plim_torch *engine, const struct plim_machine *machine, size_t track)
{
    return machine->n_cards < engine->scene.n_places ? 0 : engine->scene.checks[track].place;
}

static int read_settings(const char *conf, struct plim_torch_settings *settings, struct plim_error *reterr)
{
    plim_torch_settings_init(settings);
    return plim_torch_settings_parse(settings, conf, reterr);
}

enum plim_torch_kinship plim_torch_kinship_of(const struct plim_torch *engine, const struct plim_card *card)
{
    enum { GENERATION = 10 }; /* 89 is compute capability 8.9 */
    const uint32_t recorded = engine->recorded_card.compute_capability, here = card->compute_capability;
    if (!strcmp(engine->step->card_name, card->name))
        return PLIM_TORCH_KIN_SAME;
    return !recorded || !here                           ? PLIM_TORCH_KIN_UNKNOWN
           : recorded / GENERATION == here / GENERATION ? PLIM_TORCH_KIN_SAME
                                                        : PLIM_TORCH_KIN_OTHER;
}

/*
 * What was measured, with the work areas that cuBLAS has on a card. PyTorch has a handle for the thread of the forward
 * pass and one for that of the backward pass, as far as they fit into what was measured: the rest is of other
 * libraries.
 */
static uint64_t outside_on(const struct plim_torch *engine, const struct plim_card *card, uint64_t bytes)
{
    enum { MOST_HANDLES = 2 };
    const uint64_t recorded = plim_cublas_band(&engine->recorded_card).bytes, here = plim_cublas_band(card).bytes;
    const uint64_t n = plim_min_u64(bytes / recorded, MOST_HANDLES);
    return bytes - n * recorded + n * here;
}

struct plim_overhead_band plim_torch_outside_band(const struct plim_torch *engine, const struct plim_card *card,
                                                  const struct plim_step_track *track)
{
    static const struct plim_card ada = { .compute_capability = 89 }, hopper = { .compute_capability = 90 };
    const uint64_t bytes = plim_min_u64(track->outside_bytes, PLIM_MOST_BYTES);
    if (track->outside_bytes == PLIM_STEP_UNKNOWN_BYTES) {
        const struct plim_overhead_band cublas = plim_cublas_band(card);
        return (struct plim_overhead_band){ cublas.bytes, 0, cublas.high_bytes };
    }
    switch (plim_torch_kinship_of(engine, card)) {
    case PLIM_TORCH_KIN_SAME:
        return (struct plim_overhead_band){ bytes, bytes, bytes };
    case PLIM_TORCH_KIN_OTHER: {
        const uint64_t here = outside_on(engine, card, bytes);
        return (struct plim_overhead_band){ here, plim_min_u64(bytes, here), plim_max_u64(bytes, here) };
    }
    default:
        return (struct plim_overhead_band){ bytes, plim_min_u64(bytes, outside_on(engine, &ada, bytes)),
                                            plim_max_u64(bytes, outside_on(engine, &hopper, bytes)) };
    }
}

/* Each has a context of its own. It counts as one buffer at the most, so that what many take can be added up. */
static struct plim_overhead_band share_of(const struct plim_torch *engine, const struct plim_card *card, size_t track)
{
    const struct plim_overhead_band context = plim_cuda_context_band(card), kernels = plim_cuda_kernels_band(),
                                    outside = plim_torch_outside_band(engine, card,
                                                                      &engine->scene.choice.shape->tracks[track]);
    const uint64_t bytes = plim_min_u64(engine->scene.checks[track].peak_bytes, PLIM_MOST_BYTES);
    const uint64_t slack = (uint64_t)((double)bytes * plim_torch_error_of(engine));
    return (struct plim_overhead_band){ bytes + context.bytes + kernels.bytes + outside.bytes, 0,
                                        bytes + slack + context.high_bytes + kernels.high_bytes + outside.high_bytes };
}

/* In all that a share goes by. */
static bool are_alike(const struct plim_card *a, const struct plim_card *b)
{
    return !strcmp(a->name, b->name) && a->total_bytes == b->total_bytes && a->sm_count == b->sm_count &&
           a->compute_capability == b->compute_capability;
}

/* Kept for the card: each of its tracks asks for what the others take. */
static struct plim_overhead_band sum_of(const struct plim_torch *engine, const struct plim_card *card, uint32_t number)
{
    struct plim_torch_place *place = &engine->scene.places[number];
    if (place->is_made && are_alike(&place->card, card))
        return place->sum;
    *place = (struct plim_torch_place){ .is_made = true, .card = *card };
    for (size_t i = 0; i < engine->scene.choice.shape->n_tracks; i++) {
        if (engine->scene.checks[i].place != number)
            continue;
        const struct plim_overhead_band share = share_of(engine, card, i);
        place->sum.bytes = plim_bytes_sum(place->sum.bytes, share.bytes);
        place->sum.high_bytes = plim_bytes_sum(place->sum.high_bytes, share.high_bytes);
    }
    return place->sum;
}

/* A sum that is beyond all memory stays there. */
static uint64_t sum_without(uint64_t sum, uint64_t own) { return sum < PLIM_BYTES_MAX ? sum - own : sum; }

struct plim_overhead_band plim_torch_others_band(const struct plim_torch *engine, const struct plim_card *card,
                                                 size_t track)
{
    const struct plim_overhead_band sum = sum_of(engine, card, engine->scene.checks[track].place),
                                    own = share_of(engine, card, track);
    return (struct plim_overhead_band){ sum_without(sum.bytes, own.bytes), 0,
                                        sum_without(sum.high_bytes, own.high_bytes) };
}

/* What other than PyTorch's allocator takes of a card. */
static void add_up(const struct plim_torch *engine, const struct plim_card *card, size_t track, uint64_t *ret_bytes,
                   uint64_t *ret_high_bytes)
{
    const struct plim_overhead_band context = plim_cuda_context_band(card), kernels = plim_cuda_kernels_band(),
                                    outside = plim_torch_outside_band(engine, card,
                                                                      &engine->scene.choice.shape->tracks[track]),
                                    others = plim_torch_others_band(engine, card, track);
    const uint64_t fixed_bytes = card->others_bytes + engine->scene.checks[track].missing_bytes;
    *ret_bytes = card->reserved_bytes + fixed_bytes + context.bytes + kernels.bytes + outside.bytes + others.bytes;
    *ret_high_bytes = card->reserved_high_bytes + fixed_bytes + context.high_bytes + kernels.high_bytes +
                      outside.high_bytes + others.high_bytes;
}

static uint64_t rest_of(uint64_t total_bytes, uint64_t taken_bytes)
{
    return total_bytes > taken_bytes ? total_bytes - taken_bytes : 0;
}

int plim_torch_room_of(const struct plim_torch *engine, const struct plim_torch_wish *wish, size_t track,
                       const struct plim_card *card, struct plim_torch_room *ret_room, struct plim_error *reterr)
{
    struct plim_torch_room room = { .are_recorded = true };
    struct plim_torch_settings recorded;
    uint64_t bytes, high_bytes;
    const char *conf = plim_torch_wish_conf(wish, engine->step);
    int result = read_settings(conf, &room.conditions.settings, reterr);
    if (result < 0) {
        plim_error_where(reterr, wish->has_alloc_conf ? "--alloc-conf" : "the settings of the recording");
        return result;
    }
    if (read_settings(engine->step->alloc_conf, &recorded, NULL) < 0 ||
        !plim_torch_settings_are_equal(&recorded, &room.conditions.settings))
        room.are_recorded = false;
    add_up(engine, card, track, &bytes, &high_bytes);
    room.taken_bytes = bytes;
    room.conditions.capacity_bytes = card->total_bytes ? rest_of(card->total_bytes, bytes) : UINT64_MAX;
    room.conditions.card_bytes = card->total_bytes ? rest_of(card->total_bytes, card->reserved_bytes) : UINT64_MAX;
    room.worst_capacity_bytes = card->total_bytes ? rest_of(card->total_low_bytes, high_bytes) : UINT64_MAX;
    *ret_room = room;
    return 0;
}

/* The replay with memory enough: that of the last question, where it was of the same settings and card. */
static int find_whole(const struct plim_torch *engine, size_t track, bool is_of_card,
                      const struct plim_torch_conditions *conditions, struct plim_torch_whole **ret_whole,
                      struct plim_error *reterr)
{
    struct plim_torch_whole *whole = &engine->scene.wholes[2 * track + is_of_card];
    struct plim_torch_conditions all = *conditions;
    int result = 0;
    all.capacity_bytes = UINT64_MAX;
    all.card_bytes = is_of_card ? conditions->card_bytes : UINT64_MAX;
    if (!whole->is_made || whole->conditions.card_bytes != all.card_bytes ||
        !plim_torch_settings_are_equal(&whole->conditions.settings, &all.settings)) {
        *whole = (struct plim_torch_whole){ .conditions = all };
        result = plim_torch_tape_replay(&engine->scene.tapes[track], &all, &whole->enough, reterr);
        whole->is_made = result == 0;
    }
    *ret_whole = whole;
    return result;
}

/*
 * The card's own size decides with a memory fraction; and with expandable segments, since a block counts with what it
 * can grow by when the smallest is sought: up to the end of a range, which is as large as the card and an eighth. In a
 * range of twice what is used the last block is the largest however large the range is.
 */
static int find_enough(const struct plim_torch *engine, size_t track, const struct plim_torch_conditions *conditions,
                       struct plim_torch_whole **ret_whole, struct plim_error *reterr)
{
    const bool has_fraction = conditions->settings.fraction > 0;
    int result = find_whole(engine, track, has_fraction, conditions, ret_whole, reterr);
    if (result == 0 && conditions->card_bytes / 2 < (*ret_whole)->enough.range_peak_bytes && !has_fraction)
        result = find_whole(engine, track, true, conditions, ret_whole, reterr);
    return result;
}

static int find_least(const struct plim_torch *engine, size_t track, const struct plim_torch_conditions *conditions,
                      struct plim_torch_need *need, struct plim_error *reterr)
{
    const bool is_of_card = conditions->settings.fraction > 0 || conditions->settings.is_expandable;
    struct plim_torch_whole *whole;
    int result = find_whole(engine, track, is_of_card, conditions, &whole, reterr);
    if (result == 0 && !whole->has_least) {
        result = plim_torch_tape_least(&engine->scene.tapes[track], &whole->conditions, &whole->least_capacity_bytes,
                                       &whole->least, reterr);
        whole->has_least = result == 0;
    }
    need->least = whole->least;
    need->least_conditions = whole->conditions;
    need->least_conditions.capacity_bytes = whole->least_capacity_bytes;
    return result;
}

int plim_torch_need_of(const struct plim_torch *engine, size_t track, const struct plim_torch_room *room,
                       struct plim_torch_need *ret_need, struct plim_error *reterr)
{
    const struct plim_torch_conditions *conditions = &room->conditions;
    struct plim_torch_need need = { .room = *room };
    struct plim_torch_whole *whole;
    int result = find_enough(engine, track, conditions, &whole, reterr);
    if (result < 0)
        return result;
    need.there = whole->enough;
    if (conditions->capacity_bytes < whole->enough.reserved_peak_bytes || whole->enough.n_ooms)
        result = plim_torch_tape_replay(&engine->scene.tapes[track], conditions, &need.there, reterr);
    need.least = need.there;
    need.least_conditions = *conditions;
    need.free_peak_bytes = whole->enough.reserved_peak_bytes;
    need.never_runs = whole->enough.n_ooms > 0;
    if (result == 0 && need.there.n_ooms && !need.never_runs)
        result = find_least(engine, track, conditions, &need, reterr);
    if (result == 0)
        *ret_need = need;
    return result;
}

/*
 * Of points that were not recorded: the error of recordings that a first fit had not seen, and at least half a percent
 * (the step itself is made of all of them); beyond the recorded values twice that, once more for each doubling. Where
 * no such fit was made, 2 % at least.
 */
double plim_torch_error_of(const struct plim_torch *engine)
{
    const struct plim_step_choice *choice = &engine->scene.choice;
    const struct plim_step_shape *shape = choice->shape;
    const double allocated = shape->left_out_allocated_error, reserved = shape->left_out_reserved_error;
    double error = fmax(fmax(allocated, reserved), 0.005);
    if (choice->source == PLIM_STEP_RECORDED)
        return 0;
    if (!(allocated >= 0 && reserved >= 0))
        error = fmax(error, 0.02);
    if (choice->source == PLIM_STEP_BEYOND)
        error *= 2 * (1 + log2(fmax(choice->distance, 1)));
    return fmin(error, 1);
}

bool plim_torch_need_is_more(const struct plim_torch_need *need, const struct plim_torch_need *than)
{
    const uint64_t own = need->least.reserved_peak_bytes, other = than->least.reserved_peak_bytes;
    const uint64_t sum = plim_bytes_sum(own, need->room.taken_bytes),
                   less = plim_bytes_sum(other, than->room.taken_bytes);
    return sum != less ? sum > less : own > other;
}
