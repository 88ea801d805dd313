/* SPDX-License-Identifier: MIT */
/*
 * Every form of a message that data/errors/ has an example of, through the whole engine: as it stands, and as logs,
 * terminals, mail and JSON change it. What is broken off may be unknown, but never wrong.
 */
#include "unit.h"

#include "diagnose/diagnose.h"
#include "diagnose/scan/patterns/match.h"
#include "diagnose/scan/patterns/pattern.h"
#include "noise.h"
#include "pattern_examples.h"

#include <inttypes.h>

enum { MOST_COMPLAINTS = 60 };

static struct plim_diagnose *diagnose;
static int n_complaints;

static const struct plim_diagnosis *read_text(const char *text, size_t size)
{
    plim_diagnose_reset(diagnose);
    plim_diagnose_feed(diagnose, text, size);
    return plim_diagnose_end(diagnose);
}

static const struct plim_finding *find_kind(const struct plim_diagnosis *diagnosis, const char *id)
{
    for (uint32_t i = 0; i < diagnosis->n_findings; i++)
        if (!strcmp(diagnosis->findings[i].pattern->id, id))
            return &diagnosis->findings[i];
    return NULL;
}

static void complain(const struct pattern_example *e, enum noise noise, uint32_t seed, const char *what)
{
    if (n_complaints++ < MOST_COMPLAINTS)
        print_error("%s: %s (%s, seed %" PRIu32 "): %s\n", e->where, e->id, noise_name(noise), seed, what);
}

/* --- what an example gives --- */

/* "name=value" or name="some words"; returns what follows, NULL at the end. */
static const char *next_pair(const char *text, char name[64], char value[128])
{
    text += strspn(text, " ");
    if (!*text)
        return NULL;
    const size_t n = strcspn(text, "=");
    snprintf(name, 64, "%.*s", (int)n, text);
    text += n + (text[n] == '=');
    if (*text == '"') {
        const size_t length = strcspn(text + 1, "\"");
        snprintf(value, 128, "%.*s", (int)length, text + 1);
        return text + 1 + length + (text[1 + length] == '"');
    }
    const size_t length = strcspn(text, " ");
    snprintf(value, 128, "%.*s", (int)length, text);
    return text + length;
}

static bool has_other(const struct plim_finding *f, int64_t pid, int64_t bytes)
{
    for (uint32_t i = 0; f && i < f->n_others; i++)
        if (f->others[i].pid == pid && f->others[i].bytes == bytes)
            return true;
    return false;
}

/* Compare one pair; may_lack: unknown is no complaint. */
static void check_pair(const struct pattern_example *e, enum noise noise, uint32_t seed, const struct plim_finding *f,
                       const struct plim_log_context *context, const char *name, const char *value, bool may_lack)
{
    char what[320];
    if (!strcmp(name, "other")) {
        char *end = NULL;
        const long long pid = strtoll(value, &end, 10);
        const long long bytes = strtoll(end + (*end == ':'), NULL, 10);
        if (!has_other(f, pid, bytes) && !may_lack)
            complain(e, noise, seed, "a process is missing");
        return;
    }
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (!strcmp(name, plim_number_name((enum plim_number)i))) {
            const int64_t got = f ? f->numbers.value[i] : context->numbers.value[i];
            const bool is_ratio = plim_number_kind((enum plim_number)i) == PLIM_NUMBER_RATIO;
            const int64_t want = is_ratio ? (int64_t)(strtod(value, NULL) * 1e6 + 0.5) : strtoll(value, NULL, 10);
            if (got == want || (may_lack && got == PLIM_UNKNOWN))
                return;
            snprintf(what, sizeof what, "%s is %" PRId64 "%s, not %" PRId64, name, got == PLIM_UNKNOWN ? 0 : got,
                     got == PLIM_UNKNOWN ? " (unknown)" : "", want);
            complain(e, noise, seed, what);
            return;
        }
    for (int i = 0; i < PLIM_WORD_MAX_; i++)
        if (!strcmp(name, plim_word_name((enum plim_word)i))) {
            const char *got = f ? f->words.text[i] : context->words.text[i];
            if (noise == NOISE_HARD_WRAP) /* nobody can tell where a broken word ends */
                return;
            if (strcmp(got, value) != 0 && !(may_lack && (!got[0] || !strncmp(got, value, strlen(got))))) {
                snprintf(what, sizeof what, "%s is '%s', not '%s'", name, got, value);
                complain(e, noise, seed, what);
            }
            return;
        }
    if (strcmp(name, "nothing") != 0)
        complain(e, noise, seed, name);
}

static void check_gives(const struct pattern_example *e, enum noise noise, uint32_t seed, const struct plim_finding *f,
                        const struct plim_log_context *context, bool may_lack)
{
    char name[64], value[128];
    const char *rest = e->gives;
    while (rest && (rest = next_pair(rest, name, value)))
        check_pair(e, noise, seed, f, context, name, value, may_lack);
}

/* A mark of a recovery is no finding: the failure before it is one that the program went on after. */
static void check_mark(const struct pattern_example *e, enum noise noise)
{
    static const char failures[] = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
                                   "graph_reserve: failed to allocate compute buffers\n";
    char text[2048];
    const int n = snprintf(text, sizeof text, "%s%s\n", failures, e->text);
    const struct plim_diagnosis *diagnosis = read_text(text, (size_t)n);
    bool is_recovered = false;
    for (uint32_t i = 0; i < diagnosis->n_findings; i++)
        is_recovered = is_recovered || diagnosis->findings[i].is_recovered;
    if (is_recovered != e->matches)
        complain(e, noise, 0, e->matches ? "no failure is recovered" : "a failure is recovered and must not be");
    if (noise == NOISE_NONE && e->matches && read_text(e->text, strlen(e->text))->n_findings)
        complain(e, noise, 0, "is a finding, and has no note");
}

static void check_example(const struct pattern_example *e, enum noise noise, uint32_t seed)
{
    size_t size = 0;
    const struct plim_pattern *pattern = plim_pattern_find(e->id);
    if (!pattern) /* a program */
        return;
    char *text = noise_add(noise, e->text, seed, &size);
    const bool is_mark = pattern->role == PLIM_PATTERN_ROLE_RECOVERED && !pattern->note[0];
    if (is_mark) {
        check_mark(e, noise);
        free(text);
        return;
    }
    const struct plim_diagnosis *diagnosis = read_text(text, size);
    /* A figure or an anchor that is cut in two by a hard wrap is not to be had; but nothing wrong may be said. */
    const bool is_neighbour = pattern->role >= PLIM_PATTERN_ROLE_NEIGHBOUR;
    const bool may_lack = noise == NOISE_TRUNCATED || noise == NOISE_HARD_WRAP;
    const struct plim_finding *finding = is_neighbour ? NULL : find_kind(diagnosis, e->id);
    if (!e->matches) {
        if (finding && noise != NOISE_TRUNCATED) /* what made the difference may be gone */
            complain(e, noise, seed, "matches and must not");
    } else if (!is_neighbour && !finding) {
        char what[200];
        snprintf(what, sizeof what, "is not found; instead: %s",
                 diagnosis->n_findings ? diagnosis->findings[0].pattern->id : "nothing");
        if (!may_lack)
            complain(e, noise, seed, what);
    } else if (pattern->role != PLIM_PATTERN_ROLE_SERIES) {
        check_gives(e, noise, seed, finding, &diagnosis->context, may_lack);
    }
    free(text);
}

static void expect_no_complaint(void)
{
    if (n_complaints)
        fail_msg("%d complaints", n_complaints);
}

/* --- tests --- */

static int set_up(void **state)
{
    (void)state;
    diagnose = plim_diagnose_new();
    n_complaints = 0;
    return diagnose ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    plim_diagnose_free(diagnose);
    return 0;
}

static void test_all_compile(void **state)
{
    (void)state;
    struct plim_budget budget;
    struct plim_matcher *matcher = plim_matcher_new(&budget);
    char what[512] = "";
    assert_non_null(matcher);
    for (uint16_t i = 0; i < plim_n_patterns; i++)
        if (!plim_matcher_compiles(matcher, i, what, sizeof what)) {
            print_error("%s: %s\n", plim_patterns[i].id, what);
            n_complaints++;
        }
    plim_matcher_free(matcher);
    expect_no_complaint();
}

static void test_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_pattern_examples; i++)
        check_example(&pattern_examples[i], NOISE_NONE, 0);
    expect_no_complaint();
}

/* The same noise for an example whatever stands before it in the table. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash % 100003;
}

static void test_noise(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_pattern_examples; i++)
        for (int noise = NOISE_SOFT_WRAP; noise < NOISE_MAX_; noise++)
            for (uint32_t seed = 1; seed <= (noise == NOISE_TRUNCATED ? 8 : 2); seed++)
                check_example(&pattern_examples[i], (enum noise)noise, seed * 7919 + hash_of(pattern_examples[i].text));
    expect_no_complaint();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_compile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_examples, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_noise, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
