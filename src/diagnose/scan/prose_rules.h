/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PROSE_RULES_H
#define PLIMSOLL_DIAGNOSE_SCAN_PROSE_RULES_H

/* Regular expressions that tell a failure from a sentence about failures: data/errors/prose.rules, compiled in. */

#include <stdbool.h>

/* In the order of the file, under its names. */
enum plim_prose_rule_id {
    PLIM_PROSE_CODE,
    PLIM_PROSE_TESTED_STRING,
    PLIM_PROSE_CHANGE,
    PLIM_PROSE_HELP,
    PLIM_PROSE_QUESTION,
    PLIM_PROSE_REPORT,
    PLIM_PROSE_ADVICE,
    PLIM_PROSE_EXPLANATION,
    PLIM_PROSE_DEFINITION,
    PLIM_PROSE_SAID_GENERAL,
    PLIM_PROSE_SAID_TELLER,
    PLIM_PROSE_SAID_PAGE,
    PLIM_PROSE_SAID_ONCE,
    PLIM_PROSE_SAID_ASIDE,
    PLIM_PROSE_SAID_WHEN,
    PLIM_PROSE_SAID_DENIED,
    PLIM_PROSE_SAID_NAMED,
    PLIM_PROSE_SAID_HAPPENED,
    PLIM_PROSE_SAID_BEFORE,
    PLIM_PROSE_SAID_CAME,
    PLIM_PROSE_SAID_TITLE,
    PLIM_PROSE_SAID_BEHIND,
    PLIM_PROSE_VOICE_SELF,
    PLIM_PROSE_VOICE_YOU,
    PLIM_PROSE_VOICE_PAGE,
    PLIM_PROSE_VOICE_CHANGE,
    PLIM_PROSE_VOICE_LOG,
    PLIM_PROSE_VOICE_REPORT,
    PLIM_PROSE_VOICE_PARTICULAR,
    PLIM_PROSE_RULE_MAX_
};

struct plim_prose_rule {
    bool is_caseless;
    const char *text; /* PCRE2 */
};

extern const struct plim_prose_rule plim_prose_rules[PLIM_PROSE_RULE_MAX_];

#endif
