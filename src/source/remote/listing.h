/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_REMOTE_LISTING_H
#define PLIMSOLL_SOURCE_REMOTE_LISTING_H

/* The files of a repository, as a hub lists them or a folder holds them, and which of them a name means. */

#include "base/json.h"
#include "base/mem.h"

struct plim_listed_file {
    const char *path;
    uint64_t bytes;  /* 0: not known */
    const char *oid; /* of the content; "" when not known */
};

struct plim_listing {
    struct plim_arena arena;
    struct plim_listed_file *files; /* those that may be a model's */
    size_t n, room, n_left_out;
};

void plim_listing_init(struct plim_listing *listing);
void plim_listing_done(struct plim_listing *listing);

/* One more file; those that can be no model's, and names that lead elsewhere, are passed over. */
int plim_listing_add(struct plim_listing *listing, const char *path, uint64_t bytes, const char *oid,
                     struct plim_error *reterr) PLIM_MUST_CHECK;

/* The answer of /api/models/ORG/REPO/tree/main. */
int plim_listing_read(struct plim_listing *listing, struct plim_cursor cursor,
                      struct plim_error *reterr) PLIM_MUST_CHECK;

/* A file of the listing, or NULL. */
const struct plim_listed_file *plim_listing_find(const struct plim_listing *listing, const char *path);

/*
 * The file to open for a model: of these quantizations, or this file; "" and "": the only model. Several: PLIM_E_USAGE
 * with the list. None: PLIM_E_NOT_FOUND with those that are there. *ret_projector is the one that llama.cpp would load
 * with it, or NULL.
 */
int plim_listing_choose(const struct plim_listing *listing, const char *quantization, const char *file,
                        const struct plim_listed_file **ret_model, const struct plim_listed_file **ret_projector,
                        struct plim_error *reterr) PLIM_MUST_CHECK;

/* Whether a listing has all parts of a split model; true for a model in one file. */
bool plim_listing_is_complete(const struct plim_listing *listing, const struct plim_listed_file *model);

#endif
