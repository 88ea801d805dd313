/* SPDX-License-Identifier: MIT */
/* Causes that the message itself names: its stage, its words, who ended the program; and how sure that is. */
#include "cause_case.h"

#include <string.h>

static void stage(const char *framework, const char *name)
{
    begin();
    pattern.stage = name;
    finding.framework = framework;
}

static bool says(const char *text) { return strstr(answer.best.why, text) != NULL; }

static void test_servers(void **state)
{
    (void)state;
    stage("vllm", "startup");
    set(PLIM_N_TOTAL_BYTES, GIB(23.57));
    set(PLIM_N_FREE_BYTES, GIB(17.5));
    set(PLIM_N_UTILIZATION, 900000);
    assert_cause("other_process");
    set(PLIM_N_FREE_BYTES, GIB(22.9));
    set(PLIM_N_UTILIZATION, 990000);
    assert_cause("misconfiguration_utilization");
    set(PLIM_N_TOTAL_BYTES, GIB(8)); /* a desktop takes more than a tenth of it */
    set(PLIM_N_FREE_BYTES, GIB(7));
    set(PLIM_N_UTILIZATION, 900000);
    assert_cause("misconfiguration_utilization");

    stage("vllm", "fraction");
    context.numbers.value[PLIM_N_AVAILABLE_BYTES] = GIB(-1.2);
    context.numbers.value[PLIM_N_MODEL_BYTES] = GIB(14.99);
    context.numbers.value[PLIM_N_TOTAL_BYTES] = GIB(23.57);
    context.numbers.value[PLIM_N_UTILIZATION] = 600000;
    assert_cause("misconfiguration_utilization");
    context.numbers.value[PLIM_N_AVAILABLE_BYTES] = GIB(-8);
    context.numbers.value[PLIM_N_UTILIZATION] = 900000;
    assert_cause("model_too_big");

    stage("vllm", "kv");
    set(PLIM_N_NEEDED_BYTES, GIB(16));
    set(PLIM_N_AVAILABLE_BYTES, GIB(3.57));
    assert_cause("kv_cache_context");
    stage("vllm", "sampler");
    assert_cause("misconfiguration_utilization");
}

static void test_llama(void **state)
{
    (void)state;
    stage("llama.cpp", "weights");
    set(PLIM_N_TRIED_BYTES, GIB(9));
    context.numbers.value[PLIM_N_TOTAL_BYTES] = GIB(7.62);
    context.numbers.value[PLIM_N_FREE_BYTES] = GIB(7.1);
    assert_cause("model_too_big");
    set(PLIM_N_TRIED_BYTES, GIB(5)); /* would fit, were the card not in use */
    context.numbers.value[PLIM_N_FREE_BYTES] = GIB(2.1);
    assert_cause("other_process");
    stage("llama.cpp", "kv");
    assert_cause("kv_cache_context");
    stage("llama.cpp", "compute");
    assert_cause("batch_or_activation");
    stage("llama.cpp", "virtual");
    assert_cause("driver_or_context");
}

static void test_what_begins(void **state)
{
    (void)state;
    begin();
    pattern.stage = "api";
    strcpy(context.words.text[PLIM_W_PHASE], "starting");
    assert_cause("driver_or_context");
    set(PLIM_N_TRIED_BYTES, GIB(90)); /* one piece that hardly a card has */
    pattern.stage = "";
    assert_cause("batch_or_activation");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
}

static void test_host(void **state)
{
    (void)state;
    stage("linux-kernel", "host");
    set(PLIM_N_RSS_BYTES, GIB(61));
    set(PLIM_N_PID, 4242);
    strcpy(finding.words.text[PLIM_W_CONSTRAINT], "CONSTRAINT_MEMCG");
    assert_cause("host_ram");
    assert_non_null(strstr(answer.best.why, "process 4242"));
    assert_non_null(strstr(answer.best.why, "control group"));
    assert_int_equal(answer.n_second, 0);
    stage("docker", "host");
    set(PLIM_N_EXIT_STATUS, 137);
    assert_cause("host_ram");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    stage("pytorch", "shm");
    assert_cause("shm");
}

/* Signal 9 is nearly always a want of RAM; other signals say nothing about memory. */
static void test_signals(void **state)
{
    static const int64_t signals[] = { 1, 2, 6, 11, 15 };
    (void)state;
    begin();
    pattern.stage = "host";
    set(PLIM_N_SIGNAL, 9);
    find();
    assert_string_equal(answer.best.rule, "killed");
    for (size_t i = 0; i < COUNT(signals); i++) {
        set(PLIM_N_SIGNAL, signals[i]);
        find();
        assert_string_not_equal(answer.best.rule, "killed");
    }
    set(PLIM_N_SIGNAL, PLIM_UNKNOWN);
    set(PLIM_N_EXIT_STATUS, 143);
    find();
    assert_string_not_equal(answer.best.rule, "killed");
}

static void test_who_ended_it(void **state)
{
    (void)state;
    static const char *const rows[][2] = { { "earlyoom", "earlyoom ended" },
                                           { "kubernetes-evicted", "Kubernetes ended" },
                                           { "ray-node", "Ray ended" },
                                           { "kernel-oom", "Linux ended" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin();
        pattern.id = rows[i][0];
        pattern.stage = "host";
        pattern.cause = PLIM_CAUSE_HOST_RAM;
        set(PLIM_N_RSS_BYTES, GIB(14));
        assert_cause("host_ram");
        assert_true(says(rows[i][1]));
    }
    begin();
    pattern.id = "docker-oomkilled";
    pattern.stage = "host";
    pattern.cause = PLIM_CAUSE_HOST_RAM;
    assert_cause("host_ram");
    assert_true(says("of its limit, or of the machine"));
}

static void test_not_memory(void **state)
{
    (void)state;
    static const enum plim_pattern_role roles[] = { PLIM_PATTERN_ROLE_FAULT, PLIM_PATTERN_ROLE_LOOK_ALIKE,
                                                    PLIM_PATTERN_ROLE_RECOVERED };
    for (int i = 0; i < 3; i++) {
        message(2.0, 23.69, 0.5, 22.8, 14.0, 8.3); /* whatever the figures are */
        pattern.role = roles[i];
        pattern.note = "An index was out of range.";
        assert_cause("not_oom");
        assert_string_equal(answer.best.why, "An index was out of range.");
    }
    message(2.0, 23.69, 0.5, 22.8, 14.0, 8.3);
    finding.is_recovered = true;
    assert_cause("not_oom");
}

/* Memory that a program does without: where the log ends there nobody knows whether it did, nor of a large piece. */
static void test_open_outcome(void **state)
{
    (void)state;
    begin();
    pattern.role = PLIM_PATTERN_ROLE_RECOVERED;
    pattern.note = "Plain memory is used.";
    pattern.is_open = true;
    assert_cause("not_oom");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_HIGH);
    finding.is_last = true;
    assert_cause("not_oom");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    assert_true(says("this log ends there"));
    context.unknown[context.n_unknown++].line = 3;
    set(PLIM_N_TRIED_BYTES, GIB(15));
    assert_cause("not_oom");
    set(PLIM_N_TRIED_BYTES, GIB(61));
    assert_cause("host_ram");
    pattern.is_open = false;
    assert_cause("not_oom");
}

/* "Not about memory" is sure only where nothing that failed is unknown. */
static void test_unknown_failures(void **state)
{
    (void)state;
    static const struct {
        uint64_t unknown; /* beside a message in lines 100 to 110 */
        enum plim_pattern_role role;
        enum plim_confidence confidence;
    } rows[] = {
        { 0, PLIM_PATTERN_ROLE_LOOK_ALIKE, PLIM_CONFIDENCE_HIGH },
        { 111, PLIM_PATTERN_ROLE_LOOK_ALIKE, PLIM_CONFIDENCE_MEDIUM },
        { 3, PLIM_PATTERN_ROLE_LOOK_ALIKE, PLIM_CONFIDENCE_MEDIUM },
        { 9000, PLIM_PATTERN_ROLE_RECOVERED, PLIM_CONFIDENCE_MEDIUM },
        { 111, PLIM_PATTERN_ROLE_CONSEQUENCE, PLIM_CONFIDENCE_MEDIUM },
        { 0, PLIM_PATTERN_ROLE_FAULT, PLIM_CONFIDENCE_HIGH },
        { 99, PLIM_PATTERN_ROLE_CONSEQUENCE, PLIM_CONFIDENCE_MEDIUM },
        { 99, PLIM_PATTERN_ROLE_FAULT, PLIM_CONFIDENCE_MEDIUM }, /* it may follow from that */
        { 59, PLIM_PATTERN_ROLE_FAULT, PLIM_CONFIDENCE_HIGH },
        { 510, PLIM_PATTERN_ROLE_FAULT, PLIM_CONFIDENCE_HIGH }, /* follows from it */
        { 511, PLIM_PATTERN_ROLE_FAULT, PLIM_CONFIDENCE_MEDIUM },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        pattern.role = rows[i].role;
        pattern.cause = PLIM_CAUSE_NOT_OOM;
        finding.line = 100;
        finding.last_line = 110;
        context.unknown[0].line = rows[i].unknown;
        context.n_unknown = rows[i].unknown > 0;
        assert_cause("not_oom");
        assert_int_equal(answer.best.confidence, rows[i].confidence);
        assert_int_equal(rows[i].confidence == PLIM_CONFIDENCE_MEDIUM,
                         strstr(answer.best.why, "not known here") != NULL);
    }
}

/* What a message does not say is not claimed. */
static void test_no_more_than_it_says(void **state)
{
    (void)state;
    begin();
    finding.framework = "llama.cpp";
    pattern.stage = "compute";
    snprintf(finding.words.text[PLIM_W_PLATFORM], sizeof finding.words.text[0], "mac");
    assert_cause("batch_or_activation"); /* one line of Metal: not what fitted before */
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    assert_false(says("fitted"));

    begin();
    finding.framework = "ollama";
    pattern.stage = "pool";
    assert_cause("batch_or_activation"); /* only "CUDA error: out of memory" */
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    assert_false(says("running"));
    finding.evidence[finding.n_evidence++] = (struct plim_evidence){ .text = "current device: 0, in function alloc" };
    assert_cause("batch_or_activation");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    assert_false(says("answering"));
    snprintf(context.words.text[PLIM_W_PHASE], sizeof context.words.text[0], "generating");
    assert_cause("batch_or_activation");
    assert_true(says("answering"));

    message(20.0, 15.0, 14.0, -1, 0.8, 0.1);
    assert_cause("batch_or_activation");
    assert_false(says("APU"));
    snprintf(finding.words.text[PLIM_W_BACKEND], sizeof finding.words.text[0], "HIP");
    assert_cause("batch_or_activation"); /* its size may be a setting */
    assert_true(says("APU"));
    assert_false(says("No setting"));

    begin();
    pattern.id = "metal-buffer";
    pattern.cause = PLIM_CAUSE_BATCH_OR_ACTIVATION;
    snprintf(finding.words.text[PLIM_W_PLATFORM], sizeof finding.words.text[0], "mac");
    set(PLIM_N_TRIED_BYTES, GIB(17));
    set(PLIM_N_ALLOWED_BYTES, GIB(16));
    assert_cause("batch_or_activation");
    assert_string_equal(answer.best.why,
                        "One buffer of 17.00 GiB was tried, and Metal allows 16.00 GiB for one, whatever is "
                        "free.");
    assert_int_equal(answer.n_second, 0); /* the maximum of a buffer is no limit that somebody set */

    begin();
    finding.framework = "llama.cpp";
    pattern.id = "llama-rs";
    pattern.stage = "kv";
    set(PLIM_N_TRIED_BYTES, GIB(1));
    assert_cause("kv_cache_context");
    assert_true(says("states of the sequences"));

    begin();
    finding.framework = "llama.cpp";
    pattern.stage = "compute";
    set(PLIM_N_TRIED_BYTES, GIB(2));
    snprintf(finding.words.text[PLIM_W_OPERATION], sizeof finding.words.text[0],
             "exceeds device memory allocation limit");
    assert_cause("batch_or_activation");
    assert_true(says("more than the driver allows for a single one"));

    pattern.stage = "weights";
    pattern.cause = PLIM_CAUSE_MODEL_TOO_BIG;
    assert_cause("driver_or_context");
    assert_true(says("One buffer of weights was requested with 2.00 GiB"));
    assert_int_equal(answer.n_second, 0); /* a smaller model is no remedy as such */
}

/* "Engine core initialization failed" beside an exception that nobody knows. */
static void test_relayed_exceptions(void **state)
{
    (void)state;
    begin();
    pattern.role = PLIM_PATTERN_ROLE_WRAPPER;
    finding.line = finding.last_line = 100;
    context.unknown[0] = (struct plim_unknown_line){ 60, true };
    context.unknown[1] = (struct plim_unknown_line){ 90, true };
    context.unknown[2] = (struct plim_unknown_line){ 95, false };
    context.unknown[3] = (struct plim_unknown_line){ 130, true };
    context.n_unknown = 4;
    find();
    assert_int_equal(answer.best.cause, PLIM_CAUSE_UNKNOWN); /* it passes nothing on: it was killed, say */

    pattern.is_relay = true;
    assert_cause("not_oom");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    assert_true(says("Line 90 says what"));
    context.unknown[0].is_other_exception = context.unknown[1].is_other_exception = false;
    assert_cause("not_oom"); /* a server's front may be heard before its engine */
    assert_true(says("Line 130 says what"));

    context.unknown[3].is_other_exception = false;
    find();
    assert_int_equal(answer.best.cause, PLIM_CAUSE_UNKNOWN);
    context.unknown[0] = (struct plim_unknown_line){ 900, true }; /* another failure */
    find();
    assert_int_equal(answer.best.cause, PLIM_CAUSE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_llama),
        cmocka_unit_test(test_what_begins),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_who_ended_it),
        cmocka_unit_test(test_not_memory),
        cmocka_unit_test(test_open_outcome),
        cmocka_unit_test(test_unknown_failures),
        cmocka_unit_test(test_no_more_than_it_says),
        cmocka_unit_test(test_relayed_exceptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
