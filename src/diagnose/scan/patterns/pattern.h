/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_PATTERN_H
#define PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_PATTERN_H

/*
 * The patterns of messages, compiled in from the .patterns files of data/errors by tools/embed_patterns.py: the keys
 * are explained there.
 */

#include "diagnose/finding.h"

enum { PLIM_MAX_PATTERNS = 2048 }; /* a multiple of 64 */

enum plim_pattern_role {
    PLIM_PATTERN_ROLE_FAILURE,     /* of memory, hard */
    PLIM_PATTERN_ROLE_FAULT,       /* hard, but not of memory */
    PLIM_PATTERN_ROLE_CONSEQUENCE, /* follows from another failure */
    PLIM_PATTERN_ROLE_WRAPPER,     /* "it failed, look above" */
    PLIM_PATTERN_ROLE_LOOK_ALIKE,  /* the words of a memory failure, not the thing */
    PLIM_PATTERN_ROLE_RECOVERED,   /* a warning, or the program went on */
    PLIM_PATTERN_ROLE_NEIGHBOUR,   /* no finding: figures for the context */
    PLIM_PATTERN_ROLE_SERIES,      /* a neighbour that repeats */
    PLIM_PATTERN_ROLE_PROGRAM,     /* names a program */
    PLIM_PATTERN_ROLE_MAX_
};

/* Where in its line a match may stand; ALARM: at the start of one whose prefix says ERROR. */
enum plim_line_place {
    PLIM_LINE_ANYWHERE = 0,
    PLIM_LINE_START = 1,
    PLIM_LINE_END = 2,
    PLIM_LINE_WHOLE = 3,
    PLIM_LINE_ALARM = 4
};

enum plim_keep { PLIM_KEEP_LAST, PLIM_KEEP_FIRST, PLIM_KEEP_MIN, PLIM_KEEP_MAX, PLIM_KEEP_SUM };

/* Lists end with NULL (texts) or PLIM_VALUE_END (values); a list without items is NULL. */
struct plim_pattern {
    const char *id;        /* `kind` in JSON */
    const char *framework; /* an id of data/frameworks.csv */
    const char *stage;     /* "": not known */
    const char *note;      /* "": no note */
    enum plim_pattern_role role;
    enum plim_cause cause; /* PLIM_CAUSE_UNKNOWN: for the rules to say */
    enum plim_keep keep;
    enum plim_line_place line;
    bool is_general;                         /* the words of any program: gives way to every other finding */
    bool is_said;                            /* general, and people's words: for a short text without a message */
    bool is_weak;                            /* the marks of others go before it; of programs */
    bool is_shell;                           /* a shell says it, of whatever it ran: not its framework itself */
    bool is_open;                            /* memory was refused: how that ended stands in lines behind it */
    bool is_dump;                            /* goes on for thousands of lines */
    bool is_relay;                           /* a wrapper: an exception of another process, which the log may have */
    const char *const *anchors;              /* any of them stands in the text */
    const char *match;                       /* PCRE2 */
    const char *const *more;                 /* PCRE2, behind the match */
    const char *const *before;               /* PCRE2, before the match */
    const char *const *refines;              /* ids */
    const char *const *recovers;             /* ids */
    const char *const *wraps;                /* frameworks; of programs */
    const char *const *paths;                /* parts of paths in tracebacks; of programs */
    const char *const *nears;                /* texts in the window of a failure; of programs */
    const char *const *packages;             /* of Python, used in the window of a failure; of programs */
    const char *const *names;                /* words in a short text; of programs */
    const struct plim_pattern_value *values; /* `set` and `unit` and `takes`; the last is PLIM_VALUE_END */
};

enum plim_value_kind {
    PLIM_VALUE_END,
    PLIM_VALUE_SET_NUMBER, /* index is a number, amount its value */
    PLIM_VALUE_SET_WORD,
    PLIM_VALUE_UNIT, /* amount: bytes of the unit that the figure is printed in */
    PLIM_VALUE_TAKE_NUMBER,
    PLIM_VALUE_TAKE_WORD,
};

struct plim_pattern_value {
    enum plim_value_kind kind;
    int index; /* enum plim_number or enum plim_word */
    int64_t amount;
    const char *text;
};

/* A word of an anchor, long and rare enough to look for in the raw bytes, and the anchor it stands in. */
struct plim_trigger {
    const char *word;
    const char *anchor;
    uint16_t n_anchor; /* bytes */
    uint16_t at;       /* where the word begins in the anchor */
    uint16_t pattern;
};

extern const struct plim_pattern plim_patterns[];
extern const uint16_t plim_n_patterns;
extern const struct plim_trigger plim_triggers[];
extern const uint16_t plim_n_triggers;

/* What a framework wraps, directly or through others: of `wraps` of all its programs. */
struct plim_wrapping {
    const char *framework;
    const char *const *wrapped; /* ends with NULL */
};

extern const struct plim_wrapping plim_wrappings[];
extern const uint16_t plim_n_wrappings;

/* NULL: no such pattern. */
const struct plim_pattern *plim_pattern_find(const char *id);

/* True when the id is in a list of ids. */
bool plim_pattern_lists(const char *const *list, const char *id);

/* A failure that ends the program, of memory or not. */
static inline bool plim_role_is_hard(enum plim_pattern_role role)
{
    return role == PLIM_PATTERN_ROLE_FAILURE || role == PLIM_PATTERN_ROLE_FAULT;
}

/* "failure" */
const char *plim_role_name(enum plim_pattern_role role);

#endif
