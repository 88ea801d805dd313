/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_FORMS_H
#define PLIMSOLL_VGPU_KERNELS_FORMS_H

/* The table of all forms: a row for each. */

#include "vgpu/kernels/kernel.h"

extern const struct plim_kernel_form *const plim_kernel_forms[]; /* NULL ends it */

/* elementwise/ */
extern const struct plim_kernel_form plim_form_vectorized, plim_form_unrolled, plim_form_strided,
    plim_form_multi_outputs, plim_form_indexed;

/* foreach/ */
extern const struct plim_kernel_form plim_form_foreach, plim_form_foreach_norm, plim_form_foreach_norm_cleanup,
    plim_form_foreach_max_cleanup, plim_form_amp_update;

/* reduce/ */
extern const struct plim_kernel_form plim_form_reduce;

/* rows/ */
extern const struct plim_kernel_form plim_form_scan_innermost, plim_form_scan_outer, plim_form_scan_innermost_indices,
    plim_form_scan_outer_indices;
extern const struct plim_kernel_form plim_form_softmax_warp, plim_form_softmax_block, plim_form_softmax_smem,
    plim_form_softmax_reg, plim_form_softmax_gmem, plim_form_softmax_spatial;
extern const struct plim_kernel_form plim_form_layer_norm, plim_form_row_moments, plim_form_layer_norm_forward;

/* search/ */
extern const struct plim_kernel_form plim_form_search_sorted, plim_form_histogram, plim_form_median,
    plim_form_kth_value;

/* loss/ */
extern const struct plim_kernel_form plim_form_nll_1d, plim_form_nll_2d, plim_form_nll_backward_1d,
    plim_form_nll_backward_2d;
extern const struct plim_kernel_form plim_form_softmax_warp_backward, plim_form_softmax_block_backward,
    plim_form_softmax_smem_backward, plim_form_softmax_spatial_backward, plim_form_layer_norm;
extern const struct plim_kernel_form plim_form_nll_each, plim_form_distance;
/* cub/ */
extern const struct plim_kernel_form plim_form_cub_reduce_tile, plim_form_cub_reduce_blocks,
    plim_form_cub_reduce_segments, plim_form_cub_scan, plim_form_cub_select, plim_form_cub_unique_by_key,
    plim_form_cub_reduce_by_key, plim_form_cub_start, plim_form_cub_transform, plim_form_cub_for_each;
extern const struct plim_kernel_form plim_form_thrust_select, plim_form_thrust_start, plim_form_thrust_for_each;
/* sized.c */
enum { PLIM_N_SIZED = 16 };
extern const struct plim_kernel_form plim_form_sized[PLIM_N_SIZED];

/* index/ */
extern const struct plim_kernel_form plim_form_index_elementwise, plim_form_scatter_gather,
    plim_form_index_select_small, plim_form_index_select_large, plim_form_index_func_small, plim_form_index_func_large,
    plim_form_vectorized_gather, plim_form_vectorized_scatter, plim_form_indexing_backward,
    plim_form_indexing_backward_one, plim_form_indexing_backward_small, plim_form_embedding_backward;

/* join/ */
extern const struct plim_kernel_form plim_form_cat, plim_form_cat_contig, plim_form_cat_aligned16,
    plim_form_cat_aligned, plim_form_cat_vectorized, plim_form_triangle, plim_form_tril_indices, plim_form_triu_indices,
    plim_form_roll, plim_form_repeat, plim_form_split;

/* sort/, and PyTorch's kernels around selections */
extern const struct plim_kernel_form plim_form_radix_single;
extern const struct plim_kernel_form plim_form_radix_onesweep;
extern const struct plim_kernel_form plim_form_radix_downsweep;
extern const struct plim_kernel_form plim_form_radix_segmented;
extern const struct plim_kernel_form plim_form_sort_bitonic;
extern const struct plim_kernel_form plim_form_sort_merge;
extern const struct plim_kernel_form plim_form_sort_radix;
extern const struct plim_kernel_form plim_form_sort_indices;
extern const struct plim_kernel_form plim_form_sort_segments;
extern const struct plim_kernel_form plim_form_sort_postprocess;
extern const struct plim_kernel_form plim_form_unique_difference;
extern const struct plim_kernel_form plim_form_unique_scatter;
extern const struct plim_kernel_form plim_form_unique_flag_values;
extern const struct plim_kernel_form plim_form_unique_flag_places;
extern const struct plim_kernel_form plim_form_nonzero_indices;
extern const struct plim_kernel_form plim_form_nonzero_sums;
extern const struct plim_kernel_form plim_form_nonzero_running_sums;
extern const struct plim_kernel_form plim_form_nonzero_flags;
extern const struct plim_kernel_form plim_form_nonzero_filler;
extern const struct plim_kernel_form plim_form_scan_deterministic;
extern const struct plim_kernel_form plim_form_masked_scatter_check;

/* the largest of rows */
extern const struct plim_kernel_form plim_form_top_k;

/* random/ */
extern const struct plim_kernel_form plim_form_distribution;

/* random/: draws */
extern const struct plim_kernel_form plim_form_bernoulli;
extern const struct plim_kernel_form plim_form_permutation;
extern const struct plim_kernel_form plim_form_dropout;
extern const struct plim_kernel_form plim_form_dropout_vec;
extern const struct plim_kernel_form plim_form_multinomial;
extern const struct plim_kernel_form plim_form_multinomial_once;

/* cub/: temporary storage, merge sorts */
extern const struct plim_kernel_form plim_form_scan_init;
extern const struct plim_kernel_form plim_form_scan_by_key_init;
extern const struct plim_kernel_form plim_form_difference_init;
extern const struct plim_kernel_form plim_form_merge_partition;
extern const struct plim_kernel_form plim_form_radix_histogram;
extern const struct plim_kernel_form plim_form_radix_sum;
extern const struct plim_kernel_form plim_form_radix_upsweep;
extern const struct plim_kernel_form plim_form_radix_bins;
extern const struct plim_kernel_form plim_form_top_k_fill;
extern const struct plim_kernel_form plim_form_top_k_find;
extern const struct plim_kernel_form plim_form_top_k_digits;
extern const struct plim_kernel_form plim_form_top_k_digit_sums;
extern const struct plim_kernel_form plim_form_top_k_within;
extern const struct plim_kernel_form plim_form_top_k_kth;
extern const struct plim_kernel_form plim_form_cub_merge_sort;
extern const struct plim_kernel_form plim_form_cub_merge;
extern const struct plim_kernel_form plim_form_cub_difference;
extern const struct plim_kernel_form plim_form_top_k_scan;

/* before elementwise/: one of its kernels with a functor of its own */
extern const struct plim_kernel_form plim_form_masked_scatter;

/* random/: distributions */
extern const struct plim_kernel_form plim_form_multinomial_rows;

/* sort/: the most frequent of rows */
extern const struct plim_kernel_form plim_form_mode;

#endif
