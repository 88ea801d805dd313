/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_UNIT_H
#define PLIMSOLL_TESTS_UNIT_H

/* What the unit tests share: cmocka and what it needs before it, the zoo, and numbers that only look random. */

#include "plimsoll/engine.h"
#include "plimsoll/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* "zoo/llama-3.1-8b-Q4_K_M.gguf" below the folder that the build generated; two calls share no buffer. */
static inline const char *zoo_path(const char *file)
{
    static char paths[4][512];
    static unsigned turn;
    const char *folder = getenv("PLIM_TEST_ZOO");
    if (!folder)
        fail_msg("PLIM_TEST_ZOO is not set: run the tests through meson");
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, file);
    return path;
}

static inline struct plim_model *zoo_model(const char *name)
{
    char file[256];
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    snprintf(file, sizeof file, "zoo/%s.gguf", name);
    if (plim_model_open(zoo_path(file), &model, &error) < 0)
        fail_msg("%s: %s", file, error.what);
    return model;
}

static inline struct plim_engine *engine_of(const struct plim_model *model)
{
    struct plim_error error = { 0 };
    struct plim_engine *engine = NULL;
    if (plim_engine_new(model, NULL, NULL, &engine, &error) < 0)
        fail_msg("%s: %s", plim_model_name(model), error.what);
    return engine;
}

/* Call `visit` for every model of the zoo; returns how many there were. */
static inline size_t zoo_each(void (*visit)(const char *path, void *data), void *data)
{
    char line[512];
    size_t n = 0;
    FILE *list = fopen(zoo_path("zoo.list"), "r");
    assert_non_null(list);
    while (fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        visit(line, data);
        n++;
    }
    fclose(list);
    return n;
}

/* xorshift64*: the same numbers on every machine. PLIM_TEST_SEED gives others. */
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

static inline uint64_t random_below(uint64_t *state, uint64_t n) { return random_next(state) % n; }

static inline uint64_t random_seed(void)
{
    const char *given = getenv("PLIM_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : 0x9e3779b97f4a7c15ull;
    print_message("seed %#llx\n", (unsigned long long)seed);
    return seed ? seed : 1;
}

/* A machine of n cards of so many GiB, and 128 GiB of RAM. */
static inline struct plim_machine machine_of(unsigned n_cards, unsigned gib)
{
    struct plim_machine machine = { .n_cards = n_cards };
    for (unsigned i = 0; i < n_cards; i++)
        plim_card_of_size(gib, &machine.card[i]);
    machine.host.total_bytes = machine.host.free_bytes = (uint64_t)128 << 30;
    return machine;
}

#endif
