/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_MODEL_IMPL_H
#define PLIMSOLL_MODEL_MODEL_IMPL_H

/*
 * The inside of struct plim_model, and how a reader fills it: plim_model_new(), then for each file
 * plim_model_add_shard() and plim_model_add_tensors(), keys and what follows from them, and plim_model_index() at last.
 */

#include "base/error.h"
#include "base/mem.h"
#include "plimsoll/model.h"

struct plim_files; /* source/file.h */
struct plim_step;  /* step/step.h */

/* A value of the metadata, whatever width it has in the file. */
enum plim_value_type {
    PLIM_VALUE_UNSIGNED,
    PLIM_VALUE_SIGNED,
    PLIM_VALUE_REAL,
    PLIM_VALUE_BOOL,
    PLIM_VALUE_STRING,
    PLIM_VALUE_ARRAY,
    PLIM_VALUE_OBJECT, /* has no value: its members are keys */
};

struct plim_key {
    const char *name;
    uint64_t at; /* where in the file the key stands */
    uint64_t n;  /* elements of an array */
    enum plim_value_type type;
    union {
        uint64_t u; /* unsigned, bool */
        int64_t i;  /* signed */
        double f;
        const char *string;     /* NULL when too long to keep */
        const int64_t *numbers; /* integer and bool arrays; NULL for others and for those too long to keep */
    };
};

struct plim_model {
    struct plim_arena arena;        /* of strings, keys and by_name */
    const struct plim_files *files; /* where its files lie, while they are read; NULL: on this machine */
    const char *path, *name, *arch, *file_type;
    const char *contradiction; /* between its files, in words; NULL without one */
    enum plim_model_format format;
    enum plim_model_kind kind;
    struct plim_hyperparameters hyperparameters;
    uint64_t n_params, tensor_bytes, file_bytes;

    struct plim_key *keys; /* sorted by name */
    size_t n_keys, key_room;
    struct plim_shard *shards;
    uint32_t n_shards;
    struct plim_tensor *tensors;        /* in file order */
    const struct plim_tensor **by_name; /* the same, sorted by name */
    size_t n_tensors, tensor_room;
    struct plim_error no_tensors; /* why there are none; code 0 when they are known */
    struct plim_step *step;       /* of a PLIM_MODEL_STEP, else NULL */

    enum plim_model_forecast forecast;
    const struct plim_doubt *doubts;
    size_t n_doubts;
};

/* One more reason why a forecast may miss the file. The text is copied. */
int plim_model_add_doubt(struct plim_model *model, const struct plim_doubt *doubt,
                         struct plim_error *reterr) PLIM_MUST_CHECK;

/* A model of this path without keys and tensors, or NULL; freed with plim_model_free(). */
struct plim_model *plim_model_new(const char *path);

/* One more file. `path` is copied. */
int plim_model_add_shard(struct plim_model *model, const char *path, uint64_t file_bytes, uint64_t data_at,
                         struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * Room for n more tensors at the end of the list, zeroed but for ne, which is all 1. They belong to the file that is
 * added next, and move when more are added.
 */
int plim_model_add_tensors(struct plim_model *model, size_t n, struct plim_tensor **ret_tensors,
                           struct plim_error *reterr) PLIM_MUST_CHECK;

/* One more key; its name must live as long as the model. */
int plim_model_add_key(struct plim_model *model, const struct plim_key *key, struct plim_error *reterr) PLIM_MUST_CHECK;

/* Sort keys by name; an error when two have one name. */
int plim_keys_sort(struct plim_key *keys, size_t n, struct plim_error *reterr) PLIM_MUST_CHECK;

/* A copy of a string in the model; NULL gives "". */
int plim_model_copy_text(struct plim_model *model, const char *text, const char **ret_copy,
                         struct plim_error *reterr) PLIM_MUST_CHECK;

/* Name a model after the folder or hub's repository that `path` lies in; it keeps its name when the path has none. */
int plim_model_name_by_folder(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;

/* Fill by_name and the sums from the tensors. Fails when two have one name. */
int plim_model_index(struct plim_model *model, struct plim_error *reterr) PLIM_MUST_CHECK;

/* The same for tensors with the names of `other`, in its order: nothing needs sorting. */
int plim_model_index_as(struct plim_model *model, const struct plim_model *other,
                        struct plim_error *reterr) PLIM_MUST_CHECK;

/* The error for an arena that gave nothing: it is full, or memory is. */
int plim_model_no_room(const struct plim_model *model, struct plim_error *reterr);

const struct plim_key *plim_key_find(const struct plim_key *keys, size_t n_keys, const char *name);

/* A key's value as an unsigned integer, when it is one exactly. */
bool plim_key_u64(const struct plim_key *key, uint64_t *ret_value);

#endif
