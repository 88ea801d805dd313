/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/match_limits.h"

#include "base/limits.h"

pcre2_match_context *plim_match_limits(void)
{
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    if (!limits)
        return NULL;
    pcre2_set_match_limit(limits, PLIM_MAX_MATCH_STEPS);
    pcre2_set_depth_limit(limits, PLIM_MAX_MATCH_DEPTH);
    pcre2_set_heap_limit(limits, PLIM_MAX_MATCH_HEAP_KIB);
    return limits;
}
