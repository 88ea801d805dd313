/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_NOTES_H
#define PLIMSOLL_BASE_NOTES_H

/* Remarks that go with an answer: assumptions, and parts that were left out. */

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

enum { PLIM_MAX_NOTES = 12, PLIM_NOTE_BYTES = 240 };

struct plim_notes {
    unsigned n;
    char text[PLIM_MAX_NOTES][PLIM_NOTE_BYTES];
};

/* Notes beyond the limit are dropped. */
static inline void PLIM_PRINTF(2, 3) plim_note(struct plim_notes *notes, const char *format, ...)
{
    va_list arguments;
    if (notes->n == PLIM_MAX_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(notes->text[notes->n++], PLIM_NOTE_BYTES, format, arguments);
    va_end(arguments);
}

#endif
