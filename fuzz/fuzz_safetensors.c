/* SPDX-License-Identifier: MIT */
/*
 * The readers of checkpoints: safetensors headers and their index. Any bytes either give tensors within their bounds,
 * or an error with its reason. (config.json: fuzz_hf_config.c)
 */
#include "fuzz.h"

#include "model/safetensors.h"

#include <string.h>

static void expect_error(int result, const struct plim_error *error)
{
    FUZZ_REQUIRE(result < 0 && error->code == result && error->what[0] != '\0');
    FUZZ_REQUIRE(plim_error_exit_status(result) == 3);
}

static void read_header(const uint8_t *data, size_t size, uint64_t file_bytes)
{
    struct plim_error error = { 0 };
    size_t n;
    uint64_t sum_bytes = 0;
    struct plim_model *model = plim_model_new("");
    if (!model)
        return;
    int result = plim_safetensors_read(model, plim_cursor(data, size), file_bytes, &error);
    if (result == 0) {
        const struct plim_tensor *tensors = plim_model_tensors(model, &n);
        const uint64_t data_at = plim_model_shard(model, 0)->data_at;
        FUZZ_REQUIRE(data_at <= size);
        for (size_t i = 0; i < n; i++) {
            FUZZ_REQUIRE(plim_model_tensor(model, tensors[i].name) == &tensors[i]);
            FUZZ_REQUIRE(plim_dtype_safetensors_name(tensors[i].type) && tensors[i].n_dims <= PLIM_MAX_DIMS);
            FUZZ_REQUIRE(tensors[i].offset + tensors[i].bytes <= file_bytes - data_at);
            sum_bytes += tensors[i].bytes;
        }
        FUZZ_REQUIRE(data_at + sum_bytes == file_bytes && sum_bytes == plim_model_tensor_bytes(model));
    } else {
        expect_error(result, &error);
    }
    plim_model_free(model);
}

static void read_index(const uint8_t *data, size_t size)
{
    struct plim_error error = { 0 };
    struct plim_safetensors_index index;
    int result = plim_safetensors_index_read(plim_cursor(data, size), &index, &error);
    if (result < 0)
        expect_error(result, &error);
    for (size_t i = 0; i < index.n_files && result == 0; i++) {
        FUZZ_REQUIRE(index.files[i][0] && !strchr(index.files[i], '/') && index.files[i][0] != '.');
        FUZZ_REQUIRE(i == 0 || strcmp(index.files[i - 1], index.files[i]) < 0);
    }
    plim_safetensors_index_done(&index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_header(data, size, size);
    read_header(data, size, FUZZ_FILE_BYTES);
    read_index(data, size);
    /* as if its length were right and the weights were there */
    if (size >= 8) {
        uint8_t *copy = malloc(size);
        if (!copy)
            return 0;
        memcpy(copy, data, size);
        for (int i = 0; i < 8; i++)
            copy[i] = (uint8_t)((uint64_t)(size - 8) >> 8 * i);
        for (uint64_t data_bytes = 0; data_bytes <= 24; data_bytes += 2)
            read_header(copy, size, size + data_bytes);
        free(copy);
    }
    return 0;
}
