/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/elementwise/amp.h"

#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <math.h>
#include <stdlib.h>

struct single {
    double value;
    enum plim_shadow_known known;
};

static struct single read_one(const void *address, enum plim_element element)
{
    struct single single = { 0, PLIM_SHADOW_UNKNOWN };
    struct plim_array array;
    const struct plim_view view = plim_view_flat(address, element, 1);
    if (plim_view_read(&view, &array)) {
        single = (struct single){ plim_element_as_double(element, array.number[0]), array.known };
        plim_array_free(&array);
    }
    return single;
}

static void write_one(const void *address, enum plim_element element, struct single single)
{
    struct plim_array array;
    const struct plim_view view = plim_view_flat(address, element, 1);
    plim_array_make(&array, PLIM_ELEMENT_F64, 1, true);
    array.one.f = single.value;
    array.known = single.known;
    plim_view_write(&view, &array);
    plim_array_free(&array);
}

/* The flag is set by a value that is known not to be finite; else it stays what it is, as sure as the values are. */
static struct single found(struct single before, const struct plim_array *gradient)
{
    const uint64_t n = gradient->is_constant ? 1 : gradient->n;
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(gradient->number[i].f) && plim_array_known_at(gradient, i) == PLIM_SHADOW_KNOWN)
            return (struct single){ 1, PLIM_SHADOW_KNOWN };
    if (before.value == 0) /* a flag that is set stays so */
        before.known = plim_less_known(before.known, gradient->known);
    return before;
}

static void multiply(struct plim_array *gradient, struct single factor)
{
    const uint64_t n = gradient->is_constant ? 1 : gradient->n;
    for (uint64_t i = 0; i < n; i++)
        gradient->number[i].f *= factor.value;
    gradient->known = plim_less_known(gradient->known, factor.known);
    for (uint64_t i = 0; gradient->each && i < gradient->n; i++)
        gradient->each[i] = (uint8_t)plim_less_known((enum plim_shadow_known)gradient->each[i], factor.known);
}

void plim_amp_unscale(const void *lambda, const struct plim_view *gradient)
{
    const void *flag, *factor;
    struct plim_array array;
    memcpy(&flag, lambda, sizeof flag);
    memcpy(&factor, (const uint8_t *)lambda + sizeof flag, sizeof factor);
    struct single before = read_one(flag, PLIM_ELEMENT_F32);
    if (plim_view_read(gradient, &array)) {
        const struct single after = found(before, &array);
        if (after.value != before.value || after.known != before.known)
            write_one(flag, PLIM_ELEMENT_F32, after);
        multiply(&array, read_one(factor, PLIM_ELEMENT_F32));
        plim_view_write(gradient, &array);
        plim_array_free(&array);
        return;
    }
    if (before.value == 0)
        before.known = PLIM_SHADOW_UNKNOWN;
    write_one(flag, PLIM_ELEMENT_F32, before);
    plim_view_forget(gradient);
}

/* --- amp_update_scale_cuda_kernel(float *scale, int *growth_tracker, const float *found_inf, double growth_factor,
 *     double backoff_factor, int growth_interval) --- */

static void *parse_update(struct plim_text name)
{
    (void)name;
    return malloc(1);
}

static double read_double(void *const *parameters, unsigned i)
{
    double value;
    memcpy(&value, parameters[i], sizeof value);
    return value;
}

static void run_update(const void *parsed, const struct plim_kernel_launch *launch)
{
    enum { SCALE, TRACKER, FOUND, GROWTH_FACTOR, BACKOFF_FACTOR, INTERVAL };
    void *const *parameters = launch->parameters;
    (void)parsed;
    struct single scale = read_one(plim_pointer_at(parameters, SCALE), PLIM_ELEMENT_F32);
    struct single tracker = read_one(plim_pointer_at(parameters, TRACKER), PLIM_ELEMENT_I32);
    const struct single is_found = read_one(plim_pointer_at(parameters, FOUND), PLIM_ELEMENT_F32);
    if (is_found.value > 0) {
        scale.value *= read_double(parameters, BACKOFF_FACTOR);
        tracker.value = 0;
    } else if ((int)tracker.value + 1 == plim_int32_at(parameters, INTERVAL)) {
        const double grown = (double)(float)(scale.value * read_double(parameters, GROWTH_FACTOR));
        scale.value = isfinite(grown) ? grown : scale.value;
        tracker.value = 0;
    } else {
        tracker.value++;
    }
    tracker.known = plim_less_known(tracker.known, is_found.known);
    scale.known = plim_less_known(scale.known, tracker.known);
    write_one(plim_pointer_at(parameters, SCALE), PLIM_ELEMENT_F32, scale);
    write_one(plim_pointer_at(parameters, TRACKER), PLIM_ELEMENT_I32, tracker);
}

const struct plim_kernel_form plim_form_amp_update = { "at::native::amp_update_scale_cuda_kernel", parse_update,
                                                       run_update };
