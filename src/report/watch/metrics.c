/* SPDX-License-Identifier: MIT */
/*
 * Prometheus's text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). A series whose value is unknown
 * is absent, so that nobody takes "not known" for nothing. Families are contiguous, each with its HELP and TYPE.
 */
#include "report/watch/ps.h"

#include "report/print.h"

#include <string.h>

enum { LABEL_BYTES = 260 };

/* Backslash, quote and line end, as the format wants; plim_print() sees to the rest that is not shown. */
static const char *escaped(const char *text, char buffer[LABEL_BYTES])
{
    size_t n = 0;
    for (const char *p = text; *p && n + 3 < LABEL_BYTES; p++) {
        if (*p == '\\' || *p == '"' || *p == '\n')
            buffer[n++] = '\\';
        buffer[n++] = *p == '\n' ? 'n' : *p;
    }
    buffer[n] = '\0';
    return buffer;
}

static void head(FILE *out, const char *name, const char *help)
{
    plim_print(out, "# HELP plimsoll_%s %s\n# TYPE plimsoll_%s gauge\n", name, help, name);
}

/* The labels of a card, without the closing brace. "gpu0:1" has the index 0, and its instances in `mig`. */
static void begin(FILE *out, const char *name, const struct plim_sample_card *card)
{
    char uuid[LABEL_BYTES];
    const char *index = card->id + strcspn(card->id, "0123456789");
    plim_print(out, "plimsoll_%s{gpu=\"%s\",index=\"%.*s\",mig=\"", name,
               escaped(*card->card.uuid ? card->card.uuid : card->pci, uuid), (int)strcspn(index, ":"), index);
    if (card->gpu_instance != UINT32_MAX)
        plim_print(out, "%u/%u", card->gpu_instance, card->compute_instance);
    plim_print(out, "\"");
}

static void label(FILE *out, const char *name, const char *value)
{
    char text[LABEL_BYTES];
    plim_print(out, ",%s=\"%s\"", name, escaped(value, text));
}

/* --- cards --- */

static int64_t count_of(const struct plim_ps *ps, uint32_t card, bool only_stale)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < ps->n_shown; i++)
        if (ps->sample->holding[ps->order[i]].card == card)
            n += !only_stale || ps->rows[ps->order[i]].stale == PLIM_STALE_YES;
    return n;
}

static bool is_awake(const struct plim_sample_card *card) { return !card->is_asleep && card->card.total_bytes > 0; }

static int64_t value_of(const struct plim_ps *ps, uint32_t index, char what)
{
    const struct plim_sample_card *card = &ps->sample->card[index];
    const bool is_listed = card->listing != PLIM_LISTING_NONE && !card->is_asleep;
    switch (what) {
    case 't':
        return card->card.total_bytes ? (int64_t)card->card.total_bytes : -1;
    case 'u':
        return card->used_bytes;
    case 'f':
        return card->free_bytes;
    case 'r':
        return is_awake(card) ? (int64_t)card->card.reserved_bytes : -1;
    case 'n':
        return ps->cards[index].unattributed_bytes;
    case 's':
        return is_listed ? ps->cards[index].stale_bytes : -1;
    case 'a':
        return card->is_asleep;
    case 'p':
        return is_listed ? count_of(ps, index, false) : -1;
    default:
        return is_listed ? count_of(ps, index, true) : -1;
    }
}

static void put_cards(FILE *out, const struct plim_ps *ps)
{
    static const struct {
        char what;
        const char *name, *help;
    } families[] = {
        { 't', "card_memory_total_bytes", "Memory of the card as its driver counts it." },
        { 'u', "card_memory_used_bytes", "Memory in use, without what the driver keeps." },
        { 'f', "card_memory_free_bytes", "Memory that programs can still get." },
        { 'r', "card_memory_reserved_bytes", "Memory that the driver keeps." },
        { 'n', "card_memory_unattributed_bytes", "Memory in use that no listed process holds." },
        { 's', "card_memory_stale_bytes", "Memory of stale processes that plimsoll free --stale ends." },
        { 'a', "card_asleep", "1 when the card is suspended and was not asked." },
        { 'p', "card_processes", "Processes that hold memory on the card." },
        { 'd', "card_processes_stale", "Processes on the card that are stale." },
    };
    static const char *const vendors[PLIM_VENDOR_MAX_] = { "", "nvidia", "amd", "intel", "apple" };
    head(out, "card_info", "A card: its name and vendor.");
    for (uint32_t i = 0; i < ps->sample->n_cards; i++)
        if (ps->is_card_shown[i]) {
            begin(out, "card_info", &ps->sample->card[i]);
            label(out, "name", ps->sample->card[i].card.name);
            label(out, "vendor", vendors[ps->sample->card[i].card.vendor]);
            plim_print(out, "} 1\n");
        }
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        head(out, families[f].name, families[f].help);
        for (uint32_t i = 0; i < ps->sample->n_cards; i++) {
            const int64_t value = value_of(ps, i, families[f].what);
            if (!ps->is_card_shown[i] || value < 0)
                continue;
            begin(out, families[f].name, &ps->sample->card[i]);
            plim_print(out, "} %jd\n", (intmax_t)value);
        }
    }
}

/* --- classes: what is run, by whom; few series, which stay the same from one run to the next --- */

static const struct plim_sample_process *process_of(const struct plim_ps *ps, uint32_t i)
{
    return &ps->sample->process[ps->sample->holding[ps->order[i]].process];
}

static const char *class_of(const struct plim_ps *ps, uint32_t i)
{
    const char *framework = ps->rows[ps->order[i]].framework;
    return process_of(ps, i)->is_gone ? "ended" : *framework ? framework : process_of(ps, i)->program;
}

static bool is_same_class(const struct plim_ps *ps, uint32_t a, uint32_t b)
{
    const struct plim_sample_process *left = process_of(ps, a), *right = process_of(ps, b);
    return ps->sample->holding[ps->order[a]].card == ps->sample->holding[ps->order[b]].card &&
           !strcmp(class_of(ps, a), class_of(ps, b)) && !strcmp(left->user, right->user) &&
           !strcmp(left->container, right->container);
}

static void put_labels(FILE *out, const struct plim_ps *ps, uint32_t i)
{
    label(out, "class", class_of(ps, i));
    label(out, "user", process_of(ps, i)->user);
    label(out, "container", process_of(ps, i)->container);
}

static void put_class(FILE *out, const struct plim_ps *ps, uint32_t first, bool counts_bytes)
{
    int64_t bytes = 0, n = 0;
    for (uint32_t i = 0; i < ps->n_shown; i++) {
        if (!is_same_class(ps, first, i))
            continue;
        if (i < first)
            return; /* it was written there */
        const int64_t more = ps->sample->holding[ps->order[i]].bytes;
        bytes = more < 0 || bytes < 0 ? -1 : bytes + more;
        n++;
    }
    if (counts_bytes && bytes < 0)
        return;
    begin(out, counts_bytes ? "class_memory_bytes" : "class_processes",
          &ps->sample->card[ps->sample->holding[ps->order[first]].card]);
    put_labels(out, ps, first);
    plim_print(out, "} %jd\n", (intmax_t)(counts_bytes ? bytes : n));
}

static void put_classes(FILE *out, const struct plim_ps *ps)
{
    head(out, "class_memory_bytes", "Memory of the processes of one framework or program, user and container.");
    for (uint32_t i = 0; i < ps->n_shown; i++)
        put_class(out, ps, i, true);
    head(out, "class_processes", "Processes of one framework or program, user and container.");
    for (uint32_t i = 0; i < ps->n_shown; i++)
        put_class(out, ps, i, false);
}

/* --- processes, when they are asked for --- */

static int64_t process_value(const struct plim_ps *ps, uint32_t i, char what)
{
    const struct plim_watch_row *row = &ps->rows[ps->order[i]];
    switch (what) {
    case 'b':
        return ps->sample->holding[ps->order[i]].bytes;
    case 'i':
        return row->idle_s;
    default:
        return row->stale == PLIM_STALE_UNKNOWN ? -1 : row->stale == PLIM_STALE_YES;
    }
}

static void put_processes(FILE *out, const struct plim_ps *ps)
{
    static const struct {
        char what;
        const char *name, *help;
    } families[] = {
        { 'b', "process_memory_bytes", "Memory of a process on a card." },
        { 'i', "process_idle_seconds", "Time without activity that was seen; it may be longer." },
        { 's', "process_stale", "1 when the process is stale, 0 when it is not; absent when that is not known." },
    };
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        head(out, families[f].name, families[f].help);
        for (uint32_t i = 0; i < ps->n_shown; i++) {
            const int64_t value = process_value(ps, i, families[f].what);
            if (value < 0)
                continue;
            begin(out, families[f].name, &ps->sample->card[ps->sample->holding[ps->order[i]].card]);
            plim_print(out, ",pid=\"%jd\"", (intmax_t)process_of(ps, i)->pid);
            put_labels(out, ps, i);
            plim_print(out, "} %jd\n", (intmax_t)value);
        }
    }
}

void plim_report_ps_metrics(FILE *out, const struct plim_ps *ps, bool with_processes, double seconds)
{
    if (ps) {
        put_cards(out, ps);
        put_classes(out, ps);
        if (with_processes)
            put_processes(out, ps);
    }
    head(out, "build_info", "The program that wrote this.");
    plim_print(out, "plimsoll_build_info{version=\"%s\"} 1\n", PLIMSOLL_VERSION);
    head(out, "scrape_duration_seconds", "Time that asking the cards and processes took.");
    plim_print(out, "plimsoll_scrape_duration_seconds %f\n", seconds);
    head(out, "scrape_success", "1 when the cards answered. 0 is not an idle card.");
    plim_print(out, "plimsoll_scrape_success %d\n", ps != NULL);
}
