/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "report/columns.h"
#include "report/explain_parts.h"

#include <inttypes.h>

enum { LINE_BYTES = 640, RANGES = 3 };

/* "1204 lines were not read, because all of this log would take too long: among lines 80 to 2300." */
static void print_lines(FILE *out, const struct plim_unread *unread)
{
    char text[LINE_BYTES];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "%" PRIu64 " line%s not read, because all of this log would take too long: among lines",
                                unread->n_lines, unread->n_lines == 1 ? " was" : "s were");
    for (uint32_t i = 0; i < unread->n && i < RANGES; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %" PRIu64 " to %" PRIu64, i ? "," : "",
                              unread->range[i].from, unread->range[i].to);
    snprintf(text + n, sizeof text - n, "%s.", unread->n > RANGES ? ", and others" : "");
    plim_print_wrapped(out, text, 0, 0);
}

void plim_explain_print_unread(FILE *out, const struct plim_explanation *explanation)
{
    char text[LINE_BYTES], size[PLIM_SIZE_TEXT];
    if (explanation->n_bytes_before) {
        snprintf(text, sizeof text,
                 "Only the end of the file was read: %s before it were not. Line 1 is the first there.",
                 plim_size_text(size, explanation->n_bytes_before));
        plim_print_wrapped(out, text, 0, 0);
    }
    if (explanation->has_more) {
        snprintf(text, sizeof text, "Only the first %s were read; what came behind them was not.",
                 plim_size_text(size, explanation->diagnosis->n_bytes));
        plim_print_wrapped(out, text, 0, 0);
    }
    if (explanation->diagnosis->unread.n_lines)
        print_lines(out, &explanation->diagnosis->unread);
}
