/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TOP_VIEW_H
#define PLIMSOLL_REPORT_TOP_VIEW_H

/*
 * What `plimsoll top` shows: the look at the machine that it has, and how the user wants to see it. Keys change the
 * second (cli/top/keys.h), frames are drawn of both (report/top/frame.h).
 */

#include "watch/watch.h"

/* --- the machine --- */

enum { PLIM_TOP_BILL_LINES = 14 };

/* What the model that a process has open would take by its bill, on the card where the process is. */
struct plim_top_bill {
    char title[160]; /* "llama-3.1-8B.gguf with llama-server -c 8192" */
    char why[240];   /* there is no bill: the reason; else "" */
    uint32_t n_lines;
    struct {
        char label[48];
        uint64_t low_bytes, high_bytes;
    } line[PLIM_TOP_BILL_LINES];
    uint64_t low_bytes, high_bytes;
};

struct plim_top_machine {
    const struct plim_sample *sample;
    const struct plim_watch_row *rows;   /* one for each holding */
    const struct plim_watch_card *cards; /* one for each card */
    /* As plim_watch_history(): points of a card (holding UINT32_MAX) or of a holding, the newest last. */
    uint32_t (*history)(const void *context, uint32_t card, uint32_t holding, int64_t *ret_bytes, uint32_t max);
    const void *history_context;
    const struct plim_top_bill *bill; /* of the process in the detail view; NULL: not asked for */
};

/* --- how it is seen --- */

enum plim_top_sort {
    PLIM_TOP_BY_MEMORY = 0,
    PLIM_TOP_BY_GROWTH,
    PLIM_TOP_BY_IDLE,
    PLIM_TOP_BY_STALE,
    PLIM_TOP_BY_GPU,
    PLIM_TOP_BY_CARD,
    PLIM_TOP_BY_PID,
    PLIM_TOP_BY_USER,
    PLIM_TOP_BY_COMMAND,
    PLIM_TOP_BY_MAX_
};

enum plim_top_page {
    PLIM_TOP_LIST = 0,
    PLIM_TOP_DETAIL,  /* one process: its memory beside a bill */
    PLIM_TOP_EXPLAIN, /* one process: what is known of its state, and what to do */
    PLIM_TOP_HELP,
    PLIM_TOP_SORTING, /* choose a column */
    PLIM_TOP_SIGNALS, /* choose a signal */
    PLIM_TOP_CONFIRM, /* send it? */
};

/* Memory of a process on a card, across samples: pids are reused, indexes move. */
struct plim_top_id {
    int64_t pid;
    uint64_t start_ticks;
    uint32_t card;
};

enum { PLIM_TOP_MAX_TAGGED = 64, PLIM_TOP_FILTER_BYTES = 96 };

struct plim_top_view {
    enum plim_top_page page;
    enum plim_top_sort sort;
    bool is_reversed; /* smallest first */
    bool is_tree;
    bool is_paused;
    bool is_readonly;
    bool is_filtering; /* the filter is being typed */
    bool is_slowed;    /* nothing changes: samples are taken less often */
    uint32_t interval_ms;
    uint32_t only_card;    /* index; UINT32_MAX: all */
    const char *only_user; /* name or number; NULL: all */
    char filter[PLIM_TOP_FILTER_BYTES];
    bool has_selection;
    struct plim_top_id selected;
    uint32_t selected_row; /* where it was last: from there on when it is gone */
    uint32_t first_row;    /* of the table, at the top of the screen */
    uint32_t n_table_rows; /* there was room for: written by the frame, for PgUp and PgDn */
    uint32_t shift;        /* of the commands, columns */
    uint32_t n_tagged;
    struct plim_top_id tagged[PLIM_TOP_MAX_TAGGED];
    uint32_t choice;   /* in the dialog that is open */
    char message[200]; /* of what was done last; "" */
    bool is_message_bad;
    char clock[16]; /* "14:03:22" */
};

/* The rows of the table: indexes of holdings, filtered and sorted. */
struct plim_top_rows {
    uint32_t n, n_hidden; /* by the filter */
    struct plim_top_row {
        uint32_t holding;
        uint32_t depth; /* in the tree */
    } * row;
    uint32_t size;
};

#endif
