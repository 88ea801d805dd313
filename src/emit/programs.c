/* SPDX-License-Identifier: MIT */
#include "emit/programs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* What may stand in front of a program and runs it as it is. */
static const char launchers[] =
    "env sudo doas nohup time exec command nice ionice chrt taskset numactl stdbuf setsid timeout "
    "systemd-run systemd-inhibit";

/* Programs people run models with, whose flags are others; and what to write instead. */
static const struct {
    const char *names, *hint;
} others[] = {
    { "docker podman nerdctl docker-compose", "write the command that runs in the container, with the paths of this "
                                              "machine: plimsoll fit -- llama-server -m MODEL.gguf -c 8192" },
    { "python python3 uv uvx pip", "its settings are not read; give them as llama.cpp's flags: plimsoll fit MODEL.gguf "
                                   "--client library -c 8192 -ngl 99" },
    { "sh bash zsh fish dash ssh tmux screen", "write the command itself: plimsoll fit -- llama-server -m MODEL.gguf" },
    { "llama-bench llama-batched-bench", "its flags are lists of tests; ask for one of them: plimsoll fit MODEL.gguf "
                                         "--client library -c 4096 -ub 512 -fa on" },
    { "llama-quantize llama-gguf llama-gguf-split llama-imatrix llama-export-lora llama-tokenize",
      "it does not serve a model; name the model itself: plimsoll fit MODEL.gguf" },
    { "vllm sglang tgi koboldcpp koboldcpp.py lms llama-swap",
      "llama.cpp and Ollama are the engines that are known; for the model itself: plimsoll fit MODEL.gguf -c 8192" },
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* NAME=value; returns the length of the name, 0 when it is none. */
static size_t variable_length(const char *word)
{
    size_t n = 0;
    while (isalnum((unsigned char)word[n]) || word[n] == '_')
        n++;
    return word[n] == '=' && !isdigit((unsigned char)word[0]) ? n : 0;
}

static bool is_ollama(const char *name) { return !strcmp(name, "ollama"); }

static bool is_llama(const char *name)
{
    return !strncmp(name, "llama", 5) || plim_flag_is_in(name, "server main") || strstr(name, "llama-") != NULL;
}

/* The newer single binary: "llama serve". */
static bool has_subcommand(const char *name, int argc, char *const *argv, int i)
{
    return !strcmp(name, "llama") && i + 1 < argc && argv[i + 1][0] != '-';
}

/* The program decides about defaults; anything that is neither a server nor a chat uses the library by itself. */
static enum plim_client client_of(const char *name)
{
    if (is_ollama(name))
        return PLIM_CLIENT_OLLAMA;
    if (strstr(name, "serve"))
        return PLIM_CLIENT_SERVER;
    bool is_cli = strstr(name, "cli") || strstr(name, "run") || strstr(name, "completion") || strstr(name, "chat");
    return is_cli || !strcmp(name, "main") ? PLIM_CLIENT_CLI : PLIM_CLIENT_LIBRARY;
}

static int refuse(const char *name, struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "'%.60s' does not take llama.cpp's flags", name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (plim_flag_is_in(name, others[i].names))
            plim_error_hint(reterr, "%s", others[i].hint);
    plim_error_hint(reterr,
                    "after '--' goes a command of llama.cpp or Ollama, like llama-server -m MODEL.gguf -c 8192");
    return code;
}

static bool is_other(const char *name)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (plim_flag_is_in(name, others[i].names))
            return true;
    return false;
}

/* Ollama's own variables, as flags; its context is that of one slot. */
static const struct {
    const char *name, *flag;
} ollama_variables[] = {
    { "OLLAMA_CONTEXT_LENGTH", "--ctx-size" },    { "OLLAMA_NUM_PARALLEL", "--parallel" },
    { "OLLAMA_KV_CACHE_TYPE", "--cache-type-k" }, { "OLLAMA_KV_CACHE_TYPE", "--cache-type-v" },
    { "OLLAMA_FLASH_ATTENTION", "--flash-attn" },
};

static int apply_variable(const char *word, size_t length, struct plim_arguments *a,
                          struct plim_engine_program *program, struct plim_error *reterr)
{
    char name[64];
    const char *value = word + length + 1;
    int result = 0;
    if (length >= sizeof name)
        return 0;
    memcpy(name, word, length);
    name[length] = '\0';
    if (!strcmp(name, "CUDA_VISIBLE_DEVICES"))
        program->visible = value;
    if (!strcmp(name, "CUDA_DEVICE_ORDER"))
        program->device_order = value;
    for (size_t i = 0; i < sizeof ollama_variables / sizeof *ollama_variables && result >= 0; i++) {
        bool on;
        if (!strcmp(name, ollama_variables[i].name) && *value)
            result = plim_flag_apply(plim_flag_named(ollama_variables[i].flag, &on), true, value, a, reterr);
    }
    return result < 0 ? result : plim_flag_apply_variable(name, value, a, reterr);
}

int plim_engine_program_find(int argc, char *const *argv, struct plim_arguments *arguments,
                             struct plim_engine_program *ret_program, struct plim_error *reterr)
{
    struct plim_engine_program program = { 0 };
    bool is_launched = false; /* the flags of a launcher are skipped up to a name we know */
    for (int i = 0; i < argc; i++) {
        const char *name = base_name(argv[i]);
        const size_t length = variable_length(argv[i]);
        if (length) {
            int result = apply_variable(argv[i], length, arguments, &program, reterr);
            if (result < 0)
                return result;
        } else if (is_other(name)) {
            return refuse(name, reterr);
        } else if (is_ollama(name) || is_llama(name)) {
            const bool has_sub = has_subcommand(name, argc, argv, i);
            program.n_words = i + 1 + has_sub;
            program.client = client_of(has_sub ? argv[i + 1] : name);
            *ret_program = program;
            return 0;
        } else if (plim_flag_is_in(name, launchers)) {
            is_launched = true;
        } else if (!is_launched) {
            return refuse(name, reterr);
        }
    }
    return refuse(argc ? base_name(argv[argc - 1]) : "", reterr);
}
