/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <string.h>

void plim_json_init(struct plim_json *j, struct plim_cursor cursor, struct plim_error *reterr)
{
    j->c = cursor;
    j->err = reterr;
    j->is_start = false;
}

/* The next byte, or -1 at the end. */
static inline int next_byte(struct plim_json *j)
{
    const unsigned char *p;
    return j->c.at < j->c.size && plim_cursor_peek(&j->c, 1, &p) ? *p : -1;
}

static void skip_space(struct plim_json *j)
{
    for (int c = next_byte(j); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = next_byte(j))
        j->c.at++;
}

uint64_t plim_json_at(struct plim_json *j)
{
    skip_space(j);
    return j->c.at;
}

static int cannot_read(const struct plim_json *j)
{
    return plim_fail(j->err, PLIM_E_IO, j->c.at, "cannot read: %s", strerror(j->c.error));
}

/* Fail: something else stands here than expected. */
static int unexpected(struct plim_json *j, const char *expected)
{
    const int c = next_byte(j);
    if (j->c.error)
        return cannot_read(j);
    if (c < 0)
        return plim_fail(j->err, PLIM_E_TRUNCATED, j->c.at, "the JSON text ends where %s is expected", expected);
    if (c > ' ' && c < 0x7f)
        return plim_fail(j->err, PLIM_E_CORRUPT, j->c.at, "expected %s, found '%c'", expected, c);
    return plim_fail(j->err, PLIM_E_CORRUPT, j->c.at, "expected %s, found byte %02x", expected, (unsigned)c);
}

static bool is_next(struct plim_json *j, char c)
{
    skip_space(j);
    return next_byte(j) == (unsigned char)c;
}

static bool take(struct plim_json *j, char c)
{
    bool is_there = is_next(j, c);
    j->c.at += is_there;
    return is_there;
}

/* --- objects and arrays --- */

int plim_json_object(struct plim_json *j)
{
    if (!take(j, '{'))
        return unexpected(j, "an object");
    j->is_start = true;
    return 0;
}

int plim_json_array(struct plim_json *j)
{
    if (!take(j, '['))
        return unexpected(j, "an array");
    j->is_start = true;
    return 0;
}

/* 1: another element follows; 0: that was the closing bracket. */
static int next(struct plim_json *j, char closing, const char *expected)
{
    const bool is_start = j->is_start;
    j->is_start = false;
    if (take(j, closing))
        return 0;
    return is_start || take(j, ',') ? 1 : unexpected(j, expected);
}

int plim_json_item(struct plim_json *j) { return next(j, ']', "',' or ']'"); }

int plim_json_member(struct plim_json *j, struct plim_json_text *ret_key)
{
    int result = next(j, '}', "',' or '}'");
    if (result <= 0)
        return result;
    if (!is_next(j, '"'))
        return unexpected(j, "a name in quotes");
    result = plim_json_string(j, ret_key);
    if (result < 0)
        return result;
    return take(j, ':') ? 1 : unexpected(j, "':'");
}

int plim_json_end(struct plim_json *j)
{
    skip_space(j);
    return j->c.at == j->c.size && !j->c.error ? 0 : unexpected(j, "the end");
}

/* --- strings --- */

static int hex_digit(unsigned char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The four digits of \uXXXX, or -1. */
static int32_t hex4(const unsigned char *p, uint64_t left)
{
    int32_t value = 0;
    if (left < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* The character of an escape that begins at p ('\\'); returns its length in bytes, 0 when it is not valid. */
static unsigned escape(const unsigned char *p, uint64_t left, uint32_t *ret_character)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter = left < 2 || p[1] == '\0' ? NULL : strchr(letters, p[1]);
    if (letter) {
        *ret_character = (unsigned char)meanings[letter - letters];
        return 2;
    }
    int32_t high = left >= 6 && p[1] == 'u' ? hex4(p + 2, left - 2) : -1;
    if (high < 0 || (high >= 0xdc00 && high <= 0xdfff))
        return 0;
    *ret_character = (uint32_t)high;
    if (high < 0xd800 || high > 0xdbff)
        return 6;
    /* the second half of a character beyond the first plane */
    int32_t low = left >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, left - 8) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return 0;
    *ret_character = 0x10000 + (((uint32_t)high & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
    return 12;
}

/* Bytes of the UTF-8 character at p, 0 when it is not one (RFC 3629: shortest form, no surrogates, up to 10ffff). */
static unsigned utf8(const unsigned char *p, uint64_t left)
{
    const unsigned char c = p[0];
    const unsigned n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (n == 0 || n > left)
        return 0;
    for (unsigned i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    const bool is_long = (c == 0xe0 && p[1] < 0xa0) || (c == 0xf0 && p[1] < 0x90);
    const bool is_outside = (c == 0xed && p[1] > 0x9f) || (c == 0xf4 && p[1] > 0x8f);
    return is_long || is_outside ? 0 : n;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(first[n] | c);
    return n;
}

static int bad_character(struct plim_json *j, const unsigned char *p)
{
    return plim_fail(j->err, PLIM_E_CORRUPT, j->c.at, "%s in a string",
                     *p == '\\' ? "an escape that JSON does not have"
                     : *p < ' ' ? "a control character"
                                : "bytes that are not UTF-8");
}

/* Put the next character into `to`; returns its length in the input, 0 when it is not valid. */
static unsigned take_character(const unsigned char *p, uint64_t left, char to[4], size_t *ret_length)
{
    uint32_t character;
    unsigned n;
    if (*p == '\\') {
        n = escape(p, left, &character);
        *ret_length = n ? put_utf8(to, character) : 0;
        return n;
    }
    n = *p < ' ' ? 0 : utf8(p, left);
    memcpy(to, p, n);
    *ret_length = n;
    return n;
}

/* ASCII that stands for itself. */
static bool is_plain(unsigned char c) { return c >= ' ' && c < 0x80 && c != '"' && c != '\\'; }

/* Whether all of eight bytes are plain. Each term has a high bit set when some byte has: that of the lowest is exact.
 */
static bool are_plain(const unsigned char p[static 8])
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;
    memcpy(&word, p, sizeof word);
    const uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';
    const uint64_t below = (word - ones * ' ') | (quote - ones) | (backslash - ones);
    return !((below | word) & ones * 0x80);
}

/* Bytes at p that are plain, at most `most`. */
static size_t plain_bytes(const unsigned char *p, size_t most)
{
    size_t n = 0;
    while (most - n >= 8 && are_plain(p + n))
        n += 8;
    while (n < most && is_plain(p[n]))
        n++;
    return n;
}

/* Take the plain bytes that are at hand: most strings are nothing else. */
static void take_plain(struct plim_json *j, struct plim_json_text *text)
{
    const size_t room = PLIM_MAX_JSON_TEXT_BYTES - text->length;
    if (text->is_cut || next_byte(j) < 0)
        return;
    const uint64_t end = j->c.data_end < j->c.size ? j->c.data_end : j->c.size, at_hand = end - j->c.at;
    const unsigned char *p = j->c.data + (j->c.at - j->c.data_at);
    const size_t n = plain_bytes(p, at_hand < room ? (size_t)at_hand : room);
    memcpy(j->text + text->length, p, n);
    text->length += n;
    j->c.at += n;
}

int plim_json_string(struct plim_json *j, struct plim_json_text *ret_text)
{
    enum { MOST = 12 }; /* an escape of two halves */
    const unsigned char *p;
    if (!take(j, '"'))
        return unexpected(j, "a string");
    struct plim_json_text text = { .text = j->text, .at = j->c.at };
    take_plain(j, &text);
    for (int c = next_byte(j); c != '"'; c = next_byte(j)) {
        size_t length;
        const uint64_t left = plim_cursor_left(&j->c);
        if (c < 0 || !plim_cursor_peek(&j->c, left < MOST ? left : MOST, &p))
            return j->c.error ? cannot_read(j)
                              : plim_fail(j->err, PLIM_E_TRUNCATED, text.at, "the string does not end");
        const unsigned n = take_character(p, left < MOST ? left : MOST, j->text + text.length, &length);
        if (n == 0)
            return bad_character(j, p);
        text.is_cut |= text.length + length > PLIM_MAX_JSON_TEXT_BYTES;
        text.length += text.is_cut ? 0 : length;
        j->c.at += n;
        take_plain(j, &text);
    }
    j->c.at++;
    *ret_text = text;
    return 0;
}

bool plim_json_is(const struct plim_json_text *text, const char *what)
{
    return !text->is_cut && text->length == strlen(what) && !memcmp(text->text, what, text->length);
}

/* --- numbers --- */

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

/* An integer as JSON writes them is neither empty nor begins with a zero that is not all of it. */
int plim_json_u64(struct plim_json *j, uint64_t *ret_value)
{
    static const char expected[] = "a whole number, not negative,";
    uint64_t value = 0;
    const uint64_t start = plim_json_at(j);
    const int first = next_byte(j);
    if (!is_digit(first))
        return unexpected(j, expected);
    for (int c = first; is_digit(c); c = next_byte(j)) {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
            return plim_fail(j->err, PLIM_E_CORRUPT, start, "a number larger than 2^64 - 1");
        j->c.at++;
    }
    const int after = next_byte(j);
    if (after == '.' || after == 'e' || after == 'E' || (first == '0' && j->c.at > start + 1))
        return plim_fail(j->err, PLIM_E_CORRUPT, start, "expected %s found another number", expected);
    *ret_value = value;
    return 0;
}

static bool here(struct plim_json *j, const char *set)
{
    const int c = next_byte(j);
    return c > 0 && strchr(set, c);
}

/* A number as it stands: mantissa * 10^exponent. */
struct decimal {
    uint64_t mantissa; /* its first 19 digits */
    int64_t exponent;
    bool is_negative, is_real; /* real: with a fraction, an exponent, or more digits */
};

/* Digits from here on; returns how many. Each moves the exponent by `step`. */
static uint64_t digits(struct plim_json *j, int step, struct decimal *d)
{
    const uint64_t start = j->c.at;
    for (int c = next_byte(j); is_digit(c); j->c.at++, c = next_byte(j)) {
        uint64_t more;
        if (__builtin_mul_overflow(d->mantissa, (uint64_t)10, &more) ||
            __builtin_add_overflow(more, (uint64_t)(c - '0'), &more)) {
            d->is_real = true; /* the digit is lost, its place is not */
            d->exponent += 1 + step;
        } else {
            d->mantissa = more;
            d->exponent += step;
        }
    }
    return j->c.at - start;
}

static bool take_exponent(struct plim_json *j, struct decimal *d)
{
    enum { MOST = 10000 }; /* far outside what a double holds */
    int64_t value = 0;
    j->c.at++;
    const bool is_negative = here(j, "-");
    j->c.at += here(j, "+-");
    if (!is_digit(next_byte(j)))
        return false;
    for (int c = next_byte(j); is_digit(c); j->c.at++, c = next_byte(j))
        value = value < MOST ? 10 * value + (c - '0') : MOST;
    d->exponent += is_negative ? -value : value;
    return true;
}

static double real_of(const struct decimal *d)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    enum { STEP = 22, MOST = 400 };
    double value = (double)d->mantissa;
    int64_t exponent = d->exponent > MOST ? MOST : d->exponent < -2 * MOST ? -2 * MOST : d->exponent;
    for (; exponent > STEP; exponent -= STEP)
        value *= powers[STEP];
    for (; exponent < -STEP; exponent += STEP)
        value /= powers[STEP];
    value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
    return d->is_negative ? -value : value;
}

int plim_json_number(struct plim_json *j, struct plim_json_number *ret_number)
{
    struct decimal d = { 0 };
    skip_space(j);
    d.is_negative = here(j, "-");
    j->c.at += d.is_negative;
    const bool is_zero = here(j, "0");
    const uint64_t n = digits(j, 0, &d);
    bool is_number = n == 1 || (n > 1 && !is_zero);
    if (is_number && here(j, ".")) {
        j->c.at++;
        d.is_real = true;
        is_number = digits(j, -1, &d) > 0;
    }
    if (is_number && here(j, "eE")) {
        d.is_real = true;
        is_number = take_exponent(j, &d);
    }
    if (!is_number)
        return unexpected(j, "a value");
    if (d.is_real || (d.is_negative && d.mantissa > (uint64_t)1 << 63))
        *ret_number = (struct plim_json_number){ PLIM_JSON_REAL, { .f = real_of(&d) } };
    else if (d.is_negative && d.mantissa)
        *ret_number = (struct plim_json_number){ PLIM_JSON_SIGNED, { .i = -(int64_t)(d.mantissa - 1) - 1 } };
    else
        *ret_number = (struct plim_json_number){ PLIM_JSON_UNSIGNED, { .u = d.mantissa } };
    return 0;
}

/* --- any value --- */

static int skip_value(struct plim_json *j, unsigned depth);

static int skip_elements(struct plim_json *j, bool is_object, unsigned depth)
{
    struct plim_json_text key;
    int result;
    if (depth == PLIM_MAX_JSON_DEPTH)
        return plim_fail(j->err, PLIM_E_TOO_BIG, j->c.at, "JSON nested deeper than %d", PLIM_MAX_JSON_DEPTH);
    j->c.at++;
    j->is_start = true;
    while ((result = is_object ? plim_json_member(j, &key) : plim_json_item(j)) > 0) {
        result = skip_value(j, depth + 1);
        if (result < 0)
            return result;
    }
    return result;
}

static bool is_next_infinity(struct plim_json *j)
{
    const unsigned char *p;
    return plim_cursor_left(&j->c) >= 2 && plim_cursor_peek(&j->c, 2, &p) && p[0] == '-' && p[1] == 'I';
}

enum plim_json_type plim_json_type(struct plim_json *j)
{
    skip_space(j);
    const int c = next_byte(j);
    if (c == 'N' || c == 'I' || is_next_infinity(j))
        return PLIM_JSON_NONFINITE;
    return c == '{'                  ? PLIM_JSON_OBJECT
           : c == '['                ? PLIM_JSON_ARRAY
           : c == '"'                ? PLIM_JSON_STRING
           : c == 't' || c == 'f'    ? PLIM_JSON_BOOL
           : c == 'n'                ? PLIM_JSON_NULL
           : c == '-' || is_digit(c) ? PLIM_JSON_NUMBER
                                     : PLIM_JSON_INVALID;
}

static bool take_word(struct plim_json *j, const char *word)
{
    const unsigned char *p;
    const size_t n = strlen(word);
    skip_space(j);
    const bool is_there = plim_cursor_left(&j->c) >= n && plim_cursor_peek(&j->c, n, &p) && !memcmp(p, word, n);
    j->c.at += is_there ? n : 0;
    return is_there;
}

int plim_json_bool(struct plim_json *j, bool *ret_value)
{
    *ret_value = take_word(j, "true");
    return *ret_value || take_word(j, "false") ? 0 : unexpected(j, "true or false");
}

int plim_json_nonfinite(struct plim_json *j)
{
    return take_word(j, "NaN") || take_word(j, "Infinity") || take_word(j, "-Infinity") ? 0 : unexpected(j, "a value");
}

static int skip_value(struct plim_json *j, unsigned depth)
{
    struct plim_json_text text;
    struct plim_json_number number;
    switch (plim_json_type(j)) {
    case PLIM_JSON_OBJECT:
        return skip_elements(j, true, depth);
    case PLIM_JSON_ARRAY:
        return skip_elements(j, false, depth);
    case PLIM_JSON_STRING:
        return plim_json_string(j, &text);
    case PLIM_JSON_NUMBER:
        return plim_json_number(j, &number);
    default:
        return take_word(j, "true") || take_word(j, "false") || take_word(j, "null") ? 0 : unexpected(j, "a value");
    }
}

int plim_json_skip(struct plim_json *j) { return skip_value(j, 0); }
