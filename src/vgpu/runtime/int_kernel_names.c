/* SPDX-License-Identifier: MIT */
/* The operation of an integer kernel of PyTorch, by its mangled name. */
#include "vgpu/runtime/int_kernels.h"

#include <string.h>

static const char letters[] = "lisahb";

static bool is_letter(char c) { return c && strchr(letters, c); }

/* The part of the name after `prefix`; NULL: the name does not contain it. */
static const char *after(const char *name, const char *prefix)
{
    const char *found = strstr(name, prefix);
    return found ? found + strlen(prefix) : NULL;
}

static struct plim_int_kernel reduction_of(const char *name)
{
    const char *found = strstr(name, "8ReduceOpIlNS0_14func_wrapper_tIl");
    struct plim_int_kernel what = { .operation = PLIM_INT_KERNEL_NONE, .number = -1 };
    if (found)
        what.operation = strstr(found, "NS0_13MaxNanFunctorIlE")    ? PLIM_INT_KERNEL_MAX
                         : strstr(found, "NS0_13MinNanFunctorIlE")  ? PLIM_INT_KERNEL_MIN
                         : strstr(found, "ZNS0_11sum_functorIlllE") ? PLIM_INT_KERNEL_SUM
                                                                    : PLIM_INT_KERNEL_NONE;
    return what;
}

static const struct functor {
    const char *name; /* with its length and the letter of its template */
    uint8_t operation;
} functors[] = {
    { "10MulFunctorI", PLIM_INT_KERNEL_MULTIPLY },    { "16BitwiseOrFunctorI", PLIM_INT_KERNEL_OR },
    { "17BitwiseAndFunctorI", PLIM_INT_KERNEL_AND },  { "17BitwiseXorFunctorI", PLIM_INT_KERNEL_XOR },
    { "16CompareEqFunctorI", PLIM_INT_KERNEL_EQUAL }, { "14CompareFunctorI", PLIM_INT_KERNEL_COMPARE },
};

static const struct functor *functor_in(const char *name)
{
    for (size_t i = 0; i < sizeof functors / sizeof *functors; i++) {
        const char *type = after(name, functors[i].name);
        if (type && is_letter(type[0]) && type[1] == 'E')
            return &functors[i];
    }
    return NULL;
}

/* Two operands, one of which may lie in the functor. */
static struct plim_int_kernel binary_of(const char *name)
{
    static const struct {
        const char *name;
        uint8_t n_inputs;
        int8_t number;
    } wrappers[] = { { "13BinaryFunctorI", 2, -1 }, { "13AUnaryFunctorI", 1, 0 }, { "13BUnaryFunctorI", 1, 1 } },
      additions[] = { { "15CUDAFunctor_addI", 2, -1 },
                      { "21CUDAFunctorOnSelf_addI", 1, 1 },
                      { "22CUDAFunctorOnOther_addI", 1, 0 } };
    struct plim_int_kernel what = { .operation = PLIM_INT_KERNEL_NONE, .number = -1 };
    const char *type;
    for (size_t i = 0; i < 3; i++)
        if ((type = after(name, additions[i].name)) && is_letter(type[0]) && type[1] == 'E' && type[0] != 'b')
            return (struct plim_int_kernel){ PLIM_INT_KERNEL_ADD,   { type[0], type[0] }, type[0],
                                             additions[i].n_inputs, additions[i].number,  false };
    const struct functor *functor = functor_in(name);
    if (!functor)
        return what;
    for (size_t i = 0; i < 3; i++)
        if ((type = after(name, wrappers[i].name)))
            return is_letter(type[0]) && is_letter(type[1]) && is_letter(type[2])
                       ? (struct plim_int_kernel){ functor->operation,   { type[0], type[1] }, type[2],
                                                   wrappers[i].n_inputs, wrappers[i].number,   false }
                       : what;
    type = after(name, functor->name); /* the functor by itself, of one type */
    const bool is_flag = functor->operation == PLIM_INT_KERNEL_EQUAL || functor->operation == PLIM_INT_KERNEL_COMPARE;
    return (struct plim_int_kernel){ functor->operation, { *type, *type }, is_flag ? 'b' : *type, 2, -1, false };
}

static struct plim_int_kernel unary_of(const char *name)
{
    const char *type = after(name, "27converting_copy_kernel_cudaI"), *copy;
    if (type && is_letter(type[0]) && is_letter(type[1]) && type[2] == 'E')
        return (struct plim_int_kernel){ PLIM_INT_KERNEL_CONVERT, { type[0] }, type[1], 1, -1, false };
    if (strstr(name, "23bitwise_not_kernel_cuda") && strstr(name, "EUlbE_"))
        return (struct plim_int_kernel){ PLIM_INT_KERNEL_NOT, { 'b' }, 'b', 1, -1, false };
    if ((copy = strstr(name, "23direct_copy_kernel_cuda")) && (type = after(copy, "EUl")) && is_letter(type[0]) &&
        type[1] == 'E')
        return (struct plim_int_kernel){ PLIM_INT_KERNEL_CONVERT, { type[0] }, type[0], 1, -1, false };
    return (struct plim_int_kernel){ .operation = PLIM_INT_KERNEL_NONE, .number = -1 };
}

struct plim_int_kernel plim_int_kernel_of(const char *name)
{
    const bool is_unrolled =
        strstr(name, "27unrolled_elementwise_kernelI") && strstr(name, "23TrivialOffsetCalculatorI");
    if (strstr(name, "13reduce_kernelI"))
        return reduction_of(name);
    if (!is_unrolled && !strstr(name, "29vectorized_elementwise_kernelI"))
        return (struct plim_int_kernel){ .operation = PLIM_INT_KERNEL_NONE, .number = -1 };
    struct plim_int_kernel what = binary_of(name);
    if (what.operation == PLIM_INT_KERNEL_NONE)
        what = unary_of(name);
    what.is_cast = strstr(name, "12LoadWithCastI") != NULL;
    /* the number of buffers in the kernel's signature */
    if (!strstr(name, what.n_inputs == 2 ? "St5arrayIPcLm3E" : "St5arrayIPcLm2E"))
        what.operation = PLIM_INT_KERNEL_NONE;
    return what;
}
