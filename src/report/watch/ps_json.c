/* SPDX-License-Identifier: MIT */
#include "report/watch/ps.h"

#include "report/json_text.h"

#include <time.h>

static json_t *whole(int64_t number) { return number >= 0 ? json_integer((json_int_t)number) : json_null(); }

/* "2026-11-23T04:05:06Z" */
static json_t *time_json(int64_t unix_s)
{
    const time_t time = (time_t)unix_s;
    struct tm parts;
    char text[40];
    if (unix_s <= 0 || !gmtime_r(&time, &parts) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts))
        return json_null();
    return plim_text_json(text);
}

/* By the lists of the driver that the process is on. */
static const char *kind_of(unsigned contexts)
{
    return contexts & PLIM_CONTEXT_MPS        ? "mps"
           : contexts & PLIM_CONTEXT_COMPUTE  ? contexts & PLIM_CONTEXT_GRAPHICS ? "compute+graphics" : "compute"
           : contexts & PLIM_CONTEXT_GRAPHICS ? "graphics"
           : contexts & PLIM_CONTEXT_DRM      ? "drm"
                                              : NULL;
}

static json_t *stale_json(enum plim_stale stale)
{
    return stale == PLIM_STALE_UNKNOWN ? json_null() : json_boolean(stale == PLIM_STALE_YES);
}

static json_t *growth_json(const struct plim_watch_growth *growth)
{
    if (growth->trend == PLIM_TREND_UNKNOWN)
        return json_null();
    return json_pack("{s:s, s:I, s:o, s:I}", "trend", plim_trend_name(growth->trend), "bytes_per_min",
                     (json_int_t)growth->bytes_per_min, "full_s", whole(growth->full_s), "window_s",
                     (json_int_t)growth->window_s);
}

static json_t *models_json(const struct plim_sample_process *p, const char *model)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < p->n_models; i++)
        json_array_append_new(list, plim_text_json(p->models[i]));
    if (p->n_models == 0 && *model)
        json_array_append_new(list, plim_text_json(model));
    return list;
}

/* Join two objects; `more` is used up. */
static json_t *join(json_t *object, json_t *more)
{
    if (object && more)
        json_object_update(object, more);
    json_decref(more);
    return object;
}

static json_t *process_json(const struct plim_ps *ps, uint32_t holding)
{
    const struct plim_holding *h = &ps->sample->holding[holding];
    const struct plim_sample_process *p = &ps->sample->process[h->process];
    const struct plim_watch_row *row = &ps->rows[holding];
    return join(json_pack("{s:I, s:o, s:o, s:o, s:o, s:s?, s:o, s:o, s:b, s:o, s:s, s:s}", "pid", (json_int_t)p->pid,
                          "user", plim_text_or_null_json(p->user), "command", plim_text_or_null_json(p->command),
                          "container", plim_text_or_null_json(p->container), "bytes", whole(h->bytes), "kind",
                          kind_of(h->contexts), "started", time_json(p->started_unix_s), "idle_s", whole(row->idle_s),
                          "idle_is_at_least", row->is_idle_at_least, "stale", stale_json(row->stale), "reason",
                          plim_stale_reason_name(row->reason), "why", row->why),
                json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "framework",
                          plim_text_or_null_json(row->framework), "role",
                          plim_text_or_null_json(plim_watch_role_name(row->role)), "models", models_json(p, row->model),
                          "folder", plim_text_or_null_json(p->folder), "parent",
                          p->parent > 0 ? json_integer((json_int_t)p->parent) : json_null(), "parent_command",
                          plim_text_or_null_json(p->parent_program), "pod", plim_text_or_null_json(p->pod), "slurm_job",
                          plim_text_or_null_json(p->slurm_job), "peak_bytes", whole(h->peak_bytes), "host_bytes",
                          whole(p->rss_bytes), "gpu_percent", whole(h->gpu_percent), "growth",
                          growth_json(&row->growth), "gone", p->is_gone));
}

static const char *listing_name(enum plim_sample_listing listing)
{
    static const char *const names[] = { [PLIM_LISTING_FULL] = "full",
                                         [PLIM_LISTING_WITHOUT_BYTES] = "without_bytes",
                                         [PLIM_LISTING_PARTIAL] = "partial",
                                         [PLIM_LISTING_NONE] = "none" };
    return names[listing];
}

static json_t *card_json(const struct plim_ps *ps, uint32_t index)
{
    const struct plim_sample_card *c = &ps->sample->card[index];
    const struct plim_watch_card *w = &ps->cards[index];
    const bool is_known = c->card.total_bytes > 0;
    json_t *processes = json_array();
    for (uint32_t i = 0; i < ps->n_shown; i++)
        if (ps->sample->holding[ps->order[i]].card == index)
            json_array_append_new(processes, process_json(ps, ps->order[i]));
    return join(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", c->id, "name",
                          plim_text_json(c->card.name), "uuid", plim_text_or_null_json(c->card.uuid), "total_bytes",
                          whole(is_known ? (int64_t)c->card.total_bytes : -1), "used_bytes", whole(c->used_bytes),
                          "free_bytes", whole(c->free_bytes), "reserved_bytes",
                          is_known ? whole((int64_t)c->card.reserved_bytes) : json_null(), "processes", processes,
                          "unattributed_bytes", whole(w->unattributed_bytes), "unattributed_why",
                          plim_text_or_null_json(w->unattributed_why)),
                json_pack("{s:o, s:o, s:b, s:s, s:I, s:o, s:o, s:o}", "pci", plim_text_or_null_json(c->pci), "parent",
                          plim_text_or_null_json(c->parent), "asleep", c->is_asleep, "listing",
                          listing_name(c->listing), "stale_bytes", (json_int_t)w->stale_bytes, "growth",
                          growth_json(&w->growth), "gpu_percent", whole(c->gpu_percent), "why",
                          plim_text_or_null_json(c->why)));
}

bool plim_report_ps_json(FILE *out, const struct plim_ps *ps)
{
    json_t *cards = json_array(), *notes = json_array();
    for (uint32_t i = 0; i < ps->sample->n_cards; i++)
        if (ps->is_card_shown[i])
            json_array_append_new(cards, card_json(ps, i));
    for (unsigned i = 0; i < ps->notes->n; i++)
        json_array_append_new(notes, plim_text_json(ps->notes->text[i]));
    return plim_json_write(out,
                           json_pack("{s:s, s:o, s:o, s:o}", "schema", "plimsoll.ps/1", "taken",
                                     time_json(ps->sample->taken_unix_ms / 1000), "cards", cards, "notes", notes),
                           JSON_INDENT(2) | JSON_PRESERVE_ORDER);
}
