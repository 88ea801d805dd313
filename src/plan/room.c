/* SPDX-License-Identifier: MIT */
/* The room that is left in a setup that fits: by the same search as the fixes, upwards. */
#include "plan/planner.h"

#include "base/mem.h"
#include "engine/type.h"

#include <string.h>

/* The largest value that fits, at least that of now; 0 when it cannot be told. *ret_is_all: there is none larger. */
static uint32_t most(struct plim_planner *p, const struct plim_lever *lever, bool *ret_is_all)
{
    struct plim_lever_range range;
    if (!lever->range(&p->at, p->at.setup, &range))
        return 0;
    uint32_t value = plim_search(p, lever, &range, p->at.setup);
    if (value < range.now)
        value = range.now;
    *ret_is_all = value / range.unit + 1 >= range.high;
    return value;
}

int plim_plan_room(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                   const struct plim_margin *margin, const struct plim_bill *bill, struct plim_room *ret_room,
                   struct plim_error *reterr)
{
    struct plim_planner p = {
        .engine = engine,
        .at = { engine, setup, bill },
        .machine = machine,
        .margin = margin,
        .err = reterr,
    };
    const struct plim_growth *growth = setup->type->growth;
    *ret_room = (struct plim_room){ 0 };
    if (bill->verdict != PLIM_VERDICT_FITS || !growth)
        return 0;
    p.bill = plim_alloc(1, sizeof *p.bill);
    if (!p.bill)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    struct plim_room room = { 0 };
    bool is_all_slots;
    room.n_ctx = most(&p, growth->context, &room.is_ctx_all);
    if (growth->slots && p.result >= 0) {
        room.n_slots = most(&p, growth->slots, &is_all_slots);
        room.n_ctx_slot = room.n_slots ? growth->slot_tokens(&p.at) : 0;
    }
    plim_free(p.bill);
    if (p.result < 0)
        return p.result;
    *ret_room = room;
    return 0;
}
