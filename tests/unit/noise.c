/* SPDX-License-Identifier: MIT */
#include "noise.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[NOISE_MAX_] = {
    "none", "soft wrap", "hard wrap", "ANSI", "rank", "stamp",  "syslog",    "compose",
    "JSON", "HTML",      "quote",     "mail", "CRLF", "UTF-16", "truncated",
};

const char *noise_name(enum noise noise) { return names[noise]; }

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

/* A text of lines, each with `prefix` before it. */
static void put_prefixed(FILE *out, const char *text, const char *prefix)
{
    fputs(prefix, out);
    for (; *text; text++) {
        fputc(*text, out);
        if (*text == '\n')
            fputs(prefix, out);
    }
}

/* Lines of at most `width` columns; broken at blanks, or anywhere. */
static void put_wrapped(FILE *out, const char *text, size_t width, bool is_hard, const char *prefix)
{
    fputs(prefix, out);
    while (*text) {
        size_t n = strcspn(text, "\n"), take = n;
        if (n > width) {
            take = width;
            while (!is_hard && take > 0 && text[take] != ' ')
                take--;
            if (take == 0)
                take = n;
        }
        fwrite(text, 1, take, out);
        text += take;
        if (!is_hard && *text == ' ')
            text++;
        else if (*text == '\n')
            text++;
        fputc('\n', out);
        fputs(prefix, out);
    }
}

static void put_ansi(FILE *out, const char *text, uint32_t *seed)
{
    static const char *const sequences[] = {
        "\033[31m", "\033[0m", "\033[1;33m", "\033[K", "\033[38;5;196m", "\033(B"
    };
    size_t until = next(seed) % 40;
    for (; *text; text++) {
        if (until-- == 0) {
            fputs(sequences[next(seed) % 6], out);
            until = 5 + next(seed) % 40;
        }
        fputc(*text, out);
    }
}

static void put_json(FILE *out, const char *text)
{
    fputs("{\"object\":\"error\",\"message\":\"", out);
    for (; *text; text++)
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    fputs("\",\"code\":500}", out);
}

static void put_html(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '\'')
            fputs("&#x27;", out);
        else if (*text == '/')
            fputs("&#47;", out);
        else
            fputc(*text, out);
}

static void put_mail(FILE *out, const char *text)
{
    size_t column = 0;
    fputs("Subject: =3D help\n", out);
    for (; *text; text++) {
        if (*text == '=')
            column += (size_t)fprintf(out, "=3D");
        else if (*text == ' ' && (text[1] == '\n' || !text[1]))
            column += (size_t)fprintf(out, "=20");
        else
            column += fputc(*text, out) != EOF;
        if (*text == '\n')
            column = 0;
        if (column >= 73) {
            fputs("=\n", out);
            column = 0;
        }
    }
}

static void put_utf16(FILE *out, const char *text)
{
    fputs("\xff\xfe", out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        unsigned code = *p;
        if (code >= 0xe0 && p[1] && p[2]) {
            code = (code & 15U) << 12 | (p[1] & 63U) << 6 | (p[2] & 63U);
            p += 2;
        } else if (code >= 0xc0 && p[1]) {
            code = (code & 31U) << 6 | (p[1] & 63U);
            p++;
        }
        fputc((int)(code & 255), out);
        fputc((int)(code >> 8), out);
    }
    fputc('\n', out);
    fputc(0, out);
}

char *noise_add(enum noise noise, const char *text, uint32_t seed, size_t *ret_size)
{
    char *buffer = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&buffer, &size);
    if (!out)
        abort();
    const size_t width = 70 + next(&seed) % 31;
    switch (noise) {
    case NOISE_SOFT_WRAP:
        put_wrapped(out, text, width, false, "");
        break;
    case NOISE_HARD_WRAP:
        put_wrapped(out, text, width, true, "");
        break;
    case NOISE_ANSI:
        put_ansi(out, text, &seed);
        break;
    case NOISE_RANK:
        put_wrapped(out, text, width, false, "[rank3]: ");
        break;
    case NOISE_STAMP:
        put_prefixed(out, text, "2025-03-04 10:11:12,345 ERROR ");
        break;
    case NOISE_SYSLOG:
        put_prefixed(out, text, "Mar  4 10:11:12 node17 app[4242]: ");
        break;
    case NOISE_COMPOSE:
        put_wrapped(out, text, width, false, "vllm-1  | (EngineCore_DP0 pid=276) ");
        break;
    case NOISE_JSON:
        put_json(out, text);
        break;
    case NOISE_HTML:
        put_html(out, text);
        break;
    case NOISE_QUOTE:
        put_wrapped(out, text, width, false, "> ");
        break;
    case NOISE_MAIL:
        put_mail(out, text);
        break;
    case NOISE_CRLF:
        for (; *text; text++)
            fprintf(out, *text == '\n' ? "\r\n" : "%c", *text);
        break;
    case NOISE_UTF16:
        put_utf16(out, text);
        break;
    case NOISE_TRUNCATED:
        fwrite(text, 1, next(&seed) % (strlen(text) + 1), out);
        break;
    default:
        fputs(text, out);
    }
    if (noise != NOISE_TRUNCATED && noise != NOISE_UTF16)
        fputc('\n', out);
    fclose(out);
    *ret_size = size;
    return buffer;
}
