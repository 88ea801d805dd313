/* SPDX-License-Identifier: MIT */
#include "watch/program.h"

#include "base/table.h"

#include <stdio.h>
#include <string.h>

enum { MAX_WORDS = 48, PATH_BYTES = 512 };

/* The words of a command line; what stands behind the first MAX_WORDS does not tell programs apart. */
struct words {
    struct word {
        const char *text;
        size_t n;
    } at[MAX_WORDS];
    unsigned n;
    unsigned script; /* the number of the word that an interpreter runs; 0: none */
    unsigned module; /* of the word behind -m; 0: none */
};

static struct word base_of(struct word word)
{
    for (size_t i = word.n; i > 0; i--)
        if (word.text[i - 1] == '/')
            return (struct word){ word.text + i, word.n - i };
    return word;
}

static bool is_interpreter(struct word program)
{
    static const char *const names[] = { "python", "pypy", "ipython", "node", "bash", "sh" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (program.n >= n && !strncmp(program.text, names[i], n) &&
            strspn(program.text + n, "0123456789.td") >= program.n - n) /* "python3.13t" */
            return true;
    }
    return false;
}

/* Options of CPython that take the next word (Python/getopt.c, SHORT_OPTS), but -c and -m. */
static bool takes_a_value(struct word option) { return option.n == 2 && strchr("WX", option.text[1]); }

static void find_script(struct words *w)
{
    for (unsigned i = 1; i < w->n; i++) {
        const struct word word = w->at[i];
        const char letter = word.n == 2 && word.text[0] == '-' ? word.text[1] : '\0';
        if (letter == 'm')
            w->module = i + 1 < w->n ? i + 1 : 0;
        if (letter == 'm' || letter == 'c')
            return;
        if (word.n && word.text[0] != '-') {
            w->script = i;
            return;
        }
        i += takes_a_value(word);
    }
}

static void split(const char *command, struct words *ret_words)
{
    struct words *w = ret_words;
    *w = (struct words){ 0 };
    for (const char *p = command; *p && w->n < MAX_WORDS; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        if (n)
            w->at[w->n++] = (struct word){ p, n };
        p += n;
    }
    if (w->n && is_interpreter(base_of(w->at[0])))
        find_script(w);
}

/* --- the table --- */

enum { FRAMEWORK, ROLE, TEST, PATTERN };

/* A pattern that ends with '*' is the beginning of a name. */
static bool is_named(struct word word, const char *pattern)
{
    const size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return word.n >= n - 1 && !strncmp(word.text, pattern, n - 1);
    return word.n == n && !strncmp(word.text, pattern, n);
}

static bool has_name(const struct words *w, const char *program, const char *pattern)
{
    return is_named((struct word){ program, strlen(program) }, pattern) ||
           (w->n && is_named(base_of(w->at[0]), pattern)) ||
           (w->script && is_named(base_of(w->at[w->script]), pattern));
}

/* "vllm.entrypoints" is the package of "vllm.entrypoints.openai.api_server". */
static bool has_module(const struct words *w, const char *pattern)
{
    const size_t n = strlen(pattern);
    const struct word module = w->module ? w->at[w->module] : (struct word){ "", 0 };
    return module.n >= n && !strncmp(module.text, pattern, n) && (module.n == n || module.text[n] == '.');
}

/* "ComfyUI/main.py": the script main.py somewhere below a folder ComfyUI. */
static bool has_path(const struct words *w, const char *folder, const char *pattern)
{
    char path[PATH_BYTES], part[64];
    const char *slash = strchr(pattern, '/');
    if (!w->script || !slash || !is_named(base_of(w->at[w->script]), slash + 1))
        return false;
    const struct word script = w->at[w->script];
    snprintf(path, sizeof path, "%s/%.*s", script.text[0] == '/' ? "" : folder, (int)(script.n < 255 ? script.n : 255),
             script.text);
    snprintf(part, sizeof part, "/%.*s/", (int)(slash - pattern), pattern);
    return strstr(path, part) != NULL;
}

/* "ollama runner": a name, and the word that follows it. */
static bool has_command(const struct words *w, const char *pattern)
{
    const size_t n = strcspn(pattern, " ");
    const unsigned at = w->script ? w->script : 0;
    const struct word name = w->n ? base_of(w->at[at]) : (struct word){ "", 0 };
    return at + 1 < w->n && name.n == n && !strncmp(name.text, pattern, n) && pattern[n] &&
           is_named(w->at[at + 1], pattern + n + 1);
}

static bool row_matches(const struct words *w, const struct plim_sample_process *process, const char *test,
                        const char *pattern)
{
    switch (test[0]) {
    case 'n':
        return has_name(w, process->program, pattern);
    case 'm': /* or "model": a flag, no program */
        return !strcmp(test, "module") && has_module(w, pattern);
    case 'p':
        return has_path(w, process->folder, pattern);
    case 'c':
        return has_command(w, pattern);
    case 't': /* the title that the process gave itself begins with it, or the text is somewhere in it */
        return test[1] == 'i' ? !strncmp(process->command, pattern, strlen(pattern))
                              : strstr(process->command, pattern) != NULL;
    default:
        return false;
    }
}

static enum plim_watch_role role_named(const char *name)
{
    for (int role = 0; role < PLIM_ROLE_MAX_; role++)
        if (!strcmp(name, plim_watch_role_name((enum plim_watch_role)role)))
            return (enum plim_watch_role)role;
    return PLIM_ROLE_UNKNOWN;
}

/* FNV-1a of 64 bits. */
static uint64_t hash_of(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    while (*text++);
    return hash;
}

static void search(const struct plim_sample_process *process, struct plim_watch_known_program *known)
{
    const struct plim_table *table = &plim_watch_programs_table;
    struct words words;
    split(process->command, &words);
    known->is_script = words.script || words.module;
    for (known->row = 0; known->row < table->n_rows; known->row++)
        if (row_matches(&words, process, plim_table_cell(table, known->row, TEST),
                        plim_table_cell(table, known->row, PATTERN)))
            return;
}

void plim_watch_program(const struct plim_sample_process *process, struct plim_watch_known_program *known,
                        struct plim_watch_program *ret_program)
{
    const uint64_t hash =
        hash_of(hash_of(hash_of(0xcbf29ce484222325u, process->command), process->program), process->folder);
    if (known->hash != hash)
        search(process, known);
    known->hash = hash;
    const char *framework = plim_table_cell(&plim_watch_programs_table, known->row, FRAMEWORK);
    ret_program->framework = *framework ? framework : process->runtime;
    ret_program->role = known->row < plim_watch_programs_table.n_rows
                            ? role_named(plim_table_cell(&plim_watch_programs_table, known->row, ROLE))
                        : known->is_script ? PLIM_ROLE_SCRIPT
                                           : PLIM_ROLE_UNKNOWN;
}

bool plim_watch_is_script(const struct plim_sample_process *process)
{
    struct words words;
    split(process->command, &words);
    if (words.n && is_interpreter(base_of(words.at[0])))
        return words.script || words.module;
    return words.n > 0 && process->command[0] != '[';
}

/* --- the model --- */

static const char *copy(struct word word, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.*s", (int)(word.n < size ? word.n : size - 1), word.text);
    return buffer;
}

static bool is_model_flag(struct word word)
{
    const struct plim_table *table = &plim_watch_programs_table;
    for (size_t row = 0; row < table->n_rows; row++)
        if (!strcmp(plim_table_cell(table, row, TEST), "model") && is_named(word, plim_table_cell(table, row, PATTERN)))
            return true;
    return false;
}

const char *plim_watch_model(const struct plim_sample_process *process, char *buffer, size_t size)
{
    struct words w;
    split(process->command, &w);
    buffer[0] = '\0';
    for (unsigned i = w.script ? w.script + 1 : 1; i < w.n; i++) {
        const char *equals = memchr(w.at[i].text, '=', w.at[i].n);
        struct word flag = w.at[i];
        if (i == w.module || (w.module && i + 1 == w.module))
            continue;
        if (equals)
            flag.n = (size_t)(equals - flag.text);
        if (!is_model_flag(flag))
            continue;
        if (equals)
            return copy((struct word){ equals + 1, w.at[i].n - flag.n - 1 }, buffer, size);
        if (i + 1 < w.n && w.at[i + 1].text[0] != '-')
            return copy(w.at[i + 1], buffer, size);
    }
    const unsigned at = w.script ? w.script : 0; /* "vllm serve MODEL" */
    if (at + 2 < w.n && is_named(base_of(w.at[at]), "vllm") && is_named(w.at[at + 1], "serve") &&
        w.at[at + 2].text[0] != '-')
        return copy(w.at[at + 2], buffer, size);
    return buffer;
}

/* Names that every repository gives its files (transformers: WEIGHTS_NAME, SAFE_WEIGHTS_NAME and their shards). */
static bool says_nothing(struct word name)
{
    static const char *const begins[] = { "model-",       "model.",        "pytorch_model", "diffusion_pytorch_model",
                                          "consolidated", "adapter_model", "sha256-" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (name.n >= strlen(begins[i]) && !strncmp(name.text, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* Of "models--Qwen--Qwen3-8B", a folder in the cache of a hub (huggingface_hub, repo_folder_name()), "Qwen3-8B". */
static struct word of_hub(const char *path)
{
    const char *at = strstr(path, "/models--");
    if (!at)
        return (struct word){ "", 0 };
    struct word name = { at + 1, strcspn(at + 1, "/") };
    for (size_t i = name.n; i > 2; i--)
        if (name.text[i - 1] == '-' && name.text[i - 2] == '-')
            return (struct word){ name.text + i, name.n - i };
    return name;
}

const char *plim_watch_model_name(const char *model, char *buffer, size_t size)
{
    struct word whole = { model, strlen(model) };
    while (whole.n > 1 && whole.text[whole.n - 1] == '/')
        whole.n--;
    const struct word name = base_of(whole), hub = of_hub(model);
    if (!says_nothing(name) || name.n == whole.n)
        return copy(hub.n && !says_nothing(name) && !memchr(name.text, '.', name.n) ? hub : name, buffer, size);
    if (hub.n)
        return copy(hub, buffer, size);
    const struct word folder = base_of((struct word){ whole.text, whole.n - name.n - 1 });
    return copy(folder.n && strncmp(name.text, "sha256-", 7) != 0 ? folder : name, buffer, size);
}
