/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_COMMAND_H
#define PLIMSOLL_ENGINE_COMMAND_H

/* Commands of an engine: reading one as it is typed, and writing it with some options changed. */

#include "engine/arguments.h"
#include "plimsoll/plan.h"

#include <stddef.h>

enum { PLIM_COMMAND_BYTES = 4096, PLIM_COMMAND_WORDS = 512 };

/* One word; the caller owns its text. */
struct plim_command_word {
    const char *text;
    size_t length;
    const struct plim_option *option; /* the option it spells, or NULL; its value, if any, is the next word */
};

struct plim_command {
    int n_words;
    struct plim_command_word words[PLIM_COMMAND_WORDS];
    bool is_cut;              /* more words than fit */
    bool is_flags_only;       /* no program: the words are flags */
    const char *visible;      /* CUDA_VISIBLE_DEVICES as set in front of the program; NULL: not set there */
    const char *device_order; /* CUDA_DEVICE_ORDER in the same way */
    char variables[160];      /* variables of the environment that count for it, */
    char unknown[160];        /* unknown flags and words, */
    char uncounted[160];      /* and flags whose memory no bill counts: for notes */
};

void plim_command_add(struct plim_command *command, const char *word);

/* A name of an option, and its value if it has a placeholder. */
void plim_command_add_option(struct plim_command *command, const struct plim_option *option, const char *name,
                             size_t length, const char *value);

/* A word for a note, once. */
void plim_command_note(char *list, size_t size, const char *word);

/*
 * Read the command line of a program, as one would type it: variables and launchers like "env" and "nice" in front,
 * then the program, which decides the engine and its client, then its flags. Flags that do not change memory are
 * skipped. The program would also read `environment` (of the form of environ; NULL: empty). Fails for programs whose
 * flags are not known.
 */
int plim_command_read(int argc, char *const *argv, char *const *environment, struct plim_arguments *arguments,
                      struct plim_command *ret_command, struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * The command with n changes made: a given option gets its new value where it stands, spelled as it was; others follow
 * at the end. Words are quoted for a shell where they need it. NULL: the command does not fit the buffer.
 */
char *plim_command_text(const struct plim_command *command, const struct plim_change *changes, unsigned n_changes,
                        char buffer[PLIM_COMMAND_BYTES]);

#endif
