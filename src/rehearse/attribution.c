/* SPDX-License-Identifier: MIT */
/*
 * Rules for names that programs and libraries document or that are part of their interfaces: llama.cpp's classes
 * (v0.5.0 and the versions before it), PyTorch's and transformers' public methods. A stack that no rule knows has no
 * label: nothing is guessed from sizes.
 */
#include "rehearse/attribution.h"

#include "base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t plim_attribution_frames(char *stack, char *ret_frames[PLIM_ATTRIBUTION_MAX_FRAMES])
{
    size_t n = 0;
    char *rest = NULL;
    for (char *line = strtok_r(stack, "\n", &rest); line && n < PLIM_ATTRIBUTION_MAX_FRAMES;
         line = strtok_r(NULL, "\n", &rest))
        ret_frames[n++] = line;
    return n;
}

/* The part behind the library or the line number. */
static const char *function_of(const char *frame)
{
    const char *space = strrchr(frame, ' ');
    return space ? space + 1 : frame;
}

static bool begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

struct stack {
    char text[PLIM_LEDGER_STACK_BYTES];
    char *frame[PLIM_ATTRIBUTION_MAX_FRAMES];
    size_t n;
};

static void read_stack(struct stack *stack, const char *text)
{
    snprintf(stack->text, sizeof stack->text, "%.*s", PLIM_LEDGER_STACK_BYTES - 1, text);
    stack->n = plim_attribution_frames(stack->text, stack->frame);
}

/* --- llama.cpp --- */

static bool calls(const struct stack *stack, const char *function)
{
    for (size_t i = 0; i < stack->n; i++)
        if (begins(function_of(stack->frame[i]), function))
            return true;
    return false;
}

/* The first that matches: a cache is made by a context, so it comes before it. */
static void find_label(const struct stack *native, struct plim_attribution *attribution)
{
    static const struct {
        const char *function, *and;
        const char *label;
        enum plim_pillar pillar;
        const char *phase;
    } rules[] = {
        { "llama_model_loader::load_all_data", "", NULL, PLIM_PILLAR_MAX_, "load" }, /* on its way to the card */
        { "llama_model_base::load_tensors", "", "model buffer", PLIM_PILLAR_WEIGHTS, "load" },
        { "llama_model::load_tensors", "", "model buffer", PLIM_PILLAR_WEIGHTS, "load" },
        { "llama_kv_cache_recurrent", "", "RS buffer", PLIM_PILLAR_KV_CACHE, "KV cache" },
        { "llama_memory_recurrent", "", "RS buffer", PLIM_PILLAR_KV_CACHE, "KV cache" },
        { "llama_kv_cache", "", "KV buffer", PLIM_PILLAR_KV_CACHE, "KV cache" },
        { "llama_context::output_reserve", "", "output buffer", PLIM_PILLAR_ACTIVATIONS, "compute" },
        { "ggml_backend_sched_", "llama_context::", "compute buffer", PLIM_PILLAR_ACTIVATIONS, "compute" },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !attribution->phase; i++)
        if (calls(native, rules[i].function) && (!rules[i].and[0] || calls(native, rules[i].and))) {
            attribution->label = rules[i].label;
            attribution->pillar = rules[i].pillar;
            attribution->phase = rules[i].phase;
        }
}

/* --- PyTorch --- */

enum { COLUMN_FILE, COLUMN_FUNCTION, COLUMN_WORK, COLUMN_READ_BY }; /* data/frames.csv */

static const char *cell(size_t row, size_t column) { return plim_table_cell(&plim_frames_table, row, column); }

/* The name that a receipt has for a kind of work. */
static const char *phase_name(const char *work)
{
    static const char *const names[][2] = {
        { "optimizer", "optimizer step" }, { "backward", "backward" },
        { "forward", "forward" },          { "load", "load" },
        { "profile", "profile run" },      { "pool", "KV cache" },
        { "capture", "graph capture" },    { "generate", "generate" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(work, names[i][0]))
            return names[i][1];
    return NULL;
}

/* The work that a Python frame is a sign of; NULL: none that is known. Functions are compared whole. */
static const char *phase_of(const char *frame)
{
    const char *function = function_of(frame);
    for (size_t row = 0; row < plim_frames_table.n_rows; row++) {
        const char *name = cell(row, COLUMN_FUNCTION);
        if (strstr(cell(row, COLUMN_READ_BY), "rehearse") && strstr(frame, cell(row, COLUMN_FILE)) &&
            (!*name || !strcmp(function, name)))
            return phase_name(cell(row, COLUMN_WORK));
    }
    return NULL;
}

/*
 * The innermost sign counts, but a loop that generates, or a profile run, is more to the point than the forward passes
 * in it. The backward pass has a thread of its own, without Python.
 */
static void find_phase(const struct stack *native, const struct stack *python, struct plim_attribution *attribution)
{
    if (calls(native, "torch::autograd::Engine::evaluate_function"))
        attribution->phase = "backward";
    for (size_t i = 0; i < python->n; i++) {
        const char *phase = phase_of(python->frame[i]);
        if (phase && (!attribution->phase || !strcmp(attribution->phase, "forward")))
            attribution->phase = phase;
    }
}

/* --- where --- */

bool plim_attribution_is_internal(const char *frame)
{
    const char *function = function_of(frame);
    static const char *const names[] = { "+0x",
                                         "c10::",
                                         "at::detail::",
                                         "at::empty",
                                         "at::_empty",
                                         "ffi_",
                                         "ggml_cuda_",
                                         "ggml_backend_buft_",
                                         "ggml_backend_cuda_buffer_",
                                         "ggml_backend_alloc_ctx_",
                                         "ggml_backend_sched_",
                                         "ggml_gallocr_",
                                         "operator",
                                         "std::",
                                         "_start",
                                         "__libc_" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(function, names[i]))
            return true;
    return false;
}

bool plim_attribution_is_installed(const char *frame)
{
    return strstr(frame, "site-packages/") || strstr(frame, "dist-packages/") || strstr(frame, "/lib/python3") ||
           begins(frame, "<frozen");
}

/* Code that a program made itself, "<string>:3": the caller says where. The outermost is `python -c`. */
static bool is_made(const char *frame) { return begins(frame, "<"); }

/* The frame of a script that pip made to call a package ("bin/tune:8 <module>"): it has a dozen lines at most. */
static bool is_launcher(const char *frame)
{
    enum { MOST_LINES = 12 };
    const char *colon = strrchr(frame, ':'), *slash = colon;
    while (slash && slash > frame && *slash != '/')
        slash--;
    return colon && slash - frame >= 4 && begins(slash - 4, "/bin/") && strtol(colon + 1, NULL, 10) <= MOST_LINES &&
           !strcmp(function_of(frame), "<module>");
}

static bool is_users(const struct stack *python, size_t i)
{
    const char *frame = python->frame[i];
    return !plim_attribution_is_installed(frame) && !is_launcher(frame) && (!is_made(frame) || i + 1 == python->n);
}

/* Up to and with the slash; 0: it has none. */
static size_t folder_length(const char *path, size_t n)
{
    while (n > 0 && path[n - 1] != '/')
        n--;
    return n;
}

/*
 * Where the code of a program that was installed begins: the folder of the module that is run, a recipe; or the package
 * that a launcher calls. Returns the length of that part of *ret_frame; 0: not known.
 */
static size_t find_program(const struct stack *python, const char **ret_frame)
{
    for (size_t i = 0; i < python->n; i++) {
        const char *frame = python->frame[i], *packages = strstr(frame, "-packages/");
        const char *inside = packages ? packages + strlen("-packages/") : NULL,
                   *slash = inside ? strchr(inside, '/') : NULL;
        const size_t n = inside ? folder_length(frame, strcspn(frame, ":")) : 0;
        *ret_frame = frame;
        if (inside && !strcmp(function_of(frame), "<module>"))
            return frame + n > inside ? n : strcspn(frame, ":");
        if (slash && i + 1 < python->n && is_launcher(python->frame[i + 1]))
            return (size_t)(slash - frame) + 1;
    }
    return 0;
}

static bool is_of_pytorch(const char *frame) { return strstr(frame, "-packages/torch/") != NULL; }

/* The deepest frame of the user's code; of a program that was installed, of its own; else of a package. */
static const char *find_python_where(const struct stack *python)
{
    const char *program = NULL;
    for (size_t i = 0; i < python->n; i++)
        if (is_users(python, i))
            return python->frame[i];
    const size_t n = find_program(python, &program);
    for (size_t i = 0; i < python->n && n; i++)
        if (!strncmp(python->frame[i], program, n))
            return python->frame[i];
    for (size_t i = 0; i < python->n; i++)
        if (strstr(python->frame[i], "-packages/") && !is_of_pytorch(python->frame[i]))
            return python->frame[i];
    return python->n ? python->frame[0] : NULL;
}

static void find_where(const struct stack *native, const struct stack *python, struct plim_attribution *attribution)
{
    const char *found = find_python_where(python);
    for (size_t i = 0; i < native->n && !found; i++)
        if (!plim_attribution_is_internal(native->frame[i]))
            found = function_of(native->frame[i]);
    snprintf(attribution->where, sizeof attribution->where, "%s", found ? found : native->n ? native->frame[0] : "");
}

void plim_attribution_of(const struct plim_ledger_stack *stack, struct plim_attribution *ret_attribution)
{
    struct stack native, python;
    *ret_attribution = (struct plim_attribution){ .pillar = PLIM_PILLAR_MAX_ };
    read_stack(&native, stack->native);
    read_stack(&python, stack->python);
    find_label(&native, ret_attribution);
    if (!ret_attribution->label)
        find_phase(&native, &python, ret_attribution);
    find_where(&native, &python, ret_attribution);
}
