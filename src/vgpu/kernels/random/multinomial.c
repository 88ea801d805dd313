/* SPDX-License-Identifier: MIT */
/*
 * Draws from distributions, with replacement (ATen/native/cuda/MultinomialKernel.cu; PyTorch 2.5 to 2.15):
 *   renormRowsL1<T>(rows, int64 n_rows, int64 length): each row becomes a share of its sum
 *   sampleMultinomialWithReplacement<T>(PhiloxCudaState, int samples, int64 *out, int64 n_rows, int length,
 *     const running sums, const shares): thread t, counted over the whole grid, draws its samples from stream t; the
 *     result is the first place whose running sum is not below the number, and before it, one with a share
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/kernels/random/philox.h"

#include <stdlib.h>

struct shares {
    enum plim_element element;
};

static void *parse_of(struct plim_text name, const char *kernel)
{
    struct shares *shares = calloc(1, sizeof *shares);
    if (shares && plim_element_is_float(shares->element = plim_name_template_element(name, kernel, 0)))
        return shares;
    free(shares);
    return NULL;
}

static void *parse_rows(struct plim_text name) { return parse_of(name, "renormRowsL1"); }
static void *parse_samples(struct plim_text name) { return parse_of(name, "sampleMultinomialWithReplacement"); }

/* --- shares of the sum --- */

static void divide(const struct plim_array *in, uint64_t length, struct plim_array *out)
{
    for (uint64_t first = 0; first + length <= in->n; first += length) {
        double sum = 0;
        enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
        for (uint64_t i = first; i < first + length; i++) {
            sum += plim_array_at(in, i).f;
            known = plim_less_known(known, plim_array_known_at(in, i));
        }
        for (uint64_t i = first; i < first + length; i++) {
            out->number[i].f = sum > 0 ? plim_array_at(in, i).f / sum : plim_array_at(in, i).f;
            out->each[i] = (uint8_t)known;
        }
    }
}

static void run_rows(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct shares *shares = parsed;
    void *const *p = launch->parameters;
    const uint64_t n_rows = plim_count_at(p, 1, 8), length = plim_count_at(p, 2, 8);
    uint64_t n;
    struct plim_array in, out;
    if (length == 0 || __builtin_mul_overflow(n_rows, length, &n))
        return;
    const struct plim_view view = plim_view_flat(plim_pointer_at(p, 0), shares->element, n);
    if (n > PLIM_VIEW_MAX_ELEMENTS || !plim_view_read(&view, &in)) {
        plim_view_forget(&view);
        return;
    }
    if (in.is_constant && in.known == PLIM_SHADOW_UNKNOWN) {
        plim_view_forget(&view);
    } else if (plim_array_make(&out, PLIM_ELEMENT_F64, n, false)) {
        if (plim_array_make_each(&out)) {
            divide(&in, length, &out);
            plim_view_write(&view, &out);
        }
        plim_array_free(&out);
    }
    plim_array_free(&in);
}

/* --- samples --- */

static uint64_t find(const struct plim_array *sums, const struct plim_array *shares, uint64_t first, uint64_t length,
                     double number)
{
    uint64_t start = 0, end = length;
    while (start < end) {
        const uint64_t middle = start + (end - start) / 2;
        if (plim_array_at(sums, first + middle).f < number)
            start = middle + 1;
        else
            end = middle;
    }
    if (start == length)
        start = length - 1;
    while (start >= 1 && plim_array_at(shares, first + start).f == 0)
        start--;
    return start;
}

struct samples {
    const struct plim_kernel_launch *launch;
    uint64_t n_samples, n_rows, length;
};

/* The threads of a row of blocks share a row of the distributions, and go on to the next by as many as there are. */
static void draw(const struct samples *samples, const struct plim_philox *philox, const struct plim_array *sums,
                 const struct plim_array *shares, struct plim_array *out)
{
    const uint64_t n_threads = (uint64_t)samples->launch->grid[0] * samples->launch->block[0];
    const uint64_t n_block_rows = samples->launch->grid[1];
    const uint64_t n_rounds = (samples->n_samples + n_threads - 1) / n_threads;
    for (uint64_t row = 0; row < samples->n_rows; row++)
        for (uint64_t i = 0; i < samples->n_samples; i++) {
            uint32_t numbers[4];
            const uint64_t thread = row % n_block_rows * n_threads + i % n_threads;
            uint64_t call = row / n_block_rows * n_rounds + i / n_threads;
            /* A thread without a sample in the last round has drawn one number less in each row. */
            if (n_rounds * n_threads != samples->n_samples && i % n_threads >= samples->n_samples % n_threads)
                call -= row / n_block_rows;
            plim_philox_four(philox, thread, 4 * call, numbers);
            out->number[row * samples->n_samples + i].i = (int64_t)find(
                sums, shares, row * samples->length, samples->length, (double)plim_philox_uniform(numbers[0]));
        }
    out->known = plim_less_known(philox->known, plim_less_known(sums->known, shares->known));
}

static bool draw_all(const struct shares *shares, const struct samples *samples, const struct plim_view *out_view)
{
    void *const *p = samples->launch->parameters;
    const uint64_t n = samples->n_rows * samples->length;
    const struct plim_view sums_view = plim_view_flat(plim_pointer_at(p, 5), shares->element, n),
                           shares_view = plim_view_flat(plim_pointer_at(p, 6), shares->element, n);
    const struct plim_philox philox = plim_philox_of(p[0]);
    struct plim_array sums, parts, out;
    bool is_done = false;
    if (n > PLIM_VIEW_MAX_ELEMENTS || !plim_view_read(&sums_view, &sums))
        return false;
    if (plim_view_read(&shares_view, &parts)) {
        is_done = !(sums.is_constant && sums.known == PLIM_SHADOW_UNKNOWN) &&
                  plim_array_make(&out, PLIM_ELEMENT_I64, samples->n_rows * samples->n_samples, false);
        if (is_done) {
            draw(samples, &philox, &sums, &parts, &out);
            plim_view_write(out_view, &out);
            plim_array_free(&out);
        }
        plim_array_free(&parts);
    }
    plim_array_free(&sums);
    return is_done;
}

static void run_samples(const void *parsed, const struct plim_kernel_launch *launch)
{
    enum { MAX = 1 << 24 };
    void *const *p = launch->parameters;
    const struct samples samples = { .launch = launch,
                                     .n_samples = plim_count_at(p, 1, 4),
                                     .n_rows = plim_count_at(p, 3, 8),
                                     .length = plim_count_at(p, 4, 4) };
    if (samples.n_samples == 0 || samples.n_rows == 0 || samples.length == 0 || samples.n_rows > MAX)
        return;
    const uint64_t n = samples.n_samples * samples.n_rows;
    const struct plim_view out = plim_view_flat(plim_pointer_at(p, 2), PLIM_ELEMENT_I64, n);
    const bool has_threads = launch->grid[0] && launch->grid[1] && launch->block[0];
    if (!has_threads || n > PLIM_PHILOX_MAX_NUMBERS || !draw_all(parsed, &samples, &out))
        plim_view_forget(&out);
}

const struct plim_kernel_form plim_form_multinomial_rows = { "renormRowsL1", parse_rows, run_rows };
const struct plim_kernel_form plim_form_multinomial = { "sampleMultinomialWithReplacement", parse_samples,
                                                        run_samples };
