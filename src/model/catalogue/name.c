/* SPDX-License-Identifier: MIT */
#include "model/catalogue/name.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char separators[] = "-_. :";

static char lower(char c) { return (char)tolower((unsigned char)c); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alnum(char c) { return isalnum((unsigned char)c) != 0; }

/* --- quantizations --- */

/* "q4_k_m", "iq3_xxs", "tq1_0", "q4_0_4_4": a family, bits, and parts that recipes have. */
static bool is_recipe(const char *text)
{
    static const char parts[] = "0 1 2 3 4 8 k s m l xs xxs xl xxl nl";
    const char *p = text + (*text == 'i' || *text == 't');
    if (p[0] != 'q' || !is_digit(p[1]) || p[1] == '0' || p[1] == '9')
        return false;
    for (p += 2; *p;) {
        char part[4];
        if (*p++ != '_')
            return false;
        const size_t n = strcspn(p, "_");
        if (n == 0 || n >= sizeof part)
            return false;
        memcpy(part, p, n);
        part[n] = '\0';
        if (!plim_text_has_word(parts, part))
            return false;
        p += n;
    }
    return true;
}

/* Prefixes of publishers: the part before the recipe, and how it is kept. */
static const struct {
    const char *prefix, *kept;
} prefixes[] = { { "ud-", "UD-" }, { "i1-", "" }, { "imat-", "" }, { "imatrix-", "" } };

static const struct {
    const char *spelling, *quant;
} others[] = { { "f16", "F16" },     { "fp16", "F16" },           { "bf16", "BF16" },
               { "f32", "F32" },     { "fp32", "F32" },           { "q8", "Q8_0" },
               { "q6", "Q6_K" },     { "mxfp4", "MXFP4_MOE" },    { "q4km", "Q4_K_M" },
               { "q5km", "Q5_K_M" }, { "mxfp4_moe", "MXFP4_MOE" } };

bool plim_name_quant(const char *text, char ret_quant[24])
{
    char all[24], *low = all;
    const char *kept = "";
    size_t n = 0;
    for (; text[n] && n < 20; n++)
        low[n] = lower(text[n]);
    low[n] = '\0';
    if (text[n])
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(low, prefixes[i].prefix, strlen(prefixes[i].prefix))) {
            kept = prefixes[i].kept;
            low += strlen(prefixes[i].prefix);
            break;
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(low, others[i].spelling)) {
            snprintf(ret_quant, 24, "%s%s", kept, others[i].quant);
            return true;
        }
    if (!is_recipe(low))
        return false;
    for (char *p = low; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    snprintf(ret_quant, 24, "%s%s", kept, low);
    return true;
}

/* --- suffixes --- */

/* Words of files and repositories that are not the model's name ... */
static const char nothing[] = "gguf ggml imat imatrix i1 safetensors mlx main";

/* ... and those that tell of another format or of weights that were changed, but keep the shapes. */
static const char passed_over[] = "awq gptq fp8 int4 int8 bnb 4bit 8bit exl2 exl3 nvfp4 w4a16 w8a8 w8a16 qat quantized "
                                  "autoround dynamic abliterated uncensored heretic";

static void pass_over(struct plim_name *name, const char *word)
{
    const size_t n = strlen(name->passed_over);
    snprintf(name->passed_over + n, sizeof name->passed_over - n, "%s%s", n ? " " : "", word);
}

/* The last word of a text, after its separator; NULL when there is only one. */
static char *last_word(char *text)
{
    char *last = NULL;
    for (char *p = text; *p; p++)
        if (p > text && strchr(separators, *p) && p[1])
            last = p + 1;
    return last;
}

/* "-00001-of-00003" */
static bool take_part(char *text)
{
    const size_t n = strlen(text);
    unsigned part, parts;
    int used = 0;
    if (n < 16 || text[n - 15] != '-' || sscanf(text + n - 15, "-%5u-of-%5u%n", &part, &parts, &used) != 2 ||
        used != 15)
        return false;
    text[n - 15] = '\0';
    return true;
}

/* The longest end of the name that is a quantization. */
static bool take_quant(struct plim_name *name)
{
    char quant[24];
    if (name->quant[0])
        return false;
    for (char *p = name->text + 1; name->text[0] && *p; p++)
        if (strchr(separators, p[-1]) && plim_name_quant(p, quant)) {
            p[-1] = '\0';
            memcpy(name->quant, quant, sizeof quant);
            name->is_quant_suffix = true;
            return true;
        }
    return false;
}

static bool take_nothing(struct plim_name *name)
{
    char *word = last_word(name->text);
    if (!word || !plim_text_has_word(nothing, word))
        return false;
    word[-1] = '\0';
    return true;
}

static bool take_passed_over(struct plim_name *name)
{
    char *word = last_word(name->text);
    if (!word || !plim_text_has_word(passed_over, word))
        return false;
    pass_over(name, word);
    word[-1] = '\0';
    return true;
}

/* --- reading --- */

static const char *without_address(const char *given)
{
    static const char *const addresses[] = { "https://",
                                             "http://",
                                             "www.",
                                             "hf:",
                                             "hf.co/",
                                             "huggingface.co/",
                                             "ollama.com/library/",
                                             "ollama.com/",
                                             "registry.ollama.ai/",
                                             "library/" };
    while (isspace((unsigned char)*given))
        given++;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        const size_t n = strlen(addresses[i]);
        size_t k = 0;
        while (k < n && lower(given[k]) == addresses[i][k])
            k++;
        given += k == n ? n : 0;
    }
    return given;
}

static bool has_end(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* "org/name", or the last part of a path when that is a file. */
static void split_path(struct plim_name *name, char *text)
{
    char *slash = strchr(text, '/'), *last = strrchr(text, '/');
    text[strcspn(text, "?#@")] = '\0';
    if (last && has_end(text, ".gguf")) {
        snprintf(name->given, sizeof name->given, "%s", last + 1);
        return;
    }
    if (slash) {
        *slash = '\0';
        snprintf(name->organisation, sizeof name->organisation, "%.63s", text);
        text = slash + 1;
        text[strcspn(text, "/")] = '\0';
    }
    snprintf(name->given, sizeof name->given, "%s", text);
}

void plim_name_read(const char *given, struct plim_name *ret_name)
{
    char text[2 * PLIM_NAME_BYTES];
    *ret_name = (struct plim_name){ 0 };
    snprintf(text, sizeof text, "%s", without_address(given));
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        text[i] = lower(text[i]);
    while (n && (isspace((unsigned char)text[n - 1]) || text[n - 1] == '/'))
        text[--n] = '\0';
    char *colon = strrchr(text, ':');
    if (colon && plim_name_quant(colon + 1, ret_name->quant))
        *colon = '\0';
    text[PLIM_NAME_BYTES - 1] = '\0';
    split_path(ret_name, text);
    if (has_end(ret_name->given, ".gguf"))
        ret_name->given[strlen(ret_name->given) - 5] = '\0';
    memcpy(ret_name->text, ret_name->given, sizeof ret_name->text);
    while (take_part(ret_name->text) || take_quant(ret_name) || take_nothing(ret_name))
        continue;
    memcpy(ret_name->plain, ret_name->text, sizeof ret_name->plain);
    while (take_passed_over(ret_name) || take_quant(ret_name) || take_nothing(ret_name))
        continue;
}

/* --- comparing --- */

size_t plim_name_key(const char *text, char ret_key[PLIM_NAME_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; text[i] && n < PLIM_NAME_BYTES - 1; i++)
        if (is_alnum(text[i]) || text[i] == '+' ||
            (text[i] == '.' && i && is_digit(text[i - 1]) && is_digit(text[i + 1])))
            ret_key[n++] = lower(text[i]);
    ret_key[n] = '\0';
    return n;
}

bool plim_name_is_key(const char *text, size_t length, const char *key)
{
    for (size_t i = 0; i < length; i++) {
        const bool is_counted = is_alnum(text[i]) || text[i] == '+' ||
                                (text[i] == '.' && i && is_digit(text[i - 1]) && is_digit(text[i + 1]));
        if (is_counted && *key++ != lower(text[i]))
            return false;
    }
    return *key == '\0';
}

/* A word ends at a separator, and where a number follows letters ("llama3"); single letters stay with it ("a3b"). */
static size_t word_length(const char *text)
{
    size_t n = 0, letters = 0;
    for (; text[n]; n++) {
        const bool is_point = text[n] == '.' && n && is_digit(text[n - 1]) && is_digit(text[n + 1]);
        if (!is_alnum(text[n]) && text[n] != '+' && !is_point)
            break;
        if (is_digit(text[n]) && letters == n && n >= 2)
            break;
        letters += !is_digit(text[n]) && !is_point && letters == n;
    }
    return n;
}

void plim_name_split(const char *text, struct plim_name_words *ret_words)
{
    ret_words->n = 0;
    while (*text && ret_words->n < PLIM_NAME_WORDS) {
        const size_t n = word_length(text);
        if (n == 0) {
            text++;
            continue;
        }
        const size_t kept = n < PLIM_NAME_WORD_BYTES ? n : PLIM_NAME_WORD_BYTES - 1;
        char *word = ret_words->word[ret_words->n++];
        for (size_t i = 0; i < kept; i++)
            word[i] = lower(text[i]);
        word[kept] = '\0';
        text += n;
    }
}

bool plim_name_has_word(const struct plim_name_words *words, const char *word)
{
    for (size_t i = 0; i < words->n; i++)
        if (!strcmp(words->word[i], word))
            return true;
    return false;
}
