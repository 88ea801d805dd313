/* SPDX-License-Identifier: MIT */
#include "base/numbers.h"
#include "base/units.h"
#include "bill/bill.h"
#include "unit.h"

static struct plim_device_bill device_of(uint64_t total_mib, uint64_t need_mib, uint64_t high_mib)
{
    struct plim_device_bill device = { .total_bytes = total_mib * PLIM_MIB, .total_low_bytes = total_mib * PLIM_MIB };
    plim_bill_add_band(&device, PLIM_PILLAR_WEIGHTS, "model buffer", PLIM_BASIS_EXACT, need_mib * PLIM_MIB,
                       need_mib * PLIM_MIB, high_mib * PLIM_MIB);
    return device;
}

static void test_margin(void **state)
{
    static const struct {
        uint64_t bytes;
        double ratio;
        uint64_t total_mib, expected_mib;
    } rows[] = {
        { 0, 0, 8192, 512 },           /* 5 % would be 410 */
        { 0, 0, 20480, 1024 },         /* 5 % */
        { PLIM_MIB, 0, 8192, 1 },      /* as given */
        { PLIM_MIB, 0.5, 8192, 4096 }, /* the larger of both */
        { PLIM_GIB, 0.01, 8192, 1024 },
    };
    const struct plim_margin endless = { 1, 1e300 };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plim_margin margin = { rows[i].bytes, rows[i].ratio };
        assert_int_equal(plim_margin_bytes(&margin, rows[i].total_mib * PLIM_MIB), rows[i].expected_mib * PLIM_MIB);
    }
    assert_int_equal(plim_margin_bytes(NULL, 8 * PLIM_GIB), 512 * PLIM_MIB);
    assert_true(plim_margin_bytes(&endless, 8 * PLIM_GIB) > (uint64_t)1 << 60);
}

static void test_one_device(void **state)
{
    static const struct {
        uint64_t total_mib, low_mib, need_mib, high_mib;
        bool is_host;
        enum plim_verdict verdict;
    } rows[] = {
        { 8192, 8192, 7000, 7680, false, PLIM_VERDICT_FITS },  /* to the byte */
        { 8192, 8192, 7000, 7681, false, PLIM_VERDICT_TIGHT }, /* the high end takes the margin */
        { 8192, 8192, 8192, 8192, false, PLIM_VERDICT_TIGHT },
        { 8192, 8192, 8193, 8193, false, PLIM_VERDICT_NO },
        { 8192, 7000, 7000, 7000, false, PLIM_VERDICT_TIGHT }, /* the total may be less */
        { 8192, 8192, 7000, 9000, true, PLIM_VERDICT_FITS },   /* the host: as expected */
        { 0, 0, 7000, 7000, false, PLIM_VERDICT_UNKNOWN },
        { 0, 0, 7000, 7000, true, PLIM_VERDICT_FITS }, /* an unknown host decides nothing */
        { 100, 100, 1, 1, false, PLIM_VERDICT_TIGHT }, /* smaller than its margin */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_device_bill device = device_of(rows[i].total_mib, rows[i].need_mib, rows[i].high_mib);
        device.total_low_bytes = rows[i].low_mib * PLIM_MIB;
        device.is_host = rows[i].is_host;
        if (plim_device_verdict(&device, NULL) != rows[i].verdict)
            fail_msg("row %zu: %s", i, plim_verdict_name(plim_device_verdict(&device, NULL)));
    }
}

static void test_worst_device_decides(void **state)
{
    enum { FITS = 1000, TIGHT = 8000, NO = 9000 };
    static const struct {
        uint64_t need_mib[3], total_mib[3];
        enum plim_verdict verdict;
        uint32_t limiting;
    } rows[] = {
        { { FITS, FITS, FITS }, { 8192, 8192, 65536 }, PLIM_VERDICT_FITS, 0 },
        { { FITS, TIGHT, FITS }, { 8192, 8192, 65536 }, PLIM_VERDICT_TIGHT, 1 },
        { { NO, TIGHT, FITS }, { 8192, 8192, 65536 }, PLIM_VERDICT_NO, 0 },
        { { TIGHT, NO, FITS }, { 8192, 8192, 65536 }, PLIM_VERDICT_NO, 1 },
        { { FITS, FITS, NO }, { 8192, 8192, 8192 }, PLIM_VERDICT_NO, 2 },
        { { FITS, FITS, FITS }, { 0, 8192, 65536 }, PLIM_VERDICT_UNKNOWN, 0 },
        { { FITS, TIGHT, FITS }, { 0, 8192, 65536 }, PLIM_VERDICT_UNKNOWN, 0 },
        { { TIGHT, FITS, FITS }, { 8192, 0, 65536 }, PLIM_VERDICT_UNKNOWN, 1 },
        { { FITS, NO, FITS }, { 0, 8192, 65536 }, PLIM_VERDICT_NO, 1 },
        { { NO, NO + 1, FITS }, { 8192, 8192, 65536 }, PLIM_VERDICT_NO, 1 }, /* the one that lacks most */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_bill bill = { .n_devices = 3 };
        for (int k = 0; k < 3; k++)
            bill.device[k] = device_of(rows[i].total_mib[k], rows[i].need_mib[k], rows[i].need_mib[k]);
        bill.device[2].is_host = true;
        plim_bill_judge(&bill, NULL);
        if (bill.verdict != rows[i].verdict || bill.limiting_device != rows[i].limiting)
            fail_msg("row %zu: %s because of device %u", i, plim_verdict_name(bill.verdict), bill.limiting_device);
        assert_ptr_equal(bill.limiting_line, &bill.device[rows[i].limiting].line[0]);
        bill.is_refused = true;
        plim_bill_judge(&bill, NULL);
        assert_int_equal(bill.verdict, PLIM_VERDICT_NO);
    }
}

static void test_limiting_line_is_ours(void **state)
{
    struct plim_bill bill = { .n_devices = 1 };
    (void)state;
    bill.device[0] = device_of(1000, 100, 100);
    plim_bill_add(&bill.device[0], PLIM_PILLAR_KV_CACHE, "KV buffer", PLIM_BASIS_EXACT, 300 * PLIM_MIB);
    plim_bill_add(&bill.device[0], PLIM_PILLAR_OTHERS, "other processes", PLIM_BASIS_MEASURED, 900 * PLIM_MIB);
    plim_bill_add(&bill.device[0], PLIM_PILLAR_OVERHEAD, "driver reserve", PLIM_BASIS_MEASURED, 800 * PLIM_MIB);
    plim_bill_judge(&bill, NULL);
    assert_string_equal(bill.limiting_line->label, "KV buffer");
    memset(&bill.device[0], 0, sizeof bill.device[0]);
    plim_bill_judge(&bill, NULL);
    assert_null(bill.limiting_line);
}

/* Not a line that is larger, but not held when the device needs most. */
static void test_limiting_line_is_of_the_binding_phase(void **state)
{
    static const char *const labels[] = { "staging", "activations", "cache" };
    static const unsigned phases[] = { PLIM_PHASE_LOAD, PLIM_PHASE_PREFILL, PLIM_PHASE_PREFILL };
    static const uint64_t sizes[] = { 100, 60, 50 };
    struct plim_bill bill = { .n_devices = 1 };
    struct plim_device_bill *device = &bill.device[0];
    (void)state;
    for (int i = 0; i < 3; i++)
        plim_line_in_phases(device, plim_bill_add(device, PLIM_PILLAR_WEIGHTS, labels[i], PLIM_BASIS_EXACT, sizes[i]),
                            PLIM_IN_PHASE(phases[i]));
    plim_bill_judge(&bill, NULL);
    assert_int_equal(device->need_bytes, 110);
    assert_string_equal(bill.limiting_line->label, "activations");
}

static void test_lines_add_up(void **state)
{
    struct plim_device_bill device = { 0 };
    (void)state;
    plim_bill_add(&device, PLIM_PILLAR_WEIGHTS, "nothing", PLIM_BASIS_EXACT, 0);
    assert_int_equal(device.n_lines, 0);
    plim_bill_add_band(&device, PLIM_PILLAR_OVERHEAD, "perhaps", PLIM_BASIS_ASSUMED, 0, 0, 5);
    assert_int_equal(device.n_lines, 1);
    for (int i = 0; i < 2 * PLIM_BILL_MAX_LINES; i++)
        plim_line_because(plim_bill_add(&device, PLIM_PILLAR_WEIGHTS, "one", PLIM_BASIS_EXACT, 10), "%0", NULL, 0);
    assert_int_equal(device.n_lines, PLIM_BILL_MAX_LINES);
    assert_int_equal(device.need_bytes, 20 * PLIM_BILL_MAX_LINES); /* nothing is lost for want of a line */
    assert_int_equal(device.need_high_bytes, 20 * PLIM_BILL_MAX_LINES + 5);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < device.n_lines; i++)
        sum += device.line[i].bytes;
    assert_int_equal(sum, device.need_bytes);
}

static void test_reasons(void **state)
{
    static const struct {
        const char *template, *text;
    } rows[] = {
        { "%0 layers x %1 cells", "32 layers x 8192 cells" },
        { "%b1 and %t", "8.00 KiB and q8_0" },
        { "K in %d2, V in %d3", "K in q8_0, V in f16" },
        { "100 %%", "100 %" },
        { "%", "%" },
        { "%9", "9" },
        { "", "" },
        { NULL, "" },
    };
    char text[PLIM_WHY_BYTES], long_template[600] = "";
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_line line = { .argument = { 32, 8192, PLIM_DTYPE_Q8_0, PLIM_DTYPE_F16 },
                                  .text_argument = "q8_0",
                                  .why = rows[i].template };
        assert_string_equal(plim_line_why(&line, text), rows[i].text);
    }
    while (strlen(long_template) < sizeof long_template - 4)
        strcat(long_template, "%b0");
    struct plim_line line = { .argument = { UINT64_MAX }, .why = long_template };
    assert_true(strlen(plim_line_why(&line, text)) < PLIM_WHY_BYTES);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(plim_verdict_name(PLIM_VERDICT_UNKNOWN), "unknown");
    assert_string_equal(plim_verdict_name(PLIM_VERDICT_FITS), "fits");
    assert_string_equal(plim_verdict_name(PLIM_VERDICT_TIGHT), "tight");
    assert_string_equal(plim_verdict_name(PLIM_VERDICT_NO), "no");
    assert_string_equal(plim_pillar_name(PLIM_PILLAR_KV_CACHE), "kv_cache");
    for (int i = 0; i < PLIM_PILLAR_MAX_; i++)
        assert_non_null(plim_pillar_name((enum plim_pillar)i));
    assert_string_equal(plim_basis_name(PLIM_BASIS_EXACT), "exact");
}

/* --- phases --- */

enum { LOADING = PLIM_IN_PHASE(PLIM_PHASE_LOAD), STEPPING = PLIM_IN_PHASE(PLIM_PHASE_STEP) };

/* The need is the largest sum over the phases, in whatever order the lines come. */
static void test_phases(void **state)
{
    static const struct {
        uint64_t mib;
        unsigned phases;
    } lines[] = { { 100, 0 }, { 30, LOADING }, { 50, STEPPING }, { 10, LOADING | STEPPING }, { 5, 0 } };
    (void)state;
    for (size_t first = 0; first < COUNT(lines); first++) {
        struct plim_device_bill device = { 0 };
        for (size_t i = 0; i < COUNT(lines); i++) {
            const size_t k = (first + i) % COUNT(lines);
            struct plim_line *line =
                plim_bill_add(&device, PLIM_PILLAR_ACTIVATIONS, "line", PLIM_BASIS_EXACT, lines[k].mib * PLIM_MIB);
            if (lines[k].phases)
                plim_line_in_phases(&device, line, lines[k].phases);
        }
        assert_int_equal(device.need_bytes, (100 + 50 + 10 + 5) * PLIM_MIB);
        assert_int_equal(device.need_high_bytes, device.need_bytes);
        assert_int_equal(device.binding, PLIM_PHASE_STEP);
    }
}

/* A full bill counts what it has no line for to its last one, which is then held in every phase: never too little. */
static void test_a_full_bill_with_phases(void **state)
{
    struct plim_device_bill device = { 0 };
    (void)state;
    for (int i = 0; i < PLIM_BILL_MAX_LINES; i++) {
        struct plim_line *line = plim_bill_add(&device, PLIM_PILLAR_WEIGHTS, "line", PLIM_BASIS_EXACT, PLIM_MIB);
        plim_line_in_phases(&device, line, i % 2 ? LOADING : STEPPING);
    }
    assert_int_equal(device.need_bytes, PLIM_BILL_MAX_LINES / 2 * PLIM_MIB);
    assert_null(plim_bill_add(&device, PLIM_PILLAR_WEIGHTS, "one more", PLIM_BASIS_EXACT, PLIM_MIB));
    assert_int_equal(device.need_bytes, (PLIM_BILL_MAX_LINES / 2 + 2) * PLIM_MIB); /* the last line is held in both */
    assert_int_equal(device.line[PLIM_BILL_MAX_LINES - 1].basis, PLIM_BASIS_ASSUMED);
}

/* Both ends of a band count in its phases, and of phases that need as much the first binds. */
static void test_bands_in_phases(void **state)
{
    static struct plim_device_bill device;
    (void)state;
    for (unsigned phases = LOADING; phases <= STEPPING; phases = phases == LOADING ? STEPPING : STEPPING + 1)
        plim_line_in_phases(
            &device, plim_bill_add_band(&device, PLIM_PILLAR_ACTIVATIONS, "line", PLIM_BASIS_FORMULA, 20, 10, 40),
            phases);
    assert_int_equal(device.need_low_bytes, 10);
    assert_int_equal(device.need_bytes, 20);
    assert_int_equal(device.need_high_bytes, 40);
    assert_int_equal(device.binding, PLIM_PHASE_LOAD);
}

/* The machine's part: what is free there, and no verdict where the figures are upper bounds. */
static void test_a_machine(void **state)
{
    static struct plim_bill bill;
    static struct plim_machine machine;
    (void)state;
    machine.host = (struct plim_host){ .total_bytes = 64 * PLIM_GIB, .free_bytes = 40 * PLIM_GIB };
    plim_card_of_budget(8 * PLIM_GIB, &machine.card[0]);
    machine.card[0].others_bytes = 3 * PLIM_GIB;
    plim_bill_start(&bill);
    plim_bill_add_devices(&bill, &machine, 1);
    assert_int_equal(bill.device[0].free_bytes, 5 * PLIM_GIB);
    assert_true(bill.device[1].is_host);
    assert_int_equal(bill.device[1].total_bytes, 64 * PLIM_GIB);
    assert_int_equal(bill.device[1].free_bytes, 40 * PLIM_GIB);
    plim_bill_judge(&bill, NULL);
    assert_int_equal(bill.verdict, PLIM_VERDICT_FITS);
    bill.is_bound = true;
    plim_bill_judge(&bill, NULL);
    assert_int_equal(bill.verdict, PLIM_VERDICT_UNKNOWN);
}

/* An elastic line takes what is left of a budget while it is held, and never less than its least size. */
static void test_elastic(void **state)
{
    struct plim_device_bill device = { 0 };
    (void)state;
    plim_bill_add(&device, PLIM_PILLAR_WEIGHTS, "weights", PLIM_BASIS_EXACT, 100 * PLIM_MIB);
    struct plim_line *line = plim_bill_add(&device, PLIM_PILLAR_WEIGHTS, "staging", PLIM_BASIS_EXACT, 80 * PLIM_MIB);
    plim_line_in_phases(&device, line, LOADING);
    line = plim_bill_add(&device, PLIM_PILLAR_KV_CACHE, "cache", PLIM_BASIS_EXACT, 10 * PLIM_MIB);
    plim_line_in_phases(&device, line, STEPPING);
    plim_line_is_elastic(line);
    plim_bill_stretch(&device, 250 * PLIM_MIB);
    assert_int_equal(line->bytes, 150 * PLIM_MIB);
    assert_int_equal(device.need_bytes, 250 * PLIM_MIB);
    plim_bill_stretch(&device, 0);
    assert_int_equal(line->bytes, 10 * PLIM_MIB);
    assert_int_equal(device.need_bytes, 180 * PLIM_MIB);
    assert_int_equal(device.binding, PLIM_PHASE_LOAD);
}

/* Lines and phases whose sum leaves 64 bits: the need stays beyond every card, and no device is large enough for it. */
static void test_sums_do_not_wrap_around(void **state)
{
    const uint64_t sizes[] = { (uint64_t)1 << 62, (uint64_t)1 << 63, UINT64_MAX };
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (unsigned phases = 0; phases <= STEPPING; phases += STEPPING) {
            struct plim_bill bill = { .n_devices = 1 };
            struct plim_device_bill *device = &bill.device[0];
            for (unsigned n = 0; n < 2 * PLIM_BILL_MAX_LINES; n++)
                plim_line_in_phases(
                    device, plim_bill_add(device, PLIM_PILLAR_WEIGHTS, "part", PLIM_BASIS_EXACT, sizes[i]), phases);
            assert_true(device->need_bytes == INT64_MAX && device->need_high_bytes == INT64_MAX);
            for (unsigned log2_bytes = 0; log2_bytes < 64; log2_bytes++) {
                device->total_bytes = device->total_low_bytes = (uint64_t)1 << log2_bytes;
                plim_bill_judge(&bill, NULL);
                assert_int_equal(bill.verdict, PLIM_VERDICT_NO);
            }
            device->total_bytes = 0;
            assert_true(plim_device_left_bytes(device) == -INT64_MAX);
        }
}

/* A buffer counts as 256 TiB at most: that may stand for more, so that it fits nowhere. */
static void test_the_largest_figure_fits_nowhere(void **state)
{
    struct plim_device_bill device = { .total_bytes = (uint64_t)1 << 60, .total_low_bytes = (uint64_t)1 << 60 };
    (void)state;
    device.need_bytes = device.need_high_bytes = PLIM_MOST_BYTES - 1;
    assert_int_equal(plim_device_verdict(&device, NULL), PLIM_VERDICT_FITS);
    device.need_bytes = device.need_high_bytes = PLIM_MOST_BYTES;
    assert_int_equal(plim_device_verdict(&device, NULL), PLIM_VERDICT_NO);
    device.is_host = true;
    assert_int_equal(plim_device_verdict(&device, NULL), PLIM_VERDICT_NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_a_full_bill_with_phases),
        cmocka_unit_test(test_bands_in_phases),
        cmocka_unit_test(test_a_machine),
        cmocka_unit_test(test_elastic),
        cmocka_unit_test(test_sums_do_not_wrap_around),
        cmocka_unit_test(test_the_largest_figure_fits_nowhere),
        cmocka_unit_test(test_margin),
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_worst_device_decides),
        cmocka_unit_test(test_limiting_line_is_ours),
        cmocka_unit_test(test_limiting_line_is_of_the_binding_phase),
        cmocka_unit_test(test_lines_add_up),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
