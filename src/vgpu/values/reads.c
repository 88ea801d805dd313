/* SPDX-License-Identifier: MIT */
#include "vgpu/values/reads.h"

#include "vgpu/core/guesses.h"

/* A copy to the host up to this size may steer the program: .item(), a count, a token, a flag. */
enum { STEERING_BYTES = 64 };

static _Thread_local int least_read = PLIM_SHADOW_KNOWN;

void plim_values_note_read(const struct plim_read *read)
{
    if (read->size_bytes > STEERING_BYTES && !read->is_answer)
        return;
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
