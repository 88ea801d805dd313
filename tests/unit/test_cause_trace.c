/* SPDX-License-Identifier: MIT */
/* Causes that a traceback suggests, or the node of a graph, where the figures prove none. */
#include "base/table.h"
#include "cause_case.h"
#include "diagnose/cause/trace.h"

#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tracebacks),
        cmocka_unit_test(test_graphs_above_a_forward_pass),
        cmocka_unit_test(test_every_frame_has_its_work),
        cmocka_unit_test(test_a_name_that_only_contains_it),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_no_traceback_is_unsure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
