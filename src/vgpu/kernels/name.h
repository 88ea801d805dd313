/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_NAME_H
#define PLIMSOLL_VGPU_KERNELS_NAME_H

/*
 * Names of kernels, demangled: "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<long, ...> >(...)". The
 * types of a kernel's parameters, its functor and what its lambdas capture are in its name.
 */

#include "vgpu/kernels/element.h"

#include <stdbool.h>
#include <stddef.h>

/* A part of a name. */
struct plim_text {
    const char *start;
    size_t size;
};

/*
 * The demangled name, to be freed; NULL: not a C++ name, or nobody in this process can demangle (__cxa_demangle of the
 * C++ ABI, which a program with kernels of C++ has).
 */
char *plim_name_demangled(const char *mangled);

struct plim_text plim_text_of(const char *string);
bool plim_text_is(struct plim_text text, const char *string);
bool plim_text_starts(struct plim_text text, const char *string);
bool plim_text_has(struct plim_text text, const char *string);

/* The text behind the first `string` in it; empty: it has none. */
struct plim_text plim_text_after(struct plim_text text, const char *string);

/* The qualified name of a function: "at::native::reduce_kernel" of "void at::native::reduce_kernel<512, ...>(...)". */
struct plim_text plim_name_function(struct plim_text name);

/* The parameters of a function: the last brackets of its name. */
struct plim_text plim_name_parameters(struct plim_text name);

/* What is between the brackets of the first "name<...>" in the text. False: there is none. */
bool plim_name_template(struct plim_text text, const char *name, struct plim_text *ret_arguments);

/* The number-th of a list of arguments, without spaces around it. False: the list is shorter. */
bool plim_name_argument(struct plim_text arguments, unsigned number, struct plim_text *ret_argument);

/* The element type that this text spells ("c10::Half", "long"); PLIM_ELEMENT_NONE: another type. */
enum plim_element plim_name_element(struct plim_text text);

/* The element type that is the number-th argument of the first "name<...>" in the text. */
enum plim_element plim_name_template_element(struct plim_text text, const char *name, unsigned number);

/* A whole number that is an argument: "4", "256ul"; -1: it is none. */
long plim_name_number(struct plim_text text);

#endif
