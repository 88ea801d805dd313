/* SPDX-License-Identifier: MIT */
#include "diagnose/findings.h"

#include "base/mem.h"
#include "diagnose/cause/bag.h"
#include "diagnose/log_context.h"
#include "diagnose/order.h"
#include "diagnose/scan/patterns/figure.h"
#include "diagnose/told_size.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_OF_A_KIND = 8, /* findings of one pattern with different figures */
    LINES_TO_RECOVER = 200,
    LINES_OF_A_DUMP = 4000,
    LINES_OF_WORDS = 200, /* within which a general pattern's match and a known pattern's are one failure */
};

struct plim_findings {
    struct plim_finding list[PLIM_MAX_FINDINGS];    /* in the order of the log */
    struct plim_finding ordered[PLIM_MAX_FINDINGS]; /* the root first */
    struct plim_frame frames[PLIM_MAX_FRAMES];      /* of the first hard failure, else of the first finding */
    uint32_t n_frames;
    bool has_hard_frames;
    uint32_t n;
    uint64_t since; /* findings before this offset have been reported */
    struct plim_diagnosis diagnosis;
};

struct plim_findings *plim_findings_new(void)
{
    struct plim_findings *findings = plim_alloc(1, sizeof *findings);
    if (findings)
        plim_log_context_init(&findings->diagnosis.context);
    return findings;
}

void plim_findings_reset(struct plim_findings *findings)
{
    memset(findings, 0, sizeof *findings);
    plim_log_context_init(&findings->diagnosis.context);
}

void plim_findings_free(struct plim_findings *findings) { plim_free(findings); }

static const struct plim_finding *first_hard(const struct plim_findings *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->list[i].offset >= f->since && plim_role_is_hard(f->list[i].pattern->role) && !f->list[i].is_recovered)
            return &f->list[i];
    return NULL;
}

static void add_evidence(struct plim_finding *finding, const struct plim_observation *s)
{
    for (uint32_t i = 0; i < s->n_evidence && finding->n_evidence < PLIM_MAX_EVIDENCE; i++) {
        bool is_known = false;
        for (uint32_t k = 0; k < finding->n_evidence; k++)
            is_known = is_known || finding->evidence[k].line == s->evidence[i].line;
        if (!is_known)
            finding->evidence[finding->n_evidence++] = s->evidence[i];
    }
}

static void fill(struct plim_finding *finding, const struct plim_match *m)
{
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (finding->numbers.value[i] == PLIM_UNKNOWN)
            finding->numbers.value[i] = m->numbers.value[i];
    for (int i = 0; i < PLIM_WORD_MAX_; i++)
        if (!finding->words.text[i][0])
            memcpy(finding->words.text[i], m->words.text[i], PLIM_WORD_BYTES);
    for (uint32_t i = finding->n_others; i < m->n_others; i++)
        finding->others[finding->n_others++] = m->others[i];
    finding->has_impossible = finding->has_impossible || m->has_impossible;
}

static void take_from_context(struct plim_findings *f, struct plim_finding *finding)
{
    const struct plim_log_context *context = &f->diagnosis.context;
    for (const struct plim_pattern_value *v = finding->pattern->values; v && v->kind != PLIM_VALUE_END; v++) {
        if (v->kind == PLIM_VALUE_TAKE_NUMBER && finding->numbers.value[v->index] == PLIM_UNKNOWN)
            finding->numbers.value[v->index] = context->numbers.value[v->index];
        if (v->kind == PLIM_VALUE_TAKE_WORD && !finding->words.text[v->index][0])
            memcpy(finding->words.text[v->index], context->words.text[v->index], PLIM_WORD_BYTES);
    }
}

/* No figure of one contradicts the other: one of them may be cut. */
static bool agrees(const struct plim_finding *finding, const struct plim_match *m)
{
    if (finding->n_others && m->n_others && finding->n_others != m->n_others)
        return false;
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (m->numbers.value[i] != PLIM_UNKNOWN && finding->numbers.value[i] != PLIM_UNKNOWN &&
            finding->numbers.value[i] != m->numbers.value[i])
            return false;
    return true;
}

/* Says no more than the finding does. */
static bool adds_nothing(const struct plim_finding *finding, const struct plim_match *m)
{
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (m->numbers.value[i] != PLIM_UNKNOWN && finding->numbers.value[i] == PLIM_UNKNOWN)
            return false;
    return true;
}

/* The same message again: with the same figures anywhere, with further ones near it. */
static int find_same(const struct plim_findings *f, const struct plim_observation *s)
{
    int n_of_kind = 0, last = -1;
    for (uint32_t i = f->n; i-- > 0;) {
        const struct plim_finding *finding = &f->list[i];
        if (finding->pattern != s->match->pattern)
            continue;
        if (agrees(finding, s->match) &&
            (adds_nothing(finding, s->match) || s->line - finding->last_line <= PLIM_LINES_OF_A_FAILURE))
            return (int)i;
        n_of_kind++;
        last = last < 0 ? (int)i : last;
    }
    return n_of_kind >= MAX_OF_A_KIND ? last : -1;
}

static int find_refined(const struct plim_findings *f, const struct plim_observation *s)
{
    for (uint32_t i = f->n; i-- > 0;) {
        const bool is_of_a_dump = f->list[i].pattern->is_dump && s->match->pattern->is_dump;
        if (plim_pattern_lists(s->match->pattern->refines, f->list[i].pattern->id) && !f->list[i].is_recovered &&
            s->line - f->list[i].last_line <= (is_of_a_dump ? LINES_OF_A_DUMP : PLIM_LINES_OF_A_FAILURE))
            return (int)i;
    }
    return -1;
}

/* Windows overlap, so what stands before a finding may be seen behind it. */
static uint64_t lines_apart(const struct plim_finding *finding, const struct plim_observation *s)
{
    return s->line < finding->line        ? finding->line - s->line
           : s->line > finding->last_line ? s->line - finding->last_line
                                          : 0;
}

/* The last failure near it whose pattern is general, or is not. */
static int find_near(const struct plim_findings *f, const struct plim_observation *s, bool is_general)
{
    for (uint32_t i = f->n; i-- > 0;) {
        const struct plim_finding *finding = &f->list[i];
        if (finding->pattern->role == PLIM_PATTERN_ROLE_FAILURE && !finding->is_recovered &&
            finding->pattern->is_general == is_general && lines_apart(finding, s) <= LINES_OF_WORDS)
            return (int)i;
    }
    return -1;
}

static int refine(struct plim_findings *f, int which, const struct plim_observation *s)
{
    struct plim_finding *finding = &f->list[which];
    finding->pattern = s->match->pattern;
    finding->is_bare = finding->is_bare && s->is_bare;
    fill(finding, s->match);
    int64_t *tried = &finding->numbers.value[PLIM_N_TRIED_BYTES];
    *tried = plim_figure_unrounded(*tried, s->match->numbers.value[PLIM_N_TRIED_BYTES]);
    take_from_context(f, finding);
    add_evidence(finding, s);
    finding->last_line = s->line;
    return which;
}

static bool has_user_frame(const struct plim_frame *frames, uint32_t n)
{
    bool has = false;
    for (uint32_t i = 0; i < n; i++)
        has = has || frames[i].is_user;
    return has;
}

/* "During handling of the above exception": the first traceback may be of a library's inside alone. */
static void keep_frames(struct plim_findings *f, const struct plim_observation *s)
{
    const bool is_root = plim_role_is_hard(s->match->pattern->role);
    const bool is_better = !has_user_frame(f->frames, f->n_frames) && has_user_frame(s->frames, s->n_frames);
    if (!s->n_frames || (f->has_hard_frames && !is_better) || (f->n_frames && !is_root))
        return;
    memcpy(f->frames, s->frames, s->n_frames * sizeof *f->frames);
    f->n_frames = s->n_frames;
    f->has_hard_frames = is_root;
}

static bool has_bytes(const struct plim_numbers *numbers)
{
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (numbers->value[i] != PLIM_UNKNOWN && plim_number_kind((enum plim_number)i) == PLIM_NUMBER_BYTES)
            return true;
    return false;
}

/*
 * A failure with a pattern of its own and a general pattern's match near it are one: the first stands, and takes the
 * figures of the other only when it has no bytes itself.
 */
static int merge_general(struct plim_findings *f, const struct plim_observation *s)
{
    const bool is_general = s->match->pattern->is_general;
    const int which = find_near(f, s, !is_general);
    if (which < 0)
        return -1;
    struct plim_finding *finding = &f->list[which];
    if (is_general) {
        if (!has_bytes(&finding->numbers))
            fill(finding, s->match);
        return which;
    }
    if (has_bytes(&s->match->numbers))
        plim_numbers_init(&finding->numbers);
    keep_frames(f, s);
    return refine(f, which, s);
}

/*
 * Somebody said more than these words say. Both together, that it was killed and that memory was out, say who did it.
 */
static bool is_said_already(struct plim_findings *f, const struct plim_observation *s)
{
    const bool is_of_memory = !strcmp(s->match->pattern->id, "said-memory");
    bool is = false;
    for (uint32_t i = 0; i < f->n; i++) {
        struct plim_finding *finding = &f->list[i];
        if (!plim_pattern_lists(finding->pattern->refines, s->match->pattern->id))
            continue;
        is = true;
        if (is_of_memory && !strcmp(finding->pattern->id, "said-ended"))
            finding->pattern = plim_pattern_find("said-oom-killed");
    }
    return is;
}

static bool recover(struct plim_findings *f, const struct plim_observation *s)
{
    bool is_any = false;
    for (uint32_t i = 0; i < f->n; i++) {
        struct plim_finding *finding = &f->list[i];
        const bool is_listed = plim_pattern_lists(s->match->pattern->recovers, finding->pattern->id) ||
                               (finding->is_bare && s->match->pattern->role == PLIM_PATTERN_ROLE_RECOVERED);
        if (is_listed && s->line - finding->last_line <= LINES_TO_RECOVER) {
            finding->is_recovered = true;
            add_evidence(finding, s);
            is_any = true;
        }
    }
    return is_any;
}

/* The kernel has the figures of a process that an earlier message only names by its number. */
static void complete_by_pid(struct plim_findings *f, const struct plim_observation *s)
{
    const int64_t pid = s->match->numbers.value[PLIM_N_PID];
    if (pid == PLIM_UNKNOWN || s->match->numbers.value[PLIM_N_RSS_BYTES] == PLIM_UNKNOWN)
        return;
    for (uint32_t i = 0; i < f->n; i++) {
        struct plim_finding *finding = &f->list[i];
        if (finding->numbers.value[PLIM_N_PID] == pid && !has_bytes(&finding->numbers) && finding->offset >= f->since &&
            !finding->is_recovered && s->line - finding->last_line <= PLIM_LINES_TO_FOLLOW) {
            fill(finding, s->match);
            add_evidence(finding, s);
        }
    }
}

int plim_findings_add(struct plim_findings *f, const struct plim_observation *s)
{
    const struct plim_match *m = s->match;
    const enum plim_pattern_role role = m->pattern->role;
    struct plim_log_context *context = &f->diagnosis.context;
    if (role >= PLIM_PATTERN_ROLE_NEIGHBOUR) {
        plim_log_context_add(context, s, first_hard(f) != NULL);
        return -1;
    }
    plim_log_context_add_programs_around(context, s);
    if (role == PLIM_PATTERN_ROLE_RECOVERED && (recover(f, s) || !m->pattern->note[0]))
        return -1;
    int which = find_refined(f, s);
    if (which >= 0) {
        keep_frames(f, s); /* a library reports first, then the exception of the program comes with its traceback */
        return refine(f, which, s);
    }
    complete_by_pid(f, s);
    if (m->pattern->is_said && is_said_already(f, s))
        return -1;
    which = role == PLIM_PATTERN_ROLE_FAILURE ? merge_general(f, s) : -1;
    if (which >= 0)
        return m->pattern->is_general ? -1 : which;
    which = find_same(f, s);
    if (which >= 0 && !f->list[which].is_recovered) { /* after a recovery the same message is a new failure */
        if (agrees(&f->list[which], m)) {
            fill(&f->list[which], m);
            f->list[which].is_bare = f->list[which].is_bare && s->is_bare;
            add_evidence(&f->list[which], s);
            if (!has_user_frame(f->frames, f->n_frames)) /* a notebook has the message first, then the traceback */
                keep_frames(f, s);
        }
        if (!s->is_counted)
            plim_findings_count(f, which, s->line);
        return which;
    }
    keep_frames(f, s);
    if (f->n == PLIM_MAX_FINDINGS) {
        f->diagnosis.n_left_out++;
        return -1;
    }
    struct plim_finding *finding = &f->list[f->n];
    memset(finding, 0, sizeof *finding);
    plim_numbers_init(&finding->numbers);
    finding->pattern = m->pattern;
    finding->framework = m->pattern->framework;
    finding->line = finding->last_line = s->line;
    finding->offset = s->offset;
    finding->count = 1;
    finding->is_bare = s->is_bare;
    fill(finding, m);
    take_from_context(f, finding);
    add_evidence(finding, s);
    return (int)f->n++;
}

void plim_findings_see_program(struct plim_findings *f, const struct plim_pattern *program)
{
    plim_log_context_add_program(&f->diagnosis.context, program);
}

bool plim_findings_are_bare(const struct plim_findings *f)
{
    bool are = true;
    for (uint32_t i = 0; i < f->n; i++)
        are = are && f->list[i].is_bare && f->list[i].pattern->is_general && !f->list[i].is_recovered;
    return are;
}

void plim_findings_look_around(struct plim_findings *f, const char *text)
{
    const struct plim_observation whole = { .texts = { text } };
    plim_log_context_add_programs_around(&f->diagnosis.context, &whole);
}

void plim_findings_read_sizes(struct plim_findings *f, const char *text, size_t size)
{
    plim_told_size_read(text, size, &f->diagnosis.context.told_size);
}

void plim_findings_read_words(struct plim_findings *f, const char *text, size_t size)
{
    plim_bag_read(text, size, &f->diagnosis.context.bag);
}

/* What a traceback or a line of its own shows is not outdone by a name, nor is a message that only one program has. */
static bool is_open(const struct plim_log_context *context, const struct plim_finding *finding)
{
    static const char *const inner[] = { "pytorch", "linux-kernel", "nccl", "cublas", "cudnn" };
    const char *framework = plim_log_context_outermost(context, finding->pattern->framework);
    bool is = !strcmp(framework, "other");
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        is = is || (finding->pattern->is_general && !strcmp(framework, inner[i]));
    return is;
}

void plim_findings_name_programs(struct plim_findings *f, const char *text, size_t size)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (!is_open(&f->diagnosis.context, &f->list[i]))
            return;
    plim_log_context_add_programs_named(&f->diagnosis.context, text, size);
}

void plim_findings_count(struct plim_findings *f, int which, uint64_t line)
{
    f->list[which].count++;
    f->list[which].last_line = line;
}

bool plim_findings_wants_frames(const struct plim_findings *f, const struct plim_pattern *pattern)
{
    return pattern->role < PLIM_PATTERN_ROLE_NEIGHBOUR && (!f->has_hard_frames || f->n < PLIM_MAX_FINDINGS / 4);
}

void plim_findings_forget(struct plim_findings *f, uint64_t offset)
{
    f->since = offset;
    f->n_frames = 0;
    f->has_hard_frames = false;
}

/*
 * What somebody tells is of the program that they name, be it the kernel that ended it. What tells no program, and is
 * of the host's memory or told, is of what ran it.
 */
static const char *framework_of(const struct plim_log_context *context, const struct plim_finding *finding)
{
    const struct plim_pattern *pattern = finding->pattern;
    const bool is_told = pattern->is_said || pattern->is_shell; /* by no kernel */
    const char *framework = plim_log_context_outermost(context, is_told ? "other" : pattern->framework);
    const char *surroundings = NULL;
    if (strcmp(framework, "other") != 0)
        return framework;
    if (pattern->is_said || !strcmp(pattern->stage, "host"))
        surroundings = plim_log_context_surroundings(context);
    return surroundings ? surroundings : pattern->framework;
}

struct plim_diagnosis *plim_findings_order(struct plim_findings *f)
{
    struct plim_diagnosis *d = &f->diagnosis;
    const struct plim_finding *unreported[PLIM_MAX_FINDINGS];
    d->findings = f->ordered;
    d->n_findings = 0;
    memcpy(d->context.frames, f->frames, sizeof f->frames);
    d->context.n_frames = f->n_frames;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->list[i].offset >= f->since)
            unreported[d->n_findings++] = &f->list[i];
    plim_findings_sort(unreported, d->n_findings, f->ordered);
    for (uint32_t i = 0; i < d->n_findings; i++)
        f->ordered[i].framework = framework_of(&d->context, &f->ordered[i]);
    d->framework = d->n_findings ? f->ordered[0].framework : plim_log_context_framework(&d->context);
    return d;
}

struct plim_printed *plim_findings_printed_of(struct plim_findings *f, int which, uint64_t offset)
{
    const struct plim_finding *finding = &f->list[which];
    return finding->offset == offset && finding == first_hard(f) ? &f->diagnosis.context.printed : NULL;
}

void plim_findings_exit_status(struct plim_findings *f, int exit_status)
{
    static const struct {
        int status;
        const char *kind;
    } kinds[] = { { 137, "exit-killed" }, { -9, "exit-killed" }, { 9, "exit-killed" } };
    struct plim_match match = { 0 };
    plim_numbers_init(&match.numbers);
    match.numbers.value[PLIM_N_EXIT_STATUS] = exit_status;
    f->diagnosis.context.numbers.value[PLIM_N_EXIT_STATUS] = exit_status;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !first_hard(f); i++)
        if (kinds[i].status == exit_status) {
            const struct plim_observation observation = { .match = &match };
            match.pattern = plim_pattern_find(kinds[i].kind);
            match.numbers.value[PLIM_N_SIGNAL] = 9;
            if (match.pattern)
                plim_findings_add(f, &observation);
        }
}
