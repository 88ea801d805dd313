/* SPDX-License-Identifier: MIT */
#include "cli/beside.h"

#include <stdio.h>
#include <string.h>

/* A file of the wrong kind would be counted as something it is not. */
static int open_as(const char *path, enum plim_model_kind kind, const char *what, struct plim_model **ret_model,
                   struct plim_error *reterr)
{
    int result = plim_model_open(path, ret_model, reterr);
    if (result < 0 || plim_model_kind(*ret_model) == kind)
        return result;
    plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "this file is not %s", what);
    plim_error_where(reterr, path);
    return PLIM_E_UNSUPPORTED;
}

/* "a.gguf,b.gguf", or with scales "a.gguf:0.5,b.gguf:1" */
static int open_adapters(const char *list, struct plim_beside *beside, struct plim_error *reterr)
{
    for (const char *p = list; *p;) {
        char path[4096];
        size_t length = strcspn(p, ",");
        if (length >= sizeof path || beside->n_loras == PLIM_SETUP_MAX_LORAS)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--lora: at most %d files", PLIM_SETUP_MAX_LORAS);
        snprintf(path, sizeof path, "%.*s", (int)length, p);
        char *colon = strrchr(path, ':');
        if (colon && colon[1 + strspn(colon + 1, "0123456789.-")] == '\0')
            *colon = '\0';
        int result = open_as(path, PLIM_MODEL_ADAPTER, "a LoRA adapter", &beside->lora[beside->n_loras++], reterr);
        if (result < 0)
            return result;
        p += length + (p[length] == ',');
    }
    return 0;
}

int plim_beside_open(const struct plim_arguments *arguments, struct plim_setup *setup, struct plim_beside *ret_beside,
                     struct plim_error *reterr)
{
    struct plim_beside *beside = ret_beside;
    int result = 0;
    memset(beside, 0, sizeof *beside);
    if (arguments->mmproj && !arguments->no_mmproj)
        result = open_as(arguments->mmproj, PLIM_MODEL_PROJECTOR, "a multimodal projector", &beside->mmproj, reterr);
    if (result == 0 && arguments->draft)
        result = plim_model_open(arguments->draft, &beside->draft, reterr);
    for (uint32_t i = 0; i < arguments->n_loras && result == 0; i++)
        result = open_adapters(arguments->lora[i], beside, reterr);
    setup->mmproj = beside->mmproj;
    setup->draft = beside->draft;
    setup->n_loras = beside->n_loras;
    for (uint32_t i = 0; i < beside->n_loras; i++)
        setup->lora[i] = beside->lora[i];
    return result;
}

void plim_beside_done(struct plim_beside *beside)
{
    plim_model_free(beside->mmproj);
    plim_model_free(beside->draft);
    for (uint32_t i = 0; i < beside->n_loras; i++)
        plim_model_free(beside->lora[i]);
}
