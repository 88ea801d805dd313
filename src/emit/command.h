/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_EMIT_COMMAND_H
#define PLIMSOLL_EMIT_COMMAND_H

/* Commands of an engine: reading one as it is typed, writing it with some flags changed, and the same in Ollama's
 * words. */

#include "emit/flags.h"
#include "plimsoll/plan.h"

#include <stddef.h>

enum { PLIM_COMMAND_BYTES = 4096, PLIM_COMMAND_WORDS = 512 };

/* One word, as a piece of text that belongs to whoever made it. */
struct plim_command_word {
    const char *text;
    size_t length;
    enum plim_flag flag; /* that it spells; its value, if it has one, is the next word */
};

struct plim_command {
    int n_words;
    struct plim_command_word words[PLIM_COMMAND_WORDS];
    bool is_cut;              /* more words than fit */
    bool is_flags_only;       /* no program: the words are flags, for whatever takes them */
    const char *visible;      /* CUDA_VISIBLE_DEVICES as set in front of the program; NULL: not set there */
    const char *device_order; /* CUDA_DEVICE_ORDER in the same way */
    char unknown[160];        /* flags and words that are not known, */
    char uncounted[160];      /* and flags that take memory which no bill counts: for notes */
};

void plim_command_add(struct plim_command *command, const char *word);

/* The name of a flag, and its value unless it is a switch. */
void plim_command_add_flag(struct plim_command *command, enum plim_flag flag, const char *name, size_t length,
                           const char *value);

/*
 * Read the command line of a program of llama.cpp or of Ollama, as one would type it: variables and launchers like
 * "env" and "nice" in front, then the program, which sets the client, then its flags. Flags that do not change memory
 * are skipped. Fails for programs whose flags are not known.
 */
int plim_command_read(int argc, char *const *argv, struct plim_arguments *arguments, struct plim_command *ret_command,
                      struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * The command with n changes made: a flag that is there gets its new value where it stands, spelled as it was; others
 * follow at the end. Words are quoted for a shell where they need it. NULL: the command does not fit the buffer.
 */
char *plim_command_text(const struct plim_command *command, const struct plim_flag_change *changes, unsigned n_changes,
                        char buffer[PLIM_COMMAND_BYTES]);

/*
 * A fix as an Ollama user makes it: lines of a Modelfile and settings of the server. n_parallel is the number of
 * slots, by which Ollama multiplies num_ctx. False when Ollama has no words for it.
 */
bool plim_ollama_text(const struct plim_fix *fix, unsigned n_parallel, char buffer[PLIM_COMMAND_BYTES]);

/* How the quant of a PLIM_FIX_QUANT is made of the model's file. False for other fixes. */
bool plim_quantize_text(const struct plim_model *model, const struct plim_fix *fix, char buffer[PLIM_COMMAND_BYTES]);

#endif
