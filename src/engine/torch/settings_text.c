/* SPDX-License-Identifier: MIT */
/* Settings of the allocator as a text of PYTORCH_CUDA_ALLOC_CONF. */
#include "engine/torch/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool has_equal_divisions(const struct plim_torch_settings *a, const struct plim_torch_settings *b)
{
    return !memcmp(a->divisions, b->divisions, sizeof a->divisions);
}

/* A fraction of 1 limits nothing, as 0. */
static double limit_of(const struct plim_torch_settings *settings)
{
    return settings->fraction < 1 ? settings->fraction : 0;
}

static bool is_near(double a, double b) { return a - b < 1e-6 && b - a < 1e-6; }

bool plim_torch_settings_are_equal(const struct plim_torch_settings *a, const struct plim_torch_settings *b)
{
    return a->max_split_bytes == b->max_split_bytes &&
           a->max_non_split_rounding_bytes == b->max_non_split_rounding_bytes &&
           a->large_segment_bytes == b->large_segment_bytes && has_equal_divisions(a, b) &&
           is_near(a->gc_threshold, b->gc_threshold) && is_near(limit_of(a), limit_of(b)) &&
           a->is_expandable == b->is_expandable;
}

struct writer {
    char *text;
    size_t size, n;
};

static void put(struct writer *w, const char *key, double value)
{
    if (w->n < w->size)
        w->n += (size_t)snprintf(w->text + w->n, w->size - w->n, "%s%s:%.9g", w->n ? "," : "", key, value);
}

/* One number for all sizes, or a list. */
static void put_divisions(struct writer *w, const struct plim_torch_settings *settings)
{
    const uint32_t *divisions = settings->divisions;
    bool is_one = true;
    for (unsigned i = 1; i < PLIM_TORCH_N_DIVISIONS; i++)
        is_one = is_one && divisions[i] == divisions[0];
    if (is_one) {
        put(w, "roundup_power2_divisions", divisions[0]);
        return;
    }
    for (unsigned i = 0; i < PLIM_TORCH_N_DIVISIONS && w->n < w->size; i++)
        w->n += (size_t)snprintf(w->text + w->n, w->size - w->n, "%s%u:%" PRIu32 "%s",
                                 i          ? ","
                                 : w->n > 0 ? ",roundup_power2_divisions:["
                                            : "roundup_power2_divisions:[",
                                 1U << i, divisions[i], i + 1 < PLIM_TORCH_N_DIVISIONS ? "" : "]");
}

bool plim_torch_settings_text(const struct plim_torch_settings *settings, char *ret_text, size_t size)
{
    struct writer w = { ret_text, size, 0 };
    struct plim_torch_settings usual;
    plim_torch_settings_init(&usual);
    ret_text[0] = '\0';
    if (settings->is_expandable)
        w.n = (size_t)snprintf(ret_text, size, "expandable_segments:True");
    if (settings->max_split_bytes != usual.max_split_bytes)
        put(&w, "max_split_size_mb", (double)settings->max_split_bytes / (double)PLIM_MIB);
    if (settings->max_non_split_rounding_bytes != usual.max_non_split_rounding_bytes)
        put(&w, "max_non_split_rounding_mb", (double)settings->max_non_split_rounding_bytes / (double)PLIM_MIB);
    if (settings->large_segment_bytes != usual.large_segment_bytes)
        put(&w, "large_segment_size_mb", (double)settings->large_segment_bytes / (double)PLIM_MIB);
    if (settings->gc_threshold > 0)
        put(&w, "garbage_collection_threshold", settings->gc_threshold);
    if (limit_of(settings) > 0)
        put(&w, "per_process_memory_fraction", settings->fraction);
    if (!has_equal_divisions(settings, &usual))
        put_divisions(&w, settings);
    return w.n < size;
}
