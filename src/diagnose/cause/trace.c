/* SPDX-License-Identifier: MIT */
#include "diagnose/cause/trace.h"

#include "base/table.h"
#include "diagnose/cause/figures.h"

#include <string.h>

enum { COLUMN_FILE, COLUMN_FUNCTION, COLUMN_WORK, COLUMN_READ_BY }; /* data/frames.csv */

static const char *cell(size_t row, size_t column) { return plim_table_cell(&plim_frames_table, row, column); }

/*
 * A row names a part of the path and of the function ("" matches all); a short name, and one with "=", has to be the
 * whole function.
 */
static bool is_row_of(size_t row, const struct plim_frame *frame)
{
    const char *file = cell(row, COLUMN_FILE), *function = cell(row, COLUMN_FUNCTION);
    const char *point = strrchr(frame->name, '.'), *name = point ? point + 1 : frame->name; /* IPython: "Module.to" */
    const bool is_function = *function == '='       ? !strcmp(name, function + 1)
                             : strlen(function) < 5 ? !*function || !strcmp(name, function)
                                                    : strstr(frame->name, function) != NULL;
    return is_function && strstr(frame->file, file) && strstr(cell(row, COLUMN_READ_BY), "explain");
}

static enum plim_trace trace_of(const char *work)
{
    static const char *const works[] = {
        [PLIM_TRACE_NONE] = "",
        [PLIM_TRACE_OPTIMIZER] = "optimizer",
        [PLIM_TRACE_FOREACH] = "foreach",
        [PLIM_TRACE_BACKWARD] = "backward",
        [PLIM_TRACE_FORWARD] = "forward",
        [PLIM_TRACE_LOSS] = "loss",
        [PLIM_TRACE_LOAD] = "load",
        [PLIM_TRACE_KV] = "kv",
        [PLIM_TRACE_GENERATE] = "generate",
        [PLIM_TRACE_CAPTURE] = "capture",
        [PLIM_TRACE_POOL] = "pool",
        [PLIM_TRACE_PROFILE] = "profile",
        [PLIM_TRACE_KEEP] = "keep",
    };
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (!strcmp(work, works[i]))
            return (enum plim_trace)i;
    return PLIM_TRACE_NONE;
}

enum plim_trace plim_trace_read(const struct plim_log_context *context, const struct plim_frame **ret_frame)
{
    *ret_frame = NULL;
    for (uint32_t i = context ? context->n_frames : 0; i-- > 0;)
        for (size_t row = 0; row < plim_frames_table.n_rows; row++)
            if (is_row_of(row, &context->frames[i])) {
                *ret_frame = &context->frames[i];
                return trace_of(cell(row, COLUMN_WORK));
            }
    return PLIM_TRACE_NONE;
}

bool plim_trace_has(const struct plim_log_context *context, enum plim_trace work)
{
    for (uint32_t i = 0; context && i < context->n_frames; i++)
        for (size_t row = 0; row < plim_frames_table.n_rows; row++)
            if (is_row_of(row, &context->frames[i])) {
                if (trace_of(cell(row, COLUMN_WORK)) == work)
                    return true;
                break;
            }
    return false;
}

bool plim_is_trial_step(const struct plim_finding *finding, const struct plim_log_context *context)
{
    static const char *const names[] = { "profile_run", "determine_available_memory",
                                         "determine_num_available_blocks" };
    bool is_in_traceback = false;
    if (!context || !finding->framework || strcmp(finding->framework, "vllm") != 0)
        return false;
    for (uint32_t i = 0; i < context->n_frames; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            is_in_traceback = is_in_traceback || !strcmp(context->frames[i].name, names[k]);
    return is_in_traceback || (plim_is_known(plim_figure(finding, context, PLIM_N_MODEL_BYTES)) &&
                               !plim_is_known(plim_figure(finding, context, PLIM_N_AVAILABLE_BYTES)) &&
                               !plim_is_known(plim_figure(finding, context, PLIM_N_KV_TOKENS)));
}
