/* SPDX-License-Identifier: MIT */
/*
 * `plimsoll explain` on any bytes. The first byte gives the size of the pieces. A diagnosis keeps its bounds, is the
 * same in any pieces, and its report is clean text.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "diagnose/diagnose.h"
#include "diagnose/scan/patterns/pattern.h"
#include "diagnose/scan/stamp.h"
#include "report/explain.h"

#include <string.h>

static struct plim_diagnose *whole, *pieces;
static struct plim_explained items[PLIM_MAX_FINDINGS];
static struct plim_explanation explanation;

static void check_finding(const struct plim_finding *f, uint64_t n_lines)
{
    FUZZ_REQUIRE(f->pattern && f->framework && f->pattern->role < PLIM_PATTERN_ROLE_NEIGHBOUR);
    FUZZ_REQUIRE(f->count > 0 && f->line <= n_lines + 1 && f->line <= f->last_line);
    FUZZ_REQUIRE(f->n_others <= PLIM_MAX_OTHERS && f->n_evidence <= PLIM_MAX_EVIDENCE);
    for (uint32_t i = 0; i < f->n_evidence; i++)
        FUZZ_REQUIRE(strnlen(f->evidence[i].text, sizeof f->evidence[i].text) < sizeof f->evidence[i].text);
}

static void check_same(const struct plim_diagnosis *a, const struct plim_diagnosis *b)
{
    FUZZ_REQUIRE(a->n_findings == b->n_findings && a->n_lines == b->n_lines && a->n_bytes == b->n_bytes);
    FUZZ_REQUIRE(a->context.n_series == b->context.n_series && a->context.n_points == b->context.n_points);
    for (uint32_t i = 0; i < a->context.n_series; i++)
        FUZZ_REQUIRE(a->context.series[i].bytes == b->context.series[i].bytes &&
                     a->context.series[i].stamp.kind == b->context.series[i].stamp.kind &&
                     a->context.series[i].stamp.seconds == b->context.series[i].stamp.seconds);
    for (uint32_t i = 0; i < a->n_findings; i++) {
        FUZZ_REQUIRE(a->findings[i].pattern == b->findings[i].pattern && a->findings[i].line == b->findings[i].line);
        FUZZ_REQUIRE(!memcmp(&a->findings[i].numbers, &b->findings[i].numbers, sizeof a->findings[i].numbers));
    }
}

/* Times lie within a few thousand years, and differ from themselves by nothing. */
static void check_times(const char *text, size_t n)
{
    const struct plim_stamp stamp = plim_stamp_of_line(text, n);
    int64_t seconds = 0;
    if (plim_stamp_read(text, n, &seconds))
        FUZZ_REQUIRE(seconds > -((int64_t)1 << 40) && seconds < (int64_t)1 << 45);
    FUZZ_REQUIRE(plim_stamp_between(stamp, stamp) == (stamp.kind == PLIM_STAMP_NONE ? -1 : 0));
}

static void report(const struct plim_diagnosis *diagnosis)
{
    static const struct plim_style style = { .has_colour = true };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    FUZZ_REQUIRE(out);
    memset(items, 0, sizeof items);
    explanation = (struct plim_explanation){
        .diagnosis = diagnosis, .source = "log", .items = items, .n_items = diagnosis->n_findings
    };
    for (uint32_t i = 0; i < diagnosis->n_findings; i++) {
        items[i].finding = &diagnosis->findings[i];
        plim_cause_find(items[i].finding, &diagnosis->context, &items[i].cause);
        items[i].has_entry =
            plim_knowledge_for(items[i].finding->pattern->id, items[i].cause.best.cause, &items[i].entry);
        plim_remedies_find(items[i].finding, &diagnosis->context, &items[i].cause, &items[i].remedies);
    }
    plim_report_explain_text(out, &explanation, &style);
    FUZZ_REQUIRE(plim_report_explain_json(out, &explanation));
    fclose(out);
    fuzz_require_shown(text, size);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    const size_t piece = data[0] ? data[0] : 256;
    check_times(text, size - 1);
    if (!whole) {
        whole = plim_diagnose_new();
        pieces = plim_diagnose_new();
        FUZZ_REQUIRE(whole && pieces);
    }
    plim_diagnose_reset(whole);
    plim_diagnose_reset(pieces);
    plim_diagnose_feed(whole, text, size - 1);
    for (size_t i = 0; i < size - 1; i += piece)
        plim_diagnose_feed(pieces, text + i, size - 1 - i < piece ? size - 1 - i : piece);
    const struct plim_diagnosis *diagnosis = plim_diagnose_end(whole);
    FUZZ_REQUIRE(diagnosis->n_findings <= PLIM_MAX_FINDINGS && diagnosis->context.n_frames <= PLIM_MAX_FRAMES);
    for (uint32_t i = 0; i < diagnosis->n_findings; i++)
        check_finding(&diagnosis->findings[i], diagnosis->n_lines);
    check_same(diagnosis, plim_diagnose_end(pieces));
    report(diagnosis);
    return 0;
}
