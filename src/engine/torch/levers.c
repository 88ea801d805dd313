/* SPDX-License-Identifier: MIT */
/*
 * What may be changed about a step, cheapest first: settings of the allocator, which cost nothing that is computed;
 * then each variable. Whether a change helps is tried by replay, as everything here.
 */
#include "engine/torch/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct plim_step *step_of(const struct plim_situation *at)
{
    return ((const struct plim_torch *)at->engine)->step;
}

/* The settings of now and one more; what stands later counts. */
static void add_setting(const struct plim_situation *at, struct plim_setup *setup, const char *more)
{
    struct plim_torch_wish *wish = plim_torch_wish(setup);
    char conf[2 * sizeof wish->alloc_conf];
    const char *now = plim_torch_wish_conf(wish, step_of(at));
    snprintf(conf, sizeof conf, "%s%s%s", now, *now ? "," : "", more);
    if (strlen(conf) >= sizeof wish->alloc_conf)
        return;
    memcpy(wish->alloc_conf, conf, strlen(conf) + 1);
    wish->has_alloc_conf = true;
}

static void read_settings(const struct plim_situation *at, const struct plim_setup *setup,
                          struct plim_torch_settings *settings)
{
    plim_torch_settings_init(settings);
    if (plim_torch_settings_parse(settings, plim_torch_wish_conf(plim_torch_wish_of(setup), step_of(at)), NULL) < 0)
        plim_torch_settings_init(settings);
}

/* --- expandable segments --- */

static bool expandable_range(const struct plim_situation *at, const struct plim_setup *from,
                             struct plim_lever_range *ret_range)
{
    struct plim_torch_settings settings;
    read_settings(at, from, &settings);
    *ret_range = (struct plim_lever_range){ .fallback = 1, .now = 2 };
    return !settings.is_expandable;
}

static void expandable_set(const struct plim_situation *at, uint32_t value, struct plim_setup *setup)
{
    (void)value;
    add_setting(at, setup, "expandable_segments:True");
}

static void expandable_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    (void)at;
    (void)after;
    snprintf(fix->change, sizeof fix->change, "expandable segments");
    snprintf(fix->costs, sizeof fix->costs, "nothing that is computed");
}

static bool expandable_list(const struct plim_situation *at, const struct plim_setup *after,
                            const struct plim_bill *bill, char *text, size_t size)
{
    struct plim_torch_settings before, now;
    (void)bill;
    read_settings(at, at->setup, &before);
    read_settings(at, after, &now);
    snprintf(text, size, "expandable segments");
    return now.is_expandable && !before.is_expandable;
}

/* --- blocks that are not split --- */

enum { LEAST_SPLIT_MIB = 32, MOST_SPLIT_MIB = 512 };

static bool split_range(const struct plim_situation *at, const struct plim_setup *from,
                        struct plim_lever_range *ret_range)
{
    struct plim_torch_settings settings;
    read_settings(at, from, &settings);
    *ret_range = (struct plim_lever_range){
        .now = UINT32_MAX, .low = LEAST_SPLIT_MIB, .high = MOST_SPLIT_MIB, .fallback = 128, .small = 128
    };
    return settings.max_split_bytes == UINT64_MAX && !settings.is_expandable;
}

static void split_set(const struct plim_situation *at, uint32_t value, struct plim_setup *setup)
{
    char text[48];
    snprintf(text, sizeof text, "max_split_size_mb:%u", value);
    add_setting(at, setup, text);
}

static void split_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    struct plim_torch_settings now;
    read_settings(at, after, &now);
    snprintf(fix->change, sizeof fix->change, "blocks of more than %u MiB kept whole",
             (unsigned)(now.max_split_bytes >> 20));
    snprintf(fix->costs, sizeof fix->costs, "nothing that is computed; more calls of the driver");
}

static bool split_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                       char *text, size_t size)
{
    struct plim_torch_settings before, now;
    (void)bill;
    read_settings(at, at->setup, &before);
    read_settings(at, after, &now);
    snprintf(text, size, "blocks of more than %u MiB kept whole", (unsigned)(now.max_split_bytes >> 20));
    return now.max_split_bytes != before.max_split_bytes;
}

/* --- garbage collection, which PyTorch does only below a memory fraction --- */

static bool garbage_range(const struct plim_situation *at, const struct plim_setup *from,
                          struct plim_lever_range *ret_range)
{
    struct plim_torch_settings settings;
    read_settings(at, from, &settings);
    *ret_range = (struct plim_lever_range){ .fallback = 1, .now = 2 };
    return settings.fraction > 0 && settings.fraction < 1 && !(settings.gc_threshold > 0);
}

static void garbage_set(const struct plim_situation *at, uint32_t value, struct plim_setup *setup)
{
    (void)value;
    add_setting(at, setup, "garbage_collection_threshold:0.8");
}

static void garbage_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    (void)at;
    (void)after;
    snprintf(fix->change, sizeof fix->change, "garbage collection from 80 %% of the memory on");
    snprintf(fix->costs, sizeof fix->costs, "nothing that is computed; more calls of the driver");
}

static bool garbage_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                         char *text, size_t size)
{
    struct plim_torch_settings before, now;
    (void)bill;
    read_settings(at, at->setup, &before);
    read_settings(at, after, &now);
    snprintf(text, size, "garbage collection");
    return now.gc_threshold > before.gc_threshold;
}

/* --- variables --- */

/* The value of a variable in a setup; 0: the setup has no point. */
static uint64_t value_in(const struct plim_situation *at, const struct plim_setup *setup, uint32_t variable)
{
    struct plim_step_point point;
    if (plim_torch_point_of(step_of(at), plim_torch_wish_of(setup), &point, NULL) < 0)
        return 0;
    return point.value[variable];
}

/* The largest recorded value below; 0: there is none. */
static uint64_t recorded_below(const struct plim_step *step, uint32_t variable, uint64_t value)
{
    uint64_t below = 0;
    for (size_t i = 0; i < step->n_shapes; i++)
        for (size_t k = 0; k < step->shapes[i].n_points; k++) {
            const uint64_t recorded = step->shapes[i].points[k].value[variable];
            if (recorded < value && recorded > below)
                below = recorded;
        }
    return below;
}

static bool can_choose(const struct plim_situation *at, const struct plim_setup *setup)
{
    struct plim_step_point point;
    struct plim_step_choice choice;
    return plim_torch_point_of(step_of(at), plim_torch_wish_of(setup), &point, NULL) == 0 &&
           plim_step_choose(step_of(at), &point, &choice, NULL) == 0;
}

/* The value, or the nearest recorded one below that the step can tell. */
static void variable_set(const struct plim_situation *at, uint32_t variable, uint64_t value, struct plim_setup *setup)
{
    const struct plim_step *step = step_of(at);
    const struct plim_setup before = *setup;
    for (; value; value = recorded_below(step, variable, value)) {
        *setup = before;
        if (plim_torch_wish_set(plim_torch_wish(setup), step->variables[variable].name, value, NULL) == 0 &&
            can_choose(at, setup))
            return;
    }
    *setup = before;
}

static bool variable_range(const struct plim_situation *at, const struct plim_setup *from, uint32_t variable,
                           struct plim_lever_range *ret_range)
{
    const struct plim_step *step = step_of(at);
    const uint64_t now = variable < step->n_variables ? value_in(at, from, variable) : 0;
    if (now < 2 || now >= UINT32_MAX)
        return false;
    struct plim_setup less = *from;
    const uint64_t below = recorded_below(step, variable, now), next = below ? below : now / 2;
    variable_set(at, variable, next, &less);
    *ret_range = (struct plim_lever_range){ .now = (uint32_t)now,
                                            .low = 1,
                                            .high = (uint32_t)now,
                                            .is_rounded = true,
                                            .fallback = (uint32_t)value_in(at, &less, variable) };
    return ret_range->fallback < now;
}

static void variable_describe(const struct plim_situation *at, const struct plim_setup *after, uint32_t variable,
                              struct plim_fix *fix)
{
    const char *name = step_of(at)->variables[variable].name;
    snprintf(fix->change, sizeof fix->change, "%s=%" PRIu64 " instead of %" PRIu64, name, value_in(at, after, variable),
             value_in(at, at->setup, variable));
    snprintf(fix->costs, sizeof fix->costs, "a smaller step, and whatever %s means to the program", name);
}

static bool variable_list(const struct plim_situation *at, const struct plim_setup *after, uint32_t variable,
                          char *text, size_t size)
{
    if (variable >= step_of(at)->n_variables)
        return false;
    snprintf(text, size, "%s=%" PRIu64, step_of(at)->variables[variable].name, value_in(at, after, variable));
    return value_in(at, after, variable) != value_in(at, at->setup, variable);
}

/* The functions of a lever are not told which lever they are of: each variable has its own. */
#define VARIABLE(v)                                                                                                    \
    static bool range_##v(const struct plim_situation *at, const struct plim_setup *from,                              \
                          struct plim_lever_range *ret_range)                                                          \
    {                                                                                                                  \
        return variable_range(at, from, v, ret_range);                                                                 \
    }                                                                                                                  \
    static void set_##v(const struct plim_situation *at, uint32_t value, struct plim_setup *setup)                     \
    {                                                                                                                  \
        variable_set(at, v, value, setup);                                                                             \
    }                                                                                                                  \
    static void describe_##v(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)    \
    {                                                                                                                  \
        variable_describe(at, after, v, fix);                                                                          \
    }                                                                                                                  \
    static bool list_##v(const struct plim_situation *at, const struct plim_setup *after,                              \
                         const struct plim_bill *bill, char *text, size_t size)                                        \
    {                                                                                                                  \
        (void)bill;                                                                                                    \
        return variable_list(at, after, v, text, size);                                                                \
    }                                                                                                                  \
    static const struct plim_lever variable_##v = { .name = "variable",                                                \
                                                    .search = PLIM_LEVER_LARGEST,                                      \
                                                    .range = range_##v,                                                \
                                                    .set = set_##v,                                                    \
                                                    .describe = describe_##v,                                          \
                                                    .list = list_##v };

VARIABLE(0)
VARIABLE(1)
VARIABLE(2)
VARIABLE(3)
VARIABLE(4)
VARIABLE(5)
VARIABLE(6)
VARIABLE(7)

/* --- all of them --- */

static const struct plim_lever expandable = {
    .name = "expandable_segments",
    .search = PLIM_LEVER_ONE,
    .needs_a_verdict = true,
    .range = expandable_range,
    .set = expandable_set,
    .describe = expandable_describe,
    .list = expandable_list,
};

static const struct plim_lever split = {
    .name = "max_split_size",
    .search = PLIM_LEVER_HALVES,
    .needs_a_verdict = true,
    .range = split_range,
    .set = split_set,
    .describe = split_describe,
    .list = split_list,
};

static const struct plim_lever garbage = {
    .name = "garbage_collection",
    .search = PLIM_LEVER_ONE,
    .needs_a_verdict = true,
    .range = garbage_range,
    .set = garbage_set,
    .describe = garbage_describe,
    .list = garbage_list,
};

const struct plim_lever *const plim_torch_levers[] = {
    &expandable, &split,      &garbage,    &variable_0, &variable_1, &variable_2,
    &variable_3, &variable_4, &variable_5, &variable_6, &variable_7, NULL,
};

/* A setting that is not enough spares some of what a smaller value costs. */
#define PAIRS(v)                                                                                                       \
    { &expandable, &variable_##v, true }, { &split, &variable_##v, true }
const struct plim_lever_pair plim_torch_pairs[] = {
    PAIRS(0), PAIRS(1), PAIRS(2), PAIRS(3), PAIRS(4), PAIRS(5), PAIRS(6), PAIRS(7), { NULL, NULL, false },
};

/* As options of Plimsoll's: those of the recorded program are not known. */
uint32_t plim_torch_write_changes(const struct plim_situation *at, const struct plim_lever *lever,
                                  const struct plim_setup *to, struct plim_change ret_changes[PLIM_FIX_MAX_CHANGES])
{
    const struct plim_torch_wish *wish = plim_torch_wish_of(to);
    const struct plim_step *step = step_of(at);
    uint32_t n = 0;
    (void)lever;
    for (uint32_t v = 0; v < step->n_variables && n + 1 < PLIM_FIX_MAX_CHANGES; v++) {
        if (value_in(at, to, v) == value_in(at, at->setup, v))
            continue;
        ret_changes[n].option = &plim_torch_options[PLIM_TORCH_SET];
        snprintf(ret_changes[n++].value, sizeof ret_changes->value, "%s=%" PRIu64, step->variables[v].name,
                 value_in(at, to, v));
    }
    if (strcmp(plim_torch_wish_conf(wish, step), plim_torch_wish_conf(plim_torch_wish_of(at->setup), step)) != 0) {
        ret_changes[n].option = &plim_torch_options[PLIM_TORCH_ALLOC_CONF];
        snprintf(ret_changes[n++].value, sizeof ret_changes->value, "%s", wish->alloc_conf);
    }
    return n;
}
