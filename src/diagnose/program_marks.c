/* SPDX-License-Identifier: MIT */
#include "diagnose/program_marks.h"

#include "base/gnu_string.h"
#include "diagnose/scan/patterns/pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 80,      /* of a program's `path` */
    MAX_PATH_BYTES = 200, /* of one in a text */
    MAX_WORD_BYTES = 16,  /* behind a point: the longest end of a file's or a host's name */
};

static bool is_word_byte(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* --- paths --- */

static bool is_in_frames(const struct plim_observation *s, const char *path)
{
    for (uint32_t k = 0; k < s->n_frames; k++)
        if (strstr(s->frames[k].file, path))
            return true;
    return false;
}

/* A link to the pages of a program does not show that it ran, nor does a folder of its cache: a source or a library
 * does. */
static bool is_in_source(const char *text, const char *at)
{
    static const char around[] = " \"'<>()[],", *const ends[] = { ".py", ".so", ".c", ".h", ".rs", ".jl" };
    const size_t n = strcspn(at, around);
    bool is_source = false;
    for (const char *c = at; c > text && at - c < MAX_PATH_BYTES && !strchr(around, c[-1]); c--)
        if (c[-1] == ':' && !strncmp(c, "//", 2))
            return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && n < MAX_PATH_BYTES; i++)
        is_source = is_source || memmem(at, n, ends[i], strlen(ends[i]));
    return is_source;
}

static bool is_path_in_text(const char *text, const char *path)
{
    for (const char *at = text; text && (at = strstr(at, path)) != NULL; at++)
        if (is_in_source(text, at))
            return true;
    return false;
}

/* In frames paths have one kind of slash, in the text that of the system; and not all that names files is a frame. */
static bool is_any_path_around(const struct plim_observation *s, const char *const *paths)
{
    for (; paths && *paths; paths++) {
        char windows[PATH_BYTES];
        snprintf(windows, sizeof windows, "%s", *paths);
        for (char *c = windows; *c; c++)
            *c = *c == '/' ? '\\' : *c;
        if (is_in_frames(s, *paths))
            return true;
        for (int k = 0; k < 2; k++)
            if (is_path_in_text(s->texts[k], *paths) || is_path_in_text(s->texts[k], windows))
                return true;
    }
    return false;
}

/* --- packages of Python --- */

static bool is_behind(const char *text, const char *at, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(at - text) >= n && !memcmp(at - n, word, n);
}

/* "name.part", which is neither a file nor a host: "train.py", "example.com". */
static bool is_dotted(const char *behind)
{
    static const char *const ends[] = { "py",  "com",  "ai",   "io",   "org",        "md",    "git",  "cpp",
                                        "c",   "h",    "cc",   "rs",   "net",        "dev",   "sh",   "js",
                                        "log", "txt",  "exe",  "json", "yaml",       "yml",   "toml", "cfg",
                                        "dll", "zip",  "jl",   "cu",   "bat",        "ipynb", "pt",   "pth",
                                        "bin", "gguf", "ckpt", "lock", "safetensors" };
    size_t n = 1;
    if (behind[0] != '.' || !(isalpha((unsigned char)behind[1]) || behind[1] == '_'))
        return false;
    while (n <= MAX_WORD_BYTES && is_word_byte(behind[n]))
        n++;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strlen(ends[i]) == n - 1 && !memcmp(behind + 1, ends[i], n - 1))
            return false;
    return true;
}

/* "to import NAME", "you could import NAME": of a sentence about it. Line ends are blanks here, so the word before
 * tells.
 */
static bool is_in_sentence(const char *text, const char *import)
{
    static const char *const words[] = { " to ",    " not ",  "n't ",     "n’t ",   "cannot ", " can ", " could ",
                                         " would ", " will ", " should ", " must ", " may ",   " or ",  " please " };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_behind(text, import, words[i]))
            return true;
    return false;
}

/* `import NAME`, `from NAME.part import`, `python -m NAME`, "NAME.part" of code or a logger. */
static bool is_used(const char *text, const char *at, size_t n)
{
    const char before = at > text ? at[-1] : ' ', *behind = at + n;
    if (is_word_byte(before) || is_word_byte(*behind))
        return false;
    if (is_behind(text, at, "import "))
        return !is_in_sentence(text, at - strlen("import "));
    if (is_behind(text, at, " -m "))
        return true;
    if (is_behind(text, at, "from "))
        return *behind == '.' || !strncmp(behind, " import", 7);
    return !strchr("./\\@-", before) && is_dotted(behind);
}

static bool is_any_package_around(const struct plim_observation *s, const char *const *packages)
{
    for (; packages && *packages; packages++) {
        const size_t n = strlen(*packages);
        for (int k = 0; k < 2; k++)
            for (const char *at = s->texts[k]; at && (at = strstr(at, *packages)) != NULL; at += n)
                if (is_used(s->texts[k], at, n))
                    return true;
    }
    return false;
}

/* --- words --- */

static bool is_any_in_texts(const struct plim_observation *s, const char *const *words)
{
    for (; words && *words; words++)
        for (int k = 0; k < 2; k++)
            if (s->texts[k] && strstr(s->texts[k], *words))
                return true;
    return false;
}

bool plim_program_is_around(const struct plim_pattern *program, const struct plim_observation *s)
{
    return is_any_path_around(s, program->paths) || is_any_in_texts(s, program->nears) ||
           is_any_package_around(s, program->packages);
}

/* What containers and services print before each line: "vllm  | ", "docker[55]: ". It names the one, not the program.
 */
static bool is_prefix(const char *behind, const char *end)
{
    if (behind + 1 < end && *behind == '[' && isdigit((unsigned char)behind[1]))
        return true;
    while (behind < end && *behind == ' ')
        behind++;
    return behind < end && *behind == '|';
}

/* By itself: in no longer name, path or link, and not as something that is merely installed. */
static bool is_word(const char *text, const char *end, const char *at, size_t n)
{
    const char *behind = at + n;
    const bool is_size = behind < end && isdigit((unsigned char)behind[-1]) && isalpha((unsigned char)*behind);
    behind += is_size; /* "YOLOv8x" */
    if ((behind < end && is_word_byte(*behind)) || is_prefix(behind, end))
        return false;
    return at == text || !(is_word_byte(at[-1]) || at[-1] == '.' || at[-1] == '/' || is_behind(text, at, "[pip3] ") ||
                           is_behind(text, at, "[conda] "));
}

const char *plim_program_named_at(const struct plim_pattern *program, const char *text, size_t size)
{
    const char *first = NULL, *end = text + size;
    for (const char *const *name = program->names; name && *name; name++) {
        const size_t n = strlen(*name);
        for (const char *at = text; (at = memmem(at, (size_t)(end - at), *name, n)) != NULL; at++)
            if (is_word(text, end, at, n)) {
                first = !first || at < first ? at : first;
                break;
            }
    }
    return first;
}
