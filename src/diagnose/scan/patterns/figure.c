/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/figure.h"

#include "diagnose/scan/stamp.h"

#include <string.h>

enum { MAX_FRACTION = 9, MILLION = 1000000 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Bytes of the unit at the start of text: "GiB", "GB", "G", "kB", "Mi", "bytes"; 0 when it is not a unit. */
static int64_t unit_bytes(const char *text, size_t n)
{
    static const char letters[] = "KMGTPE";
    if (n == 0)
        return 0;
    const char upper = (char)(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 32 : text[0]);
    const char *found = upper ? strchr(letters, upper) : NULL;
    if (found)
        return (int64_t)1 << (10 * (found - letters + 1));
    return upper == 'B' ? 1 : 0;
}

/*
 * Where the fraction begins: the last point or comma, when what follows are not the three digits of a group. In
 * "1,234" the comma groups; in "1900,00" and "1.5" it does not. A point with three digits is a fraction: nobody
 * groups with it alone ("0.125"), but "1.234.567" has two.
 */
static size_t fraction_at(const char *text, size_t n)
{
    size_t last = n, n_points = 0, n_commas = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] == '.' || text[i] == ',') {
            last = i;
            n_points += text[i] == '.';
            n_commas += text[i] == ',';
        }
    if (last == n)
        return n;
    const bool is_group = n - last - 1 == 3;
    if (text[last] == '.')
        return n_points > 1 && is_group ? n : last;
    return is_group || (n_commas > 1 && n_points == 0) ? n : last;
}

enum plim_figure plim_figure_read(const char *text, size_t n, enum plim_number_kind kind, int64_t unit,
                                  int64_t *ret_value)
{
    if (kind == PLIM_NUMBER_TIME)
        return plim_stamp_read(text, n, ret_value) ? PLIM_FIGURE_OK : PLIM_FIGURE_NONE;
    bool is_negative = n > 0 && text[0] == '-';
    size_t length = is_negative;
    while (length < n && (is_digit(text[length]) || text[length] == '.' || text[length] == ','))
        length++;
    if (length == (size_t)is_negative || !is_digit(text[is_negative]))
        return PLIM_FIGURE_NONE;
    size_t rest = length;
    while (rest < n && text[rest] == ' ')
        rest++;
    int64_t scale = kind == PLIM_NUMBER_RATIO ? MILLION : kind == PLIM_NUMBER_BYTES ? unit : 1;
    if (kind == PLIM_NUMBER_BYTES && rest < n) {
        scale = unit_bytes(text + rest, n - rest);
        if (scale == 0)
            return PLIM_FIGURE_NONE;
    } else if (kind == PLIM_NUMBER_RATIO && rest < n && text[rest] == '%') {
        scale = MILLION / 100;
    }
    const size_t point = (size_t)is_negative + fraction_at(text + is_negative, length - is_negative);
    uint64_t whole = 0, fraction = 0, denominator = 1;
    for (size_t i = is_negative; i < point; i++)
        if (is_digit(text[i])) {
            if (whole > (uint64_t)INT64_MAX / 10)
                return PLIM_FIGURE_IMPOSSIBLE;
            whole = 10 * whole + (uint64_t)(text[i] - '0');
        }
    int n_digits = 0;
    for (size_t i = point; i < length && n_digits < MAX_FRACTION; i++)
        if (is_digit(text[i])) {
            fraction = 10 * fraction + (uint64_t)(text[i] - '0');
            denominator *= 10;
            n_digits++;
        }
    if (kind == PLIM_NUMBER_COUNT && fraction)
        return PLIM_FIGURE_NONE;
    /* whole * scale + fraction * scale / denominator: the last by its parts, so that nothing overflows */
    uint64_t value;
    const uint64_t s = (uint64_t)scale, parts = s / denominator * fraction,
                   left = (s % denominator * fraction + denominator / 2) / denominator;
    if (__builtin_mul_overflow(whole, s, &value) || __builtin_add_overflow(value, parts, &value) ||
        __builtin_add_overflow(value, left, &value) || value > (uint64_t)INT64_MAX)
        return PLIM_FIGURE_IMPOSSIBLE;
    *ret_value = is_negative ? -(int64_t)value : (int64_t)value;
    return PLIM_FIGURE_OK;
}

int64_t plim_figure_exact(const char *behind, int64_t rounded)
{
    enum { MIN_DIGITS = 4, MAX_DIGITS = 18, ROUNDED_BY = 20 }; /* "1.1 GiB" may be 5 % off */
    static const char to[] = "rounded to ", unit[] = " bytes";
    int64_t exact = 0;
    behind += *behind == ' ';
    if (*behind != '(' && *behind != '[')
        return rounded;
    const char *digits = behind + 1;
    if (!strncmp(digits, to, sizeof to - 1))
        digits += sizeof to - 1;
    const size_t n = strspn(digits, "0123456789");
    if (n < MIN_DIGITS || n > MAX_DIGITS)
        return rounded;
    for (size_t i = 0; i < n; i++)
        exact = 10 * exact + (digits[i] - '0');
    const char *end = digits + n;
    if (!strncmp(end, unit, sizeof unit - 1))
        end += sizeof unit - 1;
    const int64_t off = exact > rounded ? exact - rounded : rounded - exact;
    return (*end == ')' || *end == ']') && off <= rounded / ROUNDED_BY ? exact : rounded;
}

int64_t plim_figure_unrounded(int64_t one, int64_t other)
{
    static const int64_t units[] = { (int64_t)1 << 20, (int64_t)1 << 30 };
    enum { HUNDREDTHS = 100 };
    if (one <= 0 || other <= 0 || other == one || other > INT64_MAX / HUNDREDTHS / 2)
        return one;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const int64_t printed = (other * HUNDREDTHS + units[i] / 2) / units[i];
        const int64_t rounded =
            printed / HUNDREDTHS * units[i] + (printed % HUNDREDTHS * units[i] + HUNDREDTHS / 2) / HUNDREDTHS;
        if (rounded == one)
            return other;
    }
    return one;
}

/* --- tensors --- */

static int64_t dtype_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } types[] = {
        { "float32", 4 }, { "float", 4 },  { "float16", 2 }, { "half", 2 },      { "bfloat16", 2 },
        { "float64", 8 }, { "double", 8 }, { "int64", 8 },   { "int32", 4 },     { "int16", 2 },
        { "int8", 1 },    { "uint8", 1 },  { "bool", 1 },    { "complex64", 8 }, { "complex128", 16 },
        { "uint16", 2 },  { "uint32", 4 }, { "uint64", 8 },  { "f32", 4 },       { "f16", 2 },
        { "bf16", 2 },    { "f64", 8 },    { "s32", 4 },     { "u32", 4 },       { "s64", 8 },
        { "u8", 1 },      { "s8", 1 },     { "pred", 1 },    { "int", 4 },       { "long", 8 },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(dtype, types[i].name))
            return types[i].bytes;
    return 0;
}

int64_t plim_figure_tensor_bytes(const char *shape, const char *dtype)
{
    int64_t bytes = dtype_bytes(dtype);
    int n_sides = 0;
    if (bytes == 0)
        return PLIM_UNKNOWN;
    for (const char *p = shape; *p;) {
        if (!is_digit(*p)) {
            if (*p == '?' || *p == '-')
                return PLIM_UNKNOWN;
            p++;
            continue;
        }
        int64_t side = 0;
        for (; is_digit(*p); p++)
            if (__builtin_mul_overflow(side, 10, &side) || __builtin_add_overflow(side, *p - '0', &side))
                return PLIM_UNKNOWN;
        if (__builtin_mul_overflow(bytes, side, &bytes))
            return PLIM_UNKNOWN;
        n_sides++;
    }
    return n_sides ? bytes : PLIM_UNKNOWN;
}
