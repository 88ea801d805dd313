/* SPDX-License-Identifier: MIT */
#include "step/fit/differ.h"

#include "base/mem.h"

/* The farthest places in a on the diagonals -d to d, for each number of differences d: row d begins at d x d. */
static size_t row_of(size_t d) { return d * d + d; /* its diagonal 0 */ }

static size_t start_of(const int32_t *far, int d, int k)
{
    if (d == 0)
        return 0;
    const int32_t *last = far + row_of((size_t)d - 1);
    const bool is_down = k == -d || (k != d && last[k - 1] < last[k + 1]);
    return (size_t)(is_down ? last[k + 1] : last[k - 1] + 1);
}

/* From the end back: the pairs on the way. */
static void trace_back(const int32_t *far, int d, int k, size_t offset, size_t *partner)
{
    for (; d >= 0; d--) {
        const size_t start = start_of(far, d, k);
        size_t x = (size_t)far[(ptrdiff_t)row_of((size_t)d) + k];
        while (x > start) {
            x--;
            partner[offset + x] = offset + (size_t)((ptrdiff_t)x - k);
        }
        if (d > 0) {
            const int32_t *last = far + row_of((size_t)d - 1);
            k += k == -d || (k != d && last[k - 1] < last[k + 1]) ? 1 : -1;
        }
    }
}

static bool search(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, int most, int32_t *far, size_t offset,
                   size_t *partner)
{
    for (int d = 0; d <= most; d++)
        for (int k = -d; k <= d; k += 2) {
            size_t x = start_of(far, d, k);
            ptrdiff_t y = (ptrdiff_t)x - k;
            while (y >= 0 && x < n_a && (size_t)y < n_b && a[x] == b[y]) {
                x++;
                y++;
            }
            far[(ptrdiff_t)row_of((size_t)d) + k] = (int32_t)x;
            if (x >= n_a && k == (ptrdiff_t)n_a - (ptrdiff_t)n_b) {
                trace_back(far, d, k, offset, partner);
                return true;
            }
        }
    return false;
}

bool plim_step_differ(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t max_differences,
                      size_t *partner, bool *ret_nomem)
{
    size_t start = 0, end = 0;
    *ret_nomem = false;
    for (size_t i = 0; i < n_a; i++)
        partner[i] = SIZE_MAX;
    while (start < n_a && start < n_b && a[start] == b[start]) {
        partner[start] = start;
        start++;
    }
    while (end < n_a - start && end < n_b - start && a[n_a - 1 - end] == b[n_b - 1 - end]) {
        partner[n_a - 1 - end] = n_b - 1 - end;
        end++;
    }
    if (n_a > INT32_MAX - 2 || n_b > INT32_MAX - 2)
        return false;
    const size_t most = max_differences < PLIM_STEP_MAX_DIFFERENCES ? max_differences : PLIM_STEP_MAX_DIFFERENCES;
    int32_t *far = plim_alloc_unset((most + 1) * (most + 1), sizeof *far); /* touched as far as it gets */
    *ret_nomem = !far;
    const bool is_found =
        far && search(a + start, n_a - start - end, b + start, n_b - start - end, (int)most, far, start, partner);
    plim_free(far);
    return is_found;
}
