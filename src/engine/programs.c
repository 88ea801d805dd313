/* SPDX-License-Identifier: MIT */
#include "engine/programs.h"

#include "base/text.h"
#include "engine/type.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Launchers: they run the command line behind them as it is. */
static const char launchers[] =
    "env sudo doas nohup time exec command nice ionice chrt taskset numactl stdbuf setsid timeout "
    "systemd-run systemd-inhibit";

/* Programs people run models with that take other flags; and the command to write instead. */
static const struct {
    const char *names, *hint;
} others[] = {
    { "docker podman nerdctl docker-compose", "write the command that runs in the container, with the paths of this "
                                              "machine: plimsoll fit -- llama-server -m MODEL.gguf -c 8192" },
    { "python python3 uv uvx pip", "its settings are not read; give them as llama.cpp's flags: plimsoll fit MODEL.gguf "
                                   "--client library -c 8192 -ngl 99" },
    { "sh bash zsh fish dash ssh tmux screen", "write the command itself: plimsoll fit -- llama-server -m MODEL.gguf" },
    { "llama-bench llama-batched-bench", "its flags are lists of tests; name one of them: plimsoll fit MODEL.gguf "
                                         "--client library -c 4096 -ub 512 -fa on" },
    { "llama-quantize llama-gguf llama-gguf-split llama-imatrix llama-export-lora llama-tokenize",
      "it does not serve a model; name the model itself: plimsoll fit MODEL.gguf" },
    { "vllm sglang tgi koboldcpp koboldcpp.py lms llama-swap",
      "only llama.cpp and Ollama are supported; for the model itself: plimsoll fit MODEL.gguf -c 8192" },
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t plim_engine_variable_length(const char *word)
{
    size_t n = 0;
    while (isalnum((unsigned char)word[n]) || word[n] == '_')
        n++;
    return word[n] == '=' && !isdigit((unsigned char)word[0]) ? n : 0;
}

static int refuse(const char *name, struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "'%.60s' does not take llama.cpp's flags", name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (plim_text_has_word(others[i].names, name))
            plim_error_hint(reterr, "%s", others[i].hint);
    plim_error_hint(reterr,
                    "write a command of llama.cpp or Ollama after '--', like llama-server -m MODEL.gguf -c 8192");
    return code;
}

static bool is_other(const char *name)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (plim_text_has_word(others[i].names, name))
            return true;
    return false;
}

/* The runtime whose program this is, with the setup made its own; 0: another's program. */
static int find_type(const char *name, const char *next, struct plim_setup *setup)
{
    const struct plim_engine_type *type;
    for (size_t i = 0; (type = plim_engine_type_at(i)); i++) {
        struct plim_setup changed = *setup;
        plim_setup_change_type(&changed, type);
        const int n_words = type->find_program ? type->find_program(name, next, &changed) : 0;
        if (n_words) {
            *setup = changed;
            return n_words;
        }
    }
    return 0;
}

int plim_engine_program_find(int argc, char *const *argv, struct plim_setup *setup, int *ret_first, int *ret_after,
                             struct plim_error *reterr)
{
    bool is_launched = false; /* the flags of a launcher are skipped up to a name we know */
    for (int i = 0; i < argc; i++) {
        const char *name = base_name(argv[i]);
        if (plim_engine_variable_length(argv[i]))
            continue;
        if (is_other(name))
            return refuse(name, reterr);
        const int n_words = find_type(name, i + 1 < argc ? argv[i + 1] : NULL, setup);
        if (n_words) {
            *ret_first = i;
            *ret_after = i + n_words;
            return 0;
        }
        if (plim_text_has_word(launchers, name))
            is_launched = true;
        else if (!is_launched)
            return refuse(name, reterr);
    }
    return refuse(argc ? base_name(argv[argc - 1]) : "", reterr);
}
