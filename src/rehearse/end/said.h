/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_SAID_H
#define PLIMSOLL_REHEARSE_SAID_H

/* Out of memory inside a framework's own pool: the card has refused nothing, and the program's message tells it. */

#include "receipt/rehearsal.h"

/*
 * Read the end of what a program that failed has said: its log (NULL: none), and its standard error. When the card has
 * refused a request and the program went on, its last traceback tells whether memory was its end.
 */
void plim_said_read(struct plim_rehearsal *rehearsal, const char *log);

#endif
