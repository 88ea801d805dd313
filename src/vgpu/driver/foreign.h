/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_FOREIGN_H
#define PLIMSOLL_VGPU_DRIVER_FOREIGN_H

/* NVIDIA's own code in a program: it asks libcuda for tables that are documented nowhere, and finds none. */

#include "vgpu/core/errors.h"

/*
 * The object of `caller` asked for such a table. Compilers can do without it; a runtime cannot, and finds no card. That
 * is a remark for the receipt: bypass when it is a library of its own, static_runtime when it is part of the object,
 * which stderr says, too.
 */
void plim_vgpu_asked_for_tables(const void *caller);

#endif
