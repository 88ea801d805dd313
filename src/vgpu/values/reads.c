/* SPDX-License-Identifier: MIT */
#include "vgpu/values/reads.h"

#include "vgpu/core/guesses.h"
#include "vgpu/core/python/python.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A copy to the host up to this size may steer the program: .item(), a count, a flag, the sizes of images. */
enum { STEERING_BYTES = 512 };

static _Thread_local int least_read = PLIM_SHADOW_KNOWN;

/* --- the length of an answer --- */

static unsigned long n_tokens; /* PLIM_VGPU_TOKENS; 0: to the program's own limit */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_n_tokens(void)
{
    const char *text = getenv("PLIM_VGPU_TOKENS");
    n_tokens = text ? strtoul(text, NULL, 10) : 0;
}

/*
 * Whether the flag is the one with which transformers' generate() ends an answer, true when all are finished. It is
 * read once for each token: up to 5.22 where its loop begins, since then in a class of its own.
 */
static bool is_end_of_answer(void)
{
    struct plim_ledger_frames frames;
    plim_python_frames(&frames);
    const char *function = strrchr(frames.innermost, ' ');
    return function && strstr(frames.innermost, "/transformers/generation/utils.py:") &&
           (!strcmp(function, " _has_unfinished_sequences") || !strcmp(function, " __call__"));
}

/* The answer ends with the n-th token if it did not end before. */
static void end_answer(const struct plim_read *read)
{
    static _Thread_local unsigned long n;
    unsigned char *flag = read->bytes;
    pthread_once(&once, read_n_tokens);
    if (!n_tokens || read->size_bytes != 1 || read->is_answer || *flag > 1 || !is_end_of_answer())
        return;
    if (++n >= n_tokens)
        *flag = 1;
    if (*flag)
        n = 0;
}

/* --- reads --- */

void plim_values_note_read(const struct plim_read *read)
{
    end_answer(read);
    if (read->size_bytes > STEERING_BYTES && !read->is_answer) {
        if (read->known != PLIM_SHADOW_KNOWN)
            plim_vgpu_guessed_data();
        return;
    }
    if ((int)read->known < least_read)
        least_read = (int)read->known;
    if (read->known == PLIM_SHADOW_KNOWN)
        return;
    plim_vgpu_guessed(&(struct plim_vgpu_guess){
        .known = read->known, .is_answer = read->is_answer, .size_bytes = read->size_bytes, .bytes = read->bytes });
}

int plim_values_last_read(void)
{
    const int known = least_read;
    least_read = PLIM_SHADOW_KNOWN;
    return known;
}

int plim_values_known(const void *address, size_t size) { return (int)plim_shadow_certainty(address, size); }
