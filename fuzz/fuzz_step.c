/* SPDX-License-Identifier: MIT */
/*
 * The reader of recorded steps and what follows from them: any bytes are refused with a reason and a place, or are a
 * step that is written as the same bytes, has sizes everywhere and is replayed.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "engine/torch/step.h"
#include "report/step/step.h"
#include "step/coding.h"
#include "step/file.h"
#include "step/size.h"

/* The sizes of a shape never wrap around: 0 where all variables are, and the most there is where they are beyond. */
static void look_at_sizes(const struct plim_step *step, const struct plim_step_shape *shape)
{
    struct plim_step_point far = { { 0 } };
    for (uint32_t v = 0; v < step->n_variables; v++)
        far.value[v] = UINT64_MAX;
    for (uint32_t i = 0; i < shape->n_sizes; i++) {
        const struct plim_step_size *size = &shape->sizes[i];
        bool has_minus = false;
        for (uint32_t k = 0; k < size->n_terms; k++)
            has_minus |= shape->terms[size->first_term + k].coefficient < 0;
        const uint64_t here = plim_step_size_bytes(shape, i, &shape->points[0]);
        FUZZ_REQUIRE(has_minus || size->is_rest || plim_step_size_bytes(shape, i, &far) >= here);
    }
}

static void replay(const struct plim_step *step)
{
    struct plim_torch_conditions conditions = { .capacity_bytes = UINT64_C(24) << 30 };
    struct plim_torch_evaluation evaluation;
    struct plim_error error = { 0 };
    plim_torch_settings_init(&conditions.settings);
    for (size_t i = 0; i < 2 * step->n_shapes && i < 4; i++) {
        struct plim_step_point point = step->shapes[i / 2].points[0];
        point.value[0] += step->n_variables && i % 2; /* recorded, and beside it */
        const int result = plim_torch_step_evaluate(step, &point, &conditions, &evaluation, &error);
        FUZZ_REQUIRE(result == 0 || (error.code == result && error.what[0]));
        FUZZ_REQUIRE(result < 0 || evaluation.reserved_peak_bytes <= conditions.capacity_bytes);
        error = (struct plim_error){ 0 };
    }
}

static void show(const struct plim_step *step)
{
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    FUZZ_REQUIRE(nowhere && plim_report_step_json(nowhere, "run.step", step));
}

static void read_one(const uint8_t *data, size_t size)
{
    struct plim_cursor cursor = plim_cursor(data, size);
    struct plim_error error = { 0 };
    struct plim_step step;
    unsigned char *bytes;
    size_t n;
    const int result = plim_step_read_bytes(&cursor, &step, &error);
    if (result < 0) {
        FUZZ_REQUIRE(error.code == result && error.what[0] && error.at <= size);
        return;
    }
    FUZZ_REQUIRE(plim_step_encode(&step, &bytes, &n, &error) == 0);
    FUZZ_REQUIRE(n == size && !memcmp(bytes, data, size));
    plim_free(bytes);
    for (size_t i = 0; i < step.n_shapes; i++)
        look_at_sizes(&step, &step.shapes[i]);
    replay(&step);
    show(&step);
    plim_step_done(&step);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_one(data, size);
    if (size < PLIM_STEP_SUM_BYTES)
        return 0;
    /* Once more with the check sum that fits, as one who means harm would write it. */
    uint8_t *copy = malloc(size);
    uint64_t sum = PLIM_STEP_SUM_START;
    FUZZ_REQUIRE(copy);
    memcpy(copy, data, size - PLIM_STEP_SUM_BYTES);
    for (size_t i = 0; i < size - PLIM_STEP_SUM_BYTES; i++)
        sum = plim_step_sum(sum, data[i]);
    for (unsigned i = 0; i < PLIM_STEP_SUM_BYTES; i++)
        copy[size - PLIM_STEP_SUM_BYTES + i] = (uint8_t)(sum >> 8 * i);
    read_one(copy, size);
    free(copy);
    return 0;
}
