/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "receipt/check.h"
#include "report/receipt/documents.h"
#include "unit.h"

static struct plim_receipt bill, receipt;

/* An engine's log with a table: one sum by labels, one by pillars. */
static const char *const always[] = { "model buffer", "compute buffer", "output buffer", NULL };
static const char *const parts[] = { "KV buffer", "RS buffer", NULL };
static const struct plim_receipt_sum sums[] = {
    { .label = "context", .parts = parts, .hides = "output buffer" },
    { .label = "the rest", .pillars = 1U << PLIM_PILLAR_OVERHEAD, .except = "driver reserve", .has_others = true },
};
static const struct plim_receipt_labels labels = { always, sums, COUNT(sums) };

static struct plim_check result;

static struct plim_receipt_line *add(struct plim_receipt *to, const char *id, enum plim_pillar pillar,
                                     const char *label, uint64_t bytes)
{
    struct plim_receipt_device *device = plim_receipt_device(to, id);
    plim_receipt_add(device, pillar, label, bytes, 0);
    return plim_receipt_line(device, label);
}

/* A bill of 100 + 10 MiB and 20 MiB of computing, give or take 2; and a log that says the same. */
static int set_up(void **state)
{
    (void)state;
    plim_receipt_init(&bill, "llama.cpp", "bill");
    plim_receipt_init(&receipt, "llama.cpp", "log");
    add(&bill, "gpu0", PLIM_PILLAR_WEIGHTS, "model buffer", 100 * PLIM_MIB);
    add(&bill, "gpu0", PLIM_PILLAR_KV_CACHE, "KV buffer", 10 * PLIM_MIB);
    struct plim_receipt_line *compute = add(&bill, "gpu0", PLIM_PILLAR_ACTIVATIONS, "compute buffer", 20 * PLIM_MIB);
    compute->low_bytes = 18 * PLIM_MIB;
    compute->high_bytes = 22 * PLIM_MIB;
    add(&bill, "gpu0", PLIM_PILLAR_OVERHEAD, "CUDA context", 90 * PLIM_MIB);
    add(&bill, "gpu0", PLIM_PILLAR_OVERHEAD, "driver reserve", 300 * PLIM_MIB);
    receipt.device[0] = bill.device[0];
    receipt.device[0].n_lines = 3;
    receipt.device[0].line[2].low_bytes = receipt.device[0].line[2].high_bytes = 20 * PLIM_MIB;
    receipt.n_devices = 1;
    receipt.is_whole = true;
    receipt.labels = &labels;
    return 0;
}

static struct plim_receipt_line *line_of(struct plim_receipt *from, const char *label)
{
    return plim_receipt_line(&from->device[0], label);
}

static void set(struct plim_receipt_line *line, uint64_t bytes, uint64_t half_bytes)
{
    line->bytes = bytes;
    line->low_bytes = bytes - half_bytes;
    line->high_bytes = bytes + half_bytes;
}

static void test_equal(void **state)
{
    (void)state;
    plim_check(&bill, &receipt, &result);
    assert_true(result.agrees);
    assert_int_equal(result.n_exact, 2);
    assert_int_equal(result.n_bands, 1);
    assert_int_equal(result.device[0].n_lines, 5);
    assert_true(result.device[0].bill_bytes == 130 * PLIM_MIB && result.device[0].receipt_bytes == 130 * PLIM_MIB);
    assert_false(result.device[0].line[3].has_receipt || result.device[0].line[3].is_judged);
}

static void test_exact_lines_are_equal_as_printed(void **state)
{
    (void)state;
    set(line_of(&receipt, "KV buffer"), 10 * PLIM_MIB + 5000, 5243);
    plim_check(&bill, &receipt, &result);
    assert_true(result.agrees);
    set(line_of(&receipt, "KV buffer"), 10 * PLIM_MIB + 5300, 5243);
    plim_check(&bill, &receipt, &result);
    assert_false(result.agrees);
    assert_string_equal(result.worst->label, "KV buffer");
    assert_int_equal(plim_check_difference_bytes(result.worst), 5300);
}

static void test_bands(void **state)
{
    (void)state;
    set(line_of(&receipt, "compute buffer"), 22 * PLIM_MIB, 0);
    plim_check(&bill, &receipt, &result);
    assert_true(result.agrees);
    set(line_of(&receipt, "compute buffer"), 22 * PLIM_MIB + 1, 0);
    plim_check(&bill, &receipt, &result);
    assert_false(result.agrees);
}

static void test_what_only_one_side_has(void **state)
{
    (void)state;
    receipt.device[0].n_lines = 2; /* the log prints all its buffers: none means none */
    plim_check(&bill, &receipt, &result);
    assert_string_equal(result.worst->label, "compute buffer");
    receipt.is_whole = false; /* but not when it was cut */
    plim_check(&bill, &receipt, &result);
    assert_null(result.worst);
    assert_false(result.agrees);
    receipt.is_whole = true;
    receipt.labels = NULL; /* nor when the engine prints some of them only */
    plim_check(&bill, &receipt, &result);
    assert_null(result.worst);
    set_up(NULL);
    add(&receipt, "gpu1", PLIM_PILLAR_KV_CACHE, "KV buffer", PLIM_MIB);
    plim_check(&bill, &receipt, &result);
    assert_int_equal(result.n_devices, 2);
    assert_string_equal(result.device[result.worst_device].id, "gpu1");
}

static void test_sums(void **state)
{
    (void)state;
    add(&bill, "gpu0", PLIM_PILLAR_ACTIVATIONS, "output buffer", PLIM_MIB);
    plim_check(&bill, &receipt, &result);
    assert_string_equal(result.worst->label, "output buffer"); /* a log without the table lists it */
    add(&bill, "gpu0", PLIM_PILLAR_KV_CACHE, "RS buffer", PLIM_MIB);
    receipt.device[0].n_lines = 1;
    add(&receipt, "gpu0", PLIM_PILLAR_KV_CACHE, "context", 11 * PLIM_MIB);
    add(&receipt, "gpu0", PLIM_PILLAR_ACTIVATIONS, "compute buffer", 20 * PLIM_MIB);
    add(&receipt, "gpu0", PLIM_PILLAR_OVERHEAD, "the rest", 500 * PLIM_MIB);
    plim_check(&bill, &receipt, &result);
    assert_true(result.agrees); /* other programs may be in what is unaccounted for */
    const struct plim_check_line *last = &result.device[0].line[result.device[0].n_lines - 1];
    assert_string_equal(last->label, "the rest");
    assert_true(last->bill_bytes == 90 * PLIM_MIB && !last->is_in_band && !last->is_judged);
}

static void test_setups(void **state)
{
    (void)state;
    plim_settings_put_integer(&bill.settings, "n_ctx", 8192);
    plim_check(&bill, &receipt, &result);
    assert_int_equal(result.n_differs, 0);
    plim_settings_put_integer(&receipt.settings, "n_ctx", 4096);
    plim_check(&bill, &receipt, &result);
    assert_true(result.n_differs == 1 && result.agrees);
    assert_string_equal(result.differs[0], "n_ctx");
}

/* Of two differences the larger one is the worst, too much or too little. */
static void test_the_worst(void **state)
{
    (void)state;
    set(line_of(&receipt, "model buffer"), 100 * PLIM_MIB + 3, 0);
    set(line_of(&receipt, "KV buffer"), 10 * PLIM_MIB - 7, 0);
    plim_check(&bill, &receipt, &result);
    assert_int_equal(result.n_outside, 2);
    assert_string_equal(result.worst->label, "KV buffer");
    assert_int_equal(plim_check_difference_bytes(result.worst), -7);
    set(line_of(&receipt, "model buffer"), 100 * PLIM_MIB + 30, 0);
    plim_check(&bill, &receipt, &result);
    assert_string_equal(result.worst->label, "model buffer");
}

/* Where nothing could be compared, nothing agrees. */
static void test_nothing_in_common(void **state)
{
    (void)state;
    receipt.device[0].n_lines = 0;
    receipt.labels = NULL;
    plim_check(&bill, &receipt, &result);
    assert_int_equal(result.n_exact + result.n_bands, 0);
    assert_false(result.agrees);
}

/* A part of a sum is in the sum only, and what is excepted is not in it. */
static void test_parts_of_sums(void **state)
{
    (void)state;
    receipt.device[0].n_lines = 1;
    add(&receipt, "gpu0", PLIM_PILLAR_KV_CACHE, "context", 10 * PLIM_MIB);
    add(&receipt, "gpu0", PLIM_PILLAR_OVERHEAD, "the rest", 500 * PLIM_MIB);
    plim_check(&bill, &receipt, &result);
    unsigned n_kv = 0, n_reserve = 0, n_context = 0;
    for (uint32_t i = 0; i < result.device[0].n_lines; i++) {
        n_kv += !strcmp(result.device[0].line[i].label, "KV buffer");
        n_reserve += !strcmp(result.device[0].line[i].label, "driver reserve");
        n_context += !strcmp(result.device[0].line[i].label, "CUDA context");
    }
    assert_true(n_kv == 0 && n_context == 0 && n_reserve == 1);
}

static void test_settings(void **state)
{
    struct plim_receipt_settings *settings = &bill.settings;
    char key[16];
    (void)state;
    plim_settings_put_text(&bill.settings, "type_k", "q8_0");
    plim_settings_put_text(&receipt.settings, "type_k", "q8_0");
    plim_check(&bill, &receipt, &result);
    assert_int_equal(result.n_differs, 0);
    plim_settings_put_text(&receipt.settings, "type_k", "q4_0");
    plim_check(&bill, &receipt, &result);
    assert_int_equal(result.n_differs, 1);
    plim_settings_put_integer(&receipt.settings, "type_k", 0); /* of another kind */
    plim_check(&bill, &receipt, &result);
    assert_int_equal(result.n_differs, 1);
    for (unsigned i = 0; i < 2 * PLIM_SETTINGS_MAX; i++) {
        snprintf(key, sizeof key, "key%u", i);
        plim_settings_put_integer(settings, key, i);
    }
    assert_int_equal(settings->n, PLIM_SETTINGS_MAX);
    assert_int_equal(bill.n_starts, 0); /* what comes behind them is not written */
}

/* A receipt holds no more than it has room for, in the order of the cards, and small figures do not wrap. */
static void test_limits(void **state)
{
    static struct plim_receipt full;
    char name[32];
    (void)state;
    plim_receipt_init(&full, "llama.cpp", "log");
    struct plim_receipt_device *device = plim_receipt_device(&full, "gpu10");
    plim_receipt_device(&full, "host");
    plim_receipt_device(&full, "gpu2");
    plim_receipt_sort(&full);
    assert_string_equal(full.device[0].id, "gpu2");
    assert_string_equal(full.device[1].id, "gpu10");
    assert_string_equal(full.device[2].id, "host");
    device = plim_receipt_device(&full, "gpu2");
    for (unsigned i = 0; i < 2 * PLIM_RECEIPT_MAX_LINES; i++) {
        snprintf(name, sizeof name, "line %u", i);
        plim_receipt_add(device, PLIM_PILLAR_WEIGHTS, name, 10, 5243);
    }
    assert_int_equal(device->n_lines, PLIM_RECEIPT_MAX_LINES);
    assert_int_equal(device->line[0].low_bytes, 0);
    assert_int_equal(device->line[0].high_bytes, 5253);
    assert_string_equal(device[1].id, "gpu10");
    for (unsigned i = 0; i < 2 * PLIM_RECEIPT_MAX_DEVICES; i++) {
        snprintf(name, sizeof name, "gpu%u", 20 + i);
        plim_receipt_device(&full, name);
    }
    assert_int_equal(full.n_devices, PLIM_RECEIPT_MAX_DEVICES);
    assert_string_equal(plim_allocation_name(PLIM_ALLOCATION_MAX_), plim_allocation_name(PLIM_ALLOCATION_UNKNOWN));
    assert_string_equal(plim_allocation_why((enum plim_allocation_kind)1000),
                        plim_allocation_why(PLIM_ALLOCATION_UNKNOWN));
}

static void test_documents(void **state)
{
    static const char *const refused[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"schema\": 3}",
        "{\"schema\": \"plimsoll.fits/1\"}",
        "{\"schema\": \"plimsoll.fit/1\"}",
        "{\"schema\": \"plimsoll.fit/1\", \"devices\": [{}]}",
        "{\"schema\": \"plimsoll.fit/1\", \"devices\": [{\"id\": 3}]}",
    };
    static const char good[] =
        "{\"schema\": \"plimsoll.receipt/1\", \"from\": \"rehearse\", \"setup\": {\"n_ctx\": 8192, \"type_k\": "
        "\"q8_0\", \"client\": \"cli\", \"nonesuch\": 1},"
        " \"devices\": [{\"id\": \"gpu0\", \"peak_bytes\": 9, \"lines\": ["
        "{\"pillar\": \"weights\", \"label\": \"a\\u001bb\", \"bytes\": 5, \"low\": 7, \"high\": 3},"
        "{\"label\": \"no bytes\"}, {\"label\": \"less than none\", \"bytes\": -5}, 3]}]}";
    struct plim_error error = { 0 };
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++)
        if (plim_document_read(refused[i], strlen(refused[i]), &receipt, &error) == 0 || !error.what[0])
            fail_msg("read: %s", refused[i]);
    assert_true(plim_document_is_near(good, sizeof good - 1));
    assert_false(plim_document_is_near("{\"log\": 3}", 10));
    assert_int_equal(plim_document_read(good, sizeof good - 1, &receipt, &error), 0);
    const struct plim_receipt_line *line = &receipt.device[0].line[0];
    assert_int_equal(receipt.device[0].n_lines, 1);
    assert_string_equal(line->label, "a\x1b"
                                     "b");
    assert_true(line->bytes == 5 && line->low_bytes == 5 && line->high_bytes == 5);
    assert_int_equal(line->kind, PLIM_ALLOCATION_UNKNOWN);
    assert_int_equal(plim_settings_find(&receipt.settings, "n_ctx")->integer, 8192);
    assert_string_equal(plim_settings_find(&receipt.settings, "type_k")->text, "q8_0");
    assert_int_equal(receipt.settings.n, 2); /* the others are not compared */
    assert_true(receipt.device[0].peak_bytes == 9 && receipt.is_whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_equal, set_up),
        cmocka_unit_test_setup(test_exact_lines_are_equal_as_printed, set_up),
        cmocka_unit_test_setup(test_bands, set_up),
        cmocka_unit_test_setup(test_what_only_one_side_has, set_up),
        cmocka_unit_test_setup(test_sums, set_up),
        cmocka_unit_test_setup(test_setups, set_up),
        cmocka_unit_test_setup(test_the_worst, set_up),
        cmocka_unit_test_setup(test_nothing_in_common, set_up),
        cmocka_unit_test_setup(test_parts_of_sums, set_up),
        cmocka_unit_test_setup(test_settings, set_up),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
