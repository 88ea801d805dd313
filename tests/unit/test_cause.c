/* SPDX-License-Identifier: MIT */
/* The rules that name a cause: scenarios with real figures, and properties over many made-up ones. */
#include "base/table.h"
#include "cause_case.h"
#include "diagnose/cause/rules.h"
#include "diagnose/cause/trace.h"

#include <stdlib.h>
#include <string.h>

static void frame(const char *file, const char *name, bool is_user)
{
    struct plim_frame *to = &context.frames[context.n_frames++];
    snprintf(to->file, sizeof to->file, "%s", file);
    snprintf(to->name, sizeof to->name, "%s", name);
    to->line = 42;
    to->is_user = is_user;
}

/* --- scenarios --- */

static void test_another_process(void **state)
{
    (void)state;
    message(2.0, 31.36, 0.46, 16.62, 15.70, 0.31);
    other(19239, GIB(14.26));
    assert_cause("other_process");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_HIGH);
    assert_string_equal(answer.best.why, "Tried 2.00 GiB, free 471.0 MiB; process 19239 holds 14.26 GiB of 31.36 GiB. "
                                         "Without that it would have fitted.");
    assert_int_equal(answer.other_pid, 19239);
}

/* They hold a good part of it, and without them it would have been too much all the same. */
static void test_another_process_holds_too_little(void **state)
{
    (void)state;
    message(16.0, 31.36, 0.46, 24.0, 23.0, 0.31);
    other(19239, GIB(6.5));
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_OTHER_PROCESS);
}

/* The same figures in a container: the process that is listed is the one that failed. */
static void test_own_process_in_a_container(void **state)
{
    (void)state;
    message(2.0, 23.69, 0.20, -1, 22.30, 0.65);
    other(4242, GIB(23.45));
    assert_open();
    assert_int_equal(answer.own_index, 0);
    assert_int_equal(answer.own_bytes, GIB(23.45));
    other(4243, GIB(9.0)); /* and a true stranger beside it */
    set(PLIM_N_TOTAL_BYTES, GIB(32.69));
    assert_cause("other_process");
    assert_int_equal(answer.other_pid, 4243);
}

/* A T4 in a container: 13.87 GiB reserved here, and "process 5012" with 14.01 of 14.74. They cannot be two. */
static void test_own_process_with_a_small_context(void **state)
{
    (void)state;
    message(0.98, 14.74, 0.72, -1, 13.61, 0.26);
    other(5012, GIB(14.01));
    find();
    assert_int_equal(answer.own_index, 0);
    assert_true(answer.best.cause != PLIM_CAUSE_OTHER_PROCESS);
    message(0.98, 31.0, 0.72, -1, 13.61, 0.26); /* here they can */
    other(5012, GIB(14.01));
    assert_cause("other_process");
}

static void test_nothing_allocated_yet(void **state)
{
    (void)state;
    message(0.02, 23.69, 0.01, -1, 0, 0);
    assert_cause("other_process");
}

static void test_larger_than_the_card(void **state)
{
    (void)state;
    message(32.0, 23.69, 20.0, 3.0, 2.0, 0.5);
    assert_cause("batch_or_activation");
    assert_string_equal(answer.best.rule, "too-large");
    message(40000, 23.69, 20.0, 3.0, 2.0, 0.5);
    find();
    assert_non_null(strstr(answer.best.why, "wrong shape"));
}

static void test_a_fraction(void **state)
{
    (void)state;
    message(1.0, 23.69, 12.0, 8.4, 7.5, 0.3);
    set(PLIM_N_ALLOWED_BYTES, GIB(8.0));
    assert_cause("allocator_limit");
    set(PLIM_N_FREE_BYTES, GIB(0.5)); /* the card is full as well: the fraction is not why */
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_ALLOCATOR_LIMIT);
}

static void test_free_enough(void **state)
{
    (void)state;
    message(0.5, 8.0, 5.9, -1, 1.0, 0.1);
    assert_cause("driver_or_context");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    strcpy(finding.words.text[PLIM_W_PLATFORM], "windows");
    assert_cause("driver_or_context");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    assert_non_null(strstr(answer.best.why, "page file"));
    set(PLIM_N_FREE_BYTES, GIB(0.5) + MIB(63)); /* as good as full */
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_DRIVER_OR_CONTEXT);
}

static void test_pieces(void **state)
{
    (void)state;
    message(2.0, 23.69, 0.5, 22.8, 14.0, 8.3);
    assert_cause("fragmentation");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_HIGH);
    strcpy(finding.words.text[PLIM_W_ALLOC_CONF], "expandable_segments:True");
    assert_cause("fragmentation");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    message(2.0, 23.69, 0.5, 22.8, 21.9, 0.4); /* the hint is printed, and nothing is in pieces */
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_FRAGMENTATION);
}

/* "Cached" is beside what is allocated until 1.3; "reserved" holds it after. */
static void test_generations(void **state)
{
    (void)state;
    begin();
    set(PLIM_N_TRIED_BYTES, GIB(1.17));
    set(PLIM_N_TOTAL_BYTES, GIB(23.69));
    set(PLIM_N_FREE_BYTES, GIB(0.3));
    set(PLIM_N_ALLOCATED_BYTES, GIB(18.38));
    set(PLIM_N_CACHED_BYTES, GIB(4.4));
    find();
    assert_int_equal(answer.unallocated_bytes, GIB(4.4));
    finding.numbers.value[PLIM_N_CACHED_BYTES] = PLIM_UNKNOWN;
    set(PLIM_N_RESERVED_BYTES, GIB(22.78));
    find();
    assert_int_equal(answer.unallocated_bytes, GIB(22.78) - GIB(18.38));
    assert_int_equal(answer.best.cause, PLIM_CAUSE_FRAGMENTATION);
}

static void test_wsl(void **state)
{
    (void)state;
    message(0.5, 8.0, 0.0, -1, 7.5, 0.1);
    finding.has_impossible = true;
    find();
    assert_true(answer.is_process_unreliable);
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_OTHER_PROCESS);
    message(0.5, 8.0, 0.0, -1, 12.0, 0.1); /* spilled into RAM */
    find();
    assert_true(answer.is_process_unreliable);
}

/* 3.9 GiB are neither free nor PyTorch's, and PyTorch says itself that it keeps more than was tried. */
static void test_pieces_before_others_that_nobody_lists(void **state)
{
    (void)state;
    message(2.81, 23.69, 0.365, -1, 16.12, 2.88);
    assert_cause("fragmentation");
    message(2.81, 23.69, 0.365, -1, 16.12, 1.2);
    find();
    assert_int_equal(answer.best.cause, PLIM_CAUSE_OTHER_PROCESS);
}

static void test_graphs_above_a_forward_pass(void **state)
{
    (void)state;
    message(0.06, 79.0, 0.05, 78.0, 77.0, 0.1);
    finding.framework = "vllm";
    frame("/lib/vllm/v1/worker/gpu_model_runner.py", "capture_model", false);
    frame("/lib/vllm/v1/worker/gpu_model_runner.py", "_dummy_run", false);
    frame("/lib/torch/nn/modules/module.py", "_call_impl", false);
    assert_cause("misconfiguration_utilization");
}

static void test_private_pools_are_inside(void **state)
{
    (void)state;
    message(2.0, 31.36, 0.46, 30.62, 29.70, 0.31);
    set(PLIM_N_PRIVATE_POOL_BYTES, GIB(9.0));
    find();
    assert_int_equal(answer.own_bytes, GIB(30.62));
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_OTHER_PROCESS);
}

static const struct {
    const char *file, *name;
    const char *cause;
} traces[] = {
    { "/lib/python3.11/site-packages/torch/optim/adamw.py", "_init_group", "optimizer_states" },
    { "/lib/python3.11/site-packages/torch/optim/adam.py", "_multi_tensor_adam", "optimizer_states" },
    { "/lib/python3.11/site-packages/deepspeed/runtime/zero/stage_1_and_2.py", "initialize_optimizer_states",
      "optimizer_states" },
    { "/lib/python3.11/site-packages/transformers/modeling_utils.py", "from_pretrained", "model_too_big" },
    { "/lib/python3.11/site-packages/torch/nn/modules/module.py", "_apply", "model_too_big" },
    { "/lib/python3.11/site-packages/torch/nn/modules/module.py", "_call_impl", "batch_or_activation" },
    { "/lib/python3.11/site-packages/torch/_tensor.py", "backward", "batch_or_activation" },
    { "/lib/python3.11/site-packages/transformers/cache_utils.py", "update", "kv_cache_context" },
    { "/lib/python3.11/site-packages/torch/nn/functional.py", "scaled_dot_product_attention", "batch_or_activation" },
    { "/lib/python3.11/site-packages/torch/distributed/fsdp/wrap.py", "_recursive_wrap", "model_too_big" },
    { "/lib/python3.11/site-packages/deepspeed/runtime/zero/stage3.py", "__init__", "optimizer_states" },
    { "/lib/python3.11/site-packages/deepspeed/runtime/zero/stage3.py", "__reduce_and_partition_ipg_grads",
      "batch_or_activation" },
    { "/lib/python3.11/site-packages/diffusers/models/modeling_utils.py", "to", "model_too_big" },
    { "/home/me/project/engine.py", "validate", "batch_or_activation" },
};

static void test_tracebacks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        message(0.5, 23.69, 0.2, 23.2, 22.6, 0.1);
        frame("/home/me/train.py", "main", true);
        frame(traces[i].file, traces[i].name, false);
        find();
        if (strcmp(plim_cause_name(answer.best.cause), traces[i].cause))
            fail_msg("%s %s: %s, not %s", traces[i].file, traces[i].name, plim_cause_name(answer.best.cause),
                     traces[i].cause);
        assert_non_null(strstr(answer.best.why, "train.py:42"));
    }
}

/* A row of data/frames.csv whose work this program does not know would be read as no row at all. */
static void test_every_frame_has_its_work(void **state)
{
    (void)state;
    for (size_t row = 0; row < plim_frames_table.n_rows; row++) {
        const struct plim_frame *found = NULL;
        const char *function = plim_table_cell(&plim_frames_table, row, 1);
        if (!strstr(plim_table_cell(&plim_frames_table, row, 3), "explain"))
            continue;
        begin();
        function += *function == '=';
        frame(plim_table_cell(&plim_frames_table, row, 0), *function ? function : "any", false);
        if (plim_trace_read(&context, &found) == PLIM_TRACE_NONE || !found)
            fail_msg("data/frames.csv:%zu: '%s' is not a kind of work", row + 2,
                     plim_table_cell(&plim_frames_table, row, 2));
    }
}

/* A row with "=" is a whole name. */
static void test_a_name_that_only_contains_it(void **state)
{
    const struct plim_frame *found = NULL;
    (void)state;
    begin();
    frame("/home/me/project/engine.py", "revalidated", true);
    assert_int_equal(plim_trace_read(&context, &found), PLIM_TRACE_NONE);
    frame("/home/me/project/engine.py", "Engine.validate", true); /* of IPython */
    assert_int_equal(plim_trace_read(&context, &found), PLIM_TRACE_FORWARD);
}

/* The nodes of TensorFlow and the programs of JAX. */
static void test_nodes(void **state)
{
    static const char *const nodes[][2] = {
        { "gradients/conv1/Conv2D_grad/Conv2DBackpropFilter", "batch_or_activation" },
        { "gradient_tape/model/dense/MatMul", "batch_or_activation" },
        { "training/Adam/mul_12", "optimizer_states" },
        { "dense_3/kernel/Initializer/random_uniform/RandomUniform", "model_too_big" },
        { "jit_train_step", "batch_or_activation" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(nodes); i++) {
        begin();
        finding.pattern = &pattern;
        pattern = (struct plim_pattern){
            .id = "t", .framework = "tensorflow", .role = PLIM_PATTERN_ROLE_FAILURE, .stage = ""
        };
        set(PLIM_N_TRIED_BYTES, GIB(0.1));
        snprintf(finding.words.text[PLIM_W_OPERATION], PLIM_WORD_BYTES, "%s", nodes[i][0]);
        assert_cause(nodes[i][1]);
        assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
        pattern.framework = "other";
        assert_open();
    }
    snprintf(finding.words.text[PLIM_W_OPERATION], PLIM_WORD_BYTES, "%s", "some/Identity_4");
    pattern.framework = "tensorflow";
    assert_open();
}

/* "Currently allocated" says nothing of what is kept beside it: who has the rest is not known. */
static void test_what_is_kept_is_not_said(void **state)
{
    (void)state;
    message(4.83, 22.2, 0.01, -1, 16.08, -1);
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_OTHER_PROCESS);
}

static void test_a_full_card_in_a_table(void **state)
{
    (void)state;
    begin();
    pattern.stage = "api";
    context.numbers.value[PLIM_N_CARD_USED_BYTES] = MIB(15514);
    context.numbers.value[PLIM_N_CARD_TOTAL_BYTES] = MIB(16130);
    assert_cause("other_process");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    context.numbers.value[PLIM_N_CARD_USED_BYTES] = MIB(9000);
    assert_open();
}

/* An account of llama.cpp on a Mac: the larger of cache and weights is what does not fit. */
static void test_working_set(void **state)
{
    (void)state;
    begin();
    pattern.id = "llama-metal-set";
    set(PLIM_N_ALLOCATED_BYTES, GIB(11.6));
    set(PLIM_N_ALLOWED_BYTES, GIB(10.7));
    set(PLIM_N_KV_BYTES, GIB(8));
    set(PLIM_N_MODEL_BYTES, GIB(3.6));
    assert_cause("kv_cache_context");
    set(PLIM_N_KV_BYTES, GIB(1));
    assert_cause("model_too_big");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    set(PLIM_N_ALLOCATED_BYTES, GIB(10.6));
    assert_open();
    pattern.id = "test";
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

static void test_the_largest_piece(void **state)
{
    (void)state;
    message(0.01, 16.0, 0.014, -1, -1, -1);
    set(PLIM_N_LARGEST_BYTES, GIB(0.004));
    assert_cause("fragmentation");
    set(PLIM_N_LARGEST_BYTES, GIB(0.012));
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_FRAGMENTATION);
}

static void test_no_traceback_is_unsure(void **state)
{
    (void)state;
    message(0.5, 23.69, 0.2, 23.2, 22.6, 0.1);
    assert_open();
    message(5.0, 23.69, 0.2, 23.2, 22.6, 0.1); /* no weight has a fifth of a card */
    assert_cause("batch_or_activation");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    message(0.5, 23.69, 0.2, 23.2, 22.6, 0.1);
    strcpy(context.words.text[PLIM_W_PHASE], "loading");
    assert_cause("model_too_big");
}

/* Sizes that no card of this kind holds, and shares that are taken. */
static void test_sizes_that_cannot_be(void **state)
{
    (void)state;
    message(0.5, 8.0, 0.0, -1, 13.6, 0.1); /* 1.7 times the card: Windows keeps the rest */
    assert_cause("model_too_big");
    message(0.5, 23.69, 0.2, 23.2, 22.6, 0.1);
    strcpy(context.words.text[PLIM_W_MODEL], "meta-llama/Llama-3.1-70B-Instruct");
    assert_cause("model_too_big");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    context.numbers.value[PLIM_N_TENSOR_PARALLEL] = 4;
    assert_open();
    context.numbers.value[PLIM_N_TENSOR_PARALLEL] = PLIM_UNKNOWN;
    strcpy(context.words.text[PLIM_W_MODEL], "mistralai/Mixtral-8x22B");
    assert_cause("model_too_big");
    strcpy(context.words.text[PLIM_W_MODEL], "Qwen/Qwen2.5-7B-Instruct");
    assert_open();
    strcpy(context.words.text[PLIM_W_MODEL], "models/sdxl-2024b1");
    assert_open();
    strcpy(context.words.text[PLIM_W_MODEL], "x/99999x99999b"); /* no model, and no overflow */
    assert_open();
    message(2.0, 80.0, 40.0, 19.5, -1, -1); /* cut behind "20.00 GiB allowed" */
    set(PLIM_N_ALLOWED_BYTES, GIB(20.0));
    assert_cause("allocator_limit");
    message(0.5, 24.0, 0.3, 22.9, 22.0, 0.2); /* vLLM has its share of 0.95 */
    finding.framework = "vllm";
    context.numbers.value[PLIM_N_UTILIZATION] = 950000;
    context.numbers.value[PLIM_N_KV_TOKENS] = 40000;
    assert_cause("misconfiguration_utilization");
}

static void stage(const char *framework, const char *name)
{
    begin();
    pattern.stage = name;
    finding.framework = framework;
}

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

static bool says(const char *text) { return strstr(answer.best.why, text) != NULL; }

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
        context.unknown[0] = rows[i].unknown;
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

/* TensorFlow's pool for DirectML is what it found of the card, as that for CUDA: nobody set it. */
static void test_pool_of_the_card(void **state)
{
    (void)state;
    begin();
    finding.framework = "tensorflow";
    set(PLIM_N_TRIED_BYTES, MIB(8));
    set(PLIM_N_LIMIT_BYTES, GIB(7));
    set(PLIM_N_ALLOCATED_BYTES, GIB(7) - MIB(2));
    assert_cause("allocator_limit");
    snprintf(finding.words.text[PLIM_W_ALLOCATOR], sizeof finding.words.text[0], "DmlAllocator");
    plim_cause_find(&finding, &context, &answer);
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_ALLOCATOR_LIMIT);
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

static void test_second_candidates(void **state)
{
    (void)state;
    message(2.0, 31.36, 0.46, 16.62, 10.70, 5.31);
    other(19239, GIB(14.26));
    frame("/home/me/train.py", "main", true);
    frame("/lib/python3.11/site-packages/torch/_tensor.py", "backward", false);
    assert_cause("other_process");
    assert_int_equal(answer.n_second, 2);
    assert_int_equal(answer.second[0].cause, PLIM_CAUSE_FRAGMENTATION);
    assert_int_equal(answer.second[1].cause, PLIM_CAUSE_BATCH_OR_ACTIVATION);
}

/* --- properties: seeded, so that a failure can be repeated --- */

static uint64_t seed;

static double uniform(double low, double high)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

/* As PyTorch prints: two decimals of MiB below a GiB, of GiB above. */
static int64_t printed(int64_t bytes)
{
    double unit = bytes >= (int64_t)PLIM_GIB ? (double)PLIM_GIB : (double)PLIM_MIB;
    return (int64_t)((double)(int64_t)(100 * (double)bytes / unit + 0.5) / 100 * unit);
}

enum scenario { OTHERS, PIECES, FULL, FRACTION, ENOUGH, N_SCENARIOS };

/* A card whose account adds up: what is allocated, in pieces, of others, free and the context are the whole of it. */
static enum plim_cause make(enum scenario scenario, int64_t *figures)
{
    double total = uniform(6, 80), context_gib = uniform(0.3, 0.7), free_gib = uniform(0, 0.02) * total;
    double tried = free_gib + uniform(0.02, 0.05) * total, others = 0, unallocated = uniform(0, 0.01) * total;
    enum plim_cause cause = PLIM_CAUSE_BATCH_OR_ACTIVATION;
    int64_t allowed = PLIM_UNKNOWN;
    if (scenario == OTHERS) {
        others = uniform(0.2, 0.6) * total;
        cause = PLIM_CAUSE_OTHER_PROCESS;
    } else if (scenario == PIECES) {
        unallocated = tried + uniform(0.1, 0.3) * total;
        cause = PLIM_CAUSE_FRAGMENTATION;
    } else if (scenario == ENOUGH) {
        tried = uniform(0.02, 0.1) * total;
        free_gib = tried + uniform(0.1, 0.4) * total;
        cause = PLIM_CAUSE_DRIVER_OR_CONTEXT;
    } else if (scenario == FRACTION) {
        tried = uniform(0.02, 0.1) * total;
        free_gib = tried + uniform(0.1, 0.4) * total;
        cause = PLIM_CAUSE_ALLOCATOR_LIMIT;
    }
    double allocated = total - free_gib - context_gib - others - unallocated;
    if (scenario == FRACTION)
        allowed = GIB(allocated + unallocated + tried / 2);
    figures[0] = GIB(tried), figures[1] = GIB(total), figures[2] = GIB(free_gib);
    figures[3] = GIB(allocated + unallocated + context_gib), figures[4] = GIB(allocated), figures[5] = GIB(unallocated);
    figures[6] = allowed, figures[7] = others > 0 ? GIB(others) : PLIM_UNKNOWN;
    return cause;
}

static enum plim_cause cause_of(const int64_t *figures, bool is_container)
{
    begin();
    frame("/lib/python3.11/site-packages/torch/_tensor.py", "backward", false);
    set(PLIM_N_TRIED_BYTES, figures[0]);
    set(PLIM_N_TOTAL_BYTES, figures[1]);
    set(PLIM_N_FREE_BYTES, figures[2]);
    if (is_container)
        other(77, figures[3]);
    else
        set(PLIM_N_PROCESS_BYTES, figures[3]);
    set(PLIM_N_ALLOCATED_BYTES, figures[4]);
    set(PLIM_N_RESERVED_UNALLOCATED_BYTES, figures[5]);
    set(PLIM_N_ALLOWED_BYTES, figures[6]);
    if (figures[7] != PLIM_UNKNOWN)
        other(19239, figures[7]);
    find();
    return answer.best.cause;
}

static void test_scenarios_have_their_cause(void **state)
{
    (void)state;
    for (seed = 1; seed < 4000;) {
        uint64_t began = seed;
        enum scenario scenario = (enum scenario)(seed % N_SCENARIOS);
        int64_t figures[8], rough[8];
        enum plim_cause expected = make(scenario, figures);
        for (int is_container = 0; is_container < 2; is_container++) {
            enum plim_cause exact = cause_of(figures, is_container);
            if (exact != expected)
                fail_msg("seed %lu, scenario %d, container %d: %s, not %s", (unsigned long)began, (int)scenario,
                         is_container, plim_cause_name(exact), plim_cause_name(expected));
            for (int i = 0; i < 8; i++) /* as printed, and 5 MiB off to either side */
                rough[i] = figures[i] == PLIM_UNKNOWN
                               ? PLIM_UNKNOWN
                               : printed(figures[i]) + (figures[i] > MIB(10) ? MIB(uniform(-5, 5)) : 0);
            enum plim_cause rounded = cause_of(rough, is_container);
            if (rounded != expected)
                fail_msg("seed %lu, scenario %d, container %d: %s when rounded, not %s", (unsigned long)began,
                         (int)scenario, is_container, plim_cause_name(rounded), plim_cause_name(expected));
        }
        seed = began + 1;
    }
}

/* Any figures at all: an answer, no overflow, text that ends. */
static void test_hostile_figures(void **state)
{
    (void)state;
    static const int64_t values[] = { PLIM_UNKNOWN,     INT64_MIN + 1, -1,       0, 1, 4096, INT64_C(1) << 40,
                                      INT64_C(1) << 50, INT64_MAX / 2, INT64_MAX };
    static const char *const stages[] = { "",        "startup", "fraction", "kv",    "weights",
                                          "compute", "host",    "cap",      "graph", "sampler" };
    for (seed = 1; seed < 20000;) {
        uint64_t began = seed;
        begin();
        pattern.stage = stages[seed % 10];
        pattern.cause = (enum plim_cause)(seed % 3 ? PLIM_CAUSE_UNKNOWN : (int)(seed / 3 % PLIM_CAUSE_MAX_));
        for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
            finding.numbers.value[i] = values[(int)uniform(0, 9.99)];
        for (int i = 0; i < 4; i++)
            other(values[(int)uniform(0, 9.99)], values[(int)uniform(0, 9.99)]);
        for (int i = 0; i < 8; i++)
            point(i, values[(int)uniform(1, 9.99)], values[(int)uniform(0, 9.99)] % 100000);
        find();
        assert_int_not_equal(answer.best.cause, PLIM_CAUSE_UNKNOWN);
        assert_true(strlen(answer.best.why) < sizeof answer.best.why);
        assert_non_null(answer.best.rule);
        seed = began + 1;
    }
}

/* --- the order of the rules --- */

/* The first that holds wins: cause.c has the order, and here it is once more, so that no change of it goes unseen. */
static const struct ordered {
    const char *id;
    plim_rule_fn *holds;
} order[] = {
    { "not-memory", plim_rule_not_memory },
    { "ram-buffer", plim_rule_ram_buffer },
    { "startup", plim_rule_startup },
    { "fraction", plim_rule_fraction },
    { "killed", plim_rule_killed },
    { "text", plim_rule_text },
    { "weights-stage", plim_rule_weights },
    { "kv-stage", plim_rule_kv_stage },
    { "graphs", plim_rule_graphs },
    { "compute-stage", plim_rule_compute },
    { "stage", plim_rule_stage },
    { "too-large", plim_rule_too_large },
    { "share", plim_rule_share },
    { "allowed", plim_rule_allowed },
    { "cap", plim_rule_cap },
    { "spilled", plim_rule_spilled },
    { "announced", plim_rule_announced },
    { "parameters", plim_rule_parameters },
    { "free-enough", plim_rule_free_enough },
    { "others", plim_rule_others },
    { "small-program", plim_rule_small_program },
    { "pieces", plim_rule_pieces },
    { "optimizer", plim_rule_optimizer },
    { "growth", plim_rule_growth },
    { "no-context", plim_rule_no_context },
    { "loading", plim_rule_loading },
    { "cache", plim_rule_cache },
    { "node", plim_rule_node },
    { "step", plim_rule_step },
    { "handle", plim_rule_handle },
    { "told-table", plim_rule_told_table },
    { "piece", plim_rule_piece },
    { "rest", plim_rule_rest },
};

/* Rules that never hold together with the one behind them: of two stages, two frames, a lack and no lack there is one.
 */
static const char *const exclusive[] = { "startup", "weights-stage", "compute-stage", "share",
                                         "loading", "cache",         "handle",        "told-table" };

static unsigned n_contests[COUNT(order)];

static uint64_t pick(uint64_t n) { return (uint64_t)uniform(0, (double)n - 0.001); }

/* Anything that a message, its traceback and the log around it may say. */
static void make_up(void)
{
    static const char *const stages[] = { "weights", "kv",      "compute", "pool",      "startup", "fraction",
                                          "sampler", "graph",   "prefill", "optimizer", "host",    "shm",
                                          "cap",     "virtual", "api",     "handle",    "",        "" };
    static const char *const frameworks[] = { "pytorch", "vllm", "llama.cpp", "ollama", "sglang" };
    static const struct {
        const char *file, *name;
    } frames[] = { { "torch/optim/adam.py", "step" },
                   { "torch/autograd/__init__.py", "backward" },
                   { "transformers/modeling_utils.py", "from_pretrained" },
                   { "transformers/generation/utils.py", "generate" },
                   { "transformers/cache_utils.py", "update" },
                   { "vllm/worker/model_runner.py", "capture_model" },
                   { "torch/nn/modules/linear.py", "forward" } };
    static const enum plim_pattern_role roles[] = { PLIM_PATTERN_ROLE_FAILURE, PLIM_PATTERN_ROLE_FAILURE,
                                                    PLIM_PATTERN_ROLE_FAILURE, PLIM_PATTERN_ROLE_FAULT };
    begin();
    if (pick(2)) /* figures that could be those of a card */
        message(uniform(0.01, 30), 24, uniform(0, 12), uniform(-4, 24), uniform(-4, 20), uniform(-4, 12));
    pattern.stage = stages[pick(COUNT(stages))];
    pattern.framework = finding.framework = frameworks[pick(COUNT(frameworks))];
    pattern.role = roles[pick(COUNT(roles))];
    pattern.cause = pick(3) ? PLIM_CAUSE_UNKNOWN : (enum plim_cause)pick(PLIM_CAUSE_MAX_);
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++) {
        if (finding.numbers.value[i] == PLIM_UNKNOWN && pick(8) == 0)
            finding.numbers.value[i] = MIB(pick(2) ? uniform(0, 400) : uniform(0, 26000));
        if (pick(8) == 0)
            context.numbers.value[i] = MIB(uniform(0, 26000));
    }
    if (pick(6) == 0) { /* a small program that asks for little */
        set(PLIM_N_TRIED_BYTES, MIB(uniform(1, 64)));
        set(PLIM_N_PARAMETER_BYTES, MIB(uniform(1, 64)));
    }
    if (pick(6) == 0) /* a part of it is in RAM */
        set(PLIM_N_ALLOCATED_BYTES, GIB(uniform(24, 80)));
    if (pick(6) == 0) { /* a program that says what it will need */
        pattern.stage = "api";
        set(PLIM_N_MODEL_BYTES, GIB(uniform(10, 20)));
        set(PLIM_N_FREE_BYTES, GIB(uniform(1, 8)));
    }
    if (pick(6) == 0) { /* vLLM has its share of the card */
        finding.framework = "vllm";
        set(PLIM_N_PROCESS_BYTES, GIB(23));
        set(PLIM_N_UTILIZATION, (int64_t)uniform(800000, 950000));
        set(PLIM_N_KV_TOKENS, 40000);
    }
    if (pick(4) == 0)
        snprintf(finding.words.text[PLIM_W_MODEL], PLIM_WORD_BYTES, "some/model-%dB", (int)uniform(1, 99));
    if (pick(4) == 0)
        snprintf(context.words.text[PLIM_W_PHASE], PLIM_WORD_BYTES, "%s", pick(2) ? "training" : "loading");
    finding.numbers.value[PLIM_N_SIGNAL] = pick(4) ? PLIM_UNKNOWN : 9;
    finding.numbers.value[PLIM_N_DEVICE] = pick(2) ? 0 : PLIM_UNKNOWN;
    if (pick(6) == 0)
        snprintf(finding.words.text[PLIM_W_BUFFER], PLIM_WORD_BYTES, "CPU");
    if (pick(6) == 0) { /* enough is free, and in pieces */
        set(PLIM_N_TRIED_BYTES, GIB(2));
        set(PLIM_N_FREE_BYTES, GIB(2) + MIB(uniform(0, 60)));
        set(PLIM_N_LARGEST_BYTES, GIB(1));
    }
    if (pick(6) == 0) { /* a node of a graph */
        pattern.framework = finding.framework = "tensorflow";
        snprintf(finding.words.text[PLIM_W_OPERATION], PLIM_WORD_BYTES, "gradients/conv%d", (int)uniform(1, 9));
    }
    for (uint64_t n = pick(3); n > 0; n--)
        other((int64_t)n, (int64_t)uniform(0, 24.0 * (double)PLIM_GIB));
    for (uint64_t n = pick(3), which; n > 0; n--) {
        which = pick(COUNT(frames));
        frame(frames[which].file, frames[which].name, pick(2) != 0);
    }
    for (uint64_t n = pick(2) * 20; n > 0; n--) {
        point((int64_t)context.n_points, GIB(1 + (double)context.n_points), 60);
    }
}

/* The first rule that holds; *ret_next is set when the rule behind it holds as well. */
static const char *first_that_holds(bool *ret_next)
{
    struct plim_cause_answer blank;
    struct plim_facts facts = { .finding = &finding, .context = &context, .answer = &blank };
    memset(&blank, 0, sizeof blank);
    plim_cause_figures(&finding, &context, &blank);
    facts.stage = pattern.stage;
    facts.platform = plim_figure_word(&finding, &context, PLIM_W_PLATFORM);
    facts.trace = plim_trace_read(&context, &facts.frame);
    for (size_t i = 0; i < COUNT(order); i++) {
        struct plim_guess guess = { 0 };
        if (!order[i].holds(&facts, &guess))
            continue;
        *ret_next = i + 1 < COUNT(order) && order[i + 1].holds(&facts, &guess);
        if (*ret_next)
            n_contests[i]++;
        return order[i].id;
    }
    return NULL;
}

static void test_the_rules_have_their_order(void **state)
{
    (void)state;
    for (seed = 1; seed < 60000;) {
        const uint64_t began = seed;
        bool is_contested = false;
        make_up();
        plim_cause_find(&finding, &context, &answer);
        const char *want = first_that_holds(&is_contested);
        if (answer.best.rule && want && strcmp(answer.best.rule, want) != 0)
            fail_msg("seed %lu: rule %s, not %s", (unsigned long)began, answer.best.rule, want);
        seed = began + 1;
    }
    for (size_t i = 0; i + 1 < COUNT(order); i++) {
        bool is_exclusive = false;
        for (size_t k = 0; k < COUNT(exclusive); k++)
            is_exclusive = is_exclusive || !strcmp(exclusive[k], order[i].id);
        if (is_exclusive != (n_contests[i] == 0))
            fail_msg("%s and %s hold at once %u times", order[i].id, order[i + 1].id, n_contests[i]);
    }
}

/* No cause is named twice, and where it is no lack of the card's memory there is no second one that is. */
static void test_second_guesses(void **state)
{
    (void)state;
    for (seed = 1; seed < 20000;) {
        const uint64_t began = seed;
        make_up();
        find();
        bool is_named[PLIM_CAUSE_MAX_] = { false };
        is_named[answer.best.cause] = true;
        for (uint32_t i = 0; i < answer.n_second; i++) {
            if (is_named[answer.second[i].cause])
                fail_msg("seed %lu: a cause is named twice", (unsigned long)began);
            is_named[answer.second[i].cause] = true;
        }
        if (answer.best.cause == PLIM_CAUSE_NOT_OOM || answer.best.cause == PLIM_CAUSE_HOST_RAM ||
            answer.best.cause == PLIM_CAUSE_SHM)
            assert_int_equal(answer.n_second, 0);
        seed = began + 1;
    }
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

static void test_nothing_known(void **state)
{
    (void)state;
    begin();
    assert_open();
    assert_null(strstr(answer.best.why, "?"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_process),
        cmocka_unit_test(test_another_process_holds_too_little),
        cmocka_unit_test(test_own_process_in_a_container),
        cmocka_unit_test(test_own_process_with_a_small_context),
        cmocka_unit_test(test_nothing_allocated_yet),
        cmocka_unit_test(test_larger_than_the_card),
        cmocka_unit_test(test_a_fraction),
        cmocka_unit_test(test_free_enough),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_generations),
        cmocka_unit_test(test_wsl),
        cmocka_unit_test(test_pieces_before_others_that_nobody_lists),
        cmocka_unit_test(test_graphs_above_a_forward_pass),
        cmocka_unit_test(test_private_pools_are_inside),
        cmocka_unit_test(test_tracebacks),
        cmocka_unit_test(test_every_frame_has_its_work),
        cmocka_unit_test(test_a_name_that_only_contains_it),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_what_is_kept_is_not_said),
        cmocka_unit_test(test_a_full_card_in_a_table),
        cmocka_unit_test(test_working_set),
        cmocka_unit_test(test_what_begins),
        cmocka_unit_test(test_the_largest_piece),
        cmocka_unit_test(test_no_traceback_is_unsure),
        cmocka_unit_test(test_sizes_that_cannot_be),
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_llama),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_not_memory),
        cmocka_unit_test(test_unknown_failures),
        cmocka_unit_test(test_no_more_than_it_says),
        cmocka_unit_test(test_pool_of_the_card),
        cmocka_unit_test(test_who_ended_it),
        cmocka_unit_test(test_second_candidates),
        cmocka_unit_test(test_scenarios_have_their_cause),
        cmocka_unit_test(test_hostile_figures),
        cmocka_unit_test(test_the_rules_have_their_order),
        cmocka_unit_test(test_second_guesses),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
