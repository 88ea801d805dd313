/* SPDX-License-Identifier: MIT */
/* How another quant of a file is made: llama-quantize's command. */
#include "emit/command.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PATH_BYTES = 2048 };

/* Where the name of a quant begins in a file's name: the part after the last '-' or '.', unless it is something else.
 */
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
static bool output_path(const char *path, const char *file_type, const char *mixture, char output[PATH_BYTES])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const size_t length = dot && !strcasecmp(dot, ".gguf") ? (size_t)(dot - name) : strlen(name);
    const size_t stem = (size_t)(name - path) + quant_at(name, length, file_type);
    const int n = snprintf(output, PATH_BYTES, "%.*s-%s.gguf", (int)stem, path, mixture);
    return stem < PATH_BYTES && n > 0 && n < PATH_BYTES;
}

bool plim_quantize_text(const struct plim_model *model, const struct plim_fix *fix, char buffer[PLIM_COMMAND_BYTES])
{
    struct plim_command command = { .n_words = 0 };
    char output[PATH_BYTES];
    const char *path = plim_model_path(model);
    if (!fix->mixture || !*path || !output_path(path, plim_model_file_type(model), fix->mixture, output))
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
    plim_command_add(&command, fix->mixture);
    return plim_command_text(&command, NULL, 0, buffer) != NULL;
}
