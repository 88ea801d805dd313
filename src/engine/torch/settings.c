/* SPDX-License-Identifier: MIT */
#include "engine/torch/settings.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 64, LEAST_SPLIT_MIB = 20, LARGEST_MIB = 1 << 24 };

void plim_torch_settings_init(struct plim_torch_settings *settings)
{
    *settings = (struct plim_torch_settings){
        .max_split_bytes = UINT64_MAX,
        .max_non_split_rounding_bytes = PLIM_TORCH_LARGE_SEGMENT_BYTES,
        .large_segment_bytes = PLIM_TORCH_LARGE_SEGMENT_BYTES,
    };
}

/* --- sizes --- */

static unsigned floor_log2(uint64_t value) { return 63 - (unsigned)__builtin_clzll(value | 1); }

static uint32_t divisions_of(const struct plim_torch_settings *settings, uint64_t bytes)
{
    const unsigned log2 = floor_log2(bytes);
    const unsigned index = log2 < 20 ? 0 : log2 - 20;
    return settings->divisions[index < PLIM_TORCH_N_DIVISIONS ? index : PLIM_TORCH_N_DIVISIONS - 1];
}

/* The next step when the way from one power of two to the next has `divisions` steps. */
static uint64_t round_to_division(uint64_t bytes, uint32_t divisions)
{
    const uint64_t power = UINT64_C(1) << floor_log2(bytes);
    const uint64_t step = power >> floor_log2(divisions);
    if (bytes == power)
        return bytes;
    return step ? plim_align_up(bytes, step) : 2 * power;
}

uint64_t plim_torch_round(const struct plim_torch_settings *settings, uint64_t requested_bytes)
{
    if (requested_bytes < PLIM_TORCH_BLOCK_BYTES)
        return PLIM_TORCH_BLOCK_BYTES;
    const uint32_t divisions = divisions_of(settings, requested_bytes);
    if (divisions > 1 && requested_bytes > PLIM_TORCH_BLOCK_BYTES * divisions)
        return round_to_division(requested_bytes, divisions);
    return (requested_bytes + PLIM_TORCH_BLOCK_BYTES - 1) & ~(PLIM_TORCH_BLOCK_BYTES - 1);
}

uint64_t plim_torch_segment_bytes(const struct plim_torch_settings *settings, uint64_t block_bytes)
{
    if (block_bytes <= PLIM_TORCH_SMALL_BYTES)
        return PLIM_TORCH_SMALL_SEGMENT_BYTES;
    if (block_bytes < PLIM_TORCH_OWN_SEGMENT_BYTES)
        return settings->large_segment_bytes;
    return plim_align_up(block_bytes, PLIM_TORCH_SEGMENT_STEP_BYTES);
}

/* --- the text --- */

/* Words, and the signs : , [ ] one by one; blanks do not count. */
struct tokens {
    const char *at;
    char word[WORD_BYTES];
};

static bool next_token(struct tokens *tokens)
{
    static const char signs[] = ":,[]";
    size_t n = 0;
    tokens->at += strspn(tokens->at, " \t\n");
    if (*tokens->at && strchr(signs, *tokens->at))
        tokens->word[n++] = *tokens->at++;
    else
        while (*tokens->at && !strchr(signs, *tokens->at) && !strchr(" \t\n", *tokens->at) && n < WORD_BYTES - 1)
            tokens->word[n++] = *tokens->at++;
    tokens->word[n] = '\0';
    return n > 0;
}

static bool is_next(struct tokens *tokens, const char *word)
{
    return next_token(tokens) && strcmp(tokens->word, word) == 0;
}

static bool next_number(struct tokens *tokens, uint64_t *ret_value)
{
    char *end;
    if (!next_token(tokens) || tokens->word[0] < '0' || tokens->word[0] > '9')
        return false;
    *ret_value = strtoull(tokens->word, &end, 10);
    return *end == '\0';
}

static int refuse(struct tokens *tokens, const char *key, const char *wanted, struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_USAGE, 0, "invalid value '%s' for %s: PyTorch wants %s", tokens->word, key, wanted);
}

static int read_mib(struct tokens *tokens, const char *key, uint64_t least_mib, uint64_t *ret_bytes,
                    struct plim_error *reterr)
{
    uint64_t mib;
    if (!next_number(tokens, &mib) || mib < least_mib || mib > LARGEST_MIB)
        return refuse(tokens, key, least_mib > 1 ? "20 MB or more" : "a number of MB", reterr);
    *ret_bytes = mib * PLIM_MIB;
    return 0;
}

static int read_ratio(struct tokens *tokens, const char *key, bool may_be_one, double *ret_ratio,
                      struct plim_error *reterr)
{
    const char *end = "";
    const double ratio = next_token(tokens) ? plim_decimal(tokens->word, &end) : 0;
    if (!(ratio > 0) || ratio > 1 || (ratio >= 1 && !may_be_one) || *end != '\0')
        return refuse(tokens, key, "a number between 0 and 1", reterr);
    *ret_ratio = ratio;
    return 0;
}

static int read_truth(struct tokens *tokens, const char *key, bool *ret_truth, struct plim_error *reterr)
{
    if (!next_token(tokens) || (strcmp(tokens->word, "True") != 0 && strcmp(tokens->word, "False") != 0))
        return refuse(tokens, key, "True or False", reterr);
    *ret_truth = tokens->word[0] == 'T';
    return 0;
}

static bool is_power_of_two(uint64_t value) { return value && !(value & (value - 1)); }

/*
 * [256:1,512:2,>:4]: the first key is for smaller sizes too, ">" for all that follow the key before it. (PyTorch up
 * to 2.8 lets ">" overwrite the key before it; a snapshot says what each size class has.)
 */
static int read_division_list(struct plim_torch_settings *settings, struct tokens *tokens, struct plim_error *reterr)
{
    static const char key[] = "roundup_power2_divisions";
    unsigned last = 0;
    for (unsigned n = 0;; n++) {
        uint64_t mib = 0, divisions;
        const bool is_rest = next_token(tokens) && strcmp(tokens->word, ">") == 0;
        if (!is_rest)
            mib = strtoull(tokens->word, NULL, 10);
        if ((!is_rest && !is_power_of_two(mib)) || !is_next(tokens, ":") || !next_number(tokens, &divisions) ||
            divisions > 1 << 20 || (divisions && !is_power_of_two(divisions)))
            return refuse(tokens, key, "powers of two: [256:1,512:2,>:4]", reterr);
        const unsigned index = is_rest ? last + (n > 0) : floor_log2(mib);
        const unsigned from = n == 0 ? 0 : index;
        const unsigned to = is_rest ? PLIM_TORCH_N_DIVISIONS - 1 : index;
        for (unsigned i = from; i <= to && i < PLIM_TORCH_N_DIVISIONS; i++)
            settings->divisions[i] = (uint32_t)divisions;
        last = index;
        if (!next_token(tokens) || (tokens->word[0] != ',' && tokens->word[0] != ']'))
            return refuse(tokens, key, "a closed list", reterr);
        if (tokens->word[0] == ']')
            return 0;
    }
}

static int read_divisions(struct plim_torch_settings *settings, struct tokens *tokens, struct plim_error *reterr)
{
    struct tokens ahead = *tokens;
    uint64_t divisions;
    if (is_next(&ahead, "[")) {
        *tokens = ahead;
        return read_division_list(settings, tokens, reterr);
    }
    if (!next_number(tokens, &divisions) || divisions > 1 << 20 || (divisions && !is_power_of_two(divisions)))
        return refuse(tokens, "roundup_power2_divisions", "a power of two", reterr);
    for (unsigned i = 0; i < PLIM_TORCH_N_DIVISIONS; i++)
        settings->divisions[i] = (uint32_t)divisions;
    return 0;
}

static int read_backend(struct tokens *tokens, struct plim_error *reterr)
{
    if (is_next(tokens, "native"))
        return 0;
    if (strcmp(tokens->word, "cudaMallocAsync") != 0)
        return refuse(tokens, "backend", "native or cudaMallocAsync", reterr);
    plim_fail(reterr, PLIM_E_UNSUPPORTED, 0, "backend:cudaMallocAsync is a pool of the driver: it is not replayed");
    return PLIM_E_UNSUPPORTED;
}

/* Keys of pinned host memory and of locks, and what they may be: they change no byte of device memory. */
static const char *const other_keys =
    "pinned_use_background_threads pinned_use_cuda_host_register pinned_num_register_threads "
    "pinned_reserve_segment_size_mb pinned_max_round_threshold_mb pinned_max_cached_size_mb "
    "pinned_use_hip_host_register release_lock_on_cudamalloc release_lock_on_hipmalloc "
    "graph_capture_record_stream_reuse";

static int read_value(struct plim_torch_settings *settings, const char *key, struct tokens *tokens,
                      struct plim_error *reterr)
{
    if (strcmp(key, "max_split_size_mb") == 0)
        return read_mib(tokens, key, LEAST_SPLIT_MIB, &settings->max_split_bytes, reterr);
    if (strcmp(key, "max_non_split_rounding_mb") == 0)
        return read_mib(tokens, key, LEAST_SPLIT_MIB, &settings->max_non_split_rounding_bytes, reterr);
    if (strcmp(key, "large_segment_size_mb") == 0)
        return read_mib(tokens, key, 1, &settings->large_segment_bytes, reterr);
    if (strcmp(key, "garbage_collection_threshold") == 0)
        return read_ratio(tokens, key, false, &settings->gc_threshold, reterr);
    if (strcmp(key, "per_process_memory_fraction") == 0)
        return read_ratio(tokens, key, true, &settings->fraction, reterr);
    if (strcmp(key, "expandable_segments") == 0)
        return read_truth(tokens, key, &settings->is_expandable, reterr);
    if (strcmp(key, "roundup_power2_divisions") == 0)
        return read_divisions(settings, tokens, reterr);
    if (strcmp(key, "backend") == 0)
        return read_backend(tokens, reterr);
    if (plim_text_has_word(other_keys, key))
        return next_token(tokens) ? 0 : refuse(tokens, key, "a value", reterr);
    return plim_fail(reterr, PLIM_E_USAGE, 0, "unknown setting '%s' of PyTorch's allocator", key);
}

int plim_torch_settings_parse(struct plim_torch_settings *settings, const char *text, struct plim_error *reterr)
{
    struct plim_torch_settings changed = *settings;
    struct tokens tokens = { .at = text };
    while (next_token(&tokens)) {
        char key[WORD_BYTES];
        if (tokens.word[0] == ',')
            continue;
        memcpy(key, tokens.word, sizeof key);
        if (!is_next(&tokens, ":"))
            return plim_fail(reterr, PLIM_E_USAGE, 0, "'%s' has no value: settings are written key:value", key);
        const int result = read_value(&changed, key, &tokens, reterr);
        if (result < 0)
            return result;
    }
    *settings = changed;
    return 0;
}
