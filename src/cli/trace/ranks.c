/* SPDX-License-Identifier: MIT */
#include "cli/trace/ranks.h"

#include "cli/cli.h"
#include "cli/trace/choose.h"
#include "report/trace/ranks.h"
#include "trace/snapshot.h"

static int add(struct plim_trace_ranks *ranks, const char *path, long device)
{
    static const struct plim_trace_question question = { .has_no_trials = true };
    struct plim_memory_trace trace;
    struct plim_trace_analysis analysis;
    struct plim_error err = { 0 };
    if (plim_snapshot_open(path, &trace, &err) < 0)
        return plim_cli_fail(&err);
    int status = plim_cli_trace_analyse(&trace, device, &question, &analysis);
    if (status == PLIM_EXIT_YES) {
        if (plim_trace_ranks_add(ranks, path, &trace, &analysis, &err) < 0)
            status = plim_cli_fail(&err);
        plim_trace_analysis_done(&analysis);
    }
    plim_snapshot_done(&trace);
    return status;
}

static int show(struct plim_trace_ranks *ranks, bool is_json, const struct plim_style *style)
{
    struct plim_error err = { 0 };
    bool is_written = true;
    if (plim_trace_ranks_compare(ranks, &err) < 0)
        return plim_cli_fail(&err);
    if (is_json)
        is_written = plim_report_trace_ranks_json(stdout, ranks);
    else
        plim_report_trace_ranks_text(stdout, ranks, style);
    return is_written && plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}

int plim_cli_trace_ranks(const char *const *paths, size_t n_paths, long device, bool is_json,
                         const struct plim_style *style)
{
    struct plim_trace_ranks ranks;
    struct plim_error err = { 0 };
    int status = plim_trace_ranks_open(n_paths, &ranks, &err) < 0 ? plim_cli_fail(&err) : PLIM_EXIT_YES;
    for (size_t i = 0; i < n_paths && status == PLIM_EXIT_YES; i++)
        status = add(&ranks, paths[i], device);
    if (status == PLIM_EXIT_YES)
        status = show(&ranks, is_json, style);
    plim_trace_ranks_done(&ranks);
    return status;
}
