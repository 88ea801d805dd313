/* SPDX-License-Identifier: MIT */
/* What the words of a text say of the cause, where no rule holds. */
#include "cause_case.h"

#include "base/table.h"
#include "diagnose/cause/bag.h"

static const char long_text[] =
    "Training epoch one of the model with batch size sixteen, loss goes down. In the forward pass of the next step, "
    "with larger "
    "images and the same batch, it fails in train.py: for images in loader: outputs = model(images); loss.backward(); "
    "optimizer.step(). RuntimeError: out of memory. Try to reduce the batch size for training on this GPU.";

/* Something for each of several causes. */
static const char mixed_text[] =
    "The other process on this machine is still running and nvidia smi shows its memory in use. The model was loading "
    "its checkpoint "
    "shards on the same device when it failed, with an image batch to follow. Killed? The driver version is new.";

static void read_text(const char *text) { plim_bag_read(text, strlen(text), &context.bag); }

static uint32_t n_known(const char *text)
{
    read_text(text);
    return context.bag.n;
}

static void test_the_table(void **state)
{
    (void)state;
    const struct plim_table *t = &plim_cause_words_table;
    assert_true(t->n_rows > 100 && t->n_rows <= PLIM_MAX_BAG_ROWS);
    assert_string_equal(plim_table_cell(t, 0, 0), "");
    for (size_t row = 1; row < t->n_rows; row++)
        assert_true(strcmp(plim_table_cell(t, row - 1, 0), plim_table_cell(t, row, 0)) < 0);
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
        cmocka_unit_test(test_the_table),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_name_a_cause),
        cmocka_unit_test(test_rules_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
