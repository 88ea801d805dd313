/* SPDX-License-Identifier: MIT */
#include "report/json_text.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

json_t *plim_text_part_json(const char *raw, size_t length)
{
    const size_t n_replacement = sizeof replacement - 1;
    json_t *value = json_stringn(raw, length);
    if (value)
        return value;
    char *copy = plim_alloc(length + 1, n_replacement);
    if (!copy)
        return NULL;
    size_t n_copied = 0;
    uint32_t code;
    for (size_t at = 0, n; at < length; at += n) {
        n = plim_text_character(raw + at, length - at, &code);
        const bool is_valid = code != PLIM_TEXT_INVALID;
        memcpy(copy + n_copied, is_valid ? raw + at : replacement, is_valid ? n : n_replacement);
        n_copied += is_valid ? n : n_replacement;
    }
    value = json_stringn(copy, n_copied);
    plim_free(copy);
    return value;
}

json_t *plim_text_json(const char *raw) { return plim_text_part_json(raw, strlen(raw)); }

json_t *plim_text_or_null_json(const char *raw) { return raw && *raw ? plim_text_json(raw) : json_null(); }

/* "\u202E"; above U+FFFF a pair of surrogates. */
static int write_number(uint32_t code, FILE *out)
{
    if (code < 0x10000)
        return fprintf(out, "\\u%04X", (unsigned)code);
    return fprintf(out, "\\u%04X\\u%04X", (unsigned)(0xD800 + ((code - 0x10000) >> 10)),
                   (unsigned)(0xDC00 + (code & 0x3FF)));
}

struct target {
    FILE *out;
    bool is_page; /* of HTML: no tag begins or ends in a text */
};

static bool stays(const struct target *target, uint32_t code)
{
    if (target->is_page && (code == '<' || code == '>' || code == '&'))
        return false;
    return code == '\n' || plim_text_is_shown(code);
}

/* Jansson gives whole characters. Those of JSON itself are shown, but for the line ends between values. */
static int write_piece(const char *piece, size_t length, void *to)
{
    const struct target *target = to;
    FILE *out = target->out;
    size_t start = 0;
    uint32_t code;
    for (size_t at = 0, n; at < length; at += n) {
        n = plim_text_character(piece + at, length - at, &code);
        if (stays(target, code))
            continue;
        if (fwrite(piece + start, 1, at - start, out) != at - start || write_number(code, out) < 0)
            return -1;
        start = at + n;
    }
    return fwrite(piece + start, 1, length - start, out) == length - start ? 0 : -1;
}

static bool write_to(struct target target, json_t *root, size_t flags)
{
    const bool is_written =
        root && json_dump_callback(root, write_piece, &target, flags) == 0 && fputc('\n', target.out) != EOF;
    json_decref(root);
    return is_written;
}

bool plim_json_write(FILE *out, json_t *root, size_t flags)
{
    return write_to((struct target){ .out = out }, root, flags);
}

bool plim_json_write_in_page(FILE *out, json_t *root)
{
    return write_to((struct target){ .out = out, .is_page = true }, root, JSON_COMPACT);
}
