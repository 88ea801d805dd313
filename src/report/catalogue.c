/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "report/paint.h"
#include "report/print.h"
#include "report/report.h"

void plim_report_catalogue_text(FILE *out, const size_t *rows, size_t n, const struct plim_style *style)
{
    plim_print(out, "%s%-38s %11s %-8s %10s %7s%s\n", plim_paint(style, PLIM_BOLD), "card", "total", "basis",
               "bandwidth", "compute", plim_paint(style, PLIM_PLAIN));
    for (size_t i = 0; i < n; i++) {
        struct plim_card card;
        char total[PLIM_SIZE_TEXT], bandwidth[24] = "unknown", capability[16] = "";
        plim_catalogue_card(rows[i], &card);
        if (card.bandwidth_bytes_per_s > 0)
            snprintf(bandwidth, sizeof bandwidth, "%.0f GB/s", card.bandwidth_bytes_per_s / 1e9);
        snprintf(capability, sizeof capability, "%.10s", plim_catalogue_field(rows[i], "compute_capability"));
        plim_print(out, "%-38.38s %11s %-8s %10s", card.name, plim_size_text(total, card.total_bytes),
                   plim_basis_name(card.total_basis), bandwidth);
        plim_print(out, *capability ? " %7s\n" : "%s\n", capability);
    }
    plim_print(out, "%zu card%s\n", n, n == 1 ? "" : "s");
}
