/* SPDX-License-Identifier: MIT */
/* A context for a question that gives none. */
#include "base/error.h"
#include "base/mem.h"
#include "engine/lever.h"
#include "engine/type.h"

int plim_plan_context(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                      const struct plim_margin *margin, struct plim_setup *ret_setup, uint32_t *ret_n_ctx,
                      struct plim_error *reterr)
{
    const struct plim_growth *growth = setup->type->growth;
    struct plim_lever_range range;
    struct plim_bill *bill = plim_alloc(1, sizeof *bill);
    *ret_n_ctx = 0;
    if (!bill)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    const struct plim_situation at = { engine, setup, bill };
    struct plim_setup s = *setup;
    int result = plim_engine_bill(engine, setup, machine, margin, bill, reterr);
    if (result == 0 && growth && growth->context->range(&at, setup, &range)) {
        const bool is_open = growth->context->value_of(setup) == 0 && range.ordinary < range.now;
        *ret_n_ctx = is_open ? range.ordinary : range.now;
        if (is_open)
            growth->context->set(&at, range.ordinary, &s);
        result = is_open;
    }
    *ret_setup = s;
    plim_free(bill);
    return result;
}
