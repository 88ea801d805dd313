/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_PROGRAMS_NVIDIA_SMI_H
#define PLIMSOLL_VGPU_PROGRAMS_NVIDIA_SMI_H

/* Shared by the files of the stand-in for nvidia-smi. It knows a card only through the virtual NVML. */

#include "vgpu/nvml/nvml_api.h"

enum {
    PLIM_SMI_MAX_CARDS = 16,
    PLIM_SMI_MAX_PROCESSES = 256,
    PLIM_SMI_TEXT = 256,
    PLIM_SMI_CELL = 512,
    /* exit statuses: section RETURN VALUE of nvidia-smi(1) */
    PLIM_SMI_INVALID = 2,
    PLIM_SMI_NO_CARD = 6,
    PLIM_SMI_NO_DRIVER = 9,
};

struct plim_smi_card {
    unsigned index;
    device handle;
};

/* What a query asks for: the chosen cards, and how its answer is written. */
struct plim_smi {
    struct plim_smi_card card[PLIM_SMI_MAX_CARDS];
    unsigned n_cards;
    int has_header, has_units;
};

/* The processes on a card; returns how many are in the list. */
unsigned plim_smi_processes(device card, struct nvml_process_info *ret_list);

/* The first word of a process's command line; "[Not Found]": it has ended, or is hidden. */
void plim_smi_process_name(unsigned pid, char ret_name[PLIM_SMI_TEXT]);

/* A line for each card, or for each process on one, with the fields that a list names. Returns the exit status. */
int plim_smi_query_cards(const struct plim_smi *smi, const char *fields);
int plim_smi_query_processes(const struct plim_smi *smi, const char *fields);

/* What nvidia-smi prints without options, and with -L. */
void plim_smi_table(const struct plim_smi *smi);
void plim_smi_list(const struct plim_smi *smi);

#endif
