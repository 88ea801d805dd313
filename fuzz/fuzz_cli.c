/* SPDX-License-Identifier: MIT */
/*
 * Whole commands, through main(): one word per line of the input; after a line with the byte 1 alone, the content of
 * the file "in", which is the standard input, too. The folder is cli_world.h's; names that lead out of it are changed,
 * and `rehearse` and `sweep`, which start programs, are left out, as is waiting for a log to grow.
 *
 * Of each command: the status is one of those that the manual lists, all that is printed is fit for a terminal, an
 * answer in JSON can be parsed, no file stays open, and a `hollow` that fails leaves nothing behind.
 */
#include "cli_world.h"
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_WORDS = 48, MAX_TEXT = 4096, MAX_OUTPUT = 4 << 20, MAX_WORLD_BYTES = 16 << 20 };
enum { YES, NO, USAGE, INPUT, NO_CARD, NETWORK, N_STATUSES };

int plimsoll_main(int argc, char **argv); /* cli/main.c */

static int captured[3], real_error; /* captured: by the number of the stream */
static char printed[MAX_OUTPUT];

/* --- streams --- */

static void redirect(void)
{
    const int in = open("in", O_RDONLY | O_CLOEXEC);
    for (int stream = 1; stream < 3; stream++)
        FUZZ_REQUIRE(ftruncate(captured[stream], 0) == 0 && lseek(captured[stream], 0, SEEK_SET) == 0);
    FUZZ_REQUIRE(dup2(in, STDIN_FILENO) == STDIN_FILENO);
    close(in);
    dup2(captured[STDOUT_FILENO], STDOUT_FILENO);
    dup2(captured[STDERR_FILENO], STDERR_FILENO);
    __fpurge(stdin);
    clearerr(stdin);
    clearerr(stdout);
    clearerr(stderr);
}

/* Broken promises are told on the real standard error. */
static void restore(void)
{
    fflush(stdout);
    fflush(stderr);
    dup2(real_error, STDERR_FILENO);
    dup2(real_error, STDOUT_FILENO);
}

static size_t fetch(int stream)
{
    const ssize_t n = pread(captured[stream], printed, sizeof printed, 0);
    FUZZ_REQUIRE(n >= 0);
    return (size_t)n;
}

static size_t n_open_files(void)
{
    size_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

/* --- words --- */

static bool leads_out(const char *word)
{
    if (strstr(word, "..") || word[0] == '~')
        return true;
    for (const char *slash = strchr(word, '/'); slash; slash = strchr(slash + 1, '/'))
        if (slash == word || (slash[-1] != '.' && slash[-1] != '_' && !(slash[-1] >= '0' && slash[-1] <= '9') &&
                              !(slash[-1] >= 'A' && slash[-1] <= 'Z') && !(slash[-1] >= 'a' && slash[-1] <= 'z')))
            return true;
    return false;
}

static char *tamed(char *word)
{
    for (char *c = word; leads_out(word) && *c; c++)
        if (*c == '/' || *c == '.' || *c == '~')
            *c = '_';
    return word;
}

static bool has(char *const *words, const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* The words; the command is one that exists in all but a few inputs. */
static int split(char *text, char *words[MAX_WORDS + 1])
{
    static const char *const commands[] = { "fit",   "explain", "hollow", "check",    "errors",
                                            "cards", "engines", "help",   "--version" };
    enum { N_COMMANDS = sizeof commands / sizeof *commands, ANY = 0xff };
    int n = 0;
    words[n++] = (char *)(uintptr_t) "plimsoll";
    for (char *rest = text; rest && n < MAX_WORDS;)
        words[n++] = tamed(strsep(&rest, "\n"));
    bool is_known = (unsigned char)words[1][0] == ANY;
    for (size_t i = 0; i < N_COMMANDS; i++)
        is_known = is_known || !strcmp(words[1], commands[i]);
    if (!is_known)
        words[1] = (char *)(uintptr_t)commands[(unsigned char)words[1][0] % N_COMMANDS];
    words[n] = NULL;
    return n;
}

/* Words that would wait, and the command that runs others. */
static bool is_left_out(char *const *words)
{
    if (!strcmp(words[1], "rehearse") || !strcmp(words[1], "sweep"))
        return true;
    return !strcmp(words[1], "explain") && (has(words, "-f") || has(words, "--follow"));
}

/* --- what must hold --- */

static void check_output(char *const *words, int status)
{
    const bool is_json = words[2] && !strcmp(words[2], "--json") && !has(words, "--help") && !has(words, "-h") &&
                         strcmp(words[1], "help") != 0 && words[1][0] != '-'; /* --version */
    const bool is_answer = status == YES || status == NO;
    const size_t size = fetch(STDOUT_FILENO);
    FUZZ_REQUIRE(size < sizeof printed);
    if (is_json && is_answer && (status == YES || size > 0)) {
        json_error_t error;
        json_t *document = json_loadb(printed, size, JSON_REJECT_DUPLICATES, &error);
        if (!document)
            fprintf(stderr, "line %d, column %d: %s\n%.*s\n", error.line, error.column, error.text, (int)size, printed);
        FUZZ_REQUIRE(document != NULL);
        json_decref(document);
    }
    fuzz_require_shown(printed, size);
    fuzz_require_shown(printed, fetch(STDERR_FILENO));
}

static void run(int n, char **words)
{
    static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ };
    struct sigaction before[sizeof caught / sizeof *caught];
    uint64_t bytes;
    const bool is_hollow = !strcmp(words[1], "hollow");
    const size_t n_open = n_open_files(), n_entries = is_hollow ? cli_world_count(&bytes) : 0;
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], NULL, &before[i]);
    redirect();
    const int status = plimsoll_main(n, words);
    restore();
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &before[i], NULL);
    FUZZ_REQUIRE(status >= 0 && status < N_STATUSES);
    FUZZ_REQUIRE(n_open_files() == n_open);
    check_output(words, status);
    if (is_hollow) {
        FUZZ_REQUIRE(cli_world_count(&bytes) == n_entries || status == YES);
        FUZZ_REQUIRE(bytes < MAX_WORLD_BYTES);
        if (status == YES)
            cli_world_reset();
    }
}

/* --- the fuzzer --- */

/* A document that the program made, to be read by another command. */
static void keep_answer(const char *name, const char *line)
{
    char text[256], *words[MAX_WORDS + 1];
    snprintf(text, sizeof text, "%s", line);
    run(split(text, words), words);
    const size_t size = fetch(STDOUT_FILENO);
    FUZZ_REQUIRE(size > 2);
    cli_world_keep(name, printed, size);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char *arguments[64], close_both[] = "-close_fd_mask=3";
    for (int i = 0; i < *argc && i < 62; i++)
        arguments[i] = (*argv)[i];
    arguments[*argc] = close_both; /* the fuzzer's own words go elsewhere */
    *argv = arguments;
    ++*argc;
    real_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
    for (int stream = 1; stream < 3; stream++)
        captured[stream] = memfd_create("captured", MFD_CLOEXEC);
    cli_world_make();
    setenv("PLIMSOLL_SYSROOT", "nowhere", 1);
    setenv("PLIMSOLL_NVML", "nowhere", 1);
    setenv("OLLAMA_MODELS", "ollama", 1);
    setenv("HOME", "nowhere", 1);
    setenv("PLIMSOLL_CURL", "nowhere", 1); /* no server is asked: fuzz_remote reads what one answers */
    setenv("XDG_CACHE_HOME", "nowhere", 1);
    setenv("COLUMNS", "80", 1);
    setenv("TERM", "dumb", 1);
    keep_answer("b.json", "fit\n--json\nm.gguf\n--card\nRTX 4060\n-c\n8192");
    keep_answer("r.json", "check\n--json\n--receipt-from\nlog");
    cli_world_leave();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[MAX_TEXT];
    char *words[MAX_WORDS + 1];
    const uint8_t *end = size ? memmem(data, size, "\n\1\n", 3) : NULL;
    const size_t n_words = end ? (size_t)(end - data) : size, n = n_words < sizeof text - 1 ? n_words : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    const int n_split = split(text, words);
    if (is_left_out(words))
        return 0;
    cli_world_enter();
    if (end)
        cli_world_put("in", end + 3, size - n_words - 3);
    run(n_split, words);
    cli_world_leave();
    return 0;
}
