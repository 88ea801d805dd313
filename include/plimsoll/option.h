/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_OPTION_H
#define PLIMSOLL_OPTION_H

/*
 * Options of an engine, and settings: an option with its value. Each engine has one table of options; command lines,
 * help, manual, completions, JSON and the planner read it, and no flag is spelled anywhere else.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The words of an option, as help and manual show them. */
struct plim_option_help {
    const char *names;    /* separated by spaces, the shortest first; "": a figure that the engine derives, no option */
    const char *negative; /* the same for "off" */
    const char *value;    /* placeholder; NULL for switches */
    const char *help;
};

struct plim_option; /* src/engine/option.h */

enum plim_setting_kind {
    PLIM_SETTING_NONE = 0, /* not set, or unknown */
    PLIM_SETTING_BOOL,
    PLIM_SETTING_INTEGER,
    PLIM_SETTING_TEXT,
    PLIM_SETTING_NUMBERS, /* a list */
    PLIM_SETTING_LAYERS,  /* a list of ranges of layers */
};

struct plim_layer_range {
    uint32_t first, n_layers;
};

/* The value of an option as the engine understands it: every default filled in, every number rounded. */
struct plim_setting {
    const struct plim_option *option;
    const char *key; /* the option's: "n_ctx" */
    enum plim_setting_kind kind;
    bool is_default; /* it was not given */
    int64_t integer; /* of BOOL and INTEGER */
    const char *text;
    uint32_t n_items; /* of NUMBERS and LAYERS, which lie in the setup or the adjustment that the setting is of */
    const double *numbers;
    const struct plim_layer_range *layers;
};

/* "n_ctx", as in JSON; and the words of an option. */
const char *plim_option_key(const struct plim_option *option);
const struct plim_option_help *plim_option_words(const struct plim_option *option);

#ifdef __cplusplus
}
#endif

#endif
