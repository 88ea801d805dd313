/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_EFFECTS_H
#define PLIMSOLL_VGPU_EFFECTS_H

/*
 * What some kernels write, known by their names. A kernel does nothing here, and most do not say what they would write.
 * Those of PyTorch that make nearly all of the numbers a program looks at do: fills, elementwise kernels, reductions
 * and the count of nonzero() have parameters of a fixed form. So a number of the host that lay in the same place before
 * is not taken for theirs, and a fill is really made.
 */

/* Each kernel of the program, with its mangled name, as it is registered. */
void plim_effects_register(const void *function, const char *name);

/* A launch with its parameters and the height of its grid. */
void plim_effects_launch(const void *function, void **parameters, unsigned grid_y);

#endif
