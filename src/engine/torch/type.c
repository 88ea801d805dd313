/* SPDX-License-Identifier: MIT */
/* PyTorch's row in the table of runtimes: its model is a recorded step. */
#include "engine/torch/engine.h"

#include "base/limits.h"
#include "model/step_model.h"

#include <stdio.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 1 << 20 };

static void init(struct plim_setup *setup) { *plim_torch_wish(setup) = (struct plim_torch_wish){ .n_set = 0 }; }

static int refuse(const struct plim_model *model, struct plim_error *reterr)
{
    const int code =
        plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "'%.80s' is not a recorded step", plim_model_name(model));
    plim_error_hint(reterr, "record one: plimsoll rehearse --record run.step -- python train.py");
    return code;
}

static int open_engine(const struct plim_model *model, const char *version, struct plim_engine **ret_engine,
                       struct plim_error *reterr)
{
    const struct plim_step *step = plim_model_step(model);
    if (!step)
        return refuse(model, reterr);
    if (version)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the version of PyTorch is the recording's");
    if (!step->n_shapes || !step->shapes[0].n_points)
        return plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "the step has no recording");
    struct plim_torch *engine = plim_alloc(1, sizeof *engine);
    if (!engine)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    engine->step = step;
    if (!*step->card_name || plim_catalogue_find(step->card_name, &engine->recorded_card, NULL) < 0)
        engine->recorded_card = (struct plim_card){ .compute_capability = 0 };
    engine->base.version = *step->torch_version ? step->torch_version : "of an unknown version";
    plim_arena_init(&engine->texts, MAX_TEXT_BYTES);
    *ret_engine = &engine->base;
    return 0;
}

static void close_engine(struct plim_engine *base)
{
    struct plim_torch *engine = plim_torch_of(base);
    plim_torch_scene_done(&engine->scene);
    plim_arena_done(&engine->texts);
    plim_free(engine);
}

static void shape(const struct plim_engine *engine, struct plim_model_shape *ret_shape)
{
    (void)engine;
    *ret_shape = (struct plim_model_shape){ .n_layer = 0 };
}

static const char *client(const struct plim_setup *setup)
{
    (void)setup;
    return "the recorded program";
}

/* Its command is pasted whole, not written as flags of a program. */
static const char *program(const struct plim_setup *setup)
{
    (void)setup;
    return NULL;
}

static bool asks_machine(const struct plim_setup *setup, char *text, size_t size)
{
    const struct plim_torch_wish *wish = plim_torch_wish_of(setup);
    snprintf(text, size, "--max %s", wish->max);
    return *wish->max;
}

const struct plim_engine_type plim_torch_type = {
    .name = "torch",
    .rules = "PyTorch",
    .heading = "Options of a recorded step",
    .proven_from = "2.5", /* tests/data/traces */
    .proven_to = "2.15",
    .tasks = PLIM_TASK_TRAIN | PLIM_TASK_INFER,
    .model_kind = PLIM_MODEL_STEP,
    .options = plim_torch_options,
    .n_options = PLIM_TORCH_N_OPTIONS,
    .init = init,
    .open = open_engine,
    .close = close_engine,
    .shape = shape,
    .settle = plim_torch_settle,
    .asks_machine = asks_machine,
    .bill = plim_torch_bill,
    .course = plim_torch_course,
    .levers = plim_torch_levers,
    .pairs = plim_torch_pairs,
    .write_changes = plim_torch_write_changes,
    .paste = plim_torch_paste,
    .client = client,
    .program = program,
    .describe = plim_torch_describe,
};
