/* SPDX-License-Identifier: MIT */
/* The supported runtimes, one line each; the first is the default. */
#include "base/error.h"
#include "engine/type.h"

#include <stdio.h>
#include <string.h>

#define PLIM_ENGINES(X)                                                                                                \
    X(llamacpp)                                                                                                        \
    X(ollama)                                                                                                          \
    X(torch)

#ifndef PLIM_MORE_ENGINES
#define PLIM_MORE_ENGINES(X) /* a test adds one of its own */
#endif

#define DECLARE(folder) extern const struct plim_engine_type plim_##folder##_type;
PLIM_ENGINES(DECLARE)
PLIM_MORE_ENGINES(DECLARE)
#undef DECLARE

static const struct plim_engine_type *const types[] = {
#define ROW(folder) &plim_##folder##_type,
    PLIM_ENGINES(ROW) PLIM_MORE_ENGINES(ROW)
#undef ROW
};

enum { N_TYPES = sizeof types / sizeof *types };

const struct plim_engine_type *plim_engine_type_at(size_t i) { return i < N_TYPES ? types[i] : NULL; }

const struct plim_engine_type *plim_engine_type_of_kind(enum plim_model_kind kind)
{
    for (size_t i = 0; i < N_TYPES && kind != PLIM_MODEL_UNKNOWN; i++)
        if (types[i]->model_kind == kind)
            return types[i];
    return NULL;
}

static int unknown_engine(const char *spec, struct plim_error *reterr)
{
    char names[160] = "";
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "unknown engine '%.40s'", spec);
    for (size_t i = 0; i < N_TYPES; i++) {
        const size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", types[i]->name);
    }
    plim_error_hint(reterr, "known engines: %s; with a version: %s@v0.5.0, %s@b10256", names, types[0]->name,
                    types[0]->name);
    return code;
}

int plim_engine_type_named(const char *spec, const struct plim_engine_type **ret_type, const char **ret_version,
                           struct plim_error *reterr)
{
    const char *name = spec && *spec ? spec : types[0]->name;
    const size_t length = strcspn(name, "@");
    for (size_t i = 0; i < N_TYPES; i++)
        if (strlen(types[i]->name) == length && !strncmp(types[i]->name, name, length)) {
            *ret_type = types[i];
            if (ret_version)
                *ret_version = name[length] ? name + length + 1 : NULL;
            return 0;
        }
    return unknown_engine(name, reterr);
}
