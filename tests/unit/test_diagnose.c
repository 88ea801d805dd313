/* SPDX-License-Identifier: MIT */
/*
 * The scanner itself: where a message is broken, coloured or cut makes no difference to its figures, order and pieces
 * none to what is found, and no text makes it slow or large.
 */
#include "unit.h"

#include "diagnose/diagnose.h"
#include "diagnose/scan/frames.h"
#include "diagnose/scan/patterns/figure.h"
#include "diagnose/scan/patterns/pattern.h"
#include "diagnose/scan/prefix.h"
#include "diagnose/scan/stamp.h"
#include "diagnose/unknown.h"

#include <inttypes.h>
#include <time.h>

static const char oom[] = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.75 GiB. GPU 3 has a total "
                          "capacity of 79.10 GiB of "
                          "which 112.94 MiB is free. Process 771234 has 12.52 GiB memory in use. Including non-PyTorch "
                          "memory, this process has "
                          "66.46 GiB memory in use. Of the allocated memory 61.19 GiB is allocated by PyTorch, with "
                          "1.02 GiB allocated in private "
                          "pools (e.g., CUDA Graphs), and 1.90 GiB is reserved by PyTorch but unallocated. If reserved "
                          "but unallocated memory is "
                          "large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";

static const struct {
    enum plim_number which;
    int64_t value;
} figures[] = {
    { PLIM_N_TRIED_BYTES, 1879048192 },        { PLIM_N_DEVICE, 3 },
    { PLIM_N_TOTAL_BYTES, 84932978278 },       { PLIM_N_FREE_BYTES, 118426173 },
    { PLIM_N_PROCESS_BYTES, 71360881623 },     { PLIM_N_ALLOCATED_BYTES, 65702262211 },
    { PLIM_N_PRIVATE_POOL_BYTES, 1095216660 }, { PLIM_N_RESERVED_UNALLOCATED_BYTES, 2040109466 },
};

static struct plim_diagnose *diagnose;

static int set_up(void **state)
{
    (void)state;
    diagnose = plim_diagnose_new();
    return diagnose ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    plim_diagnose_free(diagnose);
    return 0;
}

static const struct plim_diagnosis *read_text(const char *text, size_t size)
{
    plim_diagnose_reset(diagnose);
    plim_diagnose_feed(diagnose, text, size);
    return plim_diagnose_end(diagnose);
}

static const struct plim_diagnosis *read_string(const char *text) { return read_text(text, strlen(text)); }

static const char *root_kind(const struct plim_diagnosis *d)
{
    return d->n_findings ? d->findings[0].pattern->id : "none";
}

/* All figures are right; or, when some may be lost, none is wrong. */
static void check_figures(const struct plim_diagnosis *d, bool may_lack, const char *how, size_t at)
{
    if (d->n_findings == 0 && may_lack)
        return;
    if (d->n_findings == 0)
        fail_msg("%s at %zu: nothing is found", how, at);
    for (size_t i = 0; i < COUNT(figures); i++) {
        const int64_t got = d->findings[0].numbers.value[figures[i].which];
        if (got != figures[i].value && !(may_lack && got == PLIM_UNKNOWN))
            fail_msg("%s at %zu: %s is %" PRId64, how, at, plim_number_name(figures[i].which), got);
    }
    for (uint32_t i = 0; i < d->findings[0].n_others; i++) {
        const struct plim_other *other = &d->findings[0].others[i];
        if ((other->pid != 771234 && !(may_lack && other->pid == PLIM_UNKNOWN)) ||
            (other->bytes != 13443247636 && !(may_lack && other->bytes == PLIM_UNKNOWN)))
            fail_msg("%s at %zu: process %" PRId64 " %" PRId64, how, at, other->pid, other->bytes);
    }
}

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t n = 0; n <= strlen(oom); n++)
        check_figures(read_text(oom, n), n < strlen(oom), "cut", n);
}

static void test_begun_at_every_byte(void **state)
{
    (void)state;
    for (size_t n = 1; n < strlen(oom); n++)
        check_figures(read_text(oom + n, strlen(oom) - n), true, "begun", n);
}

static void test_wrapped_at_every_column(void **state)
{
    (void)state;
    char text[4 * sizeof oom];
    for (size_t width = 24; width <= 200; width++) {
        size_t n = 0;
        for (size_t i = 0; oom[i]; i++) {
            if (i > 0 && i % width == 0)
                text[n++] = '\n';
            text[n++] = oom[i];
        }
        check_figures(read_text(text, n), false, "wrapped", width);
    }
}

static void test_broken_once_anywhere(void **state)
{
    (void)state;
    char text[2 * sizeof oom];
    for (size_t at = 1; at < strlen(oom); at++) {
        const int n = snprintf(text, sizeof text, "%.*s\n%s\n", (int)at, oom, oom + at);
        check_figures(read_text(text, (size_t)n), false, "broken", at);
    }
}

/* A size at the end of a line, and a next line that begins with digits: two numbers, unless a terminal broke one. */
static void test_digits_behind_a_line_end(void **state)
{
    (void)state;
    static const char *const next[] = { "0.01.234.567 E graph_reserve",
                                        "12:31:01 INFO",
                                        "12:31 x",
                                        "2026-01-01 x",
                                        "1730000000 x",
                                        "4 workers",
                                        "0.5s x",
                                        "12.5 done",
                                        "20260101 12:00:00 x",
                                        "7",
                                        "1.2.3",
                                        "03.11.2026 x" };
    static const char number[] = "17179869184",
                      first[] = "alloc_tensor_range: failed to allocate CUDA0 buffer of size ";
    char text[256];
    for (size_t i = 0; i < COUNT(next); i++) {
        int n = snprintf(text, sizeof text, "%s17179869184\n%s\n", first, next[i]);
        const struct plim_diagnosis *d = read_text(text, (size_t)n);
        assert_int_equal(d->n_findings, 1);
        assert_int_equal(d->findings[0].numbers.value[PLIM_N_TRIED_BYTES], 17179869184);
    }
    for (size_t at = 1; at < 11; at++) { /* broken by a terminal: right or unknown */
        int n = snprintf(text, sizeof text, "%s%.*s\n%s\n", first, (int)at, number, &number[at]);
        const int64_t got = read_text(text, (size_t)n)->findings[0].numbers.value[PLIM_N_TRIED_BYTES];
        assert_true(got == 17179869184 || got == PLIM_UNKNOWN);
    }
}

static void test_coloured_anywhere(void **state)
{
    (void)state;
    char text[2 * sizeof oom];
    for (size_t at = 0; at <= strlen(oom); at++) {
        const int n = snprintf(text, sizeof text, "%.*s\033[1;31m%s\n", (int)at, oom, oom + at);
        check_figures(read_text(text, (size_t)n), false, "coloured", at);
    }
}

static void test_pieces_make_no_difference(void **state)
{
    (void)state;
    static const size_t pieces[] = { 1, 2, 3, 7, 64, 1000 };
    for (size_t i = 0; i < COUNT(pieces); i++) {
        plim_diagnose_reset(diagnose);
        for (size_t at = 0; at < strlen(oom); at += pieces[i])
            plim_diagnose_feed(diagnose, oom + at, strlen(oom) - at < pieces[i] ? strlen(oom) - at : pieces[i]);
        check_figures(plim_diagnose_end(diagnose), false, "in pieces of", pieces[i]);
    }
}

/* In a long log, at every place of the scanner's buffer. */
static void test_far_into_a_log(void **state)
{
    (void)state;
    static const char filler[] = "INFO step 17 loss 2.31 lr 1e-4 tokens 8192 time 0.31\n";
    for (size_t before = 250 << 10; before < 340 << 10; before += 4999) {
        plim_diagnose_reset(diagnose);
        for (size_t n = 0; n < before; n += sizeof filler - 1)
            plim_diagnose_feed(diagnose, filler, sizeof filler - 1);
        plim_diagnose_feed(diagnose, oom, strlen(oom));
        for (size_t n = 0; n < 40 << 10; n += sizeof filler - 1)
            plim_diagnose_feed(diagnose, n ? filler : "\n", n ? sizeof filler - 1 : 1);
        const struct plim_diagnosis *d = plim_diagnose_end(diagnose);
        check_figures(d, false, "behind", before);
        assert_int_equal(d->findings[0].line, (before + sizeof filler - 2) / (sizeof filler - 1) + 1);
        assert_int_equal(d->findings[0].count, 1);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- order --- */

static void test_the_first_hard_failure_is_the_root(void **state)
{
    (void)state;
    char text[8192];
    snprintf(text, sizeof text,
             "%s\n[rank1]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, "
             "NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n"
             "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n",
             oom);
    const struct plim_diagnosis *d = read_string(text);
    assert_string_equal(root_kind(d), "pytorch-oom");
    for (uint32_t i = 1; i < d->n_findings; i++)
        assert_true(d->findings[i].is_related);
}

/* Figures that stand before a message are those that were printed last. */
static void test_the_nearest_figure_before_a_message(void **state)
{
    (void)state;
    const struct plim_diagnosis *d = read_string("mem avail: 4000 of 15742 MiB (25 %), swap free: 0 of 0 MiB (0 %)\n"
                                                 "mem avail: 700 of 15742 MiB (4 %), swap free: 0 of 0 MiB (0 %)\n"
                                                 "low memory! at or below SIGTERM limits: mem 10 %, swap 10 %\n");
    assert_string_equal(root_kind(d), "earlyoom");
    assert_int_equal(d->findings[0].numbers.value[PLIM_N_AVAILABLE_BYTES], 700 << 20);
}

/* A message names a process that was killed, and the kernel's line about it has the figures. */
static void test_the_kernel_has_the_figures(void **state)
{
    (void)state;
    static const char loader[] = "RuntimeError: DataLoader worker (pid 1184) is killed by signal: Killed.\n\n";
    static const char kernel[] = "Memory cgroup out of memory: Killed process %d (python) total-vm:27551904kB, "
                                 "anon-rss:12758020kB, file-rss:81136kB, shmem-rss:12kB\n";
    char text[1024];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", loader);
    snprintf(text + n, sizeof text - n, kernel, 1184);
    const struct plim_diagnosis *d = read_string(text);
    assert_string_equal(root_kind(d), "pytorch-loader-killed");
    assert_int_equal(d->findings[0].numbers.value[PLIM_N_RSS_BYTES], (int64_t)12758020 << 10);
    snprintf(text + n, sizeof text - n, kernel, 1185); /* another process */
    d = read_string(text);
    assert_int_equal(d->findings[0].numbers.value[PLIM_N_RSS_BYTES], PLIM_UNKNOWN);
}

static void test_repetitions_are_counted(void **state)
{
    (void)state;
    plim_diagnose_reset(diagnose);
    for (int i = 0; i < 5000; i++) {
        plim_diagnose_feed(diagnose, oom, strlen(oom));
        plim_diagnose_feed(diagnose, "\n", 1);
    }
    const struct plim_diagnosis *d = plim_diagnose_end(diagnose);
    assert_int_equal(d->n_findings, 1);
    assert_in_range(d->findings[0].count, 4500, 5000);
    assert_int_equal(d->findings[0].line, 1);
    assert_int_equal(d->n_lines, 5000);
}

/* Host names, ids: no two lines are alike. All are one failure, and another one among them is seen. */
static void test_endless_variety_is_counted(void **state)
{
    (void)state;
    enum { LINES = 20000, OTHER = 15000 };
    uint32_t seed = 1;
    char line[1024];
    const double start = seconds();
    plim_diagnose_reset(diagnose);
    for (int i = 0; i < LINES; i++) {
        char name[9] = { 0 };
        for (int k = 0; k < 8; k++) {
            seed = seed * 1664525 + 1013904223;
            name[k] = (char)('a' + (seed >> 24) % 26);
        }
        snprintf(line, sizeof line, "%s: %s\n", name,
                 i == OTHER ? "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
                              "allocate 8589934592 bytes."
                            : oom);
        plim_diagnose_feed(diagnose, line, strlen(line));
    }
    const struct plim_diagnosis *d = plim_diagnose_end(diagnose);
    assert_int_equal(d->n_findings, 2);
    assert_string_equal(d->findings[0].pattern->id, "pytorch-oom");
    assert_in_range(d->findings[0].count, LINES - LINES / 50, LINES);
    assert_string_equal(d->findings[1].pattern->id, "jax-allocate");
    assert_int_equal(d->findings[1].line, OTHER + 1);
    if (seconds() - start > 3) /* 0.15 are usual; it was 7 when every line was read in full */
        fail_msg("%d lines, no two alike: %.1f s", LINES, seconds() - start);
}

/* What was found to be a part of another message is none of its own, wherever the scanner's windows end. */
static void test_a_part_of_a_message_is_no_finding_of_its_own(void **state)
{
    (void)state;
    static const char filler[] = "INFO step 17 loss 2.31 lr 1e-4 tokens 8192 time 0.31\n";
    static const char other[] =
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 840.69 MiB on device 6: cudaMalloc "
        "failed: out of memory\n";
    for (int before = 40; before < 100; before++) {
        plim_diagnose_reset(diagnose);
        plim_diagnose_feed(diagnose, oom, strlen(oom));
        plim_diagnose_feed(diagnose, "\n", 1);
        for (int i = 0; i < before + 20; i++) {
            if (i == before)
                plim_diagnose_feed(diagnose, other, sizeof other - 1);
            plim_diagnose_feed(diagnose, filler, sizeof filler - 1);
        }
        plim_diagnose_feed(diagnose, oom, strlen(oom));
        const struct plim_diagnosis *d = plim_diagnose_end(diagnose);
        if (d->n_findings != 2)
            fail_msg("%d lines before: %u findings, the last is %s", before, d->n_findings,
                     d->findings[d->n_findings - 1].pattern->id);
        assert_string_equal(d->findings[0].pattern->id, "pytorch-oom");
        assert_string_equal(d->findings[1].pattern->id, "llama-alloc");
    }
}

static void test_the_traceback_is_read(void **state)
{
    (void)state;
    char text[8192];
    snprintf(
        text, sizeof text,
        "Traceback (most recent call last):\n  File \"/old/other.py\", line 1, in before\n"
        "During handling of the above exception, another exception occurred:\n"
        "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/home/me/train.py\", line 88, in <module>\n"
        "[rank0]:     main()\n[rank0]:   File \"/usr/lib/python3.11/site-packages/torch/optim/adamw.py\", line 12, in "
        "step\n"
        "[rank0]: %s\n",
        oom);
    const struct plim_log_context *context = &read_string(text)->context;
    assert_int_equal(context->n_frames, 2);
    assert_string_equal(context->frames[0].file, "/home/me/train.py");
    assert_string_equal(context->frames[1].name, "step");
    assert_int_equal(context->frames[1].line, 12);
    assert_true(context->frames[0].is_user);
    assert_false(context->frames[1].is_user);
    snprintf(text, sizeof text,
             "17 frames\n[/usr/lib/python3.11/dist-packages/diffusers/models/vae.py](https://localhost:8080/#) in "
             "forward(self, x)\n    193\n--> 195     y = x * z\n\n%s\n",
             oom);
    context = &read_string(text)->context;
    assert_int_equal(context->n_frames, 1);
    assert_string_equal(context->frames[0].name, "forward");
    snprintf(text, sizeof text,
             "ERROR 03-05 10:11:41 [core.py:611] Traceback (most recent call last):\n"
             "ERROR 03-05 10:11:41 [core.py:611]   File \"/usr/bin/serve\", line 8, in run\n"
             "ERROR 03-05 10:11:41 [core.py:611] %s\n",
             oom);
    context = &read_string(text)->context;
    assert_int_equal(context->n_frames, 1);
    assert_string_equal(context->frames[0].file, "/usr/bin/serve");
}

/* Where the frames below are cut, the line of code tells of the step; a scheduler's and a closure's are none. */
static void test_a_step_of_the_optimizer_is_a_frame(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        uint32_t n_frames;
    } cases[] = {
        { "optimizer.step()", 2 },    { "self.optim.step()", 2 },           { "optimizer_G.step()", 2 },
        { "lr_scheduler.step()", 1 }, { "self.optimizer.sched.step()", 1 }, { "optimizer.step(closure)", 1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%s\nTraceback (most recent call last):\n  File \"/srv/fit.py\", line 9, in apply\n    %s\n", oom,
                 cases[i].code);
        const struct plim_log_context *context = &read_string(text)->context;
        if (context->n_frames != cases[i].n_frames)
            fail_msg("'%s': %u frames", cases[i].code, context->n_frames);
        assert_string_equal(context->frames[0].name, "apply");
    }
}

static void test_an_exit_status_alone(void **state)
{
    (void)state;
    plim_diagnose_reset(diagnose);
    plim_diagnose_exit_status(diagnose, 137);
    assert_string_equal(root_kind(plim_diagnose_end(diagnose)), "exit-killed");
    plim_diagnose_reset(diagnose);
    plim_diagnose_exit_status(diagnose, 1);
    assert_int_equal(plim_diagnose_end(diagnose)->n_findings, 0);
    plim_diagnose_reset(diagnose);
    plim_diagnose_feed(diagnose, oom, strlen(oom));
    plim_diagnose_exit_status(diagnose, 137);
    assert_string_equal(root_kind(plim_diagnose_end(diagnose)), "pytorch-oom");
}

/* --- times --- */

static void test_times(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds; /* PLIM_UNKNOWN: it is none */
    } rows[] = {
        { "Mon, 02 Nov 2026 21:40:02 +0100", 1793652002 },
        { "2 Nov 2026 20:40:02 +0000", 1793652002 },
        { "Mon Nov  2 20:40:02 2026", 1793652002 },
        { "2026-11-02T20:40:02Z", 1793652002 },
        { "2026-11-02 21:40:02.123456789+01:00", 1793652002 },
        { "2026/11/02 15:10:02 -0530", 1793652002 },
        { "2028-02-29T00:00:00Z", 1835395200 },
        { "1970-01-01T00:00:00Z", 0 },
        { "3d 2h 11min 5.2s", 267065 },
        { "1 day 4h", PLIM_UNKNOWN },
        { "12min 3.101s", 723 },
        { "812ms", 0 },
        { "1month 2weeks", 3801600 },
        { "2h 3d", 7200 }, /* the largest unit comes first: the rest is another text */
        { "2026-13-02T20:40:02Z", PLIM_UNKNOWN },
        { "2026-11-02T25:40:02Z", PLIM_UNKNOWN },
        { "11-02 20:40:02", PLIM_UNKNOWN },
        { "soon", PLIM_UNKNOWN },
        { "", PLIM_UNKNOWN },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t seconds = PLIM_UNKNOWN;
        const bool is_time = plim_stamp_read(rows[i].text, strlen(rows[i].text), &seconds);
        if (is_time != (rows[i].seconds != PLIM_UNKNOWN) || (is_time && seconds != rows[i].seconds))
            fail_msg("%s: %" PRId64 ", not %" PRId64, rows[i].text, seconds, rows[i].seconds);
        for (size_t n = 0; n < strlen(rows[i].text); n++) /* cut anywhere, in a buffer of just so many bytes */
            plim_stamp_read(rows[i].text + strlen(rows[i].text) - n, n, &seconds);
    }
}

static void test_times_of_lines(void **state)
{
    static const struct {
        const char *first, *last;
        int64_t seconds; /* between them; -1 when nobody can tell */
    } rows[] = {
        { "2026-11-02 10:11:12,123 INFO x", "2026-11-02 11:11:13 INFO y", 3601 },
        { "[2026-11-02 10:11:12,123] [INFO] [utils.py:801]", "[2026-11-03 10:11:12] x", 86400 },
        { "(Worker pid=81) INFO 11-02 23:59:50 [x.py:8]", "(Worker pid=81) INFO 11-03 00:00:10 [x.py:8]", 20 },
        { "INFO 12-31 23:59:50", "INFO 01-01 00:00:10", 20 },
        { "Nov 02 10:11:12 node app[81]: x", "Nov 02 10:12:12 node app[81]: y", 60 },
        { "10:11:12 x", "10:11:42 x", 30 },
        { "[23:59:50] x", "[00:00:10] x", 20 },
        { "[  812.310] x", "[  900.1] x", 88 },
        { "[  912.310] x", "[  900.1] x", -1 },
        { "2026-11-02 10:11:12 x", "[  900.1] x", -1 },
        { "2026-11-02 10:11:12 x", "2026-11-02 10:11:10 x", -1 },
        { "step 3 loss 1.2", "step 4 loss 1.1", -1 },
        { "shape 10:11:12:13", "shape 10:11:13:13", -1 },
        { "version 1.2.3-4", "10.0.0.1:8000", -1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t got = plim_stamp_between(plim_stamp_of_line(rows[i].first, strlen(rows[i].first)),
                                               plim_stamp_of_line(rows[i].last, strlen(rows[i].last)));
        if (got != rows[i].seconds)
            fail_msg("%s ... %s: %" PRId64 " s, not %" PRId64, rows[i].first, rows[i].last, got, rows[i].seconds);
    }
}

/* A leak, as a trainer logs it: the rate is of the log's own times, however many figures it has. */
static void test_a_rising_series(void **state)
{
    char line[200];
    (void)state;
    for (int n = 8; n < 400; n *= 3) {
        plim_diagnose_reset(diagnose);
        for (int i = 0; i < n; i++) {
            snprintf(line, sizeof line,
                     "2026-11-%02d %02d:%02d:00,123 INFO train - step %d loss 0.%d GPU memory allocated: %d.%02d GB\n",
                     2 + i / 144, i / 6 % 24, i % 6 * 10, 10 * i, i % 10, 8 + i / 20, i % 20 * 5);
            plim_diagnose_feed(diagnose, line, strlen(line));
        }
        plim_diagnose_feed(diagnose, oom, strlen(oom));
        const struct plim_log_context *context = &plim_diagnose_end(diagnose)->context;
        assert_true(context->n_series >= 5);
        const struct plim_point *first = &context->series[0], *last = &context->series[context->n_series - 1];
        const int64_t seconds = plim_stamp_between(first->stamp, last->stamp);
        assert_true(seconds >= 1800);
        /* 51.2 MiB in ten minutes */
        assert_in_range((last->bytes - first->bytes) / 1024 * 3600 / seconds, 300 * 1024, 316 * 1024);
    }
}

/* --- figures --- */

static void test_figures(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum plim_number_kind kind;
        int64_t value; /* PLIM_UNKNOWN: none */
    } cases[] = {
        { "2.00 GiB", PLIM_NUMBER_BYTES, 2147483648 },
        { "1.25GiB", PLIM_NUMBER_BYTES, 1342177280 },
        { "1900,00 MiB", PLIM_NUMBER_BYTES, 1992294400 },
        { "273. GiB", PLIM_NUMBER_BYTES, 293131517952 },
        { "1,234,567", PLIM_NUMBER_BYTES, 1234567 },
        { "1,234 bytes", PLIM_NUMBER_BYTES, 1234 },
        { "0 bytes", PLIM_NUMBER_BYTES, 0 },
        { "1.234.567,50 kB", PLIM_NUMBER_BYTES, 1264197120 },
        { "512Mi", PLIM_NUMBER_BYTES, 536870912 },
        { "10.250000GB", PLIM_NUMBER_BYTES, 11005853696 },
        { "-1.50 GiB", PLIM_NUMBER_BYTES, -1610612736 },
        { "8388608.00 TiB", PLIM_NUMBER_BYTES, PLIM_UNKNOWN },
        { "17179869184.00 GiB", PLIM_NUMBER_BYTES, PLIM_UNKNOWN },
        { "99999999999999999999", PLIM_NUMBER_COUNT, PLIM_UNKNOWN },
        { "40960", PLIM_NUMBER_COUNT, 40960 },
        { "4.5", PLIM_NUMBER_COUNT, PLIM_UNKNOWN },
        { "0.9", PLIM_NUMBER_RATIO, 900000 },
        { "90%", PLIM_NUMBER_RATIO, 900000 },
        { "0.90000000000001", PLIM_NUMBER_RATIO, 900000 },
        { "", PLIM_NUMBER_BYTES, PLIM_UNKNOWN },
        { "-", PLIM_NUMBER_BYTES, PLIM_UNKNOWN },
        { ".5", PLIM_NUMBER_BYTES, PLIM_UNKNOWN },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t value = PLIM_UNKNOWN;
        plim_figure_read(cases[i].text, strlen(cases[i].text), cases[i].kind, 1, &value);
        if (value != cases[i].value)
            fail_msg("'%s' is %" PRId64 ", not %" PRId64, cases[i].text, value, cases[i].value);
    }
    assert_int_equal(plim_figure_exact(" (rounded to 2638827907072)requested by", 2638827906662), 2638827907072);
    assert_int_equal(plim_figure_exact(" (33822867456 bytes), down from", 33822867456 + 4096), 33822867456);
    assert_int_equal(plim_figure_exact(" (8192 bytes)", 1048576), 1048576); /* another figure */
    assert_int_equal(plim_figure_exact(" (1048", 1048000), 1048000);        /* cut */
    assert_int_equal(plim_figure_exact(" (GPU 0; 8.00 GiB", 1048576), 1048576);
    assert_int_equal(plim_figure_tensor_bytes("[32,1024,4096]", "float"), 536870912);
    assert_int_equal(plim_figure_tensor_bytes("(273, 40960, 40960)", "float64"), 3664143974400);
    assert_true(plim_figure_tensor_bytes("[?,1024]", "float") == PLIM_UNKNOWN);
    assert_true(plim_figure_tensor_bytes("[99999999999,99999999999]", "float") == PLIM_UNKNOWN);
}

static void test_an_impossible_figure_is_dropped(void **state)
{
    (void)state;
    const struct plim_diagnosis *d =
        read_string("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
                    "capacity of 8.00 GiB of which 0 bytes is "
                    "free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of the "
                    "allocated memory 7.00 GiB is "
                    "allocated by PyTorch, and 0.50 GiB is reserved by PyTorch but unallocated.\n");
    assert_int_equal(d->n_findings, 1);
    assert_true(d->findings[0].has_impossible);
    assert_true(d->findings[0].numbers.value[PLIM_N_PROCESS_BYTES] == PLIM_UNKNOWN);
    assert_int_equal(d->findings[0].numbers.value[PLIM_N_FREE_BYTES], 0);
}

/* --- prefixes --- */

static void test_prefixes(void **state)
{
    (void)state;
    static const struct {
        const char *line, *rest;
    } cases[] = {
        { "[rank3]: text", "text" },
        { "(EngineCore_DP0 pid=276) ERROR 03-05 10:11:41 [core.py:611] text", "text" },
        { "(RayWorkerWrapper pid=4242, ip=10.0.0.7) text", "text" },
        { "2025-03-04T10:11:12.123456789Z stdout F text", "text" },
        { "Mar  4 10:11:12 node17 kernel: [12345.678901] text", "text" },
        { "vllm-1  | text", "text" },
        { "> > text", "text" },
        { "[1,0]<stderr>:text", "text" },
        { "2025-03-04 10:11:12,345 - text", "- text" },
        { "[ERROR] text", "text" },
        { "0: cudaMalloc failed", "0: cudaMalloc failed" },
        { "(UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)", "(UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)" },
        { "(task ID: ff, pid=881) text", "(task ID: ff, pid=881) text" },
        { "[malloc] text", "[malloc] text" },
        { "", "" },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(cases[i].line + plim_prefix_bytes(cases[i].line, strlen(cases[i].line), false),
                            cases[i].rest);
    assert_int_equal(plim_prefix_bytes("3: text", 7, true), 3);
}

/* --- what it costs --- */

/* The worst that a text can do: anchors without end, numbers without end, quotes in quotes. */
static void test_hostile_texts_are_no_slower(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Tried to allocate ",
        "out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of ",
        "1,111",
        "\\\\\\\\\\\\n",
        "&#x27;",
        "=3D=20=\n",
        "\033[31m",
        "\033]0;",
        "> > > > > > ",
        "Process 1 has 1.00 GiB memory in use. ",
        "File \"",
        "\n",
        "[rank0]: ",
        "CUDA error: out of memory CUDA_ERROR_OUT_OF_MEMORY cudaMalloc failed: out of memory Killed process 1 (",
        "\xff\xfe",
        "\xe2\x80\x98",
    };
    enum { SIZE = 2 << 20 };
    char *data = malloc(SIZE);
    assert_non_null(data);
    for (size_t i = 0; i < COUNT(texts); i++) {
        const size_t n = strlen(texts[i]);
        for (size_t at = 0; at < SIZE; at++)
            data[at] = texts[i][at % n];
        const double start = seconds();
        read_text(data, SIZE);
        const double taken = seconds() - start;
        if (taken > 3) /* 0.7 MB/s, with sanitizers on a busy machine; ten times as fast is usual */
            fail_msg("'%s' over and over: %.1f s for %d MiB", texts[i], taken, SIZE >> 20);
    }
    free(data);
}

static void test_lines_that_say_that_something_failed(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool is;
    } rows[] = {
        { "[11/02/2026-09:12:19] [E] [TRT] 9: the node was not possible", true },
        { "2026-11-03 10:11:12,345 ERROR worker stopped", true },
        { "E1103 10:11:12.345678 77 loader.cc:12] no such thing", true },
        { "time=2026-11-03T10:11:12Z level=error msg=\"no such thing\"", true },
        { "26/11/03 10:11:12 ERROR Executor: Exception in task 0.0", true },
        { "zoo.errors.ShapeError: 3 is not 4", true },
        { "KeyboardInterruptError", true },
        { "java.lang.IllegalStateException", true },
        { "error: no such thing", true },
        { "Aborted (core dumped)", true },
        { "./run.sh: line 3: 4242 Aborted                 (core dumped) ./train", true },
        { "        \"Error\": \"\",", false },
        { "Error: null", false },
        { "Errors are counted by the wrapper", false },
        { "2026-11-03 10:11:12,345 INFO no error so far", false },
        { "loss: 0.5, error: 0.1", false },
        { "", false },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (plim_unknown_is_alarm(rows[i].line, strlen(rows[i].line)) != rows[i].is)
            fail_msg("%s", rows[i].line);
}

/* Messages that are known, however often they are repeated, leave nothing unknown. */
static void test_what_is_unknown_near_the_end(void **state)
{
    (void)state;
    static char text[1 << 20];
    size_t n = 0;
    for (int i = 0; i < 4000; i++)
        n += (size_t)snprintf(
            text + n, sizeof text - n,
            "2026-11-03 10:11:12 ERROR worker: CUDA error: an illegal memory access was encountered %d\n", i);
    const struct plim_diagnosis *d = read_text(text, n);
    assert_string_equal(root_kind(d), "cuda-illegal-access");
    assert_int_equal(d->context.n_unknown, 0);
    n += (size_t)snprintf(text + n, sizeof text - n, "2026-11-03 10:11:13 ERROR worker: no such thing\n");
    d = read_text(text, n);
    assert_int_equal(d->context.n_unknown, 1);
    assert_int_equal(d->context.unknown[0].line, 4001);
    assert_false(d->context.unknown[0].is_other_exception);
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "[rank0]: RuntimeError: PassManager::run failed\n"
                          "RuntimeError: cannot reserve a pool of memory\nSomeError\n");
    d = read_text(text, n);
    assert_int_equal(d->context.n_unknown, 4);
    assert_true(d->context.unknown[1].is_other_exception);
    assert_false(d->context.unknown[2].is_other_exception); /* it may be about memory */
    assert_false(d->context.unknown[3].is_other_exception); /* it has no words */
    for (int i = 0; i < 100; i++)                           /* only the last ones are kept */
        n += (size_t)snprintf(text + n, sizeof text - n, "2026-11-03 10:11:14 ERROR worker: no such thing\n");
    d = read_text(text, n);
    assert_int_equal(d->context.n_unknown, PLIM_MAX_UNKNOWN);
    assert_int_equal(d->context.unknown[PLIM_MAX_UNKNOWN - 1].line, 4104);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cut_at_every_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_begun_at_every_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrapped_at_every_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broken_once_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_digits_behind_a_line_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_coloured_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pieces_make_no_difference, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_far_into_a_log, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_first_hard_failure_is_the_root, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_nearest_figure_before_a_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_kernel_has_the_figures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_repetitions_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_endless_variety_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_part_of_a_message_is_no_finding_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_traceback_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_step_of_the_optimizer_is_a_frame, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_exit_status_alone, set_up, tear_down),
        cmocka_unit_test(test_lines_that_say_that_something_failed),
        cmocka_unit_test_setup_teardown(test_what_is_unknown_near_the_end, set_up, tear_down),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_times_of_lines),
        cmocka_unit_test_setup_teardown(test_a_rising_series, set_up, tear_down),
        cmocka_unit_test(test_figures),
        cmocka_unit_test_setup_teardown(test_an_impossible_figure_is_dropped, set_up, tear_down),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test_setup_teardown(test_hostile_texts_are_no_slower, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
