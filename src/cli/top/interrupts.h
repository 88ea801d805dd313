/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TOP_INTERRUPTS_H
#define PLIMSOLL_CLI_TOP_INTERRUPTS_H

/*
 * Signals while the terminal is ours. Those that ask for something are noted and answered where the program waits;
 * those of a crash put the terminal back at once.
 */

#include <stdbool.h>
#include <stddef.h>

/* From here on signals are noted. rescue: the bytes that bring the terminal back, for a crash; cut if it is long. */
void plim_interrupts_open(const char *rescue, size_t n_bytes);
void plim_interrupts_close(void);

/* Wait up to ms for input on file or a signal. True: there is input, or its end. */
bool plim_interrupts_wait(int file, int ms);

bool plim_interrupts_resized(void);   /* since the last call */
bool plim_interrupts_suspended(void); /* the user wants the shell: stop() */
int plim_interrupts_ended(void);      /* the signal that asked for the end; 0: none */

/* As Ctrl-Z does: returns when the program goes on. The terminal is not ours meanwhile. */
void plim_interrupts_stop(void);

#endif
