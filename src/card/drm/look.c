/* SPDX-License-Identifier: MIT */
#include "card/drm/look.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum {
    FIND_AGAIN_MS = 30000,
    SCAN_AGAIN_MS = 10000, /* the open files of all processes: 5 us for each file */
};

void plim_drm_look_open(const char *root, struct plim_drm_look *ret_look)
{
    *ret_look = (struct plim_drm_look){ .root = root };
}

/* An integrated GPU has no memory of its own: it is shown where it is the only one. */
static int find_cards(struct plim_drm_look *look, int64_t now_ms, bool has_others)
{
    struct plim_drm_card found[PLIM_DRM_MAX_CARDS];
    uint32_t n_found = 0;
    if (look->found_ms && now_ms - look->found_ms < FIND_AGAIN_MS)
        return 0;
    const int result = plim_drm_find(look->root, found, &n_found);
    if (result)
        return result;
    bool has_own = has_others;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_found; i++)
        has_own = has_own || !found[i].is_integrated;
    for (uint32_t i = 0; i < n_found; i++)
        if (!has_own || !found[i].is_integrated)
            found[n++] = found[i];
    if (n != look->n || memcmp(found, look->card, n * sizeof *found) != 0) {
        memcpy(look->card, found, n * sizeof *found);
        look->n_before = look->scan.n_uses = 0; /* they have the cards' old places */
        look->scanned_ms = 0;
    }
    look->n = n;
    look->found_ms = now_ms;
    return 0;
}

/* --- activity --- */

static const struct plim_drm_use *use_before(const struct plim_drm_look *look, const struct plim_drm_use *use,
                                             uint32_t *ret_index)
{
    for (uint32_t i = 0; i < look->n_before; i++)
        if (look->before[i].pid == use->pid && look->before[i].card == use->card) {
            *ret_index = i;
            return &look->before[i];
        }
    return NULL;
}

/* The share of the time since the look before in which it kept the engines busy; -1: unknown. */
static int32_t busy_percent(const struct plim_drm_use *use, const struct plim_drm_use *before, int64_t window_ms)
{
    double share = -1;
    if (use->total_cycles > before->total_cycles && use->cycles >= before->cycles)
        share = (double)(use->cycles - before->cycles) / (double)(use->total_cycles - before->total_cycles);
    else if (use->busy_ms >= before->busy_ms && before->busy_ms >= 0 && window_ms > 0)
        share = (double)(use->busy_ms - before->busy_ms) / (double)window_ms;
    return share < 0 ? -1 : share > 1 ? 100 : (int32_t)(share * 100 + 0.5);
}

static bool has_worked(const struct plim_drm_use *use, const struct plim_drm_use *before)
{
    return (before->busy_ms >= 0 && use->busy_ms > before->busy_ms) || use->cycles > before->cycles;
}

static int add_use(struct plim_drm_look *look, const struct plim_drm_use *use, uint32_t card, int64_t window_ms,
                   int64_t now_unix_ms, struct plim_draft *draft, int64_t *ret_active_unix_ms)
{
    uint32_t index = 0;
    const struct plim_drm_use *before = use_before(look, use, &index);
    struct plim_draft_holding added = {
        .holding = {
            .card = card,
            .contexts = PLIM_CONTEXT_DRM | (use->is_rocm ? PLIM_CONTEXT_COMPUTE : 0),
            .bytes = use->bytes,
            .peak_bytes = -1,
            .gpu_percent = before && !use->is_rocm ? busy_percent(use, before, window_ms) : -1,
            .last_active_unix_ms = before ? look->active_unix_ms[index] : -1,
            .gpu_busy_ms = use->is_rocm ? -1 : use->busy_ms,
        },
        .pid = use->pid,
    };
    if (before && has_worked(use, before))
        added.holding.last_active_unix_ms = now_unix_ms;
    *ret_active_unix_ms = added.holding.last_active_unix_ms;
    return plim_draft_holding(draft, &added);
}

/* Remember the uses of this look, and beside each when it worked last. */
static int add_uses(struct plim_drm_look *look, const uint32_t *place, int64_t window_ms, int64_t now_unix_ms,
                    struct plim_draft *draft)
{
    const uint32_t n = look->scan.n_uses;
    struct plim_drm_use *uses = plim_alloc(n, sizeof *uses);
    int64_t *active = plim_alloc(n, sizeof *active);
    int result = uses && active ? 0 : PLIM_E_NOMEM;
    for (uint32_t i = 0; i < n && result == 0; i++) {
        uses[i] = look->scan.use[i];
        result = add_use(look, &uses[i], place[uses[i].card], window_ms, now_unix_ms, draft, &active[i]);
    }
    plim_free(look->before);
    plim_free(look->active_unix_ms);
    look->before = uses;
    look->active_unix_ms = active;
    look->n_before = result == 0 ? n : 0;
    return result;
}

/* --- */

static int add_card(struct plim_drm_look *look, uint32_t i, uint32_t number, int64_t window_ms, bool is_asked,
                    const struct plim_sample_card *seen, struct plim_draft *draft)
{
    struct plim_sample_card card = *seen;
    bool has_figures = false, has_rocm = false;
    snprintf(card.id, sizeof card.id, "gpu%u", number % 1000);
    for (uint32_t k = 0; k < look->scan.n_uses; k++) {
        const struct plim_drm_use *use = &look->scan.use[k];
        has_figures = has_figures || (use->card == i && (use->busy_ms >= 0 || use->total_cycles > 0));
        has_rocm = has_rocm || (use->card == i && use->is_rocm);
    }
    if (has_figures)
        card.activity_ms = has_rocm ? 0 : window_ms;
    if (is_asked && look->scan.is_partial) {
        card.listing = PLIM_LISTING_PARTIAL;
        snprintf(card.why, sizeof card.why,
                 "not permitted: the open files of other users' processes, which may hold memory of this card");
    }
    return plim_draft_card(draft, &card);
}

int plim_drm_look_read(struct plim_drm_look *look, int64_t now_ms, int64_t now_unix_ms, uint32_t first_number,
                       struct plim_draft *draft)
{
    struct plim_sample_card seen[PLIM_DRM_MAX_CARDS];
    bool is_asked[PLIM_DRM_MAX_CARDS] = { false }, asks = false;
    uint32_t place[PLIM_DRM_MAX_CARDS];
    int result = find_cards(look, now_ms, draft->n_cards > 0);
    if (result)
        return result;
    for (uint32_t i = 0; i < look->n; i++) {
        seen[i] = plim_draft_blank(look->card[i].vendor);
        plim_drm_read_card(look->root, &look->card[i], &seen[i]);
        is_asked[i] = !seen[i].is_asleep;
        asks = asks || is_asked[i];
        place[i] = draft->n_cards + i;
    }
    const bool is_whole = !look->scanned_ms || now_ms - look->scanned_ms >= SCAN_AGAIN_MS;
    if (asks) {
        result = plim_drm_scan(look->root, look->card, is_asked, look->n, is_whole, &look->scan);
        look->scanned_ms = is_whole ? now_ms : look->scanned_ms;
    } else {
        look->scan.n_uses = 0;
    }
    const int64_t window_ms = look->looked_ms ? now_ms - look->looked_ms : 0;
    for (uint32_t i = 0; i < look->n && result == 0; i++)
        result = add_card(look, i, first_number + i, window_ms, is_asked[i], &seen[i], draft);
    look->looked_ms = now_ms;
    return result ? result : add_uses(look, place, window_ms, now_unix_ms, draft);
}

void plim_drm_look_close(struct plim_drm_look *look)
{
    plim_drm_scan_done(&look->scan);
    plim_free(look->before);
    plim_free(look->active_unix_ms);
}
