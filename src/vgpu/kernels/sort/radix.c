/* SPDX-License-Identifier: MIT */
/*
 * Radix sorts by CUB. Each pass is a stable sort by some bits of the keys, from one buffer to another; what the other
 * kernels of a sort leave behind (counts, offsets) is not needed.
 *   DeviceRadixSortSingleTileKernel(keys, keys out, values, values out, n, first bit, end bit, decomposer)
 *   DeviceRadixSortOnesweepKernel(lookback, counters, bins, bins, keys out, keys, values out, values, n, first bit,
 *     number of bits, decomposer)
 *   DeviceRadixSortDownsweepKernel(keys, keys out, values, values out, spine, n, first bit, number of bits, even share,
 *     decomposer)
 *   DeviceSegmentedRadixSortKernel(keys, keys out, values, values out, starts, ends[, segments], first bit, bits,
 *     decomposer), where starts and ends are PyTorch's offset_t: int stride, begin; segment i starts at
 *     stride * (begin + i) (ATen/native/cuda/SortStable.cu)
 * The template arguments tell the order: a bool, in CCCL 3 SortOrder. CCCL 2.3, 2.7 and 3.3
 * (cub/device/dispatch/dispatch_radix_sort.cuh).
 */
#include "vgpu/kernels/cub/iterator.h"
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/kernels/sort/digits.h"

#include <stdlib.h>

struct radix {
    struct plim_digits digits;
    struct plim_iterator keys, values; /* both are pointers, in and out alike */
    uint8_t keys_at, keys_out_at, values_at, values_out_at, n_at, bits_at;
    bool has_end; /* the parameter behind the first bit is the end, not a number of bits */
    bool is_segmented;
    struct plim_text n_type;
};

static bool read_order(struct plim_text name, const char *kernel, unsigned argument, bool *ret_is_descending)
{
    struct plim_text arguments, order;
    if (!plim_name_template(name, kernel, &arguments) || !plim_name_argument(arguments, argument, &order))
        return false;
    *ret_is_descending = plim_text_is(order, "true") || plim_text_has(order, "SortOrder)1");
    return *ret_is_descending || plim_text_is(order, "false") || plim_text_has(order, "SortOrder)0");
}

static void *complete(struct plim_text name, const char *kernel, unsigned order_argument, const struct radix *positions)
{
    struct radix *radix = malloc(sizeof *radix);
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text keys, values;
    if (!radix)
        return NULL;
    *radix = *positions;
    if (read_order(name, kernel, order_argument, &radix->digits.is_descending) &&
        plim_name_argument(parameters, radix->keys_at, &keys) && plim_iterator_of(keys, &radix->keys) &&
        plim_name_argument(parameters, radix->values_at, &values) && plim_iterator_of(values, &radix->values) &&
        plim_name_argument(parameters, radix->n_at, &radix->n_type) && radix->keys.kind == PLIM_ITERATOR_POINTER &&
        radix->keys.element != PLIM_ELEMENT_NONE && plim_text_has(parameters, "identity_decomposer_t")) {
        radix->digits.key = (enum plim_element)radix->keys.element;
        radix->digits.value_bytes = radix->values.kind == PLIM_ITERATOR_POINTER ? radix->values.width : 0;
        return radix;
    }
    free(radix);
    return NULL;
}

static void *parse_single(struct plim_text name)
{
    const struct radix positions = {
        .keys_at = 0, .keys_out_at = 1, .values_at = 2, .values_out_at = 3, .n_at = 4, .bits_at = 5, .has_end = true
    };
    return complete(name, "DeviceRadixSortSingleTileKernel", 1, &positions);
}

static void *parse_onesweep(struct plim_text name)
{
    const struct radix positions = {
        .keys_at = 5, .keys_out_at = 4, .values_at = 7, .values_out_at = 6, .n_at = 8, .bits_at = 9
    };
    return complete(name, "DeviceRadixSortOnesweepKernel", 1, &positions);
}

static void *parse_downsweep(struct plim_text name)
{
    const struct radix positions = {
        .keys_at = 0, .keys_out_at = 1, .values_at = 2, .values_out_at = 3, .n_at = 5, .bits_at = 6
    };
    return complete(name, "DeviceRadixSortDownsweepKernel", 2, &positions);
}

static void *parse_segmented(struct plim_text name)
{
    struct radix positions = { .keys_at = 0,
                               .keys_out_at = 1,
                               .values_at = 2,
                               .values_out_at = 3,
                               .n_at = 6,
                               .bits_at = 6,
                               .is_segmented = true };
    struct plim_text type;
    const struct plim_text parameters = plim_name_parameters(name);
    if (!plim_name_argument(parameters, 4, &type) || !plim_text_has(type, "offset_t"))
        return NULL;
    if (plim_name_argument(parameters, 8, &type) && plim_text_is(type, "int"))
        positions.bits_at = 7;
    return complete(name, "DeviceSegmentedRadixSortKernel", 2, &positions);
}

/* --- a launch --- */

struct buffers {
    const uint8_t *keys, *values;
    uint8_t *keys_out, *values_out;
};

static void forget(const struct radix *radix, const struct buffers *out, uint64_t n)
{
    plim_shadow_forget(out->keys_out, n * radix->keys.width);
    if (radix->digits.value_bytes)
        plim_shadow_forget(out->values_out, n * radix->digits.value_bytes);
}

/*
 * Keys that are all alike stay where they are, and so do the values, which are only as certain as the keys. Very many
 * values in an order that is a guess are not worth their time: they become unknown.
 */
static bool copy_constant(const struct radix *radix, const struct buffers *buffers, uint64_t n)
{
    uint8_t key[8];
    enum plim_shadow_known known;
    const unsigned width = radix->keys.width, value_bytes = radix->digits.value_bytes;
    if (!plim_shadow_constant(buffers->keys, n * width, width, key, &known))
        return false;
    if (value_bytes && known == PLIM_SHADOW_KNOWN) {
        plim_shadow_move(buffers->values_out, buffers->values, n * value_bytes);
    } else if (value_bytes && n > PLIM_SORT_MAX_GUESSES) {
        plim_shadow_forget(buffers->values_out, n * value_bytes);
    } else if (value_bytes) {
        uint8_t *values = malloc(n * value_bytes);
        if (!values)
            return false;
        known = plim_less_known(known, plim_shadow_read(values, buffers->values, n * value_bytes));
        plim_shadow_write(buffers->values_out, values, n * value_bytes, known);
        free(values);
    }
    plim_shadow_fill(buffers->keys_out, key, width, n, known);
    return true;
}

/* Sort n keys in rows of `n_row`. The place of a key depends on all others. */
static bool sort_rows(const struct radix *radix, const struct buffers *buffers, uint64_t n, uint64_t n_row,
                      const struct plim_digits *digits)
{
    const unsigned width = radix->keys.width, value_bytes = digits->value_bytes;
    uint8_t *in = n <= PLIM_VIEW_MAX_ELEMENTS ? malloc(2 * n * (width + value_bytes) + 1) : NULL;
    if (!in)
        return false;
    uint8_t *const in_values = in + n * width, *const out = in_values + n * value_bytes,
                   *const out_values = out + n * width;
    enum plim_shadow_known known = plim_shadow_read(in, buffers->keys, n * width);
    if (value_bytes)
        known = plim_less_known(known, plim_shadow_read(in_values, buffers->values, n * value_bytes));
    bool is_done = true;
    for (uint64_t i = 0; i < n && is_done; i += n_row)
        is_done = plim_digits_sort(digits, n - i < n_row ? n - i : n_row, in + i * width, in_values + i * value_bytes,
                                   out + i * width, out_values + i * value_bytes);
    if (is_done) {
        plim_shadow_write(buffers->keys_out, out, n * width, known);
        if (value_bytes)
            plim_shadow_write(buffers->values_out, out_values, n * value_bytes, known);
    }
    free(in);
    return is_done;
}

static void sort(const struct radix *radix, const struct plim_kernel_launch *launch, uint64_t n, uint64_t n_row)
{
    void *const *p = launch->parameters;
    struct plim_digits digits = radix->digits;
    const struct buffers buffers = {
        .keys = plim_pointer_at(p, radix->keys_at),
        .values = plim_pointer_at(p, radix->values_at),
        .keys_out = plim_iterator_pointer(&radix->keys, p[radix->keys_out_at]),
        .values_out = plim_iterator_pointer(&radix->values, p[radix->values_out_at]),
    };
    const int first = plim_int32_at(p, radix->bits_at), last = plim_int32_at(p, radix->bits_at + 1u);
    if (n == 0 || n > SIZE_MAX / 64 || !plim_view_is_memory(buffers.keys) || !plim_view_is_memory(buffers.keys_out) ||
        (digits.value_bytes && (!plim_view_is_memory(buffers.values) || !plim_view_is_memory(buffers.values_out))))
        return;
    digits.first_bit = first > 0 && first < 64 ? (unsigned)first : 0;
    digits.n_bits = last > (radix->has_end ? first : 0) ? (unsigned)(radix->has_end ? last - first : last) : 0;
    if (!copy_constant(radix, &buffers, n) && !sort_rows(radix, &buffers, n, n_row, &digits))
        forget(radix, &buffers, n);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct radix *radix = parsed;
    const uint64_t n = plim_parameter_count(radix->n_type, launch->parameters[radix->n_at]);
    sort(radix, launch, n, n);
}

/* Rows of one length, from the first on: that is how PyTorch calls it. */
static void run_segmented(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct radix *radix = parsed;
    struct {
        int32_t stride, begin;
    } starts, ends;
    memcpy(&starts, launch->parameters[4], sizeof starts);
    memcpy(&ends, launch->parameters[5], sizeof ends);
    if (starts.stride > 0 && ends.stride == starts.stride && starts.begin == 0 && ends.begin == 1)
        sort(radix, launch, (uint64_t)starts.stride * launch->grid[0], (uint64_t)starts.stride);
}

const struct plim_kernel_form plim_form_radix_single = { "DeviceRadixSortSingleTileKernel", parse_single, run };
const struct plim_kernel_form plim_form_radix_onesweep = { "DeviceRadixSortOnesweepKernel", parse_onesweep, run };
const struct plim_kernel_form plim_form_radix_downsweep = { "DeviceRadixSortDownsweepKernel", parse_downsweep, run };
const struct plim_kernel_form plim_form_radix_segmented = { "DeviceSegmentedRadixSortKernel", parse_segmented,
                                                            run_segmented };
