/* SPDX-License-Identifier: MIT */
/* What is asked of a step: the options, and their values. */
#include "engine/torch/engine.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct plim_torch_wish) <= PLIM_SETUP_OWN_BYTES, "a setup holds a wish");

/* A value of a variable: more would be beyond any program. */
#define MOST_VALUE ((uint64_t)1 << 40)

struct plim_torch_wish *plim_torch_wish(struct plim_setup *setup)
{
    return (struct plim_torch_wish *)(void *)setup->own;
}

const struct plim_torch_wish *plim_torch_wish_of(const struct plim_setup *setup)
{
    return (const struct plim_torch_wish *)(const void *)setup->own;
}

/* n_set: it has no value. */
static uint32_t place_of(const struct plim_torch_wish *wish, const char *name)
{
    uint32_t i = 0;
    while (i < wish->n_set && strcmp(wish->set[i].name, name) != 0)
        i++;
    return i;
}

bool plim_torch_wish_has(const struct plim_torch_wish *wish, const char *name)
{
    return place_of(wish, name) < wish->n_set;
}

int plim_torch_wish_set(struct plim_torch_wish *wish, const char *name, uint64_t value, struct plim_error *reterr)
{
    const uint32_t i = place_of(wish, name);
    if (i == PLIM_STEP_MAX_VARIABLES)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "a step has at most %d variables",
                         PLIM_STEP_MAX_VARIABLES);
    snprintf(wish->set[i].name, sizeof wish->set[i].name, "%s", name);
    wish->set[i].value = value;
    wish->n_set = i < wish->n_set ? wish->n_set : i + 1;
    return 0;
}

const char *plim_torch_wish_conf(const struct plim_torch_wish *wish, const struct plim_step *step)
{
    return wish->has_alloc_conf ? wish->alloc_conf : step->alloc_conf;
}

/* --- reading --- */

static int take_set(const struct plim_option *option, const char *value, struct plim_arguments *arguments,
                    struct plim_error *reterr)
{
    static const char expected[] = "a variable of the step and its value, as in B=16";
    char name[PLIM_STEP_NAME_BYTES], *end;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || equals - value >= (ptrdiff_t)sizeof name || equals[1] < '0' || equals[1] > '9')
        return plim_option_refuse(option, value, expected, reterr);
    const unsigned long long number = strtoull(equals + 1, &end, 10);
    if (*end || number == 0 || number > MOST_VALUE)
        return plim_option_refuse(option, value, "a number from 1 to 2^40 after the =", reterr);
    snprintf(name, sizeof name, "%.*s", (int)(equals - value), value);
    return plim_torch_wish_set(plim_torch_wish(&arguments->setup), name, number, reterr);
}

/* "1..512" */
static bool read_range(const char *text, uint64_t *ret_low, uint64_t *ret_high)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    *ret_low = strtoull(text, &end, 10);
    if (strncmp(end, "..", 2) != 0 || end[2] < '0' || end[2] > '9')
        return false;
    *ret_high = strtoull(end + 2, &end, 10);
    return !*end && *ret_low > 0 && *ret_low <= *ret_high && *ret_high <= MOST_VALUE;
}

static int take_max(const struct plim_option *option, const char *value, struct plim_arguments *arguments,
                    struct plim_error *reterr)
{
    struct plim_torch_wish *wish = plim_torch_wish(&arguments->setup);
    const char *equals = strchr(value, '=');
    const size_t n = equals ? (size_t)(equals - value) : strlen(value);
    uint64_t low = 0, high = 0;
    if (n == 0 || n >= sizeof wish->max || (equals && !read_range(equals + 1, &low, &high)))
        return plim_option_refuse(option, value, "a variable of the step, as in B or B=1..512", reterr);
    if (*wish->max && (strncmp(wish->max, value, n) != 0 || wish->max[n]))
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--max is of one variable, and %s was asked for before",
                         wish->max);
    snprintf(wish->max, sizeof wish->max, "%.*s", (int)n, value);
    wish->max_low = low;
    wish->max_high = high;
    return 0;
}

static int take_alloc_conf(const struct plim_option *option, const char *value, struct plim_arguments *arguments,
                           struct plim_error *reterr)
{
    struct plim_torch_wish *wish = plim_torch_wish(&arguments->setup);
    struct plim_torch_settings settings;
    if (strlen(value) >= sizeof wish->alloc_conf)
        return plim_option_refuse(option, value, "settings of less than 256 letters", reterr);
    plim_torch_settings_init(&settings);
    const int result = plim_torch_settings_parse(&settings, value, reterr);
    if (result < 0)
        return result;
    wish->has_alloc_conf = true;
    snprintf(wish->alloc_conf, sizeof wish->alloc_conf, "%s", value);
    return 0;
}

const struct plim_option plim_torch_options[PLIM_TORCH_N_ROWS] = {
    [PLIM_TORCH_SET] = { { "--set", "", "VAR=N", "a variable of the step at this value; may be repeated" },
                         .take = take_set,
                         .kind = PLIM_OPTION_OWN,
                         .is_unlisted = true },
    [PLIM_TORCH_MAX] = { { "--max", "", "VAR[=A..B]",
                           "the largest value of a variable that never runs short of memory; the bill is of that "
                           "value, or of the one that --set has for it" },
                         .take = take_max,
                         .kind = PLIM_OPTION_OWN },
    [PLIM_TORCH_ALLOC_CONF] = { { "--alloc-conf", "", "SETTINGS",
                                  "of PyTorch's allocator, as PYTORCH_CUDA_ALLOC_CONF has them (default: the "
                                  "recording's)" },
                                .key = "alloc_conf",
                                .take = take_alloc_conf,
                                .kind = PLIM_OPTION_OWN,
                                .reports_default = true },
    [PLIM_TORCH_COMMAND] = { { "", "", NULL, "" }, .key = "command", .is_unlisted = true },
    [PLIM_TORCH_POINT] = { { "", "", NULL, "" }, .key = "point", .reports_default = true },
};
