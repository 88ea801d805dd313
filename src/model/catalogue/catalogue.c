/* SPDX-License-Identifier: MIT */
/*
 * The catalogue of models (data/models): its rows, and a row's config as a model. The texts are compiled in, sorted by
 * id; a config is parsed when it is asked for.
 */
#include "plimsoll/catalogue.h"

#include "base/table.h"
#include "base/text.h"
#include "model/catalogue/columns.h"
#include "model/hf_config.h"
#include "model/model_impl.h"

#include <string.h>

/* The columns of data/models-filled.csv. */
enum { FILL_ID, FILL_KEY, FILL_VALUE, FILL_HOW, FILL_SOURCE };

size_t plim_catalogue_model_count(void) { return plim_models_table.n_rows; }

void plim_catalogue_model_at(size_t i, struct plim_catalogue_model *ret_model)
{
    *ret_model = (struct plim_catalogue_model){
        .id = plim_models_cell(i, PLIM_MODELS_ID),
        .name = plim_models_cell(i, PLIM_MODELS_NAME),
        .family = plim_models_cell(i, PLIM_MODELS_FAMILY),
        .source = plim_models_cell(i, PLIM_MODELS_SOURCE),
        .disputed = plim_models_cell(i, PLIM_MODELS_DISPUTED),
        .params = plim_decimal(plim_models_cell(i, PLIM_MODELS_PARAMS), NULL) * 1e9,
        .params_active = plim_decimal(plim_models_cell(i, PLIM_MODELS_PARAMS_ACTIVE), NULL) * 1e9,
        .params_source = plim_models_cell(i, PLIM_MODELS_PARAMS_SOURCE),
    };
}

size_t plim_catalogue_model_fills(size_t i, struct plim_catalogue_fill *ret_fills, size_t max)
{
    const struct plim_table *table = &plim_models_filled_table;
    const char *id = plim_models_cell(i, PLIM_MODELS_ID);
    size_t n = 0;
    for (size_t row = 0; row < table->n_rows; row++) {
        if (strcmp(plim_table_cell(table, row, FILL_ID), id))
            continue;
        if (n < max)
            ret_fills[n] = (struct plim_catalogue_fill){ .key = plim_table_cell(table, row, FILL_KEY),
                                                         .value = plim_table_cell(table, row, FILL_VALUE),
                                                         .how = plim_table_cell(table, row, FILL_HOW),
                                                         .source = plim_table_cell(table, row, FILL_SOURCE) };
        n++;
    }
    return n;
}

/* What sources differ on decides tensors, unless it is the context; the tensors of this config may be wrong then. */
static void doubt_disputed(size_t i, struct plim_model *model)
{
    static const struct plim_doubt vocabulary = { "sources differ on the size of the vocabulary", NULL, 0 };
    static const struct plim_doubt other = { "sources differ on a size of the model", NULL, 0 };
    const char *disputed = plim_models_cell(i, PLIM_MODELS_DISPUTED);
    if (!*disputed || !strcmp(disputed, "max_position_embeddings"))
        return;
    model->doubts = plim_text_has_word(disputed, "vocab_size") ? &vocabulary : &other;
    model->n_doubts = 1;
}

int plim_catalogue_model_open(size_t i, struct plim_model **ret_model, struct plim_error *reterr)
{
    const char *config = plim_models_cell(i, PLIM_MODELS_CONFIG);
    struct plim_model *model = plim_model_new("");
    if (!model)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    int result = plim_hf_config_read(model, plim_cursor(config, strlen(config)), reterr);
    if (result == 0)
        result = plim_hf_config_finish(model, reterr);
    if (result < 0) {
        plim_error_where(reterr, plim_models_cell(i, PLIM_MODELS_ID));
        plim_model_free(model);
        return result;
    }
    model->name = plim_models_cell(i, PLIM_MODELS_NAME);
    doubt_disputed(i, model);
    *ret_model = model;
    return 0;
}
