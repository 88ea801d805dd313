/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "report/columns.h"
#include "report/print.h"
#include "report/report.h"

void plim_report_hollow_text(FILE *out, const struct plim_hollow *hollow)
{
    uint64_t bytes = 0, disk_bytes = 0;
    char size[PLIM_SIZE_TEXT], disk[PLIM_SIZE_TEXT];
    for (size_t i = 0; i < hollow->n_files; i++) {
        const struct plim_hollow_file *file = &hollow->files[i];
        bytes += file->bytes;
        disk_bytes += file->disk_bytes;
        plim_print(out, "%11s, %11s on disk  %s\n", plim_size_text(size, file->bytes),
                   plim_size_text(disk, file->disk_bytes), file->path);
    }
    plim_print(out, "%11s, %11s on disk  %zu file%s\n", plim_size_text(size, bytes), plim_size_text(disk, disk_bytes),
               hollow->n_files, hollow->n_files == 1 ? "" : "s");
    if (hollow->maker[0])
        plim_print(out, "%s\n", hollow->maker);
    if (hollow->contradiction[0]) {
        plim_print(out, "note:");
        plim_print_wrapped(out, hollow->contradiction, (int)sizeof "note:" - 1, 2);
    }
}
