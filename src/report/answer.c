/* SPDX-License-Identifier: MIT */
/* Words that every report uses. */
#include "report/report.h"

#include <string.h>

static void append(char *buffer, const char *name, unsigned value)
{
    size_t n = strlen(buffer);
    snprintf(buffer + n, PLIM_STARTS_WITH_BYTES - n, "%s%s%u", n && name[0] != ',' ? " " : "", name, value);
}

char *plim_report_starts_with(const struct plim_answer *answer, char buffer[PLIM_STARTS_WITH_BYTES])
{
    const struct plim_setup *before = answer->setup, *after = answer->starts_with;
    buffer[0] = '\0';
    if (after->n_ctx && after->n_ctx != answer->bill->resolved.n_ctx)
        append(buffer, answer->is_for_ollama ? "num_ctx " : "-c ", after->n_ctx);
    if (after->n_gpu_layers != before->n_gpu_layers)
        append(buffer, answer->is_for_ollama ? "num_gpu " : "-ngl ", (unsigned)after->n_gpu_layers);
    for (uint32_t i = 0; i < after->n_tensor_split && before->n_tensor_split == 0; i++)
        append(buffer, i ? "," : "-ts ", (unsigned)after->tensor_split[i]);
    return buffer;
}

unsigned plim_report_expert_layers(const struct plim_setup *starts_with)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < starts_with->n_overflows; i++)
        n += starts_with->overflow[i].n_layers;
    return n;
}

char *plim_report_device_id(const struct plim_device_bill *device, char buffer[PLIM_DEVICE_ID_BYTES])
{
    snprintf(buffer, PLIM_DEVICE_ID_BYTES, device->is_host ? "host" : "gpu%u", device->index);
    return buffer;
}

const char *plim_report_client(enum plim_client client)
{
    static const char *const names[PLIM_CLIENT_MAX_] = { "llama-server", "llama-cli", "the library", "Ollama" };
    return client < PLIM_CLIENT_MAX_ ? names[client] : "";
}
