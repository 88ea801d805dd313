/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TYPE_H
#define PLIMSOLL_ENGINE_TYPE_H

/*
 * The seam between runtimes and the rest of the program: one constant table each. Nothing outside a runtime's folder
 * knows its name; a new runtime is a folder and a line in types.c. Functions may be NULL where their comment says so.
 */

#include "base/notes.h"
#include "engine/arguments.h"
#include "engine/lever.h"
#include "engine/log.h"
#include "plimsoll/engine.h"

struct plim_command;
struct plim_course;
struct plim_stored_model;

/* The first member of every engine. */
struct plim_engine {
    const struct plim_engine_type *type;
    const struct plim_model *model;
    const char *version;
};

/* The use of a machine's cards. */
enum plim_cards_use {
    PLIM_CARDS_USED = 0,
    PLIM_CARDS_HIDDEN, /* the setup uses no card of the machine */
    PLIM_CARDS_UNUSED, /* a build without a GPU */
};

/*
 * Functions without a word on NULL must be there. With find_program go read_variable and read_command, with wants_file
 * goes attach.
 */
struct plim_engine_type {
    const char *name;                    /* as --engine takes it: "ollama" */
    const char *rules;                   /* the runtime whose rules apply: "llama.cpp" */
    const char *heading;                 /* of its options in help and manual: "llama.cpp's flags" */
    const char *proven_from, *proven_to; /* versions whose rules are those that the tests compare with the runtime */
    const char *const *compared; /* older versions that are compared on common models, NULL at its end; NULL: none */
    unsigned tasks;              /* of enum plim_task */
    bool has_quant_recipes;      /* it runs GGUF files: llama-quantize makes others of them */
    enum plim_model_kind model_kind; /* it alone answers for files of this kind; PLIM_MODEL_UNKNOWN: for models */

    /* --- settings --- */
    const struct plim_option *options;
    size_t n_options;
    const char *variable_prefix; /* of the options' variables: "LLAMA_ARG_"; NULL: no variables */
    void (*init)(struct plim_setup *setup);
    void (*adopt)(struct plim_setup *setup); /* one of another runtime of the same rules; NULL: as it is */
    enum plim_cards_use (*cards_use)(const struct plim_setup *setup); /* NULL: they are used */
    /* Keep the cards the setup uses, in its order; the setup follows. NULL: all of them, as they are. */
    int (*select_cards)(struct plim_setup *setup, struct plim_machine *machine, struct plim_notes *notes,
                        struct plim_error *reterr);
    /* The kind of file an option names, PLIM_MODEL_UNKNOWN: any; and put that model into the setup. NULL: no files. */
    bool (*wants_file)(const struct plim_setup *setup, const struct plim_option *option,
                       enum plim_model_kind *ret_kind);
    int (*attach)(struct plim_setup *setup, const struct plim_option *option, const struct plim_model *model,
                  struct plim_error *reterr);

    /* --- rules --- */
    int (*open)(const struct plim_model *model, const char *version, struct plim_engine **ret_engine,
                struct plim_error *reterr);
    void (*close)(struct plim_engine *engine);
    bool (*knows_model)(const struct plim_engine *engine);          /* NULL: any */
    const char *(*contradiction)(const struct plim_engine *engine); /* of the model's; "": none. NULL: not looked for */
    void (*shape)(const struct plim_engine *engine, struct plim_model_shape *ret_shape);
    /* Find what the setup asks to be found on this machine, and put it there. NULL: nothing can be. */
    int (*settle)(struct plim_engine *engine, struct plim_setup *setup, const struct plim_machine *machine,
                  struct plim_error *reterr);
    /* "--max B": what is to be found differs from machine to machine. NULL: nothing was asked for. With settle only. */
    bool (*asks_machine)(const struct plim_setup *setup, char *text, size_t size);
    /* All of the bill but its verdict, which the caller adds unless the bill has one already. */
    int (*bill)(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                struct plim_bill *ret_bill, struct plim_error *reterr);
    int (*adjust)(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                  const struct plim_bill *bill, struct plim_adjustment *ret_adjustment,
                  struct plim_error *reterr); /* NULL: it changes nothing */

    /* The course of the program's memory that a bill stands on. NULL: it stands on none. */
    int (*course)(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                  const struct plim_bill *bill, struct plim_course *ret_course, struct plim_error *reterr);

    /* --- advice --- */
    const struct plim_lever *const *levers; /* NULL at its end, as the pairs' first */
    const struct plim_lever_pair *pairs;
    const struct plim_growth *growth; /* NULL: the room in a setup that fits is not told */
    /* The options that turn the given setup into `to`. */
    uint32_t (*write_changes)(const struct plim_situation *at, const struct plim_lever *lever,
                              const struct plim_setup *to, struct plim_change ret_changes[PLIM_FIX_MAX_CHANGES]);
    /* A fix as the runtime's own settings, where it takes no flags; false: it has no setting for it. NULL: flags. */
    bool (*paste)(const struct plim_fix *fix, const struct plim_bill *before, char *text, size_t size);
    bool (*paste_quant)(const struct plim_model *model, const struct plim_fix *fix, char *text, size_t size);

    /* --- words --- */
    const char *(*client)(const struct plim_setup *setup);  /* "llama-server", "Ollama" */
    const char *(*program)(const struct plim_setup *setup); /* to write in front of its flags; NULL: no program */
    /* "context 8192 (the model's own), 33 of 33 layers on the GPU ..." */
    void (*describe)(const struct plim_bill *bill, uint32_t n_cards, char *text, size_t size);

    /* --- command lines; NULL: not supported --- */
    /* The number of words that name a program of this runtime, whose client is set; 0: another's program. */
    int (*find_program)(const char *name, const char *next, struct plim_setup *setup);
    int (*read_variable)(const char *name, const char *value, struct plim_arguments *arguments,
                         struct plim_error *reterr); /* set in front of the program; 1: it is one of its own */
    int (*read_command)(int argc, char *const *argv, int first, struct plim_arguments *arguments,
                        struct plim_command *command, struct plim_error *reterr);
    /* Apply the parameters of a model in a store of this runtime, where nothing else is set. NULL: no store. */
    void (*apply_stored)(const struct plim_stored_model *model, struct plim_setup *setup);
};

/* The runtime that alone answers for files of this kind; NULL: any may. */
const struct plim_engine_type *plim_engine_type_of_kind(enum plim_model_kind kind);

/* Make the setup one of this runtime's, with its default client; settings that both share stay. */
void plim_setup_change_type(struct plim_setup *setup, const struct plim_engine_type *type);

#endif
