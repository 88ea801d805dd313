/* SPDX-License-Identifier: MIT */
/* From rules to tensors: names, shapes, types; the order is llama-quantize's (llama-quant.cpp, weight_name_comparer).
 */
#include "model/convert/sizes.h"

#include "base/limits.h"
#include "base/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 96, MAX_TENSORS = PLIM_MAX_GGUF_TENSORS };

/* --- types --- */

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && !strcmp(name + n - m, end);
}

/* Matrices that stay in f32 (conversion/base.py, prepare_tensors), by the part of the name behind the layer. */
static bool is_kept(const char *name)
{
    static const char *const names[] = {
        "ffn_gate_inp.weight",       "ffn_gate_inp_shexp.weight", "position_embd.weight",
        "token_types.weight",        "ssm_conv1d.weight",         "shortconv.conv.weight",
        "time_mix_first.weight",     "time_mix_w1.weight",        "time_mix_w2.weight",
        "time_mix_decay_w1.weight",  "time_mix_decay_w2.weight",  "time_mix_lerp_fused.weight",
        "altup_correct_coef.weight", "altup_predict_coef.weight", "ssm_conv1d_q.weight",
        "ssm_conv1d_k.weight",       "ssm_conv1d_v.weight",       "indexer.proj.weight",
        "v.position_embd.weight",    "a.position_embd.weight",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static enum plim_dtype type_of(const struct plim_conversion *c, const struct plim_convert_rule *rule, uint32_t n_dims)
{
    if (rule->type == TYPE_OF_FILE)
        return c->type;
    if (rule->type == TYPE_OF_PATCHES)
        return c->type == PLIM_DTYPE_F16 ? PLIM_DTYPE_F16 : PLIM_DTYPE_F32;
    if (rule->type)
        return (enum plim_dtype)rule->type;
    if (n_dims <= 1 || ends_with(rule->name, "_norm.weight") || is_kept(rule->name) ||
        !ends_with(rule->name, ".weight"))
        return PLIM_DTYPE_F32;
    return c->type;
}

/* --- tensors --- */

static bool applies(const struct plim_conversion *c, const struct plim_convert_rule *rule)
{
    return (c->facts & rule->when) == rule->when && !(c->facts & rule->unless);
}

static uint64_t bytes_of(const struct plim_tensor *t)
{
    uint64_t bytes = plim_dtype_row_bytes(t->type, t->ne[0]);
    for (uint32_t i = 1; i < t->n_dims; i++)
        if (__builtin_mul_overflow(bytes, t->ne[i], &bytes))
            return UINT64_MAX;
    return bytes;
}

static void fill(struct plim_conversion *c, const struct plim_convert_rule *rule, struct plim_tensor *t)
{
    while (t->n_dims < 4 && rule->size[t->n_dims]) {
        t->ne[t->n_dims] = c->n[rule->size[t->n_dims]];
        if (t->ne[t->n_dims] == 0)
            plim_conversion_fail(c, t->name, "would be empty: the config lacks one of its sizes");
        t->n_dims++;
    }
    t->type = type_of(c, rule, t->n_dims);
    if (t->ne[0] % plim_dtype_block_elements(t->type)) /* as the converter: no whole number of blocks */
        t->type = PLIM_DTYPE_F16;
    t->bytes = bytes_of(t);
    if (c->result == 0 && t->bytes > PLIM_MAX_MODEL_BYTES)
        plim_conversion_fail(c, t->name, "would be larger than any model");
}

static void add(struct plim_conversion *c, const struct plim_convert_rule *rule, const char *prefix, uint32_t il)
{
    char name[NAME_BYTES];
    struct plim_tensor *t = NULL;
    const int n = prefix ? snprintf(name, sizeof name, "%s.%" PRIu32 ".%s", prefix, il, rule->name)
                         : snprintf(name, sizeof name, "%s", rule->name);
    const char *copy = plim_arena_copy(&c->made->arena, name, (size_t)n);
    if (!copy)
        c->result = plim_model_no_room(c->made, c->err);
    else if (c->made->n_tensors == MAX_TENSORS)
        c->result = plim_fail(c->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "more than %d tensors", MAX_TENSORS);
    else
        c->result = plim_model_add_tensors(c->made, 1, &t, c->err);
    if (c->result < 0 || !t)
        return;
    t->name = copy;
    fill(c, rule, t);
}

static void add_groups(struct plim_conversion *c, const struct plim_convert_rule *const *groups, size_t n_groups,
                       const char *prefix, uint32_t il)
{
    for (size_t i = 0; i < n_groups && groups[i]; i++)
        for (const struct plim_convert_rule *rule = groups[i]; rule->name && c->result == 0; rule++)
            if (applies(c, rule))
                add(c, rule, prefix, il);
}

/* --- order --- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct plim_tensor *)a)->name, ((const struct plim_tensor *)b)->name);
}

static void sort_from(struct plim_conversion *c, size_t first)
{
    if (c->result == 0 && c->made->n_tensors > first + 1)
        qsort(c->made->tensors + first, c->made->n_tensors - first, sizeof *c->made->tensors, by_name);
}

static void place(struct plim_conversion *c)
{
    enum { ALIGNMENT = 32 }; /* gguf-py/gguf/constants.py: GGUF_DEFAULT_ALIGNMENT */
    uint64_t offset = 0;
    for (size_t i = 0; i < c->made->n_tensors; i++) {
        struct plim_tensor *t = &c->made->tensors[i];
        t->offset = offset;
        offset = plim_bytes_sum(offset, (t->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    }
}

/* --- the model --- */

static void add_stack(struct plim_conversion *c, const char *prefix, uint64_t n_layers,
                      const struct plim_convert_rule *const *groups, size_t n_groups)
{
    uint64_t whole[N_MAX_];
    const uint32_t facts = c->facts;
    memcpy(whole, c->n, sizeof whole);
    for (uint32_t il = 0; il < n_layers && c->result == 0; il++) {
        const size_t first = c->made->n_tensors;
        c->facts = facts | (il == 0 ? FIRST : 0) | (il >= c->n[N_LAYER] ? PREDICTS : 0);
        if (c->row->each) {
            c->row->each(c, il);
            plim_sizes_derive(c);
        }
        add_groups(c, groups, n_groups, prefix, il);
        sort_from(c, first);
        memcpy(c->n, whole, sizeof whole);
    }
    c->facts = facts;
}

void plim_convert_write_tensors(struct plim_conversion *c, const struct plim_convert_row *row)
{
    const char *prefix = row->prefix ? row->prefix : "blk";
    add_groups(c, row->whole, sizeof row->whole / sizeof *row->whole, NULL, 0);
    sort_from(c, 0);
    add_stack(c, prefix, c->n[N_LAYER_ALL], row->layer, PLIM_CONVERT_GROUPS);
    if (row->second)
        add_stack(c, row->second, c->n[N_SECOND], row->second_layer,
                  sizeof row->second_layer / sizeof *row->second_layer);
    if (row->prefix || row->second) /* only "blk.N." counts as a layer */
        sort_from(c, 0);
    place(c);
}
