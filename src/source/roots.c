/* SPDX-License-Identifier: MIT */
#include "source/roots.h"

#include <stdbool.h>
#include <stdio.h>

enum { MOST_ROOTS = 2, PATH_BYTES = 1024 };

/* Up to two folders of one kind. */
struct roots {
    char paths[MOST_ROOTS][PATH_BYTES];
    const char *list[MOST_ROOTS];
    size_t n;
};

/* One more, of a variable's value and what follows it; false when the variable is not set. */
static bool add(struct roots *roots, const char *value, const char *rest)
{
    if (!value || !*value)
        return false;
    const int n = roots->n < MOST_ROOTS ? snprintf(roots->paths[roots->n], PATH_BYTES, "%s%s", value, rest) : 0;
    if (n > 0 && n < PATH_BYTES) {
        roots->list[roots->n] = roots->paths[roots->n];
        roots->n++;
    }
    return true;
}

static void find_ollama(struct roots *roots, char *(*variable)(const char *name))
{
    const char *home = variable("HOME");
    if (add(roots, variable("OLLAMA_MODELS"), ""))
        return;
    add(roots, home ? home : "/", "/.ollama/models");
    add(roots, "/usr/share/ollama", "/.ollama/models");
}

static void find_hub_caches(struct roots *roots, char *(*variable)(const char *name))
{
    add(roots, variable("LLAMA_CACHE"), "");
    if (!add(roots, variable("HF_HUB_CACHE"), "") && !add(roots, variable("HUGGINGFACE_HUB_CACHE"), "") &&
        !add(roots, variable("HF_HOME"), "/hub") && !add(roots, variable("XDG_CACHE_HOME"), "/huggingface/hub"))
        add(roots, variable("HOME"), "/.cache/huggingface/hub");
}

static void find_llama_caches(struct roots *roots, char *(*variable)(const char *name))
{
    if (!add(roots, variable("LLAMA_CACHE"), "") && !add(roots, variable("XDG_CACHE_HOME"), "/llama.cpp"))
        add(roots, variable("HOME"), "/.cache/llama.cpp");
}

static void find_lmstudio(struct roots *roots, char *(*variable)(const char *name))
{
    add(roots, variable("HOME"), "/.lmstudio/models");
    add(roots, variable("HOME"), "/.cache/lm-studio/models");
}

const struct plim_source_roots *plim_source_roots(char *(*variable)(const char *name))
{
    static struct roots ollama, hub_caches, llama_caches, lmstudio;
    static struct plim_source_roots roots;
    ollama.n = hub_caches.n = llama_caches.n = lmstudio.n = 0;
    find_ollama(&ollama, variable);
    find_hub_caches(&hub_caches, variable);
    find_llama_caches(&llama_caches, variable);
    find_lmstudio(&lmstudio, variable);
    roots = (struct plim_source_roots){
        .ollama = ollama.list,
        .n_ollama = ollama.n,
        .hub_caches = hub_caches.list,
        .n_hub_caches = hub_caches.n,
        .llama_caches = llama_caches.list,
        .n_llama_caches = llama_caches.n,
        .lmstudio = lmstudio.list,
        .n_lmstudio = lmstudio.n,
    };
    return &roots;
}
