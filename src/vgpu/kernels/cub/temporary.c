/* SPDX-License-Identifier: MIT */
/*
 * Kernels that write only temporary storage which another kernel of the same algorithm reads: the meaning is with that
 * kernel, and these have none. (Without a form they would be unknown kernels, which make what they get a pointer to
 * uncertain.) CCCL 2.3, 2.7 and 3.3; PyTorch 2.5 to 2.15 (ATen/native/cuda/TensorTopK.cu, namespace mbtopk).
 */
#include "vgpu/kernels/forms.h"

static void *parse(struct plim_text name)
{
    static char known;
    (void)name;
    return &known;
}

/* A scan by key may be anybody's; this one adds up the counts of blocks. */
static void *parse_top_k_scan(struct plim_text name)
{
    return plim_text_has(name, "::mbtopk::BlockIdxToKey") ? parse(name) : NULL;
}

static void run(const void *parsed, const struct plim_kernel_launch *launch) { (void)parsed, (void)launch; }

const struct plim_kernel_form plim_form_scan_init = { "DeviceScanInitKernel", parse, run };
const struct plim_kernel_form plim_form_scan_by_key_init = { "DeviceScanByKeyInitKernel", parse, run };
const struct plim_kernel_form plim_form_difference_init = { "DeviceAdjacentDifferenceInitKernel", parse, run };
const struct plim_kernel_form plim_form_merge_partition = { "DeviceMergeSortPartitionKernel", parse, run };
const struct plim_kernel_form plim_form_radix_histogram = { "DeviceRadixSortHistogramKernel", parse, run };
const struct plim_kernel_form plim_form_radix_sum = { "DeviceRadixSortExclusiveSumKernel", parse, run };
const struct plim_kernel_form plim_form_radix_upsweep = { "DeviceRadixSortUpsweepKernel", parse, run };
const struct plim_kernel_form plim_form_radix_bins = { "RadixSortScanBinsKernel", parse, run };
const struct plim_kernel_form plim_form_top_k_fill = { "mbtopk::fill", parse, run };
const struct plim_kernel_form plim_form_top_k_find = { "mbtopk::radixFindKthValues", parse, run };
const struct plim_kernel_form plim_form_top_k_digits = { "mbtopk::computeBlockDigitCounts", parse, run };
const struct plim_kernel_form plim_form_top_k_digit_sums = { "mbtopk::computeDigitCumSum", parse, run };
const struct plim_kernel_form plim_form_top_k_within = { "mbtopk::computeBlockwiseWithinKCounts", parse, run };
const struct plim_kernel_form plim_form_top_k_kth = { "mbtopk::computeBlockwiseKthCounts", parse, run };
const struct plim_kernel_form plim_form_top_k_scan = { "DeviceScanByKeyKernel", parse_top_k_scan, run };
