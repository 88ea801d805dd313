/* SPDX-License-Identifier: MIT */
/* Auxiliary models: projector, draft, adapters. */
#include "engine/llamacpp/flags/flags.h"
#include "engine/llamacpp/flags/options.h"

#include "base/error.h"

bool plim_llamacpp_wants_file(const struct plim_setup *setup, const struct plim_option *option,
                              enum plim_model_kind *ret_kind)
{
    switch ((enum plim_llamacpp_option)(option - plim_llamacpp_options)) {
    case PLIM_LLAMACPP_MMPROJ:
        *ret_kind = PLIM_MODEL_PROJECTOR;
        return setup->llamacpp.mmproj_auto != PLIM_OFF;
    case PLIM_LLAMACPP_LORA:
    case PLIM_LLAMACPP_LORA_SCALED:
        *ret_kind = PLIM_MODEL_ADAPTER;
        return true;
    default:
        *ret_kind = PLIM_MODEL_UNKNOWN;
        return true;
    }
}

int plim_llamacpp_attach(struct plim_setup *setup, const struct plim_option *option, const struct plim_model *model,
                         struct plim_error *reterr)
{
    struct plim_llamacpp_setup *own = &setup->llamacpp;
    switch ((enum plim_llamacpp_option)(option - plim_llamacpp_options)) {
    case PLIM_LLAMACPP_MMPROJ:
        own->mmproj = model;
        return 0;
    case PLIM_LLAMACPP_SPEC_DRAFT_MODEL:
        own->draft = model;
        return 0;
    default: /* adapters */
        if (own->n_loras == PLIM_LLAMACPP_MAX_LORAS)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--lora: at most %d files", PLIM_LLAMACPP_MAX_LORAS);
        own->lora[own->n_loras++] = model;
        return 0;
    }
}
