/* SPDX-License-Identifier: MIT */
#include "hostile_log.h"

#include "diagnose/scan/patterns/pattern.h"
#include "pattern_examples.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What is written: a piece that ends where there is no room. */
struct piece {
    char *data;
    size_t n, size;
};

static uint32_t roll(struct hostile_log *log, size_t n)
{
    log->state ^= log->state << 13; /* xorshift */
    log->state ^= log->state >> 7;
    log->state ^= log->state << 17;
    return (uint32_t)((log->state >> 11) % n);
}

static void put(struct piece *p, const char *text, size_t n)
{
    n = n < p->size - p->n ? n : p->size - p->n;
    memcpy(p->data + p->n, text, n);
    p->n += n;
}

static void say(struct piece *p, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(p, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* A word that no other line has: digits would not make another kind of line. */
static void put_name(struct hostile_log *log, struct piece *p)
{
    uint64_t n = ++log->n_lines;
    char name[16];
    size_t length = 0;
    for (; length < 3 || n; n /= 26)
        name[length++] = (char)('a' + n % 26);
    put(p, name, length);
}

static const char *any_anchor(struct hostile_log *log) { return plim_triggers[roll(log, plim_n_triggers)].anchor; }

static const struct plim_pattern *any_general(struct hostile_log *log)
{
    for (;;) {
        const struct plim_pattern *pattern = &plim_patterns[roll(log, plim_n_patterns)];
        if (pattern->is_general)
            return pattern;
    }
}

/* Letters and blanks of an expression: a word, or a few of them. */
static void put_words_of(struct hostile_log *log, struct piece *p, const char *expression)
{
    size_t at = roll(log, strlen(expression) + 1), n = 0;
    while (expression[at] && !isalpha((unsigned char)expression[at]))
        at++;
    while (isalpha((unsigned char)expression[at + n]) || (expression[at + n] == ' ' && n > 0))
        n++;
    put(p, expression + at, n);
}

static void near_misses(struct hostile_log *log, struct piece *p)
{
    static const char *const others[] = { "Error:", "failed",  "12.5 GiB", "of", "error:", "(",    "1024",   "MiB",
                                          "[",      "ERROR",   ":",        "-",  "memory", "CUDA", "device", "is",
                                          "to",     "process", "total",    "=",  "x.y",    "GPU",  "used",   "at" };
    const struct plim_pattern *pattern = any_general(log);
    const char *anchor = any_anchor(log);
    for (uint32_t words = 20 + roll(log, 200); words > 0; words--) {
        const uint32_t what = roll(log, 32);
        if (what == 0)
            say(p, "%s", pattern->anchors[0]);
        else if (what == 1)
            say(p, "%s", anchor);
        else if (what < 6)
            put_words_of(log, p, pattern->match);
        else
            say(p, "%s", others[roll(log, sizeof others / sizeof *others)]);
        put(p, " ", 1);
    }
}

static void many_anchors(struct hostile_log *log, struct piece *p)
{
    const uint32_t first = roll(log, plim_n_triggers);
    for (uint32_t i = 0; i < plim_n_triggers / 8; i++) {
        const struct plim_trigger *trigger = &plim_triggers[(first + i * 7) % plim_n_triggers];
        say(p, "%s%s", trigger->anchor, i % 5 ? " " : ": ");
        if (i % 40 == 39)
            put_name(log, p);
    }
}

static void nested(struct hostile_log *log, struct piece *p)
{
    static const char *const begins[] = { "Error: ",   "ERROR ",   "failed to ", "[rank0]: ",   "File \"",
                                          "\\\\\\\\n", "\"'",      "((((",       "{\"a\": \"",  "=3D",
                                          "&#x27;",    "> > > ",   "C:\\a\\n",   "not enough ", "1,111",
                                          "[[[[",      "Process ", "\\u001b[31m" };
    const char *begin = begins[roll(log, sizeof begins / sizeof *begins)];
    for (uint32_t n = 100 + roll(log, 4000); n > 0; n--) {
        put(p, begin, strlen(begin));
        if (roll(log, 40) == 0)
            say(p, " %s ", any_anchor(log));
        if (roll(log, 400) == 0)
            begin = begins[roll(log, sizeof begins / sizeof *begins)];
    }
}

static void failures(struct hostile_log *log, struct piece *p)
{
    const struct pattern_example *example = &pattern_examples[roll(log, n_pattern_examples)];
    const uint32_t rank = roll(log, 4096);
    say(p, "[rank%u]: (worker-%u pid=%u) ", rank, rank, 1000 + roll(log, 60000));
    put_name(log, p);
    put(p, " ", 1);
    for (const char *c = example->text; *c; c++) {
        const char digit = (char)('1' + roll(log, 9));
        put(p, isdigit((unsigned char)*c) ? &digit : c, 1);
    }
}

static void tracebacks(struct hostile_log *log, struct piece *p)
{
    const uint32_t rank = roll(log, 64);
    for (uint32_t n = 1 + roll(log, 60); n > 0; n--) {
        say(p, "[rank%u]:   File \"/opt/", (rank + roll(log, 3)) % 64);
        put_name(log, p);
        say(p, "/model.py\", line %u, in forward\n[rank%u]:     x = self.layer(x)\n", roll(log, 900), rank);
    }
    say(p,
        "[rank%u]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %u.00 MiB. GPU %u has a total "
        "capacity "
        "of 23.69 GiB of which %u.44 MiB is free. Process %u has 1.25 GiB memory in use. ",
        rank, 2 + roll(log, 900), roll(log, 8), roll(log, 900), 1000 + roll(log, 60000));
    put_name(log, p);
}

static void any_bytes(struct hostile_log *log, struct piece *p)
{
    const uint32_t what = log->n_lines ? roll(log, 4) : 2; /* it does not begin as UTF-16: that would be read as such */
    for (uint32_t n = 50 + roll(log, 200); n > 0; n--) {
        const char *anchor = any_anchor(log);
        const char byte = (char)roll(log, 256);
        if (what == 0)
            put(p, &byte, 1);
        else if (what == 1)
            for (size_t i = 0; anchor[i]; i++)
                put(p, (const char[]){ anchor[i], '\0' }, 2); /* UTF-16 */
        else
            say(p, what == 2 ? "\033[3%um%s" : "\xe2\x80\x98\xff%.0u%s\r", roll(log, 8), anchor);
    }
}

const char *hostile_name(enum hostile_kind kind)
{
    static const char *const names[] = { "near-misses", "anchors", "nested", "failures", "tracebacks", "bytes" };
    return names[kind];
}

void hostile_begin(struct hostile_log *log, enum hostile_kind kind, uint64_t seed)
{
    *log = (struct hostile_log){ .kind = kind, .state = seed * 0x9e3779b97f4a7c15U + 1 };
}

void hostile_write(struct hostile_log *log, char *data, size_t size)
{
    static void (*const write[])(struct hostile_log *, struct piece *) = { near_misses, many_anchors, nested,
                                                                           failures,    tracebacks,   any_bytes };
    struct piece p = { data, 0, size };
    while (p.n < p.size) {
        write[log->kind](log, &p);
        put(&p, " ", 1);
        put_name(log, &p);
        put(&p, "\n", log->kind != HOSTILE_BYTES || log->n_lines % 4); /* and some without a line end */
    }
}
