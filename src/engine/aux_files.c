/* SPDX-License-Identifier: MIT */
#include "engine/aux_files.h"

#include "engine/type.h"
#include "model/open.h"
#include "source/remote/address.h"

#include <stdio.h>
#include <string.h>

static const char *words_of(enum plim_model_kind kind)
{
    static const char *const words[PLIM_MODEL_MAX_] = {
        [PLIM_MODEL_UNKNOWN] = "a model",
        [PLIM_MODEL_LANGUAGE] = "a language model",
        [PLIM_MODEL_PROJECTOR] = "a multimodal projector",
        [PLIM_MODEL_ADAPTER] = "a LoRA adapter",
        [PLIM_MODEL_DRAFT] = "a draft model",
        [PLIM_MODEL_STEP] = "a recorded step",
    };
    return words[kind < PLIM_MODEL_MAX_ ? kind : PLIM_MODEL_UNKNOWN];
}

/* A file of the wrong kind would be billed wrongly. */
static int open_one(struct plim_setup *setup, const struct plim_option *option, const char *path,
                    enum plim_model_kind kind, struct plim_aux_files *files, struct plim_error *reterr)
{
    if (files->n == PLIM_ARGUMENTS_MAX_FILES)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "at most %d files beside the model",
                         PLIM_ARGUMENTS_MAX_FILES);
    struct plim_model **model = &files->model[files->n];
    int result = plim_model_open_in(plim_remote_is_address(path) ? files->remote : NULL, path, model, reterr);
    if (result < 0)
        return result;
    files->n++;
    if (kind == PLIM_MODEL_UNKNOWN || plim_model_kind(*model) == kind)
        return setup->type->attach(setup, option, *model, reterr);
    plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "this file is not %s", words_of(kind));
    plim_error_where(reterr, path);
    return PLIM_E_UNSUPPORTED;
}

/* "a.gguf,b.gguf", or with scales "a.gguf:0.5,b.gguf:1" */
static int open_list(struct plim_setup *setup, const struct plim_option *option, const char *list,
                     enum plim_model_kind kind, struct plim_aux_files *files, struct plim_error *reterr)
{
    for (const char *p = list; *p;) {
        char path[4096];
        const size_t length = strcspn(p, ",");
        if (length >= sizeof path)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "a path of %zu bytes is too long", length);
        snprintf(path, sizeof path, "%.*s", (int)length, p);
        char *colon = strrchr(path, ':');
        if (colon && colon[1 + strspn(colon + 1, "0123456789.-")] == '\0')
            *colon = '\0';
        int result = open_one(setup, option, path, kind, files, reterr);
        if (result < 0)
            return result;
        p += length + (p[length] == ',');
    }
    return 0;
}

int plim_aux_files_add(struct plim_arguments *arguments, enum plim_model_kind kind, const char *path,
                       struct plim_error *reterr)
{
    const struct plim_setup *setup = &arguments->setup;
    for (size_t i = 0; i < setup->type->n_options && setup->type->wants_file; i++) {
        const struct plim_option *option = &setup->type->options[i];
        enum plim_model_kind wanted;
        bool is_named = false;
        if (option->kind != PLIM_OPTION_FILE || !setup->type->wants_file(setup, option, &wanted) || wanted != kind)
            continue;
        for (uint32_t k = 0; k < arguments->n_files; k++)
            is_named = is_named || arguments->file[k].option == option;
        return is_named ? 0 : plim_option_apply(option, true, path, arguments, reterr);
    }
    return 0;
}

int plim_aux_files_open(struct plim_arguments *arguments, const struct plim_files *remote,
                        struct plim_aux_files *ret_files, struct plim_error *reterr)
{
    struct plim_setup *setup = &arguments->setup;
    int result = 0;
    memset(ret_files, 0, sizeof *ret_files);
    ret_files->remote = remote;
    for (uint32_t i = 0; i < arguments->n_files && result == 0; i++) {
        const struct plim_named_file *file = &arguments->file[i];
        enum plim_model_kind kind;
        if (!setup->type->wants_file || !setup->type->wants_file(setup, file->option, &kind))
            continue;
        result = file->option->high > 1 ? open_list(setup, file->option, file->path, kind, ret_files, reterr)
                                        : open_one(setup, file->option, file->path, kind, ret_files, reterr);
    }
    return result;
}

void plim_aux_files_done(struct plim_aux_files *files)
{
    for (uint32_t i = 0; i < files->n; i++)
        plim_model_free(files->model[i]);
    files->n = 0;
}
