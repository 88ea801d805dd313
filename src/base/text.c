/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at text, 0 when it is not one (overlong forms and surrogates are not). */
static size_t sequence_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        unsigned least;
    } forms[] = { { 0x80, 0x00, 0 }, { 0xE0, 0xC0, 0x80 }, { 0xF0, 0xE0, 0x800 }, { 0xF8, 0xF0, 0x10000 } };
    for (size_t n = 0; n < 4; n++) {
        if ((text[0] & forms[n].mask) != forms[n].lead)
            continue;
        unsigned code = text[0] & (unsigned char)~forms[n].mask;
        for (size_t i = 1; i <= n; i++) {
            if ((text[i] & 0xC0) != 0x80)
                return 0;
            code = code << 6 | (text[i] & 0x3F);
        }
        if (code < forms[n].least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
            return 0;
        return n + 1;
    }
    return 0;
}

void plim_text_clean(char *text)
{
    unsigned char *p = (unsigned char *)text;
    while (*p) {
        size_t length = sequence_length(p);
        bool is_control = length == 1 ? *p < 0x20 || *p == 0x7F : length == 2 && p[0] == 0xC2 && p[1] < 0xA0;
        if (length == 0 || is_control) {
            for (size_t i = 0; i < (length ? length : 1); i++)
                p[i] = '?';
        }
        p += length ? length : 1;
    }
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
