/* SPDX-License-Identifier: MIT */
/*
 * Cards, each with its processes, in 80 columns; below a process why it is stale, or why that is not known. The last
 * line says what could be had back, and the command.
 */
#include "report/watch/ps.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

#include <string.h>

enum { WHY_COLUMN = 8, RUNS_COLUMN = 51, RUNS_WIDTH = PLIM_TEXT_WIDTH - RUNS_COLUMN, RUNS_BYTES = 600 };

static const char *size_text(char buffer[PLIM_SIZE_TEXT], int64_t bytes)
{
    return bytes >= 0 ? plim_size_text(buffer, (uint64_t)bytes) : "unknown";
}

/* --- a card --- */

static void put_card(FILE *out, const struct plim_ps *ps, uint32_t index, const struct plim_style *style)
{
    const struct plim_sample_card *c = &ps->sample->card[index];
    char used[PLIM_SIZE_TEXT], total[PLIM_SIZE_TEXT], left[PLIM_SIZE_TEXT], reserved[PLIM_SIZE_TEXT];
    plim_print(out, "%s%s  %.44s%s", plim_paint(style, PLIM_BOLD), c->id, c->card.name, plim_paint(style, PLIM_PLAIN));
    if (*c->card.uuid)
        plim_print(out, "  %.12s", c->card.uuid);
    plim_print(out, "\n");
    if (c->is_asleep)
        plim_print(out, "  asleep: it was not asked, so that it stays so\n");
    else if (c->card.total_bytes)
        plim_print(out, "  %s used, %s free of %s", size_text(used, c->used_bytes), size_text(left, c->free_bytes),
                   plim_size_text(total, c->card.total_bytes));
    if (!c->is_asleep && c->card.reserved_bytes)
        plim_print(out, " (%s kept by the driver)", plim_size_text(reserved, c->card.reserved_bytes));
    if (!c->is_asleep && c->card.total_bytes)
        plim_print(out, "\n");
    if (*c->why && !c->is_asleep)
        plim_print_wrapped(out, c->why, plim_print(out, "  "), 2);
}

/* --- a process --- */

enum { SPAN_BYTES = 32, NOW_S = 5 }; /* the driver samples each second, a step of training takes some */

/* One unit, so that it is read at a glance: "40 s", "3 h". */
static const char *span_text(const char *before, int64_t seconds, char buffer[SPAN_BYTES])
{
    static const struct {
        int64_t from_s, unit_s;
        const char *name;
    } units[] = { { 0, 1, "s" }, { 120, 60, "min" }, { 7200, 3600, "h" }, { 172800, 86400, "d" } };
    size_t u = 0;
    while (u + 1 < sizeof units / sizeof *units && seconds >= units[u + 1].from_s)
        u++;
    snprintf(buffer, SPAN_BYTES, "%s%jd %s", before, (intmax_t)(seconds / units[u].unit_s), units[u].name);
    return buffer;
}

/* "At least" is a '>'. */
static const char *idle_text(const struct plim_watch_row *row, char buffer[SPAN_BYTES])
{
    if (row->idle_s < (row->is_idle_at_least ? 1 : NOW_S))
        return "-";
    return span_text(row->is_idle_at_least ? ">" : "", row->idle_s, buffer);
}

static const char *age_text(const struct plim_sample *s, const struct plim_sample_process *p, char buffer[SPAN_BYTES])
{
    const int64_t age_s = s->taken_unix_ms / 1000 - p->started_unix_s;
    return p->started_unix_s > 0 ? span_text("", age_s > 0 ? age_s : 0, buffer) : "-";
}

/* One word: what the row is about. */
static const char *state_word(const struct plim_watch_row *row)
{
    static const char *const words[PLIM_REASON_MAX_] = {
        [PLIM_REASON_GONE] = "gone",        [PLIM_REASON_DEFUNCT] = "defunct",  [PLIM_REASON_SERVER] = "server",
        [PLIM_REASON_DISPLAY] = "desktop",  [PLIM_REASON_MPS] = "MPS",          [PLIM_REASON_SERVICE] = "service",
        [PLIM_REASON_ATTACHED] = "idle",    [PLIM_REASON_ACTIVE] = "active",    [PLIM_REASON_STOPPED] = "stopped",
        [PLIM_REASON_ON_PURPOSE] = "idle?", [PLIM_REASON_EARLIER_RUN] = "idle?"
    };
    if (row->stale == PLIM_STALE_YES && row->reason != PLIM_REASON_GONE && row->reason != PLIM_REASON_DEFUNCT)
        return "STALE";
    return words[row->reason] ? words[row->reason] : "?";
}

static enum plim_colour colour_of(const struct plim_watch_row *row)
{
    return row->stale == PLIM_STALE_YES        ? PLIM_RED
           : row->reason == PLIM_REASON_ACTIVE ? PLIM_GREEN
           : row->stale == PLIM_STALE_UNKNOWN  ? PLIM_YELLOW
                                               : PLIM_PLAIN;
}

/* The command line behind an interpreter, which says nothing of the work, as does a flag for a module. */
static const char *behind_interpreter(const char *command)
{
    const size_t n = strcspn(command, " ");
    size_t start = n;
    while (start > 0 && command[start - 1] != '/')
        start--;
    if (strncmp(command + start, "python", 6) != 0 || !command[n])
        return command;
    const char *rest = command + n + strspn(command + n, " ");
    rest += rest[0] == '-' && rest[1] == 'm' && rest[2] == ' ' ? 3 : 0;
    return *rest ? rest : command;
}

/* Paths are cut down to their names. */
static const char *short_command(const char *command, char buffer[RUNS_BYTES])
{
    size_t n = 0;
    for (const char *p = behind_interpreter(command); *p && n + 2 < RUNS_BYTES;) {
        size_t length = strcspn(p, " ");
        const char *word = p;
        if (*p == '/')
            for (size_t i = 0; i < length; i++)
                if (p[i] == '/' && i + 1 < length)
                    word = p + i + 1;
        p += length;
        length = (size_t)(p - word);
        if (length > RUNS_BYTES - 2 - n)
            length = RUNS_BYTES - 2 - n;
        memcpy(buffer + n, word, length);
        n += length;
        for (; *p == ' '; p++)
            if (p[1] != ' ' && p[1])
                buffer[n++] = ' ';
    }
    buffer[n] = '\0';
    return buffer;
}

/* "vLLM: Qwen3-14B-AWQ" of a server, "PyTorch: python train.py" else. */
static void put_runs(FILE *out, const struct plim_sample_process *p, const struct plim_watch_row *row)
{
    char text[RUNS_BYTES + 300], command[RUNS_BYTES], name[RUNS_BYTES];
    const bool is_server = row->role == PLIM_ROLE_SERVER || row->role == PLIM_ROLE_WORKER;
    const char *what = is_server && *row->model ? plim_watch_model_name(row->model, name, sizeof name)
                                                : short_command(p->command, command);
    if (p->is_gone || p->is_outside)
        what = p->is_gone ? "(ended)" : "(not visible from here)";
    snprintf(text, sizeof text, "%s%s%s", row->framework, *row->framework && *what ? ": " : "",
             *what ? what : p->program);
    const bool is_short = plim_print_width(text) <= RUNS_WIDTH;
    if (is_server || is_short) /* a server is known by its model, whose end is the quantization */
        plim_print_last(out, is_short || !*row->model ? text : what, RUNS_WIDTH);
    else
        plim_print(out, "%.*s..\n", RUNS_WIDTH - 2, text);
}

static void put_places(FILE *out, const struct plim_sample_process *p)
{
    if (*p->slurm_job)
        plim_print(out, "%*sSlurm job %s\n", WHY_COLUMN, "", p->slurm_job);
    if (*p->pod)
        plim_print(out, "%*spod %s\n", WHY_COLUMN, "", p->pod);
    else if (*p->container)
        plim_print(out, "%*scontainer %.40s\n", WHY_COLUMN, "", p->container);
}

/* A line with the reason: where it is another for each process. What many have in common is a note at the end. */
static bool has_line(const struct plim_watch_row *row)
{
    return row->stale == PLIM_STALE_YES || row->reason == PLIM_REASON_STOPPED ||
           row->reason == PLIM_REASON_ON_PURPOSE || row->reason == PLIM_REASON_EARLIER_RUN;
}

static void put_holding(FILE *out, const struct plim_ps *ps, uint32_t holding, const struct plim_style *style)
{
    const struct plim_holding *h = &ps->sample->holding[holding];
    const struct plim_sample_process *p = &ps->sample->process[h->process];
    const struct plim_watch_row *row = &ps->rows[holding];
    char bytes[PLIM_SIZE_TEXT], age[SPAN_BYTES], idle[SPAN_BYTES];
    plim_print(out, "%7jd %-8.8s %9s %6s %7s  %s%-7s%s", (intmax_t)p->pid, *p->user ? p->user : "-",
               size_text(bytes, h->bytes), age_text(ps->sample, p, age), idle_text(row, idle),
               plim_paint(style, colour_of(row)), state_word(row), plim_paint(style, PLIM_PLAIN));
    plim_print(out, " ");
    put_runs(out, p, row);
    if (!has_line(row))
        return;
    put_places(out, p);
    plim_print(out, "%*s", WHY_COLUMN, "");
    plim_print_wrapped(out, row->why, WHY_COLUMN, WHY_COLUMN);
}

/* What the driver itself needs beside its processes is a few hundred MiB: no word about that. */
#define USUAL_REST_BYTES (int64_t)(512 * PLIM_MIB)

static void put_rest(FILE *out, const struct plim_watch_card *card)
{
    char bytes[PLIM_SIZE_TEXT];
    if (card->unattributed_bytes <= 0)
        return;
    plim_print(out, "%7s %-8s %9s %6s %7s  %-7s not of a process\n", "-", "-",
               size_text(bytes, card->unattributed_bytes), "-", "-", "-");
    if (card->unattributed_bytes <= USUAL_REST_BYTES)
        return;
    plim_print(out, "%*s", WHY_COLUMN, "");
    plim_print_wrapped(out, card->unattributed_why, WHY_COLUMN, WHY_COLUMN);
}

static void put_processes(FILE *out, const struct plim_ps *ps, uint32_t card, const struct plim_style *style)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < ps->n_shown; i++)
        if (ps->sample->holding[ps->order[i]].card == card) {
            if (n++ == 0)
                plim_print(out, "%7s %-8s %9s %6s %7s  %-7s %s\n", "PID", "USER", "MEMORY", "AGE", "IDLE", "STATE",
                           "RUNS");
            put_holding(out, ps, ps->order[i], style);
        }
    put_rest(out, &ps->cards[card]);
    if (n == 0 && !ps->sample->card[card].is_asleep && ps->sample->card[card].listing == PLIM_LISTING_FULL)
        plim_print(out, "  no process%s%.32s holds memory\n", ps->user ? " of " : "", ps->user ? ps->user : "");
}

/* --- the end --- */

struct sum {
    uint32_t n; /* processes; some are on several cards */
    int64_t bytes;
};

static struct sum sum_of(const struct plim_ps *ps, bool (*is_meant)(const struct plim_ps *, uint32_t holding))
{
    struct sum sum = { 0 };
    for (uint32_t i = 0; i < ps->n_shown; i++) {
        const struct plim_holding *h = &ps->sample->holding[ps->order[i]];
        bool is_first = is_meant(ps, ps->order[i]);
        sum.bytes += is_first && h->bytes > 0 ? h->bytes : 0;
        for (uint32_t k = 0; k < i && is_first; k++)
            is_first = ps->sample->holding[ps->order[k]].process != h->process;
        sum.n += is_first;
    }
    return sum;
}

static bool is_young(const struct plim_ps *ps, uint32_t i) { return ps->rows[i].reason == PLIM_REASON_YOUNG; }
static bool is_unseen(const struct plim_ps *ps, uint32_t i) { return ps->rows[i].reason == PLIM_REASON_UNSEEN; }
static bool is_growing(const struct plim_ps *ps, uint32_t i) { return ps->rows[i].growth.trend == PLIM_TREND_GROWING; }

static bool is_own(const struct plim_ps *ps, uint32_t i)
{
    return ps->uid == 0 || ps->sample->process[ps->sample->holding[i].process].uid == ps->uid;
}

static bool is_own_stale(const struct plim_ps *ps, uint32_t i)
{
    return plim_watch_can_be_ended(&ps->rows[i]) && is_own(ps, i);
}

static bool is_others_stale(const struct plim_ps *ps, uint32_t i)
{
    return plim_watch_can_be_ended(&ps->rows[i]) && !is_own(ps, i);
}

static void put_note(FILE *out, const char *text) { plim_print_wrapped(out, text, plim_print(out, "note: "), 6); }

static void put_notes(FILE *out, const struct plim_ps *ps)
{
    for (unsigned i = 0; i < ps->notes->n; i++)
        put_note(out, ps->notes->text[i]);
    if (sum_of(ps, is_young).n)
        put_note(out, "'?' was not watched for long enough: a later 'plimsoll ps' or an open 'plimsoll top' tells");
    if (sum_of(ps, is_unseen).n)
        put_note(out, "'?' is on a card whose driver does not tell when a process last worked");
}

static void put_end(FILE *out, const struct plim_ps *ps, const struct plim_style *style)
{
    char size[PLIM_SIZE_TEXT];
    const struct sum own = sum_of(ps, is_own_stale), others = sum_of(ps, is_others_stale);
    if (sum_of(ps, is_growing).n)
        plim_print(out, "'plimsoll top' shows what grows\n");
    if (others.n)
        plim_print(out, "%s%s held by %u stale process%s of others: 'sudo plimsoll free PID'%s\n",
                   plim_paint(style, PLIM_RED), size_text(size, others.bytes), others.n, others.n == 1 ? "" : "es",
                   plim_paint(style, PLIM_PLAIN));
    if (own.n)
        plim_print(out, "%s%s held by %u stale process%s: 'plimsoll free --stale' ends %s%s\n",
                   plim_paint(style, PLIM_RED), size_text(size, own.bytes), own.n, own.n == 1 ? "" : "es",
                   own.n == 1 ? "it" : "them", plim_paint(style, PLIM_PLAIN));
    if (own.n || others.n)
        return;
    plim_print(out, "nothing stale to end");
    for (uint32_t i = 0, k = 0; i < ps->sample->n_cards && k < 4; i++)
        if (ps->is_card_shown[i] && ps->sample->card[i].free_bytes >= 0)
            plim_print(out, "%s %s free on %s", k++ ? "," : ";", size_text(size, ps->sample->card[i].free_bytes),
                       ps->sample->card[i].id);
    plim_print(out, "\n");
}

void plim_report_ps_text(FILE *out, const struct plim_ps *ps, const struct plim_style *style)
{
    for (uint32_t i = 0; i < ps->sample->n_cards; i++)
        if (ps->is_card_shown[i]) {
            put_card(out, ps, i, style);
            put_processes(out, ps, i, style);
            plim_print(out, "\n");
        }
    put_notes(out, ps);
    put_end(out, ps, style);
}
