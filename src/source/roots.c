/* SPDX-License-Identifier: MIT */
#include "source/roots.h"

#include <stdio.h>

const struct plim_source_roots *plim_source_roots(char *(*variable)(const char *name))
{
    static char home_store[1024];
    static const char *stores[2];
    static struct plim_source_roots roots = { .ollama = stores };
    const char *given = variable("OLLAMA_MODELS"), *home = variable("HOME");
    snprintf(home_store, sizeof home_store, "%s/.ollama/models", home ? home : "");
    stores[0] = given ? given : home_store;
    stores[1] = "/usr/share/ollama/.ollama/models";
    roots.n_ollama = given ? 1 : 2;
    return &roots;
}
