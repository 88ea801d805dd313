/* SPDX-License-Identifier: MIT */
/* The work common to all engines, before and after the runtime's own functions. */
#include "plimsoll/engine.h"

#include "bill/bill.h"
#include "engine/type.h"

#include <string.h>

const char *plim_engine_type_name(const struct plim_engine_type *type) { return type->name; }
unsigned plim_engine_type_tasks(const struct plim_engine_type *type) { return type->tasks; }

const char *plim_engine_type_rules(const struct plim_engine_type *type) { return type->rules; }

void plim_engine_type_proven(const struct plim_engine_type *type, const char **ret_from, const char **ret_to)
{
    *ret_from = type->proven_from;
    *ret_to = type->proven_to;
}

/* --- one engine --- */

int plim_engine_new(const struct plim_model *model, const struct plim_engine_type *type, const char *version,
                    struct plim_engine **ret_engine, struct plim_error *reterr)
{
    struct plim_engine *engine;
    if (!type)
        type = plim_engine_type_at(0);
    int result = type->open(model, version, &engine, reterr);
    if (result < 0)
        return result;
    engine->type = type;
    engine->model = model;
    *ret_engine = engine;
    return 0;
}

struct plim_engine *plim_engine_free(struct plim_engine *engine)
{
    if (engine)
        engine->type->close(engine);
    return NULL;
}

const char *plim_engine_name(const struct plim_engine *engine) { return engine->type->rules; }
const char *plim_engine_version(const struct plim_engine *engine) { return engine->version; }
const struct plim_model *plim_engine_model(const struct plim_engine *engine) { return engine->model; }

bool plim_engine_knows_model(const struct plim_engine *engine)
{
    return !engine->type->knows_model || engine->type->knows_model(engine);
}

const char *plim_engine_contradiction(const struct plim_engine *engine)
{
    const char *text = engine->type->contradiction ? engine->type->contradiction(engine) : "";
    return *text ? text : plim_model_contradiction(engine->model);
}

void plim_engine_shape(const struct plim_engine *engine, struct plim_model_shape *ret_shape)
{
    engine->type->shape(engine, ret_shape);
}

/* Runtimes of the same rules take each other's setups. */
static int check_type(const struct plim_engine *engine, const struct plim_setup *setup, struct plim_error *reterr)
{
    if (setup->type == engine->type || (setup->type && !strcmp(setup->type->rules, engine->type->rules)))
        return 0;
    return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "a setup of %s is given to an engine of %s",
                     setup->type ? setup->type->name : "no engine", engine->type->name);
}

int plim_engine_bill(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                     const struct plim_margin *margin, struct plim_bill *ret_bill, struct plim_error *reterr)
{
    int result = check_type(engine, setup, reterr);
    if (result < 0)
        return result;
    plim_bill_start(ret_bill);
    result = setup->type->bill(engine, setup, machine, ret_bill, reterr);
    if (result < 0)
        return result;
    ret_bill->is_contradicted = plim_engine_contradiction(engine) != NULL;
    plim_bill_judge(ret_bill, margin);
    plim_bill_judge_shared(ret_bill, machine);
    return 0;
}

int plim_engine_adjust(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                       const struct plim_bill *bill, struct plim_adjustment *ret_adjustment, struct plim_error *reterr)
{
    int result = check_type(engine, setup, reterr);
    if (result < 0 || !setup->type->adjust)
        return result;
    return setup->type->adjust(engine, setup, machine, bill, ret_adjustment, reterr);
}
