/* SPDX-License-Identifier: MIT */
#include "engine/log.h"

#include "base/limits.h"
#include "base/mem.h"
#include "engine/log_type.h"

#include <stdio.h>
#include <string.h>

struct plim_log {
    void *state[PLIM_ENGINE_LOG_TYPES]; /* of each reader */
    bool is_in_escape;
    size_t length;
    char line[PLIM_MAX_LOG_LINE_BYTES];
};

struct plim_log *plim_log_new(void)
{
    struct plim_log *log = plim_alloc(1, sizeof *log);
    for (size_t i = 0; log && i < PLIM_ENGINE_LOG_TYPES; i++) {
        log->state[i] = plim_alloc(1, plim_engine_log_types[i]->size);
        if (!log->state[i]) {
            plim_log_free(log);
            return NULL;
        }
        plim_engine_log_types[i]->init(log->state[i]);
    }
    return log;
}

void plim_log_free(struct plim_log *log)
{
    for (size_t i = 0; log && i < PLIM_ENGINE_LOG_TYPES; i++)
        plim_free(log->state[i]);
    plim_free(log);
}

enum { SHORTEST_LINE = 8 }; /* no figure with its name is shorter */

static void end_line(struct plim_log *log)
{
    log->line[log->length] = '\0';
    for (size_t i = 0; log->length >= SHORTEST_LINE && i < PLIM_ENGINE_LOG_TYPES; i++)
        plim_engine_log_types[i]->line(log->state[i], log->line);
    log->length = 0;
    log->is_in_escape = false;
}

static void feed_character(struct plim_log *log, char c)
{
    if (c == '\n' || c == '\r') {
        end_line(log);
    } else if (log->is_in_escape) {
        log->is_in_escape = !((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    } else if (c == '\033') {
        log->is_in_escape = true;
    } else if (log->length + 1 < sizeof log->line) {
        log->line[log->length++] = c == '\0' || c == '\t' ? ' ' : c;
    }
}

void plim_log_feed(struct plim_log *log, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        feed_character(log, data[i]);
}

static int fail_unread(struct plim_error *reterr)
{
    char hint[sizeof reterr->hint] = "";
    size_t length = 0;
    for (size_t i = 0; i < PLIM_ENGINE_LOG_TYPES && length < sizeof hint; i++)
        length += (size_t)snprintf(hint + length, sizeof hint - length, "%s%s", i ? "; " : "",
                                   plim_engine_log_types[i]->reads);
    int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "no memory figures in this log");
    plim_error_hint(reterr, "check reads %s", hint);
    return code;
}

int plim_log_receipt(struct plim_log *log, struct plim_receipt *ret_receipt, struct plim_error *reterr)
{
    end_line(log);
    for (size_t i = 0; i < PLIM_ENGINE_LOG_TYPES; i++)
        if (plim_engine_log_types[i]->receipt(log->state[i], ret_receipt)) {
            ret_receipt->labels = plim_engine_log_types[i]->labels;
            plim_receipt_sort(ret_receipt);
            return 0;
        }
    return fail_unread(reterr);
}

const struct plim_receipt_labels *plim_log_labels(const char *engine)
{
    for (size_t i = 0; i < PLIM_ENGINE_LOG_TYPES; i++)
        if (!strcmp(plim_engine_log_types[i]->engine, engine))
            return plim_engine_log_types[i]->labels;
    return NULL;
}
