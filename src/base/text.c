/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <ctype.h>
#include <string.h>

size_t plim_text_character(const char *text, size_t length, uint32_t *ret_code)
{
    static const struct {
        unsigned char mask, lead;
        size_t n;
        uint32_t least;
    } forms[] = { { 0xE0, 0xC0, 2, 0x80 }, { 0xF0, 0xE0, 3, 0x800 }, { 0xF8, 0xF0, 4, 0x10000 } };
    const unsigned char *p = (const unsigned char *)text;
    size_t form = 0;
    *ret_code = p[0];
    if (p[0] < 0x80)
        return 1;
    *ret_code = PLIM_TEXT_INVALID;
    while (form < 3 && (p[0] & forms[form].mask) != forms[form].lead)
        form++;
    if (form == 3 || forms[form].n > length)
        return 1;
    uint32_t code = p[0] & (unsigned char)~forms[form].mask;
    for (size_t i = 1; i < forms[form].n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 1;
        code = code << 6 | (p[i] & 0x3F);
    }
    if (code < forms[form].least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 1;
    *ret_code = code;
    return forms[form].n;
}

bool plim_text_is_shown(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = { { 0x00, 0x1F },       { 0x7F, 0x9F },       { 0xAD, 0xAD },      { 0x34F, 0x34F },
                   { 0x61C, 0x61C },     { 0x115F, 0x1160 },   { 0x17B4, 0x17B5 },  { 0x180B, 0x180F },
                   { 0x200B, 0x200F },   { 0x2028, 0x202E },   { 0x2060, 0x206F },  { 0x3164, 0x3164 },
                   { 0xFE00, 0xFE0F },   { 0xFEFF, 0xFEFF },   { 0xFFA0, 0xFFA0 },  { 0xFFF0, 0xFFFB },
                   { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF } };
    if (code >= ' ' && code <= '~') /* nearly all text */
        return true;
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden && code >= hidden[i].first; i++)
        if (code <= hidden[i].last)
            return false;
    return code <= 0x10FFFF;
}

void plim_text_clean(char *text)
{
    char *to = text;
    uint32_t code;
    for (size_t left = strlen(text), n; left; left -= n, text += n) {
        n = plim_text_character(text, left, &code);
        if (plim_text_is_shown(code)) {
            memmove(to, text, n);
            to += n;
        } else {
            *to++ = '?';
        }
    }
    *to = '\0';
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Steps from a to b (optimal string alignment): letters changed, added, removed, swapped with the next. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b, size_t max)
{
    enum { MAX = 64 };
    size_t rows[3][MAX] = { { 0 } };
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    if (n_a >= MAX || n_b >= MAX)
        return max + 1;
    for (size_t j = 0; j <= n_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *const unused = before;
        before = above;
        above = row;
        row = unused;
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[n_b];
}

bool plim_text_is_near(const char *a, const char *b)
{
    const size_t n_a = strlen(a), n_b = strlen(b), max = least(n_a, n_b) < 8 ? 1 : 2;
    return distance(a, n_a, b, n_b, max) <= max;
}

double plim_decimal(const char *text, const char **ret_end)
{
    const bool is_negative = *text == '-';
    const char *p = text + is_negative;
    double digits = 0, scale = 1;
    bool is_number = false;
    for (; isdigit((unsigned char)*p); p++, is_number = true)
        digits = digits * 10 + (*p - '0');
    if (*p == '.' && (is_number || isdigit((unsigned char)p[1])))
        for (p++; isdigit((unsigned char)*p); p++, is_number = true) {
            if (scale > 1e15) /* more digits than a double has */
                continue;
            digits = digits * 10 + (*p - '0');
            scale *= 10;
        }
    if (ret_end)
        *ret_end = is_number ? p : text;
    return !is_number ? 0 : is_negative ? -(digits / scale) : digits / scale;
}

unsigned plim_text_distance(const char *a, const char *b)
{
    enum { MAX_BYTES = 160 };
    unsigned row[MAX_BYTES + 1];
    const size_t n = strnlen(b, MAX_BYTES);
    for (size_t j = 0; j <= n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 0; i < MAX_BYTES && a[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < n; j++) {
            unsigned best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            best = row[j + 1] + 1 < best ? row[j + 1] + 1 : best;
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j + 1] = best;
        }
    }
    return row[n];
}

bool plim_text_has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    while (list && *list) {
        size_t length = strcspn(list, " ");
        if (length == n && !memcmp(list, word, n))
            return true;
        list += length + strspn(list + length, " ");
    }
    return false;
}
