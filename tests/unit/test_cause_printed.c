/* SPDX-License-Identifier: MIT */
/* The cause by what the program printed of memory in its own words, and by the names in its code. */
#include "cause_case.h"
#include "diagnose/printed.h"

/* A message of a driver without figures, behind these lines. */
static void driver(const char *printed)
{
    begin();
    pattern.framework = finding.framework = "numba";
    pattern.stage = "api";
    plim_printed_read(printed, strlen(printed), &context.printed);
}

/* One of JAX, with what was asked for. */
static void jax(const char *printed, int64_t tried_bytes)
{
    begin();
    pattern.framework = finding.framework = "jax";
    set(PLIM_N_TRIED_BYTES, tried_bytes);
    plim_printed_read(printed, strlen(printed), &context.printed);
}

static void code(const char *text, const char *function)
{
    begin();
    pattern.framework = finding.framework = "jax";
    frame("train.py", function, true);
    snprintf(context.frames[0].code, sizeof context.frames[0].code, "%s", text);
    frame("/lib/python3.11/site-packages/jax/_src/core.py", "bind", false);
}

/* One thing is more than all that there is: by what is free, by the name of the card, by a pool. */
static void test_size(void **state)
{
    (void)state;
    driver("GPU 0: 11.50 GiB free of 11.75 GiB\nweights: 24.5 GiB\n");
    assert_cause("model_too_big");
    assert_non_null(strstr(answer.best.why, "\"weights: 24.5 GiB\", and all that it could have is 11.75 GiB"));
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    driver("on NVIDIA GeForce RTX 3070\nvolume (2048, 1536, 1280), 16.1 GB\n");
    assert_cause("batch_or_activation");
    jax("weights: 0.4 GiB\nKV cache: 48.0 GiB for batch 4\n", GIB(2));
    context.numbers.value[PLIM_N_LIMIT_BYTES] = GIB(16.5);
    assert_cause("kv_cache_context");
    context.numbers.value[PLIM_N_LIMIT_BYTES] = GIB(64);
    assert_cause("kv_cache_context"); /* there is room for it; it is the last that was printed */
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    driver("GPU 0: 11.50 GiB free of 11.75 GiB\nweights: 24.5 GiB\n");
    context.numbers.value[PLIM_N_TENSOR_PARALLEL] = 4; /* of which each card has a part */
    assert_open();
}

/* The weights fit, and what stands beside them does not. */
static void test_beside_weights(void **state)
{
    (void)state;
    driver("7.5 GiB free of 7.75 GiB\nparams: 3.75 GiB\noptimizer state will need 7.50 GiB\n");
    assert_cause("optimizer_states");
    driver("23.0 GiB free of 23.5 GiB\nparams: 13.5 GiB\nKV cache of 12.0 GiB\n");
    assert_cause("kv_cache_context");
    driver("23.0 GiB free of 23.5 GiB\nparams: 3.5 GiB\nKV cache of 2.0 GiB\n");
    assert_cause("kv_cache_context");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
}

/* What was in use before the program had anything; a message with an account of its own knows better. */
static void test_others(void **state)
{
    (void)state;
    driver("1.50 GB free of 6.25 GB\nslide of 1.25 GB\n");
    assert_cause("other_process");
    assert_non_null(strstr(answer.best.why, "others have 4.75 GiB"));
    driver("5.75 GB free of 6.25 GB\n");
    assert_open();
    message(2.0, 23.5, 0.5, 23.0, 22.5, 0.1);
    plim_printed_read("8.2 GiB free of 23.5 GiB\n", 25, &context.printed);
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_OTHER_PROCESS);
}

static void test_work(void **state)
{
    (void)state;
    driver("free 5.5 of 5.7 GiB\nfree 2.5 of 5.7 GiB, grid 4.5 GiB\n");
    assert_cause("batch_or_activation");
}

/* TensorFlow takes nearly all of a card; what it has less was set, or others had it. */
static void test_pool(void **state)
{
    (void)state;
    begin();
    pattern.framework = finding.framework = "tensorflow";
    set(PLIM_N_TRIED_BYTES, MIB(256));
    snprintf(context.words.text[PLIM_W_CARD], PLIM_WORD_BYTES, "NVIDIA GeForce RTX 4070");
    context.numbers.value[PLIM_N_LIMIT_BYTES] = MIB(199);
    assert_cause("other_process");
    context.numbers.value[PLIM_N_LIMIT_BYTES] = MIB(2560);
    assert_cause("allocator_limit");
    context.numbers.value[PLIM_N_LIMIT_BYTES] = MIB(2000);
    assert_cause("allocator_limit");
    context.numbers.value[PLIM_N_LIMIT_BYTES] = MIB(671);
    snprintf(context.words.text[PLIM_W_CARD], PLIM_WORD_BYTES, "NVIDIA GeForce RTX 3060 Ti"); /* of two kinds */
    assert_cause("other_process");
    context.numbers.value[PLIM_N_LIMIT_BYTES] = MIB(9700);
    assert_open();
    finding.framework = pattern.framework = "pytorch";
    context.numbers.value[PLIM_N_LIMIT_BYTES] = MIB(199);
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_OTHER_PROCESS);
}

static void test_grabs(void **state)
{
    (void)state;
    char text[2000] = "";
    double gib = 17.67;
    for (int i = 0; i < 9; i++, gib *= 0.9)
        snprintf(text + strlen(text), sizeof text - strlen(text), "Failed to allocate device memory of %.2fGiB\n", gib);
    jax(text, MIB(128));
    assert_cause("other_process");
    assert_non_null(strstr(answer.best.why, "17.67 GiB"));
    gib = 1.2; /* a piece for which the pool could not grow */
    for (text[0] = '\0'; gib > 0.3; gib *= 0.9)
        snprintf(text + strlen(text), sizeof text - strlen(text), "Failed to allocate device memory of %.2fGiB\n", gib);
    jax(text, MIB(128));
    assert_open();
}

/* A figure that rises from line to line: of what it is says what it was. */
static void test_growth(void **state)
{
    (void)state;
    driver("it 1: 1.0 GiB in use\nit 2: 2.0 GiB in use\nit 3: 3.1 GiB in use\nit 4: 4.2 GiB in use\nit 5: 5.0 GiB in "
           "use\n");
    assert_cause("leak_or_growth");
    driver("it 1: 1.0 GiB in use\nit 2: 2.0 GiB in use\nit 3: 1.1 GiB in use\nit 4: 2.2 GiB in use\nit 5: 1.0 GiB in "
           "use\n");
    assert_open();
    driver("1 of 9, cache of keys 1.0 GiB\n2 of 9, cache of keys 2.0 GiB\n3 of 9, cache of keys 3.0 GiB\n");
    assert_cause("kv_cache_context");
    driver("restoring layer 1, 4.8 GiB\nrestoring layer 2, 8.3 GiB\nrestoring layer 3, 11.9 GiB\n");
    assert_open(); /* nothing says that this is of the card */
    driver("restoring weights 1, 4.8 GiB\nrestoring weights 2, 8.3 GiB\nrestoring weights 3, 11.9 GiB\n");
    assert_cause("model_too_big");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
}

/* Fewer figures do where each is higher and they fill half of the card. */
static void test_filling(void **state)
{
    (void)state;
    driver("{\"free_mb\": 3898, \"total_mb\": 5918}\n{\"free_mb\": 2170, \"total_mb\": 5918}\n"
           "{\"free_mb\": 442, \"total_mb\": 5918}\n");
    assert_cause("leak_or_growth");
    assert_non_null(strstr(answer.best.why, "fell from 3.81 GiB to 442"));
    driver("it 1: 1.0 GiB in use of 8.0 GiB\nit 2: 2.0 GiB in use of 8.0 GiB\nit 3: 3.0 GiB in use of 8.0 GiB\n");
    assert_open();
}

/* Adam has two values for each weight: where they are named, the weights were the last, and three times are too much.
 */
static void test_adam(void **state)
{
    (void)state;
    jax("device NVIDIA GeForce RTX 3050 6GB, adam\nparameters 1.84 GiB\n", MIB(236));
    assert_cause("optimizer_states");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    jax("device NVIDIA GeForce RTX 3050 6GB, sgd\nparameters 1.84 GiB\n", MIB(236));
    assert_open();
    jax("device NVIDIA GeForce RTX 4090, adam\nparameters 1.84 GiB\n", MIB(236));
    assert_open();
}

/* TensorFlow says what its pool may hold and what is in use: where that leaves enough, it is in pieces. */
static void test_pool_in_pieces(void **state)
{
    (void)state;
    begin();
    pattern.framework = finding.framework = "tensorflow";
    snprintf(finding.words.text[PLIM_W_ALLOCATOR], PLIM_WORD_BYTES, "GPU_0_bfc");
    set(PLIM_N_LIMIT_BYTES, GIB(5.92));
    set(PLIM_N_ALLOCATED_BYTES, GIB(1.68));
    set(PLIM_N_TRIED_BYTES, MIB(2400));
    assert_cause("fragmentation");
    set(PLIM_N_TRIED_BYTES, GIB(4.2));
    assert_open();
}

static void test_results_are_kept(void **state)
{
    (void)state;
    message(2.89, 7.62, 2.11, 5.51, 3.0, 2.3);
    frame("/lib/python3.11/site-packages/transformers/trainer_pt_utils.py", "nested_concat", false);
    assert_cause("leak_or_growth"); /* and not the pieces that it leaves */
}

/* A program that warns of it and goes on did without; one whose log ends there, or that fails behind it, did not. */
static void test_warning(void **state)
{
    (void)state;
    begin();
    pattern.role = PLIM_PATTERN_ROLE_FAILURE;
    finding.n_evidence = 1;
    set(PLIM_N_TRIED_BYTES, GIB(3));
    snprintf(finding.evidence[0].text, PLIM_EVIDENCE_BYTES,
             "2026-11-28 19:52:03 bridge WARNING: Unable to allocate 3 GiB");
    assert_cause("not_oom");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    finding.is_last = true;
    assert_open();
    finding.is_last = false;
    set(PLIM_N_TRIED_BYTES,
        PLIM_UNKNOWN); /* "WARN YarnAllocator: Container killed by YARN for exceeding memory limits" */
    assert_open();
    set(PLIM_N_TRIED_BYTES, GIB(3));
    context.n_unknown = 1;
    assert_open();
    context.n_unknown = 0;
    frame("run.py", "main", true);
    assert_open();
    context.n_frames = 0;
    snprintf(finding.evidence[0].text, PLIM_EVIDENCE_BYTES,
             "gpu7:1:2 [0] alloc.h:1 NCCL WARN Cuda failure 'out of memory'");
    assert_open();
}

/* Signal 9, and somebody else who sends it. */
static void test_stopped(void **state)
{
    (void)state;
    begin();
    pattern.role = PLIM_PATTERN_ROLE_FAILURE;
    pattern.stage = "host";
    set(PLIM_N_SIGNAL, 9);
    assert_cause("host_ram");
    snprintf(context.words.text[PLIM_W_TOLD], PLIM_WORD_BYTES, "stopped");
    assert_cause("not_oom");
}

/* By what is printed of the pool of XLA; not where memory rises, and not for a small piece. */
static void test_printed_pieces(void **state)
{
    (void)state;
    jax("128 tiles, 8.00 of 8.72 GiB in use\n64 tiles, 4.00 of 8.72 GiB in use\n", GIB(2));
    assert_cause("fragmentation");
    set(PLIM_N_TRIED_BYTES, MIB(100));
    assert_open();
    set(PLIM_N_TRIED_BYTES, GIB(4.6));
    assert_open();
    jax("1, 2.0 of 9.0 GiB in use\n2, 3.0 of 9.0 GiB in use\n3, 6.6 of 9.0 GiB in use\n", GIB(1));
    assert_cause("leak_or_growth");
}

/* Both of a program's own doing: a share of the card that the log names, and optax' own name for its states. */
static void test_names(void **state)
{
    (void)state;
    begin();
    pattern.framework = finding.framework = "tensorflow";
    snprintf(context.words.text[PLIM_W_CARD], PLIM_WORD_BYTES, "NVIDIA GeForce RTX 4090");
    context.numbers.value[PLIM_N_LIMIT_BYTES] = MIB(963);
    assert_cause("other_process");
    context.numbers.value[PLIM_N_MEM_FRACTION] = 40000;
    assert_cause("allocator_limit");
    jax("", GIB(10));
    snprintf(finding.words.text[PLIM_W_OPERATION], PLIM_WORD_BYTES, "jit_init_fn");
    assert_cause("optimizer_states");
    snprintf(finding.words.text[PLIM_W_OPERATION], PLIM_WORD_BYTES, "jit_build_block");
    assert_cause("model_too_big");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    snprintf(finding.words.text[PLIM_W_OPERATION], PLIM_WORD_BYTES, "jit_sort_rows");
    assert_open();
    code("\"down\": normal(keys[2], shape, jnp.bfloat16),", "make_layer");
    assert_cause("model_too_big");
    code("return layer(x)", "apply_layer");
    assert_open();
}

/* The computer's memory is not the card's. */
static void test_host(void **state)
{
    (void)state;
    driver("GPU 0: 11.50 GiB free of 11.75 GiB\nweights: 24.5 GiB\n");
    pattern.stage = "host";
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_MODEL_TOO_BIG);
}

/* By names, and never more than a guess. */
static void test_code(void **state)
{
    (void)state;
    code("params[f\"layers_{i}\"] = jax.random.normal(k, s)", "<module>");
    assert_cause("model_too_big");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    code("self.user_b = tf.Variable(tf.zeros((USERS, DIM)))", "__init__");
    assert_cause("model_too_big");
    code("opt_state = tx.init(params)", "main");
    assert_cause("optimizer_states");
    code("self.kv = jnp.zeros((2, LAYERS, n, HEADS, DIM))", "__init__");
    assert_cause("kv_cache_context");
    code("return jnp.zeros((n, dim))", "make_optimizer");
    assert_cause("optimizer_states");
    code("y = f(x, model=net)", "main"); /* an argument's name is no target */
    assert_open();
    code("if params == other(x):", "main");
    assert_open();
    code("z = x @ y", "<module>");
    assert_open();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size),           cmocka_unit_test(test_beside_weights),
        cmocka_unit_test(test_others),         cmocka_unit_test(test_work),
        cmocka_unit_test(test_pool),           cmocka_unit_test(test_grabs),
        cmocka_unit_test(test_filling),        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_pool_in_pieces), cmocka_unit_test(test_results_are_kept),
        cmocka_unit_test(test_printed_pieces), cmocka_unit_test(test_names),
        cmocka_unit_test(test_warning),        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_growth),         cmocka_unit_test(test_host),
        cmocka_unit_test(test_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
