/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_MATCH_LIMITS_H
#define PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_MATCH_LIMITS_H

/* What an expression may take on any text, however hostile. */

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Of one match (base/limits.h); the caller frees it. NULL: out of memory. */
pcre2_match_context *plim_match_limits(void);

#endif
