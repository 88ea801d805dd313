/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_ENGINE_H
#define PLIMSOLL_ENGINE_LLAMACPP_ENGINE_H

/*
 * The llama.cpp engine: shared by the files of this folder, and by runtimes that start llama-server, which use its
 * functions of struct plim_engine_type.
 */

#include "bill/bill.h"
#include "engine/llamacpp/compute.h"
#include "engine/llamacpp/epoch.h"
#include "engine/llamacpp/shapes.h"
#include "engine/type.h"

struct plim_llamacpp {
    struct plim_engine base;
    struct plim_llama *llama;
    char contradiction[PLIM_LLAMA_CONTRADICTION]; /* of the model's file; "" without one */
    char doubts[PLIM_WHY_BYTES];                  /* of a forecast; "" without */
    struct plim_workspace *workspace;
    struct plim_epoch epoch;
    const struct plim_model *draft; /* the model draft_llama was made of */
    struct plim_llama *draft_llama;
};

/* The buffers of one model under one setup, as llama.cpp prints them when it loads. */
struct plim_buffers {
    struct plim_llama_context context;
    struct plim_placement place;
    struct plim_weights weights;
    struct plim_llama_memory memory;
    struct plim_compute compute;
    uint64_t output_bytes; /* host: "output buffer" */
};

/*
 * Measure them; plim_buffers_done() frees their memory. split_bytes[n_gpu] is the free memory the engine sees;
 * is_estimate asks for the figures --fit gets, which differ a little from those of a real start.
 */
int plim_buffers_measure(struct plim_workspace *workspace, const struct plim_llama *llama,
                         const struct plim_epoch *epoch, const struct plim_llamacpp_setup *setup, int n_gpu,
                         const uint64_t *split_bytes, bool is_estimate, struct plim_buffers *ret_buffers,
                         struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_buffers_done(struct plim_buffers *buffers);

/*
 * Give up pipeline parallelism when its compute buffers do not go into the free memory, as the engine does with
 * "retrying without pipeline parallelism" (llama_context::sched_reserve(), v0.5.0). host_bytes 0: unknown.
 */
void plim_buffers_settle(struct plim_workspace *workspace, const struct plim_llama *llama, int n_gpu,
                         const uint64_t *split_bytes, uint64_t host_bytes, struct plim_buffers *buffers);

/* model + context + compute on backend i, which --fit compares with the free memory. */
uint64_t plim_buffers_sum(const struct plim_buffers *buffers, int i);

/* The free memory of each card as llama.cpp sees it; returns the number of GPUs that take part. */
int plim_visible_gpus(const struct plim_llamacpp_setup *setup, const struct plim_machine *machine,
                      uint64_t *ret_split_bytes);

/* The settings with the backend of the cards, unless they name one; *copy is used when they change. */
const struct plim_llamacpp_setup *plim_llamacpp_with_backend(const struct plim_llamacpp_setup *setup,
                                                             const struct plim_machine *machine,
                                                             struct plim_llamacpp_setup *copy);

/* The draft model (or NULL) made ready; kept in the engine. */
int plim_llamacpp_draft(struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup,
                        const struct plim_llama **ret_llama, struct plim_error *reterr) PLIM_MUST_CHECK;

/* The setup a draft model runs with, and the memory it takes. */
void plim_llamacpp_draft_setup(const struct plim_llamacpp_setup *setup, const struct plim_llama_context *main_context,
                               struct plim_llamacpp_setup *ret_setup);

/* --- auxiliary models: draft, MTP, mmproj, LoRA (lines/aux_models.c) --- */

int plim_aux_models_add(struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup,
                        const struct plim_buffers *main, int n_gpu, const uint64_t *split_bytes, struct plim_bill *bill,
                        struct plim_error *reterr) PLIM_MUST_CHECK;

/* --- tokens per second (speed.c) --- */

void plim_speed_estimate(const struct plim_llama *llama, const struct plim_buffers *buffers,
                         const struct plim_machine *machine, enum plim_backend backend, struct plim_bill *bill);

/* --- functions of struct plim_engine_type --- */

int plim_llamacpp_open(const struct plim_model *model, const char *version, struct plim_engine **ret_engine,
                       struct plim_error *reterr);
void plim_llamacpp_close(struct plim_engine *engine);
bool plim_llamacpp_knows_model(const struct plim_engine *engine);
const char *plim_llamacpp_contradiction(const struct plim_engine *engine);
void plim_llamacpp_shape(const struct plim_engine *engine, struct plim_model_shape *ret_shape);
int plim_llamacpp_bill(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                       struct plim_bill *ret_bill, struct plim_error *reterr);
int plim_llamacpp_adjust(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                         const struct plim_bill *bill, struct plim_adjustment *ret_adjustment,
                         struct plim_error *reterr);

#endif
