/* SPDX-License-Identifier: MIT */
#include "step/fit/form_capped.h"

#include "base/mem.h"

static int fit_below(const struct plim_step_point *points, const uint64_t *bytes, size_t n, uint32_t n_variables,
                     struct plim_step_form *ret_form, struct plim_error *reterr)
{
    struct plim_step_former *former = NULL;
    const int result = plim_step_former_open(points, n, n_variables, &former, reterr);
    if (result < 0)
        return result;
    plim_step_former_find(former, bytes, ret_form);
    plim_step_former_free(former);
    return 0;
}

int plim_step_form_capped(const struct plim_step_point *points, const uint64_t *bytes, size_t n_points,
                          uint32_t n_variables, struct plim_step_form *ret_form, bool *ret_is_capped,
                          struct plim_error *reterr)
{
    uint64_t most = 0;
    size_t n = 0;
    int result = 0;
    *ret_is_capped = false;
    for (size_t i = 0; i < n_points; i++)
        most = bytes[i] > most ? bytes[i] : most;
    struct plim_step_point *below = plim_alloc(n_points, sizeof *below);
    uint64_t *sizes = plim_alloc(n_points, sizeof *sizes);
    if (!below || !sizes)
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; result == 0 && i < n_points; i++)
        if (bytes[i] < most) {
            below[n] = points[i];
            sizes[n++] = bytes[i];
        }
    if (result == 0 && n && n_points - n >= 2)
        result = fit_below(below, sizes, n, n_variables, ret_form, reterr);
    else
        n = 0;
    plim_free(below);
    plim_free(sizes);
    *ret_is_capped = result == 0 && n && ret_form->is_exact;
    for (size_t i = 0; *ret_is_capped && i < n_points; i++)
        *ret_is_capped = bytes[i] < most || plim_step_form_bytes(ret_form, &points[i]) >= most;
    if (*ret_is_capped)
        ret_form->most_bytes = most;
    return result;
}
