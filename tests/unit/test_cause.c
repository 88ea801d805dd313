/* SPDX-License-Identifier: MIT */
/* Causes that the figures of a message prove: what was tried, what is free, who holds the rest. */
#include "cause_case.h"

#include <string.h>

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

/* "Currently allocated" says nothing of what is kept beside it: who has the rest is not known. */
static void test_what_is_kept_is_not_said(void **state)
{
    (void)state;
    message(4.83, 22.2, 0.01, -1, 16.08, -1);
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_OTHER_PROCESS);
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

static void test_larger_than_the_card(void **state)
{
    (void)state;
    message(32.0, 23.69, 20.0, 3.0, 2.0, 0.5);
    assert_cause("batch_or_activation");
    assert_string_equal(answer.best.rule, "too-large");
    message(40000, 23.69, 20.0, 3.0, 2.0, 0.5);
    find();
    assert_non_null(strstr(answer.best.why, "wrong shape"));

    message(22.99, 22.03, 21.85, 0.18, 0, 0); /* a table of embeddings, made on a card that is empty */
    frame("/opt/lib/python3.11/site-packages/torch/nn/modules/module.py", "to_empty", false);
    frame("/opt/lib/python3.11/site-packages/torch/nn/modules/module.py", "_apply", false);
    assert_cause("model_too_big");
    for (uint32_t i = 0; i < answer.n_second; i++)
        assert_int_not_equal(answer.second[i].cause, PLIM_CAUSE_OTHER_PROCESS);
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

static void test_a_fraction(void **state)
{
    (void)state;
    message(1.0, 23.69, 12.0, 8.4, 7.5, 0.3);
    set(PLIM_N_ALLOWED_BYTES, GIB(8.0));
    assert_cause("allocator_limit");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_HIGH); /* 7.8 and 1 are more than 8 */
    set(PLIM_N_FREE_BYTES, GIB(0.5)); /* the card is full as well: the fraction is not why */
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_ALLOCATOR_LIMIT);
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

/* An account of llama.cpp on a Mac: the larger of cache and weights is what does not fit. */
static void test_working_set(void **state)
{
    (void)state;
    begin();
    strcpy(finding.words.text[PLIM_W_BACKEND], "Metal");
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
    message(0.08, 23.64, 0.26, 8.04, 7.63, 0.04); /* of a full card, most of which another has */
    other(2797307, GIB(14.85));
    assert_cause("other_process");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_MEDIUM);
    assert_null(strstr(answer.best.why, "would have fitted")); /* it would as it is, by these figures */
    assert_non_null(strstr(answer.best.why, "as good as full"));
    set(PLIM_N_FREE_BYTES, GIB(23.64 / 20) + MIB(1));
    assert_cause("driver_or_context");
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

/* Metal gave nothing though PyTorch's mark on a Mac was far. */
static void test_below_the_mark(void **state)
{
    (void)state;
    begin();
    set(PLIM_N_TRIED_BYTES, 0);
    set(PLIM_N_ALLOCATED_BYTES, 0);
    set(PLIM_N_OTHER_ALLOCATIONS_BYTES, 0);
    set(PLIM_N_ALLOWED_BYTES, GIB(1.27));
    assert_cause("driver_or_context");
    set(PLIM_N_ALLOCATED_BYTES, GIB(1.2));
    set(PLIM_N_OTHER_ALLOCATIONS_BYTES, GIB(0.05));
    set(PLIM_N_TRIED_BYTES, MIB(256));
    assert_cause("allocator_limit");
}

/* What JAX makes first, on a card of which it would take most: others have it. */
static void test_the_first_key_of_jax(void **state)
{
    (void)state;
    begin();
    finding.framework = "jax";
    set(PLIM_N_TRIED_BYTES, MIB(8));
    frame("/srv/fold/run.py", "predict", true);
    frame("/opt/lib/python3.11/site-packages/jax/_src/random.py", "PRNGKey", false);
    assert_cause("other_process");
    set(PLIM_N_TRIED_BYTES, GIB(8));
    find();
    assert_int_not_equal(answer.best.cause, PLIM_CAUSE_OTHER_PROCESS);
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
        cmocka_unit_test(test_what_is_kept_is_not_said),
        cmocka_unit_test(test_private_pools_are_inside),
        cmocka_unit_test(test_a_full_card_in_a_table),
        cmocka_unit_test(test_larger_than_the_card),
        cmocka_unit_test(test_sizes_that_cannot_be),
        cmocka_unit_test(test_a_fraction),
        cmocka_unit_test(test_pool_of_the_card),
        cmocka_unit_test(test_working_set),
        cmocka_unit_test(test_free_enough),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_pieces_before_others_that_nobody_lists),
        cmocka_unit_test(test_the_largest_piece),
        cmocka_unit_test(test_generations),
        cmocka_unit_test(test_wsl),
        cmocka_unit_test(test_second_candidates),
        cmocka_unit_test(test_below_the_mark),
        cmocka_unit_test(test_the_first_key_of_jax),
        cmocka_unit_test(test_nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
