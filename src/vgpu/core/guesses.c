/* SPDX-License-Identifier: MIT */
#include "vgpu/core/guesses.h"

#include "vgpu/core/callsite.h"
#include "vgpu/core/python/python.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A read that waits for a card costs tens of microseconds there, a stack no more than that here. So stacks are taken
 * always, up to a time that only a program has that does nothing else; then the place is said to be unknown.
 */
static const uint64_t free_us = 5000000, share = 8;
static atomic_ullong spent_us;
static _Thread_local bool is_busy;

enum { MAX_FRAMES = 32, CACHE_PLACES = 1024, MAX_TRIES = 8 };

/* By the addresses of the native frames: their names take milliseconds to look up. Stored last: the key. */
static struct {
    _Atomic uint64_t key;
    _Atomic uint32_t number;
} cache[CACHE_PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t find_cached(uint64_t key)
{
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        const uint64_t at = (key + i) % CACHE_PLACES;
        if (atomic_load_explicit(&cache[at].key, memory_order_acquire) == key)
            return atomic_load_explicit(&cache[at].number, memory_order_relaxed);
    }
    return 0;
}

static void keep_cached(uint64_t key, uint32_t number)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        const uint64_t at = (key + i) % CACHE_PLACES, found = atomic_load(&cache[at].key);
        if (found && found != key)
            continue;
        atomic_store_explicit(&cache[at].number, number, memory_order_relaxed);
        atomic_store_explicit(&cache[at].key, key, memory_order_release);
        break;
    }
    pthread_mutex_unlock(&lock);
}

static bool is_zero(const struct plim_vgpu_guess *guess)
{
    enum { LOOKED_AT = 16 };
    const unsigned char *bytes = guess->bytes;
    for (size_t i = 0; bytes && i < guess->size_bytes && i < LOOKED_AT; i++)
        if (bytes[i])
            return false;
    return bytes != NULL;
}

static uint64_t hash_of_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3; /* FNV-1a: equal in all processes */
    return (hash ^ 0xff) * 0x100000001b3;
}

static uint64_t hash_of_place(const struct plim_ledger_guess *place)
{
    uint64_t hash = 0xcbf29ce484222325;
    hash = hash_of_text(hash, place->native);
    hash = hash_of_text(hash, place->python.innermost);
    hash = hash_of_text(hash, place->python.package);
    hash = hash_of_text(hash, place->python.user);
    hash = hash_of_text(hash, place->what);
    hash = plim_callsite_mixed(hash, (uint64_t)place->size_bytes << 8 | (uint64_t)place->is_answer << 4 | place->known);
    return hash + !hash;
}

/* Complete the place with its frames, and count it. */
static void count(struct plim_ledger *ledger, struct plim_ledger_guess *place, bool is_zero)
{
    void *frames[MAX_FRAMES];
    const int n = plim_callsite_frames(frames, MAX_FRAMES);
    plim_python_frames(&place->python);
    uint64_t key = hash_of_place(place);
    for (int i = 0; i < n; i++)
        key = plim_callsite_mixed(key, (uint64_t)(uintptr_t)frames[i]);
    key += !key;
    const uint32_t number = find_cached(key);
    if (number) {
        plim_ledger_guessed_again(ledger, number, is_zero);
        return;
    }
    plim_callsite_text(frames, n, place->native, sizeof place->native);
    keep_cached(key, plim_ledger_guessed(ledger, hash_of_place(place), place, is_zero));
}

void plim_vgpu_guessed(const struct plim_vgpu_guess *guess)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (!ledger || is_busy)
        return;
    const uint64_t start_us = plim_ledger_now_us(ledger);
    const bool has_time = atomic_load(&spent_us) <= free_us + start_us / share;
    struct plim_ledger_guess *place = has_time ? calloc(1, sizeof *place) : NULL;
    if (!place) {
        plim_ledger_guessed_again(ledger, 0, is_zero(guess));
        return;
    }
    place->known = guess->known;
    place->is_answer = guess->is_answer;
    place->size_bytes = guess->size_bytes < UINT32_MAX ? (uint32_t)guess->size_bytes : UINT32_MAX;
    snprintf(place->what, sizeof place->what, "%s", guess->what ? guess->what : "");
    is_busy = true;
    count(ledger, place, is_zero(guess));
    is_busy = false;
    free(place);
    atomic_fetch_add(&spent_us, plim_ledger_now_us(ledger) - start_us);
}

void plim_vgpu_guessed_data(void)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (ledger)
        atomic_fetch_add_explicit(&ledger->n_data_reads, 1, memory_order_relaxed);
}
