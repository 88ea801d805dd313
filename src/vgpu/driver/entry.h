/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_ENTRY_H
#define PLIMSOLL_VGPU_DRIVER_ENTRY_H

/* The table of cuGetProcAddress(), made from entry.names: the rows of a name are adjacent, older versions first. */

struct plim_driver_entry {
    const char *name;
    int version; /* the version of CUDA: 12030 is 12.3 */
    const char *symbol;
};

extern const struct plim_driver_entry plim_driver_entries[];
extern const unsigned plim_n_entries;

#endif
