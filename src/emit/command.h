/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_EMIT_COMMAND_H
#define PLIMSOLL_EMIT_COMMAND_H

/* Writing commands: a command line with some flags changed, and the same change in Ollama's words. */

#include "plimsoll/plan.h"

#include <stddef.h>

enum { PLIM_COMMAND_BYTES = 4096, PLIM_COMMAND_WORDS = 256 };

/* A command as words; they belong to whoever made it. */
struct plim_command {
    int n_words;
    const char *words[PLIM_COMMAND_WORDS];
};

/* Append a word; more than fit are dropped. */
void plim_command_add(struct plim_command *command, const char *word);

/*
 * The command with n changes made: flags that are changed leave their old place and stand at the end. Words are quoted
 * for a shell where they need it. Returns buffer; a command that does not fit is cut off.
 */
char *plim_command_text(const struct plim_command *command, const struct plim_flag_change *changes, unsigned n_changes,
                        char buffer[PLIM_COMMAND_BYTES]);

/*
 * A fix as an Ollama user makes it: lines of a Modelfile and settings of the server. n_parallel is the number of
 * slots, by which Ollama multiplies num_ctx. False when Ollama has no words for it.
 */
bool plim_ollama_text(const struct plim_fix *fix, unsigned n_parallel, char buffer[PLIM_COMMAND_BYTES]);

#endif
