/* SPDX-License-Identifier: MIT */
/* The model in one GGUF file, or in several that were split: their tensors, and what the first file's keys mean. */
#include "model/gguf.h"

#include "base/limits.h"
#include "base/numbers.h"
#include "model/ggml_type.h"
#include "source/file.h"
#include "source/gguf_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096, KEY_BYTES = 160, MAX_COUNT = 1 << 30 };

/* --- kind and name --- */

/* Architectures of files that only work beside a target model (llama-arch.cpp at v0.5.0). */
static bool is_draft_arch(const char *arch)
{
    static const char *const drafts[] = { "eagle3", "dflash", "gemma4-assistant" };
    for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++)
        if (!strcmp(arch, drafts[i]))
            return true;
    return false;
}

static enum plim_model_kind kind_of(const struct plim_model *model)
{
    const char *type = plim_model_string(model, "general.type");
    if ((type && !strcmp(type, "mmproj")) || !strcmp(model->arch, "clip"))
        return PLIM_MODEL_PROJECTOR;
    if ((type && !strcmp(type, "adapter")) || plim_model_string(model, "adapter.type"))
        return PLIM_MODEL_ADAPTER;
    if (is_draft_arch(model->arch))
        return PLIM_MODEL_DRAFT;
    return !type || !strcmp(type, "model") ? PLIM_MODEL_LANGUAGE : PLIM_MODEL_UNKNOWN;
}

/* The file name without directory, split suffix and ".gguf". */
static char *name_of_path(struct plim_arena *arena, const char *path)
{
    uint32_t part, count;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (plim_split_parse(path, &part, &count))
        length -= length < PLIM_SPLIT_SUFFIX ? length : PLIM_SPLIT_SUFFIX;
    else if (length > 5 && !strcmp(name + length - 5, ".gguf"))
        length -= 5;
    return plim_arena_copy(arena, name, length);
}

static const char *file_type_of(const struct plim_model *model)
{
    uint64_t file_type;
    if (!plim_model_u64(model, "general.file_type", &file_type) || file_type > UINT32_MAX)
        return NULL;
    return plim_gguf_file_type_name((uint32_t)file_type);
}

/* --- hyperparameters --- */

static const char *full_key(const struct plim_model *model, char key[KEY_BYTES], const char *name)
{
    snprintf(key, KEY_BYTES, "%.96s.%s", model->arch, name);
    return key;
}

/* A number, or the largest of a list with one for each layer; 0 when there is none. */
static uint32_t count_of(const struct plim_model *model, const char *name)
{
    char key[KEY_BYTES];
    int64_t layers[PLIM_MAX_LAYERS];
    uint64_t number = 0;
    const size_t n = plim_model_array(model, full_key(model, key, name), layers, PLIM_MAX_LAYERS);
    for (size_t i = 0; i < n; i++)
        number = plim_max_u64(number, layers[i] > 0 ? (uint64_t)layers[i] : 0);
    if (n == 0 && !plim_model_u64(model, key, &number))
        return 0;
    return number <= MAX_COUNT ? (uint32_t)number : 0;
}

/* The first of two keys that says something. */
static uint32_t either(const struct plim_model *model, const char *name, const char *other, uint32_t otherwise)
{
    const uint32_t count = count_of(model, name), more = count ? count : count_of(model, other);
    return more ? more : otherwise;
}

/* The keys are those of gguf-py/gguf/constants.py of llama.cpp v0.5.0. */
static void fill_hyperparameters(struct plim_model *model)
{
    char key[KEY_BYTES];
    struct plim_hyperparameters *hp = &model->hyperparameters;
    hp->n_layer = count_of(model, "block_count");
    hp->n_embd = count_of(model, "embedding_length");
    hp->n_head = count_of(model, "attention.head_count");
    hp->n_head_kv = either(model, "attention.head_count_kv", "attention.head_count", 0);
    const uint32_t share = hp->n_head ? hp->n_embd / hp->n_head : 0;
    hp->n_embd_head_k = either(model, "attention.key_length_mla", "attention.key_length", share);
    hp->n_embd_head_v = either(model, "attention.value_length_mla", "attention.value_length", share);
    hp->n_embd_kv_lora = count_of(model, "attention.kv_lora_rank");
    hp->n_ff = count_of(model, "feed_forward_length");
    hp->n_ff_expert = count_of(model, "expert_feed_forward_length");
    hp->n_vocab = count_of(model, "vocab_size");
    if (hp->n_vocab == 0)
        hp->n_vocab = (uint32_t)plim_min_u64(plim_model_array_length(model, "tokenizer.ggml.tokens"), MAX_COUNT);
    hp->n_ctx_train = count_of(model, "context_length");
    hp->n_expert = count_of(model, "expert_count");
    hp->n_expert_used = count_of(model, "expert_used_count");
    hp->n_expert_shared = count_of(model, "expert_shared_count");
    hp->n_swa = count_of(model, "attention.sliding_window");
    plim_model_f64(model, full_key(model, key, "rope.freq_base"), &hp->rope_freq_base);
    plim_model_f64(model, full_key(model, key, "rope.scaling.factor"), &hp->rope_scale);
    hp->rope_scaling = plim_model_string(model, full_key(model, key, "rope.scaling.type"));
    hp->has_tie_word_embeddings = plim_model_tensor(model, "token_embd.weight") != NULL;
    hp->tie_word_embeddings = hp->has_tie_word_embeddings && !plim_model_tensor(model, "output.weight");
}

static int describe(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    const char *arch = plim_model_string(model, "general.architecture");
    const char *name = plim_model_string(model, "general.name");
    int result = plim_model_copy_text(model, arch, &model->arch, reterr);
    if (result == 0)
        result = plim_model_copy_text(model, name, &model->name, reterr);
    if (result < 0)
        return result;
    if (!model->arch[0]) {
        int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "key 'general.architecture' is missing");
        plim_error_hint(reterr, "this GGUF file is not a model");
        return code;
    }
    model->format = PLIM_FORMAT_GGUF;
    model->kind = kind_of(model);
    model->file_type = file_type_of(model);
    fill_hyperparameters(model);
    if (!model->name[0])
        model->name = name_of_path(&model->arena, path);
    return model->name ? 0 : plim_model_no_room(model, reterr);
}

int plim_gguf_settle(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    int result = plim_model_index(model, reterr);
    return result < 0 ? result : describe(model, path, reterr);
}

/* --- files --- */

/* The first file gives the metadata. */
static int add_file(struct plim_model *model, const char *path, const struct plim_gguf_file *file, uint64_t file_bytes,
                    struct plim_error *reterr)
{
    if (model->n_shards == 0) {
        model->keys = file->keys;
        model->n_keys = file->n_keys;
    }
    if (model->n_tensors > PLIM_MAX_GGUF_TENSORS)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the parts together have too many tensors (%zu)",
                         model->n_tensors);
    return plim_model_add_shard(model, path, file_bytes, file->data_at, reterr);
}

static uint64_t key_or(const struct plim_gguf_file *file, const char *name, uint64_t otherwise)
{
    const struct plim_key *key = plim_key_find(file->keys, file->n_keys, name);
    uint64_t value;
    return key && plim_key_u64(key, &value) ? value : otherwise;
}

/* The file must be the part (from 1) that its name promises. */
static int check_part(const struct plim_gguf_file *file, uint32_t part, uint32_t count, struct plim_error *reterr)
{
    const uint64_t key_count = key_or(file, "split.count", 0), key_part = key_or(file, "split.no", part - 1);
    if (part == 1 && count == 1 && key_count > 1) {
        int code = plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET,
                             "this is part %" PRIu64 " of %" PRIu64 ", but its name does not end in -%05" PRIu64
                             "-of-%05" PRIu64 ".gguf",
                             key_part + 1, key_count, key_part + 1, key_count);
        plim_error_hint(reterr, "rename the parts: llama.cpp finds them by name, and so does Plimsoll");
        return code;
    }
    if (count > 1 && key_count != count)
        return plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                         "the file name says %" PRIu32 " parts, key 'split.count' says %" PRIu64, count, key_count);
    if (key_part != part - 1)
        return plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                         "the file name says part %" PRIu32 ", key 'split.no' says %" PRIu64 " (from 0)", part,
                         key_part);
    return 0;
}

static bool is_same(const struct plim_key *a, const struct plim_key *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == PLIM_VALUE_STRING)
        return !a->string == !b->string && (!a->string || !strcmp(a->string, b->string));
    if (a->type != PLIM_VALUE_ARRAY)
        return a->u == b->u;
    return a->n == b->n && (!a->numbers || !b->numbers || !memcmp(a->numbers, b->numbers, a->n * sizeof *a->numbers));
}

/* Later parts have few keys of their own; a hyperparameter that they repeat must be the first part's. */
static int check_agreement(const struct plim_model *model, const struct plim_gguf_file *file, struct plim_error *reterr)
{
    static const char architecture[] = "general.architecture";
    const char *arch = plim_model_string(model, architecture);
    const size_t n = arch ? strlen(arch) : 0;
    for (size_t i = 0; i < file->n_keys; i++) {
        const struct plim_key *key = &file->keys[i], *first = plim_key_find(model->keys, model->n_keys, key->name);
        const bool counts =
            !strcmp(key->name, architecture) || (n && !strncmp(key->name, arch, n) && key->name[n] == '.');
        if (counts && first && !is_same(key, first))
            return plim_fail(reterr, PLIM_E_CORRUPT, key->at, "key '%.64s' is not that of the first part", key->name);
    }
    return 0;
}

/* Headers of all parts together are bounded: data_at of those already read counts. */
static uint64_t header_budget(const struct plim_model *model)
{
    uint64_t budget = PLIM_MAX_GGUF_HEADER_BYTES;
    for (uint32_t i = 0; i < model->n_shards; i++)
        budget -= plim_min_u64(budget, model->shards[i].data_at);
    return budget;
}

/* Read part `part` (from 1) of `count`; ret_tensors is the tensor count the split promises, 0 if it does not say. */
static int open_part(struct plim_model *model, const char *path, uint32_t part, uint32_t count, uint64_t *ret_tensors,
                     struct plim_error *reterr)
{
    struct plim_file source;
    struct plim_gguf_file file = { 0 };
    int result = plim_files_open(model->files, path, &source, reterr);
    if (result < 0)
        return result;
    const uint64_t file_bytes = source.file_bytes;
    result = plim_gguf_parse(plim_file_cursor(&source, header_budget(model)), file_bytes, model, &file, reterr);
    plim_file_close(&source);
    if (result == 0)
        result = check_part(&file, part, count, reterr);
    if (result == 0)
        result = check_agreement(model, &file, reterr);
    if (result == 0) {
        *ret_tensors = key_or(&file, "split.tensors.count", 0);
        result = add_file(model, path, &file, file_bytes, reterr);
    }
    if (result < 0)
        plim_error_where(reterr, path);
    return result;
}

static int open_parts(struct plim_model *model, const char *given, struct plim_error *reterr)
{
    char path[PATH_BYTES];
    uint32_t part = 1, count = 1;
    uint64_t promised = 0, least = UINT64_MAX, most = 0; /* tensors, by the parts that say */
    bool is_split = plim_split_parse(given, &part, &count);
    if (count > PLIM_MAX_GGUF_SHARDS)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "%" PRIu32 " parts; at most %d are read", count,
                         PLIM_MAX_GGUF_SHARDS);
    for (uint32_t i = 1; i <= count; i++) {
        if (is_split && !plim_split_path(given, i, count, path, sizeof path))
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the path is longer than %d bytes", PATH_BYTES);
        int result = open_part(model, is_split ? path : given, i, count, &promised, reterr);
        if (result == PLIM_E_NOT_FOUND && is_split && i != part && reterr && !reterr->hint[0])
            plim_error_hint(reterr, "all %" PRIu32 " parts of a split model must lie in one directory", count);
        if (result < 0)
            return result;
        least = promised ? plim_min_u64(least, promised) : least;
        most = plim_max_u64(most, promised);
    }
    promised = most != model->n_tensors ? most : least;
    if (most && promised != model->n_tensors) {
        int code = plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                             "key 'split.tensors.count' promises %" PRIu64 " tensors, the parts hold %zu", promised,
                             model->n_tensors);
        plim_error_where(reterr, given);
        return code;
    }
    return 0;
}

int plim_gguf_open(struct plim_model *model, const char *path, struct plim_error *reterr)
{
    int result = open_parts(model, path, reterr);
    return result < 0 ? result : plim_gguf_settle(model, path, reterr);
}

int plim_gguf_read(struct plim_model *model, struct plim_cursor cursor, uint64_t file_bytes, struct plim_error *reterr)
{
    struct plim_gguf_file file;
    int result = plim_gguf_parse(cursor, file_bytes, model, &file, reterr);
    if (result == 0)
        result = add_file(model, "", &file, file_bytes, reterr);
    return result < 0 ? result : plim_gguf_settle(model, "", reterr);
}
