/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_FIT_OPTIONS_H
#define PLIMSOLL_CLI_FIT_OPTIONS_H

/* The options of `plimsoll fit` itself; the others are the engine's (engine/option.h). */

#include "engine/command.h"
#include "plimsoll/bill.h"

/* X(identifier, names, value placeholder, help) */
#define PLIM_FIT_OPTIONS(X)                                                                                            \
    X(CARD, "--card", "NAME", "the card: 'RTX 4060', '2x RTX 3090', 7.5GiB, 'none' for RAM only; may be repeated")     \
    X(BUDGET, "--budget", "SIZE", "the same as --card with a size; may be repeated")                                   \
    X(RAM, "--ram", "SIZE", "host memory (default: this machine's)")                                                   \
    X(ENGINE, "--engine", "SPEC", "llama.cpp (default), llama.cpp@v0.5.0, llama.cpp@b10256; ollama")                   \
    X(CLIENT, "--client", "NAME", "program whose defaults apply: server (default), cli, library or ollama")            \
    X(BACKEND, "--backend", "NAME", "cuda (default), hip, vulkan, metal or cpu")                                       \
    X(QUANT, "--quant", "NAME|all",                                                                                    \
      "the model in this quantization, or a table of all (default for a model without one)")                           \
    X(QUALITY, "--quality", "any|strict", "of a table: strict takes none below 8 bits per weight")                     \
    X(MARGIN, "--margin", "SIZE|%", "memory that must stay free (default: 512MiB or 5%, the larger)")                  \
    X(STRICT, "--strict", NULL, "exit status 1 for 'tight' as well")                                                   \
    X(OFFLINE, "--offline", NULL, "ask no server for hf: names and URLs: only stores on this machine and the cache")   \
    X(JSON, "--json", NULL, "answer as JSON (plimsoll.fit/1; of several models plimsoll.fits/1)")                      \
    X(VERBOSE, "-v --verbose", NULL, "show the reason of every line")                                                  \
    X(COLOR, "--color", "auto|always|never", "colour (default: on a terminal)")                                        \
    X(HELP, "-h --help", NULL, "show this help")

#define PLIM_FIT_OPTION_ENUM(id, names, value, help) PLIM_FIT_##id,
enum plim_fit_option { PLIM_FIT_NONE = 0, PLIM_FIT_OPTIONS(PLIM_FIT_OPTION_ENUM) PLIM_FIT_MAX_ };
#undef PLIM_FIT_OPTION_ENUM

const struct plim_option_help *plim_fit_option_info(enum plim_fit_option option);

enum { PLIM_CLI_MAX_CARDS = 16 };

struct plim_fit_options {
    struct plim_arguments arguments;
    struct plim_command command; /* for the fixes to change */
    const char *cards[PLIM_CLI_MAX_CARDS];
    int n_cards;
    uint64_t budget_bytes[PLIM_MAX_DEVICES]; /* one for each card */
    int n_budgets;
    uint64_t ram_bytes;
    const char *version; /* of the engine; NULL: the newest that is proven */
    const char *color;
    struct plim_margin margin;
    const char *quant; /* of --quant; NULL: not given */
    bool is_strict, is_quality_strict, is_json, is_verbose, is_help, is_offline;
    bool has_engine;    /* --engine is given */
    const char *client; /* of --client; NULL: not given */
    bool has_command;   /* an engine's own command line follows "--" */
    const char **paths; /* of models; owned */
    char *hub_name;     /* of the model that the command names on a hub; owned */
    int n_paths;
};

/* Read the command line of `plimsoll fit`. */
int plim_fit_options_parse(int argc, char **argv, struct plim_fit_options *ret_options, struct plim_error *reterr);
void plim_fit_options_done(struct plim_fit_options *options);

#endif
