/* SPDX-License-Identifier: MIT */
/* The GGUF reader: any bytes either give a model that answers every question, or an error with its reason. */
#include "fuzz.h"

#include "plimsoll/model.h"

static void ask(const struct plim_model *model)
{
    static const char *const keys[] = { "general.alignment",
                                        "general.name",
                                        "general.file_type",
                                        "split.count",
                                        "llama.block_count",
                                        "tokenizer.ggml.tokens",
                                        "" };
    size_t n_tensors;
    uint64_t sum_bytes = 0, number;
    int64_t numbers[8];
    double real;
    bool truth;
    const struct plim_tensor *tensors = plim_model_tensors(model, &n_tensors);
    for (size_t i = 0; i < n_tensors; i++) {
        FUZZ_REQUIRE(plim_model_tensor(model, tensors[i].name) == &tensors[i]);
        sum_bytes += tensors[i].bytes;
    }
    FUZZ_REQUIRE(sum_bytes == plim_model_tensor_bytes(model));
    FUZZ_REQUIRE(plim_model_arch(model)[0] != '\0');
    FUZZ_REQUIRE(plim_model_name(model) != NULL);
    FUZZ_REQUIRE(plim_model_n_shards(model) == 1);
    plim_model_file_type(model);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        plim_model_u64(model, keys[i], &number);
        plim_model_f64(model, keys[i], &real);
        plim_model_bool(model, keys[i], &truth);
        plim_model_string(model, keys[i]);
        FUZZ_REQUIRE(plim_model_array(model, keys[i], numbers, 8) <= plim_model_array_length(model, keys[i]));
    }
}

static void read_as_file_of(const uint8_t *data, size_t size, uint64_t file_bytes)
{
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    int result = plim_model_read(data, size, file_bytes, &model, &error);
    if (result == 0) {
        ask(model);
        plim_model_free(model);
        return;
    }
    FUZZ_REQUIRE(model == NULL && error.code == result);
    FUZZ_REQUIRE(error.what[0] != '\0' && plim_error_exit_status(result) == 3);
    FUZZ_REQUIRE(error.at == PLIM_NO_OFFSET || error.at < UINT64_MAX / 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as_file_of(data, size, size);
    read_as_file_of(data, size, FUZZ_FILE_BYTES); /* as if the weights were there */
    return 0;
}
