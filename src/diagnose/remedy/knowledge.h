/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_KNOWLEDGE_H
#define PLIMSOLL_DIAGNOSE_KNOWLEDGE_H

/* The knowledge base: the files *.entries of data/errors, compiled in. Texts live as long as the program. */

#include "diagnose/finding.h"

/* The fields of an entry, as data/errors/causes.entries explains them. */
enum plim_field {
    PLIM_FIELD_TITLE,
    PLIM_FIELD_FROM,
    PLIM_FIELD_PRINTS,
    PLIM_FIELD_KIND,
    PLIM_FIELD_CAUSE,
    PLIM_FIELD_MEANS,
    PLIM_FIELD_BECAUSE,
    PLIM_FIELD_FIX,
    PLIM_FIELD_INSTEAD,
    PLIM_FIELD_USELESS,
    PLIM_FIELD_BELIEF,
    PLIM_FIELD_SINCE,
    PLIM_FIELD_SOURCE,
    PLIM_FIELD_SEE,
    PLIM_FIELD_OWN,
    PLIM_FIELD_MAX_
};

struct plim_knowledge_entry {
    const char *id;
    size_t first_row, n_rows; /* of the table */
};

/* A field's text, and what follows its " | ": the command of a fix, the truth about a belief; "" without a bar. */
struct plim_field_text {
    const char *text, *rest;
};

size_t plim_knowledge_size(void);
struct plim_knowledge_entry plim_knowledge_entry(size_t n);

/* The n-th text of this field; text is NULL when there are fewer. */
struct plim_field_text plim_entry_field(const struct plim_knowledge_entry *entry, enum plim_field field, size_t n);

/* False: no such entry. */
bool plim_knowledge_by_id(const char *id, struct plim_knowledge_entry *ret_entry);

/* The entry of a finding: that of its kind, else that of its cause. */
bool plim_knowledge_for(const char *kind, enum plim_cause cause, struct plim_knowledge_entry *ret_entry);

/* The same of a finding, whose words can make it more exact: a limit's kill and a machine's have one message. */
bool plim_knowledge_of(const struct plim_finding *finding, enum plim_cause cause,
                       struct plim_knowledge_entry *ret_entry);

enum { PLIM_MAX_SEARCH_RESULTS = 32 };

struct plim_search_result {
    struct plim_knowledge_entry entry;
    unsigned score; /* the higher, the nearer; 0 never */
    bool is_phrase; /* the query as it stands is much of the title or of a message */
    bool is_weak;   /* most of the query's words are not in it */
};

/* Entries that have words of the query, the best first; at most PLIM_MAX_SEARCH_RESULTS. Returns how many. */
size_t plim_knowledge_search(const char *query, struct plim_search_result ret_hits[PLIM_MAX_SEARCH_RESULTS]);

#endif
