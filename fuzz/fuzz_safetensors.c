/* SPDX-License-Identifier: MIT */
/*
 * The readers of checkpoints: safetensors headers, their index, and config.json. Any bytes either give what keeps its
 * promises, or an error that says why.
 */
#include "fuzz.h"

#include "emit/checkpoint.h"
#include "model/safetensors.h"

#include <string.h>

static void expect_error(int result, const struct plim_error *error)
{
    FUZZ_REQUIRE(result < 0 && error->code == result && error->what[0] != '\0');
    FUZZ_REQUIRE(plim_error_exit_status(result) == 3);
}

static uint64_t read_header(const uint8_t *data, size_t size, uint64_t file_bytes)
{
    struct plim_error error = { 0 };
    struct plim_safetensors header;
    uint64_t sum_bytes = 0, n = 0;
    int result = plim_safetensors_read(plim_cursor(data, size), file_bytes, &header, &error);
    if (result == 0) {
        FUZZ_REQUIRE(header.header_bytes <= size);
        for (size_t i = 0; i < header.n_tensors; i++) {
            const struct plim_safetensor *tensor = &header.tensors[i];
            FUZZ_REQUIRE(tensor->name && plim_safetensors_type_bits(tensor->type) && tensor->end >= tensor->begin);
            FUZZ_REQUIRE(tensor->n_dims <= PLIM_MAX_SAFETENSORS_DIMS && tensor->end <= file_bytes);
            sum_bytes += tensor->end - tensor->begin;
        }
        FUZZ_REQUIRE(header.header_bytes + sum_bytes == file_bytes);
        n = header.n_tensors;
    } else {
        expect_error(result, &error);
    }
    plim_safetensors_done(&header);
    return n;
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

/* What a config describes is a file that our own reader takes. */
static void read_config(const uint8_t *data, size_t size)
{
    struct plim_error error = { 0 };
    struct plim_hf_checkpoint checkpoint;
    int result = plim_hf_checkpoint_describe(data, size, &checkpoint, &error);
    if (result < 0)
        expect_error(result, &error);
    else if (checkpoint.head_bytes < 1 << 20) /* larger ones take long */
        FUZZ_REQUIRE(read_header((const uint8_t *)checkpoint.head, checkpoint.head_bytes, checkpoint.file_bytes) ==
                     checkpoint.n_tensors);
    plim_hf_checkpoint_done(&checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_header(data, size, size);
    read_header(data, size, FUZZ_FILE_BYTES);
    read_index(data, size);
    read_config(data, size);
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
