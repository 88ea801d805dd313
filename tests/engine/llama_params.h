/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_ENGINE_LLAMA_PARAMS_H
#define PLIMSOLL_TESTS_ENGINE_LLAMA_PARAMS_H

/*
 * The two parameter structures of llama.h, which have changed from version to version, as a program sees them that was
 * built without that header: fields by name. A structure as large is passed on the stack, so one that is larger than
 * the library's own does no harm.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PARAMS_BYTES = 512 };

struct model_params {
    _Alignas(8) unsigned char bytes[PARAMS_BYTES];
};

struct context_params {
    _Alignas(8) unsigned char bytes[PARAMS_BYTES];
};

/* The layouts of one version. */
struct params_layout {
    int first_build; /* the versions up to the next layout have this one */
    const char *model, *context;
};

/* The layout of the libraries in this folder; by the build that node-llama-cpp's package names. */
const struct params_layout *params_layout_of(const char *directory);

/* Write a field of one of the structures; false when the version has none of this name. */
bool params_set(void *params, const char *layout, const char *field, int64_t value);
bool params_set_pointer(void *params, const char *layout, const char *field, const void *value);

/* A whole number of theirs; 0 when the version has no such field. */
int64_t params_get(const void *params, const char *layout, const char *field);

#endif
