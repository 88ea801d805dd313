/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_ENGINE_H
#define PLIMSOLL_ENGINE_LLAMACPP_ENGINE_H

/* What the files of this folder share behind plimsoll/engine.h. */

#include "bill/bill.h"
#include "engine/llamacpp/compute.h"
#include "engine/llamacpp/epoch.h"
#include "plimsoll/engine.h"

struct plim_engine {
    const struct plim_model *model;
    struct plim_llama *llama;
    struct plim_workspace *workspace;
    struct plim_epoch epoch;
    const struct plim_model *draft; /* the model draft_llama was made of */
    struct plim_llama *draft_llama;
};

/* The buffers of one model under one setup: what llama.cpp prints when it loads. */
struct plim_buffers {
    struct plim_llama_context context;
    struct plim_placement place;
    struct plim_weights weights;
    struct plim_llama_memory memory;
    struct plim_compute compute;
    uint64_t output_bytes; /* host: "output buffer" */
};

/*
 * Measure them; plim_buffers_done() frees what they hold. split_bytes[n_gpu] is the free memory the engine sees;
 * is_estimate asks for the figures --fit gets, which differ a little from those of a real start.
 */
int plim_buffers_measure(struct plim_workspace *workspace, const struct plim_llama *llama,
                         const struct plim_epoch *epoch, const struct plim_setup *setup, int n_gpu,
                         const uint64_t *split_bytes, bool is_estimate, struct plim_buffers *ret_buffers,
                         struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_buffers_done(struct plim_buffers *buffers);

/*
 * Give up pipeline parallelism when its compute buffers do not go into the free memory, as the engine does with
 * "retrying without pipeline parallelism" (llama_context::sched_reserve(), v0.5.0). host_bytes of 0: not known.
 */
void plim_buffers_settle(struct plim_workspace *workspace, const struct plim_llama *llama, int n_gpu,
                         const uint64_t *split_bytes, uint64_t host_bytes, struct plim_buffers *buffers);

/* model + context + compute on backend i: what --fit compares with the free memory. */
uint64_t plim_buffers_sum(const struct plim_buffers *buffers, int i);

/* The free memory of each card as llama.cpp sees it; returns how many GPUs take part. */
int plim_visible_gpus(const struct plim_setup *setup, const struct plim_machine *machine, uint64_t *ret_split_bytes);

/* The setup with the client's own defaults filled in; *copy is used when there are any. */
const struct plim_setup *plim_client_setup(const struct plim_engine *engine, const struct plim_setup *setup,
                                           const struct plim_machine *machine, struct plim_setup *copy);

/* The draft model (or NULL) made ready; kept in the engine. */
int plim_engine_draft(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_llama **ret_llama,
                      struct plim_error *reterr) PLIM_MUST_CHECK;

/* The setup a draft model runs with, and the memory it takes. */
void plim_draft_setup(const struct plim_setup *setup, const struct plim_llama_context *main_context,
                      struct plim_setup *ret_setup);

/* --- what is loaded beside the model: draft, MTP, mmproj, LoRA (companions.c) --- */

int plim_aux_models_add(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_buffers *main,
                        int n_gpu, const uint64_t *split_bytes, struct plim_bill *bill,
                        struct plim_error *reterr) PLIM_MUST_CHECK;

/* --- tokens per second (speed.c) --- */

void plim_speed_estimate(const struct plim_llama *llama, const struct plim_buffers *buffers,
                         const struct plim_machine *machine, enum plim_backend backend, struct plim_bill *bill);

#endif
