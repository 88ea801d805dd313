/* SPDX-License-Identifier: MIT */
#include "diagnose/order.h"

#include "diagnose/scan/patterns/pattern.h"

/* The lower, the rather it is the root. */
static int root_rank(const struct plim_finding *finding)
{
    static const int ranks[PLIM_PATTERN_ROLE_MAX_] = {
        [PLIM_PATTERN_ROLE_FAILURE] = 0, [PLIM_PATTERN_ROLE_FAULT] = 0,      [PLIM_PATTERN_ROLE_CONSEQUENCE] = 1,
        [PLIM_PATTERN_ROLE_WRAPPER] = 2, [PLIM_PATTERN_ROLE_LOOK_ALIKE] = 3, [PLIM_PATTERN_ROLE_RECOVERED] = 3,
    };
    return finding->is_recovered ? 3 : ranks[finding->pattern->role];
}

/* What says only that it failed may stand before the traceback, too. */
static bool follows(const struct plim_finding *root, const struct plim_finding *other)
{
    const enum plim_pattern_role role = other->pattern->role;
    if (other->is_recovered || root_rank(root) > 2)
        return false;
    if (role == PLIM_PATTERN_ROLE_WRAPPER)
        return other->last_line + PLIM_LINES_OF_A_FAILURE >= root->line;
    if (other->offset < root->offset)
        return false;
    return role == PLIM_PATTERN_ROLE_CONSEQUENCE ||
           (plim_role_is_hard(role) && other->line - root->line <= PLIM_LINES_TO_FOLLOW);
}

static void append(const struct plim_finding *finding, bool is_related, struct plim_finding *ordered, uint32_t *ref_n)
{
    ordered[*ref_n] = *finding;
    ordered[(*ref_n)++].is_related = is_related;
}

void plim_findings_sort(const struct plim_finding *const *list, uint32_t n, struct plim_finding *ret_ordered)
{
    uint32_t root = 0, n_ordered = 0;
    if (n == 0)
        return;
    for (uint32_t i = 1; i < n; i++)
        if (root_rank(list[i]) < root_rank(list[root]))
            root = i;
    append(list[root], false, ret_ordered, &n_ordered);
    for (int is_related = 1; is_related >= 0; is_related--)
        for (uint32_t i = 0; i < n; i++)
            if (i != root && follows(list[root], list[i]) == is_related)
                append(list[i], is_related, ret_ordered, &n_ordered);
}
