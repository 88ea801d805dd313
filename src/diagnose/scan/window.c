/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/window.h"

#include "base/gnu_string.h"
#include "diagnose/scan/prefix.h"

#include <ctype.h>
#include <string.h>

enum {
    MAX_ENTITY = 8,
    MAX_SEQUENCE = 16, /* of a spelled-out terminal sequence */
    MAX_PATH_PART = 240,
};

struct builder {
    struct plim_window *window;
    const char *raw;
    size_t size;
    bool is_mail;   /* quoted-printable */
    bool has_tasks; /* the number of a task before each line */
    bool has_space; /* a blank is due before the next character */
    uint8_t join;   /* ... or at least one line end was here: plim_window.is_join */
    bool has_alarm; /* a prefix with ERROR was here */
    uint32_t space_from;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0' || c == '\f' || c == '\v';
}
static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static unsigned hex(char c) { return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10); }

/* --- writing --- */

static void put_raw(struct builder *b, char c, uint32_t from, uint8_t is_join)
{
    struct plim_window *w = b->window;
    if (w->length >= PLIM_WINDOW_BYTES)
        return;
    w->text[w->length] = c;
    w->from[w->length] = from;
    w->is_join[w->length] = is_join;
    w->is_alarm[w->length] = false;
    w->length++;
}

static void put(struct builder *b, char c, size_t from)
{
    uint8_t join = b->has_space ? 0 : b->join;
    if (b->has_space && b->window->length > 0)
        put_raw(b, ' ', b->space_from, b->join);
    put_raw(b, c, (uint32_t)from, join);
    b->window->is_alarm[b->window->length - 1] = b->has_alarm;
    b->has_space = b->has_alarm = false;
    b->join = 0;
}

static void put_space(struct builder *b, size_t from)
{
    if (!b->has_space)
        b->space_from = (uint32_t)from;
    b->has_space = true;
}

/* A code point of an escape, as UTF-8; typographic quotes become plain ones. */
static void put_code(struct builder *b, unsigned code, size_t from)
{
    if (code == 0x2018 || code == 0x2019)
        code = '\'';
    else if (code == 0x201c || code == 0x201d)
        code = '"';
    if (code <= ' ' || code == 0xa0 || code == 0x7f || code == 0x200b || code == 0x202f) {
        put_space(b, from);
    } else if (code < 0x80) {
        put(b, (char)code, from);
    } else if (code < 0x800) {
        put(b, (char)(0xc0 | code >> 6), from);
        put(b, (char)(0x80 | (code & 63)), from);
    } else if (code < 0x10000) {
        put(b, (char)(0xe0 | code >> 12), from);
        put(b, (char)(0x80 | (code >> 6 & 63)), from);
        put(b, (char)(0x80 | (code & 63)), from);
    }
}

/* --- escapes: each returns how many bytes it took, 0 when it is not one --- */

/* "[31m", "[0;1m" behind an escape character in any spelling, or with the character lost */
static size_t sequence_bytes(const char *text, size_t n)
{
    size_t i = 1;
    if (n < 3 || text[0] != '[')
        return 0;
    while (i < n && i < MAX_SEQUENCE && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';'))
        i++;
    return i < n && (text[i] == 'm' || text[i] == 'K') ? i + 1 : 0;
}

/* Of a path of Windows: "C:\torch\nn" and 'File "app\train.py"' have no line end and no tab in them. */
static bool is_path_part(const struct builder *b, size_t at)
{
    const char *text = b->raw;
    size_t start = at, last = at;
    while (start > 0 && at - start < MAX_PATH_PART &&
           (isalnum((unsigned char)text[start - 1]) || strchr("_.:\\/~+-", text[start - 1])))
        start--;
    while (last > start && text[last - 1] != '\\' && text[last - 1] != '.')
        last--;
    if (last > start && text[last - 1] == '.' && at - last <= 3) /* behind a file's name the path is over */
        return false;
    for (size_t i = start; i + 2 < at; i++)
        if (text[i + 1] == ':' && text[i + 2] == '\\' && isalpha((unsigned char)text[i]))
            return true;
    while (start > 0 && (text[start - 1] == '"' || text[start - 1] == '\\'))
        start--;
    return start >= 5 && !memcmp(text + start - 5, "File ", 5);
}

/* "\n", "\t", "\"", "\\", "\/", "A", "\x1b[31m"; one more backslash for each time the text was quoted again */
static size_t take_backslash(struct builder *b, size_t at)
{
    const char *text = b->raw + at;
    const size_t n = b->size - at;
    size_t k = 1;
    while (k < n && k < 8 && text[k] == '\\')
        k++;
    if (k >= n)
        return 0;
    const char c = text[k];
    if (c == 'n' || c == 'r' || c == 't') {
        if (is_path_part(b, at))
            return 0;
        put_space(b, at);
        b->join = b->join ? b->join : c == 'n';
        return k + 1;
    }
    if (c == '"' || c == '\'' || c == '/') {
        put(b, c, at);
        return k + 1;
    }
    const bool is_long = c == 'u', is_short = c == 'x';
    const size_t digits = is_long ? 4 : 2;
    if ((is_long || is_short) && n > k + digits) {
        unsigned code = 0;
        for (size_t i = 1; i <= digits; i++) {
            if (!is_hex(text[k + i]))
                return 0;
            code = 16 * code + hex(text[k + i]);
        }
        const size_t taken = k + 1 + digits;
        if (code == 0x1b)
            return taken + sequence_bytes(text + taken, n - taken);
        put_code(b, code, at);
        return taken;
    }
    return 0;
}

static size_t take_entity(struct builder *b, size_t at)
{
    static const struct {
        const char *name;
        char c;
    } entities[] = { { "&gt;", '>' },   { "&lt;", '<' },    { "&amp;", '&' },
                     { "&quot;", '"' }, { "&apos;", '\'' }, { "&nbsp;", ' ' } };
    const char *text = b->raw + at;
    const size_t n = b->size - at;
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        const size_t length = strlen(entities[i].name);
        if (n >= length && !memcmp(text, entities[i].name, length)) {
            put_code(b, (unsigned char)entities[i].c, at);
            return length;
        }
    }
    if (n < 4 || text[1] != '#')
        return 0;
    const bool is_hexadecimal = text[2] == 'x' || text[2] == 'X';
    unsigned code = 0;
    size_t i = is_hexadecimal ? 3 : 2;
    const size_t first = i;
    for (; i < n && i < first + MAX_ENTITY - 2; i++) {
        if (is_hexadecimal ? !is_hex(text[i]) : text[i] < '0' || text[i] > '9')
            break;
        code = (is_hexadecimal ? 16 : 10) * code + hex(text[i]);
    }
    if (i == first || i >= n || text[i] != ';')
        return 0;
    put_code(b, code, at);
    return i + 1;
}

/* "=20", and "=" at the end of a line that goes on */
static size_t take_mail(struct builder *b, size_t at)
{
    const char *text = b->raw + at;
    const size_t n = b->size - at;
    if (n > 1 && text[1] == '\n')
        return 2;
    if (n > 2 && text[1] == '\r' && text[2] == '\n')
        return 3;
    if (n < 3 || !is_hex(text[1]) || !is_hex(text[2]) || (text[1] | text[2]) & 32 & ((text[1] & 64) | (text[2] & 64)))
        return 0;
    const unsigned code = 16 * hex(text[1]) + hex(text[2]);
    if (code < 0x80)
        put_code(b, code, at);
    else
        put(b, (char)code, at);
    return 3;
}

/* "<br>", "<br/>", "<br />": the line end of a cell of a table */
static size_t take_break(struct builder *b, size_t at)
{
    const char *text = b->raw + at;
    const size_t n = b->size - at;
    size_t i = 3;
    if (n < 4 || (text[1] | 32) != 'b' || (text[2] | 32) != 'r')
        return 0;
    i += text[i] == ' ' && i + 1 < n;
    i += text[i] == '/' && i + 1 < n;
    if (text[i] != '>')
        return 0;
    put_space(b, at);
    b->join = b->join ? b->join : 1;
    return i + 1;
}

/* Bytes beyond ASCII that have a plain counterpart. */
static size_t take_typography(struct builder *b, size_t at)
{
    const unsigned char *text = (const unsigned char *)b->raw + at;
    const size_t n = b->size - at;
    if (n > 1 && text[0] == 0xc2 && text[1] == 0xa0) {
        put_space(b, at);
        return 2;
    }
    if (n > 2 && text[0] == 0xe2 && text[1] == 0x80) {
        const unsigned code = 0x2000U | (text[2] & 63U);
        if (text[2] == 0x8b || text[2] == 0xaf || text[2] == 0x98 || text[2] == 0x99 || text[2] == 0x9c ||
            text[2] == 0x9d) {
            put_code(b, code, at);
            return 3;
        }
    }
    if (n > 2 && text[0] == 0xe2 && text[1] == 0x94 && (text[2] == 0x82 || text[2] == 0x83)) { /* bars of a box */
        put_space(b, at);
        return 3;
    }
    return 0;
}

static size_t take_escape(struct builder *b, size_t at)
{
    const char c = b->raw[at];
    if (c == '\\')
        return take_backslash(b, at);
    if (c == '&')
        return take_entity(b, at);
    if (c == '<')
        return take_break(b, at);
    if (c == '=' && b->is_mail)
        return take_mail(b, at);
    if (c == '[') /* its escape character is lost */
        return b->size - at > 1 && b->raw[at + 1] >= '0' && b->raw[at + 1] <= '9'
                   ? sequence_bytes(b->raw + at, b->size - at)
                   : 0;
    if (c == '^' && b->size - at > 1 && b->raw[at + 1] == '[') {
        const size_t n = sequence_bytes(b->raw + at + 1, b->size - at - 1);
        return n ? n + 1 : 0;
    }
    return c & 0x80 ? take_typography(b, at) : 0;
}

/* The signs of a mail's encoding; "batch=20" alone is not one. */
static bool is_mail(const char *raw, size_t size)
{
    for (const char *p = raw, *end = raw + size; (p = memchr(p, '=', (size_t)(end - p))); p++) {
        const size_t n = (size_t)(end - p);
        const bool is_soft_break = n > 1 && (p[1] == '\n' || (n > 2 && p[1] == '\r' && p[2] == '\n')) && p - raw > 40;
        const bool is_code =
            n > 3 && (!memcmp(p, "=3D", 3) || (!memcmp(p, "=20", 3) && (p[3] == '\n' || p[3] == '\r')));
        if ((is_soft_break && !memchr(p - 40, '\n', 40)) || is_code)
            return true;
    }
    return false;
}

/* Most lines begin with the number of a task. */
static bool has_tasks(const char *raw, size_t size)
{
    size_t n = 0, n_tasks = 0;
    for (size_t start = 0; start < size; n++) {
        const char *end = memchr(raw + start, '\n', size - start);
        const size_t length = end ? (size_t)(end - raw) - start : size - start;
        n_tasks += plim_prefix_has_task(raw + start, length);
        start += length + 1;
    }
    return n_tasks > 1 && 2 * n_tasks > n;
}

/* --- lines --- */

/* Stands for itself, whatever is around it. */
static bool is_plain(char c)
{
    switch (c) {
    case '\\':
    case '&':
    case '=':
    case '[':
    case '^':
    case '<':
        return false;
    default:
        return c > ' ' && c < 0x7f;
    }
}

/* What is plain, with single blanks in it, is copied: nearly all of a log. */
static size_t take_plain(struct builder *b, size_t start, size_t end)
{
    struct plim_window *w = b->window;
    const size_t room = PLIM_WINDOW_BYTES - w->length;
    size_t at = start;
    while (at < end && (is_plain(b->raw[at]) || (b->raw[at] == ' ' && at + 1 < end && is_plain(b->raw[at + 1]))))
        at++;
    const size_t n = at - start < room ? at - start : room;
    memcpy(w->text + w->length, b->raw + start, n);
    memset(w->is_join + w->length, 0, n);
    memset(w->is_alarm + w->length, 0, n);
    for (size_t i = 0; i < n; i++)
        w->from[w->length + i] = (uint32_t)(start + i);
    w->length += n;
    return at;
}

static void take_line(struct builder *b, size_t start, size_t end)
{
    size_t at = start + plim_prefix_bytes(b->raw + start, end - start, b->has_tasks);
    b->has_alarm = plim_prefix_is_alarm(b->raw + start, at - start);
    while (at < end) {
        const char c = b->raw[at];
        if (is_plain(c)) {
            put(b, c, at);
            at = take_plain(b, at + 1, end);
            continue;
        }
        if (is_space(c)) {
            put_space(b, at);
            at++;
            continue;
        }
        size_t taken = take_escape(b, at);
        if (taken == 0) {
            if ((unsigned char)c >= ' ' && c != 0x7f)
                put(b, c, at);
            taken = 1;
        } else if (c == '<' || (c == '\\' && b->raw[at + taken - 1] == 'n')) { /* a line end: prefixes behind it */
            taken += plim_prefix_bytes(b->raw + at + taken, end - at - taken, false);
        }
        at += taken;
    }
}

static bool ends_with(const char *text, size_t n, const char *end)
{
    return n >= strlen(end) && !memcmp(text + n - strlen(end), end, strlen(end));
}

/*
 * A line of text that JSON keeps as a string of its own: docker's log files, a list in a notebook. The text goes on in
 * the next one as if there were no JSON.
 */
static void unwrap(const char *raw, size_t *ref_start, size_t *ref_end)
{
    static const char log[] = "{\"log\":", stream[] = "\"stream\":";
    size_t start = *ref_start, end = *ref_end;
    while (start < end && is_space(raw[start]))
        start++;
    if (end - start > sizeof log && !memcmp(raw + start, log, sizeof log - 1)) {
        const char *behind = memmem(raw + start, end - start, stream, sizeof stream - 1);
        start += sizeof log - 1;
        end = behind ? (size_t)(behind - raw) : end;
        start += raw[start] == ' ';
        while (end > start && (raw[end - 1] == ' ' || raw[end - 1] == ','))
            end--;
    } else if (end > start && raw[end - 1] == ',') {
        end--;
    }
    if (end <= start + 1 || raw[start] != '"' || !ends_with(raw + start, end - start, "\\n\""))
        return;
    *ref_start = start + 1;
    *ref_end = end - 3;
}

static bool is_blank_at(const struct builder *b, size_t at) { return at >= b->size || is_space(b->raw[at]); }

/* An empty line, or one with a time before its text: what is before it does not go on there. */
static bool begins_anew(const struct builder *b, size_t start)
{
    const char *end = start < b->size ? memchr(b->raw + start, '\n', b->size - start) : NULL;
    const size_t size = start < b->size ? (end ? (size_t)(end - b->raw) : b->size) - start : 0;
    const size_t n = size ? plim_prefix_bytes(b->raw + start, size, b->has_tasks) : 0;
    if (size == 0 || (size == 1 && b->raw[start] == '\r'))
        return start < b->size;
    for (size_t i = start + 1; i + 2 < start + n; i++)
        if (b->raw[i] == ':' && isdigit((unsigned char)b->raw[i - 1]) && isdigit((unsigned char)b->raw[i + 1]) &&
            isdigit((unsigned char)b->raw[i + 2]))
            return true;
    return false;
}

void plim_window_build(struct plim_window *window, const char *raw, size_t size, enum plim_join join)
{
    struct builder b = { .window = window, .raw = raw, .size = size < PLIM_WINDOW_BYTES ? size : PLIM_WINDOW_BYTES };
    size_t start = 0;
    window->length = 0;
    b.is_mail = is_mail(raw, b.size);
    b.has_tasks = has_tasks(raw, b.size);
    while (start < b.size) {
        const char *found = memchr(raw + start, '\n', b.size - start);
        const size_t end = found ? (size_t)(found - raw) : b.size;
        const bool is_soft = b.is_mail && end > start &&
                             (raw[end - 1] == '=' || (end > start + 1 && raw[end - 1] == '\r' && raw[end - 2] == '='));
        size_t text_end = end > start && raw[end - 1] == '\r' ? end - 1 : end;
        if (is_soft && end < b.size)
            text_end -= 1;
        unwrap(raw, &start, &text_end);
        take_line(&b, start, text_end);
        if (end < b.size) {
            const bool is_new = begins_anew(&b, end + 1);
            b.join = is_new ? PLIM_NEW_LINE : b.join || is_soft ? b.join : 1;
            const bool is_glued = is_soft || (join == PLIM_JOIN_NOTHING && text_end > start &&
                                              !is_blank_at(&b, text_end - 1) && !is_blank_at(&b, end + 1));
            if (!is_glued || is_blank_at(&b, end + 1) || is_new)
                put_space(&b, end);
        }
        start = end + 1;
    }
    window->text[window->length] = '\0';
    window->from[window->length] = (uint32_t)(b.has_space ? b.space_from : b.size);
    window->has_blank_end = b.has_space;
    window->is_join[window->length] = b.join;
    window->is_alarm[window->length] = false;
}
