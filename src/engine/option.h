/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_OPTION_H
#define PLIMSOLL_ENGINE_OPTION_H

/*
 * The options of an engine, one complete row each. A row describes how its value is read, and where in the engine's
 * setup it lies; values of a special form have a function.
 */

#include "base/error.h"
#include "plimsoll/option.h"
#include "plimsoll/setup.h"

struct plim_arguments;

enum plim_option_kind {
    PLIM_OPTION_SHOWN = 0,   /* a figure that the engine derives, or a choice without a flag of its own */
    PLIM_OPTION_FLAG,        /* a bool that the name sets */
    PLIM_OPTION_SWITCH,      /* enum plim_switch: on by its name and off by its negative, or by its value */
    PLIM_OPTION_SWITCH_AUTO, /* the same by its value; "auto" unsets it */
    PLIM_OPTION_COUNT,       /* uint32_t from low to high */
    PLIM_OPTION_INTEGER,     /* int32_t from low to high */
    PLIM_OPTION_CHOICE,      /* an enum: the index into choices */
    PLIM_OPTION_MODEL,       /* the path of the model */
    PLIM_OPTION_FILE,        /* a path, or a list of them, of models that are loaded beside it */
    PLIM_OPTION_OWN,         /* read by its function */
};

struct plim_option {
    struct plim_option_help help; /* first: a table of options is a table of rows for the manual */
    const char *key;              /* in JSON, receipts and plim_setup_set(); or NULL */
    const char *variable;         /* of the environment; or NULL. With NO_ after its prefix it is the negative */
    const char *const *choices;   /* NULL at its end */
    int (*take)(const struct plim_option *option, const char *value, struct plim_arguments *arguments,
                struct plim_error *reterr);
    size_t offset; /* in struct plim_setup */
    enum plim_option_kind kind;
    int32_t low, high;    /* of COUNT and INTEGER; of FILE high is their greatest number */
    bool is_compared;     /* receipts have it, and `check` compares it */
    bool is_unlisted;     /* JSON leaves it out */
    bool reports_default; /* JSON adds whether it is a default: "n_ctx_is_default" */
};

/*
 * The option of a runtime with this name ("-c", "--no-mmap", "--ctx_size": underscores count as hyphens), or NULL.
 * *ret_on is false for the negative.
 */
const struct plim_option *plim_option_named(const struct plim_engine_type *type, const char *name, bool *ret_on);

/* The option with this key, or NULL. */
const struct plim_option *plim_option_with_key(const struct plim_engine_type *type, const char *key);

/* The shortest name, "-c". Returns buffer. */
enum { PLIM_OPTION_NAME_BYTES = 64 };
char *plim_option_name(const struct plim_option *option, char buffer[PLIM_OPTION_NAME_BYTES]);

/* Apply an option. value is NULL for those without a placeholder, on false for the negative. */
int plim_option_apply(const struct plim_option *option, bool on, const char *value, struct plim_arguments *arguments,
                      struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * Apply a variable of the environment: LLAMA_ARG_CTX_SIZE=8192. Returns 1 when it is one of the runtime's options, 0
 * when it is not.
 */
int plim_option_apply_variable(const struct plim_engine_type *type, const char *name, const char *value,
                               struct plim_arguments *arguments, struct plim_error *reterr) PLIM_MUST_CHECK;

/* "invalid value 'x' for -c: expected ..." */
int plim_option_refuse(const struct plim_option *option, const char *value, const char *expected,
                       struct plim_error *reterr);

/* An integer from low to high, for values of a special form. */
int plim_option_integer(const struct plim_option *option, const char *text, long low, long high, long *ret_value,
                        struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
