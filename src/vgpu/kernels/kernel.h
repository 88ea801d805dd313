/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_KERNEL_H
#define PLIMSOLL_VGPU_KERNELS_KERNEL_H

/*
 * Kernels with a meaning. No code is run: a kernel is known by its public name, which tells its form (the template of
 * PyTorch or CUB that it is made of), its types and its functor. A form reads the parameters of a launch, takes what is
 * known of the inputs, and writes what comes of it. What is unknown stays unknown; of a kernel that nobody knows, so
 * does everything that it may have written.
 */

#include "vgpu/kernels/name.h"
#include "vgpu/kernels/view.h"

#include "vgpu/core/session.h"

struct plim_kernel_launch {
    void **parameters; /* as of cudaLaunchKernel: a pointer to each */
    unsigned grid[3], block[3];
};

/* A form of kernel: a family has one or several, which forms.c lists. */
struct plim_kernel_form {
    const char *name; /* the function's name, as in "void NAME<...>(...)", with or without its namespaces */

    /*
     * What the name says about a kernel, made once, kept for ever, and given to run(). NULL: this kernel of the form
     * has no meaning.
     */
    void *(*parse)(struct plim_text name);

    void (*run)(const void *parsed, const struct plim_kernel_launch *launch);
};

struct plim_meaning;

/* The kernel with this (mangled) name; made at its first use, never freed. NULL: no memory. Thread safe. */
PLIM_VGPU_EXPORT const struct plim_meaning *plim_meaning_of(const char *name);

/* A launch, before it returns to the program. parameters: NULL if they are not known. */
PLIM_VGPU_EXPORT void plim_meaning_apply(const struct plim_meaning *kernel, void **parameters, const unsigned grid[3],
                                         const unsigned block[3]);

/* A library writes through the addresses of device memory among these words, or through an array of such addresses. */
PLIM_VGPU_EXPORT void plim_meaning_lose(const uintptr_t *words, unsigned n);

/* As its name says; -1: it does not. */
int plim_meaning_n_parameters(const struct plim_meaning *kernel);

/* The most bytes that one of its parameters takes. */
size_t plim_meaning_parameter_bytes(const struct plim_meaning *kernel);

#endif
