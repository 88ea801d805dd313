/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_FLAGS_FLAGS_H
#define PLIMSOLL_ENGINE_LLAMACPP_FLAGS_FLAGS_H

/* llama.cpp's part of the seam that is words: functions of struct plim_engine_type that its setup alone decides. */

#include "engine/type.h"

void plim_llamacpp_init(struct plim_setup *setup);

/* --- cards and files (devices.c, files.c) --- */
enum plim_cards_use plim_llamacpp_cards_use(const struct plim_setup *setup);
int plim_llamacpp_select_cards(struct plim_setup *setup, struct plim_machine *machine, struct plim_notes *notes,
                               struct plim_error *reterr);
bool plim_llamacpp_wants_file(const struct plim_setup *setup, const struct plim_option *option,
                              enum plim_model_kind *ret_kind);
int plim_llamacpp_attach(struct plim_setup *setup, const struct plim_option *option, const struct plim_model *model,
                         struct plim_error *reterr);

/* --- advice (levers.c, growth.c, quantize.c) --- */

/* Enough for a conversation; without -c llama.cpp takes all that the model was trained for. */
enum { PLIM_LLAMACPP_ORDINARY_CONTEXT = 8192 };

extern const struct plim_lever *const plim_llamacpp_levers[];
extern const struct plim_growth plim_llamacpp_growth;
extern const struct plim_lever_pair plim_llamacpp_pairs[];
uint32_t plim_llamacpp_write_changes(const struct plim_situation *at, const struct plim_lever *lever,
                                     const struct plim_setup *to, struct plim_change ret_changes[PLIM_FIX_MAX_CHANGES]);
bool plim_llamacpp_paste_quant(const struct plim_model *model, const struct plim_fix *fix, char *text, size_t size);

/* --- words (words.c) --- */
const char *plim_llamacpp_client(const struct plim_setup *setup);
const char *plim_llamacpp_program(const struct plim_setup *setup);
void plim_llamacpp_describe(const struct plim_bill *bill, uint32_t n_cards, char *text, size_t size);

/* --- command lines (commands.c) --- */
int plim_llamacpp_find_program(const char *name, const char *next, struct plim_setup *setup);
int plim_llamacpp_read_variable(const char *name, const char *value, struct plim_arguments *arguments,
                                struct plim_error *reterr);
int plim_llamacpp_read_command(int argc, char *const *argv, int first, struct plim_arguments *arguments,
                               struct plim_command *command, struct plim_error *reterr);

#endif
