/* SPDX-License-Identifier: MIT */
#include "vgpu/values/reads.h"

#include "vgpu/core/callsite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* A copy to the host up to this size may steer the program: .item(), a count, a token, a flag. */
enum { STEERING_BYTES = 64 };

static _Thread_local int least_read = PLIM_SHADOW_KNOWN;

/* The innermost frame of Python, "folder/file:line function"; empty: no Python, or no time left for it. */
static void find_place(const struct plim_ledger *ledger, char *ret_text, size_t size)
{
    enum { MOST_PART = 50 }; /* at most one part in so many of the time */
    static atomic_ullong spent_us;
    char stack[PLIM_LEDGER_STACK_BYTES];
    const uint64_t start_us = plim_ledger_now_us(ledger);
    ret_text[0] = '\0';
    if (atomic_load(&spent_us) > start_us / MOST_PART)
        return;
    plim_python_stack(stack, sizeof stack);
    stack[strcspn(stack, "\n")] = '\0';
    const char *from = stack + strlen(stack);
    for (int n_slashes = 0; from > stack && n_slashes < 2; from--)
        n_slashes += from[-1] == '/';
    while (*from == '/')
        from++;
    snprintf(ret_text, size, "%s", from);
    atomic_fetch_add(&spent_us, plim_ledger_now_us(ledger) - start_us);
}

/* kind: "value" (unknown) or "value_kept" (written by the host before kernels ran). */
static void remark(const char *kind, const char *what, size_t size)
{
    enum { MAX_PLACES = 24 }; /* the ledger holds few remarks */
    static atomic_uint n_places;
    char text[PLIM_LEDGER_WHAT_BYTES], place[64] = "";
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (!ledger)
        return;
    if (atomic_load(&n_places) < MAX_PLACES)
        find_place(ledger, place, sizeof place);
    snprintf(text, sizeof text, "%zu bytes read back: %s%s%s", size, what, *place ? ", at " : "", place);
    if (plim_ledger_warn(ledger, kind, text) && *place)
        atomic_fetch_add(&n_places, 1);
}

void plim_values_note_read(const struct plim_read *read)
{
    if (read->size_bytes > STEERING_BYTES && !read->is_answer)
        return;
    if ((int)read->known < least_read)
        least_read = (int)read->known;
    if (read->known == PLIM_SHADOW_UNKNOWN)
        remark("value", "computed by the card, taken as zero", read->size_bytes);
    else if (read->known == PLIM_SHADOW_KEPT)
        remark("value_kept", "written by the host, taken as unchanged", read->size_bytes);
}

int plim_values_last_read(void)
{
    const int known = least_read;
    least_read = PLIM_SHADOW_KNOWN;
    return known;
}

int plim_values_known(const void *address, size_t size) { return (int)plim_shadow_certainty(address, size); }
