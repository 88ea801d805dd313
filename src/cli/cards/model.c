/* SPDX-License-Identifier: MIT */
#include "cli/cards/model.h"

#include "base/error.h"

int plim_cards_model_open(const struct plim_cards_question *question, const char *name, const char *quant,
                          struct plim_cards_model *ret_model, struct plim_error *reterr)
{
    struct plim_cards_model *m = ret_model;
    *m = (struct plim_cards_model){ .paths = { .n = 0 } };
    int result = plim_cli_sources_open(&name, 1, question->options.is_offline, &m->sources, reterr);
    if (result == 0)
        result = plim_paths_expand(&name, 1, &m->sources.roots, &m->paths, reterr);
    if (result == 0 && m->paths.n != 1)
        result = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--for takes one model, and this is a folder of %zu",
                           m->paths.n);
    if (result == 0)
        result = plim_subject_open(&m->subject, &m->paths.paths[0], quant, reterr);
    plim_progress_clear(&m->sources.progress);
    if (result < 0 && result != PLIM_E_USAGE)
        plim_error_where(reterr, name);
    return result;
}

void plim_cards_model_done(struct plim_cards_model *model)
{
    plim_subject_done(&model->subject);
    plim_paths_done(&model->paths);
    plim_cli_sources_done(&model->sources);
}
