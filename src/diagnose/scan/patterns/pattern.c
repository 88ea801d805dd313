/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/pattern.h"

#include <string.h>

static const char *const role_names[PLIM_PATTERN_ROLE_MAX_] = {
    [PLIM_PATTERN_ROLE_FAILURE] = "failure",         [PLIM_PATTERN_ROLE_FAULT] = "fault",
    [PLIM_PATTERN_ROLE_CONSEQUENCE] = "consequence", [PLIM_PATTERN_ROLE_WRAPPER] = "wrapper",
    [PLIM_PATTERN_ROLE_LOOK_ALIKE] = "look_alike",   [PLIM_PATTERN_ROLE_RECOVERED] = "recovered",
    [PLIM_PATTERN_ROLE_NEIGHBOUR] = "neighbour",     [PLIM_PATTERN_ROLE_SERIES] = "series",
    [PLIM_PATTERN_ROLE_PROGRAM] = "program",
};

const struct plim_pattern *plim_pattern_find(const char *id)
{
    for (uint16_t i = 0; i < plim_n_patterns; i++)
        if (plim_patterns[i].role != PLIM_PATTERN_ROLE_PROGRAM && !strcmp(plim_patterns[i].id, id))
            return &plim_patterns[i];
    return NULL;
}

const char *plim_role_name(enum plim_pattern_role role) { return role_names[role]; }

bool plim_pattern_lists(const char *const *list, const char *id)
{
    for (; list && *list; list++)
        if (!strcmp(*list, id))
            return true;
    return false;
}
