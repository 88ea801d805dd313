/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_ARGUMENTS_H
#define PLIMSOLL_ENGINE_ARGUMENTS_H

/* A command line, read: a setup, and the files that it names. Texts point into the command line. */

#include "engine/option.h"

enum { PLIM_ARGUMENTS_MAX_FILES = 12 };

struct plim_arguments {
    struct plim_setup setup;
    const char *model;                /* NULL: not named */
    bool is_on_server;                /* model is a URL, or hub_model names it, in the program's own words */
    const char *hub_model, *hub_file; /* "ORG/REPO:QUANT" of a hub, and a file of it; NULL: not named */
    uint32_t n_files;
    struct plim_named_file {
        const struct plim_option *option;
        const char *path; /* the whole value: it may be a list */
    } file[PLIM_ARGUMENTS_MAX_FILES];
};

/* Nothing given, for the default engine. */
void plim_arguments_init(struct plim_arguments *arguments);

#endif
