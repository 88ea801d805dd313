/* SPDX-License-Identifier: MIT */
/* The command of llama-quantize that makes another quantization of a file. */
#include "engine/command.h"
#include "engine/llamacpp/flags/flags.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PATH_BYTES = 2048 };

/* The position in a file's name where its quantization begins: behind the last '-' or '.', if the name has one. */
static size_t quant_at(const char *name, size_t length, const char *file_type)
{
    const size_t n = file_type ? strlen(file_type) : 0;
    for (size_t i = length; i-- > 0 && n;)
        if ((name[i] == '-' || name[i] == '.' || name[i] == '_') && length - i - 1 == n &&
            !strncasecmp(name + i + 1, file_type, n))
            return i;
    return length;
}

/* "dir/Model-Q4_K_M.gguf" and Q3_K_M: "dir/Model-Q3_K_M.gguf". False when it does not fit. */
static bool output_path(const char *path, const char *file_type, const char *quant_recipe, char output[PATH_BYTES])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const size_t length = dot && !strcasecmp(dot, ".gguf") ? (size_t)(dot - name) : strlen(name);
    const size_t stem = (size_t)(name - path) + quant_at(name, length, file_type);
    const int n = snprintf(output, PATH_BYTES, "%.*s-%s.gguf", (int)stem, path, quant_recipe);
    return stem < PATH_BYTES && n > 0 && n < PATH_BYTES;
}

bool plim_llamacpp_paste_quant(const struct plim_model *model, const struct plim_fix *fix, char *text, size_t size)
{
    struct plim_command command = { .n_words = 0 };
    char output[PATH_BYTES], buffer[PLIM_COMMAND_BYTES];
    const char *path = plim_model_path(model);
    if (!fix->quant_recipe || !*path || !output_path(path, plim_model_file_type(model), fix->quant_recipe, output))
        return false;
    plim_command_add(&command, "llama-quantize");
    if (fix->is_from_quantized)
        plim_command_add(&command, "--allow-requantize");
    if (fix->needs_imatrix) {
        plim_command_add(&command, "--imatrix");
        plim_command_add(&command, "imatrix.gguf");
    }
    plim_command_add(&command, path);
    plim_command_add(&command, output);
    plim_command_add(&command, fix->quant_recipe);
    return plim_command_text(&command, NULL, 0, buffer) && snprintf(text, size, "%s", buffer) < (int)size;
}
