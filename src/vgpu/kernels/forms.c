/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/forms.h"

const struct plim_kernel_form *const plim_kernel_forms[] = {
    &plim_form_reduce,
    &plim_form_scan_innermost,
    &plim_form_scan_outer,
    &plim_form_scan_innermost_indices,
    &plim_form_scan_outer_indices,
    &plim_form_softmax_warp,
    &plim_form_softmax_block,
    &plim_form_softmax_smem,
    &plim_form_softmax_reg,
    &plim_form_softmax_gmem,
    &plim_form_softmax_spatial,
    &plim_form_search_sorted,
    &plim_form_histogram,
    &plim_form_median,
    &plim_form_kth_value,
    &plim_form_nll_1d,
    &plim_form_nll_2d,
    NULL,
};
