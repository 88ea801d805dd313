/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_EXPLAIN_H
#define PLIMSOLL_REPORT_EXPLAIN_H

/* What a log shows, why it happened and what to do: one screen for people, plimsoll.explain/1 for programs. */

#include "diagnose/finding.h"
#include "diagnose/remedy/knowledge.h"
#include "diagnose/remedy/remedy.h"
#include "report/report.h"

enum { PLIM_EXPLAIN_MAX_PROCESSES = 16, PLIM_EXPLAIN_NAME_BYTES = 96 };

/* A finding with its cause; what to do about it is looked for at the root only. */
struct plim_explained {
    const struct plim_finding *finding;
    struct plim_cause_answer cause;
    struct plim_remedies remedies;
    struct plim_knowledge_entry entry; /* of the knowledge base */
    bool has_entry;
};

/* On a card of this machine, now. */
struct plim_explain_process {
    int64_t pid, bytes; /* bytes may be PLIM_UNKNOWN */
    char name[PLIM_EXPLAIN_NAME_BYTES], card[PLIM_EXPLAIN_NAME_BYTES];
    char user[33], why[200]; /* its owner; what is known of its use: "" */
    bool is_stale;           /* nobody waits for it */
    bool is_of_log;          /* the message of the root failure has its number */
};

struct plim_explanation {
    const struct plim_diagnosis *diagnosis;
    const char *source;           /* the path, or "standard input" */
    bool is_no_text;              /* the source is a program, a picture, a dump */
    uint64_t n_bytes_before;      /* of the file, that were not read */
    bool has_more;                /* the stream went on behind what was read */
    struct plim_explained *items; /* of diagnosis->findings, in its order */
    uint32_t n_items;
    struct plim_explain_process processes[PLIM_EXPLAIN_MAX_PROCESSES];
    uint32_t n_processes;
};

/* Something of the log was not read. */
static inline bool plim_explanation_lacks(const struct plim_explanation *explanation)
{
    return explanation->diagnosis->unread.n_lines || explanation->n_bytes_before || explanation->has_more;
}

void plim_report_explain_text(FILE *out, const struct plim_explanation *explanation, const struct plim_style *style);

/* False: out of memory, or the output is full. */
bool plim_report_explain_json(FILE *out, const struct plim_explanation *explanation);

#endif
