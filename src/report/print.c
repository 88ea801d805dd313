/* SPDX-License-Identifier: MIT */
#include "report/print.h"

#include "base/text.h"
#include "report/paint.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

/* Collected, so that standard error, which has no buffer, gets a message in one piece. */
struct page {
    FILE *out;
    int n_characters;
    size_t n;
    char bytes[1024];
};

static void flush(struct page *page)
{
    fwrite(page->bytes, 1, page->n, page->out);
    page->n = 0;
}

static void begin(struct page *page, FILE *out)
{
    page->out = out;
    page->n_characters = 0;
    page->n = 0;
}

static void put_byte(struct page *page, char byte)
{
    if (page->n == sizeof page->bytes)
        flush(page);
    page->bytes[page->n++] = byte;
}

static void put_blanks(struct page *page, int n)
{
    for (; n > 0; n--, page->n_characters++)
        put_byte(page, ' ');
}

/* --- texts --- */

/* Characters, and of how many bytes; `most` at most. */
static int measure(const char *text, size_t length, int most, size_t *ret_length)
{
    int n = 0;
    size_t at = 0;
    uint32_t code;
    for (; at < length && n < most; n++)
        at += plim_text_character(text + at, length - at, &code);
    *ret_length = at;
    return n;
}

static void put_clean(struct page *page, const char *text, size_t length)
{
    uint32_t code;
    for (size_t n; length; text += n, length -= n, page->n_characters++) {
        n = plim_text_character(text, length, &code);
        const bool is_shown = plim_text_is_shown(code);
        if (!is_shown)
            put_byte(page, '?');
        for (size_t i = 0; i < n && is_shown; i++)
            put_byte(page, text[i]);
    }
}

/* --- formats --- */

struct conversion {
    int width, precision; /* below 0: to the left; not given */
    bool has_plus, is_long, is_longest, is_size;
    char kind;
};

static const char *read_number(const char *p, va_list *arguments, int *ret_number)
{
    if (*p == '*') {
        *ret_number = va_arg(*arguments, int);
        return p + 1;
    }
    for (*ret_number = 0; isdigit((unsigned char)*p); p++)
        *ret_number = *ret_number * 10 + (*p - '0');
    return p;
}

/* Behind a '%'; returns what follows. */
static const char *read_conversion(const char *p, va_list *arguments, struct conversion *ret_conversion)
{
    struct conversion c = { .precision = -1 };
    bool is_left = false;
    for (; *p == '-' || *p == '+'; p++)
        *(*p == '-' ? &is_left : &c.has_plus) = true;
    p = read_number(p, arguments, &c.width);
    if (is_left && c.width > 0)
        c.width = -c.width;
    if (*p == '.')
        p = read_number(p + 1, arguments, &c.precision);
    for (; *p == 'l' || *p == 'z' || *p == 'j'; p++) {
        c.is_longest = *p == 'j' || c.is_long;
        c.is_long = *p == 'l';
        c.is_size = *p == 'z';
    }
    c.kind = *p;
    *ret_conversion = c;
    return *p ? p + 1 : p;
}

static void put_text(struct page *page, const struct conversion *c, const char *text)
{
    size_t length = strlen(text);
    const int n = measure(text, length, c->precision < 0 ? INT_MAX : c->precision, &length);
    put_blanks(page, c->width - n);
    put_clean(page, text, length);
    put_blanks(page, -c->width - n);
}

/* Of figures only: they are clean. */
static void put_figure(struct page *page, const char *text, int n)
{
    for (int i = 0; i < n; i++, page->n_characters++)
        put_byte(page, text[i]);
}

static void put_integer(struct page *page, const struct conversion *c, va_list *arguments)
{
    char text[96];
    const int width = c->width < -64 ? -64 : c->width > 64 ? 64 : c->width;
    int n;
    if (c->kind == 'd' || c->kind == 'i') {
        const intmax_t value = c->is_longest ? va_arg(*arguments, intmax_t)
                               : c->is_long  ? va_arg(*arguments, long)
                               : c->is_size  ? va_arg(*arguments, ptrdiff_t)
                                             : va_arg(*arguments, int);
        n = snprintf(text, sizeof text, c->has_plus ? "%+*jd" : "%*jd", width, value);
    } else {
        const uintmax_t value = c->is_longest ? va_arg(*arguments, uintmax_t)
                                : c->is_long  ? va_arg(*arguments, unsigned long)
                                : c->is_size  ? va_arg(*arguments, size_t)
                                              : va_arg(*arguments, unsigned);
        n = snprintf(text, sizeof text, c->kind == 'x' ? "%*jx" : "%*ju", width, value);
    }
    put_figure(page, text, n);
}

static void put_real(struct page *page, const struct conversion *c, double value)
{
    static const char *const formats[2][2] = { { "%*.*f", "%+*.*f" }, { "%*.*g", "%+*.*g" } };
    char text[512]; /* the largest double has 309 digits before the point */
    const int width = c->width < -64 ? -64 : c->width > 64 ? 64 : c->width;
    const int precision = c->precision > 64 ? 64 : c->precision;
    put_figure(page, text, snprintf(text, sizeof text, formats[c->kind == 'g'][c->has_plus], width, precision, value));
}

static void put_argument(struct page *page, const struct conversion *c, va_list *arguments)
{
    switch (c->kind) {
    case 's': {
        const char *text = va_arg(*arguments, const char *);
        if (plim_paint_is(text))
            for (; *text; text++)
                put_byte(page, *text);
        else
            put_text(page, c, text);
        break;
    }
    case 'c': {
        const char text[2] = { (char)va_arg(*arguments, int), '\0' };
        put_text(page, c, text);
        break;
    }
    case 'f':
    case 'g':
        put_real(page, c, va_arg(*arguments, double));
        break;
    case '%':
        put_figure(page, "%", 1);
        break;
    default:
        put_integer(page, c, arguments);
    }
}

int plim_print_list(FILE *out, const char *format, va_list *arguments)
{
    struct page page;
    begin(&page, out);
    while (*format) {
        struct conversion conversion;
        if (*format == '%') {
            format = read_conversion(format + 1, arguments, &conversion);
            put_argument(&page, &conversion, arguments);
            continue;
        }
        page.n_characters += (*format & 0xC0) != 0x80;
        put_byte(&page, *format++);
    }
    flush(&page);
    return page.n_characters;
}

int plim_print(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n_characters = plim_print_list(out, format, &arguments);
    va_end(arguments);
    return n_characters;
}

void plim_print_part(FILE *out, const char *text, size_t n_bytes)
{
    struct page page;
    begin(&page, out);
    put_clean(&page, text, n_bytes);
    flush(&page);
}

void plim_print_lines(FILE *out, const char *text, int indent)
{
    while (*text) {
        const size_t n_bytes = strcspn(text, "\n");
        if (n_bytes) {
            plim_print(out, "%*s", indent, "");
            plim_print_part(out, text, n_bytes);
            plim_print(out, "\n");
        }
        text += n_bytes + strspn(text + n_bytes, "\n");
    }
}
