/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_FLAGS_VALUES_H
#define PLIMSOLL_ENGINE_LLAMACPP_FLAGS_VALUES_H

/* Values of llama.cpp's flags that have a special form; each function is the `take` of an option. */

#include "engine/arguments.h"

#define PLIM_TAKE(name)                                                                                                \
    int plim_llamacpp_##name(const struct plim_option *option, const char *value, struct plim_arguments *arguments,    \
                             struct plim_error *reterr)

PLIM_TAKE(take_context);
PLIM_TAKE(take_slots);
PLIM_TAKE(take_layers);
PLIM_TAKE(take_cache_type);
PLIM_TAKE(take_split);
PLIM_TAKE(take_main_gpu);
PLIM_TAKE(take_devices);
PLIM_TAKE(take_rpc);
PLIM_TAKE(take_overrides);
PLIM_TAKE(take_load_mode);
PLIM_TAKE(take_fit_target);
PLIM_TAKE(take_spec_type);

#endif
