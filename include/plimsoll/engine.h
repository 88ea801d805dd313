/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_H
#define PLIMSOLL_ENGINE_H

/*
 * Engines: the rules of one runtime, applied to one model. model + setup + machine -> bill.
 *
 * An engine type is a runtime; an engine is its rules made ready for one model, which then writes any number of bills.
 * An engine keeps scratch memory, so it is for one thread at a time; several may be made of one model.
 */

#include "plimsoll/bill.h"
#include "plimsoll/card.h"
#include "plimsoll/model.h"
#include "plimsoll/setup.h"

#ifdef __cplusplus
extern "C" {
#endif

struct plim_engine;

/* --- runtimes --- */

/* The i-th runtime that is known, NULL past the last. The first is the default. */
const struct plim_engine_type *plim_engine_type_at(size_t i);

/*
 * The runtime that a spec names: "llama.cpp", "ollama", "llama.cpp@v0.5.0"; NULL is the default. *ret_version is the
 * text after the @, or NULL; it may be NULL itself.
 */
int plim_engine_type_named(const char *spec, const struct plim_engine_type **ret_type, const char **ret_version,
                           struct plim_error *reterr);

const char *plim_engine_type_name(const struct plim_engine_type *type); /* "llama.cpp", "ollama" */
unsigned plim_engine_type_tasks(const struct plim_engine_type *type);   /* of enum plim_task */

/* Whose rules they are: "llama.cpp" for Ollama as well; and their oldest and newest version that is compared. */
const char *plim_engine_type_rules(const struct plim_engine_type *type);
void plim_engine_type_proven(const struct plim_engine_type *type, const char **ret_from, const char **ret_to);

/* --- one of them, for one model --- */

/*
 * The rules of a runtime for this model. version NULL is the newest that is proven; type NULL is the default. The model
 * must outlive the engine. Fails for versions that are not known, for files that do not run by themselves (mmproj,
 * LoRA), and for models that the runtime cannot load.
 */
int plim_engine_new(const struct plim_model *model, const struct plim_engine_type *type, const char *version,
                    struct plim_engine **ret_engine, struct plim_error *reterr);

/* NULL is fine; returns NULL. */
struct plim_engine *plim_engine_free(struct plim_engine *engine);

/* The rules applied: "llama.cpp" for Ollama as well, which starts llama-server; and their version, "v0.5.0". */
const char *plim_engine_name(const struct plim_engine *engine);
const char *plim_engine_version(const struct plim_engine *engine);
const struct plim_model *plim_engine_model(const struct plim_engine *engine);

/* True when the runtime's version has rules for the model's architecture. */
bool plim_engine_knows_model(const struct plim_engine *engine);

/*
 * A contradiction of the model's files, between hyperparameters and tensors or files, in words; NULL: none is known.
 * Bills of such a model have the verdict PLIM_VERDICT_UNKNOWN: it is unknown which of the two is true. It lives as the
 * engine.
 */
const char *plim_engine_contradiction(const struct plim_engine *engine);

struct plim_model_shape {
    uint32_t n_layer, n_embd, n_vocab, n_ctx_train, n_expert, n_expert_used;
    bool has_mtp;       /* next-token-prediction layers in the file */
    bool has_attention; /* false: every layer is recurrent */
};

void plim_engine_shape(const struct plim_engine *engine, struct plim_model_shape *ret_shape);

/*
 * Write the bill of a setup on a machine, with its verdict. Fails with PLIM_E_USAGE for invalid setups (a bad -ot
 * pattern, a device that is not there) and for those of another engine.
 */
int plim_engine_bill(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                     const struct plim_margin *margin, struct plim_bill *ret_bill, struct plim_error *reterr);

/* The setup that a runtime would start with, and how it differs. */
struct plim_adjustment {
    struct plim_setup setup;
    uint32_t n_settings;
    struct plim_setting settings[8]; /* decided by the runtime; NONE: as in the bill of the setup */
    struct plim_layer_range layers[PLIM_MAX_DEVICES];
    char flags[160];     /* as one would type it: "-c 9216 -ngl 31" */
    char more[64];       /* changes without a flag: "the experts of 3 layers in RAM"; may be empty */
    char short_more[32]; /* the same for a table: "experts of 3 in RAM" */
};

/*
 * The adjustment that the runtime itself makes to a setup when it starts: llama.cpp's --fit fills in unset settings so
 * that the model fits. Returns 1 and the setup it would start with when that differs, 0 when it would change nothing.
 * That setup need not fit either: the runtime gives up rather than change a given setting. `bill` is that of the setup
 * as it is.
 */
int plim_engine_adjust(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                       const struct plim_bill *bill, struct plim_adjustment *ret_adjustment, struct plim_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
