/* SPDX-License-Identifier: MIT */
/*
 * config.json. Any bytes either give hyperparameters and, of the families that are known, the tensors of a checkpoint
 * that our own reader takes; or an error with its reason. Every key can be read as every type. Either part of the model
 * converts to a GGUF that can be quantized, or gives an error with its reason.
 */
#include "fuzz.h"

#include "base/limits.h"
#include "emit/checkpoint.h"
#include "model/hf_config.h"
#include "model/safetensors.h"
#include "plimsoll/convert.h"
#include "plimsoll/quant_recipe.h"

#include <string.h>

enum { MAX_HEAD_BYTES = 1 << 20 }; /* larger ones take long */

static void expect_error(int result, const struct plim_error *error)
{
    FUZZ_REQUIRE(result < 0 && error->code == result && error->what[0] != '\0');
    FUZZ_REQUIRE(plim_error_exit_status(result) == 3);
}

static void ask(const struct plim_model *model)
{
    const struct plim_hyperparameters *hp = plim_model_hyperparameters(model);
    uint64_t number;
    int64_t numbers[8];
    double real;
    bool truth;
    FUZZ_REQUIRE(hp->n_layer <= 1 << 30 && hp->n_vocab <= 1 << 30 && plim_model_arch(model));
    for (size_t i = 0; i < model->n_keys; i++) {
        const char *key = model->keys[i].name;
        FUZZ_REQUIRE(i == 0 || strcmp(model->keys[i - 1].name, key) < 0);
        FUZZ_REQUIRE(*key && strlen(key) <= PLIM_MAX_CONFIG_KEY_BYTES);
        plim_model_u64(model, key, &number);
        plim_model_f64(model, key, &real);
        plim_model_bool(model, key, &truth);
        plim_model_string(model, key);
        FUZZ_REQUIRE(plim_model_array(model, key, numbers, 8) <= plim_model_array_length(model, key));
    }
}

/* The file that a config implies is one that our own reader accepts. */
static void check_head(const struct plim_model *model)
{
    struct plim_error error = { 0 };
    struct plim_checkpoint_head head;
    struct plim_model *read = plim_model_new("");
    int result = plim_checkpoint_head_write(model, &head, &error);
    FUZZ_REQUIRE(result == 0 && read);
    if (head.n_bytes < MAX_HEAD_BYTES) {
        result = plim_safetensors_read(read, plim_cursor(head.bytes, head.n_bytes), head.file_bytes, &error);
        FUZZ_REQUIRE(result == 0 && read->n_tensors == model->n_tensors);
        FUZZ_REQUIRE(plim_model_n_params(read) == plim_model_n_params(model));
    }
    plim_checkpoint_head_done(&head);
    plim_model_free(read);
}

static void check_tensors(const struct plim_model *gguf)
{
    for (size_t i = 0; i < gguf->n_tensors; i++) {
        const struct plim_tensor *t = &gguf->tensors[i];
        FUZZ_REQUIRE(t->n_dims >= 1 && t->n_dims <= 4 && t->bytes > 0 && t->bytes <= PLIM_MAX_MODEL_BYTES);
        FUZZ_REQUIRE(plim_model_tensor(gguf, t->name) == t);
    }
}

/* The GGUF that a config becomes. */
static void check_conversion(struct plim_model *model, enum plim_convert_part part)
{
    const struct plim_convert_options options = { .part = part };
    struct plim_error error = { 0 };
    struct plim_model *gguf = NULL, *small = NULL;
    model->format = PLIM_FORMAT_HF_CONFIG;
    int result = plim_convert(model, &options, &gguf, &error);
    if (result == 0) {
        check_tensors(gguf);
        FUZZ_REQUIRE(plim_model_forecast(gguf) != PLIM_FORECAST_NONE && plim_model_arch(gguf)[0]);
        result = plim_model_requantize(gguf, "Q4_K_M", &small, &error);
        FUZZ_REQUIRE(result < 0 || small->n_tensors == gguf->n_tensors);
    }
    if (result < 0)
        expect_error(result, &error);
    plim_model_free(small);
    plim_model_free(gguf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plim_error error = { 0 };
    struct plim_model *model = plim_model_new("");
    if (!model)
        return 0;
    int result = plim_hf_config_read(model, plim_cursor(data, size), &error);
    if (result == 0) {
        ask(model);
        check_conversion(model, PLIM_CONVERT_LANGUAGE);
        check_conversion(model, PLIM_CONVERT_PROJECTOR);
        result = plim_hf_tensors_add(model, &error);
        FUZZ_REQUIRE(result == 0 || model->n_tensors == 0);
        if (result == 0)
            result = plim_model_index(model, &error);
        if (result == 0)
            check_head(model);
    }
    if (result < 0)
        expect_error(result, &error);
    plim_model_free(model);
    return 0;
}
