/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SETUP_H
#define PLIMSOLL_SETUP_H

/*
 * A setup: how a model will be run. The engine's own settings are a plain struct with the engine's flag names; settings
 * can also be made by name, as on a command line. A setup is copied by value and owns nothing: the texts and models
 * that it points to must outlive it.
 */

#include "plimsoll/error.h"
#include "plimsoll/llamacpp.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plim_engine_type;

enum plim_task { PLIM_TASK_INFER = 1 << 0, PLIM_TASK_TRAIN = 1 << 1 };

enum { PLIM_SETUP_OWN_BYTES = 2560 };

struct plim_setup {
    const struct plim_engine_type *type; /* the runtime whose settings these are */
    enum plim_task task;
    union {
        struct plim_llamacpp_setup llamacpp;     /* llama.cpp and Ollama */
        unsigned char own[PLIM_SETUP_OWN_BYTES]; /* room for those of any engine */
    };
};

/* Everything unset. type NULL: the default engine, llama.cpp. */
void plim_setup_init(struct plim_setup *setup, const struct plim_engine_type *type);

/*
 * Set one option by its key or by one of its names ("n_ctx" or "--ctx-size", "8192"). The value of a switch is "on" or
 * "off"; NULL turns it on, or off by a name like "--no-mmap". Fails with PLIM_E_USAGE for options the engine does not
 * have, values it does not take, and options that name files.
 */
int plim_setup_set(struct plim_setup *setup, const char *option, const char *value, struct plim_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
