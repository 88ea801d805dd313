/* SPDX-License-Identifier: MIT */
/*
 * Has the memory come back? Two things are asked of each card: that the driver no longer lists what was ended, and that
 * the used memory fell by what that held, but for what others took meanwhile. A driver that lists nothing and goes on
 * counting is the case for which this is asked at all.
 */
#include "base/mem.h"
#include "base/units.h"
#include "watch/ending/ending.h"
#include "watch/ending/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Other processes that no list shows (the desktop inside a container) change by less than that while one waits. */
static const int64_t tolerance_bytes = 64 << 20;

/* --- before --- */

static int32_t ended_of(const struct plim_ending *ending, const struct plim_sample_process *process)
{
    for (uint32_t i = 0; i < ending->n; i++)
        if (ending->ended[i].candidate.kin.pid == process->pid &&
            ending->ended[i].candidate.kin.start_ticks == process->start_ticks)
            return (int32_t)i;
    return -1;
}

static bool concerns(const struct plim_ending *ending, const struct plim_sample *sample, uint32_t card)
{
    for (uint32_t i = 0; i < sample->n_holdings; i++)
        if (sample->holding[i].card == card && ended_of(ending, &sample->process[sample->holding[i].process]) >= 0)
            return true;
    return false;
}

int plim_ending_note(struct plim_ending *ending, const struct plim_sample *sample, struct plim_error *reterr)
{
    ending->returned = plim_alloc(sample->n_cards + 1, sizeof *ending->returned);
    ending->used_bytes = plim_alloc(sample->n_cards + 1, sizeof *ending->used_bytes);
    ending->held = plim_alloc(sample->n_holdings + 1, sizeof *ending->held);
    if (!ending->returned || !ending->used_bytes || !ending->held)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory for a list of processes");
    for (uint32_t c = 0; c < sample->n_cards; c++) {
        if (!concerns(ending, sample, c))
            continue;
        struct plim_returned *to = &ending->returned[ending->n_returned];
        *to = (struct plim_returned){ .card = c, .returned_bytes = -1, .free_bytes = sample->card[c].free_bytes };
        memcpy(to->id, sample->card[c].id, sizeof to->id);
        memcpy(to->name, sample->card[c].card.name, sizeof to->name);
        ending->used_bytes[ending->n_returned] = sample->card[c].used_bytes;
        for (uint32_t i = 0; i < sample->n_holdings; i++) {
            const struct plim_sample_process *process = &sample->process[sample->holding[i].process];
            if (sample->holding[i].card == c)
                ending->held[ending->n_held++] = (struct plim_held){ .card = ending->n_returned,
                                                                     .pid = process->pid,
                                                                     .bytes = sample->holding[i].bytes,
                                                                     .start_ticks = process->start_ticks,
                                                                     .ended = ended_of(ending, process) };
        }
        ending->n_returned++;
    }
    return 0;
}

/* --- after --- */

static bool has_ended(const struct plim_ending *ending, int32_t i)
{
    return i >= 0 && plim_ending_has_ended(ending->ended[i].end);
}

/* What was held before, of this process; NULL: nothing. */
static const struct plim_held *held_by(const struct plim_ending *ending, uint32_t card, int64_t pid)
{
    for (uint32_t i = 0; i < ending->n_held; i++)
        if (ending->held[i].card == card && ending->held[i].pid == pid)
            return &ending->held[i];
    return NULL;
}

struct account {
    int64_t expected, others;         /* what the ended held, and by how much others grew */
    bool is_known;                    /* all figures are */
    int64_t listed;                   /* a pid that has ended and is listed still; 0: none */
    int64_t newcomer, newcomer_bytes; /* the process that grew most meanwhile; 0: none */
};

static void count_before(const struct plim_ending *ending, uint32_t card, struct account *a)
{
    for (uint32_t i = 0; i < ending->n_held; i++) {
        const struct plim_held *held = &ending->held[i];
        if (held->card != card)
            continue;
        a->is_known &= held->bytes >= 0;
        if (held->bytes > 0 && has_ended(ending, held->ended))
            a->expected += held->bytes;
        else if (held->bytes > 0)
            a->others -= held->bytes;
    }
}

static void count_now(const struct plim_ending *ending, const struct plim_sample *sample, uint32_t index, uint32_t card,
                      struct account *a)
{
    for (uint32_t i = 0; i < sample->n_holdings; i++) {
        const struct plim_holding *holding = &sample->holding[i];
        const struct plim_sample_process *process = &sample->process[holding->process];
        if (holding->card != index)
            continue;
        const struct plim_held *before = held_by(ending, card, process->pid);
        if (before && has_ended(ending, before->ended) &&
            (process->is_gone || process->start_ticks == before->start_ticks)) {
            a->listed = process->pid;
            continue;
        }
        a->is_known &= holding->bytes >= 0;
        const int64_t bytes = holding->bytes > 0 ? holding->bytes : 0;
        const int64_t grown = bytes - (before && before->bytes > 0 ? before->bytes : 0);
        a->others += bytes;
        if (grown > a->newcomer_bytes) {
            a->newcomer = process->pid;
            a->newcomer_bytes = grown;
        }
    }
}

static void explain(struct plim_returned *r, const struct account *a)
{
    char size[PLIM_SIZE_TEXT];
    if (a->listed)
        snprintf(r->why, sizeof r->why, "the driver still counts memory of pid %" PRId64 ", which has ended",
                 a->listed);
    else if (a->newcomer)
        snprintf(r->why, sizeof r->why, "pid %" PRId64 " took %s meanwhile; for the rest the driver lists no process",
                 a->newcomer, plim_size_text(size, (uint64_t)a->newcomer_bytes));
    else
        snprintf(r->why, sizeof r->why,
                 "the driver lists no process for it; one that shares the memory may hold it "
                 "(its IPC handles, or open device files)");
}

static void judge(struct plim_ending *ending, const struct plim_sample *sample, uint32_t card, uint32_t index)
{
    struct plim_returned *r = &ending->returned[card];
    struct account a = { .is_known = true };
    const int64_t before = ending->used_bytes[card], now = sample->card[index].used_bytes;
    count_before(ending, card, &a);
    count_now(ending, sample, index, card, &a);
    r->expected_bytes = a.expected;
    r->free_bytes = sample->card[index].free_bytes;
    r->is_back = !a.listed;
    r->returned_bytes = -1;
    r->why[0] = '\0';
    if (before >= 0 && now >= 0 && a.is_known) {
        const int64_t margin = a.expected / 16 > tolerance_bytes ? a.expected / 16 : tolerance_bytes;
        const int64_t fell = before - now + a.others;
        r->is_back &= fell >= a.expected - (margin < a.expected / 2 ? margin : a.expected / 2);
        r->returned_bytes = fell < 0 ? 0 : fell < a.expected ? fell : a.expected;
    }
    if (!r->is_back)
        explain(r, &a);
}

bool plim_ending_verify(struct plim_ending *ending, const struct plim_sample *sample)
{
    bool is_all = true;
    for (uint32_t card = 0; card < ending->n_returned; card++) {
        struct plim_returned *r = &ending->returned[card];
        uint32_t index = 0;
        while (index < sample->n_cards && strcmp(sample->card[index].id, r->id) != 0)
            index++;
        if (index < sample->n_cards) {
            judge(ending, sample, card, index);
        } else {
            r->is_back = false;
            r->free_bytes = r->returned_bytes = -1;
            snprintf(r->why, sizeof r->why, "the driver no longer lists the card");
        }
        is_all &= r->is_back;
    }
    return is_all;
}

uint32_t plim_ending_cards(const struct plim_ending *ending) { return ending->n_returned; }
const struct plim_returned *plim_ending_card(const struct plim_ending *ending, uint32_t i)
{
    return &ending->returned[i];
}
