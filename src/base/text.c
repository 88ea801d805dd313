/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

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
