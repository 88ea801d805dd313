/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_H
#define PLIMSOLL_ENGINE_H

/*
 * Engines: the rules of one runtime, applied to one model. model + setup + machine -> bill.
 *
 * An engine is made once per model and then writes any number of bills. It keeps scratch memory, so it is for one
 * thread at a time; several may be made of one model.
 */

#include "plimsoll/bill.h"
#include "plimsoll/card.h"
#include "plimsoll/model.h"
#include "plimsoll/setup.h"

#ifdef __cplusplus
extern "C" {
#endif

struct plim_engine;

/*
 * The rules of this runtime for this model. spec is "llama.cpp", "llama.cpp@v0.5.0" or "llama.cpp@b10256"; NULL is the
 * newest version that is proven. The model must outlive the engine. Fails for runtimes that are not known, for files
 * that do not run by themselves (mmproj, LoRA), and for models that lack what the runtime requires.
 */
int plim_engine_new(const struct plim_model *model, const char *spec, struct plim_engine **ret_engine,
                    struct plim_error *reterr);

/* NULL is fine; returns NULL. */
struct plim_engine *plim_engine_free(struct plim_engine *engine);

const char *plim_engine_name(const struct plim_engine *engine);    /* "llama.cpp" */
const char *plim_engine_version(const struct plim_engine *engine); /* "v0.5.0" */
const struct plim_model *plim_engine_model(const struct plim_engine *engine);

/* True when the runtime's version has rules for the model's architecture. */
bool plim_engine_knows_model(const struct plim_engine *engine);

struct plim_model_shape {
    uint32_t n_layer, n_embd, n_vocab, n_ctx_train, n_expert, n_expert_used;
    bool has_mtp;       /* next-token-prediction layers in the file */
    bool has_attention; /* false: recurrent through and through */
};

void plim_engine_shape(const struct plim_engine *engine, struct plim_model_shape *ret_shape);

/*
 * Write the bill of a setup on a machine, with its verdict. Fails with PLIM_E_USAGE for setups that make no sense (a
 * bad -ot pattern, a device that is not there).
 */
int plim_engine_bill(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                     const struct plim_margin *margin, struct plim_bill *ret_bill, struct plim_error *reterr);

/*
 * What the runtime itself makes of a setup when it starts: llama.cpp's --fit fills in what is unset so that it fits.
 * Returns 1 and the setup it would start with when that differs, 0 when it would change nothing. What it would start
 * with need not fit either: it gives up where it would have to change what is set.
 */
int plim_engine_autofit(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                        struct plim_setup *ret_setup, struct plim_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
