/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/unknown.h"

#include <stdlib.h>
#include <string.h>

/*
 * The parameters of a kernel, from its signature: the last brackets of a demangled name. A pointer to const is read,
 * any other may be written through. Of a structure only its first word is looked at, which in PyTorch's TensorInfo and
 * PackedTensorAccessor is the data pointer: how large it is nobody says.
 */

enum { MAX_PARAMETERS = 64 };
enum kind { SCALAR, READ, WRITTEN, STRUCTURE };

struct signature {
    bool is_given;
    unsigned n;
    uint8_t kind[MAX_PARAMETERS];
};

static enum kind kind_of(struct plim_text type)
{
    if (type.size == 0)
        return STRUCTURE;
    if (type.start[type.size - 1] == '*')
        return plim_text_has(type, "const*") ? READ : WRITTEN;
    return plim_name_element(type) == PLIM_ELEMENT_NONE ? STRUCTURE : SCALAR;
}

int plim_unknown_n_parameters(struct plim_text name)
{
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text type;
    int n = 0;
    if (!plim_text_has(name, ")"))
        return -1;
    while (n <= MAX_PARAMETERS && plim_name_argument(parameters, (unsigned)n, &type) && type.size > 0)
        n++;
    return n;
}

void *plim_unknown_parse(struct plim_text name)
{
    struct signature *signature = calloc(1, sizeof *signature);
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text type;
    for (unsigned i = 0; signature && i < MAX_PARAMETERS && plim_name_argument(parameters, i, &type); i++)
        signature->kind[signature->n++] = (uint8_t)kind_of(type);
    if (signature)
        signature->is_given = plim_unknown_n_parameters(name) >= 0;
    return signature;
}

void plim_unknown_run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct signature *signature = parsed;
    if (!signature || !signature->is_given) { /* of C, or nobody in this process reads names of C++ */
        plim_shadow_doubt_all();
        return;
    }
    for (unsigned i = 0; i < signature->n; i++) {
        const void *pointer;
        if (signature->kind[i] == SCALAR || signature->kind[i] == READ)
            continue;
        memcpy(&pointer, launch->parameters[i], sizeof pointer);
        if (!plim_view_is_memory(pointer))
            continue;
        if (signature->kind[i] == WRITTEN)
            plim_shadow_lose(pointer);
        else
            plim_shadow_doubt(pointer);
    }
}
