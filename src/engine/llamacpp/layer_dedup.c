/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/layer_dedup.h"

enum { ROUNDS = PLIM_DEDUP_ROUNDS, WATCHED = PLIM_DEDUP_WATCHED, MAX_PERIOD = 16 };

/* The layers, their placement, and the rules for comparing them. */
struct dedup_rules {
    const struct plim_llama *llama;
    const struct plim_placement *place;
    uint32_t rhythm;
    bool by_types;
};

/* Tensors of both layers, which are of one kind, are in the same places. */
static bool is_placed_alike(const struct dedup_rules *f, uint32_t a, uint32_t b)
{
    for (unsigned role = 0; role < PLIM_TENSOR_ROLE_MAX_; role++)
        for (unsigned suffix = 0; suffix < PLIM_SUFFIX_MAX_; suffix++) {
            int32_t x = f->llama->layer[a].tensor[role][suffix], y = f->llama->layer[b].tensor[role][suffix];
            if (x && f->place->tensor[x - 1] != f->place->tensor[y - 1])
                return false;
        }
    return true;
}

static bool is_same(const struct dedup_rules *f, uint32_t a, uint32_t b)
{
    const struct plim_layer *x = &f->llama->layer[a], *y = &f->llama->layer[b];
    const bool may_be_copied = f->place->tensor || f->place->layer[a] == f->place->cpu;
    if (x->kind != y->kind || f->place->layer[a] != f->place->layer[b] ||
        (f->by_types && may_be_copied && x->types != y->types))
        return false;
    return !f->place->tensor || is_placed_alike(f, a, b);
}

/* The number of layers from `first` on that repeat with this period. */
static uint32_t length_of_pattern(const struct dedup_rules *f, uint32_t first, uint32_t period)
{
    uint32_t n = period;
    while (first + n < f->llama->hp.n_layer && is_same(f, first + n - period, first + n))
        n++;
    return n;
}

struct pattern {
    uint32_t round, length; /* layers of a round, and of all of them */
    uint32_t rest;          /* layers built after the rounds: one period or more, as the last reader frees a tensor */
    uint32_t n_saved;       /* layers not built */
};

static struct pattern make_pattern(uint32_t period, uint32_t rhythm, uint32_t length)
{
    const uint32_t round = period * rhythm, rest = period + (length - period) % round;
    const uint32_t n_built = ROUNDS * round + rest;
    return (struct pattern){ round, length, rest, length > n_built ? length - n_built : 0 };
}

/* The pattern from `first` on that saves most: longer periods save less at best. */
static struct pattern best_pattern(const struct dedup_rules *f, uint32_t first)
{
    struct pattern best = { .length = 1 };
    const uint32_t n_left = f->llama->hp.n_layer - first;
    for (uint32_t period = 1; period <= MAX_PERIOD; period++) {
        const uint32_t n_least = (ROUNDS * f->rhythm + 1) * period;
        if (n_least + best.n_saved >= n_left)
            break;
        struct pattern p = make_pattern(period, f->rhythm, length_of_pattern(f, first, period));
        if (p.n_saved > best.n_saved)
            best = p;
    }
    return best;
}

void plim_layers_all(const struct plim_llama *llama, struct plim_layers *ret_layers)
{
    ret_layers->n_dedups = 0;
    ret_layers->n_layers = (int)llama->hp.n_layer;
    for (int il = 0; il < ret_layers->n_layers; il++)
        ret_layers->layer[il] = (uint16_t)il;
}

static void add_layers(struct plim_layers *layers, uint32_t from, uint32_t to)
{
    for (uint32_t il = from; il < to; il++)
        layers->layer[layers->n_layers++] = (uint16_t)il;
}

void plim_layers_dedup(const struct plim_llama *llama, const struct plim_placement *place, uint32_t rhythm,
                       bool by_types, struct plim_layers *ret_layers)
{
    const struct dedup_rules f = { llama, place, rhythm, by_types };
    struct plim_layers *layers = ret_layers;
    layers->n_layers = layers->n_dedups = 0;
    for (uint32_t il = 0; il < llama->hp.n_layer;) {
        const struct pattern p = best_pattern(&f, il);
        if (p.n_saved == 0 || layers->n_dedups == PLIM_MAX_DEDUPS) {
            add_layers(layers, il, il + p.length);
        } else {
            layers->dedup[layers->n_dedups++] = (struct plim_dedup){ (uint16_t)layers->n_layers, (uint16_t)p.round };
            add_layers(layers, il, il + ROUNDS * p.round);
            add_layers(layers, il + p.length - p.rest, il + p.length);
        }
        il += p.length;
    }
}

/* --- is the sample enough? --- */

int plim_dedup_checkpoints(const struct plim_layers *layers, const plim_node *start,
                           struct plim_ggml_checkpoint *ret_checkpoints)
{
    int n = 0;
    for (int i = 0; i < layers->n_dedups; i++)
        for (int k = ROUNDS - WATCHED; k < ROUNDS; k++) {
            const struct plim_dedup *dedup = &layers->dedup[i];
            ret_checkpoints[n++] = (struct plim_ggml_checkpoint){ .from = start[dedup->first + k * dedup->round],
                                                                  .to = start[dedup->first + (k + 1) * dedup->round] };
        }
    return n;
}

bool plim_dedup_is_steady(const struct plim_layers *layers, const struct plim_ggml_checkpoint *checkpoints)
{
    for (int i = 0; i < layers->n_dedups; i++) {
        const struct plim_ggml_checkpoint *before = &checkpoints[i * WATCHED], *after = before + 1;
        if (before->to - before->from != after->to - after->from || before->state != after->state ||
            before->operations != after->operations || after->brings_leaf)
            return false;
    }
    return true;
}
