/* SPDX-License-Identifier: MIT */
/*
 * Prefixes only matter where a message goes on in the next line: there they would stand in the middle of it. So a
 * prefix is recognised only in its exact form; other text stays.
 */
#include "diagnose/scan/prefix.h"

#include "base/gnu_string.h"

#include <string.h>

enum {
    MAX_PREFIXES = 8, /* of one line: a container's stamp, a stamp, a rank, a level ... */
    MAX_BRACKET = 96,
    MAX_NAME = 64,
};

struct text {
    const char *at, *end;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_name(char c) { return is_digit(c) || is_alpha(c) || c == '_' || c == '-' || c == '.'; }
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\0'; }

static bool is_one_of(char c, const char *set) { return c && strchr(set, c) != NULL; }

static bool take(struct text *t, const char *word)
{
    if (t->at >= t->end || *t->at != *word) /* nearly always */
        return false;
    const size_t n = strlen(word);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

static bool take_digits(struct text *t, int least, int most)
{
    int n = 0;
    while (t->at < t->end && n < most && is_digit(*t->at)) {
        t->at++;
        n++;
    }
    return n >= least;
}

static void skip_spaces(struct text *t)
{
    while (t->at < t->end && is_space(*t->at))
        t->at++;
}

/* "12:30:59", ".123456", ",123", "Z", "+01:00" */
static bool take_time(struct text *t)
{
    struct text s = *t;
    if (!take_digits(&s, 1, 2) || !take(&s, ":") || !take_digits(&s, 2, 2) || !take(&s, ":") || !take_digits(&s, 2, 2))
        return false;
    if (s.at < s.end && (*s.at == '.' || *s.at == ',')) {
        s.at++;
        take_digits(&s, 0, 9);
    }
    if (!take(&s, "Z") && s.at < s.end && (*s.at == '+' || *s.at == '-') && s.end - s.at > 2 && is_digit(s.at[1])) {
        s.at++;
        take_digits(&s, 1, 4);
        if (take(&s, ":"))
            take_digits(&s, 2, 2);
    }
    *t = s;
    return true;
}

/* "2024-05-01T12:30:59", "2024/05/01 12:30:59.123", "05-01 12:30:59", "E0501 12:30:59", and no more than the time */
static bool take_stamp(struct text *t)
{
    struct text s = *t;
    if (take_time(&s)) {
        *t = s;
        return true;
    }
    if (s.end - s.at > 5 && is_one_of(*s.at, "EWIFD") && is_digit(s.at[1]) && is_digit(s.at[4])) { /* glog */
        s.at++;
        if (!take_digits(&s, 4, 8))
            return false;
    } else {
        const char *start = s.at;
        if (!take_digits(&s, 2, 4) || s.at >= s.end || (*s.at != '-' && *s.at != '/'))
            return false;
        s.at++;
        if (!take_digits(&s, 2, 2))
            return false;
        if (s.at < s.end && (*s.at == '-' || *s.at == '/')) {
            s.at++;
            if (!take_digits(&s, 2, 4))
                return false;
        } else if (s.at - start != 5) {
            return false;
        }
    }
    if (s.at < s.end && *s.at == 'T')
        s.at++;
    skip_spaces(&s);
    if (!take_time(&s))
        return false;
    *t = s;
    return true;
}

/* "May  1 12:30:59 host program[123]: ", with the weekday of dmesg -T before it */
static bool take_syslog(struct text *t)
{
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    struct text s = *t;
    for (size_t i = 0; i < sizeof months / sizeof *months; i++)
        if (take(&s, months[i])) {
            skip_spaces(&s);
            if (!take_digits(&s, 1, 2))
                return false;
            skip_spaces(&s);
            if (!take_time(&s))
                return false;
            skip_spaces(&s);
            struct text host = s;
            int n = 0;
            while (host.at < host.end && is_name(*host.at) && n < MAX_NAME) {
                host.at++;
                n++;
            }
            if (n > 0 && take(&host, " ")) { /* host program[pid]: */
                n = 0;
                while (host.at < host.end && (is_name(*host.at) || is_one_of(*host.at, "/@()")) && n < MAX_NAME) {
                    host.at++;
                    n++;
                }
                if (take(&host, "[")) {
                    take_digits(&host, 0, 10);
                    take(&host, "]");
                }
                if (n > 0 && take(&host, ":"))
                    s = host;
            }
            *t = s;
            return true;
        }
    return false;
}

static bool begins_with_one_of(const char *text, size_t n, const char *const *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (n > 0 && *text == *words[i] && n >= strlen(words[i]) && !memcmp(text, words[i], strlen(words[i])))
            return true;
    return false;
}

/* Inside of "[...]": a stamp, the kernel's uptime, a rank, a level, where in a program the line was written. */
static bool is_label(const char *text, size_t n)
{
    static const char *const levels[] = { "ERROR", "INFO",  "WARN", "WARNING", "DEBUG", "FATAL", "CRITICAL",
                                          "TM",    "error", "info", "warn",    "E",     "W",     "I" };
    static const char *const ranks[] = { "rank", "Rank", "RANK", "default", "INFO|", "ERROR|", "WARNING|", "Worker" };
    struct text stamp = { text, text + n };
    bool is_number = n > 0;
    for (size_t i = 0; i < n && is_number; i++)
        is_number = is_digit(text[i]) || is_one_of(text[i], " .,:");
    if (is_number || take_stamp(&stamp))
        return true;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (n == strlen(levels[i]) && !memcmp(text, levels[i], n))
            return true;
    const char *source = memmem(text, n, ".py:", 4);
    return begins_with_one_of(text, n, ranks, sizeof ranks / sizeof *ranks) ||
           (source && !memchr(text, ' ', n) && is_digit(text[n - 1]));
}

/* Inside of "(...)": "EngineCore_DP0 pid=276", "pid=4242, ip=10.0.0.7", "Worker_TP1 rank=1 pid=88". */
static bool is_process(const char *text, size_t n)
{
    static const char *const keys[] = { "pid=", "ip=", "rank=", "dp_rank=", "tp_rank=" };
    bool has_key = false;
    for (size_t start = 0; start < n;) {
        const char *end = memchr(text + start, ' ', n - start);
        const size_t length = end ? (size_t)(end - text) - start : n - start;
        const bool is_key = begins_with_one_of(text + start, length, keys, sizeof keys / sizeof *keys);
        if (!is_key && start > 0)
            return false;
        has_key = has_key || is_key;
        start += length + 1;
    }
    return has_key;
}

/* "[rank0]:", "(EngineCore_DP0 pid=123)", "[1,0]<stderr>:", "[ 123.456789]", "[ERROR]" */
static bool take_bracket(struct text *t)
{
    struct text s = *t;
    if (s.at >= s.end || (*s.at != '[' && *s.at != '('))
        return false;
    const char closing = *s.at == '[' ? ']' : ')';
    bool (*const is)(const char *, size_t) = *s.at == '[' ? is_label : is_process;
    const char *inside = ++s.at;
    while (s.at < s.end && *s.at != closing && s.at - inside < MAX_BRACKET)
        s.at++;
    if (s.at >= s.end || *s.at != closing || !is(inside, (size_t)(s.at - inside)))
        return false;
    s.at++;
    if (take(&s, "<stderr>") || take(&s, "<stdout>")) { /* mpirun */
    }
    take(&s, ":");
    *t = s;
    return true;
}

/* "0: " of srun --label, and of nothing else: so every line has it */
static bool take_task(struct text *t)
{
    struct text s = *t;
    if (!take_digits(&s, 1, 5) || !take(&s, ": "))
        return false;
    *t = s;
    return true;
}

bool plim_prefix_has_task(const char *line, size_t n)
{
    struct text t = { line, line + n };
    skip_spaces(&t);
    return take_task(&t);
}

/* "worker-1  | ", of docker compose and kubetail */
static bool take_named(struct text *t)
{
    struct text s = *t;
    int n = 0;
    while (s.at < s.end && (is_name(*s.at) || *s.at == '/') && n < MAX_NAME) {
        s.at++;
        n++;
    }
    if (n == 0)
        return false;
    if (s.at >= s.end || !is_space(*s.at))
        return false;
    skip_spaces(&s);
    if (!take(&s, "| "))
        return false;
    *t = s;
    return true;
}

/* "> ", "| ", "# ", "* ", "--> 723", "stderr F ", levels; the bars of boxed tracebacks */
static bool take_mark(struct text *t)
{
    static const char *const marks[] = { ">",       "|",         "\xe2\x94\x82", "\xe2\x94\x83", "\xe2\x9d\xb1",
                                         "# ",      "* ",        "// ",          "stderr F ",    "stdout F ",
                                         "ERROR ",  "INFO ",     "WARNING ",     "CRITICAL ",    "DEBUG ",
                                         "ERROR: ", "CRITICAL:", "E ",           "stderr: ",     "stdout: " };
    struct text s = *t;
    if (take(&s, "-->") || take(&s, "--->")) {
        skip_spaces(&s);
        take_digits(&s, 0, 6);
        *t = s;
        return true;
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (take(t, marks[i]))
            return true;
    return false;
}

size_t plim_prefix_bytes(const char *line, size_t n, bool has_tasks)
{
    struct text t = { line, line + n };
    skip_spaces(&t);
    if (has_tasks && take_task(&t))
        skip_spaces(&t);
    for (int i = 0; i < MAX_PREFIXES; i++) {
        const char *before = t.at;
        if (!take_bracket(&t) && !take_stamp(&t) && !take_syslog(&t) && !take_mark(&t) && !take_named(&t))
            break;
        skip_spaces(&t);
        if (t.at == before)
            break;
    }
    return (size_t)(t.at - line);
}

bool plim_prefix_is_alarm(const char *prefix, size_t n)
{
    static const char *const words[] = { "ERROR", "CRITICAL", "FATAL", "[error]", "[E]" };
    for (size_t i = 0; n > 2 && i < sizeof words / sizeof *words; i++)
        if (memmem(prefix, n, words[i], strlen(words[i])))
            return true;
    return n > 5 && (*prefix == 'E' || *prefix == 'F') && prefix[1] >= '0' && prefix[1] <= '9'; /* of glog */
}
