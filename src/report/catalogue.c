/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "report/report.h"

void plim_report_catalogue_text(FILE *out, const size_t *rows, size_t n, const struct plim_style *style)
{
    const char *bold = style->has_colour ? "\033[1m" : "", *plain = style->has_colour ? "\033[0m" : "";
    fprintf(out, "%s%-38s %11s %-8s %10s %7s%s\n", bold, "card", "total", "basis", "bandwidth", "compute", plain);
    for (size_t i = 0; i < n; i++) {
        struct plim_card card;
        char total[PLIM_SIZE_TEXT], bandwidth[24] = "unknown", capability[16] = "";
        plim_catalogue_card(rows[i], &card);
        if (card.bandwidth_bytes_per_s > 0)
            snprintf(bandwidth, sizeof bandwidth, "%.0f GB/s", card.bandwidth_bytes_per_s / 1e9);
        snprintf(capability, sizeof capability, "%.10s", plim_catalogue_field(rows[i], "compute_capability"));
        fprintf(out, "%-38.38s %11s %-8s %10s", card.name, plim_size_text(total, card.total_bytes),
                plim_basis_name(card.total_basis), bandwidth);
        fprintf(out, *capability ? " %7s\n" : "%s\n", capability);
    }
    fprintf(out, "%zu card%s\n", n, n == 1 ? "" : "s");
}
