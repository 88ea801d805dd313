/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_PATHS_H
#define PLIMSOLL_SOURCE_PATHS_H

/*
 * Which models a command line means: files as they are named, names of Ollama's and of a hub, URLs, directories as
 * every model below them.
 */

#include "base/mem.h"
#include "plimsoll/error.h"
#include "source/ollama_store.h"

#include <stdbool.h>
#include <stddef.h>

struct plim_path {
    const char *text;
    int error;                              /* errno: it is in a directory, and cannot be looked at; 0: it can */
    bool is_found;                          /* in a directory: what does not run by itself is passed over in silence */
    const char *store;                      /* the runtime in whose store the file lies: "ollama"; NULL: in none */
    const struct plim_stored_model *stored; /* named as Ollama names it; NULL: named as a file */
    const struct plim_error *missing;       /* neither a file nor in a store, for this reason; NULL: it is there */
    bool looks_like_path;                   /* a name that is a file's or nothing: "./model.gguf" */
    const char *given;                      /* the name of a model of a hub or a server; NULL: no such name */
    const char *projector;                  /* that its runtime loads with a model named so; NULL: none */
    bool has_projector;                     /* which is counted */
    struct plim_remote *remote;             /* `text` is a URL, to be opened by this session; NULL: a file here */
};

struct plim_paths {
    struct plim_path *paths;
    size_t n;
    size_t n_left_out;         /* models beyond PLIM_MAX_FILES */
    size_t n_entries_left_out; /* of directories with more than PLIM_MAX_FOLDER_NAMES: the last in order */
    bool has_directory;
    struct plim_arena arena;
};

/*
 * Of a split model one part is enough: further ones are dropped. A directory without GGUF files that has a config.json
 * is one model; an empty one is an error. Names that nothing is found for stay, with the reason.
 */
int plim_paths_expand(const char *const *given, size_t n, const struct plim_source_roots *roots,
                      struct plim_paths *ret_paths, struct plim_error *reterr);
void plim_paths_done(struct plim_paths *paths);

#endif
