/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_CAUSE_CASE_H
#define PLIMSOLL_TESTS_CAUSE_CASE_H

/* One message with its figures, and the cause that the rules name for it. */

#include "base/units.h"
#include "diagnose/cause/cause.h"
#include "diagnose/scan/patterns/pattern.h"
#include "unit.h"

#include <string.h>

#define GIB(x) ((int64_t)((x) * (double)PLIM_GIB))
#define MIB(x) ((int64_t)((x) * (double)PLIM_MIB))

static struct plim_pattern pattern;
static struct plim_finding finding;
static struct plim_log_context context;
static struct plim_cause_answer answer;

static inline void begin(void)
{
    memset(&pattern, 0, sizeof pattern);
    memset(&finding, 0, sizeof finding);
    memset(&context, 0, sizeof context);
    pattern.id = "test";
    pattern.framework = finding.framework = "pytorch";
    pattern.stage = pattern.note = "";
    finding.pattern = &pattern;
    plim_numbers_init(&finding.numbers);
    plim_numbers_init(&context.numbers);
}

static inline void set(enum plim_number which, int64_t value) { finding.numbers.value[which] = value; }

static inline void other(int64_t pid, int64_t bytes)
{
    finding.others[finding.n_others++] = (struct plim_other){ pid, bytes };
}

/* A message of today's PyTorch; negative: not printed. */
static inline void message(double tried, double total, double free_gib, double process, double allocated,
                           double unallocated)
{
    begin();
    set(PLIM_N_TRIED_BYTES, GIB(tried));
    set(PLIM_N_TOTAL_BYTES, GIB(total));
    set(PLIM_N_FREE_BYTES, GIB(free_gib));
    if (process >= 0)
        set(PLIM_N_PROCESS_BYTES, GIB(process));
    if (allocated >= 0)
        set(PLIM_N_ALLOCATED_BYTES, GIB(allocated));
    if (unallocated >= 0)
        set(PLIM_N_RESERVED_UNALLOCATED_BYTES, GIB(unallocated));
}

/* What was printed at a step; seconds apart from the one before. */
static inline void point(int64_t step, int64_t bytes, int64_t seconds)
{
    const struct plim_stamp stamp = { PLIM_STAMP_DATE, (int64_t)context.n_points * seconds };
    context.series[context.n_series++] = (struct plim_point){ step, bytes, stamp };
    context.n_points++;
}

/* A line of the traceback, further in than the one before. */
static inline void frame(const char *file, const char *name, bool is_user)
{
    struct plim_frame *to = &context.frames[context.n_frames++];
    snprintf(to->file, sizeof to->file, "%s", file);
    snprintf(to->name, sizeof to->name, "%s", name);
    to->line = 42;
    to->is_user = is_user;
}

static inline void find(void) { plim_cause_find(&finding, &context, &answer); }

/* Memory was short, and the log does not say what for. */
#define assert_open()                                                                                                  \
    do {                                                                                                               \
        plim_cause_find(&finding, &context, &answer);                                                                  \
        assert_int_equal(answer.best.cause, PLIM_CAUSE_UNKNOWN);                                                       \
        assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_NONE);                                                \
        assert_int_equal(answer.advised, PLIM_CAUSE_BATCH_OR_ACTIVATION);                                              \
    } while (0)

#define assert_cause(cause_name)                                                                                       \
    do {                                                                                                               \
        find();                                                                                                        \
        assert_string_equal(plim_cause_name(answer.best.cause), cause_name);                                           \
    } while (0)

#endif
