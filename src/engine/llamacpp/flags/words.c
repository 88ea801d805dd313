/* SPDX-License-Identifier: MIT */
/* llama.cpp's setups in words. */
#include "engine/llamacpp/flags/flags.h"
#include "engine/llamacpp/flags/options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void PLIM_PRINTF(3, 4) append(char *text, size_t size, const char *format, ...)
{
    const size_t n = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + n, size - n, format, arguments);
    va_end(arguments);
}

const char *plim_llamacpp_client(const struct plim_setup *setup)
{
    static const char *const names[PLIM_CLIENT_MAX_] = { "llama-server", "llama-cli", "the library", "" };
    return setup->llamacpp.client < PLIM_CLIENT_MAX_ ? names[setup->llamacpp.client] : "";
}

const char *plim_llamacpp_program(const struct plim_setup *setup)
{
    static const char *const names[PLIM_CLIENT_MAX_] = { "llama-server", "llama-cli", NULL, NULL };
    return setup->llamacpp.client < PLIM_CLIENT_MAX_ ? names[setup->llamacpp.client] : NULL;
}

static const char *text_of(const struct plim_bill *bill, enum plim_llamacpp_option option)
{
    const struct plim_setting *setting = plim_bill_setting(bill, plim_llamacpp_options[option].key);
    return setting && setting->text ? setting->text : "";
}

static int64_t number_of(const struct plim_bill *bill, enum plim_llamacpp_option option)
{
    return plim_bill_setting_integer(bill, plim_llamacpp_options[option].key);
}

void plim_llamacpp_describe(const struct plim_bill *bill, uint32_t n_cards, char *text, size_t size)
{
    const struct plim_setting *n_ctx = plim_bill_setting(bill, plim_llamacpp_options[PLIM_LLAMACPP_CTX_SIZE].key);
    const int64_t n_slots = number_of(bill, PLIM_LLAMACPP_N_PARALLEL);
    text[0] = '\0';
    append(text, size, "context %" PRId64 "%s", n_ctx ? n_ctx->integer : 0,
           n_ctx && n_ctx->is_default ? " (the model's own)" : "");
    if (n_slots > 1)
        append(text, size,
               number_of(bill, PLIM_LLAMACPP_KV_UNIFIED) ? " shared by %" PRId64 " slots" : " for %" PRId64 " slots",
               n_slots);
    append(text, size, ", %" PRId64 " of %" PRId64 " layers on %s", number_of(bill, PLIM_LLAMACPP_N_GPU_LAYERS),
           number_of(bill, PLIM_LLAMACPP_N_LAYER) + 1, n_cards > 1 ? "GPUs" : "the GPU");
    append(text, size, ", batch %" PRId64 "/%" PRId64 ", cache %s/%s, flash attention %s",
           number_of(bill, PLIM_LLAMACPP_BATCH), number_of(bill, PLIM_LLAMACPP_UBATCH),
           text_of(bill, PLIM_LLAMACPP_CACHE_TYPE_K), text_of(bill, PLIM_LLAMACPP_CACHE_TYPE_V),
           number_of(bill, PLIM_LLAMACPP_FLASH_ATTN) ? "on" : "off");
}

void plim_llamacpp_write_flags(const struct plim_llamacpp_setup *before, const struct plim_llamacpp_setup *after,
                               uint32_t n_ctx, char *text, size_t size)
{
    char name[PLIM_OPTION_NAME_BYTES];
    text[0] = '\0';
    if (after->n_ctx && after->n_ctx != n_ctx)
        append(text, size, "%s %u", plim_option_name(&plim_llamacpp_options[PLIM_LLAMACPP_CTX_SIZE], name),
               after->n_ctx);
    if (after->n_gpu_layers != before->n_gpu_layers)
        append(text, size, "%s%s %u", *text ? " " : "",
               plim_option_name(&plim_llamacpp_options[PLIM_LLAMACPP_N_GPU_LAYERS], name),
               (unsigned)after->n_gpu_layers);
    for (uint32_t i = 0; i < after->n_tensor_split && before->n_tensor_split == 0; i++)
        if (i == 0)
            append(text, size, "%s%s %u", *text ? " " : "",
                   plim_option_name(&plim_llamacpp_options[PLIM_LLAMACPP_TENSOR_SPLIT], name),
                   (unsigned)after->tensor_split[0]);
        else
            append(text, size, ",%u", (unsigned)after->tensor_split[i]);
}
