/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TOP_ROWS_H
#define PLIMSOLL_REPORT_TOP_ROWS_H

/* Which processes are in the table, and in which order. */

#include "report/top/view.h"

/* The rows of this moment; called again it reuses their memory. False: out of memory. */
bool plim_top_rows_make(struct plim_top_rows *rows, const struct plim_top_machine *machine,
                        const struct plim_top_view *view);
void plim_top_rows_done(struct plim_top_rows *rows);

struct plim_top_id plim_top_id_of(const struct plim_sample *sample, uint32_t holding);
bool plim_top_is_same(const struct plim_top_id *a, const struct plim_top_id *b);

/* The row of what is selected, or UINT32_MAX. */
uint32_t plim_top_rows_selected(const struct plim_top_rows *rows, const struct plim_sample *sample,
                                const struct plim_top_view *view);

bool plim_top_is_tagged(const struct plim_top_view *view, const struct plim_top_id *id);

#endif
