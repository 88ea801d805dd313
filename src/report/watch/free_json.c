/* SPDX-License-Identifier: MIT */
#include "report/json_text.h"
#include "report/watch/free.h"

#include <time.h>

static json_t *bytes_json(int64_t bytes) { return bytes < 0 ? json_null() : json_integer(bytes); }

static json_t *stale_json(enum plim_stale stale)
{
    return stale == PLIM_STALE_YES ? json_true() : stale == PLIM_STALE_NO ? json_false() : json_null();
}

static json_t *time_json(int64_t unix_s)
{
    char text[32];
    const time_t at = (time_t)unix_s;
    struct tm parts;
    if (unix_s <= 0 || !gmtime_r(&at, &parts) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts))
        return json_null();
    return plim_text_json(text);
}

static json_t *holdings_json(const struct plim_choice *choice, uint32_t candidate)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < choice->n_holdings; i++)
        if (choice->holding[i].candidate == candidate)
            json_array_append_new(list, json_pack("{s:s, s:o}", "card", choice->card[choice->holding[i].card].id,
                                                  "bytes", bytes_json(choice->holding[i].bytes)));
    return list;
}

static const struct plim_ended *end_of(const struct plim_free_answer *answer, const struct plim_ending_candidate *c)
{
    for (uint32_t i = 0; answer->ending && i < plim_ending_count(answer->ending); i++) {
        const struct plim_ended *e = plim_ending_at(answer->ending, i);
        if (e->candidate.kin.pid == c->kin.pid && e->candidate.kin.start_ticks == c->kin.start_ticks)
            return e;
    }
    return NULL;
}

static json_t *process_json(const struct plim_free_answer *answer, uint32_t i)
{
    static const char *const parts[] = { "holder", "launcher", "child" };
    const struct plim_ending_candidate *c = &answer->choice->candidate[i];
    const struct plim_ended *e = end_of(answer, c);
    json_t *gentle = c->gentle[0] ? json_pack("{s:o, s:o}", "how", plim_text_json(c->gentle), "command",
                                              plim_text_or_null_json(c->gentle_command))
                                  : json_null();
    json_t *end = e ? json_pack("{s:s, s:o, s:o}", "how", plim_ending_end_name(e->end), "took_ms",
                                bytes_json(e->took_ms), "why", plim_text_or_null_json(e->why))
                    : json_null();
    return json_pack("{s:I, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "pid",
                     (json_int_t)c->kin.pid, "user", plim_text_or_null_json(c->user), "command",
                     plim_text_or_null_json(c->kin.command), "part", parts[c->part], "bytes",
                     c->part == PLIM_PART_HOLDER ? bytes_json(c->bytes) : json_integer(0), "cards",
                     holdings_json(answer->choice, i), "started", time_json(c->started_unix_s), "idle_s",
                     bytes_json(c->idle_s), "idle_is_at_least", c->is_idle_at_least, "stale", stale_json(c->stale),
                     "why", plim_text_or_null_json(c->why), "action", c->keep == PLIM_KEEP_NOT ? "end" : "keep",
                     "kept_by", c->keep == PLIM_KEEP_NOT ? json_null() : plim_text_json(plim_keep_name(c->keep)),
                     "kept_why", plim_text_or_null_json(c->keep_why), "job",
                     c->job < 0 ? json_null() : json_integer(c->job), "gentler", gentle, "end", end);
}

static const struct plim_returned *returned_on(const struct plim_free_answer *answer, uint32_t card)
{
    for (uint32_t i = 0; answer->ending && i < plim_ending_cards(answer->ending); i++)
        if (plim_ending_card(answer->ending, i)->card == card)
            return plim_ending_card(answer->ending, i);
    return NULL;
}

static json_t *card_json(const struct plim_free_answer *answer, uint32_t i)
{
    const struct plim_choice_card *card = &answer->choice->card[i];
    const struct plim_returned *r = returned_on(answer, i);
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", card->id, "name",
                     plim_text_or_null_json(card->name), "total_bytes", bytes_json(card->total_bytes), "used_bytes",
                     bytes_json(card->used_bytes), "free_bytes", bytes_json(card->free_bytes), "returns_bytes",
                     json_integer(card->returns_bytes), "returned_bytes",
                     r ? bytes_json(r->returned_bytes) : json_null(), "free_after_bytes",
                     r ? bytes_json(r->free_bytes) : json_null(), "back", r ? json_boolean(r->is_back) : json_null(),
                     "why", r ? plim_text_or_null_json(r->why) : json_null());
}

bool plim_report_free_json(FILE *out, const struct plim_free_answer *answer)
{
    static const char *const stages[] = { "listed", "dry_run", "declined", "done" };
    json_t *processes = json_array(), *cards = json_array(), *users = json_array();
    for (uint32_t i = 0; i < answer->n_users && i < PLIM_FREE_MAX_USERS; i++)
        json_array_append_new(users, json_pack("{s:I, s:o}", "pid", (json_int_t)answer->user[i]->pid, "command",
                                               plim_text_or_null_json(answer->user[i]->command)));
    for (uint32_t i = 0; i < answer->choice->n; i++)
        json_array_append_new(processes, process_json(answer, i));
    for (uint32_t i = 0; i < answer->choice->n_cards; i++)
        json_array_append_new(cards, card_json(answer, i));
    return plim_json_write(out,
                           json_pack("{s:s, s:s, s:b, s:o, s:o, s:o}", "schema", "plimsoll.free/1", "stage",
                                     stages[answer->stage], "done", plim_free_is_done(answer), "processes", processes,
                                     "cards", cards, "device_users", users),
                           JSON_INDENT(2));
}
