/* SPDX-License-Identifier: MIT */
#include "diagnose/told_size.h"

#include "base/units.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    MOST_BILLIONS = 2000,
    NAME_BYTES = 24,  /* before a size that is of a card: its name */
    AFTER_BYTES = 16, /* behind it: "of VRAM" */
    LEAST_CARD_GIB = 2,
    MOST_CARD_GIB = 288,
};

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Case does not matter. */
static bool has_text(const char *text, size_t size, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= size; i++)
        if (!strncasecmp(text + i, word, n))
            return true;
    return false;
}

/* The number at `*ref_at`, in thousandths; -1: none. Behind it, `*ref_at` is at its end. */
static int64_t read_number(const char *text, size_t size, size_t *ref_at)
{
    int64_t n = 0, unit = 1000;
    size_t i = *ref_at;
    for (; i < size && isdigit((unsigned char)text[i]) && n < 1000000000; i++)
        n = 10 * n + 1000 * (text[i] - '0');
    if (i == *ref_at)
        return -1;
    if (i + 1 < size && text[i] == '.' && isdigit((unsigned char)text[i + 1]))
        for (i++; i < size && isdigit((unsigned char)text[i]); i++)
            n += (unit /= 10) * (text[i] - '0');
    *ref_at = i;
    return n;
}

/* A number begins here: not in a word, a version or another number. "llama3-8B", "Qwen2.5-7B", "codellama:34b" */
static bool begins_number(const char *text, size_t at)
{
    return isdigit((unsigned char)text[at]) &&
           (at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.' && text[at - 1] != '$'));
}

/*
 * "7B", "8x7b", "0.5B", "13B-4bit": in thousandths of a billion; 0: none here. Experts have one attention between them:
 * Mixtral 8x7B has 46.7 billion and 8x22B 140.6 (their model cards), about four fifths of the product.
 */
static int64_t read_billions(const char *text, size_t size, size_t at)
{
    int64_t n = read_number(text, size, &at), experts = 1;
    if (at + 1 < size && (text[at] == 'x' || text[at] == 'X') && isdigit((unsigned char)text[at + 1])) {
        experts = n / 1000;
        at++;
        n = read_number(text, size, &at);
    }
    const bool is_unit = at < size && (text[at] == 'B' || text[at] == 'b') &&
                         (at + 1 == size || !is_word(text[at + 1]) || text[at + 1] == '_');
    if (!is_unit || n <= 0 || experts < 1 || experts > 64 || n * experts > (int64_t)MOST_BILLIONS * 1000)
        return 0;
    return experts > 1 ? n * experts * 4 / 5 : n;
}

/* The name of a card that is sold with memory of several sizes, or the word for one, before the size. */
static bool is_card_before(const char *text, size_t at)
{
    static const char *const names[] = { "A100",  "A800", "H100", "H800", "H20",  "H200", "V100", "L40",
                                         "A6000", "A40",  "A10",  "L4",   "T4",   "P100", "P40",  "M40",
                                         "RTX",   "GTX",  "VRAM", "显存", "GPU",  "3060", "3080", "3090",
                                         "4090",  "4080", "4060", "2080", "1080", "5090" };
    const size_t first = at > NAME_BYTES ? at - NAME_BYTES : 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_text(text + first, at - first, names[i]))
            return !memchr(text + first, '\n', at - first);
    return false;
}

static bool is_card_behind(const char *text, size_t size, size_t at)
{
    static const char *const words[] = { "VRAM", "显存", "GPU", "card" };
    const size_t n = size - at < AFTER_BYTES ? size - at : AFTER_BYTES;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_text(text + at, n, words[i]))
            return !memchr(text + at, '\n', n);
    return false;
}

/* "24 GB of VRAM", "A100 80G", "a 24GB card"; 0: none here. */
static int64_t read_card_gib(const char *text, size_t size, size_t at)
{
    const size_t start = at;
    const int64_t gib = read_number(text, size, &at) / 1000;
    while (at < size && (text[at] == ' ' || text[at] == '-'))
        at++;
    if (at == size || (text[at] != 'G' && text[at] != 'g') || gib < LEAST_CARD_GIB || gib > MOST_CARD_GIB)
        return 0;
    at++;
    at += at < size && text[at] == 'i';
    at += at < size && (text[at] == 'B' || text[at] == 'b');
    if (at < size && is_word(text[at]))
        return 0;
    return is_card_before(text, start) || is_card_behind(text, size, at) ? gib : 0;
}

/* An option with a count of two or more: "--tp 8", "--nproc_per_node=4". */
static bool has_count(const char *text, size_t size)
{
    static const char *const options[] = { "--tp",
                                           "-tp",
                                           "tensor-parallel-size",
                                           "tensor_parallel_size",
                                           "tensor-parallel",
                                           "nproc_per_node",
                                           "nproc-per-node",
                                           "num_processes",
                                           "num-shard",
                                           "num_gpus" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const size_t n = strlen(options[i]);
        for (size_t at = 0; at + n + 1 < size; at++) {
            if (strncasecmp(text + at, options[i], n) != 0 || !strchr(" =", text[at + n]))
                continue;
            size_t k = at + n + 1;
            if (read_number(text, size, &k) >= 2000)
                return true;
        }
    }
    return false;
}

/* "2x 3090", "8 * A100", "4张A100", "8 GPUs", "--tp 8": more than one. */
static bool is_several(const char *text, size_t size)
{
    static const char *const words[] = { "gpus",      "cards", "multi-gpu",           "multi gpu",
                                         "张",        "块",    "device_map=\"auto\"", "nodes",
                                         "deepspeed", "fsdp" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_text(text, size, words[i]))
            return true;
    if (has_count(text, size))
        return true;
    for (size_t i = 0; i + 2 < size; i++) { /* "2x3090", "4 * A100" */
        if (!begins_number(text, i) || isdigit((unsigned char)text[i + 1]) || read_billions(text, size, i))
            continue;
        size_t k = i + 1;
        while (k < size && text[k] == ' ')
            k++;
        if (k < size && (text[k] == 'x' || text[k] == '*')) {
            for (k++; k < size && text[k] == ' ';)
                k++;
            if (k < size && text[i] > '1' && (isupper((unsigned char)text[k]) || isdigit((unsigned char)text[k])) &&
                text[i] != '0')
                return true;
        }
    }
    return false;
}

/* Of a weight, the least that the text names. */
static int bits_of(const char *text, size_t size)
{
    static const struct {
        int bits;
        const char *words[18];
    } rows[] = {
        { 2, { "iq1", "iq2", "q2_k", "2-bit", "2bit", "1.58", NULL } },
        { 4,
          { "4bit", "4-bit", "4 bit", "int4", "nf4", "fp4", "gptq", "awq", "q4", "q3", "exl2", "exl3", "qlora", "gguf",
            "ggml", "iq3", "quantiz", NULL } },
        { 5, { "q5", "q6", "5bit", "6bit", NULL } },
        { 8, { "8bit", "8-bit", "8 bit", "int8", "fp8", "q8_0", "w8a8", "float8", NULL } },
        { 16, { "fp16", "bf16", "float16", ".half()", "half precision", "16-bit", "16bit", NULL } },
        { 32, { "fp32", "float32", "dtype=float", "dtype float", "full precision", NULL } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const char *const *word = rows[i].words; *word; word++)
            if (has_text(text, size, *word))
                return rows[i].bits;
    return 0;
}

/* "Loading vicuna-13b ...": of several models that are named, the one that it was about. */
static bool is_behind_loading(const char *text, size_t at)
{
    size_t start = at;
    while (start > 0 && text[start - 1] != '\n' && at - start < NAME_BYTES)
        start--;
    return at - start > 8 && !strncmp(text + start, "Loading ", 8);
}

void plim_told_size_read(const char *text, size_t size, struct plim_told_size *ret_told)
{
    int64_t billions = 0, loaded = 0, gib = 0;
    bool is_clear = true;
    memset(ret_told, 0, sizeof *ret_told);
    for (size_t at = 0; at < size; at++) {
        if (!begins_number(text, at))
            continue;
        const int64_t parameters = read_billions(text, size, at), card = parameters ? 0 : read_card_gib(text, size, at);
        loaded = parameters && is_behind_loading(text, at) ? parameters : loaded;
        is_clear = is_clear && (!parameters || !billions || parameters == billions);
        billions = parameters ? parameters : billions;
        /* of several cards the largest */
        gib = card > gib ? card : gib;
    }
    ret_told->parameters = (loaded ? loaded : is_clear ? billions : 0) * 1000000;
    ret_told->bits = bits_of(text, size);
    ret_told->card_bytes = gib * (int64_t)PLIM_GIB;
    ret_told->is_several = is_several(text, size);
}
