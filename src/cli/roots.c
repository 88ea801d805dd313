/* SPDX-License-Identifier: MIT */
#include "cli/roots.h"

#include <stdio.h>
#include <stdlib.h>

const struct plim_source_roots *plim_cli_roots(void)
{
    static char home_store[1024];
    static const char *stores[2];
    static struct plim_source_roots roots = { .ollama = stores };
    const char *given = getenv("OLLAMA_MODELS"), *home = getenv("HOME");
    snprintf(home_store, sizeof home_store, "%s/.ollama/models", home ? home : "");
    stores[0] = given ? given : home_store;
    stores[1] = "/usr/share/ollama/.ollama/models"; /* the home of the user "ollama" (scripts/install.sh) */
    roots.n_ollama = given ? 1 : 2;
    return &roots;
}
