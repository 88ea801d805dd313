/* SPDX-License-Identifier: MIT */
#include "plimsoll/setup.h"

#include "engine/arguments.h"
#include "engine/type.h"

#include <string.h>

void plim_setup_init(struct plim_setup *setup, const struct plim_engine_type *type)
{
    memset(setup, 0, sizeof *setup);
    setup->type = type ? type : plim_engine_type_at(0);
    setup->task = setup->type->tasks & PLIM_TASK_INFER ? PLIM_TASK_INFER : PLIM_TASK_TRAIN;
    setup->type->init(setup);
}

void plim_setup_change_type(struct plim_setup *setup, const struct plim_engine_type *type)
{
    if (setup->type == type)
        return;
    if (strcmp(setup->type->rules, type->rules) != 0)
        plim_setup_init(setup, type);
    setup->type = type;
    if (type->adopt)
        type->adopt(setup);
}

int plim_setup_set(struct plim_setup *setup, const char *name, const char *value, struct plim_error *reterr)
{
    struct plim_arguments arguments = { .setup = *setup };
    bool on = true;
    const struct plim_option *option = plim_option_with_key(setup->type, name);
    if (!option)
        option = plim_option_named(setup->type, name, &on);
    if (!option)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s has no option '%.60s'", setup->type->name, name);
    if (option->kind == PLIM_OPTION_MODEL || option->kind == PLIM_OPTION_FILE)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET,
                         "'%.60s' names a file: open it and put it into the setup", name);
    if (option->help.value && !value)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%.60s needs a value: %s", name, option->help.value);
    if (!on && value)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%.60s takes no value", name);
    const int result = plim_option_apply(option, on, value, &arguments, reterr);
    if (result == 0)
        *setup = arguments.setup;
    return result;
}
