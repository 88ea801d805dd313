/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <string.h>

static void append(char *buffer, size_t size, const char *format, unsigned value)
{
    size_t n = strlen(buffer);
    if (n + 1 < size)
        snprintf(buffer + n, size - n, format, value);
}

/* Which layers' experts, or parts, stay on the host. */
static void append_overflows(const struct plim_setup *setup, char *buffer, size_t size)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < setup->n_overflows; i++)
        n += setup->overflow[i].n_layers;
    if (n)
        append(buffer, size, " (experts of %u layers off the GPU)", n);
}

char *plim_report_starts_with(const struct plim_answer *answer, char *buffer, size_t size)
{
    const struct plim_setup *before = answer->setup, *after = answer->starts_with;
    buffer[0] = '\0';
    if (after->n_ctx && after->n_ctx != answer->bill->resolved.n_ctx)
        append(buffer, size, "-c %u", after->n_ctx);
    if (after->n_gpu_layers != before->n_gpu_layers)
        append(buffer, size, *buffer ? " -ngl %u" : "-ngl %u", (unsigned)after->n_gpu_layers);
    for (uint32_t i = 0; i < after->n_tensor_split && before->n_tensor_split == 0; i++)
        append(buffer, size, i ? ",%u" : *buffer ? " -ts %u" : "-ts %u", (unsigned)after->tensor_split[i]);
    append_overflows(after, buffer, size);
    return buffer;
}
