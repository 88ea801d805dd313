/* SPDX-License-Identifier: MIT */
#include "llama_params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields in the order of llama.h: p a pointer or size, i 32 bits, b a bool. */
#define CALLBACKS      "progress_callback:p progress_callback_user_data:p kv_overrides:p "
#define DEVICES        "devices:p tensor_buft_overrides:p "
#define SPLIT          "n_gpu_layers:i split_mode:i "
#define LOADING_BEFORE "vocab_only:b use_mmap:b use_mlock:b check_tensors:b "
#define LOADING        "vocab_only:b check_tensors:b use_extra_bufts:b no_host:b no_alloc:b load_mtp:b "
#define SIZES          "n_ctx:i n_batch:i n_ubatch:i n_seq_max:i "
#define THREADS        "n_threads:i n_threads_batch:i "
#define YARN                                                                                                           \
    "rope_freq_base:i rope_freq_scale:i yarn_ext_factor:i yarn_attn_factor:i yarn_beta_fast:i yarn_beta_slow:i "       \
    "yarn_orig_ctx:i defrag_thold:i cb_eval:p cb_eval_user_data:p type_k:i type_v:i "
#define ROPE     "rope_scaling_type:i pooling_type:i attention_type:i "
#define ABORT    "abort_callback:p abort_callback_data:p "
#define SAMPLERS "samplers:p n_samplers:p "
#define OUTPUTS  SIZES "n_rs_seq:i n_outputs_max:i "
#define SWITCHES "embeddings:b offload_kqv:b no_perf:b op_offload:b swa_full:b kv_unified:b "

static const struct params_layout layouts[] = {
    { 3995, SPLIT "main_gpu:i tensor_split:p rpc_servers:p " CALLBACKS LOADING_BEFORE,
      SIZES THREADS ROPE YARN "logits_all:b embeddings:b offload_kqv:b flash_attn:b no_perf:b " ABORT },
    { 4753, "devices:p " SPLIT "main_gpu:i tensor_split:p " CALLBACKS LOADING_BEFORE,
      SIZES THREADS ROPE YARN "logits_all:b embeddings:b offload_kqv:b flash_attn:b no_perf:b " ABORT },
    { 5590, DEVICES SPLIT "main_gpu:i tensor_split:p " CALLBACKS LOADING_BEFORE,
      SIZES THREADS ROPE YARN ABORT "embeddings:b offload_kqv:b flash_attn:b no_perf:b op_offload:b swa_full:b " },
    { 6133, DEVICES SPLIT "main_gpu:i tensor_split:p " CALLBACKS LOADING_BEFORE "use_extra_bufts:b ",
      SIZES THREADS ROPE YARN ABORT "embeddings:b offload_kqv:b flash_attn:b no_perf:b op_offload:b swa_full:b "
                                    "kv_unified:b " },
    { 6845, DEVICES SPLIT "main_gpu:i tensor_split:p " CALLBACKS LOADING_BEFORE "use_extra_bufts:b no_host:b ",
      SIZES THREADS ROPE "flash_attn_type:i " YARN ABORT SWITCHES },
    { 7698,
      DEVICES SPLIT "main_gpu:i tensor_split:p " CALLBACKS "vocab_only:b use_mmap:b use_direct_io:b use_mlock:b "
                    "check_tensors:b use_extra_bufts:b no_host:b no_alloc:b ",
      SIZES THREADS ROPE "flash_attn_type:i " YARN ABORT SWITCHES SAMPLERS },
    { 9842,
      DEVICES SPLIT "main_gpu:i tensor_split:p " CALLBACKS "vocab_only:b use_mmap:b use_direct_io:b use_mlock:b "
                    "check_tensors:b use_extra_bufts:b no_host:b no_alloc:b ",
      OUTPUTS THREADS "ctx_type:i " ROPE "flash_attn_type:i " YARN ABORT SWITCHES SAMPLERS "ctx_other:p " },
    { 10361, DEVICES SPLIT "load_mode:i main_gpu:i tensor_split:p " CALLBACKS LOADING,
      OUTPUTS "n_outputs_max_per_seq:i " THREADS "ctx_type:i " ROPE "flash_attn_type:i " YARN ABORT SWITCHES SAMPLERS
              "ctx_other:p " },
    /* v0.5.0; unchanged from v0.4.1 to v0.6.0 */
    { 10508, DEVICES SPLIT "load_mode:i lazy_mode:i main_gpu:i tensor_split:p " CALLBACKS LOADING,
      OUTPUTS "n_outputs_max_per_seq:i " THREADS "ctx_type:i " ROPE "flash_attn_type:i " YARN ABORT SWITCHES SAMPLERS
              "ctx_other:p " },
};

const struct params_layout *params_layout_of(const char *directory)
{
    char path[4096], text[4096] = "";
    const size_t n_layouts = sizeof layouts / sizeof *layouts;
    snprintf(path, sizeof path, "%s/_nlcBuildMetadata.json", directory);
    FILE *file = fopen(path, "r");
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    const char *release = strstr(text, "\"release\":\"b");
    if (!release)
        return &layouts[n_layouts - 1];
    const int build = atoi(strchr(release, 'b') + 1);
    const struct params_layout *found = NULL;
    for (size_t i = 0; i < n_layouts; i++)
        if (layouts[i].first_build <= build)
            found = &layouts[i];
    return found;
}

/* Where a field is and its size; false when there is none. */
static bool find(const char *layout, const char *field, size_t *ret_at, size_t *ret_bytes)
{
    const size_t length = strlen(field);
    size_t at = 0;
    for (const char *word = layout; *word; word = strchr(word, ' ') + 1) {
        const char *colon = strchr(word, ':');
        const size_t bytes = colon[1] == 'p' ? 8 : colon[1] == 'i' ? 4 : 1;
        at = (at + bytes - 1) / bytes * bytes;
        if ((size_t)(colon - word) == length && !strncmp(word, field, length)) {
            *ret_at = at;
            *ret_bytes = bytes;
            return true;
        }
        at += bytes;
    }
    return false;
}

bool params_set(void *params, const char *layout, const char *field, int64_t value)
{
    size_t at, bytes;
    if (!find(layout, field, &at, &bytes))
        return false;
    memcpy((unsigned char *)params + at, &value, bytes); /* the machine is little-endian, as the package is */
    return true;
}

bool params_set_pointer(void *params, const char *layout, const char *field, const void *value)
{
    return params_set(params, layout, field, (int64_t)(intptr_t)value);
}

int64_t params_get(const void *params, const char *layout, const char *field)
{
    size_t at, bytes;
    int64_t value = 0;
    if (find(layout, field, &at, &bytes))
        memcpy(&value, (const unsigned char *)params + at, bytes);
    return value;
}
