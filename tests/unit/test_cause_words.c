/* SPDX-License-Identifier: MIT */
/* What the words of a text say of the cause, where no rule holds. */
#include "cause_case.h"

#include "base/table.h"
#include "diagnose/cause/bag.h"
#include "diagnose/cause/rules.h"

static const char long_text[] =
    "Training epoch one of the model with batch size sixteen, loss goes down. In the forward pass of the next step, "
    "with larger images and the same batch, it fails in train.py: for images in loader: outputs = model(images); "
    "loss.backward(); optimizer.step(). RuntimeError: out of memory. Try to reduce the batch size for training on this "
    "GPU.";

/* Something for each of several causes. */
static const char mixed_text[] =
    "The other process on this machine is still running and nvidia smi shows its memory in use. The model was loading "
    "its checkpoint shards on the same device when it failed, with an image batch to follow. Killed? The context and "
    "the cache of the server are long, and the ram grows.";

static void read_text(const char *text) { plim_bag_read(text, strlen(text), &context.bag); }

static uint32_t n_known(const char *text)
{
    read_text(text);
    return context.bag.n;
}

/* What the words alone say, whatever the other rules would. */
static bool is_named_by_words(void)
{
    const struct plim_facts facts = {
        .finding = &finding, .context = &context, .answer = &answer, .stage = pattern.stage
    };
    memset(&answer, 0, sizeof answer);
    return plim_rule_words(&facts, &answer.best);
}

static void test_the_table(void **state)
{
    (void)state;
    const struct plim_table *t = &plim_cause_words_table;
    assert_true(t->n_rows > 100 && t->n_rows <= PLIM_MAX_BAG_ROWS);
    assert_string_equal(plim_table_cell(t, 0, 0), "");
    for (size_t row = 1; row < t->n_rows; row++)
        assert_true(strcmp(plim_table_cell(t, row - 1, 0), plim_table_cell(t, row, 0)) < 0);
    for (size_t row = 1; row < t->n_rows; row++) { /* a pattern that is renamed would lose its weights */
        const char *word = plim_table_cell(t, row, 0);
        if (!strncmp(word, "kind=", 5) && !plim_pattern_find(word + 5))
            fail_msg("%s is the id of no pattern", word);
    }
    for (size_t column = 1; column < t->n_columns; column++) {
        int n = 0;
        for (int i = 0; i < PLIM_CAUSE_MAX_; i++) {
            const char *name = plim_cause_name((enum plim_cause)i);
            n += name && !strcmp(name, t->columns[column]);
        }
        assert_int_equal(n, 1);
    }
}

static void test_words(void **state)
{
    (void)state;
    begin();
    assert_int_equal(n_known(""), 0);
    assert_int_equal(n_known("batch"), 1);
    assert_int_equal(n_known("BATCH, batch;Batch=16"), 1); /* each once */
    assert_int_equal(n_known("batch_size"), 2);
    assert_int_equal(n_known("abatch batchbatch"), 0);
    assert_int_equal(n_known("batchbatchbatchbatchbatch batch"), 1); /* too long, and the next */
    assert_int_equal(n_known("b a t c h"), 0);
    plim_bag_read("batch memory", 5, &context.bag); /* not behind the end */
    assert_int_equal(context.bag.n, 1);
    plim_bag_add(&context.bag, "kind=pytorch-oom");
    plim_bag_add(&context.bag, "kind=nothing-of-that-name");
    assert_int_equal(context.bag.n, 2);
}

static void test_words_name_a_cause(void **state)
{
    (void)state;
    begin();
    assert_open();
    read_text(long_text);
    assert_true(context.bag.n >= 20);
    assert_cause("batch_or_activation");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_LOW);
    assert_string_equal(answer.best.rule, "words");
    assert_int_equal(answer.advised, PLIM_CAUSE_BATCH_OR_ACTIVATION);
    read_text("Training epoch one of the model with batch size sixteen"); /* too few */
    assert_open();
    read_text(mixed_text);
    assert_true(context.bag.n >= 20);
    assert_open();
}

/* Of a text that is one word too short, a fact that has weights makes it long enough, and any other does not. */
static void test_facts(void **state)
{
    (void)state;
    static const struct {
        enum plim_number value, whole;
        int64_t is, of;
        bool is_known;
    } ratios[] = {
        { PLIM_N_ALLOCATED_BYTES, PLIM_N_TOTAL_BYTES, 1, 100, false }, /* up to 0.01: stands in too few logs */
        { PLIM_N_ALLOCATED_BYTES, PLIM_N_TOTAL_BYTES, 2, 100, true },
        { PLIM_N_ALLOCATED_BYTES, PLIM_N_TOTAL_BYTES, 100, 100, true },
        { PLIM_N_ALLOCATED_BYTES, PLIM_N_TOTAL_BYTES, 101, 100, false }, /* up to 1.5: likewise */
        { PLIM_N_TRIED_BYTES, PLIM_N_TOTAL_BYTES, 150, 100, false },
        { PLIM_N_TRIED_BYTES, PLIM_N_TOTAL_BYTES, 151, 100, true },
        { PLIM_N_TRIED_BYTES, PLIM_N_TOTAL_BYTES, 10, PLIM_UNKNOWN, false },
        { PLIM_N_TRIED_BYTES, PLIM_N_TOTAL_BYTES, PLIM_UNKNOWN, 100, false },
        { PLIM_N_TRIED_BYTES, PLIM_N_TOTAL_BYTES, 10, 0, false },
        { PLIM_N_USED_BYTES, PLIM_N_TOTAL_BYTES, 100, 100, false }, /* no fact */
    };
    size_t size = sizeof long_text - 1;
    begin();
    do
        plim_bag_read(long_text, size--, &context.bag);
    while (context.bag.n > 19);
    assert_false(is_named_by_words());
    pattern.id = "pytorch-oom";
    assert_true(is_named_by_words());
    pattern.id = "test";
    pattern.stage = "compute";
    assert_true(is_named_by_words());
    pattern.stage = "";
    for (size_t i = 0; i < COUNT(ratios); i++) {
        plim_numbers_init(&finding.numbers);
        set(ratios[i].value, ratios[i].is);
        set(ratios[i].whole, ratios[i].of);
        if (is_named_by_words() != ratios[i].is_known)
            fail_msg("ratio %zu: %s, not %s", i, ratios[i].is_known ? "open" : "named",
                     ratios[i].is_known ? "named" : "open");
    }
}

/* Any figures: no overflow, no step behind the last, and a reason that is not cut. */
static void test_hostile_facts(void **state)
{
    (void)state;
    static const int64_t values[] = { INT64_MIN + 1, -1, 0, 1, INT64_MAX };
    begin();
    read_text(long_text);
    for (size_t i = 0; i < COUNT(values) * COUNT(values); i++) {
        for (int k = 0; k < PLIM_NUMBER_MAX_; k++)
            finding.numbers.value[k] = values[k % 2 ? i % COUNT(values) : i / COUNT(values)];
        assert_true(is_named_by_words());
        assert_int_equal(answer.best.why[strlen(answer.best.why) - 1], '.');
    }
}

static void test_rules_come_first(void **state)
{
    (void)state;
    message(2.0, 31.36, 0.46, 16.62, 15.7, 0.31);
    other(19239, GIB(14.26));
    read_text(long_text);
    assert_cause("other_process");
    assert_int_equal(answer.best.confidence, PLIM_CONFIDENCE_HIGH);
    for (uint32_t i = 0; i < answer.n_second; i++)
        assert_string_not_equal(answer.second[i].rule, "words");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table),          cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_name_a_cause), cmocka_unit_test(test_facts),
        cmocka_unit_test(test_hostile_facts),      cmocka_unit_test(test_rules_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
