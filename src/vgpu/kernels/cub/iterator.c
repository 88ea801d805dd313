/* SPDX-License-Identifier: MIT */
/*
 * Layouts, the same at all offsets in CCCL 2.3 (CUDA 12.4), 2.7 (CUDA 12.8) and 3.3 (CUDA 13), read from launches of
 * PyTorch 2.5, 2.10 and 2.15 with known buffers: cub::TransformInputIterator holds its (empty) functor first and then
 * the iterator, thrust::transform_iterator the iterator first; counting iterators their value; cub's
 * ConstantInputIterator its value first, thrust::constant_iterator a counter of 8 bytes before it.
 */
#include "vgpu/kernels/cub/iterator.h"

#include <string.h>

/* Functors whose result is whether the element differs from zero. */
static bool is_flag_functor(struct plim_text functor)
{
    static const char *const names[] = { "NonZeroOp<", "MapNumberOfTrueValues", "CountMaskOp", "LoadBoolOp" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (plim_text_has(functor, names[i]))
            return true;
    return false;
}

/* The name in front of the brackets ends so: "thrust::_V_300200::counting_iterator". */
static bool is_template(struct plim_text type, const char *name, struct plim_text *ret_arguments)
{
    size_t end = 0;
    const size_t size = strlen(name);
    while (end < type.size && type.start[end] != '<')
        end++;
    return end < type.size && end >= size && memcmp(type.start + end - size, name, size) == 0 &&
           plim_name_template(type, name, ret_arguments);
}

static bool is_pointer(struct plim_text type, struct plim_iterator *ret_iterator)
{
    struct plim_text element = type, arguments;
    if (is_template(type, "::device_ptr", &arguments)) {
        element = arguments;
    } else {
        if (type.size < 2 || type.start[type.size - 1] != '*')
            return false;
        element.size--;
    }
    ret_iterator->kind = PLIM_ITERATOR_POINTER;
    ret_iterator->element = (uint8_t)plim_name_element(element);
    ret_iterator->width = (uint8_t)plim_element_bytes((enum plim_element)ret_iterator->element);
    if (plim_text_has(element, "NullType"))
        ret_iterator->kind = PLIM_ITERATOR_NONE;
    else if (is_template(element, "OpaqueType", &arguments))
        ret_iterator->width = (uint8_t)plim_name_number(arguments);
    return ret_iterator->kind == PLIM_ITERATOR_NONE || ret_iterator->width > 0;
}

static bool is_simple(struct plim_text type, struct plim_iterator *ret_iterator)
{
    struct plim_text arguments, first;
    *ret_iterator = (struct plim_iterator){ .kind = PLIM_ITERATOR_NONE };
    if (is_pointer(type, ret_iterator))
        return true;
    if (is_template(type, "::CountingInputIterator", &arguments) ||
        is_template(type, "::counting_iterator", &arguments)) {
        ret_iterator->kind = PLIM_ITERATOR_COUNTING;
    } else if (is_template(type, "::ConstantInputIterator", &arguments)) {
        ret_iterator->kind = PLIM_ITERATOR_CONSTANT;
    } else if (is_template(type, "::constant_iterator", &arguments)) {
        ret_iterator->kind = PLIM_ITERATOR_CONSTANT;
        ret_iterator->offset = 8;
    } else {
        return false;
    }
    if (!plim_name_argument(arguments, 0, &first))
        return false;
    ret_iterator->element = (uint8_t)plim_name_element(first);
    ret_iterator->width = (uint8_t)plim_element_bytes((enum plim_element)ret_iterator->element);
    return ret_iterator->width > 0;
}

bool plim_iterator_of(struct plim_text type, struct plim_iterator *ret_iterator)
{
    struct plim_text arguments, functor, base;
    const bool is_cub = is_template(type, "::TransformInputIterator", &arguments);
    if (!is_cub && !is_template(type, "::transform_iterator", &arguments))
        return is_simple(type, ret_iterator);
    if (!plim_name_argument(arguments, is_cub ? 1 : 0, &functor) ||
        !plim_name_argument(arguments, is_cub ? 2 : 1, &base) || !is_flag_functor(functor) ||
        !is_simple(base, ret_iterator) || ret_iterator->kind != PLIM_ITERATOR_POINTER ||
        ret_iterator->element == PLIM_ELEMENT_NONE)
        return false;
    ret_iterator->is_flag = true;
    ret_iterator->offset = is_cub ? sizeof(void *) : 0;
    return true;
}

enum plim_element plim_iterator_element(const struct plim_iterator *iterator)
{
    return iterator->is_flag ? PLIM_ELEMENT_BOOL : (enum plim_element)iterator->element;
}

void *plim_iterator_pointer(const struct plim_iterator *iterator, const void *parameter)
{
    void *pointer;
    memcpy(&pointer, (const char *)parameter + iterator->offset, sizeof pointer);
    return iterator->kind == PLIM_ITERATOR_POINTER ? pointer : NULL;
}

static bool count(union plim_scalar first, enum plim_element element, uint64_t n, struct plim_array *ret_array)
{
    if (!plim_array_make(ret_array, element, n, false))
        return false;
    for (uint64_t i = 0; i < n; i++)
        ret_array->number[i].i = first.i + (int64_t)i;
    return true;
}

/* Numbers to flags, in place. */
static void make_flags(struct plim_array *array)
{
    const uint64_t n = array->is_constant ? 1 : array->n;
    const bool is_float = plim_element_is_float(array->element);
    for (uint64_t i = 0; i < n; i++)
        array->number[i].i = is_float ? array->number[i].f != 0 : array->number[i].i != 0;
    array->element = PLIM_ELEMENT_BOOL;
}

bool plim_iterator_read(const struct plim_iterator *iterator, const void *parameter, uint64_t n,
                        struct plim_array *ret_array)
{
    const enum plim_element element = (enum plim_element)iterator->element;
    if (iterator->kind == PLIM_ITERATOR_POINTER) {
        const struct plim_view tensor = plim_view_flat(plim_iterator_pointer(iterator, parameter), element, n);
        if (!plim_view_read(&tensor, ret_array))
            return false;
        if (iterator->is_flag)
            make_flags(ret_array);
        return true;
    }
    if (iterator->kind == PLIM_ITERATOR_NONE)
        return false;
    const union plim_scalar value = plim_element_load(element, (const char *)parameter + iterator->offset);
    if (iterator->kind == PLIM_ITERATOR_COUNTING)
        return count(value, element, n, ret_array);
    if (!plim_array_make(ret_array, element, n, true))
        return false;
    ret_array->one = value;
    return true;
}

void plim_iterator_forget(const struct plim_iterator *iterator, const void *parameter, uint64_t n)
{
    const void *pointer = plim_iterator_pointer(iterator, parameter);
    if (n > 0 && n <= SIZE_MAX / 16 && plim_view_is_memory(pointer))
        plim_shadow_forget(pointer, n * iterator->width);
}

void plim_iterator_write(const struct plim_iterator *iterator, const void *parameter, const struct plim_array *array)
{
    const struct plim_view tensor =
        plim_view_flat(plim_iterator_pointer(iterator, parameter), (enum plim_element)iterator->element, array->n);
    plim_view_write(&tensor, array);
}

uint64_t plim_parameter_count(struct plim_text type, const void *parameter)
{
    const enum plim_element element = plim_name_element(type);
    if (element == PLIM_ELEMENT_NONE || plim_element_is_float(element))
        return 0;
    const int64_t number = plim_element_load(element, parameter).i;
    return number > 0 ? (uint64_t)number : 0;
}
